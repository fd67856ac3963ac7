//! Fuzzes a team's rule file and a text, separated by a zero byte. Nothing may panic, and problems must be reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_default_policy::redact::gitleaks::TeamRules;
use throughline_default_policy::redact::redact;

fuzz_target!(|input: &str| {
    let (rules, text) = input.split_once('\0').unwrap_or((input, "badge=ab12-77 password='hunter22'"));
    let team = TeamRules::new(&[rules.to_owned()]);
    let texts = [text.to_owned()];
    let found = redact(&texts, &team);
    assert_eq!(found.len(), 1);
    assert!(found[0].text.is_some() || found[0].findings.is_empty());
    team.compile();
    assert!(team.take_problems().len() <= 64);
});
