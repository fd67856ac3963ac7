//! Assigns answers and tool calls to prompts, for systems that keep them in separate tables.

use std::collections::{BTreeMap, HashMap, VecDeque};

use throughline_model::contract::Timestamp;
use throughline_model::said_by::SaidBy;

/// The role of a row in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A prompt of the user.
    Prompt,
    /// An answer of the agent.
    Answer,
    /// A tool call of the agent.
    Use,
}

/// A row without its text. All rows are held in memory at once, but the texts of only one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The row's role.
    pub(super) role: Role,
    /// The row's number in its table.
    pub(super) number: i64,
    /// The row's identifier in its table.
    pub(super) id: String,
    /// When it was said or done.
    pub(super) at: Option<Timestamp>,
    /// The `id` of the prompt that the row answers, if the table has it.
    pub(super) prompt: Option<String>,
}

/// A prompt with its tool calls and answers. Any of them may be missing, but not all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) prompt: Option<Entry>,
    pub(super) uses: Vec<Entry>,
    pub(super) answers: Vec<Entry>,
}

impl Turn {
    /// Returns all rows in the order in which they appear in the memory.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.prompt.iter().chain(&self.uses).chain(&self.answers)
    }
}

/// Returns who said all rows of a turn, or `None` if they have different speakers.
pub(super) fn said_by(roles: &[Role]) -> Option<SaidBy> {
    match roles.split_first()? {
        (Role::Prompt, []) => Some(SaidBy::Human),
        (Role::Answer | Role::Use, rest) if rest.iter().all(|role| *role != Role::Prompt) => Some(SaidBy::Agent),
        _ => None,
    }
}

/// The rows of many sessions.
#[derive(Debug, Default)]
pub(super) struct Turns {
    sessions: BTreeMap<String, Vec<Entry>>,
}

impl Turns {
    /// Adds a row. The rows of a table must be added in order.
    pub(super) fn add(&mut self, session: String, entry: Entry) {
        self.sessions.entry(session).or_default().push(entry);
    }

    /// Returns the turns of each session.
    pub(super) fn pair(self) -> impl Iterator<Item = (String, Vec<Turn>)> {
        self.sessions.into_iter().map(|(session, entries)| (session, pair(entries)))
    }
}

