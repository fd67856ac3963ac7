//! Interprets the user's prompts: requests, consents, chores, standing rules and corrections.

use super::labels::Labels;
use crate::query::form::PromptForm;
use crate::text::{self, Language};

/// Openings of prompts that the client writes around a plan.
const PLAN_OPENINGS: &[&str] = &[
    "Implement the following plan:",
    "Please implement this plan:",
    "Please implement the following plan:",
    "Execute the following plan:",
];

/// Returns the plan that a prompt asks the agent to carry out, without the text that the client adds. None for every
/// other prompt.
pub(super) fn plan(prompt: &str) -> Option<&str> {
    let rest = PLAN_OPENINGS.iter().find_map(|opening| prompt.trim_start().strip_prefix(opening))?;
    let end = rest.find("If you need specific details from before exiting plan mode").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// Returns the title of a plan or another document.
pub(super) fn title(document: &str) -> Option<String> {
    let heading = document.lines().map(str::trim).find(|line| line.starts_with('#'))?;
    let title = text::plain(heading);
    (!title.is_empty()).then_some(title)
}

/// Returns the essence of the request, on one line of at most `max` characters.
pub(super) fn request_summary(prompt: &str, max: usize, labels: &Labels) -> String {
    if let Some(plan) = plan(prompt) {
        let name = title(plan).or_else(|| text::first_sentence(plan)).unwrap_or_default();
        let name = name.strip_prefix("Plan:").unwrap_or(&name).trim();
        return labels.plan.replace("{}", &text::clip(name, max.saturating_sub(24)));
    }
    if prompt.starts_with('/') {
        return text::clip(&text::one_line(prompt), max).into_owned();
    }
    if let Some(said) = own_words_below(prompt) {
        return request_summary(said, max, labels);
    }
    if let Some(issue) = issue_title(prompt) {
        return text::clip(&issue, max).into_owned();
    }
    // If the prompt is a document, its title names it.
    if prompt.len() > 1500
        && prompt.trim_start().starts_with('#')
        && let Some(title) = title(prompt)
    {
        return text::clip(&title, max).into_owned();
    }
    let mut said = String::new();
    // Pasted banners are drawn with these characters.
    let prompt: String = prompt.chars().filter(|c| !('\u{2500}'..='\u{259f}').contains(c)).collect();
    // Some terminals end a line that goes on with a backslash.
    let lines = prompt.lines().filter(|line| !is_banner(line)).map(|line| line.trim_end_matches(['\\', ' ']));
    let prompt: String = lines.collect::<Vec<_>>().join("\n");
    let all: Vec<String> = text::sentences(&prompt).iter().map(|sentence| strip_mentions(sentence)).collect();
    let is_pasted = |sentence: &str| looks_pasted(sentence) || sentence.trim_end_matches([' ', '\\']).ends_with(['{', ';']);
    // A line that leads to pasted text says nothing without it.
    let leads_to_paste = |at: usize| {
        let next = all.get(at + 1).map_or("", |next| next.trim_end_matches([' ', '\\']));
        all[at].trim_end_matches([' ', '\\']).ends_with(':') && is_pasted(next)
    };
    let is_own = |at: &usize| {
        let sentence = &all[*at];
        !is_greeting(sentence) && !sentence.starts_with("[Image") && !is_pasted(sentence) && !leads_to_paste(*at)
    };
    let sentences: Vec<&String> = (0..all.len()).filter(is_own).map(|at| &all[at]).collect();
    for (at, sentence) in sentences.iter().enumerate() {
        // A standing rule next to the request is remembered separately.
        if !said.is_empty() && (is_rule(sentence) || said.chars().count() + sentence.chars().count() > max) {
            break;
        }
        if !said.is_empty() {
            said.push(' ');
        }
        said.push_str(sentence);
        // Short openings need the next sentence. Everything after one or two sentences is detail, unless the order itself
        // comes later.
        if ends_in_colon(&said) && at + 1 < sentences.len() {
            continue;
        }
        if said.chars().count() >= if said.is_ascii() { 90 } else { 40 } {
            let is_told = sentences[..=at].iter().any(|sentence| is_order(sentence));
            let order = sentences[at + 1..].iter().find(|sentence| is_order(sentence)).filter(|_| !is_told);
            if let Some(order) = order {
                said =
                    format!("{} … {order}", text::clip(&said, max.saturating_sub(order.chars().count() + 3).max(max / 3)));
            }
            break;
        }
    }
    if said.is_empty() {
        said = text::one_line(&prompt);
    }
    // What a colon led to may be a picture or code.
    let said = said.trim_end_matches([':', '：', ' ', '\\']);
    text::clip(said, max).into_owned()
}

/// Returns whether a text leads to something that follows.
fn ends_in_colon(said: &str) -> bool {
    said.trim_end_matches([' ', '\\']).ends_with([':', '：'])
}

/// Returns what the human wrote below pasted text: the last paragraph, if it is in a language other than the text's, or if it
/// orders something and the text does not begin with an order.
fn own_words_below(prompt: &str) -> Option<&str> {
    let (document, said) = prompt.trim_end().rsplit_once("\n\n")?;
    let is_long = prompt.len() > 1500 && said.chars().count() >= 8;
    let language = text::language(said);
    let is_foreign = language != text::Language::English && language != text::language(document);
    if is_long && document.trim_start().starts_with('#') && is_foreign {
        return Some(said);
    }
    (document.len() > 400 && is_pasted_text(document) && is_own_order(said) && !begins_with_order(document)).then_some(said)
}

/// The maximum length of a request below or above pasted text, in characters.
const MAX_BESIDE_PASTE: usize = 500;
/// The share of lines that look pasted in a text that is, in tenths.
const PASTED_TENTHS: usize = 4;

/// Returns whether most lines of a text are headings, quotations, code, logs or lines of a terminal.
fn is_pasted_text(text: &str) -> bool {
    let (mut all, mut pasted, mut is_fenced) = (0, 0, false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        let is_mark = line.starts_with(['#', '>', '|', '<', '{', '}', '+', '$', '⏺', '⎿', '❯', '│', '●']);
        all += 1;
        let is_code = || text::sentences(line).iter().all(|sentence| looks_pasted(sentence));
        pasted += usize::from(is_fenced || is_fence || is_mark || is_log_line(line) || is_code());
    }
    pasted * 10 >= all * PASTED_TENTHS
}

/// Returns whether a paragraph is a human's own request: short, not pasted, and addressed to the agent.
fn is_own_order(said: &str) -> bool {
    let said = said.trim();
    let is_plain = said.lines().all(|line| {
        let line = line.trim();
        let is_mark = line.starts_with(['#', '>', '|', '<', '-', '*', '+', '`', '$', '{', '}', '?', '❯', '●', '⏺', '⎿']);
        !is_mark && !is_log_line(line) && !looks_pasted(line) && !is_banner(line)
    });
    let count = said.chars().count();
    is_plain && (8..=MAX_BESIDE_PASTE).contains(&count) && text::sentences(said).iter().any(|sentence| is_order(sentence))
}

/// Returns whether a text begins with a request, so that what is pasted belongs to it.
fn begins_with_order(text: &str) -> bool {
    text.trim_start().split("\n\n").next().is_some_and(is_own_order)
}

/// Returns the title of the issue that a document assigns to the agent. The instructions around it are the same in
/// every session.
fn issue_title(prompt: &str) -> Option<String> {
    if prompt.len() <= 1500 || !prompt.trim_start().starts_with('#') {
        return None;
    }
    // In a list, such a line says what a title should be.
    let is_item = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("- ") || line.starts_with(|c: char| c.is_ascii_digit())
    };
    prompt.lines().filter(|line| !is_item(line)).map(text::plain).find_map(|line| {
        let (name, title) = line.split_once(':')?;
        let name = name.trim_matches(['*', ' ']).to_lowercase();
        let title = title.trim_matches(['*', ' ']);
        (matches!(name.as_str(), "title" | "task" | "goal" | "objective" | "issue title") && title.contains(' '))
            .then(|| title.to_owned())
    })
}

