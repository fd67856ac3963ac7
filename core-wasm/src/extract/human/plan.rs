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
const REASON_HEADINGS: &[&[&str]] = &[
    &["root cause", "cause", "원인", "原因"],
    &["problem", "issue", "bug", "문제", "問題", "问题"],
    &["context", "background", "motivation", "why", "배경", "背景", "動機", "동기"],
];

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

/// Returns the sentence of a plan that says best what is wrong: why it is to be carried out.
pub(in crate::extract) fn plan_reason(plan: &str) -> Option<String> {
    let mut best: Option<((usize, u8), String)> = None;
    let (mut rank, mut level) = (None, 0);
    for line in text::prose_lines(plan) {
        let is_heading = line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"));
        if is_heading {
            let heading = line.to_lowercase();
            let is_of = |words: &&[&str]| text::contains_any_words(&heading, words);
            // The title names the subject, and not a section. What stands deeper belongs to its section.
            let depth = line.bytes().take_while(|byte| *byte == b'#').count();
            let is_title = depth == 1;
            if rank.is_some() && (depth == 0 || depth > level) {
                continue;
            }
            level = if depth == 0 { usize::MAX } else { depth };
            rank = REASON_HEADINGS.iter().position(is_of).filter(|_| !is_title).map(|at| REASON_HEADINGS.len() - at);
            continue;
        }
        let is_prose = line.starts_with(|c: char| c.is_alphabetic() || matches!(c, '`' | '*' | '"'));
        let Some(rank) = rank.filter(|_| is_prose) else { continue };
        for sentence in text::sentences(line) {
            let lower = sentence.to_lowercase();
            let length = sentence.chars().count();
            let least = if sentence.is_ascii() { 40 } else { 20 };
            if !(least..=MAX_REASON_CHARS).contains(&length)
                || sentence.ends_with(['?', '？', ':', '：'])
                || prose::is_pointer(&lower)
                || ["instead", "then ", "so ", "therefore", "line", "also", "problem 2", "problem 3", "second,", "secondly"]
                    .iter()
                    .any(|it| lower.starts_with(it))
                || prose::is_narration(&sentence)
            {
                continue;
            }
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
                best = Some(((rank, score), sentence.to_owned()));
            }
        }
    }
    best.map(|(_, sentence)| sentence)
}

/// Headings of a plan below which stands what it does.
const GOAL_HEADINGS: &[&str] =
    &["summary", "overview", "goal", "goals", "objective", "purpose", "목표", "개요", "目的", "概要", "目標", "目标"];
/// Words of a sentence that says what somebody wants.
const WISHES: &[&str] = &[
    "we need",
    "need to",
    "need a",
    "needs",
    "we want",
    "user wants",
    "user asked",
    "user would like",
    "goal",
    "idea is",
    "request is",
    "this change",
    "this plan",
    "this feature",
    "this adds",
    "should",
    "해야",
    "필요",
    "추가",
    "したい",
    "必要",
    "追加",
    "需要",
];
/// The maximum length of what a plan does, in characters.
const MAX_GOAL_CHARS: usize = 260;

/// The maximum number of words of such a heading: a longer one is of a part that speaks of a summary.
const MAX_GOAL_HEADING_WORDS: usize = 4;

/// Returns the sentence of a plan that says what it does: the first one of its summary, or what is wanted in the text about its subject.
pub(in crate::extract) fn plan_goal(plan: &str) -> Option<String> {
    explanation(plan).goal.map(|(_, said)| said)
}

/// Returns the first sentence of a plan about its subject.
pub(in crate::extract) fn plan_subject(plan: &str) -> Option<String> {
    explanation(plan).subject
}

