//! Tests of rebuilding the index while others read and write.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::index::{self, LIVE, NEXT, OLD, VERSION};
use super::tests::{Fixture, all_redacted, draft, edit, fixture, project, used};
use super::*;
use throughline_embedding::{Embedding, Model};
use throughline_search::vector::QueryVector;

/// More time than a step needs.
const LONG: Duration = Duration::from_mins(1);

fn remade(store: &mut Store) {
    while store.rebuild_step(usize::MAX, LONG).unwrap() != RebuildStep::Nothing {}
}

fn has(store: &Store, table: &str) -> bool {
    store.conn.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?1").unwrap().exists([table]).unwrap()
}

/// By a memory's content, everything in the index: each token with its piece, and each vector and code.
type Contents = BTreeMap<String, (Vec<String>, Vec<Vec<u8>>)>;

fn contents(store: &Store, dims: usize) -> Contents {
    let conn = &store.conn;
    let memories: Vec<(i64, String)> = conn
        .prepare("SELECT rowid, content FROM memories")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let mut all: Contents = memories.iter().map(|(_, content)| (content.clone(), Default::default())).collect();
    let by_row: BTreeMap<i64, String> = memories.into_iter().collect();
    let of = |memory: i64| by_row.get(&memory).expect("a row of a memory that is not there");
    conn.execute_batch("CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab (main, memories_fts, instance)")
        .unwrap();
    let mut select = conn.prepare("SELECT doc, term FROM words").unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (doc, term): (i64, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        all.get_mut(of(doc >> 8)).unwrap().0.push(format!("{} {term}", doc & 255));
    }
    let mut select = conn.prepare("SELECT piece, vector FROM vectors ORDER BY piece").unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let piece: i64 = row.get(0).unwrap();
        let mut bytes: Vec<u8> = vec![(piece & 255).try_into().unwrap()];
        bytes.extend(row.get::<_, Vec<u8>>(1).unwrap());
        all.get_mut(of(piece >> 8)).unwrap().1.push(bytes);
    }
    let mut select = conn.prepare("SELECT block, codes FROM vector_codes ORDER BY block").unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (block, codes): (i64, Vec<u8>) = (row.get(0).unwrap(), row.get(1).unwrap());
        let size = 2 + throughline_search::vector::code_bytes(dims);
        assert_eq!(codes.len() % size, 0);
        for entry in codes.chunks_exact(size) {
            let place = u16::from_le_bytes([entry[0], entry[1]]);
            let mut bytes = vec![place.to_le_bytes()[0], 255];
            bytes.extend(&entry[2..]);
            all.get_mut(of(block * 28 + i64::from(place >> 8))).unwrap().1.push(bytes);
        }
    }
    for (words, vectors) in all.values_mut() {
        words.sort();
        vectors.sort();
    }
    all
}

#[test]
fn a_fresh_database_is_current() {
    let it = fixture();
    let state = it.store.index_state().unwrap();
    assert!(state.is_current && state.made.is_none() && !state.needs_cleanup && !state.has_queue, "{state:?}");
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let (mut it, project) = (fixture(), project("a"));
    it.commit(&project, "s", &[draft(None, "The otter sleeps by day", "u")], &[]);
    let before = contents(&it.store, index::dims(&index::local_model()));
    it.store
        .conn
        .execute_batch(
            "DELETE FROM meta WHERE key = 'index_version'; DELETE FROM memories_fts; DELETE FROM vectors;
             DELETE FROM vector_codes; INSERT INTO unembedded SELECT rowid FROM memories;",
        )
        .unwrap();
    assert!(!it.store.index_state().unwrap().is_current);
    assert!(it.found("otter", &project).is_empty());
    let model = index::local_model();
    it.store.begin_reindex(&model, None).unwrap();
    assert_eq!(it.store.index_state().unwrap().made, Some(0));
    remade(&mut it.store);
    let state = it.store.index_state().unwrap();
    assert!(state.is_current && state.made.is_none() && !state.needs_cleanup && !state.has_queue, "{state:?}");
    assert_eq!(it.found("otter", &project).len(), 1);
    assert_eq!(contents(&it.store, index::dims(&model)), before);
    for table in [OLD.words, OLD.vectors, OLD.codes, NEXT.words, NEXT.vectors, NEXT.codes] {
        assert!(!has(&it.store, table), "{table}");
    }
}

