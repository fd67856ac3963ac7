//! Tests of digests: what may be folded, how it is restored, and that forgetting, redacting and rereading still reach
//! it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::tests::{Fixture, all_redacted, fixture, project, redacted};
use super::*;
use throughline_model::contract::{Draft, Origin};
use throughline_model::project::Project;
use throughline_model::redacted::TextRedactor;
use throughline_notes::Note;
use throughline_search::query::Query;

const DAY: u64 = 24 * 60 * 60 * 1000;

/// The current time in these tests.
const NOW: u64 = 1_000 * DAY;

fn folding(project: &Project) -> FoldOptions<'_> {
    FoldOptions { project: Some(&project.id), before: NOW - 180 * DAY, below: 0.45, turns: false, summaries: 3, now: NOW }
}

/// Returns a session's draft with a word of its own.
fn said(kind: &str, word: &str, day: u64) -> Draft {
    Draft {
        key: Some(format!("k-{word}")),
        kind: kind.into(),
        title: format!("About {word}"),
        content: format!("The {word} is kept in the second drawer, because the first one is stuck."),
        keywords: vec!["drawer".into(), word.into()],
        files: vec![format!("src/{word}.rs")],
        importance: 0.5,
        origin: Origin { line_uuid: Some(format!("u-{word}")), at: Some(day * DAY) },
        attributes: vec![("tool".into(), "Bash".into())],
    }
}

/// Returns words of which none is part of another.
fn otter(n: usize) -> String {
    format!("otter{}", ["b", "c", "d", "f", "g", "k"][n])
}

/// Stores six old decisions of one session, `otterb` to `otterk`.
fn otters(it: &mut Fixture, project: &Project) {
    let drafts: Vec<Draft> = (0..6).map(|n| said("decision", &otter(n), 10 + n as u64)).collect();
    it.commit(project, "s1", &drafts, &[]);
}

fn fold(it: &mut Fixture, project: &Project) -> Vec<String> {
    let folding = folding(project);
    let groups = it.store.foldable(&folding).unwrap();
    groups.iter().filter_map(|group| it.store.fold(group, &folding).unwrap()).collect()
}

/// Returns the identifiers and titles of search results.
fn search(it: &Fixture, words: &str, project: &Project) -> Vec<(String, String)> {
    let query = Query::parse(words, &jiff::Zoned::now());
    let profile = throughline_search::rank::find_profile("text").unwrap();
    let found = it.store.search(&Search { profile, ..Search::new(&query, Some(&project.id), 50, NOW) }).unwrap();
    found.hits.into_iter().map(|hit| (hit.memory.id, hit.memory.title)).collect()
}

fn listed(it: &Fixture) -> Vec<throughline_model::contract::Memory> {
    it.store.recent(&MemoryFilter::default(), 1_000).unwrap()
}

/// Returns everything stored about memories and their index.
fn rows(it: &Fixture) -> Vec<String> {
    let mut all = Vec::new();
    for sql in [
        "SELECT json_array(rowid, id, session_id, type, title, content, hex(content_hash), keywords, files, metadata, importance, weight,
                seen_count, maker, created_at, access_count, digest) FROM memories ORDER BY rowid",
        "SELECT id FROM memories_fts_docsize ORDER BY id",
        "SELECT piece || hex(vector) FROM vectors ORDER BY piece",
        "SELECT rowid || ' ' || words FROM (SELECT rowid, 'otter' AS words FROM memories_fts WHERE memories_fts MATCH 'drawer')",
        "SELECT session_id || key || memory || line_uuid || at FROM sightings ORDER BY 1",
        "SELECT memory || ' ' || made_at FROM digests",
    ] {
        let mut select = it.store.conn.prepare(sql).unwrap();
        let rows = select.query_map([], |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
        all.extend(rows.map(|value| match value.unwrap() {
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        }));
    }
    all
}

#[track_caller]
fn sound(it: &Fixture) {
    assert_eq!(it.store.faults().unwrap(), []);
}

