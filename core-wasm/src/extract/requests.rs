//! What the user asked for after the first request: the latest request, and what steered the work between the two.

use super::human;
use super::results::TurnResult;
use super::signs;
use super::state::State;
use crate::text;

/// The maximum number of requests between the first and the last that are told.
const MAX_REQUESTS: usize = 18;
/// Their maximum length together, in characters, and that of one, in bytes.
const MAX_CHARS: usize = 2_000;
const MAX_REQUEST_BYTES: usize = 400;
/// The length to which each is cut if all are too long together, in bytes: the fewer there are, the longer.
const MIN_SHORT_BYTES: usize = 120;
const MAX_SHORT_BYTES: usize = 240;
/// The maximum length of a request for which only a plan was made, in characters. A longer one is told by the plan.
const MAX_PLANNED_CHARS: usize = 400;
/// The length from which a request is told although a decision says it too, if something was changed for it, in characters.
const MIN_REPEATED_CHARS: usize = 60;

/// The similarity at which two requests ask for the same.
pub(super) const SAME_REQUEST: f32 = 0.6;

/// The length up to which a guess says too little, even if something was changed for it, in characters.
const MAX_GUESS_CHARS: usize = 80;

/// The length from which a remark in the middle of the work steers it, in characters.
const MIN_REMARK_CHARS: usize = 100;

/// How many words behind a consent are too few to say what to do.
const FEW_WORDS: usize = 4;
/// The length up to which a consent before an order says nothing else, in characters: "yes please".
const MAX_CONSENT_CHARS: usize = 12;
/// The length below which an order says nothing, in characters.
const MIN_ORDER_CHARS: usize = 7;
/// The length of what a request must say before its code, in characters.
const MIN_BEFORE_CODE_CHARS: usize = 60;

