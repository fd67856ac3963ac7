//! Tests of the tables of team memory: random histories of several devices, in any order, after which all agree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::tests::redacted;
use crate::{Access, Import, KeptFile, Marks};
use throughline_model::contract::{Draft, Origin};
use throughline_model::project::Project;

mod outbox;
mod sealing;

/// What a server has: series of records, and who wrote each item first.
#[derive(Default)]
struct FakeServer {
    series: BTreeMap<(String, String), Vec<Stored>>,
    creators: BTreeMap<String, String>,
}

#[derive(Clone)]
struct Stored {
    header: RecordHeader,
    body: Option<String>,
}

/// Seals as a cipher does: the same text is another one each time.
struct OtherEachTime;

impl Sealer for OtherEachTime {
    fn seal(&self, _: &str, text: &str) -> Option<SealedText> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let body = format!("{} {text}", NUMBER.fetch_add(1, Ordering::Relaxed));
        (!text.contains("too long"))
            .then(|| SealedText { hash: throughline_model::digest::sha256_hex(body.as_bytes()), body })
    }
}

/// Opens what [`OtherEachTime`] has sealed; a text in the clear begins with a brace.
fn opened(body: &str) -> &str {
    &body[body.find('{').unwrap()..]
}

/// A machine. Its member is the first half of the number.
struct Device {
    dir: TempDir,
    store: Store,
    id: String,
    member: String,
    saved: u32,
    /// Whether its texts leave sealed.
    is_sealed: bool,
    /// A revision of somebody else's item that the next new record claims to replace.
    forged: Option<String>,
}

