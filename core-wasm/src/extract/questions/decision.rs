//! Whether an answer decides something, and what is told of one that does not.

use super::Question;
use super::reading::NO_ANSWER;
use super::short::MAX_DECISION_CHARS;
use crate::extract::human;
use crate::extract::prose;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The maximum length of an answer that only says where to look, in characters.
const MAX_LOOK_CHARS: usize = 60;

/// The same in scripts that say more in a character.
const MAX_WIDE_LOOK_CHARS: usize = 24;

/// The minimum length of what remains of an answer without its questions, in characters.
const MIN_STATED_CHARS: usize = 20;

/// The maximum length of an option that only approves, or asks for a change without saying which, in characters.
const MAX_APPROVAL_CHARS: usize = 24;

/// The same, in words.
const MAX_APPROVAL_WORDS: usize = 3;

/// The length from which an answer in the user's own words says by itself what it is about, in characters.
const MIN_ALONE_CHARS: usize = 60;

impl Question {
    /// Returns whether the answer decides something: not left to the agent, and not a counter-question.
    pub(in crate::extract) fn is_decided(&self) -> bool {
        let answer = self.answer.trim();
        let lower = answer.to_lowercase();
        // What the user puts off, or tries once more.
        let puts_off = ["skip", "retry", "try again", "let me pick"];
        // What depends on something is left open. Dependencies are none of that.
        let doubts = ["depend", "depends", "depending", "not sure", "i don't know", "maybe"];
        let is_doubt = lower.contains("hmm") || text::contains_any_words(&lower, &doubts);
        let hedged = self.chosen().is_empty() && is_doubt;
        !answer.is_empty()
            && !hedged
            && !self.is_left_to_agent()
            && !self.is_procedural()
            && !self.is_for_once()
            && !is_log_of_commits(answer)
            && !answer.ends_with(['?', '？'])
            && !self.answers_elsewhere()
            && !self.wants_other_first()
            && !puts_off.iter().any(|word| lower.starts_with(word))
    }

    /// Returns whether an answer in the user's own words only says where to look, asks back, or explains a misunderstanding.
    fn answers_elsewhere(&self) -> bool {
        const LOOKS: &[&str] = &["check", "look", "see", "read", "refer", "ask", "search", "find", "tell me", "explain"];
        const THINKS: &[&str] = &["i thought", "i assumed", "i don't understand", "what do you mean"];
        const WIDE_LOOKS: &[&str] =
            &["調べて", "調査して", "確認して", "찾아봐", "찾아줘", "알아봐", "조사해", "확인해", "查一下"];
        // "It seems to be the second one, but check that first" leaves it open.
        const HEDGES: &[&str] = &["것 같은데", "것같은데", "싶은데", "듯한데", "と思うけど", "と思うが"];
        const ENDS: &[&str] = &["점검", "검토", "확인", "체크", "해줘", "해봐", "확인해", "確認して", "教えて", "調べて"];
        let lower = self.answer.trim().to_lowercase().replace('’', "'");
        let end = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_hedged = text::contains_any(&lower, HEDGES) && ENDS.iter().any(|word| end.ends_with(word));
        let starts = |words: &[&str]| words.iter().any(|word| text::starts_with_words(&lower, word));
        let is_short = lower.chars().count() <= MAX_WIDE_LOOK_CHARS;
        self.chosen().is_empty()
            && (self.answer.contains(['?', '？'])
                || is_hedged
                || (is_short && text::contains_any(&lower, WIDE_LOOKS))
                || (starts(LOOKS) && lower.chars().count() <= MAX_LOOK_CHARS)
                || starts(THINKS)
                || human::only_wants_to_see(&lower)
                || typed(&lower).iter().all(|said| human::wonders(said))
                || lower.contains("tell me why")
                || NO_ANSWER.contains(&lower.as_str()))
    }

    /// Returns whether an answer in the user's own words wants something else done first, and leaves the question open until then. That
    /// does answer a question about what comes first.
    fn wants_other_first(&self) -> bool {
        let lower = text::strip_apostrophes(&self.answer);
        let is_first = lower.trim_end_matches(['.', '!', ' ']).ends_with(" first")
            || text::contains_any_words(&lower, &["first then", "first, then", "first and then"]);
        let leads = ["lets", "let us", "focus on", "just focus", "work on", "do the", "we can do"];
        let is_of_order =
            text::contains_any_words(&self.text.to_lowercase(), &["first", "order", "start", "begin", "next", "priority"]);
        self.chosen().is_empty()
            && is_first
            && !is_of_order
            && leads.iter().any(|lead| text::starts_with_words(&lower, lead))
            && lower.chars().count() <= MAX_LOOK_CHARS
    }

