//! Isolated homes and projects: a test sees nothing of the machine's user, and nothing of another test.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::database::{self, Memory};
use crate::process::{self, Finished, WATCHDOG};

/// A home of its own, with everything that the program keeps under `throughline/` in it.
pub struct Home {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// What a hook did, with what it printed already checked against what the agent accepts.
#[derive(Debug, Clone)]
pub struct Hooked {
    /// The process.
    pub run: Finished,
    /// The context that the agent would be shown; none where nothing was printed.
    pub context: Option<String>,
}

impl Hooked {
    /// The context; panics where there is none.
    #[track_caller]
    pub fn said(&self) -> &str {
        match &self.context {
            Some(context) => context,
            None => panic!("the hook said nothing: {self:#?}"),
        }
    }

    /// Panics where the hook said something.
    #[track_caller]
    pub fn silent(&self) {
        assert_eq!(self.context, None, "the hook should have said nothing");
    }
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// A new home, whose default policy has been compiled before, as on any but the very first run.
    pub fn new() -> Self {
        static COMPILED: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
        let compiled = COMPILED.get_or_init(compiled_policies);
        let home = Self::cold();
        for (path, bytes) in compiled {
            write_private(&home.cache().join(path), bytes);
        }
        home
    }

    /// A new home in which nothing has run yet.
    pub fn cold() -> Self {
        let folder = tempfile::Builder::new().prefix("throughline-test-").tempdir().expect("a temporary folder");
        let home = Self { folder, environment: Vec::new() };
        std::fs::create_dir_all(home.projects()).expect("create the transcripts' folder");
        std::fs::create_dir_all(home.work()).expect("create the projects' folder");
        home
    }

    /// From now on every process of this home has this variable.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// The folder that HOME names.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Claude Code's own folder.
    pub fn agent(&self) -> PathBuf {
        self.path().join(".claude")
    }

    /// The root under which the agent keeps its transcripts.
    pub fn projects(&self) -> PathBuf {
        self.agent().join("projects")
    }

    /// What `THROUGHLINE_HOME` names.
    pub fn throughline(&self) -> PathBuf {
        self.path().join("throughline")
    }

    /// The folder of the database and the log.
    pub fn data(&self) -> PathBuf {
        self.throughline().join("data")
    }

    /// The length of the database's WAL, bytes.
    pub fn wal_bytes(&self) -> u64 {
        std::fs::metadata(self.database().with_extension("db-wal")).map_or(0, |meta| meta.len())
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.data().join("throughline.db")
    }

    /// From now on the same secret gets the same tag here as in another home that has a database already.
    pub fn tag_like(&self, other: &Self) {
        let key = std::fs::read(other.data().join("tag.key")).expect("the other home's key");
        write_private(&self.data().join("tag.key"), &key);
    }

    /// The folder of caches.
    pub fn cache(&self) -> PathBuf {
        self.throughline().join("cache")
    }

    /// The log file's text; empty where there is none.
    pub fn log(&self) -> String {
        std::fs::read(self.data().join("log/throughline.log"))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// The folder in which projects are made.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// A new git repository with one commit, `work/<name>`.
    pub fn project(&self, name: &str) -> PathBuf {
        let project = self.work().join(name);
        std::fs::create_dir_all(&project).expect("create the project");
        self.git(&project, &["init", "--quiet", "--initial-branch=main"]);
        // Two repositories whose first commits were made in one second are one project, unless their messages differ.
        let message = format!("--message=Start {}", project.display());
        self.git(&project, &["commit", "--quiet", "--allow-empty", &message]);
        project
    }

    /// Runs git in the folder as a user of no configuration.
    pub fn git(&self, folder: &Path, arguments: &[&str]) {
        let mut command = self.isolated("git");
        command.current_dir(folder).args(["-c", "user.name=Test", "-c", "user.email=test@example.org"]).args(arguments);
        drop(process::run(command, Vec::new(), WATCHDOG).success());
    }

    /// Where the agent keeps the transcript of a session of this project.
    pub fn transcript_path(&self, project: &Path, session: &str) -> PathBuf {
        let slug: String =
            project.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.projects().join(slug).join(format!("{session}.jsonl"))
    }

    /// The program, in an environment that holds this home and `PATH` and nothing else.
    pub fn isolated(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("HOME", self.path())
            .env("TMPDIR", self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("XDG_CONFIG_HOME", self.path().join("xdg/config"))
            .env("XDG_DATA_HOME", self.path().join("xdg/data"))
            .env("XDG_CACHE_HOME", self.path().join("xdg/cache"))
            .env("XDG_STATE_HOME", self.path().join("xdg/state"))
            .env("CLAUDE_CONFIG_DIR", self.agent())
            .env("THROUGHLINE_HOME", self.throughline())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path());
        command
    }

    /// The binary under test, isolated.
    pub fn command<I, S>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = self.isolated(process::throughline());
        command.args(arguments);
        command
    }

