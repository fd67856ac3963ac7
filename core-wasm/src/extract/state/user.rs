//! What the user says and does: prompts, interruptions, refusals, answers, and commands of their own.

use super::{MAX_REQUEST_CHARS, State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commits;
use crate::extract::compact;
use crate::extract::failures;
use crate::extract::files::is_description;
use crate::extract::human::Abandonment;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::prose;
use crate::extract::statement::{self, Voice};
use crate::extract::tool_uses::{Tool, ToolUse};
use crate::extract::turn::Turn;
use crate::extract::{commands, human, options, questions};
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::json::Raw;
use crate::transcript::user_text::{self, UserText};
use crate::transcript::{self, Block, Line};

/// The maximum length of what completes a command that asked back, in characters.
const MAX_DETAIL_CHARS: usize = 40;
/// The maximum length of an answer that only asks back, in characters.
const MAX_ASKING_CHARS: usize = 600;
/// The maximum length of a choice that replaces another one, in characters.
const MAX_CHOICE_CHARS: usize = 160;
/// How many words a prompt must share with a decision that it takes back.
const MIN_SHARED_WORDS: usize = 2;
/// The maximum number of queued prompts, which wait while the agent works.
const MAX_QUEUED: usize = 12;
/// The maximum number of questions that wait for a late answer, and for how many turns they do.
const MAX_UNANSWERED: usize = 4;
const MAX_TURNS_UNANSWERED: u32 = 3;
/// The length up to which a question for which nothing was done is only chat, in characters.
const MAX_CHAT_CHARS: usize = 50;
/// The length up to which a prompt that withdraws something says nothing else, in characters.
const MAX_BARE_WITHDRAWAL: usize = 24;
/// The length of a correction together with what it is about, the most and the least of the latter, in characters.
const MAX_CORRECTION_CHARS: usize = 280;
const MAX_ABOUT_CHARS: usize = 160;
const MIN_ABOUT_CHARS: usize = 40;
/// The maximum length of a correction together with what the agent says when it takes it up, in characters.
const MAX_TAKEN_UP_CHARS: usize = 400;
/// The maximum length of what a ruling is about, in characters.
const MAX_RULING_ABOUT: usize = 100;
/// What is left or kept that only a pointer names.
const POINTERS: &[&str] =
    &["leave it", "leave that", "keep it", "keep that", "skip it", "skip that", "drop it", "drop that"];
/// The beginning of the key of what a document or a report found.
pub(super) const FINDING_KEY: &str = "finding:";
/// The beginning of the key of a correction that has something changed.
pub(super) const REMARK_KEY: &str = "remark:";
/// The maximum length of a sub-agent's report, in bytes.
const MAX_REPORT_BYTES: usize = 12 * 1024;
/// The maximum length of a command that the user runs, in bytes.
const MAX_USER_COMMAND_BYTES: usize = 1_000;

impl State {
    pub(super) fn user_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if line.is_compact_summary {
            self.summary_line(line, settled);
            return;
        }
        if line.is_meta {
            return;
        }
        let mut prompt = String::new();
        // What the client writes by itself, such as records of `/clear`, may be from days before the first prompt.
        let mut is_of_client = true;
        let mut is_from_program = line.is_from_program();
        line.blocks(|block| match block {
            Block::Text(raw) => {
                let text = raw.text().unwrap_or_default();
                let said = user_text::classify(&text);
                is_of_client &= said == UserText::Machine;
                match said {
                    UserText::Human(text) => join(&mut prompt, &text),
                    UserText::Command(command) => join(&mut prompt, &command),
                    // It is what this session is for. Later ones are reports and notices.
                    UserText::Teammate(text) if self.turns == 0 && prompt.is_empty() => {
                        is_from_program = true;
                        human::task(&text).clone_into(&mut prompt);
                    }
                    UserText::Teammate(_) => self.turn.notified = true,
                    UserText::Interrupted => self.user_interrupted(),
                    UserText::Shell { command, output } => self.human_ran(&command, output.as_deref(), line, settled),
                    UserText::Machine => self.client_noted(&text, &line_ref(line), settled),
                }
            }
            Block::ToolResult { id, content, is_error } => {
                is_of_client = false;
                let id = id.text().unwrap_or_default();
                if let Some(tool_use) = self.pending_uses.take(&id) {
                    self.tool_result(&tool_use, content, is_error, line, settled);
                }
            }
            Block::ToolUse { .. } | Block::Thinking(_) => {}
        });
        if !is_of_client {
            self.update_span(line);
        }
        if !prompt.is_empty() {
            self.start_turn(&prompt, is_from_program, line_ref(line), settled);
        }
    }

    /// Takes what the client wrote down when it made room in the agent's context.
    fn summary_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        line.blocks(|block| {
            let Block::Text(raw) = block else { return };
            let (text, source) = (raw.text().unwrap_or_default(), line_ref(line));
            settled.extend(compact::summary(&text, &source));
            let fixes = compact::fixes(&text, &source);
            // A later summary goes over the whole session again.
            if !fixes.is_empty() {
                self.memories.forget(|known| compact::is_fix(&known.key));
            }
            for fix in fixes {
                self.memories.add(fix, settled);
            }
        });
    }

    /// Records a notice of the client's, in which a sub-agent that worked beside the session may report.
    fn client_noted(&mut self, notice: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        self.turn.notified = true;
        let of_agent = text::contains_any(notice, &["<task-notification", "<agent-notification"]);
        let Some((_, rest)) = notice.split_once("<result>").filter(|_| of_agent) else { return };
        let report = rest.split("</result>").next().unwrap_or(rest);
        self.record_report(report, source, settled);
    }

    fn user_interrupted(&mut self) {
        self.interrupted = !self.question_deferred;
        self.turn.cut_off = self.interrupted;
        if self.interrupted {
            self.undone.interrupted();
        }
    }

    fn start_turn(&mut self, prompt: &str, is_from_program: bool, source: LineRef, settled: &mut Vec<Draft>) {
        let prompt = clean::clean(prompt);
        let has_answer = !self.turn.answer.is_empty();
        let about = self.topic().to_owned();
        self.close_turn(settled);
        self.work_judged(&prompt, has_answer);
        self.turns += 1;
        self.left_to_agent.clear();
        self.reported.clear();
        self.being_mended.clear();
        if let Some(failed_again) = self.failures.prompted(&prompt) {
            self.memories.forget(|memory| memory.key == failed_again);
        }
        self.language_counts[text::language(&prompt) as usize] += 2;
        self.queue.retain(|queued| !prompt.contains(queued.as_str()));
        // A prompt that did not wait shows that nothing was waiting.
        if !std::mem::take(&mut self.is_dequeued) {
            self.queue.clear();
        }
        let title = human::request_summary(&prompt, MAX_REQUEST_CHARS, self.labels());
        let substantive = human::is_substantive(&prompt);
        self.record_prompt(&prompt, &about, is_from_program, &source, settled);
        if human::says_merged(&prompt) {
            for number in self.pull_requests_meant(&prompt) {
                self.pull_request_merged(number);
            }
        }
        if !is_from_program && (human::speaks_of_pushed_work(&prompt) || human::speaks_of_own_commit(&prompt)) {
            self.undone.pushed_by_others();
        }
        self.recap.prompted(substantive);
        self.open_points.prompted(&prompt);
        self.request_of_prompt(&prompt, &title, substantive);
        self.begin_turn(&prompt, title, substantive, source);
    }

    /// Takes what a prompt says against the work before it.
    fn work_judged(&mut self, prompt: &str, has_answer: bool) {
        if human::disputes(prompt) {
            if has_answer {
                self.results.dispute();
            }
            self.undone.objected(prompt);
        }
        if human::doubts(prompt) {
            self.results.doubt();
        }
        if let Some(abandonment) = human::abandonment(prompt) {
            self.abandon_work(prompt, abandonment);
        }
        if has_answer && human::stops_what_was_proposed(prompt) {
            self.results.stop_proposal();
        }
    }

    /// Records what a prompt decides, rules and plans. `about` is what was asked for before.
    fn record_prompt(
        &mut self,
        prompt: &str,
        about: &str,
        is_from_program: bool,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        let agreed_by = SaidBy::agreed_by(is_from_program);
        self.user_changes_mind(prompt, source, settled);
        if !self.record_late_answer(prompt, source, settled) {
            let answers_last = self.weighed.is_empty()
                || !human::is_consent(prompt)
                || !options::resolve_all(prompt, &self.last_answer).is_empty();
            let answer = if answers_last { &self.last_answer } else { &self.weighed }.clone();
            self.record_choice(prompt, &answer, agreed_by, source, settled);
        }
        // A standing rule, or a correction, is a person's word.
        self.record_directives(if is_from_program { "" } else { prompt }, about, source, settled);
        if !human::is_consent(prompt) {
            self.asked_rulings.clear();
        }
        if !is_from_program {
            self.record_settled(prompt, about, source, settled);
            if self.turns > 1 {
                self.record_rulings(prompt, about, "", source, settled);
            }
        }
        if let Some(plan) = human::plan(prompt).map(commits::unwrapped) {
            self.undone.plan_accepted(&plan);
            self.record_plan(&plan, agreed_by, 35, source, settled);
        }
    }

    /// Takes a prompt as the request, as a later one, or as what completes it. `title` is what the prompt asks for.
    fn request_of_prompt(&mut self, prompt: &str, title: &str, substantive: bool) {
        if substantive {
            self.undone.asked(title);
            if self.request.is_empty() {
                title.clone_into(&mut self.request);
                self.request_only_asks = human::only_asks(title) || human::is_paste(prompt);
            } else if title.chars().count() >= if title.is_ascii() { 12 } else { 6 } {
                title.clone_into(&mut self.objective);
            }
        } else if human::asks_chore(prompt) {
            self.undone.asked_for_chore(title);
        }
        // What a command asked back for belongs to the request: "/review", "181".
        let is_bare = self.request.starts_with('/') && !self.request.contains(char::is_whitespace);
        let is_answer = asks_back(&self.last_answer) && human::stands_alone(title);
        let is_detail = (title.chars().count() <= MAX_DETAIL_CHARS || is_answer)
            && !title.starts_with('/')
            && !human::is_consent(prompt);
        if is_bare && is_detail && title != self.request && self.results.turns().len() == 1 {
            self.request = format!("{} {}", self.request, human::without_option_letter(title));
        }
    }

    /// Begins the turn of a prompt, which asks for `title`.
    fn begin_turn(&mut self, prompt: &str, title: String, substantive: bool, source: LineRef) {
        let consents = human::takes_up(prompt, &self.open_question);
        self.open_question.clear();
        let plan = human::plan(prompt);
        self.turn = Turn::begin(source, title, plan.unwrap_or(prompt), substantive);
        let corrects = text::first_sentence(&self.turn.title).is_some_and(|first| human::is_correction(&first))
            || human::refutes(prompt);
        self.turn.is_aside = human::is_paste(prompt) || human::excuses(prompt) || corrects;
        self.turn.is_chore = human::asks_record(prompt);
        self.turn.consents = consents;
        if plan.is_some() {
            self.turn.take_plan();
        }
    }

    /// Returns the pull requests of the session that a prompt speaks of: those that it names, all, or the latest.
    fn pull_requests_meant(&self, prompt: &str) -> Vec<u32> {
        let all: Vec<u32> = self.commits.iter().filter_map(|commit| commits::pull_request_number(commit)).collect();
        let digits = |part: &str| part[..part.bytes().take_while(u8::is_ascii_digit).count()].parse().ok();
        let named: Vec<u32> = prompt.split('#').skip(1).filter_map(digits).collect();
        if !named.is_empty() {
            return all.into_iter().filter(|number| named.contains(number)).collect();
        }
        let latest = if human::speaks_of_all(prompt) { 0 } else { all.len().saturating_sub(1) };
        all[latest..].to_vec()
    }

    /// Forgets what was done for a branch that the user gives up, and what the user let the agent do there. A choice between ways
    /// stays, and so does a plan of which the user wants more than a part.
    fn abandon_work(&mut self, prompt: &str, abandonment: Abandonment) {
        self.results.abandon();
        if abandonment == Abandonment::TakenBack {
            self.files_restored(|_| true);
        }
        let is_narrowed = text::contains_any_words(&prompt.to_lowercase(), &["only", "만", "だけ", "只"]);
        let is_over = |memory: &SessionMemory| {
            (memory.key.starts_with("choice:") && memory.rejected.is_empty())
                || (is_narrowed && memory.key.starts_with("planned:"))
        };
        self.memories.forget(|memory| memory.kind == "decision" && is_over(memory));
    }

    /// Returns what the user asked for last, for a remark that does not say what it is about.
    fn topic(&self) -> &str {
        let asked = [&self.turn.title, &self.objective, &self.request];
        asked.into_iter().find(|title| human::stands_alone(title) && !human::is_output(title)).map_or("", String::as_str)
    }

    /// Takes the closed turn's prompt as the first request or as a later one. What was only asked before the work is not what the
    /// session was for, and a question that was only answered is no later request.
    pub(super) fn request_of_closed_turn(&mut self) {
        let turn = &self.turn;
        let changed = turn.edited || turn.committed;
        if turn.substantive && turn.title == self.request {
            let is_short = turn.title.chars().count() <= MAX_CHAT_CHARS;
            self.request_is_chat = is_short && !changed && turn.files.is_empty();
            self.request_only_asks &= !changed;
            return;
        }
        if !turn.substantive {
            self.request_only_asks &= !turn.edited;
            return;
        }
        let is_told = human::stands_alone(&turn.title) || human::sets_value(&turn.title);
        if !is_told || turn.is_aside || human::is_output(&turn.title) {
            // A consent had the first request worked on.
            self.request_only_asks &= !(changed && human::is_consent(&turn.title));
            return;
        }
        // "Do you have access to the tracker?" only leads to what the session is for.
        if self.request_only_asks && human::asks_ability(&self.request) && !human::asks_ability(&turn.title) {
            self.request.clone_from(&turn.title);
            self.request_only_asks = human::only_asks(&turn.title) && !changed;
            self.later.clear();
            return;
        }
        let goes_on = human::begins_with_consent(&turn.title) || human::speaks_of_recording(&turn.title);
        let was_question = self.request_only_asks && (self.request_is_chat || !goes_on);
        if changed && std::mem::take(&mut self.request_only_asks) && was_question {
            self.request.clone_from(&turn.title);
            self.later.clear();
            return;
        }
        // What only records the work before it gives no other aim, nor does a question.
        let records = human::speaks_of_recording(&turn.title) && !turn.edited;
        let is_worked_on = changed || turn.used_tools || turn.answer.is_empty();
        let asks_for_work = !human::only_asks(&turn.title) && (changed || !human::states_fact(&turn.title));
        if asks_for_work && is_worked_on && !records {
            self.later.clone_from(&turn.title);
        }
    }

    /// Records the answer to a question that nobody answered when it was asked, if the prompt names one of its options.
    /// Returns whether it does.
    fn record_late_answer(&mut self, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) -> bool {
        if self.turns > self.unanswered_in + MAX_TURNS_UNANSWERED {
            self.unanswered.clear();
        }
        let labels = self.labels();
        let mut answered = None;
        for (number, question) in self.unanswered.iter_mut().enumerate() {
            let names: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
            if let Some(at) = options::named_option(prompt, &names) {
                question.answer = names[at].to_owned();
                answered = Some(number);
                break;
            }
        }
        let Some(number) = answered else { return false };
        let question = self.unanswered.remove(number);
        let memory = answered_question(&question, late_key(&question), source, labels);
        self.memories.add(memory, settled);
        true
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

    /// Forgets the decisions and rules that the user takes back, and puts a rejected option that is chosen after all in the place of
    /// the decision.
    fn user_changes_mind(&mut self, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) {
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

    /// Adds what the user says while the agent works, or adds to a prompt.
    fn add_interjection(&mut self, text: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let UserText::Human(text) = user_text::classify(text) else {
            return;
        };
        let text = clean::clean(&text);
        let hash = text::hash(&text);
        if self.seen_additions.contains(&hash) {
            return;
        }
        self.seen_additions.push(hash);
        if self.seen_additions.len() > 2 * MAX_QUEUED {
            self.seen_additions.remove(0);
        }
        self.queue.retain(|queued| *queued != text);
        if human::is_substantive(&text) && human::is_demand(&text) {
            self.divide_turn(source, settled);
        }
        let about = self.topic().to_owned();
        self.failures.bypass_allowed(&text);
        self.user_changes_mind(&text, source, settled);
        if !self.record_late_answer(&text, source, settled) {
            // What the agent said in this turn is what the user answers while it works.
            let answer = self.turn.answer.clone();
            self.record_choice(&text, &answer, SaidBy::Human, source, settled);
        }
        self.record_directives(&text, &about, source, settled);
        self.record_settled(&text, &about, source, settled);
        self.record_rulings(&text, &about, "", source, settled);
        self.request_while_busy(&text, source, settled);
        let piece = format!("**{}:** {text}", self.labels().added);
        let turn = self.open_turn(source, &text);
        turn.add(&piece);
        turn.state(&text, Voice::Human);
    }

    /// Takes what the user typed while the agent was busy as the request if there is none yet, or as a later one.
    fn request_while_busy(&mut self, text: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        if !human::is_substantive(text) {
            return;
        }
        if !self.request.is_empty() {
            let title = human::request_summary(text, MAX_REQUEST_CHARS, self.labels());
            // A short remark steers what is being done.
            if human::stands_alone(&title) && human::is_demand(&title) && !human::is_paste(text) {
                self.later = title;
            }
            return;
        }
        self.request = human::request_summary(text, MAX_REQUEST_CHARS, self.labels());
        if let Some(plan) = human::plan(text) {
            self.undone.plan_accepted(plan);
            self.record_plan(plan, SaidBy::Human, 35, source, settled);
        }
    }

    pub(super) fn queue_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        let operation = line.operation.and_then(Raw::text).unwrap_or_default();
        // These lines have no identifier of their own.
        let content = line.content.and_then(Raw::text).unwrap_or_default();
        let identity = format!("{operation} {} {}", line.timestamp().unwrap_or_default(), text::hash(&content));
        if !self.seen.insert(&identity) {
            return;
        }
        match &*operation {
            "enqueue" => {
                // The prompt comes without what the client put around it.
                let typed = match user_text::classify(&content) {
                    UserText::Human(text) if !content.starts_with('{') => clean::block(&text, 4000),
                    _ => String::new(),
                };
                self.queue.push(typed);
                if self.queue.len() > MAX_QUEUED {
                    self.queue.remove(0);
                }
            }
            // The prompt follows as a separate line.
            "dequeue" => {
                self.is_dequeued = true;
                if !self.queue.is_empty() {
                    self.queue.remove(0);
                }
            }
            "popAll" => self.queue.clear(),
            "remove" => {
                // The agent picks the prompt up in the middle of its turn. Older clients record it nowhere else.
                let waiting = if content.is_empty() {
                    0
                } else {
                    self.queue.iter().position(|queued| content.contains(queued.as_str())).unwrap_or(0)
                };
                if waiting < self.queue.len() {
                    let queued = self.queue.remove(waiting);
                    self.add_interjection(&queued, &line_ref(line), settled);
                }
            }
            _ => {}
        }
    }

    pub(super) fn attachment_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        let Some(attachment) = line.attachment else {
            return;
        };
        let (mut kind, mut prompt, mut mode) = (None, None, None);
        attachment.fields(|key, value| match key {
            b"type" => kind = Some(value.json()),
            b"prompt" => prompt = Some(value),
            b"commandMode" => mode = Some(value.json()),
            _ => {}
        });
        if kind != Some("\"queued_command\"") || mode.is_some_and(|mode| mode != "\"prompt\"") {
            return;
        }
        if !self.is_new(line) {
            return;
        }
        let text = transcript::result_text(prompt);
        self.add_interjection(&text, &line_ref(line), settled);
    }

    /// Records what a prompt decides of an answer: a consent or a choice turns the agent's proposal into a decision.
    fn record_choice(&mut self, prompt: &str, answer: &str, said_by: SaidBy, source: &LineRef, settled: &mut Vec<Draft>) {
        if answer.is_empty() || self.interrupted {
            return;
        }
        // That everything is fine is a fact, not a choice.
        let chose = |resolved: &options::Resolution| {
            resolved.is_own
                || resolved.is_weighed
                || !resolved.rejected.is_empty()
                || (prose::checked(&resolved.what).is_none()
                    && !prose::is_procedure(&resolved.what)
                    && prose::offers_choice(&resolved.what))
        };
        let all = options::resolve_all(prompt, answer);
        let chose = |resolved: &options::Resolution| chose(resolved) && !resolved.is_of_session();
        for (number, resolved) in all.into_iter().filter(chose).enumerate() {
            let said = text::clip(&text::one_line(prompt), 120).into_owned();
            let content = decision_text(&resolved.what, &resolved.why, &resolved.rejected, self.labels());
            let is_quoted = !resolved.rejected.is_empty() && !resolved.is_own;
            let content = if is_quoted { format!("{content} (\"{said}\")") } else { content };
            let is_light = resolved.rejected.is_empty() && !resolved.is_own && !resolved.is_weighed;
            let importance = if is_light { 55 } else { 80 };
            let key =
                if number == 0 { format!("choice:{}", source.uuid) } else { format!("choice:{}:{number}", source.uuid) };
            let memory = SessionMemory {
                key,
                title: resolved.what,
                why: resolved.why,
                rejected: resolved.rejected,
                content,
                importance,
                said_by,
                turn: self.turns,
                ..decision(source)
            };
            self.memories.add(memory, settled);
        }
    }

    /// Records standing rules and corrections. `about` is what was asked for before.
    fn record_directives(&mut self, prompt: &str, about: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let refused = std::mem::take(&mut self.refused);
        self.interrupted = false;
        self.question_deferred = false;
        self.vague_correction.clear();
        let after_work = self.turns > 1 || !self.turn.answer.is_empty();
        let word = human::directives(prompt, after_work);
        for (number, rule) in word.rules.iter().enumerate() {
            let memory = SessionMemory {
                key: format!("rule:{}:{number}", source.uuid),
                kind: "preference".to_owned(),
                title: rule.clone(),
                content: self.rule_in_context(rule, about),
                importance: 90,
                source: source.clone(),
                said_by: SaidBy::Human,
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
        // Other words after a refusal steer one step.
        let Some(said) = word.correction.filter(|_| word.rules.is_empty()) else {
            return;
        };
        let said = prose::strip_interjection(&said).to_owned();
        // What only has something changed is over with the change. A refusal steers what comes after it.
        let kind = if refused.is_empty() && human::asks_change(&said) { REMARK_KEY } else { "correction:" };
        // As the answer to a question it was told with the question.
        let answers = |memory: &SessionMemory| {
            memory.kind == "decision" && memory.source.uuid == source.uuid && memory.title.ends_with(&said)
        };
        if self.memories.live().any(answers) {
            return;
        }
        let proposed = Some(&self.last_answer).filter(|_| human::stops_what_was_proposed(&said));
        let proposed = proposed.and_then(|answer| prose::recommended(answer));
        let proposed = proposed.map(|said| format!("{}: {said}", SaidBy::Agent.word()));
        let about = proposed.as_deref().unwrap_or(about);
        self.vague_correction = if human::points_back(&said) { source.uuid.clone() } else { String::new() };
        let memory = SessionMemory {
            key: format!("{kind}{}", source.uuid),
            kind: "correction".to_owned(),
            content: correction_text(&said, &refused, &word.quoted, about, self.labels()),
            title: said,
            importance: if refused.is_empty() { 65 } else { 70 },
            source: source.clone(),
            said_by: SaidBy::Human,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    /// Adds to a correction that only points to something what the agent says when it takes the correction up.
    pub(super) fn correction_taken_up(&mut self, said: &str, settled: &mut Vec<Draft>) {
        let uuid = std::mem::take(&mut self.vague_correction);
        let is_of = |memory: &&SessionMemory| memory.kind == "correction" && memory.source.uuid == uuid;
        let Some(known) = self.memories.live().find(is_of).filter(|_| !uuid.is_empty()) else { return };
        let Some(taken_up) = prose::acknowledged(said) else { return };
        let mut memory = known.clone();
        // What the agent says tells better than the request before it what the correction is about.
        let is_asked = memory.content.contains(&format!("({}: ", self.labels().about));
        let before = if is_asked { &memory.title } else { &memory.content };
        // It stays the human's word, so what the agent says is marked as the agent's.
        let understood = format!("{before} ({}: {taken_up})", self.labels().understood);
        memory.content = text::clip(&understood, MAX_TAKEN_UP_CHARS).into_owned();
        self.memories.add(memory, settled);
    }

    /// Returns a rule with what the user asked for before, if it points there. Empty if the rule says everything.
    fn rule_in_context(&self, rule: &str, about: &str) -> String {
        let room = MAX_CORRECTION_CHARS.saturating_sub(rule.chars().count()).min(MAX_ABOUT_CHARS);
        // Another sentence of the prompt may say it already.
        let is_alone = human::rule_needs_context(rule) && text::sentences(rule).len() == 1;
        if about.is_empty() || !is_alone || room < MIN_ABOUT_CHARS {
            return String::new();
        }
        format!("{rule} ({}: {})", self.labels().about, text::clip(about, room))
    }

    /// Records a plan that the user approved, and what it decides.
    pub(super) fn record_plan(
        &mut self,
        plan: &str,
        said_by: SaidBy,
        importance: u8,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        let Some(title) = human::plan_title(plan) else { return };
        let memory = SessionMemory {
            key: format!("plan:{:08x}", text::hash(&title)),
            kind: "plan".to_owned(),
            content: plan_outline(plan),
            title: title.clone(),
            importance,
            source: source.clone(),
            said_by,
            ..SessionMemory::default()
        };
        self.memories.forget(|known| known.key == memory.key);
        self.memories.add(memory, settled);
        self.plan_reason = human::plan_reason(plan).unwrap_or_default();
        // The reason is told with the first request, unless the plan is for a later one.
        let is_of_request =
            self.objective.is_empty() || self.objective == self.request || self.request.contains(title.as_str());
        self.plan_title = if is_of_request { String::new() } else { title };
        // What an earlier version decided that nobody agreed to does not count any more.
        self.memories.forget(|known| known.key.starts_with("planned:") && known.said_by == SaidBy::Agent);
        for decided in prose::decisions(plan) {
            self.record_decided("planned", decided, said_by, 65, source, settled);
        }
        self.record_findings(plan, source, settled);
    }

    /// Records what the user settles in passing, with what was asked for before if it only points there.
    fn record_settled(&mut self, prompt: &str, about: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let labels = self.labels();
        for said in human::settled_in_passing(prompt) {
            let points = !about.is_empty() && POINTERS.iter().any(|word| text::contains_words(&said.to_lowercase(), word));
            let said =
                if points { format!("{said} ({}: {})", labels.about, text::clip(about, MAX_ABOUT_CHARS)) } else { said };
            self.record_decided("settled", said, SaidBy::Human, 70, source, settled);
        }
    }

    /// Records what the user wants in the place of what was refused: that steers the rest of the work.
    fn record_steering(&mut self, reason: &str, refused: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let about = self.labels().refused.replace("{}", &text::clip(refused, MAX_CHOICE_CHARS));
        for said in human::steering(reason) {
            let said = if refused.is_empty() { said } else { format!("{said} ({about})") };
            self.record_decided("steered", said, SaidBy::Human, 75, source, settled);
        }
    }

    /// Records what the user settles while the agent works. What is put as a question waits until the agent changes files.
    fn record_rulings(&mut self, said: &str, about: &str, refused: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let labels = self.labels();
        // What was taken from the same words in another way tells them better.
        let of_words = |memory: &&SessionMemory| memory.source.uuid == source.uuid;
        if self.memories.live().filter(of_words).any(|memory| memory.kind == "decision") {
            return;
        }
        let mut rulings = human::rulings(said);
        if rulings.is_empty() && !refused.is_empty() {
            rulings.extend(human::replacement(said));
        }
        for ruling in rulings {
            // A correction goes on after it.
            let goes_on = |memory: &SessionMemory| memory.kind == "correction" && memory.title.contains(&ruling.said);
            if self.memories.live().filter(of_words).any(goes_on) {
                continue;
            }
            let key = format!("ruling:{:08x}", text::hash(&ruling.said));
            let about = Some(about).filter(|about| !about.is_empty() && ruling.points);
            let is_record = refused.starts_with('`') && human::speaks_of_recording(refused);
            let what = match about {
                // What was refused says which part of the work it is about.
                _ if !refused.is_empty() && !is_record && ruling.said.chars().count() <= MAX_ABOUT_CHARS => {
                    format!("{} ({})", ruling.said, labels.refused.replace("{}", &text::clip(refused, MAX_RULING_ABOUT)))
                }
                Some(about) => format!("{} ({}: {})", ruling.said, labels.about, text::clip(about, MAX_RULING_ABOUT)),
                None => ruling.said.clone(),
            };
            let memory = SessionMemory {
                key,
                title: what.clone(),
                content: what,
                importance: 60,
                said_by: SaidBy::Human,
                turn: self.turns,
                ..decision(source)
            };
            if ruling.asks {
                self.asked_rulings.push(memory);
            } else {
                self.memories.add(memory, settled);
            }
        }
    }

    /// Records what the user asked to be so, now that the agent changed files for it.
    pub(super) fn rulings_followed(&mut self, settled: &mut Vec<Draft>) {
        for memory in std::mem::take(&mut self.asked_rulings) {
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
        if said_by != SaidBy::Human && origin != "branch" && prose::is_piece(&decided) {
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

    /// Records what a plan or the report of a sub-agent warns of. The agent's answer often only refers to it.
    /// Returns their keys.
    pub(super) fn record_findings(&mut self, document: &str, source: &LineRef, settled: &mut Vec<Draft>) -> Vec<String> {
        let mut keys = Vec::new();
        for finding in prose::findings(document) {
            let key = format!("{FINDING_KEY}{:08x}", text::hash(&finding));
            keys.push(key.clone());
            let memory = SessionMemory {
                key,
                kind: "learning".to_owned(),
                files: prose::file_in(&finding).into_iter().collect(),
                title: finding,
                importance: 50,
                source: source.clone(),
                turn: self.turns,
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
        keys
    }

    /// Records what the report of a sub-agent says of files, and what it found. Once the agent sets out to mend it and edits a file, that does not hold any more.
    pub(super) fn record_report(&mut self, report: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let report = clean::block(report, MAX_REPORT_BYTES);
        self.sub_agent_reported(&report);
        let found = self.record_findings(&report, source, settled);
        if !found.is_empty() {
            self.reported = found;
        }
    }

    /// Forgets what a report found that the agent mends by editing a file: what is about that file or, if it is code, about none.
    pub(super) fn mended_findings(&mut self, file: &str) {
        if self.being_mended.is_empty() {
            return;
        }
        let is_code = !is_description(file);
        let is_about = |memory: &SessionMemory| match memory.files.first() {
            Some(named) => file.ends_with(named.as_str()),
            None => is_code,
        };
        let mended = &self.being_mended;
        self.memories.forget(|memory| mended.contains(&memory.key) && is_about(memory));
    }

    pub(super) fn questions_answered(
        &mut self,
        tool_use: &ToolUse,
        content: Option<Raw<'_>>,
        line: &Line<'_>,
        settled: &mut Vec<Draft>,
    ) {
        let mut asked = tool_use.questions.clone();
        match line.result.and_then(|result| result.get("answers")) {
            Some(answers) => questions::answer(&mut asked, answers),
            None => questions::answer_from_text(&mut asked, &transcript::result_text(content)),
        }
        if let Some(annotations) = line.result.and_then(|result| result.get("annotations")) {
            questions::annotate(&mut asked, annotations);
        }
        self.left_unanswered(asked.iter().filter(|question| question.answer.is_empty()).cloned());
        self.divide_turn(&line_ref(line), settled);
        for (number, question) in asked.iter().enumerate() {
            self.open_points.prompted(&question.answer);
            let piece = format!("- {} → {}", question.text, question.answer);
            self.turn.add(&piece);
            self.failures.human_said(&question.answer);
            // A typed answer may contain rules that go beyond the question.
            if question.chosen().is_empty() {
                let about = question.short_text();
                self.record_directives(&question.answer, &about, &line_ref(line), settled);
            }
            let question = question.stated();
            if question.is_left_to_agent() {
                self.left_to_agent.push(question.clone());
                let extra = self.left_to_agent.len().saturating_sub(MAX_UNANSWERED);
                self.left_to_agent.drain(..extra);
            }
            if question.is_decided() {
                let key = format!("question:{}:{number}", tool_use.source.uuid);
                self.question_decided(&question, key, &tool_use.source, settled);
            }
        }
    }

    /// Records what the answer to a question decides.
    fn question_decided(&mut self, question: &questions::Question, key: String, source: &LineRef, settled: &mut Vec<Draft>) {
        // What was chosen before may turn out not to be possible.
        self.memories.forget(|known| {
            let is_of_others = known.source.uuid != source.uuid;
            let is_over = |(asked, chosen): (&str, &str)| {
                question.replaces(chosen) || (is_of_others && question.asks_again(asked, known.keywords.first()))
            };
            known.key.starts_with("question:") && known.title.rsplit_once(" → ").is_some_and(is_over)
        });
        // An answer that only lets the agent proceed with a fix is recorded with that fix.
        let is_of_fix = human::is_consent(&question.answer) && self.failures.has_open_checks();
        self.failures.step(&format!("\"{}\"", question.answer));
        if is_of_fix {
            return;
        }
        // The question may have been asked before.
        let late = late_key(question);
        self.unanswered.retain(|known| known.text != question.text);
        self.memories.forget(|known| known.key == late);
        self.memories.add(answered_question(question, key, source, self.labels()), settled);
    }

    /// Records what the agent settles of the questions that the user left to it, in its first words after that.
    pub(super) fn settle_questions(&mut self, said: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        for question in std::mem::take(&mut self.left_to_agent) {
            let Some(question) = question.settled_in(said) else { continue };
            let key = format!("left:{:08x}", text::hash(&question.text));
            let memory = answered_question(&question, key, source, self.labels());
            self.memories.add(SessionMemory { importance: 70, said_by: SaidBy::Agent, ..memory }, settled);
        }
    }

    /// Keeps questions that were dismissed, or whose time ran out. The answer may come in a prompt.
    fn left_unanswered(&mut self, questions: impl Iterator<Item = questions::Question>) {
        self.unanswered.extend(questions);
        let extra = self.unanswered.len().saturating_sub(MAX_UNANSWERED);
        self.unanswered.drain(..extra);
        self.unanswered_in = self.turns;
    }

    /// Records a command that the user ran, and what it printed. The two come on lines of their own; the client does not say
    /// how the command ended.
    fn human_ran(&mut self, command: &str, output: Option<&str>, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if !command.is_empty() {
            self.user_command = clean::command(command, &self.root, MAX_USER_COMMAND_BYTES);
        }
        let Some(output) = output else { return };
        let command = std::mem::take(&mut self.user_command);
        if command.is_empty() {
            return;
        }
        let output = clean::clean(output);
        let failed = commands::prints_failure(&output);
        self.open_turn(&line_ref(line), &command);
        let tool_use = ToolUse::of_user(command, line_ref(line));
        self.command_ran(&tool_use, &output, failed, settled);
    }

    pub(super) fn tool_refused(&mut self, tool_use: &ToolUse, said: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let reason = said.split_once("the user said:").map(|(_, reason)| reason.trim()).filter(|reason| !reason.is_empty());
        let what = match tool_use.tool {
            Tool::Ask => {
                self.left_unanswered(tool_use.questions.iter().cloned());
                self.question_deferred = true;
                return;
            }
            Tool::Plan => {
                let plan = commits::unwrapped(&tool_use.what);
                self.plan_refused(&plan, reason, source, settled)
            }
            Tool::Shell => {
                if reason.is_none() {
                    self.undone.run_refused(&tool_use.what);
                }
                format!("`{}`", failures::display_command(&tool_use.what))
            }
            _ => format!("{} {}", tool_use.name, tool_use.what),
        };
        what.trim().clone_into(&mut self.refused);
        // A server's own error may begin with the client's words, so a reason beside its tool is nobody's.
        let is_foreign = tool_use.name.starts_with("mcp__");
        if let Some(reason) = reason.filter(|_| !is_foreign) {
            let reason = without_client_note(reason).to_owned();
            let about = self.topic().to_owned();
            self.record_directives(&reason, &about, source, settled);
            self.record_steering(&reason, what.trim(), source, settled);
            self.record_rulings(&reason, &about, what.trim(), source, settled);
            self.turn.add(&format!("**{}:** {reason}", self.labels().added));
        }
    }

    /// Records that the user did not agree to a plan, for this reason or none. Returns the plan's title.
    fn plan_refused(&mut self, plan: &str, reason: Option<&str>, source: &LineRef, settled: &mut Vec<Draft>) -> String {
        let title = human::title(plan).unwrap_or_default();
        // Whoever asks something about a plan has not refused it yet.
        let asks = reason.is_some_and(|reason| without_client_note(reason).trim_end().ends_with(['?', '？']));
        self.turn.is_refused = !asks;
        if reason.is_some() && !asks {
            self.undone.plan_refused(&title);
        } else {
            self.undone.plan_made(&title, &prose::gist(plan));
            self.record_plan(plan, SaidBy::Agent, 35, source, settled);
            // Without a reason, the interruption that follows is the client's.
            self.question_deferred |= reason.is_none();
        }
        title
    }
}

/// Adds a part of a prompt to the parts before it.
fn join(all: &mut String, text: &str) {
    if !all.is_empty() {
        // Editors send a mention of a file as a text of its own, and the sentence goes on after it.
        let last = all.lines().last().unwrap_or_default().trim();
        let is_mention = last.starts_with("[@") && last.ends_with(')');
        all.push_str(if is_mention { " " } else { "\n\n" });
    }
    all.push_str(text);
}

/// Returns whether an answer says little more than a question: what a command such as "brainstorm" asks back.
fn asks_back(answer: &str) -> bool {
    answer.contains(['?', '？']) && answer.chars().count() <= MAX_ASKING_CHARS
}

/// Returns the reason for a refusal without what the client adds to it for the agent.
fn without_client_note(reason: &str) -> &str {
    reason.split("\n\nNote: The user's next message").next().unwrap_or(reason)
}

/// Returns the key of the answer that came to a question in a later prompt.
fn late_key(question: &questions::Question) -> String {
    format!("late:{:08x}", text::hash(&question.text))
}

/// Returns a correction with what it is about: what was refused, or what it quotes, or what was asked for before it. The last three may
/// be empty.
fn correction_text(said: &str, refused: &str, quoted: &str, about: &str, labels: &Labels) -> String {
    let room = MAX_CORRECTION_CHARS.saturating_sub(said.chars().count());
    if !refused.is_empty() {
        format!("{said} ({})", labels.refused.replace("{}", refused))
    } else if room < MIN_ABOUT_CHARS {
        said.to_owned()
    } else if !quoted.is_empty() {
        format!("{said} ({}: \"{}\")", labels.about, text::clip(quoted, room))
    } else if !about.is_empty() && human::needs_context(said) {
        format!("{said} ({}: {})", labels.about, text::clip(about, room.min(MAX_ABOUT_CHARS)))
    } else {
        said.to_owned()
    }
}

/// Returns the decision that a question and its answer make.
fn answered_question(question: &questions::Question, key: String, source: &LineRef, labels: &Labels) -> SessionMemory {
    let chosen = question.chosen();
    let why = chosen.iter().map(|choice| choice.description.as_str()).filter(|text| !text.is_empty()).collect::<Vec<_>>();
    let why = text::clip(&why.join("; "), 300).into_owned();
    let what = format!("{} → {}", question.short_text(), question.answer);
    // An answer in the user's own words may take up an option as well as leave it.
    let rejected = if chosen.is_empty() { Vec::new() } else { question.rejected() };
    let content = decision_text(&what, &why, &rejected, labels);
    // To take everything that is offered, or to let the agent go on, rules nothing out.
    let importance = if question.is_of_course() { 70 } else { 80 };
    // The subject in a word or two tells a question that is asked again.
    let keywords = Some(question.header.clone()).filter(|header| !header.is_empty()).into_iter().collect();
    let said_by = SaidBy::Agreed;
    SessionMemory { key, title: what, why, rejected, content, importance, said_by, keywords, ..decision(source) }
}

/// Returns a decision that says nothing yet.
fn decision(source: &LineRef) -> SessionMemory {
    SessionMemory { kind: "decision".to_owned(), source: source.clone(), ..SessionMemory::default() }
}

/// Returns what was chosen, of the title of a decision: what stands behind its question.
fn chosen_in(title: &str) -> &str {
    title.rsplit(" → ").next().unwrap_or_default()
}

fn decision_text(what: &str, why: &str, rejected: &[String], labels: &Labels) -> String {
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

/// Reduces a plan to its title, reasons and headings, without code.
fn plan_outline(plan: &str) -> String {
    let mut digest = String::new();
    let mut code = false;
    let mut prose = 0;
    for line in plan.lines() {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") {
            code = !code;
            continue;
        }
        let heading = line.starts_with('#');
        if heading {
            prose = 0;
        }
        // Two lines of text below each heading are enough to say what it is about.
        if code || line.trim().is_empty() || (!heading && prose >= 2) || line.starts_with('|') {
            continue;
        }
        if !heading {
            prose += 1;
        }
        digest.push_str(&text::clip(line, 300));
        digest.push('\n');
        if digest.len() > 1600 {
            break;
        }
    }
    text::clip_block(&digest, 1600).into_owned()
}