/// Returns the latest request if it gave the session another aim. A guess, or a remark that came with code, gives none.
pub(super) fn latest(state: &State) -> Option<&str> {
    let later = state.later.as_str();
    let is_code = text::contains_any(later, &["()", "//", " = ", ");", "::"]) && !later.contains("://");
    // A line of a diff with its number.
    let is_diff = later.split_whitespace().zip(later.split_whitespace().skip(1)).any(|(number, sign)| {
        sign.starts_with(['+', '-', '−']) && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    // The same request in other words is no new aim. A command of the client's says too little to be compared.
    let is_command = state.request.starts_with('/') && !state.request.contains(' ');
    let is_same = !is_command && text::similarity(&text::features(later), &text::features(&state.request)) >= SAME_REQUEST;
    // Neither is a request for a commit message.
    let is_record = human::speaks_of_recording(later)
        && state.results.turns().iter().any(|turn| turn.asked == later && !turn.edited && !turn.failed);
    // What has no answer is told as left undone.
    let is_open = state.undone.is_unanswered(later);
    (!later.is_empty()
        && !is_open
        && !is_record
        && !is_same
        && !is_code
        && !is_diff
        && !signs::is_guess(&later.to_lowercase()))
    .then_some(later)
}

/// A request that is told beside the first and the latest.
struct Asked {
    /// The turn that it is of.
    turn: usize,
    said: String,
    /// Whether something was changed for it, so that it is told before others.
    weighs: bool,
    /// Whether that was undone later.
    is_undone: bool,
}

/// Returns the latest request with the place of its turn.
pub(super) fn latest_with_turn(state: &State) -> Option<(usize, &str)> {
    let latest = latest(state)?;
    Some((turn_of(latest, state.results.turns())?, latest))
}

fn turn_of(asked: &str, turns: &[TurnResult]) -> Option<usize> {
    turns.iter().rposition(|turn| turn.asked == asked || turn.added.iter().any(|added| added == asked))
}

/// Returns the other requests and corrections with the places of their turns, oldest first. The latest request is among them if another
/// one came after it.
pub(super) fn others(state: &State) -> Vec<(usize, String)> {
    let turns = state.results.turns();
    let mut all: Vec<Asked> = Vec::new();
    let latest = latest(state);
    let latest_of = latest.and_then(|latest| turn_of(latest, turns));
    let mut before_latest = 0;
    // A decision that is only a word of the request does not tell it.
    let decided = |asked: &str| {
        let is_most = |title: &str| asked.contains(title) && title.len() * 2 >= asked.len();
        state.memories.live().any(|memory| memory.title.contains(asked) || is_most(&memory.title))
    };
    let known = |asked: &str, all: &[Asked]| {
        let words = text::features(asked);
        let is_same = |said: &str| text::similarity(&text::features(said), &words) >= SAME_REQUEST;
        is_same(&state.request) || latest.is_some_and(is_same) || all.iter().any(|known| is_same(&known.said))
    };
    // What was said to a plan that is still to be carried out belongs to what was asked.
    let is_planned = |at: usize| state.undone.planned_request().is_some() && at + 1 == turns.len();
    for (at, turn) in turns.iter().enumerate() {
        if latest_of == Some(at) {
            before_latest = all.len();
        }
        let changed = turn.has_work() || is_taken_up(turns, at);
        // What has no answer is told as left undone.
        let all_asked = std::iter::once(&turn.asked).chain(&turn.added).filter(|asked| !state.undone.is_unanswered(asked));
        let is_last = at + 1 == turns.len();
        for asked in all_asked.filter_map(|asked| steering(asked, turn, changed, is_planned(at), is_last)) {
            let is_decided = || (!changed || asked.chars().count() < MIN_REPEATED_CHARS) && decided(asked);
            if !known(asked, &all) && !is_decided() {
                let weighs = changed && !turn.added.iter().any(|added| added.ends_with(asked));
                let is_undone = changed && (turn.reverted || turn.is_taken_back) && !human::only_asks(asked);
                all.push(Asked { turn: at, said: text::clip(asked, MAX_REQUEST_BYTES).into_owned(), weighs, is_undone });
            }
        }
    }
    // If the work was only planned, nothing else tells what the user wanted.
    let planned = state.undone.planned_request().map(human::without_consent);
    let is_told = |asked: &&str| asked.chars().count() > MAX_PLANNED_CHARS || known(asked, &all) || decided(asked);
    if let Some(asked) = planned.filter(|asked| human::stands_alone(asked) && !is_told(asked)) {
        let turn = turns.len().saturating_sub(1);
        all.push(Asked { turn, said: asked.to_owned(), weighs: true, is_undone: false });
    }
    before_latest -= fit(&mut all, before_latest);
    let is_last = before_latest == all.len();
    let mark = |asked: Asked| {
        let said = if asked.is_undone { format!("{} ({})", asked.said, state.labels().later_undone) } else { asked.said };
        (asked.turn, said)
    };
    let mut all: Vec<(usize, String)> = all.into_iter().map(mark).collect();
    if let (Some(latest), Some(turn), false) = (latest, latest_of, is_last) {
        all.insert(before_latest, (turn, latest.to_owned()));
    }
    all
}

/// Makes requests fit: cuts each if they are too long together, and drops what is still too much. Those after which nothing changed go
/// first, and what was said while the agent worked, then the oldest. Returns how many of the first `before` ones were dropped.
fn fit(all: &mut Vec<Asked>, before: usize) -> usize {
    let chars = |all: &[Asked]| all.iter().map(|asked| asked.said.chars().count()).sum::<usize>();
    if chars(all) > MAX_CHARS {
        let max = (MAX_CHARS / all.len()).clamp(MIN_SHORT_BYTES, MAX_SHORT_BYTES);
        for asked in all.iter_mut() {
            asked.said = text::clip(&asked.said, max).into_owned();
        }
    }
    let mut dropped = 0;
    while all.len() > MAX_REQUESTS || chars(all) > MAX_CHARS {
        let at = all.iter().position(|asked| !asked.weighs).unwrap_or_default();
        all.remove(at);
        dropped += usize::from(at + dropped < before);
    }
    dropped
}

/// Returns whether nothing changed in a turn, and the next prompt only had the agent do what it had proposed there: the question before
/// "yes" is what was asked for.
fn is_taken_up(turns: &[TurnResult], at: usize) -> bool {
    let next = turns.get(at + 1);
    !turns[at].has_work()
        && next.is_some_and(|next| next.edited && !next.substantive && !human::speaks_of_recording(&next.asked))
}

/// Returns what was asked in a turn, without a consent or an option's letter before it, if it says by itself what to do or what is
/// wrong. `changed` says whether something was changed for it, `is_planned` whether a plan was made in the turn that is still to be
/// carried out, and `is_last` whether the session ended with the turn.
fn steering<'a>(asked: &'a str, turn: &TurnResult, changed: bool, is_planned: bool, is_last: bool) -> Option<&'a str> {
    let is_added = asked != turn.asked;
    let behind = behind_consent(asked);
    let asked = human::without_option_letter(human::without_consent(behind.unwrap_or(asked)));
    let asked = human::without_hesitation(before_code(asked)?);
    let publishes = publishes(asked) && turn.used_tools;
    let speaks = human::speaks_of_recording(asked) && (!(turn.edited || turn.acted) || !asked.is_ascii());
    // The course tells the commit that was asked for last with what became of it.
    let is_last_record = is_last && !turn.edited && !is_added && asks_record(turn, asked);
    let only_records = ((human::only_records(asked) || speaks) && !publishes) || is_last_record;
    // A chore may ask for more: "empty the drawer and commit".
    let is_more = || (turn.edited || turn.acted) && asks_more(asked, is_last);
    let is_own = (turn.substantive || publishes || is_added || is_more())
        && !only_records
        && !human::is_output(asked)
        && !asked.starts_with('/');
    if !is_own {
        return None;
    }
    let orders = || human::is_demand(asked) || human::is_order(asked);
    if is_added {
        // What is said in the middle of the work is often only about its next step.
        let is_long = || asked.chars().count() >= MIN_REMARK_CHARS;
        let is_wish = publishes
            || wishes(asked)
            || is_long()
            || (!asked.contains(['?', '？']) && (orders() || human::corrects(asked)));
        return ((changed || is_planned || is_last) && is_wish && human::stands_alone(asked)).then_some(asked);
    }
    // Where nothing changed, only an order or a correction says what was wanted.
    let lower = asked.to_lowercase();
    let demands = || text::sentences(asked).iter().any(|sentence| human::is_demand(sentence));
    let only_asks = human::only_asks(asked) && !demands();
    let reports = || turn.used_tools && signs::is_problem(&lower);
    let steers = if is_last && (turn.used_tools || !only_asks) {
        // The last request is where the next session goes on.
        true
    } else if signs::is_guess(&lower) {
        let is_asked = asked.chars().count() > MAX_GUESS_CHARS && (changed || (turn.used_tools && demands()));
        is_asked || (!only_asks && reports())
    } else if only_asks {
        changed
    } else {
        let is_work = || turn.used_tools && orders() && !asks_to_see(asked);
        changed || human::corrects(asked) || human::refutes(asked) || is_work() || reports()
    };
    let says_enough = human::stands_alone(asked) || ((turn.has_work() || is_last) && !only_asks && says_what(asked));
    (says_enough && steers).then_some(asked)
}

