//! Checks of stage `redactor`: each text comes back without its secrets, and the same way every time.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::fixtures;
use super::suite::Suite;
use super::verdict::{
    CheckRecorder, Faults, PLACE_INSTANCES, PLACE_UNICODE, Verdict, WHY_DETERMINISTIC, deterministic, is_same, quoted,
};
use crate::compare;
use throughline_sandbox::instance::Redacted;
use throughline_sandbox::placeholders::{is_rule, pieces};

/// A text may grow by this factor and by this many bytes more, because a placeholder can be longer than its secret.
const MAX_GROWTH: usize = 8;
const FREE_GROWTH: usize = 1 << 10;

/// How many bytes of a secret in a rule's name count as a leak.
const MIN_LEAK_CHARS: usize = 6;

struct Redactor<'a> {
    suite: &'a Suite<'a>,
    /// Every text that was redacted, with the result.
    all: Vec<(String, Redacted)>,
}

impl Redactor<'_> {
    /// Makes one call in a fresh instance.
    fn call(&mut self, texts: &[String]) -> Result<Vec<Redacted>> {
        let mut instance = self.suite.instance()?;
        let results = self.suite.timed(|until| instance.redact(texts, until))?;
        if results.len() == texts.len() {
            self.all.extend(texts.iter().cloned().zip(results.iter().cloned()));
        }
        Ok(results)
    }
}

/// Returns the text after redaction.
fn applied<'a>(text: &'a str, result: &'a Redacted) -> &'a str {
    result.text.as_deref().unwrap_or(text)
}

pub(super) fn run(suite: &Suite<'_>, recorder: &mut CheckRecorder<'_>) {
    let mut it = Redactor { suite, all: Vec::new() };
    let mut texts = fixtures::secret_texts();
    texts.extend(suite.options.texts.iter().cloned());
    texts.extend(fixtures::plain_texts());
    texts.extend(fixtures::mixed_texts());
    let together = it.call(&texts);
    recorder.note(
        "one-result-each",
        "redactor.redact: \"one result for each text, in the same order\"",
        "The host replaces each text by its result; if a result is missing, the whole batch is unusable.",
        Verdict::of(together.as_ref().map_err(|error| anyhow::anyhow!("{error:#}")).map(|results| {
            if results.len() == texts.len() {
                Verdict::pass(format!("{} texts and as many results", texts.len()))
            } else {
                Verdict::fail(format!("{} texts, {} results", texts.len(), results.len()))
            }
        })),
    );
    recorder.note(
        "each-alone",
        "redactor.redact: \"one result for each text, in the same order\"",
        "The host batches texts in any way: a result must not depend on the other texts or on the position.",
        Verdict::of(each_alone(&mut it, &texts, together.ok())),
    );
    edges(&mut it, recorder);
    let verdict = deterministic(suite, |instance, until| instance.redact(&texts, until));
    recorder.note("deterministic", PLACE_INSTANCES, WHY_DETERMINISTIC, verdict);
    let idempotent = idempotent(&mut it);
    recorder.note(
        "idempotent",
        "stages.wit, redactor: \"redacting its own output must change nothing\"",
        "A text is redacted when it is stored and again when it is shown; the second time must not change it.",
        Verdict::of(idempotent),
    );
    results(&it.all, recorder);
}

/// Redacts the texts in reverse order and some of them alone, which shows results in the wrong place.
fn each_alone(it: &mut Redactor<'_>, texts: &[String], together: Option<Vec<Redacted>>) -> Result<Verdict> {
    let together = together.context("the texts together gave no result")?;
    let mut faults = Faults::default();
    let backwards: Vec<String> = texts.iter().rev().cloned().collect();
    let turned = it.call(&backwards)?;
    for ((text, first), second) in texts.iter().zip(&together).zip(turned.iter().rev()) {
        faults.count_result();
        faults
            .fail(!is_same(first, second), || format!("{} comes out differently when the order is reversed", quoted(text)));
    }
    for (text, first) in texts.iter().zip(&together).take(20) {
        faults.count_result();
        let alone = it.call(std::slice::from_ref(text))?;
        faults.fail(!alone.first().is_some_and(|alone| is_same(first, alone)), || {
            format!("{} comes out differently when it is the only text", quoted(text))
        });
    }
    Ok(faults.verdict("comparisons", false))
}

