//! Checks privacy settings: what is paused, and redaction rules that cannot be read.

use super::finding::Finding;
use throughline_engine::config::Config;
use throughline_platform::paths::{self, Paths};
use throughline_privacy::intervals::Intervals;
use throughline_sandbox::rules::UserRules;

/// Reports pauses and unreadable rules; nothing if there are none.
pub(super) fn privacy(paths: &Paths, config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    match Intervals::load(&paths.intervals()) {
        Err(error) => findings.push(Finding::fail(
            "privacy",
            error.to_string(),
            "fix the file; until then nothing is remembered, because it is unknown what was paused",
        )),
        Ok(intervals) => findings.extend(intervals.paused().map(|interval| {
            let what = match (&interval.session, &interval.root) {
                (Some(session), _) => format!("session {session}"),
                (None, Some(root)) => paths::display(root, &paths.home),
                (None, None) => "everything".into(),
            };
            let since = throughline_engine::runtime::format_timestamp(interval.from);
            let how = interval.session.as_ref().map_or(String::new(), |session| format!(" --session {session}"));
            Finding::warn("privacy", format!("{what} has been paused since {since}"), format!("throughline resume{how}"))
        })),
    }
    let rules = UserRules::new(config.redaction.rules.clone());
    findings.extend(rules.faults().iter().map(|fault| {
        Finding::fail(
            "privacy",
            format!("redaction rules cannot be read: {fault}; sessions are stored without them, and commands refuse to store"),
            "correct the file, or remove it from `redaction.rules`; then run `throughline scrub`, which masks what was stored \
             meanwhile",
        )
    }));
    findings
}