/// Returns whether a sentence asks the agent to do or to answer something.
fn is_order(sentence: &str) -> bool {
    let form = PromptForm::of(sentence);
    let lower = sentence.to_lowercase();
    form.asks
        || form.orders
        || [
            "please",
            "can you",
            "could you",
            "let's",
            "i want",
            "i need",
            "i'd like",
            "we need to",
            "we should",
            "해줘",
            "해주세요",
            "싶",
            "たい",
            "ください",
        ]
        .iter()
        .any(|sign| lower.contains(sign))
}

/// Returns whether a line belongs to the banner that the client prints when it starts, which people paste.
fn is_banner(line: &str) -> bool {
    let models = ["Opus", "Sonnet", "Haiku"];
    line.contains("Claude Code v") || (line.contains('·') && models.iter().any(|model| line.contains(model)))
}

fn is_greeting(sentence: &str) -> bool {
    let bare = normalize(sentence);
    [
        "hi",
        "hello",
        "hey",
        "hi claude",
        "hey claude",
        "hello claude",
        "안녕",
        "안녕하세요",
        "こんにちは",
        "你好",
        "thanks",
        "thank you",
    ]
    .contains(&bare.as_str())
}

/// Reduces a text to letters, digits and single spaces in lower case.
fn normalize(text: &str) -> String {
    let memory: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    text::one_line(&memory).to_lowercase()
}

/// Words of consent at the start of a short prompt.
const CONSENTS: &[&str] = &[
    "yes",
    "yep",
    "yeah",
    "yup",
    "ok",
    "okay",
    "sure",
    "go ahead",
    "go for it",
    "do it",
    "do that",
    "please do",
    "sounds good",
    "looks good",
    "lgtm",
    "perfect",
    "great",
    "proceed",
    "continue",
    "go on",
    "go",
    "let s do",
    "let s go",
    "agreed",
    "correct",
    "exactly",
    "approved",
    "y",
    "make it so",
    "fine",
    "good",
    "응",
    "어",
    "네",
    "예",
    "그래",
    "좋아",
    "ㅇㅇ",
    "ㅇㅋ",
    "그렇게",
    "진행",
    "오케이",
    "계속",
    "해줘",
    "맞아",
    "はい",
    "うん",
    "お願い",
    "いいよ",
    "いいね",
    "それで",
    "続けて",
    "進めて",
    "ok",
    "おk",
    "オッケー",
    "好",
    "可以",
    "行",
    "嗯",
    "是的",
    "对",
    "继续",
    "没问题",
    "同意",
];

/// Returns whether a prompt only agrees to an earlier proposal.
pub(super) fn is_consent(prompt: &str) -> bool {
    let bare = normalize(prompt);
    let length = bare.chars().count();
    let short = if bare.is_ascii() { length <= 60 } else { length <= 30 };
    short
        && !prompt.contains(['?', '？'])
        && CONSENTS.iter().any(|word| {
            bare.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') || !word.is_ascii())
        })
}

/// Words of chores. A chore completes the previous work and is not a request of its own.
const CHORES: &[&str] = &[
    "commit",
    "push",
    "merge",
    "create a pr",
    "create pr",
    "open a pr",
    "make a pr",
    "get a pr up",
    "continue",
    "go on",
    "retry",
    "try again",
    "resume",
    "stop",
    "thanks",
    "thank you",
    "wait",
    "커밋",
    "푸시",
    "계속",
    "コミット",
    "プッシュ",
    "続けて",
    "提交",
    "推送",
    "继续",
];

/// Words of orders to record or to publish the work, and words that say nothing beside them. A prompt of nothing else is a
/// chore, however long it is.
const CHORE_WORDS: &[&str] = &[
    "commit",
    "commits",
    "committed",
    "push",
    "pushed",
    "pull",
    "request",
    "pr",
    "prs",
    "merge",
    "merged",
    "rebase",
    "branch",
    "main",
    "master",
    "origin",
    "remote",
    "message",
    "changes",
    "change",
    "changed",
    "files",
    "file",
    "everything",
    "all",
    "work",
    "staged",
    "unstaged",
    "git",
    "github",
    "gh",
    "open",
    "create",
    "make",
    "draft",
    "new",
    "current",
    "upstream",
    "please",
    "pls",
    "can",
    "could",
    "you",
    "we",
    "i",
    "let",
    "lets",
    "s",
    "us",
    "now",
    "then",
    "and",
    "also",
    "just",
    "so",
    "ok",
    "okay",
    "yes",
    "great",
    "good",
    "nice",
    "thanks",
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "those",
    "it",
    "them",
    "to",
    "for",
    "with",
    "in",
    "on",
    "of",
    "from",
    "into",
    "up",
    "get",
    "go",
    "ahead",
    "do",
    "your",
    "our",
    "my",
    "as",
    "is",
    "have",
    "been",
    "ready",
    "done",
    "again",
    "continue",
    "first",
    "when",
    "once",
    "after",
    "before",
    "update",
    "set",
];

/// Returns whether a text in lower case only speaks of recording and publishing the work.
fn is_all_chore(bare: &str) -> bool {
    let is_git =
        |word: &str| word.starts_with("commit") || word.starts_with("push") || matches!(word, "merge" | "pr" | "rebase");
    let count = bare.split(' ').count();
    count <= 30 && bare.split(' ').any(is_git) && bare.split(' ').all(|word| CHORE_WORDS.contains(&word))
}

