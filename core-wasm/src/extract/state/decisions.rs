//! Decisions: choices among what the agent proposed, what a plan or an answer declares, and what the user takes back.

use super::State;
use super::rulings::MAX_RULING_ABOUT;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::commands::{self, options_named};
use crate::extract::human;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::options;
use crate::extract::prose;
use crate::extract::results::TurnResult;
use crate::extract::statement;
use crate::said_by::SaidBy;
use crate::text;

/// The beginning of the key of what an answer declares as decided.
const DECLARED_KEY: &str = "declared:";
/// The maximum length of a choice that replaces another one, in characters.
pub(super) const MAX_CHOICE_CHARS: usize = 160;
/// How many words a prompt must share with a decision that it takes back.
const MIN_SHARED_WORDS: usize = 2;
/// How many words an option must have that is found again in what was done. Fewer occur by chance.
const MIN_TAKEN_WORDS: usize = 3;
/// The maximum length of what a choice is about if the user's words stand beside it, in characters.
const MAX_SHORT_ABOUT: usize = 60;
/// The length of such words up to which it is told what the choice is about, in characters.
const MAX_SHORT_BESIDE: usize = 80;
/// The maximum length of the prompt that is quoted behind a choice, in characters.
const MAX_QUOTED: usize = 120;
/// The length up to which a prompt that takes an option says little else, in characters.
const MAX_SHORT_CHOICE: usize = 60;
/// The length up to which a prompt that withdraws something says nothing else, in characters.
const MAX_BARE_WITHDRAWAL: usize = 24;

impl State {
    /// Records what a prompt decides of an answer: a consent or a choice turns the agent's proposal into a decision. `about` is what was
    /// asked for before.
    pub(super) fn record_choice(
        &mut self,
        prompt: &str,
        answer: &str,
        about: &str,
        said_by: SaidBy,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        if answer.is_empty() || self.interrupted {
            return;
        }
        let all = options::resolve_all(prompt, answer);
        if all.is_empty() && !has_letter(prompt) && !human::only_asks(prompt) {
            self.results.options_passed_over();
        }
        // An option that was picked by its letter is no subject of the next choice.
        let about = Some(about).filter(|about| human::stands_alone(about) && human::without_option_letter(about) == *about);
        for (number, mut resolved) in all.into_iter().filter(is_choice).enumerate() {
            // Whoever says much may speak of a list that offers nothing.
            if prompt.chars().count() <= MAX_SHORT_CHOICE {
                self.results.turn_down(&resolved.rejected.iter().map(|it| start_of_option(it)).collect::<Vec<_>>());
            }
            if !resolved.rejected.is_empty() {
                self.results.question_answered();
            }
            resolved.rejected.retain(|option| prose::can_be_rejected(option));
            // What a program says is nobody's word.
            if !matches!(said_by, SaidBy::Agreed | SaidBy::Human) {
                resolved.beside.clear();
            }
            let key =
                if number == 0 { format!("choice:{}", source.uuid) } else { format!("choice:{}:{number}", source.uuid) };
            let told = choice_memory(resolved, prompt, about, source, self.labels());
            let memory = SessionMemory { key, said_by, turn: self.turns, ..told };
            self.memories.add(memory, settled);
        }
    }

    /// Records a decision that a plan or an answer declares.
    pub(super) fn record_decided(
        &mut self,
        origin: &str,
        decided: String,
        said_by: SaidBy,
        importance: u8,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        // A person's own words stand as they are.
        if said_by != SaidBy::Human && origin != "branch" && (prose::is_piece(&decided) || prose::is_code_detail(&decided)) {
            return;
        }
        let said_by = if said_by == SaidBy::Agent && prose::credits_user(&decided) { SaidBy::Agreed } else { said_by };
        let key = format!("{origin}:{:08x}", text::hash(&decided));
        self.memories.forget(|known| known.key == key);
        let memory = SessionMemory {
            key,
            title: decided.clone(),
            content: decided,
            importance,
            said_by,
            turn: self.turns,
            ..decision(source)
        };
        self.memories.add(memory, settled);
    }

    /// Forgets what answers declare as decided if neither their turn changed anything nor the next one that asked for something: it was
    /// found in old documents, or nobody agreed to it. What sums up the session stays.
    pub(super) fn forget_idle_decisions(&mut self) {
        let turns = self.results.turns();
        let is_idle = |number: u32| {
            let last = turns.iter().rposition(|turn| turn.number == number);
            let next =
                last.and_then(|at| turns[at + 1..].iter().position(|turn| turn.substantive).map(|next| at..=at + 1 + next));
            next.is_some_and(|until| !turns[until].iter().any(TurnResult::has_work))
        };
        let is_declared = |memory: &SessionMemory| memory.key.starts_with(DECLARED_KEY) && memory.said_by == SaidBy::Agent;
        self.memories.forget(|memory| is_declared(memory) && is_idle(memory.turn));
    }

