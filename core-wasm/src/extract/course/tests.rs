//! Tests of the order of requests and results.

use super::*;

/// Returns the lines as a reader would write them.
fn told_of(state: &State, more: &[(usize, String)], results: &[usize], end: Option<usize>) -> String {
    let told = lines(state, more, results, end);
    let plain = told.lines().map(|line| line.trim_end_matches(FIELD).replace(FIELD, ARROW));
    plain.collect::<Vec<_>>().join("\n")
}

fn turn(asked: &str, edited: bool) -> TurnResult {
    TurnResult { asked: asked.to_owned(), substantive: true, used_tools: true, edited, ..TurnResult::default() }
}

fn state(turns: [TurnResult; 4]) -> State {
    let mut state = State::default();
    state.request.clone_from(&turns[0].asked);
    for turn in turns {
        state.results.push(turn);
    }
    state
}

#[test]
fn a_plan_that_was_put_aside_stands_behind_the_last_request() {
    let asked = ["print the slip", "paint the drawer", "fold the slip", "ring the bell at each sale"];
    let mut state = state(asked.map(|said| turn(said, said != asked[3])));
    state.undone.plan_made("Ring the bell", "");
    let refused = state.undone.refusal(state.labels()).expect("a plan was put aside");
    let more = [(3, asked[3].to_owned())];
    let last = |state: &State, end| told_of(state, &more, &[0, 1], end).lines().last().map(str::to_owned);
    assert_eq!(last(&state, Some(2)), Some(format!("- {}{ARROW}{refused}", asked[3])));
    assert_eq!(last(&state, Some(3)), Some(format!("end {}", asked[3])), "the outcome tells it");
}

#[test]
fn a_plan_that_was_put_aside_stands_behind_its_request_and_not_behind_what_was_said_to_it() {
    let asked = ["print the slip", "paint the drawer", "fold the slip", "ring the bell at each sale"];
    let remark = "why was the bell silent before the sale?";
    let turns = asked.map(|said| turn(said, said != asked[3]));
    let turns = turns.map(|it| if it.asked == asked[3] { TurnResult { added: vec![remark.to_owned()], ..it } } else { it });
    let mut state = state(turns);
    state.undone.plan_made("Ring the bell", "");
    let refused = state.undone.refusal(state.labels()).expect("a plan was put aside");
    let told = told_of(&state, &[(3, asked[3].to_owned()), (3, remark.to_owned())], &[0, 1], Some(2));
    let last: Vec<&str> = told.lines().rev().take(2).collect();
    assert_eq!(last, [format!("- {remark}"), format!("- {}{ARROW}{refused}", asked[3])]);
}

#[test]
fn each_request_has_its_result() {
    let asked = [
        "print the slip of the night till at the end of the day",
        "paint the drawer of the day till red and its lock green",
        "yes",
        "why does the bell of the shop ring twice in the morning?",
    ];
    let state = state(asked.map(|asked| turn(asked, asked != "yes")));
    let more = requests::later(&state);
    let told = told_of(&state, &more, &[0, 2], Some(3));
    assert_eq!(told, format!("0 *\n1 {}\nend {}", asked[1], asked[3]), "what came of a consent belongs to the request");
}

#[test]
fn the_commit_that_was_asked_for_last_is_told_with_what_became_of_it() {
    let asked = ["print the slip", "paint the drawer of the day till", "fold the slip", "commit this, but not the slip"];
    let turns = asked.map(|said| TurnResult { committed: said == asked[3], ..turn(said, said != asked[3]) });
    let told = told_of(&state(turns.clone()), &[], &[0, 1], Some(2));
    assert_eq!(told.lines().last(), Some("- commit this, but not the slip → committed"));
    let [first, second, third, _] = turns;
    let told = told_of(&state([first, second, third, turn("why is it red?", false)]), &[], &[0, 1], Some(2));
    assert!(told.lines().last().is_some_and(|last| last.starts_with("end ")), "{told}");
}

#[test]
fn a_request_that_only_speaks_of_a_push_is_not_told_as_pushed() {
    let asked = ["print the slip", "test what the till does if a push fails", "commit please", "why is it red?"];
    let turns = asked.map(|said| TurnResult { committed: said == asked[2], ..turn(said, said == asked[1]) });
    let more = [(1, asked[1].to_owned()), (2, asked[2].to_owned())];
    let told = told_of(&state(turns), &more, &[0], Some(3));
    assert_eq!(told, format!("0 *\n- {}\n- {} → committed\nend {}", asked[1], asked[2], asked[3]));
}

