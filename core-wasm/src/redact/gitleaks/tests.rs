//! Tests of a team's file: what it finds, what it allows, what is rejected, and that no expression takes quadratic
//! time.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::redact;
use super::*;

fn team(toml: &str) -> TeamRules {
    let team = TeamRules::new(&[toml.to_owned()]);
    team.compile();
    team
}

fn scrub(text: &str, team: &TeamRules) -> String {
    redact(&[text.to_owned()], team).remove(0).text.unwrap_or_else(|| text.to_owned())
}

/// Scrubs a text by the rules of a file, and asserts that the file has no problems.
fn scrub_with(toml: &str, text: &str) -> String {
    let team = team(toml);
    let scrubbed = scrub(text, &team);
    assert_eq!(team.take_problems(), Vec::<String>::new());
    scrubbed
}

const BADGE: &str = r#"
[[rules]]
id = "Acme_Badge"
regex = '''badge=(\w{4})-(\d+)'''
keywords = ["BADGE="]
"#;

#[test]
fn the_secret_is_the_group_or_the_first_non_empty_one() {
    assert_eq!(scrub_with(BADGE, "a badge=ab12-77 b"), "a badge=[redacted:acme-badge]-77 b");
    assert_eq!(scrub_with(&format!("{BADGE}secretGroup = 2"), "badge=ab12-77"), "badge=ab12-[redacted:acme-badge]");
    assert_eq!(scrub_with("[[rules]]\nid = \"x\"\nregex = 'zq\\d+'", "zq12 zq3"), "[redacted:x] [redacted:x]");
    assert_eq!(scrub_with("[[rules]]\nid = \"x\"\nregex = '(a1)?zq(\\d+)'", "zq12"), "zq[redacted:x]");
}

#[test]
fn a_rule_is_inactive_until_a_keyword_appears() {
    let rule = "[[rules]]\nid = \"x\"\nregex = 'q\\d{4}'\nkeywords = [\"acme\"]";
    assert_eq!(scrub_with(rule, "q1234"), "q1234");
    assert_eq!(scrub_with(rule, "q1234 ACME"), "[redacted:x] ACME");
    let team = team(&rule.replace("'q", "'(q"));
    assert_eq!(scrub("q1234", &team), "q1234");
    assert_eq!(team.take_problems().len(), 1);
    // Keywords that are too short for the table, or no keywords: the rule runs on every text.
    for keywords in ["keywords = [\"q\"]", ""] {
        assert_eq!(scrub_with(&rule.replace("keywords = [\"acme\"]", keywords), "q1234"), "[redacted:x]");
    }
}

#[test]
fn entropy_is_a_floor() {
    let rule = "[[rules]]\nid = \"x\"\nregex = 'zq=(\\w+)'\nentropy = 2.5";
    assert_eq!(scrub_with(rule, "zq=aaaaaaab zq=a1b2c3d4"), "zq=aaaaaaab zq=[redacted:x]");
}

#[test]
fn allowlists_let_stand() {
    let text = "# fixture zq=aa11 zq=bb22\nzq=cc33";
    for (list, expected) in [
        ("[[rules.allowlists]]\nregexes = ['^aa']", "# fixture zq=aa11 zq=[redacted:x]\nzq=[redacted:x]"),
        ("[rules.allowlist]\nstopwords = ['BB']", "# fixture zq=[redacted:x] zq=bb22\nzq=[redacted:x]"),
        (
            "[[rules.allowlists]]\nregexTarget = 'match'\nregexes = ['^zq=c']",
            "# fixture zq=[redacted:x] zq=[redacted:x]\nzq=cc33",
        ),
        (
            "[[rules.allowlists]]\nregexTarget = 'line'\nregexes = ['^# fixture']",
            "# fixture zq=aa11 zq=bb22\nzq=[redacted:x]",
        ),
        (
            "[[rules.allowlists]]\ncondition = 'AND'\nregexes = ['1$']\nstopwords = ['aa']",
            "# fixture zq=aa11 zq=[redacted:x]\nzq=[redacted:x]",
        ),
        (
            "[[rules.allowlists]]\ncondition = 'AND'\nregexes = ['1$']\npaths = ['.*']",
            "# fixture zq=[redacted:x] zq=[redacted:x]\nzq=[redacted:x]",
        ),
        (
            "[[rules.allowlists]]\npaths = ['.*']\ncommits = ['a']",
            "# fixture zq=[redacted:x] zq=[redacted:x]\nzq=[redacted:x]",
        ),
        ("[allowlist]\nregexes = ['.']", text),
        (
            "[[allowlists]]\ntargetRules = ['y']\nregexes = ['.']",
            "# fixture zq=[redacted:x] zq=[redacted:x]\nzq=[redacted:x]",
        ),
        ("[[allowlists]]\ntargetRules = ['y', 'x']\nregexes = ['.']", text),
    ] {
        let file = format!("[[rules]]\nid = 'x'\nregex = 'zq=(\\w+)'\n{list}");
        assert_eq!(scrub_with(&file, text), expected, "{list}");
    }
}

