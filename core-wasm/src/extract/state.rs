//! The fold: how one line changes what is known of a session.

use serde::{Deserialize, Serialize};

use super::clean;
use super::commits;
use super::compact;
use super::conventions::Conventions;
use super::evidence::Evidence;
use super::failures::Failures;
use super::files::{self, Files, Reversal};
use super::labels::{Labels, labels};
use super::memories::{LineRef, SessionMemories, SessionMemory};
use super::prose;
use super::results::{Results, TurnResult};
use super::seen_lines::SeenLines;
use super::signs;
use super::statement::Voice;
use super::tasks::Tasks;
use super::tool_uses::{PendingToolUses, Tool, ToolUse};
use super::turn::Turn;
use super::undone::Undone;
use super::vanished::Vanished;
use super::work_tree;
use super::{commands, human, options, questions};
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;
use crate::text::{self, Language};
use crate::transcript::json::Raw;
use crate::transcript::user_text::{self, UserText};
use crate::transcript::{self, Block, Kind, Line};

/// The version of the state's format. A state with another version is discarded.
const VERSION: u32 = 3;
/// The maximum number of commits in the notes.
const MAX_COMMITS: usize = 50;
/// The maximum number of queued prompts, which wait while the agent works.
const MAX_QUEUED: usize = 12;
/// The maximum length of a request, in characters. A request that is cut may say the opposite of what was meant.
const MAX_REQUEST_CHARS: usize = 400;
/// How many bytes of a new file are searched for names.
const MAX_CREATED_BYTES: usize = 32 * 1024;
/// The maximum length of a command that the user runs, in bytes.
const MAX_USER_COMMAND_BYTES: usize = 1_000;
/// How many bytes of the last answer are kept. A consent is resolved against this answer.
const LAST_ANSWER_BYTES: usize = 6 * 1024;

/// Everything that is known of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session")]
pub(super) struct State {
    version: u32,
    seen: SeenLines,
    /// The drafts that were emitted and may still change: key and fingerprint.
    pub(super) emitted: Vec<(String, u32)>,
    /// The project's root, from the host or from the first line.
    root: String,
    pub(super) started: Option<u64>,
    pub(super) ended: Option<u64>,
    pub(super) turns: u32,
    /// How often each language was seen, in the order of `Language`.
    language_counts: [u32; 4],
    pub(super) request: String,
    pub(super) objective: String,
    /// The latest request that says by itself what it asks for. "Now the next two" does not.
    pub(super) later: String,
    pub(super) title: String,
    pub(super) branch: String,
    pub(super) turn: Turn,
    queue: Vec<String>,
    /// Whether the next prompt comes from the queue.
    is_dequeued: bool,
    seen_additions: Vec<u32>,
    pending_uses: PendingToolUses,
    pub(super) memories: SessionMemories,
    pub(super) files: Files,
    vanished: Vanished,
    pub(super) tasks: Tasks,
    pub(super) failures: Failures,
    conventions: Conventions,
    pub(super) results: Results,
    pub(super) commits: Vec<String>,
    /// The latest test counts, and whether that run covered named files only.
    pub(super) tests: Option<(commands::TestCounts, bool)>,
    /// Whether the hook of a commit made that run.
    is_of_hook: bool,
    pub(super) evidence: Evidence,
    /// The latest list of changed files that git printed.
    stat: commits::Stat,
    /// The size of the largest commit: files, lines added and lines removed.
    pub(super) largest_commit: (u32, u32, u32),
    /// The model that wrote the latest message.
    pub(super) model: String,
    pub(super) blockers: Vec<String>,
    /// What the agent said that it did not check, in its latest answer about the work.
    pub(super) admissions: Vec<String>,
    pub(super) open_question: String,
    pub(super) undone: Undone,
    last_answer: String,
    /// The command that the user runs, until its output comes.
    user_command: String,
    /// What the user refused. Kept until the user gives a reason.
    refused: String,
    interrupted: bool,
    /// Whether the lines are a sub-agent's, all of them marked as side conversation.
    #[serde(skip)]
    pub(super) is_sub_agent: bool,
    /// Whether the user wants to discuss a question before answering it. That is not a refusal.
    question_deferred: bool,
}

impl State {
    /// Restores the state that the last call returned. Starts afresh if it cannot be read.
    pub(super) fn restore(state: Option<&str>, root: &str) -> Self {
        let mut this: State = state.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        if this.version != VERSION {
            this = State { version: VERSION, ..State::default() };
        }
        if !root.is_empty() {
            root.clone_into(&mut this.root);
        }
        this
    }

    /// Serializes the state as JSON of at most `max` bytes.
    pub(super) fn save(&mut self, max: usize) -> String {
        loop {
            // The state contains only strings, numbers and lists, so this cannot fail.
            let json = serde_json::to_string(self).unwrap_or_default();
            if json.len() <= max {
                return json;
            }
            // The limits of the parts make this unreachable, unless nearly every character has to be escaped.
            self.seen.halve();
            self.last_answer.clear();
        }
    }

    /// Returns the language of the session.
    pub(super) fn language(&self) -> Language {
        let [english, korean, japanese, chinese] = self.language_counts;
        let (most, language) = [(korean, Language::Korean), (japanese, Language::Japanese), (chinese, Language::Chinese)]
            .into_iter()
            .max_by_key(|(count, _)| *count)
            .unwrap_or_default();
        // Plans and code are in English in every session, so a third of another language decides.
        if most * 2 > english { language } else { Language::English }
    }

