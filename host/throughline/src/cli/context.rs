//! `throughline context`: what the agent would be shown at the start of a session.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output;
use super::scope;
use throughline_agents::protocol::name::Agent;
use throughline_engine::hooks::{self, STORE_BUSY_TIMEOUT};
use throughline_engine::targets;
use throughline_model::contract::Session;
use throughline_model::project::Project;
use throughline_store::{Access, Store};

/// Print what the agent would be shown at the start of a session
///
/// The context goes to standard output exactly as it would be injected, and its size to stderr. Nothing is recorded. To
/// see what was saved of a session, use `throughline session context`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Why the session starts
    #[arg(long, value_enum, default_value_t = Source::Startup)]
    source: Source,
    /// The session, or the beginning of its identifier; by default the last one of the project for compact, resume and fork, otherwise a new one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an object: source, project, `session_id`, text, `utf16_units`, budget, memories
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    /// A new session
    Startup,
    /// A resumed session
    Resume,
    /// After /clear
    Clear,
    /// After the context was compacted
    Compact,
    /// A session that was forked from another
    Fork,
}

impl Source {
    /// Returns the name that the agent uses.
    fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Fork => "fork",
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct StartContext<'a> {
    source: &'a str,
    project: String,
    session_id: String,
    /// Null if nothing would be shown.
    text: Option<String>,
    utf16_units: usize,
    budget: u32,
    /// Identifiers of the memories in the text.
    memories: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let project = targets::find_project(&runtime, arguments.project.as_deref())?;
    let cwd = match &arguments.project {
        None => scope::folder(None)?,
        Some(folder) if folder.is_dir() => scope::folder(Some(folder))?,
        Some(_) => project.root.clone(),
    };
    let store = Rc::new(runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?);
    let id = session(arguments, &store, &project)?;
    let session = Session::new(&id, &project, &cwd, Agent::ClaudeCode.name(), None, runtime.now);
    let budget = runtime.config.context.budget;
    let deadline = Instant::now() + Duration::from_mins(1);
    let (text, memories) = hooks::context(&runtime, &store, &session, arguments.source.name(), budget, deadline)?;
    runtime.finish();
    let shown = StartContext {
        source: arguments.source.name(),
        project: project.root.to_string_lossy().into_owned(),
        session_id: id,
        utf16_units: text.as_ref().map_or(0, |text| text.encode_utf16().count()),
        text,
        budget,
        memories,
    };
    if arguments.json {
        output::json(&shown)?;
    } else {
        print(&shown)?;
        if shown.text.is_none() {
            writeln!(
                anstream::stderr().lock(),
                "hint: nothing is remembered of {} yet; `throughline projects` lists the projects that have memories",
                scope::describe(&project, &runtime.paths.home)
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn session(arguments: &Arguments, store: &Store, project: &Project) -> Result<String, CommandError> {
    if let Some(id) = &arguments.session {
        return scope::resolve_any_session(Some(store), id);
    }
    let last = match arguments.source {
        Source::Startup | Source::Clear => None,
        Source::Resume | Source::Compact | Source::Fork => store.sessions(&project.id, "", 1)?.into_iter().next(),
    };
    Ok(last.map_or_else(|| "preview".into(), |session| session.id))
}

fn print(shown: &StartContext<'_>) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    let mut out = output::stdout();
    let Some(text) = &shown.text else {
        writeln!(err, "nothing would be shown")?;
        return Ok(());
    };
    writeln!(out, "{}", output::clean(text).trim_end())?;
    out.flush()?;
    writeln!(
        err,
        "{} of {} UTF-16 units, {}",
        output::count(shown.utf16_units as u64),
        output::count(u64::from(shown.budget)),
        output::counted(shown.memories.len() as u64, "memory", "memories")
    )?;
    Ok(())
}
