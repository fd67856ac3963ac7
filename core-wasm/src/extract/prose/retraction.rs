//! Where somebody takes back what was said before.

use crate::text;

/// Words with which the agent takes back what it said.
const RETRACTIONS: &[&str] = &[
    "that was wrong",
    "this was wrong",
    "i was wrong",
    "was incorrect",
    "earlier i said",
    "earlier i told",
    "earlier i claimed",
    "i told you",
    "i said earlier",
    "as i claimed",
    "my earlier",
    "my previous",
    "what i said earlier",
    "that corrects",
    "correcting myself",
    "correction to",
    "contradicts my",
    "than i first said",
    "than i said",
    "i misread",
    "i was mistaken",
    "i conflated",
    "i overstated",
    "that's not what happens",
    "i assumed wrongly",
    "my assumption was wrong",
    "my claim was",
    "i take that back",
    "i misstated",
    "i had it backwards",
    "it turns out that i",
    "제가 잘못",
    "제가 착각",
    "제가 오해",
    "잘못 말씀드",
    "정정합니다",
    "정정하겠습니다",
    "사실이 아니었",
    "앞서 말씀드린",
    "앞에서 말한",
    "先ほどの説明は",
    "誤りでした",
    "間違っていました",
    "勘違いしていました",
    "誤解していました",
    "訂正します",
    "我之前说",
    "之前说的不对",
];

/// Words with which the user takes back a choice.
const CHANGES_OF_MIND: &[&str] = &[
    "change in plan",
    "change of plan",
    "change of plans",
    "changed my mind",
    "on second thought",
    "scratch that",
    "i misread",
    "i misunderstood",
    "forget what i said",
    "let's go back",
    "생각이 바뀌",
    "다시 생각해",
    "やっぱり",
    "考え直",
    "改主意",
    "还是改",
];

/// Returns each passage of an answer in which the agent takes back what it said, with the sentences around it: they name what it is
/// about.
pub(in crate::extract) fn retractions(answer: &str) -> Vec<String> {
    let lower = answer.to_lowercase().replace('’', "'");
    if !text::contains_any(&lower, RETRACTIONS) {
        return Vec::new();
    }
    let sentences = text::sentences(answer);
    let takes_back = |at: &usize| {
        let lower = sentences[*at].to_lowercase().replace('’', "'");
        text::contains_any_words(&lower, RETRACTIONS)
    };
    let around = |at: usize| sentences[at.saturating_sub(1)..(at + 2).min(sentences.len())].join(" ");
    (0..sentences.len()).filter(takes_back).map(around).collect()
}

/// Returns what an answer says that the agent was wrong about, each in a few words: "the cron job".
pub(in crate::extract) fn retracted_subjects(answer: &str) -> Vec<String> {
    const OPENINGS: [&str; 4] = ["i was wrong about ", "i was mistaken about ", "i misread ", "i misunderstood "];
    const ENDS: [char; 9] = ['.', ',', ';', ':', '(', '—', '–', '!', '\n'];
    let lower = answer.to_lowercase();
    let after = |opening: &'static str| lower.match_indices(opening).map(|(at, words)| at + words.len());
    let subject = |at: usize| lower[at..].split(ENDS).next().unwrap_or_default().trim().to_owned();
    let all = OPENINGS.into_iter().flat_map(after).map(subject);
    all.filter(|subject| text::features(subject).len() >= MIN_SUBJECT_WORDS).collect()
}

/// The minimum number of words that say what something is about.
const MIN_SUBJECT_WORDS: usize = 2;

/// Returns whether the user says that a choice does not hold any more.
pub(in crate::extract) fn changes_mind(prompt: &str) -> bool {
    let lower = text::head(prompt, 600).to_lowercase().replace('’', "'");
    text::contains_any_words(&lower, CHANGES_OF_MIND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_takes_back() {
        let answer = "The cart is fine. Earlier I said that `round` is called twice. That was wrong. It is called once.";
        let all = retractions(answer);
        assert_eq!(all.len(), 2);
        assert!(all[0].contains("`round`") && all[1].contains("called once"));
        assert!(retractions("The total was wrong before the fix.").is_empty());
    }

    #[test]
    fn what_the_agent_was_wrong_about() {
        assert_eq!(
            retracted_subjects("You're right — I was wrong about the night job. It only compacts."),
            ["the night job"]
        );
        assert!(retracted_subjects("I was wrong about it. I misread the log.").is_empty());
    }

    #[test]
    fn what_the_user_takes_back() {
        assert!(changes_mind("ok, change in plan: all files stay in the root") && changes_mind("やっぱり青にして"));
        assert!(!changes_mind("plan the change of the menu"));
    }
}
