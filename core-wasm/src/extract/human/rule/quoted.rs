//! Words that somebody else said: what stands in quotation marks, and what the user only reports.

use crate::text;
use std::ops::Range;

/// Marks that open a quotation, each with those that close it.
const MARKS: [(char, &[char]); 13] = [
    ('"', &['"']),
    ('\'', &['\'']),
    ('`', &['`']),
    ('“', &['”', '“']),
    ('„', &['“', '”']),
    ('‘', &['’']),
    ('«', &['»']),
    ('»', &['«']),
    ('‹', &['›']),
    ('「', &['」']),
    ('『', &['』']),
    ('《', &['》']),
    ('＂', &['＂']),
];

/// Returns where quoted words stand in a text, without their marks.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let (mut all, mut end) = (Vec::new(), 0);
    for (at, mark) in text.char_indices() {
        let inside = at + mark.len_utf8();
        let Some((_, closing)) = MARKS.iter().find(|(open, _)| *open == mark).filter(|_| at >= end) else { continue };
        let is_wide = !matches!(mark, '"' | '\'' | '`' | '‘');
        let opens = is_wide || !text[..at].ends_with(char::is_alphanumeric);
        if !opens || text[inside..].starts_with(char::is_whitespace) && !matches!(mark, '«' | '„') {
            continue;
        }
        // An apostrophe has a letter behind it.
        let is_end = |to: &usize| {
            let behind = text[inside + to..].chars().nth(1);
            is_wide || *to > 0 && behind.is_none_or(|c| !c.is_ascii_alphanumeric())
        };
        let close = text[inside..].match_indices(*closing).map(|(to, _)| to).find(is_end);
        if let Some(to) = close {
            all.push(inside..inside + to);
            end = inside + to + 1;
        }
    }
    all
}

/// Returns whether quoted words say something, and are no name.
fn says_something(quoted: &str) -> bool {
    const MIN_WORDS: usize = 2;
    const MIN_WIDE_CHARS: usize = 4;
    quoted.split_whitespace().count() >= MIN_WORDS
        || quoted.chars().filter(|c| !c.is_ascii()).count() >= MIN_WIDE_CHARS
        || matches!(quoted, "always" | "never")
}

/// Returns whether the user makes what is quoted their own: they repeat themselves, or want it kept as a rule.
fn takes_over(around: &str) -> bool {
    const OWN: [&str; 20] = [
        "i said",
        "i told",
        "i've told",
        "i have told",
        "i asked",
        "i meant",
        "i repeat",
        "my rule",
        "remember",
        "memorize",
        "claude.md",
        "agents.md",
        "기억해",
        "내가 말",
        "했잖아",
        "覚えて",
        "と言った",
        "记住",
        "我说过",
        "ich sagte",
    ];
    text::contains_any_words(&around.to_lowercase(), &OWN)
}

/// Returns a sentence without what it quotes. The marks stay.
pub(super) fn without_quoted(sentence: &str) -> String {
    let mut around = sentence.to_owned();
    for range in quoted(sentence).into_iter().rev().filter(|range| says_something(&sentence[range.clone()])) {
        around.replace_range(range, "");
    }
    if takes_over(&around) { sentence.to_owned() } else { around }
}

/// Returns the passages of a text that are quoted and that the user does not make their own, each on one line without marks of Markdown.
pub(in crate::extract::human) fn quotations(text: &str) -> Vec<String> {
    let of_paragraph = |paragraph: &str| {
        let passages = quoted(paragraph);
        let mut around = paragraph.to_owned();
        passages.iter().rev().for_each(|range| around.replace_range(range.clone(), ""));
        let is_own = takes_over(&around);
        let passages = passages.into_iter().filter(move |_| !is_own);
        let plain = |passage: &str| passage.lines().map(text::plain).collect::<Vec<_>>().join(" ");
        passages.map(|range| plain(&paragraph[range])).collect::<Vec<_>>()
    };
    text.split("\n\n").flat_map(of_paragraph).collect()
}

/// Returns a sentence without its parts that stand in a quotation. A quotation of some sentences begins or ends within one.
pub(in crate::extract::human) fn outside(sentence: &str, quotations: &[String]) -> String {
    const ENDS: &str = "\"“”„«»「」『』《》`";
    let is_quoted = |part: &str| {
        let part = part.trim_matches(|c: char| c == '\'' || c.is_whitespace());
        says_something(part) && quotations.iter().any(|quotation| quotation.contains(part))
    };
    let parts = sentence.split_inclusive(|c: char| ENDS.contains(c));
    parts.filter(|part| !is_quoted(part.trim_end_matches(|c: char| ENDS.contains(c)))).collect()
}

/// Returns whether a sentence in lower case gives a text to work on behind a colon: "translate to German: …", "the title is: …". What is
/// still to be done is no rule either.
fn is_given_text(said: &str) -> bool {
    const WORK: [&str; 11] = [
        "translate",
        "summarise",
        "summarize",
        "explain",
        "rephrase",
        "proofread",
        "rewrite",
        "reword",
        "shorten",
        "todo",
        "fixme",
    ];
    const TEXTS: [&str; 8] =
        ["message is", "title is", "text is", "error is", "this sentence", "this text", "this line", "this paragraph"];
    said.split_once(": ").is_some_and(|(lead, _)| {
        WORK.iter().any(|verb| text::starts_with_words(lead, verb)) || TEXTS.iter().any(|text| lead.ends_with(text))
    })
}

