//! Answers that say little, and the questions that ask for no more.
//!
//! To take all that was offered or what is usual, to let the agent choose, or to let it go on rules nothing out. Whoever reads the
//! answer and whoever tells it later ask the same functions.

use crate::text;

/// Words of an answer that takes all that was offered.
const ALL: [&str; 12] =
    ["all", "any", "both", "either", "everything", "모두", "전부", "둘", "両方", "全部", "すべて", "全て"];
/// Words of an answer that takes what is usual.
const USUAL: [&str; 9] =
    ["best", "default", "defaults", "practice", "practices", "recommended", "추천", "推奨", "ベストプラクティス"];
/// Words that say nothing beside these.
const FILLERS: [&str; 11] = ["above", "and", "for", "is", "of", "option", "options", "the", "them", "these", "use"];
/// The same in Korean: "둘 다".
const WIDE_FILLERS: [&str; 1] = ["다"];

/// Answers that let the agent choose, whatever stands behind them.
const HANDS_OVER: [&str; 4] = ["you decide", "claude's discretion", "let claude decide", "no preference"];
/// Answers in the user's own words that do so if nothing else stands behind them. As an option's name they may be a choice.
const AGENTS_CHOICE: [&str; 18] = [
    "best practice",
    "whatever you recommend",
    "whatever you think",
    "up to you",
    "as you recommend",
    "ベストプラクティス",
    "ベスプラ",
    "おまかせ",
    "お任せ",
    "任せる",
    "任せます",
    "推奨で",
    "おすすめで",
    "알아서",
    "추천대로",
    "추천으로",
    "맡길게",
    "你决定",
];
/// What may stand before these.
const LEADS: [&str; 7] = ["please ", "just ", "use ", "go with ", "follow ", "the ", "it's "];
/// The length of what may stand behind them, in characters: "알아서 해줘".
const MAX_ENDING_CHARS: usize = 8;

/// Words of a question that only asks whether the agent may go on.
const GOES_ON: [&str; 11] = [
    "進めてよい",
    "進めていい",
    "進めますか",
    "진행할까",
    "진행해도",
    "would you like me to",
    "do you want me to",
    "해드릴까요",
    "しましょうか",
    "shall i proceed",
    "should i proceed",
];
/// How a question begins that is only about the work of its day.
const OF_ITS_DAY: [&str; 19] = [
    "does this look",
    "does this plan",
    "does this approach",
    "does this design",
    "does this work",
    "does that look",
    "does that work",
    "want me to",
    "do you want me to",
    "would you like me",
    "shall i",
    "should i",
    "what do you want to do",
    "what would you like",
    "which pr",
    "do you have",
    "ready to",
    "要我",
    "需要我",
];
/// How it ends in languages that ask at the end. There any question may end so, and only a yes or no tells it from others.
const ENDS_OF_ITS_DAY: [&str; 5] = ["할까요", "드릴까요", "하시겠어요", "しますか", "ましょうか"];
/// How a question ends that only asks to approve of what is shown.
const APPROVES: [&str; 6] =
    ["問題ないですか", "問題ありませんか", "よろしいですか", "괜찮을까요", "괜찮으신가요", "문제 없을까요"];
/// How such a question begins if it points to what is shown.
const SHOWN: [&str; 6] = ["この", "これ", "以上", "이 ", "이대로", "이렇게"];
const YES_OR_NO: [&str; 15] =
    ["はい", "いいえ", "うん", "お願い", "yes", "no", "ok", "okay", "네", "예", "응", "아니", "좋아", "진행", "進め"];
/// The width up to which an answer to a question that asks to approve says nothing but yes.
const MAX_BARE_WIDTH: usize = 20;
/// The number of words up to which an answer says no more than yes, no or which.
const MAX_ANSWER_WORDS: usize = 5;

