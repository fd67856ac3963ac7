//! Compiles policies for the commands that install them or decide about them.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::selection::PolicyScope;
use crate::cli::error::CommandError;
use crate::cli::output::DIM;
use throughline_engine::runtime::Runtime;
use throughline_sandbox::registry::Candidate;

/// How long compiling a policy may take: the slowest known one takes 20 seconds.
pub(super) const COMPILE_TIMEOUT: Duration = Duration::from_mins(5);

/// Compiles the policies of the current project, so that hooks do not have to wait, and prints whether this policy runs
/// now.
pub(super) fn compile_and_report(
    runtime: &Runtime,
    root: &Path,
    name: &str,
    scope: PolicyScope,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    // This process has read the state before the decision.
    let fresh = Runtime::new(runtime.paths.clone())?;
    let policies = fresh.policies(Some(root))?;
    policies.compile(Instant::now() + COMPILE_TIMEOUT);
    fresh.finish();
    let is_it = |candidate: &Candidate| candidate.name() == name && candidate.source == scope.source();
    let Some(index) = policies.registry().candidates.iter().position(is_it) else {
        return Err(CommandError::new(format!("{name} was removed")).hint("`throughline policy list` shows the policies"));
    };
    let refusal = policies.registry().candidates[index].refusal.as_ref();
    let why = refusal
        .map(|refusal| (refusal.what.clone(), refusal.hint.clone()))
        .or_else(|| policies.objection(index).map(|unfit| (unfit.what, unfit.hint)));
    match why {
        Some((what, hint)) => writeln!(out, "the policy does not run: {what}\n{DIM}{hint}{DIM:#}")?,
        None if !policies.is_compiled(index) => {
            writeln!(out, "the policy does not run: it cannot be compiled\n{DIM}see the log{DIM:#}")?;
        }
        None => writeln!(out, "the policy runs")?,
    }
    out.flush()?;
    Ok(())
}
