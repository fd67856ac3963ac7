//! Plans that a user hands over or approves: their title and the reason that they give.

use crate::extract::prose;
use crate::extract::signs;
use crate::text;

/// Openings of prompts that the client writes around a plan.
const PLAN_OPENINGS: &[&str] = &[
    "Implement the following plan:",
    "Please implement this plan:",
    "Please implement the following plan:",
    "Execute the following plan:",
];

/// Returns the plan that a prompt asks the agent to carry out, without the text that the client adds. None for every
/// other prompt.
pub(in crate::extract) fn plan(prompt: &str) -> Option<&str> {
    let rest = PLAN_OPENINGS.iter().find_map(|opening| prompt.trim_start().strip_prefix(opening))?;
    let end = rest.find("If you need specific details from before exiting plan mode").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// Returns the first heading of a document.
pub(super) fn heading(document: &str) -> Option<String> {
    let heading = document.lines().map(str::trim).find(|line| line.starts_with('#'))?;
    Some(text::plain(heading)).filter(|heading| !heading.is_empty())
}

/// Returns the title of a plan or another document.
pub(in crate::extract) fn title(document: &str) -> Option<String> {
    heading(document).map(|heading| without_label(&heading)).filter(|title| !title.is_empty())
}

/// Returns the title of a plan, or its first sentence if it has no heading.
pub(in crate::extract) fn plan_title(plan: &str) -> Option<String> {
    title(plan).or_else(|| text::first_sentence(plan).map(|first| without_label(&first)))
}

/// Returns a title without the word that says that it is one of a plan.
fn without_label(title: &str) -> String {
    title.strip_prefix("Plan:").unwrap_or(title).trim().to_owned()
}

/// Headings of a plan below which its reason stands, the most telling first.
const REASON_HEADINGS: &[&[&str]] =
    &[&["root cause", "cause", "원인", "原因"], &["problem", "issue", "bug", "문제", "問題", "问题"], SUBJECT_HEADINGS];
/// Headings below which stands what a plan is about.
const SUBJECT_HEADINGS: &[&str] = &["context", "background", "motivation", "why", "배경", "背景", "動機", "동기"];

/// Words of a sentence that says what is wrong, and words that do so only beside others.
const WRONG: &[&str] = &[
    "but",
    "however",
    "no",
    "not",
    "never",
    "wrong",
    "fails",
    "fail",
    "missing",
    "dropped",
    "lost",
    "skipped",
    "ignored",
    "broken",
    "doesn't",
    "don't",
    "isn't",
    "aren't",
    "cannot",
    "can't",
    "still",
    "even when",
    "even though",
    "wins",
    "problem",
    "incorrectly",
    "하지만",
    "지만",
    "않",
    "없",
    "しかし",
    "ない",
    "但",
    "没有",
    "不",
];
const HINTS: &[&str] = &["currently", "only", "even", "instead", "현재", "現在", "目前"];

/// The maximum length of a plan's reason, in characters.
const MAX_REASON_CHARS: usize = 280;

/// The maximum length of what a plan is about, in characters.
const MAX_SUBJECT_CHARS: usize = 420;

/// Returns the sentence of a plan that says best what is wrong: why it is to be carried out. Of a plan that says neither
/// that nor what it does, the beginning of what it is about.
pub(in crate::extract) fn plan_reason(plan: &str) -> Option<String> {
    let mut best: Option<((usize, u8), String)> = None;
    let (mut rank, mut level, mut has_sections) = (None, 0, false);
    for line in text::prose_lines(plan) {
        if let Some(depth) = heading_depth(line) {
            // The title names the subject, and not a section. What stands deeper belongs to its section.
            let is_title = depth == 1;
            if rank.is_some() && (depth == BOLD || depth > level) {
                continue;
            }
            level = depth;
            has_sections |= depth == 2;
            // A cause below a step is that of a part.
            let is_part = has_sections && depth > 2 && depth != BOLD;
            rank = rank_of(&line.to_lowercase()).filter(|_| !is_title).map(|rank| if is_part { 0 } else { rank });
            continue;
        }
        let is_prose = line.starts_with(|c: char| c.is_alphabetic() || matches!(c, '`' | '*' | '"'));
        let Some(rank) = rank.filter(|_| is_prose) else { continue };
        for sentence in text::sentences(line).into_iter().filter(|sentence| may_be_reason(sentence)) {
            let lower = sentence.to_lowercase();
            let count = |words: &[&str]| {
                let found = words.iter().filter(|word| text::contains_words(&lower, word)).count();
                u8::try_from(found.min(2)).unwrap_or(2)
            };
            let score = 3 * count(WRONG) + 2 * count(HINTS).min(1) + prose::signs(&lower).0.min(4);
            // A section about the subject as a whole also says how it is.
            let least = if rank == 1 { 3 } else { 2 };
            if score >= least && best.as_ref().is_none_or(|(known, _)| (rank, score) > *known) {
                let sentence = ["Additionally, ", "Currently, ", "Root cause: ", "Problem: ", "Cause: "]
                    .iter()
                    .fold(sentence.as_str(), |it, word| it.strip_prefix(word).unwrap_or(it));
                best = Some(((rank, score), text::capitalized(sentence)));
            }
        }
    }
    best.map(|(_, sentence)| sentence)
        .or_else(|| Some(subject(plan)).filter(|it| !it.is_empty() && plan_goal(plan).is_none()))
}

/// Returns the first sentences of the section that says what a plan is about. May be empty.
fn subject(plan: &str) -> String {
    let names_subject = |line: &&str| {
        heading_depth(line) == Some(2) && heading_parts(&line.to_lowercase()).any(|part| SUBJECT_HEADINGS.contains(&part))
    };
    let lines = text::prose_lines(plan).skip_while(|line| !names_subject(line)).skip(1);
    let is_prose = |line: &&str| heading_depth(line).is_none() && list_entry(line).is_none() && !line.ends_with([':', '：']);
    let mut told = String::new();
    for sentence in lines.take_while(is_prose).flat_map(text::sentences) {
        if told.chars().count() + sentence.chars().count() > MAX_SUBJECT_CHARS || sentence.ends_with([':', '：']) {
            break;
        }
        told = if told.is_empty() { sentence } else { format!("{told} {sentence}") };
    }
    told
}

/// Returns how surely the reason of a plan stands below a heading in lower case. None if it does not.
fn rank_of(heading: &str) -> Option<usize> {
    // "Context menus" are no context.
    let names_subject = || heading_parts(heading).any(|part| SUBJECT_HEADINGS.contains(&part) || part.starts_with("why "));
    let is_of = |(at, words): (usize, &&[&str])| {
        let is_last = at + 1 == REASON_HEADINGS.len();
        if is_last { names_subject() } else { text::contains_any_words(heading, words) }
    };
    let at = REASON_HEADINGS.iter().enumerate().position(is_of)?;
    Some(REASON_HEADINGS.len() - at)
}

/// Returns the parts of a heading in lower case, without marks and numbers: "context" and "motivation" of "## 1. Context & Motivation".
fn heading_parts(heading: &str) -> impl Iterator<Item = &str> {
    let bare = heading.trim_matches(|c: char| !c.is_alphabetic());
    bare.split([':', '/', '(', '&', ',', '—'])
        .flat_map(|part| part.split(" and "))
        .map(|part| part.trim_matches(|c: char| !c.is_alphabetic()))
}

/// Returns whether a sentence of a plan can be understood alone, and says how something is.
fn may_be_reason(sentence: &str) -> bool {
    const GOES_ON: [&str; 11] =
        ["instead", "then ", "so ", "but ", "therefore", "line", "also", "problem 2", "problem 3", "second,", "secondly"];
    let lower = sentence.to_lowercase();
    let least = if sentence.is_ascii() { 40 } else { 20 };
    (least..=MAX_REASON_CHARS).contains(&sentence.chars().count())
        && !sentence.ends_with(['?', '？', ':', '：'])
        && !prose::is_pointer(&lower)
        && !GOES_ON.iter().any(|it| lower.starts_with(it))
        && !prose::is_narration(sentence)
}

/// The depth of a line in bold that stands as a heading: it is below all others.
const BOLD: usize = usize::MAX;

/// Returns the depth of a heading. None for every other line.
fn heading_depth(line: &str) -> Option<usize> {
    if line.starts_with('#') {
        return Some(line.bytes().take_while(|byte| *byte == b'#').count());
    }
    (line.starts_with("**") && line.trim_end_matches(':').ends_with("**")).then_some(BOLD)
}

/// Headings of a plan below which stands what it does.
const GOAL_HEADINGS: &[&str] =
    &["summary", "overview", "goal", "goals", "objective", "purpose", "목표", "개요", "目的", "概要", "目標", "目标"];
/// Words of a sentence that says what somebody wants of the whole plan.
const WISHES: &[&str] = &[
    "we want",
    "we need a",
    "we are building",
    "needs to be",
    "need to be",
    "should be",
    "is needed",
    "are needed",
    "user wants",
    "user would like",
    "the goal",
    "this plan adds",
    "this change adds",
    "this feature adds",
    "this adds",
    "したい",
];
/// Words of a sentence that says what is not done, what is asked, or how it is at present.
const NO_GOAL: &[&str] = &[
    "no",
    "not",
    "never",
    "nothing",
    "neither",
    "cannot",
    "whether",
    "currently",
    "않",
    "없",
    "현재",
    "ない",
    "ません",
    "現在",
    "現状",
    "目前",
    "不",
    "没",
];
/// The maximum length of what a plan does, in characters.
const MAX_GOAL_CHARS: usize = 320;

/// The first words of a sentence that says what a change brings: "Adding the date will tell the tills apart".
const CHANGES: &[&str] = &["adding", "switching", "moving", "replacing", "introducing", "extracting", "splitting", "making"];

/// Returns the sentence of a plan that says what it does: one that is labelled so, the first one of its summary, or what is wanted in
/// the text about its subject.
pub(in crate::extract) fn plan_goal(plan: &str) -> Option<String> {
    let mut goal = Goal::default();
    // The text right below the title speaks of the whole, too.
    let (mut section, mut level, mut is_first) = (Some(Section::Title), 2, true);
    for line in text::prose_lines(plan) {
        // What a line in bold leads to still belongs to its section.
        if let Some(depth) = heading_depth(line).filter(|depth| *depth != BOLD) {
            goal.list_ends();
            // What stands deeper speaks of a part.
            if section != Some(Section::Title) && depth > level {
                section = None;
                continue;
            }
            let heading = text::plain(line).to_lowercase();
            let heading = heading.trim_end_matches([':', '：', ' ']);
            section = if is_first && depth == 1 {
                Some(Section::Title)
            } else if GOAL_HEADINGS.contains(&heading) {
                Some(Section::Goal)
            } else {
                SUBJECT_HEADINGS.contains(&heading).then_some(Section::Subject)
            };
            (level, is_first) = (depth, false);
        } else if let Some(section) = section {
            goal.read(line, section);
        }
    }
    goal.list_ends();
    goal.best.map(|(_, said)| said)
}

/// The sections of a plan that may say what it does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Right below the title.
    Title,
    /// Below a heading such as "Context".
    Subject,
    /// Below a heading such as "Summary".
    Goal,
}