#[test]
fn default_rules_can_be_disabled_narrowed_and_replaced() {
    let text = "DB_PASSWORD=sunny2024 <private>x</private>";
    let off = "[extend]\nuseDefault = true\ndisabledRules = ['generic-password', 'private']";
    assert_eq!(scrub_with(off, text), "DB_PASSWORD=sunny2024 [redacted:private]");
    let narrowed = "[[rules]]\nid = 'generic-password'\n[[rules.allowlists]]\nregexes = ['^sunny']";
    assert_eq!(scrub_with(narrowed, text), "DB_PASSWORD=sunny2024 [redacted:private]");
    assert_eq!(scrub_with(narrowed, "DB_PASSWORD=rainy2024"), "DB_PASSWORD=[redacted:generic-password]");
    let replaced = "[[rules]]\nid = 'generic-password'\nregex = 'PW=(\\w+)'";
    assert_eq!(scrub_with(replaced, "DB_PASSWORD=sunny2024 PW=x1"), "DB_PASSWORD=sunny2024 PW=[redacted:generic-password]");
    let everything = "[[allowlists]]\nregexes = ['.*']";
    assert_eq!(scrub_with(everything, text), "DB_PASSWORD=sunny2024 [redacted:private]");
}

#[test]
fn a_file_changes_what_it_extends() {
    let base = format!("{BADGE}\n[[rules]]\nid = 'x'\nregex = 'zq(\\d+)'");
    let text = "badge=ab12-77 zq1 zq2";
    for (own, expected) in [
        ("title = 'nothing'", "badge=[redacted:acme-badge]-77 zq[redacted:x] zq[redacted:x]"),
        ("[extend]\ndisabledRules = ['Acme_Badge']", "badge=ab12-77 zq[redacted:x] zq[redacted:x]"),
        ("[[rules]]\nid = 'x'\nregex = 'zq2'", "badge=[redacted:acme-badge]-77 zq1 [redacted:x]"),
        (
            "[[rules]]\nid = 'x'\n[[rules.allowlists]]\nregexes = ['^1$']",
            "badge=[redacted:acme-badge]-77 zq1 zq[redacted:x]",
        ),
    ] {
        let team = TeamRules::new(&[base.clone(), own.to_owned()]);
        assert_eq!(scrub(text, &team), expected, "{own}");
        assert_eq!(team.take_problems(), Vec::<String>::new());
    }
}

#[test]
fn rules_of_paths_match_no_text() {
    assert_eq!(scrub_with("[[rules]]\nid = 'x'\npath = '.*'", "anything"), "anything");
    assert_eq!(scrub_with("[[rules]]\nid = 'x'\npath = 'nowhere'\nregex = 'zq\\d'", "zq1"), "[redacted:x]");
}

