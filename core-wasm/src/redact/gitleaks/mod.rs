//! A team's own rules in the format of gitleaks (<https://github.com/gitleaks/gitleaks>), in addition to the default
//! rules.
//!
//! The format means the same here as in gitleaks, except for these differences, which follow from what a redactor is:
//!
//! - The default rules always run; `useDefault` changes nothing. `disabledRules` disables single rules, except
//!   `private` and the protection of placeholders. A rule with the name of a default rule replaces it if it has an
//!   expression; otherwise it adds its allowlists to it.
//! - A text has no path and no commit. A rule with a path and nothing else never matches a text. A rule with a path and
//!   an expression matches wherever the expression does. Allowlists of paths and commits allow nothing.
//! - The host reads `extend.path`, because a policy cannot open files. It passes the extended file first, and of
//!   several rules with the same name the last one counts. `extend.url` is rejected, and so are rules that require
//!   other rules.
//! - Comments such as `gitleaks:allow` have no effect: their author had a repository in mind, not a memory.
//! - For `regexTarget = "line"`, a line is at most [`LINE_WINDOW`] bytes on either side of the match.
//!
//! Files in the setting `redaction-added-rules` can only add: they run after everything else and on what it left, so
//! what they disable, allow or redefine concerns their own rules only. The host passes the user's files there if an
//! administrator forces redaction.
//!
//! An expression is compiled when one of its keywords appears in a text. A rule without keywords of at least three
//! bytes runs on every text. [`TeamRules::take_problems`] reports what cannot be compiled; the other rules still work.

mod allowlist;
mod engine;
mod file;
mod syntax;

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use regex_automata::meta::Regex;
use serde::Deserialize;

use super::block::placeholder_end;
use super::keywords::{self, Index, MIN_KEYWORD_BYTES};
use super::rules::{DIGITS, OPTIONAL, RULES};
use super::scan::{self, Hit};
use super::value::entropy;
use allowlist::{Allowlist, MatchContext};

/// How much of a line the target `line` sees on either side of the match, in bytes.
pub const LINE_WINDOW: usize = 2048;

/// The maximum size of one file in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;
/// The maximum number of rules in all files together.
const MAX_RULES: usize = 4096;
/// The maximum length of a rule name in a placeholder, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// The maximum number of problems kept.
const MAX_PROBLEMS: usize = 32;

/// Rules that cannot be disabled.
const PROTECTED_RULES: [&str; 2] = ["private", "placeholder"];

/// The combined rules of all files of a team, and the optional default rules that it enables.
pub struct TeamRules {
    rules: Vec<Rule>,
    /// Allowlists for all rules, or for the rules that they name.
    allowlists: Vec<(Vec<String>, Allowlist)>,
    disabled: Vec<String>,
    enabled_optional: Vec<String>,
    /// The indexes of rules without keywords, which run on every text.
    unconditional: Vec<usize>,
    index: Option<Index>,
    problems: RefCell<Vec<String>>,
    /// Rules that run after these and on their own.
    added: Option<Box<TeamRules>>,
}

struct Rule {
    id: String,
    regex: String,
    group: usize,
    entropy: f32,
    compiled: OnceCell<Option<Regex>>,
}

/// Which of a team's rules run on a text.
pub(super) struct ActiveRules(Vec<bool>);

impl ActiveRules {
    pub(super) fn activate(&mut self, rule: u16) {
        if let Some(active) = usize::from(rule).checked_sub(RULES.len()).and_then(|rule| self.0.get_mut(rule)) {
            *active = true;
        }
    }
}

impl TeamRules {
    /// Creates an empty rule set.
    pub const fn empty() -> Self {
        Self {
            rules: Vec::new(),
            allowlists: Vec::new(),
            disabled: Vec::new(),
            enabled_optional: Vec::new(),
            unconditional: Vec::new(),
            index: None,
            problems: RefCell::new(Vec::new()),
            added: None,
        }
    }

