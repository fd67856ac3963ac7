//! `throughline ingest`: reads existing transcripts into memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD, DIM};
use super::pager;
use super::scope;
use throughline_engine::history;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::ingest::{self, FileReport, IngestPlan, IngestReport, PlannedFile, TranscriptSource};
use throughline_engine::runtime::Runtime;
use throughline_engine::storing;
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, Store, StoreError};

/// Read existing transcripts into memory
///
/// Takes files, and folders, in which it reads every .jsonl file at any depth. Without a path it reads all transcripts
/// that the agents have kept: Claude Code (~/.claude/projects), Codex (~/.codex/sessions), Gemini CLI (~/.gemini/tmp),
/// Copilot CLI (~/.copilot/session-state) and droid (~/.factory/sessions). Links inside a folder are not followed. You
/// can stop the command at any time and repeat it: what was read before is not read again. A session belongs to the
/// project of the folder that its lines name.
///
/// A transcript that cannot be read is reported, and the others are read. The exit code is 1 if all of them failed, or
/// one that you named.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Transcripts, or folders of transcripts
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read the commits of the current project's git repository instead: subject and body, without authors. From then
    /// on new commits are read after each session (`git.follow`)
    #[arg(long, conflicts_with = "paths")]
    git: bool,
    /// Use the project of this folder, or the known project of this name or path; with --git
    #[arg(long, value_name = "DIR", requires = "git")]
    project: Option<PathBuf>,
    /// List what would be read, and store nothing
    #[arg(long, conflicts_with = "git")]
    dry_run: bool,
    /// Print an object: files, totals; with --dry-run: `dry_run`, files, bytes; with --git: project, commits, memories, known, `passed_over`, reverted,
    /// doubted
    #[arg(long)]
    json: bool,
}

/// What is printed with `--json`.
#[derive(serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum IngestOutput {
    /// Transcripts were read.
    Transcripts(IngestReport),
    /// With `--dry-run`, nothing was read.
    Plan(IngestPlan),
    /// With `--git`, a history was read.
    History(history::HistoryReport),
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    if !arguments.dry_run {
        storing::check(&runtime)?;
    }
    if arguments.git {
        return read_history(&runtime, arguments);
    }
    let (sources, failed) = find(&runtime, &arguments.paths)?;
    if sources.is_empty() && failed.is_empty() {
        let named: Vec<String> = arguments.paths.iter().map(|path| paths::display(path, &runtime.paths.home)).collect();
        let place = if named.is_empty() { "the agents' folders".to_owned() } else { output::clean_line(&named.join(", ")) };
        writeln!(
            anstream::stderr().lock(),
            "hint: there is no .jsonl file in {place}; without a path the agents' own folders are read"
        )?;
    }
    if arguments.dry_run {
        return plan(&runtime, &sources, failed, arguments.json);
    }
    let started = Instant::now();
    let mut store = runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?;
    let bar = progress_bar(&sources);
    let mut started_bytes = 0;
    let outcome = ingest::run(&runtime, &mut store, &sources, |source| {
        bar.set_position(started_bytes);
        started_bytes += source.bytes;
        let name = source.path.file_name().unwrap_or_default().to_string_lossy();
        bar.set_message(output::clean_line(&name));
    });
    bar.finish_and_clear();
    runtime.finish();
    let report = outcome?.with(failed);
    let (has_failed, failed, files) = (report.failed(), report.totals.failed, report.totals.files);
    let is_refused = report.is_refused();
    if arguments.json {
        output::json(&IngestOutput::Transcripts(report))?;
    } else {
        print(&runtime, &report, started.elapsed())?;
        print_forgotten(&runtime, &report)?;
        print_projects(&runtime, &store, &report)?;
    }
    if !has_failed {
        return Ok(ExitCode::SUCCESS);
    }
    Err(CommandError::new(match failed {
        1 => "a transcript could not be read".to_owned(),
        n => format!("{n} transcripts could not be read"),
    })
    .hint(if is_refused {
        "what was said while it was excluded or paused is never read; `throughline doctor` lists what is excluded or paused now"
    } else if failed == files {
        "correct the path, or name another file, and run the command again"
    } else {
        "the others are stored; correct these and run the command again"
    }))
}

