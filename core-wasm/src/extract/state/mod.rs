//! The fold: how one line changes what is known of a session.

mod agent;
mod awaited;
mod background;
mod committing;
mod decisions;
mod directives;
mod edits;
mod findings;
mod plans;
mod prompt;
mod pull_requests;
mod questions;
mod queue;
mod refusals;
mod request;
mod rulings;
mod sub_agent;
mod tools;
mod user;

use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commit_contents::CommitContents;
use crate::extract::commits;
use crate::extract::conventions::Conventions;
use crate::extract::evidence::Evidence;
use crate::extract::failures::{self, Failures};
use crate::extract::files::{Files, is_document, is_named};
use crate::extract::labels::{Labels, labels};
use crate::extract::lost::Lost;
use crate::extract::memories::{FINDING_KEY, LineRef, REMARK_KEY, SessionMemories, SessionMemory};
use crate::extract::open_points::OpenPoints;
use crate::extract::questions::Question;
use crate::extract::ran::Ran;
use crate::extract::recap::Recap;
use crate::extract::references::References;
use crate::extract::results::Results;
use crate::extract::rewritten::Rewritten;
use crate::extract::seen_lines::SeenLines;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::switched::{self, Switched};
use crate::extract::taken_back::TakenBack;
use crate::extract::tasks::Tasks;
use crate::extract::tool_uses::{PendingToolUses, Tool};
use crate::extract::turn::{self, Turn};
use crate::extract::undone::Undone;
use crate::extract::vanished::Vanished;
use crate::extract::{commands, human, options, pointed};
use crate::text::Language;
use crate::transcript::json::Raw;
use crate::transcript::{self, Kind, Line};
use awaited::Awaited;
use background::Running;
use serde::{Deserialize, Serialize};

