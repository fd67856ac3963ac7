//! Notes that people and agents write: typed, tagged and related memories, which also stand as Markdown in a folder that is
//! tracked with the code.
//!
//! A note is a memory; what of it policies have no word for (tags, description, relations, its name as a file) stands in tables
//! of its own (`store/notes.rs`). What policies find by themselves becomes a note where its kind is of a type.

pub mod check;
pub mod links;
pub mod markdown;
pub mod registry;
pub mod schema;
pub mod slug;
pub mod yaml;

use throughline_model::contract::Timestamp;

/// The longest description, characters: the memory protocol says so.
pub const MOST_DESCRIPTION: usize = 200;

/// The longest title, characters: the contract says so of every memory.
pub const MOST_TITLE: usize = 200;

/// The longest content, bytes: the contract says so of every memory.
pub const MOST_CONTENT: usize = 64 << 10;

/// The folder of notes below a project's root, where nothing else is said.
pub const FOLDER: &str = ".gsd/memories";

/// A note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// Stable, and the same on every machine that the note came to.
    pub uid: String,
    /// Its type, such as `root-cause`.
    pub note_type: String,
    /// The kind of memory that it is; empty: the one of its type.
    pub kind: String,
    /// One line.
    pub title: String,
    /// Markdown, without the title.
    pub content: String,
    /// What it is filed under.
    pub tags: Vec<String>,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// One line of at most [`MOST_DESCRIPTION`] characters.
    pub description: String,
    /// Notes that it is related to, as they were written: [`links::Link`].
    pub related: Vec<String>,
    /// Files that it is about.
    pub files: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    /// When it was learned.
    pub created: Timestamp,
    /// The session in which it was learned; empty: none.
    pub session: String,
    /// Fields of its front matter that we do not know, as they stand there.
    pub extra: String,
}

/// The description of a note that was given none: the first sentence of what it says.
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
    one_line(&prose[..end.unwrap_or(prose.len())], MOST_DESCRIPTION)
}

/// A text on one line of at most `most` characters, whole where it fits.
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
    // At a word's end, unless that would take away much.
    if let Some(end) = cut.rfind(' ').filter(|end| *end > cut.len() / 2) {
        cut.truncate(end);
    }
    cut.push('…');
    cut
}

/// What is written between commas, or one a line, without what is empty or said twice.
pub fn listed(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for item in text.split([',', '\n']).map(|item| one_line(item, MOST_TITLE)).filter(|item| !item.is_empty()) {
        if !list.contains(&item) {
            list.push(item);
        }
    }
    list
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
        assert!(long.chars().count() <= MOST_DESCRIPTION && long.ends_with('…'), "{long}");
    }

    #[test]
    fn lists_are_told_apart_by_commas() {
        assert_eq!(listed(" a, b,,a\nc "), ["a", "b", "c"]);
        assert!(listed(" , ").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_described_in_one_short_line(title in any::<String>(), content in any::<String>()) {
            let line = describe(&one_line(&title, MOST_TITLE), &content);
            prop_assert!(line.chars().count() <= MOST_DESCRIPTION && line.lines().count() <= 1);
        }
    }
}