/// Lists what would be read.
fn plan(
    runtime: &Runtime,
    sources: &[TranscriptSource],
    failed: Vec<FileReport>,
    as_json: bool,
) -> Result<ExitCode, CommandError> {
    let store = match runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4) {
        Ok(store) => Some(store),
        Err(StoreError::Missing(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let mut plan = ingest::plan(runtime, store.as_ref(), sources)?;
    let is_failed = !failed.is_empty();
    plan.files.extend(failed.into_iter().map(|it| PlannedFile { path: it.path, error: it.error, ..PlannedFile::default() }));
    if as_json {
        output::json(&IngestOutput::Plan(plan))?;
    } else {
        print_plan(runtime, &plan)?;
    }
    if is_failed {
        return Err(CommandError::new("not every path that you named can be read").hint("correct the paths"));
    }
    Ok(ExitCode::SUCCESS)
}

fn print_plan(runtime: &Runtime, plan: &IngestPlan) -> Result<(), CommandError> {
    let shown = |path: &str| output::clean_line(&paths::display(path.as_ref(), &runtime.paths.home));
    let mut err = anstream::stderr().lock();
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    for (file, why) in plan.files.iter().filter_map(|file| Some((file, file.error.as_ref()?))) {
        writeln!(err, "{yellow}warning:{yellow:#} {}: {}", shown(&file.path), output::clean_line(why))?;
    }
    let mut projects: BTreeMap<&str, Vec<&PlannedFile>> = BTreeMap::new();
    for file in plan.files.iter().filter(|file| file.bytes > 0) {
        projects.entry(&file.project).or_default().push(file);
    }
    let mut out = Vec::new();
    for (project, files) in &projects {
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}: {}, {}",
            shown(project),
            output::counted(files.len() as u64, "transcript", "transcripts"),
            output::bytes(files.iter().map(|file| file.bytes).sum()),
        )?;
        for file in files {
            let size = output::pad(&output::bytes(file.bytes), 9);
            let session = output::clean_line(&file.session_id);
            writeln!(out, "  {size}  {session}  {DIM}{}{DIM:#}", shown(&file.path))?;
        }
    }
    let files: Vec<&PlannedFile> = projects.values().flatten().copied().collect();
    let sessions: BTreeSet<&str> = files.iter().map(|file| file.session_id.as_str()).collect();
    writeln!(
        out,
        "{} of {} to read, {}: {} of {}; nothing was read because this is a dry run",
        output::count(files.len() as u64),
        output::counted(plan.files.len() as u64, "transcript", "transcripts"),
        output::bytes(plan.bytes),
        output::counted(sessions.len() as u64, "session", "sessions"),
        output::counted(projects.len() as u64, "project", "projects"),
    )?;
    pager::write(&out)
}

