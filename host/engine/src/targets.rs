//! Finds the project or the session that a person names, and refuses what it cannot be sure about: a typing error must
//! not hit another project.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::hooks::STORE_BUSY_TIMEOUT;
use crate::memory::RequestError;
use crate::runtime::Runtime;
use throughline_model::files::canonical;
use throughline_model::project::Project;
use throughline_store::{Access, Store, StoreError};

/// The most projects or sessions that an error names.
const MAX_NAMED: usize = 20;

/// Returns the project of the folder `typed`, by default of the current one. A folder that does not exist, and a name,
/// must be the path or the name of a known project.
pub fn find_project(runtime: &Runtime, typed: Option<&Path>) -> Result<Project> {
    let Some(typed) = typed else { return Ok(Project::discover(&absolute(Path::new("."))?)) };
    if typed.as_os_str().is_empty() {
        return Err(RequestError::new("no project is named", "give the folder of a project, or its name").into());
    }
    let folder = absolute(typed)?;
    if folder.is_file() {
        let what = format!("{} is a file, and not the folder of a project", typed.display());
        return Err(RequestError::new(what, "name the folder that it is in").into());
    }
    let is_folder = folder.is_dir();
    if is_folder && (typed.is_absolute() || typed.components().count() > 1 || typed.starts_with(".")) {
        return Ok(Project::discover(&folder));
    }
    let known = known_projects(runtime)?;
    if is_folder {
        let here = Project::discover(&folder);
        // In a repository, `shop` can be a folder of this project or the name of another one.
        let is_inside = here.root != canonical(&folder);
        if let Some(other) = known.iter().find(|known| is_inside && known.id != here.id && known.root.ends_with(typed)) {
            return Err(RequestError::new(
                format!(
                    "{} is a folder of {}, and the name of {}",
                    typed.display(),
                    here.root.display(),
                    other.root.display()
                ),
                format!("use ./{} for the folder, or the whole path of the project", typed.display()),
            )
            .into());
        }
        return Ok(here);
    }
    let real = canonical(&folder);
    if let Some(exact) = known.iter().find(|known| known.root == real || known.root == folder || known.root == typed) {
        return Ok(exact.clone());
    }
    let is_called = |known: &&Project| known.root.ends_with(typed) || is_called_on_windows(&known.root, typed);
    let mut called: Vec<&Project> = known.iter().filter(is_called).collect();
    match (called.pop(), called.is_empty()) {
        (Some(only), true) => Ok(only.clone()),
        (Some(last), false) => {
            called.push(last);
            let what = format!("more than one project is called {}", typed.display());
            Err(RequestError::new(what, format!("use one of these paths: {}", named(called.into_iter()))).into())
        }
        (None, _) => {
            let hint = if known.is_empty() {
                "no project is known yet; give a folder that exists".to_owned()
            } else {
                format!("the known projects are {}", named(known.iter()))
            };
            Err(RequestError::new(format!("there is no folder and no project \"{}\"", typed.display()), hint).into())
        }
    }
}

/// Returns whether a path of Windows, such as an agent there sends, ends with what was typed: `D:\Work\shop` is also
/// `d:/work/shop` and `shop`.
fn is_called_on_windows(root: &Path, typed: &Path) -> bool {
    let parts = |path: &Path| -> Vec<String> {
        let path = path.to_string_lossy().to_lowercase();
        path.split(['\\', '/']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (root, typed) = (parts(root), parts(typed));
    let has_drive = root.first().is_some_and(|drive| drive.len() == 2 && drive.ends_with(':'));
    has_drive && !typed.is_empty() && root.ends_with(&typed)
}

/// Returns the session whose identifier is `beginning` or begins with it, or `None` if there is none.
pub fn find_session(store: &Store, beginning: &str) -> Result<Option<String>> {
    // What was saved by hand belongs to no session, and must not be taken for one without a name: `--session "$UNSET"`.
    if beginning.trim().is_empty() {
        return Err(RequestError::new(
            "no session is named",
            "`throughline session list --all-projects` shows the sessions; the beginning of an identifier is enough",
        )
        .into());
    }
    let mut sessions = store.sessions_named(beginning)?;
    if sessions.len() > 1 && sessions[0] != beginning {
        return Err(RequestError::new(
            format!("more than one session begins with {beginning}: {}", sessions.join(", ")),
            "give more characters",
        )
        .into());
    }
    sessions.truncate(1);
    Ok(sessions.pop())
}

/// Returns the error about a session that does not exist.
pub fn unknown_session(beginning: &str) -> RequestError {
    RequestError::new(
        format!("no session begins with {beginning:?}"),
        "`throughline session list --all-projects` shows the sessions",
    )
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} has no absolute path", path.display()))
}

fn known_projects(runtime: &Runtime) -> Result<Vec<Project>> {
    match runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4) {
        Err(StoreError::Missing(_)) => Ok(Vec::new()),
        store => Ok(store?.all_projects()?.into_iter().filter(|project| !project.is_shared()).collect()),
    }
}

fn named<'a>(projects: impl ExactSizeIterator<Item = &'a Project>) -> String {
    let more = projects.len().saturating_sub(MAX_NAMED);
    let mut names: Vec<String> = projects.take(MAX_NAMED).map(|project| project.root.display().to_string()).collect();
    if more > 0 {
        names.push(format!("and {more} more (`throughline projects`)"));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_names_a_folder_of_windows() {
        let root = Path::new("D:\\Work\\shop");
        for typed in ["D:\\Work\\shop", "d:\\work\\shop\\", "D:/Work/shop", "shop", "Work\\Shop"] {
            assert!(is_called_on_windows(root, Path::new(typed)), "{typed}");
        }
        for typed in ["E:\\Work\\shop", "hop", "D:\\Work", "", "/"] {
            assert!(!is_called_on_windows(root, Path::new(typed)), "{typed}");
        }
        assert!(!is_called_on_windows(Path::new("/home/Work/shop"), Path::new("SHOP")));
    }
}
