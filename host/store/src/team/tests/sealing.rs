//! Tests of sealed texts: each is sealed once, goes where its text goes, and is made anew with another key.

use super::*;

impl Device {
    fn sealed(number: usize, member: &str) -> Self {
        Self { is_sealed: true, ..Self::new(number, member) }
    }

    fn column(&self, sql: &str) -> Vec<Option<String>> {
        self.store
            .conn
            .prepare(sql)
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap()
    }
}

#[test]
fn a_record_whose_acknowledgement_was_lost_is_sent_with_the_same_hash() {
    let mut ann = Device::sealed(1, "ann");
    ann.save();
    ann.stage();
    let (first, again) = (ann.queue(), ann.queue());
    assert_eq!(first, again);
    assert!(!first[0].body.starts_with('{'));
    // Also under another identifier, after the database was copied.
    ann.store.renew_team_device(&"9".repeat(32)).unwrap();
    ann.id = "9".repeat(32);
    let renewed = ann.queue();
    assert_eq!((&renewed[0].hash, &renewed[0].body), (&first[0].hash, &first[0].body));
    // The outbox shows the text, and the acknowledgement leaves neither behind.
    assert!(ann.store.team_outbox(false).unwrap()[0].body.as_deref().is_some_and(|body| body.starts_with('{')));
    ann.store.team_acknowledge(&[renewed[0].hash.clone()]).unwrap();
    assert_eq!(ann.column("SELECT coalesce(body, sealed) FROM team_records"), [None]);
}

#[test]
fn what_was_sealed_goes_with_its_text() {
    let mut ann = Device::sealed(1, "ann");
    ann.save();
    ann.stage();
    assert_eq!(ann.queue().len(), 1);
    ann.edit(0);
    assert_eq!(ann.column("SELECT sealed FROM team_records"), [None], "a text that changed");
    ann.stage();
    let queued = ann.queue();
    assert!(opened(&queued[0].body).contains("edited"), "{queued:?}");
    ann.delete(0);
    assert_eq!(ann.column("SELECT sealed FROM team_records WHERE sealed IS NOT NULL"), [], "a memory that is gone");
}

#[test]
fn with_another_key_texts_are_sealed_anew_and_unopened_records_read_again() {
    let mut ann = Device::sealed(1, "ann");
    ann.store.team_use_key("one").unwrap();
    ann.save();
    ann.stage();
    let first = ann.queue();
    ann.store.team_use_key("one").unwrap();
    assert_eq!(ann.queue(), first);
    let header = RecordHeader {
        device: "2".repeat(32),
        kind: "memory".into(),
        sequence: 5,
        author: "ben".into(),
        decides: true,
        hash: "b".repeat(64),
        item: "c".repeat(32),
    };
    let series = KnownSeries {
        device: header.device.clone(),
        kind: header.kind.clone(),
        sequence: 0,
        last: 9,
        member: "ben".into(),
        name: "machine".into(),
    };
    ann.store.put_team_series(&[series]).unwrap();
    let folder = ann.dir.path().join("forgotten");
    let ninth = RecordHeader { sequence: 9, hash: "d".repeat(64), ..header.clone() };
    let batch = [Incoming::Unopened(header), Incoming::Unopened(ninth)];
    for _ in 0..2 {
        ann.store.team_apply(&batch, 30, KeptFile { folder: &folder, note: "" }).unwrap();
    }
    assert_eq!(ann.store.team_status().unwrap().unopened, 2, "each is counted once");
    assert_eq!(ann.store.team_series().unwrap()[0].sequence, 9);
    ann.store.team_use_key("two").unwrap();
    assert_eq!(ann.store.team_status().unwrap().unopened, 0);
    assert_eq!(ann.store.team_series().unwrap()[0].sequence, 4);
    let second = ann.queue();
    assert_ne!(second[0].hash, first[0].hash);
    assert_eq!(opened(&second[0].body), opened(&first[0].body));
    // Without a key, the hash is that of the text again.
    ann.store.team_use_key("").unwrap();
    ann.is_sealed = false;
    let clear = ann.queue();
    assert_eq!(clear[0].hash, throughline_model::digest::sha256_hex(clear[0].body.as_bytes()));
}

#[test]
fn what_cannot_be_sealed_stays_here_with_the_reason() {
    let mut ann = Device::sealed(1, "ann");
    let draft = Draft { kind: "decision".into(), title: "a".into(), content: "too long".into(), ..Draft::default() };
    ann.store.save_memory(&project(), "", &redacted(draft), 10).unwrap();
    ann.save();
    ann.stage();
    let queued = ann.queue();
    assert_eq!(queued.len(), 1);
    let stays: Vec<_> =
        ann.store.team_outbox(true).unwrap().into_iter().filter(|it| it.state == OutboxState::Refused).collect();
    assert_eq!((stays.len(), stays[0].reason.as_str()), (1, "it is too long to be sealed"));
}