    /// Returns the labels in the session's language.
    pub(super) fn labels(&self) -> &'static Labels {
        labels(self.language())
    }

    /// Folds in one line of the file and returns how many parts could not be read. Memories that can no longer change
    /// go to `settled`.
    pub(super) fn fold(&mut self, text: &str, settled: &mut Vec<Draft>) -> u32 {
        transcript::read(text, |line| self.fold_record(line, settled))
    }

    fn fold_record(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if line.is_sidechain != self.is_sub_agent {
            return;
        }
        match line.kind {
            Kind::User | Kind::Assistant => {
                if let Some(uuid) = line.uuid()
                    && !self.seen.insert(&uuid)
                {
                    return;
                }
                self.update_metadata(line);
                if line.kind == Kind::User {
                    self.user_line(line, settled);
                } else {
                    self.assistant_line(line, settled);
                }
            }
            Kind::Queue => self.queue_line(line, settled),
            Kind::Attachment => self.attachment_line(line, settled),
            Kind::PullRequest => {
                if let Some(url) = line.pull_request.and_then(Raw::text) {
                    let url = clean::line(&url, 200);
                    self.record_pull_request(&url, "", &line_ref(line), settled);
                }
            }
            Kind::Title => {
                self.title = line.title.and_then(Raw::text).map(|text| clean::line(&text, 120)).unwrap_or_default();
            }
            Kind::System | Kind::Other => {}
        }
    }

    /// Counts the line to the span of the session.
    fn update_span(&mut self, line: &Line<'_>) {
        if let Some(at) = line.at() {
            self.started = Some(self.started.map_or(at, |started| started.min(at)));
            self.ended = Some(self.ended.map_or(at, |ended| ended.max(at)));
        }
    }

    fn update_metadata(&mut self, line: &Line<'_>) {
        if self.root.is_empty()
            && let Some(cwd) = line.cwd()
        {
            self.root = clean::line(&cwd, 1000);
        }
        if let Some(branch) = line.branch()
            && branch != self.branch
        {
            self.branch = clean::line(&branch, 120);
        }
    }

    // ---- the user
    // ----------------------------------------------------------------------------------------------------

    fn user_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if line.is_compact_summary {
            line.blocks(|block| {
                if let Block::Text(raw) = block {
                    let (text, source) = (raw.text().unwrap_or_default(), line_ref(line));
                    settled.extend(compact::summary(&text, &source));
                    for fix in compact::fixes(&text, &source) {
                        self.memories.add(fix, settled);
                    }
                }
            });
            return;
        }
        if line.is_meta {
            return;
        }
        let mut prompt = String::new();
        // What the client writes by itself, such as records of `/clear`, may be from days before the first prompt.
        let mut is_of_client = true;
        line.blocks(|block| match block {
            Block::Text(raw) => {
                let text = raw.text().unwrap_or_default();
                let said = user_text::classify(&text);
                is_of_client &= said == UserText::Machine;
                match said {
                    UserText::Human(text) => join(&mut prompt, &text),
                    UserText::Command(command) => join(&mut prompt, &command),
                    UserText::Interrupted => self.user_interrupted(),
                    UserText::Shell { command, output } => self.human_ran(&command, output.as_deref(), line, settled),
                    UserText::Machine => self.turn.notified = true,
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
            self.start_turn(&prompt, line.is_from_program(), line_ref(line), settled);
        }
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
        self.close_turn(settled);
        if has_answer && human::disputes(&prompt) {
            self.results.dispute();
        }
        self.turns += 1;
        self.language_counts[text::language(&prompt) as usize] += 2;
        self.queue.retain(|queued| !prompt.contains(queued.as_str()));
        // A prompt that did not wait shows that nothing was waiting.
        if !std::mem::take(&mut self.is_dequeued) {
            self.queue.clear();
        }
        let labels = self.labels();
        let title = human::request_summary(&prompt, MAX_REQUEST_CHARS, labels);
        let substantive = human::is_substantive(&prompt);
        self.record_choice(&prompt, SaidBy::agreed_by(is_from_program), &source, settled);
        // A standing rule, or a correction, is a person's word.
        self.record_directives(if is_from_program { "" } else { &prompt }, &source, settled);
        if let Some(plan) = human::plan(&prompt) {
            self.undone.plan_accepted(plan);
            self.record_plan(plan, SaidBy::agreed_by(is_from_program), 35, &source, settled);
        }
        if substantive {
            self.undone.asked(&title);
            if self.request.is_empty() {
                self.request.clone_from(&title);
            } else if title.chars().count() >= if title.is_ascii() { 12 } else { 6 } {
                self.objective.clone_from(&title);
                if human::stands_alone(&title) {
                    self.later.clone_from(&title);
                }
            }
        } else if human::asks_chore(&prompt) {
            self.undone.asked_for_chore(&title);
        }
        self.open_question.clear();
        let plan = human::plan(&prompt);
        self.turn = Turn::begin(source, title, plan.unwrap_or(&prompt), substantive);
        self.turn.is_chore = human::asks_record(&prompt);
        if plan.is_some() {
            self.turn.ignore_prompt();
        }
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
        self.record_directives(&text, source, settled);
        let piece = format!("**{}:** {text}", self.labels().added);
        let turn = self.open_turn(source, &text);
        turn.add(&piece);
        turn.state(&text, Voice::Human);
    }

    fn queue_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        let operation = line.operation.and_then(Raw::text).unwrap_or_default();
        // These lines have no identifier of their own.
        let content = line.content.and_then(Raw::text).unwrap_or_default();
        let identity = format!("{operation} {} {}", line.timestamp().unwrap_or_default(), text::hash(&content));
        if !self.seen.insert(&identity) {
            return;
        }
        match &*operation {
            "enqueue" => {
                let machine = content.is_empty()
                    || content.starts_with('{')
                    || !matches!(user_text::classify(&content), UserText::Human(_));
                self.queue.push(if machine { String::new() } else { clean::block(&content, 4000) });
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

    fn attachment_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
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
        if let Some(uuid) = line.uuid()
            && !self.seen.insert(&uuid)
        {
            return;
        }
        let text = transcript::result_text(prompt);
        self.add_interjection(&text, &line_ref(line), settled);
    }

    /// Records a decision: a consent or a choice turns the agent's proposal into one.
    fn record_choice(&mut self, prompt: &str, said_by: SaidBy, source: &LineRef, settled: &mut Vec<Draft>) {
        if self.last_answer.is_empty() || self.interrupted {
            return;
        }
        let resolved = options::resolve(prompt, &self.last_answer);
        // That everything is fine is a fact, not a choice.
        let chose = |resolved: &options::Resolution| {
            !resolved.rejected.is_empty()
                || (prose::checked(&resolved.what).is_none()
                    && !prose::is_procedure(&resolved.what)
                    && prose::offers_choice(&resolved.what))
        };
        if let Some(resolved) = resolved.filter(chose) {
            let said = text::clip(&text::one_line(prompt), 120).into_owned();
            let content = decision_text(&resolved.what, &resolved.why, &resolved.rejected, self.labels());
            let content = if resolved.rejected.is_empty() { content } else { format!("{content} (\"{said}\")") };
            let importance = if resolved.rejected.is_empty() { 55 } else { 80 };
            let mut memory = decision(
                said_by,
                format!("choice:{}", source.uuid),
                resolved.what,
                resolved.why,
                resolved.rejected,
                content,
                importance,
                source,
            );
            memory.turn = self.turns;
            self.memories.add(memory, settled);
        }
    }

    /// Records standing rules and corrections.
    fn record_directives(&mut self, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let refused = std::mem::take(&mut self.refused);
        self.interrupted = false;
        self.question_deferred = false;
        let after_work = self.turns > 1 || !self.turn.answer.is_empty();
        let word = human::directives(prompt, after_work);
        for (number, rule) in word.rules.iter().enumerate() {
            let memory = SessionMemory {
                key: format!("rule:{}:{number}", source.uuid),
                kind: "preference".to_owned(),
                title: rule.clone(),
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
        let labels = self.labels();
        let content = if !refused.is_empty() {
            format!("{said} ({})", labels.refused.replace("{}", &refused))
        } else if human::needs_context(&said) && !self.turn.title.is_empty() {
            format!("{said} ({}: {})", labels.about, self.turn.title)
        } else {
            said.clone()
        };
        let memory = SessionMemory {
            key: format!("correction:{}", source.uuid),
            kind: "correction".to_owned(),
            title: said,
            content,
            importance: if refused.is_empty() { 65 } else { 70 },
            source: source.clone(),
            said_by: SaidBy::Human,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    /// Records a plan that the user approved, and what it decides.
    fn record_plan(&mut self, plan: &str, said_by: SaidBy, importance: u8, source: &LineRef, settled: &mut Vec<Draft>) {
        let Some(title) = human::title(plan).or_else(|| text::first_sentence(plan)) else {
            return;
        };
        let title = title.strip_prefix("Plan:").unwrap_or(&title).trim().to_owned();
        let memory = SessionMemory {
            key: format!("plan:{:08x}", text::hash(&title)),
            kind: "plan".to_owned(),
            content: plan_outline(plan),
            title,
            importance,
            source: source.clone(),
            said_by,
            ..SessionMemory::default()
        };
        self.memories.forget(|known| known.key == memory.key);
        self.memories.add(memory, settled);
        for decided in human::plan_decisions(plan) {
            let key = format!("planned:{:08x}", text::hash(&decided));
            self.memories.forget(|known| known.key == key);
            let content = decided.clone();
            let mut memory = decision(said_by, key, decided, String::new(), Vec::new(), content, 65, source);
            memory.turn = self.turns;
            self.memories.add(memory, settled);
        }
    }

    // ---- the agent
    // ---------------------------------------------------------------------------------------------------

    fn assistant_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if line.is_api_error {
            return;
        }
        self.update_span(line);
        // The client uses a model name of its own for messages that it writes itself.
        if let Some(model) = line.model().filter(|model| model != "<synthetic>")
            && model != self.model
        {
            self.model = clean::line(&model, 80);
        }
        line.blocks(|block| match block {
            Block::Text(raw) => self.agent_text(&raw.text().unwrap_or_default(), line_ref(line), settled),
            Block::ToolUse { id, name, input } => {
                let (id, name) = (id.text().unwrap_or_default(), name.text().unwrap_or_default());
                let mut tool_use = ToolUse::read(&id, &name, input, &self.root, line_ref(line));
                tool_use.turn = self.turns;
                self.pending_uses.push(tool_use);
            }
            Block::Thinking(raw) => self.agent_thought(&raw.text().unwrap_or_default(), &line_ref(line)),
            Block::ToolResult { .. } => {}
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
        }
        self.failures.agent_said(&said);
        self.undone.agent_said(&said);
        self.open_turn(&source.clone(), &said).say(&said, source);
    }

    /// Returns the open turn. Starts one if the agent works without a prompt.
    fn open_turn(&mut self, source: &LineRef, said: &str) -> &mut Turn {
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
            if signs::is_state_before(&insight.text.to_lowercase(), "") {
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
        let ends = |path: &&str| {
            path.ends_with(name) && (path.len() == name.len() || path[..path.len() - name.len()].ends_with('/'))
        };
        self.files.paths().rev().find(ends).map_or_else(|| clean::path(name, &self.root), str::to_owned)
    }

    /// Returns the state as if the session ended here, and the memories that settle then. `last_message` is the agent's last
    /// message if its line has not arrived yet.
    pub(super) fn at_end(&mut self, last_message: Option<&str>) -> (State, Vec<Draft>) {
        // The seen lines are the largest part of the state and are not needed at its end.
        let seen = std::mem::take(&mut self.seen);
        let vanished = std::mem::take(&mut self.vanished);
        let mut end = self.clone();
        self.seen = seen;
        if let Some(message) = last_message {
            end.apply_last_message(message);
        }
        let mut settled = Vec::new();
        end.close_turn(&mut settled);
        if vanished.has_any() {
            end.results.retain(|statement, turn| !vanished.overtakes(&statement.text, turn));
            end.memories.forget(|memory| memory.turn > 0 && vanished.overtakes(&memory.title, memory.turn));
        }
        self.vanished = vanished;
        (end, settled)
    }

    /// Returns what was begun and not ended: a question that waits for its answer, a sub-agent without a result, and what the
    /// user typed while the agent worked and nobody read.
    pub(super) fn open_ends(&self) -> Vec<String> {
        let labels = self.labels();
        let mut all = Vec::new();
        for tool_use in self.pending_uses.of_turn(self.turns) {
            match tool_use.tool {
                Tool::Ask => all.extend(tool_use.questions.iter().map(|question| {
                    let options: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
                    format!("{}: {} {}", labels.open_question, question.text, options.join(" / ")).trim_end().to_owned()
                })),
                Tool::Agent if !tool_use.detail.is_empty() => {
                    all.push(labels.still_running.replace("{}", &tool_use.detail));
                }
                _ => {}
            }
        }
        let typed = self.queue.iter().filter(|queued| human::is_substantive(queued) && !queued.is_empty());
        all.extend(typed.map(|queued| {
            format!("{}: {}", labels.open_request, human::request_summary(queued, MAX_REQUEST_CHARS, labels))
        }));
        all
    }

    /// Returns the state as if the session ended here, and the memories that then hold.
    pub(super) fn snapshot(&mut self) -> (State, Vec<Draft>) {
        let (end, mut live) = self.at_end(None);
        live.extend(end.memories.live().map(SessionMemory::draft));
        live.extend(end.conventions.drafts());
        live.extend(end.tasks.drafts());
        live.extend(end.failures.drafts(end.labels()));
        live.extend(end.results.drafts());
        (end, live)
    }

    /// Applies the agent's last text if its line has not arrived yet.
    fn apply_last_message(&mut self, message: &str) {
        if clean::clean(message.trim()) != self.turn.answer {
            let source = LineRef { at: self.ended, ..LineRef::default() };
            self.agent_text(message, source, &mut Vec::new());
        }
    }

    /// Closes the turn: what its answer says now holds.
    fn close_turn(&mut self, settled: &mut Vec<Draft>) {
        let turn = &self.turn;
        if !turn.answer.is_empty() {
            self.language_counts[text::language(&turn.answer) as usize] += 1;
            self.blockers = prose::blockers(&turn.answer);
            let admissions = prose::admissions(&turn.answer);
            // A chore such as "commit this" does not check anything.
            if turn.edited || !admissions.is_empty() {
                self.admissions = admissions;
            }
            if prose::checked(&turn.answer).is_some() {
                self.failures.checks_reported_passing();
            }
            // What only announces the next step, or was cut off, is no answer.
            // A report may stand in a code block or a table.
            let says_something = text::sentences(&turn.answer).iter().any(|sentence| !prose::is_narration(sentence))
                || turn.answer.contains("```")
                || turn.answer.lines().any(|line| line.trim_start().starts_with('|'));
            if (says_something && !turn.cut_off) || (turn.committed && !turn.substantive) {
                self.undone.asked("");
            }
            self.open_question = prose::closing_question(&turn.answer).unwrap_or_default();
            self.last_answer = head_and_tail(&turn.answer, LAST_ANSWER_BYTES);
            let checked = prose::checked(&turn.answer).unwrap_or_default();
            self.results.push(TurnResult {
                source: turn.source.clone(),
                number: self.turns,
                asked: turn.title.clone(),
                statements: turn.all_statements(),
                checked,
                files: turn.files.clone(),
                prompt_chars: turn.prompt_chars,
                edited: turn.edited,
                committed: turn.committed,
                failed: turn.failed,
                substantive: turn.substantive,
                is_chore: turn.is_chore,
                disputed: false,
                conceded: false,
                reverted: false,
            });
        }
        self.learn_from_answer(true, settled);
        settled.extend(self.turn.draft());
        self.turn = Turn::default();
    }

    // ---- tools
    // -------------------------------------------------------------------------------------------------------

    fn tool_result(
        &mut self,
        tool_use: &ToolUse,
        content: Option<Raw<'_>>,
        is_error: bool,
        line: &Line<'_>,
        settled: &mut Vec<Draft>,
    ) {
        let said = if is_error { clean::clean(&transcript::result_text(content)) } else { String::new() };
        // Only the client begins so. Output that contains the words may come from anybody.
        if is_error && said.starts_with("The user doesn't want to proceed with this tool use") {
            self.tool_refused(tool_use, &said, &line_ref(line), settled);
            return;
        }
        match tool_use.tool {
            Tool::Shell => {
                let output = if is_error { said } else { clean::clean(&transcript::result_text(content)) };
                self.command_ran(tool_use, &output, is_error, settled);
            }
            Tool::Edit if is_error => self.edit_failed(tool_use, &said),
            Tool::Edit => self.file_edited(tool_use, line.result, settled),
            Tool::Read if !tool_use.what.is_empty() => {
                self.turn.add_file(&tool_use.what);
            }
            Tool::Ask if !is_error => self.questions_answered(tool_use, content, line, settled),
            Tool::Plan if !is_error => {
                let plan = line.result.and_then(|result| result.get_text("plan")).map(|plan| clean::clean(&plan));
                let plan = plan.unwrap_or_else(|| tool_use.what.clone());
                let source = line_ref(line);
                self.undone.plan_accepted(&plan);
                self.record_plan(&plan, SaidBy::Agreed, 50, &source, settled);
            }
            Tool::Todo if !is_error => {
                if let Some(todos) = line.result.and_then(|result| result.get("newTodos")) {
                    self.tasks.replace(todos, &line_ref(line));
                }
            }
            Tool::TaskCreate if !is_error => {
                let id = line
                    .result
                    .and_then(|result| result.get("task"))
                    .and_then(|task| task.get_text("id"))
                    .unwrap_or_default();
                let id = clean::line(&id, 40);
                self.tasks.create(&id, &tool_use.what, &tool_use.detail, &line_ref(line));
            }
            Tool::TaskUpdate if !is_error => {
                self.tasks.update(&tool_use.what, Some(tool_use.detail.as_str()).filter(|status| !status.is_empty()));
            }
            Tool::Other if !is_error && looks_at_pages(&tool_use.name) => self.undone.looked(),
            _ => {}
        }
    }

    fn tool_refused(&mut self, tool_use: &ToolUse, said: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let what = match tool_use.tool {
            Tool::Ask => {
                self.question_deferred = true;
                return;
            }
            Tool::Plan => {
                let title = human::title(&tool_use.what).unwrap_or_default();
                let title = title.strip_prefix("Plan:").unwrap_or(&title).trim().to_owned();
                self.undone.plan_refused(&title);
                title
            }
            Tool::Shell => format!("`{}`", super::failures::display_command(&tool_use.what)),
            _ => format!("{} {}", tool_use.name, tool_use.what),
        };
        what.trim().clone_into(&mut self.refused);
        let reason = said.split_once("the user said:").map(|(_, reason)| reason.trim());
        // A server's own error may begin with the client's words, so a reason beside its tool is nobody's.
        let is_foreign = tool_use.name.starts_with("mcp__");
        if let Some(reason) = reason.filter(|reason| !reason.is_empty() && !is_foreign) {
            let reason = reason.split("\n\nNote: The user's next message").next().unwrap_or(reason).to_owned();
            self.record_directives(&reason, source, settled);
            self.turn.add(&format!("**{}:** {reason}", self.labels().added));
        }
    }

    fn command_ran(&mut self, tool_use: &ToolUse, output: &str, is_error: bool, settled: &mut Vec<Draft>) {
        let command = tool_use.what.as_str();
        let class = commands::class(command);
        let failed = is_error
            || commands::output_reports_failure(class, output)
            || commands::failed_behind_pipe(command, output)
            || commands::timed_out(output)
            || commands::exited_with_failure(output);
        self.turn.failed |= failed;
        let labels = self.labels();
        let counts = commands::test_counts(output).filter(|_| class != commands::Class::Inspect);
        if let Some(counts) = counts {
            let partly = class == commands::Class::Test && !commands::targets(command).is_empty();
            // A test run of some files does not override a run of all tests.
            if !partly || self.tests.is_none_or(|(_, known_partly)| known_partly) {
                self.tests = Some((counts, partly));
                self.is_of_hook = class == commands::Class::Commit;
                self.evidence.tests_ran();
            }
        }
        let verdict = counts.map(commands::TestCounts::verdict).unwrap_or_default();
        self.turn.run(command, &verdict);
        if output.contains("Sibling tool call errored")
            || output.contains("tool call was cancelled")
            || output.contains("Request interrupted")
        {
            return;
        }
        let mut has_landed = commits::says_clean(output) && self.undone.found_clean();
        // A list that stands before the commit on the line says what was there before it.
        let at = |words: &str| command.find(words);
        let is_list_first = at("git commit").is_some_and(|commit| at("git status").is_some_and(|status| status < commit));
        let listed = work_tree::status(command, output).or_else(|| work_tree::diff(command, output));
        if let Some(listed) = listed.as_ref().filter(|_| is_list_first) {
            has_landed |= self.git_listed(listed);
        }
        self.undone.git_ran(command);
        if !failed {
            for memory in self.failures.edited_by_command(command, labels) {
                self.record_fix(memory, settled);
            }
            self.files_changed_by(command);
        }
        self.evidence.command_ran(command, output, !failed && commands::passed(command, output), failed);
        let made = commits::commits_from(command, output, is_error);
        let committed = !made.is_empty();
        // The hook that blocked the commit ran the tests again, and this time they passed.
        let is_bypassed = command.contains("no-verify") || command.contains("hooksPath");
        if committed && counts.is_none() && !is_bypassed && self.is_of_hook {
            self.tests = self.tests.filter(|(counts, _)| counts.failed == 0);
        }
        self.changes_measured(output, committed);
        for commit in made {
            self.record_commit(commit, &tool_use.source, settled);
        }
        if !committed && class == commands::Class::Commit {
            self.undone.commit_failed();
        }
        if let Some(listed) = listed.as_ref().filter(|_| !is_list_first) {
            has_landed |= self.git_listed(listed);
        }
        has_landed |= self.undone.git_showed(&work_tree::shown_files(command, output));
        if has_landed {
            self.failures.commit_landed();
        }
        if commits::pushed_branch(command, output).is_some() {
            self.undone.pushed();
        }
        if !failed {
            // One command line may commit and push.
            self.undone.command_passed(command);
            if commits::rewrites_history(command) {
                self.commits.clear();
            }
        }
        if let Some(url) = commits::pull_request(command, output) {
            let title = commits::pull_request_title(command).unwrap_or_default();
            self.record_pull_request(&url, &title, &tool_use.source, settled);
        }
        let cured = if failed {
            // A line of a test's output says nothing of the commit that its hook refused.
            let of_hook = (class == commands::Class::Commit).then(|| commands::failed_tests_of_hook(output)).flatten();
            let error = match of_hook {
                Some(tests) => labels.hook_tests.replace("{}", &tests),
                None => commands::error_line_of(class, output).unwrap_or_default(),
            };
            let cured = self.failures.command_reached(command, &error, labels);
            self.failures.command_failed(command, &error, &tool_use.source, self.turns);
            cured
        } else {
            // A command whose output was cut says nothing of its result, but it was found.
            let mut cured = self.failures.command_reached(command, "", labels);
            if commands::passed(command, output) {
                self.conventions.command_passed(command, &tool_use.source);
                cured.extend(self.failures.command_passed(command, labels));
            }
            if commands::may_fix(command) {
                self.failures.step(&format!("`{}`", super::failures::display_command(command)));
            }
            cured
        };
        for memory in cured {
            self.record_fix(memory, settled);
        }
        if committed {
            self.failures.checks_committed(command);
        }
    }

    /// Applies a list of changed files that git printed. Returns whether that shows that a commit was made.
    fn git_listed(&mut self, listed: &work_tree::Listed) -> bool {
        let files = &self.files;
        self.undone.git_listed(listed, |path| files.is_new(path))
    }

    /// Records what an output tells of the size of a change. A list of files belongs to a commit if both have the same sums.
    fn changes_measured(&mut self, output: &str, committed: bool) {
        let Some(stat) = commits::stat(output) else { return };
        if committed {
            let listed = if stat.files.is_empty() && stat.sums == self.stat.sums { &self.stat } else { &stat };
            // A later commit holds only a part of what was changed in a file.
            let is_whole = self.undone.is_without_commit();
            for (path, added, removed) in &listed.files {
                self.files.record_stat(path, *added, *removed, is_whole);
            }
            self.largest_commit = self.largest_commit.max(stat.sums);
        } else if !stat.files.is_empty() && stat.sums == self.largest_commit {
            for (path, added, removed) in &stat.files {
                self.files.record_stat(path, *added, *removed, false);
            }
        } else if !stat.files.is_empty() {
            self.stat = stat;
        }
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

    /// Records the files that a command line writes or deletes.
    fn files_changed_by(&mut self, command: &str) {
        let effects = commands::file_effects(command);
        let is_restored = |path: &str| effects.restores_all || effects.restored.iter().any(|restored| restored == path);
        self.undone.restored(is_restored);
        if self.undone.is_without_commit() {
            for path in self.files.paths().filter(|path| is_restored(path)) {
                self.vanished.file_removed(path, self.turns);
            }
            self.files.record_restoration(is_restored);
            if (effects.restores_all || !effects.restored.is_empty()) && self.files.paths().next().is_none() {
                _ = self.undone.found_clean();
            }
        }
        for path in &effects.removed {
            self.vanished.file_removed(path, self.turns);
            self.files.record_removal(path);
        }
        for folder in &effects.removed_folders {
            let is_inside = |path: &&str| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
            let removed: Vec<String> = self.files.paths().filter(is_inside).map(str::to_owned).collect();
            for path in &removed {
                self.vanished.file_removed(path, self.turns);
                self.files.record_removal(path);
            }
        }
        for path in &effects.written {
            self.files.record_change(path, 0, 0);
            self.turn.add_file(path);
        }
        let is_inside = |path: &String| !path.starts_with(['/', '~']) && !path.starts_with("..");
        let inside: Vec<&String> = effects.written.iter().chain(&effects.removed).filter(|path| is_inside(path)).collect();
        for path in &inside {
            self.failures.file_changed();
            self.project_changed(path);
            self.turn.file_edited();
        }
        // A file that the session itself created leaves nothing to commit once it is deleted.
        for path in effects.removed.iter().filter(|path| !self.files.paths().any(|known| known == *path)) {
            self.undone.restored(|known| known == path);
        }
    }

    /// Records a failure with its fix. Replaces the plain insights that were recorded earlier from the same sentences.
    fn record_fix(&mut self, memory: SessionMemory, settled: &mut Vec<Draft>) {
        let why = memory.why.clone();
        self.memories.forget(|known| known.from_prose && !why.is_empty() && why.contains(known.title.as_str()));
        self.memories.add(memory, settled);
    }

    fn record_commit(&mut self, commit: commits::Commit, source: &LineRef, settled: &mut Vec<Draft>) {
        if commit.subject.is_empty() {
            return;
        }
        if commit.amends
            && let Some(last) = self.commits.pop()
        {
            self.memories.forget(|memory| memory.kind == "commit" && memory.title == last);
        }
        let subject = clean::line(&commit.subject, 180);
        if !self.commits.contains(&subject) {
            self.commits.push(subject.clone());
            if self.commits.len() > MAX_COMMITS {
                self.commits.remove(0);
            }
        }
        self.undone.committed();
        self.turn.committed = true;
        self.turn.state(&format!("{subject}\n{}", commits::unwrapped(&commit.body)), Voice::Commit);
        let mut content = subject.clone();
        if let Some(branch) = commit.branch.filter(|branch| !matches!(branch.as_str(), "main" | "master")) {
            content = format!("{content} ({branch})");
        }
        if !commit.body.is_empty() {
            content = format!("{content}\n\n{}", commit.body);
        }
        let memory = SessionMemory {
            key: format!("commit:{}:{:08x}", source.uuid, text::hash(&subject)),
            kind: "commit".to_owned(),
            title: subject,
            content,
            importance: 40,
            source: source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    fn record_pull_request(&mut self, url: &str, title: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let line = if title.is_empty() { url.to_owned() } else { format!("{title} ({url})") };
        // The client names the address before the result of the command that gave the title.
        match self.commits.iter_mut().find(|known| known.contains(url)) {
            Some(known) if known == url => known.clone_from(&line),
            Some(_) => return,
            None => self.commits.push(line.clone()),
        }
        let memory = SessionMemory {
            key: format!("pr:{url}"),
            kind: "commit".to_owned(),
            title: line,
            importance: 50,
            source: source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    fn edit_failed(&mut self, tool_use: &ToolUse, said: &str) {
        let first = said.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
        let first = text::clip(first.lines().next().unwrap_or_default(), 160).into_owned();
        // What the client requires before every edit says nothing about the file.
        let is_procedure =
            ["has not been read yet", "modified since read", "Sibling tool call errored", "tool call was cancelled"]
                .iter()
                .any(|sign| first.contains(sign));
        if !is_procedure {
            self.failures.edit_failed(&tool_use.what, &first, &tool_use.source, self.turns);
        }
    }

    fn file_edited(&mut self, tool_use: &ToolUse, result: Option<Raw<'_>>, settled: &mut Vec<Draft>) {
        let file = tool_use.what.as_str();
        if file.is_empty() {
            return;
        }
        let (mut patch, mut old, mut new, mut content, mut kind) = (None, None, None, None, None);
        if let Some(result) = result {
            result.fields(|key, value| match key {
                b"structuredPatch" => patch = Some(value),
                b"oldString" => old = Some(value),
                b"newString" => new = Some(value),
                b"content" => content = Some(value),
                b"type" => kind = Some(value.json()),
                _ => {}
            });
        }
        // A plan is recorded as a plan. The client's file for it is not part of the project.
        if file.contains(".claude/plans/") {
            return;
        }
        let (mut added, removed) = patch.map_or((0, 0), files::patch_size);
        if added + removed == 0 && kind == Some("\"create\"") {
            added = content.and_then(Raw::text).map_or(0, |text| u32::try_from(text.lines().count()).unwrap_or(u32::MAX));
        }
        self.files.record_change(file, added, removed);
        if kind == Some("\"create\"") {
            self.files.record_creation(file);
        }
        self.count_names(file, patch.filter(|_| added + removed > 0), content);
        if is_project_file(&clean::path(file, &self.root)) {
            self.project_changed(file);
        }
        self.turn.file_edited();
        self.turn.add_file(file);
        let labels = self.labels();
        let (old, new) = (old.and_then(Raw::text).unwrap_or_default(), new.and_then(Raw::text).unwrap_or_default());
        let reversal = self.files.record_edit(file, &old, &new);
        // Short lines are not compared, so the patch must agree that lines were only removed, or only added.
        let is_back = match reversal {
            Reversal::None => false,
            Reversal::Removes => added == 0 || removed == 0,
            Reversal::Reverts => true,
        };
        if is_back {
            self.files.record_revert(file, added.saturating_add(removed), removed == 0);
            if self.undone.is_without_commit() && self.files.paths().next().is_none() {
                _ = self.undone.found_clean();
            }
        }
        if reversal == Reversal::Reverts {
            self.record_revert(file, &tool_use.source, settled);
        }
        self.failures.file_changed();
        for memory in self.failures.edit_passed(file, &tool_use.name, labels) {
            self.record_fix(memory, settled);
        }
    }

    /// Counts the names that an edit wrote into a file and took out of it. A file without a patch is new.
    fn count_names(&mut self, file: &str, patch: Option<Raw<'_>>, content: Option<Raw<'_>>) {
        let turn = self.turns;
        if let Some(patch) = patch {
            files::patch_lines(patch, |is_added, line| {
                if is_added { self.vanished.added(file, line) } else { self.vanished.removed(line, turn) }
            });
        } else {
            let content = content.and_then(Raw::text).unwrap_or_default();
            self.vanished.added(file, text::head(&content, MAX_CREATED_BYTES));
        }
    }

    /// Records that a file of the project was changed: what was checked or committed before does not cover it.
    fn project_changed(&mut self, file: &str) {
        self.undone.file_changed(file);
        if !is_document(file) {
            self.evidence.file_changed();
        }
    }

    /// Records that an edit was reverted. The agent's preceding text gives the reason.
    fn record_revert(&mut self, file: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let sentences = text::sentences(&self.turn.answer);
        let why = sentences
            .iter()
            .map(|sentence| prose::strip_interjection(sentence))
            .find(|sentence| !prose::is_narration(sentence) && sentence.chars().count() >= 12);
        let Some(why) = why else { return };
        let note = self.labels().reverted.replace("{}", file);
        let memory = SessionMemory {
            key: format!("revert:{}", source.uuid),
            kind: "learning".to_owned(),
            title: format!("{} ({note})", text::clip(why, 260)),
            files: vec![file.to_owned()],
            importance: 60,
            source: source.clone(),
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    fn questions_answered(
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
        let labels = self.labels();
        for (number, question) in asked.iter().enumerate() {
            let piece = format!("- {} → {}", question.text, question.answer);
            self.turn.add(&piece);
            // A typed answer may contain rules that go beyond the question.
            if question.chosen().is_empty() {
                self.record_directives(&question.answer, &line_ref(line), settled);
            }
            if !question.is_decided() {
                continue;
            }
            let chosen = question.chosen();
            let why = chosen
                .iter()
                .map(|choice| choice.description.as_str())
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("; ");
            // An answer that only lets the agent proceed with a fix is recorded with that fix.
            if human::is_consent(&question.answer) && self.failures.has_open_checks() {
                self.failures.step(&format!("\"{}\"", question.answer));
                continue;
            }
            let what = format!("{} → {}", question.text, question.answer);
            let rejected = if chosen.is_empty() {
                question.options.iter().map(|option| option.label.clone()).collect()
            } else {
                question.rejected()
            };
            let content = decision_text(&what, &why, &rejected, labels);
            let key = format!("question:{}:{number}", tool_use.source.uuid);
            let memory = decision(
                SaidBy::Agreed,
                key,
                what,
                text::clip(&why, 300).into_owned(),
                rejected,
                content,
                80,
                &tool_use.source,
            );
            self.memories.add(memory, settled);
            self.failures.step(&format!("\"{}\"", question.answer));
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "what a decision holds")]
fn decision(
    said_by: SaidBy,
    key: String,
    what: String,
    why: String,
    rejected: Vec<String>,
    content: String,
    importance: u8,
    source: &LineRef,
) -> SessionMemory {
    SessionMemory {
        key,
        kind: "decision".to_owned(),
        title: what,
        why,
        rejected,
        content,
        importance,
        source: source.clone(),
        said_by,
        ..SessionMemory::default()
    }
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

/// Returns whether a tool drives a browser.
fn looks_at_pages(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    ["browser", "playwright", "chrome", "puppeteer"].iter().any(|name| tool.contains(name))
}

/// Returns whether a file is prose, which no test covers.
fn is_document(file: &str) -> bool {
    [".md", ".mdx", ".txt", ".rst", ".adoc"].iter().any(|end| file.ends_with(end))
}

/// Returns whether a path that was made relative to the project's root lies inside of it.
fn is_project_file(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    !path.starts_with('/') && !is_drive
}

fn line_ref(line: &Line<'_>) -> LineRef {
    let uuid = line.uuid().map(|uuid| clean::line(&uuid, 64)).unwrap_or_default();
    LineRef { uuid, at: line.at() }
}

fn join(all: &mut String, text: &str) {
    if !all.is_empty() {
        // Editors send a mention of a file as a text of its own, and the sentence goes on after it.
        let last = all.lines().last().unwrap_or_default().trim();
        let is_mention = last.starts_with("[@") && last.ends_with(')');
        all.push_str(if is_mention { " " } else { "\n\n" });
    }
    all.push_str(text);
}

/// Returns the beginning and the end of a text that is longer than `max` bytes.
fn head_and_tail(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    format!("{}\n\n{}", text::head(text, max / 2), text::tail(text, max / 2))
}