#[test]
fn a_digest_says_a_line_of_each_and_takes_their_place() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    it.commit(&project, "s1", &[said("decision", "heron", 990)], &[]);
    let vectors =
        |it: &Fixture| -> i64 { it.store.conn.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0)).unwrap() };
    assert_eq!(vectors(&it), 7);
    let ids = fold(&mut it, &project);
    assert_eq!(ids.len(), 1);
    let all = listed(&it);
    assert_eq!(all.iter().map(|of| of.kind.as_str()).collect::<Vec<_>>(), ["decision"; 2]);
    let digest = all.iter().find(|of| of.id == ids[0]).unwrap();
    assert_eq!(digest.title, "Digest of 6 × decision, 1970-01-11 to 1970-01-16: drawer, otterb, otterc, otterd, otterf");
    assert_eq!((digest.session_id.as_str(), digest.created, digest.importance), ("s1", 15 * DAY, 0.5));
    assert_eq!(digest.content.lines().count(), 6);
    let folded = it.store.folded(&ids[0]).unwrap().unwrap();
    assert_eq!(folded.sources.len(), 6);
    let first = &folded.sources[0];
    assert_eq!(
        digest.content.lines().next().unwrap(),
        format!(
            "- {} 1970-01-11 About otterb — The otterb is kept in the second drawer, because the first one is stuck.",
            first.id
        )
    );
    // Each is found by its words, through the digest. The memory itself is found only by its identifier.
    for n in 0..6 {
        assert_eq!(search(&it, &otter(n), &project), [(ids[0].clone(), digest.title.clone())]);
    }
    assert_eq!(it.store.memory(&first.id, None).unwrap()[0].digest.as_deref(), Some(ids[0].as_str()));
    assert!(vectors(&it) < 7);
    let stats = it.store.stats(Some(&project.id)).unwrap();
    assert_eq!((stats.memories, stats.compressed, stats.digests), (2, 6, 1));
    assert_eq!(stats.types, [("decision".to_owned(), 2)]);
    assert!(fold(&mut it, &project).is_empty(), "what is folded is not folded again");
    sound(&it);
}

#[test]
fn what_comes_back_is_what_it_was() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let before = rows(&it);
    let ids = fold(&mut it, &project);
    assert_ne!(rows(&it), before);
    let UnfoldOutcome::Back(back) = it.store.unfold(&ids[0], NOW).unwrap() else { panic!("it did not come back") };
    assert_eq!(back.len(), 6);
    assert_eq!(rows(&it), before);
    assert_eq!(it.store.unfold(&ids[0], NOW).unwrap(), UnfoldOutcome::NotFolded);
    // It was accessed, so it is not folded again at once.
    assert!(fold(&mut it, &project).is_empty());
    sound(&it);
}

#[test]
fn one_comes_back_alone_and_leaves_its_digest() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let ids = fold(&mut it, &project);
    let source = it.store.folded(&ids[0]).unwrap().unwrap().sources[2].clone();
    assert!(matches!(it.store.unfold(&source.id, NOW).unwrap(), UnfoldOutcome::Back(back) if back.len() == 1));
    assert_eq!(search(&it, "otterd", &project), [(source.id, "About otterd".to_owned())]);
    let digest = &it.store.memory(&ids[0], None).unwrap()[0].memory;
    assert_eq!(digest.content.lines().count(), 5);
    assert!(!digest.content.contains("otterd") && !digest.keywords.contains(&"otterd".into()));
    sound(&it);
}

