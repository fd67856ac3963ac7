//! Names that indicate a secret: where they begin and end, and how much they say.

use std::ops::Range;

use super::{
    scan::{is_name, span, span_back},
    value::Kind,
};

/// How far a name reaches on either side of its keyword, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 64;

/// Suffixes after the keyword with which the name still names the secret itself.
const NAME_SUFFIXES: &[&str] = &[
    "base",
    "base64",
    "b64",
    "default",
    "dev",
    "development",
    "hex",
    "live",
    "local",
    "main",
    "new",
    "old",
    "primary",
    "prod",
    "production",
    "root",
    "secondary",
    "staging",
    "test",
    "value",
];

/// Words before `token` or `key` in names of things that are not secret.
const HARMLESS_PREFIXES: &[&str] = &[
    "bos",
    "cache",
    "cancel",
    "cancellation",
    "completion",
    "context",
    "continuation",
    "count",
    "cursor",
    "design",
    "eos",
    "foreign",
    "group",
    "idempotency",
    "input",
    "mask",
    "max",
    "min",
    "next",
    "nextpage",
    "num",
    "object",
    "output",
    "pad",
    "page",
    "partition",
    "pagination",
    "prev",
    "primary",
    "prompt",
    "public",
    "publishable",
    "publickey",
    "registry",
    "row",
    "s3",
    "shortcut",
    "site",
    "sort",
    "special",
    "stop",
    "sync",
    "syntax",
    "total",
    "translation",
    "unique",
    "unk",
    "usage",
];

/// Words before `token` in names that certainly mean a secret.
const CERTAIN_PREFIXES: &[&str] = &[
    "access", "api", "auth", "bearer", "bot", "codecov", "deploy", "heroku", "newrelic", "postmark", "refresh", "rollbar",
    "secret", "server", "snyk",
];

/// Configuration directives that are followed by a blank and a password.
const DIRECTIVES: &[&str] = &["requirepass", "masterauth", "bindpw", "rootpw"];

/// A name that indicates the kind of its value.
pub(super) struct Name {
    pub range: Range<usize>,
    /// Whether the name is an option: `--name`.
    pub is_option: bool,
    /// Whether the name is an XML element: `<name>`.
    pub is_element: bool,
    pub style: NameStyle,
    /// The kind of value. `CODECOV_TOKEN` and `authToken` are stronger indications than `token`.
    pub kind: Kind,
}

/// How much a name says by itself.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum NameStyle {
    /// A keyword such as `pass`, which is also an ordinary word, with nothing next to it.
    Word,
    /// `pw`, which is not a word, with nothing next to it.
    Abbreviation,
    /// `storePassword`, `db_password`: not a word of prose.
    Compound,
    /// Every other name.
    Plain,
}

impl Name {
    pub(super) fn around(bytes: &[u8], at: &Range<usize>, kind: Kind) -> Option<Self> {
        let end = Self::end(bytes, at.end)?;
        // ` pw`, `?key`: if the keyword starts with a byte that no name contains, the text before it is not part of the
        // name.
        let whole = bytes[at.start].is_ascii() && !is_name(bytes[at.start]);
        let start = if whole { at.start } else { span_back(bytes, at.start, MAX_NAME_BYTES, is_name) };
        let before = &bytes[start..at.start];
        let short = at.len() <= 4 && bytes[at.start].is_ascii();
        let glued = before.last().is_some_and(|last| {
            last.is_ascii_digit()
                || last.is_ascii_lowercase() && !bytes[at.start].is_ascii_uppercase()
                || last.is_ascii_uppercase() && bytes[at.start].is_ascii_uppercase()
        });
        if short && glued && !ends_escape(&bytes[..at.start]) {
            return None;
        }
        if matches!(kind, Kind::Token | Kind::Key) && is_harmless(before) {
            return None;
        }
        let is_bare_option = !before.is_empty() && before.iter().all(|&byte| byte == b'-');
        let certain = is_bare_option
            || before.len() > 1 && !bytes[start..at.end].iter().any(u8::is_ascii_lowercase)
            || ends_with_word(before, CERTAIN_PREFIXES);
        Some(Self {
            range: start..end,
            is_option: bytes[start..].starts_with(b"-")
                || DIRECTIVES.iter().any(|name| bytes[at.clone()].eq_ignore_ascii_case(name.as_bytes()))
                || is_set_command(&bytes[..start], kind),
            is_element: start > 0 && bytes[start - 1] == b'<',
            style: if short && kind == Kind::Password && before.iter().all(|&byte| byte == b'-') {
                if bytes[at.clone()].ends_with(b"pw") || bytes[at.clone()].ends_with(b"pwd") {
                    NameStyle::Abbreviation
                } else {
                    NameStyle::Word
                }
            } else if matches!(before, [.., last, b'-'] | [.., last] if last.is_ascii_alphanumeric() || *last == b'_') {
                NameStyle::Compound
            } else {
                NameStyle::Plain
            },
            kind: if kind == Kind::Token && certain { Kind::Secret } else { kind },
        })
    }

