//! What a prompt points to with "this" or "these errors": the file of a pasted difference, the line of a log that tells the error, or
//! the code below.

use super::demand::is_order;
use super::pasted::is_log_line;
use crate::extract::failures;
use crate::text;

/// The maximum length of what is added to a request, in characters.
const MAX_CHARS: usize = 160;

/// The length of the beginning by which it is known to be in the request already, in bytes.
const MAX_SAME_BYTES: usize = 40;

/// Words that point to something which the prompt shows.
const DEICTICS: &[&str] =
    &["this", "these", "those", "below", "이", "이거", "이것", "아래", "この", "これ", "以下", "这个", "这些"];

/// Uses of "this" that name nothing themselves.
const PRONOUNS: &[&str] = &["this is", "this to", "this with", "this into", "this does", "these are", "these to"];

/// Words for what a log shows.
const TROUBLES: &[&str] = &[
    "error",
    "errors",
    "issue",
    "issues",
    "problem",
    "problems",
    "fail",
    "fails",
    "failed",
    "failing",
    "failure",
    "failures",
    "에러",
    "오류",
    "문제",
    "エラー",
    "问题",
    "错误",
];

/// Returns the prompt without the lines of a pasted log. None if it has no log.
pub(super) fn without_log(prompt: &str) -> Option<String> {
    if !prompt.lines().any(|line| log_start(line).is_some()) {
        return None;
    }
    let (mut own, mut is_inside) = (String::new(), false);
    for line in prompt.lines() {
        let start = log_start(line);
        // The lines of a log reach to the next paragraph, unless the user asks for something.
        is_inside = (is_inside || start.is_some()) && !line.trim().is_empty();
        let said = &line[..start.unwrap_or(line.len())];
        if is_inside && start.is_none() && !is_order(said) {
            continue;
        }
        let is_continuation = is_tagged(said.trim_start())
            || tells_error(said) > 0
            || said.starts_with([' ', '\t', '(', '.', '?', '❯', '⏺', '⎿', '│']);
        if !said.trim().is_empty() && !is_continuation {
            own.push_str(said.trim_end());
            own.push('\n');
        }
    }
    (!own.trim().is_empty()).then_some(own)
}

/// Returns where the line of a log begins in a line: at its time, or at a tag before one.
fn log_start(line: &str) -> Option<usize> {
    let starts = std::iter::once(0).chain(line.match_indices(" [").map(|(at, _)| at + 1));
    starts.filter(|at| line[*at..].starts_with(|c: char| c == '[' || c.is_ascii_digit())).find(|at| {
        let rest = &line[*at..];
        is_log_line(rest) || (is_tagged(rest) && (*at == 0 || rest.contains(" -> ") || rest.contains("://")))
    })
}

/// Returns whether a line begins with the name of the part that wrote it: `[Worker]`. A picture and a link do not.
fn is_tagged(line: &str) -> bool {
    line.strip_prefix('[').and_then(|rest| rest.split_once(']')).is_some_and(|(tag, rest)| {
        (2..=40).contains(&tag.len())
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ._:-".contains(&byte))
            && !tag.starts_with("Image")
            && rest.starts_with([' ', ':'])
    })
}

/// What stands before what another program says.
const LEADS: [&str; 2] = ["stderr: ", "remote: "];

/// Returns how clearly a line tells an error.
fn tells_error(line: &str) -> u8 {
    let lower = line.trim().to_lowercase();
    let lower = LEADS.iter().fold(lower.as_str(), |line, lead| line.strip_prefix(lead).unwrap_or(line));
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    if starts(&["error:", "error[", "fatal:", "panic:", "exception:"]) {
        3
    } else if text::contains_any(lower, &["error: ", "exception: ", "failed: ", "exited with"]) {
        2
    } else {
        0
    }
}

/// Returns what a request points to and does not say, if the prompt shows it.
pub(super) fn antecedent(request: &str, prompt: &str) -> Option<String> {
    let lower = request.to_lowercase();
    let says = |words: &[&str]| text::contains_any_words(&lower, words);
    let (points, is_trouble) = (says(DEICTICS), says(TROUBLES));
    let shown = if points && let Some(file) = diff_file(prompt) {
        file
    } else if (points || is_trouble)
        && let Some(error) = error_line(prompt)
            .or_else(|| failures::pasted_error(prompt).filter(|it| !failures::is_of_runner(it)))
            .or_else(|| error_in_data(prompt))
    {
        text::clip(&error, MAX_CHARS).into_owned()
    } else if points && (!lower.is_ascii() || text::contains_any_words(&lower, PRONOUNS)) {
        code(prompt)?
    } else {
        return None;
    };
    (!request.contains(text::head(shown.trim_matches('`'), MAX_SAME_BYTES))).then_some(shown)
}

/// Returns the file of a pasted difference, if it is one.
fn diff_file(prompt: &str) -> Option<String> {
    let mut files =
        prompt.lines().filter_map(|line| line.strip_prefix("+++ ")).map(|path| path.trim_end_matches(['\\', ' ']));
    let file = files.next()?;
    // The first folder says which side it is.
    let file = file.split_once('/').map_or(file, |(_, rest)| rest);
    (files.next().is_none() && file.contains('.')).then(|| format!("`{file}`"))
}

/// Returns the line of a pasted log that tells the error best, without what leads to it.
fn error_line(prompt: &str) -> Option<String> {
    if !prompt.lines().any(|line| log_start(line).is_some()) {
        return None;
    }
    let mut best: Option<(u8, &str)> = None;
    for line in prompt.lines() {
        let weight = if failures::is_of_runner(line.trim()) { 0 } else { tells_error(line) };
        if weight > best.map_or(0, |(known, _)| known) {
            best = Some((weight, line.trim()));
        }
    }
    let (_, line) = best?;
    let after = LEADS.iter().fold(line, |line, lead| line.strip_prefix(lead).unwrap_or(line));
    let after = ["failed: ", "stderr: "].iter().find_map(|lead| after.split_once(lead)).map_or(after, |(_, rest)| rest);
    Some(after.to_owned())
}

/// Returns what the data that a prompt shows tell of an error: `"message": "no key"`.
fn error_in_data(prompt: &str) -> Option<String> {
    let field = |line: &str, name: &str| {
        let value = line.trim().strip_prefix(name)?.trim_start().strip_prefix(':')?.trim().trim_end_matches(',');
        Some(value.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    };
    // What went well tells no error.
    let is_well = ["\"ok\": true", "\"ok\":true", "\"success\": true", "\"success\":true"];
    if text::contains_any(prompt, &is_well) {
        return None;
    }
    let values = prompt.lines().filter_map(|line| ["\"message\"", "\"error\""].iter().find_map(|name| field(line, name)));
    values.into_iter().find(|value| value.contains(' '))
}

/// Returns the first lines of the code that a prompt shows.
fn code(prompt: &str) -> Option<String> {
    let is_code = |line: &&str| {
        let line = line.trim_end_matches(['\\', ' ']);
        line.ends_with(['{', ';']) && !line.contains('`') && line.chars().count() >= 4
    };
    let lines: Vec<&str> = prompt.lines().filter(is_code).take(2).map(|line| line.trim_end_matches(['\\', ' '])).collect();
    (lines.len() == 2).then(|| format!("`{}`", text::clip(&text::one_line(&lines.join(" ")), 90)))
}