    /// Forgets the decisions and rules that the user takes back, and puts a rejected option that is chosen after all in the place of
    /// the decision.
    pub(super) fn user_changes_mind(&mut self, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        if human::withdraws(prompt) {
            self.withdraw(prompt);
        }
        self.last_said.clone_from(&source.uuid);
        if prose::changes_mind(prompt) {
            let words = text::features(prompt);
            let is_of = |said: &str| words.intersection(&text::features(said)).count() >= MIN_SHARED_WORDS;
            self.memories.forget(|memory| matches!(memory.kind.as_str(), "decision" | "preference") && is_of(&memory.title));
        }
        if human::takes_option(prompt) {
            self.take_rejected_option(prompt, source, settled);
        }
        if let Some(name) = human::chosen_name(prompt) {
            self.take_after_all(&name, prompt, source, settled);
        }
    }

    /// Puts what a prompt takes by its name in the place of an answer that wanted none, to a question about what has that name.
    fn take_after_all(&mut self, name: &str, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let is_over = |memory: &SessionMemory| {
            let (asked, answer) = memory.title.rsplit_once(" → ").unwrap_or_default();
            memory.kind == "decision" && text::contains_words(&asked.to_lowercase(), name) && human::wants_none(answer, name)
        };
        let Some(before) = self.memories.live().find(|memory| is_over(memory)).cloned() else { return };
        self.memories.forget(|memory| memory.key == before.key);
        let first = text::first_sentence(prompt).unwrap_or_default();
        let rejected = vec![chosen_in(&before.title).to_owned()];
        let memory = SessionMemory {
            key: format!("changed:{}", source.uuid),
            content: decision_text(&first, "", &rejected, self.labels()),
            title: first,
            rejected,
            importance: 80,
            said_by: SaidBy::Human,
            ..decision(source)
        };
        self.memories.add(memory, settled);
    }

    /// Forgets what the user said just before and withdraws now, as far as both name the same.
    fn withdraw(&mut self, prompt: &str) {
        let words = text::features(prompt);
        let is_bare = prompt.chars().count() <= MAX_BARE_WITHDRAWAL;
        let last_said = std::mem::take(&mut self.last_said);
        self.memories.forget(|memory| {
            matches!(memory.kind.as_str(), "decision" | "preference" | "correction")
                && !last_said.is_empty()
                && memory.source.uuid == last_said
                && (is_bare || !words.is_disjoint(&text::features(&memory.title)))
        });
    }

    /// Tells no option as rejected that was chosen or committed later, outside the line of that identifier.
    pub(super) fn option_taken_after_all(&mut self, said: &str, uuid: &str) {
        const UNDOES: [&str; 6] = ["remove", "revert", "drop", "delete", "undo", "no"];
        let lower = said.to_lowercase();
        if text::contains_any_words(&lower, &UNDOES) {
            return;
        }
        let (words, labels) = (text::features(said), self.labels());
        let is_taken = |option: &String| {
            let own = text::features(option);
            own.len() >= MIN_TAKEN_WORDS && own.is_subset(&words)
        };
        self.memories.change(|memory| {
            if memory.kind != "decision" || memory.source.uuid == uuid || !memory.rejected.iter().any(is_taken) {
                return;
            }
            memory.rejected.retain(|option| !is_taken(option));
            memory.content =
                decision_text(&format!("{}{}", memory.title, memory.beside), &memory.why, &memory.rejected, labels);
        });
    }

    /// Puts an option that worked in the place of the one that the user chose and that failed: "--later" failed, "--now" passed. `command`
    /// is what passed.
    pub(super) fn option_worked(&mut self, command: &str) {
        let (failures, labels) = (&self.failures, self.labels());
        self.memories.change(|memory| {
            let Some((asked, chosen)) = memory.title.rsplit_once(" → ").filter(|_| memory.key.starts_with("question:"))
            else {
                return;
            };
            let passes = |option: &str| commands::has_option(command, option);
            let has_failed = |option: &str| !passes(option) && failures.has_failed_with(command, option);
            if options_named(chosen).next().is_none() || !options_named(chosen).all(has_failed) {
                return;
            }
            let worked = memory.rejected.iter().find(|rejected| options_named(rejected).any(passes));
            let Some(worked) = worked else { return };
            let (title, failed) = (format!("{asked} → {worked}"), chosen.to_owned());
            memory.content = decision_text(&title, "", std::slice::from_ref(&failed), labels);
            (memory.title, memory.why, memory.rejected) = (title, String::new(), vec![failed]);
            memory.said_by = SaidBy::Agent;
        });
    }

    /// Puts what a prompt chooses in the place of the decision that rejected it, if there is one.
    fn take_rejected_option(&mut self, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let (words, names) = (text::features(prompt), statement::names(prompt));
        let is_chosen = |option: &String| {
            let own = text::features(option);
            statement::names(option).iter().any(|name| names.contains(name))
                || (own.len() >= MIN_SHARED_WORDS && own.is_subset(&words))
        };
        // A prompt that has a name of what was chosen may be about both.
        let keeps = |chosen: &str| statement::names(chosen).iter().any(|name| names.contains(name));
        let changed = self.memories.live().find(|memory| {
            memory.kind == "decision" && memory.rejected.iter().any(is_chosen) && !keeps(chosen_in(&memory.title))
        });
        let Some(before) = changed.cloned() else { return };
        self.memories.forget(|memory| memory.key == before.key);
        let what = text::clip(&text::one_line(prompt), MAX_CHOICE_CHARS).into_owned();
        let rejected = vec![chosen_in(&before.title).to_owned()];
        let content = decision_text(&what, "", &rejected, self.labels());
        let memory = SessionMemory {
            key: format!("changed:{}", source.uuid),
            title: what,
            content,
            rejected,
            importance: 80,
            said_by: SaidBy::Human,
            ..decision(source)
        };
        self.memories.add(memory, settled);
    }
}