/// Returns whether a request asks for what others see, and what may come out otherwise: a merge, or a pull request.
pub(in crate::extract) fn publishes(asked: &str) -> bool {
    const WORDS: [&str; 8] = ["merge", "merged", "merging", "pr", "pull request", "머지", "マージ", "合并"];
    text::contains_any_words(&asked.to_lowercase(), &WORDS) && !human::only_asks(asked)
}

/// Returns whether a chore asks for something of its own in enough words: "empty the drawer and commit".
fn asks_more(asked: &str, is_last: bool) -> bool {
    let least = if is_last { FEW_WORDS } else { FEW_WORDS + 1 };
    human::is_demand(asked) && !human::is_consent(asked) && asked.split_whitespace().count() >= least
}

/// Returns whether a turn was asked for a commit, a push or a pull request. A test of pushes asks for none.
pub(super) fn asks_record(turn: &TurnResult, asked: &str) -> bool {
    let speaks = || human::speaks_of_recording(asked) || publishes(asked);
    human::asks_record(asked) || proposes(asked) || (turn.committed && speaks())
}

/// Returns whether a request asks for a pull request: "then open a PR".
pub(super) fn proposes(asked: &str) -> bool {
    const VERBS: [&str; 4] = ["create", "open", "make", "draft"];
    let lower = asked.to_lowercase();
    let names = |it: &str| text::contains_any_words(it, &["pr", "pull request"]);
    let opens = || {
        let sentences = text::sentences(&lower);
        sentences.iter().any(|said| names(said) && text::contains_any_words(said, &VERBS))
    };
    publishes(asked) && (opens() || text::contains_any(&lower, &["prに", "prを"]))
}

