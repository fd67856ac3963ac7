//! Policies that are dropped in: what they may do, and that nothing they do costs a session its memory or its time.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tests::drop_in::DropIn;
use tests::faults;
use tests::home::{Home, run_in};
use tests::process::{self, Finished};
use tests::session::Session;
use tests::transcript::session_id;
use tests::wasm::{self, FINDS_NOTHING};

/// What a session says, and what is looked for afterwards.
const REQUEST: &str = "Teach the otter exporter to write headers";

/// `Stop` has three seconds; a debug build and a busy machine take some of it.
const STOP: Duration = Duration::from_millis(3_250);

fn work_on(home: &Home, project: &Path, number: u64) -> Finished {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .user(REQUEST)
        .edits("src/exporter.rs", "write(rows)", "write(headers); write(rows)")
        .answer("The otter exporter writes headers now.");
    session.stop("The otter exporter writes headers now.").run
}

fn fixture() -> (Home, PathBuf) {
    let home = Home::new();
    let project = home.project("zoo");
    (home, project)
}

/// Whatever the policy does: the session is remembered as the default policy would, in time; the log names the policy with
/// its digest; the third time it is set aside, which `list` and `doctor` say; and it can be taken up again.
#[track_caller]
fn costs_nothing(hostile: &DropIn, words: &str) {
    let (home, project) = fixture();
    hostile.install(&home);
    for number in 1..=3 {
        let stop = work_on(&home, &project, number);
        assert!(stop.wall < STOP, "it took {:?}\n{}", stop.wall, home.log());
    }
    assert!(home.remembers(REQUEST), "{}", home.log());
    let log = home.log();
    let listed = home.policy(&project, &hostile.name);
    let digest = &listed["digest"].as_str().expect("a digest")[..12];
    assert!(log.contains(&format!("{} ({digest})", hostile.name)), "{log}");
    assert!(log.contains(words), "the log does not say {words:?}: {log}");
    assert_eq!(listed["runs"], false, "{listed:#}");
    assert_eq!(listed["why_not"], "set-aside", "{listed:#}\n{log}");
    let doctor = home.run(["doctor"]);
    assert!(doctor.stdout.contains("set aside") && doctor.stdout.contains(&hostile.name), "{doctor:#?}");
    // Set aside, it is not asked any more …
    let before = home.log().len();
    work_on(&home, &project, 4);
    assert!(!home.log()[before..].contains("a policy failed"), "{}", home.log());
    // … until somebody has looked.
    drop(home.run(["policy", "enable", &hostile.name]).success());
    assert_eq!(home.policy(&project, &hostile.name)["failures_in_a_row"], 0);
}

#[test]
fn an_endless_loop() {
    costs_nothing(&DropIn::redactor("loops", wasm::redactor("(loop $l (br $l)) (i32.const 0)")), "deadline");
}

#[test]
fn an_endless_recursion() {
    costs_nothing(&DropIn::redactor("recurses", wasm::redactor("(call $redact (local.get 0) (local.get 1))")), "stack");
}

#[test]
fn a_memory_bomb() {
    let body = "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (i32.const 0)";
    costs_nothing(&DropIn::redactor("grows", wasm::redactor(body)), "bytes of memory");
}

#[test]
fn a_table_bomb() {
    let body = "(loop $l (br_if $l (i32.ne (table.grow $t (ref.null func) (i32.const 500)) (i32.const -1)))) (i32.const 0)";
    costs_nothing(&DropIn::redactor("tables", wasm::redactor(body)), "table elements");
}

#[test]
fn a_trap() {
    costs_nothing(&DropIn::redactor("traps", wasm::redactor("unreachable")), "unreachable");
}

#[test]
fn a_text_that_is_no_text() {
    // ok([{ text: some("\ff"), findings: [] }, …])
    let body = "(i32.store (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 64))
        (i32.store (i32.const 24) (i32.const 1)) (i32.store (i32.const 64) (i32.const 1))
        (i32.store (i32.const 68) (i32.const 128)) (i32.store (i32.const 72) (i32.const 1))
        (i32.store8 (i32.const 128) (i32.const 255)) (i32.const 16)";
    costs_nothing(&DropIn::redactor("mangles", wasm::redactor(body)), "utf-8");
}

