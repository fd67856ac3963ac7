//! Tells what the user typed from what the user pasted or quoted.

mod announced;
mod markup;

use std::cell::RefCell;

use super::copied::{without_copied, without_pictures};
use super::terminal::is_terminal;
use crate::text::{self, Known, Language};
use announced::{announces_quotation, heads_mail, reports_speech};
use markup::{Unclosed, block_tag, opens_comment};

/// The maximum length of a request below or above pasted text, in characters.
pub(super) const MAX_BESIDE_PASTE: usize = 500;

/// The length below which nothing is said beside pasted text, in characters.
const MIN_OWN_CHARS: usize = 8;

/// The length from which a sentence was not typed, in characters.
const MAX_SENTENCE_CHARS: usize = 500;

/// The share of lines that look pasted in a text that is, in tenths.
const PASTED_TENTHS: usize = 4;

/// Returns whether most lines of a text are headings, quotations, code, logs or lines of a terminal.
pub(super) fn is_pasted_text(text: &str) -> bool {
    let (mut all, mut pasted, mut is_fenced) = (0, 0, false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        let is_mark = line.starts_with(['#', '>', '|', '<', '{', '}', '+', '$', '⏺', '⎿', '❯', '│', '●']);
        all += 1;
        let is_code = || text::sentences(line).iter().all(|sentence| looks_pasted(sentence));
        pasted += usize::from(is_fenced || is_fence || is_mark || is_log_line(line) || is_code());
    }
    pasted * 10 >= all * PASTED_TENTHS
}

thread_local! {
    static OWN_WORDS: RefCell<Known<String, 16, 16_384>> = const { RefCell::new(Known::new()) };
}

/// Returns the lines that the user wrote: no quotations, no differences, no markup, no logs, no mails, and nothing after a
/// line that announces what somebody else says. Most questions about a prompt begin here, so the latest prompts are known.
pub(in crate::extract) fn own_words(prompt: &str) -> String {
    OWN_WORDS.with_borrow_mut(|known| known.get(prompt, find_own_words))
}

fn find_own_words(prompt: &str) -> String {
    let lines: Vec<&str> = prompt.lines().collect();
    let lines = &without_copied(without_foreign(&lines));
    let has_hunks = prompt.contains("\n@@ ") || prompt.contains("diff --git ");
    let is_wide = lines.iter().any(|line| text::language(line) != Language::English);
    let (mut own, mut next, mut in_diff, mut in_quotation, mut in_finding) = (String::new(), 0, false, false, false);
    let (mut in_terminal, mut unclosed) = (false, Unclosed::default());
    while let Some(&line) = lines.get(next) {
        let rest = &lines[next..];
        let bare = line.trim_start();
        next += 1;
        if announces_quotation(bare) || heads_mail(bare) {
            break;
        }
        let is_header = begins_diff(rest);
        in_diff |= is_header;
        in_finding = is_finding(bare) || (in_finding && !bare.is_empty());
        in_terminal = (lines.len() > 1 && is_terminal(bare)) || (in_terminal && !bare.is_empty());
        in_quotation = bare.starts_with('>') || (in_quotation && !bare.is_empty());
        if let Some((before, skipped)) = opens_comment(rest) {
            if !in_quotation && !bare.starts_with('<') {
                own.push_str(before);
                own.push('\n');
            }
            next += skipped - 1;
            continue;
        }
        if let Some(said) = said_before_brief(bare) {
            own.push_str(said);
            own.push('\n');
            break;
        }
        if let Some(name) = block_tag(bare) {
            next += unclosed.lines_of_element(rest, &name) - 1;
            continue;
        }
        let is_changed = is_header || (bare.starts_with(['+', '-', '@']) && (in_diff || has_hunks));
        let is_context = in_diff && line.starts_with([' ', '\t']);
        let is_quoted =
            bare.starts_with(['<', '|']) || in_quotation || in_finding || reports_speech(bare) || is_log_line(bare);
        let is_quoted = is_quoted || in_terminal || (is_wide && is_foreign(bare));
        if !(is_quoted || is_changed || is_context || is_change(line)) {
            own.push_str(&without_pictures(line));
            own.push('\n');
        }
    }
    own
}

