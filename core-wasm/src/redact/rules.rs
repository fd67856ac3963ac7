//! The default rules, as `build/main.rs` compiled them from `rules/default.toml`: a name, the keywords that wake it, and how
//! it then looks for the secret.
//!
//! Rules of two kinds live together. Tokens that their form gives away are regular expressions in that file; all of them
//! have one simple form, so that the build turns them into constants for a walk over bytes ([`token`]) and a fresh instance
//! has no expression to compile. What needs to know more than a form (to what name a value is given, whether it is a
//! placeholder, where a command or a nested tag ends, a check digit) is a matcher in Rust that the file names. Each rule
//! stands in that file and nowhere else.

use std::ops::Range;

use super::{
    assignment, block, calls,
    command::{self, Style},
    number::{self, DigitRule},
    prose, record,
    scan::{Hit, Scan},
    token::{self, Part, Set, Token},
    value::Kind,
    web,
};

/// One rule. Its name stands in the placeholder; where gitleaks has a rule of the kind, it is named as there.
pub(super) struct Rule {
    pub id: &'static str,
    /// What any match holds, at least three bytes long, in any case. Matchers that care for case check it themselves.
    pub keywords: &'static [&'static str],
    pub matcher: Matcher,
}

impl Rule {
    /// The keyword that was met, as the table spells it.
    pub(super) fn keyword_at(&self, bytes: &[u8], at: &Range<usize>) -> &'static str {
        self.keywords
            .iter()
            .find(|keyword| bytes[at.clone()].eq_ignore_ascii_case(keyword.as_bytes()))
            .copied()
            .unwrap_or_default()
    }
}

/// What a rule does where one of its keywords stands.
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

/// A rule that no keyword wakes, and that runs only where a setting names it.
pub(super) struct OptionalRule {
    pub id: &'static str,
    /// Finds its own way through a text.
    pub run: fn(&str, &'static str, &mut Vec<Hit<'static>>),
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));