/// A line that leads to a list, with the entries that were read of it.
struct List {
    section: Section,
    text: String,
    /// The same, with only the bold words at the beginning of each entry that has such.
    short: String,
    entries: usize,
}

/// What was read so far of what a plan does.
#[derive(Default)]
struct Goal {
    /// The sentence that says it best, with how well it does that.
    best: Option<(u8, String)>,
    list: Option<List>,
    /// Whether the first sentence of a summary was read.
    is_summed_up: bool,
}

impl Goal {
    fn read(&mut self, line: &str, section: Section) {
        if let Some(entry) = list_entry(line) {
            // One that is too long is not told.
            if let Some(list) = self.list.as_mut().filter(|list| list.short.chars().count() <= MAX_GOAL_CHARS) {
                let mark = if list.entries == 0 { " " } else { "; " };
                let bold = entry.strip_prefix("**").and_then(|rest| rest.split_once("**")).map(|(bold, _)| bold);
                for (told, said) in [(&mut list.text, entry), (&mut list.short, bold.unwrap_or(entry))] {
                    told.push_str(mark);
                    told.push_str(text::plain(said).trim_end_matches(['.', ':']));
                }
                list.entries += 1;
            }
            return;
        }
        self.list_ends();
        let is_quote = line.starts_with(['>', '"', '“', '「', '<']);
        for sentence in text::sentences(line).into_iter().filter(|_| !is_quote) {
            // Behind its first sentence, a summary goes into parts.
            let section = if section == Section::Goal && self.is_summed_up { Section::Subject } else { section };
            self.is_summed_up |= section == Section::Goal;
            if sentence.ends_with([':', '：']) {
                self.list = Some(List { section, short: sentence.clone(), text: sentence, entries: 0 });
            } else if speaks_of_plan(&sentence) || !prose::is_pointer(&sentence.to_lowercase()) {
                self.offer(section, &sentence);
            }
        }
    }

