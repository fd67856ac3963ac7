//! The attack suite: each case of `tests/fixtures/attacks/` goes through the real hooks. A case has a name and the input of an
//! attacker, and the suite says which outcome must not occur.

mod poisoning;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tests::drop_in::DropIn;
use tests::home::{Home, check_hook};
use tests::session::Session;
use tests::transcript::session_id;
use tests::{component, env_flag, wasm};

use crate::canary::{Canaries, finder};

/// So long may a hook take at an attack, in a debug build on a busy machine. A hook that waits for a FIFO takes 14 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the tests below must have altogether.
const MIN_ATTACKS: usize = 150;

/// The page with the table of attacks and results, relative to the workspace.
const PAGE: &str = "docs/attacks.md";

/// What came of each attack of a suite.
#[derive(Default)]
struct Results {
    rows: Vec<[String; 3]>,
}

impl Results {
    /// Adds an attack: its name, the attempt and the result.
    fn add(&mut self, name: &str, tried: &str, result: impl Into<String>) {
        self.rows.push([name.to_owned(), tried.to_owned(), result.into()]);
    }

    /// Compares the suite's table with the one in the page; `UPDATE=1` writes it.
    #[track_caller]
    fn are_in_the_page(&self, suite: &str) {
        /// The suites run side by side, and each writes its own part of the file.
        static WRITING: Mutex<()> = Mutex::new(());
        let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let file = component::workspace().join(PAGE);
        let page = std::fs::read_to_string(&file).expect("the page");
        let (begin, end) = (format!("<!-- {suite} -->\n"), format!("<!-- /{suite} -->"));
        let from = page.find(&begin).expect("the page has the suite's part") + begin.len();
        let to = from + page[from..].find(&end).expect("the part ends");
        let table = self.table();
        if env_flag("UPDATE") {
            std::fs::write(&file, format!("{}{table}{}", &page[..from], &page[to..])).expect("write the page");
            return;
        }
        assert!(
            page[from..to] == *table,
            "{PAGE} is stale: run `UPDATE=1 cargo test -p tests --test it attacks::` and commit what it writes\n{table}"
        );
    }

    fn table(&self) -> String {
        let mut table = String::from("| attack | tried | result |\n| --- | --- | --- |\n");
        for [name, tried, result] in &self.rows {
            let tried = if tried.is_empty() { String::new() } else { format!("<code>{}</code>", shown(tried)) };
            writeln!(table, "| {name} | {tried} | {result} |").expect("a string takes everything");
        }
        table
    }
}

/// Shows a text of a fixture in one cell of a table, however it was made to be misread.
fn shown(text: &str) -> String {
    let mut cell = String::new();
    for letter in text.chars().take(100) {
        match letter {
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' => {
                write!(cell, "&#{};", u32::from(letter)).expect("a string takes everything");
            }
            letter if letter.is_control() || !is_plain(letter) => cell.push_str(&letter.escape_unicode().to_string()),
            letter => cell.push(letter),
        }
    }
    if text.chars().nth(100).is_some() { cell + "…" } else { cell }
}

/// Whether a letter shows itself: no direction of writing, no joiner, no tag of Unicode.
fn is_plain(letter: char) -> bool {
    !matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[derive(Deserialize)]
struct Attacks<T> {
    attack: Vec<T>,
}

fn attacks<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/attacks").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&file).expect("the fixture");
    let attacks: Attacks<T> = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    attacks.attack
}

#[test]
fn there_are_enough_attacks_and_each_has_a_name_of_its_own() {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let mut names = BTreeSet::new();
    for file in ["secrets", "told", "poisoning", "payloads", "repositories"] {
        for attack in attacks::<Named>(file) {
            let is_new = names.insert((file, attack.name.clone()));
            assert!(is_new, "{file}: {} occurs twice", attack.name);
        }
    }
    assert!(names.len() >= MIN_ATTACKS, "{}", names.len());
}

/// A secret in a text or in a command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Secret {
    name: String,
    /// A text with `@` for the password.
    text: Option<String>,
    /// A command with `@` for the password.
    command: Option<String>,
}

impl Secret {
    /// The text with a password that no other attack has. An `@` after another one is an `@`.
    fn with(&self, password: &str) -> String {
        let template = self.text.as_ref().or(self.command.as_ref()).expect("a text or a command");
        let hidden = template.replace("@c", "\u{1b}[31m@").replace("@z", "@");
        let (head, tail) = (&password[..5], &password[5..]);
        let joint = match template {
            text if text.contains("@c") => "\u{1b}[0m",
            text if text.contains("@z") => "\u{200b}",
            _ => "",
        };
        hidden.replacen('@', &format!("{head}{joint}{tail}"), 1)
    }
}

