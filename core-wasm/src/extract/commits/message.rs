//! A commit's message: where it stands on a command line, its subject, and its body without trailers and wrapped lines.

use crate::text;

/// Returns the message given by `-m` or a here-document.
pub(in crate::extract) fn message(command: &str) -> Option<String> {
    let at = command.find("commit")?;
    let rest = &command[at..];
    if let Some(start) = rest.find("<<") {
        let after = rest[start + 2..].trim_start_matches('-').trim_start();
        let tag: String =
            after.trim_start_matches(['\'', '"']).chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let body = &after[after.find('\n')? + 1..];
        let end = body.lines().take_while(|line| line.trim() != tag).map(|line| line.len() + 1).sum::<usize>();
        return Some(body[..end.min(body.len())].trim().to_owned());
    }
    let value = rest[message_flag(rest)?..].trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '@'))?;
    if quote == '@' {
        // A here-string of PowerShell.
        return value.get(2..)?.split("'@").next().map(|text| text.trim().to_owned());
    }
    let inner = &value[1..];
    let mut end = inner.len();
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        if c == quote && !escaped {
            end = at;
            break;
        }
        escaped = c == '\\' && !escaped;
    }
    Some(inner[..end].replace("\\\"", "\"").trim().to_owned())
}

/// Returns the position just past the option that precedes the message: `-m`, `--message`, or short options joined with
/// it such as `-qam`.
fn message_flag(command: &str) -> Option<usize> {
    command.match_indices(" -").find_map(|(at, _)| {
        let option = &command[at + 2..];
        let letters = option.bytes().take_while(u8::is_ascii_alphabetic).count();
        if option[..letters].ends_with('m') {
            return Some(at + 2 + letters);
        }
        let long = option.strip_prefix("-message")?;
        long.starts_with([' ', '=']).then_some(at + 2 + "-message".len() + 1)
    })
}

/// Returns a text up to the quote that closes it, without the marks before quotes inside of it.
pub(in crate::extract) fn quoted(text: &str, quote: char) -> Option<String> {
    let mut inner = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote == '"' => inner.extend(chars.next()),
            c if c == quote => return Some(inner),
            c => inner.push(c),
        }
    }
    (!inner.is_empty()).then_some(inner)
}

pub(super) fn split_message(message: &str) -> (String, String) {
    let mut lines = message.lines();
    let subject = lines.next().unwrap_or("").trim().to_owned();
    let trailer = |line: &&str| {
        let lower = line.to_lowercase();
        !(lower.starts_with("co-authored-by:") || lower.starts_with("signed-off-by:") || lower.contains("generated with"))
    };
    let mut body: Vec<&str> = lines.filter(trailer).collect();
    while body.last().is_some_and(|line| line.trim().is_empty() || is_link_or_name(line)) {
        body.pop();
    }
    (subject, text::clip_block(body.join("\n").trim(), 1200).into_owned())
}

/// Returns whether a line is a trailer whose value is an address, a number or a person: "Change-Id: 1a2b", "Acked-by: A <a@b.c>".
fn is_link_or_name(line: &str) -> bool {
    let Some((name, value)) = line.split_once(": ") else { return false };
    let is_name = name.contains('-')
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name && (!value.trim().contains(' ') || value.trim_end().ends_with('>'))
}

/// Returns the body of a commit with its wrapped lines joined: one line for each paragraph and list item.
pub(in crate::extract) fn unwrapped(body: &str) -> String {
    let mut text = String::new();
    let (mut is_open, mut is_code) = (false, false);
    for line in body.lines() {
        let bare = line.trim();
        let is_fence = bare.starts_with("```") || bare.starts_with("~~~");
        if is_code || is_fence {
            is_code ^= is_fence;
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(line.trim_end());
            is_open = false;
            continue;
        }
        let starts = bare.starts_with(['-', '*', '•', '#', '|', '>'])
            || bare.starts_with(|c: char| c.is_ascii_digit())
            || has_numbered_label(bare);
        if !text.is_empty() {
            text.push(if is_open && !starts && !bare.is_empty() { ' ' } else { '\n' });
        }
        text.push_str(bare);
        // In parentheses, what a colon leads to is no list.
        let leads = bare.ends_with([':', '：']) && bare.matches('(').count() <= bare.matches(')').count();
        is_open = !bare.is_empty() && !leads && !bare.starts_with(['#', '|']);
    }
    text
}

/// Returns whether a line begins with a short label that has a number, so that it is an entry of a list: "H1: wrap the key".
pub(in crate::extract) fn has_numbered_label(line: &str) -> bool {
    const MAX_LABEL_CHARS: usize = 4;
    line.split_once(": ").is_some_and(|(label, _)| {
        label.chars().count() <= MAX_LABEL_CHARS
            && label.starts_with(|c: char| c.is_ascii_uppercase())
            && label.ends_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_quotes() {
        assert_eq!(message("git commit -m 'Fix it'").unwrap(), "Fix it");
        assert_eq!(message("git commit -am \"Say \\\"hi\\\"\n\nbody\"").unwrap(), "Say \"hi\"\n\nbody");
        assert_eq!(message("git commit --amend --no-edit"), None);
        assert_eq!(message("git commit -qam 'Fix it'").unwrap(), "Fix it");
        assert_eq!(message("git commit --message='Fix it'").unwrap(), "Fix it");
    }

    #[test]
    fn code_and_tables_are_not_joined() {
        let plan = "The total is\nrounded.\n\n```\na\nb\n```\n| a | b |\n| c | d |\n\n## Steps\nRound it.";
        assert_eq!(unwrapped(plan), "The total is rounded.\n\n```\na\nb\n```\n| a | b |\n| c | d |\n\n## Steps\nRound it.");
    }

    #[test]
    fn trailers_are_no_part_of_a_body() {
        let body = |message: &str| split_message(message).1;
        let trailers = "Claude-Session: https://example.org/1\nReviewed-by: Ada <ada@example.org>\n";
        assert_eq!(body(&format!("Round totals\n\nThe tax was rounded twice.\n\n{trailers}")), "The tax was rounded twice.");
        assert_eq!(body("Round totals\n\nFollow-up: the tax is rounded twice."), "Follow-up: the tax is rounded twice.");
    }

    #[test]
    fn wrapped_lines_of_a_body_are_joined() {
        let body = "Clear the cache at\nlogin.\n\n- one\n  more\n- two";
        assert_eq!(unwrapped(body), "Clear the cache at login.\n\n- one more\n- two");
        assert_eq!(unwrapped("- name the state (two:\n  open, shut)"), "- name the state (two: open, shut)");
        assert_eq!(unwrapped("H1: wrap the key\nof each slip\nM2: clear it"), "H1: wrap the key of each slip\nM2: clear it");
    }
}
