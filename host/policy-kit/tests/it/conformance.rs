//! Tests the conformance suite itself: the default policy passes, and for every check there is a policy that fails it.
//! Most of these are fakes that break one promise and keep the others; some are real components.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use throughline_model::contract::{Draft, Memory, Session, SessionNotes};
use throughline_model::lines::{Line, LineSource};
use throughline_policy_kit::conformance::{self, ConformanceReport, Granted, Instance, Options, Stage, Status, Subject};
use throughline_sandbox::engine::{EpochTicker, Limits};
use throughline_sandbox::imports::{Grants, MemorySource};
use throughline_sandbox::instance::{
    BuiltContext, ConsolidateRequest, Consolidated, Consolidation, ExtractRequest, Extraction, Finding, Observation,
    Redacted, Search, Source, Statement, Summary, ToolEvent,
};

fn check_component(bytes: &[u8], stages: &[Stage], options: &Options) -> ConformanceReport {
    check_with(bytes, stages, stages, options)
}

/// Checks `stages` of a component that is linked with the stages in `has`.
fn check_with(bytes: &[u8], has: &[Stage], stages: &[Stage], options: &Options) -> ConformanceReport {
    let clock = EpochTicker::start().expect("an engine");
    let terms = crate::support::terms("checked", has, Limits::default());
    let policy = Arc::new(crate::support::link(&clock, terms, bytes).expect("it links"));
    conformance::run(&Granted { policy: &policy, grants: Grants::default() }, stages, options)
}

fn ids(report: &ConformanceReport, status: Status) -> Vec<&str> {
    report.with(status).map(|check| check.id).collect()
}

#[test]
fn the_default_policy_passes_and_twice_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policies/default/policy.wasm");
    let bytes = std::fs::read(path).expect("it is committed");
    let report = check_component(&bytes, &Stage::OF_DEFAULT, &Options::default());
    let fails: Vec<_> = report.with(Status::Fail).collect();
    assert!(report.has_passed(), "{fails:#?}");
    assert_eq!(report, check_component(&bytes, &Stage::OF_DEFAULT, &Options::default()));
    let json = serde_json::to_value(&report.checks[0]).expect("it is plain data");
    assert_eq!(json["id"], "empty-transcript");
    assert_eq!(json["stage"], "extractor");
    assert_eq!(json["status"], "pass");
}

#[test]
fn every_check_has_a_name_of_its_own_and_says_why() {
    let report = conformance::run(&Fake::default(), &Stage::ALL, &Options::default());
    let contract = contract();
    let mut names = BTreeSet::new();
    for check in &report.checks {
        assert!(names.insert((check.stage, check.id)), "{}/{} is there twice", check.stage, check.id);
        assert!(check.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", check.id);
        assert!(check.why.ends_with('.') && !check.contract.is_empty() && !check.seen.is_empty(), "{check:?}");
        for quotation in check.contract.split('"').skip(1).step_by(2) {
            assert!(contract.contains(quotation), "the contract does not say {quotation:?}");
        }
    }
}

/// Returns the whole text of the contract on one line.
fn contract() -> String {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/v0.2.0")).expect("it is there");
    let texts = files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a text"));
    texts.collect::<String>().split_whitespace().filter(|word| *word != "///").collect::<Vec<_>>().join(" ")
}

/// The calls of one stage, as a fake answers them. The last number is the instance's.
type Extract = dyn Fn(&ExtractRequest, &[Line], u32) -> Result<Extraction>;
type Summarize = dyn Fn(&SessionNotes, u32) -> Result<Option<Summary>>;
type Redact = dyn Fn(&[String], u32) -> Result<Vec<Redacted>>;
type Build = dyn Fn(&dyn MemorySource, &str, u32, Vec<Memory>, u32) -> Result<Option<BuiltContext>>;
type Observe = dyn Fn(&ToolEvent, u32) -> Result<Option<Observation>>;
type Plan = dyn Fn(&str, Option<&str>, u32) -> Result<Option<Search>>;
type Consolidate = dyn Fn(&ConsolidateRequest, u32) -> Result<Consolidation>;

/// A policy without a component.
struct Fake {
    instances: AtomicU32,
    extract: Box<Extract>,
    summarize: Box<Summarize>,
    redact: Box<Redact>,
    build: Box<Build>,
    observe: Box<Observe>,
    plan: Box<Plan>,
    consolidate: Box<Consolidate>,
}

impl Default for Fake {
    /// Creates a fake that keeps the contract.
    fn default() -> Self {
        Self {
            instances: AtomicU32::new(0),
            extract: Box::new(|_, lines, _| Ok(extracted(lines))),
            summarize: Box::new(|notes, _| Ok(summarized(notes))),
            redact: Box::new(|texts, _| Ok(texts.iter().map(|text| redacted(text, PLACEHOLDER)).collect())),
            build: Box::new(|memories, _, budget, found, _| built(memories, budget, found)),
            observe: Box::new(|event, _| Ok(Some(observed(event)))),
            plan: Box::new(|prompt, _, _| Ok(planned(prompt))),
            consolidate: Box::new(|request, _| Ok(consolidated(request))),
        }
    }
}

struct FakeInstance<'a> {
    fake: &'a Fake,
    memories: Rc<dyn MemorySource>,
    number: u32,
}

