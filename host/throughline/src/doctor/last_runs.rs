//! Reports when each hook last ran and how it ended: hooks that are registered and never run are easily overlooked.

use super::finding::Finding;
use crate::times;
use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::agents;
use throughline_engine::hooks::last_runs::{self, LastRun};
use throughline_platform::paths::Paths;

/// The name of the check.
const CHECK: &str = "runs";

/// Returns one finding for each agent that ever called a hook.
pub(super) fn last_runs(paths: &Paths, now: u64) -> Vec<Finding> {
    let of_agent = |agent: Agent| {
        let runs = last_runs::of_agent(paths, agent);
        let said: Vec<String> = runs.iter().map(|run| describe(run, now)).collect();
        (!runs.is_empty()).then(|| Finding::ok(CHECK, format!("{}: {}", agents::title(agent), said.join("; "))))
    };
    let mut findings: Vec<Finding> = Agent::ALL.into_iter().filter_map(of_agent).collect();
    if findings.is_empty() {
        let hint = "start a session with an agent; if this does not change, the agent does not call the hooks";
        findings.push(Finding { hint: Some(hint.into()), ..Finding::ok(CHECK, "no hook has run yet") });
    }
    findings
}

fn describe(run: &LastRun, now: u64) -> String {
    let LastRun { moment, at, took, told, warned } = run;
    let ago = times::ago(*at, now);
    let did = if *told > 0 { format!("answered with {told} characters") } else { "told the agent nothing".into() };
    let log = if *warned { ", and the log has a warning of it" } else { "" };
    format!("{moment} {ago} ({did} in {took} ms{log})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_described_in_words() {
        let run = LastRun { moment: "session start".into(), at: 0, took: 20, told: 0, warned: false };
        assert_eq!(describe(&run, 0), "session start just now (told the agent nothing in 20 ms)");
        let run = LastRun { told: 7, warned: true, ..run };
        let said = "session start 5 min ago (answered with 7 characters in 20 ms, and the log has a warning of it)";
        assert_eq!(describe(&run, 300_000), said);
    }
}
