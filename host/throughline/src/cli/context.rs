//! `throughline context`: what the agent would be shown.

use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::failure::{Done, Failure};
use super::output;
use throughline_agents::protocol::name::Agent;
use throughline_engine::hooks::{self, PATIENCE};
use throughline_model::contract::Session;
use throughline_model::project::Project;
use throughline_store::{Access, Store};

/// Print what the agent would be shown here and now
///
/// The context goes to standard output as it would be injected, and its size to stderr. Nothing is recorded.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Why the session starts
    #[arg(long, value_enum)]
    source: Source,
    /// The session; for compact, resume and fork the project's last one where none is named, for the others a new one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print text, size and the memories in it as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    /// A new session
    Startup,
    /// A session that is taken up again
    Resume,
    /// After /clear
    Clear,
    /// After a compaction of the context
    Compact,
    /// A session that branches off from another
    Fork,
}

impl Source {
    /// The word that the agent uses.
    fn word(self) -> &'static str {
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
pub(super) struct Shown<'a> {
    source: &'a str,
    project: String,
    session_id: String,
    /// Null where there is nothing to say.
    text: Option<String>,
    utf16_units: usize,
    budget: u32,
    /// Identifiers of the memories in the text.
    memories: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let cwd = super::memory::folder(arguments.project.as_deref())?;
    let project = Project::of(&cwd);
    let store = Rc::new(runtime.store(Access::Existing, PATIENCE * 4)?);
    let id = session(arguments, &store, &project)?;
    let session = Session::new(&id, &project, &cwd, Agent::ClaudeCode.name(), None, runtime.now);
    let budget = runtime.config.context.budget;
    let deadline = Instant::now() + Duration::from_mins(1);
    let (text, memories) = hooks::context(&runtime, &store, &session, arguments.source.word(), budget, deadline)?;
    runtime.finish();
    let shown = Shown {
        source: arguments.source.word(),
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
        tell(&shown)?;
    }
    Ok(Done::Well)
}

fn session(arguments: &Arguments, store: &Store, project: &Project) -> Result<String, Failure> {
    if let Some(id) = &arguments.session {
        return Ok(id.clone());
    }
    let last = match arguments.source {
        Source::Startup | Source::Clear => None,
        Source::Resume | Source::Compact | Source::Fork => store.sessions(&project.id, "", 1)?.into_iter().next(),
    };
    Ok(last.map_or_else(|| "preview".into(), |session| session.id))
}

fn tell(shown: &Shown<'_>) -> Result<(), Failure> {
    let mut err = anstream::stderr().lock();
    let mut out = output::stdout();
    let Some(text) = &shown.text else {
        writeln!(err, "nothing would be said")?;
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
