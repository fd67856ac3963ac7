//! Reads what Claude Code noted by itself: the Markdown files of its auto memory, which are in a folder beside each project's transcripts.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::Result;

use super::input::{MAX_FILE_BYTES, read_text, short_hash};
use super::markdown;
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use crate::import::line::{Line, title_of};
use throughline_agents::loaded_files;
use throughline_agents::protocol::claude_code;
use throughline_model::said_by::SaidBy;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "claude-memory",
    about: "What Claude Code noted by itself (its auto memory)",
    places: &["projects/*/memory/*.md in Claude Code's folder"],
    locations: &[DefaultLocation { root: Root::Agent, folder: "projects", files: &["*/memory/*.md"] }],
    instead: &[],
    takes_all_markdown: false,
    has_own_project: false,
    read,
};

/// How many bytes of a transcript are searched for its folder.
const HEAD_BYTES: u64 = 256 << 10;

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    const WHAT: &str = "notes";
    let Some(project) = project_of(source, sink) else {
        sink.fail(WHAT, "", "nothing says which project it is about; name the project with --project");
        return Ok(());
    };
    let (text, modified) = match read_text(source, MAX_FILE_BYTES) {
        Ok(read) => read,
        Err(reason) => {
            sink.fail(WHAT, "", reason);
            return Ok(());
        }
    };
    let (front, body) = markdown::front_and_body(&text);
    let is_index = source.file_name().is_some_and(|name| name == loaded_files::INDEX);
    let body = if is_index { without_links(body) } else { body.to_owned() };
    if body.trim().is_empty() {
        sink.skip(WHAT, "an index of the files beside it", 1);
        return Ok(());
    }
    let field = |name: &str| front.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
    let kind = match field("type").as_deref() {
        Some("user" | "feedback") => "preference",
        _ => "learning",
    };
    let line = Line {
        id: Some(short_hash(&[&source.to_string_lossy()])),
        project: Some(project),
        kind: kind.into(),
        title: field("description").or_else(|| field("name")).unwrap_or_else(|| title_of(&body)),
        content: body,
        importance: 0.5,
        created: modified,
        // The agent wrote this text, even if it repeats what the user said.
        said_by: Some(SaidBy::Agent),
        ..Line::default()
    };
    sink.add_memory(Row { what: WHAT, place: String::new(), line })
}

/// Returns the folder of the project. The folder's name does not tell: it replaces every character that is not a letter or a digit. So
/// a transcript beside it is asked, then the projects that are known.
fn project_of(source: &Path, sink: &Sink<'_>) -> Option<String> {
    let folder = source.parent()?.parent()?;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let cwd = |path: &Path| {
        let mut head = Vec::new();
        File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
        claude_code::head(String::from_utf8_lossy(&head).lines()).cwd
    };
    let said = entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).find_map(|path| cwd(&path));
    let name = folder.file_name()?.to_str()?;
    let known = || sink.known_folders().find(|root| claude_code::slug(root) == name).map(Path::to_path_buf);
    said.or_else(known).map(|folder| folder.to_string_lossy().into_owned()).or_else(|| sink.fallback.clone())
}

/// Returns the index without its headings and without the lines that only name the files beside it.
fn without_links(body: &str) -> String {
    let names_a_file = |line: &str| line.contains("](") && line.contains(".md)");
    body.lines()
        .filter(|line| !line.trim_start().starts_with('#') && !names_a_file(line))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_index_only_its_own_words_stay() {
        let index = "# Memory\n\n- [Otters](otters.md): how they sleep\n- Use pnpm here\n";
        assert_eq!(without_links(index), "- Use pnpm here");
        assert_eq!(without_links("# Memory\n- [Otters](otters.md)\n"), "");
    }
}
