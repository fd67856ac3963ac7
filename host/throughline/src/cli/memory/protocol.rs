//! `throughline memory protocol`.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::notes::Desk;
use super::{Failure, output};
use throughline_notes::registry::{RELATIONS, SCHEMA_FOLDER, TYPES};
use throughline_notes::schema::SCHEMAS;

const SCRIPTS: &[(&str, &str)] = &[
    ("md-store-memory.sh", include_str!("scripts/md-store-memory.sh")),
    ("md-recall-memory.sh", include_str!("scripts/md-recall-memory.sh")),
];

/// Write the files of the memory protocol, to be read and extended
///
/// The registry of types, their relations and their JSON Schemas go into `_schema` of the project's folder of notes, where a team
/// adds its own. With `--scripts` two shell scripts are written too, that take the place of those of the file-based protocol: the
/// same arguments in the same order, and the same output. A file that is there already is left alone.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Write the two shell scripts into this folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".claude/hooks")]
    scripts: Option<PathBuf>,
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let desk = Desk::of(arguments.project.as_deref(), None)?;
    let schema = desk.folder.join(SCHEMA_FOLDER);
    write(&schema.join("types.yaml"), TYPES, 0o644, arguments.force)?;
    write(&schema.join("type-relations.yaml"), RELATIONS, 0o644, arguments.force)?;
    for (name, text) in SCHEMAS {
        write(&schema.join(format!("{name}.schema.json")), text, 0o644, arguments.force)?;
    }
    if let Some(folder) = &arguments.scripts {
        let folder = desk.project.root.join(folder);
        for (name, text) in SCRIPTS {
            write(&folder.join(name), text, 0o755, arguments.force)?;
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str, mode: u32, force: bool) -> Result<(), Failure> {
    let wrong = |error: io::Error| Failure::new(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    let before = fs::read(file).ok();
    let shown = output::clean_line(&file.to_string_lossy());
    let mut out = output::stdout();
    if before.as_deref() == Some(text.as_bytes()) {
        writeln!(out, "{shown} is as it should be")?;
    } else if before.is_some() && !force {
        writeln!(out, "{shown} is another already, and was left alone (--force replaces it)")?;
    } else {
        fs::write(file, text).map_err(wrong)?;
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).map_err(wrong)?;
        writeln!(out, "{shown} written")?;
    }
    Ok(out.flush()?)
}
