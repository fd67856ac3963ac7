//! What a member does on the server: appends records, reads series, searches. What the server sends is checked.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::pin::pin;

use futures_util::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::connect::Connected;
use crate::fault;
use crate::hex::hex;
use throughline_sync_wire::{
    Cursor, Fault, FaultKind, FoundRecord, MAX_BODY, Outgoing, Pulled, Refusal, Reply, SCHEMA, SeriesHead,
};

/// The most text of one answer, bytes. What is left is asked for again.
const MAX_ANSWER: usize = 8 << 20;

/// The most series that a team may have.
const MAX_SERIES: usize = 100_000;

/// How many candidates each half of a search finds.
const CANDIDATES: i64 = 60;

/// The rank that halves a result's weight, as in the usual reciprocal rank fusion.
const FUSION: f64 = 60.0;

/// The server's own reasons to refuse one record: see `sql/records.sql`.
const REFUSALS: [&str; 3] = ["TL001", "TL002", "TL003"];

/// A member's session.
pub(crate) struct Session {
    connected: Connected,
    tenant: String,
    member: String,
    role: String,
    device: String,
    has_vectors: bool,
    seal: String,
}

impl Session {
    /// Looks up who we are, and registers this machine if it is new.
    pub(crate) async fn open(connected: Connected, device: &str, name: &str) -> Result<Self, Fault> {
        let client = &connected.client;
        let known = client.query_one(
            "SELECT (SELECT max(version) FROM throughline.schema_version), throughline.my_tenant(), throughline.my_member(),
                    throughline.my_role(), to_regclass('throughline.vectors') IS NOT NULL,
                    (SELECT to_jsonb(t) ->> 'seal' FROM throughline.tenants t WHERE t.tenant = throughline.my_tenant())",
            &[],
        );
        let row = connected.ask(known).await.map_err(|error| match error.kind {
            // Whoever may not even see the schema is no member of a team there.
            FaultKind::Denied if !error.message.contains("password") => not_a_member(),
            _ => error,
        })?;
        let version: Option<i32> = get(&connected, &row, 0)?;
        check_version(version)?;
        let (tenant, member, role) = (get(&connected, &row, 1)?, get(&connected, &row, 2)?, get(&connected, &row, 3)?);
        let (Some(tenant), Some(member), Some(role)): (Option<String>, Option<String>, Option<String>) =
            (tenant, member, role)
        else {
            return Err(not_a_member());
        };
        if !is_name(&tenant) || !is_name(&member) {
            return Err(connected.invalid_answer("a name that is none"));
        }
        let has_vectors = get(&connected, &row, 4)?;
        let seal: Option<String> = get(&connected, &row, 5)?;
        let seal = seal.unwrap_or_default();
        if !seal.is_empty() && !is_fingerprint(&seal) {
            return Err(connected.invalid_answer("a key's fingerprint that is none"));
        }
        if !device.is_empty() {
            let parameters: [&(dyn ToSql + Sync); 4] = [&tenant, &device, &member, &name];
            let registered = client.execute(
                "INSERT INTO throughline.devices (tenant, device, member, name) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                &parameters,
            );
            // A device that is known is found without writing.
            let parameters: [&(dyn ToSql + Sync); 2] = [&tenant, &device];
            let found =
                client.query_opt("SELECT member FROM throughline.devices WHERE tenant = $1 AND device = $2", &parameters);
            match connected.ask(found).await? {
                None => drop(connected.ask(registered).await?),
                Some(row) if get::<String>(&connected, &row, 0)? == member => {}
                Some(_) => {
                    return Err(Fault::new(
                        FaultKind::Denied,
                        "this machine's identifier belongs to another member",
                        "give it another one: `throughline team leave`, then `throughline team join`",
                    ));
                }
            }
        }
        Ok(Self { connected, tenant, member, role, device: device.to_owned(), has_vectors, seal })
    }

    /// Says who we are.
    pub(crate) fn described(&self) -> Reply {
        Reply::Connected {
            tenant: self.tenant.clone(),
            member: self.member.clone(),
            role: self.role.clone(),
            vectors: self.has_vectors,
            seal: self.seal.clone(),
        }
    }

