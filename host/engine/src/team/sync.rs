//! One sync: stages what is to be shared, sends it, and stores what is new. It can be killed at any moment and run again:
//! what was sent is recognized by its hash, and what was read by its place in a series.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Result, anyhow};
use serde::Serialize;

use super::incoming::{self, Context};
use super::link::{Identity, Link, SyncError, misunderstood};
use super::team_key::TeamKey;
use super::{credentials, outbox};
use crate::memory::{kept::DeletionNote, supersession};
use crate::redaction::ProjectRedactor;
use crate::runtime::Runtime;
use crate::storing;
use throughline_embedding::local;
use throughline_model::redacted::Redacted;
use throughline_platform::files;
use throughline_store::team::{Applied, KnownSeries, QueuedRecord, ReadRecord, RecordKind, RefusalReason, Sealer};
use throughline_store::{KeptFile, Store};
use throughline_sync_wire::{Cursor, Fault, FaultKind, Outgoing, Pulled, Reply, Request};

/// The most records that are asked for at once.
const PULL: u32 = 2_000;

/// The most text that is sent at once, bytes.
const PUSH_BYTES: usize = 4 << 20;

/// What a sync did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReport {
    /// The team.
    pub team: String,
    /// Our name in it.
    pub member: String,
    /// Our role.
    pub role: String,
    /// Records that the server took.
    pub sent: u64,
    /// Memories that the server refused; `throughline team outbox --all` says why.
    pub refused: u64,
    /// Memories that wait for `throughline team review`.
    pub review: u64,
    /// New memories on this machine.
    pub received: u64,
    /// Memories that were here already, learned by this machine itself.
    pub known: u64,
    /// Memories that were removed here, because they were deleted or replaced.
    pub removed: u64,
    /// Records that wait: of projects that are not on this machine, or of what is muted.
    pub waiting: u64,
    /// Records that cannot be read by this version.
    pub unreadable: u64,
    /// Records that the team's key does not open. They are kept out.
    pub unopened: u64,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Syncs once. A failure is recorded for `throughline doctor`.
pub fn run(runtime: &Runtime, store: &mut Store) -> Result<SyncReport> {
    storing::check(runtime)?;
    let url = invitation(runtime)?;
    let key = team_key(runtime)?;
    let lock = files::try_lock(&runtime.paths.data.join("team.lock"))?;
    if lock.is_none() {
        let message = "another sync is running on this machine";
        return Err(SyncError(Fault::new(FaultKind::Full, message, "wait until it is done")).into());
    }
    let done = sync(runtime, store, &url, key.as_ref());
    // Of a failure only the program's own words are kept, never what a server said.
    let fault = done.as_ref().err().map(|error| match error.downcast_ref::<SyncError>() {
        Some(SyncError(fault)) => serde_json::to_string(&fault.kind).unwrap_or_default().trim_matches('"').to_owned(),
        None => "local".to_owned(),
    });
    store.set_team_synced(fault.as_deref(), runtime.now)?;
    done
}

/// Returns the invitation that this machine has.
pub fn invitation(runtime: &Runtime) -> Result<String> {
    let hint = "ask whoever runs the server for an invitation, and give it to `throughline team join`";
    if runtime.managed.team.off {
        let message = "the administrator of this machine has turned team memory off";
        return Err(SyncError(Fault::new(FaultKind::Denied, message, "nothing leaves this machine")).into());
    }
    match credentials::load(&runtime.paths) {
        Ok(Some(url)) => Ok(url),
        Ok(None) => Err(SyncError(Fault::new(FaultKind::Address, "this machine has joined no team", hint)).into()),
        Err(what) => Err(SyncError(Fault::new(FaultKind::Address, what.to_string(), hint)).into()),
    }
}

/// Returns an identifier that nobody else has, for this machine or for an item.
pub fn fresh_device() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("no random numbers: {error}"))?;
    Ok(throughline_model::digest::hex(&bytes))
}

/// Returns the key that seals what this machine shares, if it has one.
pub fn team_key(runtime: &Runtime) -> Result<Option<TeamKey>> {
    let hint = "let only yourself read it, or import the key again: `throughline team key import`";
    TeamKey::load(&runtime.paths)
        .map_err(|what| SyncError(Fault::new(FaultKind::Key, format!("the team key cannot be used: {what}"), hint)).into())
}

