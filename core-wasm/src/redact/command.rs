//! Passwords in command lines, where the name of the option does not indicate a secret.

use std::ops::Range;

use super::{
    assignment::quoted,
    rule::Rule,
    scan::{Context, Scan, is_name, is_token_start, span, span_back},
    value::{Kind, Shape, is_secret},
};

/// How a program takes its password.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Style {
    /// `-pSECRET`, directly after the option. With a blank between them it would mean something else.
    Glued,
    /// `-p SECRET`
    Apart,
    /// `-u user:SECRET`
    UserAndPassword,
    /// `-U user%SECRET`
    UserPercentPassword,
    /// `-u user,SECRET`
    UserCommaPassword,
    /// `--from-literal=name=SECRET`
    NameAndSecret,
    /// `user/SECRET@database` as the first word.
    UserSlashPassword,
    /// The first word.
    First,
    /// The second word.
    Second,
    /// The last word, after options or at least two words.
    Last,
    /// The first two words. A password that is empty is written as a pair of quotes.
    FirstTwo,
    /// The values of all words of the form `NAME=SECRET`.
    Assignments,
    /// The last word, if an option contains `b`. Without it, the program asks for the password.
    LastOfBatch,
}

impl Style {
    /// Returns whether the position of a word identifies it, and not an option before it.
    fn is_positional(self) -> bool {
        matches!(
            self,
            Self::UserSlashPassword
                | Self::First
                | Self::Second
                | Self::FirstTwo
                | Self::Assignments
                | Self::Last
                | Self::LastOfBatch
        )
    }

    /// Returns the separator between user and password.
    fn separator(self) -> Option<u8> {
        match self {
            Self::UserAndPassword => Some(b':'),
            Self::UserPercentPassword => Some(b'%'),
            Self::UserCommaPassword => Some(b','),
            Self::NameAndSecret => Some(b'='),
            _ => None,
        }
    }
}

/// Searches the rest of the command for an option.
pub(super) fn find(scan: &mut Scan, rule: &'static Rule, at: Range<usize>, options: &[&'static str], style: Style) {
    let bytes = scan.bytes;
    let apart = bytes.get(at.end).is_some_and(|next| *next == b' ' || next.is_ascii_alphabetic());
    if !is_token_start(bytes, at.start) || !apart {
        return;
    }
    let end = command_end(scan, at.end);
    if style.is_positional() {
        // `http-basic.shop`: the rest of the word is a name.
        let rest = if bytes[at.end - 1] == b'.' { word_end(&bytes[..end], at.end) } else { at.end };
        // `net users` is another program.
        if bytes.get(rest) != Some(&b' ') {
            return;
        }
        return positional(scan, rule, rest..end, options, style);
    }
    // The same option is searched for in two styles: `mysql -pSECRET`, `docker login -p SECRET`.
    let search = if style == Style::Glued { options[0].trim_start_matches('-') } else { options[0] };
    let command = scan.unsearched(search, at.end..end);
    let mut from = command.start;
    while let Some(blank) = memchr::memchr(b' ', &bytes[from..command.end]).map(|blank| from + blank) {
        from = blank + 1;
        if let Some(secret) = options.iter().find_map(|option| option_value(scan, from, option, style)) {
            let text = scan.text.get(secret.clone()).unwrap_or_default();
            if is_password_argument(text) {
                scan.add_likely(rule.id, secret.clone());
                from = secret.end.clamp(from, command.end);
            }
        }
    }
}

/// What stands behind the program of a command.
struct Arguments {
    /// The words that are no options and no values of options.
    words: Vec<Range<usize>>,
    /// The number of options.
    flags: usize,
    /// Whether an option has the letter `b`, as that for a batch has.
    batch: bool,
}

impl Arguments {
    /// The maximum number of words that are examined.
    const MAX_WORDS: usize = 16;

