//! `throughline config`: the configuration file.

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;

use super::environment;
use super::error::CommandError;
use super::output;
use throughline_engine::config::{self, Config};
use throughline_engine::config_edit;
use throughline_platform::{files, paths};

/// Show the configuration, or write the default file
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the current settings, including defaults
    ///
    /// Where a setting is not the default, a comment names the default.
    Show {
        /// Print JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
    /// Write the default configuration file, unless there is one
    ///
    /// The file explains every setting.
    Init,
    /// Print one setting as it is in force, or a section
    Get {
        /// The name, such as `context.budget`
        key: String,
    },
    /// Change one setting in the file
    ///
    /// Every other byte of the file stays, comments included. What would not be valid is refused.
    Set {
        /// The name, such as `context.budget`
        key: String,
        /// The value in TOML: 8000, true or a list; anything else is a text
        value: String,
    },
    /// Remove one setting from the file, so that its default is in force
    Unset {
        /// The name, such as `context.budget`
        key: String,
    },
    /// Open the file in your editor, and check it afterwards
    ///
    /// Opens `$VISUAL` or `$EDITOR`. If there is no file yet, it begins with the default one, which explains every setting.
    Edit,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    match &arguments.command {
        Command::Show { json } => show(*json),
        Command::Init => init(),
        Command::Get { key } => get(key),
        Command::Set { key, value } => change(|text| config_edit::set(text, key, value).map(Some), &format!("{key} is set")),
        Command::Unset { key } => change(|text| config_edit::unset(text, key), &format!("{key} has its default again")),
        Command::Edit => edit(),
    }
}

fn get(key: &str) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let value = config_edit::get(&runtime.config, key).map_err(|error| {
        let hint = error.hint();
        CommandError::new(error).hint(hint)
    })?;
    let text = match &value {
        // Under its whole name, as it stands in the file.
        toml::Value::Table(_) => {
            let within = |value, part: &str| toml::Value::Table(toml::Table::from_iter([(part.to_owned(), value)]));
            toml::to_string(&key.rsplit('.').fold(value, within)).map_err(CommandError::new)?
        }
        // As a shell wants it.
        toml::Value::String(text) => format!("{text}\n"),
        other => format!("{other}\n"),
    };
    let mut out = output::stdout();
    write!(out, "{}", output::clean(&text))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the file as `edit` returns it, if it returns a text.
fn change(
    edit: impl FnOnce(&str) -> Result<Option<String>, config_edit::EditError>,
    done: &str,
) -> Result<ExitCode, CommandError> {
    let paths = environment::paths()?;
    // A link, such as into a folder of dot files, stays one.
    let file = paths.config_file();
    let file = file.canonicalize().unwrap_or(file);
    let shown = paths::display(&file, &paths.home);
    let cannot = |what: &str, error: &std::io::Error| {
        CommandError::new(format!("cannot {what} {shown}: {error}"))
            .hint("check the owner and mode of the file and its folder")
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(cannot("read", &error)),
    };
    let edited = edit(&text).map_err(|error| CommandError::new(format!("{shown}: {error}")).hint(error.hint()))?;
    let mut out = output::stdout();
    match edited {
        Some(text) => {
            let folder = file.parent().unwrap_or(&file);
            paths::create_private(folder)
                .and_then(|()| files::replace_atomically(&file, text.as_bytes(), 0o600))
                .map_err(|error| cannot("write", &error))?;
            writeln!(out, "{done} in {shown}")?;
        }
        None => writeln!(out, "{shown} does not set it, so nothing was changed")?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn edit() -> Result<ExitCode, CommandError> {
    let paths = environment::paths()?;
    let file = paths.config_file();
    if !file.exists() {
        config::init(&file).map_err(|error| CommandError::new(format!("cannot write {}: {error}", file.display())))?;
    }
    let variable = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let Some(editor) = variable("VISUAL").or_else(|| variable("EDITOR")) else {
        return Err(CommandError::new("there is no editor").hint(format!(
            "set VISUAL or EDITOR, or open {} yourself; `throughline config set` changes one setting",
            file.display()
        )));
    };
    // As for git, the variable contains a command line.
    let status = std::process::Command::new("sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(&file).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(CommandError::new(format!("the editor failed: {editor}")).hint("check VISUAL and EDITOR"));
    }
    match Config::load(&file) {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(fault) => Err(CommandError::new(fault).hint(
            "`throughline config edit` opens the file again; until it is correct, the last good configuration is in force",
        )),
    }
}

fn show(json: bool) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    if json {
        output::json(&runtime.config)?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = runtime.paths.config_file();
    let mut out = output::stdout();
    let from = match (&runtime.config_fault, file.exists()) {
        (Some(_), _) if runtime.paths.last_good_config().exists() => " (cannot be used: these are the last good settings)",
        (Some(_), _) => " (cannot be used: these are the defaults)",
        (None, true) => "",
        (None, false) => " (does not exist: these are the defaults)",
    };
    writeln!(out, "# {}{from}", file.display())?;
    let text = config_edit::with_defaults(&runtime.config).map_err(CommandError::new)?;
    write!(out, "{}", output::clean(&text))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn init() -> Result<ExitCode, CommandError> {
    let paths = environment::paths()?;
    let file = paths.config_file();
    config::init(&file).map_err(|error| {
        let file = paths::display(&file, &paths.home);
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            CommandError::new(format!("{file} exists already and was not changed"))
                .hint("edit the file; `throughline config show` prints the current settings")
        } else {
            CommandError::new(format!("cannot write {file}: {error}")).hint("check the owner and mode of its folder")
        }
    })?;
    let mut out = output::stdout();
    writeln!(out, "wrote {}", paths::display(&file, &paths.home))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