/// Names of the parts of an issue or a finding, as scanners and trackers write them. Two different ones in one prompt make it one.
const ISSUE_PARTS: &[&str] = &[
    "goal:",
    "issue:",
    "fix:",
    "skill:",
    "docs:",
    "problem:",
    "impact:",
    "severity:",
    "recommendation:",
    "steps to reproduce:",
    "expected behavior:",
    "expected:",
    "actual behavior:",
    "actual:",
];

/// How reviewing programs grade a finding, on a line of its own below its title.
const GRADES_ALONE: &[&str] = &["low severity", "medium severity", "high severity", "critical severity"];

/// The number of words from which a line in English among others in another language was not typed.
const MIN_FOREIGN_WORDS: usize = 12;

/// Returns whether a line is so much English that somebody who writes in another language pasted it.
fn is_foreign(line: &str) -> bool {
    text::language(line) == Language::English && line.split_whitespace().count() >= MIN_FOREIGN_WORDS
}

/// Leaves out what somebody else wrote at the beginning or at the end of a prompt: messages of a chat with the times at which
/// they were sent, the parts of an issue, and the finding of a reviewing program.
fn without_foreign<'a, 'b>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let is_blank = |at: &usize| lines[*at].trim().is_empty();
    // Whoever pastes a chat pastes its first message too, without a time.
    let begin = lines
        .iter()
        .rposition(|line| has_chat_time(line))
        .map_or(0, |at| (at..lines.len()).find(is_blank).unwrap_or(lines.len()));
    let lower = |line: &&str| line.trim().trim_start_matches(['*', '-', '#', ' ']).to_lowercase();
    let part = |at: usize| {
        let line = lower(&lines[at]);
        ISSUE_PARTS.iter().find(|part| line.starts_with(**part)).map(|part| (at, *part))
    };
    let parts: Vec<(usize, &str)> = (0..lines.len()).filter_map(part).collect();
    // A list of wishes may have the problem of each.
    let has_others = parts.iter().any(|(_, part)| *part != parts[0].1);
    let issue = parts.first().map(|(at, _)| *at).filter(|_| has_others);
    let graded = lines.iter().position(|line| GRADES_ALONE.contains(&lower(line).as_str()));
    let title = graded.map(|at| (0..at).rev().find(|before| !is_blank(before)).unwrap_or(at));
    let end = [issue, title].into_iter().flatten().min().unwrap_or(lines.len());
    &lines[begin.min(end)..end]
}

/// Returns whether a line has the time of a chat's message in brackets: `[10:05 AM]`.
fn has_chat_time(line: &str) -> bool {
    line.match_indices('[').any(|(at, _)| {
        let Some((time, _)) = line[at + 1..].split_once(']') else { return false };
        let Some((clock, half)) = time.trim().rsplit_once(' ') else { return false };
        let is_clock = clock.split_once(':').is_some_and(|(hour, minute)| {
            [hour, minute].iter().all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
        });
        is_clock && matches!(half, "AM" | "PM" | "am" | "pm")
    })
}

/// Returns what stands before a brief that somebody else wrote, if a line begins one: `# Implement …` or `# Skill: …`.
fn said_before_brief(line: &str) -> Option<&str> {
    let at = line.match_indices("# ").map(|(at, _)| at).find(|at| {
        let is_mark = *at == 0 || line[..*at].ends_with([' ', '#']);
        let title = &line[at + 2..];
        is_mark && ["Implement ", "Skill: ", "Task: ", "Issue: "].iter().any(|opening| title.starts_with(opening))
    })?;
    Some(line[..at].trim_end_matches(['#', ' ']))
}

/// Returns whether a line was printed and not typed.
pub(in crate::extract) fn is_output(line: &str) -> bool {
    // The error that a request points to stands in parentheses behind it.
    let line = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")).map_or(line, |(own, _)| own);
    is_terminal(line) || is_log_line(line) || is_odd(line) || is_endless(line) || names_attachments(line)
}

/// Returns whether a line is nothing but the paths of attached files.
fn names_attachments(line: &str) -> bool {
    let is_path = |word: &str| word.contains("/attachments/") && word.contains('.');
    !line.is_empty() && line.split_whitespace().all(is_path)
}