    /// Ends a list, which is told whole or not at all.
    fn list_ends(&mut self) {
        if let Some(list) = self.list.take().filter(|list| list.entries > 1) {
            let is_long = list.text.chars().count() > MAX_GOAL_CHARS;
            self.offer(list.section, if is_long { &list.short } else { &list.text });
        }
    }

    /// Takes a sentence, or a list with its lead, if it says better than the one before what the plan does.
    fn offer(&mut self, section: Section, sentence: &str) {
        const LABELS: [&str; 4] = ["Goal: ", "Goal - ", "Objective: ", "Summary: "];
        let labelled = LABELS.iter().find_map(|label| sentence.strip_prefix(label));
        let said = labelled.unwrap_or(sentence);
        let lower = said.to_lowercase().replace('’', "'");
        let least = if said.is_ascii() { 30 } else { 15 };
        let fits = (least..=MAX_GOAL_CHARS).contains(&said.chars().count());
        if !fits || said.ends_with(['?', '？', ',']) || (lower.contains("already") && signs::says_finished(&lower)) {
            return;
        }
        // What the entries of a list wish is only a part.
        let lead = lower.split_once(": ").map_or(lower.as_str(), |(lead, _)| lead);
        let leads = ["we need to", "this plan", "this change"].iter().any(|words| lead.ends_with(words));
        let changes = || section == Section::Subject && CHANGES.iter().any(|word| text::starts_with_words(lead, word));
        let wishes = text::contains_any_words(lead, WISHES) || (lead.len() < lower.len() && leads) || changes();
        let is_barred = || {
            let words: String = lead.split('`').step_by(2).collect();
            words.contains("n't") || text::contains_any_words(&words, NO_GOAL)
        };
        let is_goal = wishes || (section == Section::Goal && !prose::is_narration(said));
        if labelled.is_none() && (!is_goal || is_barred()) {
            return;
        }
        // A summary says it in its first sentence, and other text where it says what is wanted.
        let score = match section {
            _ if labelled.is_some() => 4,
            Section::Goal => 3,
            Section::Subject => 2,
            Section::Title => 1,
        };
        if self.best.as_ref().is_none_or(|(known, _)| score > *known) {
            self.best = Some((score, said.to_owned()));
        }
    }
}

