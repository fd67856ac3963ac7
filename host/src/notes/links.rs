//! How notes name each other: `2026-02-23_pool-is-exhausted`, an identifier, `resolves:…`, and tags `related:…`.

use super::Note;
use super::registry::Registry;

/// The relation of a link that says nothing else.
pub const RELATED: &str = "related";

/// From so many bytes on, a part of a name is enough where only one note has it.
pub const SHORTEST_PART: usize = 4;

/// One link of a note.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// [`RELATED`], or one of the registry's.
    pub relation: String,
    /// The other note's name as a file, with or without day, folder and ending, or its identifier.
    pub target: String,
}

impl Link {
    /// What one entry of `related` says. Only a relation that the registry knows is one; else the colon is part of the name.
    pub fn parse(text: &str, registry: &Registry) -> Option<Self> {
        let text = text.trim();
        // Obsidian writes links in double brackets, with what they are called after a bar.
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

    /// All links of a note: of `related`, and of its tags.
    pub fn all(note: &Note, registry: &Registry) -> Vec<Self> {
        let tagged = note.tags.iter().filter(|tag| tag.starts_with("related:"));
        let mut links: Vec<Self> =
            note.related.iter().chain(tagged).filter_map(|text| Self::parse(text, registry)).collect();
        links.sort();
        links.dedup();
        links
    }
}

/// The name alone of what may be a path with an ending.
fn name(target: &str) -> &str {
    let target = target.trim().trim_matches(['"', '\'']);
    let target = target.rsplit(['/', '\\']).next().unwrap_or(target);
    target.strip_suffix(".md").unwrap_or(target).trim()
}

/// What a note can be named by: the name of its file, and identifiers.
pub type Names<'a> = (&'a str, Vec<&'a str>);

/// Which of the notes, by their place among `names`, a link's target means: those of this name, with its day or without, or of this
/// identifier; else the one whose name has it as a part.
pub fn meant(target: &str, names: &[Names<'_>]) -> Vec<usize> {
    let places = |holds: fn(&Names<'_>, &str) -> bool| -> Vec<usize> {
        names.iter().enumerate().filter(|(_, name)| holds(name, target)).map(|(at, _)| at).collect()
    };
    let exact = places(|(stem, ids), target| *stem == target || without_day(stem) == target || ids.contains(&target));
    if !exact.is_empty() || target.len() < SHORTEST_PART {
        return exact;
    }
    let parts = places(|(stem, _), target| stem.contains(target));
    if parts.len() == 1 { parts } else { Vec::new() }
}

/// The name without its day: `pool-is-exhausted`.
pub fn without_day(stem: &str) -> &str {
    match stem.split_once('_') {
        Some((day, slug)) if is_day(day) => slug,
        _ => stem,
    }
}

/// Whether a text is written as `2026-02-23`.
pub fn is_day(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<(String, String)> {
        Link::parse(text, &Registry::own()).map(|link| (link.relation, link.target))
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
        let links = Link::all(&note, &Registry::own());
        assert_eq!(links.iter().map(|link| link.relation.as_str()).collect::<Vec<_>>(), ["related", "resolves"]);
    }

    #[test]
    fn a_part_of_a_name_is_enough_where_only_one_has_it() {
        let names = [
            ("2026-01-15_auth-token", vec!["aaaaaaaaaaaa"]),
            ("2026-01-16_auth-token", vec!["bbbbbbbbbbbb"]),
            ("2026-01-16_jwt-validation", vec!["cccccccccccc"]),
        ];
        assert_eq!(meant("2026-01-15_auth-token", &names), [0]);
        assert_eq!(meant("auth-token", &names), [0, 1]);
        assert_eq!(meant("cccccccccccc", &names), [2]);
        assert_eq!(meant("validation", &names), [2]);
        assert!(meant("auth", &names).is_empty() && meant("jwt", &names).is_empty());
    }

    #[test]
    fn days_are_told_from_words() {
        assert_eq!(without_day("2026-01-15_auth_token"), "auth_token");
        assert_eq!(without_day("snake_case"), "snake_case");
        assert_eq!(without_day("2026-13-15_auth"), "2026-13-15_auth");
    }

    proptest! {
        #[test]
        fn any_text_is_a_link_or_none(text in any::<String>()) {
            if let Some(link) = Link::parse(&text, &Registry::own()) {
                prop_assert!(!link.target.is_empty() && !link.target.contains('/'));
            }
        }
    }
}
