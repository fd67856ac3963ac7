//! What was pasted from a terminal into a prompt.

use super::pasted::is_log_line;
use crate::extract::signs;
use crate::text;
use crate::text::Language;

/// Returns whether a line is of a terminal: a command behind its prompt, or what a runner of tasks or tests prints.
pub(super) fn is_terminal(line: &str) -> bool {
    let is_level = ["ERROR", "FATAL", "WARN", "WARNING", "INFO", "DEBUG", "FAIL", "Traceback"]
        .iter()
        .any(|level| line.strip_prefix(level).is_some_and(|rest| rest.starts_with([':', ' ', ']', '\t'])));
    let is_test = ["=== ", "--- "].iter().any(|mark| line.strip_prefix(mark).is_some_and(begins_in_capitals));
    // `[task] $ command`, and the lines of a task: `[lint:go] file.go:3: …`.
    let is_task = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).is_some_and(|(tag, rest)| {
        let is_name = tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_-.".contains(&byte));
        is_name && (tag.contains(':') || rest.starts_with("$ "))
    });
    is_level || is_test || is_task || is_command(line)
}

/// Returns whether the first word is a word in capitals: what a runner of tests prints of one, such as "FAIL".
fn begins_in_capitals(rest: &str) -> bool {
    let word = rest.split([' ', ':']).next().unwrap_or_default();
    word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns whether a line is a command behind the prompt of a shell.
fn is_command(line: &str) -> bool {
    // `user@host folder % command`.
    let is_host = || {
        let mut words = line.split_whitespace();
        let host = words.next().is_some_and(|word| word.contains('@') && !word.starts_with('@') && !word.ends_with('.'));
        host && words.take(2).any(|word| matches!(word, "%" | "$" | "#"))
    };
    // `~/folder $ command`.
    let is_folder = || {
        let mut words = line.split_whitespace();
        let is_path = words.next().is_some_and(|word| word == "~" || word.starts_with("~/"));
        is_path && words.next().is_some_and(|word| matches!(word, "%" | "$" | "#" | "❯"))
    };
    // The prompt of a shell that shows the branch.
    let has_branch = line.contains('\u{e0a0}');
    ["$ ", "❯", "➜ "].iter().any(|mark| line.starts_with(mark)) || has_branch || is_host() || is_folder()
}

/// Returns a prompt without what was pasted from a terminal: a command behind its prompt, the lines below it up to the next paragraph, and
/// the paragraphs behind that in which nobody speaks. None if there is nothing of that, or if hardly anything else is left.
pub(super) fn without_terminal(prompt: &str) -> Option<String> {
    const MIN_WORDS: usize = 3;
    const MIN_LEAD_WORDS: usize = 6;
    // "❯ This branch is mine" is a prompt of the agent, which somebody sends again.
    let is_sentence = |line: &str| line.trim_start_matches(['❯', '$', ' ']).starts_with(char::is_uppercase);
    // What stands between fences is no part of a request anyway.
    if prompt.contains("```") {
        return None;
    }
    let is_command = |line: &&str| is_command(line.trim()) && !is_sentence(line.trim());
    let (mut own, mut run) = (String::new(), None);
    for paragraph in prompt.split("\n\n") {
        let typed: Vec<&str> = paragraph.lines().take_while(|line| !is_command(line)).collect();
        if run.is_none() || speaks(paragraph) {
            own.push_str(&typed.join("\n"));
            own.push_str("\n\n");
        }
        run = run.or_else(|| paragraph.lines().find(is_command));
    }
    let command = command_of(run?);
    let count = own.split_whitespace().count();
    if let Some(command) = command.filter(|_| count >= MIN_LEAD_WORDS && own.trim_end().ends_with(':')) {
        // "I get this error:" says more with what was run.
        return Some(format!("{} `{command}`", own.trim_end()));
    }
    (count >= MIN_WORDS).then_some(own)
}

/// Returns the command behind the prompt of a shell, if it is short.
fn command_of(line: &str) -> Option<&str> {
    const MAX_CHARS: usize = 80;
    let line = line.trim();
    let marked = ["$ ", "❯ "].iter().find_map(|mark| line.strip_prefix(mark));
    let command = marked.or_else(|| [" % ", " $ "].iter().find_map(|mark| Some(line.split_once(mark)?.1)))?.trim();
    let is_plain = !command.is_empty() && !command.contains(['`', '❯', '\u{e0a0}']);
    (is_plain && command.chars().count() <= MAX_CHARS).then_some(command)
}

/// Returns whether somebody speaks in a paragraph to somebody, as no program does.
pub(super) fn speaks(paragraph: &str) -> bool {
    const MIN_ORDER_WORDS: usize = 3;
    const ORDERS: [&str; 8] = ["fix", "find out", "investigate", "look into", "debug", "explain", "write", "test"];
    const WORDS: [&str; 14] = [
        "i",
        "i'm",
        "i've",
        "i'd",
        "we",
        "let's",
        "should",
        "can you",
        "could you",
        "please",
        "why",
        "how",
        "what",
        "maybe",
    ];
    let first = paragraph.trim_start();
    let is_wide = text::language(first) != Language::English;
    // A program says what to run or to see, and not what to mend.
    let orders = || {
        let first = text::first_sentence(first).unwrap_or_default().to_lowercase();
        let is_order = ORDERS.iter().any(|verb| text::starts_with_words(&first, verb)) || signs::is_imperative(&first);
        is_order && first.split_whitespace().count() >= MIN_ORDER_WORDS
    };
    first.starts_with(char::is_alphabetic)
        && !is_log_line(first)
        && !is_terminal(first)
        && (is_wide || orders() || text::contains_any_words(&first.to_lowercase().replace('’', "'"), &WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_printed_is_left_out() {
        let own = |prompt: &str| without_terminal(prompt).map(|own| text::one_line(&own));
        let said = "I just saw this:\n\n❯ till open\nOpen it? [Y/n] n\nRinging (2/5)\n\nI think we should open it at noon.";
        assert_eq!(own(said).unwrap(), "I just saw this: I think we should open it at noon.");
        let asked = "The till rings twice:\n\n$ till print\nslip 1 of 2\n\nFix the till so that it prints one slip.";
        assert_eq!(own(asked).unwrap(), "The till rings twice: Fix the till so that it prints one slip.");
        let announced = "I get this error from the till:\n\n$ till print\nno paper";
        assert_eq!(own(announced).unwrap(), "I get this error from the till: `till print`");
        let printed = "the slip is still red.\n\nu@shop till % till print\n\nslip 1 of 2\n\nslip 2 of 2";
        assert_eq!(own(printed).unwrap(), "the slip is still red.");
        assert_eq!(own("❯ This branch is mine. Please paint it green."), None);
        assert_eq!(own("you get:\n```\n❯ till open\n```\nand then it waits for me"), None, "the fence ends it");
        assert_eq!(own("❯ till open\nOpen it? [Y/n]"), None, "nothing else is left");
        let in_folder = "no, I don't see it in the drawer.\n\n~/till $ ls drawer\nslip\n~/till $ ls drawer/slip\ncoin";
        assert_eq!(own(in_folder).unwrap(), "no, I don't see it in the drawer.");
        assert_eq!(own("the slip is red\n\nand the drawer is green"), None);
    }
}