/// Makes sure that this machine and the team agree about being sealed, and with which key. Seals the team if this machine has a
/// key and the team has no texts yet. A machine with a key sends no text in the clear, whatever the server says.
fn agree_on_seal(runtime: &Runtime, link: &mut Link, identity: &Identity, key: Option<&TeamKey>) -> Result<()> {
    let refuse =
        |message: String, hint: &str| -> Result<()> { Err(SyncError(Fault::new(FaultKind::Key, message, hint)).into()) };
    let Some(key) = key else {
        if !identity.seal.is_empty() {
            let message = format!("team {} is sealed, and this machine does not have its key", identity.tenant);
            return refuse(
                message,
                "a colleague prints it with `throughline team key show`; give it to `throughline team key import`. Nothing was \
                 sent, and nothing is lost",
            );
        }
        if runtime.config.team.sealed || runtime.managed.team.sealed {
            return refuse(
                format!("memories leave this machine for a sealed team only, and team {} is not sealed", identity.tenant),
                "`throughline team key create` makes a key for a new team; nothing was sent, and nothing is lost",
            );
        }
        return Ok(());
    };
    let seal = if identity.seal.is_empty() {
        match link.ask(&Request::Seal { fingerprint: key.fingerprint().to_owned() }) {
            Ok(Reply::Sealed { seal }) => seal,
            Ok(_) => return Err(misunderstood().into()),
            Err(SyncError(fault)) if fault.kind == FaultKind::Key => {
                return refuse(
                    format!("this machine has a team key, and team {} is not sealed: {}", identity.tenant, fault.message),
                    "a sealed team begins empty: let a curator sync first, or invite to another team; for a team that is not \
                     sealed, `throughline team key delete`. Nothing was sent, and nothing is lost",
                );
            }
            Err(other) => return Err(other.into()),
        }
    } else {
        identity.seal.clone()
    };
    if seal != key.fingerprint() {
        let message = format!("team {} is sealed with another key than this machine has", identity.tenant);
        return refuse(
            message,
            "`throughline team key delete`, then `throughline team key import` with the team's key. Nothing was sent, and \
             nothing is lost",
        );
    }
    Ok(())
}

fn sync(runtime: &Runtime, store: &mut Store, url: &str, key: Option<&TeamKey>) -> Result<SyncReport> {
    let mut device = store.team_device(&fresh_device()?)?;
    let mut report = SyncReport::default();
    let mut link = Link::start()?;
    let mut identity = link.connect(url, &device)?;
    agree_on_seal(runtime, &mut link, &identity, key)?;
    store.team_use_key(key.map_or("", TeamKey::fingerprint))?;
    store.set_team_member(&identity.member, &identity.role)?;
    let refilled = refill(runtime, store, &mut link, (&identity, key), &mut report)?;
    let mut projects = outbox::stage(runtime, store)?;
    let mut series = series(&mut link)?;
    let is_renewed = is_copied(store, &device, &series)?;
    if is_renewed {
        (device, link, identity) = renew(store, url, &mut report)?;
    } else if lost(store, &series, &mut report)? {
        projects = outbox::stage(runtime, store)?;
    }
    if identity.role != "reader" {
        let mut pushed = push(runtime, store, &mut link, &device, (&identity, key), &mut report)?;
        if pushed == Pushed::Conflict && !is_renewed {
            (device, link, identity) = renew(store, url, &mut report)?;
            pushed = push(runtime, store, &mut link, &device, (&identity, key), &mut report)?;
        }
        if pushed == Pushed::Conflict {
            // Nobody else can have written under an identifier that was made a moment ago.
            let message = "the server says that a new machine has sent records already";
            return Err(SyncError(Fault::new(FaultKind::InvalidAnswer, message, "ask whoever runs the server")).into());
        }
    } else if store.team_status()?.pending > 0 {
        report.warnings.push("you are a reader in this team, so nothing was sent".into());
    }
    store.team_retry_unreadable(incoming::UNREADABLE)?;
    series.retain(|it| it.device != device);
    store.put_team_series(&series)?;
    let applied = pull(runtime, store, &mut link, &projects, (&identity, key), &mut report)?;
    drop(link);
    if applied.stored + refilled.stored > 0 {
        supersession::link_all(store, runtime.now)?;
    }
    if applied.removed + refilled.removed > 0 {
        store.erase()?;
    }
    report.review = store.team_status()?.review;
    report.team = identity.tenant;
    report.member = identity.member;
    report.role = identity.role;
    Ok(report)
}

