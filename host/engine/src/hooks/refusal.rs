//! Decides whether a hook may remember or tell anything: not if the session is in a folder that is excluded or paused,
//! and not if it began in one. An agent can change its folder, so the event's folder alone decides nothing.

use std::borrow::Cow;
use std::path::Path;

use super::reading;
use super::result::STORE_BUSY_TIMEOUT;
use crate::runtime::Runtime;
use throughline_agents::protocol::Event;
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_store::Access;
use throughline_store::journal::Refusal;

/// Returns the event with an absolute folder: if the payload gives none, the transcript's, and otherwise `/`.
pub(super) fn resolve_folder<'e>(runtime: &Runtime, event: &'e Event) -> Cow<'e, Event> {
    if event.cwd.to_str().map_or_else(|| event.cwd.is_absolute(), Project::is_absolute_path) {
        return Cow::Borrowed(event);
    }
    let named = reading::folders_of(runtime, event).unwrap_or_default();
    let (cwd, here) = named.unwrap_or_else(|| ("/".into(), "/".into()));
    let moved_to = event.moved_to.clone().or_else(|| (here != cwd).then_some(here));
    Cow::Owned(Event { cwd, moved_to, ..event.clone() })
}

/// Returns why the session is excluded or paused, or `None`. If the session starts excluded or paused, records that, so that it
/// stays so wherever the agent moves.
pub(super) fn refusal_of(runtime: &Runtime, event: &Event) -> Option<Refusal> {
    if !runtime.may_refuse_sessions() {
        return None;
    }
    let refusal = refusal_in(runtime, &event.cwd, &event.session);
    match runtime.journal().refusal(&event.session) {
        Some(Refusal::Paused { project }) if !runtime.intervals.is_paused(&project, &event.session) => {}
        Some(began) => return Some(began),
        None => {
            let home = home_of(runtime, event);
            if let (Some(refusal), None) = (&refusal, &home)
                && let Err(error) = runtime.journal().record_refusal(&event.session, refusal)
            {
                let what = "could not record that a session began excluded or paused";
                runtime.log.record(Level::Warn, what, error.to_string());
            }
            if let Some(refusal) = home.and_then(|home| runtime.refusal(&home, &event.session)) {
                return Some(refusal);
            }
        }
    }
    let here = || refusal_in(runtime, event.moved_to.as_deref()?, &event.session);
    refusal.or_else(here)
}

/// Returns why nothing may be remembered of a session in this folder.
fn refusal_in(runtime: &Runtime, folder: &Path, session: &str) -> Option<Refusal> {
    if runtime.is_excluded(folder) {
        return Some(Refusal::Excluded);
    }
    runtime.refusal(&Project::discover(folder), session)
}

/// Returns the project that a known session belongs to: in the database, or in the journal if nothing is stored yet.
fn home_of(runtime: &Runtime, event: &Event) -> Option<Project> {
    let stored = || runtime.store(Access::Existing, STORE_BUSY_TIMEOUT).ok()?.project_of_session(&event.session).ok()?;
    let noted = || runtime.journal().first_folder(&event.session).map(|folder| Project::discover(&folder));
    stored().or_else(noted)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::Config;
    use throughline_agents::protocol::Moment;
    use throughline_agents::protocol::name::Agent;
    use throughline_platform::paths::Paths;
    use throughline_privacy::intervals::{self, Interval, Intervals};
    use throughline_sandbox::managed::Managed;

    fn is_refused(runtime: &Runtime, event: &Event) -> bool {
        refusal_of(runtime, event).is_some()
    }

    fn paths(home: &Path) -> Paths {
        let below = |name: &str| home.join(name);
        Paths {
            data: below("data"),
            config: below("config"),
            cache: below("cache"),
            home: home.to_path_buf(),
            user_config: below(".config"),
            claude: below(".claude"),
            claude_state: below(".claude.json"),
            codex: below(".codex"),
            gemini: below(".gemini"),
            cursor: below(".cursor"),
            copilot: below(".copilot"),
            factory: below(".factory"),
            pi: below(".pi"),
            managed: below("managed"),
            namespace: None,
        }
    }

    fn event(session: &str, cwd: &str) -> Event {
        Event {
            agent: Agent::ClaudeCode,
            session: session.into(),
            transcript: None,
            cwd: cwd.into(),
            moved_to: None,
            model: None,
            sub_agent: None,
            prompt: None,
            moment: Moment::PromptSubmitted { prompt: "x".into() },
        }
    }

    fn excluding(paths: &Paths) -> Runtime {
        let mut config = Config::default();
        config.privacy.exclude_projects = vec!["/no/secret".into()];
        Runtime::with(paths.clone(), config, Managed::default())
    }

    #[test]
    fn attack_an_excluded_session_moves_to_another_folder() {
        let dir = tempfile::tempdir().unwrap();
        let runtime = excluding(&paths(dir.path()));
        assert!(is_refused(&runtime, &event("a", "/no/secret/deep")));
        assert!(is_refused(&runtime, &event("a", "/no/open")), "it began in an excluded folder");
        assert!(!is_refused(&runtime, &event("b", "/no/open")));
        let moved = Event { moved_to: Some("/no/secret".into()), ..event("b", "/no/open") };
        assert!(is_refused(&runtime, &moved), "it is in an excluded folder now");
        assert!(!is_refused(&runtime, &event("b", "/no/open")), "it began elsewhere");
    }

    #[test]
    fn attack_a_paused_session_moves_to_another_folder() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        let project = Project::discover(Path::new("/no/paused")).id;
        let interval = Interval { project: Some(project), from: 1, ..Interval::default() };
        Intervals::update(&paths.intervals(), |all| intervals::pause(all, interval)).unwrap();
        let load = || Runtime::new(paths.clone()).unwrap();
        assert!(is_refused(&load(), &event("a", "/no/paused")));
        assert!(is_refused(&load(), &event("a", "/no/open")));
        assert!(!is_refused(&load(), &event("b", "/no/open")));
        Intervals::update(&paths.intervals(), |all| intervals::resume(all, 2, |_| true)).unwrap();
        assert!(!is_refused(&load(), &event("a", "/no/open")));
    }

    #[test]
    fn attack_a_payload_without_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        let runtime = excluding(&paths);
        let transcript = paths.claude_projects().join("p/t.jsonl");
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let line = |cwd: &str| format!("{{\"sessionId\":\"a\",\"cwd\":\"{cwd}\"}}\n");
        std::fs::write(&transcript, line("/no/secret") + &line("/no/open") + "{\"type\":\"summary\"}\n").unwrap();
        for cwd in ["", "src", "./"] {
            let named = Event { transcript: Some(transcript.clone()), ..event("a", cwd) };
            let resolved = resolve_folder(&runtime, &named);
            assert_eq!((resolved.cwd.as_path(), &resolved.moved_to), (Path::new("/no/secret"), &Some("/no/open".into())));
            assert!(is_refused(&runtime, &resolved));
        }
        assert_eq!(resolve_folder(&runtime, &event("a", "")).cwd, PathBuf::from("/"));
        let other_system = PathBuf::from("D:\\shop");
        assert_eq!(resolve_folder(&runtime, &event("a", "D:\\shop")).cwd, other_system, "absolute on another system");
    }
}
