//! Keeps private content out of memory: applies the user's exclusions, and masks the secret values of this machine.
//!
//! Two things happen to a text here, on both sides of a policy:
//!
//! - *Before a policy sees a line*, [`ExclusionFilter`] removes what the user excluded: files, projects, tools and texts that the
//!   configuration names ([`Settings`], compiled into [`ExclusionRules`]), and what was said while remembering was paused or
//!   before it was forgotten ([`intervals`]). This is the one place where the host looks into transcripts' content,
//!   because an untrusted policy must not be trusted with what the user wanted left out.
//! - *Before a text is stored, logged or shown*, [`secrets`] masks the secret values in it. The default policy, which
//!   finds secrets by their form, and the other redactors run after that; `throughline-sandbox` calls them in order.
//!
//! # Why the host masks values
//!
//! A policy has no environment, and a value must not be handed to one. So the host takes values from the environment
//! and from `.env` files. One small Aho-Corasick automaton looks for the first bytes of every form of every value.
//!
//! # The tag
//!
//! The tag in `[redacted:RULE#TAG]` is `SipHash-2-4` under a random key of each database, cut to twelve bits: enough to
//! tell the secrets of a project apart, and too little to find one by. The key is in a file beside the database
//! (`tag.key`) and not in it, so somebody who gets only the database cannot even test a guess. The default policy gets
//! the key as a setting; other policies do not.

pub mod intervals;
mod lines;
pub mod secrets;

use std::path::{Component, Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use regex::Regex;
use serde::{Deserialize, Serialize};

use throughline_model::files::canonical;
use throughline_model::invalid::Invalid;

pub use lines::{EarlierPart, ExclusionFilter, IsExcludedFolder};

/// Replaces what was excluded.
pub const PLACEHOLDER: &str = "[redacted:excluded]";

/// The longest string that is tested as one path, in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// Section `[privacy]` of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Globs for files.
    pub exclude_paths: Vec<String>,
    /// Folders, or globs for them.
    pub exclude_projects: Vec<String>,
    /// Names of tools, or globs for them.
    pub exclude_tools: Vec<String>,
    /// Regular expressions.
    pub exclude_patterns: Vec<String>,
}

/// The compiled settings.
#[derive(Debug, Default)]
pub struct ExclusionRules {
    paths: GlobSet,
    /// For each path glob, a string that occurs in every text that names such a path; empty if there is none.
    literals: Vec<String>,
    projects: GlobSet,
    tools: GlobSet,
    patterns: Vec<Regex>,
}

impl ExclusionRules {
    /// Compiles the settings. The error names the setting that is invalid and says why.
    pub fn new(settings: &Settings, home: &Path) -> Result<Self, Invalid> {
        let mut rules = Self {
            paths: compile_path_globs(&settings.exclude_paths, home)
                .map_err(|error| format!("privacy.exclude_paths: {error}"))?,
            projects: compile_path_globs(&settings.exclude_projects, home)
                .map_err(|error| format!("privacy.exclude_projects: {error}"))?,
            tools: build_glob_set(settings.exclude_tools.iter().map(|glob| Glob::new(glob)))
                .map_err(|error| format!("privacy.exclude_tools: {error}"))?,
            ..Self::default()
        };
        rules.literals = settings.exclude_paths.iter().map(|glob| literal(glob).to_owned()).collect();
        for pattern in &settings.exclude_patterns {
            let compiled = Regex::new(pattern).map_err(|error| format!("privacy.exclude_patterns: {error}"))?;
            if compiled.is_match("") {
                return Err(format!("privacy.exclude_patterns: {pattern:?} matches the empty string").into());
            }
            rules.patterns.push(compiled);
        }
        Ok(rules)
    }

    /// Whether nothing has to be searched for in a transcript's lines.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.tools.is_empty() && self.patterns.is_empty()
    }

    /// Whether sessions in this folder are excluded.
    pub fn excludes_project(&self, folder: &Path) -> bool {
        !self.projects.is_empty() && (self.projects.is_match(folder) || self.projects.is_match(canonical(folder)))
    }

    /// Whether some folders are excluded.
    pub fn has_excluded_projects(&self) -> bool {
        !self.projects.is_empty()
    }

    /// Whether this tool's calls are excluded.
    pub fn excludes_tool(&self, name: &str) -> bool {
        self.tools.is_match(name)
    }

    /// Whether the text names an excluded file, either as a whole or in one of its words.
    pub fn names_excluded_path(&self, text: &str) -> bool {
        if !self.may_name_excluded_path(text) {
            return false;
        }
        let is_one = |word: &str| !word.is_empty() && self.paths.is_match(normalize_path(word));
        let whole = text.trim();
        (whole.len() <= MAX_PATH_BYTES && !whole.contains('\n') && is_one(whole))
            || text.split(is_path_delimiter).any(|word| is_one(word) || is_one(word.trim_end_matches(['.', '!', '?'])))
    }

    /// A cheap test: if it returns false, the text names no excluded file.
    fn may_name_excluded_path(&self, text: &str) -> bool {
        self.literals
            .iter()
            .any(|literal| literal.is_empty() || memchr::memmem::find(text.as_bytes(), literal.as_bytes()).is_some())
    }

    /// Returns the text without what matches a pattern and without the lines that name an excluded file, or `None` if the
    /// text is unchanged.
    pub fn clean(&self, text: &str) -> Option<String> {
        let mut cleaned: Option<String> = None;
        for pattern in &self.patterns {
            let current = cleaned.as_deref().unwrap_or(text);
            if let std::borrow::Cow::Owned(replaced) = pattern.replace_all(current, regex::NoExpand(PLACEHOLDER)) {
                cleaned = Some(replaced);
            }
        }
        let current = cleaned.as_deref().unwrap_or(text);
        if !self.names_excluded_path(current) {
            return cleaned;
        }
        let kept = |line: &str| if self.names_excluded_path(line) { PLACEHOLDER.to_owned() } else { line.to_owned() };
        Some(current.split('\n').map(kept).collect::<Vec<_>>().join("\n"))
    }
}

