//! Section `[team]` of the configuration: which memories leave this machine. Without a rule none does.

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use throughline_model::contract::Memory;
use throughline_model::invalid::Invalid;
use throughline_model::project::Project;
use throughline_model::said_by::SaidBy;
use throughline_platform::paths;

/// Kinds that no rule means unless it names them: long, or of use to their session only.
const NOT_MEANT: &[&str] = &["turn", "session_summary", "compact_summary", "plan", "result", "failure", "commit"];

/// What is shared with the team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Rules; a memory is shared if one of them names it. Empty: nothing is shared.
    pub share: Vec<Rule>,
    /// Whether a person must look at each memory before it leaves.
    pub review: bool,
    /// Whether memories leave for a sealed team only, whose server has nothing but ciphertext.
    pub sealed: bool,
}

/// A rule that shares memories.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Projects, as globs of their root folder, their remote (`github.com/acme/*`) or their plain name.
    pub projects: Vec<String>,
    /// Kinds; if not set, all but archived turns, summaries, plans, results, failures and commits.
    #[serde(default)]
    pub kinds: Option<Vec<String>>,
    /// Who must have said it: `human`, `agreed`, `agent` or `tool`; if not set, the first two.
    #[serde(default)]
    pub said_by: Option<Vec<String>>,
}

impl Settings {
    /// Returns what is wrong with the rules.
    pub fn check(&self) -> Result<(), Invalid> {
        for rule in &self.share {
            if rule.projects.is_empty() {
                return Err("team.share has a rule without projects; \"*\" means all".into());
            }
            for glob in &rule.projects {
                GlobBuilder::new(glob).build().map_err(|error| format!("team.share: {glob:?} is not a glob: {error}"))?;
            }
            if let Some(word) = rule.said_by.iter().flatten().find(|word| SaidBy::of_word(word).is_none()) {
                return Err(format!("team.share: said_by has {word:?}, but knows human, agreed, agent and tool").into());
            }
        }
        Ok(())
    }

    /// Returns the rules that name a project, which is recognized elsewhere by `remote`.
    pub fn rules_of<'a>(&'a self, project: &Project, remote: &str, home: &std::path::Path) -> Vec<&'a Rule> {
        let root = project.root.to_string_lossy().into_owned();
        let short = paths::display(&project.root, home);
        self.share.iter().filter(|rule| rule.projects.iter().any(|glob| is_match(glob, &[&root, &short, remote]))).collect()
    }
}

fn is_match(glob: &str, names: &[&str]) -> bool {
    // An invalid one was refused when the configuration was read.
    let Ok(glob) = GlobBuilder::new(glob).build() else { return false };
    let matcher = glob.compile_matcher();
    names.iter().any(|name| !name.is_empty() && matcher.is_match(name))
}

impl Rule {
    /// Returns whether the rule shares this memory of a project that it names.
    pub fn shares(&self, memory: &Memory) -> bool {
        let is_kind = match &self.kinds {
            Some(kinds) => kinds.contains(&memory.kind),
            None => !NOT_MEANT.contains(&memory.kind.as_str()),
        };
        let said_by = memory.said_by();
        is_kind
            && match &self.said_by {
                Some(words) => said_by.is_some_and(|it| words.iter().any(|word| word == it.word())),
                None => matches!(said_by, Some(SaidBy::Human | SaidBy::Agreed)),
            }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn rule(projects: &[&str]) -> Rule {
        Rule { projects: projects.iter().map(|&it| it.into()).collect(), kinds: None, said_by: None }
    }

    #[test]
    fn nothing_is_shared_without_a_rule() {
        let project = Project::named("otters");
        assert!(Settings::default().rules_of(&project, "", Path::new("/h")).is_empty());
        let of = |glob: &str, remote: &str| {
            let settings = Settings { share: vec![rule(&[glob])], ..Settings::default() };
            settings.rules_of(&project, remote, Path::new("/h")).len()
        };
        assert_eq!((of("otters", ""), of("*", ""), of("otter", ""), of("github.com/acme/*", "")), (1, 1, 0, 0));
        assert_eq!(of("github.com/acme/*", "github.com/acme/shop"), 1);
        assert_eq!(of("github.com/acme/*", "github.com/acme2/shop"), 0);
    }

    #[test]
    fn kind_and_source_decide() {
        let memory = |kind: &str, said_by: Option<SaidBy>| Memory {
            kind: kind.into(),
            attributes: said_by.map(SaidBy::attribute).into_iter().collect(),
            ..Memory::default()
        };
        let plain = rule(&["*"]);
        assert!(plain.shares(&memory("decision", Some(SaidBy::Human))));
        assert!(!plain.shares(&memory("decision", Some(SaidBy::Agent))) && !plain.shares(&memory("decision", None)));
        assert!(!plain.shares(&memory("turn", Some(SaidBy::Human))));
        let named = Rule { kinds: Some(vec!["turn".into()]), said_by: Some(vec!["agent".into()]), ..plain };
        assert!(named.shares(&memory("turn", Some(SaidBy::Agent))));
        assert!(!named.shares(&memory("turn", Some(SaidBy::Human))) && !named.shares(&memory("turn", None)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |rule: Rule| Settings { share: vec![rule], ..Settings::default() }.check().unwrap_err().to_string();
        assert!(check(rule(&[])).contains("without projects"));
        assert!(check(rule(&["a["])).contains("a["));
        assert!(check(Rule { said_by: Some(vec!["me".into()]), ..rule(&["*"]) }).contains("\"me\""));
    }
}