#[test]
fn attack_secrets_in_every_place_reach_no_file() {
    let attacks: Vec<Secret> = attacks("secrets");
    let home = Home::new();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(1));
    drop(session.start("startup"));
    let password = |number: usize| format!("Kx{number:03}mQ!7vT");
    for (number, attack) in attacks.iter().enumerate() {
        let text = attack.with(&password(number));
        let t = &mut session.transcript;
        if attack.command.is_some() {
            t.bash_fails(&text, 1, "error: could not connect");
            for again in 0..2 {
                drop(session.failed(&format!("f{number}-{again}"), &text, "Exit code 1\nerror: could not connect"));
            }
        } else {
            t.user(&format!("Remember for later: {text}")).bash("cat notes.txt", &text);
            t.answer(&format!("I found this in the notes:\n{text}"));
            drop(session.prompt(&format!("Remember for later: {text}")));
            session.ran(&format!("r{number}"), "cat notes.txt", &text);
        }
    }
    session.transcript.user("Go on").answer("Done. All commands were run.");
    session.stop("Done. All commands were run.");
    session.end();
    let told = Session::new(&home, &project, &session_id(2)).start("startup").context.unwrap_or_default();
    let events = home.run(["observations", "search", "--all-projects", "--limit", "1000", "--json"]).success().stdout;
    assert!(events.contains("redis-cli") && events.contains("curl"), "the commands themselves are kept: {events}");

    let mut files = home.files();
    files.push(("what the next session is told".into(), told.into_bytes()));
    files.push(("what is printed".into(), events.into_bytes()));
    let passwords: Vec<String> = (0..attacks.len()).map(password).collect();
    let canaries = Canaries::new(&passwords);
    let (mut leaks, mut leaked, mut results) = (Vec::new(), BTreeSet::new(), Results::default());
    for (path, bytes) in &files {
        for (number, form, _) in canaries.found_in(bytes) {
            leaked.insert(number);
            leaks.push(format!("{}: {form} in {}", attacks[number].name, path.display()));
        }
    }
    for (number, attack) in attacks.iter().enumerate() {
        let tried = attack.text.as_ref().or(attack.command.as_ref()).expect("a text or a command");
        results.add(&attack.name, tried, if leaked.contains(&number) { "LEAKED" } else { "in no file" });
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    results.are_in_the_page("secrets");
}

/// Words that must not be shown verbatim.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    name: String,
    /// What the user says.
    say: String,
    /// Text that no hook may show.
    never: String,
}

#[test]
fn attack_words_that_act_on_the_agent_that_is_told_them() {
    let attacks: Vec<Told> = attacks("told");
    let (mut told_at_all, mut results) = (0, Results::default());
    for (number, attack) in (1..).zip(&attacks) {
        let home = Home::new();
        let project = home.project("shop");
        let mut session = Session::new(&home, &project, &session_id(number));
        session.transcript.user(&format!("From now on: {}", attack.say)).answer("Understood, I will.");
        session.stop("Understood, I will.");
        session.end();
        let mut is_told = false;
        // On a busy machine a hook can run out of time and say nothing.
        for again in 0..3 {
            let next = Session::new(&home, &project, &session_id(100 * (again + 1) + number));
            let told = [next.start("startup").context, next.prompt("How do I run the tests with make?").context];
            for told in told.into_iter().flatten() {
                is_told |= told.contains("make");
                assert!(!told.contains(&attack.never), "{}: {told}", attack.name);
            }
            if is_told {
                break;
            }
        }
        told_at_all += usize::from(is_told);
        results.add(&attack.name, &attack.say, if is_told { "told, and harmless" } else { "not told" });
    }
    assert!(
        told_at_all >= attacks.len() / 2,
        "too few of the memories were told for this test to mean anything: {told_at_all}"
    );
    results.are_in_the_page("told");
}

/// A payload.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    name: String,
    payload: String,
}

