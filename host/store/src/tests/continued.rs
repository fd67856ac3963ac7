//! A session that an agent continues under another identifier has copies of the earlier session's lines. What was forgotten
//! of them does not come back with the copies.

use super::*;
use crate::Fate;

#[test]
fn the_topics_of_a_continued_session_lack_what_was_forgotten() {
    let (mut it, zoo) = (fixture(), project("zoo"));
    let commit = |it: &mut Fixture, session: &str| {
        let update = SessionUpdate {
            id: session.into(),
            notes: SessionNotes { turns: 2, ..SessionNotes::default() },
            topics: vec!["Feed the okapi at noon".into(), "Wash the otter".into()],
            ..SessionUpdate::default()
        };
        let learned = Learned { session: Some(update), ..Learned::default() };
        it.store
            .commit(&CommitBatch {
                project: &zoo,
                session_id: session,
                learned: &redacted(learned),
                policies: &[("p".into(), "d".into())],
                reader: session,
                cursor: None,
                anchors: &[],
                moment: "stop",
                now: 3_000,
            })
            .unwrap();
    };
    commit(&mut it, "first");
    let words = Selection { words: vec!["okapi".into()], ..Selection::default() };
    it.store.forget(&words, 4_000, Fate::Erased).unwrap();
    commit(&mut it, "first");
    commit(&mut it, "second");
    let mut topics = it.store.conn.prepare("SELECT topics FROM session_history").unwrap();
    let topics = topics.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<Vec<String>>>().unwrap();
    assert_eq!(topics, [r#"["Wash the otter"]"#, r#"["Wash the otter"]"#]);
}