    /// Reads a command. The word after one of `options` is that option's value.
    fn read(scan: &Scan, command: Range<usize>, options: &[&'static str], style: Style) -> Self {
        let bytes = scan.bytes;
        let mut this = Self { words: Vec::new(), flags: 0, batch: false };
        let (mut at, mut is_value) = (command.start, false);
        while at < command.end && this.words.len() < Self::MAX_WORDS && this.flags < Self::MAX_WORDS {
            if bytes[at] == b' ' {
                at += 1;
                continue;
            }
            let quoted = quoted(scan, at);
            let word = quoted.clone().unwrap_or_else(|| at..word_end(&bytes[..command.end], at));
            let first = bytes[at];
            if matches!(first, b'>' | b'<' | b'&' | b'|' | b';' | b')' | b'#') {
                break;
            }
            at = match quoted {
                // Past the closing quote and its backslashes.
                Some(word) => span(bytes, word.end, |byte| byte == b'\\') + 1,
                None => word.end.max(at + 1),
            };
            // Windows options. A path would be longer.
            let slashed = first == b'/' && (style == Style::Second || bytes[word.clone()].starts_with(b"/user:"));
            if first == b'-' && &bytes[word.clone()] == b"--" && style == Style::FirstTwo {
                break;
            }
            if first == b'-' || slashed {
                this.flags += 1;
                is_value = options.iter().any(|option| option.as_bytes() == &bytes[word.clone()]);
                this.batch |= bytes[word].contains(&b'b');
            } else if std::mem::take(&mut is_value) {
                // The value of an option.
            } else if !word.is_empty() {
                this.words.push(word);
            }
            // A quote that the word did not open ends the command.
            if !matches!(bytes.get(at), None | Some(b' ' | b'\n')) {
                break;
            }
        }
        this
    }
}

/// Finds a password that is identified by its position in the command. The word after one of `options` is that option's value.
fn positional(scan: &mut Scan, rule: &'static Rule, command: Range<usize>, options: &[&'static str], style: Style) {
    let Arguments { words, flags, batch } = Arguments::read(scan, command, options, style);
    let word = match style {
        Style::FirstTwo | Style::Assignments => return each_word(scan, rule, words, style),
        Style::Second => words.get(1),
        Style::Last => words.last().filter(|_| flags > 0 || words.len() > 2),
        Style::LastOfBatch => words.last().filter(|_| batch),
        _ => words.first(),
    };
    let Some(mut word) = word.cloned() else { return };
    let bytes = scan.bytes;
    // `vault login username=amy`
    let name = span(&bytes[..word.end], word.start, |byte| byte.is_ascii_lowercase() || byte == b'_');
    if style == Style::First && name > word.start && bytes.get(name) == Some(&b'=') && name + 1 < word.end {
        return;
    }
    if style == Style::UserSlashPassword {
        let Some(slash) = memchr::memchr(b'/', &bytes[word.clone()]).filter(|slash| *slash > 0) else { return };
        let end = memchr::memrchr(b'@', &bytes[word.clone()]).map_or(word.end, |sign| word.start + sign);
        word = (word.start + slash + 1).min(end)..end;
    }
    if is_password_argument(scan.text.get(word.clone()).unwrap_or_default()) {
        scan.add_likely(rule.id, word);
    }
}

/// Finds the passwords of a command that may have several: its first two words, or the values of its assignments.
fn each_word(scan: &mut Scan, rule: &'static Rule, words: Vec<Range<usize>>, style: Style) {
    let bytes = scan.bytes;
    for word in words.into_iter().take(if style == Style::FirstTwo { 2 } else { Arguments::MAX_WORDS }) {
        let sign = memchr::memchr(b'=', &bytes[word.clone()]).map(|sign| word.start + sign + 1);
        let secret = if style == Style::FirstTwo { word } else { sign.map_or(word.end..word.end, |start| start..word.end) };
        // `NAME="a value"`
        let secret = quoted(scan, secret.start).filter(|_| sign.is_some()).unwrap_or(secret);
        if is_password_argument(scan.text.get(secret.clone()).unwrap_or_default()) {
            scan.add_likely(rule.id, secret);
        }
    }
}