/// Returns whether a few words say what to do, if something was changed for them: "fix both".
fn says_what(asked: &str) -> bool {
    let least = if asked.is_ascii() { MIN_ORDER_CHARS } else { MIN_ORDER_CHARS / 2 };
    let is_short = asked.chars().count() < least || (asked.is_ascii() && !asked.contains(' '));
    !is_short && !human::is_consent(asked)
}

/// Returns what a prompt asks for behind a consent: "yes please, round the total".
fn behind_consent(asked: &str) -> Option<&str> {
    let (consent, rest) = asked.split_once([',', '，', '、'])?;
    let rest = rest.trim_start();
    let is_bare = consent.chars().count() <= MAX_CONSENT_CHARS && human::is_consent(consent);
    (is_bare && rest.split(' ').count() >= FEW_WORDS).then_some(rest)
}

/// Returns what a request says before it goes on with code. None if that is too little.
fn before_code(asked: &str) -> Option<&str> {
    let Some(at) = asked.find(['[', '{', '|']) else { return Some(asked) };
    let said = asked[..at].trim_end();
    (said.chars().count() >= MIN_BEFORE_CODE_CHARS).then_some(said)
}

/// Returns whether a question says what somebody would like: "shouldn't the total be rounded?"
fn wishes(asked: &str) -> bool {
    const WORDS: [&str; 24] = [
        "any chance",
        "any way",
        "better",
        "isn't",
        "wondering",
        "wouldn't",
        "can",
        "can't",
        "could",
        "couldn't",
        "should",
        "shouldn't",
        "how about",
        "what about",
        "instead",
        "rather",
        "why not",
        "why aren't",
        "why don't",
        "like to",
        "let's",
        "면 좋",
        "ほうが",
        "たい",
    ];
    text::contains_any_words(&asked.to_lowercase().replace('’', "'"), &WORDS)
}

/// Returns whether an order asks for no more than an answer: "show me where the total is read".
pub(super) fn asks_to_see(asked: &str) -> bool {
    const WORDS: [&str; 5] = ["show me", "tell me", "explain", "remind me", "walk me through"];
    const BEFORE: [&str; 5] = ["can you ", "could you ", "please ", "now ", "just "];
    let lower = asked.to_lowercase();
    let mut order = lower.as_str();
    while let Some(rest) = BEFORE.iter().find_map(|opening| order.strip_prefix(opening)) {
        order = rest;
    }
    WORDS.iter().any(|word| text::starts_with_words(order, word))
}

