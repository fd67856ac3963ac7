//! `throughline note protocol`: writes the files of the memory protocol.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::context::NoteContext;
use super::{CommandError, output};
use throughline_engine::runtime::Runtime;
use throughline_notes::registry::{BUILT_IN_RELATIONS, BUILT_IN_TYPES, SCHEMA_FOLDER};
use throughline_notes::schema::SCHEMAS;
use throughline_platform::permissions;

const SCRIPTS: &[(&str, &str)] = &[
    ("md-store-memory.sh", include_str!("scripts/md-store-memory.sh")),
    ("md-recall-memory.sh", include_str!("scripts/md-recall-memory.sh")),
];

/// Write the types, relations and schemas of notes to files
///
/// Writes the registry of types, the relations and the JSON Schemas to `_schema` in the project's folder of notes,
/// where a team can add its own. With `--scripts`, also writes two shell scripts that replace those of the file-based
/// memory protocol, with the same arguments in the same order and the same output. Existing files are not changed.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Also write the two shell scripts to this folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".claude/hooks")]
    scripts: Option<PathBuf>,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<(), CommandError> {
    let context = NoteContext::of(runtime, arguments.project.as_deref(), None)?;
    let schema = context.folder.join(SCHEMA_FOLDER);
    write(&schema.join("types.yaml"), BUILT_IN_TYPES, 0o644, arguments.force)?;
    write(&schema.join("type-relations.yaml"), BUILT_IN_RELATIONS, 0o644, arguments.force)?;
    for (name, text) in SCHEMAS {
        write(&schema.join(format!("{name}.schema.json")), text, 0o644, arguments.force)?;
    }
    if let Some(folder) = &arguments.scripts {
        let folder = context.project.root.join(folder);
        for (name, text) in SCRIPTS {
            write(&folder.join(name), text, 0o755, arguments.force)?;
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str, mode: u32, force: bool) -> Result<(), CommandError> {
    let wrong = |error: io::Error| CommandError::new(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    let before = fs::read(file).ok();
    let shown = output::clean_line(&file.to_string_lossy());
    let mut out = output::stdout();
    if before.as_deref() == Some(text.as_bytes()) {
        writeln!(out, "{shown} is current")?;
    } else if before.is_some() && !force {
        writeln!(out, "{shown} exists and differs; it was not changed (--force replaces it)")?;
    } else {
        fs::write(file, text).map_err(wrong)?;
        permissions::set_mode(file, mode).map_err(wrong)?;
        writeln!(out, "wrote {shown}")?;
    }
    Ok(out.flush()?)
}
