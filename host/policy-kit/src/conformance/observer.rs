//! Checks of stage `observer`: every tool call is answered, and observations are small and well-formed.

use anyhow::Context;
use serde_json::json;

use super::fixtures;
use super::suite::Suite;
use super::verdict::{
    CheckRecorder, Faults, PLACE_INSTANCES, PLACE_OPEN, PLACE_UNICODE, Verdict, WHY_DETERMINISTIC, check_file,
    deterministic, is_one_line, quoted,
};
use throughline_sandbox::instance::{Observation, ToolEvent};

const MAX_DETAIL_BYTES: usize = 10 << 10;

fn event(tool: &str, input: &str, output: &str) -> ToolEvent {
    ToolEvent {
        tool: tool.into(),
        use_id: "toolu_conformance".into(),
        at: fixtures::STARTED_AT,
        input: input.into(),
        output: output.into(),
        succeeded: true,
        error: None,
        duration_ms: Some(17),
    }
}

fn failed(event: ToolEvent, error: &str) -> ToolEvent {
    ToolEvent { succeeded: false, error: Some(error.into()), ..event }
}

/// Returns tool calls as the agent reports them.
fn ordinary() -> Vec<ToolEvent> {
    let file = format!("{}/src/export.py", fixtures::ROOT);
    vec![
        event(
            "Bash",
            &json!({"command": "cargo test"}).to_string(),
            &json!({"stdout": "ok\n", "stderr": "", "interrupted": false}).to_string(),
        ),
        event(
            "Read",
            &json!({"file_path": file}).to_string(),
            &json!({"type": "text", "file": {"filePath": file, "content": "a\nb", "numLines": 2}}).to_string(),
        ),
        event(
            "Edit",
            &json!({"file_path": file, "old_string": "a", "new_string": "b"}).to_string(),
            &json!({"filePath": file, "structuredPatch": [{"lines": ["-a", "+b"]}]}).to_string(),
        ),
        event(
            "Write",
            &json!({"file_path": file, "content": "x\n"}).to_string(),
            &json!({"type": "create", "filePath": file}).to_string(),
        ),
        event(
            "Grep",
            &json!({"pattern": "export", "path": fixtures::ROOT}).to_string(),
            &json!({"mode": "files_with_matches", "filenames": [file], "numFiles": 1}).to_string(),
        ),
        event("WebFetch", &json!({"url": "https://example.com/", "prompt": "read"}).to_string(), "a page"),
        failed(event("Bash", &json!({"command": "make"}).to_string(), ""), "Exit code 2\nmake: *** no rule"),
        ToolEvent {
            duration_ms: None,
            ..event("TodoWrite", &json!({"todos": [{"content": "test", "status": "pending"}]}).to_string(), "{}")
        },
    ]
}

pub(super) fn run(suite: &Suite<'_>, recorder: &mut CheckRecorder<'_>) {
    let mut all: Vec<(String, Observation)> = Vec::new();
    let mut survive = |events: Vec<ToolEvent>| -> Verdict {
        let mut faults = Faults::default();
        for event in events {
            let case = format!("{} {}", event.tool, quoted(&event.input));
            let observed = suite.instance().and_then(|mut instance| {
                suite.timed(|until| instance.observe(&fixtures::session(), &event, until)).with_context(|| case.clone())
            });
            all.extend(faults.attempt(observed).flatten().map(|observation| (case, observation)));
        }
        faults.verdict("tool calls", false)
    };
    recorder.note(
        "ordinary-tools",
        "observer.observe",
        "A policy must handle the tools that agents use every day.",
        survive(ordinary()),
    );
    let strange = ["Bash", "Edit", "Grep", "AskUserQuestion"];
    let values = [
        "",
        "null",
        "0",
        "[]",
        "{}",
        "{",
        "no JSON",
        "\"x\"",
        "{\"command\":[]}",
        "{\"file_path\":7}",
        "[1,{\"a\":null}]",
        "\u{feff}{}",
        "{\"command\":\"\\ud83d\\u0000\"}",
    ];
    let events = strange.iter().flat_map(|tool| values.iter().map(move |value| event(tool, value, value))).collect();
    recorder.note(
        "strange-json",
        "observer.tool-event.input: \"The arguments, as JSON\"",
        "Tools change their fields from one version to the next.",
        survive(events),
    );
    let deep = fixtures::deep_json().into_iter().map(|value| event("Bash", &value, &value)).collect();
    recorder.note(
        "deep-json",
        "observer.tool-event.input: \"The arguments, as JSON\"",
        "A tool's output can be nested to any depth.",
        survive(deep),
    );
    let unknown = ["mcp__moon__phase", "", "한글", "\0"].map(|tool| event(tool, "{\"a\":1}", "x")).to_vec();
    recorder.note("unknown-tools", PLACE_OPEN, "Users add tools of their own to their agents.", survive(unknown));
    let odd = fixtures::odd_texts().into_iter().map(|text| {
        let input = json!({"command": text, "file_path": format!("{}/{text}", fixtures::ROOT)}).to_string();
        failed(event("Bash", &input, &text), &text)
    });
    recorder.note("odd-characters", PLACE_UNICODE, "The output of programs can contain anything.", survive(odd.collect()));
    let long = fixtures::long_text(1 << 20);
    let output = json!({"stdout": long, "stderr": "y".repeat(1 << 20)}).to_string();
    let huge = vec![
        event("Bash", "{\"command\":\"cat log\"}", &output),
        event("Unheard", "{}", &long),
        failed(event("Bash", &json!({"command": long}).to_string(), ""), &long),
    ];
    recorder.note(
        "huge-output",
        "observer.tool-event.output",
        "A tool may print megabytes, and the hook waits for the policy.",
        survive(huge),
    );
    let verdict = deterministic(suite, |instance, until| instance.observe(&fixtures::session(), &ordinary()[0], until));
    recorder.note("deterministic", PLACE_INSTANCES, WHY_DETERMINISTIC, verdict);
    results(&all, recorder);
}

fn results(all: &[(String, Observation)], recorder: &mut CheckRecorder<'_>) {
    let mut summaries = Faults::default();
    let mut details = Faults::default();
    let mut files = Faults::default();
    for (case, observation) in all {
        let (summary, bytes) = (&observation.summary, observation.detail.len());
        summaries.count_result();
        summaries.fail(!is_one_line(summary), || format!("{case}: {} is more than one line", quoted(summary)));
        summaries.fail(summary.trim().is_empty(), || format!("{case}: a summary is empty"));
        details.count_result();
        details.fail(bytes > MAX_DETAIL_BYTES, || format!("{case}: {bytes} bytes of detail"));
        observation.files.iter().for_each(|file| check_file(&mut files, case, file));
    }
    recorder.note(
        "summaries",
        "observer.observation.summary: \"One line\"",
        "Lists show only the summary.",
        summaries.verdict("observations", true),
    );
    recorder.note(
        "details",
        "observer.observation.detail: \"at most 10 KiB\"",
        "Every tool call gives an observation, so thousands are stored in a day.",
        details.verdict("observations", true),
    );
    recorder.note(
        "files",
        "observer.observation.files",
        "Searches by file compare paths from the project's root.",
        files.verdict("paths", true),
    );
}
