//! Measures team memory on a real server: `pull` the first pull of many records and an unchanged sync, `growth` both as devices and
//! rows grow, and `chaos` what is left after machines, network and server were disturbed for some minutes.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use tests::home::Home;
use tests::postgres::{self, Server, Team};
use tests::process;
use tests::team::chaos::{self, Plan};
use tests::team::growth::{self, Figures};

/// The longest that one sync may take.
const LIMIT: Duration = Duration::from_mins(30);

/// Measure team memory
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure the first pull of many records, and an unchanged sync
    Pull {
        /// The memories
        #[arg(long, default_value_t = 100_000)]
        records: u32,
        /// Of a sealed team
        #[arg(long)]
        sealed: bool,
    },
    /// Measure a sync with these numbers of machines and rows on the server
    Growth {
        /// As DEVICES:ROWS
        #[arg(value_name = "DEVICES:ROWS", required_unless_present = "from")]
        sizes: Vec<String>,
        /// Write the figures as JSON, after each size
        #[arg(long, value_name = "FILE")]
        figures: Option<PathBuf>,
        /// Draw the picture docs/team-growth.svg
        #[arg(long, value_name = "FILE")]
        plot: Option<PathBuf>,
        /// Also draw these figures of earlier runs
        #[arg(long, value_name = "FILE")]
        from: Vec<PathBuf>,
    },
    /// Disturb machines that write, and check that they agree afterwards
    Chaos {
        /// The machines
        #[arg(long, default_value_t = 50)]
        devices: usize,
        /// How long they write
        #[arg(long, default_value_t = 300)]
        seconds: u64,
        /// Of the random numbers
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many things happen at once
        #[arg(long, default_value_t = 8)]
        workers: usize,
    },
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Pull { records, sealed } => {
            let server = Server::own("").context("there is no PostgreSQL")?;
            first_pull(&server, records, sealed);
        }
        Command::Growth { sizes, figures, plot, from } => {
            let mut all: Vec<Figures> = Vec::new();
            for file in from {
                let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
                all.extend(serde_json::from_str::<Vec<Figures>>(&text)?);
            }
            grow(&sizes, figures.as_deref(), &mut all)?;
            if let Some(file) = plot {
                std::fs::write(&file, growth::picture(&all)).with_context(|| format!("cannot write {}", file.display()))?;
            }
        }
        Command::Chaos { devices, seconds, seed, workers } => {
            let plan = Plan { devices, time: Duration::from_secs(seconds), seed, workers };
            let outcome = chaos::run(&plan).context("there is no PostgreSQL")?;
            println!("{devices} machines, {seconds} s, seed {seed}: {outcome}");
            if !outcome.problems.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a sync and returns how long it took.
fn sync(home: &Home) -> Duration {
    let began = Instant::now();
    let run = process::run(home.command(["team", "sync"]), Vec::new(), LIMIT).success();
    let took = began.elapsed();
    eprint!("{}", run.stdout);
    took
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

fn first_pull(server: &Server, records: u32, sealed: bool) {
    let team = Team::new(server);
    let (ann, ben) = (Home::new(), Home::new());
    for (home, member, role) in [(&ann, "ann", "curator"), (&ben, "ben", "contributor")] {
        postgres::join(home, &team.invite(member, role));
    }
    if sealed {
        drop(ann.run(["team", "key", "create"]).success());
        sync(&ann);
        let key = ann.run(["team", "key", "show"]).success().stdout;
        drop(process::run(ben.command(["team", "key", "import"]), key.into_bytes(), LIMIT).success());
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

fn grow(sizes: &[String], figures: Option<&std::path::Path>, all: &mut Vec<Figures>) -> Result<()> {
    for size in sizes {
        let (devices, rows) = size.split_once(':').context("a size is DEVICES:ROWS")?;
        // Its own server for each size, so that none has the files of another one in memory.
        let server = Server::own(growth::OPTIONS).context("there is no PostgreSQL")?;
        let began = Instant::now();
        let it = growth::measure(&server, devices.parse()?, rows.parse()?, sync)?;
        println!(
            "{} devices, {} rows: {} MB on the server; one new record of each device: {:.0} ms; unchanged sync: {:.0} ms ({:.0} s in all)",
            it.devices,
            it.rows,
            it.bytes / 1_000_000,
            it.new_ms,
            it.unchanged_ms,
            began.elapsed().as_secs_f64()
        );
        all.push(it);
        if let Some(file) = figures {
            std::fs::write(file, serde_json::to_string_pretty(&all)?)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
    }
    Ok(())
}
