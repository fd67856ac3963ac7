//! The matrix of secrets: every form of `fixtures/attacks/matrix.toml` in every place that a session has, through the real hooks and
//! commands. Afterwards every byte of the home is searched. What is missed must be what `docs/privacy.md` says is missed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;
use serde_json::{Value, json};
use tests::home::{Home, run_in};
use tests::matrix::Matrix;
use tests::mcp::Client;
use tests::session::Session;
use tests::transcript::session_id;
use tests::{component, database};

use crate::canary::forms;

/// The least that the matrix must have.
const MIN_FORMS: usize = 79;
const MIN_PLACES: usize = 23;
const MIN_LOOK_ALIKES: usize = 102;

/// The form that nothing gives away. It shows which places are stored at all, and that the search finds what is stored.
const CONTROL: &str = "a password that nothing announces";

/// The page that documents missed secrets, relative to the workspace, and its section about them.
const PAGE: &str = "docs/privacy.md";
const BEGIN: &str = "<!-- missed: checked by tests/tests/it/matrix.rs -->\n";
const END: &str = "<!-- /missed -->";

/// How many forms one session has. Of a longer one, not everything would be remembered.
const FORMS_IN_A_SESSION: usize = 10;

/// A place in which a secret can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Prompt,
    PastedText,
    Answer,
    Thinking,
    Command,
    Stdout,
    Stderr,
    Error,
    ReadResult,
    WriteContent,
    EditOld,
    EditNew,
    FilePath,
    CommitMessage,
    TaskSubject,
    Question,
    QuestionAnswer,
    Plan,
    AgentPrompt,
    AgentResult,
    McpInput,
    McpResult,
    CompactSummary,
    Branch,
    Folder,
    MemorySave,
    NoteFile,
    ImportLine,
}

/// Every place, and whether anything of it is stored.
const PLACES: [(Place, bool); 28] = [
    (Place::Prompt, true),
    (Place::PastedText, true),
    (Place::Answer, true),
    (Place::Thinking, true),
    (Place::Command, true),
    (Place::Stdout, true),
    (Place::Stderr, true),
    (Place::Error, true),
    (Place::ReadResult, true),
    (Place::WriteContent, true),
    (Place::EditOld, true),
    (Place::EditNew, true),
    (Place::FilePath, true),
    (Place::CommitMessage, true),
    (Place::TaskSubject, true),
    (Place::Question, true),
    (Place::QuestionAnswer, true),
    (Place::Plan, true),
    (Place::AgentPrompt, true),
    (Place::AgentResult, true),
    (Place::McpInput, true),
    (Place::McpResult, true),
    (Place::CompactSummary, true),
    (Place::Branch, false),
    (Place::Folder, false),
    (Place::MemorySave, true),
    (Place::NoteFile, true),
    (Place::ImportLine, true),
];

/// Plants forms, one after another.
struct Planter {
    matrix: Matrix,
    form: usize,
}

impl Planter {
    /// The current form in this place, with lines if it has any.
    fn lines(&mut self, place: Place) -> String {
        self.matrix.plant(self.form, place as usize)
    }

    /// The current form in a place that has one line.
    fn line(&mut self, place: Place) -> String {
        self.lines(place).replace('\n', "\\n")
    }

    /// The current form as a command. What is not a command is written to a file by one.
    fn command(&mut self) -> String {
        let text = self.lines(Place::Command);
        if self.matrix.is_command(self.form) { text } else { format!("cat >> notes.txt <<'EOF'\n{text}\nEOF") }
    }
}

