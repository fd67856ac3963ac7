//! Sealed teams on a real `PostgreSQL` server: it has ciphertext, and nobody reads it without the key.

use std::path::PathBuf;

use serde_json::{Value, json};
use tests::home::Home;
use tests::postgres::{self, Server, Team, join, share};
use tests::process::{self, Finished, WATCHDOG};

use crate::team::{clone_of, save, sync, texts};

/// A team of a curator and a contributor, whose machines have clones of one project. Nobody has a key yet.
struct Pair<'a> {
    team: Team<'a>,
    ann: Home,
    ben: Home,
    ann_project: PathBuf,
    ben_project: PathBuf,
    invitations: [String; 2],
}

fn pair(server: &Server) -> Pair<'_> {
    let team = Team::new(server);
    let (ann, ben) = (Home::new(), Home::new());
    let ann_project = ann.project("otters");
    let ben_project = clone_of(&ben, &ann_project);
    let invitations = [team.invite("ann", "curator"), team.invite("ben", "contributor")];
    join(&ann, &invitations[0]);
    join(&ben, &invitations[1]);
    Pair { team, ann, ben, ann_project, ben_project, invitations }
}

/// Makes a key on a machine and seals the team, and returns the key.
fn seal(home: &Home) -> String {
    drop(home.run(["team", "key", "create"]).success());
    sync(home);
    home.run(["team", "key", "show"]).success().stdout.trim().to_owned()
}

fn import(home: &Home, key: &str) -> Finished {
    process::run(home.command(["team", "key", "import"]), format!("{key}\n").into_bytes(), WATCHDOG)
}

/// Opens the ciphertext in a record as any other program would that knows age.
fn open(key: &str, body: &str) -> String {
    use base64::Engine as _;
    let record: Value = serde_json::from_str(body).expect("JSON");
    let sealed = base64::prelude::BASE64_STANDARD.decode(record["sealed"].as_str().expect("sealed")).expect("base64");
    let identity: age::x25519::Identity = key.parse().expect("a key");
    String::from_utf8(age::decrypt(&identity, &sealed).expect("it opens")).expect("UTF-8")
}

