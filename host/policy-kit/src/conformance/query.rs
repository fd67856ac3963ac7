//! Checks of stage `query`: every prompt is answered, and searches are valid.

use anyhow::{Context, Result};

use super::fixtures;
use super::suite::Suite;
use super::verdict::{
    CheckRecorder, Faults, PLACE_INSTANCES, PLACE_UNICODE, Verdict, WHY_DETERMINISTIC, deterministic, is_kind, quoted,
};
use throughline_sandbox::instance::Search;

/// How many memories the host returns at most, whatever the search asks for.
const MAX_MEMORIES: u32 = 200;

pub(super) fn run(suite: &Suite<'_>, recorder: &mut CheckRecorder<'_>) {
    let mut all: Vec<(String, Search)> = Vec::new();
    let mut call = |prompt: &str, last: Option<&str>| -> Result<Option<Search>> {
        let case = quoted(prompt);
        let mut instance = suite.instance()?;
        let search =
            suite.timed(|until| instance.plan(&fixtures::session(), prompt, last, until)).with_context(|| case.clone())?;
        all.extend(search.clone().map(|search| (case, search)));
        Ok(search)
    };
    recorder.note(
        "empty-prompt",
        "query.plan: \"none if the prompt needs no memory\"",
        "An empty prompt asks for nothing.",
        Verdict::of(call("", None).map(|search| match search {
            None => Verdict::pass("no search"),
            Some(search) => Verdict::odd(true, format!("an empty prompt gives a search for {}", quoted(&search.text))),
        })),
    );
    let mut survive = |prompts: Vec<(String, Option<String>)>| {
        let mut faults = Faults::default();
        for (prompt, last) in prompts {
            faults.attempt(call(&prompt, last.as_deref()));
        }
        faults.verdict("prompts", false)
    };
    let pair = |prompt: &str, last: Option<&str>| (prompt.to_owned(), last.map(str::to_owned));
    let ordinary = vec![
        pair("Why does refresh_token fail in src/auth.rs?", None),
        pair("주문 내보내기가 왜 실패하지?", None),
        pair("yes, go on", Some("Shall I quote every field in src/export.py and add a test?")),
        pair("yes, go on", None),
        pair("/compact", None),
        pair("type:decision file:src/export.py \"exact words\" -without", Some("")),
    ];
    recorder.note("ordinary-prompts", "query.plan", "A policy must handle what people type every day.", survive(ordinary));
    let odd = fixtures::odd_texts().into_iter().map(|text| (text.clone(), Some(text)));
    recorder.note("odd-characters", PLACE_UNICODE, "People paste all kinds of text.", survive(odd.collect()));
    let long = fixtures::long_text(1 << 20);
    let huge = vec![(long.clone(), None), ("ok".to_owned(), Some(long)), ("x".repeat(1 << 20), None)];
    recorder.note("huge-prompt", "query.plan", "People paste whole logs, and the prompt waits for the hook.", survive(huge));
    let verdict = deterministic(suite, |instance, until| {
        instance.plan(&fixtures::session(), "Why does refresh_token fail in src/auth.rs?", None, until)
    });
    recorder.note("deterministic", PLACE_INSTANCES, WHY_DETERMINISTIC, verdict);
    results(&all, recorder);
}

fn results(all: &[(String, Search)], recorder: &mut CheckRecorder<'_>) {
    let mut scores = Faults::default();
    let mut limits = Faults::default();
    let mut kinds = Faults::default();
    let mut texts = Faults::default();
    for (case, search) in all {
        let (score, limit) = (search.min_score, search.limit);
        scores.count_result();
        scores.fail(!(0.0..=1.0).contains(&score), || format!("{case}: {score}"));
        limits.count_result();
        limits.fail(limit == 0, || format!("{case}: a search with the limit 0"));
        limits.warn(limit > MAX_MEMORIES, || format!("{case}: {limit}, but the host returns at most {MAX_MEMORIES}"));
        for kind in &search.kinds {
            kinds.count_result();
            kinds.fail(!is_kind(kind), || format!("{case}: {}", quoted(kind)));
        }
        texts.count_result();
        texts.fail(search.text.trim().is_empty(), || format!("{case}: a search for an empty text"));
    }
    recorder.note(
        "min-score",
        "query.search.min-score: \"0 to 1\"",
        "Memories with a lower score are not shown; with a minimum above 1, none are.",
        scores.verdict("searches", true),
    );
    recorder.note(
        "limit",
        "query.search.limit",
        "Every memory that is found takes some of the agent's attention.",
        limits.verdict("searches", true),
    );
    recorder.note(
        "kinds",
        "query.search.kinds",
        "A search for an invalid kind finds nothing.",
        kinds.verdict("kinds", true),
    );
    recorder.note(
        "text",
        "query.plan: \"none if the prompt needs no memory\"",
        "A search for an empty text finds unrelated memories.",
        texts.verdict("searches", true),
    );
}