/// What one form leaves in a session: in its transcript, and with the hooks while it happens.
fn say(session: &mut Session<'_>, project: &Path, planter: &mut Planter) {
    let id = |name: &str| format!("{name}-{}", planter.form);
    let ids = ["ran", "failed", "edit", "write", "read", "mcp", "agent", "folder"].map(id);
    let [ran, failed, edit, write, read, mcp, agent, folder] = ids;

    let prompt = format!("Please fix the deployment.\n{}", planter.lines(Place::Prompt));
    let pasted = format!("What does this mean?\n```\n{}\n```", planter.lines(Place::PastedText));
    drop(session.prompt(&prompt));
    drop(session.prompt(&pasted));
    session.transcript.user(&prompt);
    let thinking = planter.lines(Place::Thinking);
    session.transcript.metadata(&json!({"type": "assistant", "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "claude-opus-5-5", "content": [{"type": "thinking", "thinking": thinking, "signature": "x"}]}}));

    let (command, stdout, stderr) = (planter.command(), planter.lines(Place::Stdout), planter.lines(Place::Stderr));
    let input = json!({"command": command, "description": "Deploy"});
    let output = json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false});
    session.transcript.tool("Bash", &input, &format!("{stdout}\n{stderr}"), &output);
    session.used(&ran, "Bash", &input, &output);
    let error = format!("Exit code 1\n{}", planter.lines(Place::Error));
    session.transcript.tool_fails("Bash", &input, &error);
    drop(session.failed(&failed, &command, &error));

    // No path has several lines.
    let path = if planter.matrix.has_lines(planter.form) { "app.toml".to_owned() } else { planter.lines(Place::FilePath) };
    let path = format!("conf/{path}");
    let (old, new) = (planter.lines(Place::EditOld), planter.lines(Place::EditNew));
    session.transcript.edits(&path, &old, &new);
    session.edited(&edit, &project.join(&path), &old, &new);
    let content = planter.lines(Place::WriteContent);
    session.transcript.writes("conf/new.toml", &content);
    let input = json!({"file_path": project.join("conf/new.toml"), "content": content});
    session.used(
        &write,
        "Write",
        &input,
        &json!({"type": "create", "filePath": project.join("conf/new.toml"), "content": content}),
    );
    let content = planter.lines(Place::ReadResult);
    let input = json!({"file_path": project.join("conf/app.toml")});
    let output =
        json!({"type": "text", "file": {"filePath": project.join("conf/app.toml"), "content": content, "numLines": 3}});
    session.transcript.tool("Read", &input, &content, &output);
    session.used(&read, "Read", &input, &output);

    let message = planter.lines(Place::CommitMessage);
    let commit = format!("git commit -m \"$(cat <<'EOF'\nFix the deployment\n\n{message}\nEOF\n)\"");
    session.transcript.bash(&commit, "[main 4f2c1aa] Fix the deployment\n 1 file changed, 3 insertions(+)");

    let subject = planter.line(Place::TaskSubject);
    session
        .transcript
        .tool(
            "TaskCreate",
            &json!({"subject": subject, "description": "Later", "activeForm": subject}),
            "Task #1 created successfully",
            &json!({"task": {"id": "1", "subject": subject}}),
        )
        .todo(&[(&subject, "pending")]);
    let (question, answer) = (planter.line(Place::Question), planter.line(Place::QuestionAnswer));
    session.transcript.asks(&format!("{question}\nWhich one?"), &[&answer, "none"], &answer);
    let plan = planter.lines(Place::Plan);
    session.transcript.tool(
        "ExitPlanMode",
        &json!({"plan": format!("## Plan\n\n1. Deploy.\n\n{plan}")}),
        "User has approved your plan. You can now start coding.",
        &json!({"plan": plan, "isAgent": false}),
    );

    let (task, result) = (planter.lines(Place::AgentPrompt), planter.lines(Place::AgentResult));
    let input = json!({"description": task, "prompt": task, "subagent_type": "Explore"});
    let output = json!({"status": "completed", "content": [{"type": "text", "text": result}]});
    session.transcript.tool("Agent", &input, &result, &output);
    session.used(&agent, "Agent", &input, &output);
    session.silent(
        "SubagentStop",
        &json!({"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": result,
        "agent_transcript_path": "/nowhere.jsonl"}),
    );

    let (input, output) = (planter.lines(Place::McpInput), planter.lines(Place::McpResult));
    let (input, output) = (json!({"query": input}), json!({"content": [{"type": "text", "text": output}]}));
    session.transcript.tool("mcp__vault__read", &input, output["content"][0]["text"].as_str().unwrap_or_default(), &output);
    session.used(&mcp, "mcp__vault__read", &input, &output);

    let branch = planter.line(Place::Branch);
    std::fs::write(project.join(".git/HEAD"), format!("ref: refs/heads/{branch}\n")).expect("write");
    let mut line: Value =
        session.transcript.text().lines().last().map(|line| serde_json::from_str(line).expect("JSON")).expect("a line");
    line["gitBranch"] = json!(branch);
    line["uuid"] = json!(folder);
    session.transcript.raw(&line.to_string());
    let cwd = project.join(planter.line(Place::Folder));
    session.silent(
        "PostToolUse",
        &json!({"cwd": cwd, "tool_name": "Bash", "tool_use_id": folder,
        "tool_input": {"command": "make"}, "tool_response": {"stdout": "done", "stderr": ""}}),
    );

    session.transcript.user(&pasted);
    let answer = format!("The deployment is fixed.\n\n{}", planter.lines(Place::Answer));
    session.transcript.answer(&answer);
    session.stop(&answer);
}

/// All content of the home, and everything that the commands and hooks print.
fn everything(home: &Home, project: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = home.files();
    let next = Session::new(home, project, &session_id(9_000));
    let told = [next.start("startup").context, next.prompt("How is the deployment fixed?").context];
    files.extend(told.into_iter().flatten().map(|told| ("what a session is told".into(), told.into_bytes())));
    for arguments in [
        &["observations", "search", "--all-projects", "--limit", "100000", "--json"][..],
        &["memory", "list", "--all-projects", "--limit", "100000", "--json"],
        &["export", "--all-projects"],
    ] {
        let printed = run_in(home, project, arguments).success().stdout;
        files.push((arguments.join(" ").into(), printed.into_bytes()));
    }
    files
}

/// Returns the forms that stand in a file, each with its places, and for the reader of a failure one example of each.
fn found(matrix: &Matrix, files: &[(PathBuf, Vec<u8>)]) -> (BTreeMap<usize, BTreeSet<Place>>, Vec<String>) {
    let mut needles: Vec<(usize, String)> = Vec::new();
    for (number, planted) in matrix.planted.iter().enumerate() {
        for part in planted.parts() {
            needles.extend(forms(&part).into_iter().map(|form| (number, form)));
        }
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(needles.iter().map(|(_, needle)| needle))
        .expect("an automaton");
    let mut found: BTreeMap<usize, BTreeSet<Place>> = BTreeMap::new();
    let mut examples = Vec::new();
    for (path, bytes) in files {
        for hit in automaton.find_overlapping_iter(bytes) {
            let (number, needle) = &needles[hit.pattern().as_usize()];
            // A number can be part of a longer one by chance.
            let around = [hit.start().checked_sub(1), Some(hit.end())];
            let is_longer = around.into_iter().flatten().any(|at| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric));
            if needle.bytes().all(|byte| byte.is_ascii_digit()) && is_longer {
                continue;
            }
            let planted = &matrix.planted[*number];
            let place = PLACES.iter().find(|(place, _)| *place as usize == planted.place).expect("a place").0;
            if found.entry(planted.form).or_default().insert(place) {
                let text =
                    String::from_utf8_lossy(&bytes[hit.start().saturating_sub(80)..(hit.end() + 30).min(bytes.len())]);
                examples.push(format!("{} ({place:?}) in {}: {text:?}", matrix.forms[planted.form].name, path.display()));
            }
        }
    }
    (found, examples)
}

/// Returns the names that the page gives of what is missed.
fn documented() -> BTreeSet<String> {
    let page = std::fs::read_to_string(component::workspace().join(PAGE)).expect("the page");
    let (_, rest) = page.split_once(BEGIN).expect("the part begins");
    let (list, _) = rest.split_once(END).expect("the part ends");
    let names =
        list.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(" (").or(Some((line.strip_prefix("- ")?, ""))));
    names.map(|(name, _)| name.trim_end_matches('.').to_owned()).collect()
}