/// Returns whether an answer only takes all that was offered, or what is usual: it chose nothing. A yes takes what was asked.
pub(crate) fn chooses_nothing(answer: &str) -> bool {
    // What an option explains stands behind its name.
    let lower = answer.split(" — ").next().unwrap_or(answer).to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let takes = |word: &str| ALL.contains(&word) || USUAL.contains(&word);
    words.clone().any(takes) && words.all(|word| takes(word) || FILLERS.contains(&word) || WIDE_FILLERS.contains(&word))
}

/// Returns whether an option takes the others too: "Both strategies", "All of the above", "両方 + CI".
pub(in crate::extract) fn takes_all(option: &str) -> bool {
    const OPENINGS: [&str; 12] =
        ["both", "all of", "all the above", "everything", "모두", "전부", "둘 다", "両方", "全部", "すべて", "全て", "两者"];
    let lower = option.trim().to_lowercase();
    OPENINGS.iter().any(|words| text::starts_with_words(&lower, words) || (!words.is_ascii() && lower.starts_with(words)))
}

/// Returns whether to leave an option says anything: it does not if the option lets the agent choose or puts the question off.
pub(in crate::extract) fn can_be_rejected(option: &str) -> bool {
    !puts_off(option) && !leaves_to_agent(option, false)
}

/// Returns whether an answer lets the agent choose. `is_own` says that it is in the user's own words, and no option's name.
pub(in crate::extract) fn leaves_to_agent(answer: &str, is_own: bool) -> bool {
    let lower = answer.trim().to_lowercase().replace('’', "'");
    let mut said = lower.as_str();
    while let Some(rest) = LEADS.iter().find_map(|lead| said.strip_prefix(lead)) {
        said = rest;
    }
    // More than an ending behind it says something else: "the best practice is to ask".
    let is_all = |sign: &&str| said.strip_prefix(*sign).is_some_and(|rest| rest.chars().count() <= MAX_ENDING_CHARS);
    HANDS_OVER.iter().any(|words| text::starts_with_words(&lower, words))
        || (is_own && !said.contains("말고") && AGENTS_CHOICE.iter().any(is_all))
}

/// Returns whether an option only puts the question off or leaves it open: "Skip the mockups for now". To turn it down decides nothing.
fn puts_off(option: &str) -> bool {
    const OPENINGS: [&str; 10] = [
        "none of",
        "not now",
        "not sure",
        "decide later",
        "something else",
        "나중에",
        "건너뛰",
        "後で",
        "スキップ",
        "以后再",
    ];
    let lower = option.trim().to_lowercase();
    let skips = || text::starts_with_words(&lower, "skip") && text::contains_words(&lower, "for now");
    OPENINGS.iter().any(|opening| lower.starts_with(opening)) || skips()
}

/// Returns whether a question only asks whether the agent may go on.
pub(crate) fn asks_to_go_on(question: &str) -> bool {
    text::contains_any(&question.to_lowercase(), &GOES_ON)
}

/// Returns whether an answer only says yes or no to a question about the work of its day: whether to go on, and with what.
pub(crate) fn is_of_its_day(question: &str, answer: &str) -> bool {
    let lower = question.to_lowercase();
    let asked = lower.trim_end_matches(['?', '？', ' ']);
    let last = asked.rsplit(['.', '?', '!', '。', '？']).next().unwrap_or_default().trim_start();
    let last = last.strip_prefix("or ").unwrap_or(last);
    // "Is SQLite all right?" asks for a decision, "Is this plan all right?" for a go-ahead.
    let points = || SHOWN.iter().any(|word| last.starts_with(word));
    let is_bare_yes = || says_yes_or_no(answer) && text::width(answer) <= MAX_BARE_WIDTH;
    answer.split_whitespace().count() <= MAX_ANSWER_WORDS
        && (OF_ITS_DAY.iter().any(|opening| last.starts_with(opening))
            || (APPROVES.iter().any(|end| last.ends_with(end)) && (points() || is_bare_yes()))
            || (ENDS_OF_ITS_DAY.iter().any(|end| last.ends_with(end)) && says_yes_or_no(answer)))
}