    /// Returns whether the name is an ordinary word, or looks like one.
    pub(super) fn is_short(&self) -> bool {
        matches!(self.style, NameStyle::Word | NameStyle::Abbreviation)
    }

    /// Returns whether the name is a getter, as in `getPassword("…")`. Its argument says whose password it is.
    pub(super) fn is_getter(&self, bytes: &[u8]) -> bool {
        let name = &bytes[self.range.clone()];
        let last = &name[name.iter().rposition(|&byte| byte == b'.').map_or(0, |dot| dot + 1)..];
        [&b"get"[..], b"fetch", b"find", b"load", b"read", b"lookup", b"resolve"].iter().any(|verb| last.starts_with(verb))
    }

    /// Returns the end of the name, or none if the keyword is only part of another word.
    fn end(bytes: &[u8], keyword_end: usize) -> Option<usize> {
        let rest = &bytes[keyword_end..bytes.len().min(keyword_end + MAX_NAME_BYTES)];
        let end = span(rest, 0, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let suffix = rest[..end].trim_ascii();
        let continued = rest.get(end) == Some(&b'-') && rest.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        let suffix = suffix.strip_prefix(b"_").unwrap_or(suffix);
        let known = suffix.iter().all(u8::is_ascii_digit)
            || NAME_SUFFIXES.iter().any(|known| suffix.eq_ignore_ascii_case(known.as_bytes()));
        (known && !continued).then_some(keyword_end + end)
    }
}

/// Returns whether a command sets the name: `npm config set //registry/:_authToken VALUE`, `aws configure set
/// aws_secret_access_key VALUE`.
fn is_set_command(before: &[u8], kind: Kind) -> bool {
    let near = &before[before.len().saturating_sub(MAX_NAME_BYTES)..];
    // Shell commands: `set -gx NAME VALUE`, `setx NAME VALUE`.
    let shell =
        [&b"set -gx "[..], b"set -x ", b"set -Ux ", b"set -xg ", b"setx "].iter().any(|command| near.ends_with(command));
    shell || kind != Kind::Password && memchr::memmem::find(near, b" set ").is_some()
}

fn ends_escape(before: &[u8]) -> bool {
    matches!(before, [.., b'\\', b'n' | b'r' | b't'])
}

/// Returns whether the last word before the keyword makes it the name of something harmless.
fn is_harmless(before: &[u8]) -> bool {
    ends_with_word(before, HARMLESS_PREFIXES)
}

fn ends_with_word(before: &[u8], words: &[&str]) -> bool {
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-")).unwrap_or(before);
    let word = before.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(before, |at| &before[at + 1..]);
    words.iter().any(|ending| {
        word.len() >= ending.len() && word[word.len() - ending.len()..].eq_ignore_ascii_case(ending.as_bytes())
    })
}
