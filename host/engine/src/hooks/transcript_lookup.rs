//! Finds the transcript of a session for commands. Hooks do not need this: the agent gives them the path.

use std::fs;
use std::path::{Path, PathBuf};

use throughline_agents::protocol::{claude_code, transcripts};
use throughline_store::{Result, Store};

/// Returns the transcript of a session: the path that was read before, or a file below `projects` with the session's
/// name.
pub fn find_transcript(store: &Store, projects: &Path, session: &str) -> Result<Option<PathBuf>> {
    let is_its_own = |path: &Path| transcripts::session_id_from_path(path).as_deref() == Some(session);
    let known = store.cursors()?.into_iter().map(|cursor| PathBuf::from(cursor.path));
    if let Some(path) = known.filter(|path| is_its_own(path)).find(|path| path.is_file()) {
        return Ok(Some(path));
    }
    let folders = fs::read_dir(projects).into_iter().flatten().flatten();
    let named = folders.map(|folder| folder.path().join(format!("{session}.jsonl")));
    Ok(named.filter(|path| is_its_own(path)).find(|path| path.is_file()))
}

/// Returns the session that was written to last, among those that began in one of these folders.
pub fn latest_session(projects: &Path, folders: &[PathBuf]) -> Option<(String, PathBuf)> {
    let of_folder =
        |folder: &PathBuf| fs::read_dir(projects.join(claude_code::slug(folder))).into_iter().flatten().flatten();
    folders
        .iter()
        .flat_map(of_folder)
        .filter_map(|entry| {
            let path = entry.path();
            let session = claude_code::session_id_from_path(&path)?;
            let modified = entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?;
            Some((modified, session, path))
        })
        .max()
        .map(|(_, session, path)| (session, path))
}

/// How many of the latest day folders are searched for a rollout.
const MAX_DAY_FOLDERS: usize = 40;

/// Finds Codex's rollout of a session. Below `sessions` there is one folder a day; only the latest [`MAX_DAY_FOLDERS`] are
/// searched.
pub fn find_rollout(sessions: &Path, session: &str) -> Option<PathBuf> {
    let below = |folder: &Path| {
        let mut inside: Vec<PathBuf> =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        inside.sort_by(|a, b| b.cmp(a));
        inside
    };
    let years = below(sessions).into_iter();
    let days = years.flat_map(|year| below(&year)).flat_map(|month| below(&month)).take(MAX_DAY_FOLDERS);
    days.flat_map(|day| below(&day)).find(|path| transcripts::session_id_from_path(path).as_deref() == Some(session))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use throughline_store::Access;

    const ONE: &str = "00000001-5e55-4000-8000-000000000001";
    const TWO: &str = "00000002-5e55-4000-8000-000000000002";

    #[test]
    fn transcripts_are_found_by_session_and_by_folder() {
        let dir = tempfile::tempdir().unwrap();
        let projects = dir.path().join("projects");
        let store = Store::open(&dir.path().join("t.db"), Access::Write, Duration::from_secs(1)).unwrap();
        let file = |folder: &str, name: &str| {
            fs::create_dir_all(projects.join(folder)).unwrap();
            let path = projects.join(folder).join(format!("{name}.jsonl"));
            fs::write(&path, "").unwrap();
            path
        };
        let (one, two) = (file("-srv-a-b", ONE), file("-srv-c", TWO));
        file("-srv-c", "agent-1");
        assert_eq!(find_transcript(&store, &projects, TWO).unwrap(), Some(two.clone()));
        assert_eq!(find_transcript(&store, &projects, "../-srv-c/agent-1").unwrap(), None);
        assert_eq!(latest_session(&projects, &["/srv/a.b".into()]), Some((ONE.into(), one)));
        assert_eq!(latest_session(&projects, &["/none".into(), "/srv/c".into()]), Some((TWO.into(), two)));
        assert_eq!(latest_session(&projects, &["/none".into()]), None);
    }
}
