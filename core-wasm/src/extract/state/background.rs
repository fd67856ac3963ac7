//! Commands that ran beside the agent: what they came to, which the client says later or never.

use serde::{Deserialize, Serialize};

use super::State;
use crate::extract::clean;
use crate::extract::commands::{self, Class};
use crate::extract::tool_uses::ToolUse;

/// The maximum number of commands that are known to run. The oldest is dropped first.
const MAX_RUNNING: usize = 8;
/// How the client begins to say that a command runs beside the agent.
const BEGUN: &str = "Command running in background with ID: ";

/// A command that runs beside the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Running {
    /// The client's name for it.
    id: String,
    command: String,
    is_over: bool,
    /// Whether files were changed since it began, of which it says nothing.
    is_old: bool,
    /// Whether what it changed is recorded, so that another look at its output tells of no other run.
    #[serde(default)]
    is_recorded: bool,
}

impl State {
    /// Records a command that runs beside the agent, as the client says. One that ran again needs no result.
    pub(super) fn background_begun(&mut self, tool_use: &ToolUse, output: &str) {
        self.background.retain(|it| !commands::same_purpose(&it.command, &tool_use.what));
        let Some(rest) = output.trim_start().strip_prefix(BEGUN) else { return };
        let id = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        self.background.push(Running { id: id.to_owned(), command: tool_use.what.clone(), ..Running::default() });
        let extra = self.background.len().saturating_sub(MAX_RUNNING);
        self.background.drain(..extra);
    }

    /// Takes what the client says of a command that ran beside the agent, if it is over: in a notice, or as the agent asks for its output.
    pub(super) fn background_ended(&mut self, said: &str) {
        let Some(id) = tagged(said, "task_id").or_else(|| tagged(said, "task-id")) else { return };
        self.background_over(id, said, tagged(said, "output").unwrap_or_default());
    }

    /// Takes what an earlier client says of the command of that name as the agent asks for its output. It prints only what is new.
    pub(super) fn background_asked(&mut self, id: &str, said: &str) {
        let output = [tagged(said, "stdout"), tagged(said, "stderr")].into_iter().flatten().collect::<Vec<_>>().join("\n");
        self.background_over(id, said, &output);
    }

    /// Takes what the client says of the command of that name, and what it printed.
    fn background_over(&mut self, id: &str, said: &str, output: &str) {
        let has_failed = match tagged(said, "status") {
            Some("completed") => tagged(said, "exit_code").is_some_and(|code| code != "0"),
            Some("failed") => true,
            _ => return,
        };
        let Some(running) = self.background.iter_mut().find(|it| it.id == id) else { return };
        let output = clean::clean(output);
        // The agent may ask for the output of what is over.
        if std::mem::replace(&mut running.is_over, true) && output.is_empty() {
            return;
        }
        let running = running.clone();
        let (command, is_old) = (running.command, running.is_old);
        if !is_old {
            self.checked_apart(&command, &output, has_failed);
        }
        let was_recorded = self.ran.output_seen(&command, &output, has_failed, running.is_recorded);
        if let Some(running) = self.background.iter_mut().find(|it| it.id == id) {
            running.is_recorded |= was_recorded;
        }
        self.git_ran(&command, &output, has_failed);
    }

    /// Returns whether a path is the file into which the client writes what a command prints that runs beside the agent.
    pub(super) fn is_background_output(&self, path: &str) -> bool {
        self.background.iter().any(|it| !it.id.is_empty() && path.contains(&format!("/{}.output", it.id)))
    }

    /// Takes what a command printed that runs beside the agent, as the agent reads the file with its output. Nobody knows whether it is over.
    pub(super) fn background_read(&mut self, reading: &str, output: &str) {
        let is_read = |it: &&Running| !it.id.is_empty() && reading.contains(&format!("/{}.output", it.id));
        let Some(at) = self.background.iter().position(|it| is_read(&it)) else { return };
        let running = &mut self.background[at];
        // The client said more of what is over: whether it failed.
        if running.is_over && running.is_recorded {
            return;
        }
        running.is_recorded |= self.ran.output_seen(&running.command, output, false, running.is_recorded);
    }

    /// Records a change of a file of the project.
    pub(super) fn changed_meanwhile(&mut self) {
        self.background.iter_mut().for_each(|it| it.is_old = true);
    }

    /// Returns the tests, checks and builds that were begun beside the agent and did not end.
    pub(super) fn checks_in_background(&self) -> impl Iterator<Item = &str> {
        let is_check = |command: &&str| matches!(commands::class(command), Class::Test | Class::Check | Class::Build);
        self.background.iter().filter(|it| !it.is_over).map(|it| it.command.as_str()).filter(is_check)
    }
}

/// Returns what stands in the first element of that name.
fn tagged<'a>(said: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = said.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inside, _)| inside.trim())
}