#[test]
fn the_server_of_a_sealed_team_has_only_ciphertext() {
    let Some(server) = postgres::shared("the_server_of_a_sealed_team_has_only_ciphertext") else { return };
    let it = pair(server);
    let key = seal(&it.ann);
    save(&it.ann, &it.ann_project, "Otters are counted at dawn by the wombat gate");
    save(&it.ann, &it.ann_project, "The gate opens with quokka-4711-quokka");
    // The redactors run before a text is sealed: the server could not find what they missed.
    let config = it.ann.throughline().join("config/config.toml");
    let former = std::fs::read_to_string(&config).expect("read");
    std::fs::write(&config, former + "\n[privacy]\nexclude_patterns = ['quokka-[0-9]+-quokka']\n").expect("write");
    let shown = it.ann.json(["team", "outbox", "--json"]);
    assert_eq!(sync(&it.ann)["sent"], 2);
    let rows = server.sql(&it.team.name, "SELECT r::text FROM throughline.records r");
    let all = rows
        + &server.sql(&it.team.name, "SELECT t::text FROM throughline.tenants t")
        + &server.sql(&it.team.name, "SELECT i::text FROM throughline.items i");
    for word in ["wombat", "dawn", "quokka", "4711", "git:", "name:", "decision", "AGE-SECRET", "age1"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    assert_eq!(server.sql(&it.team.name, "SELECT count(*) FROM throughline.records WHERE words <> ''"), "0");
    if server.sql(&it.team.name, "SELECT to_regclass('throughline.vectors') IS NOT NULL") == "t" {
        assert_eq!(server.sql(&it.team.name, "SELECT count(*) FROM throughline.vectors"), "0");
    }
    // The hash is that of the ciphertext, and what is opened is what was shown, to the byte.
    let bodies = "SELECT body FROM throughline.records WHERE hash = encode(sha256(convert_to(body, 'UTF8')), 'hex') ORDER BY sequence";
    let bodies = server.sql(&it.team.name, bodies);
    let opened: Vec<Value> = bodies.lines().map(|body| open(&key, body).into()).collect();
    assert_eq!(json!(opened), json!([shown[0]["record"], shown[1]["record"]]));
    assert!(opened[0].as_str().is_some_and(|it| it.contains("wombat")) && !json!(opened).to_string().contains("4711"));

    // Ben has no key: he is told so, nothing of his leaves, and nothing is lost.
    save(&it.ben, &it.ben_project, "Ben numbers his otters from seven");
    let run = it.ben.run(["team", "sync"]).failure_with_hint();
    assert!(run.stderr.contains("is sealed, and this machine does not have its key"), "{run:#?}");
    assert_eq!(it.ben.json(["team", "status", "--json"])["fault"], "key");
    assert!(it.ben.run(["doctor"]).stdout.contains("the last sync failed: key"));
    assert_eq!(server.sql(&it.team.name, "SELECT count(*) FROM throughline.records"), "2");
    let other = age::x25519::Identity::generate().to_string();
    let run = import(&it.ben, "AGE-SECRET-KEY-1QQQQ").failure_with_hint();
    assert!(run.stderr.contains("not a team key") && !run.stderr.contains("1QQQQ"), "{run:#?}");
    drop(import(&it.ben, age::secrecy::ExposeSecret::expose_secret(&other)).success());
    let run = it.ben.run(["team", "sync"]).failure_with_hint();
    assert!(run.stderr.contains("sealed with another key"), "{run:#?}");
    let run = import(&it.ben, &key).failure_with_hint();
    assert!(run.stderr.contains("has another team key"), "{run:#?}");
    drop(it.ben.run(["team", "key", "delete"]).failure_with_hint());
    drop(it.ben.run(["team", "key", "delete", "--yes"]).success());
    drop(import(&it.ben, &key).success());
    let report = sync(&it.ben);
    assert_eq!((&report["sent"], &report["received"]), (&json!(1), &json!(2)), "{report}");
    assert!(texts(&it.ben, &it.ben_project).join("\n").contains("wombat gate"));
    sync(&it.ann);
    assert!(texts(&it.ann, &it.ann_project).join("\n").contains("from seven"));
    let found = it.ben.json(["search", "--json", "--project", it.ben_project.to_str().expect("UTF-8"), "wombat gate"]);
    assert!(found.to_string().contains("counted at dawn"), "{found}");

    // The key lies in a file that only its owner reads.
    let file = it.ben.throughline().join("config/team-key");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).expect("the file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("mode");
    let run = it.ben.run(["team", "sync"]).failure_with_hint();
    assert!(run.stderr.contains("others can read it") && !run.stderr.contains("AGE-SECRET"), "{run:#?}");

    // No query leaves.
    let run = it.ann.run(["team", "search", "wombat"]).failure_with_hint();
    assert!(run.stderr.contains("cannot search") && run.stderr.contains("throughline search"), "{run:#?}");

    // An edit and a deletion reach the other machine as they do in an open team.
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    let id = save(&it.ann, &it.ann_project, "Otters get salmon in the evening");
    sync(&it.ann);
    sync(&it.ben);
    assert!(texts(&it.ben, &it.ben_project).join("\n").contains("salmon"));
    drop(it.ann.run(["memory", "delete", &id]).success());
    sync(&it.ann);
    assert_eq!(sync(&it.ben)["removed"], 1);
    assert!(!texts(&it.ben, &it.ben_project).join("\n").contains("salmon"));
    assert_eq!(sync(&it.ann)["sent"], 0);
}

#[test]
fn a_newcomer_joins_with_the_key_in_the_second_line() {
    let Some(server) = postgres::shared("a_newcomer_joins_with_the_key_in_the_second_line") else { return };
    let it = pair(server);
    let key = seal(&it.ann);
    save(&it.ann, &it.ann_project, "Otters are counted at dawn");
    sync(&it.ann);
    let cat = Home::new();
    let project = clone_of(&cat, &it.ann_project);
    save(&cat, &project, "Cat was here before");
    let lines = format!("{}\n{key}\n", it.team.invite("cat", "contributor"));
    drop(process::run(cat.command(["team", "join"]), lines.into_bytes(), WATCHDOG).success());
    assert_eq!(sync(&cat)["received"], 1);
    assert_eq!(cat.json(["team", "status", "--json"])["sealed"], true);
    // Leaving keeps the key, so that nothing is lost by it.
    drop(cat.run(["team", "leave"]).success());
    assert_eq!(cat.run(["team", "key", "show"]).success().stdout.trim(), key);
}

#[test]
fn a_team_is_sealed_as_a_whole_or_not_at_all() {
    let Some(server) = postgres::shared("a_team_is_sealed_as_a_whole_or_not_at_all") else { return };
    let it = pair(server);
    let count = || server.sql(&it.team.name, "SELECT count(*) FROM throughline.records");
    // A contributor cannot seal a team, and sends nothing in the clear once there is a key.
    save(&it.ben, &it.ben_project, "Ben numbers his otters from seven");
    drop(it.ben.run(["team", "key", "create"]).success());
    drop(it.ben.run(["team", "key", "create"]).failure_with_hint());
    let run = it.ben.run(["team", "sync"]).failure_with_hint();
    assert!(run.stderr.contains("only a curator or an admin"), "{run:#?}");
    assert_eq!(count(), "0");
    drop(it.ben.run(["team", "key", "delete", "--yes"]).success());
    // Nor does one whose configuration asks for a sealed team.
    let settings = "share = [{ projects = [\"*\"], said_by = [\"human\", \"agent\"] }]";
    share(&it.ben, &format!("sealed = true\n{settings}"));
    let run = it.ben.run(["team", "sync"]).failure_with_hint();
    assert!(run.stderr.contains("for a sealed team only"), "{run:#?}");
    assert_eq!(count(), "0");
    share(&it.ben, settings);
    assert_eq!(sync(&it.ben)["sent"], 1);
    // A team that has texts in the clear is not sealed any more, and whoever has a key sends nothing to it.
    save(&it.ann, &it.ann_project, "Otters are counted at dawn");
    drop(it.ann.run(["team", "key", "create"]).success());
    let run = it.ann.run(["team", "sync"]).failure_with_hint();
    assert!(run.stderr.contains("has texts that are not sealed"), "{run:#?}");
    assert_eq!(count(), "1");

    // Whoever speaks SQL does not mix them either.
    let device = server.sql(&it.team.name, "SELECT device FROM throughline.devices WHERE member = 'ben'");
    let insert = |device: &str, place: u32, body: &Value| {
        format!(
            "INSERT INTO throughline.records (tenant, device, kind, sequence, hash, item, body) VALUES (throughline.my_tenant(), '{device}',
             'memory', {place}, encode(sha256(convert_to($t${body}$t$, 'UTF8')), 'hex'), '{}', $t${body}$t$)",
            body["item"].as_str().expect("an item")
        )
    };
    let fingerprint = "a".repeat(64);
    let sealed = json!({"v": 2, "item": "1".repeat(32), "key": fingerprint, "sealed": "YWdlLWVuY3J5cHRpb24ub3JnL3YxAAAA"});
    let run = it.team.as_member(&it.invitations[1], &insert(&device, 500, &sealed));
    assert!(run.stderr.contains("this team is not sealed, and the record is"), "{run:#?}");
    // Another team on the same server is sealed, by its curator.
    let other = format!("{}x", it.team.name);
    let invite = |role: &str, member: &str| {
        it.team.admin(&["invite", "--team", &other, "--role", role, member]).success().stdout.trim().to_owned()
    };
    let (boss, dan) = (invite("admin", "boss"), invite("contributor", "dan"));
    let run = it.team.as_member(&dan, &format!("SELECT throughline.seal('{fingerprint}')"));
    assert!(run.stderr.contains("only a curator or an admin"), "{run:#?}");
    let run = it.team.as_member(&boss, "SELECT throughline.seal('not a fingerprint')");
    assert!(run.code != Some(0), "{run:#?}");
    let sealed_by = it.team.as_member(&boss, &format!("SELECT throughline.seal('{fingerprint}')")).success().stdout;
    assert_eq!(sealed_by.trim(), fingerprint);
    let again = it.team.as_member(&boss, &format!("SELECT throughline.seal('{}')", "b".repeat(64))).success().stdout;
    assert_eq!(again.trim(), fingerprint, "a team keeps its key");
    let dans = "d".repeat(32);
    let register =
        format!("INSERT INTO throughline.devices (tenant, device, member, name) VALUES ('{other}', '{dans}', 'dan', 'm')");
    drop(it.team.as_member(&dan, &register).success());
    let item = "2".repeat(32);
    for (body, why) in [
        (json!({"v": 1, "item": item, "memory": {"content": "in the clear"}}), "this team is sealed, and the record is not"),
        (json!({"v": 2, "item": item, "key": fingerprint, "sealed": "in the clear"}), "not sealed with the key"),
        (
            json!({"v": 2, "item": item, "key": "b".repeat(64), "sealed": "YWdlLWVuY3J5cHRpb24ub3JnL3YxAAAA"}),
            "not sealed with the key",
        ),
        (
            json!({"v": 2, "item": item, "key": fingerprint, "sealed": "YWdlLWVuY3J5cHRpb24ub3JnL3YxAAAA", "memory": "in the clear"}),
            "not sealed with the key",
        ),
    ] {
        let run = it.team.as_member(&dan, &insert(&dans, 1, &body));
        assert!(run.code != Some(0) && run.stderr.contains(why), "{body}: {run:#?}");
    }
    drop(it.team.as_member(&dan, &insert(&dans, 1, &sealed)).success());
    assert_eq!(
        server.sql(
            &it.team.name,
            &format!("SELECT count(*) FROM throughline.audit WHERE tenant = '{other}' AND action = 'seal'")
        ),
        "1"
    );
}

