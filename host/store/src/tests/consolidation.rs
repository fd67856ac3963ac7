//! Tests which parts of a consolidator's answer are stored if something was forgotten while it ran.

use super::*;
use crate::{ConsolidatedMemories, NewMemory};

#[test]
fn what_was_made_of_a_forgotten_memory_is_not_stored() {
    let (mut it, project) = (fixture(), project("a"));
    let drafts = ["The queue is in Redis", "The otters are in the boathouse", "The gate is green"];
    let drafts: Vec<Draft> =
        drafts.iter().enumerate().map(|(n, text)| draft(Some(&format!("k{n}")), text, &format!("u{n}"))).collect();
    it.commit(&project, "s", &drafts, &[]);
    let sources = it.store.session_sources(&project.id, "s").unwrap();
    let id = |text: &str| sources.iter().find(|it| it.memory.content.contains(text)).unwrap().memory.id.clone();
    let made_of = |key: Option<&str>, text: &str, sources: &[&str], supersedes: &[&str]| NewMemory {
        draft: draft(key, text, "u0"),
        sources: sources.iter().map(|text| id(text)).collect(),
        supersedes: supersedes.iter().map(|text| id(text)).collect(),
        ..NewMemory::default()
    };
    let made = ConsolidatedMemories {
        memories: vec![
            // The first takes the place of a source that the second was made of, too.
            made_of(Some("k0"), "The queue was in Redis", &["queue"], &[]),
            made_of(None, "The queue and the gate", &["queue", "gate"], &["gate"]),
            made_of(None, "The otters and the gate", &["otters", "gate"], &["gate"]),
        ],
        superseded: vec![(id("otters"), id("gate"))],
    };
    // The model works; meanwhile a person forgets.
    it.store.delete_memory(&id("otters"), 2_000).unwrap();
    let stored = it.store.commit_consolidation(&project, "s", &redacted(made), ("p", "d"), 3_000).unwrap();
    assert_eq!(stored, (2, 1));
    let left = it.store.recent(&MemoryFilter { project: Some(project.id.clone()), ..MemoryFilter::default() }, 10).unwrap();
    let mut left: Vec<&str> = left.iter().map(|memory| memory.content.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["The gate is green", "The queue and the gate", "The queue was in Redis"]);
}
