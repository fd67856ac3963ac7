//! The memories that a policy may see: those of one project, and those that the user shared with all projects.

use std::rc::Rc;

use anyhow::Result;

use super::file_checks::FileChecks;
use super::loaded::LoadedText;
use super::result::STORE_BUSY_TIMEOUT;
use crate::runtime::Runtime;
use crate::search::SearchRequest;
use throughline_model::contract::{Memory, SessionRecord};
use throughline_model::project::Project;
use throughline_sandbox::imports::{Fact, MemorySource};
use throughline_store::{Access, DIGEST, Knowledge, MemoryFilter, Store};

/// One project's memories. The current session is known, so that "the last session" can exclude it.
pub struct ProjectMemories {
    /// The store.
    pub store: Rc<Store>,
    /// The project's identifier.
    pub project: String,
    /// Looks in the project's root folder for the files that memories are about.
    pub files: FileChecks,
    /// The current session.
    pub session: String,
    /// The current time, milliseconds since the Unix epoch.
    pub now: u64,
    /// Whether to include memories that the user shared with all projects.
    pub shared: bool,
    /// The text that the agent loads on its own, which is not repeated.
    pub loaded: LoadedText,
    /// The pinned memories that stand on the page already.
    pub pinned: Vec<Memory>,
}

/// Opens a project's own memories, for work outside of a hook.
pub fn open_memories(runtime: &Runtime, project: &Project, session: &str) -> Result<Rc<dyn MemorySource>> {
    let store = Rc::new(runtime.store(Access::Existing, STORE_BUSY_TIMEOUT)?);
    Ok(Rc::new(ProjectMemories {
        store,
        project: project.id.clone(),
        files: FileChecks::new(&project.root, runtime.now),
        session: session.to_owned(),
        now: runtime.now,
        shared: false,
        loaded: LoadedText::default(),
        pinned: Vec::new(),
    }))
}

impl ProjectMemories {
    fn filter(&self, session: Option<&str>, kinds: &[String]) -> MemoryFilter {
        MemoryFilter {
            project: Some(self.project.clone()),
            session: session.map(str::to_owned),
            kinds: kinds.to_vec(),
            shared: self.shared,
            current: true,
            ..MemoryFilter::default()
        }
    }
}

/// Removes digests. Like archived turns they are only for search: a digest holds unused memories, so it does not belong
/// in a list of important ones.
fn without_digests(mut memories: Vec<Memory>) -> Vec<Memory> {
    memories.retain(|memory| !memory.attributes.iter().any(|(name, value)| (name.as_str(), value.as_str()) == DIGEST));
    memories
}

impl ProjectMemories {
    fn is_pinned(&self, memory: &Memory) -> bool {
        self.pinned.iter().any(|pinned| pinned.id == memory.id)
    }

    fn told(&self, memories: Vec<Memory>) -> Vec<Memory> {
        let mut memories = self.loaded.without_stated(without_digests(memories));
        memories.retain(|memory| !self.is_pinned(memory));
        self.files.mark_files(Some(&self.store), &mut memories);
        memories.iter_mut().for_each(Memory::name_colleague);
        memories
    }
}

impl MemorySource for ProjectMemories {
    fn count(&self, kinds: &[String]) -> Result<u64> {
        Ok(self.store.count(&self.filter(None, kinds))?)
    }

