//! The default rules over any text: nothing panics, only placeholders are put in, and it comes to an end. That is not always
//! after one call: what was taken out may have kept a number away from the word that says what it is.
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
