//! `throughline model`: lets granted policies go over what is stored with a language model, and shows what was sent and what it did
//! cost.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD, DIM};
use super::scope;
use throughline_engine::hooks::{self, STORE_BUSY_TIMEOUT};
use throughline_engine::model;
use throughline_engine::model::caller::Outgoing;
use throughline_engine::model::settings::Provider;
use throughline_engine::runtime::Runtime;
use throughline_engine::storing;
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::ledger::SentCall;
use throughline_store::{Access, Store, day};

/// How long a command lets a policy and its model work.
const RUN_TIME: Duration = Duration::from_mins(15);

/// A day in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// Ask a language model for better memories, within your limits
///
/// Nothing is asked until the configuration names a provider and a limit, and a policy was granted the capability
/// `model`; docs/models.md says how. Then it happens by itself in the background after a session.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(RunArguments),
    Spend(SpendArguments),
    Outbox(OutboxArguments),
}

/// Let the granted policies go over a session or a project now
///
/// Without a session, goes over the project as a whole. What a policy makes of memories takes their place; what a person
/// said or saved stays, and so does everything if the model gives no answer.
#[derive(Args)]
struct RunArguments {
    /// The session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Use the project of this folder instead of the current one
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    project: Option<PathBuf>,
    /// Print an object: sessions, project, stored, replaced, unsupported, sent, known, failed, `input_tokens`,
    /// `output_tokens`, `nano_usd`
    #[arg(long)]
    json: bool,
}

/// Show what was spent, by day, policy and project
#[derive(Args)]
struct SpendArguments {
    /// Show the last days, this one included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = crate::cli::number::limit)]
    days: u32,
    /// Print an array of objects: day, policy, project, calls, failed, `input_tokens`, `output_tokens`, `nano_usd`
    #[arg(long)]
    json: bool,
}

/// Show what was sent, or what would be
///
/// Of a request that was sent, only its digest and its size are kept. With --dry-run, the granted policies go over a
/// session or a project, and each request is shown as it would be sent, redacted. Nothing is sent, stored or spent.
#[derive(Args)]
struct OutboxArguments {
    /// Show the requests that would be sent now, with their texts
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: the session; without it, the project as a whole
    #[arg(long, value_name = "ID", requires = "dry_run")]
    session: Option<String>,
    /// With --dry-run: use the project of this folder instead of the current one
    #[arg(long, value_name = "DIR", requires = "dry_run", conflicts_with = "session")]
    project: Option<PathBuf>,
    /// Show at most this many requests that were sent
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Print an object: sent (at, policy, purpose, provider, model, request, bytes, state, tokens, `nano_usd`) and
    /// pending (policy, purpose, digest, bytes, `most_tokens`, `is_known`, messages)
    #[arg(long)]
    json: bool,
}

/// What `throughline model outbox --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Outbox {
    /// Requests that were sent, the latest first; empty in a dry run.
    sent: Vec<SentCall>,
    /// Requests that would be sent; only in a dry run.
    pending: Vec<Outgoing>,
}

