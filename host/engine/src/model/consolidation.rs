//! Hands stored memories to a consolidator, checks what it returns, and stores it.
//!
//! A statement stays only if the lines that it cites say it. What a person said or saved is never replaced. What takes the place of
//! memories of a session gets their key, so that reading on in the session finds it; memories of a project are superseded, which a
//! person can undo.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Result;
use throughline_model::contract::{Draft, Memory, Origin, Session};
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_model::said_by::{self, SaidBy};
use throughline_sandbox::capability::KindSet;
use throughline_sandbox::chain::PolicyId;
use throughline_sandbox::imports::{MemorySource, ModelSource};
use throughline_sandbox::instance::{ConsolidateRequest, Consolidated, Consolidation, Source, SourceLine, Statement};
use throughline_store::{ConsolidatedMemories, DIGEST, MemoryFilter, NewMemory, SourceMemory, Store};

use super::caller::Caller;
use super::support::is_supported;
use crate::redaction::ProjectRedactor;
use crate::runtime::Runtime;
use crate::text::one_line;

/// The key of a session's summary among its memories.
const SUMMARY_KEY: &str = "session-summary";

/// The kind of a session's summary.
const SUMMARY: &str = "session_summary";

/// The most memories of a project that a consolidator sees at once.
const MAX_PROJECT_SOURCES: u32 = 200;

/// The contract's limits for a title (characters) and for content (bytes).
const MAX_TITLE: usize = 200;
const MAX_CONTENT: usize = 64 << 10;

/// The most search words of a memory, and the longest, in characters.
const MAX_KEYWORDS: usize = 20;
const MAX_KEYWORD: usize = 60;

/// What is gone over, and by whom.
pub(super) struct Input<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) project: &'a Project,
    /// Empty for the project.
    pub(super) session: &'a str,
    pub(super) policy: (usize, &'a PolicyId),
    pub(super) memories: fn(&Runtime, &Project, &str) -> Result<Rc<dyn MemorySource>>,
    pub(super) until: Instant,
    /// Whether nothing is stored.
    pub(super) is_dry: bool,
}

/// What was stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ConsolidationResult {
    /// Whether something was learned or forgotten meanwhile, which the policy has not seen.
    pub(super) is_outdated: bool,
    pub(super) stored: u32,
    pub(super) replaced: u32,
    pub(super) unsupported: u32,
}

/// Goes over one session or one project.
pub(super) fn consolidate(input: &Input<'_>, store: &mut Store, caller: Option<&Rc<Caller>>) -> Result<ConsolidationResult> {
    let Input { runtime, project, session, policy: (index, policy), .. } = *input;
    let policies = runtime.policies(Some(&project.root))?;
    let candidate = &policies.registry().candidates[index];
    let kinds = candidate.found.manifest.capabilities.memories.as_ref();
    let sources = sources(input, store, kinds)?;
    let request = request(input, &sources);
    let memories = (input.memories)(runtime, project, session)?;
    let mut work = policies.work(Some(memories), input.until)?;
    let model = caller.map(|caller| Rc::clone(caller) as Rc<dyn ModelSource>);
    let Some(answer) = work.consolidate(index, &request, model, input.until)? else {
        return Ok(ConsolidationResult::default());
    };
    let model = caller.map(|caller| caller.answered_by.borrow().clone()).unwrap_or_default();
    let (made, unsupported) = accept(answer, &request, &sources, policy, &model);
    let is_outdated = !input.is_dry && self::sources(input, store, kinds)? != sources;
    if input.is_dry || (made.memories.is_empty() && made.superseded.is_empty()) {
        return Ok(ConsolidationResult { is_outdated, unsupported, ..ConsolidationResult::default() });
    }
    let home = newest_session(session, &sources);
    let replaced: usize =
        made.memories.iter().map(|new| new.retracted.len() + new.supersedes.len()).sum::<usize>() + made.superseded.len();
    let made = Redacted::new(made, &mut ProjectRedactor::new(runtime, Some(&project.root)))?.map(within_limits);
    let made_by = (policy.name.as_str(), policy.digest.as_str());
    let (stored, _) = store.commit_consolidation(project, &home, &made, made_by, is_replaceable, runtime.now)?;
    Ok(ConsolidationResult { is_outdated, stored, replaced: u32::try_from(replaced).unwrap_or(u32::MAX), unsupported })
}