impl Device {
    fn new(number: usize, member: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("t.db"), Access::Write, Duration::from_secs(1)).unwrap();
        store.set_synchronous_normal().unwrap();
        let device = store.team_device(&format!("{number:032x}")).unwrap();
        store.set_team_member(member, "contributor").unwrap();
        store.write(|tx| crate::projects::put(tx, &project(), 1)).unwrap();
        store
            .put_team_projects(
                &[TeamProject { project: project().id, key: "name:otters".into(), checked_at: 1, rules: String::new() }],
                |_| true,
            )
            .unwrap();
        Self { dir, store, id: device, member: member.into(), saved: 0, is_sealed: false, forged: None }
    }

    fn save(&mut self) {
        self.saved += 1;
        let text = format!("memory {} of {}", self.saved, self.id);
        let draft = Draft { kind: "decision".into(), title: text.clone(), content: text, ..Draft::default() };
        self.store.save_memory(&project(), "", &redacted(draft), 10).unwrap();
    }

    /// The memories, in the order of their texts.
    fn memories(&self) -> Vec<(String, String)> {
        let mut memories: Vec<(String, String)> = self
            .store
            .recent(&crate::MemoryFilter { project: Some(project().id), ..crate::MemoryFilter::default() }, 10_000)
            .unwrap()
            .into_iter()
            .map(|memory| (memory.content, memory.id))
            .collect();
        memories.sort();
        memories
    }

    fn delete(&mut self, at: usize) {
        let memories = self.memories();
        if let Some((_, id)) = memories.get(at % memories.len().max(1)) {
            self.store.delete_memory(id, 20).unwrap();
        }
    }

    /// Changes the text of a memory in its place, as the editing of a note does.
    fn edit(&mut self, at: usize) {
        let memories = self.memories();
        let Some((text, id)) = memories.get(at % memories.len().max(1)) else { return };
        self.saved += 1;
        let text = format!("{text}, edited {} by {}", self.saved, self.id);
        self.store
            .write(|tx| {
                let row: i64 = tx.query_row("SELECT rowid FROM memories WHERE id = ?1", [id], |row| row.get(0))?;
                let draft = Draft {
                    kind: "decision".into(),
                    title: text.clone(),
                    content: text.clone(),
                    origin: Origin { line_uuid: None, at: Some(10) },
                    ..Draft::default()
                };
                crate::memories::rewrite(tx, row, &project().id, &draft, crate::memories::content_hash(&draft))
            })
            .unwrap();
    }

    fn stage(&mut self) {
        let (found, mark) = self.store.team_shareable(&project().id, "rules", 1_000).unwrap();
        let staged: Vec<_> = found
            .into_iter()
            .filter(|it| it.memory.colleague().is_none())
            .map(|it| {
                let (item, replaces) = it.continues.unwrap_or_else(|| {
                    let seed = [self.id.as_str(), it.memory.id.as_str(), &mark.to_string()];
                    (
                        throughline_model::digest::hex(&throughline_model::digest::sha256_parts(&seed)[..16]),
                        self.forged.take().into_iter().collect(),
                    )
                });
                let shared = SharedMemory {
                    item,
                    replaces,
                    project: "name:otters".into(),
                    kind: it.memory.kind,
                    title: it.memory.title,
                    content: it.memory.content,
                    ..SharedMemory::default()
                };
                (it.memory.id, OutboxState::Pending, record_of(redacted(shared)))
            })
            .collect();
        self.store.team_stage(&project().id, &staged, ("rules", mark)).unwrap();
        self.store.team_stage_deletions().unwrap();
    }

    fn queue(&mut self) -> Vec<QueuedRecord> {
        self.store.team_queue(&self.id, 1 << 20, self.is_sealed.then_some(&OtherEachTime as &dyn Sealer)).unwrap()
    }

    /// Sends what is pending. `is_lost` says that the acknowledgement is lost.
    fn push(&mut self, server: &mut FakeServer, is_lost: bool) {
        self.stage();
        let queued = self.queue();
        let hashes: Vec<String> = queued.iter().map(|it| it.hash.clone()).collect();
        for record in queued {
            server.append(self, record);
        }
        if !is_lost {
            self.store.team_acknowledge(&hashes).unwrap();
        }
    }

    /// Reads up to `most` records of each series; an even number of them from the last to the first, as they may come of several
    /// series.
    fn pull(&mut self, server: &FakeServer, most: usize) {
        let heads: Vec<KnownSeries> = server
            .series
            .iter()
            .filter(|((device, _), _)| *device != self.id)
            .map(|((device, kind), records)| KnownSeries {
                device: device.clone(),
                kind: kind.clone(),
                sequence: 0,
                last: records.last().map_or(0, |it| it.header.sequence),
                member: records[0].header.author.clone(),
                name: "machine".into(),
            })
            .collect();
        self.store.put_team_series(&heads).unwrap();
        for known in self.store.team_series().unwrap() {
            let records = &server.series[&(known.device.clone(), known.kind.clone())];
            let new = records.iter().filter(|it| it.header.sequence > known.sequence).take(most);
            let mut batch: Vec<Incoming> = new.map(|it| self.incoming(it)).collect();
            if most.is_multiple_of(2) {
                batch.reverse();
            }
            let folder = self.dir.path().join("forgotten");
            self.store.team_apply(&batch, 30, KeptFile { folder: &folder, note: "" }).unwrap();
        }
    }

    fn incoming(&self, it: &Stored) -> Incoming {
        let header = it.header.clone();
        let Some(body) = &it.body else { return Incoming::Erased(header) };
        let read = ReadRecord::parse(opened(body)).unwrap();
        if header.kind == "tombstone" {
            return Incoming::Tombstone(header, read.target);
        }
        let line: serde_json::Value = serde_json::from_str(read.memory.unwrap().get()).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let colleague = (header.author != self.member).then(|| (COLLEAGUE.to_owned(), header.author.clone()));
        let draft = Draft {
            kind: text("type"),
            title: text("title"),
            content: text("content"),
            attributes: colleague.into_iter().collect(),
            ..Draft::default()
        };
        let import = Import {
            project: project(),
            session: String::new(),
            key: Some(occurrence_key(&header.hash)),
            id: None,
            draft,
            marks: Marks::default(),
        };
        Incoming::Memory(
            header,
            Box::new(IncomingMemory { replaces: read.replaces, supersedes: Vec::new(), import: redacted(import) }),
        )
    }
}

