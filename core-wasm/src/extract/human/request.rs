//! What a prompt asks for: the order in the user's own words, beside what is pasted, and the title of a pasted document.

use super::antecedent::{antecedent, without_log};
use super::consent::{is_bare_consent, is_greeting};
use super::demand::{is_demand, is_order};
use super::parts::Parts;
use super::pasted::{MAX_BESIDE_PASTE, is_banner, is_log_line, is_pasted_text, looks_pasted, strip_mentions};
use super::plan::{heading, plan, plan_title};
use super::quoted::{quoted_first, with_quotation};
use super::rule::is_rule;
use super::shown::without_shown;
use super::terminal::without_terminal;
use super::wrapped::unwrapped;
use crate::extract::labels::Labels;
use crate::extract::signs;
use crate::query::form::PromptForm;
use crate::text::{self, strip_apostrophes};

/// The length of the beginning of a report that says where something fails, in bytes.
const MAX_REPORT_BYTES: usize = 240;
/// How many of the first sentences of a prompt may say that the user committed.
const MAX_REPORT_SENTENCES: usize = 2;

/// Returns the essence of the request, on one line of at most `max` characters.
pub(in crate::extract) fn request_summary(prompt: &str, max: usize, labels: &Labels) -> String {
    if let Some(plan) = plan(prompt) {
        let name = plan_title(plan).unwrap_or_default();
        return labels.plan.replace("{}", &text::clip(&name, max.saturating_sub(24)));
    }
    if is_slash_command(prompt) {
        return text::clip(&text::one_line(prompt), max).into_owned();
    }
    if let Some((quote, own)) = quoted_first(prompt) {
        return with_quotation(&request_summary(own, max, labels), quote, max);
    }
    let unmarked = without_marks(prompt);
    if unmarked.len() < prompt.len() {
        let said = unmarked.trim();
        let said = said.strip_prefix("etc").unwrap_or(said).trim_start_matches(['.', ',', ' ', '\n']);
        if !said.is_empty() {
            return request_summary(said, max, labels);
        }
    }
    let own = without_shown(prompt);
    if own.len() < prompt.len() {
        let said = request_summary(&own, max, labels);
        return with_antecedent(said, prompt, max);
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
        && let Some(title) = heading(prompt)
    {
        return text::clip(&title, max).into_owned();
    }
    if let Some(parts) = Parts::in_prompt(&unwrapped(prompt)) {
        return parts.told(max);
    }
    let typed = without_terminal(prompt);
    let typed = typed.as_deref().unwrap_or(prompt);
    let said = unwrapped(without_log(typed).as_deref().unwrap_or(typed));
    let said = own_request(&said, max);
    if names_plan(&said) {
        return labels.plan.replace("{}", &said);
    }
    with_antecedent(said, prompt, max)
}

/// Adds what a request points to and the prompt shows, if there is room for it.
fn with_antecedent(said: String, prompt: &str, max: usize) -> String {
    if Parts::in_line(&said).is_some() {
        return said;
    }
    match antecedent(&said, prompt) {
        Some(shown) if said.chars().count() + shown.chars().count() + 3 <= max => format!("{said} ({shown})"),
        _ => said,
    }
}

/// Returns whether a prompt is a command of the client's with its arguments: "/review 12". A path has more than one slash.
pub(in crate::extract) fn is_slash_command(prompt: &str) -> bool {
    let name = prompt.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| !name.contains('/'))
}

/// Returns whether a request is nothing but the path of a plan: ".context/plan-of-the-till.md".
fn names_plan(said: &str) -> bool {
    let name = said.rsplit('/').next().unwrap_or_default().to_lowercase();
    let is_path = said.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '@' | '~'));
    is_path && name.rsplit('.').next() == Some("md") && name.split(|c: char| !c.is_alphanumeric()).any(|word| word == "plan")
}

/// Returns what another agent gives to an agent that it started, from where it says what is to be done. Before that stands who that one
/// is: "You are the reviewer. You work ONLY in …". Empty if the other one reports what it has done itself.
pub(in crate::extract) fn task(said: &str) -> &str {
    const OPENINGS: [&str; 5] = ["your task is", "your job is", "task ", "tasks:", "task:"];
    let said = said.trim();
    if text::first_sentence(said).is_some_and(|first| signs::says_finished(&first.to_lowercase())) {
        return "";
    }
    let mut place = 0;
    for sentence in said.split_inclusive(['\n', '.']) {
        let opening = sentence.trim_start_matches(['#', '*', ' ']);
        let lower = opening.to_lowercase();
        if OPENINGS.iter().any(|it| lower.starts_with(it)) {
            return &said[place + sentence.len() - opening.len()..];
        }
        place += sentence.len();
    }
    let mut rest = said;
    while rest.starts_with("You ") || rest.starts_with("You're ") {
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let sentence_end = rest[..line_end].find(". ").map_or(line_end, |at| at + 1);
        rest = rest[sentence_end..].trim_start();
    }
    if rest.is_empty() { said } else { rest }
}

