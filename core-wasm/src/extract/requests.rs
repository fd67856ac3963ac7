//! What the user asked for after the first request: the latest request, and what steered the work between the two.

use super::human;
use super::results::TurnResult;
use super::signs;
use super::state::State;
use crate::text;

/// The maximum number of requests between the first and the last that are told.
const MAX_REQUESTS: usize = 8;
/// Their maximum length together, and that of one, in characters.
const MAX_CHARS: usize = 900;
const MAX_REQUEST_CHARS: usize = 400;

/// The length of the beginning of a request by which a result tells it, in bytes.
const MAX_TOLD_START_BYTES: usize = 60;

/// The similarity at which two requests ask for the same.
const SAME_REQUEST: f32 = 0.6;

/// The length up to which a prompt that speaks of a commit asks for nothing else, in characters.
const MAX_RECORD_CHARS: usize = 60;

/// The length up to which a guess says too little, even if something was changed for it, in characters.
const MAX_GUESS_CHARS: usize = 80;

/// How many words are too few to say what to do without the answer before them.
const FEW_WORDS: usize = 4;

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

/// Returns the other requests and corrections that nothing else tells, oldest first. `told` are the results. If there are too many,
/// those after which nothing changed go first, and what was said while the agent worked, then the oldest. The latest request is among
/// them if another one came after it.
pub(super) fn others(state: &State, told: &[String]) -> Vec<String> {
    let mut all: Vec<(bool, String)> = Vec::new();
    let latest_of = latest(state).and_then(|latest| state.results.turns().iter().rposition(|turn| turn.asked == latest));
    let mut before_latest = 0;
    // A decision that is only a word of the request does not tell it.
    let decided = |asked: &str| {
        let is_most = |title: &str| asked.contains(title) && title.len() * 2 >= asked.len();
        state.memories.live().any(|memory| memory.title.contains(asked) || is_most(&memory.title))
    };
    let known = |asked: &str, all: &[(bool, String)]| {
        let words = text::features(asked);
        let is_same = |said: &str| text::similarity(&text::features(said), &words) >= SAME_REQUEST;
        let start = text::head(asked, MAX_TOLD_START_BYTES);
        is_same(&state.request)
            || latest(state).is_some_and(is_same)
            || all.iter().any(|(_, said)| is_same(said))
            || told.iter().any(|line| line.contains(start))
    };
    // What was said to a plan that is still to be carried out belongs to what was asked.
    let is_planned = |at: usize| state.undone.planned_request().is_some() && at + 1 == state.results.turns().len();
    for (at, turn) in state.results.turns().iter().enumerate() {
        if latest_of == Some(at) {
            before_latest = all.len();
        }
        // What has no answer is told as left undone.
        let all_asked = std::iter::once(&turn.asked).chain(&turn.added).filter(|asked| !state.undone.is_unanswered(asked));
        for asked in all_asked.filter_map(|asked| steering(asked, turn, is_planned(at))) {
            if !known(asked, &all) && !decided(asked) {
                let weighs = (turn.edited || turn.committed) && !turn.added.iter().any(|added| added.ends_with(asked));
                all.push((weighs, asked.to_owned()));
            }
        }
    }
    // If the work was only planned, nothing else tells what the user wanted.
    let planned = state.undone.planned_request().map(human::without_consent);
    let is_told = |asked: &&str| asked.chars().count() > MAX_REQUEST_CHARS || known(asked, &all) || decided(asked);
    if let Some(asked) = planned.filter(|asked| human::stands_alone(asked) && !is_told(asked)) {
        all.push((true, asked.to_owned()));
    }
    let is_too_much = |all: &[(bool, String)]| {
        all.len() > MAX_REQUESTS || all.iter().map(|(_, asked)| asked.chars().count()).sum::<usize>() > MAX_CHARS
    };
    while is_too_much(&all) {
        let at = all.iter().position(|(weighs, _)| !weighs).unwrap_or_default();
        all.remove(at);
        before_latest -= usize::from(at < before_latest);
    }
    let is_last = before_latest == all.len();
    let mut all: Vec<String> = all.into_iter().map(|(_, asked)| asked).collect();
    if let (Some(latest), Some(_), false) = (latest(state), latest_of, is_last) {
        all.insert(before_latest, latest.to_owned());
    }
    all
}