#[test]
fn a_giant_text() {
    // ok([{ text: some(3 MiB of NUL), findings: [] }]), where 1 MiB may be handed over.
    let body = "(i32.store (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 64))
        (i32.store (i32.const 24) (i32.const 1)) (i32.store (i32.const 64) (i32.const 1))
        (i32.store (i32.const 68) (i32.const 524288)) (i32.store (i32.const 72) (i32.const 3145728)) (i32.const 16)";
    let mut giant = DropIn::redactor("giant", wasm::redactor(body));
    giant.limits += "\noutput-kib = 1024";
    costs_nothing(&giant, "giant");
}

#[test]
fn one_giant_text_many_times() {
    // Each of 1,000 results has the same 2 MiB: little memory for the guest, gigabytes for a host that copies them.
    let body = "(local $i i32)
        (loop $l
            (i32.store (i32.add (i32.const 3145728) (i32.mul (local.get $i) (i32.const 20))) (i32.const 1))
            (i32.store (i32.add (i32.const 3145732) (i32.mul (local.get $i) (i32.const 20))) (i32.const 524288))
            (i32.store (i32.add (i32.const 3145736) (i32.mul (local.get $i) (i32.const 20))) (i32.const 2097152))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (i32.const 1000))))
        (i32.store (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 3145728))
        (i32.store (i32.const 24) (i32.const 1000)) (i32.const 16)";
    costs_nothing(&DropIn::redactor("repeats", wasm::redactor(body)), "repeats");
}

#[test]
fn as_many_drafts_as_fit_into_memory() {
    // ok({ drafts: [700,000 empty ones], … }): the rest of the memory is zero, which is empty.
    let body = "(i32.store (i32.const 16) (i32.const 0)) (i32.store (i32.const 24) (i32.const 131072))
        (i32.store (i32.const 28) (i32.const 700000)) (i32.const 16)";
    let drafts = DropIn {
        stages: "extractor = \"add\"".into(),
        capabilities: "transcript = true".into(),
        limits: "time-ms = 300".into(),
        ..DropIn::redactor("drafts", wasm::extractor(body))
    };
    costs_nothing(&drafts, "drafts");
}

#[test]
fn a_component_of_another_shape() {
    // The name is the redactor's, the type is not.
    let wasm = wat::parse_str(
        r#"(component
            (core module $m (func (export "f") (result i32) (i32.const 7)))
            (core instance $i (instantiate $m))
            (func $f (result u32) (canon lift (core func $i "f")))
            (instance $r (export "redact" (func $f)))
            (export "throughline:policy/redactor@0.1.0" (instance $r)))"#,
    )
    .expect("it parses");
    costs_nothing(&DropIn::redactor("shape", wasm), "does not have the contract's type");
}

#[test]
fn a_component_that_lies_about_its_stage() {
    let liar =
        DropIn { stages: "summarizer = \"replace\"".into(), ..DropIn::redactor("liar", wasm::redactor(FINDS_NOTHING)) };
    costs_nothing(&liar, "the stage summarizer");
}

#[test]
fn an_import_that_nobody_can_have() {
    let wasm =
        wat::parse_str(r#"(component (import "wasi:http/outgoing-handler@0.2.0" (instance (export "handle" (func)))))"#)
            .expect("it parses");
    costs_nothing(&DropIn::redactor("nosy", wasm), "wasi:http/outgoing-handler@0.2.0, which no policy can use");
}

#[test]
fn a_component_of_another_version() {
    let wasm = wat::parse_str(r#"(component (import "throughline:policy/log@0.3.0" (instance (export "write" (func)))))"#)
        .expect("it parses");
    costs_nothing(&DropIn::redactor("younger", wasm), "built for version 0.3.0 of the contract");
}

#[test]
fn a_start_that_never_ends() {
    let wasm = wasm::component(
        "redactor-policy",
        r#"(module
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
            (func (export "throughline:policy/redactor@0.1.0#redact") (param i32 i32) (result i32) (i32.const 0))
            (func $start (loop $l (br $l)))
            (start $start))"#,
    );
    costs_nothing(&DropIn::redactor("starts", wasm), "deadline");
}

#[test]
fn a_flood_of_the_log_is_cut() {
    let (home, project) = fixture();
    let body = format!(
        "(local $i i32)
         (i32.store8 (i32.const 128) (i32.const 120))
         (loop $l
            (call $log (i32.const 1) (i32.const 128) (i32.const 1000))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (i32.const 10000))))
         {FINDS_NOTHING}"
    );
    let mut flood = DropIn::redactor("floods", wasm::redactor(&body));
    flood.limits = "time-ms = 2000".into();
    flood.install(&home);
    work_on(&home, &project, 1);
    assert!(home.remembers(REQUEST));
    assert!(home.log().contains("a policy logged: floods: x"), "{}", home.log());
    assert!(home.log().len() < 64 << 10, "{} bytes of log", home.log().len());
}

