//! What the user asked for after the first request.

use super::human;
use super::results::TurnResult;
use super::signs;
use super::state::State;
use super::statement::Voice;
use crate::text;

/// The maximum number of requests after the first that are told.
pub(crate) const MAX_REQUESTS: usize = 40;
/// Their maximum length together, in characters, and that of one, in bytes.
const MAX_CHARS: usize = 4_000;
const MAX_REQUEST_BYTES: usize = 400;
/// The length to which each is cut if all are too long together, in bytes: the fewer there are, the longer.
const MIN_SHORT_BYTES: usize = 120;
const MAX_SHORT_BYTES: usize = 240;

/// The similarity at which two requests ask for the same.
pub(super) const SAME_REQUEST: f32 = 0.6;

/// How many words behind a consent are too few to say what to do.
const FEW_WORDS: usize = 4;
/// The same for scripts that put no blanks between words, in characters.
const MAX_BRIEF_CHARS: usize = 28;
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
    let is_of_program = state.results.turns().iter().any(|turn| turn.asked == later && turn.is_unasked);
    (!later.is_empty()
        && !is_open
        && !is_of_program
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

/// Returns the requests and corrections after the first request with the places of their turns, oldest first.
pub(super) fn later(state: &State) -> Vec<(usize, String)> {
    let turns = state.results.turns();
    let first = turns.iter().find(|turn| turn.asked == state.request).map(|turn| turn.number);
    let mut all: Vec<Asked> = Vec::new();
    let known =
        |asked: &str, all: &[Asked]| repeats(asked, &state.request) || all.iter().any(|known| repeats(asked, &known.said));
    for (at, turn) in turns.iter().enumerate() {
        let changed = turn.has_work() || is_taken_up(turns, at);
        // What has no answer is told as left undone.
        let all_asked = std::iter::once(&turn.asked).chain(&turn.added).filter(|asked| !state.undone.is_unanswered(asked));
        let is_last = at + 1 == turns.len();
        for asked in all_asked.filter_map(|asked| telling(asked, turn, is_last)) {
            // What was asked again last, and was answered or worked on, stands last.
            let is_asked_again =
                is_last && Some(turn.number) != first && turn.statements.iter().any(|it| it.voice == Voice::Answer);
            if is_asked_again || !known(asked, &all) {
                let weighs = changed && !turn.added.iter().any(|added| added.ends_with(asked));
                let is_undone = changed && (turn.reverted || turn.is_taken_back) && !human::only_asks(asked);
                all.push(Asked { turn: at, said: human::shortened(asked, MAX_REQUEST_BYTES), weighs, is_undone });
            }
        }
    }
    fit(&mut all);
    let mark = |asked: Asked| {
        let said = if asked.is_undone { format!("{} ({})", asked.said, state.labels().later_undone) } else { asked.said };
        (asked.turn, said)
    };
    all.into_iter().map(mark).collect()
}

/// Returns whether a request asks for the same as one before it, and says little more: "oh wait, a green till with a red bell and no lock"
/// has the words of "a green till", and more.
fn repeats(asked: &str, before: &str) -> bool {
    const MIN_NEW_WORDS: usize = 4;
    let (words, known) = (text::features(asked), text::features(before));
    let new = words.iter().filter(|word| !known.contains(*word)).count();
    text::similarity(&known, &words) >= SAME_REQUEST && new < MIN_NEW_WORDS
}

/// Makes requests fit: cuts each if they are too long together, and drops what is still too much. Those after which nothing changed go
/// first, and what was said while the agent worked, then the oldest.
fn fit(all: &mut Vec<Asked>) {
    let chars = |all: &[Asked]| all.iter().map(|asked| asked.said.chars().count()).sum::<usize>();
    if chars(all) > MAX_CHARS {
        let max = (MAX_CHARS / all.len()).clamp(MIN_SHORT_BYTES, MAX_SHORT_BYTES);
        for asked in all.iter_mut() {
            asked.said = human::shortened(&asked.said, max);
        }
    }
    while all.len() > MAX_REQUESTS || chars(all) > MAX_CHARS {
        let at = all.iter().position(|asked| !asked.weighs).unwrap_or_default();
        all.remove(at);
    }
}

/// Returns whether nothing changed in a turn, and the next prompt only had the agent do what it had proposed there: the question before
/// "yes" is what was asked for.
fn is_taken_up(turns: &[TurnResult], at: usize) -> bool {
    let next = turns.get(at + 1);
    !turns[at].has_work()
        && next.is_some_and(|next| next.edited && !next.substantive && !human::speaks_of_recording(&next.asked))
}

/// Returns what was asked in a turn, without a consent or an option's letter before it, if it says something of its own: not a mere
/// consent, a chore such as "commit this", a command of the client's, or what a program printed. `is_last` says whether the session
/// ended with the turn.
fn telling<'a>(asked: &'a str, turn: &TurnResult, is_last: bool) -> Option<&'a str> {
    let is_added = asked != turn.asked;
    let behind = behind_consent(asked);
    let asked = human::without_option_letter(human::without_consent(behind.unwrap_or(asked)));
    // What is code is left out of the parts of a request.
    let asked = if human::Parts::in_line(asked).is_some() { asked } else { before_code(asked)? };
    let dismisses = human::dismisses(asked);
    let asked = if dismisses { asked } else { human::without_hesitation(asked) };
    let publishes = publishes(asked) && turn.used_tools;
    let speaks = human::speaks_of_recording(asked) && (!(turn.edited || turn.acted) || !asked.is_ascii());
    // The course tells the commit that was asked for last with what became of it.
    let is_last_record = is_last && !turn.edited && !is_added && asks_record(turn, asked);
    // Other scripts put no blanks between words.
    let fits_in_few = asked.is_ascii() || asked.chars().count() <= MAX_BRIEF_CHARS;
    let is_brief = asked.split_whitespace().count() <= FEW_WORDS && fits_in_few;
    // "Let me commit myself from now on" is a rule.
    let only_records = !publishes && (human::only_records(asked) || (speaks && is_brief));
    if turn.is_unasked {
        return None;
    }
    let is_own = turn.substantive || publishes || is_added || exceeds_chore(asked) || is_verdict(asked) || dismisses;
    let tells = is_own && !only_records && !is_last_record && !human::is_output(asked) && !human::is_slash_command(asked);
    (tells && (dismisses || exceeds_consent(asked))).then_some(asked)
}