/// The version of the state's format. A state with another version is discarded.
const VERSION: u32 = 3;
/// The maximum length of a branch, in characters.
const MAX_BRANCH_CHARS: usize = 120;
/// The maximum length of a request, in characters. A request that is cut may say the opposite of what was meant.
const MAX_REQUEST_CHARS: usize = 560;

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
    /// Whether a human wrote one of the prompts.
    heard_human: bool,
    /// How often each language was seen, in the order of `Language`.
    language_counts: [u32; 4],
    pub(super) request: String,
    /// All that the user said for the first request, as far as it is told. May be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) request_whole: String,
    /// Why the latest plan is carried out. May be empty.
    pub(super) plan_reason: String,
    /// What it does. May be empty.
    pub(super) plan_goal: String,
    /// What it forbids or leaves alone. May be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) plan_limits: String,
    /// The title of that plan, if it is for a later request than the first.
    pub(super) plan_title: String,
    pub(super) objective: String,
    /// The latest request that says by itself what it asks for. "Now the next two" does not.
    pub(super) later: String,
    pub(super) title: String,
    pub(super) branch: String,
    /// The branch of the latest commit, as git printed it. May be empty.
    pub(super) commit_branch: String,
    /// The branch of the folder when a file was changed last. May be empty.
    pub(super) edited_on: String,
    pub(super) turn: Turn,
    queue: Vec<String>,
    /// What the latest prompt says against the success of the work before it, if the agent did nothing after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unheard: Vec<human::Denial>,
    /// Whether the next prompt comes from the queue.
    is_dequeued: bool,
    seen_additions: Vec<u32>,
    pending_uses: PendingToolUses,
    /// The calls of sub-agents that may change or check something, until their results arrive.
    sub_agent_uses: PendingToolUses,
    /// The latest commands that ran beside the agent.
    background: Vec<Running>,
    /// Whether the transcript has the messages of sub-agents.
    shows_sub_agents: bool,
    pub(super) memories: SessionMemories,
    pub(super) files: Files,
    vanished: Vanished,
    pub(super) taken_back: TakenBack,
    pub(super) tasks: Tasks,
    pub(super) failures: Failures,
    conventions: Conventions,
    pub(super) results: Results,
    pub(super) commits: Vec<String>,
    /// How many of the session's commits are on another branch, or have commits of others above them.
    kept_commits: usize,
    /// The subjects of the session's commits that git took back.
    dropped_commits: Vec<String>,
    /// The folders of repositories that the session made for trying something out, oldest first.
    trial_repositories: Vec<String>,
    /// The issues and pull requests that were looked up or filed.
    pub(super) references: References,
    /// The tags that were pushed.
    pub(super) tags: Vec<String>,
    /// The numbers of the pull requests that are merged.
    pub(super) merged: Vec<u32>,
    /// The numbers of the pull requests that the session closed without a merge.
    pub(super) closed: Vec<u32>,
    /// The numbers of the pull requests that are drafts.
    pub(super) drafts: Vec<u32>,
    /// The subjects of commits with their hashes, as far as git printed them.
    pub(super) hashes: Vec<(String, String)>,
    /// The commits that git made anew under other hashes.
    pub(super) rewritten: Rewritten,
    /// The latest test counts, and whether that run covered named files only.
    pub(super) tests: Option<(commands::TestCounts, bool)>,
    /// Whether the hook of the project's commits is known to run the tests.
    hook_runs_tests: bool,
    pub(super) evidence: Evidence,
    #[serde(default)]
    pub(super) ran: Ran,
    /// The subject of the latest commit that was tried and is not known to be made.
    tried_commit: String,
    /// The hash of the commit under another message that holds the work of such a commit, and the turn in which git showed it.
    pub(super) other_commit: (String, u32),
    /// The hash of a commit that somebody else made of the session's changes. May be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) committed_as: String,
    /// The latest list of changed files that git printed.
    stat: commits::Stat,
    /// The size of the largest commit: files, lines added and lines removed.
    pub(super) largest_commit: (u32, u32, u32),
    pub(super) commit_contents: CommitContents,
    pub(super) switched: Switched,
    pub(super) lost: Lost,
    /// Whether a command ran that may have given files another form.
    has_formatted: bool,
    /// The model that wrote the latest message.
    pub(super) model: String,
    pub(super) blockers: Vec<String>,
    /// What the agent said that it did not check, in its latest answer about the work.
    pub(super) admissions: Vec<String>,
    /// What the agent said of a failure whose cause is still to be found. May be empty.
    pub(super) cause_open: String,
    /// What the agent said of a deployment that was under way. May be empty, and holds while nobody looked at it.
    pub(super) expected: String,
    pub(super) open_question: String,
    /// What the agent was at when the latest turn ended without an answer. May be empty.
    pub(super) stopped_at: String,
    /// The error with which the client stopped, if the agent said and did nothing since. May be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) client_error: String,
    pub(super) undone: Undone,
    /// The document that the agent wrote for the next session. May be empty.
    pub(super) handoff: String,
    /// What the rest of the turn may settle.
    awaited: Awaited,
    /// What the answers left open.
    pub(super) open_points: OpenPoints,
    /// Where the session stands, as the client wrote it down. Empty once the user asked for more.
    pub(super) recap: Recap,
    /// What the latest recap said, whether it still holds or not.
    latest_recap: String,
    last_answer: String,
    /// An answer before that, which ended with a question, while the user only asked something about it. May be empty.
    weighed: String,
    /// The questions that the user did not answer when they were asked, and the turn of the latest of them.
    unanswered: Vec<Question>,
    unanswered_in: u32,
    /// The line of what the user said last.
    last_said: String,
    /// Whether the request only asked something, and nothing was changed for it.
    request_only_asks: bool,
    /// Whether nothing at all was done for the request.
    request_is_chat: bool,
    /// The command that the user runs, until its output comes.
    user_command: String,
    /// What the user refused. Kept until the user gives a reason.
    refused: String,
    /// What the user asked to be so, as the decisions that they are once the agent changes files for them.
    asked_rulings: Vec<SessionMemory>,
    interrupted: bool,
    /// The short bans that the user gave, as hashes: one that comes again holds from then on.
    #[serde(default)]
    bans: Vec<u32>,
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
            let is_least = self.last_answer.is_empty() && !self.seen.can_shrink();
            if is_least && self.sub_agent_uses.is_empty() {
                return serde_json::to_string(&State { version: VERSION, ..State::default() }).unwrap_or_default();
            }
            if is_least {
                self.sub_agent_uses = PendingToolUses::default();
            }
            self.seen.halve();
            self.last_answer.clear();
            self.weighed.clear();
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
                if !self.is_new(line) {
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
            Kind::Progress => {
                if let Some(message) = line.sub_agent_message() {
                    self.sub_agent_line(line, message, settled);
                }
            }
            Kind::System if line.is_recap => self.recap_line(line),
            Kind::System | Kind::Other => {}
        }
    }

    /// Returns whether a line was not read before, and records that it is now. A line without an identifier counts as new.
    fn is_new(&mut self, line: &Line<'_>) -> bool {
        line.uuid().is_none_or(|uuid| self.seen.insert(&uuid))
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
        let Some(branch) = line.branch() else { return };
        // A long name is known by its beginning, which is the same with every line.
        let branch = if *branch == self.branch { self.branch.clone() } else { clean::line(&branch, MAX_BRANCH_CHARS) };
        let is_work = self.turn.used_tools && (line.kind == Kind::Assistant || line.result.is_some());
        if self.pending_uses.of_turn(self.turns).any(switched::may_switch) {
            self.switched.may_switch(self.turns);
        }
        self.switched.line_read(&line.cwd().unwrap_or_default(), (&self.branch, &branch), is_work, self.turns);
        self.branch = branch;
    }

    /// Returns the state as if the session ended here, and the memories that settle then. `last_message` is the agent's last
    /// message if its line has not arrived yet.
    pub(super) fn at_end(&mut self, last_message: Option<&str>) -> (State, Vec<Draft>) {
        // The seen lines are the largest part of the state and are not needed at its end.
        let seen = std::mem::take(&mut self.seen);
        let vanished = std::mem::take(&mut self.vanished);
        let taken_back = std::mem::take(&mut self.taken_back);
        let mut end = self.clone();
        self.seen = seen;
        if let Some(message) = last_message {
            end.apply_last_message(message);
        }
        let mut settled = Vec::new();
        end.close_turn(&mut settled);
        if end.has_begun_commit() {
            end.undone.begun();
        }
        if vanished.has_any() {
            // What was missing and is there now is wrong. What was said of things that are gone stays for the search.
            end.results.retain(|said, turn| !vanished.supplies(said, turn), |said| vanished.has_standing(said), false);
            end.results.retain(|said, turn| !vanished.overtakes(said, turn), |said| vanished.has_standing(said), true);
            end.memories.forget(|memory| memory.turn > 0 && vanished.overtakes(&memory.title, memory.turn));
        }
        let files = &end.files;
        let is_edited =
            |name: &str, turn: u32| files.paths().any(|path| is_named(path, name) && taken_back.is_edited_later(path, turn));
        end.results.mark_worked_on(|said, turn| vanished.worked_on(said, turn, |name| is_edited(name, turn)));
        self.vanished = vanished;
        let stands = |name: &str, turn: u32| files.paths().any(|path| is_named(path, name) && taken_back.stands(path, turn));
        end.results.take_back(|turn| taken_back.is_of_turn(turn), stands);
        end.results.retain(|said, turn| !taken_back.has_deed(said, turn), |_| false, false);
        let is_undone = |said: &str, turn: u32| {
            taken_back.has_deed(said, turn) || (taken_back.is_of_turn(turn) && standing::tells_work(&said.to_lowercase()))
        };
        end.memories.forget(|memory| memory.from_prose && is_undone(&memory.title, memory.turn));
        end.taken_back = taken_back.clone();
        self.taken_back = taken_back;
        let (files, results) = (&end.files, &end.results);
        let is_past = |said: &str, turn: u32| results.is_mended_after(said, turn) || results.is_fixed_after(said, turn);
        end.memories.forget(|memory| is_overtaken(memory, files));
        end.memories.forget(|memory| memory.turn > 0 && is_past(&memory.title, memory.turn));
        end.forget_given_up();
        end.forget_idle_decisions();
        if !end.other_commit.0.is_empty() {
            end.results.forget_chore(end.other_commit.1);
        }
        (end, settled)
    }

    /// Forgets what the agent said and gave up.
    fn forget_given_up(&mut self) {
        let given_up = self.results.given_up();
        self.memories.forget(|memory| {
            let is_of = |said: &str| said.contains(&memory.title) || memory.title.contains(said);
            memory.from_prose && given_up.iter().any(|(turn, said)| *turn == memory.turn && is_of(said))
        });
    }

    /// Returns the question that waits for an answer, with what it is about.
    pub(super) fn told_question(&self) -> String {
        match pointed::proposal_before(&self.open_question, &self.last_answer) {
            Some(proposal) => format!("{proposal} {}", self.open_question),
            None => options::told_question(&self.open_question, &self.last_answer),
        }
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
                // The session ended before its result came.
                Tool::Shell if commits::is_tried(&tool_use.what) => {
                    let subject = commits::message(&tool_use.what).unwrap_or_default();
                    let subject = subject.trim().lines().next().unwrap_or_default();
                    let branch = self.unnamed_branch();
                    all.push(labels.still_running.replace("{}", &format!("`git commit` \"{subject}\"{branch}")));
                }
                _ => {}
            }
        }
        let running = self.checks_in_background().map(|command| format!("`{}`", failures::display_command(command)));
        all.extend(running.map(|command| labels.still_running.replace("{}", &command)));
        let typed = self.queue.iter().filter(|queued| human::is_substantive(queued) && !queued.is_empty());
        all.extend(typed.map(|queued| {
            format!("{}: {}", labels.open_request, human::request_summary(queued, MAX_REQUEST_CHARS, labels))
        }));
        all
    }

    /// Returns the commands that may have changed something and whose results never came, as they are told.
    pub(super) fn begun_acts(&self) -> Vec<String> {
        let shells = self.pending_uses.of_turn(self.turns).filter(|it| it.tool == Tool::Shell);
        shells.flat_map(|it| turn::acting(&it.what)).collect()
    }

    /// Returns what the user said last against the success of the work, where no turn came of it.
    pub(super) fn unheard(&self) -> impl Iterator<Item = human::Denial> {
        self.unheard.iter().cloned().chain(self.queue.iter().flat_map(|queued| human::denials(queued)))
    }

    /// Returns the branch of work that is not committed, as it stands behind a commit, unless the files are told with it. May be empty.
    fn unnamed_branch(&self) -> String {
        let is_told = !self.commit_state(&self.files.paths().collect::<Vec<_>>()).is_empty();
        match self.branch.as_str() {
            "" | "main" | "master" | "HEAD" => String::new(),
            _ if is_told => String::new(),
            branch => format!(" (`{branch}`)"),
        }
    }

    /// Returns the state as if the session ended here, and the memories that then hold.
    pub(super) fn snapshot(&mut self) -> (State, Vec<Draft>) {
        let (end, mut live) = self.at_end(None);
        live.extend(end.memories.live().map(SessionMemory::draft));
        live.extend(end.conventions.drafts());
        live.extend(end.tasks.drafts());
        live.extend(end.failures.drafts(end.labels()));
        live.extend(end.results.drafts(end.labels()));
        (end, live)
    }
}