    fn recent(&self, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.told(self.store.recent(&self.filter(None, kinds), limit)?))
    }

    fn important(&self, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.told(self.store.important(&self.filter(None, kinds), limit)?))
    }

    fn of_session(&self, session: &str, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.told(self.store.in_learned_order(&self.filter(Some(session), kinds), limit)?))
    }

    fn search(&self, query: &str, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        let request = SearchRequest::of_policy(query, kinds, &self.project, limit, self.now).with_shared(self.shared);
        let mut found: Vec<Memory> = request.run(&self.store)?.hits.into_iter().map(|hit| hit.memory).collect();
        found.retain(|memory| !self.is_pinned(memory));
        self.files.mark_files(Some(&self.store), &mut found);
        found.iter_mut().for_each(Memory::name_colleague);
        Ok(found)
    }

    fn knowledge(&self, limit: u32) -> Result<Vec<Fact>> {
        let known = if self.shared {
            self.store.knowledge_with_shared(&self.project, limit)?
        } else {
            self.store.knowledge(&self.project, limit)?
        };
        let known = known.into_iter().filter(|known| self.pinned.iter().all(|pinned| pinned.title != known.content));
        let fact = |known: Knowledge| Fact {
            kind: known.kind,
            file: known.file,
            content: known.content,
            importance: known.importance,
            updated: known.updated,
        };
        Ok(known.map(fact).collect())
    }

    fn sessions(&self, limit: u32) -> Result<Vec<SessionRecord>> {
        let mut sessions = self.store.sessions(&self.project, &self.session, limit)?;
        sessions.iter_mut().filter_map(|session| session.notes.as_mut()).for_each(|notes| self.loaded.leave_out(notes));
        Ok(sessions)
    }

    fn session(&self, id: &str) -> Result<Option<SessionRecord>> {
        let mut session = self.store.session(&self.project, id)?;
        if let Some(notes) = session.as_mut().and_then(|session| session.notes.as_mut()) {
            self.loaded.leave_out(notes);
        }
        Ok(session)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::redaction::tests::redacted;
    use throughline_model::contract::{Draft, Origin, SessionNotes};
    use throughline_model::project::Project;
    use throughline_store::{Access, CommitBatch, Learned, SessionUpdate};

    const SESSIONS: [&str; 4] = ["s0", "s1", "s2", "s3"];

    /// Everything that a policy of a project can read.
    fn all(memories: &ProjectMemories, query: &str) -> String {
        const ALL: u32 = 10_000;
        let kinds = ["decision".to_owned(), "architecture".to_owned()];
        let mut told =
            vec![format!("{:?}", memories.knowledge(ALL).unwrap()), format!("{:?}", memories.sessions(ALL).unwrap())];
        for kinds in [&kinds[..], &[]] {
            told.push(format!("{:?}", memories.recent(kinds, ALL).unwrap()));
            told.push(format!("{:?}", memories.important(kinds, ALL).unwrap()));
            told.push(format!("{:?}", memories.search(query, kinds, ALL).unwrap()));
            for session in SESSIONS {
                told.push(format!("{:?}", memories.of_session(session, kinds, ALL).unwrap()));
            }
        }
        told.extend(SESSIONS.map(|session| format!("{:?}", memories.session(session).unwrap())));
        told.concat()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        /// All projects use the same words; only one word per project tells them apart.
        #[test]
        fn no_policy_sees_a_row_of_another_project(
            said in prop::collection::vec((0_usize..4, 0_usize..4, 0_usize..6, any::<bool>()), 1..40),
            query in prop::collection::vec(
                prop::sample::select(vec![
                    "kiwi", "own1zz", "own2zz", "\"", "*", "OR", "NOT", "NEAR(", "type:decision", "session:s1", "project:p1",
                    "file:src/a.rs", "since:2000-01-01", "before:2100-01-01", "'; --", "^", "-kiwi", "content:kiwi", "%",
                ]),
                0..6,
            ),
            shared in prop::collection::vec((0_usize..4, 0_usize..6), 0..3),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut store = Store::open(&dir.path().join("t.db"), Access::Write, Duration::from_secs(1)).unwrap();
            store.set_synchronous_normal().unwrap();
            let mut owners = BTreeMap::new();
            for (at, (project, session, word, whole)) in said.iter().enumerate() {
                let text = format!("kiwi word{word} own{project}zz");
                let draft = Draft {
                    key: Some(format!("k{word}")),
                    kind: if *whole { "architecture" } else { "decision" }.into(),
                    title: text.clone(),
                    content: text.clone(),
                    files: vec!["src/a.rs".into(), format!("own{project}zz.rs")],
                    importance: 0.5,
                    origin: Origin { line_uuid: Some(format!("u{at}")), at: Some(1_000) },
                    ..Draft::default()
                };
                let update = SessionUpdate {
                    id: SESSIONS[*session].into(),
                    summary: text.clone(),
                    notes: SessionNotes { turns: 1, original_request: text, ..SessionNotes::default() },
                    ..SessionUpdate::default()
                };
                let name = format!("own{project}zz");
                let learned = Learned { session: Some(update), drafts: vec![(0, draft)], ..Learned::default() };
                let committed = store.commit(&CommitBatch {
                    project: &Project { id: format!("p{project}"), identity: name.clone(), root: format!("/{name}").into() },
                    session_id: SESSIONS[*session],
                    learned: &redacted(learned),
                    policies: &[("p".into(), "d".into())],
                    reader: "s",
                    cursor: None,
                    anchors: &[],
                    moment: "stop",
                    now: 3_000,
                });
                // The first project to use a session owns it.
                let owner = *owners.entry(*session).or_insert(*project);
                prop_assert_eq!(committed.is_ok(), owner == *project);
            }
            // Some projects share memories.
            let mut public = BTreeSet::new();
            for (project, word) in &shared {
                let text = format!("word{word} own{project}zz");
                let filter = MemoryFilter { project: Some(format!("p{project}")), ..MemoryFilter::default() };
                for memory in store.recent(&filter, 1_000).unwrap().iter().filter(|memory| memory.title.ends_with(&text)) {
                    prop_assert!(store.share(&memory.id, 3_500).unwrap().is_some());
                    public.insert((*project, *word));
                }
            }
            let store = Rc::new(store);
            for (project, shared) in (0..4).flat_map(|project| [(project, true), (project, false)]) {
                let memories = ProjectMemories {
                    store: Rc::clone(&store), project: format!("p{project}"), files: FileChecks::new(Path::new("/none"), 4_000), session: "s9".into(),
                    now: 4_000, shared,
                    loaded: LoadedText::default(),
                    pinned: Vec::new(),
                };
                let told = all(&memories, &query.join(" "));
                for other in (0..4).filter(|other| *other != project) {
                    for word in 0..6 {
                        let is_told = told.contains(&format!("word{word} own{other}zz"));
                        prop_assert_eq!(
                            is_told, shared && public.contains(&(other, word)), "{} of {}/{}: {}", project, other, word, told
                        );
                    }
                    if !shared || public.iter().all(|(of, _)| *of != other) {
                        prop_assert!(!told.contains(&format!("own{other}zz")), "{} is told of {}: {}", project, other, told);
                    }
                }
                let own = owners.values().any(|of| *of == project);
                prop_assert_eq!(told.contains(&format!("own{project}zz")), own);
            }
        }
    }
}