#[test]
fn attack_every_form_of_secret_in_every_place() {
    let mut planter = Planter { matrix: Matrix::read(), form: 0 };
    let count = planter.matrix.forms.len();
    assert!(count >= MIN_FORMS && PLACES.len() >= MIN_PLACES, "{count} forms in {} places", PLACES.len());
    let home = Home::new();
    let project = home.project("shop");
    let (mut lines, notes) = (String::new(), project.join(".gsd/memories/general"));
    std::fs::create_dir_all(&notes).expect("create");
    let mut client = Client::start(&home, &project);
    for first in (0..count).step_by(FORMS_IN_A_SESSION) {
        let mut session = Session::new(&home, &project, &session_id(1 + first as u64));
        drop(session.start("startup"));
        let mut summary = String::from("The deployment was fixed.");
        for form in first..count.min(first + FORMS_IN_A_SESSION) {
            planter.form = form;
            say(&mut session, &project, &mut planter);
            summary.push_str("\n\n");
            summary.push_str(&planter.lines(Place::CompactSummary));
            drop(client.call("memory_save", json!({"content": planter.lines(Place::MemorySave)})));
            let content = planter.lines(Place::ImportLine);
            lines += &(json!({"content": content, "project": project, "type": "discovery"}).to_string() + "\n");
            let note = format!("---\ntitle: Deployment {form}\n---\n\nRemember:\n\n{}\n", planter.lines(Place::NoteFile));
            std::fs::write(notes.join(format!("deployment-{form}.md")), note).expect("write");
        }
        session.pre_compact();
        session.transcript.compacts(&summary);
        session.post_compact(&summary);
        session.end();
    }
    let file = home.path().join("lines.jsonl");
    std::fs::write(&file, &lines).expect("write");
    drop(home.run(["import".as_ref(), file.as_os_str()]).success());
    drop(run_in(&home, &project, &["note", "sync"]).success());
    drop(home.run(["ingest"]).success());

    let matrix = planter.matrix;
    let (found, examples) = found(&matrix, &everything(&home, &project));
    let control = matrix.forms.iter().position(|form| form.name == CONTROL).expect("the control");
    let stored: Vec<Place> = found[&control].iter().copied().collect();
    let expected: Vec<Place> = PLACES.iter().filter(|(_, is_stored)| *is_stored).map(|(place, _)| *place).collect();
    let missed: BTreeSet<String> = found.keys().map(|form| matrix.forms[*form].name.clone()).collect();
    eprintln!("{count} forms in {} places; found: {found:?}", PLACES.len());
    assert!(missed == documented(), "found {missed:?}\n{}\nbut {PAGE} names {:?}", examples.join("\n"), documented());
    assert_eq!(stored, expected, "places of which something is stored");
}

