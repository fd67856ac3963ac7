//! Passwords in here-documents: the lines below `chpasswd <<EOF`, and the first line below `sudo -S reboot <<EOF`.

use std::ops::Range;

use super::{
    command::{is_password_argument, word_end},
    rule::Rule,
    scan::{Scan, span, span_back},
};

/// How far the operator may be from the name of the program, in bytes.
const MAX_DISTANCE: usize = 160;
/// How far the end of the command may be from the operator, in bytes.
const MAX_REST: usize = 1024;
/// How much of the documents is read.
const MAX_DOCUMENT_BYTES: usize = 4096;
const MAX_LINES: usize = 64;

/// Finds the passwords that a here-document hands to the program at `at`.
pub(super) fn find(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let near = at.start.saturating_sub(MAX_DISTANCE)..scan.bytes.len().min(at.end + MAX_DISTANCE);
    if memchr::memmem::find(&scan.bytes[near], b"<<").is_none() {
        return;
    }
    for (search, depth) in [("here-document", 0), ("here-document-1", 1), ("here-document-2", 2)] {
        let lines = Lines { depth };
        let Some(command) = Command::around(scan.bytes, &at, lines) else { continue };
        // Another program of the same command has led here before.
        if !command.documents.is_empty() && !scan.unsearched(search, command.end..command.end + 1).is_empty() {
            for password in command.passwords(scan.bytes) {
                if is_password_argument(scan.text.get(password.clone()).unwrap_or_default()) {
                    scan.add_likely(rule.id, password);
                }
            }
        }
    }
}

/// How lines end: with a newline, or with as many backslashes as the depth and an `n`. In a JSON string this is one, and two if
/// the string is inside another one.
#[derive(Clone, Copy)]
struct Lines {
    depth: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Break {
    Newline,
    /// A newline behind a backslash. The command goes on.
    Continued,
    /// What ends the string.
    Quote,
}

impl Lines {
    /// Returns the next break, and what it is.
    fn next(self, bytes: &[u8], from: usize) -> Option<(Range<usize>, Break)> {
        if self.depth == 0 {
            let newline = from + memchr::memchr(b'\n', &bytes[from..])?;
            let end = newline - usize::from(bytes[from..newline].ends_with(b"\r"));
            let backslashes = end - span_back(bytes, end, end - from, |byte| byte == b'\\');
            let kind = if backslashes % 2 == 1 { Break::Continued } else { Break::Newline };
            return Some((end..newline + 1, kind));
        }
        let mut at = from;
        loop {
            at += memchr::memchr3(b'\\', b'"', b'\n', &bytes[at..])?;
            let letter = span(bytes, at, |byte| byte == b'\\');
            let count = letter - at;
            match bytes.get(letter)? {
                b'\n' => return Some((letter..letter + 1, Break::Quote)),
                b'"' if count < self.depth => return Some((at..letter + 1, Break::Quote)),
                b'n' if count == self.depth => {
                    let end = self.without_return(bytes, from..at);
                    return Some((end..letter + 1, Break::Newline));
                }
                // The backslash itself is written as two.
                b'n' if count == 3 * self.depth => return Some((at..letter + 1, Break::Continued)),
                _ => at = letter + 1,
            }
        }
    }

    /// Returns the end of a line without the carriage return that `\r` stands for.
    fn without_return(self, bytes: &[u8], line: Range<usize>) -> usize {
        let end = line.end.saturating_sub(1);
        let start = span_back(bytes, end, end.saturating_sub(line.start), |byte| byte == b'\\');
        let is_return = line.start <= start && end - start == self.depth && bytes[end] == b'r';
        if is_return { start } else { line.end }
    }

    /// Returns the end of the blanks at `from`, or of the sign of a diff.
    fn blank_end(self, bytes: &[u8], from: usize) -> usize {
        let mut end = from;
        while let Some(after) = self.after_tab(bytes, end) {
            end = after;
        }
        span(bytes, end, |byte| matches!(byte, b' ' | b'\t' | b'+' | b'-'))
    }