/// Returns a digest of the input that the policy would get.
pub(super) fn state(input: &Input<'_>, store: &Store) -> Result<String> {
    let policies = input.runtime.policies(Some(&input.project.root))?;
    let kinds = policies.registry().candidates[input.policy.0].found.manifest.capabilities.memories.as_ref();
    let mut of = String::new();
    for SourceMemory { memory, key, .. } in sources(input, store, kinds)? {
        let _ = writeln!(of, "{} {key}\0{}\0{}", memory.id, memory.title, memory.content);
    }
    Ok(sha256_hex(of.as_bytes()))
}

/// Returns the stored memories of the kinds that the policy may read.
fn sources(input: &Input<'_>, store: &Store, kinds: Option<&KindSet>) -> Result<Vec<SourceMemory>> {
    let mut sources = if input.session.is_empty() {
        let filter = MemoryFilter { project: Some(input.project.id.clone()), current: true, ..MemoryFilter::default() };
        let of_project = store.important(&filter, MAX_PROJECT_SOURCES)?;
        let marks = store.marks(&of_project.iter().map(|memory| memory.id.as_str()).collect::<Vec<_>>())?;
        let source = |(memory, is_pinned)| SourceMemory { memory, key: String::new(), line_uuid: None, is_pinned };
        of_project.into_iter().zip(marks.iter().map(|marks| marks.pinned_at.is_some())).map(source).collect()
    } else {
        store.session_sources(&input.project.id, input.session)?
    };
    let is_digest =
        |memory: &Memory| memory.attributes.iter().any(|(name, value)| (name.as_str(), value.as_str()) == DIGEST);
    let is_excluded = |file: &String| input.runtime.privacy.names_excluded_path(file);
    sources.retain(|source| {
        kinds.is_some_and(|kinds| kinds.has(&source.memory.kind))
            && !is_digest(&source.memory)
            && !source.memory.files.iter().any(is_excluded)
    });
    // Memories merged from several sessions do not belong to this one.
    let merged = project_key(input.policy.1);
    sources.retain(|source| !source.key.starts_with(&merged));
    // A memory that a session learned in several places is one source.
    let mut seen = BTreeSet::new();
    sources.retain(|source| input.session.is_empty() || seen.insert((source.memory.id.clone(), source.key.clone())));
    Ok(sources)
}

/// Returns the beginning of the keys of memories that a policy merged from a project.
fn project_key(policy: &PolicyId) -> String {
    format!("{}:project:", policy.name)
}

/// Whether a policy may replace the memory: not what a person said or asked to save, and not what is an archive or a fact of git.
/// Callers must also keep what a person pinned, which is not known here.
fn is_replaceable(memory: &Memory) -> bool {
    let is_kept = matches!(memory.kind.as_str(), "turn" | "compact_summary" | "correction" | "commit" | "plan" | "failure");
    let is_saved = memory.attributes.iter().any(|(name, _)| name == said_by::SOURCE);
    !is_kept && !is_saved && memory.said_by() != Some(SaidBy::Human)
}

fn request(input: &Input<'_>, sources: &[SourceMemory]) -> ConsolidateRequest {
    let Input { runtime, project, session, .. } = *input;
    let mut number = 0_u32;
    let mut source = |source: &SourceMemory| {
        let memory = &source.memory;
        let content = memory.content.lines().filter(|line| line.trim() != memory.title.trim());
        let lines = std::iter::once(memory.title.as_str()).chain(content).filter(|line| !line.trim().is_empty());
        let lines = lines.map(|text| {
            number += 1;
            SourceLine { id: number.to_string(), text: text.trim().to_owned() }
        });
        Source {
            lines: lines.collect(),
            id: memory.id.clone(),
            kind: memory.kind.clone(),
            importance: memory.importance,
            created: memory.created,
            said_by: memory.said_by().map(|said_by| said_by.word().to_owned()),
            replaceable: !source.is_pinned && is_replaceable(memory),
        }
    };
    let sources = sources.iter().map(&mut source).collect();
    let agent = throughline_agents::protocol::name::Agent::ClaudeCode.name();
    let of = Session::new(session, project, &PathBuf::from(&project.root), agent, None, runtime.now);
    let scope = if session.is_empty() { "project" } else { "session" };
    ConsolidateRequest { session: of, scope: scope.into(), sources }
}

/// Returns the session that new memories belong to: for a project, that of the newest source.
fn newest_session(session: &str, sources: &[SourceMemory]) -> String {
    if !session.is_empty() {
        return session.to_owned();
    }
    let newest = sources.iter().max_by_key(|source| source.memory.created);
    newest.map(|source| source.memory.session_id.clone()).unwrap_or_default()
}