/// Returns whether a question is about what is still to be done: "is everything done?", "what's next?".
pub(super) fn asks_what_is_left(asked: &str) -> bool {
    const WORDS: [&str; 15] = [
        "left",
        "remaining",
        "remains",
        "next",
        "done",
        "missing",
        "missed",
        "open",
        "outstanding",
        "pending",
        "finished",
        "complete",
        "ready",
        "todo",
        "to do",
    ];
    const OTHERS: [&str; 9] = ["남은", "다음", "완료", "残り", "次", "終わ", "完了", "剩", "下一步"];
    let lower = asked.to_lowercase();
    text::contains_any_words(&lower, &WORDS) || text::contains_any(&lower, &OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::memories::SessionMemory;

    fn turn(asked: &str) -> TurnResult {
        TurnResult { asked: asked.to_owned(), substantive: true, used_tools: true, ..TurnResult::default() }
    }

    #[test]
    fn questions_about_what_is_left() {
        for asked in ["So everything done?", "what's next?", "남은 작업이 있나요?", "残りは何ですか?"] {
            assert!(asks_what_is_left(asked), "{asked}");
        }
        assert!(!asks_what_is_left("do I have to change the model myself?"));
    }

    fn all_said(state: &State) -> Vec<String> {
        others(state).into_iter().map(|(_, said)| said).collect()
    }

    fn told(asked: &str) -> Option<String> {
        steering(asked, &turn(asked), false, false, false).map(str::to_owned)
    }

    fn told_of_edit(asked: &str) -> Option<String> {
        steering(asked, &TurnResult { edited: true, ..turn(asked) }, true, false, false).map(str::to_owned)
    }

    #[test]
    fn a_wish_for_a_plan_that_is_still_to_be_carried_out_is_told() {
        let asked = "the slip is not printed at all for the night till, and it should be";
        let made = TurnResult { asked: "Plan the slips".to_owned(), ..TurnResult::default() };
        assert_eq!(steering(asked, &made, false, true, false), Some(asked));
        assert_eq!(steering(asked, &made, false, false, false), None);
    }

    #[test]
    fn what_had_something_changed_is_told() {
        for asked in [
            "I think the slip of the night till is wrong, it has no date, and the one of the day till has two of them",
            "can we add the name of the till to the slip?",
            "how about a slip per till instead of one for all of them?",
            "no, revert that and print the slip at the end of the day",
            "wondering if there is a better place for the slip of the night till",
            "why is the name of the till printed twice on the slip?",
            "isn't the drawer of the night till a better place for this?",
        ] {
            assert_eq!(told_of_edit(asked).as_deref(), Some(asked));
        }
        assert_eq!(told_of_edit("fix the night till first").as_deref(), Some("fix the night till first"));
    }

    #[test]
    fn a_consent_and_an_option_are_left_out_before_what_is_said() {
        let said = "we also need to print the slip of the night till";
        assert_eq!(told_of_edit(&format!("yes, {said}")).as_deref(), Some(said));
        assert_eq!(told_of_edit(&format!("B) {said}")).as_deref(), Some(said));
    }

    #[test]
    fn what_the_user_says_while_the_agent_works_is_told() {
        let said = "any chance we can share the code of the two slips?";
        let told = |edited: bool, added: &str| {
            let mut state = State::default();
            let asked = "print the slip of the night till at the end of the day";
            state.results.push(TurnResult { edited, added: vec![added.to_owned()], ..turn(asked) });
            state.results.push(turn("is the lock of the drawer red?"));
            all_said(&state)
        };
        assert!(told(true, said).contains(&said.to_owned()));
        assert!(!told(false, said).contains(&said.to_owned()), "nothing came of it");
        let fact = "what does the till of the night say about the drawer?";
        assert!(!told(true, fact).contains(&fact.to_owned()));
    }

    #[test]
    fn a_word_of_a_request_in_a_decision_does_not_tell_the_request() {
        let asked = "print the slip of the night till at the end of the day";
        let told = |title: &str| {
            let mut state = State::default();
            state.results.push(TurnResult { edited: true, ..turn(asked) });
            let memory = SessionMemory { title: title.to_owned(), ..SessionMemory::default() };
            state.memories.add(memory, &mut Vec::new());
            all_said(&state)
        };
        assert_eq!(told("print"), [asked]);
        assert_eq!(told(""), [asked]);
        assert!(told(asked).is_empty() && told("print the slip of the night till at the end").is_empty());
    }

    #[test]
    fn a_few_words_are_told_if_something_was_changed_for_them() {
        assert_eq!(told_of_edit("fix both").as_deref(), Some("fix both"));
        assert_eq!(told_of_edit("yes please, fold the slip twice").as_deref(), Some("fold the slip twice"));
        for asked in ["ok", "3", "/compact", "in the night till?"] {
            assert_eq!(told_of_edit(asked), None, "{asked}");
        }
        assert_eq!(told("fix both"), None);
        let code = "the slip of the night till has no name, it should be the one of the shop: {\"till\": 1}";
        assert_eq!(told_of_edit(code), code.split(" {").next().map(str::to_owned));
    }

    #[test]
    fn a_question_is_told_if_the_user_took_up_the_answer() {
        let asked = "is there a slip of the night till that nobody prints?";
        let told = |next: &str, edited: bool| {
            let mut state = State::default();
            state.results.push(turn("print the slip of the day till at the end of the day"));
            state.results.push(turn(asked));
            state.results.push(TurnResult { substantive: false, edited, ..turn(next) });
            all_said(&state).contains(&asked.to_owned())
        };
        assert!(told("yes", true));
        assert!(!told("yes", false) && !told("commit this", true));
    }

    #[test]
    fn a_request_to_merge_is_told_whatever_came_of_it() {
        let asked = "push all of this up and get the slip of the night till merged";
        let told = |substantive: bool, asked: &str| {
            steering(asked, &TurnResult { substantive, ..turn(asked) }, false, false, false).map(str::to_owned)
        };
        assert_eq!(told(false, asked).as_deref(), Some(asked));
        assert_eq!(told(false, "push all of this up to the night branch"), None);
    }

    #[test]
    fn a_request_whose_work_was_undone_says_so() {
        let mut state = State::default();
        state.results.push(turn("print the slip of the day till at the end of the day"));
        let undone = "fold the slip of the night till three times";
        state.results.push(TurnResult { edited: true, reverted: true, ..turn(undone) });
        let looked = "look at the slips of the night till in print_slip.rs";
        state.results.push(TurnResult { reverted: true, ..turn(looked) });
        let told = all_said(&state);
        assert!(told.contains(&format!("{undone} (later undone)")));
        assert!(told.contains(&looked.to_owned()), "nothing was done for it");
    }

    #[test]
    fn requests_are_cut_before_they_are_dropped() {
        let asked = |said: String, weighs: bool| Asked { turn: 0, said, weighs, is_undone: false };
        let mut all: Vec<Asked> =
            (0..8).map(|at| asked(format!("{at} {}", "print the slip ".repeat(20)), at != 1)).collect();
        assert_eq!(fit(&mut all, 3), 0);
        assert!(all.len() == 8 && all.iter().all(|asked| asked.said.chars().count() <= MAX_SHORT_BYTES));
        let mut all: Vec<Asked> = (0..MAX_REQUESTS + 2).map(|at| asked(at.to_string(), at != 4)).collect();
        assert_eq!(fit(&mut all, 3), 1, "4 goes first, and then 0");
        assert_eq!(all[0].said, "1");
    }

    #[test]
    fn what_only_asks_or_records_is_not_told() {
        assert_eq!(told("does the night till have a slip of its own today?"), None);
        assert_eq!(told_of_edit("commit that and push it please"), None);
        assert_eq!(told("I guess the slip of the night till is a bit longer"), None);
        assert_eq!(told_of_edit("can you check print_slip.rs, perhaps this needs a change too"), None);
        assert_eq!(told("can you show me the code that prints the slip of the night till?"), None);
        assert!(told("look at the slips of the night till in print_slip.rs").is_some());
    }

    #[test]
    fn the_last_request_is_told_even_if_nothing_came_of_it() {
        let last = |asked| steering(asked, &turn(asked), false, false, true).map(str::to_owned);
        for asked in
            ["the drawer stays as it is, it needs no lock", "does the bell of the night till ring twice?", "use both"]
        {
            assert_eq!(last(asked).as_deref(), Some(asked));
        }
        assert_eq!(
            last("hmm, the drawer of the till needs no lock").as_deref(),
            Some("the drawer of the till needs no lock")
        );
        assert_eq!(last("ready?"), None);
        assert_eq!(told("the drawer stays as it is, it needs no lock"), None);
    }

    #[test]
    fn a_pull_request_that_was_asked_for_while_the_agent_worked_is_told() {
        let told = |added: &str| {
            let turn = TurnResult { edited: true, added: vec![added.to_owned()], ..turn("print the slip of the till") };
            steering(added, &turn, true, false, false).is_some()
        };
        assert!(told("ok push it up and lets get a pr ready") && !told("commit it please"));
    }

    #[test]
    fn a_chore_that_asks_for_more_is_told() {
        let chore = |asked: &str| TurnResult { substantive: false, edited: true, committed: true, ..turn(asked) };
        let told = |asked: &str| steering(asked, &chore(asked), true, false, false).is_some();
        assert!(told("commit and empty the drawer of the till") && told("close the drawer, then push it"));
        assert!(!told("commit this please") && !told("please continue") && !told("コミットして"));
    }

    #[test]
    fn what_was_asked_for_last_while_the_agent_worked_is_told() {
        let mut state = State::default();
        state.request = "print the slip".to_owned();
        for asked in ["print the slip", "is the lock red?", "paint the drawer"] {
            state.results.push(TurnResult { edited: true, ..turn(asked) });
        }
        let added = "fold the slips of the night till, too";
        let busy = TurnResult { edited: true, added: vec![added.to_owned()], ..turn("ring the bell of the shop") };
        state.results.push(busy);
        state.later = added.to_owned();
        assert_eq!(latest_with_turn(&state), Some((3, added)));
    }
}