    /// Returns where what stands at `from` ends if it is a tab.
    fn after_tab(self, bytes: &[u8], from: usize) -> Option<usize> {
        let letter = if self.depth > 0 { span(bytes, from, |byte| byte == b'\\') } else { from };
        let tab = if letter > from { b't' } else { b'\t' };
        (bytes.get(letter) == Some(&tab)).then_some(letter + 1)
    }
}

/// A here-document of a command.
struct Document {
    /// The line that ends it.
    word: Vec<u8>,
    /// What may indent its lines: `-` for tabs, `~` for any blanks.
    indent: Option<u8>,
    /// Whether the program reads it.
    is_read: bool,
}

/// A command, which a backslash may continue on the next line, and its here-documents.
struct Command {
    lines: Lines,
    /// Where its documents begin.
    end: usize,
    documents: Vec<Document>,
    /// What precedes each of its lines: blanks, or the sign of a diff.
    lead: Vec<u8>,
    /// Whether it reads lines of the form `user:password`.
    names_users: bool,
    /// Whether it reads a line that is a password.
    names_password: bool,
}

impl Command {
    fn around(bytes: &[u8], at: &Range<usize>, lines: Lines) -> Option<Self> {
        const PROGRAMS: [&[u8]; 5] = [b"sudo -S", b"smbpasswd", b"kinit", b"cryptsetup", b"password-stdin"];
        let bytes = &bytes[..bytes.len().min(at.end + MAX_DISTANCE + MAX_REST)];
        let mut start = at.start.saturating_sub(MAX_DISTANCE);
        let mut from = start;
        let (line, next) = loop {
            match lines.next(bytes, from)? {
                (found, Break::Continued) => from = found.end,
                (found, _) if found.end <= at.start => (start, from) = (found.end, found.end),
                (found, Break::Newline) => break (start..found.start, found.end),
                (_, Break::Quote) => return None,
            }
        };
        let has = |program: &[u8]| memchr::memmem::find(&bytes[line.clone()], program).is_some();
        let is_first = start == 0 || start > at.start.saturating_sub(MAX_DISTANCE);
        let margin = if is_first { margin_end(bytes, start) } else { start };
        let lead_end = lines.blank_end(bytes, margin);
        Some(Self {
            lines,
            end: next,
            documents: documents(bytes, line.clone(), at),
            lead: if is_first { bytes[margin..lead_end.min(line.end)].to_vec() } else { Vec::new() },
            names_users: has(b"chpasswd"),
            names_password: PROGRAMS.iter().any(|program| has(program)),
        })
    }

    /// Returns what may be passwords in the documents.
    fn passwords(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let window = &bytes[..bytes.len().min(self.end + MAX_DOCUMENT_BYTES)];
        let (mut indented, mut passwords) = (Vec::new(), Vec::new());
        let mut documents = self.documents.iter();
        let mut document = documents.next();
        let (mut from, mut is_first) = (self.end, true);
        for _ in 0..MAX_LINES {
            let Some(current) = document else { break };
            let found = self.lines.next(window, from);
            let (end, next) = match &found {
                Some((end, Break::Newline | Break::Continued)) => (end.start, Some(end.end)),
                Some((end, Break::Quote)) => (end.start, None),
                None => (window.len(), None),
            };
            let (start, is_indented) = self.content(&window[..end], from, current.indent);
            if is_end(&window[start..end], &current.word) {
                // Blanks indent all of a script in another file, and not only the lines of the document.
                passwords.append(&mut indented);
                document = documents.next();
                is_first = true;
            } else {
                if current.is_read {
                    let place = if is_indented { &mut indented } else { &mut passwords };
                    place.extend(self.password(&window[..end], start, is_first));
                }
                is_first = false;
            }
            let Some(next) = next else { break };
            from = next;
        }
        passwords
    }

    /// Returns where the text of a line begins, and whether blanks precede it that the operator does not allow.
    fn content(&self, line: &[u8], from: usize, indent: Option<u8>) -> (usize, bool) {
        let margin = margin_end(line, from).min(line.len());
        let has_lead = line[margin..].starts_with(&self.lead);
        let mut start = if has_lead { margin + self.lead.len() } else { margin };
        while let Some(after) = indent.and_then(|_| self.lines.after_tab(line, start)) {
            start = after;
        }
        if indent == Some(b'~') {
            start = span(line, start, |byte| byte == b' ');
        }
        // What the shell writes before a line that is typed.
        let is_prompt = line[start..].starts_with(b"> ");
        let is_indented = has_lead && !matches!(self.lead[..], [] | [b'+' | b'-']) || is_prompt;
        (if is_prompt { start + 2 } else { start }, is_indented)
    }

    /// Returns what is the password in a line.
    fn password(&self, line: &[u8], start: usize, is_first: bool) -> Option<Range<usize>> {
        if self.names_password && is_first {
            return (start < line.len() && word_end(line, start) == line.len()).then_some(start..line.len());
        }
        let user = span(line, start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$'));
        let is_password =
            self.names_users && user > start && line.get(user) == Some(&b':') && line.get(user + 1) != Some(&b' ');
        is_password.then_some(user + 1..line.len())
    }
}

/// Returns where a line begins behind the number that a listing puts before it.
fn margin_end(line: &[u8], from: usize) -> usize {
    let digits = span(line, from, |byte| byte == b' ');
    let number = span(line, digits, |byte| byte.is_ascii_digit());
    let arrow = ["\u{2192}", "\t"].iter().find(|arrow| number > digits && line[number..].starts_with(arrow.as_bytes()));
    arrow.map_or(from, |arrow| number + arrow.len())
}

/// Returns whether a line ends a document. A quote or a bracket that encloses the command may follow.
fn is_end(line: &[u8], word: &[u8]) -> bool {
    line.strip_prefix(word).is_some_and(|rest| matches!(rest, [] | [b'"' | b'\'' | b'`' | b')' | b'\\', ..]))
}

/// Returns the here-documents of a command in order. The program at `at` reads those that stand behind it, and those before it
/// whose output is piped on.
fn documents(bytes: &[u8], line: Range<usize>, at: &Range<usize>) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut from = line.start;
    while let Some(operator) = memchr::memmem::find(&bytes[from..line.end], b"<<").map(|found| from + found) {
        from = span(&bytes[..line.end], operator, |byte| byte == b'<');
        let before = &bytes[line.start..operator];
        // `$((1 << bits))`
        let is_shift = memchr::memmem::rfind(before, b"((") > memchr::memmem::rfind(before, b"))");
        if from > operator + 2 || is_shift {
            continue;
        }
        let Some((word, indent)) = word(&bytes[from..line.end]) else { continue };
        let is_read = if operator >= at.end {
            operator <= at.end + MAX_DISTANCE
        } else {
            has_pipe(&bytes[operator..at.start.max(operator)])
        };
        documents.push(Document { word, indent, is_read });
    }
    while documents.pop_if(|document| !document.is_read).is_some() {}
    documents
}

fn has_pipe(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'|', bytes).any(|pipe| bytes.get(pipe + 1) != Some(&b'|') && (pipe == 0 || bytes[pipe - 1] != b'|'))
}

