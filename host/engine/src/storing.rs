//! Whether a command may store something, and why not.

use crate::memory::RequestError;
use crate::runtime::{self, Runtime};
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_privacy::intervals::Interval;
use throughline_store::journal::Refusal;

/// Refuses to store anything if memory is turned off, or if a file of redaction rules cannot be read: a command can be
/// repeated, and without the rules it could store what they would have masked.
pub fn check(runtime: &Runtime) -> Result<(), RequestError> {
    check_enabled(runtime)?;
    match runtime.rules_fault() {
        Some(what) => Err(RequestError::new(
            format!("{what}; nothing is stored without them"),
            "correct the file, or remove it from `redaction.rules`, and run the command again",
        )),
        None => Ok(()),
    }
}

/// Like [`check`], and also refuses if the project or the session is excluded or paused.
pub fn check_project(runtime: &Runtime, project: &Project, session: &str) -> Result<(), RequestError> {
    check(runtime)?;
    check_refusal(runtime, project, session)
}

/// Refuses if memory is turned off.
pub fn check_enabled(runtime: &Runtime) -> Result<(), RequestError> {
    if runtime.config.enabled {
        return Ok(());
    }
    let file = paths::display(&runtime.paths.config_file(), &runtime.paths.home);
    Err(RequestError::new(
        format!("nothing is stored: {} ({file})", runtime::OFF_BY_SETTING),
        "`throughline config set enabled true` turns memory on",
    ))
}

/// Refuses if the project or the session is excluded or paused, and says which, and how to end it.
pub fn check_refusal(runtime: &Runtime, project: &Project, session: &str) -> Result<(), RequestError> {
    let Some(refusal) = runtime.refusal(project, session) else { return Ok(()) };
    let root = paths::display(&project.root, &runtime.paths.home);
    Err(match refusal {
        Refusal::Excluded if runtime.managed.is_off(&project.root, &runtime.paths.home) => RequestError::new(
            format!("nothing is stored: {root} is excluded by the administrator"),
            "work in another folder; only the administrator can change this",
        ),
        Refusal::Excluded => RequestError::new(
            format!("nothing is stored: {root} is excluded by `privacy.exclude_projects`"),
            "`throughline config edit` opens the file in which the list stands",
        ),
        Refusal::Paused { .. } => paused(runtime.intervals.pause_of(&project.id, session), &root),
    })
}

/// Says which pause applies, and the one command that ends it.
fn paused(pause: Option<&Interval>, root: &str) -> RequestError {
    match pause {
        Some(Interval { session: Some(session), .. }) => RequestError::new(
            format!("nothing is stored: session {session} is paused"),
            format!("`throughline resume --session {session}` ends the pause"),
        ),
        Some(Interval { project: Some(_), .. }) => RequestError::new(
            format!("nothing is stored: {root} is paused"),
            format!("`throughline resume --project {root}` ends the pause"),
        ),
        _ => RequestError::new("nothing is stored: everything is paused", "`throughline resume --all` ends every pause"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_named_with_the_command_that_ends_it() {
        let hint = |pause: Interval| paused(Some(&pause), "~/shop").hint;
        let session = Interval { session: Some("s1".into()), ..Interval::default() };
        let project = Interval { project: Some("p".into()), ..Interval::default() };
        assert_eq!(hint(session), "`throughline resume --session s1` ends the pause");
        assert_eq!(hint(project), "`throughline resume --project ~/shop` ends the pause");
        assert_eq!(hint(Interval::default()), "`throughline resume --all` ends every pause");
    }
}