/// Whether the character ends a path in a text.
fn is_path_delimiter(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | '=' | ',' | ':' | '[' | ']' | '{' | '}' | '\\'
        )
}

/// Returns the path without `.` and `..`, without looking at the file system.
fn normalize_path(path: &str) -> PathBuf {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let mut out = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Compiles globs for files and folders. Each also matches everything below, and at any depth unless it is absolute.
fn compile_path_globs(globs: &[String], home: &Path) -> Result<GlobSet, globset::Error> {
    let build = |glob: &str| GlobBuilder::new(glob).literal_separator(true).build();
    let mut all = Vec::new();
    for glob in globs {
        let glob = glob.trim_end_matches('/');
        let glob = match glob.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", globset::escape(&home.to_string_lossy())),
            None if glob.starts_with('/') || glob.starts_with("**/") => glob.to_owned(),
            None => format!("**/{}", glob.strip_prefix("./").unwrap_or(glob)),
        };
        all.push(build(&glob));
        all.push(build(&format!("{glob}/**")));
    }
    build_glob_set(all.into_iter())
}

fn build_glob_set(globs: impl Iterator<Item = Result<Glob, globset::Error>>) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(glob?);
    }
    builder.build()
}

/// Returns the longest literal part of a glob.
fn literal(glob: &str) -> &str {
    let glob = glob.trim_end_matches('/').strip_prefix("~/").unwrap_or(glob.trim_end_matches('/'));
    // Nothing in or after alternatives and classes is certain to occur; what is before them is enough.
    let plain = glob.split(['{', '[']).next().unwrap_or_default();
    plain.split(['*', '?', '\\']).map(|part| part.trim_matches('/')).max_by_key(|part| part.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(settings: &Settings) -> ExclusionRules {
        ExclusionRules::new(settings, Path::new("/home/me")).unwrap()
    }

    fn paths(globs: &[&str]) -> ExclusionRules {
        rules(&Settings { exclude_paths: globs.iter().map(ToString::to_string).collect(), ..Settings::default() })
    }

    #[test]
    fn paths_are_named_as_a_whole_and_in_commands() {
        let rules = paths(&["*.pem", "secrets/", "~/private/*.md", "docs/**/plan.txt", "/abs/file"]);
        for text in [
            "key.pem",
            "/a/b/my key.pem",
            "cat ./secrets/prod.yaml | head",
            "src/../secrets/x",
            "see `secrets`",
            "/home/me/private/diary.md:12: text",
            "docs/a/b/plan.txt.",
            "--file=/abs/file",
        ] {
            assert!(rules.names_excluded_path(text), "{text}");
        }
        for text in
            ["pem", "key.pems", "secretsx/y", "my-secrets.md", "/home/you/private/diary.md", "docs/plans.txt", "x/abs/file"]
        {
            assert!(!rules.names_excluded_path(text), "{text}");
        }
    }

    #[test]
    fn texts_lose_lines_and_matches() {
        let rules = rules(&Settings {
            exclude_paths: vec!["*.key".into()],
            exclude_patterns: vec!["(?i)project falcon".into()],
            ..Settings::default()
        });
        assert_eq!(rules.clean("a\nread my.key now\nb").unwrap(), format!("a\n{PLACEHOLDER}\nb"));
        assert_eq!(rules.clean("of Project Falcon.").unwrap(), format!("of {PLACEHOLDER}."));
        assert_eq!(rules.clean("nothing of it"), None);
    }

    #[test]
    fn projects_are_folders_with_all_below() {
        let rules = rules(&Settings { exclude_projects: vec!["/w/secret*".into(), "diary".into()], ..Settings::default() });
        for (folder, wanted) in [
            ("/w/secret", true),
            ("/w/secret2/app", true),
            ("/w/x/secret", false),
            ("/a/diary/b", true),
            ("/a/diary2", false),
        ] {
            assert_eq!(rules.excludes_project(Path::new(folder)), wanted, "{folder}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let error = |settings: Settings| ExclusionRules::new(&settings, Path::new("/")).unwrap_err().to_string();
        assert!(error(Settings { exclude_patterns: vec!["(".into()], ..Settings::default() }).contains("exclude_patterns"));
        assert!(
            error(Settings { exclude_patterns: vec!["x*".into()], ..Settings::default() })
                .contains("matches the empty string")
        );
        assert!(error(Settings { exclude_paths: vec!["a[".into()], ..Settings::default() }).contains("exclude_paths"));
    }

    #[test]
    fn literals() {
        for (glob, wanted) in
            [("*.pem", ".pem"), ("a/**/plan.txt", "plan.txt"), ("{a,b}.txt", ""), ("secrets/", "secrets"), ("~/x/y", "x/y")]
        {
            assert_eq!(literal(glob), wanted, "{glob}");
        }
    }
}