/// Returns whether words that are told as the user's were typed, as far as can be said: one line without a quotation, markup, code, an
/// error or what an announcement leads to. In doubt they were not.
pub(in crate::extract) fn is_own_remark(said: &str) -> bool {
    const MARKS: [&str; 14] = ["\n", "\"", "“", "”", "「", "『", "«", "<", ">", "→", "|", "```", ": ", "："];
    const SIGNS: [&str; 9] = ["error", "errors", "panicked", "warning", "warn", "traceback", "exception", "fatal", "wrote"];
    !text::contains_any(said, &MARKS)
        && !said.ends_with(':')
        && !text::contains_any_words(&said.to_lowercase(), &SIGNS)
        && !is_output(said)
        && !crate::extract::signs::is_output(said)
        && own_words(said).trim() == said.trim()
}

/// Returns what is said without the clause that asks at its end: "but only the sum, right?" None if it only asks.
pub(in crate::extract) fn without_asking(said: &str) -> Option<&str> {
    const ASKS: [&str; 16] = [
        "what", "why", "how", "which", "where", "when", "who", "is", "are", "does", "do", "can", "could", "should", "would",
        "if",
    ];
    let Some(at) = said.find(['?', '？']) else { return Some(said) };
    let before = said[..at].rfind(", ").map(|comma| &said[..comma])?;
    let lower = before.to_lowercase();
    let asks = lower.split(' ').take(2).any(|word| ASKS.contains(&word));
    (!asks).then_some(before)
}

/// Returns whether a prompt is nothing but what a terminal, a log or somebody else wrote.
pub(in crate::extract) fn is_paste(prompt: &str) -> bool {
    let said = own_words(prompt);
    let said: Vec<String> = text::sentences(&said).into_iter().filter(|sentence| !looks_pasted(sentence)).collect();
    let lines: Vec<&str> = prompt.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // Columns of a table.
    let columns = lines.iter().filter(|line| line.contains("   ")).count();
    if lines.len() > 2 && columns * 2 >= lines.len() {
        return true;
    }
    prompt.lines().count() > 1 && said.iter().map(|sentence| sentence.chars().count()).sum::<usize>() < MIN_OWN_CHARS
}

/// Returns the passage that a prompt quotes with `>` before what the user says of it, on one line.
pub(super) fn quoted(prompt: &str, said: &str) -> Option<String> {
    let begin = text::head(said, 24);
    let before = prompt.find(begin).map_or(prompt, |at| &prompt[..at]);
    let lines: Vec<&str> = before.lines().collect();
    let last = lines.iter().rposition(|line| line.trim_start().starts_with('>'))?;
    let first = lines[..last].iter().rposition(|line| !line.trim_start().starts_with('>')).map_or(0, |at| at + 1);
    let bare = lines[first..=last].iter().map(|line| line.trim_start().trim_start_matches('>').trim());
    let passage = text::one_line(&bare.collect::<Vec<_>>().join(" "));
    (!passage.is_empty()).then_some(passage)
}

/// Returns whether a line is a finding of a review: an item that begins with how bad it is.
fn is_finding(line: &str) -> bool {
    const GRADES: [&str; 12] =
        ["critical", "blocker", "high", "medium", "low", "major", "minor", "nit", "p0", "p1", "p2", "p3"];
    let rest = line.trim_start_matches(['*', '-', '•', '#', ' ']);
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')', '*', ' ', '(', '[']);
    let lower = rest.to_lowercase();
    let is_item = rest.len() < line.len();
    is_item
        && GRADES.iter().any(|grade| {
            let after = lower.strip_prefix(grade);
            after.is_some_and(|after| after.starts_with([':', ')', ']', '*', '—', '–']) || after.starts_with(" -"))
        })
}

/// Returns whether a difference begins with the first of these lines.
fn begins_diff(lines: &[&str]) -> bool {
    let is = |at: usize, mark: &str| lines.get(at).is_some_and(|line| line.starts_with(mark));
    is(0, "diff --git ") || is(0, "@@ ") || (is(0, "--- ") && is(1, "+++ "))
}

/// Returns whether a line is an added or removed line of a difference without a header. An item of a list has a blank after its
/// sign, and an option such as `--all` or a number is no change.
fn is_change(line: &str) -> bool {
    let after = line.strip_prefix(['+', '-']).and_then(|after| after.chars().next());
    after.is_some_and(char::is_alphabetic)
}