/// Returns whether a word in the position of a password is a password. A reference to another place is not.
pub(super) fn is_password_argument(text: &str) -> bool {
    let shape = if text.contains(' ') { Shape::Quoted } else { Shape::Bare };
    let short = text.len() < 5 && !text.contains(['$', '<', '*', '{', '[', '.']);
    text.len() >= 3 && !is_port(text) && (short || is_secret(text, Kind::Password, shape))
}

/// Returns whether the text is a port, such as `3306` or `8080:80`. `-p` also publishes or names ports.
fn is_port(text: &str) -> bool {
    text.len() <= 11
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        && text.split(':').all(|port| port.len() <= 5)
}

/// Returns the range of the value of an option at `at`.
fn option_value(scan: &Scan, at: usize, option: &str, style: Style) -> Option<Range<usize>> {
    let bytes = scan.bytes;
    let mut start = if bytes[at..].starts_with(option.as_bytes()) {
        at + option.len()
    } else {
        flag_cluster_end(&bytes[at..], option.as_bytes(), style).map(|length| at + length)?
    };
    match (style, bytes.get(start)?) {
        (Style::Glued, b' ' | b'\n') => return None,
        (Style::Glued, _) => {}
        (_, b' ' | b'=') => start += 1,
        // `-uuser:password`
        (Style::UserAndPassword | Style::UserPercentPassword | Style::UserCommaPassword, _) if option.len() == 2 => {}
        _ => return None,
    }
    let value = quoted(scan, start).unwrap_or_else(|| start..word_end(bytes, start));
    if bytes[value.clone()].starts_with(b"[redacted") {
        return None;
    }
    let value = match style.separator() {
        Some(separator) => {
            let at = value.start + memchr::memchr(separator, &bytes[value.clone()])?;
            let token = at + 1 == value.end && is_secret(scan.text.get(value.start..at)?, Kind::Token, Shape::Quoted);
            // `-u TOKEN:`
            if token { value.start..at } else { at + 1..value.end }
        }
        None => value,
    };
    (!value.is_empty() && bytes[value.start] != b'-').then_some(value)
}

/// Returns the length of a cluster of flags that ends in the option: `-sSfLu`, `-oP`, `-xw`. The value follows it as a word
/// of its own.
fn flag_cluster_end(bytes: &[u8], option: &[u8], style: Style) -> Option<usize> {
    /// The longest cluster. Longer words are options with one dash, such as `-check`.
    const MAX_FLAGS: usize = 6;
    let [b'-', letter] = option else { return None };
    if bytes.first() != Some(&b'-') || style == Style::Glued {
        return None;
    }
    let end = span(&bytes[..bytes.len().min(MAX_FLAGS + 2)], 1, |byte| byte.is_ascii_alphabetic());
    (end > 2 && end <= MAX_FLAGS + 1 && bytes[end - 1] == *letter && bytes.get(end) == Some(&b' ')).then_some(end)
}

/// Returns the end of the word that starts at `start`.
pub(super) fn word_end(bytes: &[u8], start: usize) -> usize {
    (start..bytes.len())
        .find(|&at| {
            bytes[at] <= b' '
                || matches!(bytes[at], b'"' | b'\'' | b'`')
                || bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'"'))
        })
        .unwrap_or(bytes.len())
}

/// Returns the end of the command that continues at `from`: the end of its line, which a backslash may continue, or a
/// pipe.
fn command_end(scan: &Scan, from: usize) -> usize {
    const MAX_COMMAND_BYTES: usize = 1024;
    let bytes = &scan.bytes[..scan.bytes.len().min(from + MAX_COMMAND_BYTES)];
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' if bytes[at - 1] != b'\\' => return at,
            b'|' if bytes.get(at + 1) != Some(&b'|') => return at,
            b'\\' if bytes.get(at + 1) == Some(&b'n') && !bytes[..at].ends_with(b"\\") => {
                return at;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Finds the passwords in `qpdf --encrypt USER OWNER 256 -- in.pdf out.pdf`.
pub(super) fn qpdf(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_LINE_BYTES: usize = 160;
    let line = &scan.bytes[at.start.saturating_sub(MAX_LINE_BYTES)..at.start];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |newline| newline + 1)..];
    if memchr::memmem::find(line, b"qpdf").is_some() {
        let end = command_end(scan, at.end);
        positional(scan, rule, at.end - 1..end, &[], Style::FirstTwo);
    }
}