/// Returns whether a prompt only asks to record or to continue the previous work.
pub(super) fn is_chore(prompt: &str) -> bool {
    let bare = normalize(prompt);
    if is_all_chore(&bare) {
        return true;
    }
    let count = bare.split(' ').count();
    let short = if bare.is_ascii() { count <= 8 } else { bare.chars().count() <= 28 };
    short
        && (CHORES.iter().any(|word| {
            bare.match_indices(word)
                .any(|(at, _)| !word.is_ascii() || bare[..at].chars().next_back().is_none_or(|c| c == ' '))
        }) || is_consent(prompt))
}

/// Returns whether a prompt asks to record or to continue the previous work. Thanks, a consent or a stop ask nothing.
pub(super) fn asks_chore(prompt: &str) -> bool {
    const SILENT: &[&str] = &["thanks", "thank you", "wait", "stop"];
    let bare = normalize(prompt);
    is_chore(prompt) && !is_consent(prompt) && !SILENT.iter().any(|word| bare.starts_with(word))
}

/// Returns whether a prompt only asks to commit or to push the previous work.
pub(super) fn asks_record(prompt: &str) -> bool {
    is_chore(prompt) && speaks_of_recording(prompt)
}

/// Returns whether a prompt speaks of a commit or a push.
pub(super) fn speaks_of_recording(prompt: &str) -> bool {
    const RECORDS: &[&str] = &["commit", "push", "커밋", "푸시", "コミット", "プッシュ", "提交", "推送"];
    let bare = normalize(prompt);
    RECORDS.iter().any(|word| text::contains_words(&bare, word))
}

/// Signs of a standing rule. ASCII signs must be whole words. In scripts without spaces, a sign may occur anywhere.
const RULE_SIGNS: &[&str] = &[
    "always",
    "never",
    "from now on",
    "in the future",
    "going forward",
    "every time",
    "whenever you",
    "i prefer",
    "we prefer",
    "as a rule",
    "don't ever",
    "do not ever",
    "make sure to always",
    "make sure you always",
    "remember to",
    "we use",
    "we don't use",
    "we also use",
    "we only use",
    "on every run",
    "on every commit",
    "on each run",
    "each time",
    "we always",
    "we never",
    "our convention",
    "must always",
    "must never",
    "stick to",
    "stop using",
    "my preference",
    "better not",
    "i'd rather",
    "i would rather",
    "please avoid",
    "only ever",
    "항상",
    "절대",
    "앞으로",
    "언제나",
    "매번",
    "반드시",
    "기억해",
    "규칙",
    "いつも",
    "常に",
    "必ず",
    "今後",
    "これから",
    "絶対",
    "毎回",
    "覚えて",
    "ルール",
    "总是",
    "永远",
    "以后",
    "今后",
    "每次",
    "务必",
    "必须",
    "绝对不",
    "记住",
    "一律",
];

/// Signs that the user corrects the agent, at the start of a sentence.
const CORRECTION_OPENINGS: &[&str] = &[
    "no",
    "nope",
    "nah",
    "wrong",
    "thats wrong",
    "that is wrong",
    "thats not",
    "that is not",
    "not what i",
    "this is wrong",
    "this is not",
    "its not",
    "it is not",
    "incorrect",
    "dont",
    "do not",
    "dont",
    "stop",
    "i said",
    "i told you",
    "i meant",
    "i asked",
    "you forgot",
    "you missed",
    "you should have",
    "you shouldnt",
    "why did you",
    "why are you",
    "why do you",
    "why didnt you",
    "did we not",
    "did you not",
    "actually",
    "instead",
    "rather",
    "undo",
    "revert",
    "you broke",
    "you removed",
    "still not",
    "it still",
    "still fails",
    "doesnt work",
    "it doesnt work",
    "does not work",
    "hold on",
    "wait",
    "please dont",
    "remove that",
    "you are not",
    "youre not",
    "아니",
    "그게 아니",
    "틀렸",
    "하지마",
    "하지 마",
    "말고",
    "왜",
    "잘못",
    "다시",
    "違う",
    "ちがう",
    "いや",
    "そうじゃな",
    "やめて",
    "なぜ",
    "なんで",
    "間違",
    "不对",
    "不是",
    "不要",
    "别",
    "错了",
    "为什么",
    "应该",
];

/// Signs of a correction anywhere in a sentence.
const CORRECTION_SIGNS: &[&str] = &[
    " instead of ",
    "not what i",
    "i told you",
    "you forgot",
    "you missed",
    "should not have",
    "shouldnt have",
    "thats wrong",
    "thats not right",
    "is incorrect",
    "is wrong",
    "dont have access",
    "you dont need",
    "dont need to",
    "no need to",
    "go back and",
    "change your",
    "redo ",
    "must not",
    "should not",
    "shouldnt",
    "말고",
    "아니라",
    "하지마",
    "하지 마",
    "잘못",
    "じゃなくて",
    "ではなく",
    "しないで",
    "やめて",
    "而不是",
    "不要",
    "不应该",
];

/// The standing rules and the correction in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Directives {
    /// Standing rules, each one sentence.
    pub rules: Vec<String>,
    /// The correction, in one or two sentences.
    pub correction: Option<String>,
}

/// Reads the rules and the correction in a prompt. Documents pasted in place of a prompt do not express the user's own
/// rules. `after_work` says whether the agent has already done something that can be corrected.
pub(super) fn directives(prompt: &str, after_work: bool) -> Directives {
    if prompt.chars().count() > 1200 || plan(prompt).is_some() || prompt.starts_with('/') {
        return Directives::default();
    }
    let own = own_words(prompt);
    let sentences: Vec<String> = text::sentences(&own).into_iter().filter(|sentence| !looks_pasted(sentence)).collect();
    let rules: Vec<String> = sentences
        .iter()
        .flat_map(|sentence| typed_sentences(sentence))
        .filter(|sentence| is_rule(sentence))
        .map(|sentence| text::clip(without_consent(sentence), 300).into_owned())
        .take(3)
        .collect();
    let correction = sentences
        .iter()
        .position(|sentence| after_work && is_correction(sentence))
        .map(|at| text::clip(&sentences[at..(at + 2).min(sentences.len())].join(" "), 360).into_owned())
        .filter(|said| !rules.iter().any(|rule| said.contains(rule.as_str())));
    Directives { rules, correction }
}