/// Returns the sentences of a prompt that say what is asked for, on one line of at most `max` characters.
fn own_request(prompt: &str, max: usize) -> String {
    let mut said = String::new();
    // Pasted banners are drawn with these characters.
    let prompt: String = prompt.chars().filter(|c| !('\u{2500}'..='\u{259f}').contains(c)).collect();
    // Some terminals end a line that goes on with a backslash.
    let lines = prompt.lines().filter(|line| !is_banner(line)).map(|line| line.trim_end_matches(['\\', ' ']));
    let prompt = without_quotation(&lines.collect::<Vec<_>>());
    let all: Vec<String> = text::sentences(&prompt).iter().map(|sentence| strip_mentions(sentence)).collect();
    let is_pasted = |sentence: &str| {
        (looks_pasted(sentence) && !is_long_wish(sentence)) || sentence.trim_end_matches([' ', '\\']).ends_with(['{', ';'])
    };
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
    // What is said behind a yes is what is asked for, unless it is only a rule.
    let yes = sentences.iter().take_while(|sentence| is_bare_consent(sentence)).count();
    let yes = yes + sentences[yes..].iter().take_while(|sentence| yes > 0 && is_rule(sentence)).count();
    let sentences = if yes < sentences.len() { &sentences[yes..] } else { &sentences[..] };
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
            let has_order = sentences[..=at].iter().any(|sentence| is_order(sentence) || is_demand(sentence));
            let is_later =
                |it: &&&String| (is_order(it) || is_demand(it) || turns(it)) && !is_rule(it) && !ends_in_colon(it);
            let orders: Vec<&str> = sentences[at + 1..].iter().filter(is_later).map(|it| it.as_str()).collect();
            // Beside pasted text only the first is taken, and only if it says what the others lead to.
            let is_all_own = sentences.len() == all.len() && !prompt.lines().any(is_marked);
            let orders = if is_all_own { &orders[..] } else { &orders[..orders.len().min(usize::from(!has_order))] };
            let follows = sentences.get(at + 1).is_some_and(|next| orders.first() == Some(&next.as_str()));
            said = with_orders(&Lead { said, has_order, follows }, orders, max);
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

/// Returns whether a sentence looks pasted only because somebody who types without full stops asks for much in it.
fn is_long_wish(sentence: &str) -> bool {
    const BEGINNING: usize = 400;
    const ASKS: [&str; 5] = ["please", "pls", "can you", "could you", "i want"];
    sentence.chars().count() > BEGINNING
        && !looks_pasted(&text::clip(sentence, BEGINNING))
        && text::contains_any_words(&sentence.to_lowercase(), &ASKS)
}

/// Returns whether a sentence of a request says what is wanted in the place of something: "we want to instead keep the slips in a folder".
fn turns(sentence: &str) -> bool {
    const WANTS: [&str; 4] = ["we want", "we'd like", "i'd rather", "we'd rather"];
    let lower = sentence.to_lowercase().replace('’', "'");
    let bare = ["but ", "instead, "].iter().find_map(|lead| lower.strip_prefix(lead)).unwrap_or(&lower);
    WANTS.iter().any(|words| text::starts_with_words(bare, words))
        && text::contains_any_words(&lower, &["instead", "rather"])
}

/// Joins lines without those that quote what somebody else wrote, unless nothing else is there.
fn without_quotation(lines: &[&str]) -> String {
    let own: Vec<&str> = lines.iter().copied().filter(|line| !line.trim_start().starts_with('>')).collect();
    let is_empty = own.iter().all(|line| line.trim().is_empty());
    if is_empty { lines.join("\n") } else { own.join("\n") }
}

/// Returns whether a line begins like a diff, a log or a list. A line that goes on behind the mention of a file was typed.
pub(super) fn is_marked(line: &str) -> bool {
    let line = line.trim_start();
    let is_mention = || line.starts_with('@') && !line.starts_with("@@") && line.contains(char::is_whitespace);
    line.starts_with(['+', '-', '@', '#', '[', '>', '|', '●', '❯', '⏺', '⎿', '│', '$', '`']) && !is_mention()
}

/// What a prompt says before its later orders.
struct Lead {
    said: String,
    /// Whether an order is among it.
    has_order: bool,
    /// Whether the first of the later orders stands right behind it.
    follows: bool,
}

/// Adds the orders that come later in a prompt, as many as fit. What leads to them is cut first, unless it is an order too. If not all
/// fit, those that say what is to be done go before wishes.
fn with_orders(lead: &Lead, orders: &[&str], max: usize) -> String {
    let Lead { said, has_order, follows } = lead;
    let length = |orders: &[&str]| orders.iter().map(|order| order.chars().count() + 1).sum::<usize>() + 2;
    let demands: Vec<&str> = orders.iter().copied().filter(|order| is_demand(order)).collect();
    let is_whole = said.chars().count() + length(orders) <= max;
    let is_demand_whole = said.chars().count() + length(&demands) <= max;
    let all_orders = orders;
    let orders = if is_whole || demands.is_empty() { orders } else { &demands };
    let Some((first, others)) = orders.split_first() else { return said.clone() };
    let room = max.saturating_sub(first.chars().count() + 3);
    if *has_order && said.chars().count() > room {
        return said.clone();
    }
    let lead = if *has_order || is_demand_whole { said.clone() } else { text::clip(said, room.max(max / 3)).into_owned() };
    let is_next = *follows && all_orders.first() == Some(first) && !lead.ends_with('…');
    let mut all = format!("{lead}{}{first}", if is_next { " " } else { " … " });
    for order in others {
        if all.chars().count() + 1 + order.chars().count() > max {
            continue;
        }
        all = format!("{all} {order}");
    }
    all
}

/// Returns whether a request only asks what the agent has or can do: what the session is for comes after it.
pub(in crate::extract) fn asks_ability(request: &str) -> bool {
    const MAX_CHARS: usize = 80;
    const OPENINGS: [&str; 8] = [
        "do you have access",
        "do you have the tool",
        "can you access",
        "can you see my",
        "are you able to",
        "are you connected",
        "which tools do you",
        "what tools do you",
    ];
    let lower = request.to_lowercase();
    let lower = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_wide = text::contains_any(lower, &["접근할 수 있", "アクセスでき", "能访问"]);
    request.ends_with(['?', '？'])
        && request.chars().count() <= MAX_CHARS
        && (is_wide || OPENINGS.iter().any(|opening| text::starts_with_words(lower, opening)))
}

/// Returns whether a request asks why something fails: what comes after it mostly is the cure.
pub(in crate::extract) fn asks_cause(request: &str) -> bool {
    const ASKS: [&str; 5] = ["why", "whats wrong", "what is wrong", "any idea why", "do you know why"];
    const FAULTS: [&str; 14] = [
        "fail", "fails", "failing", "failed", "broken", "wrong", "error", "errors", "crash", "crashes", "crashing",
        "missing", "slow", "stuck",
    ];
    const WIDE: [&str; 6] = ["왜 실패", "왜 안", "왜 에러", "なぜ失敗", "なぜ動かない", "为什么失败"];
    let lower = request.to_lowercase().replace(['\'', '’'], "");
    let asks = ASKS.iter().any(|words| text::starts_with_words(&lower, words));
    (asks && text::contains_any_words(&lower, &FAULTS)) || text::contains_any(&lower, &WIDE)
}

/// Returns whether a request only asks something, so that an answer is all that it wants.
pub(in crate::extract) fn only_asks(request: &str) -> bool {
    let lower = request.to_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| text::starts_with_words(&lower, word));
    let wants = text::contains_any(&lower, &["can we ", "could we ", "shall we ", "can i ", "should we "])
        // "Can it find the file itself?" asks for that, and "can it be that …" does not.
        || ["can it ", "could it "].iter().any(|words| lower.strip_prefix(words).is_some_and(|rest| !rest.starts_with("be ")));
    let asks = request.contains(['?', '？'])
        || starts(&[
            "what",
            "why",
            "how",
            "which",
            "who",
            "where",
            "does",
            "is there",
            "are there",
            "question",
            "one question",
        ])
        || (!request.is_ascii() && PromptForm::of(request).asks);
    asks && !is_demand(request) && !wants
}

