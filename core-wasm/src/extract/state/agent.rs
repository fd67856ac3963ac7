//! What the agent says: its texts, its thoughts, and what holds once its answer ends the turn.

use super::{State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commits;
use crate::extract::files;
use crate::extract::human;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::prose;
use crate::extract::recap::Recap;
use crate::extract::requests;
use crate::extract::results::{TurnResult, names_real_cause};
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Voice};
use crate::extract::switched;
use crate::extract::tool_uses::{Tool, ToolUse};
use crate::extract::turn::Turn;
use crate::extract::vanished;
use crate::said_by::SaidBy;
use crate::text::{self};
use crate::transcript::json::Raw;
use crate::transcript::user_text::{self};
use crate::transcript::{Block, Line};

/// The minimum length of what the agent said for it to be an answer before a question or another request, in characters.
const MIN_PART_CHARS: usize = 240;
/// The similarity from which on a statement with a name of a passage that takes something back is what it takes back.
const RETRACTED: f32 = 0.4;
/// The minimum number of words of a claim without names that must be repeated for it to be what is taken back. Most of its words must
/// be.
const MIN_RETRACTED_WORDS: usize = 3;
/// How many of the first sentences of an answer may say that the cause is another one than it seemed to be.
const MAX_FIRST: usize = 3;
/// How many bytes of the last answer are kept. A consent is resolved against this answer.
const LAST_ANSWER_BYTES: usize = 6 * 1024;

/// The maximum length of the error with which the client stopped, in characters.
const MAX_CLIENT_ERROR_CHARS: usize = 160;

impl State {
    /// Records where the session stands, as the client wrote it down.
    pub(super) fn recap_line(&mut self, line: &Line<'_>) {
        if !self.is_new(line) {
            return;
        }
        let said = line.content.and_then(Raw::text).unwrap_or_default();
        if !said.contains(user_text::INJECTED_HEADING) {
            self.recap = Recap::of(&said);
            // A recap tells the whole session, and so all that an earlier one told.
            let earlier = std::mem::replace(&mut self.latest_recap, self.recap.state().to_owned());
            if !earlier.is_empty() {
                self.results.recap_overtaken(&earlier);
                self.turn.retain(|statement| !earlier.contains(&statement.text));
            }
            self.turn.state(self.recap.state(), Voice::Answer);
        }
    }

