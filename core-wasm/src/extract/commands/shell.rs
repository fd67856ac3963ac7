//! The grammar of a command line, as far as it is needed: segments, words and variables.

use std::borrow::Cow;
use std::ops::Range;

use crate::text;

/// Programs that run the program named after them.
pub(super) const WRAPPERS: &[&str] =
    &["sudo", "time", "nice", "env", "exec", "command", "timeout", "npx", "bunx", "pnpx", "uvx", "rtk", "nohup", "xvfb-run"];

/// Words of the shell's grammar before a command.
pub(super) const KEYWORDS: &[&str] = &["do", "then", "else", "elif", "if", "while", "until", "!", "{", "("];

/// Splits a command line at `&&`, `||`, `;` and newlines outside quotes. Each part is returned without the commands
/// that it is piped into, and with the lines of its here-document, which are no commands.
pub(crate) fn segments(command: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut start, mut quote, mut piped) = (0, None, None);
    // The word that ends the here-document which begins on the next line, and where it was named.
    let mut document: Option<(usize, &str)> = None;
    let bytes = command.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match (quote, byte) {
            (None | Some(b'"'), b'\n') if document.is_some() => {
                let Some((named_at, word)) = document.take() else { break };
                let end = document_end(command, at, word);
                // Another command of the line has begun before the document does.
                if quote.is_none() && named_at < start {
                    push_segment(&mut all, command, start, piped.unwrap_or(at));
                    start = end.unwrap_or(bytes.len());
                }
                piped = None;
                // In quotes, what looks like one may be text.
                if quote.is_none() || end.is_some() {
                    at = end.unwrap_or(bytes.len());
                    continue;
                }
            }
            (None | Some(b'"'), b'<') if document.is_none() && command[at..].starts_with("<<") => {
                let named = document_word(&command[at..]);
                document = named.map(|(word, _)| (at, word));
                at += named.map_or_else(|| command[at..].bytes().take_while(|byte| *byte == b'<').count(), |(_, len)| len);
                continue;
            }
            (Some(open), _) if open == byte => (quote, document) = (None, None),
            (_, b'\\') => at += 1,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'&') if bytes.get(at + 1) == Some(&b'&') => {
                push_segment(&mut all, command, start, piped.take().unwrap_or(at));
                at += 1;
                start = at + 1;
            }
            (None, b'|') if bytes.get(at + 1) == Some(&b'|') => {
                push_segment(&mut all, command, start, piped.take().unwrap_or(at));
                at += 1;
                start = at + 1;
            }
            (None, b'|') => piped = piped.or(Some(at)),
            (None, b';' | b'\n') => {
                push_segment(&mut all, command, start, piped.take().unwrap_or(at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    push_segment(&mut all, command, start, piped.unwrap_or(bytes.len()));
    all
}

/// Returns a command line up to the end of its first here-document outside quotes. What fails or passes behind it, such as the script that it
/// wrote, is seldom the cure of anything else.
pub(crate) fn through_document(command: &str) -> &str {
    let opens = |segment: &&str| {
        let before = segment.split_once("<<").filter(|_| segment.contains('\n')).map(|(before, _)| before);
        before.is_some_and(|before| before.matches('"').count() % 2 == 0)
    };
    let Some(written) = segments(command).into_iter().find(opens) else { return command };
    let end = written.as_ptr().addr() - command.as_ptr().addr() + written.len();
    command.get(..end).unwrap_or(command)
}

/// How many bytes of a here-document are kept in any case.
const MIN_DOCUMENT_BYTES: usize = 400;

/// Shortens a command line to `max` bytes by the last lines of its here-documents, the longest first, because what stands behind a long message
/// is run as well. The result may still be too long.
pub(crate) fn with_short_documents(command: &str, max: usize) -> Cow<'_, str> {
    if command.len() <= max {
        return Cow::Borrowed(command);
    }
    let mut excess = command.len() - max;
    let mut documents = documents(command);
    documents.sort_by_key(|document| std::cmp::Reverse(document.len()));
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for document in documents {
        let least = document.start + MIN_DOCUMENT_BYTES;
        let from = document.end.saturating_sub(excess).max(least);
        // Only whole lines are left out.
        let breaks = command.as_bytes()[document.start..document.end].iter().enumerate();
        let mut starts = breaks.filter(|(_, byte)| **byte == b'\n').map(|(at, _)| document.start + at + 1);
        if let Some(start) = starts.rfind(|start| *start <= from).filter(|start| excess > 0 && *start < document.end) {
            excess = excess.saturating_sub(document.end - start);
            cuts.push(start..document.end);
        }
    }
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
    let mut short = command.to_owned();
    for cut in cuts {
        short.replace_range(cut, "");
    }
    Cow::Owned(short)
}

/// Returns where the lines of the here-documents of a command line stand.
fn documents(command: &str) -> Vec<Range<usize>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(end) = command[at..].find('\n').map(|len| at + len) {
        let named = command[at..end].match_indices("<<").find_map(|(named, _)| document_word(&command[at + named..end]));
        let closed = named.and_then(|(word, _)| Some((word.len(), document_end(command, end, word)?)));
        match closed {
            Some((word, close)) => {
                let last = command[..close - word].rfind('\n').map_or(end + 1, |last| last + 1);
                all.push(end + 1..last.max(end + 1));
                at = close;
            }
            None => at = end + 1,
        }
    }
    all
}

