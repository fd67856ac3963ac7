//! `throughline demo`: plays a sample session through the hooks.

use std::io::Write;
use std::process::ExitCode;

use super::error::CommandError;
use super::output::{self, BOLD, DIM};
use crate::demo::{self, DemoReport, Step};
use throughline_engine::config;

/// Show with a sample session what the next session gets
///
/// Plays a recorded sample session through the hooks of its start, its turns, its compaction and its end, as Claude Code would
/// call them, in a temporary home folder. The hooks of prompts, tools and sub-agents are not shown.
/// Nothing of yours is read or changed, and no agent is needed.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print every hook call with its time and its answer as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        CommandError::new(format!("cannot find out the path of this program: {error}")).hint("call it by its full path")
    })?;
    let played = demo::play(&program)?;
    if arguments.json {
        output::json(&played)?;
    } else {
        print(&played)?;
    }
    if played.next_session_context().is_none() {
        return Err(
            CommandError::new("the next session would get nothing").hint("run `throughline doctor` to look for the cause")
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn print(played: &DemoReport) -> Result<(), CommandError> {
    let mut out = output::stdout();
    writeln!(out, "{BOLD}A session of {} lines, through these hooks{BOLD:#}", played.lines)?;
    writeln!(out, "{DIM}in {}, which was deleted afterwards{DIM:#}\n", played.folder.display())?;
    let last = played.steps.len().saturating_sub(1);
    for (index, step) in played.steps.iter().enumerate() {
        if index == last {
            writeln!(out, "  {DIM}the next day{DIM:#}")?;
        }
        let name = if step.occasion.is_empty() { step.event.clone() } else { format!("{} ({})", step.event, step.occasion) };
        writeln!(out, "  {} {:>7.1} ms  {DIM}{}{DIM:#}", output::pad(&name, 30), step.millis, description(step))?;
    }
    if let Some(text) = played.next_session_context() {
        writeln!(
            out,
            "\n{BOLD}What the next session gets{BOLD:#} {DIM}({} of at most {} characters; {} stored){DIM:#}\n",
            output::count(text.encode_utf16().count() as u64),
            output::count(u64::from(config::Context::default().budget)),
            output::counted(played.memories, "memory", "memories")
        )?;
        for line in output::clean(text).trim().lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "\n`throughline install` does this for your own sessions.")?;
    }
    Ok(out.flush()?)
}

fn description(step: &Step) -> String {
    match (step.event.as_str(), &step.context) {
        ("install", _) => "registers the hooks and compiles the policy, once".into(),
        (_, Some(text)) => format!("injects {} characters", output::count(text.encode_utf16().count() as u64)),
        ("SessionStart", None) => "injects nothing".into(),
        _ => "stores what is new".into(),
    }
}