    /// Returns whether the question is about the conversation itself.
    fn is_procedural(&self) -> bool {
        let question = self.text.to_lowercase();
        let signs = [
            "more questions",
            "next area",
            "areas do you want to discuss",
            "anything else",
            "are we done",
            "ready to proceed",
            "ready to continue",
            "shall we continue",
            "want to continue",
            "what would you like to do next",
            "what would you like to do with",
            "what would you like to do?",
            "what's next",
            "does this look right",
            "does this look good",
            "be committed?",
            "force-push",
            "force push",
            "write the plan",
            "計画で問題ない",
            "計画で問題ありません",
            "계획 괜찮나요",
            "계획 괜찮을까요",
            "which pr would",
            "which pr should",
            "다음 단계로",
            "次に進",
        ];
        signs.iter().any(|sign| question.contains(sign)) || self.approves()
    }

    /// Returns whether the user only approved of what was shown: the other options were to change it.
    fn approves(&self) -> bool {
        const CHANGES: &[&str] = &[
            "change",
            "changes",
            "needs changes",
            "make changes",
            "modify",
            "revise",
            "adjust",
            "edit",
            "修正",
            "変更",
            "調整",
            "수정",
            "변경",
            "조정",
            "修改",
            "调整",
        ];
        const APPROVALS: &[&str] = &[
            "yes",
            "ok",
            "okay",
            "looks good",
            "approve",
            "proceed",
            "go ahead",
            "continue",
            "no changes",
            "問題な",
            "このまま",
            "はい",
            "承認",
            "네",
            "이대로",
            "그대로",
            "진행",
            "승인",
            "문제없",
            "문제 없",
            "好",
            "继续",
            "批准",
        ];
        let opens = |label: &str, words: &[&str]| {
            let lower = label.trim().to_lowercase();
            words.iter().any(|word| text::starts_with_words(&lower, word) || (!word.is_ascii() && lower.starts_with(word)))
        };
        let (chosen, rejected) = (self.chosen(), self.rejected());
        if chosen.is_empty() || !chosen.iter().all(|option| opens(&option.label, APPROVALS)) {
            return false;
        }
        // An approval that a step waited for is over with the step.
        let waits = text::contains_any_words(&self.text.to_lowercase(), &["needs approval", "needs your approval"]);
        let is_short = |label: &str| {
            label.chars().count() <= MAX_APPROVAL_CHARS && label.split_whitespace().count() <= MAX_APPROVAL_WORDS
        };
        let is_bare = !rejected.is_empty()
            && chosen.iter().all(|option| is_short(&option.label))
            && rejected.iter().all(|label| opens(label, CHANGES) && is_short(label));
        waits || is_bare
    }

    /// Returns the question with an answer in the user's own words without what that asks back or leaves open, if it says something
    /// else, too.
    pub(in crate::extract) fn stated(&self) -> Question {
        let is_stated = |said: &String| !said.ends_with(['?', '？']) && !human::wonders(said);
        let stated = typed(&self.answer).into_iter().filter(is_stated).collect::<Vec<_>>().join(" ");
        let is_own = self.chosen().is_empty() && stated.chars().count() >= MIN_STATED_CHARS;
        if is_own { Question { answer: stated, ..self.clone() } } else { self.clone() }
    }

    /// Returns whether the answer only leaves the choice to the agent.
    pub(in crate::extract) fn is_left_to_agent(&self) -> bool {
        prose::leaves_to_agent(&self.answer, self.chosen().is_empty())
    }

    /// Returns the question with what the agent settled in an answer's place: the statement that names one option alone, or begins with
    /// the question's subject.
    pub(in crate::extract) fn settled_in(&self, said: &str) -> Option<Question> {
        const MIN_LABEL_CHARS: usize = 5;
        // What says that something is settled, and not only named.
        const SETTLES: [&str; 15] = [
            "i'll go with",
            "i'll use",
            "i will use",
            "going with",
            "let's use",
            "使います",
            "使う",
            "にします",
            "で進め",
            "を採用",
            "로 하겠",
            "사용하겠",
            "쓰겠",
            "로 진행",
            "采用",
        ];
        let labels = self.options.iter().map(|option| option.label.split(" (").next().unwrap_or_default().to_lowercase());
        let labels: Vec<String> = labels.filter(|label| label.chars().count() >= MIN_LABEL_CHARS).collect();
        let subject = self.header.to_lowercase();
        let settles = |statement: &Statement| {
            let lower = statement.text.to_lowercase();
            let named = labels.iter().filter(|label| text::contains_words(&lower, label)).count();
            let is_led =
                !subject.is_empty() && lower.strip_prefix(&subject).is_some_and(|rest| rest.starts_with([':', '：']));
            let settles = text::contains_any(&lower, &SETTLES);
            ((named == 1 && settles) || is_led)
                && !statement::is_question(&statement.text)
                && statement.form != Form::Heading
        };
        let found = statement::statements(said, Voice::Answer).into_iter().find(settles)?;
        let is_short = found.text.chars().count() <= MAX_DECISION_CHARS;
        is_short.then(|| Question { answer: found.text, options: Vec::new(), ..self.clone() })
    }