/// Returns the word that ends the here-document of a redirection, `<<EOF` or `<<-'EOF'`, and the length of the redirection. `None` if there
/// is none: `<<<` takes a text.
fn document_word(redirection: &str) -> Option<(&str, usize)> {
    let rest = redirection.strip_prefix("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(' ');
    let quoted = rest.trim_start_matches(['\'', '"', '\\']);
    let end = quoted.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(quoted.len());
    let (word, behind) = quoted.split_at(end);
    let behind = if quoted.len() < rest.len() { behind.strip_prefix(['\'', '"']).unwrap_or(behind) } else { behind };
    let is_word = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_word.then(|| (word, redirection.len() - behind.len()))
}

/// Returns where the here-document ends that begins behind the line break at `at`: behind the word that ends it.
fn document_end(command: &str, at: usize, word: &str) -> Option<usize> {
    let mut start = at + 1;
    for line in command[start..].split_inclusive('\n') {
        let shown = line.trim_start();
        if shown.strip_prefix(word).is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(')')) {
            return Some(start + line.len() - shown.len() + word.len());
        }
        start += line.len();
    }
    None
}

/// Returns the commands of a line that all passed if the line did: those of a chain in which each needs the one before. Any
/// other line counts as one command.
pub(crate) fn chained(command: &str) -> Vec<&str> {
    let is_chain = command.contains("&&") && !command.contains(['|', ';', '\n']);
    if is_chain { segments(command) } else { vec![command] }
}

/// Returns the part of a command line before its last command, all of which passed if the line did, whatever a pipe hides of the last one.
pub(crate) fn before_last(command: &str) -> Option<&str> {
    let (before, last) = command.rsplit_once("&&")?;
    // What follows in any case hides whether the line passed.
    let is_sure = !before.contains(['|', ';', '\n', '"', '\'']) && !last.contains([';', '\n']) && !last.contains("||");
    is_sure.then(|| before.trim_end())
}

fn push_segment<'a>(all: &mut Vec<&'a str>, command: &'a str, start: usize, end: usize) {
    // Cuts are at ASCII bytes, except for one past the end after a trailing backslash.
    if let Some(segment) = command.get(start.min(end)..end.min(command.len())) {
        // A line that goes on begins no command.
        let segment = segment.trim_start_matches([' ', '\t', '\n', '\\']).trim_end();
        if !segment.is_empty() && !segment.starts_with('#') {
            all.push(segment);
        }
    }
}

/// Returns the command of a segment without the words that only steer the shell: `do cargo test` runs `cargo test`. `None` if
/// there is no other word.
pub(super) fn without_keywords(segment: &str) -> Option<&str> {
    const ALONE: &[&str] = &[
        "for", "select", "case", "esac", "done", "fi", "}", ")", "function", "read", "exit", "return", "break", "continue",
    ];
    let mut rest = segment.trim();
    loop {
        let word = rest.split_whitespace().next()?;
        if ALONE.contains(&word) {
            return None;
        }
        let is_before = KEYWORDS.contains(&word);
        rest = match rest.strip_prefix('(') {
            Some(inside) => inside.trim_start(),
            None if is_before => rest[word.len()..].trim_start(),
            None if rest.contains('(') => return Some(rest),
            None => return Some(rest.trim_end_matches(')').trim_end()),
        };
    }
}

/// Returns what a command line has another shell run, if it does nothing else: `npm test` of `powershell -Command "npm test"`. Otherwise the
/// line as it is.
pub(crate) fn scripted(command: &str) -> &str {
    const SHELLS: [&str; 5] = ["powershell", "pwsh", "bash", "sh", "zsh"];
    const CALLS: [&str; 5] = ["-Command", "-command", "-c", "-lc", "-ic"];
    let (program, rest) = command.trim().split_once(' ').unwrap_or_default();
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    if !SHELLS.contains(&program.trim_end_matches(".exe")) {
        return command;
    }
    let script = CALLS.iter().filter_map(|call| rest.split_once(&format!("{call} "))).min_by_key(|(before, _)| before.len());
    // Only options and their values stand before it.
    let Some((_, script)) = script.filter(|(before, _)| !before.contains(['"', '\'', ';', '|'])) else { return command };
    let script = script.trim();
    let quote = script.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inside = quote.and_then(|quote| script[1..].rfind(quote).map(|end| &script[1..=end]));
    inside.unwrap_or(script)
}

