//! Sentences that say that something waits for somebody, or is not done.

use std::borrow::Cow;

use crate::text;

/// Words of a sentence that says that something waits for somebody, or is not done.
const WAITS: &[&str] = &[
    "let me know when",
    "let me know which",
    "let me know whether",
    "say the word",
    "tell me when",
    "tell me which",
    "when you're ready",
    "when you are ready",
    "up to you",
    "your call",
    "you'll need to",
    "you will need to",
    "you'd need to",
    "you need to",
    "you'll have to",
    "you should",
    "waiting on",
    "waiting for",
    "hold off",
    "holding off",
    "still running",
    "worth a check",
    "worth checking",
    "worth verifying",
    "worth confirming",
    "still needs",
    "still need to",
    "still need",
    "still has to",
    "still have to",
    "still pending",
    "still open",
    "still to be",
    "still to do",
    "still unresolved",
    "still uncommitted",
    "still outstanding",
    "needs to be updated",
    "not yet",
    "n't yet",
    "haven't been",
    "hasn't been",
    "remains open",
    "remains to be",
    "never been",
    "one step left",
    "left for you",
    "needs a human",
    "needs you to",
    "to handle separately",
    "in a follow-up",
    "worth a follow-up",
    "a force-push",
    "to force-push",
    "a force push",
    "to force push",
    "next step is",
    "next step:",
    "next action",
    "once it lands",
    "once that lands",
    "once it's merged",
    "once that merges",
    "merge this",
    "to be decided",
    "not decided",
    "unposted",
    "was denied",
    "were denied",
    "아직",
    "미구현입니다",
    "미구현 상태",
    "미완료입니다",
    "구현되지 않았습니다",
    "구현하지 않았습니다",
    "필요합니다",
    "해야 합니다",
    "하셔야",
    "まだ",
    "未実装です",
    "未実装のまま",
    "未対応です",
    "未対応のまま",
    "未着手です",
    "未完了です",
    "実装していません",
    "必要があります",
    "してください",
    "尚未",
    "还需要",
    "需要您",
    "需要你",
];

/// Words of an offer that any answer may end with.
const COURTESIES: &[&str] = &[
    "if you have",
    "any questions",
    "anything else",
    "feel free",
    "happy to",
    "if you'd like me to",
    "if you want me to",
    "hope this",
    "/clear",
    "per your call",
    "if you want",
    "if you'd like",
    "필요하시면",
    "원하시면",
    "気になる",
    "必要であれば",
    "必要に応じて",
    "指摘してください",
    "教えてください",
    "お知らせください",
    "알려주세요",
    "알려 주세요",
    "말씀해주세요",
    "말씀해 주세요",
];

/// Returns whether a sentence in lower case says that something waits for somebody, or is not done.
pub(super) fn waits(lower: &str) -> bool {
    // What would be if something else happened is no state.
    let is_condition = ["if ", "in that case", "in this case"].iter().any(|opening| lower.starts_with(opening))
        || lower.starts_with("your call")
        || lower.starts_with("say the word")
        || text::contains_any(lower, &["if you need", "if you ever need", ", but now ", "instead of waiting"])
        || text::contains_any(lower, COURTESIES)
        || is_case(lower)
        || is_expected(lower);
    let said = without_quotations(lower);
    !is_condition
        && !was_found_waiting(&said)
        && !lower.ends_with(['?', '？'])
        && text::contains_any_words(&said, WAITS)
        && !is_of_program(&said)
}

/// Returns whether a sentence in lower case only says for what a program waits, or what it runs: "The drawer is waiting for the key".
fn is_of_program(lower: &str) -> bool {
    const RUNS: [&str; 3] = ["waiting for", "waiting on", "still running"];
    // Who waits, or for whom: then it is the work that waits.
    const OF_WORK: [&str; 30] = [
        "you",
        "your",
        "you're",
        "i",
        "i'm",
        "we",
        "we're",
        "user",
        "review",
        "reviewer",
        "approval",
        "merge",
        "pr",
        "ci",
        "checks",
        "check",
        "build",
        "job",
        "workflow",
        "release",
        "agent",
        "agents",
        "test",
        "tests",
        "suite",
        "decision",
        "answer",
        "background",
        "ack",
        "upstream",
    ];
    let others = || WAITS.iter().filter(|sign| !RUNS.contains(sign)).any(|sign| text::contains_any_words(lower, &[*sign]));
    let opens = || ["waiting", "still"].iter().any(|word| text::starts_with_words(lower, word));
    text::contains_any_words(lower, &RUNS) && !text::contains_any_words(lower, &OF_WORK) && !opens() && !others()
}