/// Checks empty, unusual and huge inputs.
fn edges(it: &mut Redactor<'_>, recorder: &mut CheckRecorder<'_>) {
    let none = it.call(&[]);
    recorder.note(
        "no-texts",
        "redactor.redact: \"one result for each text\"",
        "Many extractions have no text to redact.",
        Verdict::of(none.map(|results| match results.len() {
            0 => Verdict::pass("no texts, no results"),
            results => Verdict::fail(format!("no texts, {results} results")),
        })),
    );
    let empty = it.call(&[String::new(), "tea".into(), String::new()]);
    recorder.note(
        "empty-text",
        "redactor.redacted.text",
        "Empty fields are common and contain no secret.",
        Verdict::of(empty.map(|results| {
            let made = results.iter().step_by(2).find(|result| result.text.as_ref().is_some_and(|text| !text.is_empty()));
            match made {
                None => Verdict::pass("an empty text stays empty"),
                Some(made) => Verdict::fail(format!("an empty text becomes {}", quoted(applied("", made)))),
            }
        })),
    );
    let mut faults = Faults::default();
    for text in fixtures::odd_texts() {
        faults.attempt(it.call(std::slice::from_ref(&text)).with_context(|| quoted(&text)));
    }
    recorder.note(
        "odd-characters",
        PLACE_UNICODE,
        "The output of programs can contain anything; if the redactor fails, nothing is stored.",
        faults.verdict("texts", false),
    );
    let mut faults = Faults::default();
    let secret = fixtures::secret_texts().swap_remove(0);
    let huge = [
        ("1 MiB of prose", fixtures::long_text(1 << 20)),
        ("1 MiB without a space", "x".repeat(1 << 20)),
        ("1 MiB of secrets", format!("{secret} ").repeat((1 << 20) / (secret.len() + 1))),
        ("1 MiB of half secrets", secret[..8].repeat((1 << 20) / 8)),
        ("1 MiB of assignments", "password=\n".repeat((1 << 20) / 10)),
    ];
    for (name, text) in huge {
        faults.attempt(it.call(&[text]).context(name));
    }
    let many = it.call(&vec!["a short text".to_owned(); 5_000]).map(|results| results.len());
    faults.count_result();
    faults.fail(!matches!(many, Ok(5_000)), || format!("5,000 texts: {many:?}"));
    recorder.note(
        "huge-texts",
        "stages.wit, redactor: \"so a redactor must be fast\"",
        "The output of tools can be this long, and the hook waits for the redactor.",
        faults.verdict("huge inputs", false),
    );
}

fn idempotent(it: &mut Redactor<'_>) -> Result<Verdict> {
    let outputs: Vec<String> = it.all.iter().map(|(text, result)| applied(text, result).to_owned()).collect();
    let mut faults = Faults::default();
    let mut instance = it.suite.instance()?;
    // In several calls, because the outputs have a few megabytes in all.
    for outputs in outputs.chunks(64) {
        let results = it.suite.timed(|until| instance.redact(outputs, until))?;
        faults.fail(results.len() != outputs.len(), || format!("{} texts, {} results", outputs.len(), results.len()));
        for (output, result) in outputs.iter().zip(&results) {
            faults.count_result();
            faults.fail(applied(output, result) != output, || format!("{} is changed again", quoted(output)));
        }
    }
    Ok(faults.verdict("outputs redacted again", false))
}