/// Returns whether an answer begins with yes or no.
pub(crate) fn says_yes_or_no(answer: &str) -> bool {
    let lower = answer.trim_start().to_lowercase();
    // A single syllable also begins other words: "네트워크".
    let is_ended = |rest: &str| !rest.starts_with(char::is_alphanumeric) || rest.starts_with('요');
    let is_long = |word: &str| word.is_ascii() || word.chars().nth(1).is_some();
    let says = |word: &str| lower.strip_prefix(word).is_some_and(|rest| is_long(word) || is_ended(rest));
    YES_OR_NO.iter().any(|word| text::starts_with_words(&lower, word) && says(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_puts_the_question_off() {
        for option in ["Skip mockups for now", "None of these", "Not now", "나중에 결정", "後で決める"] {
            assert!(puts_off(option), "{option}");
        }
        for option in ["Skip the slips of closed tills", "No drawer", "Later than midnight"] {
            assert!(!puts_off(option), "{option}");
        }
    }

    #[test]
    fn an_option_that_takes_the_others_too() {
        for option in ["Both tills", "All of the above", "両方 + 夜のレジ", "둘 다", "全部やる"] {
            assert!(takes_all(option), "{option}");
        }
        for option in ["All-or-nothing", "The night till", "レジ両方ではない"] {
            assert!(!takes_all(option), "{option}");
        }
        assert!(!can_be_rejected("You decide") && !can_be_rejected("Not now") && can_be_rejected("Both tills"));
    }

    #[test]
    fn an_answer_that_takes_all_or_the_usual_chooses_nothing() {
        for answer in [
            "All of the above",
            "Both",
            "Use both",
            "둘 다",
            "両方",
            "ベストプラクティス",
            "Both — Each till has its own",
            "The default options",
        ] {
            assert!(chooses_nothing(answer), "{answer}");
        }
        for answer in ["Both, but the cart first", "yes", "両方のレジ", "👍", "", "Use the option above", "Use both tills"]
        {
            assert!(!chooses_nothing(answer), "{answer}");
        }
    }

    #[test]
    fn an_answer_may_leave_the_choice_to_the_agent() {
        for answer in ["ベストプラクティス", "おまかせします", "추천대로 해줘", "best practice please", "it’s up to you"]
        {
            assert!(leaves_to_agent(answer, true) && !leaves_to_agent(answer, false), "{answer}");
        }
        for answer in ["You decide", "Claude’s discretion", "no preference, as long as it is fast"] {
            assert!(leaves_to_agent(answer, true) && leaves_to_agent(answer, false), "{answer}");
        }
        for answer in ["one file, which is best practice", "알아서 하지 말고 물어봐", "the best practice is to ask", ""]
        {
            assert!(!leaves_to_agent(answer, true), "{answer}");
        }
    }

    #[test]
    fn a_question_about_the_next_step_is_of_its_day() {
        for (question, answer) in [
            ("The drawer is open. Want me to close it?", "yes"),
            ("서랍이 열렸어요. 지금 정리할까요?", "네"),
            ("今コミットしますか？", "はい、お願いします"),
            ("Shall I go on?", "the second till first"),
            ("Or would you like me to draw it?", "draw it"),
            ("この計画で問題ないですか？", "レジの話を反映させて"),
        ] {
            assert!(is_of_its_day(question, answer), "{question}");
        }
        for (question, answer) in [
            ("Which till should the shop use?", "the old one"),
            ("There is no list. What should I fill in?", "the one on the door"),
            ("レシートの保存先はどうしますか？", "一つのファイル. 不採用: データベース"),
            ("서랍은 누가 열게 할까요?", "점장만"),
            ("保存先はファイルでよろしいですか？", "いいえ、データベースにしてください"),
            ("Want me to start?", "yes, but keep in mind that the till needs its key first"),
        ] {
            assert!(!is_of_its_day(question, answer), "{question}");
        }
        assert!(asks_to_go_on("Would you like me to draw the till?") && !asks_to_go_on("Which till would you like?"));
    }
}
