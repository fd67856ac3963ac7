//! Faults that team memory had, each with the input that showed it, on a real `PostgreSQL` server.

use std::time::Duration;

use serde_json::{Value, json};
use tests::database;
use tests::home::Home;
use tests::postgres::{self, join, share};
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

use crate::team::{Pair, clone_of, pair, save, sync, texts};

/// Appends a record with SQL, as a client that is not ours would.
fn insert(it: &Pair<'_>, device: &str, kind: &str, sequence: u32, body: &Value) -> String {
    let item = body["item"].as_str().expect("an item");
    let project = body["project"].as_str().unwrap_or_default();
    format!(
        "INSERT INTO throughline.records (tenant, device, kind, sequence, hash, item, project, body) VALUES ('{}', '{device}', '{kind}',
         {sequence}, encode(sha256(convert_to($t${body}$t$, 'UTF8')), 'hex'), '{item}', '{project}', $t${body}$t$)",
        it.team.name
    )
}

/// The only device of a member.
fn device_of(it: &Pair<'_>, member: &str) -> String {
    it.team.server.sql(&it.team.name, &format!("SELECT device FROM throughline.devices WHERE member = '{member}'"))
}

#[test]
fn attack_a_contributor_who_replaces_what_is_not_theirs() {
    let Some(server) = postgres::shared("attack_a_contributor_who_replaces") else { return };
    let it = pair(server, "contributor");
    save(&it.ann, &it.ann_project, "Otters are counted at dawn near the wombat gate");
    sync(&it.ann);
    sync(&it.ben);
    let of_anns = |what: &str| {
        server.sql(&it.team.name, &format!("SELECT {what} FROM throughline.records WHERE body LIKE '%wombat%'"))
    };
    let (hash, key) = (of_anns("hash"), of_anns("project"));
    // A new item of Ben's own, about which he may decide, says that it replaces Ann's memory.
    let body = json!({"v": 1, "item": "7".repeat(32), "project": key, "replaces": [hash],
        "memory": {"type": "decision", "content": "Nothing is counted at all"}});
    let run = it.team.as_member(&it.invitations[1], &insert(&it, &device_of(&it, "ben"), "memory", 500, &body));
    drop(run.success());
    let newcomer = Home::new();
    let newcomers_project = clone_of(&newcomer, &it.ann_project);
    join(&newcomer, &it.team.invite("cat", "reader"));
    save(&newcomer, &newcomers_project, "Cat only reads");
    for (home, project) in [(&it.ann, &it.ann_project), (&newcomer, &newcomers_project)] {
        sync(home);
        let texts = texts(home, project).join("\n");
        assert!(texts.contains("wombat") && texts.contains("Nothing is counted"), "{texts}");
    }
    let links = database::number(&it.ann.database(), "SELECT count(*) FROM supersessions WHERE similarity IS NULL");
    assert_eq!(links, 0, "Ann's own memory is not superseded");
    let told = Session::new(&it.ann, &it.ann_project, &session_id(1)).start("startup").context.unwrap_or_default();
    assert!(told.contains("wombat"), "{told}");
}

#[test]
fn a_text_that_a_person_wrote_is_forgotten_and_redacted_like_any_other() {
    let Some(server) = postgres::shared("a_text_that_a_person_wrote_is_forgotten") else { return };
    let it = pair(server, "contributor");
    share(&it.ann, "review = true\nshare = [{ projects = [\"*\"], said_by = [\"human\", \"agent\"] }]");
    let id = save(&it.ann, &it.ann_project, "Otters swim on their backs");
    drop(it.ann.run(["team", "review"]).success());
    let edit = it.ann.command(["team", "review", "edit", &id]);
    drop(process::run(edit, b"Otters swim beside the capybara".to_vec(), WATCHDOG).success());
    let forget = ["memory", "forget", "--match", "capybara", "--all-projects", "--yes", "--now"];
    drop(it.ann.run(forget).success());
    assert!(it.ann.holding("capybara").is_empty());
    // The memory is still there, and is offered with its own text.
    let report = sync(&it.ann);
    assert_eq!((&report["sent"], &report["review"]), (&json!(0), &json!(1)), "{report}");
    let outbox = it.ann.json(["team", "outbox", "--json"]).to_string();
    assert!(outbox.contains("on their backs") && !outbox.contains("capybara"), "{outbox}");
    // What was staged before the redactor knew a secret does not leave with it.
    let edit = it.ann.command(["team", "review", "edit", &id]);
    drop(process::run(edit, b"The gate opens with quokka-4711-quokka".to_vec(), WATCHDOG).success());
    let config = it.ann.throughline().join("config/config.toml");
    let former = std::fs::read_to_string(&config).expect("read");
    let rule = "\n[privacy]\nexclude_patterns = ['quokka-[0-9]+-quokka']\n";
    std::fs::write(&config, former + rule).expect("write");
    let report = sync(&it.ann);
    assert_eq!((&report["sent"], &report["review"]), (&json!(0), &json!(1)), "{report}");
    assert_eq!(server.sql(&it.team.name, "SELECT count(*) FROM throughline.records WHERE body LIKE '%4711%'"), "0");
}