/// Checks an answer. Returns its valid statements, and how many were dropped.
fn accept(
    answer: Consolidation,
    request: &ConsolidateRequest,
    stored: &[SourceMemory],
    policy: &PolicyId,
    model: &str,
) -> (ConsolidatedMemories, u32) {
    let review = Review::new(request, stored, policy, model);
    let mut made = ConsolidatedMemories::default();
    let mut unsupported = 0;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for memory in answer.memories {
        let (new, dropped) = review.accept(&memory, &taken);
        unsupported += dropped;
        let Some(mut new) = new else { continue };
        // A memory is replaced once: by the first that asks for it. A session has one summary.
        let is_key_free = new.draft.key.iter().all(|key| taken.insert(key.clone()));
        if new.is_summary && !is_key_free {
            continue;
        }
        new.retracted.retain(|key| taken.insert(key.clone()));
        new.supersedes.retain(|id| taken.insert(id.clone()));
        made.memories.push(new);
    }
    let position = |id: &String| request.sources.iter().position(|source| source.id == *id);
    for (older, newer) in answer.superseded {
        let (Some(a), Some(b)) = (position(&older), position(&newer)) else { continue };
        let (a, b) = (&request.sources[a], &request.sources[b]);
        if request.scope == "project" && a.replaceable && a.id != b.id && a.created <= b.created {
            made.superseded.push((older, newer));
        }
    }
    (made, unsupported)
}

/// What the memories of an answer are checked against.
struct Review<'a> {
    request: &'a ConsolidateRequest,
    /// The memories of the request, in the order of its sources.
    stored: &'a [SourceMemory],
    /// The lines of the sources by their identifiers, each with its text and the position of its source.
    lines: BTreeMap<&'a str, (&'a str, usize)>,
    policy: &'a PolicyId,
    model: &'a str,
}

impl<'a> Review<'a> {
    fn new(request: &'a ConsolidateRequest, stored: &'a [SourceMemory], policy: &'a PolicyId, model: &'a str) -> Self {
        let sources = request.sources.iter().enumerate();
        let lines = sources.flat_map(|(place, source)| {
            source.lines.iter().map(move |line| (line.id.as_str(), (line.text.as_str(), place)))
        });
        Self { request, stored, lines: lines.collect(), policy, model }
    }

    /// Returns what is valid of a memory, if anything is, and how many of its statements were dropped. The keys in `taken` belong to
    /// memories that were accepted before.
    fn accept(&self, memory: &Consolidated, taken: &BTreeSet<String>) -> (Option<NewMemory>, u32) {
        let kept: Vec<&Statement> = memory.statements.iter().filter(|statement| self.is_true(statement)).collect();
        let mut dropped = u32::try_from(memory.statements.len() - kept.len()).unwrap_or(u32::MAX);
        let Some(&first) = kept.first() else { return (None, dropped) };
        let title = if self.is_true(&memory.title) {
            &memory.title
        } else {
            dropped += 1;
            first
        };
        let sources = self.sources(&kept);
        let is_of_session = self.is_of_session();
        let is_summary = is_of_session && memory.kind == SUMMARY;
        let replaced = self.replaced(memory, is_summary);
        let content = kept.iter().map(|statement| one_line(&statement.text)).collect::<Vec<_>>().join("\n");
        let free = replaced.iter().find(|stored| !taken.contains(&stored.key));
        let key = match free {
            _ if is_summary => SUMMARY_KEY.to_owned(),
            Some(first) if is_of_session => first.key.clone(),
            _ => self.own_key(memory, &content),
        };
        let retracted = replaced.iter().filter(|stored| is_of_session && stored.key != key).map(|stored| stored.key.clone());
        let supersedes = replaced.iter().filter(|_| !is_of_session).map(|stored| stored.memory.id.clone());
        let new = NewMemory {
            retracted: retracted.collect(),
            supersedes: supersedes.collect(),
            replaced: replaced.iter().map(|stored| stored.memory.id.clone()).collect(),
            sources: sources.iter().map(|source| source.memory.id.clone()).collect(),
            is_summary,
            draft: self.draft(memory, key, one_line(&title.text), content, &sources),
        };
        (Some(new), dropped)
    }

    fn is_of_session(&self) -> bool {
        self.request.scope == "session"
    }

    /// Returns the lines that a statement cites, as far as they exist: each with its text and the position of its source.
    fn cited(&self, statement: &Statement) -> impl Iterator<Item = (&'a str, usize)> {
        statement.cites.iter().filter_map(|id| self.lines.get(id.as_str()).copied())
    }

    fn is_true(&self, statement: &Statement) -> bool {
        let texts: Vec<&str> = self.cited(statement).map(|(text, _)| text).collect();
        is_supported(&statement.text, &texts)
    }

