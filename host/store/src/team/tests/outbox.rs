//! Tests of the outbox: only what a person has seen leaves, and what is redacted or forgotten goes from it.

use super::*;
use crate::{Fate, Selection};
use throughline_model::redacted::TextRedactor;

/// Replaces one word.
struct WithoutOkapi;

impl TextRedactor for WithoutOkapi {
    type Error = std::convert::Infallible;

    fn redact_texts(&mut self, texts: Vec<&mut String>) -> std::result::Result<(), Self::Error> {
        for text in texts {
            *text = text.replace("okapi", "[redacted]");
        }
        Ok(())
    }
}

impl Device {
    /// Saves a memory and stages it for a person; `keyword` is among its keywords.
    fn wait(&mut self, keyword: &str) -> String {
        self.saved += 1;
        let text = format!("memory {}", self.saved);
        let draft = Draft {
            kind: "decision".into(),
            title: text.clone(),
            content: text,
            keywords: vec![keyword.into()],
            ..Draft::default()
        };
        let (_, id) = self.store.save_memory(&project(), "", &redacted(draft), 10).unwrap();
        self.offer();
        id.unwrap()
    }

    /// Stages what is new or changed for a person, as `outbox::stage` of the engine does.
    fn offer(&mut self) {
        let (found, mark) = self.store.team_shareable(&project().id, "rules", 1_000).unwrap();
        let staged: Vec<_> =
            found.into_iter().map(|it| (it.memory.id.clone(), OutboxState::Review, self.record(it))).collect();
        self.store.team_stage(&project().id, &staged, ("rules", mark)).unwrap();
        self.store.team_stage_deletions().unwrap();
    }

    fn record(&self, it: Shareable) -> throughline_model::redacted::Redacted<Record> {
        let (item, replaces) = it.continues.unwrap_or_else(|| {
            let seed = throughline_model::digest::sha256_parts(&[self.id.as_str(), it.memory.id.as_str()]);
            (throughline_model::digest::hex(&seed[..16]), Vec::new())
        });
        record_of(redacted(SharedMemory {
            item,
            replaces,
            kind: it.memory.kind,
            title: it.memory.title,
            content: it.memory.content,
            keywords: it.memory.keywords,
            ..SharedMemory::default()
        }))
    }

    fn entry(&self) -> OutboxEntry {
        let mut entries = self.store.team_outbox(true).unwrap();
        assert_eq!(entries.len(), 1);
        entries.remove(0)
    }

    /// Does what printing the outbox does.
    fn look(&mut self) -> OutboxEntry {
        let entry = self.entry();
        self.store.team_mark_shown(&[&entry.hash]).unwrap();
        entry
    }

    /// A person writes another text for what waits.
    fn rewrite(&mut self, id: &str, content: &str) -> Decided {
        let entry = self.entry();
        let shared = SharedMemory { item: entry.item, content: content.into(), ..SharedMemory::default() };
        self.store.team_edit(id, &entry.hash, &record_of(redacted(shared))).unwrap()
    }
}

#[test]
fn only_a_text_that_a_person_has_seen_leaves() {
    let mut ann = Device::new(1, "ann");
    let id = ann.wait("otter");
    assert_eq!(ann.store.team_decide(&id, true).unwrap(), Decided::Unseen, "nobody has looked");
    assert_eq!(ann.rewrite(&id, "another"), Decided::Unseen);
    ann.look();
    ann.edit(0);
    let id = ann.memories()[0].1.clone();
    assert_eq!(ann.store.team_decide(&id, true).unwrap(), Decided::Unseen, "the memory has changed");
    ann.offer();
    assert!(!ann.entry().is_shown && ann.entry().body.unwrap().contains("edited"));
    assert_eq!(ann.store.team_decide(&id, true).unwrap(), Decided::Unseen, "a sync in the background has staged it");
    assert_eq!(ann.rewrite(&id, "another"), Decided::Unseen);
    let seen = ann.look();
    ann.offer();
    assert_eq!(ann.store.team_decide(&id, true).unwrap(), Decided::Done);
    let queued = ann.store.team_queue(&ann.id, 1 << 20, None).unwrap();
    assert_eq!(queued.iter().map(|it| Some(it.body.clone())).collect::<Vec<_>>(), [seen.body]);
    assert_eq!(ann.store.team_decide("ffffffffffff", true).unwrap(), Decided::Missing);
}