#[test]
fn what_is_no_component_is_refused_before_it_is_run() {
    let (home, project) = fixture();
    // A compiled form of the default policy, as this very host made it: native code that would run unchecked.
    let compiled = std::fs::read_dir(home.cache().join("components"))
        .expect("the cache")
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "cwasm"))
        .expect("the default policy was compiled");
    let compiled = std::fs::read(compiled).expect("read");
    let module = wat::parse_str("(module)").expect("it parses");
    for (name, wasm) in [("fake", compiled), ("core", module), ("text", b"not WebAssembly".to_vec()), ("none", Vec::new())] {
        DropIn::redactor(name, wasm).install(&home);
        assert_eq!(home.policy(&project, name)["compiled"], false);
        let inspected = home.run(["policy", "inspect", name]).failure_with_hint();
        assert!(
            inspected.stderr.contains("not a component") || inspected.stderr.contains("not WebAssembly"),
            "{inspected:#?}"
        );
    }
    work_on(&home, &project, 1);
    assert!(home.remembers(REQUEST));
    assert!(home.log().contains("compiled artifact"), "{}", home.log());
}

#[test]
fn what_others_could_have_put_there_is_not_opened() {
    let (home, project) = fixture();
    let policies = home.policies();
    let sound = DropIn::redactor("sound", wasm::redactor(FINDS_NOTHING));
    sound.install(&home);
    let elsewhere = sound.write_to(&home.path().join("elsewhere"));
    let copy = |name: &str| DropIn { name: name.into(), ..sound.clone() }.write_to(&policies);

    symlink(&elsewhere, policies.join("linked-folder")).expect("link");
    let linked = copy("linked-component");
    std::fs::rename(linked.join("policy.wasm"), linked.join("real.wasm")).expect("rename");
    symlink("real.wasm", linked.join("policy.wasm")).expect("link");
    let linked = copy("linked-manifest");
    std::fs::rename(linked.join("policy.toml"), linked.join("real.toml")).expect("rename");
    symlink("real.toml", linked.join("policy.toml")).expect("link");
    let open = copy("open");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).expect("chmod");
    let open = copy("open-component");
    std::fs::set_permissions(open.join("policy.wasm"), std::fs::Permissions::from_mode(0o666)).expect("chmod");
    // A custom section of 1 GB, as sparse as the file system can make it.
    let large = copy("large");
    let file = std::fs::File::options().write(true).open(large.join("policy.wasm")).expect("open");
    file.set_len(1 << 30).expect("grow");
    std::fs::write(policies.join("stray.wasm"), b"").expect("write");
    let mut expected = vec![
        ("linked-folder", "link"),
        ("linked-component", "link"),
        ("linked-manifest", "link"),
        ("open", "other users may write"),
        ("open-component", "other users may write"),
        ("large", "1073741824 bytes"),
        ("stray.wasm", "not a folder"),
    ];
    if faults::is_root() {
        let foreign = copy("foreign");
        std::os::unix::fs::chown(&foreign, Some(12_345), None).expect("chown");
        expected.push(("foreign", "another user"));
    }
    let listed = home.policy_list(&project);
    for (name, words) in expected {
        let broken = listed["broken"].as_array().expect("an array");
        let it = broken
            .iter()
            .find(|it| Path::new(it["path"].as_str().unwrap_or_default()).components().any(|c| c.as_os_str() == name));
        let it = it.unwrap_or_else(|| panic!("nothing is said of {name}: {listed:#}"));
        assert!(it["what"].as_str().expect("words").contains(words), "{name}: {it:#}");
    }
    assert_eq!(home.policy(&project, "sound")["runs"], true);
    let stop = work_on(&home, &project, 1);
    assert!(stop.wall < STOP);
    assert!(home.remembers(REQUEST));
}

