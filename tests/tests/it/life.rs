//! One decision's life, as `docs/time.md` shows it: what the program prints from its first word to its replacement, and after that
//! was undone.

use std::fmt::Write as _;
use std::path::Path;

use tests::home::{Home, json_of, run_in};
use tests::session::Session;
use tests::transcript::session_id;
use tests::{component, env_flag};

/// The page, relative to the workspace.
const PAGE: &str = "docs/time.md";

/// Between these lines the page has what the walk prints.
const PLACE: (&str, &str) =
    ("<!-- life: written by `UPDATE=1 cargo test -p tests --test it life::` -->\n", "<!-- /life -->\n");

const QUESTION: &str = "after how many days does a parcel go back from the pick-up shelf?";

/// A session in which a person settles how long a parcel waits.
fn settle(home: &Home, project: &Path, number: u64, day: &str, asked: &str, answer: &str) {
    let mut session = Session::new(home, project, &session_id(number));
    session.transcript.at(&format!("{day}T09:00:00Z")).user(asked).answer(answer);
    session.stop(answer);
    session.end();
}

/// The context of a prompt in a session that got nothing at its start, because memories from the start are not repeated.
fn told(home: &Home, project: &Path, number: u64) -> String {
    let mut session = Session::new(home, project, &session_id(number));
    let told = session.prompt(QUESTION).context.unwrap_or_default();
    // Its end stores what was told.
    session.end();
    told
}

/// The last results of one kind: the identifiers of the memory that says 14 and of the one that says 10.
fn identifiers(home: &Home, project: &Path) -> (String, Option<String>) {
    let found = json_of(home, project, &["search", "--json", "--type", "result", "SHELF_DAYS parcel pick-up shelf"]);
    let of = |value: &str| {
        let all = found.as_array().expect("a list");
        let one = all.iter().find(|it| it["content"].as_str().is_some_and(|text| text.contains(value)));
        one.map(|it| it["id"].as_str().expect("an identifier").to_owned())
    };
    (of("SHELF_DAYS = 14").expect("the first decision"), of("SHELF_DAYS = 10"))
}

/// A page that is being written.
struct Walk<'home> {
    home: &'home Home,
    project: &'home Path,
    text: String,
}

impl Walk<'_> {
    fn say(&mut self, words: &str) {
        writeln!(self.text, "{words}\n").expect("a string takes everything");
    }

    fn show(&mut self, text: &str) {
        writeln!(self.text, "```text\n{}\n```\n", text.trim_end()).expect("a string takes everything");
    }

    /// Runs the program and shows the command with what it prints.
    fn run(&mut self, arguments: &[&str]) -> String {
        let printed = run_in(self.home, self.project, arguments).success().stdout;
        let quoted: Vec<String> =
            arguments.iter().map(|it| if it.contains(' ') { format!("\"{it}\"") } else { (*it).to_owned() }).collect();
        self.show(&format!("$ throughline {}\n{printed}", quoted.join(" ")));
        printed
    }
}

/// Replaces what differs from run to run: identifiers get one after the other of [`NAMES`], and ages, counts of uses and the
/// policy's digest become `…`.
fn steady(text: &str, home: &Home) -> String {
    let mut known: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for line in in_order(text) {
        let mut line = line.to_owned();
        if let Some(at) = line.starts_with("told  ").then(|| line.find(" at ")).flatten() {
            let value = line.find("  ").map_or(0, |gap| gap + line[gap..].len() - line[gap..].trim_start().len());
            line.replace_range(value..at, "…");
        }
        for label in ["used  ", "policy  "] {
            if line.starts_with(label) {
                let value = line.rfind(' ').expect("a value") + 1;
                line.truncate(value);
                line.push('…');
            }
        }
        if let Some((head, rest)) = line.split_once("  result  ")
            && let Some((_, title)) = rest.split_once(" ago  ")
        {
            line = format!("{head}  result  … ago  {title}");
        }
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let is_identifier =
            |word: &&str| word.len() == 12 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        for word in words.filter(is_identifier).map(str::to_owned).collect::<Vec<_>>() {
            let at = known.iter().position(|it| *it == word).unwrap_or_else(|| {
                known.push(word.clone());
                known.len() - 1
            });
            line = line.replace(&word, NAMES[at]);
        }
        lines.push(line);
    }
    let canonical = home.path().canonicalize().unwrap_or_else(|_| home.path().to_owned());
    let slug = |path: &Path| path.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let text = lines.join("\n") + "\n\n";
    let text = text.replace(&slug(&canonical), "-home-you").replace(&slug(home.path()), "-home-you");
    text.replace(&*canonical.to_string_lossy(), "/home/you").replace(&*home.path().to_string_lossy(), "/home/you")
}