fn read_history(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let project = targets::find_project(runtime, arguments.project.as_deref())?;
    storing::check_refusal(runtime, &project, "")?;
    let mut store = runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?;
    let bar = output::progress_bar(None, "{spinner} {human_pos} commits {elapsed}");
    let outcome = history::ingest(runtime, &mut store, &project, |commits| bar.set_position(commits));
    bar.finish_and_clear();
    runtime.finish();
    let report = outcome?;
    if arguments.json {
        output::json(&IngestOutput::History(report))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    let commits = output::counted(report.commits, "new commit", "new commits");
    let project = paths::display(report.project.as_ref(), &runtime.paths.home);
    writeln!(out, "read {commits} of {}", output::clean_line(&project))?;
    let memories = output::counted(report.memories, "new memory", "new memories");
    writeln!(
        out,
        "{memories}, {} known already, {} without a text, {} reverted; session memories that may no longer hold: {}",
        report.known, report.passed_over, report.reverted, report.doubted
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Says in how many transcripts lines were skipped because their session or project was forgotten.
fn print_forgotten(runtime: &Runtime, report: &IngestReport) -> Result<(), CommandError> {
    // What was forgotten has no beginning, unlike a pause.
    let is_forgotten = |file: &&FileReport| {
        let project = Project::discover(Path::new(&file.project));
        runtime.intervals.is_excluded_at(&project.id, &[&file.session_id], 1)
    };
    let read = report.files.iter().filter(|file| file.lines > 0 && file.error.is_none() && !file.project.is_empty());
    let skipped = read.filter(is_forgotten).count() as u64;
    if skipped > 0 {
        let transcripts = output::counted(skipped, "transcript", "transcripts");
        let mut err = anstream::stderr().lock();
        writeln!(err, "in {transcripts}, lines that were forgotten with `throughline memory forget` were skipped")?;
        writeln!(
            err,
            "hint: `throughline memory unforget` lists what was forgotten within the last day, and brings it back"
        )?;
    }
    Ok(())
}

/// The most projects that are listed.
const MAX_PROJECTS: usize = 10;

/// Lists the projects that the transcripts belong to, with what is stored of each now, and says what to do if none of them is the one
/// of the current folder.
fn print_projects(runtime: &Runtime, store: &Store, report: &IngestReport) -> Result<(), CommandError> {
    let mut read: BTreeMap<String, u64> = BTreeMap::new();
    for file in report.files.iter().filter(|file| file.error.is_none()) {
        // Of a file without anything new, only its session is known.
        let root = match &file.project {
            root if root.is_empty() => store.known_session(&file.session_id)?.map(|known| known.root),
            root => Some(root.clone()),
        };
        if let Some(root) = root {
            *read.entry(root).or_default() += 1;
        }
    }
    if read.is_empty() {
        return Ok(());
    }
    let known = store.known_projects(u32::MAX >> 1)?;
    let mut out = output::stdout();
    for (root, transcripts) in read.iter().take(MAX_PROJECTS) {
        let found = known.iter().find(|it| it.project.root.to_string_lossy() == *root);
        let (memories, turns, sessions) = found.map_or((0, 0, 0), |it| (it.memories, it.turns, it.sessions));
        let name = found.map_or_else(|| output::clean_line(root), |it| scope::describe(&it.project, &runtime.paths.home));
        writeln!(
            out,
            "{name}: {} read; {} and {} of {} now",
            output::counted(*transcripts, "transcript", "transcripts"),
            output::counted(memories, "memory", "memories"),
            output::counted(turns, "turn", "turns"),
            output::counted(sessions, "session", "sessions"),
        )?;
    }
    if read.len() > MAX_PROJECTS {
        let more = output::counted((read.len() - MAX_PROJECTS) as u64, "other project", "other projects");
        writeln!(out, "and {more}: see `throughline projects`")?;
    }
    out.flush()?;
    let here = targets::find_project(runtime, None)?;
    if !read.contains_key(&*here.root.to_string_lossy()) {
        let here = scope::describe(&here, &runtime.paths.home);
        let hint = "`--project NAME` or `--all-projects` finds what was read";
        writeln!(anstream::stderr().lock(), "hint: none of it belongs to the project of this folder, {here}; {hint}")?;
    }
    Ok(())
}

fn find(runtime: &Runtime, paths: &[PathBuf]) -> Result<(Vec<TranscriptSource>, Vec<FileReport>), CommandError> {
    let own = runtime.paths.transcripts();
    if !paths.is_empty() {
        return Ok(ingest::sources_of(paths, &own));
    }
    let existing: Vec<PathBuf> = own.iter().filter(|folder| folder.is_dir()).cloned().collect();
    if existing.is_empty() {
        let folder = runtime.paths.claude_projects();
        return Err(CommandError::new(format!(
            "there are no transcripts at {}, and none of another agent",
            folder.display()
        ))
        .hint("name the folder or the files, or set CLAUDE_CONFIG_DIR"));
    }
    Ok(ingest::sources_of(&existing, &own))
}

fn progress_bar(sources: &[TranscriptSource]) -> ProgressBar {
    let bytes = sources.iter().map(|source| source.bytes).sum();
    let template = "{bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} {wide_msg}";
    output::progress_bar(Some(bytes), template)
}

fn print(runtime: &Runtime, report: &IngestReport, took: Duration) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    for file in &report.files {
        if let Some(error) = &file.error {
            writeln!(
                err,
                "{yellow}warning:{yellow:#} {}: {}",
                output::clean_line(&paths::display(file.path.as_ref(), &runtime.paths.home)),
                output::clean_line(error)
            )?;
        }
    }
    let totals = &report.totals;
    if totals.failed > 0 && totals.files == totals.failed {
        // The warnings say why; there is nothing to report that was read.
        return Ok(());
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "read {}: {} and {} are new, in {:.1} s",
        output::counted(totals.files - totals.failed, "transcript", "transcripts"),
        output::bytes(totals.bytes),
        output::counted(totals.lines, "line", "lines"),
        took.as_secs_f64()
    )?;
    writeln!(
        out,
        "{} (turns included), {} known already",
        output::counted(totals.memories, "new memory", "new memories"),
        output::count(totals.seen_again)
    )?;
    if totals.tool_calls > 0 {
        writeln!(out, "{}", output::counted(totals.tool_calls, "new tool call", "new tool calls"))?;
    }
    for file in &report.files {
        if let Some(other) = &file.known_from {
            let shown = |path: &str| output::clean_line(&paths::display(path.as_ref(), &runtime.paths.home));
            writeln!(
                out,
                "session {} is known from {}: {} continues it, in the project {}",
                output::clean_line(&file.session_id),
                shown(other),
                shown(&file.path),
                shown(&file.project)
            )?;
        }
    }
    for (number, what) in [(totals.malformed, "not valid"), (totals.oversized, "too long")] {
        if number > 0 {
            writeln!(out, "skipped {}: {what}", output::counted(number, "line", "lines"))?;
        }
    }
    Ok(out.flush()?)
}