/// Protects each memory in a different way; none of them may be folded, and the six beside them are.
#[test]
fn what_somebody_wrote_shared_confirmed_or_needs_is_never_folded() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    for kind in ["preference", "correction", "architecture", "convention", "task", "plan", "failure", "turn"] {
        let drafts: Vec<Draft> = (0..6).map(|n| said(kind, &format!("{kind}{n}"), 10)).collect();
        it.commit(&project, "s2", &drafts, &[]);
    }
    let mut many: Vec<Draft> = ["looked", "shared", "twice", "saved", "noted"].map(|word| said("learning", word, 10)).into();
    many.push(Draft { importance: 0.9, ..said("learning", "weighty", 10) });
    it.commit(&project, "s3", &many, &[]);
    let id = |it: &Fixture, word: &str| search(it, word, &project)[0].0.clone();
    it.store.mark_shown(&[id(&it, "looked")], None, "lookup", NOW - DAY).unwrap();
    it.store.share(&id(&it, "shared"), NOW).unwrap().unwrap();
    it.commit(
        &project,
        "s4",
        &[Draft { origin: Origin { line_uuid: Some("other".into()), at: Some(20 * DAY) }, ..many[2].clone() }],
        &[],
    );
    // The same text, saved by the user.
    it.store.save_memory(&project, "", &redacted(Draft { key: None, ..many[3].clone() }), NOW).unwrap();
    it.store.conn.execute(
        "INSERT INTO notes (memory, project_id, uid, type, stem, body_hash, tags, keywords, description, related)
         SELECT rowid, project_id, 'x', 'general', 'x', x'00', '[]', '[]', '', '[]' FROM memories WHERE title = 'About noted'", [],
    ).unwrap();
    // Only saved by the user, and imported.
    for n in 0..6 {
        it.store
            .save_memory(&project, "", &redacted(Draft { key: None, ..said("decision", &format!("mine{n}"), 10) }), 10 * DAY)
            .unwrap();
    }
    let imports: Vec<Import> = (0..6)
        .map(|n| Import {
            project: project.clone(),
            session: "s5".into(),
            key: None,
            id: None,
            marks: crate::Marks::default(),
            draft: Draft { key: None, ..said("decision", &format!("theirs{n}"), 10) },
        })
        .collect();
    it.store.import(&all_redacted(&imports), NOW).unwrap();
    // Recent memories.
    let young: Vec<Draft> = (0..6).map(|n| said("decision", &format!("young{n}"), 900)).collect();
    it.commit(&project, "s6", &young, &[]);

    let ids = fold(&mut it, &project);
    assert_eq!(ids.len(), 1);
    let sources = it.store.folded(&ids[0]).unwrap().unwrap().sources;
    assert!(sources.iter().all(|of| of.title.starts_with("About otter")), "{sources:?}");
    sound(&it);
    // Turns are folded if that is requested.
    let with_turns = FoldOptions { turns: true, ..folding(&project) };
    let groups = it.store.foldable(&with_turns).unwrap();
    assert_eq!(groups.iter().map(|group| group.kind.as_str()).collect::<Vec<_>>(), ["turn"]);
}

#[test]
fn of_summaries_the_newest_stay_whatever_their_age() {
    let (mut it, project) = (fixture(), project("a"));
    for n in 0..9 {
        let summary = Draft { importance: 0.9, ..said("compact_summary", &format!("summary{n}"), 990 + n) };
        it.commit(&project, &format!("s{n}"), &[summary], &[]);
    }
    let ids = fold(&mut it, &project);
    let sources = it.store.folded(&ids[0]).unwrap().unwrap().sources;
    let titles: Vec<&str> = sources.iter().map(|of| of.title.as_str()).collect();
    assert_eq!(
        titles,
        ["summary0", "summary1", "summary2", "summary3", "summary4", "summary5"].map(|it| format!("About {it}"))
    );
    assert_eq!(listed(&it).len(), 4);
}