#[test]
fn attack_a_server_that_plants_texts_in_a_sealed_team_or_calls_it_open() {
    let Some(server) = postgres::shared("attack_a_server_that_plants_texts_in_a_sealed_team") else { return };
    let it = pair(server);
    let key = seal(&it.ann);
    drop(import(&it.ben, &key).success());
    save(&it.ann, &it.ann_project, "Otters are counted at dawn");
    save(&it.ben, &it.ben_project, "Ben numbers his otters from seven");
    sync(&it.ann);
    sync(&it.ben);
    let before = texts(&it.ben, &it.ben_project);
    // Whoever runs the server writes records of Ann's: in the clear, damaged, and an old ciphertext under another item.
    let (device, sealed) = {
        let row = server.sql(&it.team.name, "SELECT device || ' ' || body FROM throughline.records WHERE member = 'ann'");
        let (device, body) = row.split_once(' ').expect("two words");
        (device.to_owned(), body.to_owned())
    };
    let item = "3".repeat(32);
    let mut damaged: Value = serde_json::from_str(&sealed).expect("JSON");
    damaged["sealed"] = damaged["sealed"].as_str().expect("text").replacen('A', "B", 3).into();
    let mut moved: Value = serde_json::from_str(&sealed).expect("JSON");
    moved["item"] = item.clone().into();
    let own = |body: &Value| body["item"].as_str().expect("an item").to_owned();
    let clear = json!({"v": 1, "item": item, "project": "name:otters", "memory": {"type": "decision", "content": "a planted okapi"}});
    for (at, body) in [clear, damaged, moved].iter().enumerate() {
        let sql = format!(
            "ALTER TABLE throughline.records DISABLE TRIGGER ALL;
             INSERT INTO throughline.records (tenant, device, kind, sequence, hash, item, member, decides, body) VALUES ('{0}', '{device}',
             'memory', {1}, encode(sha256(convert_to($t${body}$t$, 'UTF8')), 'hex'), '{2}', 'ann', true, $t${body}$t$);
             UPDATE throughline.series SET last = {1} WHERE device = '{device}' AND kind = 'memory';
             ALTER TABLE throughline.records ENABLE TRIGGER ALL",
            it.team.name,
            at + 100,
            own(body),
        );
        server.sql(&it.team.name, &sql);
    }
    let report = sync(&it.ben);
    assert_eq!((&report["unopened"], &report["received"]), (&json!(2), &json!(0)), "{report}");
    assert_eq!(report["unreadable"], 1, "its own text says that it belongs to another item: {report}");
    assert_eq!(texts(&it.ben, &it.ben_project), before);
    assert_eq!(sync(&it.ben)["unopened"], 0, "they are asked for once");
    assert_eq!(it.ben.json(["team", "status", "--json"])["unopened"], 2);
    assert!(it.ben.run(["team", "status"]).success().stdout.contains("2 records cannot be opened"));
    let doctor = it.ben.run(["doctor"]).stdout;
    assert!(doctor.contains("2 cannot be opened with this machine's team key"), "{doctor}");
    // A server that calls the team open, or names another key, gets no text.
    save(&it.ann, &it.ann_project, "The key of the otter house is under the third stone");
    for lie in ["", &"0".repeat(64)] {
        server.sql(&it.team.name, &format!("UPDATE throughline.tenants SET seal = '{lie}'"));
        let run = it.ann.run(["team", "sync"]);
        assert!(
            run.code == Some(1) && run.stderr.contains("team key") || run.stderr.contains("another key"),
            "{lie}: {run:#?}"
        );
        assert_eq!(
            server.sql(&it.team.name, "SELECT count(*) FROM throughline.records WHERE body LIKE '%third stone%'"),
            "0"
        );
    }
}

#[test]
fn a_server_of_the_version_before_is_brought_up_to_date() {
    let Some(server) = postgres::shared("a_server_of_the_version_before_is_brought_up_to_date") else { return };
    let it = pair(server);
    save(&it.ann, &it.ann_project, "Otters get salmon in the evening");
    sync(&it.ann);
    server.sql(
        &it.team.name,
        "ALTER TABLE throughline.tenants DROP COLUMN seal; DELETE FROM throughline.schema_version WHERE version = 2; DROP FUNCTION throughline.seal(text)",
    );
    let run = it.ann.run(["team", "sync"]).failure_with_hint();
    assert!(run.stderr.contains("has version 1") && run.stderr.contains("admin init"), "{run:#?}");
    drop(it.team.admin(&["init"]).success());
    drop(it.team.admin(&["init"]).success());
    save(&it.ben, &it.ben_project, "Ben numbers his otters from seven");
    assert_eq!(sync(&it.ben)["received"], 1);
    let found = it.ben.json(["team", "search", "--json", "salmon"]);
    assert!(found.to_string().contains("in the evening"), "the words are there again: {found}");
}