#[test]
fn other_connections_read_and_write_on_through_a_swap() {
    let (mut it, project) = (fixture(), project("a"));
    it.commit(&project, "s", &[draft(None, "The otter sleeps by day", "u")], &[]);
    let mut other = Store::open(&it.path, Access::Existing, Duration::from_secs(1)).unwrap();
    let found = |store: &Store, words: &str| {
        let query = throughline_search::query::Query::parse(words, &jiff::Zoned::now());
        store.search(&Search::new(&query, Some(&project.id), 10, 3_000)).unwrap().hits.len()
    };
    for round in 0..3 {
        // Its statements are prepared and name tables that have since been swapped.
        assert_eq!(found(&other, "otter"), 1 + round);
        it.store.begin_reindex(&index::local_model(), None).unwrap();
        it.store.rebuild_step(1, LONG).unwrap();
        assert_eq!(found(&other, "otter"), 1 + round);
        std::mem::swap(&mut it.store, &mut other);
        it.commit(&project, "s", &[draft(None, &format!("The otter swims, {round}"), &format!("v{round}"))], &[]);
        std::mem::swap(&mut it.store, &mut other);
        remade(&mut it.store);
        assert_eq!(found(&other, "otter"), 2 + round);
        assert_eq!(found(&it.store, "otter"), 2 + round);
        assert_eq!(other.integrity().unwrap(), "ok");
    }
    let id = it.store.recent(&MemoryFilter::default(), 1).unwrap()[0].id.clone();
    assert!(other.delete_memory(&id, 1).unwrap());
    assert_eq!(found(&it.store, "otter"), 3);
}

