//! `throughline session save`: stores what was said in a session until now.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::environment;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::scope;
use throughline_engine::hooks::reading::{self, ReadRequest};
use throughline_engine::hooks::{self, STORE_BUSY_TIMEOUT, transcript_lookup};
use throughline_engine::projection::{self, SessionContext, WrittenFile};
use throughline_engine::runtime::Runtime;
use throughline_engine::storing;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, Store};

/// The longest that the command reads the transcript.
const READ_TIMEOUT: Duration = Duration::from_mins(5);

/// Save a session now
///
/// Reads the rest of its transcript, stores what it learns from that, writes the files that `[projections]` in the
/// configuration asks for, and prints what is known about the session. Hooks do the same at the end of each turn and
/// before each compaction.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The session, or the beginning of its identifier; by default the one in which the command runs (`CLAUDE_CODE_SESSION_ID`), or the last one of this
    /// folder
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print what is known as JSON, in the format of .claude/session-context.json
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), CommandError> {
    let runtime = environment::runtime()?;
    storing::check(&runtime)?;
    let cwd = scope::folder(None)?;
    let mut store = runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?;
    let (session, transcript) = find(&runtime, &store, arguments.session.as_deref(), &cwd)?;
    // A session with a transcript is read in its own folder, wherever the command runs.
    let cwd = if transcript.is_some() { None } else { Some(cwd) };
    if transcript.is_none() && store.project_of_session(&session)?.is_none() {
        return Err(CommandError::new(format!("session {session} has no transcript")).hint(
            "transcripts are looked for in Claude Code's projects folder; if that is elsewhere, set CLAUDE_CONFIG_DIR",
        ));
    }
    hooks::store_journal(&runtime, &mut store, &session)?;
    let request = ReadRequest::save(transcript, runtime.transcript_roots(), &session, cwd);
    let report = reading::read(&runtime, &mut store, &request, Instant::now() + READ_TIMEOUT)?;
    let Some(project) = store.project_of_session(&session)? else {
        runtime.finish();
        return Err(unknown_error(&runtime, &session));
    };
    if report.session.is_empty()
        && let Err(refused) = storing::check_refusal(&runtime, &project, &session)
    {
        runtime.finish();
        return Err(refused.into());
    }
    let written = projection::write(&runtime, &store, &session)?;
    let context = projection::context(&store, &project, &session)?;
    runtime.finish();
    let Some(context) = context else { return Err(unknown_error(&runtime, &session)) };
    if arguments.json {
        output::json(&context)?;
    } else {
        print(&runtime, &context, &written)?;
    }
    if runtime.config.projections.session_context && projection::would_be_tracked(&project.root) {
        let mut err = anstream::stderr().lock();
        writeln!(
            err,
            "hint: git does not ignore .claude/session-context.json; add `.claude/session-context.json*` to .gitignore"
        )?;
    }
    if !report.finished {
        return Err(CommandError::new("there was not enough time to read the whole transcript")
            .hint("run the command again to read the rest"));
    }
    Ok(())
}

/// Returns the session and its transcript, if there is one.
fn find(
    runtime: &Runtime,
    store: &Store,
    named: Option<&str>,
    cwd: &Path,
) -> Result<(String, Option<PathBuf>), CommandError> {
    let projects = runtime.paths.claude_projects();
    let current = std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| !id.is_empty());
    if let Some(session) = named.map(str::to_owned).or(current) {
        let session = scope::resolve_any_session(Some(store), &session)?;
        let transcript = transcript_lookup::find_transcript(store, &projects, &session)?;
        return Ok((session, transcript));
    }
    let project = Project::discover(cwd);
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf());
    // Claude Code names the folder of transcripts after the folder in which it was started: this one, or one above.
    let mut folders: Vec<PathBuf> = [cwd, real.as_path()]
        .into_iter()
        .flat_map(Path::ancestors)
        .filter(|folder| folder.canonicalize().is_ok_and(|folder| folder.starts_with(&project.root)))
        .map(Path::to_path_buf)
        .collect();
    folders.push(project.root.clone());
    if let Some((session, path)) = transcript_lookup::latest_session(&projects, &folders) {
        return Ok((session, Some(path)));
    }
    match store.sessions(&project.id, "", 1)?.into_iter().next() {
        Some(last) => Ok((last.id.clone(), transcript_lookup::find_transcript(store, &projects, &last.id)?)),
        None => Err(CommandError::new("this folder has no session").hint("name one with --session ID")),
    }
}

fn excluded_error(session: &str) -> CommandError {
    CommandError::new(format!("session {session} is not remembered: it or its project is paused or excluded"))
        .hint("`throughline resume` ends a pause; `privacy.exclude_projects` excludes projects")
}

fn unknown_error(runtime: &Runtime, session: &str) -> CommandError {
    if runtime.intervals.paused().next().is_some() {
        return excluded_error(session);
    }
    CommandError::new(format!("nothing is known about session {session} yet")).hint("save it again after the first prompt")
}

fn print(runtime: &Runtime, context: &SessionContext, written: &[WrittenFile]) -> Result<(), CommandError> {
    let mut out = output::stdout();
    let project = paths::display(context.meta.project.as_ref(), &runtime.paths.home);
    writeln!(
        out,
        "saved session {} {DIM}{}{DIM:#}",
        output::clean_line(&context.meta.session_id),
        output::clean_line(&project)
    )?;
    let decisions: Vec<String> = context
        .decisions
        .iter()
        .map(|it| if it.why.is_empty() { it.what.clone() } else { format!("{}: {}", it.what, it.why) })
        .collect();
    let goal = &context.goal;
    let objective = if goal.current_objective == goal.original_request { "" } else { goal.current_objective.as_str() };
    let one = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    for (name, items) in [
        ("Request", one(&goal.original_request)),
        ("Objective", one(objective)),
        ("Done", context.progress.done.clone()),
        ("In progress", context.progress.current.clone()),
        ("Pending", context.progress.pending.clone()),
        ("Decisions", decisions),
    ] {
        if items.is_empty() {
            continue;
        }
        writeln!(out, "\n{BOLD}{name}{BOLD:#}")?;
        for item in items {
            writeln!(out, "  {}", output::clean_line(&item))?;
        }
    }
    let changed: Vec<&WrittenFile> = written.iter().filter(|file| file.changed).collect();
    if !changed.is_empty() {
        writeln!(out, "\n{BOLD}Written{BOLD:#}")?;
    }
    for file in changed {
        writeln!(out, "  {}", output::clean_line(&paths::display(&file.path, &runtime.paths.home)))?;
    }
    Ok(out.flush()?)
}