/// Returns whether a line begins with a time, as lines of logs do.
pub(super) fn is_log_line(line: &str) -> bool {
    let line = line.trim_start_matches('[').as_bytes();
    let digits = |range: std::ops::Range<usize>| line.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let is_date = digits(0..4) && line.get(4) == Some(&b'-') && digits(5..7);
    let is_time = digits(0..2) && line.get(2) == Some(&b':') && digits(3..5) && line.get(5) == Some(&b':');
    is_date || is_time
}

/// Recognizes stack traces, code and logs outside of a code fence.
pub(super) fn looks_pasted(sentence: &str) -> bool {
    is_odd(sentence) || sentence.chars().count() > MAX_SENTENCE_CHARS
}

/// Returns whether nobody ends a clause in a line: a long request is typed, a long sentence seldom is.
fn is_endless(line: &str) -> bool {
    line.split(['.', '!', '?', ';', ':', '…', '。', '？']).any(|clause| clause.chars().count() > MAX_SENTENCE_CHARS)
}

/// Returns whether a line is one of a trace: "at print (till.js:12:3)". Somebody who types says where something is to be.
fn is_frame(line: &str) -> bool {
    let is_place = |(_, after): (&str, &str)| after.starts_with(|c: char| c.is_ascii_digit());
    line.strip_prefix("at ")
        .is_some_and(|rest| rest.contains('(') || !rest.contains(' ') || rest.split_once(':').is_some_and(is_place))
}

/// Returns whether a line has the signs of code or of an error.
fn is_odd(sentence: &str) -> bool {
    let odd = sentence.chars().filter(|c| matches!(c, '{' | '}' | ';' | '=' | '<' | '>' | '|' | '\\' | '$')).count();
    odd * 12 > sentence.chars().count() || is_frame(sentence) || sentence.contains("Error:") || sentence.starts_with("ERROR")
}

/// Returns whether a line belongs to the banner that the client prints when it starts, which people paste.
pub(super) fn is_banner(line: &str) -> bool {
    let models = ["Opus", "Sonnet", "Haiku"];
    line.contains("Claude Code v") || (line.contains('·') && text::contains_any(line, &models))
}