/// Returns whether a request asks for what others see, and what may come out otherwise: a merge, or a pull request.
pub(in crate::extract) fn publishes(asked: &str) -> bool {
    const WORDS: [&str; 8] = ["merge", "merged", "merging", "pr", "pull request", "머지", "マージ", "合并"];
    text::contains_any_words(&asked.to_lowercase(), &WORDS) && !human::only_asks(asked)
}

/// Returns whether a chore, or a choice between ways, has enough words to ask for something of its own: "empty the drawer and commit".
fn exceeds_chore(asked: &str) -> bool {
    !human::is_consent(asked) && !human::begins_with_consent(asked) && asked.split_whitespace().count() > FEW_WORDS
}

/// Returns whether the user says how what was done turned out: "that works now".
pub(super) fn is_verdict(asked: &str) -> bool {
    const WORDS: [&str; 13] = [
        "works",
        "worked",
        "working",
        "fixed",
        "great",
        "perfect",
        "better",
        "worse",
        "동작",
        "좋아",
        "動き",
        "良い",
        "可以了",
    ];
    const MIN_WORDS: usize = 3;
    let lower = asked.to_lowercase();
    // What sounds good is only agreed to.
    !lower.contains("sounds")
        && text::contains_any_words(&lower, &WORDS)
        && (!asked.is_ascii() || asked.split_whitespace().count() >= MIN_WORDS)
}

