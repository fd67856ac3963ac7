//! `throughline view --write` in a real browser: each change with its preview and its undo.

use serde_json::{Value, json};
use tests::home::Home;
use tests::postgres::{self, Team};
use tests::viewer::{Viewer, browser, drive};

use crate::viewer::import;

/// Saves a memory of a project as a person, and returns its identifier.
fn save(home: &Home, project: &str, text: &str) -> String {
    let saved = home.json(["memory", "save", "--json", "--type", "decision", "--project", project, text]);
    saved["id"].as_str().expect("an id").to_owned()
}

/// Lets a colleague share a memory with this home, where the machine has a server; returns the memory's identifier.
fn shared_by_ann(home: &Home, server: &postgres::Server) -> String {
    let (ann, team) = (Home::new(), Team::new(server));
    let project = ann.project("otters");
    let clone = home.work().join("otters");
    home.git(&home.work(), &["clone", "--quiet", &project.to_string_lossy(), &clone.to_string_lossy()]);
    postgres::join(&ann, &team.invite("ann", "contributor"));
    postgres::join(home, &team.invite("ben", "contributor"));
    save(&ann, &project.to_string_lossy(), "Otters are counted at dawn with a monocular");
    // A project is known as soon as it has a memory.
    save(home, &clone.to_string_lossy(), "Ben numbers his own otters from seven");
    ann.json(["team", "sync", "--json"]);
    home.json(["team", "sync", "--json"]);
    let all = home.memories_of(&clone);
    let found = all.iter().find(|it| it["content"].as_str().is_some_and(|text| text.contains("monocular")));
    found.expect("the shared memory")["id"].as_str().expect("an id").to_owned()
}

#[test]
fn changes_in_a_browser() {
    let Some((chromium, modules)) = browser("changes_in_a_browser") else { return };
    let home = Home::new();
    let project = home.project("shop").to_string_lossy().into_owned();
    import(
        &home,
        &[json!({"project": project, "type": "learning", "content": "The quokka queue was drained by hand in March"})],
    );
    let forgettable = home.memories_of(project.as_ref())[0].clone();
    // Texts that are so different that no link is found between them.
    let marked = [
        "The wombat depot opens at seven, first thing in the morning",
        "Invoices are paid on the second Monday of the month by bank transfer",
        "A third party cleans all windows facing the river",
    ]
    .map(|text| save(&home, &project, text));
    let correctable = save(&home, &project, "The narwhal gate closes at noon");
    let hostile = ["<script>__ran=1</script>", "\"><img src=x onerror=__ran=1>"]
        .map(|text| save(&home, &project, &format!("payload {text}\n\n{text}")));
    let corrected = save(&home, &project, "Always use tabs in the otter exporter");
    let colleague = match postgres::shared("changes_in_a_browser") {
        Some(server) => json!(shared_by_ann(&home, server)),
        None => Value::Null,
    };
    let writable = Viewer::start(&home, &["--write"]);
    let setup = json!({
        "writable": writable.address, "chromium": chromium, "modules": modules, "memory": corrected, "marked": marked,
        "correctable": correctable, "hostile": hostile,
        "forgettable": forgettable["id"], "forgettableTitle": forgettable["title"], "colleague": colleague,
    });
    drive(&home, "changes.mjs", &setup);
}