/// Finds the password in `login … password SECRET` of a `.netrc` file.
pub(super) fn netrc(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    secret_after(scan, rule, at, b"login ");
}

/// Finds the password in `-passin pass:SECRET`.
pub(super) fn openssl(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    secret_after(scan, rule, at, b" -pass");
}

/// Finds what an expect script sends after waiting for a password prompt.
pub(super) fn expected(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// How far away the prompt may be, in bytes.
    const MAX_DISTANCE: usize = 240;
    let bytes = scan.bytes;
    let before = &bytes[at.start.saturating_sub(MAX_DISTANCE)..at.start];
    if memchr::memmem::find(before, b"assword").is_none() && memchr::memmem::find(before, b"assphrase").is_none() {
        return;
    }
    let quote = if matches!(bytes[at.end - 1], b'"' | b'\'') { at.end - 1 } else { at.end };
    let open = bytes[..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
    let window = &bytes[..bytes.len().min(at.end + MAX_DISTANCE)];
    // `send {SECRET\r}` and `send -- SECRET\r`
    let bare = || at.end..span(window, at.end, |byte| byte > b' ' && !matches!(byte, b'}' | b')'));
    let mut value = match quoted(scan, quote - open) {
        Some(value) => value,
        None if matches!(bytes[at.end - 1], b'{' | b' ') => bare(),
        None => return,
    };
    let end = memchr::memchr(b'\\', &bytes[value.clone()]).map_or(value.end, |end| value.start + end);
    value.end = end;
    if is_password_argument(scan.text.get(value.clone()).unwrap_or_default()) {
        scan.add_likely(rule.id, value);
    }
}

/// Finds the password in `sudo -S reboot <<< 'SECRET'`.
pub(super) fn here_string(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_LINE_BYTES: usize = 160;
    const PROGRAMS: &[&[u8]] = &[
        b"passw",
        b"sudo",
        b"login",
        b"kinit",
        b"stdin",
        b"cryptsetup",
        b"su ",
        b"secret",
        b"token",
        b"-S ",
        b"gpg",
        b"ssh-add",
        b"pass insert",
        b"gopass",
        b"ansible-vault",
        b"env add",
        b"read -s",
        b"read -rs",
        b"keytool",
        b"keyring set",
        b"keyctl",
        b"argon2",
        b"veracrypt",
        b"pinentry",
        b"openconnect",
        b"bw unlock",
        b"op signin",
        b"systemd-creds",
        b"age -p",
    ];
    let bytes = scan.bytes;
    let line = &bytes[at.start.saturating_sub(MAX_LINE_BYTES)..at.start];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |newline| newline + 1)..];
    if !PROGRAMS.iter().any(|program| memchr::memmem::find(line, program).is_some()) {
        return;
    }
    let start = if bytes.get(at.end) == Some(&b' ') { at.end + 1 } else { at.end };
    let window = &bytes[..bytes.len().min(start + MAX_LINE_BYTES)];
    let value = quoted(scan, start).unwrap_or_else(|| {
        let end = word_end(window, start);
        // `<(echo SECRET)`
        start..end - usize::from(window[..end].ends_with(b")") && end > start)
    });
    if is_password_argument(scan.text.get(value.clone()).unwrap_or_default()) {
        scan.add_likely(rule.id, value);
    }
}

