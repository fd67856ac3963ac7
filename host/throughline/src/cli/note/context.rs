//! What the commands about notes share: the project, its folder of notes and its registry of types.

use std::path::{Path, PathBuf};

use super::{CommandError, Runtime};
use crate::cli::scope::folder as absolute;
use throughline_engine::storing;
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_notes::NOTES_FOLDER;
use throughline_notes::registry::Registry;
use throughline_store::StoredNote;

/// A project, the folder of its notes and the types that they can have.
pub(super) struct NoteContext {
    pub(super) project: Project,
    pub(super) folder: PathBuf,
    pub(super) registry: Registry,
}

impl NoteContext {
    /// Loads the registry of the project that `project` belongs to; by default the current folder's. `folder` is where
    /// the notes are, instead of the usual place.
    pub(super) fn of(runtime: &Runtime, project: Option<&Path>, folder: Option<&Path>) -> Result<Self, CommandError> {
        let project = targets::find_project(runtime, project)?;
        let folder = match folder {
            Some(folder) => absolute(Some(folder))?,
            None => project.root.join(NOTES_FOLDER),
        };
        if folder.is_file() {
            return Err(CommandError::new(format!("{} is a file, and not a folder of notes", folder.display()))
                .hint("name the folder that has, or gets, the notes"));
        }
        let folder = throughline_notes::folder_of_project(&project.root, &folder)?;
        let registry = Registry::load(&folder)?;
        Ok(Self { project, folder, registry })
    }

    /// Returns an error if memory is off, or if the project or session is paused or excluded: nothing is stored then.
    pub(super) fn require_enabled(&self, runtime: &Runtime, session: &str) -> Result<(), CommandError> {
        Ok(storing::check_project(runtime, &self.project, session)?)
    }

    /// Returns the error about a type that does not exist.
    pub(super) fn unknown_type(&self, name: &str) -> CommandError {
        let names: Vec<&str> = self.registry.names().collect();
        let near: Vec<&str> = names.iter().copied().filter(|known| !name.is_empty() && known.contains(name)).collect();
        let mut failed = CommandError::new(format!("there is no type of notes {name:?}"));
        if !near.is_empty() {
            failed = failed.hint(format!("did you mean {}?", near.join(" or ")));
        }
        failed.hint(format!("the types are {}; a project can add its own in _schema/types.yaml", names.join(", ")))
    }

    /// Returns the path that a note has, or would have, as a file; relative to the current folder if it is inside.
    pub(super) fn path(&self, note_type: &str, stem: &str) -> String {
        let file = self.folder.join(note_type).join(format!("{stem}.md"));
        let shown = std::env::current_dir().ok().and_then(|here| file.strip_prefix(here).map(Path::to_owned).ok());
        shown.unwrap_or(file).to_string_lossy().into_owned()
    }

    /// [`NoteContext::path`] of a stored note.
    pub(super) fn path_of(&self, it: &StoredNote) -> String {
        self.path(&it.note.note_type, &it.stem)
    }
}
