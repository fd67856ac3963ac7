//! Tests which parts of a consolidator's answer are stored if something was forgotten, learned or said while it ran.

use super::*;
use crate::{ConsolidatedMemories, NewMemory};
use throughline_model::contract::Memory;
use throughline_search::supersession::Relation;

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
    let stored = it.store.commit_consolidation(&project, "s", &redacted(made), ("p", "d"), |_| true, 3_000).unwrap();
    assert_eq!(stored, (2, 1));
    let left = it.store.recent(&MemoryFilter { project: Some(project.id.clone()), ..MemoryFilter::default() }, 10).unwrap();
    let mut left: Vec<&str> = left.iter().map(|memory| memory.content.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["The gate is green", "The queue and the gate", "The queue was in Redis"]);
}

#[test]
fn what_a_person_says_of_a_source_meanwhile_stands() {
    let (mut it, project) = (fixture(), project("a"));
    let texts =
        ["The queue is in Redis", "The otters are blue", "The gate is green", "The boat is small", "The pier is old"];
    let learned: Vec<Draft> =
        texts.iter().enumerate().map(|(n, text)| draft(Some(&format!("k{n}")), text, &format!("u{n}"))).collect();
    it.commit(&project, "s", &learned, &[]);
    let sources = it.store.session_sources(&project.id, "s").unwrap();
    let id = |n: usize| sources.iter().find(|it| it.key == format!("k{n}")).unwrap().memory.id.clone();
    // Each text in other words, in the place of the rules' own.
    let memories = texts.iter().enumerate().map(|(n, text)| NewMemory {
        draft: draft(Some(&format!("k{n}")), &format!("{text}, says the model"), "u0"),
        sources: vec![id(n)],
        replaced: vec![id(n)],
        ..NewMemory::default()
    });
    let made = ConsolidatedMemories { memories: memories.collect(), superseded: vec![(id(0), id(4))] };
    // The model works; meanwhile a person pins one, marks one wrong, puts a correction in the place of one, and says one anew.
    assert_eq!(it.store.pin(&id(0), 2_000, true).unwrap(), crate::PinOutcome::Pinned);
    it.store.mark_wrong(&id(1), None, 2_000, true).unwrap();
    it.commit(&project, "t", &[draft(Some("c"), "The gate is red", "v0")], &[]);
    let all = |it: &Fixture| {
        let filter =
            MemoryFilter { project: Some(project.id.clone()), marked: crate::Marked::Any, ..MemoryFilter::default() };
        let mut all = it.store.recent(&filter, 20).unwrap();
        all.sort_by(|a, b| a.content.cmp(&b.content));
        all
    };
    let correction = all(&it).into_iter().find(|memory| memory.content == "The gate is red").unwrap().id;
    it.store.supersede(&id(2), &correction, Relation::Amends, 2_000).unwrap();
    let mut said = learned[3].clone();
    said.attributes.push(SaidBy::Human.attribute());
    it.commit(&project, "s", &[said], &[]);

    let is_not_the_persons = |memory: &Memory| memory.said_by() != Some(SaidBy::Human);
    let stored =
        it.store.commit_consolidation(&project, "s", &redacted(made), ("p", "d"), is_not_the_persons, 3_000).unwrap();
    assert_eq!(stored, (1, 0), "only what nobody touched is replaced");
    let left: Vec<String> = all(&it).into_iter().map(|memory| memory.content).collect();
    assert_eq!(
        left,
        [
            "The boat is small",
            "The gate is green",
            "The gate is red",
            "The otters are blue",
            "The pier is old, says the model",
            "The queue is in Redis"
        ]
    );
    let seen = |it: &Fixture| -> Vec<String> {
        it.store.session_sources(&project.id, "s").unwrap().into_iter().map(|it| it.memory.content).collect()
    };
    assert!(!seen(&it).iter().any(|text| text.contains("otters") || text.contains("green")), "{:?}", seen(&it));
}