/// Returns what was asked in a turn, without a consent or an option's letter before it, if it says by itself what to do or what is
/// wrong. `is_planned` says whether a plan was made in the turn that is still to be carried out.
fn steering<'a>(asked: &'a str, turn: &TurnResult, is_planned: bool) -> Option<&'a str> {
    let changed = turn.edited || turn.committed;
    let is_added = asked != turn.asked;
    let asked = human::without_option_letter(human::without_consent(asked));
    let only_records = human::speaks_of_recording(asked) && (!turn.edited || asked.chars().count() <= MAX_RECORD_CHARS);
    let is_own = (turn.substantive || is_added)
        && !only_records
        && !human::is_output(asked)
        && asked.chars().count() <= MAX_REQUEST_CHARS
        && !asked.contains(['[', '{', '|'])
        && !asked.starts_with('/');
    if !is_own {
        return None;
    }
    let is_order = changed && !asked.contains('?') && asked.split_whitespace().count() > FEW_WORDS;
    let orders = || human::is_demand(asked) || human::is_order(asked);
    if is_added {
        // What is said in the middle of the work is often only about its next step.
        let is_wish = wishes(asked) || (!asked.contains(['?', '？']) && (orders() || human::corrects(asked)));
        return ((turn.edited || is_planned) && is_wish && human::stands_alone(asked)).then_some(asked);
    }
    // A question may wish for what was changed then, unless it only asks for a fact. Where nothing changed, only an order or a
    // correction says what was wanted.
    let steers = if human::only_asks(asked) {
        (changed && wishes(asked)) || (turn.edited && !asks_fact(asked))
    } else if signs::is_guess(&asked.to_lowercase()) {
        turn.edited && asked.chars().count() > MAX_GUESS_CHARS
    } else {
        changed || human::corrects(asked) || human::refutes(asked) || (turn.used_tools && orders() && !asks_to_see(asked))
    };
    ((is_order || human::stands_alone(asked)) && steers).then_some(asked)
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

/// Returns whether a question asks how something is, so that the answer is all that it wants.
fn asks_fact(asked: &str) -> bool {
    const OPENINGS: [&str; 10] = ["what", "how", "where", "which", "who", "when", "does", "do", "did", "question"];
    const WISHES: [&str; 4] = ["how about", "how come", "do we really", "do we still"];
    let lower = asked.to_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| text::starts_with_words(&lower, word));
    starts(&OPENINGS) && !starts(&WISHES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::memories::SessionMemory;

    fn turn(asked: &str) -> TurnResult {
        TurnResult { asked: asked.to_owned(), substantive: true, used_tools: true, ..TurnResult::default() }
    }

    fn told(asked: &str) -> Option<String> {
        steering(asked, &turn(asked), false).map(str::to_owned)
    }

    fn told_of_edit(asked: &str) -> Option<String> {
        steering(asked, &TurnResult { edited: true, ..turn(asked) }, false).map(str::to_owned)
    }

    #[test]
    fn a_wish_for_a_plan_that_is_still_to_be_carried_out_is_told() {
        let asked = "the slip is not printed at all for the night till, and it should be";
        let made = TurnResult { asked: "Plan the slips".to_owned(), ..TurnResult::default() };
        assert_eq!(steering(asked, &made, true), Some(asked));
        assert_eq!(steering(asked, &made, false), None);
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
            others(&state, &[])
        };
        assert_eq!(told(true, said).last().map(String::as_str), Some(said));
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
            others(&state, &[])
        };
        assert_eq!(told("print"), [asked]);
        assert_eq!(told(""), [asked]);
        assert!(told(asked).is_empty() && told("print the slip of the night till at the end").is_empty());
    }

    #[test]
    fn what_only_asks_or_records_is_not_told() {
        for asked in ["does the night till have a slip of its own today?", "commit that and push it to the night branch"] {
            assert_eq!(told_of_edit(asked), None, "{asked}");
        }
        assert_eq!(told("the slip of the night till seems to be wrong, I guess"), None);
        assert_eq!(told_of_edit("can you check print_slip.rs, perhaps this needs a change too"), None);
        assert_eq!(told("can you show me the code that prints the slip of the night till?"), None);
        assert!(told("look at the slips of the night till in print_slip.rs").is_some());
    }
}