    /// Seals the team with the key that has this fingerprint.
    pub(crate) async fn seal(&self, fingerprint: &str) -> Result<Reply, Fault> {
        let parameters: [&(dyn ToSql + Sync); 1] = [&fingerprint];
        let asked = self.connected.client.query_one("SELECT throughline.seal($1)", &parameters);
        let row = self.connected.ask(asked).await?;
        let seal: String = self.get(&row, 0)?;
        if is_fingerprint(&seal) {
            Ok(Reply::Sealed { seal })
        } else {
            Err(self.connected.invalid_answer("a key's fingerprint that is none"))
        }
    }

    /// Appends records. Each is stored once, however often it is sent; one that the server refuses does not hold up the others.
    pub(crate) async fn push(&self, mut records: Vec<Outgoing>) -> Result<Reply, Fault> {
        let mut refused: Vec<Refusal> = Vec::new();
        let sent: Vec<String> = loop {
            if records.is_empty() {
                break Vec::new();
            }
            match self.append(&records).await {
                Ok(()) => break records.iter().map(|it| it.hash.clone()).collect(),
                Err(Appending::Refused(refusal)) => {
                    let before = records.len();
                    records.retain(|it| it.hash != refusal.hash);
                    if records.len() == before {
                        return Err(self.connected.invalid_answer("it refuses a record that was not sent"));
                    }
                    refused.push(refusal);
                }
                Err(Appending::Failed(fault)) => return Err(fault),
            }
        };
        let (stored, conflict) = if sent.is_empty() { (Vec::new(), false) } else { self.stored(&records).await? };
        self.put_vectors(&records, &stored).await?;
        Ok(Reply::Pushed { stored, refused, conflict })
    }