    /// Returns the memories whose lines the statements cite.
    fn sources(&self, statements: &[&Statement]) -> Vec<&'a SourceMemory> {
        let places: BTreeSet<usize> =
            statements.iter().flat_map(|statement| self.cited(statement)).map(|(_, place)| place).collect();
        places.iter().filter_map(|place| self.stored.get(*place)).collect()
    }

    /// Returns the memories that a memory may replace, of those that it asks for.
    fn replaced(&self, memory: &Consolidated, is_summary: bool) -> Vec<&'a SourceMemory> {
        let asked = self.stored.iter().zip(&self.request.sources);
        let asked = asked.filter(|(_, source)| source.replaceable && memory.replaces.contains(&source.id));
        // A session has one summary, and nothing else takes its place.
        let fits = |stored: &&SourceMemory| !self.is_of_session() || (stored.key == SUMMARY_KEY) == is_summary;
        asked.map(|(stored, _)| stored).filter(fits).collect()
    }

    /// Returns the key of a memory that takes nobody's place.
    fn own_key(&self, memory: &Consolidated, content: &str) -> String {
        let digest = &sha256_hex(content.as_bytes())[..16];
        if self.is_of_session() {
            format!("{}:{}:{digest}", self.policy.name, memory.kind)
        } else {
            format!("{}{digest}", project_key(self.policy))
        }
    }

    fn draft(&self, memory: &Consolidated, key: String, title: String, content: String, sources: &[&SourceMemory]) -> Draft {
        let words = |text: &String| text.chars().filter(|c| !c.is_control()).take(MAX_KEYWORD).collect::<String>();
        let mut attributes = vec![SaidBy::Agent.attribute()];
        attributes.extend((!self.model.is_empty()).then(|| ("model".to_owned(), self.model.to_owned())));
        let known_file = |file: &&String| sources.iter().any(|source| source.memory.files.contains(*file));
        let origin = sources.iter().find(|source| source.line_uuid.is_some()).or(sources.first());
        Draft {
            key: Some(key),
            kind: memory.kind.clone(),
            title,
            content,
            keywords: memory.keywords.iter().take(MAX_KEYWORDS).map(words).collect(),
            files: memory.files.iter().filter(known_file).cloned().collect(),
            importance: memory.importance,
            origin: Origin {
                line_uuid: origin.and_then(|source| source.line_uuid.clone()),
                at: sources.iter().map(|source| source.memory.created).max(),
            },
            attributes,
        }
    }
}

