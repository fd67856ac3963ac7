//! Machines that write for some minutes while everything goes wrong: processes are killed, the server is killed, the network is
//! cut, clocks are off by days. Afterwards all machines of a team must have the same memories: every one whose command said that it
//! was saved, none whose command said that it was deleted, each once, and none of another team.
//!
//! There are two teams on one server, each with a fifth or more of the machines. One of them is sealed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::network::Network;
use crate::home::Home;
use crate::postgres::{self, Server, Team};
use crate::process::{self, Finished};

/// What is done to the machines.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many machines there are.
    pub devices: usize,
    /// How long they write.
    pub time: Duration,
    /// Of the random numbers.
    pub seed: u64,
    /// How many things happen at once.
    pub workers: usize,
}

/// The longest that one process may take.
const LIMIT: Duration = Duration::from_mins(5);

/// How many machines a member has.
const MACHINES: usize = 5;

/// The most days by which a clock is off.
const DAYS: u64 = 10;

/// Where Debian's package `faketime` has the library that sets a process's clock.
const FAKETIME: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"];

/// What happened.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Memories whose saving was acknowledged.
    pub saved: u64,
    /// Memories whose deletion was acknowledged.
    pub deleted: u64,
    /// Processes that were killed.
    pub killed: u64,
    /// Syncs that ended well while things went wrong.
    pub synced: u64,
    /// Syncs that ended with an error.
    pub failed: u64,
    /// How often the server was killed.
    pub crashes: u64,
    /// How often the network was cut.
    pub cuts: u64,
    /// Whether clocks were off.
    pub clocks: bool,
    /// Records on the server at the end.
    pub records: u64,
    /// What should not be. Nothing, if all went well.
    pub problems: Vec<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} memories saved, {} deleted, {} records on the server; {} syncs, {} more failed; {} processes killed, server killed {} \
             times, network cut {} times, clocks {}",
            self.saved,
            self.deleted,
            self.records,
            self.synced,
            self.failed,
            self.killed,
            self.crashes,
            self.cuts,
            if self.clocks { "off by days" } else { "right (faketime is not installed)" }
        )?;
        if self.problems.is_empty() {
            return write!(f, "all machines of a team agree: nothing lost, nothing doubled, nothing of another team");
        }
        writeln!(f, "{} problems:", self.problems.len())?;
        self.problems.iter().take(30).try_for_each(|problem| writeln!(f, "  {problem}"))
    }
}

/// What is known of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Its command ended well.
    Saved,
    /// Its command was killed, or its deletion's: it may be there or not.
    Unknown,
    /// The command that deleted it ended well.
    Deleted,
}

struct Device {
    home: Home,
    project: PathBuf,
    team: usize,
    /// How its processes see the time: an offset for the library.
    clock: String,
    number: usize,
    /// The identifiers and texts of memories that were saved here.
    own: Vec<(String, String)>,
    said: u64,
}

/// Random numbers of a seed: `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}

#[derive(Default)]
struct Counts {
    killed: AtomicU64,
    synced: AtomicU64,
    failed: AtomicU64,
    problems: Mutex<Vec<String>>,
}

impl Counts {
    fn problem(&self, what: String) {
        self.problems.lock().expect("no worker panicked").push(what);
    }
}