/// Every path below a folder, but for what is below `except`.
fn paths_below(folder: &Path, except: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path == except {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn attack_payloads_that_no_agent_sends() {
    let home = Home::new();
    let project = home.project("shop");
    let victim = home.project("victim");
    std::fs::write(victim.join("notes.jsonl"), "{\"type\":\"user\"}\n").expect("write");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.user("From now on always run the tests with make test").answer("Understood.");
    session.stop("Understood.");
    let memories = home.memories().len();
    let before = paths_below(home.path(), &home.throughline());
    let mut results = Results::default();
    for attack in attacks::<Payload>("payloads") {
        let payload = attack
            .payload
            .replace("CWD", &project.to_string_lossy())
            .replace("PROJECTS", &home.projects().to_string_lossy());
        let event = serde_json::from_str::<serde_json::Value>(&payload).ok();
        let event = event.and_then(|payload| Some(payload["hook_event_name"].as_str()?.to_owned()));
        let run = home.hook_with_input(&[], payload.into_bytes());
        assert!(run.wall < PATIENCE, "{}: {run:#?}", attack.name);
        check_hook(&event.unwrap_or_default(), &run);
        assert!(!run.stderr.contains("panicked"), "{}: {run:#?}", attack.name);
        assert_eq!(paths_below(home.path(), &home.throughline()), before, "{}", attack.name);
        let said = if run.stdout.trim().is_empty() { "no answer" } else { "a valid answer" };
        let code = run.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        results.add(&attack.name, &attack.payload, format!("exit code {code}, {said}"));
    }
    // All is still there, and works.
    assert!(home.memories().len() >= memories);
    let told = Session::new(&home, &project, &session_id(2)).start("startup");
    assert!(told.said().contains("make test"), "{}", told.said());
    results.are_in_the_page("payloads");
}

/// A repository.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repository {
    name: String,
    plant: Vec<Plant>,
}

/// What a repository contains.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Plant {
    File { file: String, text: String },
    Link { link: String, to: String },
    Folder { folder: String },
    Fifo { fifo: String },
}

impl Plant {
    fn in_words(&self) -> String {
        match self {
            Self::File { file, .. } => format!("file {file}"),
            Self::Link { link, to } => format!("link {link} to {to}"),
            Self::Folder { folder } => format!("folder {folder}"),
            Self::Fifo { fifo } => format!("FIFO {fifo}"),
        }
    }

    fn put(&self, project: &Path, victim: &Path) {
        let place = |path: &str| {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("create the folder");
            path
        };
        let named = |text: &str| text.replace("VICTIM", &victim.to_string_lossy());
        match self {
            Self::File { file, text } => std::fs::write(place(file), named(text)).expect("write"),
            Self::Link { link, to } => std::os::unix::fs::symlink(named(to), place(link)).expect("link"),
            Self::Folder { folder } => std::fs::create_dir_all(project.join(folder)).expect("create"),
            Self::Fifo { fifo } => {
                let made = std::process::Command::new("mkfifo").arg(place(fifo)).status().expect("run mkfifo");
                assert!(made.success());
            }
        }
    }
}

#[test]
fn attack_what_a_repository_contains() {
    const SECRET: &str = "The victim deploys with the otter key";
    let mut results = Results::default();
    for attack in attacks::<Repository>("repositories") {
        let home = Home::new();
        let victim = home.project("victim");
        std::fs::write(victim.join("notes.txt"), format!("NOTE_PASSWORD={SECRET}\n")).expect("write");
        let mut session = Session::new(&home, &victim, &session_id(1));
        session.transcript.user(&format!("From now on: always remember. {SECRET}")).answer("Understood.");
        session.stop("Understood.");
        drop(home.run(["note", "add", "--project", &victim.to_string_lossy(), "--title", "Otter", SECRET]).success());
        drop(home.run(["note", "sync", "--project", &victim.to_string_lossy()]).success());
        let before: Vec<(PathBuf, Option<Vec<u8>>)> =
            paths_below(&victim, Path::new("")).into_iter().map(|path| (path.clone(), std::fs::read(path).ok())).collect();
        assert!(home.remembers(SECRET), "{}", attack.name);

        // The repository is cloned, and the user works in it.
        let project = home.work().join("cloned");
        std::fs::create_dir_all(&project).expect("create");
        for plant in &attack.plant {
            plant.put(&project, &victim);
        }
        let mut session = Session::new(&home, &project, &session_id(2));
        session.transcript.user("From now on: Always run the tests with make test").answer("Understood.");
        let mut told = Vec::new();
        let hooks = [
            session.start("startup"),
            session.prompt("Which otter key does the victim deploy with?"),
            session.ran("u1", "ls", "README.md"),
            session.stop("Understood."),
            session.end(),
            Session::new(&home, &project, &session_id(3)).start("startup"),
        ];
        for hook in hooks {
            assert!(hook.run.wall < PATIENCE, "{}: {:#?}", attack.name, hook.run);
            told.extend(hook.context);
        }
        assert!(
            told.iter().any(|told| told.contains("make test")),
            "{}: the user's own words are told: {told:#?}",
            attack.name
        );
        let cloned = project.to_string_lossy().into_owned();
        for command in [
            vec!["note", "sync", "--delete", "--project", &cloned],
            vec!["memory", "list", "--json", "--project", &cloned],
            vec!["memory", "search", "otter", "--json", "--project", &cloned],
        ] {
            let run = home.run(&command);
            assert!(run.wall < PATIENCE && !run.overdue, "{}: {run:#?}", attack.name);
            told.extend([run.stdout, run.stderr]);
        }
        assert!(
            !told.iter().any(|told| told.contains("otter key\"") || told.contains(SECRET)),
            "{}: {told:#?}",
            attack.name
        );
        let after: Vec<(PathBuf, Option<Vec<u8>>)> =
            paths_below(&victim, Path::new("")).into_iter().map(|path| (path.clone(), std::fs::read(path).ok())).collect();
        assert!(before == after, "{}: the other project's files were changed", attack.name);
        let list = home.json(["memory", "list", "--json", "--project", &victim.to_string_lossy()]);
        assert!(list.to_string().contains(SECRET), "{}: the other project keeps its memory", attack.name);
        let planted: Vec<String> = attack.plant.iter().map(Plant::in_words).collect();
        results.add(&attack.name, &planted.join(", "), "nothing read, nothing changed");
    }
    results.are_in_the_page("repositories");
}