/// The lines of the text. Neighbouring lines about links are sorted by the memory that was shown before, and then by their
/// words: the program orders equals by their identifiers, which are random.
fn in_order(text: &str) -> Vec<&str> {
    let is_link = |line: &str| line.starts_with("link  ") || line.starts_with("no longer: ");
    let mut lines: Vec<&str> = text.lines().collect();
    for links in lines.chunk_by_mut(|one, other| is_link(one) && is_link(other)) {
        let parts = |line: &str| {
            let (head, title) = line.split_once(" of ").unwrap_or(("", line));
            let identifier = head.rsplit(' ').next().unwrap_or_default().to_owned();
            let is_new = !text.contains(&format!("$ throughline memory show {identifier}"));
            (is_new, title.to_owned())
        };
        links.sort_by_key(|line| parts(line));
    }
    lines
}

/// Identifiers as the program makes them.
const NAMES: [&str; 6] = ["1b0c5e7d9a2f", "3f9c1a08d4b6", "7d24e9b05c31", "a5e8037fc9d2", "c06b81f4e72a", "e93d5a1c48b7"];

fn walk() -> String {
    let home = Home::new();
    let project = home.project("depot");
    let mut walk = Walk { home: &home, project: &project, text: String::new() };

    walk.say("On 2 June somebody asks for a rule, and the agent says what it made of it:");
    let (asked, answer) = (
        "a parcel that nobody fetches blocks the pick-up shelf, send it back after 14 days",
        "`SHELF_DAYS = 14` in `depot/shelf.rs`, so a parcel goes back from the pick-up shelf after 14 days. The customer gets a mail.",
    );
    walk.show(&format!("> {asked}\n\n{answer}"));
    settle(&home, &project, 1, "2025-06-02", asked, answer);
    walk.say(&format!("A later session asks \"{QUESTION}\" and is told beside its prompt:"));
    let first = told(&home, &project, 2);
    assert!(first.contains("14 days"), "{first}");
    walk.show(&first);

    walk.say("On 20 June the rule is amended:");
    let (asked, answer) = (
        "the shelf is still full, make it 10 days",
        "`SHELF_DAYS = 10` in `depot/shelf.rs`, so a parcel goes back from the pick-up shelf after 10 days. The customer gets a mail as before.",
    );
    walk.show(&format!("> {asked}\n\n{answer}"));
    settle(&home, &project, 3, "2025-06-20", asked, answer);
    home.eventually("the sessions are compared", |home| {
        let found = json_of(home, &project, &["search", "--json", "--type", "result", "SHELF_DAYS parcel pick-up shelf"]);
        found.as_array().is_some_and(|all| all.iter().any(|it| it.get("superseded_by").is_some()))
    });
    walk.say("From then on the same question is answered with what holds, and no longer with what was amended:");
    let second = told(&home, &project, 4);
    assert!(second.contains("10 days") && !second.contains("14 days"), "{second}");
    walk.show(&second);

    let (older, newer) = identifiers(&home, &project);
    let newer = newer.expect("the second decision");
    walk.say("Whoever searches sees both, the one that holds first:");
    let found = walk.run(&["search", "--type", "result", "parcel goes back after 14 days"]);
    assert!(found.contains("amended 2025-06-20"), "{found}");
    walk.say("Each of them says what it is linked with, and why:");
    let shown = walk.run(&["memory", "show", &older]);
    assert!(shown.contains("amended by"), "{shown}");
    walk.run(&["memory", "show", &newer]);
    walk.say("A wrong link is undone, and not made again. Both hold then:");
    let undone = walk.run(&["memory", "unlink", &newer]);
    assert!(undone.contains("no longer: amends"), "{undone}");
    let third = told(&home, &project, 5);
    assert!(third.contains("14 days") && third.contains("10 days"), "{third}");
    walk.show(&third);
    steady(&walk.text, &home)
}

#[test]
fn the_page_shows_one_decisions_life_as_it_is() {
    let file = component::workspace().join(PAGE);
    let page = std::fs::read_to_string(&file).expect("the page");
    let (before, rest) = page.split_once(PLACE.0).expect("the page has a place for the walk");
    let (_, after) = rest.split_once(PLACE.1).expect("the place ends");
    let wanted = format!("{before}{}{}{}{after}", PLACE.0, walk(), PLACE.1);
    if env_flag("UPDATE") {
        std::fs::write(&file, wanted).expect("write the page");
        return;
    }
    assert!(
        page == wanted,
        "{PAGE} is stale: run `UPDATE=1 cargo test -p tests --test it life::` and commit what it writes\n{wanted}"
    );
}
