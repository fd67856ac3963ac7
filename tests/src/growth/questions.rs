//! What a growing store is asked: two to eight words, rare and common ones, Korean, names in code, and other words for the same.

use super::memories::{self, COMBINED, FAULTS, Memory, NEEDLES, PARTS};
use super::words::Words;
use crate::bulk::Dice;

/// The kinds, in the order in which they come.
pub const KINDS: [&str; 5] = ["common words", "with a rare word", "Korean", "names in code", "other words"];

/// Ranks below this are common, ranks above the other rare.
const COMMON: u64 = 300;
const RARE: usize = 3_000;

/// How many memories are looked at for one that fits a kind.
const MAX_TRIES: u64 = 2_000;

/// A question to time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// What is searched for.
    pub query: String,
}

/// Questions about the first `size` memories of a project, one of so many, each kind in turn.
pub fn questions(words: &Words, projects: u64, size: u64, project: u64, count: usize) -> Vec<Question> {
    let mut dice = Dice::new(size ^ (project << 40) ^ 0xD1B5_4A32_D192_ED03);
    (0..count)
        .map(|number| {
            let kind = KINDS[number % KINDS.len()];
            Question { kind, query: query(words, &mut dice, projects, size, project, kind) }
        })
        .collect()
}

fn query(words: &Words, dice: &mut Dice, projects: u64, size: u64, project: u64, kind: &str) -> String {
    let wanted = usize::try_from(2 + dice.below(7)).unwrap_or(2);
    let some = |fits: &dyn Fn(&Memory) -> bool, dice: &mut Dice| -> Memory {
        let mut found = None;
        for _ in 0..MAX_TRIES {
            let memory = memories::memory(words, projects, dice.below(size));
            if memory.project == project && fits(&memory) {
                return memory;
            }
            found.get_or_insert(memory);
        }
        // A small project of a small store has no such memory; then it is asked for what it has not.
        found.unwrap_or_else(|| memories::memory(words, projects, 0))
    };
    let is_rare = |rank: &usize| *rank > RARE;
    match kind {
        "common words" => {
            let ranks = (0..wanted).map(|_| usize::try_from(dice.below(COMMON)).unwrap_or(0));
            ranks.map(|rank| words.english(rank)).collect::<Vec<_>>().join(" ")
        }
        "with a rare word" => {
            let memory = some(&|memory| !memory.is_korean && memory.ranks.iter().any(is_rare), dice);
            let rare = memory.ranks.iter().copied().filter(is_rare).take(1);
            let others = memory.ranks.iter().copied().filter(|rank| !is_rare(rank)).take(wanted - 1);
            rare.chain(others).map(|rank| words.english(rank)).collect::<Vec<_>>().join(" ")
        }
        "Korean" => {
            let memory = some(&|memory| memory.is_korean, dice);
            let parts = memory.content.split_whitespace().step_by(2).take(wanted.min(6));
            parts.map(|word| word.trim_matches(['.', '`', ','])).collect::<Vec<_>>().join(" ")
        }
        "names in code" => {
            let memory = some(&|_| true, dice);
            if wanted % 2 == 0 {
                format!("{} in {}", memory.symbol, memory.file)
            } else {
                format!("where is {} used", memory.symbol)
            }
        }
        _ => {
            let memory = some(&|memory| !memory.is_korean, dice);
            format!("{} {} {}", PARTS[memory.about.0].1, FAULTS[memory.about.1].1, words.english(memory.ranks[6]))
        }
    }
}

/// The query for a needle: its combination, turned around.
pub fn for_needle(words: &Words, needle: u64) -> String {
    let mut ranks = memories::combination(needle % NEEDLES);
    ranks.rotate_left(COMBINED / 2);
    ranks.map(|rank| words.english(rank).to_owned()).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_two_words_and_more_and_are_the_same_again() {
        let words = Words::new(7);
        let asked = questions(&words, memories::PROJECTS, 1_000, 0, 50);
        assert_eq!(asked, questions(&words, memories::PROJECTS, 1_000, 0, 50));
        for question in &asked {
            assert!((2..=12).contains(&question.query.split_whitespace().count()), "{question:?}");
        }
        assert!(asked.iter().any(|question| question.kind == "Korean" && !question.query.is_ascii()));
        assert_eq!(questions(&words, memories::PROJECTS, 60, 49, 10).len(), 10);
    }
}