#[test]
fn attack_a_record_with_a_nul_holds_nothing_up() {
    let Some(server) = postgres::shared("attack_a_record_with_a_nul") else { return };
    let it = pair(server, "contributor");
    let line = json!({"type": "decision", "said_by": "human", "content": "Otters have a\u{0}b numbat"}).to_string();
    let file = it.ann.work().join("lines.jsonl");
    std::fs::write(&file, line + "\n").expect("write");
    let project = it.ann_project.to_str().expect("UTF-8");
    drop(it.ann.run(["import", "--project", project, file.to_str().expect("UTF-8")]).success());
    save(&it.ann, &it.ann_project, "Otters eat at noon");
    let report = sync(&it.ann);
    assert_eq!((&report["sent"], &report["refused"]), (&json!(2), &json!(0)), "{report}");
    assert_eq!(sync(&it.ben)["received"], 2);
    // A client that sends one is refused, and no more than that.
    let body = json!({"v": 1, "item": "8".repeat(32), "memory": {"content": "a\u{0}b"}});
    let run = it.team.as_member(&it.invitations[0], &insert(&it, &device_of(&it, "ann"), "memory", 500, &body));
    assert!(run.code != Some(0) && run.stderr.contains("no JSON that the server can read"), "{run:#?}");
}

#[test]
fn attack_a_tombstone_that_races_with_its_memory() {
    let Some(server) = postgres::shared("attack_a_tombstone_that_races") else { return };
    let it = pair(server, "contributor");
    save(&it.ann, &it.ann_project, "Otters race at the first echidna");
    sync(&it.ann);
    let device = device_of(&it, "ann");
    let item = server.sql(&it.team.name, "SELECT item FROM throughline.records WHERE body LIKE '%echidna%'");
    let later = json!({"v": 1, "item": item, "memory": {"type": "decision", "content": "a later echidna"}});
    let tombstone = json!({"v": 1, "item": item});
    // One transaction stores a revision and is slow; the item is deleted meanwhile.
    let slow = format!("BEGIN; {}; SELECT pg_sleep(2); COMMIT", insert(&it, &device, "memory", 500, &later));
    let delete = insert(&it, &device, "tombstone", 500, &tombstone);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| it.team.as_member(&it.invitations[0], &slow));
        std::thread::sleep(Duration::from_millis(700));
        drop(it.team.as_member(&it.invitations[0], &delete).success());
        drop(slow.join().expect("the slow one").success());
    });
    let rows = "SELECT count(*), count(body) FROM throughline.records WHERE item = '";
    let left = server.sql(&it.team.name, &format!("{rows}{item}' AND kind = 'memory'"));
    assert_eq!(left, "2|0", "both revisions are there, without their texts");
}