/// Runs the plan on a server of its own. None if this machine has no `PostgreSQL`.
pub fn run(plan: &Plan) -> Option<Outcome> {
    let mut server = Server::own("")?;
    let network = Network::new(server.folder()).expect("a port of this machine");
    let library = FAKETIME.into_iter().find(|path| std::path::Path::new(path).is_file());
    let mut random = Random(plan.seed);
    let (database, teams, devices) = set_up(&server, &network, plan, library.is_some(), &mut random);
    let texts: Mutex<BTreeMap<String, (usize, Fate)>> = Mutex::default();
    let counts = Counts::default();
    let ends = Instant::now() + plan.time;
    let is_over = AtomicBool::new(false);
    let (crashes, cuts) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut groups: Vec<Vec<Device>> = (0..plan.workers.max(1)).map(|_| Vec::new()).collect();
    for (at, device) in devices.into_iter().enumerate() {
        let place = at % groups.len();
        groups[place].push(device);
    }
    std::thread::scope(|scope| {
        let mut seed = random.next();
        let (server, network, crashes, cuts, is_over) = (&mut server, &network, &crashes, &cuts, &is_over);
        let disturber = scope.spawn(move || disturb(server, network, is_over, &mut Random(seed), crashes, cuts));
        let workers: Vec<_> = groups
            .iter_mut()
            .map(|group| {
                seed = seed.wrapping_add(1);
                let (texts, counts, mut random) = (&texts, &counts, Random(seed.rotate_left(17)));
                scope.spawn(move || {
                    while Instant::now() < ends {
                        let at = usize::try_from(random.below(group.len() as u64)).unwrap_or_default();
                        if let Some(device) = group.get_mut(at) {
                            act(device, library, &mut random, texts, counts);
                        }
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().expect("a worker ends");
        }
        is_over.store(true, Ordering::SeqCst);
        disturber.join().expect("the server is up again");
    });
    // Undisturbed: all send, and then all fetch.
    for _ in 0..2 {
        std::thread::scope(|scope| {
            for group in &groups {
                let counts = &counts;
                scope.spawn(move || group.iter().for_each(|device| settle(device, library, counts)));
            }
        });
    }
    let texts = texts.into_inner().expect("no worker panicked");
    let mut outcome = Outcome {
        saved: texts.values().filter(|(_, fate)| *fate == Fate::Saved).count() as u64,
        deleted: texts.values().filter(|(_, fate)| *fate == Fate::Deleted).count() as u64,
        killed: counts.killed.into_inner(),
        synced: counts.synced.into_inner(),
        failed: counts.failed.into_inner(),
        crashes: crashes.into_inner(),
        cuts: cuts.into_inner(),
        clocks: library.is_some(),
        records: server.sql(&database, "SELECT count(*) FROM throughline.records").parse().unwrap_or_default(),
        problems: counts.problems.into_inner().expect("no worker panicked"),
    };
    let devices: Vec<Device> = groups.into_iter().flatten().collect();
    check(&devices, &texts, &mut outcome.problems);
    check_server(&server, &database, &teams, &mut outcome.problems);
    Some(outcome)
}

/// A team's name, and an invitation to it.
type Invited = (String, String);

fn set_up(
    server: &Server,
    network: &Network,
    plan: &Plan,
    has_clocks: bool,
    random: &mut Random,
) -> (String, [Invited; 2], Vec<Device>) {
    let team = Team::new(server);
    let names = [team.name.clone(), format!("{}x", team.name)];
    let source = Home::new();
    let origin = source.project("otters");
    let invite = |at: usize, member: &str, role: &str| {
        let arguments = [
            "invite",
            "--team",
            &names[at],
            "--role",
            role,
            "--reached-at",
            &network.address(),
            "--with",
            "sslmode=disable",
        ];
        team.admin(&[&arguments[..], &[member]].concat()).success().stdout.trim().to_owned()
    };
    let mut invitations: BTreeMap<(usize, usize), String> = BTreeMap::new();
    let mut key = String::new();
    let mut devices = Vec::new();
    for number in 0..plan.devices {
        let of = usize::from(number % MACHINES == MACHINES - 1);
        let member = number / MACHINES / 2;
        let invitation = invitations
            .entry((of, member))
            .or_insert_with(|| invite(of, &format!("member{member}"), if member == 0 { "curator" } else { "contributor" }))
            .clone();
        let home = Home::new();
        let project = home.work().join("otters");
        let paths = [origin.to_str().expect("UTF-8"), project.to_str().expect("UTF-8")];
        home.git(&home.work(), &["clone", "--quiet", paths[0], paths[1]]);
        postgres::join(&home, &invitation);
        if of == 1 && key.is_empty() {
            drop(home.run(["team", "key", "create"]).success());
            drop(home.run(["team", "sync"]).success());
            home.run(["team", "key", "show"]).success().stdout.trim().clone_into(&mut key);
        } else if of == 1 {
            let command = home.command(["team", "key", "import"]);
            drop(process::run(command, key.clone().into_bytes(), LIMIT).success());
        }
        // A project is known as soon as it has a memory.
        let clock = if has_clocks {
            let seconds = random.below(DAYS * 86_400);
            format!("{}{seconds}", if random.percent(50) { '+' } else { '-' })
        } else {
            String::new()
        };
        devices.push(Device { home, project, team: of, clock, number, own: Vec::new(), said: 0 });
    }
    let invited = |at: usize| (names[at].clone(), invite(at, "watcher", "reader"));
    let teams = [invited(0), invited(1)];
    (team.name.clone(), teams, devices)
}

/// Kills the server and cuts the network now and then, until it is over. Both work when it returns.
fn disturb(
    server: &mut Server,
    network: &Network,
    is_over: &AtomicBool,
    random: &mut Random,
    crashes: &AtomicU64,
    cuts: &AtomicU64,
) {
    let wait = |milliseconds: u64| {
        let ends = Instant::now() + Duration::from_millis(milliseconds);
        while Instant::now() < ends && !is_over.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    while !is_over.load(Ordering::SeqCst) {
        wait(500 + random.below(4_000));
        if random.percent(35) {
            server.crash();
            wait(random.below(1_500));
            server.start();
            crashes.fetch_add(1, Ordering::Relaxed);
        } else {
            network.cut();
            wait(random.below(2_000));
            network.mend();
            cuts.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Does one thing on a machine, and perhaps kills the process in the middle of it.
fn act(
    device: &mut Device,
    library: Option<&str>,
    random: &mut Random,
    texts: &Mutex<BTreeMap<String, (usize, Fate)>>,
    counts: &Counts,
) {
    let set = |text: &str, fate: Fate| {
        texts.lock().expect("no worker panicked").insert(text.to_owned(), (device.team, fate));
    };
    let kills = random.percent(20);
    let choice = random.below(100);
    let project = device.project.to_str().expect("UTF-8").to_owned();
    if choice < 55 {
        device.said += 1;
        let text = format!(
            "Machine {} said its sentence {}: the otter exporter writes {} columns for module {}",
            device.number,
            device.said,
            random.below(1_000),
            random.below(1_000)
        );
        let command =
            device.command(library, &["memory", "save", "--json", "--type", "decision", "--project", &project, &text]);
        set(&text, Fate::Unknown);
        let Some(run) = disturbed(command, kills.then(|| random.below(150)), counts) else { return };
        let saved: Option<serde_json::Value> = serde_json::from_str(&run.stdout).ok().filter(|_| run.code == Some(0));
        match saved.as_ref().and_then(|it| it["id"].as_str()) {
            Some(id) => {
                set(&text, Fate::Saved);
                device.own.push((id.to_owned(), text));
            }
            None => counts.problem(format!("machine {} cannot save: {run:?}", device.number)),
        }
    } else if choice < 65 && !device.own.is_empty() {
        let at = usize::try_from(random.below(device.own.len() as u64)).unwrap_or_default();
        let (id, text) = device.own.swap_remove(at);
        set(&text, Fate::Unknown);
        let command = device.command(library, &["memory", "delete", &id]);
        let Some(run) = disturbed(command, kills.then(|| random.below(150)), counts) else { return };
        if run.code == Some(0) {
            set(&text, Fate::Deleted);
        } else {
            counts.problem(format!("machine {} cannot delete: {run:?}", device.number));
        }
    } else {
        let command = device.command(library, &["team", "sync", "--json"]);
        let Some(run) = disturbed(command, kills.then(|| random.below(1_200)), counts) else { return };
        report(device.number, &run, counts);
    }
}

impl Device {
    fn command(&self, library: Option<&str>, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        if let Some(library) = library {
            command.env("LD_PRELOAD", library).env("FAKETIME", &self.clock).env("DONT_FAKE_MONOTONIC", "1");
        }
        command
    }
}

/// Runs a process to its end, or kills it after some milliseconds.
fn disturbed(mut command: Command, kill_after: Option<u64>, counts: &Counts) -> Option<Finished> {
    let Some(milliseconds) = kill_after else { return Some(process::run(command, Vec::new(), LIMIT)) };
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start");
    std::thread::sleep(Duration::from_millis(milliseconds));
    process::kill_now(child.id());
    child.wait().expect("wait");
    counts.killed.fetch_add(1, Ordering::Relaxed);
    None
}

/// Counts a sync. It may fail while things go wrong, but it must say why, and never that the server has lost something.
fn report(machine: usize, run: &Finished, counts: &Counts) {
    if run.overdue {
        counts.problem(format!("a sync of machine {machine} did not end"));
    } else if run.code == Some(0) {
        counts.synced.fetch_add(1, Ordering::Relaxed);
        if run.stdout.contains("lost") || run.stdout.contains("copied or restored") {
            counts.problem(format!("machine {machine}: {}", run.stdout.trim()));
        }
    } else {
        counts.failed.fetch_add(1, Ordering::Relaxed);
        let is_expected = run.stderr.contains("hint:")
            && ["does not answer", "broke", "not ready", "did not answer"].iter().any(|word| run.stderr.contains(word));
        if !is_expected {
            counts.problem(format!("a sync of machine {machine} failed with: {}", run.stderr.trim()));
        }
    }
}

fn settle(device: &Device, library: Option<&str>, counts: &Counts) {
    let run = process::run(device.command(library, &["team", "sync", "--json"]), Vec::new(), LIMIT);
    if run.code != Some(0) {
        counts.problem(format!("machine {} cannot sync at the end: {}", device.number, run.stderr.trim()));
    }
}

/// Compares what each machine has with what was said.
fn check(devices: &[Device], texts: &BTreeMap<String, (usize, Fate)>, problems: &mut Vec<String>) {
    let mut first: [Option<(usize, BTreeSet<String>)>; 2] = [None, None];
    for device in devices {
        let found: Vec<String> = device
            .home
            .memories_of(&device.project)
            .iter()
            .map(|it| it["content"].as_str().unwrap_or_default().to_owned())
            .collect();
        let distinct: BTreeSet<String> = found.iter().cloned().collect();
        if distinct.len() < found.len() {
            problems.push(format!("machine {} has {} memories twice", device.number, found.len() - distinct.len()));
        }
        for text in &distinct {
            match texts.get(text) {
                Some((team, _)) if *team != device.team => {
                    problems.push(format!("machine {} has what another team said: {text}", device.number));
                }
                Some((_, Fate::Deleted)) => problems.push(format!("machine {} has what was deleted: {text}", device.number)),
                Some(_) => {}
                None => problems.push(format!("machine {} has what nobody said: {text}", device.number)),
            }
        }
        for (text, _) in texts.iter().filter(|(_, (team, fate))| *team == device.team && *fate == Fate::Saved) {
            if !distinct.contains(text) {
                problems.push(format!("machine {} lacks: {text}", device.number));
            }
        }
        match &first[device.team] {
            None => first[device.team] = Some((device.number, distinct)),
            Some((other, expected)) if *expected != distinct => {
                let differ = expected.symmetric_difference(&distinct).count();
                problems.push(format!("machines {other} and {} differ in {differ} memories", device.number));
            }
            Some(_) => {}
        }
    }
}

/// Nothing is doubled on the server, and a member who speaks SQL sees the own team's rows alone.
fn check_server(server: &Server, database: &str, teams: &[Invited; 2], problems: &mut Vec<String>) {
    let doubled = "SELECT count(*) FROM (SELECT 1 FROM throughline.records WHERE kind = 'memory' AND body LIKE '{\"v\":1,%'
                   GROUP BY tenant, body::jsonb -> 'memory' ->> 'content' HAVING count(*) > 1) d";
    let doubled = server.sql(database, doubled);
    if doubled != "0" {
        problems.push(format!("the server has {doubled} memories twice"));
    }
    for (name, invitation) in teams {
        let (login, rest) = invitation.trim_start_matches("postgres://").split_once(':').expect("a login");
        let password = rest.split_once('@').expect("a password").0;
        for table in ["records", "devices", "series", "members", "tenants"] {
            let sql = format!(
                "SELECT count(*) FILTER (WHERE tenant <> '{name}') || ' ' || (count(*) > 0) FROM throughline.{table}"
            );
            let seen = server.psql(database, login, password, &sql).success().stdout;
            if seen.trim() != "0 true" {
                problems.push(format!("a member of {name} sees in {table}: {}", seen.trim()));
            }
        }
    }
}