/// Strips the mark of file mentions such as `@docs/guide.md`. A package such as `@org/name` keeps it.
pub(super) fn strip_mentions(sentence: &str) -> String {
    let words: Vec<&str> = sentence
        .split(' ')
        .map(|word| match word.strip_prefix('@') {
            Some(name) if name.contains('.') || !name.contains('/') => name,
            _ => word,
        })
        .collect();
    words.join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_request_and_one_that_begins_with_a_place_were_typed() {
        let long = "The till of the night rings twice; mend it. ".repeat(14);
        for typed in [long.as_str(), "at the top of the slip, show the name of the till"] {
            assert!(!is_output(typed), "{typed}");
        }
        for printed in ["at print (till.js:12:3)", "at till.js:12", "ERROR no paper", &"till ".repeat(110)] {
            assert!(is_output(printed), "{printed}");
        }
    }

    #[test]
    fn a_line_of_a_stack_trace_names_a_place() {
        for line in ["at ring (till.js:12:3)", "at async Bell.ring (file:///till/bell.js:1:2)", "at main.a77.js:2:73"] {
            assert!(looks_pasted(line), "{line}");
        }
        assert!(!looks_pasted("at the top of the slip, find a way to show the name of the shop"));
    }

    #[test]
    fn the_problem_of_each_wish_is_the_users_own() {
        let wishes = "1) Ring once\nProblem: it rings twice.\n2) Fold the slip\nProblem: the slip is long.";
        assert!(own_words(wishes).contains("the slip is long"));
        let issue = "Ring once\nProblem: it rings twice.\nFix: take out the wire.";
        assert!(!own_words(issue).contains("rings twice"));
    }

    #[test]
    fn pasted_lines_are_not_the_users_own() {
        for pasted in [
            "<div>\nFrom now on\n\nalways\n</div>",
            "<div class=\"a\">\n<div>\n</div>\nFrom now on\n</div>",
            "<body>\n\nFrom now on",
            "<p>\nFrom now on\n",
            "<!--\nFrom now on\n\nalways\n-->",
            "<!--\nFrom now on",
            "+From now on always",
            "--- a/x\n+++ b/x\n+ From now on",
            "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n From now on\n-a\n+b",
            "-----Original Message-----\nFrom now on",
            "---------- Forwarded message ---------\nFrom now on",
            "Begin forwarded message:\n\nFrom now on",
            "> They wrote\nFrom now on always",
            "2. Low: the total is wrong, and\n   always calls round() twice.",
            "**1. (High) The cart never closes.**\nFrom now on it leaks.",
            "Goal: From now on always round.\n\nIssue: The cart never rounds\n\nFix: Always round",
            "The cart never closes\n\nHigh Severity\n\nFrom now on it always leaks.",
            "# Implement rounding\n\nFrom now on always round.",
            "$ cart check\nFrom now on always round",
            "ERROR: the cart should always round",
            "[task:cart] $ cart check\nalways round",
            "=== RUN TestCart\nnever closes",
            "anna@desk shop % cart check\nalways round",
            "I got this feedback:\n\nFrom now on always round.",
            "그 사이트가 말하길, 앞으로 항상 검사를 실행해줘.",
            "앞으로 항상 검사를 실행하라고 합니다.",
        ] {
            let own = own_words(&format!("Look.\n\n{pasted}"));
            assert_eq!(own.trim(), "Look.", "{pasted}");
        }
    }

    #[test]
    fn a_long_line_in_another_language_is_pasted() {
        let pasted = "The cart must always be closed, so from now on whoever opens the till has to lock it.";
        assert_eq!(own_words(&format!("이거 확인해줘\n{pasted}")).trim(), "이거 확인해줘");
        assert_eq!(own_words(&format!("Look\n{pasted}")).trim(), format!("Look\n{pasted}"));
    }

    #[test]
    fn messages_of_a_chat_are_not_the_users_own() {
        let chat = "I'd always round.\nAnna [10:05 AM]\nOr never.\n\nWhat do you think?";
        assert_eq!(own_words(chat).trim(), "What do you think?");
        assert_eq!(own_words("Look at [10:05] and round.").trim(), "Look at [10:05] and round.");
        assert_eq!(own_words("yes. also # Implement rounding\n\nAlways round.").trim(), "yes. also");
    }

    #[test]
    fn each_of_thousands_of_lines_is_kept_or_left_out() {
        for (line, is_own) in [
            ("x\n", true),
            ("<p>\n\n", false),
            ("# x\n", true),
            ("/* x\n\n", false),
            ("● x\n", true),
            ("1) x\n", true),
            ("    x\n", true),
        ] {
            let prompt = format!("Look.\n{}", line.repeat(20_000));
            let own = own_words(&prompt);
            assert_eq!(own.trim(), if is_own { prompt.trim() } else { "Look." }, "{line}");
        }
    }

    #[test]
    fn a_prompt_that_is_only_pasted() {
        assert!(is_paste("[task:cart] $ cart check\n=== RUN TestCart\n--- FAIL: TestCart"));
        assert!(is_paste("❯ cart check\nerror: no cart"));
        assert!(is_paste("sum of the cart      12.5\nsum of the yard      99.1\ncarts of the yard    7"));
        for said in ["❯ check the cart", "$ cart check\nerror\n\nwhy does it fail now?", "Fix the cart"] {
            assert!(!is_paste(said), "{said}");
        }
    }

    #[test]
    fn what_is_quoted_before_a_remark() {
        let prompt = "> the cart usually rounds\n> twice\n\nthat should say \"may round\"";
        assert_eq!(quoted(prompt, "that should say \"may round\"").as_deref(), Some("the cart usually rounds twice"));
        assert_eq!(quoted("that is wrong\n> it rounds", "that is wrong"), None);
    }

    #[test]
    fn words_around_pasted_lines_are_the_users_own() {
        for around in [
            "<div>\nx\n</div>\n@",
            "<div>\nx\n\n@",
            "<br>\n@",
            "<!-- x -->\n@",
            "<!--\nx\n-->\n@",
            "Write the mark `<!--`.\n@",
            "- one\n- two\n@",
            "+ one\n@",
            "--all is an option.\n@",
            "---\n@",
            "--- a/x\n+++ b/x\n+x\n\n@",
            "> x\n\n@",
            "@\n-----Original Message-----\nx",
            "이것을 변수라고 부른다.\n@",
        ] {
            let own = own_words(&around.replace('@', "From now on always run the tests."));
            assert!(own.contains("From now on always run the tests."), "{around}");
        }
        for own in ["- always run the tests", "  - always run the tests", "-5 degrees", "--all is an option."] {
            assert_eq!(own_words(own).trim_end(), own);
        }
    }
}
