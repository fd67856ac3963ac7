//! Links between notes: `2026-02-23_pool-is-exhausted`, an identifier, `resolves:…`, and tags `related:…`.

use std::collections::HashMap;

use super::Note;
use super::registry::Registry;

/// The relation of a link that names none.
pub const RELATED: &str = "related";

/// A part of a name that has at least this many bytes is enough, if only one note matches.
pub const MIN_PARTIAL_NAME_BYTES: usize = 4;

/// A link of a note.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// [`RELATED`], or one of the registry's relations.
    pub relation: String,
    /// The other note's file name, with or without day, folder and extension, or its identifier.
    pub target: String,
}

impl Link {
    /// Parses one entry of `related`. Only relations that the registry knows count; otherwise the colon is part of the
    /// name.
    pub fn parse(text: &str, registry: &Registry) -> Option<Self> {
        let text = text.trim();
        // Obsidian writes links in double brackets, with the displayed text after a bar.
        let text = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]")).unwrap_or(text);
        let text = text.split_once('|').map_or(text, |(target, _)| target).trim();
        let (relation, target) = match text.split_once(':') {
            Some((relation, target)) if relation == RELATED || registry.relations().any(|known| known == relation) => {
                (relation, target)
            }
            _ => (RELATED, text),
        };
        let target = name(target);
        (!target.is_empty()).then(|| Self { relation: relation.to_owned(), target: target.to_owned() })
    }

    /// Returns all links of a note, from `related` and from its tags.
    pub fn all(note: &Note, registry: &Registry) -> Vec<Self> {
        let tagged = note.tags.iter().filter(|tag| tag.starts_with("related:"));
        let mut links: Vec<Self> =
            note.related.iter().chain(tagged).filter_map(|text| Self::parse(text, registry)).collect();
        links.sort();
        links.dedup();
        links
    }
}

/// Returns the bare name from a path with an extension.
fn name(target: &str) -> &str {
    let target = target.trim().trim_matches(['"', '\'']);
    let target = target.rsplit(['/', '\\']).next().unwrap_or(target);
    target.strip_suffix(".md").unwrap_or(target).trim()
}

/// Notes by every name that a link can use. Each note has an index, starting at 0, in the order in which notes were
/// added.
#[derive(Debug, Default)]
pub struct NameIndex<'a> {
    stems: Vec<&'a str>,
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> NameIndex<'a> {
    /// Adds a note with its file name and its identifiers.
    pub fn add(&mut self, stem: &'a str, ids: &[&'a str]) {
        let place = self.stems.len();
        self.stems.push(stem);
        for name in [stem, strip_day(stem)].iter().chain(ids) {
            let places = self.places.entry(name).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }

    /// Returns the indexes of the notes that a link's target refers to: those with this name, with or without the day,
    /// or with this identifier; otherwise the one whose name contains it.
    pub fn resolve(&self, target: &str) -> Vec<usize> {
        if let Some(places) = self.places.get(target) {
            return places.clone();
        }
        let is_part = |stem: &str| target.len() >= MIN_PARTIAL_NAME_BYTES && stem.contains(target);
        let mut parts = self.stems.iter().enumerate().filter(|(_, stem)| is_part(stem)).map(|(place, _)| place);
        match (parts.next(), parts.next()) {
            (Some(place), None) => vec![place],
            _ => Vec::new(),
        }
    }
}

/// Returns the name without its day: `pool-is-exhausted`.
pub fn strip_day(stem: &str) -> &str {
    match stem.split_once('_') {
        Some((day, slug)) if is_day(day) => slug,
        _ => stem,
    }
}

/// Returns whether a text has the form `2026-02-23`.
pub fn is_day(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<(String, String)> {
        Link::parse(text, &Registry::built_in()).map(|link| (link.relation, link.target))
    }

    #[test]
    fn links_are_named_in_every_form() {
        let is = |relation: &str, target: &str| Some((relation.to_owned(), target.to_owned()));
        assert_eq!(parse("2026-01-15_auth"), is("related", "2026-01-15_auth"));
        assert_eq!(parse("root-cause/2026-01-15_auth.md"), is("related", "2026-01-15_auth"));
        assert_eq!(parse("resolves:2026-01-15_auth"), is("resolves", "2026-01-15_auth"));
        assert_eq!(parse("related: 2026-01-15_auth"), is("related", "2026-01-15_auth"));
        assert_eq!(parse("[[2026-01-15_auth|the token]]"), is("related", "2026-01-15_auth"));
        assert_eq!(parse("about:blank"), is("related", "about:blank"));
        assert_eq!(parse(" "), None);
        assert_eq!(parse("resolves:"), None);
    }

    #[test]
    fn tags_link_too_and_once_is_enough() {
        let note = Note {
            tags: vec!["debug".into(), "related:a".into()],
            related: vec!["a".into(), "resolves:a".into()],
            ..Note::default()
        };
        let links = Link::all(&note, &Registry::built_in());
        assert_eq!(links.iter().map(|link| link.relation.as_str()).collect::<Vec<_>>(), ["related", "resolves"]);
    }

    #[test]
    fn a_part_of_a_name_is_enough_where_only_one_has_it() {
        let mut names = NameIndex::default();
        names.add("2026-01-15_auth-token", &["aaaaaaaaaaaa"]);
        names.add("2026-01-16_auth-token", &["bbbbbbbbbbbb"]);
        names.add("2026-01-16_jwt-validation", &["cccccccccccc"]);
        assert_eq!(names.resolve("2026-01-15_auth-token"), [0]);
        assert_eq!(names.resolve("auth-token"), [0, 1]);
        assert_eq!(names.resolve("cccccccccccc"), [2]);
        assert_eq!(names.resolve("validation"), [2]);
        assert!(names.resolve("auth").is_empty() && names.resolve("jwt").is_empty());
    }

    #[test]
    fn days_are_told_from_words() {
        assert_eq!(strip_day("2026-01-15_auth_token"), "auth_token");
        assert_eq!(strip_day("snake_case"), "snake_case");
        assert_eq!(strip_day("2026-13-15_auth"), "2026-13-15_auth");
    }

    proptest! {
        #[test]
        fn any_text_is_a_link_or_none(text in any::<String>()) {
            if let Some(link) = Link::parse(&text, &Registry::built_in()) {
                prop_assert!(!link.target.is_empty() && !link.target.contains('/'));
            }
        }
    }
}
