//! Checks of stage `summarizer`: all notes are summarized or skipped without an error, and summaries are short.

use anyhow::{Context, Result};

use super::fixtures;
use super::suite::Suite;
use super::verdict::{
    CheckRecorder, Faults, PLACE_INSTANCES, PLACE_UNICODE, Verdict, WHY_DETERMINISTIC, deterministic, is_one_line, quoted,
};
use throughline_model::contract::SessionNotes;
use throughline_sandbox::instance::Summary;

const MAX_TOPICS: usize = 10;

/// A few sentences have fewer bytes than this.
const FEW_SENTENCES: usize = 4 << 10;

pub(super) fn run(suite: &Suite<'_>, recorder: &mut CheckRecorder<'_>) {
    let mut all: Vec<(&str, Summary)> = Vec::new();
    let mut call = |case: &'static str, notes: &SessionNotes| -> Result<Option<Summary>> {
        let mut instance = suite.instance()?;
        let summary =
            suite.timed(|until| instance.summarize(&fixtures::session(), notes, until)).with_context(|| case.to_owned())?;
        all.extend(summary.clone().map(|summary| (case, summary)));
        Ok(summary)
    };
    recorder.note(
        "empty-notes",
        "summarizer.summarize: \"none if the session contains nothing worth summarizing\"",
        "Sessions that were only opened have empty notes, and a summary of nothing is noise in the next session.",
        Verdict::of(call("empty notes", &SessionNotes::default()).map(|summary| match summary {
            None => Verdict::pass("no summary of empty notes"),
            Some(summary) => Verdict::odd(true, format!("empty notes are summarized as {}", quoted(&summary.text))),
        })),
    );
    recorder.note(
        "full-notes",
        "summarizer.summarize",
        "At the end of a long session every field of the notes is filled.",
        Verdict::of(call("full notes", &fixtures::notes()).map(|summary| match summary {
            None => Verdict::odd(true, "no summary of full notes"),
            Some(summary) => {
                Verdict::pass(format!("{} characters, {} topics", summary.text.chars().count(), summary.topics.len()))
            }
        })),
    );
    let mut faults = Faults::default();
    for text in fixtures::odd_texts() {
        faults.attempt(call("odd characters", &fixtures::notes_of(&text, 2)).with_context(|| quoted(&text)));
    }
    recorder.note(
        "odd-characters",
        PLACE_UNICODE,
        "Notes contain what people and programs wrote.",
        faults.verdict("notes", false),
    );
    let huge = call("huge notes", &fixtures::notes_of(&fixtures::long_text(200), 2_000));
    let verdict = huge.map(|summary| Verdict::pass(if summary.is_some() { "summarized" } else { "no summary" }));
    recorder.note(
        "huge-notes",
        "summarizer.summarize",
        "A session of several days has thousands of entries, and its end waits for the summary.",
        Verdict::of(verdict),
    );
    let verdict =
        deterministic(suite, |instance, until| instance.summarize(&fixtures::session(), &fixtures::notes(), until));
    recorder.note("deterministic", PLACE_INSTANCES, WHY_DETERMINISTIC, verdict);
    results(&all, recorder);
}

fn results(all: &[(&str, Summary)], recorder: &mut CheckRecorder<'_>) {
    let mut topics = Faults::default();
    let mut texts = Faults::default();
    for (case, summary) in all {
        let count = summary.topics.len();
        topics.count_result();
        topics.fail(count > MAX_TOPICS, || format!("{case}: {count} topics"));
        let odd = summary.topics.iter().find(|topic| topic.trim().is_empty() || !is_one_line(topic));
        topics.warn(odd.is_some(), || format!("{case}: {} is not a topic", quoted(odd.map_or("", |topic| topic))));
        let bytes = summary.text.len();
        texts.count_result();
        texts.fail(summary.text.trim().is_empty(), || format!("{case}: a summary without a text"));
        texts.warn(bytes > FEW_SENTENCES, || format!("{case}: {bytes} bytes are more than a few sentences"));
    }
    recorder.note(
        "topics",
        "summarizer.summary.topics: \"At most ten\"",
        "Lists show all topics on one line.",
        topics.verdict("summaries", true),
    );
    recorder.note(
        "text",
        "summarizer.summary.text: \"A few sentences that can be understood on their own\"",
        "The summary is the first thing that the next session is told.",
        texts.verdict("summaries", true),
    );
}