/// Returns the word behind an operator without its quotes, and what may indent the lines of the document.
fn word(rest: &[u8]) -> Option<(Vec<u8>, Option<u8>)> {
    let indent = rest.first().copied().filter(|first| matches!(first, b'-' | b'~'));
    let start = span(rest, usize::from(indent.is_some()), |byte| byte == b' ');
    let mut word = Vec::new();
    let mut quote = None;
    for &byte in &rest[start..] {
        match (byte, quote) {
            (b'\\', _) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            (b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>' | b'`' | 0..=b' ', None) => break,
            _ => word.push(byte),
        }
    }
    // `1 << 20` and `bits <<= 2` are no here-documents, and in `"kinit <<EOF"` a quote ends what is told of the command.
    let is_word = quote.is_none() && word.first().is_some_and(|first| !first.is_ascii_digit() && *first != b'=');
    is_word.then_some((word, indent))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::redact::scrub;

    /// Returns a command with a here-document in which `@` is the password, and how it is written in a text.
    fn here_document() -> impl Strategy<Value = String> {
        let program =
            prop::sample::select(vec!["chpasswd", "kinit amy", "sudo -S reboot", "docker login --password-stdin a.example"]);
        let quote = prop::sample::select(vec!["@", "'@'", "\"@\"", "\\@"]);
        let word = (quote, "[A-Za-z_!%+:.][A-Za-z0-9_!%+:.-]{0,8}");
        let operator = prop::sample::select(vec!["<<", "<< ", "<<-", "<<- "]);
        let place = prop::sample::select(vec![
            "§ #",
            "cat #| §",
            "§ # && klist",
            "§ # | tee a.log",
            "sudo -u amy § \\\n #",
            "§ # \\\n >a",
        ]);
        let lead = prop::sample::select(vec!["", "  ", "\t", "+", " 7\u{2192}"]);
        let (ends, nested) = (prop::sample::select(vec!["\n", "\r\n"]), 0usize..3);
        (program, word, operator, place, lead, ends, nested).prop_map(
            |(program, (quote, word), operator, place, lead, ends, nested)| {
                let tab = if operator.contains('-') { "\t" } else { "" };
                let line = if program == "chpasswd" { "amy:@" } else { "@" };
                let command = place.replace('#', &format!("{operator}{}", quote.replace('@', &word))).replace('§', program);
                let lines = [command, format!("{tab}{line}"), format!("{tab}{word}"), "ls".to_owned()];
                let text: String = lines.iter().flat_map(|line| [lead, line, ends]).collect();
                (0..nested).fold(text, |text, _| serde_json::json!({ "text": text }).to_string())
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn a_here_document_hides_its_password(
            text in here_document(),
            password in prop::sample::select(vec!["Summer2024!", "tr0ub4dor", "hunter2hunter", "correcthorse"]),
            before in "([a-z]{0,9} ?){0,3}\n",
        ) {
            let scrubbed = scrub(&format!("{before}{}", text.replace('@', password))).into_owned();
            prop_assert!(!scrubbed.contains(password), "{} → {}", text, scrubbed);
            prop_assert_eq!(scrub(&scrubbed).into_owned(), scrubbed.clone());
        }

        #[test]
        fn what_only_looks_like_a_here_document_stays(
            name in "[a-z]{1,8}",
            shape in prop::sample::select(vec![
                "log << \"kinit: \" << #;\n\tstate2024->next();\n",
                "    log << #;  // chpasswd\n    Open2024x\n",
                "bits <<= # | kinit;\nOpen2024x\n",
                "cryptsetup resize a $((1 << #))\nOpen2024x\n",
                "cat > a.conf <<# && kinit amy\nOpen2024x\n#\n",
                "cat <<<# >a; kinit amy\nOpen2024x\n",
                "kinit amy\ncat <<#\nOpen2024x\n#\n",
                "cat <<#\nOpen2024x\n#\nkinit amy\n",
            ]),
            nested in 0usize..3,
        ) {
            let text = (0..nested).fold(shape.replace('#', &name), |text, _| serde_json::json!({ "text": text }).to_string());
            prop_assert_eq!(scrub(&text), text.as_str());
        }
    }
}