    /// Creates the rules from the settings: `rules` is a JSON array of the texts of rule files, `optional` a JSON array
    /// of the names of optional default rules. Errors in them become problems.
    pub fn from_settings(rules: Option<&str>, optional: Option<&str>) -> Self {
        let mut problems = Vec::new();
        let texts = parse_list("redaction-rules", rules, &mut problems);
        let enabled_optional = parse_list("redaction-optional-rules", optional, &mut problems);
        let mut team = Self { enabled_optional, ..Self::new(&texts) };
        team.problems.get_mut().splice(0..0, problems);
        team
    }

    /// Adds rules that can only find more: `added` is a JSON array of the texts of rule files. Nothing in these files
    /// affects the rules that are here already.
    #[must_use]
    pub fn with_added(mut self, added: Option<&str>) -> Self {
        let mut problems = Vec::new();
        let texts = parse_list("redaction-added-rules", added, &mut problems);
        if !texts.is_empty() {
            self.added = Some(Box::new(Self::new(&texts)));
        }
        self.problems.get_mut().extend(problems);
        self
    }

    /// Returns the rules that run after these and on their own.
    pub(super) fn added(&self) -> Option<&Self> {
        self.added.as_deref()
    }

    /// Creates the rules from the texts of rule files.
    pub fn new(texts: &[String]) -> Self {
        let mut team = Self::empty();
        let mut keywords = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let file = if text.len() > MAX_FILE_BYTES { Err("it is too long".to_owned()) } else { file::parse(text) };
            match file {
                Ok(file) => team.add(file, &mut keywords),
                Err(why) => team.report(&format!("file {} of rules", at + 1), &why),
            }
        }
        if !keywords.is_empty() {
            let (index, rejected) = keywords::INDEX.with(keywords);
            team.unconditional.extend(rejected.into_iter().map(|rule| usize::from(rule) - RULES.len()));
            team.index = Some(index);
        }
        team
    }

    fn add(&mut self, file: file::File, keywords: &mut Vec<(String, u16)>) {
        if !file.extend.url.is_empty() {
            self.report("extend", "nothing is fetched: save the other file, and say its path");
        }
        for id in &file.extend.disabledrules {
            self.drop_rule(&slug(id), keywords);
        }
        self.disabled.extend(file.extend.disabledrules.into_iter().filter(|id| !PROTECTED_RULES.contains(&id.as_str())));
        for value in file.allowlist.into_iter().chain(file.allowlists) {
            let added = file::Allowlist::deserialize(value).map_err(|error| error.message().to_owned()).and_then(|source| {
                self.allowlists.push((source.targetrules.clone(), Allowlist::new(&source)?));
                Ok(())
            });
            if let Err(why) = added {
                self.report("allowlist", &why);
            }
        }
        for value in file.rules {
            let id = value.get("id").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
            let added = file::Rule::deserialize(value)
                .map_err(|error| error.message().to_owned())
                .and_then(|rule| self.add_rule(rule, keywords));
            if let Err(why) = added {
                self.report(&format!("rule {id}"), &why);
            }
        }
    }

    fn add_rule(&mut self, source: file::Rule, keywords: &mut Vec<(String, u16)>) -> Result<(), String> {
        let id = slug(&source.id);
        if id.is_empty() {
            return Err("it has no name".into());
        }
        if source.required.is_some() {
            return Err("it requires other rules, which a redactor does not know how to do".into());
        }
        if source.skipreport {
            return Ok(());
        }
        for list in source.allowlist.iter().chain(&source.allowlists) {
            self.allowlists.push((vec![id.clone()], Allowlist::new(list)?));
        }
        let default = is_default(&id);
        if source.regex.is_empty() {
            // A rule of paths only, or one that modifies a default rule or a rule of an extended file.
            let known = default || self.rules.iter().any(|rule| rule.id == id);
            return if known || !source.path.is_empty() { Ok(()) } else { Err("it has neither regex nor path".into()) };
        }
        let number = u16::try_from(RULES.len() + self.rules.len()).ok().filter(|_| self.rules.len() < MAX_RULES);
        let number = number.ok_or("there are too many rules")?;
        // Report invalid Go syntax immediately, not only when a keyword appears.
        syntax::translate(&source.regex)?;
        if default && !PROTECTED_RULES.contains(&id.as_str()) {
            self.disabled.push(id.clone());
        }
        self.drop_rule(&id, keywords);
        // The table folds the case of ASCII only.
        let usable = |keyword: &String| keyword.len() >= MIN_KEYWORD_BYTES && keyword.is_ascii();
        if source.keywords.is_empty() || !source.keywords.iter().all(usable) {
            self.unconditional.push(self.rules.len());
        } else {
            keywords.extend(source.keywords.into_iter().map(|keyword| (keyword, number)));
        }
        let (regex, group, entropy) = (source.regex, source.secretgroup, source.entropy);
        self.rules.push(Rule { id, regex, group, entropy, compiled: OnceCell::new() });
        Ok(())
    }

    /// Disables a rule of an earlier file, or an earlier rule of the same file.
    fn drop_rule(&mut self, id: &str, keywords: &mut Vec<(String, u16)>) {
        for at in (0..self.rules.len()).filter(|&at| self.rules[at].id == id) {
            self.unconditional.retain(|&rule| rule != at);
            keywords.retain(|&(_, rule)| usize::from(rule) != RULES.len() + at);
        }
    }

    fn report(&self, about: &str, why: &str) {
        /// The maximum length of one problem in bytes.
        const MAX_PROBLEM_BYTES: usize = 300;
        let mut problems = self.problems.borrow_mut();
        if problems.len() < MAX_PROBLEMS {
            let mut problem = format!("{about}: {why}");
            problem.truncate(problem.floor_char_boundary(MAX_PROBLEM_BYTES));
            problems.push(problem);
        }
    }

    /// Returns the problems known so far, for the log, and removes them from the list: each is reported once.
    pub fn take_problems(&self) -> Vec<String> {
        let mut problems = self.problems.take();
        problems.extend(self.added().into_iter().flat_map(Self::take_problems));
        problems
    }

    /// Compiles every rule, so that [`Self::take_problems`] returns all problems. For commands that check a file.
    pub fn compile(&self) {
        for rule in &self.rules {
            self.compiled(rule);
        }
        if let Some(added) = self.added() {
            added.compile();
        }
    }

    pub(super) fn index(&self) -> &Index {
        self.index.as_ref().unwrap_or(&keywords::INDEX)
    }

    /// Returns whether an optional default rule is enabled.
    pub(super) fn enables(&self, id: &str) -> bool {
        self.enabled_optional.iter().any(|enabled_optional| enabled_optional == id)
    }

    /// Returns the rules that are active before a keyword was found: those without keywords.
    pub(super) fn initially_active(&self) -> ActiveRules {
        let mut active = vec![false; self.rules.len()];
        self.unconditional.iter().for_each(|&rule| active[rule] = true);
        ActiveRules(active)
    }

    /// Filters the hits of the default rules, and adds the hits of the team's active rules.
    pub(super) fn apply<'t>(&'t self, text: &str, mut hits: Vec<Hit<'t>>, active: ActiveRules) -> Vec<Hit<'t>> {
        if !self.disabled.is_empty() || !self.allowlists.is_empty() {
            hits.retain(|hit| {
                let range = hit.start..hit.end;
                !self.disabled.iter().any(|id| id == hit.rule)
                    && (PROTECTED_RULES.contains(&hit.rule) || !self.allows(hit.rule, text, &range, &range))
            });
        }
        let active: Vec<&Rule> =
            self.rules.iter().zip(active.0).filter_map(|(rule, active)| active.then_some(rule)).collect();
        if active.is_empty() {
            return hits;
        }
        let placeholders = placeholders(text);
        let mut own = Vec::new();
        for rule in active {
            self.run(rule, text, &placeholders, &mut own);
        }
        own.sort_by_key(|hit| hit.start);
        // The team's rule takes precedence, because it was written for this text.
        scan::merge(text, own, hits)
    }

    fn run<'t>(&'t self, rule: &'t Rule, text: &str, placeholders: &[Range<usize>], own: &mut Vec<Hit<'t>>) {
        let Some(regex) = self.compiled(rule) else {
            return;
        };
        engine::for_each(regex, rule.group, text, |whole, secret| {
            let start = secret.start + newlines(text.as_bytes()[secret.clone()].iter());
            let end = secret.end - newlines(text.as_bytes()[start.min(secret.end)..secret.end].iter().rev());
            let secret = text.floor_char_boundary(start)..text.ceil_char_boundary(end);
            let value = text.get(secret.clone()).unwrap_or_default();
            let random = rule.entropy <= 0.0 || entropy(value.as_bytes()) > rule.entropy;
            if !value.is_empty() && random && !self.allows(&rule.id, text, &whole, &secret) {
                for piece in outside_placeholders(&secret, placeholders) {
                    own.push(Hit { start: piece.start, end: piece.end, rule: &rule.id, certain: true });
                }
            }
        });
    }

    fn compiled<'r>(&self, rule: &'r Rule) -> Option<&'r Regex> {
        let compile = || {
            let checked = engine::compile(&rule.regex).and_then(|regex| {
                let groups = regex.captures_len();
                if rule.group < groups { Ok(regex) } else { Err(format!("its expression has no group {}", rule.group)) }
            });
            checked.map_err(|why| self.report(&format!("rule {}", rule.id), &why)).ok()
        };
        rule.compiled.get_or_init(compile).as_ref()
    }

    fn allows(&self, id: &str, text: &str, whole: &Range<usize>, secret: &Range<usize>) -> bool {
        let get = |range: Range<usize>| {
            text.get(text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)).unwrap_or_default()
        };
        let mut lists = self.allowlists.iter().filter(|(rules, _)| rules.is_empty() || rules.iter().any(|rule| rule == id));
        lists.any(|(_, list)| {
            let line = line(text.as_bytes(), whole);
            list.allows(&MatchContext { secret: get(secret.clone()), whole: get(whole.clone()), line: get(line) })
        })
    }
}

