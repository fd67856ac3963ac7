//! Managed configuration, on a machine whose user may not change it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::component;
use tests::drop_in::DropIn;
use tests::managed::ManagedMachine;
use tests::session::Session;
use tests::transcript::session_id;
use tests::wasm::{self, FINDS_NOTHING};

const REQUEST: &str = "Teach the otter exporter to write headers";

struct Fixture {
    machine: ManagedMachine,
    project: PathBuf,
}

impl Fixture {
    fn new() -> Option<Self> {
        let machine = ManagedMachine::new()?;
        let project = machine.home.project("zoo");
        machine.hand_over();
        Some(Self { machine, project })
    }

    /// A session's turn, as the user's client reports it.
    fn stop(&self, number: u64) {
        self.stop_after(number, REQUEST);
    }

    /// The same after this prompt.
    fn stop_after(&self, number: u64, prompt: &str) {
        let mut session = Session::new(&self.machine.home, &self.project, &session_id(number));
        session.transcript.user(prompt).answer("The otter exporter writes headers now.");
        session.transcript.append_to(&session.path);
        self.machine.hand_over();
        let payload = session.payload("Stop", &json!({"stop_hook_active": false, "last_assistant_message": "Done."}));
        let run = self.machine.run(&self.project, &["hook"], format!("{payload}\n").as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:#?}");
    }

    fn start(&self) -> String {
        let session = Session::new(&self.machine.home, &self.project, &session_id(99));
        let payload = session.payload("SessionStart", &json!({"source": "startup"}));
        let run = self.machine.run(&self.project, &["hook"], format!("{payload}\n").as_bytes());
        assert_eq!(run.code, Some(0), "{run:#?}");
        run.stdout
    }

    fn list(&self) -> Value {
        let run = self.machine.run(&self.project, &["policy", "list", "--json"], b"").success();
        serde_json::from_str(&run.stdout).expect("JSON")
    }

    fn policy(&self, name: &str, source: &str) -> Value {
        let list = self.list();
        let policies = list["policies"].as_array().expect("an array");
        let found = policies.iter().find(|policy| policy["name"] == name && policy["source"] == source);
        found.unwrap_or_else(|| panic!("no {source} policy {name}: {list:#}")).clone()
    }

    fn doctor(&self) -> String {
        self.machine.run(&self.project, &["doctor"], b"").stdout
    }

    fn remembers(&self) -> bool {
        self.machine.home.remembers(REQUEST)
    }

    /// The user drops in a policy and grants it all.
    fn install(&self, policy: &DropIn) {
        let folder = policy.write_to(&self.machine.home.path().join("dropped"));
        self.machine.hand_over();
        let add = ["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), "--replace".as_ref(), folder.as_os_str()];
        drop(self.machine.run(&self.project, &add, b"").success());
    }
}

#[test]
fn without_a_word_from_the_administrator_all_is_as_ever() {
    let Some(it) = Fixture::new() else { return };
    it.stop(1);
    assert!(it.remembers(), "{}", it.machine.home.log());
    assert!(it.start().contains("otter"));
    assert!(!it.doctor().contains("managed"));
}

#[test]
fn memory_is_off_where_the_administrator_says_so() {
    let Some(it) = Fixture::new() else { return };
    it.stop(1);
    it.machine.lay_down("managed.toml", &format!("[memory]\noff = [{:?}]\n", it.project.to_str().expect("UTF-8")));
    // The user's settings have no effect, in any file.
    let config = it.machine.home.throughline().join("config");
    std::fs::create_dir_all(&config).expect("create");
    std::fs::write(config.join("config.toml"), "enabled = true\n").expect("write");
    let before = it.machine.home.memories().len();
    it.stop(2);
    let told = it.start();
    assert!(told.contains("memory is off") && !told.contains("additionalContext"), "{told}");
    let path = Session::new(&it.machine.home, &it.project, &session_id(2)).path;
    drop(it.machine.run(Path::new("/"), &["ingest".as_ref(), path.as_os_str()], b""));
    assert_eq!(it.machine.home.memories().len(), before);
    assert!(it.doctor().contains("turns memory off in this folder"), "{}", it.doctor());
}

#[test]
fn transcripts_elsewhere_are_not_read() {
    let Some(it) = Fixture::new() else { return };
    it.machine.lay_down("managed.toml", "[transcripts]\nroots = [\"/srv/allowed\"]\n");
    it.stop(1);
    let path = Session::new(&it.machine.home, &it.project, &session_id(1)).path;
    drop(it.machine.run(&it.project, &["ingest".as_ref(), path.as_os_str()], b""));
    assert!(
        !it.machine.home.memories().iter().any(|memory| memory.text.contains("otter")),
        "{:#?}",
        it.machine.home.memories()
    );
    it.machine.lay_down("managed.toml", "[transcripts]\nroots = [\"~/.claude\"]\n");
    it.stop(2);
    assert!(it.remembers());
}

#[test]
fn only_what_is_allowed_runs() {
    let Some(it) = Fixture::new() else { return };
    let sound = DropIn::redactor("sound", wasm::redactor(FINDS_NOTHING));
    it.install(&sound);
    assert_eq!(it.policy("sound", "user")["runs"], true);
    for (text, words) in [
        ("[policies]\nuser = false\n".to_owned(), "user policies may not run"),
        (format!("[policies]\nallow = [\"{}\"]\n", "0".repeat(64)), "not on this machine's list of allowed components"),
        ("[policies]\nforbid = [\"log\"]\n".to_owned(), "asks for log, which no policy on this machine may have"),
    ] {
        it.machine.lay_down("managed.d/10-test.toml", &text);
        let listed = it.policy("sound", "user");
        assert_eq!(listed["why_not"], "forbidden", "{listed:#}");
        assert!(listed["what"].as_str().expect("words").contains(words), "{listed:#}");
        // The user may say what they like.
        drop(it.machine.run(&it.project, &["policy", "enable", "sound"], b""));
        drop(it.machine.run(&it.project, &["policy", "grant", "sound", "log"], b""));
        assert_eq!(it.policy("sound", "user")["runs"], false);
    }
    let digest = it.policy("sound", "user")["digest"].as_str().expect("a digest").to_owned();
    it.machine.lay_down("managed.d/10-test.toml", &format!("[policies]\nallow = [\"{digest}\"]\n"));
    assert_eq!(it.policy("sound", "user")["runs"], true);
}

/// The compiled components in a folder.
fn compiled(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the cache").flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "cwasm")).collect()
}

#[test]
fn attack_compiled_code_that_the_user_exchanged() {
    let Some(it) = Fixture::new() else { return };
    it.machine.lay_down("managed.toml", "[redaction]\nforced = true\n");
    it.stop_after(1, "Teach the otter exporter to whistle");
    assert!(it.machine.home.remembers("whistle"), "{}", it.machine.home.log());
    let cache = it.machine.home.cache().join("components");
    let sound = compiled(&cache);
    assert!(!sound.is_empty());
    for file in &sound {
        let copy = it.machine.etc("apart/x").with_file_name(file.file_name().expect("a name"));
        std::fs::copy(file, copy).expect("copy");
    }
    // A policy that finds nothing, compiled by the program itself, takes the place of the default policy, with a seal that fits.
    it.install(&DropIn::redactor("blind", wasm::redactor(FINDS_NOTHING)));
    let blind = compiled(&cache).into_iter().find(|file| !sound.contains(file)).expect("the policy was compiled");
    let code = std::fs::read(blind).expect("compiled code");
    drop(it.machine.run(&it.project, &["policy", "remove", "blind"], b"").success());
    let exchange = || {
        for file in &sound {
            std::fs::write(file, &code).expect("write");
            std::fs::write(file.with_extension("seal"), format!("{} 0 0 0 0\n", component::digest(&code))).expect("write");
        }
        it.machine.hand_over();
    };
    exchange();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
    it.stop_after(2, &format!("Teach the otter exporter to sing with {secret}"));
    assert!(!it.machine.home.remembers("to sing"), "the user's cache decides: {}", it.machine.home.log());

    // What the administrator compiled is in a folder of the system's, and the user's does not count.
    std::fs::rename(it.machine.etc("apart/x").parent().expect("a folder"), it.machine.etc("components")).expect("rename");
    for file in compiled(&it.machine.etc("components")) {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("chmod");
    }
    exchange();
    it.stop_after(3, &format!("Teach the otter exporter to dance with {secret}"));
    assert!(it.machine.home.remembers("to dance"), "{}", it.machine.home.log());
    let found = it.machine.home.holding(&secret);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn limits_are_lowered() {
    let Some(it) = Fixture::new() else { return };
    // It grows to 12 MiB, which its manifest may: 16.
    let grows = format!("(drop (memory.grow (i32.const 128))) {FINDS_NOTHING}");
    it.install(&DropIn::redactor("grows", wasm::redactor(&grows)));
    it.stop(1);
    assert_eq!(it.policy("grows", "user")["failures"], 0, "{}", it.machine.home.log());
    it.machine.lay_down("managed.toml", "[limits]\nmemory-mib = 8\n");
    it.stop(2);
    assert_eq!(it.policy("grows", "user")["failures"], 1, "{}", it.machine.home.log());
    assert!(it.remembers());
}

#[test]
fn a_required_policy_must_serve() {
    let Some(it) = Fixture::new() else { return };
    it.machine.lay_down("managed.toml", "[policies]\nrequire = [\"house\"]\n");
    // One of the user's by that name is not it.
    it.install(&DropIn::redactor("house", wasm::redactor(FINDS_NOTHING)));
    it.stop(1);
    assert!(!it.remembers());
    assert!(it.start().starts_with("{\"systemMessage\":\"Throughline: memory is off: "), "{}", it.start());
    assert!(it.doctor().contains("the required policy house is missing"), "{}", it.doctor());

    // The administrator puts it there and grants what it asks for.
    DropIn::redactor("house", wasm::redactor(FINDS_NOTHING)).write_to(&it.machine.etc("policies/."));
    it.machine.lay_down("managed.toml", "[policies]\nrequire = [\"house\"]\n[grants]\nhouse = [\"log\"]\n");
    assert_eq!(it.policy("house", "managed")["runs"], true);
    assert_eq!(it.policy("house", "user")["why_not"], "shadowed");
    drop(it.machine.run(&it.project, &["policy", "disable", "house"], b""));
    assert_eq!(it.policy("house", "managed")["runs"], true, "a user cannot turn it off");
    // The first hook finds it not compiled: nothing is kept then, and nothing is lost.
    it.machine.home.eventually("it is compiled and the session read", |_| {
        it.stop(2);
        it.remembers()
    });

    // While it fails nothing is kept.
    let before = it.machine.home.memories().len();
    DropIn::redactor("house", wasm::redactor("unreachable")).write_to(&it.machine.etc("policies/."));
    it.machine.home.eventually("it is compiled", |_| {
        it.stop(3);
        it.policy("house", "managed")["compiled"] == true
    });
    it.stop(4);
    assert_eq!(it.machine.home.memories().len(), before);
}

#[test]
fn redaction_is_forced() {
    let Some(it) = Fixture::new() else { return };
    it.install(&DropIn::redactor("fails", wasm::redactor("unreachable")));
    it.machine.lay_down("managed.toml", "[redaction]\nforced = true\n");
    it.stop(1);
    assert!(!it.remembers());
    it.machine.lay_down("managed.toml", "");
    it.stop(1);
    assert!(it.remembers(), "{}", it.machine.home.log());
}

#[test]
fn what_is_damaged_fails_closed() {
    let Some(it) = Fixture::new() else { return };
    it.machine.lay_down("managed.toml", "[polices]\nuser = false\n");
    let file = it.machine.etc("managed.toml");
    let closed = |words: &str| {
        it.stop(1);
        assert!(!it.remembers(), "{words}");
        let said = "the administrator's configuration cannot be used; `throughline doctor` says what to do";
        assert_eq!(it.start(), format!("{{\"systemMessage\":\"Throughline: memory is off: {said}\"}}\n"), "{words}");
        let doctor = it.doctor();
        assert!(doctor.contains("managed") && doctor.contains(words), "{words}: {doctor}");
        let search = it.machine.run(&it.project, &["memory", "list"], b"").failure_with_hint();
        assert!(search.stderr.contains(words), "{search:#?}");
    };
    closed("polices");
    it.machine.lay_down("managed.toml", "");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).expect("chmod");
    closed("other users may write to it");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("chmod");
    closed("cannot be opened");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("chmod");
    std::os::unix::fs::chown(&file, Some(65_534), None).expect("chown");
    closed("does not belong to root");
    std::os::unix::fs::chown(&file, Some(0), None).expect("chown");
    it.machine.lay_down("managed.d/50-x.toml", "[limits]\ntime-ms = \"soon\"\n");
    closed("50-x.toml");
    std::fs::remove_file(it.machine.etc("managed.d/50-x.toml")).expect("remove");
    it.stop(1);
    assert!(it.remembers(), "{}", it.machine.home.log());
}
