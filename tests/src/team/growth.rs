//! A server with many rows of many machines, and what one machine sees of it.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::growth::plot::{self, Curve};
use crate::home::Home;
use crate::postgres::{self, Server, Team};
use crate::process;

/// The longest that one sync or one statement may take.
const LIMIT: Duration = Duration::from_mins(30);

/// How many rows one statement inserts.
const CHUNK: u64 = 250_000;

/// The options of a server that is filled fast: what is measured writes almost nothing.
pub const OPTIONS: &str = "-c listen_addresses= -c max_wal_size=8GB -c maintenance_work_mem=512MB -c checkpoint_timeout=30min -c shared_buffers=512MB";

/// What was measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figures {
    /// Machines.
    pub devices: u64,
    /// Rows on the server.
    pub rows: u64,
    /// The tables of team memory with their indexes, bytes.
    pub bytes: u64,
    /// A sync with one new record of each machine, milliseconds.
    pub new_ms: f64,
    /// A sync in which nothing is new: the fastest of some, milliseconds.
    pub unchanged_ms: f64,
}

/// Fills the server with rows of many machines, and measures what a machine sees that knows all but the last row of each.
pub fn measure(server: &Server, devices: u64, rows: u64, sync: impl Fn(&Home) -> Duration) -> Result<Figures> {
    let team = Team::new(server);
    let ann = Home::new();
    postgres::join(&ann, &team.invite("ann", "contributor"));
    let line = r#"{"project":"otters","type":"decision","said_by":"human","content":"The first one"}"#;
    drop(process::run(ann.command(["import", "-"]), line.into(), LIMIT).success());
    sync(&ann);
    let each = rows / devices;
    fill(server, &team, devices, each);
    let name = &team.name;
    let bytes = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = 'throughline' AND c.relkind = 'r'";
    let bytes = server.sql(name, bytes).parse().context("a size")?;
    let database = rusqlite::Connection::open_with_flags(ann.database(), rusqlite::OpenFlags::default())?;
    database.execute_batch(&format!(
        "WITH RECURSIVE d (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM d WHERE n < {devices})
         INSERT INTO team_series SELECT printf('%032x', n), 'memory', {each} - 1, {each}, 'crowd', 'machine' FROM d"
    ))?;
    drop(database);
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let new_ms = milliseconds(sync(&ann));
    let unchanged_ms = (0..5).map(|_| milliseconds(sync(&ann))).fold(f64::INFINITY, f64::min);
    server.sql("postgres", &format!("DROP DATABASE {name} WITH (FORCE)"));
    Ok(Figures { devices, rows: each * devices, bytes, new_ms, unchanged_ms })
}

/// Inserts the rows. Indexes whose keys are random are made afterwards, which gives the same in less time.
fn fill(server: &Server, team: &Team<'_>, devices: u64, each: u64) {
    let name = &team.name;
    drop(team.invite("crowd", "contributor"));
    let run = |sql: &str| drop(server.sql_within(name, &format!("SET session_replication_role = replica; {sql}"), LIMIT));
    run(&format!(
        "ALTER TABLE throughline.records DROP CONSTRAINT records_tenant_hash_key CASCADE;
         DROP INDEX throughline.records_by_item, throughline.records_by_words;
         INSERT INTO throughline.devices (tenant, device, member, name)
             SELECT '{name}', lpad(to_hex(d), 32, '0'), 'crowd', 'machine' FROM generate_series(1, {devices}) d"
    ));
    let chunk = (CHUNK / devices).max(1);
    let mut from = 1;
    while from <= each {
        let to = (from + chunk - 1).min(each);
        run(&format!(
            "INSERT INTO throughline.records (tenant, device, kind, sequence, hash, item, project, member, decides, body)
                 SELECT '{name}', lpad(to_hex(d), 32, '0'), 'memory', s, encode(sha256(convert_to(body, 'UTF8')), 'hex'), item,
                        'name:otters', 'crowd', true, body
                 FROM generate_series(1, {devices}) d, generate_series({from}, {to}) s,
                      LATERAL (SELECT md5(d || ':' || s) AS item) i,
                      LATERAL (SELECT format('{{\"v\":1,\"item\":\"%s\",\"project\":\"name:otters\",\"memory\":{{\"type\":\"decision\",\"content\":\"Machine %s decided %s: the exporter writes its table with more columns than the reader of the module can hold at once\"}}}}', item, d, s) AS body) b;
             INSERT INTO throughline.items (tenant, item, member)
                 SELECT '{name}', md5(d || ':' || s), 'crowd' FROM generate_series(1, {devices}) d, generate_series({from}, {to}) s"
        ));
        from = to + 1;
    }
    run("ALTER TABLE throughline.records ADD CONSTRAINT records_tenant_hash_key UNIQUE (tenant, hash);
         CREATE INDEX records_by_item ON throughline.records (tenant, item)");
    run("CREATE INDEX records_by_words ON throughline.records USING gin (words) WHERE kind = 'memory'");
    run("INSERT INTO throughline.series SELECT tenant, device, kind, max(sequence), count(*) FROM throughline.records
             WHERE member = 'crowd' GROUP BY 1, 2, 3");
    run("ANALYZE throughline.records");
    run("ANALYZE throughline.series");
}

/// Draws the times over the rows, a curve for each number of machines.
pub fn picture(figures: &[Figures]) -> String {
    let mut counts: Vec<u64> = figures.iter().map(|it| it.devices).collect();
    counts.sort_unstable();
    counts.dedup();
    let curves: Vec<Curve> = counts
        .into_iter()
        .flat_map(|devices| {
            let curve = |name: String, time: fn(&Figures) -> f64, second: bool| {
                #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
                let mut points: Vec<(f64, f64)> =
                    figures.iter().filter(|it| it.devices == devices).map(|it| (it.rows as f64, time(it))).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                Curve { name, points, dashed: second, second }
            };
            [
                curve(format!("{devices} machines, new"), |it| it.new_ms, false),
                curve(format!("{devices}, unchanged"), |it| it.unchanged_ms, true),
            ]
        })
        .collect();
    plot::svg("A sync, by what is on the server", "rows on the server", &curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_has_two_curves_for_each_number_of_machines() {
        let of = |devices, rows, new_ms| Figures { devices, rows, bytes: 1, new_ms, unchanged_ms: 9.0 };
        let svg = picture(&[of(10, 1_000, 20.0), of(100, 1_000, 30.0), of(10, 100_000, 25.0)]);
        assert_eq!(svg.matches("<polyline").count(), 4);
        assert!(svg.contains("10 machines, new, 25 ms") && svg.contains("100, unchanged, 9 ms"), "{svg}");
        assert!(svg.contains("rows on the server"));
    }
}