#[test]
fn the_optional_rules_are_named() {
    let text = "write to kim@acme.kr or +82 10-1234-5678, not to git@github.com:a/b";
    assert_eq!(scrub(text, &TeamRules::empty()), text);
    let team = TeamRules::from_settings(None, Some(r#"["email-address","phone-number"]"#));
    assert_eq!(
        scrub(text, &team),
        "write to [redacted:email-address] or [redacted:phone-number], not to git@github.com:a/b"
    );
}

#[test]
fn problems_are_reported_and_the_other_rules_run() {
    for (file, problem) in [
        ("[[rules]]\nid = 'bad'\nregex = '(?=a)'", "rule bad: look-around"),
        ("[[rules]]\nid = 'bad'\nregex = 'a('", "rule bad: unclosed group"),
        ("[[rules]]\nid = 'bad'\nregex = 'a(b)'\nsecretGroup = 2", "rule bad: its expression has no group 2"),
        ("[[rules]]\nid = 'bad'\nregex = '((a{1000}){1000}){1000}'", "rule bad: it takes more memory"),
        ("[[rules]]\nid = 'bad'\nregex = 7", "rule bad: invalid type"),
        ("[[rules]]\nid = 'bad'", "rule bad: it has neither"),
        ("[[rules]]\nregex = 'a'", "rule : it has no name"),
        ("[[rules]]\nid = 'bad'\nregex = 'a'\n[[rules.required]]\nid = 'x'", "rule bad: it requires"),
        (
            "[[rules]]\nid = 'bad'\nregex = 'a'\n[[rules.allowlists]]\ncondition = 'XOR'\nregexes = ['a']",
            "rule bad: the condition",
        ),
        (
            "[[rules]]\nid = 'bad'\nregex = 'a'\n[[rules.allowlists]]\nregexTarget = 'x'\nregexes = ['a']",
            "rule bad: the target",
        ),
        ("[[rules]]\nid = 'bad'\nregex = 'a'\n[[rules.allowlists]]\nregexes = ['[']", "rule bad: a class is not closed"),
        ("[[allowlists]]\ndescription = 'nothing'", "allowlist: an allowlist without a check"),
        ("[extend]\nurl = 'https://x.test/x.toml'", "extend: nothing is fetched"),
    ] {
        let team = team(&format!("{file}\n[[rules]]\nid = 'good'\nregex = 'zq\\d'"));
        assert_eq!(scrub("zq1", &team), "[redacted:good]", "{file}");
        let problems = team.take_problems();
        assert!(problems.iter().any(|told| told.starts_with(problem)), "{problems:?}");
        assert!(team.take_problems().is_empty());
    }
    let torn = TeamRules::new(&["title = 'x'\n[[rules".to_owned(), BADGE.to_owned()]);
    assert_eq!(scrub("badge=ab12-1", &torn), "badge=[redacted:acme-badge]-1");
    let problems = torn.take_problems();
    assert!(problems[0].starts_with("file 1 of rules: line 2 is no TOML"), "{problems:?}");
    let team = TeamRules::from_settings(Some("7"), Some("[1]"));
    assert_eq!(team.take_problems().len(), 2);
    assert_eq!(scrub("DB_PASSWORD=sunny2024", &team), "DB_PASSWORD=[redacted:generic-password]");
}

#[test]
fn keys_are_case_insensitive_and_unknown_ones_are_ignored() {
    let file = "TITLE = 'x'\n[[Rules]]\nID = 'x'\nRegex = 'a(b)(c)'\nSECRETGROUP = 2\ntags = ['t']\ndescription = 'd'";
    assert_eq!(scrub_with(file, "abc"), "ab[redacted:x]");
}

#[test]
fn pathological_expressions_stay_linear() {
    for (regex, piece) in [
        ("(a+)+$", "a"),
        ("(a|a)*b", "a"),
        ("(x+x+)+y", "x"),
        ("a.*z|a", "a"),
        ("(.*)(.*)(.*)(.*)q", "ab"),
        ("[ab]*a[ab]{12}c", "ab"),
        (r"(?i)(?:key|token).{0,200}secret", "key token "),
        (r"\b", "a b"),
        ("", "a"),
    ] {
        let team = team(&format!("[[rules]]\nid = 'x'\nregex = '''{regex}'''"));
        let fastest = |length: usize| {
            let text = piece.repeat(length / piece.len());
            let run = || {
                let begun = Instant::now();
                scrub(&text, &team);
                begun.elapsed()
            };
            (0..2).map(|_| run()).min().unwrap_or_default()
        };
        let (short, long) = (fastest(20_000), fastest(80_000));
        let most = short.max(Duration::from_millis(20)) * 12;
        assert!(long < most, "{regex}: {short:?} for 20 kB, {long:?} for 80 kB");
    }
}

#[test]
fn long_matches_and_late_ones_are_found() {
    let rule = "[[rules]]\nid = 'x'\nregex = 'BEGIN[a-z ]*END'";
    let text = format!("{}BEGIN{}END tail", "- ".repeat(40_000), "ab ".repeat(8_000));
    assert_eq!(scrub_with(rule, &text), format!("{}[redacted:x] tail", "- ".repeat(40_000)));
}

/// Expressions that a team could write.
fn expression() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        Just("[a-z]".to_owned()),
        Just(r"\b".to_owned()),
        Just(r"\w".to_owned()),
        Just(r"\S".to_owned()),
        Just(".".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just("(a|b)".to_owned()),
        Just("(=)".to_owned()),
        Just(r"\d".to_owned()),
        Just("red".to_owned()),
    ];
    prop::collection::vec((atom, prop_oneof![Just(""), Just("+"), Just("*"), Just("{2}")]), 1..4)
        .prop_map(|atoms| atoms.into_iter().map(|(atom, count)| atom + count).collect())
}

proptest! {
    #[test]
    fn placeholders_are_never_altered(
        regex in expression(),
        pieces in prop::collection::vec(prop_oneof![
            Just("[redacted:jwt]".to_owned()),
            Just("[redacted:".to_owned()),
            Just("한글".to_owned()),
            Just("password=Hunter22x ".to_owned()),
            "[ab1= \n]{1,4}",
        ], 0..10),
    ) {
        let team = TeamRules::new(&[format!("[[rules]]\nid = 'x'\nregex = '''{regex}'''")]);
        let text = pieces.concat();
        let before = text.matches("[redacted:jwt]").count();
        let once = scrub(&text, &team);
        prop_assert_eq!(once.matches("[redacted:jwt]").count(), before, "{}", once);
    }

    #[test]
    fn any_file_is_handled(file in r"(\[\[?(rules|allowlists|extend|rules\.allowlists)\]\]?|id = '[a-z]'|regex = '[a-z(\[*\\]{0,4}'|keywords = \['[a-z]{0,4}'\]|\n|[a-z=\[\]' ]){0,12}") {
        let team = TeamRules::new(&[file]);
        team.compile();
        scrub("a text [redacted:jwt] with aaaa", &team);
        prop_assert!(team.take_problems().len() <= MAX_PROBLEMS);
    }
}

/// A user's file against forced redaction: every way in which it could switch rules off.
#[test]
fn added_rules_cannot_switch_off_another_rule() {
    let secret = "DB_PASSWORD=sunny2024 and badge=ab12-77";
    let expected = "DB_PASSWORD=[redacted:generic-password] and badge=[redacted:acme-badge]-77";
    let managed = serde_json::to_string(&[BADGE]).unwrap();
    for attack in [
        "",
        "[[allowlists]]\nregexes = ['.*']\nregexTarget = 'line'",
        "[allowlist]\nstopwords = ['sunny', 'ab12']",
        "[[allowlists]]\ntargetRules = ['acme-badge', 'generic-password']\nregexes = ['.']",
        "[extend]\ndisabledRules = ['generic-password', 'acme-badge', 'Acme_Badge']",
        "[[rules]]\nid = 'generic-password'\nregex = 'nothing-like-it'",
        "[[rules]]\nid = 'acme-badge'\nregex = 'nothing-like-it'",
        "[[rules]]\nid = 'acme-badge'\n[[rules.allowlists]]\nregexes = ['.*']",
        "[[rules]]\nid = 'generic-password'\n[rules.allowlist]\nregexes = ['.*']",
        "[[rules]]\nid = 'acme-badge'\nregex = 'x'\nskipReport = true",
        "this is no TOML",
    ] {
        let added = serde_json::to_string(&[attack]).unwrap();
        let team = TeamRules::from_settings(Some(&managed), None).with_added(Some(&added));
        assert_eq!(scrub(secret, &team), expected, "{attack}");
    }
    // Rules that eat what other rules look for come too late …
    let eats = r#"["[[rules]]\nid = 'eats'\nregex = 'PASSWORD|badge|n|b1'"]"#;
    let team = TeamRules::from_settings(Some(&managed), None).with_added(Some(eats));
    let scrubbed = scrub(secret, &team);
    assert!(!scrubbed.contains("sunny") && !scrubbed.contains("ab12"), "{scrubbed}");
    // … and so many rules that there is no room for others leave the administrator's alone.
    let rule = |at| format!("[[rules]]\nid = 'r{at}'\nregex = 'zz{at}'\nkeywords = ['zz{at}']\n");
    let many = (0..=MAX_RULES).map(rule).collect::<Vec<_>>().concat();
    let team = TeamRules::from_settings(Some(&managed), None).with_added(Some(&serde_json::to_string(&[many]).unwrap()));
    assert_eq!(scrub(secret, &team), expected);
    let team = TeamRules::from_settings(Some(&managed), None).with_added(Some("7"));
    assert_eq!(scrub(secret, &team), expected);
    assert_eq!(team.take_problems().len(), 1);
}

#[test]
fn added_rules_find_more() {
    let own = "[[rules]]\nid = 'mine'\nregex = 'zq\\d+'\n[[rules.allowlists]]\nregexes = ['^zq0$']";
    let added = serde_json::to_string(&[own]).unwrap();
    let team = TeamRules::from_settings(None, None).with_added(Some(&added));
    assert_eq!(
        scrub("zq0 zq12 DB_PASSWORD=sunny2024", &team),
        "zq0 [redacted:mine] DB_PASSWORD=[redacted:generic-password]"
    );
}

#[test]
fn a_short_match_inside_a_long_one_uncovers_nothing() {
    let rules = "[[rules]]\nid = 'long'\nregex = 'zq-\\w{12}'\n[[rules]]\nid = 'short'\nregex = 'w1'\n";
    assert_eq!(scrub_with(rules, "a zq-w1abcdefghij b"), "a [redacted:long] b");
}