    /// Runs a subcommand to its end, with nothing on its standard input.
    pub fn run<I, S>(&self, arguments: I) -> Finished
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        process::run(self.command(arguments), Vec::new(), WATCHDOG)
    }

    /// Runs a subcommand that must succeed and print JSON.
    #[track_caller]
    pub fn json<I, S>(&self, arguments: I) -> Value
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let run = self.run(arguments).success();
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("not JSON: {error}: {run:#?}"))
    }

    /// Runs the hook as the agent does: `throughline hook`, the payload and a newline on its standard input.
    #[track_caller]
    pub fn hook(&self, payload: &Value) -> Hooked {
        self.hook_as(&[], payload)
    }

    /// Runs the hook under one of its names, such as `memory-load`.
    #[track_caller]
    pub fn hook_as(&self, name: &[&str], payload: &Value) -> Hooked {
        let run = self.hook_with_input(name, format!("{payload}\n").into_bytes());
        let event = payload["hook_event_name"].as_str().unwrap_or_default();
        let context = check_hook(event, &run);
        Hooked { run, context }
    }

    /// Runs the hook with any bytes on its standard input, and checks nothing.
    pub fn hook_with_input(&self, name: &[&str], input: Vec<u8>) -> Finished {
        let command = self.command(["hook"].iter().chain(name));
        process::run(command, input, WATCHDOG)
    }

    /// The memories of one project, as `memory list --json` gives them: without those of kind `turn`.
    #[track_caller]
    pub fn memories_of(&self, project: &Path) -> Vec<Value> {
        let arguments: [&OsStr; 7] = [
            "memory".as_ref(),
            "list".as_ref(),
            "--json".as_ref(),
            "--limit".as_ref(),
            "100000".as_ref(),
            "--project".as_ref(),
            project.as_os_str(),
        ];
        match self.json(arguments) {
            Value::Array(memories) => memories,
            other => panic!("wanted an array: {other}"),
        }
    }

    /// Everything that is stored, of every kind and project.
    pub fn memories(&self) -> Vec<Memory> {
        if self.database().exists() { database::memories(&self.database()) } else { Vec::new() }
    }

    /// One of the integers of `memory stats --json` over all projects.
    #[track_caller]
    pub fn count(&self, what: &str) -> u64 {
        let stats = self.json(["memory", "stats", "--json", "--all-projects"]);
        stats[what].as_u64().unwrap_or_else(|| panic!("no integer `{what}` in {stats}"))
    }

    /// Whether any memory holds the words.
    pub fn remembers(&self, words: &str) -> bool {
        self.memories().iter().any(|memory| memory.text.contains(words))
    }

    /// Waits until the condition holds: some work of a hook is done by a child that it leaves behind.
    #[track_caller]
    pub fn eventually(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !condition(self) {
            assert!(started.elapsed() < WATCHDOG, "did not come about within {WATCHDOG:?}: {what}\nlog:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the background processes of hooks have ended. On a busy machine they finish the work of hooks, and the
    /// database changes until then. A child is `throughline background`, and is known by its environment, which names this
    /// home.
    #[track_caller]
    pub fn rest(&self) {
        let home = self.path().as_os_str().as_encoded_bytes();
        let is_child = |process: &std::fs::DirEntry| {
            let has = |file: &str, part: &[u8]| {
                std::fs::read(process.path().join(file)).is_ok_and(|text| crate::holds(&text, part))
            };
            has("cmdline", b"\0background\0") && has("environ", home)
        };
        self.eventually("the children of the hooks end", |_| {
            std::fs::read_dir("/proc").is_ok_and(|it| !it.flatten().any(|process| is_child(&process)))
        });
    }

    /// Compiles the default policy, and waits for it: a hook leaves that to a process that nobody waits for.
    pub fn compile(&self) {
        let nothing = self.path().join("nothing.jsonl");
        std::fs::write(&nothing, "").expect("write an empty transcript");
        drop(self.run(["ingest".as_ref(), nothing.as_os_str()]).success());
    }

    /// Every file under the home, with its content: what is on the disk is all that counts.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(&self.throughline(), &mut files);
        files
    }

    /// The files under the home that hold the text.
    pub fn holding(&self, text: impl AsRef<[u8]>) -> Vec<PathBuf> {
        self.files().into_iter().filter(|(_, bytes)| crate::holds(bytes, text.as_ref())).map(|(path, _)| path).collect()
    }
}

fn collect(folder: &Path, into: &mut Vec<(PathBuf, Vec<u8>)>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, into),
            // A file of a database that is being closed may be gone by now.
            Ok(kind) if kind.is_file() => {
                into.extend(std::fs::read(&path).map(|bytes| (path, bytes)));
            }
            _ => {}
        }
    }
}

