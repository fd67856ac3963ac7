//! Measures the judgement of the memory: its context for real sessions compared with what readers wanted, whether it
//! brings back rules from conversations, and whether it shows current statements.

pub mod chains;
pub mod commits;
pub mod conversations;
pub mod gold;
pub mod needles;
pub mod rules;

use std::path::Path;

use serde_json::json;

use crate::home::Home;

/// Returns what the hook of a prompt shows: one line for each memory.
fn lines_of_prompt(home: &Home, cwd: &Path, prompt: &str, number: usize) -> Vec<String> {
    let payload = json!({"session_id": format!("00000000-0000-4000-8000-{number:012}"), "transcript_path": "", "cwd": cwd,
        "hook_event_name": "UserPromptSubmit", "prompt": prompt});
    let said = home.hook(&payload).context.unwrap_or_default();
    said.lines().filter(|line| line.starts_with("- ")).map(str::to_owned).collect()
}