/// Reads everything again if the database was salvaged, before anything is staged.
fn refill(
    runtime: &Runtime,
    store: &mut Store,
    link: &mut Link,
    us: (&Identity, Option<&TeamKey>),
    report: &mut SyncReport,
) -> Result<Applied> {
    if !store.team_is_salvaged()? {
        return Ok(Applied::default());
    }
    let projects = outbox::keyed_projects(runtime, store)?;
    // This machine's own former series is among them: it has a new identifier.
    store.put_team_series(&series(link)?)?;
    let applied = pull(runtime, store, link, &projects, us, report)?;
    store.team_refilled()?;
    report.warnings.push("this database was salvaged, so everything was read again from the server".into());
    Ok(applied)
}

/// Gives this machine another identifier, because its database was copied or restored.
fn renew(store: &mut Store, url: &str, report: &mut SyncReport) -> Result<(String, Link, Identity)> {
    let fresh = fresh_device()?;
    store.renew_team_device(&fresh)?;
    report.warnings.push(
        "this database was copied or restored from a backup, so this machine has a new identifier in the team; nothing is lost"
            .into(),
    );
    let mut link = Link::start()?;
    let identity = link.connect(url, &fresh)?;
    Ok((fresh, link, identity))
}

fn series(link: &mut Link) -> Result<Vec<KnownSeries>> {
    match link.ask(&Request::Series)? {
        Reply::Series { series } => Ok(series
            .into_iter()
            .map(|it| KnownSeries {
                device: it.device,
                kind: it.kind,
                sequence: 0,
                last: it.last,
                member: it.member,
                name: it.name,
            })
            .collect()),
        _ => Err(misunderstood().into()),
    }
}

