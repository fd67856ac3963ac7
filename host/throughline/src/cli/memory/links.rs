//! The links of a memory to earlier and later ones, for people and as JSON.

use std::fmt;

use serde::Serialize;

use crate::cli::error::CommandError;
use crate::cli::output::{self, DIM};
use throughline_engine::memory::marking::NamedMemory;
use throughline_search::supersession::{Change, Relation};
use throughline_store::{Replacement, Store, Supersession};

/// A link of the shown memory to another one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MemoryLink {
    /// Seen from this memory: `amends`, `reverses`, `refutes`, `completes` or `follows` an earlier one, or
    /// `amended_by`, `reversed_by`, `refuted_by`, `completed_by` or `followed_by` a later one.
    relation: String,
    /// The other memory's identifier.
    id: String,
    /// The other memory's title.
    title: String,
    /// When the other memory was learned; RFC 3339, UTC.
    created_at: String,
    /// Whether the later of the two, which only follows, may have changed the earlier one.
    may_change: bool,
    /// How similar the texts are, 0 to 1; none if a person or an agent stated the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f32>,
    /// When a person undid the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_at: Option<String>,
    /// The other memory's session.
    #[serde(skip)]
    session: String,
}

impl MemoryLink {
    /// Returns whether nobody undid it.
    pub(super) fn is_in_force(&self) -> bool {
        self.undone_at.is_none()
    }
}

impl fmt::Display for MemoryLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = self.created_at.get(..10).unwrap_or_default();
        write!(f, "{} {} of {day}: {}", self.relation.replace('_', " "), self.id, self.title)?;
        if self.may_change {
            write!(f, " (may have changed it)")?;
        }
        match (self.similarity, &self.undone_at) {
            (_, Some(_)) => write!(f, " (undone)"),
            (Some(similarity), None) => write!(f, " (found by comparing the texts, similarity {similarity:.2})"),
            (None, None) => write!(f, " (stated)"),
        }
    }
}

/// Describes links of a memory as seen from it.
pub(super) fn describe(store: &Store, id: &str, links: Vec<Supersession>) -> Result<Vec<MemoryLink>, CommandError> {
    let mut described = Vec::with_capacity(links.len());
    for link in links {
        let is_newer = link.newer == id;
        let other = if is_newer { link.older } else { link.newer };
        let Some(found) = store.memory(&other, None)?.into_iter().find(|found| found.memory.id == other) else { continue };
        described.push(MemoryLink {
            relation: if is_newer { link.relation.name().to_owned() } else { format!("{}_by", link.relation.done()) },
            id: other,
            title: found.memory.title,
            may_change: link.change > Change::Unlikely,
            created_at: output::timestamp(found.memory.created),
            similarity: link.similarity,
            undone_at: link.undone_at.map(output::timestamp),
            session: found.memory.session_id,
        });
    }
    Ok(described)
}

/// Returns the lines that tell of the links. A session says the same in several memories, such as a turn and its result: links to
/// them are one for a reader.
pub(super) fn lines(links: &[MemoryLink]) -> Vec<String> {
    let mut groups: Vec<Vec<&MemoryLink>> = Vec::new();
    for link in links {
        let is_same = |group: &&mut Vec<&MemoryLink>| {
            let of = group[0];
            let key = |it: &MemoryLink| (it.is_in_force(), it.may_change, it.similarity.is_some());
            !link.session.is_empty() && of.session == link.session && of.relation == link.relation && key(of) == key(link)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(link),
            None => groups.push(vec![link]),
        }
    }
    let line = |group: Vec<&MemoryLink>| {
        let others: Vec<&str> = group[1..].iter().map(|link| link.id.as_str()).collect();
        let others = if others.is_empty() { String::new() } else { format!("; the same in {}", others.join(", ")) };
        output::clean_line(&format!("{}{others}", group[0]))
    };
    groups.into_iter().map(line).collect()
}

/// The most columns of a title behind the identifier of its memory.
const MAX_TITLE_COLUMNS: usize = 100;

/// Describes a memory of a report: its identifier, type and title, as in a list.
pub(super) fn named(memory: &NamedMemory) -> String {
    let NamedMemory { id, kind, title } = memory;
    one_line(id, kind, title)
}

/// Describes a memory in what a command says of it: its identifier, type and title, as in a list.
pub(super) fn one_line(id: &str, kind: &str, title: &str) -> String {
    let title = output::fit(&output::clean_line(title), MAX_TITLE_COLUMNS);
    format!("{id}  {DIM}{}{DIM:#}  {title}", output::clean_line(kind))
}

/// Describes what holds instead of a memory, for the line below it in a list.
pub(super) fn replaced(replacement: &Replacement) -> String {
    let Replacement { head, relation } = replacement;
    let verb = if *relation == Relation::Follows { "see also" } else { relation.done() };
    format!("{verb} {}: [{}] {}", output::date(head.created), head.id, output::clean_line(&head.title))
}