/// Finds the password in `echo SECRET | docker login --password-stdin`.
pub(super) fn piped(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_LINE_BYTES: usize = 240;
    /// How many words one group of commands hands over.
    const MAX_ECHOS: usize = 3;
    const ECHOS: [&str; 6] = ["echo -n ", "echo -e ", "echo -ne ", "echo ", "printf -- ", "printf "];
    let bytes = scan.bytes;
    let start = at.start.saturating_sub(MAX_LINE_BYTES);
    let line = scan.unsearched(rule.id, start..at.start);
    let line_start = memchr::memrchr(b'\n', &bytes[line.clone()]).map_or(line.start, |newline| line.start + newline + 1);
    let last = |end: usize| {
        let line = &bytes[line_start..end];
        ECHOS.iter().filter_map(|echo| Some((memchr::memmem::rfind(line, echo.as_bytes())?, echo.len()))).max()
    };
    let mut end = line.end;
    // `(echo SECRET; echo SECRET) | smbpasswd`
    for _ in 0..MAX_ECHOS {
        let Some((found, length)) = last(end) else { return };
        echoed(scan, rule, line_start + found + length, at.start);
        if !bytes[line_start + found..line.end].contains(&b')') {
            return;
        }
        end = line_start + found;
    }
}

/// Adds the argument of an echo that ends before `limit`.
fn echoed(scan: &mut Scan, rule: &'static Rule, start: usize, limit: usize) {
    let bytes = scan.bytes;
    let mut value = quoted(scan, start).unwrap_or_else(|| start..word_end(bytes, start));
    // `printf '%s\n' SECRET`: the first word is the format.
    if is_format(&bytes[value.clone()]) {
        let closed = span(bytes, value.end, |byte| matches!(byte, b'\\' | b'"' | b'\''));
        let next = span(bytes, closed, |byte| byte == b' ');
        if next == closed || next >= limit {
            return;
        }
        value = quoted(scan, next).unwrap_or_else(|| next..word_end(bytes, next));
    }
    value.end -= usize::from(bytes[value.clone()].ends_with(b";") || bytes[value.clone()].ends_with(b")"));
    if value.end <= limit && is_password_argument(scan.text.get(value.clone()).unwrap_or_default()) {
        scan.add_likely(rule.id, value);
    }
}

/// Returns whether the word is a format of `printf` with nothing but a placeholder in it: `%s`, `%s\n`.
fn is_format(word: &[u8]) -> bool {
    word.starts_with(b"%s") && word.len() <= 8
}

/// Finds the password in `http GET shop.example -a user:SECRET`: the options of `HTTPie` and xh, anywhere in the command.
pub(super) fn http_auth(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_LINE_BYTES: usize = 240;
    const PROGRAMS: [&[u8]; 4] = [b"http ", b"https ", b"xh ", b"xhs "];
    let bytes = scan.bytes;
    let line_start = at.start.saturating_sub(MAX_LINE_BYTES);
    let line = &bytes[line_start..=at.start];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |newline| newline + 1)..];
    let is_program = |program: &&[u8]| {
        memchr::memmem::find_iter(line, program).any(|found| {
            // The mark of a removed line is no part of a word.
            is_token_start(line, found) && (found == 1 || !line[..found].ends_with(b"-"))
        })
    };
    if !PROGRAMS.iter().any(is_program) {
        return;
    }
    let value = quoted(scan, at.end).unwrap_or_else(|| at.end..word_end(bytes, at.end));
    if bytes[value.clone()].starts_with(b"[redacted") {
        return;
    }
    let Some(colon) = memchr::memchr(b':', &bytes[value.clone()]) else {
        if is_secret(scan.text.get(value.clone()).unwrap_or_default(), Kind::Token, Shape::Bare) {
            scan.add_likely(rule.id, value);
        }
        return;
    };
    let secret = value.start + colon + 1..value.end;
    if is_password_argument(scan.text.get(secret.clone()).unwrap_or_default()) {
        scan.add_likely(rule.id, secret);
    }
}

