//! `throughline doctor`: checks everything between a session and the memory of the next one by using it, because what
//! is not run is not known to work.

mod agents;
mod embedding;
mod finding;
mod hooks;
mod last_runs;
mod machine;
mod model;
mod other_systems;
mod plugin;
mod policies;
mod privacy;
mod projections;
mod reading;
mod servers;
mod storage;
mod team;
mod test_run;

use std::path::Path;

pub(crate) use finding::{Finding, Status};
use throughline_engine::config::Config;
use throughline_engine::runtime;
use throughline_platform::paths::Paths;

/// Runs all checks for a user who works in `folder`. They are in the order in which they depend on each other.
pub(crate) fn run_checks(paths: &Paths, folder: &Path) -> Vec<Finding> {
    let now = runtime::now();
    let mut findings = vec![machine::program()];
    findings.extend(machine::installations(paths));
    let (managed, finding) = policies::managed(paths, folder);
    findings.extend(finding);
    let config = match Config::load_or_last_good(&paths.config_file(), &paths.last_good_config()) {
        Ok((config, None)) => {
            findings.push(machine::configuration(paths, &config));
            config
        }
        Ok((last, Some(error))) => {
            let hint = "correct it with `throughline config edit`, or move it away; until then the last good configuration is in force";
            findings.push(Finding::fail("configuration", error.to_string(), hint));
            last
        }
        Err(error) => {
            let hint = "correct it with `throughline config edit`, or move it away; until then nothing is remembered";
            findings.push(Finding::fail("configuration", error.to_string(), hint));
            Config::default()
        }
    };
    findings.extend(machine::namespace(paths));
    findings.extend(machine::folders(paths));
    findings.push(machine::disk(paths));
    let (database, store) = storage::database(paths, now);
    findings.push(database);
    findings.extend(store.as_ref().map(|store| storage::index(store, &config)));
    findings.push(test_run::compiler());
    findings.extend(test_run::policy(paths, &config));
    findings.extend(policies::policies(paths, &config, managed, folder));
    findings.extend(privacy::privacy(paths, &config));
    findings.extend(projections::projections(paths, &config, folder));
    findings.push(embedding::embedding(&config.embedding));
    findings.push(model::model(&config.model));
    findings.extend(team::team(paths, store.as_ref(), now));
    let agents = agents::agents(paths, folder);
    findings.extend(hooks::registrations(paths, folder, agents.any));
    findings.extend(agents.findings);
    findings.extend(servers::servers(paths));
    findings.extend(last_runs::last_runs(paths, now));
    findings.extend(other_systems::other_systems(paths, folder));
    findings.extend(reading::transcripts(paths, &config, store.as_ref(), now));
    findings.push(machine::log(paths, now));
    findings
}

/// Returns why no agent calls this program's hooks for a user who works in `folder`, or `None` if one does.
pub(crate) fn missing_hooks(paths: &Paths, folder: &Path) -> Option<String> {
    if agents::agents(paths, folder).any { None } else { hooks::missing(paths, folder) }
}

/// Returns what to do about that reason.
pub(crate) fn missing_hooks_hint(why: &str) -> &'static str {
    if why == hooks::NO_HOOK {
        "`throughline install` registers the hooks, and `throughline doctor` checks them"
    } else {
        "`throughline doctor` says what to do"
    }
}

/// Returns the worst status.
pub(crate) fn worst_status(findings: &[Finding]) -> Status {
    findings.iter().map(|finding| finding.status).max().unwrap_or(Status::Ok)
}