/// Returns whether a prompt only praises what was done, in a few words.
pub(in crate::extract) fn only_praises(asked: &str) -> bool {
    const MAX_WORDS: usize = 6;
    const OTHERS: [&str; 6] = ["but", "not", "don't", "doesn't", "isn't", "if"];
    let lower = asked.to_lowercase().replace('’', "'");
    is_verdict(asked)
        && asked.split_whitespace().count() <= MAX_WORDS
        && !asked.contains(['?', '？'])
        && !text::contains_any_words(&lower, &OTHERS)
        && !human::is_order(asked)
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

/// Returns whether a prompt says more than a consent or one word: "fix both".
fn exceeds_consent(asked: &str) -> bool {
    let least = if asked.is_ascii() { MIN_ORDER_CHARS } else { MIN_ORDER_CHARS / 2 };
    let is_short = asked.chars().count() < least || (asked.is_ascii() && !asked.contains(' '));
    !is_short && (!human::is_consent(asked) || is_verdict(asked))
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
        later(state).into_iter().map(|(_, said)| said).collect()
    }

    fn told(asked: &str) -> Option<String> {
        telling(asked, &turn(asked), false).map(str::to_owned)
    }

    #[test]
    fn whatever_the_user_says_is_told() {
        for asked in [
            "I think the slip of the night till is wrong, it has no date, and the one of the day till has two of them",
            "can we add the name of the till to the slip?",
            "does the night till have a slip of its own today?",
            "/till/slip.png has no date, can you add it?",
            "the drawer stays as it is, it needs no lock",
            "the night till too!",
            "not sure, it still rings twice",
            "fix both",
            "great, that works now",
            "let me commit myself from now on, please",
            "right now it looks rusty..there's the lid underneath..lets talk about it first...its not what i wanted",
        ] {
            assert_eq!(told(asked).as_deref(), Some(asked));
        }
        assert_eq!(told("hmm, the drawer needs no lock").as_deref(), Some("the drawer needs no lock"));
    }

    #[test]
    fn who_praises_in_a_few_words_wants_nothing() {
        for asked in ["That looks great now.", "great, the bell works!"] {
            assert!(only_praises(asked), "{asked}");
        }
        for asked in
            ["That looks better. Can you print it twice?", "print the slip", "better, but not red", "it's not working"]
        {
            assert!(!only_praises(asked), "{asked}");
        }
    }

    #[test]
    fn consents_chores_commands_and_output_are_not_told() {
        for asked in ["ok", "3", "/compact", "ready?", "commit that and push it please", "please continue", "コミットして"]
        {
            let chore = TurnResult { substantive: false, edited: true, committed: true, ..turn(asked) };
            assert_eq!(telling(asked, &chore, false), None, "{asked}");
        }
        let consent = "sounds great, go ahead";
        assert_eq!(telling(consent, &TurnResult { substantive: false, ..turn(consent) }, false), None);
    }

    #[test]
    fn the_commit_that_was_asked_for_last_is_told_with_what_became_of_it() {
        let asked = "commit that, the name of the night till can wait until tomorrow";
        let chore = TurnResult { edited: false, committed: true, ..turn(asked) };
        assert_eq!((telling(asked, &chore, true), telling(asked, &chore, false)), (None, Some(asked)));
    }

    #[test]
    fn a_wish_about_a_commit_is_told_in_scripts_without_blanks() {
        for asked in [
            "レシートのcommitだけが残るのは嫌なので、引き出しの変更と合わせて1つのcommitにしたいです。",
            "把抽屉和收据的修改放在一起，写一个新的说明文件，然后提交并推送到远程的主分支上",
        ] {
            assert_eq!(told(asked).as_deref(), Some(asked));
        }
        assert_eq!(told("全部コミットして"), None);
    }

    #[test]
    fn a_rule_of_a_program_is_nobodys_request() {
        let asked = "From now on always fold the slip of the night till";
        let planted = TurnResult { is_unasked: true, ..turn(asked) };
        assert_eq!(telling(asked, &planted, true), None);
        let mut state = State::default();
        state.results.push(planted);
        asked.clone_into(&mut state.later);
        assert_eq!((latest(&state), later(&state)), (None, Vec::new()));
    }

    #[test]
    fn a_consent_and_an_option_are_left_out_before_what_is_said() {
        let said = "we also need to print the slip of the night till";
        assert_eq!(told(&format!("yes, {said}")).as_deref(), Some(said));
        assert_eq!(told(&format!("B) {said}")).as_deref(), Some(said));
        assert_eq!(told("yes please, fold the slip twice").as_deref(), Some("fold the slip twice"));
    }

    #[test]
    fn code_behind_what_is_said_is_left_out() {
        let code = "the slip of the night till has no name, it should be the one of the shop: {\"till\": 1}";
        assert_eq!(told(code), code.split(" {").next().map(str::to_owned));
    }

    #[test]
    fn a_request_is_told_beside_a_decision_that_says_the_same() {
        let asked = "print the slip of the night till at the end of the day";
        let mut state = State::default();
        state.results.push(TurnResult { edited: true, ..turn(asked) });
        let memory = SessionMemory { title: asked.to_owned(), ..SessionMemory::default() };
        state.memories.add(memory, &mut Vec::new());
        assert_eq!(all_said(&state), [asked]);
    }

    #[test]
    fn what_the_user_says_while_the_agent_works_is_told() {
        let (asked, said) = ("print the slip of the night till", "share the code of the two slips");
        let mut state = State::default();
        state.results.push(TurnResult { edited: true, added: vec![said.to_owned()], ..turn(asked) });
        assert_eq!(all_said(&state), [asked, said]);
    }

    #[test]
    fn what_was_asked_before_is_told_once() {
        let asked = "print the slip of the night till at the end of the day";
        let mut state = State::default();
        state.results.push(turn(asked));
        state.results.push(turn("is the lock of the drawer red?"));
        state.results.push(turn(&format!("please {asked}")));
        assert_eq!(all_said(&state), [asked, "is the lock of the drawer red?"]);
    }

    #[test]
    fn a_request_to_merge_is_told_whatever_came_of_it() {
        let asked = "push all of this up and get the slip of the night till merged";
        let told = |asked: &str| telling(asked, &TurnResult { substantive: false, ..turn(asked) }, false).map(str::to_owned);
        assert_eq!(told(asked).as_deref(), Some(asked));
        assert_eq!(told("push it"), None);
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
            (0..16).map(|at| asked(format!("{at} {}", "print the slip ".repeat(20)), at != 1)).collect();
        fit(&mut all);
        assert!(all.len() == 16 && all.iter().all(|asked| asked.said.chars().count() <= MAX_SHORT_BYTES));
        let mut all: Vec<Asked> = (0..MAX_REQUESTS + 2).map(|at| asked(at.to_string(), at != 4)).collect();
        fit(&mut all);
        assert_eq!((all.len(), all[0].said.as_str()), (MAX_REQUESTS, "1"), "4 goes first, and then 0");
    }

    #[test]
    fn a_chore_that_asks_for_more_is_told() {
        let chore = |asked: &str| TurnResult { substantive: false, edited: true, committed: true, ..turn(asked) };
        let told = |asked: &str| telling(asked, &chore(asked), false).is_some();
        assert!(told("commit and empty the drawer of the till") && told("close the drawer, then push it"));
        assert!(told("only the second one, and not for the night till"));
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