#[test]
fn a_search_that_has_begun_keeps_its_index() {
    let (mut it, project) = (fixture(), project("a"));
    it.commit(&project, "s", &[draft(None, "The otter sleeps by day", "u")], &[]);
    let other = Store::open(&it.path, Access::Existing, Duration::from_secs(1)).unwrap();
    let tx = other.conn.unchecked_transaction().unwrap();
    let count = |sql: &str| tx.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let sql = "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'otter'";
    assert_eq!(count(sql), 1);
    it.store.begin_reindex(index::NO_MODEL, None).unwrap();
    remade(&mut it.store);
    assert_eq!((count(sql), count("SELECT count(*) FROM vectors")), (1, 1));
    drop(tx);
    assert_eq!(other.conn.query_row("SELECT count(*) FROM vectors", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn another_wish_starts_over_and_the_same_goes_on() {
    let (mut it, project) = (fixture(), project("a"));
    let drafts: Vec<_> = (0..5).map(|n| draft(None, &format!("Otter {n}"), &format!("u{n}"))).collect();
    it.commit(&project, "s", &drafts, &[]);
    it.store.begin_reindex("none", None).unwrap();
    assert_eq!(it.store.rebuild_step(2, LONG).unwrap(), RebuildStep::Memories(2));
    it.store.begin_reindex("none", None).unwrap();
    assert_eq!(it.store.rebuild_step(2, LONG).unwrap(), RebuildStep::Memories(4));
    it.store.begin_reindex(&index::local_model(), None).unwrap();
    assert_eq!(it.store.rebuild_step(2, LONG).unwrap(), RebuildStep::Memories(2));
    remade(&mut it.store);
    assert_eq!(it.store.index_state().unwrap().model, index::local_model());
    assert_eq!(it.found("otter", &project).len(), 5);
}

#[test]
fn a_step_stops_when_its_time_is_up() {
    let (mut it, project) = (fixture(), project("a"));
    let drafts: Vec<_> = (0..3).map(|n| draft(None, &format!("Otter {n}"), &format!("u{n}"))).collect();
    it.commit(&project, "s", &drafts, &[]);
    it.store.begin_reindex("none", None).unwrap();
    assert_eq!(it.store.rebuild_step(usize::MAX, Duration::ZERO).unwrap(), RebuildStep::Memories(1));
}

#[test]
fn words_of_events_are_made_anew_too() {
    let (mut it, project) = (fixture(), project("a"));
    for n in 0..3 {
        it.store
            .put_records(&project, &all_redacted(&[used("s", &format!("k{n}"), n, edit(&format!("src/otter{n}.rs")))]), 1)
            .unwrap();
    }
    let rows = |it: &Fixture| -> i64 {
        let sql = "SELECT count(*) FROM events_fts WHERE events_fts MATCH 'src'";
        it.store.conn.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows(&it), 3);
    // As another version would have left them.
    it.store
        .conn
        .execute_batch("DELETE FROM events_fts; INSERT INTO events_fts (rowid, summary) SELECT event_id, 'old' FROM events")
        .unwrap();
    it.store.begin_reindex("none", None).unwrap();
    assert_eq!(it.store.rebuild_step(9, Duration::ZERO).unwrap(), RebuildStep::Swapped);
    for done in 1..=3 {
        assert_eq!(it.store.rebuild_step(9, Duration::ZERO).unwrap(), RebuildStep::Rest);
        assert_eq!(rows(&it), done);
    }
    remade(&mut it.store);
    assert_eq!(rows(&it), 3);
}

/// A model outside this program, and the vector that it returns for a text.
fn remote(dims: usize) -> Model {
    Model { provider: "openai".into(), name: "m@host:8080/v1".into(), dims }
}

fn answer(text: &str, dims: usize) -> Embedding {
    let numbers = throughline_model::digest::sha256_parts(&[text]);
    let numbers: Vec<f32> = numbers.iter().cycle().take(dims).map(|&byte| f32::from(byte) - 127.5).collect();
    let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    Embedding { vector: numbers.iter().map(|x| x / length).collect(), known: 1.0 }
}

/// Asks the model for unknown texts, as the program does.
fn ask(store: &mut Store, model: &Model, texts: &[String]) -> usize {
    let texts = store.uncached_texts(&model.to_string(), texts).unwrap();
    let found: Vec<Embedding> = texts.iter().map(|text| answer(text, model.dims)).collect();
    let erasures = store.erasures().unwrap();
    store.cache_vectors(model, &texts, &found, erasures, 1).unwrap();
    texts.len()
}

fn backfill(store: &mut Store, model: &Model) -> usize {
    let queued = store.next_unembedded(None, 1_000).unwrap();
    let texts: Vec<String> = queued.iter().flat_map(|memory| memory.texts.clone()).collect();
    let asked = ask(store, model, &texts);
    assert_eq!(store.store_cached_vectors(&queued).unwrap(), queued.len() as u64);
    asked
}

#[test]
fn vectors_of_another_model_are_asked_for_once() {
    let (mut it, project) = (fixture(), project("a"));
    let long = "The otter bites. ".repeat(100);
    let drafts = [draft(None, &long, "u"), draft(None, "The heron waits", "v"), draft(None, "", "w")];
    it.commit(&project, "s", &drafts, &[]);
    let model = remote(12);
    it.store.begin_reindex(&model.to_string(), Some("who")).unwrap();
    let ahead = it.store.upcoming_texts(2).unwrap();
    assert_eq!(ask(&mut it.store, &model, &ahead), ahead.len());
    assert!(ahead.len() > 2);
    remade(&mut it.store);
    let state = it.store.index_state().unwrap();
    assert_eq!((state.model, state.asked.as_deref()), (model.to_string(), Some("who")));
    assert!(!state.has_queue, "the blank memory has nothing to wait for");
    // A later memory waits, and a known text is not embedded again.
    it.commit(&super::tests::project("b"), "t", &[draft(None, "The heron waits", "x")], &[]);
    assert!(it.store.index_state().unwrap().has_queue);
    assert_eq!(backfill(&mut it.store, &model), 0);
    assert!(!it.store.index_state().unwrap().has_queue);
    // The same model again: its vectors are copied, and nothing is embedded.
    let before = contents(&it.store, 12);
    it.store.conn.execute_batch("DELETE FROM embedding_cache").unwrap();
    it.store.begin_reindex(&model.to_string(), Some("who")).unwrap();
    assert!(it.store.upcoming_texts(9).unwrap().is_empty());
    remade(&mut it.store);
    assert_eq!(contents(&it.store, 12), before);
    assert!(!it.store.index_state().unwrap().has_queue);
    let query = throughline_search::query::Query::parse("zebra", &jiff::Zoned::now());
    let probe = QueryVector::new(answer("The heron waits", 12).vector, 1.0);
    let search = Search { probe: Some(probe), ..Search::new(&query, Some(&project.id), 1, 1) };
    let found = it.store.search(&search).unwrap();
    assert_eq!((found.hits[0].memory.content.as_str(), found.degraded), ("The heron waits", None));
}

#[test]
fn what_was_taken_out_leaves_no_vector_behind() {
    let (mut it, project) = (fixture(), project("a"));
    it.commit(&project, "s", &[draft(None, "The otter bites", "u"), draft(None, "The heron waits", "v")], &[]);
    let model = remote(12);
    it.store.begin_reindex(&model.to_string(), None).unwrap();
    let texts = it.store.upcoming_texts(9).unwrap();
    ask(&mut it.store, &model, &texts);
    it.store.rebuild_step(1, LONG).unwrap();
    let erasures = it.store.erasures().unwrap();
    let selection = Selection { words: vec!["otter".into()], ..Selection::default() };
    assert_eq!(it.store.forget(&selection, 2, Fate::Erased).unwrap().counts.memories, 1);
    assert!(it.store.erase().unwrap());
    // An answer that arrives after that, for texts read before it.
    let found: Vec<Embedding> = texts.iter().map(|text| answer(text, 12)).collect();
    it.store.cache_vectors(&model, &texts, &found, erasures, 3).unwrap();
    let count = |it: &Fixture, table: &str| -> i64 {
        it.store.conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    for (table, rows) in [("embedding_cache", 0), (NEXT.vectors, 0), (NEXT.words, 0), (LIVE.vectors, 1), ("unembedded", 0)] {
        assert_eq!(count(&it, table), rows, "{table}");
    }
    remade(&mut it.store);
    assert!(it.store.erase().unwrap());
    let bytes = std::fs::read(&it.path).unwrap();
    assert!(!bytes.windows(5).any(|bytes| bytes.eq_ignore_ascii_case(b"otter")));
}

/// What may happen while an index is built.
#[derive(Debug, Clone)]
enum Act {
    Put(u8, u8),
    Delete(usize),
    Begin(bool),
    Step(usize),
    Killed(usize),
    Erase,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..3_u8, 0..30_u8).prop_map(|(project, n)| Act::Put(project, n)),
        2 => (0..30_usize).prop_map(Act::Delete),
        2 => any::<bool>().prop_map(Act::Begin),
        4 => (1..6_usize).prop_map(Act::Step),
        1 => (1..6_usize).prop_map(Act::Killed),
        1 => Just(Act::Erase),
    ];
    proptest::collection::vec(act, 1..40)
}

fn said(n: u8) -> String {
    // Some have several pieces.
    format!("The otter{n} sleeps by day {}", "and swims at night. ".repeat(usize::from(n % 3) * 60))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_new_index_is_that_of_a_fresh_database(acts in acts()) {
        let mut it = fixture();
        for act in acts {
            match act {
                Act::Put(name, n) => {
                    let name = ["a", "b", "c"][usize::from(name)];
                    it.commit(&project(name), name, &[draft(None, &said(n), &format!("u{n}"))], &[]);
                }
                Act::Delete(n) => {
                    let all = it.store.recent(&MemoryFilter::default(), 100).unwrap();
                    if let Some(memory) = all.get(n % all.len().max(1)) {
                        prop_assert!(it.store.delete_memory(&memory.id, 1).unwrap());
                    }
                }
                Act::Begin(vectors) => {
                    let model = if vectors { index::local_model() } else { index::NO_MODEL.into() };
                    it.store.begin_reindex(&model, None).unwrap();
                }
                Act::Step(n) => {
                    it.store.rebuild_step(n, LONG).unwrap();
                }
                Act::Killed(n) => {
                    // Killed in the middle of a transaction: none of it is stored.
                    let killed: Result<()> = it.store.write(|tx| {
                        tx.execute_batch("SAVEPOINT s")?;
                        tx.execute("DELETE FROM memories_fts", [])?;
                        tx.execute("UPDATE meta SET value = ?1 WHERE key = 'reindex_at'", [format!("{n} 7")])?;
                        Err(rusqlite::Error::QueryReturnedNoRows)
                    });
                    prop_assert!(killed.is_err());
                    it.store = Store::open(&it.path, Access::Existing, Duration::from_secs(1)).unwrap();
                    it.store.set_synchronous_normal().unwrap();
                }
                Act::Erase => {
                    prop_assert!(it.store.erase().unwrap());
                }
            }
        }
        let model = index::local_model();
        it.store.begin_reindex(&model, None).unwrap();
        remade(&mut it.store);
        let mut fresh = fixture();
        for name in ["a", "b", "c"] {
            let filter = MemoryFilter { project: Some(project(name).id), ..MemoryFilter::default() };
            for memory in it.store.recent(&filter, 100).unwrap().into_iter().rev() {
                fresh.commit(&project(name), name, &[draft(None, &memory.content, "u")], &[]);
            }
        }
        // Two projects may have the same content; both then appear under one key.
        prop_assert_eq!(contents(&it.store, index::dims(&model)), contents(&fresh.store, index::dims(&model)));
        let state = it.store.index_state().unwrap();
        prop_assert!(state.is_current && !state.has_queue && !state.needs_cleanup && state.made.is_none());
        prop_assert_eq!(Version::of_live(&it.store), VERSION.to_string());
        prop_assert_eq!(it.store.integrity().unwrap(), "ok");
    }
}

/// Reads the index version as stored in the database.
struct Version;

impl Version {
    fn of_live(store: &Store) -> String {
        index::meta(&store.conn, index::INDEX_VERSION).unwrap().unwrap_or_default()
    }
}