    async fn append(&self, records: &[Outgoing]) -> Result<(), Appending> {
        let column = |of: fn(&Outgoing) -> &str| records.iter().map(of).collect::<Vec<&str>>();
        let places: Vec<i64> = records.iter().map(|it| it.sequence).collect();
        let (kinds, hashes, items) = (column(|it| &it.kind), column(|it| &it.hash), column(|it| &it.item));
        let (targets, projects, bodies) = (column(|it| &it.target), column(|it| &it.project), column(|it| &it.body));
        let parameters: [&(dyn ToSql + Sync); 9] =
            [&self.tenant, &self.device, &kinds, &places, &hashes, &items, &targets, &projects, &bodies];
        // In the order of the items, which the server locks: so two machines never wait for each other.
        let asked = self.connected.client.execute(
            "INSERT INTO throughline.records (tenant, device, kind, sequence, hash, item, target, project, body)
             SELECT $1, $2, it.* FROM unnest($3::text[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
                 AS it (kind, sequence, hash, item, target, project, body)
             ORDER BY it.item, it.kind DESC ON CONFLICT DO NOTHING",
            &parameters,
        );
        match tokio::time::timeout(self.connected.timeout, asked).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => match error.as_db_error() {
                Some(said) if REFUSALS.contains(&said.code().code()) => Err(Appending::Refused(Refusal {
                    hash: said.detail().unwrap_or_default().to_owned(),
                    rule: said.message().to_owned(),
                })),
                _ => Err(Appending::Failed(self.connected.explain(&error))),
            },
            Err(_) => Err(Appending::Failed(fault::slow(&self.connected.server, self.connected.timeout.as_millis()))),
        }
    }

    /// Returns which of the records the server has, and whether another one has the place of one of them.
    async fn stored(&self, records: &[Outgoing]) -> Result<(Vec<String>, bool), Fault> {
        let hashes: Vec<&str> = records.iter().map(|it| it.hash.as_str()).collect();
        let (kinds, places): (Vec<&str>, Vec<i64>) = records.iter().map(|it| (it.kind.as_str(), it.sequence)).unzip();
        let parameters: [&(dyn ToSql + Sync); 5] = [&self.tenant, &self.device, &hashes, &kinds, &places];
        let asked = self.connected.client.query(
            "SELECT r.hash FROM throughline.records r WHERE r.tenant = $1 AND r.hash = ANY ($3)
             UNION SELECT r.hash FROM unnest($4::text[], $5::int8[]) AS it (kind, sequence)
             JOIN throughline.records r ON r.tenant = $1 AND r.device = $2 AND r.kind = it.kind AND r.sequence = it.sequence",
            &parameters,
        );
        let rows = self.connected.ask(asked).await?;
        let found: HashSet<String> = rows.iter().map(|row| get(&self.connected, row, 0)).collect::<Result<_, Fault>>()?;
        let wanted: HashSet<&str> = hashes.iter().copied().collect();
        let conflict = found.iter().any(|hash| !wanted.contains(hash.as_str()));
        Ok((hashes.into_iter().filter(|hash| found.contains(*hash)).map(str::to_owned).collect(), conflict))
    }

    async fn put_vectors(&self, records: &[Outgoing], stored: &[String]) -> Result<(), Fault> {
        if !self.has_vectors {
            return Ok(());
        }
        let stored: HashSet<&str> = stored.iter().map(String::as_str).collect();
        let (hashes, vectors): (Vec<&str>, Vec<String>) = records
            .iter()
            .filter(|it| stored.contains(it.hash.as_str()))
            .filter_map(|it| Some((it.hash.as_str(), written(it.vector.as_deref()?))))
            .unzip();
        if hashes.is_empty() {
            return Ok(());
        }
        let parameters: [&(dyn ToSql + Sync); 3] = [&self.tenant, &hashes, &vectors];
        let asked = self.connected.client.execute(
            "INSERT INTO throughline.vectors (tenant, hash, vector)
             SELECT $1, it.hash, it.vector::public.halfvec FROM unnest($2::text[], $3::text[]) AS it (hash, vector)
             WHERE EXISTS (SELECT 1 FROM throughline.records r WHERE r.tenant = $1 AND r.hash = it.hash AND r.body IS NOT NULL
                                                                 AND r.member = throughline.my_member())
             ON CONFLICT DO NOTHING",
            &parameters,
        );
        self.connected.ask(asked).await.map(drop)
    }

    /// Returns all series of the team.
    pub(crate) async fn series(&self) -> Result<Reply, Fault> {
        let parameters: [&(dyn ToSql + Sync); 1] = [&self.tenant];
        let asked = self.connected.client.query(
            "SELECT s.device, s.kind, s.last, d.member, d.name, s.tenant
             FROM throughline.series s JOIN throughline.devices d ON d.tenant = s.tenant AND d.device = s.device
             WHERE s.tenant = $1 ORDER BY s.device, s.kind",
            &parameters,
        );
        let rows = self.connected.ask(asked).await?;
        if rows.len() > MAX_SERIES {
            return Err(self.connected.invalid_answer("more series than a team can have"));
        }
        let mut series = Vec::with_capacity(rows.len());
        for row in &rows {
            let (device, kind, last): (String, String, i64) = (self.get(row, 0)?, self.get(row, 1)?, self.get(row, 2)?);
            let (member, name, tenant): (String, String, String) = (self.get(row, 3)?, self.get(row, 4)?, self.get(row, 5)?);
            if tenant != self.tenant {
                return Err(self.connected.invalid_answer("a series of another team"));
            }
            if !is_device(&device) || !is_kind(&kind) || last < 0 || !is_name(&member) || !is_device_name(&name) {
                return Err(self.connected.invalid_answer("a series that is none"));
            }
            series.push(SeriesHead { device, kind, last, member, name });
        }
        Ok(Reply::Series { series })
    }

    /// Returns records that follow the given places, each series in its order.
    pub(crate) async fn pull(&self, after: &[Cursor], limit: u32) -> Result<Reply, Fault> {
        let mut last: HashMap<(String, String), i64> =
            after.iter().map(|it| ((it.device.clone(), it.kind.clone()), it.sequence)).collect();
        let devices: Vec<&str> = after.iter().map(|it| it.device.as_str()).collect();
        let kinds: Vec<&str> = after.iter().map(|it| it.kind.as_str()).collect();
        let places: Vec<i64> = after.iter().map(|it| it.sequence).collect();
        let most = i64::from(limit);
        let parameters: [&(dyn ToSql + Sync); 5] = [&devices, &kinds, &places, &self.tenant, &most];
        let reading = async {
            let rows = self.connected.client.query_raw(
                "SELECT r.device, r.kind, r.sequence, r.hash, r.item, r.decides, r.body, r.tenant
                 FROM unnest($1::text[], $2::text[], $3::int8[]) AS c (device, kind, sequence)
                 CROSS JOIN LATERAL (
                     SELECT * FROM throughline.records r WHERE r.tenant = $4 AND r.device = c.device AND r.kind = c.kind
                       AND r.sequence > c.sequence ORDER BY r.sequence LIMIT $5) r
                 LIMIT $5",
                parameters.iter().copied(),
            );
            let mut rows = pin!(rows.await.map_err(|error| self.connected.explain(&error))?);
            let mut records = Vec::new();
            let mut bytes = 0;
            while let Some(row) = rows.try_next().await.map_err(|error| self.connected.explain(&error))? {
                let record = self.record(&row)?;
                let known = last
                    .get_mut(&(record.device.clone(), record.kind.clone()))
                    .ok_or_else(|| self.connected.invalid_answer("a record of a series that was not asked for"))?;
                if record.sequence <= *known {
                    return Err(self.connected.invalid_answer("a series that goes back"));
                }
                *known = record.sequence;
                bytes += record.body.as_ref().map_or(0, String::len);
                records.push(record);
                if records.len() >= limit as usize || bytes >= MAX_ANSWER {
                    break;
                }
            }
            Ok(records)
        };
        let records = tokio::time::timeout(self.connected.timeout, reading)
            .await
            .map_err(|_| fault::slow(&self.connected.server, self.connected.timeout.as_millis()))??;
        Ok(Reply::Pulled { records })
    }

    fn record(&self, row: &Row) -> Result<Pulled, Fault> {
        let tenant: String = self.get(row, 7)?;
        let record = Pulled {
            device: self.get(row, 0)?,
            kind: self.get(row, 1)?,
            sequence: self.get(row, 2)?,
            hash: self.get(row, 3)?,
            item: self.get(row, 4)?,
            decides: self.get(row, 5)?,
            body: self.get(row, 6)?,
        };
        if tenant != self.tenant {
            return Err(self.connected.invalid_answer("a record of another team"));
        }
        if let Some(body) = &record.body {
            if body.len() > MAX_BODY {
                return Err(self.connected.invalid_answer("a record that is too long"));
            }
            if hex(&Sha256::digest(body.as_bytes())) != record.hash {
                return Err(self.connected.invalid_answer("a record whose hash is not that of its text"));
            }
        } else if record.kind == "tombstone" {
            return Err(self.connected.invalid_answer("a tombstone without a text"));
        }
        Ok(record)
    }

    /// Searches by words and, where there are any, by vectors. With a project's key, only records of that project are found: also
    /// those of a shallow clone, which has no history, and of a clone without a remote.
    pub(crate) async fn search(
        &self,
        query: &str,
        project: Option<&str>,
        vector: Option<&[f32]>,
        limit: u32,
    ) -> Result<Reply, Fault> {
        let words: Vec<String> = query
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(64)
            .map(str::to_lowercase)
            .collect();
        let (roots, remote) = project.and_then(parts_of_key).unzip();
        let mut scores: HashMap<String, (FoundRecord, f64)> = HashMap::new();
        let mut take = |rows: &[Row], session: &Self| -> Result<(), Fault> {
            for (place, row) in rows.iter().enumerate() {
                let (hash, body, member): (String, Option<String>, String) =
                    (session.get(row, 0)?, session.get(row, 1)?, session.get(row, 2)?);
                let Some(body) = body.filter(|body| body.len() <= MAX_BODY) else { continue };
                if hex(&Sha256::digest(body.as_bytes())) != hash || !is_name(&member) {
                    return Err(session.connected.invalid_answer("a result whose hash is not that of its text"));
                }
                #[expect(clippy::cast_precision_loss, reason = "a rank")]
                let score = 1.0 / (FUSION + place as f64);
                scores.entry(hash).or_insert_with(|| (FoundRecord { body, member, score: 0.0 }, 0.0)).1 += score;
            }
            Ok(())
        };
        if !words.is_empty() {
            let any = words.join(" | ");
            let parameters: [&(dyn ToSql + Sync); 6] = [&self.tenant, &any, &project, &CANDIDATES, &roots, &remote];
            let sql = format!(
                "SELECT r.hash, r.body, r.member FROM throughline.records r
                 WHERE r.tenant = $1 AND r.kind = 'memory' AND r.words @@ to_tsquery('simple', $2)
                   AND {OF_PROJECT} AND r.body IS NOT NULL
                 ORDER BY ts_rank_cd(r.words, to_tsquery('simple', $2)) DESC, r.hash LIMIT $4"
            );
            let asked = self.connected.client.query(&sql, &parameters);
            let rows = self.connected.ask(asked).await?;
            take(&rows, self)?;
        }
        let vector = vector.filter(|_| self.has_vectors).map(written);
        if let Some(vector) = &vector {
            // The index knows no tenant and no project: it is scanned on until enough rows pass the filters.
            let begin = "BEGIN; SET LOCAL hnsw.iterative_scan = 'strict_order'; SET LOCAL hnsw.ef_search = 100";
            self.connected.ask(self.connected.client.batch_execute(begin)).await?;
            let parameters: [&(dyn ToSql + Sync); 6] = [&self.tenant, vector, &project, &CANDIDATES, &roots, &remote];
            let sql = format!(
                "SELECT r.hash, r.body, r.member FROM throughline.vectors v
                 JOIN throughline.records r ON r.tenant = v.tenant AND r.hash = v.hash
                 WHERE v.tenant = $1 AND {OF_PROJECT} AND r.body IS NOT NULL
                 ORDER BY v.vector OPERATOR(public.<=>) $2::text::public.halfvec LIMIT $4"
            );
            let asked = self.connected.client.query(&sql, &parameters);
            let rows = self.connected.ask(asked).await;
            self.connected.ask(self.connected.client.batch_execute("COMMIT")).await?;
            take(&rows?, self)?;
        }
        let mut found: Vec<FoundRecord> =
            scores.into_values().map(|(found, score)| FoundRecord { score, ..found }).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.body.cmp(&b.body)));
        found.truncate(limit as usize);
        Ok(Reply::Found { found, vectors: vector.is_some() })
    }

    fn get<'a, T: tokio_postgres::types::FromSql<'a>>(&self, row: &'a Row, column: usize) -> Result<T, Fault> {
        get(&self.connected, row, column)
    }
}