/// Every string in a JSON value.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Tells a new home the texts in one way, and returns every text that it stores.
fn stored_after(tell: impl Fn(&mut Session<'_>, &mut Client, usize, &str), texts: &[String]) -> Vec<String> {
    let home = Home::new();
    let project = home.project("shop");
    let mut client = Client::start(&home, &project);
    let mut stored = Vec::new();
    for (number, texts) in texts.chunks(FORMS_IN_A_SESSION).enumerate() {
        let mut session = Session::new(&home, &project, &session_id(1 + number as u64));
        drop(session.start("startup"));
        for (at, text) in texts.iter().enumerate() {
            tell(&mut session, &mut client, at, text);
        }
        session.end();
        stored.extend(database::events(&home.database(), session.id()).iter().flat_map(strings));
    }
    stored.extend(home.memories().into_iter().map(|memory| memory.text));
    stored
}

#[test]
fn look_alikes_stay_readable_wherever_they_are_stored() {
    let Matrix { look_alikes, .. } = Matrix::read();
    assert!(look_alikes.len() >= MIN_LOOK_ALIKES, "{}", look_alikes.len());
    let saved = stored_after(|_, client, _, text| drop(client.call("memory_save", json!({"content": text}))), &look_alikes);
    let prompted = stored_after(
        |session, _, _, text| {
            let prompt = format!("Please look at this.\n{text}");
            drop(session.prompt(&prompt));
            session.transcript.user(&prompt).answer("It is as it should be.");
            session.stop("It is as it should be.");
        },
        &look_alikes,
    );
    let resulted = stored_after(
        |session, _, at, text| {
            let output = json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false});
            session.used(&format!("ran-{at}"), "Bash", &json!({"command": "make check"}), &output);
        },
        &look_alikes,
    );
    for (place, stored) in [("memory_save", saved), ("a prompt", prompted), ("the result of a tool", resulted)] {
        let lost: Vec<&String> =
            look_alikes.iter().filter(|text| !stored.iter().any(|stored| stored.contains(text.as_str()))).collect();
        let (few, all) = (lost.len(), look_alikes.len());
        assert!(lost.is_empty(), "{few} of {all} look-alikes were not kept as they are in {place}: {lost:#?}");
    }
}