#[test]
fn groups_are_of_a_session_or_of_a_time_and_of_five_to_thirty() {
    let (mut it, project) = (fixture(), project("a"));
    // 65 in one session; 2 in each of four sessions within a week; 4 isolated ones.
    let drafts: Vec<Draft> = (0..65).map(|n| said("learning", &format!("many{n}"), 10)).collect();
    it.commit(&project, "big", &drafts, &[]);
    for session in 0..4 {
        let drafts: Vec<Draft> = (0..2).map(|n| said("learning", &format!("few{session}x{n}"), 100 + session)).collect();
        it.commit(&project, &format!("small{session}"), &drafts, &[]);
    }
    for n in 0..4 {
        it.commit(&project, &format!("lone{n}"), &[said("learning", &format!("lone{n}"), 400)], &[]);
    }
    let groups = it.store.foldable(&folding(&project)).unwrap();
    let mut sizes: Vec<usize> = groups.iter().map(|group| it.store.group_sources(group).unwrap().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [8, 21, 22, 22]);
    let ids = fold(&mut it, &project);
    assert_eq!(ids.len(), 4);
    assert!(it.store.memory(&ids[3], None).unwrap()[0].memory.session_id.is_empty(), "of several sessions");
    sound(&it);
}

#[test]
fn what_is_read_again_stays_folded_and_what_is_learned_again_comes_back() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let ids = fold(&mut it, &project);
    let folded = rows(&it);
    otters(&mut it, &project);
    // A fork has the same lines.
    assert_eq!(rows(&it), folded);
    it.commit(&project, "fork", &[said("decision", "otterc", 11)], &[]);
    assert_eq!(listed(&it).len(), 1);

    let again = Draft { origin: Origin { line_uuid: Some("new".into()), at: Some(NOW) }, ..said("decision", "otterc", 0) };
    it.commit(&project, "s2", &[again], &[]);
    let found = search(&it, "otterc", &project);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, "About otterc");
    assert_eq!(it.store.folded(&ids[0]).unwrap().unwrap().sources.len(), 5);
    assert!(fold(&mut it, &project).is_empty());
    sound(&it);

    // A session that retracts it removes it from the digest, too.
    it.commit(&project, "s1", &[], &["k-otterf".into()]);
    assert!(search(&it, "otterf", &project).is_empty());
    sound(&it);
}

#[test]
fn purged_sources_lose_their_texts_and_nothing_else() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let ids = fold(&mut it, &project);
    assert_eq!(it.store.purge(NOW, None, NOW, true).unwrap(), 0, "it was made now");
    assert_eq!(it.store.purge(NOW + 1, Some("other"), NOW + 1, true).unwrap(), 0);
    assert_eq!(it.store.purge(NOW + 1, None, NOW + 1, false).unwrap(), 6);
    assert!(it.store.folded(&ids[0]).unwrap().unwrap().purged_at.is_none());
    assert_eq!(it.store.purge(NOW + 1, Some(&project.id), NOW + 1, true).unwrap(), 6);
    let folded = it.store.folded(&ids[0]).unwrap().unwrap();
    assert_eq!(folded.purged_at, Some(NOW + 1));
    assert!(folded.sources[0].title.starts_with("About otterb — The otterb"), "{folded:?}");
    assert_eq!(it.store.unfold(&ids[0], NOW).unwrap(), UnfoldOutcome::Purged);
    assert_eq!(it.store.unfold(&folded.sources[0].id, NOW).unwrap(), UnfoldOutcome::Purged);
    assert_eq!(search(&it, "otterg", &project).len(), 1);
    sound(&it);
    // Reading the same transcript restores nothing; another session does, with its text.
    otters(&mut it, &project);
    assert_eq!(listed(&it).len(), 1);
    let again = Draft { origin: Origin { line_uuid: Some("new".into()), at: Some(NOW) }, ..said("decision", "otterc", 0) };
    it.commit(&project, "s2", &[again], &[]);
    let back = search(&it, "otterc", &project);
    assert_eq!(back.len(), 1);
    assert_eq!(it.store.memory(&back[0].0, None).unwrap()[0].memory.content, said("decision", "otterc", 0).content);
    // Forget by words that only the digest's line contains.
    let selection = Selection { words: vec!["otterg".into()], ..Selection::default() };
    assert_eq!(it.store.forget(&selection, NOW, Fate::Shown).unwrap().memories.len(), 1);
    assert_eq!(it.store.forget(&selection, NOW, Fate::Erased).unwrap().counts.memories, 1);
    assert!(search(&it, "otterg", &project).is_empty());
    assert!(!rows(&it).concat().contains("otterg is"));
    otters(&mut it, &project);
    assert!(search(&it, "otterg", &project).is_empty());
    assert_eq!(search(&it, "otterk", &project).len(), 1);
    sound(&it);
}