/// Returns whether a prompt only tells how something is, and orders nothing: "You are on the branch already".
pub(crate) fn states_fact(prompt: &str) -> bool {
    const SUBJECTS: [&str; 16] = [
        "i'm", "i am", "i've", "i have", "it", "it's", "you", "you're", "there", "this", "that", "that's", "the", "my",
        "we're", "all",
    ];
    let lower = prompt.to_lowercase().replace('’', "'");
    let is_statement = SUBJECTS.iter().any(|word| text::starts_with_words(&lower, word));
    let orders =
        |sentence: &String| text::typed_sentences(sentence).into_iter().any(|part| is_demand(part) || is_order(part));
    is_statement && !text::sentences(prompt).iter().any(orders)
}

/// Returns whether a short order sets something to a value: "use 2.54.0".
pub(in crate::extract) fn sets_value(request: &str) -> bool {
    let lower = request.to_lowercase();
    let verbs = ["do", "use", "take", "set", "make it", "go with", "bump", "switch to", "pin"];
    let has_value = lower.split(' ').any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.bytes().any(|byte| byte.is_ascii_digit()) && word.contains('.')
    });
    has_value && verbs.iter().any(|verb| text::starts_with_words(&lower, verb))
}

/// Returns a prompt without the marks that the client puts in the place of pictures and of long pasted text.
pub(super) fn without_marks(prompt: &str) -> String {
    let mut rest = prompt;
    let mut bare = String::new();
    while let Some(at) = rest.find("[Image #").into_iter().chain(rest.find("[Pasted text #")).min()
        && let Some(end) = rest[at..].find(']')
    {
        bare.push_str(&rest[..at]);
        rest = rest[at + end + 1..].trim_start_matches(' ');
    }
    bare.push_str(rest);
    bare
}

