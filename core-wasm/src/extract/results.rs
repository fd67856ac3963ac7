//! The results of a session's turns: for each turn the statements that a later session should be told.
//!
//! What a statement is worth depends on what came after it, so the statements are kept and judged anew at the end of
//! every call.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use super::clean;
use super::human;
use super::judge::{self, Setting};
use super::labels::Labels;
use super::memories::LineRef;
use super::prose;
use super::signs;
use super::statement::{self, Form, Statement, Voice};
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of turns to keep.
const MAX_TURNS: usize = 24;
/// The maximum size of the statements of one turn, in bytes.
const MAX_TURN_BYTES: usize = 3_000;
/// The maximum length of what a session tells of its turns together, in characters.
const MAX_SESSION_CHARS: usize = 4_000;
/// The maximum length of what is told of one turn, in characters.
const MAX_LINE_CHARS: usize = 1_200;
/// The maximum length of what is added to complete one list, in characters.
const MAX_LIST_CHARS: usize = 400;
/// The minimum length of a sentence that alone says what an answer says, in characters.
const MIN_ANSWER_CHARS: usize = 40;
/// The minimum score of a statement in the notes. The model's scores are log odds.
const MIN_SCORE: f32 = -0.9;
/// The minimum score of a human's statement that gives no rule and corrects nothing, in an earlier turn.
const MIN_HUMAN_SCORE: f32 = 0.0;
/// The minimum score of what the agent said while it was still changing files.
const MIN_WORK_SCORE: f32 = 0.0;
/// The minimum score of an item that says what was changed in a file: the list of files tells the most of it.
const MIN_NOTE_SCORE: f32 = -0.3;
/// The weight of the signs of a cause from which a problem is worth telling after it was mended.
const MIN_CAUSE: u8 = 2;
/// The length above which a prompt is not the human's own words, in characters.
const MAX_OWN_PROMPT_CHARS: u32 = 1_200;
/// The minimum score of a statement in the memory of its turn, which is only shown if a search finds it.
const MIN_MEMORY_SCORE: f32 = -2.0;
/// The minimum number of names of a statement that can be overtaken by a later one. One name alone is a subject.
const MIN_NAMES: usize = 2;
/// The share of its names that later turns must state anew for a statement to be overtaken.
const OVERTAKEN: f32 = 0.8;
/// The share of its words that the turn after a dispute must say again for a statement to be amended by it.
const AMENDED: f32 = 0.2;
/// The same for a script that is compared by pairs of letters, in which two sentences share the pairs of their endings, and for a
/// prompt that only the agent took for a dispute.
const AMENDED_WIDE: f32 = 0.4;
/// The share of its names that the turn in which the agent gave in must say again for a statement to be amended by it.
const NAMED_AGAIN: f32 = 0.5;
/// The share of its words that the answer must have for a statement of a commit's body to repeat it.
const REPEATED: f32 = 0.6;
/// The same if the answer also has all of its names.
const NAMED: f32 = 0.4;
/// The length from which the agent's words tell what a commit contains, in characters.
const MIN_TOLD_CHARS: usize = 160;
/// The length up to which the prompt of a turn that only commits asks for nothing else, in characters: "comit".
const MAX_CHORE_CHARS: u32 = 12;
/// The maximum length of a sentence that is told because the next one needs it, in characters.
const MAX_ANTECEDENT_CHARS: usize = 240;
/// The similarity at which two statements count as the same.
const SAME: f32 = 0.68;

/// One turn that is over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each a feature of its own")]
pub(super) struct TurnResult {
    /// The line of the prompt.
    pub source: LineRef,
    /// The number of the turn in the session.
    pub number: u32,
    /// The essence of the request.
    pub asked: String,
    /// The statements that may be worth telling.
    pub statements: Vec<Statement>,
    /// What was checked, in one sentence. May be empty.
    pub checked: String,
    /// The files that the turn changed or read.
    pub files: Vec<String>,
    /// The length of the prompt, in characters.
    pub prompt_chars: u32,
    /// Whether the turn changed files.
    pub edited: bool,
    /// Whether the turn made a commit.
    pub committed: bool,
    /// Whether something failed in the turn.
    pub failed: bool,
    /// Whether the request asks for something of its own.
    pub substantive: bool,
    /// Whether the request asks to commit, to push or to go on: what the agent says on the way is about that.
    pub is_chore: bool,
    /// Whether the next prompt disputes or amends what the turn gave.
    pub disputed: bool,
    /// Whether the agent gave in to the next prompt.
    pub conceded: bool,
    /// Whether it also took back what the turn did.
    pub reverted: bool,
    /// Whether the turn proposed a plan that the user refused.
    pub is_refused: bool,
}

/// The results of the latest turns, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Results {
    turns: Vec<TurnResult>,
    /// How many turns were dropped.
    dropped: usize,
    /// Whether all statements are kept. Only training needs them.
    #[serde(skip)]
    pub keep_all: bool,
    /// The scores of the statements, once they were asked for. Drafts and notes need the same.
    #[serde(skip)]
    judged: OnceCell<Vec<Judged>>,
}

/// A statement that was chosen, by the places of its turn and itself.
type Place = (usize, usize);

/// A statement's place, what happened around it, and its score.
pub(super) type Judged = (Place, Setting, f32);

impl Results {
    /// Adds the result of a turn. The oldest turn but the first is dropped when there are too many.
    pub(super) fn push(&mut self, mut turn: TurnResult) {
        if !self.keep_all {
            turn.limit(self.turns.is_empty());
        }
        self.judged.take();
        self.turns.push(turn);
        if self.turns.len() > MAX_TURNS && !self.keep_all {
            self.turns.remove(1);
            self.dropped += 1;
        }
    }