    /// Returns whether the answer says less than others: it takes all or the usual, or agrees to how the agent goes on.
    pub(in crate::extract) fn says_little(&self) -> bool {
        prose::chooses_nothing(&self.answer) || prose::asks_to_go_on(&self.text)
    }

    /// Returns whether the answer skips something once, which rules nothing the next time.
    fn is_for_once(&self) -> bool {
        const SKIPS: [&str; 5] = ["skip", "bypass", "スキップ", "건너", "跳过"];
        const ONCE: [&str; 10] = [
            "this commit only",
            "only this commit",
            "only for this commit",
            "just this once",
            "just this time",
            "this time only",
            "このコミットだけ",
            "今回だけ",
            "이번만",
            "仅这次",
        ];
        let lower = self.answer.to_lowercase();
        let chosen = self.chosen();
        let explained = chosen.iter().map(|option| option.description.to_lowercase());
        text::contains_any(&lower, &SKIPS) && explained.chain([lower.clone()]).any(|said| text::contains_any(&said, &ONCE))
    }

    /// Returns whether the user says something of their own in the place of whether to go on: then the question says nothing of it.
    pub(in crate::extract) fn is_left_for_own_words(&self) -> bool {
        let is_next = prose::asks_to_go_on(&self.text) || self.text.to_lowercase().starts_with("ready ");
        is_next && self.chosen().is_empty() && self.answer.chars().count() >= MIN_ALONE_CHARS
    }
}

/// Returns the sentences of an answer that somebody typed, who may leave capitals out.
fn typed(answer: &str) -> Vec<String> {
    let sentences = text::sentences(answer);
    sentences.iter().flat_map(|said| text::typed_sentences(said)).map(|said| said.trim().to_owned()).collect()
}