#[test]
fn forgetting_reaches_sources_and_the_lines_of_digests() {
    for which in 0..4 {
        let (mut it, project) = (fixture(), project("a"));
        otters(&mut it, &project);
        let ids = fold(&mut it, &project);
        let selection = match which {
            0 => Selection { words: vec!["otterd".into()], ..Selection::default() },
            1 => Selection { session: Some("s1".into()), ..Selection::default() },
            2 => Selection { project: Some(project.id.clone()), ..Selection::default() },
            _ => Selection { before: Some(12 * DAY), ..Selection::default() },
        };
        let gone = [1, 6, 6, 2][which];
        assert_eq!(it.store.forget(&selection, NOW, Fate::Shown).unwrap().memories.len(), gone);
        assert_eq!(it.store.forget(&selection, NOW, Fate::Erased).unwrap().counts.memories, gone as u64);
        let left = it.store.memory(&ids[0], None).unwrap();
        assert_eq!(left.first().map_or(0, |of| of.memory.content.lines().count()), 6 - gone);
        let text = rows(&it).concat();
        let is_gone = |n: usize| match which {
            0 => n == 2,
            3 => n < 2,
            _ => true,
        };
        for n in 0..6 {
            assert_eq!(text.contains(&format!("The {} is", otter(n))), !is_gone(n), "{which} {n}");
        }
        otters(&mut it, &project);
        for n in 0..6 {
            // Memories of a forgotten session or project are also kept out by intervals, outside of the store; the
            // store keeps their hashes.
            assert_eq!(search(&it, &otter(n), &project).len(), usize::from(!is_gone(n)), "{which} {n}");
        }
        sound(&it);
    }
}

#[test]
fn deleting_a_digest_deletes_what_it_was_made_of() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let ids = fold(&mut it, &project);
    let source = it.store.folded(&ids[0]).unwrap().unwrap().sources[0].id.clone();
    assert!(it.store.delete_memory(&source, NOW).unwrap());
    assert!(search(&it, "otterb", &project).is_empty());
    assert_eq!(it.store.folded(&ids[0]).unwrap().unwrap().sources.len(), 5);
    assert!(it.store.delete_memory(&ids[0], NOW).unwrap());
    otters(&mut it, &project);
    assert_eq!(it.store.conn.query_row("SELECT count(*) FROM memories", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    sound(&it);
}

/// Removes one word.
struct Otters;

impl TextRedactor for Otters {
    type Error = std::convert::Infallible;

    fn redact_texts(&mut self, texts: Vec<&mut String>) -> std::result::Result<(), Self::Error> {
        for text in texts {
            *text = text.replace("otterf", "[redacted]");
        }
        Ok(())
    }
}

#[test]
fn redaction_reaches_sources_digests_and_what_is_left_of_purged_ones() {
    for purged in [false, true] {
        let (mut it, project) = (fixture(), project("a"));
        otters(&mut it, &project);
        let ids = fold(&mut it, &project);
        if purged {
            it.store.purge(NOW + 1, None, NOW + 1, true).unwrap();
        }
        assert!(it.store.scrub(&project.id, &mut Otters, NOW, true).unwrap() > 0);
        assert_eq!(it.store.scrub(&project.id, &mut Otters, NOW, true).unwrap(), 0);
        let texts: String = it
            .store
            .conn
            .query_row("SELECT group_concat(title || content || keywords || files) FROM memories", [], |row| row.get(0))
            .unwrap();
        assert!(!texts.contains("otterf") && texts.contains("About [redacted]") && texts.contains("otterg"), "{texts}");
        assert!(search(&it, "otterf", &project).is_empty());
        if !purged {
            assert!(matches!(it.store.unfold(&ids[0], NOW).unwrap(), UnfoldOutcome::Back(back) if back.len() == 6));
        }
        sound(&it);
    }
}

#[test]
fn whoever_saves_or_shares_what_was_folded_has_it_back() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let ids = fold(&mut it, &project);
    let by_hand = Draft { key: None, origin: Origin::default(), ..said("decision", "otterb", 10) };
    let (put, id) = it.store.save_memory(&project, "", &redacted(by_hand), NOW).unwrap();
    assert_eq!(put, PutOutcome::NewOccurrence);
    assert_eq!(search(&it, "otterb", &project)[0].0, id.unwrap());
    let source = it.store.folded(&ids[0]).unwrap().unwrap().sources[0].clone();
    it.store.share(&source.id, NOW).unwrap().unwrap();
    assert_eq!(search(&it, "otterc", &project), [(source.id, source.title)]);
    assert_eq!(it.store.folded(&ids[0]).unwrap().unwrap().sources.len(), 4);
    sound(&it);
}

