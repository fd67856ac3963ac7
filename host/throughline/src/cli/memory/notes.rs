//! What the commands about notes share: the project, its folder and its registry, and how a note is named to people.

use std::path::{Path, PathBuf};

use super::{Failure, Runtime};
use throughline_model::project::Project;
use throughline_notes::FOLDER;
use throughline_notes::registry::Registry;
use throughline_store::StoredNote;

/// A project, and where its notes stand as files.
pub(super) struct Desk {
    pub(super) project: Project,
    pub(super) folder: PathBuf,
    pub(super) registry: Registry,
}

impl Desk {
    /// The project of `project`, else of the present folder; `folder`: where the notes are, instead of in its usual place.
    pub(super) fn of(project: Option<&Path>, folder: Option<&Path>) -> Result<Self, Failure> {
        let project = Project::of(&super::folder(project)?);
        let folder = match folder {
            Some(folder) => super::folder(Some(folder))?,
            None => project.root.join(FOLDER),
        };
        let registry = Registry::of(&folder)
            .map_err(|why| Failure::new(why).hint("mend the file, or take it away: what the program brings is enough"))?;
        Ok(Self { project, folder, registry })
    }

    /// Nothing is stored of a project that is paused or left out.
    pub(super) fn insist_on(&self, runtime: &Runtime, session: &str) -> Result<(), Failure> {
        if runtime.is_off(&self.project.root) || runtime.intervals.is_paused(&self.project.id, session) {
            return Err(Failure::new("of this project, or session, nothing is remembered: it is paused or left out")
                .hint("`throughline resume` ends a pause; privacy.exclude_projects leaves projects out"));
        }
        Ok(())
    }

    /// Where a note stands, or would stand, as a file.
    pub(super) fn path(&self, note_type: &str, stem: &str) -> String {
        let file = self.folder.join(note_type).join(format!("{stem}.md"));
        let shown = std::env::current_dir().ok().and_then(|here| file.strip_prefix(here).map(Path::to_owned).ok());
        shown.unwrap_or(file).to_string_lossy().into_owned()
    }

    /// The same of a stored note.
    pub(super) fn path_of(&self, it: &StoredNote) -> String {
        self.path(&it.note.note_type, &it.stem)
    }
}