#[test]
fn a_push_before_it_was_asked_for_is_not_what_came_of_it() {
    let asked = ["print the slip", "paint the drawer of the day till", "fold the slip", "ok, then push it"];
    let told = |pushed: usize| {
        let turns = [0, 1, 2, 3].map(|at| TurnResult { pushed: at == pushed, ..turn(asked[at], at < 2) });
        let mut state = state(turns);
        state.undone.committed(false);
        state.undone.pushed();
        told_of(&state, &[], &[0, 1], Some(2)).lines().last().map(str::to_owned)
    };
    assert_eq!(told(1).as_deref(), Some("- ok, then push it"));
    assert_eq!(told(3).as_deref(), Some("- ok, then push it → pushed"));
}

#[test]
fn a_question_stands_before_its_answer_and_a_consent_does_not() {
    let told = |asked: &str| {
        let turns = ["print the slip", "paint the drawer", asked, "fold the slip"].map(|said| turn(said, said != asked));
        let mut number = 1..;
        let turns = turns.map(|turn| TurnResult { number: number.next().unwrap_or_default(), ..turn });
        told_of(&state(turns), &[], &[0, 1, 2], Some(3)).lines().nth(2).map(str::to_owned)
    };
    for asked in ["why an error?", "compare it to the night till", "so the commit is there?"] {
        assert_eq!(told(asked), Some(format!("2 {asked}")));
    }
    for asked in ["yes", "12", "yes, please"] {
        assert_eq!(told(asked).as_deref(), Some("2 "), "{asked}");
    }
}

#[test]
fn a_request_without_a_result_is_told_with_the_files_that_were_changed_for_it() {
    let asked = ["print the slip", "paint the drawer", "is the lock of the till red?", "fold the slip"];
    let turns = asked.map(|said| turn(said, said != asked[2]));
    let [first, second, third, fourth] = turns;
    let mut state = state([
        TurnResult { number: 1, ..first },
        TurnResult { number: 2, ..second },
        TurnResult { number: 3, ..third },
        TurnResult { number: 4, ..fourth },
    ]);
    for (turn, file) in [(1, "src/slip.py"), (2, "src/drawer.py"), (4, "src/slip.py")] {
        state.files.record_change(file, 1, 0);
        state.taken_back.edited(file, turn, 0);
    }
    let more = [(1, asked[1].to_owned()), (2, asked[2].to_owned())];
    let told = told_of(&state, &more, &[], Some(3));
    assert_eq!(told, format!("- * → changed: `slip.py`\n- {} → changed: `drawer.py`\n- {}\nend ", asked[1], asked[2]));
}

#[test]
fn whoever_wants_a_message_of_a_commit_asks_for_no_commit() {
    let told = |asked: &str, committed: bool| {
        let asked_of = ["print the slip", "fold it", "ring the bell", asked];
        let turns = asked_of.map(|said| TurnResult { committed: committed && said == asked, ..turn(said, true) });
        let mut state = state(turns);
        state.files.record_change("till.rs", 1, 0);
        state.undone.file_changed("till.rs");
        told_of(&state, &[(3, asked.to_owned())], &[0], Some(2))
    };
    let is_told = |asked: &str, committed: bool| told(asked, committed).contains('→');
    assert!(is_told("commit it please", false) && !is_told("give me a commit message", false));
    assert!(is_told("commit it please", true) && !is_told("open a PR for it", true), "it may be elsewhere");
}

#[test]
fn what_came_of_a_consent_is_not_what_came_of_a_deed_before_it() {
    let asked = ["print the slip", "write the plan down as a comment", "yes", "ring the bell of the shop"];
    let turns = asked.map(|said| TurnResult { acted: said == asked[1], ..turn(said, said == "yes") });
    let told = told_of(&state(turns), &[(1, asked[1].to_owned())], &[0, 2], Some(3));
    assert_eq!(told, format!("0 *\n- {}\n1 \nend {}", asked[1], asked[3]));
    let asked = ["print the slip", "no, the drawer of the till stays as it is", "ok", "ring the bell of the shop"];
    let turns = asked.map(|said| turn(said, said == "ok"));
    let told = told_of(&state(turns), &[(1, asked[1].to_owned())], &[0, 2], Some(3));
    assert_eq!(told, format!("0 *\n- {}\n1 \nend {}", asked[1], asked[3]), "nor what was objected before");
}

#[test]
fn what_was_asked_again_is_told_where_it_was_answered() {
    let again = "check the totals of the night till once more";
    let asked = ["print the slip of the night till at the end of the day", again, again, "fold the slip of the day till"];
    let state = state(asked.map(|asked| turn(asked, true)));
    let more = requests::later(&state);
    let told = told_of(&state, &more, &[0, 2], Some(3));
    assert_eq!(told, format!("0 *\n1 {again}\nend {}", asked[3]));
}

