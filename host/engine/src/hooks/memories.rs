//! The memories that a policy may see: those of one project, and those that the user shared with all projects.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;

use super::loaded::LoadedText;
use crate::search::SearchRequest;
use throughline_model::contract::{Memory, SessionRecord};
use throughline_sandbox::imports::{Fact, MemorySource};
use throughline_store::{DIGEST, MemoryFilter, SHARED_FROM, Store};

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
    /// What the agent loads by itself, which is not told again.
    pub loaded: LoadedText,
}

impl ProjectMemories {
    fn filter(&self, session: Option<&str>, kinds: &[String]) -> MemoryFilter {
        MemoryFilter {
            project: Some(self.project.clone()),
            session: session.map(str::to_owned),
            kinds: kinds.to_vec(),
            shared: self.shared,
            current: true,
        }
    }
}

/// Removes digests. Like archived turns they are only for search: a digest holds memories that nobody used, so it does
/// not belong in a list of important ones.
fn without_digests(mut memories: Vec<Memory>) -> Vec<Memory> {
    memories.retain(|memory| !memory.attributes.iter().any(|(name, value)| (name.as_str(), value.as_str()) == DIGEST));
    memories
}

/// The attribute of a memory that names a file that it is about and that is gone.
const GONE_FILE: &str = "gone-file";

/// The most files that one hook looks for. Looking for one takes a microsecond or two, so that all of them take less than a
/// millisecond.
const MAX_LOOKED_FOR: usize = 400;

/// Looks for the files that memories are about. A page asks for several lists of memories, which name the same files: each is
/// looked for once.
pub struct FileChecks {
    root: PathBuf,
    /// Whether the files that were looked for are there.
    known: RefCell<HashMap<String, bool>>,
}

impl FileChecks {
    /// Looks for files in a project's root folder.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), known: RefCell::default() }
    }

    /// Marks memories with the files that they are about and that are gone: a memory whose file is gone may be outdated. Paths
    /// outside of the project are not looked for, and none at all if the project itself is not on this machine.
    pub(super) fn mark_gone_files(&self, memories: &mut [Memory]) {
        if !self.root.is_absolute() || !self.root.is_dir() {
            return;
        }
        let mut known = self.known.borrow_mut();
        // The paths of a shared memory are those of the project that shared it.
        let is_own = |memory: &&mut Memory| !memory.attributes.iter().any(|(name, _)| name == SHARED_FROM);
        for memory in memories.iter_mut().filter(is_own) {
            let mut gone = Vec::new();
            for file in &memory.files {
                let is_inside =
                    !file.starts_with('~') && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
                if !is_inside || (known.len() >= MAX_LOOKED_FOR && !known.contains_key(file)) {
                    continue;
                }
                let is_there = *known.entry(file.clone()).or_insert_with(|| self.root.join(file).symlink_metadata().is_ok());
                if !is_there {
                    gone.push((GONE_FILE.to_owned(), file.clone()));
                }
            }
            memory.attributes.extend(gone);
        }
    }
}

impl ProjectMemories {
    fn told(&self, memories: Vec<Memory>) -> Vec<Memory> {
        let mut memories = self.loaded.without_stated(without_digests(memories));
        self.files.mark_gone_files(&mut memories);
        memories
    }
}

impl MemorySource for ProjectMemories {
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
        self.files.mark_gone_files(&mut found);
        Ok(found)
    }

    fn knowledge(&self, limit: u32) -> Result<Vec<Fact>> {
        let known = if self.shared {
            self.store.knowledge_with_shared(&self.project, limit)?
        } else {
            self.store.knowledge(&self.project, limit)?
        };
        let known = known.into_iter();
        Ok(known.map(|k| Fact { kind: k.kind, file: k.file, content: k.content, updated: k.updated }).collect())
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

    #[test]
    fn files_that_are_gone_are_marked() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "").unwrap();
        let memory = |files: &[&str]| Memory { files: files.iter().map(|&it| it.into()).collect(), ..Memory::default() };
        let mut memories = [
            memory(&["src/a.rs"]),
            memory(&["src/b.rs", "src/a.rs"]),
            memory(&["/etc/none", "../none", "~/none"]),
            memory(&[]),
        ];
        FileChecks::new(dir.path()).mark_gone_files(&mut memories);
        let gone: Vec<Vec<(String, String)>> = memories.iter().map(|memory| memory.attributes.clone()).collect();
        assert_eq!(gone, [vec![], vec![(GONE_FILE.into(), "src/b.rs".into())], vec![], vec![]]);
        // Its paths are those of another project.
        let shared = vec![(SHARED_FROM.to_owned(), "a1".to_owned())];
        let mut memories = [Memory { attributes: shared.clone(), ..memory(&["src/b.rs"]) }];
        FileChecks::new(dir.path()).mark_gone_files(&mut memories);
        assert_eq!(memories[0].attributes, shared);
        // The project is on another machine.
        let mut memories = [memory(&["src/b.rs"])];
        FileChecks::new(&dir.path().join("none")).mark_gone_files(&mut memories);
        assert!(memories[0].attributes.is_empty());
    }

    #[test]
    fn one_hook_looks_for_few_files_and_for_each_once() {
        let dir = tempfile::tempdir().unwrap();
        let checks = FileChecks::new(dir.path());
        let about = |file: String| Memory { files: vec![file], ..Memory::default() };
        let mut gone = 0;
        for list in 0..4 {
            let mut memories: Vec<Memory> = (0..200).map(|at| about(format!("{list}-{at}.rs"))).collect();
            checks.mark_gone_files(&mut memories);
            gone += memories.iter().filter(|memory| !memory.attributes.is_empty()).count();
        }
        assert_eq!(gone, MAX_LOOKED_FOR);
        // What is known is not looked for again, and is still said.
        std::fs::write(dir.path().join("0-0.rs"), "").unwrap();
        let mut again = [about("0-0.rs".into())];
        checks.mark_gone_files(&mut again);
        assert_eq!(again[0].attributes.len(), 1);
        assert_eq!(checks.known.borrow().len(), MAX_LOOKED_FOR);
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
                    store: Rc::clone(&store), project: format!("p{project}"), files: FileChecks::new(Path::new("/none")), session: "s9".into(),
                    now: 4_000, shared,
                    loaded: LoadedText::default(),
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