/// Returns whether a change of the files made a memory of how it was before: it was mended, or it was the reason for the change.
fn is_overtaken(memory: &SessionMemory, files: &Files) -> bool {
    let (at, lower) = (memory.source.at, memory.title.to_lowercase());
    let is_finding = memory.key.starts_with(FINDING_KEY);
    // What was wrong in a file before it was edited is mended, or tells nothing of how it is now.
    let is_of_state = is_finding || (memory.from_prose && signs::finds_fault(&lower));
    let is_mended = is_of_state && memory.files.iter().any(|file| files.is_edited_after(file, at));
    // A remark that asked for a change is over with it.
    let is_done = memory.key.starts_with(REMARK_KEY) && files.is_any_edited_after(at, |_| true);
    // What the agent found before it changed the code was the reason for the change, unless it limits whatever is built. Plans and reports
    // name as limits what is to be changed, but they also say what must be kept to.
    let is_lasting = || if is_finding { signs::demands(&lower) } else { signs::tells_limit(&lower) };
    let is_found = (memory.from_prose || is_finding) && memory.kind != "decision";
    let is_reason = || is_found && !is_lasting() && files.is_any_edited_after(at, |path| !is_document(path));
    is_mended || is_done || is_reason()
}

fn line_ref(line: &Line<'_>) -> LineRef {
    let uuid = line.uuid().map(|uuid| clean::line(&uuid, 64)).unwrap_or_default();
    LineRef { uuid, at: line.at() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_cannot_shrink_begins_anew() {
        let mut state = State { model: "x".repeat(4_000), last_answer: "y".repeat(4_000), ..State::default() };
        let saved = state.save(3_000);
        let restored = State::restore(Some(&saved), "");
        assert_eq!((restored.version, restored.model.as_str()), (VERSION, ""));
    }
}