/// Checks every result.
fn results(all: &[(String, Redacted)], recorder: &mut CheckRecorder<'_>) {
    let mut placeholders = Faults::default();
    let mut findings = Faults::default();
    let mut leaks = Faults::default();
    let mut growth = Faults::default();
    for (text, result) in all {
        let output = applied(text, result);
        placeholders.count_result();
        let removed = removed(text, output);
        placeholders.fail(removed.is_none(), || {
            format!("{} becomes {}, which is not the text with placeholders", quoted(text), quoted(output))
        });
        let longest = text.len() * MAX_GROWTH + FREE_GROWTH;
        growth.count_result();
        growth.fail(output.len() > longest, || format!("{} bytes become {}", text.len(), output.len()));
        findings.count_result();
        findings.fail(output != text && result.findings.is_empty(), || {
            format!("{} is changed, but no rule is named", quoted(text))
        });
        findings.warn(output == text && !result.findings.is_empty(), || {
            format!("{} is unchanged, but a rule is named", quoted(text))
        });
        for finding in &result.findings {
            findings.fail(!is_rule(&finding.rule), || format!("{} is not a valid rule name", quoted(&finding.rule)));
            findings.fail(finding.count == 0, || format!("{} is named with the count 0", quoted(&finding.rule)));
        }
        let mut names: Vec<&str> = result.findings.iter().map(|finding| finding.rule.as_str()).collect();
        names.extend(compare::placeholders(output));
        names.sort_unstable();
        names.dedup();
        let removed = removed.unwrap_or_default().into_iter();
        let secrets: BTreeSet<&str> = removed.filter(|secret| secret.len() >= MIN_LEAK_CHARS).collect();
        for name in names {
            leaks.count_result();
            // A rule's name may contain a word of the text, such as `token`, but not a long part of the secret.
            let leaked = secrets.iter().any(|secret| shares(name, secret));
            leaks.fail(leaked, || "a rule's name contains part of what was replaced".to_owned());
        }
    }
    recorder.note(
        "placeholders",
        "redactor.redacted.text: \"each secret replaced by `[redacted:RULE]` or `[redacted:RULE#TAG]`\"",
        "A redactor only removes text; text that it invents or rewrites was never said.",
        placeholders.verdict("texts", false),
    );
    recorder.note(
        "findings",
        "redactor.finding",
        "Reports say how much each rule replaced; otherwise nobody can tell a mistake from a secret.",
        findings.verdict("texts", false),
    );
    recorder.note(
        "no-leaks",
        "redactor.redacted.findings: \"A finding never contains any part of a secret\"",
        "Reports and logs are read by people who must not see the secret.",
        leaks.verdict("rule names", true),
    );
    recorder.note(
        "growth",
        "redactor.redacted.text",
        "A text that grows with every redaction fills the disk.",
        growth.verdict("texts", false),
    );
}

/// Whether the name contains [`MIN_LEAK_CHARS`] bytes of the secret in a row that include a digit. Rule names are words, so they
/// may share runs of letters with what they name, such as `password`.
fn shares(name: &str, secret: &str) -> bool {
    let runs = secret.as_bytes().windows(MIN_LEAK_CHARS);
    runs.filter(|run| run.iter().any(u8::is_ascii_digit))
        .any(|run| name.as_bytes().windows(MIN_LEAK_CHARS).any(|part| part.eq_ignore_ascii_case(run)))
        || (secret.len() >= 2 * MIN_LEAK_CHARS && name.contains(secret))
}

/// Returns the parts of the text that placeholders replaced in the output, or `None` if the output is not the text with
/// parts replaced.
fn removed<'a>(text: &'a str, output: &str) -> Option<Vec<&'a str>> {
    if text == output {
        return Some(Vec::new());
    }
    let mut kept = pieces(output).into_iter();
    let mut rest = text.strip_prefix(kept.next()?)?;
    let mut removed = Vec::new();
    let mut kept = kept.peekable();
    while let Some(piece) = kept.next() {
        let at =
            if kept.peek().is_none() { rest.ends_with(piece).then(|| rest.len() - piece.len())? } else { rest.find(piece)? };
        removed.push(&rest[..at]);
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty().then_some(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_removed_is_found() {
        let of = removed;
        assert_eq!(of("a b", "a b"), Some(vec![]));
        assert_eq!(of("say tea now", "say [redacted:x] now"), Some(vec!["tea"]));
        assert_eq!(of("tea", "[redacted:x]"), Some(vec!["tea"]));
        assert_eq!(of("a tea a tea a", "a [redacted:x] a [redacted:y] a"), Some(vec!["tea", "tea"]));
        assert_eq!(of("say tea now", "say [redacted:x#0f3] now"), Some(vec!["tea"]));
        assert_eq!(of("say tea now", "say [redacted:x#Tea] now"), None);
        assert_eq!(of("[redacted:x] tea", "[redacted:x] [redacted:y]"), Some(vec!["[redacted:x]", "tea"]));
        assert_eq!(of("say tea now", "say *** now"), None);
        assert_eq!(of("say tea now", "say [redacted:x] then"), None);
        assert_eq!(of("say tea now", "say [redacted:T E A] now"), None);
        assert_eq!(of("a b", "b a"), None);
    }

    #[test]
    fn names_share_words_but_no_secrets() {
        assert!(!shares("password-assignment", "password=hunter22"));
        assert!(shares("found-hunter22", "password=hunter22"));
        assert!(shares("correcthorsebattery", "correcthorsebattery"));
    }
}