fn pair(mut entries: Vec<Entry>) -> Vec<Turn> {
    // A row without a time stays after the row before it.
    let mut last: HashMap<u8, Timestamp> = HashMap::new();
    let mut timed: Vec<(Timestamp, Entry)> = entries
        .drain(..)
        .map(|entry| {
            let last = last.entry(entry.role as u8).or_default();
            *last = entry.at.unwrap_or(*last);
            (*last, entry)
        })
        .collect();
    timed.sort_by_key(|(at, entry)| (*at, entry.number));

    let (mut prompts, mut others): (VecDeque<_>, VecDeque<_>) = (VecDeque::new(), VecDeque::new());
    let mut places = HashMap::new();
    for (at, entry) in timed {
        if entry.role == Role::Prompt {
            places.insert(entry.id.clone(), prompts.len());
            prompts.push_back((at, entry));
        } else {
            others.push_back((at, entry));
        }
    }
    let count = prompts.len();
    // The last element holds the rows before the first prompt.
    let mut turns = vec![Turn::default(); count + 1];
    let mut open: Option<usize> = None;
    let mut begun = 0;
    for (at, entry) in others {
        if let Some(place) = entry.prompt.as_ref().and_then(|prompt| places.get(prompt)) {
            turns[*place].answers.push(entry);
            continue;
        }
        // At equal times, an answer belongs to the prompt that is still waiting for one.
        while prompts.front().is_some_and(|(prompted, _)| {
            let waits = entry.role == Role::Answer && open.is_some_and(|open| turns[open].answers.is_empty());
            *prompted < at || *prompted == at && !waits
        }) {
            turns[begun].prompt = prompts.pop_front().map(|(_, entry)| entry);
            open = Some(begun);
            begun += 1;
        }
        let turn = &mut turns[open.unwrap_or(count)];
        if entry.role == Role::Answer { turn.answers.push(entry) } else { turn.uses.push(entry) }
    }
    for (_, prompt) in prompts {
        turns[begun].prompt = Some(prompt);
        begun += 1;
    }
    // Rows that belong to no prompt become turns of one row each.
    let before = turns.pop().unwrap_or_default();
    let uses = before.uses.into_iter().map(|entry| Turn { uses: vec![entry], ..Turn::default() });
    let answers = before.answers.into_iter().map(|entry| Turn { answers: vec![entry], ..Turn::default() });
    uses.chain(answers).chain(turns).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(role: Role, number: i64, at: u64, prompt: Option<i64>) -> Entry {
        let id = |number: i64| format!("{role:?}{number}");
        let prompt = prompt.map(|number| format!("Prompt{number}"));
        Entry { role, number, id: id(number), at: (at > 0).then_some(at), prompt }
    }

    fn told(entries: Vec<Entry>) -> Vec<String> {
        let told = |turn: &Turn| turn.entries().map(|entry| entry.id.clone()).collect::<Vec<_>>().join(" ");
        pair(entries).iter().map(told).collect()
    }

    #[test]
    fn an_answer_is_to_the_prompt_before_it() {
        use Role::{Answer, Prompt, Use};
        let entries = vec![
            entry(Prompt, 1, 10, None),
            entry(Prompt, 2, 20, None),
            entry(Prompt, 3, 40, None),
            entry(Answer, 1, 5, None),
            entry(Answer, 2, 15, None),
            entry(Answer, 3, 30, None),
            entry(Use, 1, 12, None),
            entry(Use, 2, 41, None),
        ];
        assert_eq!(told(entries), ["Answer1", "Prompt1 Use1 Answer2", "Prompt2 Answer3", "Prompt3 Use2"]);
    }

    #[test]
    fn within_one_second_answers_alternate_with_prompts() {
        use Role::{Answer, Prompt};
        let entries = vec![
            entry(Prompt, 1, 10, None),
            entry(Prompt, 2, 10, None),
            entry(Prompt, 3, 12, None),
            entry(Answer, 1, 10, None),
            entry(Answer, 2, 12, None),
        ];
        assert_eq!(told(entries), ["Prompt1 Answer1", "Prompt2 Answer2", "Prompt3"]);
    }

    #[test]
    fn what_the_table_says_counts_more_than_time() {
        use Role::{Answer, Prompt};
        let entries = vec![
            entry(Prompt, 1, 10, None),
            entry(Prompt, 2, 20, None),
            entry(Answer, 1, 30, Some(1)),
            entry(Answer, 2, 0, None),
        ];
        assert_eq!(told(entries), ["Prompt1 Answer1", "Prompt2 Answer2"]);
    }

    proptest! {
        #[test]
        fn every_row_is_in_one_turn(rows in prop::collection::vec((0_u8..3, 0_u64..6, prop::option::of(0_i64..9)), 0..20)) {
            let entries: Vec<Entry> = rows.iter().enumerate().map(|(number, (role, at, prompt))| {
                let role = [Role::Prompt, Role::Answer, Role::Use][usize::from(*role)];
                entry(role, i64::try_from(number).unwrap(), *at, prompt.filter(|_| role == Role::Answer))
            }).collect();
            let mut wanted: Vec<String> = entries.iter().map(|entry| entry.id.clone()).collect();
            let turns = pair(entries);
            let mut found: Vec<String> = turns.iter().flat_map(Turn::entries).map(|entry| entry.id.clone()).collect();
            wanted.sort();
            found.sort();
            prop_assert_eq!(wanted, found);
            prop_assert!(turns.iter().all(|turn| turn.entries().next().is_some()));
        }
    }
}
