//! Notes written by people and agents: typed, tagged and related memories that are also kept as Markdown files in a
//! folder tracked with the code.
//!
//! A [`Note`] is a memory. This crate treats notes as data: it parses, checks and writes them, and opens no file. The
//! store keeps them, and `throughline-engine` syncs them with a folder.
//!
//! - [`registry`] has the note types, their relations, and the order in which a chain searches them. `registry.yaml` is
//!   the built-in one, to which a team can add.
//! - [`markdown`] and [`yaml`] read and write a note as a file. [`slug`] makes the file's name.
//! - [`schema`] and [`check`] say what is wrong with a file. [`links`] resolves what a note refers to.
//!
//! # Types and kinds
//!
//! A note's *kind* is the word that policies know (`error_fix`, `decision`, …), so a session is told of a note like of
//! any other memory. Its *type* is the memory protocol's (`root-cause`, `architecture-decision`, …). The registry says
//! which types belong to which kinds. So memories that policies extract are notes too and need not be stored twice, and
//! the contract needs no fourteen new kinds. The parts that other memories lack (tags, description, relations, file name)
//! are in the store's table `notes`. A memory that a policy made has no row there until it is synced.
//!
//! # Identity
//!
//! A note has an identifier that its file carries and that is the same on every machine. A file without one is given
//! one that follows from its content. A note that is edited keeps its row and its identifier. What the reading of its
//! session said about it is then forgotten; otherwise the next reading would undo the person's edit.
//!
//! # Front matter
//!
//! A YAML library reads the front matter. Unknown fields are kept as their source lines, or as JSON if lines do not
//! express them, such as a front matter that is one `{…}`.

pub mod check;
mod error;
pub mod links;
pub mod markdown;
pub mod registry;
pub mod schema;
pub mod slug;
pub mod yaml;

use std::path::{Path, PathBuf};

pub use error::NotesError;

use throughline_model::contract::Timestamp;
use throughline_model::files::{canonical, read_regular};
use throughline_model::invalid::Invalid;
use throughline_model::redacted::Texts;

/// The longest description, characters, set by the memory protocol.
pub const MAX_DESCRIPTION_CHARS: usize = 200;

/// The longest title, characters. The contract sets this limit for every memory.
pub const MAX_TITLE_CHARS: usize = 200;

/// The longest content, bytes. The contract sets this limit for every memory.
pub const MAX_CONTENT_BYTES: usize = 64 << 10;

/// The default folder of notes below a project's root.
pub const NOTES_FOLDER: &str = ".gsd/memories";

/// Returns the folder that `path` names for a project. A path in the project must not lead out of it: a repository may contain
/// a link to the notes of another project.
pub fn folder_of_project(root: &Path, path: &Path) -> Result<PathBuf, NotesError> {
    if path.starts_with(root) && !canonical(path).starts_with(canonical(root)) {
        return Err(NotesError::LeadsOut(path.to_owned()));
    }
    Ok(path.to_owned())
}

/// Reads a file of a team's in `folder`. Returns none if there is no such file. It must be a small regular file, and not lead
/// out of the folder by a link.
fn read_in_folder(folder: &Path, file: &Path, most: u64) -> Result<Option<String>, Invalid> {
    if matches!(file.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    if !canonical(file).starts_with(canonical(folder)) {
        return Err("it leads out of its folder by a link, and such links are not followed".into());
    }
    read_regular(file, most).map(Some).map_err(Invalid::because)
}

/// A note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// Stable, and the same on every machine that has the note.
    pub uid: String,
    /// The note type, such as `root-cause`.
    pub note_type: String,
    /// The kind of memory; empty for the default of its type.
    pub kind: String,
    /// The title, one line.
    pub title: String,
    /// The content in Markdown, without the title.
    pub content: String,
    /// The note's tags.
    pub tags: Vec<String>,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// One line of at most [`MAX_DESCRIPTION_CHARS`] characters.
    pub description: String,
    /// Related notes as they were written: see [`links::Link`].
    pub related: Vec<String>,
    /// Files that the note is about.
    pub files: Vec<String>,
    /// The importance, from 0 to 1.
    pub importance: f32,
    /// When the note was learned.
    pub created: Timestamp,
    /// The session in which it was learned; empty if none.
    pub session: String,
    /// The source text of unknown front matter fields.
    pub extra: String,
}

/// Makes a description for a note without one: the first sentence of its content.
pub fn describe(title: &str, content: &str) -> String {
    let prose = content
        .lines()
        .map(|line| line.trim_start_matches(['#', '>', '-', '*', ' ', '\t']).trim())
        .find(|line| !line.is_empty() && !line.starts_with("```") && *line != title)
        .unwrap_or(title);
    let end = prose
        .char_indices()
        .filter(|(at, c)| match c {
            '.' | '!' | '?' => prose[at + 1..].starts_with(' '),
            '。' | '！' | '？' => true,
            _ => false,
        })
        .map(|(at, c)| at + c.len_utf8())
        .find(|end| prose[..*end].chars().count() >= 20);
    one_line(&prose[..end.unwrap_or(prose.len())], MAX_DESCRIPTION_CHARS)
}

/// Puts a text on one line of at most `most` characters; it is only cut if it does not fit.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.chars().count() <= most {
        return line;
    }
    let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
    // Cut at the end of a word, unless that would remove much.
    if let Some(end) = cut.rfind(' ').filter(|end| *end > cut.len() / 2) {
        cut.truncate(end);
    }
    cut.push('…');
    cut
}

/// Splits a list at commas and newlines, without empty and duplicate items.
pub fn parse_list(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for item in text.split([',', '\n']).map(|item| one_line(item, MAX_TITLE_CHARS)).filter(|item| !item.is_empty()) {
        if !list.contains(&item) {
            list.push(item);
        }
    }
    list
}

impl Texts for Note {
    /// Everything that a person wrote. Identifier, type and session identify the note.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.title, &mut self.content, &mut self.description, &mut self.extra];
        texts.extend(&mut self.tags);
        texts.extend(&mut self.keywords);
        texts.extend(&mut self.related);
        texts.extend(&mut self.files);
        texts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_sentence_describes() {
        assert_eq!(describe("T", "## T\n\nThe pool was exhausted. It held ten."), "The pool was exhausted.");
        assert_eq!(
            describe("T", "인증 토큰이 만료되었는데 갱신되지 않았다。 그래서 실패했다"),
            "인증 토큰이 만료되었는데 갱신되지 않았다。"
        );
        assert_eq!(describe("T", ""), "T");
        assert_eq!(describe("T", "v1.2 is out. ok"), "v1.2 is out. ok");
        let long = describe("T", &"long words ".repeat(60));
        assert!(long.chars().count() <= MAX_DESCRIPTION_CHARS && long.ends_with('…'), "{long}");
    }

    #[test]
    fn lists_are_told_apart_by_commas() {
        assert_eq!(parse_list(" a, b,,a\nc "), ["a", "b", "c"]);
        assert!(parse_list(" , ").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_described_in_one_short_line(title in any::<String>(), content in any::<String>()) {
            let line = describe(&one_line(&title, MAX_TITLE_CHARS), &content);
            prop_assert!(line.chars().count() <= MAX_DESCRIPTION_CHARS && line.lines().count() <= 1);
        }
    }
}
