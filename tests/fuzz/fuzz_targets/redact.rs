//! Fuzzes the default rules with any text. Nothing may panic, only placeholders may be inserted, and repeated redaction
//! must end. One call is not always enough: a removed secret may have separated a number from the word that identifies
//! it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_default_policy::redact::scrub;

fuzz_target!(|text: &str| {
    let mut text = text.to_owned();
    for _ in 0..64 {
        let next = scrub(&text).into_owned();
        if next == text {
            return;
        }
        let placeholders = next.matches("[redacted:").count();
        assert!(placeholders > 0, "the text changed, and nothing says so");
        assert!(next.len() <= text.len() + placeholders * 64, "more was put in than placeholders");
        text = next;
    }
    panic!("it finds more and more");
});