/// The files of a cache, relative to it, once the default policy is compiled.
fn compiled_policies() -> Vec<(PathBuf, Vec<u8>)> {
    let home = Home::cold();
    home.compile();
    let mut files = Vec::new();
    collect(&home.cache(), &mut files);
    assert!(
        files.iter().any(|(_, bytes)| bytes.len() > 100_000),
        "the first command left no compiled policy\nlog:\n{}",
        home.log()
    );
    files
        .into_iter()
        .map(|(path, bytes)| (path.strip_prefix(home.cache()).expect("below the cache").to_owned(), bytes))
        .collect()
}

fn write_private(path: &Path, bytes: &[u8]) {
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path.parent().expect("a folder"))
        .expect("create the folder");
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .expect("write");
}

/// Runs a command in a folder.
pub fn run_in(home: &Home, folder: &Path, arguments: &[&str]) -> Finished {
    let mut command = home.command(arguments);
    command.current_dir(folder);
    process::run(command, Vec::new(), WATCHDOG)
}

/// Runs a command in a folder and returns the JSON that it prints.
pub fn json_of(home: &Home, folder: &Path, arguments: &[&str]) -> Value {
    let run = run_in(home, folder, arguments).success();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

/// Checks a hook's exit code and output against what Claude Code accepts of this event, and gives the context in it.
///
/// Some events may not answer with a context, and of `PreCompact` every word on standard output would be taken for
/// instructions to the one who summarizes.
#[track_caller]
pub fn check_hook(event: &str, run: &Finished) -> Option<String> {
    const ANSWERED: [&str; 6] =
        ["PostToolBatch", "PostToolUse", "PostToolUseFailure", "SessionStart", "Stop", "UserPromptSubmit"];
    assert!(!run.overdue, "the hook hung: {run:#?}");
    assert_eq!(run.code, Some(0), "a hook's exit code is 0: {run:#?}");
    if run.stdout.is_empty() {
        return None;
    }
    let answer: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("a hook prints JSON or nothing: {error}: {run:#?}"));
    assert!(ANSWERED.contains(&event), "{event} may not be answered: {run:#?}");
    let specific = &answer["hookSpecificOutput"];
    if event == "SessionStart" && specific.is_null() {
        // Only a line for the person, which says why nothing is told.
        assert!(answer["systemMessage"].as_str().is_some_and(|line| line.starts_with("Throughline: ")), "{run:#?}");
        return None;
    }
    assert_eq!(specific["hookEventName"], event, "{run:#?}");
    let context = specific["additionalContext"].as_str().unwrap_or_else(|| panic!("no additionalContext: {run:#?}"));
    assert!(
        context.encode_utf16().count() <= 9_500,
        "the context is longer than 9,500 UTF-16 code units: {}",
        context.encode_utf16().count()
    );
    Some(context.to_owned())
}