/// Cuts redacted texts to their limits. This happens only now, because half a secret is not recognized.
fn within_limits(mut made: ConsolidatedMemories) -> ConsolidatedMemories {
    for NewMemory { draft, .. } in &mut made.memories {
        draft.validate_identity();
        draft.validate_said_by();
        if let Some((end, _)) = draft.title.char_indices().nth(MAX_TITLE) {
            draft.title.truncate(end);
        }
        draft.content.truncate(draft.content.floor_char_boundary(MAX_CONTENT));
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(id: &str, key: &str, kind: &str, said_by: Option<SaidBy>, content: &str) -> SourceMemory {
        let memory = Memory {
            id: id.into(),
            session_id: "s".into(),
            kind: kind.into(),
            title: content.into(),
            content: content.into(),
            files: vec!["src/queue.rs".into()],
            attributes: said_by.map(SaidBy::attribute).into_iter().collect(),
            ..Memory::default()
        };
        SourceMemory { memory, key: key.into(), line_uuid: Some(format!("line-{id}")), is_pinned: false }
    }

    fn statement(text: &str, cites: &[&str]) -> Statement {
        Statement { text: text.into(), cites: cites.iter().map(|&id| id.into()).collect() }
    }

    fn run(scope: &str, stored: &[SourceMemory], memories: Vec<Consolidated>) -> (ConsolidatedMemories, u32) {
        let sources = stored.iter().enumerate().map(|(place, stored)| Source {
            id: stored.memory.id.clone(),
            kind: stored.memory.kind.clone(),
            importance: 0.5,
            created: stored.memory.created,
            said_by: None,
            replaceable: is_replaceable(&stored.memory),
            lines: vec![SourceLine { id: (place + 1).to_string(), text: stored.memory.content.clone() }],
        });
        let project = Project::shared();
        let session = Session::new("s", &project, &PathBuf::from("/"), "claude-code", None, 0);
        let request = ConsolidateRequest { session, scope: scope.into(), sources: sources.collect() };
        let policy = PolicyId { name: "p".into(), digest: "d".into() };
        let answer = Consolidation { memories, superseded: vec![("a".into(), "b".into()), ("b".into(), "zz".into())] };
        accept(answer, &request, stored, &policy, "m")
    }

    fn consolidated(kind: &str, replaces: &[&str], statements: Vec<Statement>) -> Consolidated {
        Consolidated {
            kind: kind.into(),
            title: statements[0].clone(),
            statements,
            replaces: replaces.iter().map(|&id| id.into()).collect(),
            keywords: Vec::new(),
            files: vec!["src/queue.rs".into(), "/etc/passwd".into()],
            importance: 0.7,
        }
    }

    #[test]
    fn what_no_line_says_is_dropped_and_a_persons_words_stay() {
        let sources = [
            stored("a", "session-summary", SUMMARY, None, "The export queue moved to SQLite"),
            stored("b", "decision:1", "decision", Some(SaidBy::Agreed), "Use SQLite for the export queue, not Redis"),
            stored("c", "rule:1", "preference", Some(SaidBy::Human), "Always run the export tests twice"),
        ];
        let good = statement("The export queue is in SQLite and no longer in Redis.", &["1", "2"]);
        let (made, dropped) = run(
            "session",
            &sources,
            vec![
                consolidated(SUMMARY, &["a"], vec![good.clone(), statement("It was deployed to Kubernetes.", &["1"])]),
                consolidated("decision", &["b", "c", "a"], vec![good.clone()]),
                consolidated("decision", &["b"], vec![statement("The export queue is in SQLite.", &["9"])]),
            ],
        );
        assert_eq!(dropped, 2);
        let seen: Vec<_> = made.memories.iter().map(|new| (new.draft.key.as_deref().unwrap(), new.is_summary)).collect();
        assert_eq!(seen, [("session-summary", true), ("decision:1", false)]);
        let decision = &made.memories[1];
        assert!(decision.retracted.is_empty() && decision.supersedes.is_empty(), "the rule and the summary stay");
        assert_eq!(decision.draft.files, ["src/queue.rs"]);
        assert_eq!(decision.draft.origin.line_uuid.as_deref(), Some("line-a"));
        assert!(decision.draft.attributes.contains(&("said-by".into(), "agent".into())));
        assert!(made.superseded.is_empty(), "only of a project");
    }

    #[test]
    fn what_splits_a_memory_in_two_keeps_both() {
        let sources = [
            stored("a", "session-summary", SUMMARY, None, "The export queue moved to SQLite"),
            stored("b", "decision:1", "decision", Some(SaidBy::Agreed), "Use SQLite for the export queue, not Redis"),
            stored("c", "decision:2", "decision", Some(SaidBy::Agreed), "The export queue has a table of its own"),
        ];
        let memory = |kind: &str, replaces: &[&str], text: &str| {
            consolidated(kind, replaces, vec![statement(text, &["1", "2", "3"])])
        };
        let (made, _) = run(
            "session",
            &sources,
            vec![
                memory("decision", &["b"], "The export queue is in SQLite."),
                memory("decision", &["b", "c"], "The export queue is not in Redis."),
                memory("decision", &["c", "b"], "The export queue has a table."),
                memory(SUMMARY, &["a"], "The export queue moved to SQLite."),
                memory(SUMMARY, &["a"], "The export queue moved."),
            ],
        );
        let keys: Vec<&str> = made.memories.iter().map(|new| new.draft.key.as_deref().unwrap()).collect();
        assert_eq!((keys.len(), &keys[..2], keys[3]), (4, ["decision:1", "decision:2"].as_slice(), "session-summary"));
        assert!(keys[2].starts_with("p:decision:"), "{keys:?}");
        assert!(made.memories.iter().all(|new| new.retracted.is_empty()));
        assert_eq!(made.memories[0].sources, ["a", "b", "c"]);
    }

    #[test]
    fn memories_of_a_project_are_superseded() {
        let sources = [
            stored("a", "", "learning", None, "The export queue moved to SQLite"),
            stored("b", "", "learning", None, "The export queue is in SQLite now"),
        ];
        let merged = consolidated("learning", &["a", "b"], vec![statement("The export queue is in SQLite.", &["1", "2"])]);
        let (made, dropped) = run("project", &sources, vec![merged]);
        assert_eq!((dropped, made.memories[0].supersedes.as_slice()), (0, ["a".to_owned(), "b".to_owned()].as_slice()));
        assert!(made.memories[0].draft.key.as_deref().unwrap().starts_with("p:project:"));
        assert_eq!(made.superseded, [("a".to_owned(), "b".to_owned())]);
    }
}