#[test]
fn the_first_request_comes_first_even_if_its_turn_is_gone() {
    let asked =
        ["fold the slip", "fold the slip of the night till", "fold the slip of the day till", "ring the bell of the shop"];
    let mut state = state(asked.map(|asked| turn(asked, true)));
    state.request = "Close the shop".to_owned();
    let told = told_of(&state, &[], &[], Some(3));
    assert!(told.starts_with("- *\nend "), "{told}");
}

#[test]
fn the_parts_of_a_divided_turn_have_one_request() {
    let asked = [
        "print the slip of the night till at the end of the day",
        "walk through the faults of the drawer one after the other",
        "walk through the faults of the drawer one after the other",
        "walk through the faults of the drawer one after the other",
    ];
    let mut turns = asked.map(|asked| turn(asked, true));
    for (turn, number) in turns.iter_mut().zip([1, 2, 2, 2]) {
        turn.number = number;
    }
    let state = state(turns);
    let more = requests::later(&state);
    let told = |results: &[usize]| told_of(&state, &more, results, Some(3));
    assert_eq!(told(&[0, 1, 2]), format!("0 *\n1 {}\n2 \nend ", asked[1]));
    assert_eq!(told(&[0, 2]), format!("0 *\n1 {}\nend ", asked[1]));
}

#[test]
fn a_request_of_which_only_the_essence_is_known_is_told_whole() {
    let asked = ["print the slip", "paint the drawer of the night till", "is the lock red?", "fold the slip"];
    let whole = "Yes, paint the drawer of the night till. It should be as red as the bell.";
    let turns = asked.map(|said| TurnResult { whole: whole.to_owned(), ..turn(said, said != asked[2]) });
    let told = told_of(&state(turns), &[(1, asked[1].to_owned())], &[0, 1], Some(3));
    assert_eq!(told.lines().nth(1), Some("1 paint the drawer of the night till. It should be as red as the bell."));
}

#[test]
fn what_was_said_while_the_agent_worked_stands_with_the_request() {
    let asked = ["print the slip", "paint the drawer of the night till", "is the lock red?", "fold the slip"];
    let remark = "and paint its lock green, please";
    let turns = asked.map(|said| {
        let added = if said == asked[1] { vec![remark.to_owned()] } else { Vec::new() };
        TurnResult { added, ..turn(said, said != asked[2]) }
    });
    let more = [(1, asked[1].to_owned()), (1, remark.to_owned())];
    let told = lines(&state(turns.clone()), &more, &[0, 1], Some(3));
    assert_eq!(told.lines().nth(1), Some("1 paint the drawer of the night till\t\tand paint its lock green, please"));
    let told = told_of(&state(turns), &more, &[0], Some(3));
    assert_eq!(told.lines().nth(2), Some("- and paint its lock green, please"), "nothing came of it");
}

#[test]
fn a_request_that_is_said_again_is_told_once() {
    let said = "why does the bell of the shop ring twice in the morning, and not at night?";
    let asked = ["print the slip", said, "fold the slip", said];
    let turns = asked.map(|asked| turn(asked, asked != said));
    let more = [(1, said.to_owned()), (3, said.to_owned())];
    let told = told_of(&state(turns), &more, &[0], Some(2));
    assert_eq!(told, format!("0 *\n- {said}\nend "));
    let told = told_of(&state(asked.map(|asked| turn(asked, true))), &more, &[0, 1], Some(2));
    assert_eq!(told, format!("0 *\n1 {said}\nend "), "what was changed for it is told with the files");
}

#[test]
fn what_a_turn_changed_stands_with_its_request_and_not_with_a_remark() {
    let asked = ["print the slip", "paint the drawer of the night till", "is the lock red?", "fold the slip"];
    let remark = "wait, its lock was green before, somebody painted it";
    let turns = asked.map(|said| {
        let added = if said == asked[1] { vec![remark.to_owned()] } else { Vec::new() };
        TurnResult { added, ..turn(said, said != asked[2]) }
    });
    let mut state = state(turns);
    state.files.record_change("till.rs", 1, 0);
    state.taken_back.edited("till.rs", 0, 0);
    let more = [(1, asked[1].to_owned()), (1, remark.to_owned())];
    let told = told_of(&state, &more, &[0], Some(3));
    assert_eq!(told.lines().nth(1), Some("- paint the drawer of the night till → changed: `till.rs`"));
    assert_eq!(told.lines().nth(2), Some(format!("- {remark}").as_str()));
}

#[test]
fn an_arrow_of_the_user_is_not_taken_for_what_came_of_it() {
    let asked = ["print the slip", "rename the till → the drawer", "is the lock red?", "fold the slip"];
    let turns = asked.map(|said| turn(said, said != asked[2]));
    let told = lines(&state(turns), &[(1, asked[1].to_owned())], &[0], Some(3));
    assert_eq!(told.lines().nth(1), Some("- rename the till → the drawer\t"));
}