fn explanation(plan: &str) -> Explanation {
    let mut said = Explanation::default();
    // The text right below the title speaks of the whole, too.
    let (mut section, mut level) = (Some(Section::Title), 2);
    for line in text::prose_lines(plan) {
        if line.starts_with('#') {
            said.list_ends();
            let depth = line.bytes().take_while(|byte| *byte == b'#').count();
            let heading = line.to_lowercase();
            let is_of = |words: &[&str]| text::contains_any_words(&heading, words);
            let is_short = line.split_whitespace().count() <= MAX_GOAL_HEADING_WORDS;
            // What stands deeper speaks of a part.
            if section != Some(Section::Title) && depth > level {
                section = None;
                continue;
            }
            section = match depth {
                1 => Some(Section::Title),
                _ if is_short && is_of(GOAL_HEADINGS) => Some(Section::Goal),
                _ if is_short && is_of(REASON_HEADINGS[REASON_HEADINGS.len() - 1]) => Some(Section::Subject),
                _ => None,
            };
            level = depth;
        } else if let Some(section) = section {
            said.read(line, section);
        }
    }
    said.list_ends();
    said
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

/// What was read so far of what a plan does.
#[derive(Default)]
struct Explanation {
    /// The sentence that says best what is wanted, with how well it does that.
    goal: Option<(u8, String)>,
    /// The first sentence about the subject.
    subject: Option<String>,
    /// A line that leads to a list, with how many entries of it were read.
    lead: Option<(Section, String, usize)>,
}

impl Explanation {
    fn read(&mut self, line: &str, section: Section) {
        if let Some(entry) = list_entry(line) {
            if let Some((_, lead, entries)) = &mut self.lead {
                lead.push_str(if *entries == 0 { " " } else { "; " });
                lead.push_str(text::plain(entry).trim_end_matches('.'));
                *entries += 1;
            }
            return;
        }
        self.list_ends();
        for sentence in text::sentences(line) {
            if sentence.ends_with([':', '：']) {
                self.lead = Some((section, sentence, 0));
            } else if !prose::is_pointer(&sentence.to_lowercase()) && !prose::is_narration(&sentence) {
                self.offer(section, &sentence);
            }
        }
    }

    /// Ends a list, which is told whole or not at all.
    fn list_ends(&mut self) {
        if let Some((section, said, _)) = self.lead.take().filter(|(_, _, entries)| *entries > 1) {
            self.offer(section, &said);
        }
    }

    fn offer(&mut self, section: Section, said: &str) {
        const LABELS: [&str; 4] = ["Goal: ", "Goal - ", "Objective: ", "Summary: "];
        let unlabelled = LABELS.iter().find_map(|label| said.strip_prefix(label));
        let is_labelled = unlabelled.is_some();
        let said = unlabelled.unwrap_or(said);
        let lower = said.to_lowercase();
        let least = if said.is_ascii() { 30 } else { 15 };
        let fits = (least..=MAX_GOAL_CHARS).contains(&said.chars().count());
        if !fits || said.ends_with(['?', '？']) || (lower.contains("already") && signs::says_finished(&lower)) {
            return;
        }
        // What the entries of a list wish is only a part.
        let lead = lower.split_once(": ").map_or(lower.as_str(), |(lead, _)| lead);
        let wishes = is_labelled || text::contains_any_words(lead, WISHES);
        // A summary says it in its first sentence, and other text where it says what is wanted.
        let score = match section {
            Section::Goal => 3,
            Section::Subject => 2,
            Section::Title => 1,
        };
        if (wishes || section == Section::Goal) && self.goal.as_ref().is_none_or(|(known, _)| score > *known) {
            self.goal = Some((score, said.to_owned()));
        }
        if section == Section::Subject && self.subject.is_none() {
            self.subject = Some(said.to_owned());
        }
    }
}

/// Returns the text of an entry of a list.
fn list_entry(line: &str) -> Option<&str> {
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < line.len()).then_some(rest)?.strip_prefix(['.', ')'])?.strip_prefix(' ')
    };
    ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark)).or_else(numbered).map(str::trim)
}