/// Returns whether a sentence in lower case tells what waited at some time in the past: "the log showed the drawer waiting for the key".
fn was_found_waiting(lower: &str) -> bool {
    const WAITED: [&str; 4] = ["was waiting", "were waiting", "had been waiting", "kept waiting"];
    let before = lower.split_once("waiting").map_or("", |(before, _)| before);
    text::contains_any_words(lower, &WAITED) || text::contains_any_words(before, &["showed", "found", "hung", "was", "were"])
}

/// Returns whether a sentence in lower case says what somebody will notice and not what there is to do: "you should see the total".
fn is_expected(lower: &str) -> bool {
    const NOTICES: [&str; 8] = ["see", "notice", "find", "get", "be", "expect", "hear", "observe"];
    let after = |(_, rest): (&str, &str)| {
        let mut words =
            rest.split_whitespace().skip_while(|word| matches!(*word, "now" | "also" | "then" | "still" | "only"));
        words.next().is_some_and(|word| NOTICES.contains(&word))
    };
    lower.split_once("you should ").is_some_and(after)
}

/// Returns a sentence without what stands between corner brackets: those are other words.
fn without_quotations(sentence: &str) -> Cow<'_, str> {
    if !sentence.contains('「') {
        return Cow::Borrowed(sentence);
    }
    let outside = sentence.split('「').enumerate().map(|(at, part)| match part.split_once('」') {
        Some((_, rest)) if at > 0 => rest,
        _ => part,
    });
    Cow::Owned(outside.collect())
}

/// Returns whether a sentence in lower case says what holds in the case that something is not there yet: "shown only if not yet paid",
/// "Not yet paid: it is shown".
fn is_case(lower: &str) -> bool {
    const MAX_LABEL_CHARS: usize = 30;
    let is_label = lower
        .split_once(": ")
        .is_some_and(|(label, _)| label.starts_with("not yet ") && label.chars().count() <= MAX_LABEL_CHARS);
    // "added only if their path hasn't been seen"
    let of_case = |(before, _): (&str, &str)| {
        let clause = before.rsplit([',', ';', ':']).next().unwrap_or_default();
        text::contains_any_words(clause, &["if", "unless", "until", "when", "whether"])
    };
    let mut negatives = [" hasn't been", " haven't been"].iter().filter_map(|words| lower.split_once(words));
    let is_negative_case = negatives.any(of_case);
    is_label
        || is_negative_case
        || lower
            .split_once(" yet")
            .and_then(|(before, _)| before.rsplit_once(" if "))
            .is_some_and(|(_, case)| text::contains_words(case, "not") || case.contains("n't"))
}

#[cfg(test)]
mod tests {
    use crate::extract::prose::open_points;

    #[test]
    fn sentences_that_wait_for_somebody() {
        let answer = "Both branches are rebased. They will need a force-push when you're ready. Let me know if you have any questions.";
        assert_eq!(
            open_points(answer),
            ["Both branches are rebased. They will need a force-push when you're ready."],
            "a pronoun takes what it points to"
        );
        assert!(open_points("The total is rounded. All tests pass.").is_empty());
        assert!(open_points("The tests look for the slip now instead of waiting for the drawer.").is_empty());
        assert!(open_points("The log showed the till waiting for the user, who never came.").is_empty());
        assert!(open_points("If it still fails, you need to restart the server.").is_empty());
        assert!(open_points("In that case you should fall back to the drawer of the other till.").is_empty());
        assert!(open_points("Receipts are added only if their number hasn't been seen before.").is_empty());
    }
}