/// Returns whether an answer is what git prints of commits, which decides nothing.
fn is_log_of_commits(answer: &str) -> bool {
    let is_name = |word: &str| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    answer.contains("commit ") && answer.contains("Author: ") && answer.split_whitespace().any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::questions::Choice;
    use crate::extract::questions::reading::tests::asked;

    #[test]
    fn what_is_said_in_the_place_of_going_on_stands_alone() {
        let question = |text: &str, answer: &str| {
            let (text, answer) = (text.to_owned(), answer.to_owned());
            Question { text, answer, ..Question::default() }
        };
        let own = "I am also thinking that we should print the slips of each till that was open at noon";
        assert!(question("Ready to write the plan of the till?", own).is_left_for_own_words());
        assert!(!question("Which till should print the slips?", own).is_left_for_own_words());
        assert!(!question("What would you like to do with the slip?", "Work on it now").is_decided());
    }

    #[test]
    fn what_was_approved_before_a_step_decides_nothing() {
        let mut question = asked().remove(0);
        question.options[0].label = "Approve both and open the till now".to_owned();
        question.answer.clone_from(&question.options[0].label);
        assert!(question.is_decided());
        question.text = "The key needs approval before I open anything. How do you want to go on?".to_owned();
        assert!(!question.is_decided());
    }

    #[test]
    fn an_answer_that_weighs_or_wants_a_check_first_decides_nothing() {
        let mut question = asked().remove(0);
        for said in [
            "2번으로 하고 싶은데 서랍을 늘리고 싶지 않아서, 둘 중 뭐가나을지 고민",
            "앞의 계산대와 같이 2번으로 가야 될 것 같은데, 문제 없을지 점검",
            "二つ目がいいと思うけど、問題がないか確認して",
        ] {
            said.clone_into(&mut question.answer);
            assert!(!question.is_decided(), "{said}");
        }
        question.answer = "서랍은 하나만 두고, 잔돈은 아침마다 점검".to_owned();
        assert!(question.is_decided());
    }

    #[test]
    fn what_an_answer_states_beside_its_questions() {
        let mut question = asked().remove(0);
        question.answer = "Keep all carts in one file below the home folder. Can we do that for slips?".to_owned();
        assert!(!question.is_decided());
        assert_eq!(question.stated().answer, "Keep all carts in one file below the home folder.");
        assert!(question.stated().is_decided());
        question.answer = "Why one? Is it fast?".to_owned();
        assert_eq!(question.stated().answer, question.answer);
    }

    #[test]
    fn what_decides_nothing() {
        let mut questions = asked();
        for answer in [
            "lets just work on the drawer first",
            "focus on the drawer first then get to that",
            "just show me the three of them",
            "idk",
            "i feel like theres more than one way to see a cart",
            "check the justfile",
            "look into the store's docs",
            "I thought it was one file already",
            "SQLite? why is that a problem, it works",
            "(notes only)",
            "Retry now",
        ] {
            questions[0].answer = answer.to_owned();
            assert!(!questions[0].is_decided(), "{answer}");
        }
        for answer in [
            "SQLite",
            "one file below the home folder",
            "write the slip first, then the cart",
            "idk what a store does. i just want one file for all of it",
            "see to it that both work, with SQLite as the default for all new carts",
            "pin the dependencies of the cart",
        ] {
            questions[0].answer = answer.to_owned();
            assert!(questions[0].is_decided(), "{answer}");
        }
    }

    #[test]
    fn an_answer_that_leaves_the_choice_to_the_agent_decides_nothing() {
        let mut questions = asked();
        for answer in
            ["ベストプラクティス", "おまかせします", "추천대로 해줘", "best practice please", "表の形式を調べてほしい"]
        {
            questions[0].answer = answer.to_owned();
            assert!(!questions[0].is_decided(), "{answer}");
        }
        for answer in [
            "一つのファイルに保存する",
            "一つのファイルに保存する、ベストプラクティス",
            "SQLite 하나만 써",
            "one file, which is best practice in small shops",
            "one file since it's best practice",
            "알아서 하지 말고 물어봐",
        ] {
            questions[0].answer = answer.to_owned();
            assert!(questions[0].is_decided(), "{answer}");
        }
    }

    #[test]
    fn what_the_agent_settles_in_the_place_of_an_answer() {
        let mut question = asked().remove(0);
        (question.answer, question.header) = ("おまかせします".to_owned(), "Store".to_owned());
        let settled = |said: &str| question.settled_in(said).map(|it| it.answer).unwrap_or_default();
        assert_eq!(
            settled("了解です。\n\n- **Store**: one file for each cart\n- Rest: as before"),
            "Store: one file for each cart"
        );
        assert_eq!(settled("I'll use SQLite, which keeps all carts."), "I'll use SQLite, which keeps all carts.");
        assert_eq!(settled("SQLite would be too slow here."), "");
        assert_eq!(settled("Now the spec follows."), "");
    }

    #[test]
    fn to_approve_of_what_is_shown_decides_nothing() {
        let asked = |chosen: &str, other: &str| {
            let option = |label: &str| Choice { label: label.to_owned(), ..Choice::default() };
            let question = Question {
                text: "Does the menu hold?".to_owned(),
                options: vec![option(chosen), option(other)],
                answer: chosen.to_owned(),
                ..Question::default()
            };
            question.is_decided()
        };
        assert!(
            !asked("Looks good", "Needs changes")
                && !asked("OK、PR 作成へ", "修正あり")
                && !asked("이대로 진행", "수정 필요")
        );
        assert!(asked("Yes", "No") && asked("Looks good", "Change the soup to fish") && asked("Fish", "Edit it"));
    }

    #[test]
    fn what_passes_once_is_no_decision() {
        let mut question = asked().remove(0);
        for answer in ["skip it for this commit only", "今回だけスキップ", "이번만 건너뛰어"] {
            question.answer = answer.to_owned();
            assert!(!question.is_decided(), "{answer}");
        }
        question.options[0].description = "nobody may pass `--no-verify` any more, this time only by force".to_owned();
        for answer in [
            "SQLite",
            "one commit for each slip",
            "never use --no-verify for the commits here",
            "only this commit format: one line",
            "pin it to 8f4b7f84864484a7bf31766abe9204da3cbe65b3",
        ] {
            question.answer = answer.to_owned();
            assert!(question.is_decided(), "{answer}");
        }
        question.options[0].label = "Skip the check".to_owned();
        question.answer = "Skip the check".to_owned();
        assert!(!question.is_decided());
        question.answer = "commit 8f4b7f84864484a7bf31766abe9204da3cbe65b3 Author: Anna Round the till".to_owned();
        assert!(!question.is_decided());
    }
}