#[test]
fn what_is_exported_is_what_was_folded() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let ids = fold(&mut it, &project);
    let registry = throughline_notes::registry::Registry::built_in();
    let exported = |it: &Fixture| {
        let mut titles = Vec::new();
        it.store
            .each_memory(None, |memory, _, _, _| {
                titles.push(memory.title.clone());
                true
            })
            .unwrap();
        let notes: Vec<String> =
            it.store.notes_to_export(&project.id, &registry).unwrap().into_iter().map(|of| of.note.title.clone()).collect();
        assert_eq!(titles, notes);
        titles
    };
    assert_eq!(exported(&it), (0..6).map(|n| format!("About {}", otter(n))).collect::<Vec<_>>());
    assert!(it.store.notes_of(&project.id, &registry).unwrap().is_empty(), "neither is a file");
    it.store.purge(NOW + 1, None, NOW + 1, true).unwrap();
    assert_eq!(exported(&it), [it.store.memory(&ids[0], None).unwrap()[0].memory.title.clone()]);
}

#[test]
fn the_file_of_what_was_folded_brings_it_back() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let registry = throughline_notes::registry::Registry::built_in();
    let mut notes: Vec<_> = it.store.notes_of(&project.id, &registry).unwrap().into_iter().map(|of| of.note).collect();
    fold(&mut it, &project);
    let edited = Note { content: "The otterc moved to the third drawer.".into(), ..(*notes[1]).clone() };
    notes[1] = redacted(edited);
    for (n, note) in notes.iter().enumerate().take(2) {
        let put = it.store.put_note(&project, note, NoteOrigin::FromFile, &registry, NOW).unwrap();
        assert!(matches!(&put, PutNoteOutcome::Stored { uid, .. } if *uid == note.uid), "{put:?}");
        let found = search(&it, &otter(n), &project);
        assert_eq!(found, [(note.uid.clone(), format!("About {}", otter(n)))]);
    }
    let back = it.store.notes_of(&project.id, &registry).unwrap();
    assert_eq!(back.iter().map(|of| &of.note).collect::<Vec<_>>(), notes[..2].iter().collect::<Vec<_>>());
    assert_eq!(it.store.stats(None).unwrap().compressed, 4);
    sound(&it);
}

#[test]
fn the_index_made_anew_leaves_sources_out() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    fold(&mut it, &project);
    let before = rows(&it);
    let model = it.store.index_state().unwrap().model;
    it.store.begin_reindex(&model, None).unwrap();
    while it.store.rebuild_step(100, Duration::from_secs(10)).unwrap() != RebuildStep::Nothing {}
    assert_eq!(rows(&it), before);
    sound(&it);
}

