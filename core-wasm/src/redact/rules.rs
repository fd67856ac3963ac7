//! The default rules, compiled by `build/main.rs` from `rules/default.toml`. Each rule has a name, the keywords that
//! activate it, and a matcher for the secret.
//!
//! There are two kinds of rules. Tokens with a distinctive form are regular expressions in that file. All of them have
//! one simple form, so the build turns them into constants for a walk over bytes ([`token`]), and a fresh instance has
//! no expression to compile. Other rules need more than a form: which name a value is assigned to, whether it is a
//! placeholder, where a command or a nested tag ends, a check digit. Their matchers are written in Rust, and the file
//! refers to them by name. Every rule is defined in that file and nowhere else.

use std::ops::Range;

use super::{
    assignment, block, calls,
    command::{self, Style},
    encoded, here_document, login,
    number::{self, DigitRule},
    pin, prose, record,
    rule::Rule,
    scan::{Hit, Scan},
    token::{self, Part, Set, Token},
    value::Kind,
    web,
};

/// A rule and its matcher.
pub(super) struct RuleEntry {
    pub rule: Rule,
    pub matcher: Matcher,
}

/// What a rule does where one of its keywords occurs.
pub(super) enum Matcher {
    Token(Token),
    Assignment(Kind),
    Command(&'static [&'static str], Style),
    Custom(fn(&mut Scan, &'static Rule, Range<usize>)),
}

impl Matcher {
    pub(super) fn run(&self, scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
        match self {
            Self::Token(token) => token.find(scan, rule, at),
            Self::Assignment(kind) => assignment::find(scan, rule, *kind, at),
            Self::Command(options, style) => command::find(scan, rule, at, options, *style),
            Self::Custom(matcher) => matcher(scan, rule, at),
        }
    }
}

/// A rule without keywords that searches a text by itself.
pub(super) struct ScanRule {
    pub id: &'static str,
    /// Adds what it finds in a text.
    pub run: fn(&str, &'static str, &mut Vec<Hit<'static>>),
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));