impl Subject for Fake {
    fn start(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + '_>> {
        let number = self.instances.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(FakeInstance { fake: self, memories, number }))
    }
}

impl Instance for FakeInstance<'_> {
    fn extract(&mut self, request: &ExtractRequest, mut lines: Box<dyn LineSource>, _: Instant) -> Result<Extraction> {
        let mut all = Vec::new();
        loop {
            let more = lines.read_lines(1 << 16)?;
            if more.is_empty() {
                return (self.fake.extract)(request, &all, self.number);
            }
            all.extend(more);
        }
    }

    fn summarize(&mut self, _: &Session, notes: &SessionNotes, _: Instant) -> Result<Option<Summary>> {
        (self.fake.summarize)(notes, self.number)
    }

    fn redact(&mut self, texts: &[String], _: Instant) -> Result<Vec<Redacted>> {
        (self.fake.redact)(texts, self.number)
    }

    fn build(
        &mut self,
        _: &Session,
        source: &str,
        budget: u32,
        found: Vec<Memory>,
        _: Instant,
    ) -> Result<Option<BuiltContext>> {
        (self.fake.build)(&*self.memories, source, budget, found, self.number)
    }

    fn observe(&mut self, _: &Session, event: &ToolEvent, _: Instant) -> Result<Option<Observation>> {
        (self.fake.observe)(event, self.number)
    }

    fn plan(&mut self, _: &Session, prompt: &str, last_turn: Option<&str>, _: Instant) -> Result<Option<Search>> {
        (self.fake.plan)(prompt, last_turn, self.number)
    }

    fn consolidate(&mut self, request: &ConsolidateRequest, _: Instant) -> Result<Consolidation> {
        (self.fake.consolidate)(request, self.number)
    }
}

/// Makes a memory of every line with `DECISION:`.
fn extracted(lines: &[Line]) -> Extraction {
    let drafts = lines.iter().filter(|line| line.text.contains("DECISION:")).map(|line| Draft {
        key: Some(format!("line:{}", line.start)),
        kind: "decision".into(),
        title: "a decision".into(),
        content: line.text.chars().take(1_000).collect(),
        files: vec!["src/api.rs".into()],
        importance: 0.5,
        ..Draft::default()
    });
    Extraction {
        drafts: drafts.collect(),
        retracted: Vec::new(),
        notes: SessionNotes { done: vec!["something".into()], ..SessionNotes::default() },
        state: lines.last().map(|line| line.text.chars().take(1_000).collect()).unwrap_or_default(),
        consumed: lines.last().map_or(0, |line| line.end),
        malformed: 0,
    }
}

fn summarized(notes: &SessionNotes) -> Option<Summary> {
    let text: String = notes.outcome.chars().take(500).collect();
    (!text.trim().is_empty()).then(|| Summary { text, topics: vec!["topic".into()] })
}

const PLACEHOLDER: &str = "[redacted:github-token]";

