//! The default redactor over the corpus: most of what must go goes, and next to nothing else.

use core_wasm::redact::scrub;
use tests::redaction::{corpus, measure};

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

#[test]
fn redacting_twice_changes_nothing() {
    let (positive, negative) = corpus().unwrap();
    for case in positive.iter().chain(&negative) {
        let once = scrub(&case.text).into_owned();
        assert_eq!(scrub(&once), once, "{}", case.text);
    }
}