#[test]
fn nothing_runs_that_was_not_granted() {
    let (home, project) = fixture();
    let redactor = DropIn::redactor("asks", wasm::redactor("unreachable"));
    redactor.write_to(&home.policies());
    let listed = home.policy(&project, "asks");
    assert_eq!((&listed["runs"], &listed["why_not"]), (&false.into(), &"ungranted".into()));
    assert_eq!(listed["hint"], "throughline policy grant asks log");
    work_on(&home, &project, 1);
    assert!(home.remembers(REQUEST));
    assert!(!home.log().contains("asks"), "{}", home.log());
    drop(home.run(["policy", "grant", "asks", "log"]).success());
    assert_eq!(home.policy(&project, "asks")["runs"], true);
    drop(home.run(["policy", "revoke", "asks", "log"]).success());
    assert_eq!(home.policy(&project, "asks")["why_not"], "ungranted");
    let unknown = home.run(["policy", "grant", "asks", "files"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");

    // What the component imports and its manifest does not ask for.
    let silent = DropIn {
        capabilities: String::new(),
        ..DropIn::redactor(
            "sneaks",
            wasm::redactor(&format!("(call $log (i32.const 0) (i32.const 0) (i32.const 0)) {FINDS_NOTHING}")),
        )
    };
    silent.install(&home);
    let listed = home.policy(&project, "sneaks");
    assert_eq!(listed["why_not"], "unfit", "{listed:#}");
    assert!(listed["what"].as_str().expect("words").contains("throughline:policy/log@0.1.0"), "{listed:#}");
    assert!(listed["hint"].as_str().expect("words").contains("throughline policy grant sneaks log"), "{listed:#}");
}

#[test]
fn a_projects_policies_run_once_they_are_trusted_as_they_are() {
    let (home, project) = fixture();
    let policies = project.join(".throughline/policies");
    let mut redactor = DropIn::redactor("team", wasm::redactor(FINDS_NOTHING));
    let folder = redactor.write_to(&policies);
    let old = std::time::SystemTime::now() - Duration::from_mins(1);
    let file = std::fs::File::options().write(true).open(folder.join("policy.wasm")).expect("open");
    file.set_modified(old).expect("set the time");
    let why = || home.policy(&project, "team")["why_not"].clone();
    // A hook does not even look at what a foreign repository brings along.
    work_on(&home, &project, 1);
    assert_eq!(home.log(), "");
    assert!(!home.cache().join("components/digests").exists());
    assert_eq!(why(), "untrusted");
    assert!(home.cache().join("components/digests").exists());
    drop(run_in(&home, &project, &["policy", "trust"]).success());
    assert_eq!(why(), "ungranted", "trust grants nothing");
    drop(run_in(&home, &project, &["policy", "grant", "team", "--all", "--in-project"]).success());
    assert_eq!(why(), serde_json::Value::Null);
    // Somebody changes it; even what it asks for.
    redactor.more = "required = true".into();
    redactor.write_to(&policies);
    assert_eq!(why(), "untrusted");
    drop(run_in(&home, &project, &["policy", "trust"]).success());
    assert_eq!(why(), serde_json::Value::Null);
    // A policy that comes along is a change too.
    DropIn::redactor("another", wasm::redactor("unreachable")).write_to(&policies);
    assert_eq!(why(), "untrusted");
    assert_eq!(home.policy(&project, "another")["why_not"], "untrusted");
    // Elsewhere nobody knows of them.
    let other = home.project("other");
    assert_eq!(home.policy_list(&other)["policies"], serde_json::json!([]));
    drop(run_in(&home, &project, &["policy", "trust", "--revoke"]).success());
    assert_eq!(why(), "untrusted");
}

#[test]
fn a_lock_file_pins_what_may_run() {
    let (home, project) = fixture();
    let mut redactor = DropIn::redactor("pinned", wasm::redactor(FINDS_NOTHING));
    redactor.install(&home);
    drop(home.run(["policy", "lock"]).success());
    assert_eq!(home.policy(&project, "pinned")["runs"], true);
    redactor.wasm = wasm::redactor("unreachable");
    redactor.install(&home);
    let listed = home.policy(&project, "pinned");
    assert_eq!(listed["why_not"], "unlike", "{listed:#}");
    assert!(
        listed["what"].as_str().expect("words").contains("policies.lock has another digest for its component"),
        "{listed:#}"
    );
    DropIn::redactor("late", wasm::redactor(FINDS_NOTHING)).install(&home);
    assert!(home.policy(&project, "late")["what"].as_str().expect("words").contains("does not name it"));
    drop(home.run(["policy", "lock"]).success());
    assert_eq!(home.policy(&project, "late")["runs"], true);
    drop(home.run(["policy", "lock", "--remove"]).success());
    assert_eq!(home.policy(&project, "pinned")["runs"], true);
}

#[test]
fn a_component_that_is_not_the_manifests_does_not_run() {
    let (home, project) = fixture();
    DropIn::redactor("swapped", wasm::redactor(FINDS_NOTHING)).install(&home);
    std::fs::write(home.policies().join("swapped/policy.wasm"), wasm::redactor("unreachable")).expect("write");
    let listed = home.policy(&project, "swapped");
    assert_eq!(listed["why_not"], "unlike", "{listed:#}");
    assert!(listed["what"].as_str().expect("words").contains("does not match the sha256 in its manifest"), "{listed:#}");
}

/// The first hook after a policy was dropped in does not wait for its compilation.
#[test]
fn a_new_component_is_compiled_in_the_background() {
    let (home, project) = fixture();
    let redactor = DropIn { capabilities: String::new(), ..DropIn::redactor("fresh", wasm::redactor(FINDS_NOTHING)) };
    redactor.write_to(&home.policies());
    assert_eq!(home.policy(&project, "fresh")["compiled"], false);
    work_on(&home, &project, 1);
    assert!(home.remembers(REQUEST));
    assert!(home.log().contains("a policy is not compiled yet"), "{}", home.log());
    home.eventually("the policy is compiled", |home| home.policy(&project, "fresh")["compiled"] == true);
}

#[test]
fn attack_a_component_that_needs_gigabytes_to_compile() {
    /// The limits of the compiler are 300 s of CPU and 2 GiB.
    const COMPILING: Duration = Duration::from_mins(10);
    let (home, project) = fixture();
    let wasm = wasm::redactor_that_is_slow_to_compile();
    assert!(wasm.len() < 100_000, "it is small: {} bytes", wasm.len());
    let bomb = DropIn { capabilities: String::new(), ..DropIn::redactor("bomb", wasm) };
    let folder = bomb.write_to(&home.path().join("dropped"));
    let add = home.command(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), folder.as_os_str()]);
    let run = process::run(add, Vec::new(), COMPILING);
    assert!(!run.overdue && run.stdout.contains("the policy does not run: it cannot be compiled"), "{run:#?}");
    assert!(home.log().contains("takes too much to compile"), "{}", home.log());
    assert_eq!(home.policy(&project, "bomb")["compiled"], false);

    // It lies where the program looks for policies now, and the hooks go on in time.
    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.user(REQUEST).answer("The otter exporter writes headers now.");
    session.transcript.append_to(&session.path);
    let stop = home.hook(&session.payload("Stop", &serde_json::json!({"stop_hook_active": false}))).run;
    assert!(stop.wall < STOP, "it took {:?}\n{}", stop.wall, home.log());
    home.eventually("the session is remembered", |home| home.remembers(REQUEST));
}

