//! The default redactor over the corpus: most of what must go goes, and next to nothing else.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tests::redaction::{corpus, measure};
use throughline_default_policy::redact::scrub;

#[test]
fn the_corpus_is_large_enough() {
    let (positive, negative) = corpus().unwrap();
    assert!(positive.len() >= 600 && negative.len() >= 600, "{} and {}", positive.len(), negative.len());
    assert!(positive.iter().all(|case| !case.secrets.is_empty()));
    assert!(negative.iter().all(|case| case.secrets.is_empty()));
}

#[test]
fn recall_and_precision_are_high() {
    let report = measure(|text| scrub(text).into_owned()).unwrap();
    let (recall, precision) = (report.recall(), report.precision());
    assert!(recall >= 0.98 && precision >= 0.97, "recall {recall}, precision {precision}\n{}", report.wrong.join("\n"));
}

/// Each default rule that runs unasked finds something in the corpus.
#[test]
fn no_rule_is_without_a_case() {
    let file: toml::Table = toml::from_str(include_str!("../../../core-wasm/rules/default.toml")).unwrap();
    let mut unmet: BTreeSet<&str> = file["rules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|rule| rule.get("optional").is_none())
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    // It finds what is there already.
    unmet.remove("placeholder");
    for case in corpus().unwrap().0 {
        let text = scrub(&case.text);
        for part in text.split("[redacted:").skip(1) {
            unmet.remove(part.split(']').next().unwrap_or_default());
        }
    }
    assert!(unmet.is_empty(), "{unmet:?}");
}

#[test]
fn redacting_twice_changes_nothing() {
    let (positive, negative) = corpus().unwrap();
    for case in positive.iter().chain(&negative) {
        let once = scrub(&case.text).into_owned();
        assert_eq!(scrub(&once), once, "{}", case.text);
    }
}

#[test]
fn a_line_of_two_megabytes_is_no_trouble() {
    /// Far above what it takes even in a debug build on a busy machine; a search in quadratic time takes hours.
    const MOST: Duration = Duration::from_mins(1);
    for piece in [
        "1234 ",
        "password='x",
        "eyJ",
        "://x:y",
        "-----BEGIN PRIVATE KEY-----A",
        "cookie: a=b;",
        "kind: Secret data: a: b ",
        "{\"kty\":",
        "insert into a (token) values ('",
        "auth token ",
    ] {
        let text = piece.repeat(2_000_000 / piece.len());
        let begun = Instant::now();
        scrub(&text);
        assert!(begun.elapsed() < MOST, "{piece}: {:?}", begun.elapsed());
    }
}

/// The figures in docs/privacy.md are those of this corpus.
#[test]
fn the_privacy_page_has_the_measured_figures() {
    let page = include_str!("../../../docs/privacy.md");
    let report = measure(|text| scrub(text).into_owned()).unwrap();
    let mut innocent = (0, 0);
    for ((is_innocent, family), counts) in &report.families {
        let wrong = counts.missed + counts.spoiled;
        if *is_innocent {
            innocent = (innocent.0 + counts.cases, innocent.1 + wrong);
            continue;
        }
        let right = f64::from(counts.cases - wrong) / f64::from(counts.cases);
        let figures = format!("| {} | {right:.3} |", counts.cases);
        let told = page.lines().any(|line| line.starts_with(&format!("| {family}")) && line.ends_with(&figures));
        assert!(told, "docs/privacy.md does not say of {family}: {figures}");
    }
    let right = f64::from(innocent.0 - innocent.1) / f64::from(innocent.0);
    let figures = [
        format!("| {} | {right:.3} |", innocent.0),
        format!("Recall {:.4}, precision {:.1}", report.recall(), report.precision()),
    ];
    for figure in figures {
        assert!(page.contains(&figure), "docs/privacy.md does not say: {figure}");
    }
}