/// Splits at full stops after which somebody who types fast goes on with a small letter.
fn typed_sentences(sentence: &str) -> Vec<&str> {
    let is_end = |at: usize| {
        let word = sentence[..at].rsplit(' ').next().unwrap_or_default();
        word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in sentence.match_indices(". ").filter(|(at, _)| is_end(*at)) {
        parts.push(&sentence[start..=at]);
        start = at + 2;
    }
    parts.push(&sentence[start..]);
    parts
}

/// Headings of a plan below which its decisions stand.
const DECISION_HEADINGS: &[&str] = &[
    "decision",
    "decisions",
    "decided",
    "결정",
    "결정사항",
    "決定",
    "決定事項",
    "設計判断",
    "決まったこと",
    "决定",
    "决策",
];

/// The maximum number of decisions that are taken from one plan.
const MAX_PLAN_DECISIONS: usize = 4;

/// Returns the decisions of a plan: the items below a heading that says so.
pub(super) fn plan_decisions(plan: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut is_decided, mut is_code) = (false, false);
    for line in plan.lines() {
        let bare = line.trim_start();
        is_code ^= bare.starts_with("```");
        if bare.starts_with('#') && !is_code {
            let heading = bare.to_lowercase();
            // How the product decides is no decision about it.
            is_decided = DECISION_HEADINGS.iter().any(|word| text::contains_words(&heading, word))
                && !["criteria", "tree", "framework", "logic"].iter().any(|word| heading.contains(word));
            continue;
        }
        let is_item = line.starts_with(['-', '*']) || line.starts_with(|c: char| c.is_ascii_digit());
        if is_decided && is_item && !is_code {
            let item = text::plain(line);
            if item.chars().count() >= if item.is_ascii() { 20 } else { 10 } && !item.ends_with(['?', '？', ':', '：']) {
                all.push(text::clip(&item, 300).into_owned());
            }
        }
    }
    all.truncate(MAX_PLAN_DECISIONS);
    all
}

/// Strips the consent before a rule: "yes, and never …".
fn without_consent(sentence: &str) -> &str {
    let leads = ["yes, ", "yes ", "ok, ", "ok ", "okay, ", "okay ", "and ", "also, ", "also "];
    let mut rest = sentence;
    while let Some(lead) = leads.iter().find(|lead| rest.get(..lead.len()).is_some_and(|it| it.eq_ignore_ascii_case(lead))) {
        rest = rest[lead.len()..].trim_start();
    }
    rest
}