/// Replaces `ghp_` and the letters and digits after it by `with`.
fn redacted(text: &str, with: &str) -> Redacted {
    let (mut out, mut rest, mut count) = (String::new(), text, 0);
    while let Some(at) = rest.find("ghp_") {
        let token = &rest[at..];
        let length = token[4..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(token.len(), |end| end + 4);
        out.push_str(&rest[..at]);
        if length >= 24 {
            out.push_str(with);
            count += 1;
        } else {
            out.push_str(&token[..length]);
        }
        rest = &token[length..];
    }
    out.push_str(rest);
    let findings = (count > 0).then(|| Finding { rule: "github-token".into(), count });
    Redacted { text: (count > 0).then_some(out), findings: findings.into_iter().collect() }
}

fn built(memories: &dyn MemorySource, budget: u32, found: Vec<Memory>) -> Result<Option<BuiltContext>> {
    let (mut text, mut used) = (String::new(), Vec::new());
    let recent = if found.is_empty() { memories.recent(&[], 30)? } else { found };
    for memory in recent {
        let line = format!("- {}\n", memory.title);
        if text.encode_utf16().count() + line.encode_utf16().count() <= budget as usize {
            text.push_str(&line);
            used.push(memory.id);
        }
    }
    Ok((!text.trim().is_empty()).then_some(BuiltContext { text, used }))
}

fn observed(event: &ToolEvent) -> Observation {
    Observation {
        summary: format!("used {}", event.tool.escape_default()),
        detail: event.output.chars().take(2_000).collect(),
        files: vec!["src/export.py".into()],
        attributes: Vec::new(),
    }
}

fn planned(prompt: &str) -> Option<Search> {
    let text: String = prompt.split_whitespace().take(8).collect::<Vec<_>>().join(" ").chars().take(200).collect();
    (!text.trim().is_empty()).then(|| Search { text, kinds: vec!["decision".into()], limit: 5, min_score: 0.3 })
}

/// Makes a memory of the first source that can be replaced.
fn consolidated(request: &ConsolidateRequest) -> Consolidation {
    let memory = |source: &Source| {
        let cites = source.lines.iter().map(|line| line.id.clone()).collect();
        let statement = Statement { text: "It is settled.".into(), cites };
        Consolidated {
            kind: "session_summary".into(),
            title: statement.clone(),
            statements: vec![statement],
            replaces: vec![source.id.clone()],
            keywords: Vec::new(),
            files: Vec::new(),
            importance: 0.5,
        }
    };
    Consolidation { memories: request.sources.first().map(memory).into_iter().collect(), superseded: Vec::new() }
}

#[test]
fn a_consolidator_that_breaks_the_contract_is_told_so() {
    let with = |consolidate: Box<Consolidate>| Fake { consolidate, ..Fake::default() };
    each_fails_its_checks(
        Stage::Consolidator,
        vec![
            Break {
                what: "it always fails",
                fake: with(Box::new(|_, _| bail!("no"))),
                fails: &["no-sources", "no-model", "odd-characters", "many-sources", "deterministic"],
                warns: &["references"],
            },
            Break {
                what: "it replaces what is no source",
                fake: with(Box::new(|request, _| {
                    let mut answer = consolidated(request);
                    answer.memories.iter_mut().for_each(|memory| memory.replaces = vec!["another".into()]);
                    Ok(answer)
                })),
                fails: &["references"],
                warns: &[],
            },
        ],
    );
}

#[test]
fn a_policy_that_keeps_the_contract_is_not_even_warned() {
    let report = conformance::run(&Fake::default(), &Stage::ALL, &Options::default());
    let odd: Vec<_> = report.checks.iter().filter(|check| check.status != Status::Pass).collect();
    assert!(odd.is_empty(), "{odd:#?}");
}

/// A broken fake: what it breaks, and exactly the checks that must fail and warn.
struct Break {
    what: &'static str,
    fake: Fake,
    fails: &'static [&'static str],
    warns: &'static [&'static str],
}

/// Asserts that every broken fake fails exactly its checks, and that together they fail every check of the stage, so
/// that every check can fail.
fn each_fails_its_checks(stage: Stage, breaks: Vec<Break>) {
    let all = conformance::run(&Fake::default(), &[stage], &Options::default());
    let mut unbroken: BTreeSet<&str> = all.checks.iter().map(|check| check.id).collect();
    let mut unexpected = Vec::new();
    for Break { what, fake, fails, warns } in breaks {
        let report = conformance::run(&fake, &[stage], &Options::default());
        let found = (ids(&report, Status::Fail), ids(&report, Status::Warn));
        if found != (fails.to_vec(), warns.to_vec()) {
            let seen = report.checks.iter().filter(|check| check.status != Status::Pass).map(|check| check.seen.clone());
            unexpected.push((what, found.0.join(" "), found.1.join(" "), seen.collect::<Vec<_>>()));
        }
        unbroken.retain(|id| !fails.contains(id) && !warns.contains(id));
    }
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert!(unbroken.is_empty(), "no policy was found out by {unbroken:?}");
}

/// Creates an extractor that changes a good result or fails.
fn extractor(change: impl Fn(&ExtractRequest, &[Line], u32, &mut Extraction) -> Result<()> + 'static) -> Fake {
    Fake {
        extract: Box::new(move |request, lines, number| {
            let mut extraction = extracted(lines);
            change(request, lines, number, &mut extraction)?;
            Ok(extraction)
        }),
        ..Fake::default()
    }
}

/// Creates an extractor that fails on some lines.
fn dies_of(is_deadly: impl Fn(&str) -> bool + 'static) -> Fake {
    extractor(move |_, lines, _, _| {
        ensure!(!lines.iter().any(|line| is_deadly(&line.text)), "the line was too much");
        Ok(())
    })
}

