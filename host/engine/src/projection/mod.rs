//! Projections: files that are generated from the database alone and can be generated again at any time. These are a
//! project's `memory.md`, one file for each of its sessions, and `.claude/session-context.json` in its root. They are
//! written if the configuration wants them, and never read. All text in them was redacted before it was stored.

mod context;
mod memory;
mod output_folder;
mod session;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result};
use jiff::tz::TimeZone;

pub use context::{SessionContext, context, would_be_tracked};
pub use output_folder::WrittenFile;

use crate::config::Projections;
use crate::runtime::Runtime;
use context::{BACKUP, FILE, FOLDER};
use output_folder::OutputFolder;
use throughline_model::project::Project;
use throughline_store::Store;

/// The name of a project's file.
const MEMORY: &str = "memory.md";
/// The name of the folder of session files.
const SESSIONS: &str = "sessions";

/// How many missing session files are written along with another, for sessions that were read without a hook.
const MAX_MISSING: usize = 10;

/// The sessions whose files are written.
#[derive(Debug, Clone, Copy)]
enum SessionSelection<'a> {
    /// All sessions; files of sessions that no longer exist are deleted.
    All,
    /// This session, and those that started in the same minute.
    One(&'a str),
}

/// Returns whether the user configured any projections.
pub fn are_configured(settings: &Projections) -> bool {
    settings.folder.is_some() || settings.session_context
}

/// Writes the configured projections of a session and its project, after the session was stored.
pub fn write(runtime: &Runtime, store: &Store, session: &str) -> Result<Vec<WrittenFile>> {
    let settings = &runtime.config.projections;
    if !are_configured(settings) {
        return Ok(Vec::new());
    }
    let Some(project) = store.project_of_session(session)? else { return Ok(Vec::new()) };
    if runtime.is_excluded(&project.root) || runtime.intervals.is_paused(&project.id, session) {
        return Ok(Vec::new());
    }
    let mut written = Vec::new();
    if settings.session_context {
        written.extend(write_context(store, &project, session)?);
    }
    if let Some(folder) = &settings.folder {
        written.extend(write_notes(store, &project, folder, SessionSelection::One(session), &TimeZone::system())?);
    }
    Ok(written)
}

/// Writes all configured projections of a project.
pub fn write_all(store: &Store, settings: &Projections, project: &Project) -> Result<Vec<WrittenFile>> {
    let mut written = Vec::new();
    if settings.session_context
        && let Some(last) = store.sessions(&project.id, "", 1)?.first()
    {
        written.extend(write_context(store, project, &last.id)?);
    }
    if let Some(folder) = &settings.folder {
        written.extend(write_notes(store, project, folder, SessionSelection::All, &TimeZone::system())?);
    }
    Ok(written)
}

/// Rewrites the projections so that nothing deleted from the store remains in them. `projects` are those that existed
/// before the deletion.
pub fn rewrite_all(store: &Store, settings: &Projections, projects: &[Project]) -> Result<()> {
    for project in projects {
        if settings.session_context
            && let Ok(place) = OutputFolder::open(&project.root).and_then(|root| root.existing(FOLDER))
        {
            for file in [FILE, BACKUP] {
                // Delete only files that this program wrote.
                if place.text(file).is_some_and(|text| is_context(&text)) {
                    place.remove(file);
                }
            }
        }
        write_all(store, settings, project)?;
    }
    Ok(())
}

fn is_context(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text)
        .is_ok_and(|it| it["meta"]["version"].is_string() && it["goal"].is_object())
}

fn write_context(store: &Store, project: &Project, session: &str) -> Result<Option<WrittenFile>> {
    let Some(context) = context(store, project, session)? else { return Ok(None) };
    let mut text = serde_json::to_string_pretty(&context)?;
    text.push('\n');
    let root = match OutputFolder::open(&project.root) {
        // The project was moved or deleted; its stored memories stay.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.with_context(|| project.root.display().to_string())?,
    };
    let written = root.folder(FOLDER, 0o755).and_then(|place| place.replace(FILE, text.as_bytes(), Some(BACKUP)));
    Ok(Some(written.with_context(|| project.root.join(FOLDER).join(FILE).display().to_string())?))
}

fn write_notes(
    store: &Store,
    project: &Project,
    folder: &Path,
    which: SessionSelection<'_>,
    zone: &TimeZone,
) -> Result<Vec<WrittenFile>> {
    let named = || folder.display().to_string();
    let Some(page) = memory::page(store, project, zone)? else {
        remove_notes(project, folder).with_context(named)?;
        return Ok(Vec::new());
    };
    let place = OutputFolder::create_folder(folder).and_then(|all| all.of_project(project)).with_context(named)?;
    let mut written = vec![place.replace(MEMORY, page.as_bytes(), None).with_context(named)?];
    written.extend(write_sessions(store, project, &place, which, zone)?);
    Ok(written)
}

fn write_sessions(
    store: &Store,
    project: &Project,
    place: &OutputFolder,
    which: SessionSelection<'_>,
    zone: &TimeZone,
) -> Result<Vec<WrittenFile>> {
    let place = place.folder(SESSIONS, 0o700)?;
    let times = store.session_times(&project.id)?;
    let names = session::names(&times, zone);
    let there: BTreeSet<String> = place.names()?.into_iter().collect();
    let minute_of = |id: &str| times.iter().find(|(session, _)| session == id).map(|(_, at)| session::minute(*at, zone));
    let minute = match which {
        SessionSelection::All => None,
        SessionSelection::One(id) => minute_of(id),
    };
    let mut missing = 0;
    let mut written = Vec::new();
    for (id, at) in times.iter().rev() {
        let name = &names[id];
        let is_wanted = match which {
            SessionSelection::All => true,
            // A session that was read late can renumber the others of its minute.
            SessionSelection::One(_) if minute.as_ref().is_some_and(|minute| name.starts_with(minute.as_str())) => true,
            SessionSelection::One(_) => {
                let made_up_for = !there.contains(name) && missing < MAX_MISSING;
                missing += usize::from(made_up_for);
                made_up_for
            }
        };
        if !is_wanted {
            continue;
        }
        let Some(record) = store.session(&project.id, id)? else { continue };
        let saved = session::saved_summary(store, &project.id, id)?;
        let page = session::page(&record, *at, saved.as_ref(), zone);
        written.push(place.replace(name, page.as_bytes(), None).with_context(|| name.clone())?);
    }
    if matches!(which, SessionSelection::All) {
        let wanted: BTreeSet<&String> = names.values().collect();
        prune(&place, |name| !wanted.contains(name))?;
    }
    Ok(written)
}

/// Deletes session files for which `is_gone` returns true.
fn prune(place: &OutputFolder, is_gone: impl Fn(&String) -> bool) -> io::Result<()> {
    for name in place.names()? {
        if is_gone(&name) && place.text(&name).is_some_and(|text| session::is_ours(&name, &text)) {
            place.remove(&name);
        }
    }
    Ok(())
}

/// Deletes a project's files when nothing is stored of it. Files that the user put beside them stay.
fn remove_notes(project: &Project, folder: &Path) -> io::Result<()> {
    let all = match OutputFolder::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let Some(place) = all.known(project) else { return Ok(()) };
    place.remove(MEMORY);
    if let Ok(sessions) = place.existing(SESSIONS) {
        prune(&sessions, |_| true)?;
        place.remove_empty(SESSIONS);
    }
    if place.names()?.iter().all(|name| name.starts_with('.')) {
        place.remove_marker();
        if let Some(name) = place.name() {
            all.remove_empty(name);
        }
    }
    Ok(())
}