#[cfg(test)]
pub(super) fn schemas() -> [(&'static str, schemars::Schema); 3] {
    use super::schemas::of;
    [
        ("model outbox", of::<Outbox>()),
        ("model run", of::<model::RunReport>()),
        ("model spend", of::<Vec<throughline_store::ledger::SpendRow>>()),
    ]
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    match &arguments.command {
        Command::Run(arguments) => run_now(arguments),
        Command::Spend(arguments) => spend(arguments),
        Command::Outbox(arguments) => outbox(arguments),
    }
}

/// Opens what a run needs: the store, the project and the session, which is empty for the project as a whole.
fn subject(
    runtime: &Runtime,
    session: Option<&str>,
    folder: Option<&std::path::Path>,
) -> Result<(Store, Project, String), CommandError> {
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    let Some(session) = session else {
        return Ok((store, targets::find_project(runtime, folder)?, String::new()));
    };
    let session = scope::resolve_session(&store, session)?;
    let known = store.known_session(&session)?;
    let project = known.as_ref().map(|known| Project::discover(std::path::Path::new(&known.root)));
    let project = project.filter(|project| known.is_some_and(|known| known.project == project.id));
    let project = project.ok_or_else(|| {
        CommandError::new(format!("the project of session {session} is not on this machine any more"))
            .hint("go over the project that you use now: throughline model run --project DIR")
    })?;
    Ok((store, project, session))
}

fn run_now(arguments: &RunArguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    storing::check(&runtime)?;
    let (mut store, project, session) = subject(&runtime, arguments.session.as_deref(), arguments.project.as_deref())?;
    let report =
        model::run_one(&runtime, &mut store, &project, &session, hooks::open_memories, Instant::now() + RUN_TIME, None);
    runtime.finish();
    let report = report?;
    if arguments.json {
        output::json(&report)?;
    } else {
        let mut out = output::stdout();
        writeln!(
            out,
            "{} stored, which took the place of {}; {} dropped",
            output::counted(report.stored.into(), "memory was", "memories were"),
            report.replaced,
            output::counted(report.unsupported.into(), "unsupported statement was", "unsupported statements were"),
        )?;
        writeln!(
            out,
            "{} sent, {} answered from before, {} without an answer; {} tokens, {}",
            output::counted(report.calls.sent.into(), "request was", "requests were"),
            report.calls.known,
            report.calls.failed,
            output::count(report.calls.input_tokens + report.calls.output_tokens),
            usd(report.calls.nano_usd)
        )?;
        out.flush()?;
    }
    // What is stored stands, but the person asked for more.
    Ok(if report.calls.failed > 0 && report.stored == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn spend(arguments: &SpendArguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let since = day(runtime.now.saturating_sub(u64::from(arguments.days.saturating_sub(1)) * DAY));
    let rows = if runtime.paths.model_ledger().exists() { model::ledger(&runtime)?.spend(&since)? } else { Vec::new() };
    if arguments.json {
        output::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    if rows.is_empty() {
        writeln!(out, "no model was asked in the last {}", output::counted(arguments.days.into(), "day", "days"))?;
        print_if_off(&mut out, &runtime)?;
    }
    for row in &rows {
        let project = paths::display(std::path::Path::new(&row.project), &runtime.paths.home);
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {}  {}  {} tokens  {}  {DIM}{}{DIM:#}",
            row.day,
            output::clean_line(&row.policy),
            output::counted(row.calls, "call", "calls"),
            output::count(row.input_tokens + row.output_tokens),
            usd(row.nano_usd),
            output::clean_line(&project),
        )?;
    }
    if !rows.is_empty() {
        let tokens = rows.iter().map(|row| row.input_tokens + row.output_tokens).sum();
        writeln!(out, "in all: {} tokens, {}", output::count(tokens), usd(rows.iter().map(|row| row.nano_usd).sum()))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn outbox(arguments: &OutboxArguments) -> Result<ExitCode, CommandError> {
    let runtime = if arguments.dry_run { environment::runtime()? } else { environment::runtime_for_reading()? };
    let found = if arguments.dry_run {
        let (mut store, project, session) = subject(&runtime, arguments.session.as_deref(), arguments.project.as_deref())?;
        let pending = Rc::new(RefCell::new(Vec::new()));
        let until = Instant::now() + RUN_TIME;
        let ran = model::run_one(&runtime, &mut store, &project, &session, hooks::open_memories, until, Some(&pending));
        runtime.finish();
        ran?;
        Outbox { sent: Vec::new(), pending: pending.take() }
    } else {
        let is_there = runtime.paths.model_ledger().exists();
        let sent = if is_there { model::ledger(&runtime)?.sent(arguments.limit)? } else { Vec::new() };
        Outbox { sent, pending: Vec::new() }
    };
    if arguments.json {
        output::json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    if found.sent.is_empty() && found.pending.is_empty() {
        let what = if arguments.dry_run { "nothing would be sent" } else { "nothing was sent" };
        writeln!(out, "{what}")?;
        print_if_off(&mut out, &runtime)?;
    }
    for call in &found.sent {
        let (date, time) = output::local(call.at);
        writeln!(
            out,
            "{BOLD}{date} {time}{BOLD:#}  {} for {}  {} {}  {}  {DIM}{}{DIM:#}  {}, {} tokens, {}",
            output::clean_line(&call.policy),
            call.purpose,
            call.provider,
            output::clean_line(&call.model),
            output::bytes(call.bytes),
            &call.request[..call.request.len().min(16)],
            call.state,
            output::count(call.tokens),
            usd(call.nano_usd)
        )?;
    }
    for request in &found.pending {
        let known = if request.is_known { "; answered from before, so it is not sent" } else { "" };
        writeln!(
            out,
            "{BOLD}{} for {}{BOLD:#}: {}, at most {} tokens, digest {}{known}",
            output::clean_line(&request.policy),
            request.purpose,
            output::bytes(request.bytes),
            output::count(request.most_tokens),
            &request.digest[..request.digest.len().min(16)]
        )?;
        for (role, text) in &request.messages {
            writeln!(out, "{DIM}{role}:{DIM:#}\n{}", output::clean(text))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Says that no model is asked, if the configuration names none.
fn print_if_off(out: &mut impl Write, runtime: &Runtime) -> Result<(), CommandError> {
    if runtime.config.model.provider == Provider::None {
        writeln!(out, "language models are off: `model.provider` in the configuration is \"none\"")?;
    }
    Ok(())
}

/// Formats billionths of a dollar.
fn usd(nano: u64) -> String {
    let mut text = format!("${}.", nano / 1_000_000_000);
    // Four decimals: a hundredth of a cent.
    let _ = write!(text, "{:04}", nano % 1_000_000_000 / 100_000);
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn dollars_have_four_decimals() {
        assert_eq!(super::usd(0), "$0.0000");
        assert_eq!(super::usd(1_234_567_890), "$1.2345");
    }
}