impl FakeServer {
    fn append(&mut self, from: &Device, record: QueuedRecord) {
        let series = (from.id.clone(), record.kind.word().to_owned());
        let is_known = self.series.values().flatten().any(|it| it.header.hash == record.hash);
        if is_known {
            return;
        }
        let creator = self.creators.entry(record.item.clone()).or_insert_with(|| from.member.clone()).clone();
        let header = RecordHeader {
            device: from.id.clone(),
            kind: series.1.clone(),
            sequence: record.sequence,
            author: from.member.clone(),
            decides: creator == from.member,
            hash: record.hash,
            item: record.item.clone(),
        };
        let read = ReadRecord::parse(opened(&record.body)).unwrap();
        if record.kind == RecordKind::Tombstone {
            for it in
                self.series.values_mut().flatten().filter(|it| it.header.item == record.item && it.header.kind == "memory")
            {
                if read.target.is_empty() || read.target == it.header.hash {
                    it.body = None;
                }
            }
        }
        self.series.entry(series).or_default().push(Stored { header, body: Some(record.body) });
    }
}

fn project() -> Project {
    Project::named("otters")
}

/// What a device may do.
#[derive(Debug, Clone)]
enum Step {
    Save(usize),
    Delete(usize, usize),
    Edit(usize, usize),
    Push(usize, bool),
    Pull(usize, usize),
    /// Says of a new memory that it replaces one of another item.
    Forge(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let device = 0_usize..4;
    let step = prop_oneof![
        3 => device.clone().prop_map(Step::Save),
        1 => (device.clone(), 0_usize..20).prop_map(|(device, at)| Step::Delete(device, at)),
        2 => (device.clone(), 0_usize..20).prop_map(|(device, at)| Step::Edit(device, at)),
        3 => (device.clone(), any::<bool>()).prop_map(|(device, lost)| Step::Push(device, lost)),
        1 => (device.clone(), 0_usize..20).prop_map(|(device, at)| Step::Forge(device, at)),
        3 => (device, 1_usize..5).prop_map(|(device, most)| Step::Pull(device, most)),
    ];
    prop::collection::vec(step, 1..60)
}

/// What holds, by the records alone.
fn alive(server: &FakeServer) -> BTreeSet<String> {
    let all: Vec<&Stored> = server.series.values().flatten().collect();
    let read = |it: &Stored| it.body.as_deref().map(|body| ReadRecord::parse(opened(body)).unwrap());
    let buried: Vec<(String, String)> = all
        .iter()
        .filter(|it| it.header.kind == "tombstone")
        .filter_map(|it| read(it).map(|read| (read.item, read.target)))
        .collect();
    // A record replaces revisions of its own item, whatever it says of others.
    let replaced: BTreeSet<(String, String)> = all
        .iter()
        .filter(|it| it.header.decides)
        .filter_map(|it| read(it))
        .flat_map(|read| read.replaces.into_iter().map(move |hash| (read.item.clone(), hash)))
        .collect();
    all.iter()
        .filter(|it| it.header.kind == "memory" && !replaced.contains(&(it.header.item.clone(), it.header.hash.clone())))
        .filter(|it| {
            !buried.iter().any(|(item, target)| *item == it.header.item && (target.is_empty() || *target == it.header.hash))
        })
        .filter_map(|it| read(it))
        .map(|read| {
            let line: serde_json::Value = serde_json::from_str(read.memory.unwrap().get()).unwrap();
            line["content"].as_str().unwrap().to_owned()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn after_any_history_all_devices_agree(steps in steps(), is_sealed in any::<bool>()) {
        let mut server = FakeServer::default();
        // Two machines of Ann's, one of Ben's, one of Cat's.
        let mut devices: Vec<Device> =
            ["ann", "ann", "ben", "cat"].iter().enumerate().map(|(at, member)| Device::new(at, member)).collect();
        for device in &mut devices {
            device.is_sealed = is_sealed;
        }
        for step in &steps {
            match *step {
                Step::Save(device) => devices[device].save(),
                Step::Delete(device, at) => {
                    // A colleague's memory that is deleted stays with the others: that is no part of what all agree on.
                    let memories = devices[device].memories();
                    let Some((_, id)) = memories.get(at % memories.len().max(1)) else { continue };
                    let found = devices[device].store.memory(id, None).unwrap();
                    if found[0].memory.colleague().is_none() {
                        devices[device].delete(at);
                    }
                }
                Step::Edit(device, at) => {
                    let memories = devices[device].memories();
                    let Some((_, id)) = memories.get(at % memories.len().max(1)) else { continue };
                    let rows = devices[device].store.memory(id, None).unwrap();
                    let is_own = rows[0].memory.colleague().is_none();
                    // What came from another machine is edited there, or superseded here.
                    let is_pulled: bool = devices[device].store.conn.query_row(
                        "SELECT EXISTS (SELECT 1 FROM team_records r JOIN memories m ON m.rowid = r.memory
                                        WHERE m.id = ?1 AND r.state = 'pulled')", [id], |row| row.get(0)).unwrap();
                    if is_own && !is_pulled {
                        devices[device].edit(at);
                    }
                }
                Step::Push(device, lost) => devices[device].push(&mut server, lost),
                Step::Pull(device, most) => devices[device].pull(&server, most),
                Step::Forge(device, at) => {
                    let hashes: Vec<&String> = server.series.values().flatten().map(|it| &it.header.hash).collect();
                    let Some(hash) = hashes.get(at % hashes.len().max(1)) else { continue };
                    devices[device].forged = Some((*hash).clone());
                    devices[device].save();
                    devices[device].push(&mut server, false);
                }
            }
        }
        for _ in 0..2 {
            for device in &mut devices {
                device.push(&mut server, false);
            }
            for device in &mut devices {
                device.pull(&server, usize::MAX);
            }
        }
        let expected = alive(&server);
        for device in &devices {
            let found: Vec<String> = device.memories().into_iter().map(|(text, _)| text).collect();
            let distinct: BTreeSet<String> = found.iter().cloned().collect();
            prop_assert_eq!(found.len(), distinct.len(), "nothing is doubled");
            prop_assert_eq!(&distinct, &expected, "{} of {}", device.id, device.member);
            prop_assert_eq!(device.store.team_status().unwrap().pending, 0);
        }
        // A newcomer who reads everything at once sees the same, and so does one who applies everything twice.
        let mut newcomer = Device::new(9, "dan");
        newcomer.pull(&server, usize::MAX - 1);
        newcomer.store.write(|tx| tx.execute("UPDATE team_series SET sequence = 0", []).map(drop)).unwrap();
        newcomer.pull(&server, usize::MAX);
        let found: BTreeSet<String> = newcomer.memories().into_iter().map(|(text, _)| text).collect();
        prop_assert_eq!(&found, &expected);
    }
}

#[test]
fn what_another_version_could_not_read_is_read_again() {
    let (mut server, mut ann, mut ben) = (FakeServer::default(), Device::new(1, "ann"), Device::new(2, "ben"));
    ann.save();
    ann.push(&mut server, false);
    ben.pull(&FakeServer::default(), 9);
    let stored = server.series.values().flatten().next().unwrap().header.clone();
    let head = KnownSeries {
        device: stored.device.clone(),
        kind: stored.kind.clone(),
        sequence: 0,
        last: 1,
        member: "ann".into(),
        name: "machine".into(),
    };
    ben.store.put_team_series(&[head]).unwrap();
    let folder = ben.dir.path().join("forgotten");
    let waiting = [Incoming::Waiting(stored, "unreadable:1".into())];
    ben.store.team_apply(&waiting, 30, KeptFile { folder: &folder, note: "" }).unwrap();
    ben.store.team_retry_unreadable("unreadable:1").unwrap();
    assert_eq!((ben.store.team_series().unwrap()[0].sequence, ben.memories().len()), (1, 0));
    assert!(ben.store.team_status().unwrap().waiting.is_empty(), "it is no project");
    ben.store.team_retry_unreadable("unreadable:2").unwrap();
    ben.pull(&server, 9);
    assert_eq!(ben.memories().len(), 1);
}
