//! Measures team memory on a real server: the first pull of many records, an unchanged sync, and both as devices and rows grow.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use clap::Parser;
use tests::home::Home;
use tests::postgres::{self, Server, Team};
use tests::process;

/// The longest that one sync may take.
const LIMIT: Duration = Duration::from_mins(30);

/// Measure team memory
#[derive(Parser)]
struct Arguments {
    /// The memories of the first pull
    #[arg(long, default_value_t = 100_000)]
    records: u32,
    /// Also measure with these numbers of devices and rows on the server, as DEVICES:ROWS
    #[arg(long, value_name = "DEVICES:ROWS", value_delimiter = ',')]
    growth: Vec<String>,
}

fn main() {
    let arguments = Arguments::parse();
    let server = Server::own("").expect("a PostgreSQL server");
    first_pull(&server, arguments.records);
    for it in &arguments.growth {
        let (devices, rows) = it.split_once(':').expect("DEVICES:ROWS");
        growth(&server, devices.parse().expect("a number"), rows.parse().expect("a number"));
    }
}

/// Runs a sync and returns how long it took.
fn sync(home: &Home) -> Duration {
    let began = Instant::now();
    let run = process::run(home.command(["team", "sync"]), Vec::new(), LIMIT).success();
    eprint!("{}", run.stdout);
    began.elapsed()
}

/// The fastest of some runs.
fn best_of(times: u32, mut run: impl FnMut() -> Duration) -> Duration {
    (0..times).map(|_| run()).min().unwrap_or_default()
}

fn import(home: &Home, from: u32, count: u32) {
    let mut lines = String::new();
    for number in from..from + count {
        // Writing to a string cannot fail.
        let _ = writeln!(
            lines,
            r#"{{"project":"otters","type":"decision","said_by":"human","content":"Decision {number}: the otter exporter of service {} writes \
its table {} with {} columns, because the reader of module {} cannot hold more of them in memory at once."}}"#,
            number % 97,
            number % 1_009,
            number % 23,
            number % 311
        );
    }
    let lines = lines.replace("\\\n", "");
    drop(process::run(home.command(["import", "-"]), lines.into_bytes(), LIMIT).success());
}

fn first_pull(server: &Server, records: u32) {
    let team = Team::new(server);
    let (ann, ben) = (Home::new(), Home::new());
    for (home, member) in [(&ann, "ann"), (&ben, "ben")] {
        postgres::join(home, &team.invite(member, "contributor"));
    }
    import(&ann, 0, records);
    import(&ben, records, 1);
    let push = sync(&ann);
    let pull = sync(&ben);
    let rate = |time: Duration| f64::from(records) / time.as_secs_f64();
    println!("first push of {records} records: {:.1} s, {:.0} a second", push.as_secs_f64(), rate(push));
    println!("first pull of {records} records: {:.1} s, {:.0} a second", pull.as_secs_f64(), rate(pull));
    sync(&ann);
    let unchanged = best_of(5, || sync(&ben));
    println!("unchanged sync: {} ms", unchanged.as_millis());
    import(&ann, records + 1, 1);
    let one = sync(&ann) + sync(&ben);
    println!("one new memory, one sync each: {} ms", one.as_millis());
}

/// Fills the server with rows of many devices, and measures what a machine sees that knows all but the last of each.
fn growth(server: &Server, devices: u32, rows: u32) {
    let team = Team::new(server);
    let ann = Home::new();
    postgres::join(&ann, &team.invite("ann", "contributor"));
    import(&ann, 0, 1);
    sync(&ann);
    let name = &team.name;
    drop(team.invite("crowd", "contributor"));
    let each = rows / devices;
    server.sql(
        name,
        &format!(
            "SET session_replication_role = replica;
             INSERT INTO throughline.devices (tenant, device, member, name)
                 SELECT '{name}', lpad(to_hex(d), 32, '0'), 'crowd', 'machine' FROM generate_series(1, {devices}) d;
             INSERT INTO throughline.records (tenant, device, kind, sequence, hash, item, project, member, decides, body)
                 SELECT '{name}', lpad(to_hex(d), 32, '0'), 'memory', s, encode(sha256(convert_to(body, 'UTF8')), 'hex'), item,
                        'name:otters', 'crowd', true, body
                 FROM generate_series(1, {devices}) d, generate_series(1, {each}) s,
                      LATERAL (SELECT md5(d || ':' || s) AS item) i,
                      LATERAL (SELECT format('{{\"v\":1,\"item\":\"%s\",\"project\":\"name:otters\",\"memory\":{{\"type\":\"decision\",\"content\":\"Machine %s decided %s: the exporter writes its table with more columns than the reader of the module can hold at once\"}}}}', item, d, s) AS body) b;
             INSERT INTO throughline.series SELECT tenant, device, kind, max(sequence), count(*) FROM throughline.records
                 WHERE member = 'crowd' GROUP BY 1, 2, 3;
             SET session_replication_role = DEFAULT; ANALYZE"
        ),
    );
    let bytes = server.sql(name, "SELECT pg_size_pretty(sum(pg_total_relation_size(c.oid))) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'throughline' AND c.relkind = 'r'");
    // What the machine knows of the crowd: all but the last record of each.
    let pulled = server.sql(name, "SELECT count(*) FROM throughline.series");
    let database =
        rusqlite::Connection::open_with_flags(ann.database(), rusqlite::OpenFlags::default()).expect("the database");
    database
        .execute_batch(&format!(
            "WITH RECURSIVE d (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM d WHERE n < {devices})
             INSERT INTO team_series SELECT printf('%032x', n), 'memory', {each} - 1, {each}, 'crowd', 'machine' FROM d"
        ))
        .expect("the cursors");
    drop(database);
    let first = sync(&ann);
    let unchanged = best_of(5, || sync(&ann));
    println!(
        "{devices} devices, {rows} rows: {bytes} on the server, {pulled} series; one new record of each device: {} ms; unchanged sync: {} ms",
        first.as_millis(),
        unchanged.as_millis()
    );
}