/// Why records were not appended.
enum Appending {
    /// The server refused one of them.
    Refused(Refusal),
    /// The request failed.
    Failed(Fault),
}

/// Reads a value. One of another type, or a text that is not UTF-8, is none that our schema has.
fn get<'a, T: tokio_postgres::types::FromSql<'a>>(connected: &Connected, row: &'a Row, column: usize) -> Result<T, Fault> {
    row.try_get(column).map_err(|_| connected.invalid_answer("a value of the wrong form, or a text that is not UTF-8"))
}

fn not_a_member() -> Fault {
    Fault::new(FaultKind::Denied, "the server knows no member of this name, or has removed it", "ask for a new invitation")
}

/// Compares the server's schema with the one that this build knows.
pub(crate) fn check_version(version: Option<i32>) -> Result<(), Fault> {
    match version {
        Some(SCHEMA) => Ok(()),
        None => Err(fault::no_schema()),
        Some(found) if found > SCHEMA => Err(Fault::new(
            FaultKind::Schema,
            format!("the server's schema has version {found}, and this program knows version {SCHEMA}"),
            "install a newer throughline and throughline-sync; until then everything works without the server",
        )),
        Some(found) => Err(Fault::new(
            FaultKind::Schema,
            format!("the server's schema has version {found}, and this program needs version {SCHEMA}"),
            "whoever runs the server upgrades it with `throughline-sync admin init`",
        )),
    }
}