/// Creates an extractor that changes its drafts.
fn drafts(change: impl Fn(&mut Draft) + 'static) -> Fake {
    extractor(move |_, _, _, extraction| {
        extraction.drafts.iter_mut().for_each(&change);
        Ok(())
    })
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn broken_extractors_are_found_out() {
    let case = |what, fails, warns, fake| Break { what, fake, fails, warns };
    each_fails_its_checks(
        Stage::Extractor,
        vec![
            case(
                "consumes what is not there",
                &["empty-transcript", "consumed"],
                &[],
                extractor(|_, lines, _, it| {
                    it.consumed += u64::from(lines.is_empty()) * 7;
                    Ok(())
                }),
            ),
            case(
                "dies of a decision",
                &["ordinary-session", "in-pieces"],
                &[],
                dies_of(|line| line.contains("token bucket")),
            ),
            case("dies of bad JSON", &["malformed-lines"], &[], dies_of(|line| line == "NaN")),
            case("dies of odd JSON", &["strange-json"], &[], dies_of(|line| line == "-0")),
            case("dies of deep JSON", &["deep-json"], &[], dies_of(|line| line.starts_with("[[[[[["))),
            case("dies of a lone surrogate", &["odd-characters"], &[], dies_of(|line| line.contains("\\ud800"))),
            case("dies of a long line", &["long-lines"], &[], dies_of(|line| line.len() >= 1 << 20)),
            case("dies of the unknown", &["unknown-lines"], &[], dies_of(|line| line.contains("hologram"))),
            case(
                "learns from the unknown",
                &[],
                &["unknown-lines"],
                extractor(|_, lines, _, it| {
                    it.notes.turns = u32::try_from(lines.iter().filter(|line| line.text.contains("hologram")).count())?;
                    Ok(())
                }),
            ),
            case(
                "looks at many lines at once",
                &["in-pieces"],
                &[],
                extractor(|_, lines, _, it| {
                    if lines.len() < 10 {
                        it.drafts.clear();
                    }
                    Ok(())
                }),
            ),
            case(
                "learns twice",
                &[],
                &["read-again"],
                extractor(|request, lines, _, it| {
                    let again = request.state.is_some() && lines.first().is_some_and(|line| line.start == 0);
                    it.drafts.extend(again.then(|| Draft { key: None, ..kept("again") }));
                    Ok(())
                }),
            ),
            case(
                "must begin at the beginning",
                &["from-the-middle"],
                &[],
                extractor(|request, lines, _, _| {
                    ensure!(request.state.is_some() || lines.first().is_none_or(|line| line.start == 0), "no state");
                    Ok(())
                }),
            ),
            case(
                "cannot bear another state",
                &["altered-state"],
                &[],
                extractor(|request, _, _, _| {
                    ensure!(
                        !request.state.as_ref().is_some_and(|state| state.contains("[redacted:conformance]")),
                        "damaged"
                    );
                    Ok(())
                }),
            ),
            case(
                "counts its instances",
                &["deterministic"],
                &[],
                extractor(|_, _, number, it| {
                    it.malformed = number;
                    Ok(())
                }),
            ),
            case(
                "knows all moments",
                &["moments"],
                &[],
                extractor(|request, _, _, _| {
                    ensure!(request.moment != "full-moon", "no such moment");
                    Ok(())
                }),
            ),
            case(
                "knows all supplements",
                &["unknown-supplements"],
                &[],
                extractor(|request, _, _, _| {
                    ensure!(
                        !request.supplements.iter().any(|supplement| supplement.kind == "horoscope"),
                        "no such supplement"
                    );
                    Ok(())
                }),
            ),
            case(
                "keeps the last message",
                &["last-message"],
                &[],
                extractor(|request, _, _, it| {
                    let last = request.supplements.iter().any(|supplement| supplement.kind == "last-assistant-message");
                    it.drafts.extend(last.then(|| kept("last")));
                    Ok(())
                }),
            ),
            case(
                "dies of a long summary",
                &["compact-summary"],
                &[],
                extractor(|request, _, _, _| {
                    ensure!(request.supplements.iter().all(|supplement| supplement.text.len() < 100_000), "too long");
                    Ok(())
                }),
            ),
            case(
                "stops in a line",
                &["consumed"],
                &[],
                extractor(|_, _, _, it| {
                    it.consumed = it.consumed.saturating_sub(1);
                    Ok(())
                }),
            ),
            case(
                "never moves",
                &[],
                &["consumed"],
                extractor(|_, _, _, it| {
                    it.consumed = 0;
                    Ok(())
                }),
            ),
            case(
                "keeps everything",
                &["state-size"],
                &[],
                extractor(|_, _, _, it| {
                    it.state = "x".repeat((256 << 10) + 1);
                    Ok(())
                }),
            ),
            case("has long titles", &["titles"], &[], drafts(|draft| draft.title = "한".repeat(201))),
            case("has titles of two lines", &["titles"], &[], drafts(|draft| draft.title = "a\nb".into())),
            case("has no titles", &["titles"], &[], drafts(|draft| draft.title.clear())),
            case("has long contents", &["contents"], &[], drafts(|draft| draft.content = "x".repeat((64 << 10) + 1))),
            case("has no contents", &[], &["contents"], drafts(|draft| draft.content.clear())),
            case("has kinds of its own spelling", &["kinds"], &[], drafts(|draft| draft.kind = "Key Decision".into())),
            case("weighs nothing", &["importance"], &[], drafts(|draft| draft.importance = f32::NAN)),
            case("weighs too much", &[], &["importance"], drafts(|draft| draft.importance = 1.5)),
            case(
                "has whole paths",
                &["files"],
                &[],
                drafts(|draft| {
                    draft.files = vec![format!("{}/src/api.rs", conformance::ROOT)];
                }),
            ),
            case("has odd paths", &[], &["files"], drafts(|draft| draft.files = vec!["./src/api.rs".into()])),
            case(
                "has a thousand drafts",
                &[],
                &["few-drafts"],
                extractor(|_, lines, _, it| {
                    let many = (0..1_001).filter(|_| lines.len() > 40).map(|number| kept(&number.to_string()));
                    it.drafts = if lines.len() > 40 && lines.iter().any(|line| line.text == "null") {
                        many.collect()
                    } else {
                        it.drafts.clone()
                    };
                    Ok(())
                }),
            ),
            case(
                "has notes of two lines",
                &[],
                &["note-lines"],
                extractor(|_, _, _, it| {
                    it.notes.done = vec!["a\nb".into()];
                    Ok(())
                }),
            ),
        ],
    );
}

fn kept(key: &str) -> Draft {
    Draft {
        key: Some(key.into()),
        kind: "decision".into(),
        title: format!("{key} is kept"),
        content: key.into(),
        ..Draft::default()
    }
}

#[test]
fn broken_summarizers_are_found_out() {
    let case = |what, fails, warns, summarize: Box<Summarize>| Break {
        what,
        fake: Fake { summarize, ..Fake::default() },
        fails,
        warns,
    };
    let with = |change: fn(&mut Summary)| -> Box<Summarize> {
        Box::new(move |notes, _| {
            Ok(summarized(notes).map(|mut summary| {
                change(&mut summary);
                summary
            }))
        })
    };
    let dies_if = |is_deadly: fn(&SessionNotes) -> bool| -> Box<Summarize> {
        Box::new(move |notes, _| if is_deadly(notes) { bail!("too much") } else { Ok(summarized(notes)) })
    };
    each_fails_its_checks(
        Stage::Summarizer,
        vec![
            case("dies of nothing", &["empty-notes"], &[], dies_if(|notes| *notes == SessionNotes::default())),
            case(
                "says nothing in many words",
                &[],
                &["empty-notes"],
                Box::new(|notes, _| {
                    Ok(summarized(notes).or(Some(Summary { text: "Nothing happened.".into(), topics: Vec::new() })))
                }),
            ),
            case(
                "needs the unheard-of",
                &["full-notes", "deterministic"],
                &[],
                dies_if(|notes| notes.turns == 4 && notes.done.len() == 2 && notes.errors.len() == 1),
            ),
            case("dies of NUL", &["odd-characters"], &[], dies_if(|notes| notes.outcome == "\0")),
            case("dies of much", &["huge-notes"], &[], dies_if(|notes| notes.done.len() > 1_000)),
            case(
                "counts its instances",
                &["deterministic"],
                &[],
                Box::new(|notes, number| {
                    Ok(summarized(notes).map(|summary| Summary { topics: vec![number.to_string()], ..summary }))
                }),
            ),
            case("has eleven topics", &["topics"], &[], with(|summary| summary.topics = vec!["t".into(); 11])),
            case("has an empty topic", &[], &["topics"], with(|summary| summary.topics = vec![" ".into()])),
            case("has no text", &["text"], &[], with(|summary| summary.text.clear())),
            case("has too much text", &[], &["text"], with(|summary| summary.text = "word ".repeat(1_000))),
        ],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn broken_redactors_are_found_out() {
    let case =
        |what, fails, warns, redact: Box<Redact>| Break { what, fake: Fake { redact, ..Fake::default() }, fails, warns };
    let fine = |texts: &[String]| -> Vec<Redacted> { texts.iter().map(|text| redacted(text, PLACEHOLDER)).collect() };
    let each = |change: fn(&str) -> Redacted| -> Box<Redact> {
        Box::new(move |texts, _| Ok(texts.iter().map(|text| change(text)).collect()))
    };
    let dies_if = move |is_deadly: fn(&[String]) -> bool| -> Box<Redact> {
        Box::new(move |texts, _| if is_deadly(texts) { bail!("too much") } else { Ok(fine(texts)) })
    };
    each_fails_its_checks(
        Stage::Redactor,
        vec![
            case(
                "loses one",
                &["one-result-each", "each-alone", "huge-texts"],
                &[],
                Box::new(move |texts, _| {
                    let mut results = fine(texts);
                    results.truncate(100);
                    Ok(results)
                }),
            ),
            case(
                "sorts",
                &["each-alone", "idempotent", "placeholders"],
                &[],
                Box::new(move |texts, _| {
                    let mut results = fine(texts);
                    if texts.len() > 100 {
                        results.reverse();
                    }
                    Ok(results)
                }),
            ),
            case(
                "looks at the neighbours",
                &["each-alone", "idempotent"],
                &[],
                Box::new(move |texts, _| {
                    Ok(if texts.len() == 1 { vec![Redacted { text: None, findings: Vec::new() }] } else { fine(texts) })
                }),
            ),
            case(
                "makes one of none",
                &["no-texts"],
                &[],
                Box::new(move |texts, _| Ok(if texts.is_empty() { fine(&[String::new()]) } else { fine(texts) })),
            ),
            case(
                "fills what is empty",
                &["empty-text", "idempotent", "placeholders"],
                &[],
                each(|text| {
                    let made =
                        Redacted { text: Some(format!("{text}x")), findings: vec![Finding { rule: "x".into(), count: 1 }] };
                    if text.is_empty() || text == "xx" || text == "x" { made } else { redacted(text, PLACEHOLDER) }
                }),
            ),
            case("dies of a noncharacter", &["odd-characters"], &[], dies_if(|texts| texts == ["\u{10ffff}"])),
            case("dies of much", &["huge-texts"], &[], dies_if(|texts| texts.iter().any(|text| text.len() > 1 << 19))),
            case("dies of many", &["huge-texts"], &[], dies_if(|texts| texts.len() > 4_000)),
            case(
                "counts its instances",
                &["each-alone", "deterministic"],
                &[],
                Box::new(move |texts, number| {
                    let mut results = fine(texts);
                    results
                        .iter_mut()
                        .flat_map(|result| &mut result.findings)
                        .for_each(|finding| finding.count = number + 1);
                    Ok(results)
                }),
            ),
            case(
                "finds its own placeholder",
                &["idempotent"],
                &[],
                each(|text| {
                    let once = text.replace("kettle", "[redacted:kettle-kettle]");
                    let findings = (once != text).then(|| Finding { rule: "kettle".into(), count: 1 });
                    if once == text {
                        redacted(text, PLACEHOLDER)
                    } else {
                        Redacted { text: Some(once), findings: findings.into_iter().collect() }
                    }
                }),
            ),
            case("writes stars", &["placeholders"], &[], each(|text| redacted(text, "***"))),
            case(
                "does not say what it found",
                &["findings"],
                &[],
                each(|text| Redacted { findings: Vec::new(), ..redacted(text, PLACEHOLDER) }),
            ),
            case(
                "finds what it leaves",
                &[],
                &["findings"],
                each(|text| {
                    let mut result = redacted(text, PLACEHOLDER);
                    result.findings = vec![Finding { rule: "anything".into(), count: 1 }];
                    result
                }),
            ),
            case(
                "has rules without a name",
                &["findings"],
                &[],
                each(|text| {
                    let mut result = redacted(text, PLACEHOLDER);
                    result.findings.iter_mut().for_each(|finding| finding.rule = "A Rule".into());
                    result
                }),
            ),
            case(
                "names the rule after the secret",
                &["no-leaks"],
                &[],
                each(|text| {
                    let mut result = redacted(text, PLACEHOLDER);
                    if let (Some(at), Some(finding)) = (text.find("ghp_"), result.findings.first_mut()) {
                        finding.rule = text[at..]
                            .chars()
                            .take(30)
                            .filter(char::is_ascii_alphanumeric)
                            .collect::<String>()
                            .to_ascii_lowercase();
                    }
                    result
                }),
            ),
            case("grows", &["growth"], &[], each(|text| redacted(text, &PLACEHOLDER.repeat(60)))),
        ],
    );
}

/// Creates a context builder that changes a good result.
fn builder(change: impl Fn(&dyn MemorySource, &str, u32, &mut BuiltContext) + 'static) -> Box<Build> {
    Box::new(move |memories, source, budget, found, _| {
        Ok(built(memories, budget, found)?.map(|mut context| {
            change(memories, source, budget, &mut context);
            context
        }))
    })
}

#[test]
fn broken_context_builders_are_found_out() {
    let case = |what, fails, warns, build: Box<Build>| Break { what, fake: Fake { build, ..Fake::default() }, fails, warns };
    let dies_of = |deadly: &'static str| -> Box<Build> {
        Box::new(move |memories, source, budget, found, _| {
            ensure!(source != deadly, "no such source");
            built(memories, budget, found)
        })
    };
    each_fails_its_checks(
        Stage::ContextBuilder,
        vec![
            case(
                "speaks of nothing",
                &[],
                &["no-memories"],
                Box::new(|memories, _, budget, found, _| {
                    let nothing = BuiltContext { text: "Nothing yet.".into(), used: Vec::new() };
                    Ok(built(memories, budget, found)?.or((budget == 9_500).then_some(nothing)))
                }),
            ),
            case(
                "dies of nothing",
                &["no-memories", "budget"],
                &[],
                Box::new(|memories, _, budget, found, _| {
                    ensure!(budget != 9_500 || !memories.recent(&[], 1)?.is_empty(), "there is nothing");
                    built(memories, budget, found)
                }),
            ),
            case("cannot clear", &["no-memories", "sources"], &[], dies_of("clear")),
            case("knows all sources", &["unknown-sources"], &[], dies_of("teleport")),
            case(
                "counts bytes for units",
                &["budget"],
                &[],
                builder(|_, _, budget, context| {
                    if context.text.contains('🎉') {
                        context.text = "🎉".repeat(budget as usize / 2 + 1);
                    }
                }),
            ),
            case(
                "counts characters for units",
                &["budget"],
                &[],
                builder(|_, _, budget, context| {
                    if context.text.contains('🎉') {
                        context.text = "👍".repeat(budget as usize);
                    }
                }),
            ),
            case(
                "cannot hold much",
                &["huge-memories"],
                &[],
                Box::new(|memories, _, budget, found, _| {
                    let bytes: usize = memories.recent(&[], 200)?.iter().map(|memory| memory.content.len()).sum();
                    ensure!(bytes < 1 << 20, "too much");
                    built(memories, budget, found)
                }),
            ),
            case(
                "counts its instances",
                &["deterministic"],
                &[],
                Box::new(|memories, _, budget, found, number| {
                    Ok(built(memories, budget, found)?.map(|mut context| {
                        context.used.rotate_left(number as usize % 2);
                        context
                    }))
                }),
            ),
            case("invents identifiers", &["used"], &[], builder(|_, _, _, context| context.used.push("m-1".into()))),
            case(
                "names one twice",
                &[],
                &["used"],
                builder(|_, _, _, context| {
                    context.used.extend(context.used.first().cloned());
                }),
            ),
            case("has an empty page", &[], &["text"], builder(|_, _, _, context| context.text = " ".into())),
            case(
                "prints memories as they are",
                &[],
                &["imitation"],
                builder(|memories, _, budget, context| {
                    let memories = memories.recent(&[], 1).unwrap_or_default();
                    context.text = memories.iter().map(|memory| memory.content.as_str()).collect();
                    let whole = context.text.encode_utf16().count() <= budget as usize && !context.text.trim().is_empty();
                    if !whole {
                        context.text = "-".into();
                    }
                }),
            ),
        ],
    );
}

#[test]
fn broken_observers_are_found_out() {
    let case =
        |what, fails, warns, observe: Box<Observe>| Break { what, fake: Fake { observe, ..Fake::default() }, fails, warns };
    let with = |change: fn(&mut Observation)| -> Box<Observe> {
        Box::new(move |event, _| {
            let mut observation = observed(event);
            change(&mut observation);
            Ok(Some(observation))
        })
    };
    let dies_if = |is_deadly: fn(&ToolEvent) -> bool| -> Box<Observe> {
        Box::new(move |event, _| if is_deadly(event) { bail!("too much") } else { Ok(Some(observed(event))) })
    };
    each_fails_its_checks(
        Stage::Observer,
        vec![
            case(
                "dies of a failure",
                &["ordinary-tools"],
                &[],
                dies_if(|event| event.error.as_ref().is_some_and(|e| e.contains("no rule"))),
            ),
            case("dies of odd JSON", &["strange-json"], &[], dies_if(|event| event.input == "[]")),
            case("dies of deep JSON", &["deep-json"], &[], dies_if(|event| event.input.starts_with("[[[["))),
            case("knows all tools", &["unknown-tools"], &[], dies_if(|event| event.tool.starts_with("mcp__"))),
            case("dies of NUL", &["odd-characters"], &[], dies_if(|event| event.output == "\0")),
            case("dies of much", &["huge-output"], &[], dies_if(|event| event.output.len() > 1 << 20)),
            case(
                "counts its instances",
                &["deterministic"],
                &[],
                Box::new(|event, number| {
                    Ok(Some(Observation { attributes: vec![("number".into(), number.to_string())], ..observed(event) }))
                }),
            ),
            case("has summaries of two lines", &["summaries"], &[], with(|observation| observation.summary = "a\nb".into())),
            case("has no summaries", &["summaries"], &[], with(|observation| observation.summary.clear())),
            case("keeps everything", &["details"], &[], with(|observation| observation.detail = "x".repeat((10 << 10) + 1))),
            case("has whole paths", &["files"], &[], with(|observation| observation.files = vec![conformance::ROOT.into()])),
        ],
    );
}

#[test]
fn broken_planners_are_found_out() {
    let case = |what, fails, warns, plan: Box<Plan>| Break { what, fake: Fake { plan, ..Fake::default() }, fails, warns };
    let with = |change: fn(&mut Search)| -> Box<Plan> {
        Box::new(move |prompt, _, _| {
            Ok(planned(prompt).map(|mut search| {
                change(&mut search);
                search
            }))
        })
    };
    let dies_if = |is_deadly: fn(&str, Option<&str>) -> bool| -> Box<Plan> {
        Box::new(move |prompt, last, _| if is_deadly(prompt, last) { bail!("too much") } else { Ok(planned(prompt)) })
    };
    each_fails_its_checks(
        Stage::Query,
        vec![
            case(
                "searches for nothing",
                &["text"],
                &["empty-prompt"],
                Box::new(|prompt, _, _| {
                    let nothing = Search { text: String::new(), kinds: Vec::new(), limit: 5, min_score: 0.0 };
                    Ok(planned(prompt).or(Some(nothing)))
                }),
            ),
            case("needs a prompt", &["empty-prompt"], &[], dies_if(|prompt, last| prompt.is_empty() && last.is_none())),
            case(
                "needs a last turn",
                &["ordinary-prompts"],
                &[],
                dies_if(|prompt, last| prompt == "yes, go on" && last.is_none()),
            ),
            case("dies of NUL", &["odd-characters"], &[], dies_if(|prompt, _| prompt == "\0")),
            case("dies of much", &["huge-prompt"], &[], dies_if(|prompt, _| prompt.len() > 1 << 19)),
            case(
                "counts its instances",
                &["deterministic"],
                &[],
                Box::new(|prompt, _, number| Ok(planned(prompt).map(|search| Search { limit: number + 1, ..search }))),
            ),
            case("wants all", &["min-score"], &[], with(|search| search.min_score = -0.1)),
            case("wants what cannot be", &["min-score"], &[], with(|search| search.min_score = f32::NAN)),
            case("wants none", &["limit"], &[], with(|search| search.limit = 0)),
            case("wants too many", &[], &["limit"], with(|search| search.limit = 201)),
            case("has kinds of its own spelling", &["kinds"], &[], with(|search| search.kinds = vec!["Decision".into()])),
        ],
    );
}

#[test]
fn a_real_redactor_passes() {
    let report = check_component(&tests::wasm::token_redactor(None), &[Stage::Redactor], &Options::default());
    let odd: Vec<_> = report.checks.iter().filter(|check| check.status != Status::Pass).collect();
    assert!(odd.is_empty(), "{odd:#?}");
}

#[test]
fn real_redactors_that_are_broken_are_found_out() {
    for (what, patch, fails) in [
        (
            "names its rule wrongly",
            ("(i32.store offset=4 (local.get $out) (i32.const 12))", "(i32.store offset=4 (local.get $out) (i32.const 13))"),
            &["findings"][..],
        ),
        ("writes no placeholder", ("\"[redacted:github-token]\"", "\"(redacted:github-token]\""), &["placeholders"]),
        (
            "loses a result",
            (
                "(i32.store (i32.const 24) (local.get $count))",
                "(i32.store (i32.const 24) (i32.sub (local.get $count) (i32.const 1)))",
            ),
            &["one-result-each", "each-alone", "no-texts", "empty-text", "odd-characters", "huge-texts", "deterministic"],
        ),
        (
            "counts for ever",
            (
                "(i32.store offset=8 (local.get $out) (local.get $found))",
                "(i32.store offset=8 (local.get $out) (global.get $heap))",
            ),
            &["each-alone"],
        ),
        (
            "does not free",
            ("(global.set $heap (i32.const 4096))))", "(global.set $heap (i32.const 0x7fffffff))))"),
            &["deterministic", "idempotent"],
        ),
    ] {
        let report = check_component(&tests::wasm::token_redactor(Some(patch)), &[Stage::Redactor], &Options::default());
        assert_eq!(ids(&report, Status::Fail), fails, "{what}: {report:#?}");
    }
}

/// A call that hangs fails with a deadline error, and the whole suite ends in time.
#[test]
fn a_policy_that_hangs_is_found_out_in_time() {
    let bytes = tests::wasm::token_redactor(Some((
        "(local $results i32) (local $i i32)",
        "(local $results i32) (local $i i32) (loop $l (br $l))",
    )));
    let options = Options { call: Duration::from_millis(100), whole: Duration::from_secs(1), ..Options::default() };
    let began = Instant::now();
    let report = check_component(&bytes, &[Stage::Redactor], &options);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(report.checks[0].seen.contains("stopped at its deadline"), "{report:#?}");
    assert!(report.with(Status::Fail).any(|check| check.seen.contains("not called")), "{report:#?}");
    assert!(report.with(Status::Pass).all(|check| check.id == "no-leaks"), "{report:#?}");
}

#[test]
fn a_stage_that_is_not_there_fails() {
    let report = check_with(&tests::wasm::token_redactor(None), &[Stage::Redactor], &[Stage::Query], &Options::default());
    assert!(!report.has_passed());
    assert!(report.checks[0].seen.contains("has no stage query"), "{}", report.checks[0].seen);
}

/// The suite's own sessions and texts do not contain what a special policy looks for, so more can be given.
#[test]
fn given_sessions_and_texts_are_looked_at() {
    let options =
        Options { sessions: vec![vec!["{\"type\":\"poison\"}".into()]], texts: vec!["poison".into()], ..Options::default() };
    let report = conformance::run(&dies_of(|line| line.contains("poison")), &[Stage::Extractor], &options);
    assert_eq!(ids(&report, Status::Fail), ["ordinary-session", "in-pieces"]);
    let redact: Box<Redact> = Box::new(|texts, _| {
        ensure!(!texts.iter().any(|text| text == "poison"), "poison");
        Ok(texts.iter().map(|text| redacted(text, PLACEHOLDER)).collect())
    });
    let report = conformance::run(&Fake { redact, ..Fake::default() }, &[Stage::Redactor], &options);
    assert!(ids(&report, Status::Fail).contains(&"one-result-each"));
}
