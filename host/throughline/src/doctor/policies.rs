//! Checks the managed configuration, and the policies besides the default: which ones run, which do not, and which
//! failed.

use std::path::Path;

use super::finding::Finding;
use throughline_engine::config::Config;
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_platform::paths::Paths;
use throughline_sandbox::managed::Managed;
use throughline_sandbox::registry::{Refusal, RefusalKind};

/// Returns the administrator's configuration, as far as it can be read, and a finding about it if there is one.
pub(super) fn managed(paths: &Paths, folder: &Path) -> (Managed, Option<Finding>) {
    let managed = match Managed::load(&paths.managed) {
        Ok(managed) => managed,
        Err(what) => {
            let hint = "the administrator must fix it; until then nothing is remembered, and sessions run as if Throughline were not installed";
            return (Managed::default(), Some(Finding::fail("managed", what, hint)));
        }
    };
    if !managed.is_present() {
        return (managed, None);
    }
    let finding = if managed.is_off(folder, &paths.home) {
        let what = format!("{} turns memory off in this folder", paths.managed.display());
        Finding::warn("managed", what, "work elsewhere, or ask the administrator")
    } else if !managed.cache(paths).is_of_system() {
        Finding::warn(
            "managed",
            format!(
                "{} is in force, but you can exchange the compiled policies in {}",
                paths.managed.display(),
                paths.components().display()
            ),
            "ask the administrator to run: throughline policy compile",
        )
    } else {
        Finding::ok("managed", format!("{} is in force", paths.managed.display()))
    };
    (managed, Some(finding))
}

/// Checks the policies of the folder's project. The test run covers the default policy.
pub(super) fn policies(paths: &Paths, config: &Config, managed: Managed, folder: &Path) -> Vec<Finding> {
    let runtime = Runtime::with(paths.clone(), config.clone(), managed);
    let root = Project::discover(folder).root;
    let policies = match runtime.policies(Some(&root)) {
        Ok(policies) => policies,
        Err(error) => return vec![Finding::fail("policies", format!("{error:#}"), "reinstall the program")],
    };
    let registry = policies.registry();
    if registry.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if let Some(blocked) = &registry.blocked {
        findings.push(Finding::fail(
            "policies",
            blocked.to_string(),
            "`throughline policy list` shows the cause and what to do",
        ));
    }
    for broken in &registry.broken {
        let what = format!("{}: {}", throughline_platform::paths::display(&broken.path, &paths.home), broken.what);
        findings.push(Finding::warn("policies", what, broken.hint.clone()));
    }
    let mut running = Vec::new();
    for (index, candidate) in registry.candidates.iter().enumerate() {
        let name = candidate.name();
        match &candidate.refusal {
            Some(Refusal { kind: RefusalKind::Disabled | RefusalKind::Shadowed, .. }) => continue,
            Some(Refusal { what, hint, .. }) => {
                findings.push(Finding::warn("policies", format!("{name} does not run: {what}"), hint.clone()));
                continue;
            }
            None => {}
        }
        if let Some(unfit) = policies.objection(index) {
            findings.push(Finding::warn("policies", format!("{name} does not run: {}", unfit.what), unfit.hint));
        } else if let Some(record) =
            runtime.reporter().failures.borrow().of(&candidate.found.digest).filter(|record| record.in_a_row() > 0)
        {
            let at = throughline_engine::runtime::format_timestamp(record.at);
            findings.push(Finding::warn(
                "policies",
                format!("{name} failed {} times in a row, last at {at}: {}", record.in_a_row(), record.what),
                "see the log; the policy is set aside if it keeps failing",
            ));
        } else {
            running.push(if policies.is_compiled(index) { name.to_owned() } else { format!("{name} (not compiled yet)") });
        }
    }
    if !running.is_empty() {
        findings.push(Finding::ok("policies", format!("running besides the default: {}", running.join(", "))));
    }
    findings
}