#[test]
fn attack_a_server_that_deletes_in_our_own_name() {
    let Some(server) = postgres::shared("attack_a_server_that_deletes_in_our_own_name") else { return };
    let it = pair(server, "contributor");
    let id = save(&it.ann, &it.ann_project, "Otters belong to the bandicoot society");
    sync(&it.ann);
    let item = server.sql(&it.team.name, "SELECT item FROM throughline.records WHERE body LIKE '%bandicoot%'");
    // Whoever runs the server adds a machine of Ann's, and a deletion to its series.
    let device = "9".repeat(32);
    let tombstone = json!({"v": 1, "item": item}).to_string();
    let lie = |decides: bool| {
        server.sql(
            &it.team.name,
            &format!(
                "ALTER TABLE throughline.records DISABLE TRIGGER ALL;
                 INSERT INTO throughline.devices (tenant, device, member, name) VALUES ('{0}', '{device}', 'ann', 'm') ON CONFLICT DO NOTHING;
                 DELETE FROM throughline.records WHERE device = '{device}';
                 DELETE FROM throughline.series WHERE device = '{device}';
                 INSERT INTO throughline.records (tenant, device, kind, sequence, hash, item, member, decides, body) VALUES ('{0}', '{device}',
                     'tombstone', {1}, encode(sha256($t${tombstone}{2}$t$), 'hex'), '{item}', 'ann', {decides}, $t${tombstone}{2}$t$);
                 INSERT INTO throughline.series VALUES ('{0}', '{device}', 'tombstone', {1}, {1});
                 ALTER TABLE throughline.records ENABLE TRIGGER ALL",
                it.team.name,
                if decides { 2 } else { 1 },
                if decides { " " } else { "" },
            ),
        )
    };
    // It says itself that its author may not decide: that is no deletion.
    lie(false);
    assert_eq!(sync(&it.ann)["removed"], 0);
    assert!(texts(&it.ann, &it.ann_project).join("\n").contains("bandicoot"));
    // It lies altogether: then a person can have the memory back for a day.
    lie(true);
    assert_eq!(sync(&it.ann)["removed"], 1);
    assert!(!texts(&it.ann, &it.ann_project).join("\n").contains("bandicoot"));
    let listed = it.ann.run(["memory", "unforget"]).success();
    assert!(listed.stdout.contains("deleted on another machine"), "{listed:#?}");
    drop(it.ann.run(["memory", "unforget", "--last"]).success());
    assert!(texts(&it.ann, &it.ann_project).join("\n").contains("bandicoot"));
    assert!(it.ann.json(["memory", "show", "--json", &id])["content"].as_str().is_some());
    assert_eq!(sync(&it.ann)["removed"], 0, "it is deleted once");
}

#[test]
fn a_record_of_a_later_version_is_read_after_an_upgrade_and_is_no_project() {
    let Some(server) = postgres::shared("a_record_of_a_later_version") else { return };
    let it = pair(server, "contributor");
    sync(&it.ann);
    let body = json!({"v": 99, "item": "6".repeat(32), "memory": {"content": "from the future"}});
    drop(it.team.as_member(&it.invitations[0], &insert(&it, &device_of(&it, "ann"), "memory", 1, &body)).success());
    assert_eq!(sync(&it.ben)["unreadable"], 1);
    assert_eq!(sync(&it.ben)["unreadable"], 0, "it is not asked for each time");
    assert_eq!(it.ben.json(["team", "status", "--json"])["waiting"], json!([]));
}

#[test]
fn a_search_in_a_project_without_a_key_and_a_login_that_is_taken_are_errors() {
    let Some(server) = postgres::shared("a_search_in_a_project_without_a_key") else { return };
    let it = pair(server, "contributor");
    save(&it.ann, &it.ann_project, "Otters get salmon in the evening");
    sync(&it.ann);
    let plain = it.ben.work().join("notes");
    std::fs::create_dir(&plain).expect("create");
    save(&it.ben, &plain, "A folder without a repository");
    let run = it.ben.run(["team", "search", "--project", plain.to_str().expect("UTF-8"), "salmon"]);
    let run = run.failure_with_hint();
    assert!(run.stderr.contains("cannot be recognized") && !run.stdout.contains("salmon"), "{run:#?}");
    // Two names make one login.
    drop(it.team.admin(&["invite", "--team", "otter", "house_cat"]).success());
    let run = it.team.admin(&["invite", "--team", "otter_house", "cat"]).failure_with_hint();
    assert!(run.stderr.contains("house_cat of team otter has the login tl_otter_house_cat"), "{run:#?}");
    drop(it.team.admin(&["invite", "--team", "otter", "house_cat"]).success());
}