/// A redactor that must have seen everything: while it fails nothing is kept, and what was not kept is not lost.
#[test]
fn what_a_required_redactor_could_not_check_is_not_kept() {
    let (home, project) = fixture();
    let mut required = DropIn::redactor("strict", wasm::redactor("unreachable"));
    required.more = "required = true".into();
    required.install(&home);
    for number in 1..=4 {
        work_on(&home, &project, number);
    }
    assert_eq!(home.policy(&project, "strict")["why_not"], "set-aside");
    assert!(!home.remembers(REQUEST), "{:#?}", home.memories());
    let start = Session::new(&home, &project, &session_id(9)).start("startup");
    start.silent();
    assert!(home.run(["doctor"]).stdout.contains("nothing is remembered"));
    required.wasm = wasm::redactor(FINDS_NOTHING);
    required.install(&home);
    let next = Session::new(&home, &project, &session_id(10)).start("startup");
    assert!(next.said().contains("otter"), "{}", home.log());
}

/// A required redactor that cannot run at all is no less required than one that fails.
#[test]
fn attack_a_required_redactor_that_is_kept_from_running() {
    let (home, project) = fixture();
    let mut required = DropIn::redactor("strict", wasm::redactor(FINDS_NOTHING));
    required.more = "required = true".into();
    required.install(&home);
    let folder = home.policies().join("strict");
    let (component, manifest) = (folder.join("policy.wasm"), folder.join("policy.toml"));
    let decisions = home.throughline().join("config/policies.toml");
    let mode = |mode| std::fs::set_permissions(&component, std::fs::Permissions::from_mode(mode)).expect("set the mode");
    let replace = |file: &Path, text: &[u8]| std::fs::write(file, text).expect("write");
    let (sound, granted) = (required.manifest(), std::fs::read(&decisions).expect("read"));
    let faults: [(&str, &dyn Fn()); 5] = [
        ("another component", &|| replace(&component, b"\0asm")),
        ("a component that is gone", &|| std::fs::remove_file(&component).expect("remove")),
        ("a component that others may write", &|| mode(0o666)),
        ("a capability that was not granted", &|| {
            replace(&manifest, sound.replace("log = true", "log = true\nrandom = true").as_bytes());
        }),
        ("damaged decisions", &|| replace(&decisions, b"[[[")),
    ];
    for (number, (what, fault)) in (1..).zip(faults) {
        fault();
        work_on(&home, &project, number);
        assert!(!home.remembers(REQUEST), "{what}: {:#?}", home.memories());
        assert!(home.run(["doctor"]).stdout.contains("nothing is remembered"), "{what}");
        let status = tests::home::run_in(&home, &project, &["status"]).stdout;
        assert!(status.starts_with("off: the required redactor strict"), "{what}: {status}");
        let start = Session::new(&home, &project, &session_id(20 + number)).start("startup");
        let notice = "memory is off: the required policy strict does not run";
        assert!(start.run.stdout.contains(notice), "{what}: {}", start.run.stdout);
        replace(&component, &required.wasm);
        mode(0o644);
        replace(&manifest, sound.as_bytes());
        replace(&decisions, &granted);
    }
    work_on(&home, &project, 9);
    home.eventually("the session is remembered", |home| home.remembers(REQUEST));
}