/// Returns whether a text leads to something that follows.
fn ends_in_colon(said: &str) -> bool {
    said.trim_end_matches([' ', '\\']).ends_with([':', '：'])
}

/// Returns what the human wrote below pasted text: the last paragraph, if it is in a language other than the text's, or if it
/// orders something and the text does not begin with an order.
pub(super) fn own_words_below(prompt: &str) -> Option<&str> {
    let (document, said) = prompt.trim_end().rsplit_once("\n\n")?;
    let is_long = prompt.len() > 1500 && said.chars().count() >= 8;
    let language = text::language(said);
    let is_foreign = language != text::Language::English && language != text::language(document);
    if is_long && document.trim_start().starts_with('#') && is_foreign {
        return Some(said);
    }
    (document.len() > 400 && is_pasted_text(document) && is_own_order(said) && !begins_with_order(document)).then_some(said)
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

/// Returns whether a title, or what the user wrote below pasted text, says what a prompt asks for.
pub(super) fn is_titled(prompt: &str) -> bool {
    own_words_below(prompt).is_some() || issue_title(prompt).is_some()
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
    // What stands in a code block is an example.
    text::prose_lines(prompt).filter(|line| !is_item(line)).map(text::plain).find_map(|line| {
        let (name, title) = line.split_once(':')?;
        let name = name.trim_matches(['*', ' ']).to_lowercase();
        let title = title.trim_matches(['*', ' ']);
        (matches!(name.as_str(), "title" | "task" | "goal" | "objective" | "issue title") && title.contains(' '))
            .then(|| title.to_owned())
    })
}

/// Returns whether the user says that what was changed is committed: "I put it all into one commit", "can you check the last commit".
/// What is yet to be changed in a commit says nothing of one.
pub(in crate::extract) fn speaks_of_own_commit(prompt: &str) -> bool {
    const DEEDS: [&str; 10] = [
        "i committed",
        "ive committed",
        "i have committed",
        "i just committed",
        "ive just committed",
        "커밋했어",
        "커밋했습니다",
        "コミットした",
        "コミットしました",
        "已经提交",
    ];
    const LATEST: [&str; 6] =
        ["latest commit", "last commit", "latest commits", "last commits", "last two commits", "last three commits"];
    const LOOKS: [&str; 5] = ["look at", "look into", "check", "verify", "compare"];
    const OTHERS: [&str; 14] = [
        "if i", "when i", "before i", "after i", "once i", "amend", "squash", "fixup", "rebase", "revert", "reset", "undo",
        "not", "in ../",
    ];
    let said = text::sentences(text::head(prompt, MAX_REPORT_BYTES));
    said.iter().take(MAX_REPORT_SENTENCES).any(|sentence| {
        let lower = strip_apostrophes(sentence);
        let has = |words: &[&str]| text::contains_any_words(&lower, words);
        let puts = lower.starts_with("i put ") && has(&["into one commit", "in one commit"]);
        (puts || has(&DEEDS) || (has(&LATEST) && has(&LOOKS))) && !has(&OTHERS)
    })
}

/// Returns whether a prompt reports that checks on a server fail, or that others commented on the work: the work was pushed.
pub(in crate::extract) fn speaks_of_pushed_work(prompt: &str) -> bool {
    const PLACES: [&str; 9] =
        ["github actions", "on ci", "in ci", "the ci", "ci is", "ci job", "on the pr", "of the pr", "ci에서"];
    const FAILS: [&str; 8] = ["fail", "failing", "fails", "failed", "broken", "red", "실패", "失敗"];
    const COMMENTS: [&str; 6] = [
        "comments on the pr",
        "comments on this pr",
        "comment on the pr",
        "copilot comments",
        "copilot commented",
        "bugbot commented",
    ];
    let Some(first) = text::first_sentence(prompt) else { return false };
    // A name such as "test:ci" is that of a command.
    let lower = text::head(&first, MAX_REPORT_BYTES).to_lowercase().replace(":ci", "");
    let has = |words: &[&str]| text::contains_any_words(&lower, words);
    has(&COMMENTS) || (has(&PLACES) && has(&FAILS))
}
