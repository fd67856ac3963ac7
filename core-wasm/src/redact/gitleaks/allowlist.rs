//! Allowlists of a team's file: exceptions by secret, match or line, and by stop words.

use regex_automata::meta::Regex;

use super::{engine, file};

/// The text that an allowlist's expressions are matched against.
enum Target {
    Secret,
    Match,
    Line,
}

pub(super) struct Allowlist {
    /// Whether all checks of the list must agree.
    requires_all: bool,
    target: Target,
    regexes: Vec<Regex>,
    stopwords: Vec<String>,
    /// Whether the list has checks of a commit or a path. No text can pass them, because it has neither.
    has_repository_checks: bool,
}

/// A match and its context.
pub(super) struct MatchContext<'t> {
    pub secret: &'t str,
    pub whole: &'t str,
    pub line: &'t str,
}

impl Allowlist {
    pub(super) fn new(source: &file::Allowlist) -> Result<Self, String> {
        let requires_all = match source.condition.to_ascii_lowercase().as_str() {
            "" | "or" | "||" => false,
            "and" | "&&" => true,
            other => return Err(format!("the condition {other} is neither OR nor AND")),
        };
        let target = match source.regextarget.to_ascii_lowercase().as_str() {
            "" | "secret" => Target::Secret,
            "match" => Target::Match,
            "line" => Target::Line,
            other => return Err(format!("the target {other} is none of secret, match and line")),
        };
        if source.regexes.is_empty() && source.stopwords.is_empty() && source.paths.is_empty() && source.commits.is_empty() {
            return Err("an allowlist without a check".into());
        }
        let regexes = source.regexes.iter().map(|regex| engine::compile(regex)).collect::<Result<_, _>>()?;
        let stopwords = source.stopwords.iter().map(|word| word.to_lowercase()).collect();
        let has_repository_checks = !source.paths.is_empty() || !source.commits.is_empty();
        Ok(Self { requires_all, target, regexes, stopwords, has_repository_checks })
    }

    /// Returns whether the match is allowed to stay.
    pub(super) fn allows(&self, context: &MatchContext) -> bool {
        let text = match self.target {
            Target::Secret => context.secret,
            Target::Match => context.whole,
            Target::Line => context.line,
        };
        let regex = || self.regexes.iter().any(|regex| regex.is_match(text));
        let word = || {
            let secret = context.secret.to_lowercase();
            self.stopwords.iter().any(|word| secret.contains(word.as_str()))
        };
        if self.requires_all {
            !self.has_repository_checks && (self.regexes.is_empty() || regex()) && (self.stopwords.is_empty() || word())
        } else {
            regex() || word()
        }
    }
}