/// Finds the value of an option that is named after a password, `--password SECRET`, even if the value is a plain word. A
/// plain word counts only where a command continues or ends after it, so that a sentence about the option stays.
pub(super) fn option(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_NAME_BYTES: usize = 40;
    const NAMES: [&str; 9] =
        ["password", "passwd", "passphrase", "passcode", "pass", "pwd", "storepass", "keypass", "secret"];
    let bytes = scan.bytes;
    let start = span_back(bytes, at.start, MAX_NAME_BYTES, is_name);
    let end = span(&bytes[..bytes.len().min(at.start + MAX_NAME_BYTES)], at.start, is_name);
    let name = &bytes[start..end];
    let is_named = |known: &&str| {
        name.len() > known.len() && {
            let (before, last) = name.split_at(name.len() - known.len());
            last.eq_ignore_ascii_case(known.as_bytes()) && before.ends_with(b"-")
        }
    };
    let Some(known) = NAMES.iter().find(|known| is_named(known)).filter(|_| name.starts_with(b"-")) else { return };
    if start == 0 || !matches!(bytes[start - 1], b' ' | b'\n' | b'\t') {
        return;
    }
    if !matches!(bytes.get(end), Some(b' ' | b'=')) {
        return;
    }
    let quoted = quoted(scan, end + 1);
    let is_quoted = quoted.is_some();
    let value = quoted.unwrap_or_else(|| end + 1..word_end(bytes, end + 1));
    let text = scan.text.get(value.clone()).unwrap_or_default();
    // `--secret id=npm,src=…` and `--secret db-password` name a secret.
    let is_reference = *known == "secret"
        && (text.trim_end_matches('=').contains('=')
            || text.contains(['-', '_', '.', '/']) && !text.bytes().any(|byte| byte.is_ascii_digit()));
    if text.starts_with('-') || is_reference || !is_password_argument(text) || text.len() < 4 {
        return;
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_quoted || !is_plain || scan.context == Context::Command || is_end_of_argument(&bytes[value.end..]) {
        scan.add_likely(rule.id, value);
    }
}

/// Returns whether a command ends here, or goes on with another option.
fn is_end_of_argument(rest: &[u8]) -> bool {
    match rest {
        [] | [b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\', ..] => true,
        [b' ', next, ..] => matches!(next, b'-' | b'|' | b'>' | b'<' | b'&' | b';' | b'\\'),
        _ => false,
    }
}

/// Finds the word after the keyword, if `before` precedes it on the line.
fn secret_after(scan: &mut Scan, rule: &'static Rule, at: Range<usize>, before: &[u8]) {
    const MAX_LINE_BYTES: usize = 120;
    let bytes = scan.bytes;
    let line = &bytes[at.start.saturating_sub(MAX_LINE_BYTES)..at.start];
    if memchr::memmem::find(line, before).is_none() || !is_token_start(bytes, at.start) {
        return;
    }
    let window = &bytes[..bytes.len().min(at.end + MAX_LINE_BYTES)];
    let beginning = at.end..word_end(window, at.end);
    if is_password_argument(scan.text.get(beginning).unwrap_or_default()) {
        scan.add_likely(rule.id, at.end..word_end(bytes, at.end));
    }
}

/// Finds a secret on the line after a command that prints one, such as `gcloud auth print-access-token`.
pub(super) fn printed(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_LINE_BYTES: usize = 200;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_LINE_BYTES)];
    // To the end of the line. The newline may be escaped.
    let escaped = memchr::memmem::find(&window[at.end..], b"\\n").map(|found| at.end + found + 2);
    let newline = memchr::memchr(b'\n', &window[at.end..]).map(|found| at.end + found + 1);
    let Some(line) = escaped.into_iter().chain(newline).min() else { return };
    // The next line may start with its number and an arrow.
    let blank = |byte| byte == b' ';
    let number = span(window, span(window, line, blank), |byte| byte.is_ascii_digit());
    let numbered = ["\u{2192}", "\t"].iter().find(|arrow| window[number..].starts_with(arrow.as_bytes()));
    let start = numbered.map_or(line, |arrow| number + arrow.len());
    let end = scan.word(start);
    // The secret must be the whole line.
    let alone = matches!(bytes.get(end), None | Some(b'\n' | b'\r' | b'"' | b'\\'));
    let text = scan.text.get(start..end).unwrap_or_default();
    if alone && text.len() >= 8 && (is_secret(text, Kind::Secret, Shape::Bare) || is_secret(text, Kind::Token, Shape::Bare))
    {
        scan.add_likely(rule.id, start..end);
    }
}
