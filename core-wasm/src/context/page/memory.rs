//! What a memory is to a page: its text, and whether it is worth a line.

use crate::bindings::throughline::policy::types::Memory;
use crate::context::line::MAX_LINE_CHARS;
use crate::extract::failures::ROUTINE;
use crate::said_by::saved_by;
use crate::text;

/// Returns the text of a memory as it appears among others of its kind.
pub(in crate::context) fn memory_text(memory: &Memory) -> String {
    let content = text::one_line(&memory.content);
    let stands = match memory.kind.as_str() {
        // Their contents are whole documents.
        "plan" | "commit" => memory.title.is_empty(),
        // Their titles contain only the request.
        "turn" | "result" | "session_summary" => true,
        _ => memory.title.is_empty() || memory.title.ends_with('…') || content.chars().count() <= MAX_LINE_CHARS,
    };
    if stands && !content.is_empty() { content } else { memory.title.clone() }
}

/// Returns whether a memory only counts failures of a tool of the agent's that say nothing of the project: edits, of which what they
/// teach together is a memory of its own, and names of skills that the client does not know.
pub(in crate::context) fn teaches_nothing(memory: &Memory) -> bool {
    let is_counted = memory.keywords.iter().any(|word| word == "failure");
    let is_edit = || ["`Edit ", "`MultiEdit ", "`Write ", "`NotebookEdit "].iter().any(|it| memory.content.starts_with(it));
    let is_skill = || memory.content.starts_with("`Skill") && memory.content.contains("Unknown skill");
    (is_counted && is_edit()) || is_skill()
}

/// Returns whether a memory is a failure that is no news in one session: it is told if it returns in others.
pub(in crate::context) fn is_routine(memory: &Memory) -> bool {
    memory.keywords.iter().any(|word| word == ROUTINE)
}

/// Returns whether a memory was saved on purpose: by a command, a note or a tool, and not found in a transcript.
pub(in crate::context) fn is_saved(memory: &Memory) -> bool {
    memory.session_id.is_empty() || saved_by(memory).is_some()
}

/// Returns an insight, prefixed with its file unless it names the file itself.
pub(in crate::context) fn discovery(file: &str, insight: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    if name.is_empty() || insight.contains(name) { insight.to_owned() } else { format!("`{file}`: {insight}") }
}