/// Returns the words of a segment without assignments, wrappers, flags and redirections.
pub(super) fn words(segment: &str) -> impl Iterator<Item = &str> {
    let (mut is_before_program, mut is_value) = (true, false);
    segment.split_whitespace().filter(move |word| {
        if std::mem::take(&mut is_value) || (is_before_program && introduces_program(word)) {
            return false;
        }
        // The folder of git and make, or the package of cargo: the value after the option names a place, not the
        // purpose.
        is_value = matches!(*word, "-C" | "--manifest-path" | "--cwd" | "--prefix" | "--dir" | "--filter" | "-F");
        let is_plain = !word.starts_with(['-', '<', '&']) && !word.contains('>');
        is_before_program &= !is_plain;
        is_plain
    })
}

/// Returns whether a word before a program belongs to what runs it: a variable, a wrapper, or an option of one with its value.
fn introduces_program(word: &str) -> bool {
    word.contains('=')
        || WRAPPERS.contains(&word.rsplit('/').next().unwrap_or(word))
        || word.starts_with('-')
        || word.bytes().all(|b| b.is_ascii_digit())
}

/// Returns the new branch that a command line makes and what it starts from, if that is named and not the main branch.
pub(crate) fn branch_from(command: &str) -> Option<(&str, &str)> {
    const MAIN: &[&str] = &["main", "master", "develop", "trunk", "HEAD"];
    segments(command).into_iter().find_map(|segment| {
        let is_new = text::contains_any(segment, &[" -b ", " -B ", " -c "]);
        let [program, "checkout" | "switch", branch, base] = words(segment).collect::<Vec<_>>()[..] else { return None };
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
        let is_main = MAIN.contains(&base.rsplit('/').next().unwrap_or(base));
        let is_own = base.strip_prefix("origin/").unwrap_or(base) == branch;
        (program == "git" && is_new && is_name(branch) && is_name(base) && !is_main && !is_own).then_some((branch, base))
    })
}

/// Returns the command line with the values of the variables that it sets itself to plain text.
pub(crate) fn with_values(command: &str) -> String {
    let mut line = command.to_owned();
    for segment in segments(command) {
        // PowerShell writes the sign and blanks, too.
        let Some((name, value)) = segment.split_once('=') else { continue };
        let (name, value) = (name.trim().trim_start_matches('$'), value.trim().trim_matches(['"', '\'']));
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_plain = !value.is_empty() && !value.contains(['$', '(', '`', '"', '\'', ' ']);
        if is_name && is_plain {
            line = replace_variable(&line.replace(&format!("${{{name}}}"), value), name, value);
        }
    }
    line
}

/// Replaces a variable by its value, unless the name goes on.
fn replace_variable(line: &str, name: &str, value: &str) -> String {
    let sign = format!("${name}");
    let mut pieces = line.split(sign.as_str());
    let mut replaced = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let goes_on = piece.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        replaced.push_str(if goes_on { &sign } else { value });
        replaced.push_str(piece);
    }
    replaced
}

/// Returns whether two command lines work in the same repository.
pub(crate) fn is_same_place(one: &str, other: &str) -> bool {
    folder_outside(one) == folder_outside(other)
}

/// Splits a line of shell into words, without their quotes.
pub(crate) fn tokens(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut word, mut quote, mut is_open) = (String::new(), None, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => (quote, is_open) = (Some(c), true),
            (_, '\\') if quote != Some('\'') => word.extend(chars.next()),
            (None, c) if c.is_whitespace() => {
                if is_open || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            _ => word.push(c),
        }
    }
    if is_open || !word.is_empty() {
        all.push(word);
    }
    all
}

/// Returns the folder outside of the project in which a command line works, or an empty text.
pub(super) fn folder_outside(command: &str) -> &str {
    let words = || command.split_whitespace().take_while(|word| !word.starts_with("<<"));
    let after = |option: &str| words().skip_while(|word| *word != option).nth(1);
    let folder = after("-C").or_else(|| after("cd")).unwrap_or_default();
    if folder.starts_with(['/', '~']) || folder.starts_with("..") { folder } else { "" }
}