/// Returns whether a sentence in lower case only reports what somebody else said: "the guide says to always …", "Anna wrote: never …".
/// Whoever draws a rule from it says "so".
pub(super) fn is_reported(lower: &str) -> bool {
    const SPEAKERS: [&str; 24] = [
        "docs",
        "documentation",
        "readme",
        "article",
        "guide",
        "manual",
        "page",
        "website",
        "wiki",
        "issue",
        "ticket",
        "log",
        "error",
        "warning",
        "bot",
        "linter",
        "message",
        "mail",
        "email",
        "reviewer",
        "he",
        "she",
        "they",
        "someone",
    ];
    const VERBS: [&str; 10] =
        ["say", "says", "said", "state", "states", "recommends", "recommend", "suggests", "reads", "wrote"];
    const COLONS: [&str; 12] = [
        " says: ",
        " said: ",
        " wrote: ",
        " writes: ",
        " reads: ",
        " says, ",
        " schrieb: ",
        " sagt: ",
        " schreibt: ",
        " escribió: ",
        " dice: ",
        " dijo: ",
    ];
    const ENDINGS: [&str; 22] = [
        "と言っていた",
        "と言っていました",
        "と言ってました",
        "と言われた",
        "と言われました",
        "と書いてある",
        "と書いてあった",
        "と書いてあります",
        "と書かれている",
        "と書かれていた",
        "とのこと",
        "とのことです",
        "라고 하네",
        "라고 하네요",
        "라고 하던데",
        "라고 적혀 있어",
        "라고 써 있어",
        "라고 쓰여 있어",
        "라고 했대",
        "라고 한다",
        "라고 하더라",
        "라고 나와",
    ];
    const OPENINGS: [&str; 8] = ["他说", "她说", "他们说", "文档说", "文档里说", "同事说", "上面写着", "文档写着"];
    let said = lower.trim();
    let end = said.trim_end_matches(['.', '!', '。', '！', '"', ')']);
    if ENDINGS.iter().any(|ending| end.ends_with(ending)) || OPENINGS.iter().any(|opening| said.starts_with(opening)) {
        return true;
    }
    if is_given_text(said) {
        return true;
    }
    if text::contains_words(said, "so") {
        return false;
    }
    let by_other = |at: usize| !matches!(said[..at].rsplit(' ').next(), Some("i" | "we" | "you"));
    let words: Vec<&str> = said.split(' ').collect();
    let speaks = |pair: &[&str]| SPEAKERS.contains(&pair[0]) && VERBS.contains(&pair[1].trim_end_matches([':', ',']));
    COLONS.iter().any(|colon| said.find(colon).is_some_and(by_other)) || words.windows(2).take(6).any(speaks)
}

#[cfg(test)]
mod tests {
    use super::super::super::directives;
    use crate::extract::human::is_rule;

    #[test]
    fn what_is_quoted_is_no_rule() {
        let mut through = Vec::new();
        for said in [
            "the slip reads \"from now on always close the till twice\", what does it mean for us",
            "it prints “Never open the drawer. Always close the till. We use the key.” and I stop there",
            "what does 'always close the till first' do here, we wonder",
            "der Zettel sagt „from now on always close the till“ und wir lachen",
            "el papel dice «from now on always close the till» y ya",
            "画面に「今後は必ず引き出しを数えてから閉めてください」と出ているので消して",
            "画面に「引き出しを開けます。今後は必ず数えてください。終わり。」と出るのを直して",
            "화면에 「앞으로 항상 금고를 세어줘」라고 나오는 것을 고쳐줘",
            "把“以后每次都先数抽屉”这句话删掉",
            "\"don't use the till command\"",
            "the key `always close the till first` should be green",
            "\"From now on always close the till.\nNever open the drawer.\nWe use the key.\"",
        ] {
            through.extend(directives(said, true).rules);
        }
        assert!(through.is_empty(), "{through:#?}");
    }

    #[test]
    fn what_is_reported_is_no_rule() {
        for said in [
            "the guide says to always close the till first",
            "Anna wrote: never open the drawer without the key",
            "The linter says we must never open the drawer",
            "必ず引き出しを数えるようにと書いてあります",
            "앞으로 항상 금고를 세라고 하던데",
            "他说以后每次都先数抽屉",
            "translate to German: from now on always close the till",
            "Fix the typo in this sentence: we always close the till",
            "the commit message is: never open the drawer",
            "TODO: always close the till first",
        ] {
            assert!(!is_rule(said), "{said}");
        }
        for said in [
            "the guide says it rings, so we always close the till first",
            "as I said: never open the drawer without the key",
            "we must never open the drawer, whatever the guide says",
        ] {
            assert!(is_rule(said), "{said}");
        }
    }

    #[test]
    fn a_rule_may_quote() {
        let mut lost = Vec::new();
        for said in [
            "Always print \"no slip today\" at the end",
            "from now on call it \"the night till\" and nothing else",
            "I told you \"never open the drawer at night\"!",
            "add \"always close the till first\" to CLAUDE.md",
            "remember: 'always close the till first'",
            "今後は必ず「引き出しを閉めました」と書いてください",
            "앞으로 항상 \"금고\"라고 써줘",
            "以后每次都写“抽屉已关”",
            "never say it's the drawer's till, that's the shop's",
            "Always run `till count twice` before you close",
        ] {
            lost.extend(directives(said, true).rules.is_empty().then_some(said));
        }
        assert!(lost.is_empty(), "{lost:#?}");
    }
}