#[test]
fn what_is_redacted_or_forgotten_goes_from_the_outbox() {
    // A keyword, a text that a person wrote, and one that a person has approved.
    for (keyword, written, is_approved) in
        [("okapi", None, false), ("otter", Some("the okapi"), false), ("okapi", None, true)]
    {
        for is_forgotten in [false, true] {
            let mut ann = Device::new(1, "ann");
            let id = ann.wait(keyword);
            ann.look();
            if let Some(written) = written {
                assert_eq!(ann.rewrite(&id, written), Decided::Done);
            }
            if is_approved {
                assert_eq!(ann.store.team_decide(&id, true).unwrap(), Decided::Done);
                assert_eq!(ann.store.team_queue(&ann.id, 1 << 20, None).unwrap().len(), 1);
            }
            assert!(ann.entry().body.unwrap().contains("okapi"));
            if is_forgotten {
                let words = Selection { words: vec!["okapi".into()], ..Selection::default() };
                let shown = ann.store.forget(&words, 20, Fate::Shown).unwrap().counts;
                assert!(shown.memories + shown.notes > 0 && ann.entry().body.is_some());
                assert_eq!(ann.store.forget(&words, 20, Fate::Erased).unwrap().counts, shown);
                ann.store.erase().unwrap();
            } else {
                assert!(ann.store.scrub(&project().id, &mut WithoutOkapi, 20, true).unwrap() > 0);
                assert_eq!(ann.store.scrub(&project().id, &mut WithoutOkapi, 20, true).unwrap(), 0);
            }
            let bodies = |ann: &Device| ann.store.team_outbox(true).unwrap().into_iter().filter_map(|it| it.body);
            assert!(bodies(&ann).all(|body| !body.contains("okapi")));
            ann.offer();
            assert!(bodies(&ann).all(|body| !body.contains("okapi")), "nor is it made anew");
            assert_eq!(bodies(&ann).any(|body| body.contains("memory 1")), !is_forgotten || written.is_some());
            assert!(ann.store.team_queue(&ann.id, 1 << 20, None).unwrap().iter().all(|it| !it.body.contains("okapi")));
        }
    }
}

#[test]
fn the_outbox_is_redacted_again_without_a_scrub() {
    let mut ann = Device::new(1, "ann");
    ann.wait("okapi");
    assert_eq!(ann.store.team_scrub_outbox(&project().id, &mut WithoutOkapi, false).unwrap(), 1);
    assert!(ann.entry().body.is_some());
    assert_eq!(ann.store.team_scrub_outbox("another", &mut WithoutOkapi, true).unwrap(), 0);
    assert_eq!(ann.store.team_scrub_outbox(&project().id, &mut WithoutOkapi, true).unwrap(), 1);
    assert_eq!(ann.entry().body, None);
}

#[test]
fn what_was_cleaned_away_before_it_left_waits_for_nobody() {
    let mut device = Device::new(1, "ann");
    let id = device.wait("otter");
    device.look();
    assert_eq!(device.store.collect_garbage(u64::MAX >> 1, 0, None, true).unwrap(), 1);
    assert!(device.store.team_outbox(true).unwrap().is_empty());
    assert_eq!(device.store.team_decide(&id, true).unwrap(), Decided::Missing);
    // What has left stays with the team: no deletion follows.
    let sent = device.wait("otter");
    device.look();
    assert_eq!(device.store.team_decide(&sent, true).unwrap(), Decided::Done);
    let queued = device.store.team_queue(&device.id, 1 << 20, None).unwrap();
    device.store.team_acknowledge(&[queued[0].hash.clone()]).unwrap();
    assert_eq!(device.store.collect_garbage(u64::MAX >> 1, 0, None, true).unwrap(), 1);
    assert_eq!(device.store.team_stage_deletions().unwrap(), 0);
    assert!(device.store.team_queue(&device.id, 1 << 20, None).unwrap().is_empty());
}
