//! Records when each hook last ran and how it ended, so that `doctor` can say whether an agent calls the hooks at all.
//! There is one small file for each hook of each agent, which is simply overwritten: a lost record does no harm.
//!
//! All records have one length, so that the file is never truncated: ext4 then gives its block back and, when the file is closed,
//! sends the new one to the disk at once. That took longer than anything else that a hook asks of the system.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::runtime::Runtime;
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::{Event, Moment};
use throughline_platform::open::FileOptions as _;
use throughline_platform::paths::{self, Paths};

/// The length of a record with the spaces at its end. The longest one has 127 bytes.
const RECORD_BYTES: usize = 128;

/// The last run of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// What happened, in words.
    pub moment: String,
    /// When, milliseconds since the Unix epoch.
    pub at: u64,
    /// How long the hook took, milliseconds.
    pub took: u64,
    /// How much it told the agent, characters.
    pub told: usize,
    /// Whether it wrote a warning or an error to the log.
    pub warned: bool,
}

/// Records a run that took so many milliseconds and told the agent so many characters. If that fails, only `doctor` knows less.
pub fn record(runtime: &Runtime, event: &Event, took: u64, told: usize) {
    let moment = words(&event.moment);
    let run = LastRun { moment: moment.to_owned(), at: runtime.now, took, told, warned: !runtime.log.is_empty() };
    let folder = runtime.paths.last_runs();
    let file = folder.join(format!("{}.{}.json", event.agent.name(), moment.replace(' ', "-")));
    if write(&file, &run).is_err() && paths::create_private(&folder).is_ok() {
        let _ = write(&file, &run);
    }
}

fn write(file: &Path, run: &LastRun) -> io::Result<()> {
    let mut text = serde_json::to_vec(run)?;
    text.resize(RECORD_BYTES.max(text.len()), b' ');
    File::options().write(true).create(true).truncate(false).private().open(file)?.write_all(&text)
}

/// Returns the last runs of an agent's hooks, the latest first.
pub fn of_agent(paths: &Paths, agent: Agent) -> Vec<LastRun> {
    let files = fs::read_dir(paths.last_runs()).into_iter().flatten().flatten();
    let beginning = format!("{}.", agent.name());
    let mut runs: Vec<LastRun> = files
        .filter(|file| file.file_name().to_string_lossy().starts_with(&beginning))
        .filter_map(|file| serde_json::from_slice(&fs::read(file.path()).ok()?).ok())
        .collect();
    runs.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.moment.cmp(&b.moment)));
    runs
}

/// Names a moment.
fn words(moment: &Moment) -> &'static str {
    match moment {
        Moment::Start { .. } => "session start",
        Moment::PromptSubmitted { .. } => "prompt",
        Moment::ToolsUsed { .. } => "tool",
        Moment::MessageWritten { .. } => "message",
        Moment::SubAgentStopped { .. } => "sub-agent",
        Moment::TurnEnded { .. } => "end of turn",
        Moment::TurnFailed { .. } => "failed turn",
        Moment::Compacting { .. } => "before compaction",
        Moment::Compacted { .. } => "after compaction",
        Moment::End { .. } => "session end",
        Moment::Other { .. } => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_record_overwrites_the_longest_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("agent.tool.json");
        let longest =
            LastRun { moment: "before compaction".into(), at: u64::MAX, took: u64::MAX, told: usize::MAX, warned: false };
        let shortest = LastRun { moment: "tool".into(), at: 1, took: 1, told: 0, warned: true };
        for run in [longest, shortest] {
            write(&file, &run).unwrap();
            let text = fs::read(&file).unwrap();
            assert_eq!(text.len(), RECORD_BYTES);
            assert_eq!(serde_json::from_slice::<LastRun>(&text).unwrap(), run);
        }
    }
}