/// Returns whether the server has records of this machine's that it never sent: another machine has a copy of the database,
/// or this one was restored from a backup.
fn is_copied(store: &Store, device: &str, series: &[KnownSeries]) -> Result<bool> {
    for it in series.iter().filter(|it| it.device == device) {
        let Some(kind) = RecordKind::of_word(&it.kind) else { continue };
        if it.last > store.team_last_given(device, kind)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sends again what the server has lost, because it was restored from an old backup. Returns whether there is any.
fn lost(store: &mut Store, series: &[KnownSeries], report: &mut SyncReport) -> Result<bool> {
    let mut again = 0;
    for device in store.team_own_devices()? {
        for kind in [RecordKind::Memory, RecordKind::Tombstone] {
            let last = series.iter().find(|it| it.device == device && it.kind == kind.word()).map_or(0, |it| it.last);
            if last < store.team_last_sent(&device, kind)? {
                again += store.team_resend(&device, kind, last)?;
            }
        }
    }
    if again > 0 {
        report.warnings.push(format!("the server had lost {again} records of this machine; they were sent again"));
    }
    Ok(again > 0)
}

#[derive(PartialEq, Eq)]
enum Pushed {
    All,
    Conflict,
}

/// Makes a redacted reason one short line.
fn one_line(RefusalReason(reason): RefusalReason) -> RefusalReason {
    /// The most characters of it.
    const MAX: usize = 200;
    RefusalReason(reason.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(MAX).collect())
}

fn push(
    runtime: &Runtime,
    store: &mut Store,
    link: &mut Link,
    device: &str,
    (identity, key): (&Identity, Option<&TeamKey>),
    report: &mut SyncReport,
) -> Result<Pushed> {
    loop {
        let queued = store.team_queue(device, PUSH_BYTES, key.map(|key| key as &dyn Sealer))?;
        if queued.is_empty() {
            return Ok(Pushed::All);
        }
        let count = queued.len() as u64;
        let records = queued.into_iter().map(|it| outgoing(it, identity.vectors && key.is_none())).collect();
        let Reply::Pushed { stored, refused, conflict } = link.ask(&Request::Push { records })? else {
            return Err(misunderstood().into());
        };
        if conflict {
            return Ok(Pushed::Conflict);
        }
        store.team_acknowledge(&stored)?;
        // A rule's name, or any other words of the server's: they may have a secret, of the memory or of this machine.
        let reasons = refused.iter().map(|it| RefusalReason(it.rule.clone())).collect();
        let reasons = Redacted::all(reasons, &mut ProjectRedactor::new(runtime, None))?;
        for (it, reason) in refused.iter().zip(reasons) {
            store.team_refuse(&it.hash, &reason.map(one_line))?;
        }
        report.sent += stored.len() as u64;
        report.refused += refused.len() as u64;
        if (stored.len() + refused.len()) as u64 != count {
            let message = "the server neither stored nor refused some records";
            return Err(SyncError(Fault::new(FaultKind::InvalidAnswer, message, "ask whoever runs the server")).into());
        }
    }
}

fn outgoing(it: QueuedRecord, has_vectors: bool) -> Outgoing {
    let read = ReadRecord::parse(&it.body).ok();
    let (project, target) = read.map(|read| (read.project, read.target)).unwrap_or_default();
    let text = (it.kind == RecordKind::Memory && has_vectors).then(|| outbox::readable(&it.body)).flatten();
    let vector = text.and_then(|text| local::embed(&format!("{}\n{}", text.title, text.content))).map(|it| it.vector);
    Outgoing {
        kind: it.kind.word().to_owned(),
        sequence: it.sequence,
        hash: it.hash,
        item: it.item,
        project,
        target,
        body: it.body,
        vector,
    }
}

/// Reads all series as far as they go. While one answer is stored, the server prepares the next.
fn pull(
    runtime: &Runtime,
    store: &mut Store,
    link: &mut Link,
    projects: &[outbox::KeyedProject],
    (identity, key): (&Identity, Option<&TeamKey>),
    report: &mut SyncReport,
) -> Result<Applied> {
    let known = store.team_series()?;
    let mut total = Applied::default();
    let went_back: BTreeSet<&str> = known.iter().filter(|it| it.last < it.sequence).map(|it| it.name.as_str()).collect();
    if !went_back.is_empty() {
        let names = went_back.into_iter().collect::<Vec<_>>().join(", ");
        report.warnings.push(format!("the server has lost records of {names}; what is here stays"));
    }
    let mut open: Vec<(Cursor, i64)> = known
        .iter()
        .filter(|it| it.sequence < it.last)
        .map(|it| (Cursor { device: it.device.clone(), kind: it.kind.clone(), sequence: it.sequence }, it.last))
        .collect();
    if open.is_empty() {
        return Ok(total);
    }
    let authors: HashMap<String, String> = known.iter().map(|it| (it.device.clone(), it.member.clone())).collect();
    let muted = store.team_status()?.muted;
    let context = Context { projects, authors: &authors, member: &identity.member, muted: &muted, key };
    let what = "deleted on another machine".to_owned();
    let (folder, note) = (runtime.paths.forgotten(), serde_json::to_string(&DeletionNote { what, interval: None })?);
    store.prepare_import()?;
    ask(link, &open)?;
    loop {
        let Reply::Pulled { records } = link.receive()? else { return Err(misunderstood().into()) };
        advance(&mut open, &records)?;
        let is_done = open.is_empty();
        if !is_done {
            ask(link, &open)?;
        }
        let (incoming, unreadable) = incoming::translate(runtime, records, &context)?;
        let applied = store.team_apply(&incoming, runtime.now, KeptFile { folder: &folder, note: &note })?;
        total.stored += applied.stored;
        total.removed += applied.removed;
        report.received += applied.stored;
        report.known += applied.known;
        report.removed += applied.removed;
        report.waiting += applied.waiting;
        report.unopened += applied.unopened;
        report.unreadable += unreadable;
        if is_done {
            store.finish_import()?;
            return Ok(total);
        }
    }
}

fn ask(link: &mut Link, open: &[(Cursor, i64)]) -> Result<(), SyncError> {
    link.send(&Request::Pull { after: open.iter().map(|(cursor, _)| cursor.clone()).collect(), limit: PULL })
}

/// Moves the cursors behind the records, and closes the series that were read to their end.
fn advance(open: &mut Vec<(Cursor, i64)>, records: &[Pulled]) -> Result<(), SyncError> {
    let invalid_answer = |what: &str| {
        SyncError(Fault::new(
            FaultKind::InvalidAnswer,
            format!("the server says what cannot be: {what}"),
            "nothing of this answer was stored; ask whoever runs the server",
        ))
    };
    if records.is_empty() {
        return Err(invalid_answer("a series is shorter than it says"));
    }
    for record in records {
        let cursor = open.iter_mut().find(|(it, _)| it.device == record.device && it.kind == record.kind);
        let Some((cursor, _)) = cursor else { return Err(invalid_answer("a record of a series that was not asked for")) };
        if record.sequence <= cursor.sequence {
            return Err(invalid_answer("a series that goes back"));
        }
        cursor.sequence = record.sequence;
    }
    open.retain(|(cursor, last)| cursor.sequence < *last);
    Ok(())
}
