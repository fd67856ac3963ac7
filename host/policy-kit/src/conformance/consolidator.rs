//! Checks of stage `consolidator`: any sources are gone over without an error when no model may be asked, and what it returns
//! refers to the request.

use anyhow::{Context, Result};

use super::fixtures;
use super::suite::Suite;
use super::verdict::{
    CheckRecorder, Faults, PLACE_INSTANCES, PLACE_UNICODE, Verdict, WHY_DETERMINISTIC, deterministic, quoted,
};
use throughline_sandbox::instance::{ConsolidateRequest, Consolidation, Source, SourceLine};

/// A request with one source for each text.
fn request(texts: &[String]) -> ConsolidateRequest {
    let source = |(place, text): (usize, &String)| Source {
        id: format!("m{place}"),
        kind: "turn".into(),
        importance: 0.5,
        created: 1_700_000_000_000,
        said_by: Some("agent".into()),
        replaceable: true,
        lines: vec![SourceLine { id: place.to_string(), text: text.clone() }],
    };
    let sources = texts.iter().enumerate().map(source).collect();
    ConsolidateRequest { session: fixtures::session(), scope: "session".into(), sources }
}

pub(super) fn run(suite: &Suite<'_>, recorder: &mut CheckRecorder<'_>) {
    let mut faults = Faults::default();
    let mut call = |case: &'static str, request: &ConsolidateRequest| -> Result<Consolidation> {
        let mut instance = suite.instance()?;
        let answer = suite.timed(|until| instance.consolidate(request, until)).with_context(|| case.to_owned())?;
        check_references(case, request, &answer, &mut faults);
        Ok(answer)
    };
    let summed = |answer: Result<Consolidation>| {
        Verdict::of(answer.map(|answer| Verdict::pass(format!("{} memories", answer.memories.len()))))
    };
    recorder.note(
        "no-sources",
        "consolidator.consolidate",
        "A session in which nothing was learned is gone over too.",
        summed(call("no sources", &request(&[]))),
    );
    recorder.note(
        "no-model",
        "model.complete: `not-allowed`",
        "Without a limit no model is asked, and what is stored must stand.",
        summed(call("no model", &request(&["We chose SQLite for the queue.".into(), "It must never block.".into()]))),
    );
    let mut odd = Faults::default();
    for text in fixtures::odd_texts() {
        odd.attempt(call("odd characters", &request(std::slice::from_ref(&text))).with_context(|| quoted(&text)));
    }
    recorder.note("odd-characters", PLACE_UNICODE, "Memories hold what people wrote.", odd.verdict("sources", false));
    let many: Vec<String> = (0..2_000).map(|_| fixtures::long_text(200)).collect();
    recorder.note(
        "many-sources",
        "consolidator.request.sources",
        "A session of several days has thousands of turns.",
        summed(call("many sources", &request(&many))),
    );
    let few = request(&["We chose SQLite for the queue.".into()]);
    let verdict = deterministic(suite, |instance, until| instance.consolidate(&few, until));
    recorder.note("deterministic", PLACE_INSTANCES, WHY_DETERMINISTIC, verdict);
    recorder.note(
        "references",
        "consolidator.statement.cites, consolidated.replaces",
        "A statement that cites no line of the request is dropped.",
        faults.verdict("answers", false),
    );
}

fn check_references(case: &str, request: &ConsolidateRequest, answer: &Consolidation, faults: &mut Faults) {
    faults.count_result();
    let is_line = |id: &String| request.sources.iter().flat_map(|source| &source.lines).any(|line| line.id == *id);
    let is_source = |id: &String| request.sources.iter().any(|source| source.id == *id);
    for memory in &answer.memories {
        let mut statements = std::iter::once(&memory.title).chain(&memory.statements);
        let unsupported = statements.find(|statement| !statement.cites.iter().any(is_line));
        faults.warn(unsupported.is_some(), || {
            format!("{case}: {} cites no line", quoted(unsupported.map_or("", |statement| &statement.text)))
        });
        faults.fail(!memory.replaces.iter().all(is_source), || format!("{case}: it replaces what is no source"));
    }
    let pairs = answer.superseded.iter().all(|(older, newer)| is_source(older) && is_source(newer));
    faults.fail(!pairs, || format!("{case}: it supersedes what is no source"));
}