/// Returns a decision that says nothing yet.
pub(super) fn decision(source: &LineRef) -> SessionMemory {
    SessionMemory { kind: "decision".to_owned(), source: source.clone(), ..SessionMemory::default() }
}

/// Returns whether what a prompt resolved is a choice. That everything is fine is a fact.
fn is_choice(resolved: &options::Resolution) -> bool {
    let is_proposal = || {
        prose::checked(&resolved.what).is_none()
            && !prose::is_procedure(&resolved.what)
            && prose::offers_choice(&resolved.what)
    };
    let decides = resolved.is_own || resolved.is_weighed || !resolved.asked.is_empty() || !resolved.rejected.is_empty();
    (decides || is_proposal()) && !resolved.is_of_session()
}

/// Returns a choice as a memory, without who said it. `about` is what was asked for before.
fn choice_memory(
    resolved: options::Resolution,
    prompt: &str,
    about: Option<&str>,
    source: &LineRef,
    labels: &Labels,
) -> SessionMemory {
    let is_short = resolved.beside.chars().count() <= MAX_SHORT_BESIDE;
    let max = if resolved.beside.is_empty() { MAX_RULING_ABOUT } else { MAX_SHORT_ABOUT };
    let excludes = !resolved.rejected.is_empty() && !resolved.is_own;
    // An option alone does not say what was decided about.
    let what = if !resolved.asked.is_empty() {
        format!("{} → {}", resolved.asked, resolved.what)
    } else if let Some(about) = about.filter(|_| excludes && is_short) {
        format!("{} ({}: {})", resolved.what, labels.about, text::clip(about, max))
    } else {
        resolved.what
    };
    let beside = users_words(&resolved.beside, labels);
    let content = decision_text(&format!("{what}{beside}"), &resolved.why, &resolved.rejected, labels);
    let said = text::one_line(prompt);
    let is_quoted = excludes && beside.is_empty();
    let content = if is_quoted { format!("{content} (\"{}\")", text::clip(&said, MAX_QUOTED)) } else { content };
    let is_light = resolved.rejected.is_empty() && !resolved.is_own && !resolved.is_weighed;
    SessionMemory {
        title: what,
        beside,
        why: resolved.why,
        rejected: resolved.rejected,
        content,
        importance: if is_light { 55 } else { 80 },
        ..decision(source)
    }
}

/// Returns what the user said beside a choice, as it stands behind the choice.
pub(super) fn users_words(said: &str, labels: &Labels) -> String {
    if said.is_empty() { String::new() } else { format!(" ({}: \"{}\")", labels.user, said.replace('"', "'")) }
}

pub(super) fn decision_text(what: &str, why: &str, rejected: &[String], labels: &Labels) -> String {
    let mut content = what.to_owned();
    if !why.is_empty() {
        content.push_str(if content.ends_with(['.', '。']) { " " } else { ". " });
        content = format!("{content}{}: {why}", labels.why);
    }
    if !rejected.is_empty() {
        content.push_str(if content.ends_with(['.', '。']) { " " } else { ". " });
        content = format!("{content}{}: {}", labels.rejected, rejected.join("; "));
    }
    content
}

/// Returns what was chosen, of the title of a decision: what stands behind its question.
fn chosen_in(title: &str) -> &str {
    title.rsplit(" → ").next().unwrap_or_default()
}

/// Returns whether a prompt may name an option by its letter.
fn has_letter(prompt: &str) -> bool {
    let is_letter = |word: &str| word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    prompt.split(|c: char| !c.is_alphanumeric()).any(|word| is_letter(word) && !matches!(word, "a" | "i" | "I"))
}

/// Returns how an option begins in the answer, as far as it is not shortened and stands there as it is told.
fn start_of_option(told: &str) -> &str {
    told.split('…').next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_by_its_name_replaces_that_none_was_wanted() {
        let mut state = State::default();
        let title = "How far does Tillbook go? → no cash book, only slips".to_owned();
        let key = "question:1".to_owned();
        state.memories.add(SessionMemory { key, title, ..decision(&LineRef::default()) }, &mut Vec::new());
        let source = LineRef { uuid: "2".to_owned(), ..LineRef::default() };
        state.user_changes_mind("Let's use Tillbook.", &source, &mut Vec::new());
        let told: Vec<&str> = state.memories.live().map(|memory| memory.content.as_str()).collect();
        assert_eq!(told, ["Let's use Tillbook. Rejected: no cash book, only slips"]);
    }
}