/// The condition that a record `r` belongs to the project with the key `$3`. The key's history is `$5` and its remote is `$6`; both
/// are null if the key is not that of a repository. As on each machine, two keys belong to one project if the history or the
/// remote is the same, and the other part is the same too or missing in one of them.
const OF_PROJECT: &str = "($3::text IS NULL OR r.project = $3 OR EXISTS (
    SELECT FROM (SELECT substring(r.project FROM '^git:([0-9a-f]*):') AS roots,
                        substring(r.project FROM '^git:[0-9a-f]*:(.*)$') AS remote) k
    WHERE (k.roots = '' OR $5::text = '' OR k.roots = $5) AND (k.remote = '' OR $6::text = '' OR k.remote = $6)
      AND (k.roots <> '' AND k.roots = $5 OR k.remote <> '' AND k.remote = $6)))";

/// Returns the history and the remote in the key of a repository, as in `git:0a1b:github.com/acme/shop`.
fn parts_of_key(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("git:")?.split_once(':')
}

/// Writes a vector as pgvector reads it.
fn written(vector: &[f32]) -> String {
    let mut text = String::from("[");
    for (at, number) in vector.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{number}", if at == 0 { "" } else { "," });
    }
    text.push(']');
    text
}

fn is_name(text: &str) -> bool {
    (1..=24).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn is_device(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_fingerprint(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_device_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn is_kind(text: &str) -> bool {
    matches!(text, "memory" | "tombstone")
}