/// Returns whether a sentence says what the plan brings: "This adds the date".
fn speaks_of_plan(sentence: &str) -> bool {
    const OPENINGS: [&str; 4] = ["this adds", "this plan", "this change", "this feature"];
    let lower = sentence.to_lowercase();
    OPENINGS.iter().any(|words| text::starts_with_words(&lower, words))
}

/// Returns the text of an entry of a list.
fn list_entry(line: &str) -> Option<&str> {
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < line.len()).then_some(rest)?.strip_prefix(['.', ')'])?.strip_prefix(' ')
    };
    ["- ", "* ", "• ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).or_else(numbered).map(str::trim)
}

/// The maximum length of what a plan forbids or leaves alone, in characters, and that of one thing of it.
const MAX_LIMITS_CHARS: usize = 240;
const MAX_LIMIT_CHARS: usize = 110;

/// Returns what a plan forbids, and what it lists below a heading such as "Out of scope", with the heading. None if it has neither.
pub(in crate::extract) fn plan_limits(plan: &str) -> Option<String> {
    const OPENINGS: [&str; 4] = ["do not", "don't", "never", "must not"];
    let (mut limits, mut level, mut lead) = (Limits::default(), None, String::new());
    for line in text::prose_lines(plan).filter(|line| !line.starts_with('|')) {
        if let Some(depth) = heading_depth(line) {
            if leaves_alone(line) {
                (level, lead) = (Some(depth), text::plain(line));
            } else if level.is_some_and(|level| depth <= level) {
                level = None;
            }
            continue;
        }
        let first = text::first_sentence(line).unwrap_or_default();
        if level.is_some() {
            // Why a file stays as it is need not be told.
            let named = first.split_once(" — ").filter(|(name, _)| name.starts_with('`')).map(|(name, _)| name);
            limits.add(&std::mem::take(&mut lead), named.unwrap_or(&first));
        } else if OPENINGS.iter().any(|words| text::starts_with_words(&first.to_lowercase(), words)) {
            limits.add("", &first);
        }
    }
    (!limits.told.is_empty()).then_some(limits.told)
}

/// Returns whether a heading stands above what is not to be changed or done.
fn leaves_alone(heading: &str) -> bool {
    const WORDS: [&str; 11] = [
        "out of scope",
        "not in scope",
        "non-goals",
        "non goals",
        "not change",
        "not to change",
        "not to do",
        "not to add",
        "what not to",
        "하지 않을 것",
        "やらないこと",
    ];
    let is_title = heading_depth(heading) == Some(1);
    !is_title && !heading.contains('`') && text::contains_any_words(&heading.to_lowercase(), &WORDS)
}

/// What a plan forbids or leaves alone, on one line.
#[derive(Default)]
struct Limits {
    told: String,
    is_full: bool,
}

impl Limits {
    /// Adds one thing, with the heading above it, if there is room for it.
    fn add(&mut self, heading: &str, said: &str) {
        let said = text::clip(said.trim_end_matches(['.', ':']), MAX_LIMIT_CHARS);
        let lead = if heading.is_empty() { String::new() } else { format!("{}: ", heading.trim_end_matches(':')) };
        let mark = if self.told.is_empty() { "" } else { "; " };
        self.is_full |= self.told.chars().count() + lead.chars().count() + said.chars().count() > MAX_LIMITS_CHARS;
        if !self.is_full && !said.is_empty() {
            self.told = format!("{}{mark}{lead}{said}", self.told);
        }
    }
}