/// A policy that comes in the middle of a session reads what was said before; what it made is its own.
#[test]
fn an_extractor_that_comes_late_reads_the_session_from_its_beginning() {
    let Some(folder) = tests::sources::build("decision-records", "an extractor that comes late") else { return };
    let (home, project) = fixture();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.user(REQUEST).answer("DECISION: keep headers in the schema");
    session.stop("");
    let add = home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), folder.as_os_str()]);
    assert!(add.success().stdout.contains("the policy runs"));
    session.transcript.user("And now?").answer("DECISION: write them once");
    session.stop("");
    session.transcript.user("Go on").answer("Done.");
    session.stop("");
    let memories = home.json(["memory", "list", "--json", "--all-projects", "--type", "decision"]);
    let made = |title: &str| {
        let memories = memories.as_array().expect("an array");
        let id = memories.iter().find(|memory| memory["title"] == title).map(|memory| memory["id"].as_str().expect("an id"));
        let shown =
            home.json(["memory", "show", "--json", id.unwrap_or_else(|| panic!("{title}: {memories:#?}\n{}", home.log()))]);
        shown["policy"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(made("keep headers in the schema"), "decision-records");
    assert_eq!(made("write them once"), "decision-records");
    // The default goes on beside it.
    assert!(home.remembers(REQUEST));
    let start = Session::new(&home, &project, &session_id(2)).start("startup");
    assert!(start.said().contains("keep headers in the schema"), "{}", start.said());
}