    /// Records that a prompt disputes or amends what the latest turn gave.
    pub(super) fn dispute(&mut self) {
        if let Some(last) = self.turns.last_mut() {
            last.disputed = true;
        }
        self.judged.take();
    }

    /// Records that the agent gives in to what a prompt says of the latest turn.
    pub(super) fn concede(&mut self, reverts: bool) {
        if let Some(last) = self.turns.last_mut() {
            last.conceded = true;
            last.reverted = reverts && last.edited;
        }
        self.judged.take();
    }

    /// Keeps the agent's statements for which `holds` returns true, given the number of their turn.
    pub(super) fn retain(&mut self, holds: impl Fn(&Statement, u32) -> bool) {
        if self.keep_all {
            return;
        }
        for turn in &mut self.turns {
            let number = turn.number;
            // What was taken out after it in the same turn does not hold either.
            let said_in = |statement: &Statement| number.saturating_sub(u32::from(statement.is_before_edit));
            turn.statements.retain(|statement| statement.voice == Voice::Human || holds(statement, said_in(statement)));
        }
        self.judged.take();
    }

    /// Returns the turns, oldest first.
    pub(super) fn turns(&self) -> &[TurnResult] {
        &self.turns
    }

    /// Returns what happened around the statements of one turn.
    pub(super) fn setting(&self, turn: usize) -> Setting {
        let later = &self.turns[turn + 1..];
        Setting {
            later_turns: later.len(),
            edited_later: later.iter().any(|turn| turn.edited),
            ..self.turns[turn].setting(turn == 0)
        }
    }

    /// Returns every statement with its place, its setting and its score.
    pub(super) fn judged(&self) -> &[Judged] {
        self.judged.get_or_init(|| self.judge())
    }

