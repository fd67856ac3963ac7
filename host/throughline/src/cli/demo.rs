//! `throughline demo`: shows what it does, on a sample session.

use std::io::Write;

use super::failure::{Done, Failure};
use super::output::{self, BOLD, DIM};
use crate::demo::{self, Played, Step};

/// Show on a sample session what the next session is told
///
/// A recorded session, made for the purpose, goes through all hooks as Claude Code would call them, in a home that is
/// thrown away afterwards. Nothing of yours is read or changed, and no agent is needed.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print every call with its time and what it answered as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(format!("where this program is cannot be found out: {error}")).hint("call it by its whole path")
    })?;
    let played = demo::play(&program)?;
    if arguments.json {
        output::json(&played)?;
    } else {
        tell(&played)?;
    }
    if played.told().is_none() {
        return Err(Failure::new("the next session would be told nothing").hint("`throughline doctor` looks for the cause"));
    }
    Ok(Done::Well)
}

fn tell(played: &Played) -> Result<(), Failure> {
    let mut out = output::stdout();
    writeln!(out, "{BOLD}A session of {} lines, through all hooks{BOLD:#}", played.lines)?;
    writeln!(out, "{DIM}in {}, which is gone by now{DIM:#}\n", played.folder.display())?;
    let last = played.steps.len().saturating_sub(1);
    for (index, step) in played.steps.iter().enumerate() {
        if index == last {
            writeln!(out, "  {DIM}the next day{DIM:#}")?;
        }
        let name = if step.occasion.is_empty() { step.event.clone() } else { format!("{} ({})", step.event, step.occasion) };
        writeln!(out, "  {} {:>7.1} ms  {DIM}{}{DIM:#}", output::pad(&name, 30), step.millis, what(step))?;
    }
    if let Some(text) = played.told() {
        writeln!(
            out,
            "\n{BOLD}What the next session is told{BOLD:#} {DIM}({} UTF-16 units of 10,000; {} stored){DIM:#}\n",
            output::count(text.encode_utf16().count() as u64),
            output::counted(played.memories, "memory", "memories")
        )?;
        for line in output::clean(text).trim().lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "\n`throughline install` does this for your own sessions.")?;
    }
    Ok(out.flush()?)
}

fn what(step: &Step) -> String {
    match (step.event.as_str(), &step.context) {
        ("install", _) => "registers the hooks and compiles the policy, once".into(),
        (_, Some(text)) => format!("tells {} UTF-16 units", output::count(text.encode_utf16().count() as u64)),
        ("SessionStart", None) => "has nothing to tell".into(),
        _ => "stores what is new".into(),
    }
}