/// Parses a setting that is a JSON array of strings. Anything else is a problem, and an empty list.
fn parse_list(setting: &str, json: Option<&str>, problems: &mut Vec<String>) -> Vec<String> {
    let parsed = json.map_or_else(|| Ok(Vec::new()), serde_json::from_str);
    parsed.unwrap_or_else(|_| {
        problems.push(format!("setting {setting}: not an array of strings"));
        Vec::new()
    })
}

fn is_default(id: &str) -> bool {
    RULES.iter().any(|entry| entry.rule.id == id)
        || DIGITS.iter().any(|(rule, _)| *rule == id)
        || OPTIONAL.iter().any(|rule| rule.id == id)
}

/// Converts a rule name to the form allowed in a placeholder: `a-z`, `0-9` and hyphens.
fn slug(id: &str) -> String {
    let mut slug: String = id
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .take(MAX_NAME_BYTES)
        .collect();
    if !slug.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        slug.clear();
    }
    slug
}

fn newlines<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes.take_while(|&&byte| byte == b'\n').count()
}

/// Returns the line or lines of a match, as far as a target can see them.
fn line(bytes: &[u8], whole: &Range<usize>) -> Range<usize> {
    let start = scan::span_back(bytes, whole.start, LINE_WINDOW, |byte| byte != b'\n');
    let window = &bytes[..bytes.len().min(whole.end + LINE_WINDOW)];
    start..scan::span(window, whole.end, |byte| byte != b'\n')
}

/// Returns where placeholders are. A rule neither changes them nor takes what is adjacent to one of its own.
fn placeholders(text: &str) -> Vec<Range<usize>> {
    const OPEN: &[u8] = b"[redacted:";
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, OPEN)
        .filter_map(|start| Some(start..placeholder_end(bytes, start + OPEN.len())?))
        .collect()
}

/// Returns the parts of a secret outside of placeholders. A match that is adjacent to a placeholder was left over by an
/// earlier pass and stays; otherwise an expression such as `\b.` would consume a text byte by byte.
fn outside_placeholders(secret: &Range<usize>, placeholders: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = secret.start;
    let first = placeholders.partition_point(|range| range.end < secret.start);
    for range in placeholders[first..].iter().take_while(|range| range.start <= secret.end) {
        if range.end == secret.start || range.start == secret.end {
            return Vec::new();
        }
        if range.start > start {
            pieces.push(start..range.start);
        }
        start = start.max(range.end);
    }
    if start < secret.end {
        pieces.push(start..secret.end);
    }
    pieces
}

#[cfg(test)]
mod tests;