#[test]
fn damage_is_found_and_mended() {
    let (mut it, project) = (fixture(), project("a"));
    otters(&mut it, &project);
    let ids = fold(&mut it, &project);
    let whole = rows(&it);
    for (damage, check) in [
        ("DELETE FROM digests", StoreCheck::Digests),
        ("DELETE FROM memories WHERE title LIKE 'Digest%'", StoreCheck::Digests),
        ("UPDATE memories SET content = '- 0 1970-01-01 nothing' WHERE title LIKE 'Digest%'", StoreCheck::Digests),
        ("DELETE FROM memories WHERE digest IS NOT NULL", StoreCheck::Digests),
        (
            "INSERT INTO memories_fts (rowid, words) SELECT rowid << 8, 'x' FROM memories WHERE digest IS NOT NULL",
            StoreCheck::Index,
        ),
    ] {
        it.store.conn.execute_batch("PRAGMA foreign_keys = OFF; SAVEPOINT whole").unwrap();
        it.store.conn.execute_batch(damage).unwrap();
        it.store.conn.execute_batch("RELEASE whole; PRAGMA foreign_keys = ON").unwrap();
        let mut rounds = 0;
        let mut found = BTreeSet::new();
        loop {
            let checks: BTreeSet<StoreCheck> = it.store.faults().unwrap().into_iter().map(|fault| fault.check).collect();
            if checks.is_empty() {
                break;
            }
            found.extend(checks.iter().copied());
            it.store.repair(&checks, NOW).unwrap();
            rounds += 1;
            assert!(rounds <= 3, "{damage}: {checks:?}");
        }
        assert!(found.contains(&check), "{damage}: {found:?}");
        let sources = it.store.stats(None).unwrap();
        if damage.starts_with("DELETE FROM memories WHERE digest") {
            assert_eq!((sources.memories, sources.digests), (0, 0));
            break;
        }
        for n in 0..6 {
            assert_eq!(search(&it, &otter(n), &project).len(), 1, "{damage}");
        }
        if check == StoreCheck::Index {
            assert_eq!(rows(&it), whole, "{damage}");
        }
        // Restore everything for the next round.
        for memory in listed(&it) {
            drop(it.store.unfold(&memory.id, NOW));
            it.store.conn.execute("UPDATE memories SET accessed_at = NULL", []).unwrap();
        }
        it.store.conn.execute("DELETE FROM memories WHERE title LIKE 'Digest%'", []).unwrap();
        for stranger in listed(&it) {
            assert!(stranger.title.starts_with("About"), "{stranger:?}");
        }
        assert_eq!(fold(&mut it, &project), ids, "the same digest has the same identifier");
    }
}

#[test]
fn the_background_waits_until_a_project_is_known_for_so_long() {
    let (it, project) = (fixture(), project("a"));
    let before = NOW - 180 * DAY;
    assert!(!it.store.is_folding_due(&project.id, before, NOW).unwrap());
    projects::put(&it.store.conn, &project, before).unwrap();
    assert!(!it.store.is_folding_due(&project.id, before, NOW).unwrap());
    let (before, now) = (before + DAY, NOW + DAY);
    assert!(it.store.is_folding_due(&project.id, before, now).unwrap());
    it.store.mark_folded(&project.id, now).unwrap();
    assert!(!it.store.is_folding_due(&project.id, before, now + DAY - 1).unwrap());
    assert!(it.store.is_folding_due(&project.id, before, now + DAY).unwrap());
}

/// What may happen to memories.
#[derive(Debug, Clone)]
enum Change {
    /// A new session learns some words.
    Learn(Vec<u8>),
    /// A session's transcript is read again.
    Reread(usize),
    Fold,
    Unfold(usize),
    Purge,
    Forget(u8),
    Delete(usize),
    Retract(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => prop::collection::vec(0_u8..24, 1..9).prop_map(Change::Learn),
        2 => (0_usize..8).prop_map(Change::Reread),
        4 => Just(Change::Fold),
        2 => (0_usize..4).prop_map(Change::Unfold),
        1 => Just(Change::Purge),
        1 => (0_u8..24).prop_map(Change::Forget),
        1 => (0_usize..8).prop_map(Change::Delete),
        1 => (0_usize..8).prop_map(Change::Retract),
    ]
}