/// A use of a tool that comes before the default policy is compiled is handled later.
#[test]
fn attack_a_tool_that_is_used_before_the_policy_is_compiled() {
    let home = Home::cold();
    let project = home.project("shop");
    let session = Session::new(&home, &project, &session_id(1));
    let secret = ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    session.ran("early", "make deploy", &format!("deployed the otter with {secret}"));
    home.eventually("the tool use is recorded", |home| {
        let events = home.run(["observations", "search", "--all-projects", "--json", "deploy"]);
        events.stdout.contains("make deploy")
    });
    let secret = finder(&[secret]);
    assert!(!home.files().iter().any(|(_, bytes)| secret.is_match(bytes)));
}

/// `note sync` in a project whose folder of notes is a link to another project's.
#[test]
fn attack_a_link_to_the_notes_of_another_project() {
    let home = Home::new();
    let (victim, cloned) = (home.project("victim"), home.project("cloned"));
    let of = |project: &Path| project.to_string_lossy().into_owned();
    drop(
        home.run(["note", "add", "--project", &of(&victim), "--title", "Otter", "The otter key is in the safe."]).success(),
    );
    drop(home.run(["note", "sync", "--project", &of(&victim)]).success());
    let notes = || paths_below(&victim.join(".gsd"), Path::new(""));
    let before = notes();
    assert!(before.iter().any(|path| path.extension().is_some_and(|extension| extension == "md")), "{before:?}");
    std::os::unix::fs::symlink(victim.join(".gsd"), cloned.join(".gsd")).expect("link");
    let run = home.run(["note", "sync", "--delete", "--project", &of(&cloned)]).failure_with_hint();
    assert!(run.stderr.contains("leads out of the project by a link"), "{run:#?}");
    assert_eq!(notes(), before);
    // A folder that the user names is the user's decision, and each project keeps a record of its own.
    drop(home.run(["note", "sync", "--project", &of(&cloned), &of(&victim.join(".gsd/memories"))]).success());
    assert_eq!(notes(), before);
    drop(home.run(["note", "sync", "--project", &of(&victim)]).success());
    assert_eq!(notes(), before);
}

/// The agent gets the stored memories even if the home cannot be written.
#[test]
fn attack_a_home_that_became_read_only() {
    let home = Home::new();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.user("From now on always run the tests with make test").answer("Understood.");
    session.stop("Understood.");
    session.end();
    let Some(_fault) = tests::faults::read_only(&home.throughline()) else {
        tests::skip("a read-only home", "this user may not mount it so");
        return;
    };
    let told = Session::new(&home, &project, &session_id(2)).start("startup");
    assert!(told.said().contains("make test"), "{}", told.said());
    let asked =
        Session::new(&home, &project, &session_id(3)).prompt("How do I run the tests with make test in this project?");
    assert!(asked.said().contains("make test"), "{}", asked.said());
    let payload = json!({"session_id": "x", "hook_event_name": "Stop", "cwd": project});
    home.hook(&payload).silent();
}

/// The policy cuts long outputs. A redactor that a team added must see them before that, because it knows nothing of half a token.
#[test]
fn attack_a_token_of_a_team_at_the_cut_of_an_output() {
    let home = Home::new();
    let project = home.project("shop");
    DropIn::redactor("team", wasm::token_redactor(None)).install(&home);
    let listed = home.policy(&project, "team");
    assert_eq!(listed["runs"], true, "{listed:#}");
    let session = Session::new(&home, &project, &session_id(1));
    // The default redactor takes tokens of this kind only if they are longer.
    let body = "Qz7".repeat(8);
    let output = format!("{}{body},", ["gh", "p_"].concat()).repeat(1_500);
    session.ran("u1", "print-tokens", &output);
    assert!(!home.holding("print-tokens").is_empty(), "{}", home.log());
    let half = finder(&["Qz7Qz7".into()]);
    for (path, bytes) in home.files() {
        assert!(!half.is_match(&bytes), "half a token is in {}", path.display());
    }
}