/// Returns the lines that the user wrote: no quotations, no differences, no markup, no logs, no mails, and nothing after a
/// line that announces what somebody else says.
pub(super) fn own_words(prompt: &str) -> String {
    let is_diff = prompt.contains("\n@@ ") || prompt.contains("diff --git ");
    let mut own = String::new();
    for line in prompt.lines() {
        let bare = line.trim_start();
        if announces_quotation(bare) {
            break;
        }
        let quoted =
            bare.starts_with(['>', '<', '|']) || (is_diff && bare.starts_with(['+', '-', '@'])) || is_log_line(bare);
        if !quoted {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

/// Words that point to a text that follows, and what such a text is called. Both in one line that ends with a colon announce it:
/// "Look at this issue:".
const POINTERS: &[&str] = &[
    "this",
    "these",
    "following",
    "here is",
    "here's",
    "here are",
    "below",
    "from the",
    "from a",
    "이 ",
    "다음",
    "아래",
    "この",
    "次の",
    "以下",
    "这",
    "下面",
    "diese",
    "diesen",
    "dieser",
    "folgende",
    "folgenden",
    "este",
    "esta",
    "siguiente",
];
const DOCUMENTS: &[&str] = &[
    "issue",
    "ticket",
    "comment",
    "comments",
    "mail",
    "mails",
    "email",
    "e-mail",
    "message",
    "messages",
    "review",
    "page",
    "article",
    "readme",
    "log",
    "logs",
    "output",
    "post",
    "thread",
    "reply",
    "text",
    "chat",
    "snippet",
    "이슈",
    "티켓",
    "댓글",
    "메일",
    "메시지",
    "리뷰",
    "페이지",
    "문서",
    "로그",
    "글",
    "コメント",
    "メール",
    "メッセージ",
    "レビュー",
    "ページ",
    "ログ",
    "文章",
    "邮件",
    "评论",
    "消息",
    "页面",
    "日志",
    "工单",
    "nachricht",
    "kommentar",
    "seite",
    "mensaje",
    "comentario",
    "correo",
    "página",
];

/// Returns whether a line introduces other people's words: the header of a mail, "The page says:" or "Look at this issue:".
fn announces_quotation(line: &str) -> bool {
    let headers = ["From: ", "Subject: ", "Date: ", "Sent: ", "보낸 사람:", "件名:", "发件人:"];
    let lower = line.to_lowercase();
    let end = lower.trim_end().trim_end_matches(['"', '“']).trim_end();
    let verbs =
        ["says:", "said:", "wrote:", "reads:", "output:", "error:", "log:", "message:", "다음과 같다:", "내용:", "曰く:"];
    let points = end.ends_with([':', '：']) && POINTERS.iter().any(|word| text::contains_words(end, word));
    headers.iter().any(|header| line.starts_with(header))
        || (points && DOCUMENTS.iter().any(|word| text::contains_words(end, word)))
        || verbs.iter().any(|verb| end.ends_with(verb))
        || ["the page says", "the website says", "it says:", "페이지에"].iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a line begins with a time, as lines of logs do.
fn is_log_line(line: &str) -> bool {
    let line = line.trim_start_matches('[').as_bytes();
    let digits = |range: std::ops::Range<usize>| line.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let is_date = digits(0..4) && line.get(4) == Some(&b'-') && digits(5..7);
    let is_time = digits(0..2) && line.get(2) == Some(&b':') && digits(3..5) && line.get(5) == Some(&b':');
    is_date || is_time
}

/// Recognizes stack traces, code and logs outside of a code fence.
fn looks_pasted(sentence: &str) -> bool {
    let odd = sentence.chars().filter(|c| matches!(c, '{' | '}' | ';' | '=' | '<' | '>' | '|' | '\\' | '$')).count();
    odd * 12 > sentence.chars().count()
        || sentence.starts_with("at ")
        || sentence.contains("Error:")
        || sentence.chars().count() > 500
}

/// Words of somebody who speaks for themselves or to the agent. A sentence without any describes how something is.
const PERSONS: &[&str] =
    &["i", "we", "you", "your", "our", "my", "me", "us", "i'd", "i'm", "let's", "please", "must", "should"];

/// Words with which an order begins, behind words such as "and" or "also".
const ORDER_OPENINGS: &[&str] = &[
    "always",
    "never",
    "don't",
    "do not",
    "dont",
    "use",
    "remember",
    "make sure",
    "prefer",
    "avoid",
    "keep",
    "stop",
    "stick",
    "from now on",
    "in the future",
    "going forward",
    "when",
    "whenever",
    "every time",
    "only",
    "no",
    "as a rule",
    "better",
    "run",
    "write",
    "ask",
    "add",
    "put",
    "check",
];

/// Returns whether an English sentence addresses the agent.
fn addresses_agent(lower: &str) -> bool {
    let words = || lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let lead = ["and", "also", "but", "so", "ok", "okay", "yes", "then", "hmm", "oh", "btw", "plus", "now"];
    let rest: Vec<&str> = words().skip_while(|word| lead.contains(word)).collect();
    let rest = rest.join(" ");
    let is_order = ORDER_OPENINGS
        .iter()
        .any(|opening| rest.strip_prefix(opening).is_some_and(|after| after.is_empty() || after.starts_with(' ')));
    is_order || words().any(|word| PERSONS.contains(&word))
}

/// Endings of Korean and Japanese sentences that ask for something or say what ought to be.
const WIDE_ORDER_ENDINGS: &[&str] = &[
    "해줘",
    "하자",
    "해라",
    "해",
    "줘",
    "해야 한다",
    "해야 해",
    "해야 합니다",
    "해야해",
    "하세요",
    "주세요",
    "마",
    "말 것",
    "말아줘",
    "말아라",
    "할 것",
    "않는다",
    "한다",
    "써",
    "쓰자",
    "없어야 한다",
    "싶어",
    "싶습니다",
    "바랍니다",
    "됩니다",
    "안 돼",
    "안돼",
    "して",
    "めて",
    "ください",
    "すること",
    "しない",
    "しないで",
    "禁止",
    "する",
    "たい",
    "こと",
    "べき",
    "で",
    "ます",
];

pub(super) fn is_rule(sentence: &str) -> bool {
    let lower = format!(" {} ", sentence.to_lowercase().replace('’', "'"));
    let length = sentence.chars().count();
    if length < if sentence.is_ascii() { 16 } else { 7 } || length > 400 || sentence.ends_with(['?', '？']) {
        return false;
    }
    // "it never finishes" describes what happens. A rule addresses the agent or speaks of "we".
    let statements = [
        " it never",
        " it always",
        " will never",
        " will also never",
        " would never",
        " could never",
        " can never",
        " is never",
        " is always",
        " was never",
        " are never",
        " are always",
        " i never",
        " i always get",
        " still always",
        " has never",
        " have never",
        " they never",
        " never mind",
        " nevermind",
        " does it always",
        " not always",
        " they always",
    ];
    if statements.iter().any(|words| lower.contains(words)) {
        return false;
    }
    let end = lower.trim_end().trim_end_matches(['.', '!', '~', '。', '！', ')']).trim_end();
    if tells_practice(&lower) {
        return true;
    }
    let is_addressed = match text::language(sentence) {
        Language::English => addresses_agent(lower.trim()),
        Language::Korean | Language::Japanese => WIDE_ORDER_ENDINGS.iter().any(|ending| end.ends_with(ending)),
        Language::Chinese => true,
    };
    if !is_addressed {
        return false;
    }
    RULE_SIGNS.iter().any(|rule| text::contains_words(&lower, rule))
        || is_reasoned_prohibition(&lower)
        || is_naming_rule(&lower)
        || is_lasting_demand(&lower)
}

/// Returns whether a Korean, Japanese or Chinese sentence says what the human's own team uses.
fn tells_practice(lower: &str) -> bool {
    let teams =
        ["우리는", "저희는", "우리 팀은", "저희 팀은", "うちでは", "うちは", "我々は", "私たちは", "我们用", "我们只用"];
    let uses = ["사용", "쓰고", "쓰는", "써요", "쓴다", "씁니다", "써.", "안 써", "使っ", "使い", "使う", "使わ", "用"];
    teams.iter().any(|team| lower.contains(team)) && uses.iter().any(|word| lower.contains(word))
}

/// Returns whether a sentence in lower case says how branches, commits or pull requests are named.
fn is_naming_rule(lower: &str) -> bool {
    let named = [
        "branch name",
        "branch names",
        "branches",
        "commit message",
        "commit messages",
        "pr title",
        "pr titles",
        "브랜치 이름은",
        "브랜치명은",
        "커밋 메시지는",
        "커밋 메세지는",
        "ブランチ名は",
        "コミットメッセージは",
    ];
    let ways = [
        "prefix",
        "start with",
        "starting with",
        "in the format",
        "conventional",
        "로 ",
        "으로",
        "접두",
        "接頭",
        "で",
        "から始",
    ];
    let says = |words: &[&str]| words.iter().any(|word| text::contains_words(lower, word));
    says(&named) && says(&ways)
}

/// Returns whether a sentence in lower case demands something for all times at which something else happens.
fn is_lasting_demand(lower: &str) -> bool {
    let demands = ["make sure", "ensure", "has to", "have to", "must", "should", "needs to", "need to"];
    let times = ["once we", "as soon as", "whenever", "every time", "when we add", "when you add", "when adding"];
    let says = |words: &[&str]| words.iter().any(|word| text::contains_words(lower, word));
    says(&demands) && says(&times)
}

/// Returns whether a sentence in lower case forbids something and says why. The reason holds for the next time too.
fn is_reasoned_prohibition(lower: &str) -> bool {
    let forbids =
        ["do not ", "don't ", "must not ", "should not ", "shouldn't ", "avoid ", "하지 마", "하지마", "말아", "しないで"];
    let reasons = [" as ", " because ", " since ", " otherwise ", "때문", "니까", "므로", "から", "ので"];
    let passing = [
        "for now",
        "this time",
        "right now",
        "yet",
        "worry",
        "don't know",
        "don't think",
        "don't see",
        "don't have",
        "i don't",
    ];
    let at = forbids.iter().filter_map(|words| lower.find(words)).min();
    at.is_some_and(|at| {
        // In Korean and Japanese the reason stands first.
        let rest = if lower.is_ascii() { &lower[at..] } else { lower };
        reasons.iter().any(|reason| rest.contains(reason))
    }) && !passing.iter().any(|words| lower.contains(words))
}

/// Converts to lower case without apostrophes. People leave them out as often as not.
fn strip_apostrophes(text: &str) -> String {
    text.to_lowercase().replace(['’', '\''], "")
}

/// Returns whether a sentence corrects what the agent did or said. A question proposes something; it settles nothing.
pub(super) fn is_correction(sentence: &str) -> bool {
    let lower = strip_apostrophes(sentence);
    if sentence.ends_with(['?', '？']) {
        return false;
    }
    if sentence.chars().count() < if sentence.is_ascii() { 14 } else { 6 } {
        return false;
    }
    let opening = |word: &&str| {
        lower
            .strip_prefix(*word)
            .is_some_and(|rest| !word.is_ascii() || rest.is_empty() || rest.starts_with([' ', ',', '.', '!']))
    };
    let harmless = [
        "no problem",
        "no worries",
        "no need",
        "stop here",
        "actually looks",
        "wait for",
        "do not hesitate",
        "no idea",
        "다시 한번",
        "다시 확인",
        "다시 실행",
        "다시 시도",
        "dont worry",
        "do not worry",
    ];
    if harmless.iter().any(|words| lower.starts_with(words)) {
        return false;
    }
    CORRECTION_OPENINGS.iter().any(opening) || CORRECTION_SIGNS.iter().any(|sign| lower.contains(sign))
}

/// Openings of a prompt that disputes what was said or done before it, or asks for something else in its place.
const DISPUTE_OPENINGS: &[&str] = &[
    "hmm",
    "hm",
    "um",
    "uh",
    "wait",
    "no",
    "nope",
    "but",
    "yeah but",
    "yes but",
    "ok but",
    "okay but",
    "still",
    "actually",
    "are you sure",
    "really",
    "why",
    "isnt",
    "doesnt",
    "didnt",
    "wasnt",
    "arent",
    "couldnt",
    "shouldnt",
    "wouldnt",
    "cant we",
    "im not",
    "i dont",
    "thats not",
    "this is not",
    "not quite",
    "instead",
    "rather",
    "id rather",
    "could we just",
    "can we just",
    "can you change",
    "change it",
    "ok maybe",
    "maybe",
    "i think its better",
    "id like",
    "lets not",
    "let us not",
    "what about",
    "it still",
    "same error",
    "remove",
    "revert",
    "undo",
    "drop",
    "아니",
    "근데",
    "그런데",
    "하지만",
    "왜",
    "아직",
    "안 되",
    "안돼",
    "그게 아니",
    "いや",
    "でも",
    "なぜ",
    "なんで",
    "違",
    "まだ",
    "やっぱ",
    "しかし",
    "えっ",
    "あれ",
    "不对",
    "但是",
    "可是",
    "为什么",
    "还是",
    "不是",
    "其实",
];

/// Signs of such a prompt anywhere in its first sentence.
const DISPUTE_SIGNS: &[&str] = &[
    " instead of ",
    " rather than ",
    "not seeing",
    "not working",
    "change it to",
    "doesnt work",
    "better not",
    "in place of",
    "couldnt we",
    "could we not",
    " not simply",
    "failing now",
    "fails now",
    "is failing",
    "are failing",
    "could we also just",
    "can we rename",
    "about renaming",
    " really an issue",
    "no longer need",
    "아니라",
    "말고",
    "대신",
    "바꿔",
    "ではなく",
    "じゃなく",
    "変えて",
    "代わり",
    "やめて",
    "而不是",
    "改成",
];

/// Returns whether a text begins with a sound of doubt, however long it is drawn out: "hmmm", "uuum", "emm".
fn is_hesitation(lower: &str) -> bool {
    let word = lower.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    (2..=8).contains(&word.len()) && word.bytes().all(|byte| b"uehm".contains(&byte)) && word.ends_with(['m', 'h'])
}

/// Returns whether a prompt begins with pasted output that tells a failure.
fn shows_failure(prompt: &str) -> bool {
    let mut lines = prompt.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    let is_output = first.starts_with(['=', '[', '$', '+', '>', '✗', '❯', '/']) || is_log_line(first) || looks_pasted(first);
    let tells = |line: &str| {
        let lower = line.to_lowercase();
        ["error", "failed", "failure", "fatal", "panic", "exception"].iter().any(|word| text::contains_words(&lower, word))
    };
    !first.starts_with("[Image") && is_output && (tells(first) || lines.take(30).any(tells))
}

/// Returns whether a prompt disputes what was said or done before it, or asks for something else in its place.
pub(super) fn disputes(prompt: &str) -> bool {
    if plan(prompt).is_some() || prompt.starts_with('/') {
        return false;
    }
    let head = text::head(prompt, 2_000);
    if shows_failure(head) {
        return true;
    }
    let own = own_words(head);
    let Some(first) = text::first_sentence(&own) else { return false };
    let lower = strip_apostrophes(&first);
    let mut said = lower.as_str();
    for lead in ["ok ", "okay ", "ok, ", "and ", "so ", "oh ", "ah ", "yeah ", "yes, ", "well "] {
        said = said.strip_prefix(lead).unwrap_or(said);
    }
    is_hesitation(said)
        || DISPUTE_OPENINGS
            .iter()
            .any(|opening| text::starts_with_words(said, opening) || text::starts_with_words(&lower, opening))
        || DISPUTE_SIGNS.iter().any(|sign| lower.contains(sign))
        || is_correction(&first)
}

/// The length below which a request needs those before it, in characters.
const MIN_OWN_CHARS: usize = 24;

/// Returns whether a request says by itself what it asks for: it is long enough, or names something, and does not only ask back.
pub(super) fn stands_alone(request: &str) -> bool {
    let lower = request.to_lowercase();
    let least = if request.is_ascii() { MIN_OWN_CHARS } else { MIN_OWN_CHARS / 2 };
    let has_names =
        request.split_whitespace().any(|word| word.chars().skip(1).any(|c| matches!(c, '.' | '/' | '_' | '-' | '#')));
    let asks_back = ["is there any", "are there any", "are you sure", "what about", "anything else", "did you", "have you"];
    request.chars().count() >= least
        && !is_hesitation(&lower)
        && !asks_back.iter().any(|opening| lower.starts_with(opening))
        && (has_names || request.split_whitespace().count() >= 6 || !request.is_ascii())
}

/// Signs with which a human decides something in passing: what is used, left out, kept or put in another's place. ASCII signs
/// must be whole words.
const CHOICE_SIGNS: &[&str] = &[
    "leave out",
    "leave it out",
    "leave that out",
    "leave them out",
    "leave this out",
    "leave it as",
    "leave that as",
    "leave the",
    "drop the",
    "get rid of",
    "i'd rather",
    "i would rather",
    "i prefer",
    "we prefer",
    "we also use",
    "we use",
    "we only use",
    "we don't use",
    "we don't need",
    "we don't want",
    "i don't want",
    "i do not want",
    "we do not want",
    "should not",
    "shouldn't",
    "must not",
    "should only",
    "should never",
    "should always",
    "no need for",
    "not needed",
    "is not needed",
    "let's keep",
    "let's not",
    "let's use",
    "let's go with",
    "let's drop",
    "let's skip",
    "let's leave",
    "let's only",
    "let's stick",
    "keep it",
    "keep the",
    "instead of",
    "rather than",
    "go with",
    "use only",
    "only use",
    "don't touch",
    "do not touch",
    "out of scope",
    "is enough",
    "in favor of",
    "in favour of",
    "not worth",
    "remove it completely",
    "make sure that",
    "make sure it",
    "make sure this",
    "has to be",
    "have to be",
    "not just",
    "말고",
    "빼고",
    "빼줘",
    "빼자",
    "제외",
    "대신",
    "로 하자",
    "으로 하자",
    "로 가자",
    "로 결정",
    "하지 말",
    "하지 않",
    "안 쓰",
    "쓰지 않",
    "쓰지 말",
    "필요 없",
    "필요없",
    "안두고",
    "두지 않",
    "만 사용",
    "만 쓰",
    "로 통일",
    "ではなく",
    "じゃなく",
    "なしで",
    "不要",
    "いらない",
    "要らない",
    "にしよう",
    "で行こう",
    "でいこう",
    "で進め",
    "使わない",
    "除いて",
    "外して",
    "やめて",
    "やめよう",
    "だけにし",
    "に統一",
    "に変更",
    "名前良くない",
    "不用",
    "改用",
    "只用",
    "去掉",
    "而不是",
    "就用",
    "不需要",
];

/// Returns whether a sentence of a human decides something in passing.
pub(super) fn declares_choice(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let length = sentence.chars().count();
    let least = if sentence.is_ascii() { 16 } else { 8 };
    (least..=300).contains(&length)
        && !sentence.ends_with(['?', '？', ':', '：'])
        && !looks_pasted(sentence)
        && CHOICE_SIGNS.iter().any(|sign| text::contains_words(&lower, sign))
}

/// Returns whether a remark refers to something said before it.
pub(super) fn needs_context(said: &str) -> bool {
    let bare = normalize(said);
    let pointers = ["it", "this", "that", "these", "those", "them", "there", "its", "thats"];
    bare.split(' ').any(|word| pointers.contains(&word))
        || said.chars().count() < if said.is_ascii() { 50 } else { 20 }
        || ["그거", "이거", "이건", "그건", "それ", "これ", "这个", "那个"].iter().any(|word| said.contains(word))
}

/// Strips the mark of file mentions such as `@docs/guide.md`. A package such as `@org/name` keeps it.
fn strip_mentions(sentence: &str) -> String {
    let words: Vec<&str> = sentence
        .split(' ')
        .map(|word| match word.strip_prefix('@') {
            Some(name) if name.contains('.') || !name.contains('/') => name,
            _ => word,
        })
        .collect();
    words.join(" ").trim().to_owned()
}

/// Returns whether the prompt requests something of its own.
pub(super) fn is_substantive(prompt: &str) -> bool {
    !is_chore(prompt) && !is_greeting(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;
    use crate::text::Language;
    use proptest::prelude::*;

    fn summarized(prompt: &str) -> String {
        request_summary(prompt, 200, labels(text::language(prompt)))
    }

    #[test]
    fn a_pasted_document_does_not_hide_what_was_said_below_it() {
        let body = "Write for the reader of tomorrow, and keep it short.\n".repeat(40);
        let pasted = format!("# Style guide\n\n{body}\n1. **Title**: One short phrase\n");
        assert_eq!(summarized(&pasted), "Style guide");
        assert_eq!(summarized(&format!("{pasted}\n이 문서의 내용을 정리해줘.\n")), "이 문서의 내용을 정리해줘.");
        let issue = format!("# Instructions\n\n{body}\n**Title**: SHOP-7: Round the totals\n\n{body}");
        assert_eq!(summarized(&issue), "SHOP-7: Round the totals");
    }

    #[test]
    fn a_request_below_pasted_text_in_the_same_language() {
        let log = "2026-01-05T10:00:00 cart: total is off by one cent\n".repeat(20);
        assert_eq!(summarized(&format!("{log}\nWhy is the total off since Monday?")), "Why is the total off since Monday?");
        let asked_above = format!("Can you find out why the total is off since Monday?\n\n{log}\n\nplease hurry up a bit");
        assert!(summarized(&asked_above).starts_with("Can you find out"), "{}", summarized(&asked_above));
        let prose = format!("{}\n\nCan you also sort them?", "The list shows every order of the customer. ".repeat(20));
        assert!(summarized(&prose).starts_with("The list shows"), "what is not pasted is the request");
        let banner = format!("{log}\n\n? for shortcuts");
        assert!(!summarized(&banner).starts_with('?'), "{}", summarized(&banner));
    }

    #[test]
    fn a_request_does_not_end_in_a_colon() {
        assert_eq!(
            summarized("Can you write a script for the cart that would:\n- add two items\n- remove one of them\n"),
            "Can you write a script for the cart that would: add two items remove one of them"
        );
        assert_eq!(summarized("The total should be hidden here:\\"), "The total should be hidden here");
    }

    #[test]
    fn a_later_request_says_by_itself_what_it_asks_for() {
        for said in ["Remove the sentence at the top of the cart page", "flake.nixを使うようにして、.envrcは無視して"]
        {
            assert!(stands_alone(said), "{said}");
        }
        for said in [
            "okay now do 6, 7 and 8",
            "few more comments",
            "hmm, are the first two tests really needed",
            "is there any further work for this PR?",
        ] {
            assert!(!stands_alone(said), "{said}");
        }
    }

    #[test]
    fn choices_in_passing() {
        for said in [
            "We also use the cart for gift cards, so the total must not be cached.",
            "Please leave out the old invoices.",
            "i'd rather have one table for both",
            "쿠폰은 빼고 배송비만 계산해줘",
            "列は三つではなく二つにしてください",
            "这里不需要缓存。",
        ] {
            assert!(declares_choice(said), "{said}");
        }
        for said in ["Show me the orders of the last week.", "Should we leave out the old ones?", "주문 목록을 보여줘"]
        {
            assert!(!declares_choice(said), "{said}");
        }
    }

    #[test]
    fn a_long_chore_is_a_chore() {
        for said in [
            "Great, now please commit all of the changes and push them to the remote branch, then open a PR",
            "ok can you create a new branch from main, commit this and push it up please",
        ] {
            assert!(is_chore(said), "{said}");
        }
        assert!(!is_chore("commit the fix, then find out why the total of the cart is off since Monday"));
    }

    #[test]
    fn code_below_a_request_is_not_asked() {
        let prompt = "The badge is not supported by this engine. This is the rule:\\\n.badge li {\n  display: grid-lanes;\n}\n\
                      Can you please rewrite it with a table?";
        assert_eq!(summarized(prompt), "The badge is not supported by this engine. Can you please rewrite it with a table?");
    }

    #[test]
    fn a_plan_is_named_by_its_heading() {
        let prompt = "Implement the following plan:\n\n# Fix the Parser Crash\n\n## Context\n\nIt crashes.\n\nIf you need specific details from before exiting plan mode, read";
        assert_eq!(summarized(prompt), "Implement the plan \"Fix the Parser Crash\"");
        assert_eq!(plan(prompt).unwrap(), "# Fix the Parser Crash\n\n## Context\n\nIt crashes.");
    }

    #[test]
    fn an_assigned_issue_is_named_by_its_title() {
        let prompt = format!(
            "## Agent Instance\n\nYou are a worker.\n\n**Identifier**: AB-1\n**Title**: Refactor the queue\n\n{}",
            "Follow the instructions. ".repeat(80)
        );
        assert_eq!(summarized(&prompt), "Refactor the queue");
    }

    #[test]
    fn a_prompt_is_its_first_sentences() {
        assert_eq!(
            summarized(
                "Hi! The parser crashes on empty lines. It does so only when the file is new and has no header. More detail follows."
            ),
            "The parser crashes on empty lines. It does so only when the file is new and has no header."
        );
        assert_eq!(
            summarized(
                "@docs/guide.md 를 기반으로 작성되는 문서를 한국어로 출력하도록 설정하고 싶은데. 어떤 문구가 좋을까?"
            ),
            "docs/guide.md 를 기반으로 작성되는 문서를 한국어로 출력하도록 설정하고 싶은데."
        );
    }

    #[test]
    fn consents_and_chores_in_four_languages() {
        for prompt in ["yes", "ok go ahead", "응", "어 그렇게 해줘.", "はい、お願いします", "好的", "방법 1로 진행하자."]
            .iter()
            .take(6)
        {
            assert!(is_consent(prompt), "{prompt}");
        }
        for prompt in ["commit", "커밋해줘.", "수정된것들을 전부 커밋해줘.", "ok lets get a pr up for this", "commit then"]
        {
            assert!(is_chore(prompt), "{prompt}");
        }
        for prompt in [
            "fix the commit hook so that it does not run twice on merges",
            "why does the push fail with 403 since yesterday?",
            "add a dark mode",
        ] {
            assert!(!is_chore(prompt), "{prompt}");
        }
    }

    #[test]
    fn standing_rules() {
        for prompt in [
            "Always run the linter before committing.",
            "From now on use pnpm, not npm.",
            "앞으로 커밋 메시지는 한국어로 작성해줘.",
            "テストは必ず追加してください。",
            "以后提交信息都用中文写。",
            "Please do not squash the migrations as the staging database has run them one by one.",
            "배포 스크립트가 느려지니까 로그를 남기지 말아줘.",
            "put it on a branch, use the prefix shop/ for the branch name",
            "커밋 메시지는 영어로 써줘.",
            "ブランチ名は shop/ から始めて。",
            "We also use the nightly job in staging, so keep it working.",
            "Do not rebuild the catalogue on every run.",
            "We have to make sure that once we add more shops this uses the name of the shop.",
            "우리는 npm 안 쓰고 pnpm만 사용합니다.",
            "うちはもう yarn を使っていない。",
        ] {
            assert_eq!(directives(prompt, false).rules.len(), 1, "{prompt}");
        }
        for prompt in [
            "it never finishes when I run it",
            "is it always like that?",
            "add a button to the page",
            "don't fix the lint for now because we are in a hurry",
            "do not touch the header",
            "Generate a commit message for this",
            "the branch name is shop/cart",
            "우리는 어제 배포했어",
        ] {
            assert!(directives(prompt, false).rules.is_empty(), "{prompt}");
        }
    }

    #[test]
    fn a_plan_tells_its_decisions_and_not_its_steps() {
        let plan = "# Round the totals\n\n## Key Design Decisions\n\n- **Rounding**: half to even, because the tax office asks for it\n\
                    - Old invoices keep their totals\n\n## Steps\n\n1. Change `src/cart.ts` and its tests\n\n## Decision criteria\n\n\
                    - A total above 100 is checked twice\n\n## 결정사항\n\n- 쿠폰은 세금을 빼고 계산한다\n";
        assert_eq!(
            plan_decisions(plan),
            [
                "Rounding: half to even, because the tax office asks for it",
                "Old invoices keep their totals",
                "쿠폰은 세금을 빼고 계산한다",
            ]
        );
    }

    #[test]
    fn a_rule_among_sentences_in_small_letters() {
        assert_eq!(
            directives("commit this on a branch. use the prefix shop/ for the branch name. is that fine?", false).rules,
            ["use the prefix shop/ for the branch name."]
        );
        assert_eq!(typed_sentences("see e.g. the cart"), ["see e.g. the cart"]);
    }

    #[test]
    fn disputes_in_three_languages() {
        for prompt in [
            "hmm, doesn't the hook call make?",
            "ok maybe put it above the title",
            "Can you change it to a table",
            "근데 그건 예제가 아니라 필수야",
            "いや、別のファイルです",
            "uuum, that has been fixed already",
            "emm - doesn't the hook call make?",
            "=== Step 3: totals ===\nERROR: the total is off by one cent",
            "linting is failing now",
        ] {
            assert!(disputes(prompt), "{prompt}");
        }
        for prompt in
            ["yes", "he said yes", "commit this", "다시 확인해줘", "now add a test", "/review", "次は README を直して"]
        {
            assert!(!disputes(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_rule_stands_without_the_consent_before_it() {
        assert_eq!(directives("Yes, and never push to main.", false).rules, ["never push to main."]);
        assert_eq!(directives("ok", false).rules, [""; 0]);
    }

    #[test]
    fn what_a_line_announces_is_not_the_humans_rule() {
        for announced in [
            "Please fix this issue:",
            "Here is the mail from the customer:",
            "What do you think of the following comment:",
            "이 이슈를 봐줘:",
            "このコメントを見てください：",
            "请看下面的评论：",
        ] {
            let prompt = format!("{announced}\n\nAlways run the linter before committing.");
            assert!(directives(&prompt, true).rules.is_empty(), "{prompt}");
        }
        for own in [
            "Please follow these rules:",
            "For this login with the context of PostgreSQL:",
            "Two things:",
            "Fix the login page, and note:",
        ] {
            let prompt = format!("{own}\n\nAlways run the linter before committing.");
            assert_eq!(directives(&prompt, true).rules.len(), 1, "{prompt}");
        }
    }

    #[test]
    fn corrections() {
        for prompt in [
            "no, the branch is called feat/x",
            "That's not what I asked for.",
            "그게 아니라 다른 파일을 고쳐줘.",
            "そうじゃなくて別のファイルです",
            "不对，应该改另一个文件",
        ] {
            assert!(directives(prompt, true).correction.is_some(), "{prompt}");
        }
        assert_eq!(directives("no, the branch is called feat/x", false).correction, None);
        assert_eq!(directives("add a button to the page", true).correction, None);
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            request_summary(&text, 50, labels(Language::English));
            directives(&text, true);
            is_chore(&text);
        }
    }
}