    fn judge(&self) -> Vec<Judged> {
        let named: Vec<Vec<u32>> = self.turns.iter().map(TurnResult::names).collect();
        let mut all = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let setting = self.setting(at);
            for (number, statement) in turn.statements.iter().enumerate() {
                let own = statement::names(&statement.text);
                let again = own.iter().filter(|name| named[at + 1..].iter().any(|later| later.contains(name))).count();
                let setting = Setting { mentioned_later: share(again, own.len()), ..setting };
                all.push(((at, number), setting, judge::score(statement, &setting)));
            }
        }
        all
    }

    /// Returns one line for each turn that has something to tell, with the place of the turn.
    pub(super) fn lines(&self, labels: &Labels) -> Vec<(usize, String)> {
        let amended: Vec<Option<Amendment>> = (0..self.turns.len()).map(|at| self.amendment(at)).collect();
        let holds = |&&((turn, number), ..): &&Judged| {
            amended[turn].as_ref().is_none_or(|words| !words.amends(&self.turns[turn].statements[number]))
        };
        let judged = self.judged().iter().filter(holds).copied().collect();
        let chosen = self.with_answer(self.with_whole_lists(self.choose(judged, MIN_SCORE, MAX_SESSION_CHARS)));
        let chosen = self.without_records(self.with_antecedents(chosen));
        let said = Said::of(chosen.iter().map(|&(turn, number)| &self.turns[turn].statements[number]));
        (0..self.turns.len())
            .filter_map(|at| {
                let of_turn = || chosen.iter().filter(|(turn, _)| *turn == at).map(|(_, number)| *number);
                // What only the human said is told as a rule or as what was asked.
                let is_answered = of_turn().any(|number| self.turns[at].statements[number].voice != Voice::Human);
                let line = if is_answered { self.turns[at].line(of_turn(), &said, labels) } else { String::new() };
                (!line.is_empty()).then_some((at, line))
            })
            .collect()
    }

    /// Returns a memory for each turn: what was asked, and the statements worth finding.
    pub(super) fn drafts(&self, labels: &Labels) -> Vec<Draft> {
        let judged = self.judged();
        (0..self.turns.len())
            .filter_map(|at| {
                let own = judged.iter().filter(|((turn, _), ..)| *turn == at).copied().collect();
                let chosen = self.choose(own, MIN_MEMORY_SCORE, MAX_LINE_CHARS);
                let said = Said::of(chosen.iter().map(|&(turn, number)| &self.turns[turn].statements[number]));
                self.turns[at].draft(chosen.into_iter().map(|(_, number)| number), &said, labels)
            })
            .collect()
    }

    /// Chooses the best statements that fit, none twice, in their order.
    fn choose(&self, mut judged: Vec<Judged>, least: f32, max_chars: usize) -> Vec<Place> {
        judged.sort_by(|(one, _, better), (other, _, worse)| worse.total_cmp(better).then(one.cmp(other)));
        let mut chosen: Vec<Place> = Vec::new();
        let mut known: Vec<(text::Features, Vec<u32>)> = Vec::new();
        let mut used = vec![0; self.turns.len()];
        for ((turn, number), _, score) in judged {
            let statement = &self.turns[turn].statements[number];
            let chars = statement.text.chars().count();
            if score < least
                || is_barred(statement, &self.turns[turn], self.turns.len() - 1 - turn, score)
                || (turn + 1 < self.turns.len() && self.turns[turn].is_option(number))
                || self.turns[turn].only_commits_beside(statement)
                || (self.is_committed_after(statement, turn) && signs::is_failed_commit(&statement.text.to_lowercase()))
                || used[turn] + chars > MAX_LINE_CHARS
                || used.iter().sum::<usize>() + chars > max_chars
            {
                continue;
            }
            let features = text::features(&statement.text);
            let names = statement::names(&statement.text);
            let is_same = |(said, named): &(text::Features, Vec<u32>)| {
                // Two items of a list may differ only in the name of what they speak of.
                let has_other = |mine: &[u32], theirs: &[u32]| mine.iter().any(|name| !theirs.contains(name));
                let differs = has_other(&names, named) && has_other(named, &names);
                said.len() > 2 && !differs && text::similarity(said, &features) >= SAME
            };
            if features.len() > 2 && known.iter().any(is_same) {
                continue;
            }
            used[turn] += chars;
            known.push((features, names));
            chosen.push((turn, number));
        }
        chosen.sort_unstable();
        self.without_overtaken(&chosen)
    }

    /// Adds the best sentence of its answer to the last turn that changed files, if nothing else is told of the answer than that
    /// it is done.
    fn with_answer(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        if let Some((at, turn)) = self.turns.iter().enumerate().rfind(|(_, turn)| turn.edited) {
            let says = |number: usize| {
                let statement = &turn.statements[number];
                let is_report = prose::is_filler(&statement.text) || prose::checked(&statement.text).is_some();
                statement.voice == Voice::Answer && !is_report
            };
            if chosen.iter().any(|&(of, number)| of == at && says(number)) {
                return chosen;
            }
            let later_turns = self.turns.len() - 1 - at;
            let fits = |number: usize| {
                let statement = &turn.statements[number];
                says(number)
                    && statement.text.chars().count() >= MIN_ANSWER_CHARS
                    && !is_lead(&statement.text)
                    && !turn.only_commits_beside(statement)
                    && !is_barred(statement, turn, later_turns, 1.0)
            };
            let best = self.judged().iter().filter(|((of, number), ..)| *of == at && fits(*number));
            if let Some((place, ..)) = best.max_by(|one, other| one.2.total_cmp(&other.2))
                && !chosen.contains(place)
            {
                chosen.push(*place);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds what is missing of the lists of which most is chosen, while there is room: a list with gaps misleads.
    fn with_whole_lists(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let mut room = (MAX_SESSION_CHARS + MAX_LIST_CHARS).saturating_sub(
            chosen.iter().map(|&(turn, number)| self.turns[turn].statements[number].text.chars().count()).sum(),
        );
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists() {
                let (told, missing): (Vec<usize>, Vec<usize>) =
                    list.clone().partition(|number| chosen.contains(&(at, *number)));
                let later_turns = self.turns.len() - 1 - at;
                // The first row of a table names its columns.
                let names_columns = |number: usize| number == list.start && turn.statements[number].form == Form::Row;
                let missing: Vec<usize> = missing
                    .into_iter()
                    .filter(|&number| !names_columns(number))
                    .filter(|&number| {
                        !is_barred(&turn.statements[number], turn, later_turns, 1.0) && !turn.is_option(number)
                    })
                    .collect();
                let chars: usize = missing.iter().map(|&number| turn.statements[number].text.chars().count()).sum();
                if told.len() >= 2 && told.len() >= missing.len() && chars <= room.min(MAX_LIST_CHARS) {
                    room -= chars;
                    chosen.extend(missing.into_iter().map(|number| (at, number)));
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds the sentence before one that cannot be understood without it: "Most were rules of the format".
    fn with_antecedents(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for at in 0..chosen.len() {
            let (turn, number) = chosen[at];
            let statements = &self.turns[turn].statements;
            let statement = &statements[number];
            let Some(before) = number.checked_sub(1).map(|before| &statements[before]) else { continue };
            let is_next = statement.goes_on && (before.voice, before.place + 1) == (statement.voice, statement.place);
            let place = (turn, number - 1);
            if is_next
                && signs::leans_on_sentence_before(&statement.text.to_lowercase())
                && !chosen.contains(&place)
                && before.text.chars().count() <= MAX_ANTECEDENT_CHARS
                && !is_lead(&before.text)
                && !prose::is_filler(&before.text)
                && !is_barred(before, &self.turns[turn], self.turns.len() - 1 - turn, 1.0)
            {
                chosen.push(place);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Leaves out what others tell better: how it was before a change that the answer tells, the body of a commit, and what the
    /// agent said beside it, where the work that it contains was told in words.
    fn without_records(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let statement = |&(turn, number): &Place| &self.turns[turn].statements[number];
        let chars = |places: &[Place]| -> usize { places.iter().map(|place| statement(place).text.chars().count()).sum() };
        let own = chosen.iter().map(statement).filter(|it| matches!(it.voice, Voice::Work | Voice::Answer));
        let said: text::Features = own.clone().flat_map(|it| text::features(&it.text)).collect();
        let said_names: Vec<u32> = own.flat_map(|it| statement::names(&it.text)).collect();
        let adds = |place: &Place| {
            let features = text::features(&statement(place).text);
            let again = share(features.iter().filter(|word| said.contains(word)).count(), features.len());
            again < NAMED && statement::names(&statement(place).text).iter().any(|name| !said_names.contains(name))
        };
        let mut told = 0;
        let mut dropped: Vec<Place> = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let of_turn = |voices: &[Voice]| -> Vec<Place> {
                let is_of = |&&(of, number): &&Place| of == at && voices.contains(&turn.statements[number].voice);
                chosen.iter().filter(is_of).copied().collect()
            };
            let words = of_turn(&[Voice::Work, Voice::Answer]);
            if chars(&of_turn(&[Voice::Answer])) >= MIN_TOLD_CHARS {
                let is_way = |place: &&Place| {
                    let it = statement(place);
                    it.is_before_edit && it.voice == Voice::Work && prose::signs(&it.text.to_lowercase()).0 < MIN_CAUSE
                };
                dropped.extend(words.iter().filter(is_way));
            }
            let is_record = turn.is_chore || turn.prompt_chars <= MAX_CHORE_CHARS;
            if turn.only_commits() && is_record && told >= MIN_TOLD_CHARS {
                // What is still open, or failed, is told nowhere else.
                let is_done = |place: &&Place| {
                    let lower = statement(place).text.to_lowercase();
                    !signs::is_open_state(&lower) && !signs::is_problem(&lower)
                };
                dropped.extend(words.iter().filter(is_done));
            } else {
                // "Commit this" may need a repair first. What its answer repeats of the work was told.
                let named: Vec<u32> = chosen
                    .iter()
                    .filter(|&&(of, _)| of + 1 == at)
                    .flat_map(|place| statement::names(&statement(place).text))
                    .collect();
                let is_told_before = |place: &&Place| {
                    let own = statement::names(&statement(place).text);
                    let again = own.iter().filter(|name| named.contains(name)).count();
                    !own.is_empty() && share(again, own.len()) >= REPEATED
                };
                if turn.is_chore && turn.committed {
                    dropped.extend(words.iter().filter(is_told_before));
                }
                told += chars(&words);
            }
            if turn.committed {
                let is_body = |place: &&Place| {
                    let is_before = || statement(place).text.to_lowercase().contains("previously");
                    statement(place).place > 0 && (!adds(place) || is_before())
                };
                if told >= MIN_TOLD_CHARS {
                    dropped.extend(of_turn(&[Voice::Commit]).iter().filter(is_body));
                }
                if !of_turn(&[Voice::Commit]).is_empty() {
                    dropped.extend(words.iter().filter(|place| signs::only_says_committed(&statement(place).text)));
                }
                told = 0;
            }
        }
        chosen.retain(|place| !dropped.contains(place));
        chosen
    }

    /// Returns whether a commit was made after a statement, so that a failed one is only how it came to that.
    fn is_committed_after(&self, statement: &Statement, turn: usize) -> bool {
        let in_turn = statement.voice == Voice::Work && self.turns[turn].committed;
        statement.voice != Voice::Human && (in_turn || self.turns[turn + 1..].iter().any(|later| later.committed))
    }

    /// Returns what the turn that followed said, if its prompt disputed this one or the agent gave in to it.
    fn amendment(&self, turn: usize) -> Option<Amendment> {
        let TurnResult { disputed, conceded, reverted, .. } = self.turns[turn];
        let next = self.turns.get(turn + 1).filter(|_| disputed || conceded)?;
        let words = next.statements.iter().flat_map(|statement| text::features(&statement.text)).collect();
        Some(Amendment { words, names: next.names(), disputed, reverted })
    }

    /// Leaves out what a later turn says anew: the state at the end wins over the state on the way.
    fn without_overtaken(&self, chosen: &[Place]) -> Vec<Place> {
        let names: Vec<Vec<u32>> =
            chosen.iter().map(|&(turn, number)| statement::names(&self.turns[turn].statements[number].text)).collect();
        let is_overtaken = |at: usize| {
            let (turn, _) = chosen[at];
            let said_later = |name: &u32| {
                (at + 1..chosen.len()).any(|later| {
                    let (other, number) = chosen[later];
                    other > turn && self.turns[other].statements[number].voice != Voice::Human && names[later].contains(name)
                })
            };
            let again = names[at].iter().filter(|name| said_later(name)).count();
            names[at].len() >= MIN_NAMES && share(again, names[at].len()) >= OVERTAKEN
        };
        (0..chosen.len()).filter(|&at| !is_overtaken(at)).map(|at| chosen[at]).collect()
    }
}

/// What the agent said in its own words, to tell what a commit's body only repeats.
struct Said(Vec<(text::Features, Vec<u32>)>);

impl Said {
    fn of<'a>(statements: impl Iterator<Item = &'a Statement> + Clone) -> Self {
        if !statements.clone().any(|statement| statement.voice == Voice::Commit) {
            return Said(Vec::new());
        }
        let own = statements.filter(|statement| matches!(statement.voice, Voice::Work | Voice::Answer));
        Said(own.map(|statement| (text::features(&statement.text), statement::names(&statement.text))).collect())
    }

    /// Returns whether one statement says most of what a statement of a commit says, or all of its names and a good part of its
    /// words.
    fn has(&self, statement: &Statement) -> bool {
        let (words, names) = (text::features(&statement.text), statement::names(&statement.text));
        self.0.iter().any(|(said, named)| {
            let again = share(words.iter().filter(|word| said.contains(word)).count(), words.len());
            let is_named = names.len() >= MIN_NAMES && names.iter().all(|name| named.contains(name));
            again >= REPEATED || (is_named && again >= NAMED)
        })
    }
}

/// What the turn after a dispute says.
struct Amendment {
    words: text::Features,
    names: Vec<u32>,
    /// Whether the prompt itself disputes the turn before.
    disputed: bool,
    /// Whether all that the turn before did was taken back.
    reverted: bool,
}

impl Amendment {
    /// Returns whether it speaks of the statement's subject, so that it and not the statement holds.
    fn amends(&self, statement: &Statement) -> bool {
        let own = text::features(&statement.text);
        let again = own.iter().filter(|word| self.words.contains(word)).count();
        let is_spaced = text::language(&statement.text) == text::Language::English;
        let least = if self.disputed && is_spaced { AMENDED } else { AMENDED_WIDE };
        let names = statement::names(&statement.text);
        let again_named = names.iter().filter(|name| self.names.contains(name)).count();
        let is_named = !self.disputed && share(again_named, names.len()) >= NAMED_AGAIN;
        matches!(statement.voice, Voice::Work | Voice::Answer)
            && (self.reverted || is_named || share(again, own.len()) >= least)
    }
}

/// Returns whether a statement only leads to what follows it.
fn is_lead(said: &str) -> bool {
    said.ends_with([':', '：'])
}

/// Returns whether a statement is never told: a question, a guess, praise, narration, pasted code, or a state that was
/// open before a later turn.
fn is_barred(statement: &Statement, turn: &TurnResult, later_turns: usize, score: f32) -> bool {
    let lower = statement.text.to_lowercase();
    let is_past = later_turns > 0 || statement.voice == Voice::Work;
    if statement.voice == Voice::Human {
        // A long prompt is a plan or pasted text: it says what was to be done, not what was.
        // A rule is told as a rule. What the last turn asked for is told as the request.
        if turn.prompt_chars > MAX_OWN_PROMPT_CHARS {
            return true;
        }
        let is_choice = || human::declares_choice(&statement.text);
        let counts = score >= MIN_HUMAN_SCORE || human::is_correction(&statement.text) || is_choice();
        let is_asked = later_turns == 0 && (turn.asked.contains(statement.text.as_str()) || !is_choice());
        let is_told = is_asked || human::is_rule(&statement.text);
        if !counts || is_told {
            return true;
        }
    }
    statement::is_question(&statement.text)
        || (turn.is_refused && !turn.edited && statement.voice != Voice::Human && statement.form != Form::Sentence)
        || signs::is_on_the_way(&lower)
        || (statement.form == Form::Item && signs::is_place_of_change(&lower))
        || (statement.form == Form::Item && score < MIN_NOTE_SCORE && prose::is_change_note(&lower))
        || signs::is_state_before(&lower, &statement.heading)
        || (turn.edited && statement.voice == Voice::Work && score < MIN_WORK_SCORE)
        || (statement.voice == Voice::Work && (signs::is_intent(&lower) || turn.is_chore))
        || (statement.is_before_edit && turn.committed && signs::is_failing(&lower))
        || (statement.is_before_edit
            && statement.voice == Voice::Work
            && signs::is_problem(&lower)
            && prose::signs(&lower).0 < MIN_CAUSE)
        || (statement.voice != Voice::Human
            && prose::is_pointer(&lower)
            && statement.heading.is_empty()
            && !tells_change(statement, &lower))
        || (statement.voice != Voice::Commit && signs::is_guess(&lower))
        || (is_past && signs::is_open_state(&lower))
        || (is_past && (signs::is_offer(&lower) || signs::is_proposals(&statement.heading)))
        || (is_past && statement.form == Form::Row && signs::is_open_row(&lower))
        || signs::is_praise(&lower)
        || (statement.voice == Voice::Work && (is_lead(&statement.text) || prose::is_narration(&statement.text)))
        || (statement.voice == Voice::Human && signs::is_code(&statement.text))
}

/// Returns whether an answer says by name what the fix or the change is: it points to nothing before it.
fn tells_change(statement: &Statement, lower: &str) -> bool {
    let opens = ["the fix ", "the change "].iter().any(|opening| lower.starts_with(opening));
    opens && statement.voice == Voice::Answer && !statement::names(&statement.text).is_empty()
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn share(part: usize, all: usize) -> f32 {
    if all == 0 { 0.0 } else { part as f32 / all as f32 }
}

impl TurnResult {
    fn setting(&self, is_first: bool) -> Setting {
        Setting {
            edited: self.edited,
            committed: self.committed,
            failed: self.failed,
            prompt_chars: self.prompt_chars,
            is_first,
            ..Setting::default()
        }
    }

    /// Returns whether the turn only committed what earlier ones did, so that what the commit says is what it gave: what the
    /// agent says beside it is about the files that it staged and those that it left.
    fn only_commits_beside(&self, statement: &Statement) -> bool {
        let says = |voice: Voice| self.statements.iter().any(|statement| statement.voice == voice);
        let is_work = statement.voice == Voice::Work;
        let is_about = || statement.voice == Voice::Answer && signs::is_about_committing(&statement.text.to_lowercase());
        // "Commit this" may need a repair first, which the commit tells as well.
        let is_chore = self.committed && (!self.edited || (!self.substantive && is_work));
        is_chore && says(Voice::Commit) && (is_work || is_about())
    }

    /// Returns whether the turn only committed what earlier ones did.
    pub(super) fn only_commits(&self) -> bool {
        self.committed && !self.edited
    }

    fn names(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.statements.iter().flat_map(|statement| statement::names(&statement.text)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Keeps the best statements as they look now.
    fn limit(&mut self, is_first: bool) {
        let setting = self.setting(is_first);
        let mut order: Vec<usize> = (0..self.statements.len()).collect();
        let scores: Vec<f32> = self.statements.iter().map(|statement| judge::score(statement, &setting)).collect();
        order.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]).then(one.cmp(&other)));
        let mut bytes = 0;
        order.retain(|&at| {
            let size = 80 + self.statements[at].text.len() + self.statements[at].heading.len();
            bytes += size;
            bytes <= MAX_TURN_BYTES
        });
        let mut at = 0..;
        self.statements.retain(|_| at.next().is_some_and(|at| order.contains(&at)));
    }

    /// Returns the chosen statements as one line: what the human said, what the agent said, and what was committed.
    fn line(&self, chosen: impl Iterator<Item = usize>, said: &Said, labels: &Labels) -> String {
        let chosen: Vec<usize> = chosen.collect();
        // A line that leads to a list says nothing without it, and promises too much before a small part of it.
        let is_followed = |lead: usize| {
            let items = self.items_below(lead);
            let told = items.clone().filter(|at| chosen.contains(at)).count();
            told > 0 && 2 * told >= items.count()
        };
        let is_told = |at: usize| {
            let statement = &self.statements[at];
            statement.form == Form::Heading || !is_lead(&statement.text) || is_followed(at)
        };
        let chosen: Vec<&Statement> = chosen.iter().filter(|at| is_told(**at)).map(|at| &self.statements[*at]).collect();
        // The body of a commit often repeats the answer in other words. Its subject stays.
        let own: text::Features = chosen
            .iter()
            .filter(|statement| matches!(statement.voice, Voice::Work | Voice::Answer))
            .flat_map(|statement| text::features(&statement.text))
            .collect();
        let repeats = |statement: &&Statement| {
            statement.voice == Voice::Commit && statement.place > 0 && {
                let words = text::features(&statement.text);
                share(words.iter().filter(|word| own.contains(word)).count(), words.len()) >= REPEATED || said.has(statement)
            }
        };
        let chosen: Vec<&Statement> = chosen.into_iter().filter(|statement| !repeats(statement)).collect();
        let of = |voices: &[Voice]| join(chosen.iter().copied().filter(|statement| voices.contains(&statement.voice)));
        let mut line = of(&[Voice::Human]);
        let commits = commits_text(chosen.iter().copied().filter(|statement| statement.voice == Voice::Commit), labels);
        for (part, arrow) in [(of(&[Voice::Work, Voice::Answer]), " → "), (commits, " — ")] {
            if !part.is_empty() {
                if !line.is_empty() {
                    line.push_str(arrow);
                }
                line.push_str(&part);
            }
        }
        line
    }

    /// Returns whether a statement is an item below a line that offers a choice. Once somebody chose, the choice holds.
    fn is_option(&self, number: usize) -> bool {
        let item = &self.statements[number];
        if self.edited || self.committed || !matches!(item.form, Form::Item | Form::Row) || item.voice == Voice::Human {
            return false;
        }
        let leads = signs::offers_options(&item.heading.to_lowercase());
        let lead = self.statements[..number].iter().rev().find(|earlier| {
            (earlier.count, earlier.voice) == (item.count, item.voice) && !matches!(earlier.form, Form::Item | Form::Row)
        });
        leads || lead.is_some_and(|lead| is_lead(&lead.text) && signs::offers_options(&lead.text.to_lowercase()))
    }

    /// Returns the places of the items of each list of the agent's answer.
    fn lists(&self) -> Vec<std::ops::Range<usize>> {
        let is_item = |at: usize| {
            let statement = &self.statements[at];
            statement.voice == Voice::Answer && matches!(statement.form, Form::Item | Form::Row)
        };
        let mut all: Vec<std::ops::Range<usize>> = Vec::new();
        for at in (0..self.statements.len()).filter(|at| is_item(*at)) {
            let goes_on = |list: &&mut std::ops::Range<usize>| {
                let last = &self.statements[list.end - 1];
                list.end == at && last.heading == self.statements[at].heading && last.form == self.statements[at].form
            };
            match all.last_mut().filter(goes_on) {
                Some(list) => list.end = at + 1,
                None => all.push(at..at + 1),
            }
        }
        all
    }

    /// Returns the places of the list's items below the line that leads to them.
    fn items_below(&self, lead: usize) -> impl Iterator<Item = usize> + Clone {
        let first = &self.statements[lead];
        (lead + 1..self.statements.len()).take_while(move |at| {
            let item = &self.statements[*at];
            // The places show whether an item was dropped, or belongs to another text.
            let is_next = usize::from(item.place) == usize::from(first.place) + at - lead;
            is_next && (item.count, item.voice) == (first.count, first.voice) && matches!(item.form, Form::Item | Form::Row)
        })
    }

    fn draft(&self, chosen: impl Iterator<Item = usize>, said: &Said, labels: &Labels) -> Option<Draft> {
        let said = self.line(chosen, said, labels);
        if said.is_empty() || self.source.uuid.is_empty() {
            return None;
        }
        let content = if self.asked.is_empty() || said.contains(self.asked.as_str()) {
            said
        } else {
            format!("{} → {said}", self.asked)
        };
        Some(Draft {
            key: Some(format!("result:{}", self.source.uuid)),
            kind: "result".to_owned(),
            title: text::clip(if self.asked.is_empty() { &content } else { &self.asked }, 160).into_owned(),
            content,
            keywords: Vec::new(),
            files: self.files.clone(),
            importance: 0.3,
            origin: self.source.origin(),
            attributes: vec![SaidBy::Agent.attribute()],
        })
    }
}

/// Returns the subject of each commit, with what its body adds.
fn commits_text<'a>(statements: impl Iterator<Item = &'a Statement>, labels: &Labels) -> String {
    let mut line = String::new();
    for statement in statements {
        let separator = if line.is_empty() { "" } else { "; " };
        if statement.place == 0 {
            line = format!("{line}{separator}{} \"{}\"", labels.committed, statement.text);
        } else {
            line = format!("{line}{separator}{}", statement.text);
        }
    }
    line
}

/// Joins statements into running text. A heading stands once before the statements below it.
fn join<'a>(statements: impl Iterator<Item = &'a Statement>) -> String {
    let mut line = String::new();
    let mut heading = "";
    for statement in statements {
        // "Changes made:" says nothing that the statements below it do not.
        if prose::is_generic_heading(statement.text.trim_end_matches([':', '：'])) {
            continue;
        }
        if !line.is_empty() {
            line.push_str(if line.ends_with(['.', '!', '?', ':', '。', '！', '？', '：', ';']) { " " } else { "; " });
        }
        if statement.form == Form::Heading {
            heading = &statement.text;
        } else if !statement.heading.is_empty()
            && statement.heading != heading
            && !statement::is_question(&statement.heading)
            && !prose::is_generic_heading(&statement.heading)
        {
            heading = &statement.heading;
            line.push_str(heading);
            line.push_str(": ");
        }
        line.push_str(&clean::without_positions(&statement.text));
        if statement.form == Form::Heading {
            line.push(':');
        }
    }
    line.trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(turn: &TurnResult, chosen: impl Iterator<Item = usize> + Clone) -> String {
        let said = Said::of(chosen.clone().map(|at| &turn.statements[at]));
        turn.line(chosen, &said, labels())
    }

    fn labels() -> &'static Labels {
        super::super::labels::labels(text::Language::English)
    }

    fn turn(answer: &str, commit: &str) -> TurnResult {
        let mut statements = statement::statements(answer, Voice::Answer);
        statements.extend(statement::statements(commit, Voice::Commit));
        TurnResult { statements, ..TurnResult::default() }
    }

    #[test]
    fn a_lead_needs_most_of_its_list() {
        let turn = turn("Three problems stand out:\n- One is slow.\n- Two is lost.\n- Three is late.", "");
        assert_eq!(line(&turn, [0, 1].into_iter()), "One is slow.");
        assert_eq!(line(&turn, [0, 1, 3].into_iter()), "Three problems stand out: One is slow. Three is late.");
        assert_eq!(line(&turn, [0].into_iter()), "");
    }

    #[test]
    fn a_lead_of_one_text_does_not_lead_to_the_list_of_another() {
        let mut turn = turn("It is done.\n\nThe next step:", "");
        turn.statements.extend(statement::statements("- One\n- Two\n- Three is late.\n- Four", Voice::Answer));
        assert_eq!(line(&turn, [1, 4].into_iter()), "Three is late.");
    }

    #[test]
    fn the_body_of_a_commit_does_not_repeat_the_answer() {
        let turn = turn(
            "`src/cart.ts` now rounds the total of the cart to cents.",
            "Round totals\n\nRounds the total to cents in the cart.\n\nThe invoice service still truncates.",
        );
        assert_eq!(
            line(&turn, 0..4),
            "`src/cart.ts` now rounds the total of the cart to cents. — committed as \"Round totals\"; The invoice service still truncates."
        );
    }

    #[test]
    fn a_failed_commit_is_not_told_once_it_was_made() {
        let failed = "The commit was blocked by the hook of the cart package.";
        let mut results = Results::default();
        let mut work = TurnResult { committed: true, ..turn("`src/cart.ts` now rounds the total.", "") };
        work.statements.extend(statement::statements(failed, Voice::Work));
        results.push(work);
        assert!(results.lines(labels()).iter().all(|(_, line)| !line.contains("blocked")));
        results.push(turn(failed, ""));
        assert!(results.is_committed_after(&results.turns[0].statements[1], 0));
        assert!(!results.is_committed_after(&results.turns[1].statements[0], 1));
    }

    #[test]
    fn what_the_agent_takes_back_is_not_told() {
        let told = |conceded: bool| {
            let mut results = Results::default();
            results.push(turn("`cartTotal` is stored in the session. The invoice is sent by `mailQueue`.", ""));
            if conceded {
                results.concede(false);
            }
            results.push(turn("Fair point: `cartTotal` is computed for each request.", ""));
            (0..2).filter_map(|at| results.amendment(at)).any(|it| it.amends(&results.turns[0].statements[0]))
        };
        assert!(told(true) && !told(false));
        let mut results = Results::default();
        results.push(turn("The invoice is sent by `mailQueue`.", ""));
        results.concede(false);
        results.push(turn("Fair point: `cartTotal` is computed for each request.", ""));
        assert!(!results.amendment(0).unwrap().amends(&results.turns[0].statements[0]), "that is something else");
        results.turns[0].edited = true;
        results.turns.truncate(1);
        results.concede(true);
        results.push(turn("Fair point, I revert that.", ""));
        assert!(results.amendment(0).unwrap().amends(&results.turns[0].statements[0]), "nothing of it is left");
    }

    #[test]
    fn beside_a_commit_nothing_is_told_of_the_files_that_were_staged() {
        let staging = "Only `src/cart.ts` should be committed.";
        let commit = "Round the total of the cart\n\nThe total was cut to whole cents before the tax.";
        let told = |edited: bool| {
            let mut results = Results::default();
            results.push(TurnResult { committed: true, edited, ..turn(staging, commit) });
            let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
            results.choose(judged, 0.0, 1_000).len()
        };
        assert_eq!(told(true) - told(false), 1);
    }

    #[test]
    fn items_that_differ_in_a_name_are_not_the_same() {
        let list = "- `roundTotal()` now gets the currency of the cart as its second argument\n\
                    - `roundTax()` now gets the currency of the cart as its second argument\n\
                    - now gets the currency of the cart as its second argument";
        let mut results = Results::default();
        results.push(turn(list, ""));
        let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
        assert_eq!(results.choose(judged, 0.0, 1_000), [(0, 0), (0, 1)]);
    }

    #[test]
    fn options_are_not_told_once_somebody_chose() {
        let answer = "The hook also checks the menu. You have a few options:\n\n- Stash the change of the menu first\n- Leave the hook out";
        let mut results = Results::default();
        results.push(turn(answer, ""));
        results.push(turn("The hook was left out.", ""));
        let told = |results: &Results| {
            let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
            results.choose(judged, 0.0, 1_000).iter().filter(|(turn, number)| *turn == 0 && *number > 1).count()
        };
        assert_eq!(told(&results), 0);
        results.turns[0].edited = true;
        assert_eq!(told(&results), 2, "what was done is no option");
    }

    #[test]
    fn a_problem_is_not_told_once_files_were_changed_after_it() {
        let problem = "The total in `src/cart.ts` is missing the tax of the second country.";
        let told = |is_before_edit: bool, text: &str| {
            let mut results = Results::default();
            let mut work = TurnResult { edited: true, ..turn("The tax is added.", "") };
            work.statements.extend(statement::statements(text, Voice::Work));
            work.statements[1].is_before_edit = is_before_edit;
            results.push(work);
            let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
            results.choose(judged, 0.0, 1_000).contains(&(0, 1))
        };
        assert!(told(false, problem) && !told(true, problem));
        let cause = "The root cause: the total is missing the tax because `addTax()` returns early.";
        assert!(told(true, cause), "a cause is worth telling after it was cured");
    }

    #[test]
    fn a_list_is_told_whole_if_most_of_it_is() {
        let list = "It is done:\n- One is quick in `a.ts`.\n- Two is found in `b.ts`.\n- Three is on time in `c.ts`.\n- Maybe four works too.";
        let mut results = Results::default();
        results.push(turn(list, ""));
        assert_eq!(results.with_whole_lists(vec![(0, 1), (0, 3)]), [(0, 1), (0, 2), (0, 3)], "a guess stays out");
        assert_eq!(results.with_whole_lists(vec![(0, 1)]), [(0, 1)]);
    }

    #[test]
    fn an_answer_says_what_the_fix_is() {
        let fix = "The fix is one line in `src/cart.ts`: the total is rounded before the tax.";
        let vague = "The fix is simple and small, and everything works as before.";
        let told = |text: &str| {
            let mut results = Results::default();
            results.push(TurnResult { edited: true, ..turn(&format!("All tests pass. {text}"), "") });
            let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
            results.choose(judged, 0.0, 1_000).contains(&(0, 1))
        };
        assert!(told(fix) && !told(vague));
    }

    #[test]
    fn an_answer_is_not_only_told_as_done() {
        let mut results = Results::default();
        let answer = "Done. The total of the cart is rounded to cents before it is shown.";
        results.push(TurnResult { edited: true, ..turn(answer, "") });
        assert_eq!(results.with_answer(vec![(0, 0)]), [(0, 0), (0, 1)]);
        assert_eq!(results.with_answer(vec![(0, 1)]), [(0, 1)]);
        results.turns[0].edited = false;
        assert_eq!(results.with_answer(vec![(0, 0)]), [(0, 0)], "who only looked may have nothing to say");
    }

    #[test]
    fn statements_that_do_not_hold_leave_the_results() {
        let mut results = Results::default();
        results.push(TurnResult { number: 1, ..turn("`roundTotal` is new. `cartView` is new.", "") });
        results.push(TurnResult { number: 2, ..turn("`roundTotal` is back.", "") });
        results.retain(|statement, turn| turn > 1 || !statement.text.contains("roundTotal"));
        let left: Vec<usize> = results.turns.iter().map(|turn| turn.statements.len()).collect();
        assert_eq!(left, [1, 1]);
    }

    #[test]
    fn a_question_is_no_heading() {
        let turn = turn("## Should we keep it?\n\n- It is used once.", "");
        assert_eq!(line(&turn, [1].into_iter()), "It is used once.");
    }

    #[test]
    fn a_sentence_that_leans_on_the_one_before_is_told_with_it() {
        let mut results = Results::default();
        results.push(turn(
            "The tab measured its width only once. When a number appeared, the line was too short. It is blue.",
            "",
        ));
        assert_eq!(results.with_antecedents(vec![(0, 1)]), [(0, 0), (0, 1)]);
        assert_eq!(results.with_antecedents(vec![(0, 2)]), [(0, 2)]);
    }

    #[test]
    fn the_steps_of_a_refused_plan_are_no_result() {
        let mut results = Results::default();
        let planned = turn("The guide moves to `docs/guide.md`.\n\n- Rewrite the links of the guide in `README.md`", "");
        results.push(TurnResult { is_refused: true, ..planned });
        let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
        assert_eq!(results.choose(judged, 0.0, 1_000), [(0, 0)]);
    }

    #[test]
    fn scores_are_computed_anew_after_another_turn() {
        let mut results = Results::default();
        results.push(turn("The cache in `src/cache.rs` is stale because nobody clears it.", ""));
        let alone = results.judged().to_vec();
        results.push(turn("All is well.", ""));
        assert_eq!((alone.len(), results.judged().len()), (1, 2));
        assert_eq!(results.judged()[0].1.later_turns, 1);
    }
}