    pub(super) fn assistant_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if line.is_api_error {
            self.client_failed(line);
            return;
        }
        self.update_span(line);
        // The client uses a model name of its own for messages that it writes itself.
        if let Some(model) = line.model().filter(|model| model != "<synthetic>") {
            self.client_error.clear();
            if model != self.model {
                self.model = clean::line(&model, 80);
            }
        }
        line.blocks(|block| match block {
            Block::Text(raw) => self.agent_text(&raw.text().unwrap_or_default(), line_ref(line), settled),
            Block::ToolUse { id, name, input } => {
                let (id, name) = (id.text().unwrap_or_default(), name.text().unwrap_or_default());
                let mut tool_use =
                    ToolUse::read(&id, &name, input, (&self.root, &line.cwd().unwrap_or_default()), line_ref(line));
                tool_use.turn = self.turns;
                if tool_use.is_work() {
                    self.recap.worked();
                    self.turn.uses_tool();
                }
                if switched::may_switch(&tool_use) {
                    self.switched.may_switch(self.turns);
                }
                // What a sub-agent runs is not seen, nor when it ends.
                if tool_use.tool == Tool::Agent && !tool_use.is_reader() {
                    self.switched.runs_beside();
                }
                self.pending_uses.push(tool_use);
            }
            Block::Thinking(raw) => self.agent_thought(&raw.text().unwrap_or_default(), &line_ref(line)),
            Block::ToolResult { .. } => {}
        });
        self.turn.has_ended = line.ends_turn;
    }

    /// Records with what the client stopped instead of an answer: a limit, a key that is not valid, a server that does not answer. The
    /// prompt is as unheard as one at which the user stopped the agent, and "go on" takes it up. Behind an answer nothing is left to stop.
    fn client_failed(&mut self, line: &Line<'_>) {
        if self.turn.is_silent() || self.turn.is_unfinished() {
            (self.turn.cut_off, self.turn.is_stopped) = (true, true);
        }
        line.blocks(|block| {
            if let Block::Text(raw) = block {
                let said = clean::line(&raw.text().unwrap_or_default(), MAX_CLIENT_ERROR_CHARS);
                // Behind the message stands what the server sent.
                said.split(" {").next().unwrap_or_default().trim_end_matches([':', ' ']).clone_into(&mut self.client_error);
            }
        });
    }

    fn agent_thought(&mut self, thought: &str, source: &LineRef) {
        let thought = thought.trim();
        if !thought.is_empty() && !thought.contains(user_text::INJECTED_HEADING) {
            let thought = clean::clean(thought);
            self.open_turn(source, &thought).think(&thought);
        }
    }

    fn agent_text(&mut self, said: &str, source: LineRef, settled: &mut Vec<Draft>) {
        let said = said.trim();
        if said.is_empty()
            || said.contains(user_text::INJECTED_HEADING)
            || said == "No response requested."
            || said.starts_with("API Error")
        {
            return;
        }
        let said = clean::clean(said);
        self.learn_from_answer(false, settled);
        // The agent gives in to the prompt, so what it said before it does not hold.
        if self.turn.is_silent() && signs::concedes(&said) {
            self.results.concede(signs::reverts(&said));
            self.rulings_followed(settled);
            self.objection_conceded(&said, settled);
        }
        if self.turn.is_silent() {
            self.correction_taken_up(&said, settled);
        }
        if self.turn.is_silent() && signs::disproves(&said) {
            self.results.disprove();
        }
        for taken_back in prose::retractions(&said) {
            self.retract(&taken_back);
        }
        for subject in prose::retracted_subjects(&said) {
            let words = text::features(&subject);
            let is_of = |said: &str| words.is_subset(&text::features(said)) && !standing::is_deed(&said.to_lowercase());
            self.forget_claims(is_of);
        }
        // Commands and plans are in English in every session. Until the first answer, the first words of the agent show the language.
        if self.language_counts.iter().sum::<u32>() <= 2 {
            self.language_counts[text::language(&said) as usize] += 2;
        }
        if self.awaited.has_report() && signs::mends_findings(&said) {
            self.awaited.mending_begins();
        }
        self.settle_questions(&said, &source, settled);
        self.failures.agent_said(&said);
        self.undone.agent_said(&said);
        self.vanished.agent_said(&said, self.turns);
        self.open_turn(&source.clone(), &said).say(&said, source);
    }

    /// Forgets what was said before and is taken back now.
    fn retract(&mut self, taken_back: &str) {
        let (words, names) = (text::features(taken_back), statement::names(taken_back));
        let is_of = |said: &str| {
            let (own, own_words) = (statement::names(said), text::features(said));
            let shared = own.iter().filter(|name| names.contains(name)).count();
            let again = own_words.iter().filter(|word| words.contains(word)).count();
            // A claim in plain words is repeated when it is taken back.
            let is_repeated = own.is_empty() && again >= MIN_RETRACTED_WORDS && again * 4 >= own_words.len() * 3;
            shared > 1 || (shared == 1 && text::similarity(&own_words, &words) >= RETRACTED) || is_repeated
        };
        self.forget_claims(is_of);
    }

    /// Forgets the claims of the agent for which `is_of` returns true.
    fn forget_claims(&mut self, is_of: impl Fn(&str) -> bool) {
        self.results.retract(|statement| is_of(&statement.text));
        self.turn.retract(|statement| is_of(&statement.text));
        self.memories.forget(|memory| memory.from_prose && is_of(&memory.title));
    }

    /// Returns the open turn. Starts one if the agent works without a prompt.
    pub(super) fn open_turn(&mut self, source: &LineRef, said: &str) -> &mut Turn {
        if self.turn.source.uuid.is_empty() {
            self.turn.source = source.clone();
            self.turn.title =
                text::first_sentence(said).map(|title| text::clip(&title, 160).into_owned()).unwrap_or_default();
        }
        &mut self.turn
    }

    /// Learns from the agent's latest text.
    fn learn_from_answer(&mut self, is_answer: bool, settled: &mut Vec<Draft>) {
        let said = self.turn.answer.clone();
        let source = self.turn.answered.clone();
        for insight in prose::insights(&said, is_answer) {
            // A reason given next to a change needs a higher score than a cause.
            let least = if is_answer && !insight.is_choice { 6 } else { 7 };
            let lower = insight.text.to_lowercase();
            if signs::is_state_before(&lower, "") || signs::is_offer(&lower) {
                continue;
            }
            // What is chosen in prose is told with its turn. Alone it lacks what it was chosen for, unless it says that it is
            // a decision.
            if insight.score < least || (insight.is_choice && !prose::declares_decision(&insight.text)) {
                continue;
            }
            let kind = if insight.is_choice {
                "decision"
            } else if insight.file.is_some() {
                "discovery"
            } else {
                "learning"
            };
            let file = insight.file.map(|file| self.known_file(&file));
            let memory = SessionMemory {
                key: format!("insight:{}:{:08x}", source.uuid, text::hash(&insight.text)),
                kind: kind.to_owned(),
                title: insight.text,
                files: file.into_iter().collect(),
                importance: (20 + 4 * insight.score).min(60),
                source: source.clone(),
                from_prose: true,
                turn: self.turns,
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
    }

    /// Returns the full path of a file that prose names by the end of its path.
    fn known_file(&self, name: &str) -> String {
        self.files
            .paths()
            .rev()
            .find(|path| files::is_named(path, name))
            .map_or_else(|| clean::path(name, &self.root), str::to_owned)
    }

    /// Applies the agent's last text if its line has not arrived yet.
    pub(super) fn apply_last_message(&mut self, message: &str) {
        if clean::clean(message.trim()) != self.turn.answer {
            let source = LineRef { at: self.ended, ..LineRef::default() };
            self.agent_text(message, source, &mut Vec::new());
        }
    }

    /// Returns what the open part of the turn gave.
    fn turn_result(&self) -> TurnResult {
        let turn = &self.turn;
        TurnResult {
            source: turn.part().clone(),
            number: self.turns,
            asked: turn.title.clone(),
            whole: turn.whole.clone(),
            denials: turn.denials.clone(),
            confirmation: turn.confirmation.clone(),
            added: turn.added.clone(),
            statements: turn.all_statements(),
            checked: prose::checked(&turn.answer).unwrap_or_default(),
            yes_or_no: prose::yes_or_no(&turn.title, &turn.answer).unwrap_or_default(),
            files: turn.files.clone(),
            prompt_chars: turn.prompt_chars,
            edited: turn.edited,
            built: turn.built,
            runs: turn.runs,
            committed: turn.committed,
            pushed: turn.pushed,
            merged: turn.merged,
            failed: turn.failed,
            substantive: turn.substantive,
            is_chore: turn.is_chore,
            disputed: false,
            is_objected: false,
            conceded: false,
            reverted: false,
            is_taken_back: false,
            is_refused: turn.is_refused,
            carries_plan: turn.carries_plan,
            is_unasked: turn.is_unasked,
            consents: turn.consents,
            doubted: false,
            offers: prose::ends_with_choice(&turn.answer),
            used_tools: turn.used_tools,
            acted: turn.acted,
            acts: turn.acts.clone(),
            is_unfinished: turn.is_unfinished() || turn.is_stopped,
        }
    }

    /// Divides the turn where the user answered a question or asked for something else: what the agent said until then is an
    /// answer of its own.
    pub(super) fn divide_turn(&mut self, source: &LineRef, settled: &mut Vec<Draft>) {
        if self.turn.answer.chars().count() < MIN_PART_CHARS {
            return;
        }
        let result = self.turn_result();
        self.results.push(result);
        self.learn_from_answer(false, settled);
        self.turn.divide(source.clone());
    }

    /// Closes the turn: what its answer says now holds.
    pub(super) fn close_turn(&mut self, settled: &mut Vec<Draft>) {
        self.unheard.clear();
        if !self.turn.answer.is_empty() {
            self.answer_taken();
        } else if self.turn.used_tools && self.turn.prompt_chars > 0 {
            // What was done without a word is told by the request.
            let result = self.turn_result();
            self.results.push(result);
        } else if self.turn.prompt_chars > 0 {
            self.unheard.clone_from(&self.turn.denials);
        }
        if let Some(memory) = self.failures.pasted_memory(&self.turn.answered.clone(), self.labels()) {
            self.memories.add(memory, settled);
        }
        self.learn_from_answer(true, settled);
        let (answer, answered) = (self.turn.answer.clone(), self.turn.answered.clone());
        for decided in prose::declared_decisions(&commits::unwrapped(&answer)) {
            self.record_decided("declared", decided, SaidBy::Agent, 60, &answered, settled);
        }
        settled.extend(self.turn.draft());
        self.request_of_closed_turn();
        self.turn = Turn::default();
    }

    /// Takes the last answer of the turn.
    fn answer_taken(&mut self) {
        self.language_counts[text::language(&self.turn.answer) as usize] += 2;
        self.faults_admitted();
        self.checks_said_to_pass();
        self.request_answered();
        self.questions_left_open();
        self.earlier_results_judged();
        let result = self.turn_result();
        self.results.push(result);
        // In a long session the turn that is given up may be dropped before the end.
        if self.results.gives_up_before() {
            self.forget_given_up();
        }
    }

    /// Takes what an answer says of what does not work, or is not known to work.
    fn faults_admitted(&mut self) {
        let turn = &self.turn;
        self.blockers = prose::blockers(&turn.answer);
        let admissions = prose::admissions(&turn.answer);
        // A chore such as "commit this" does not check anything.
        if turn.edited || !admissions.is_empty() {
            self.admissions = admissions;
        }
        let mut sentences = text::sentences(&turn.answer).into_iter();
        let open = sentences.rfind(|it| signs::leaves_cause_open(&it.to_lowercase()));
        if turn.edited || open.is_some() {
            self.cause_open = open.unwrap_or_default();
        }
        self.expected = prose::expected_deployment(&turn.answer).unwrap_or(std::mem::take(&mut self.expected));
        self.stopped_at = turn.stopped_at();
    }

    /// Takes an answer's word that the checks pass.
    fn checks_said_to_pass(&mut self) {
        let answer = &self.turn.answer;
        if prose::checked(answer).is_some() || standing::says_clean(answer) {
            self.failures.checks_reported_passing();
            if self.evidence.is_clean() && self.tests.is_none_or(|(counts, _)| counts.is_clean()) {
                self.tasks.checks_passed();
            }
        }
    }

    /// Takes that the request and the tasks are done, if the answer says something and the turn was not cut off.
    fn request_answered(&mut self) {
        let turn = &self.turn;
        // What only announces the next step, or was cut off, is no answer.
        // A report may stand in a code block or a table.
        let says_something = text::sentences(&turn.answer).iter().any(|sentence| !prose::is_narration(sentence))
            || turn.answer.contains("```")
            || turn.answer.lines().any(|line| line.trim_start().starts_with('|'));
        let ends_well = (says_something && !turn.cut_off && !turn.is_unfinished()) || turn.has_checked();
        if ends_well || (turn.committed && !turn.substantive) {
            self.undone.asked("");
        } else if turn.is_unfinished() && !turn.title.is_empty() && turn.prompt_chars > 0 {
            // "do 0.54.0" says little, but it is what the agent was at.
            self.undone.asked_for_chore(&turn.title);
        }
        if standing::says_all_done(&turn.answer) {
            self.tasks.all_done();
        }
        self.tasks.said_done(&turn.answer);
    }

    /// Takes what an answer asks or promises, and keeps what the next prompt may answer.
    fn questions_left_open(&mut self) {
        let turn = &self.turn;
        let only_asked = human::only_asks(&turn.title) && !turn.edited;
        let only_explains = only_asked && !turn.acted && !requests::asks_what_is_left(&turn.title);
        self.open_points.answered(&turn.answer, only_explains);
        self.open_question = prose::closing_question(&turn.answer).unwrap_or_default();
        let label = self.labels().only_announced;
        if turn.only_announces() {
            self.open_points.promised(&turn.title, label);
        }
        let before = std::mem::replace(&mut self.last_answer, head_and_tail(&turn.answer, LAST_ANSWER_BYTES));
        let weighed = std::mem::take(&mut self.weighed);
        // Whoever only asks about a proposal may still agree to it.
        self.weighed = match only_asked && self.open_question.is_empty() {
            true if prose::closing_question(&before).is_some() => before,
            true => weighed,
            false => String::new(),
        };
    }

    /// Takes what an answer says of earlier results: that their cause was another, that what was offered failed, or that the user is right.
    fn earlier_results_judged(&mut self) {
        let turn = &self.turn;
        // A part of this turn is no answer to what its prompt disputes.
        if !turn.is_whole() {
            return;
        }
        let first = || text::sentences(&turn.answer).into_iter().take(MAX_FIRST);
        if first().any(|it| names_real_cause(&it)) {
            self.results.find_real_cause();
        }
        // What was offered may hold for the rest: "Deleted 12. The three that are left are actually used".
        let defends = || first().any(|it| signs::defends(&it.to_lowercase()));
        if turn.consents && defends() && !vanished::says_removal(&turn.answer) {
            self.results.offer_failed();
        }
        if signs::concedes(&turn.answer) {
            self.results.concede_after_all(signs::reverts(&turn.answer));
        }
    }
}

/// Returns the beginning and the end of a text that is longer than `max` bytes.
fn head_and_tail(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    format!("{}\n\n{}", text::head(text, max / 2), text::tail(text, max / 2))
}
