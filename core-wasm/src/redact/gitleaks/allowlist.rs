//! What a team's file lets stand: by the secret, the match or the line, by words in it.

use regex_automata::meta::Regex;

use super::{engine, file};

/// What an allowlist's expressions are tried on.
enum Target {
    Secret,
    Match,
    Line,
}

pub(super) struct Allowlist {
    /// Whether all checks that are there must agree.
    requires_all: bool,
    target: Target,
    regexes: Vec<Regex>,
    stopwords: Vec<String>,
    /// Checks that no text can pass: of a commit, of a path. A text has neither.
    has_repository_checks: bool,
}

/// A match, and what stands around it.
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

    /// Whether the match is to stand.
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