/// Returns words of which none is part of another.
fn word(number: u8) -> String {
    format!("w{}x", char::from(b'a' + number))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens, everything learned is found exactly once, by itself or through its digest; forgotten content
    /// is neither found nor stored anywhere; and the database is consistent.
    #[test]
    fn nothing_is_lost_doubled_or_brought_back(changes in prop::collection::vec(change(), 1..24)) {
        let (mut it, project) = (fixture(), project("a"));
        let mut sessions: Vec<Vec<u8>> = Vec::new();
        let mut forgotten: BTreeSet<u8> = BTreeSet::new();
        let drafts = |session: usize, words: &[u8]| -> Vec<Draft> {
            words.iter().map(|&number| {
                let draft = said("decision", &word(number), 10 + u64::from(number));
                let line_uuid = Some(format!("u{session}-{number}"));
                Draft { origin: Origin { line_uuid, ..draft.origin }, ..draft }
            }).collect()
        };
        for change in &changes {
            match change {
                Change::Learn(words) => {
                    it.commit(&project, &format!("s{}", sessions.len()), &drafts(sessions.len(), words), &[]);
                    sessions.push(words.clone());
                }
                Change::Reread(session) => if let Some(words) = sessions.get(*session) {
                    let before = listed(&it).len();
                    it.commit(&project, &format!("s{session}"), &drafts(*session, words), &[]);
                    prop_assert_eq!(listed(&it).len(), before, "reading again changed something");
                },
                Change::Fold => drop(fold(&mut it, &project)),
                Change::Unfold(which) => {
                    let digests: Vec<_> = listed(&it).into_iter().filter(|of| of.title.starts_with("Digest")).collect();
                    if let Some(digest) = digests.get(*which) {
                        prop_assert_ne!(it.store.unfold(&digest.id, 20 * DAY).unwrap(), UnfoldOutcome::NotFolded);
                    }
                }
                Change::Purge => drop(it.store.purge(NOW + 1, None, NOW + 1, true).unwrap()),
                Change::Forget(number) => {
                    it.store.forget(&Selection { words: vec![word(*number)], ..Selection::default() }, NOW, Fate::Erased).unwrap();
                    if sessions.iter().flatten().any(|of| of == number) {
                        forgotten.insert(*number);
                        for words in &mut sessions {
                            words.retain(|of| of != number);
                        }
                    }
                }
                Change::Delete(which) => {
                    let before = listed(&it);
                    if let Some(memory) = before.get(*which) {
                        let gone: Vec<u8> = (0..24).filter(|&number| memory.content.contains(&word(number))).collect();
                        prop_assert!(it.store.delete_memory(&memory.id, NOW).unwrap());
                        for words in &mut sessions {
                            words.retain(|of| !gone.contains(of));
                        }
                        forgotten.extend(gone);
                    }
                }
                Change::Retract(session) => if let Some(words) = sessions.get_mut(*session)
                    && let Some(number) = words.pop()
                {
                    words.retain(|of| *of != number);
                    it.commit(&project, &format!("s{session}"), &[], &[format!("k-{}", word(number))]);
                },
            }
            let known: BTreeSet<u8> = sessions.iter().flatten().copied().filter(|of| !forgotten.contains(of)).collect();
            for number in 0..24 {
                let found = search(&it, &word(number), &project);
                let wanted = usize::from(known.contains(&number));
                prop_assert_eq!(found.len(), wanted, "{} after {:?}: {:?}", word(number), change, found);
            }
            let texts: String = it.store.conn
                .query_row("SELECT COALESCE(group_concat(title || content || keywords || files), '') FROM memories", [], |row| row.get(0))
                .unwrap();
            for number in &forgotten {
                prop_assert!(!texts.contains(&word(*number)), "{} came back after {:?}", word(*number), change);
            }
            prop_assert_eq!(it.store.faults().unwrap(), []);
        }
    }
}
