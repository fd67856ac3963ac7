//! How a prompt begins a turn, and what it says of the work before it.

use super::awaited::Awaited;
use super::rulings::Answers;
use super::{MAX_REQUEST_CHARS, State};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commits;
use crate::extract::human::{self, Abandonment};
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::options;
use crate::extract::turn::Turn;
use crate::said_by::SaidBy;
use crate::text;

impl State {
    pub(super) fn start_turn(&mut self, prompt: &str, is_from_program: bool, source: LineRef, settled: &mut Vec<Draft>) {
        let prompt = clean::clean(prompt);
        let unheard = self.turn.unheard();
        let completed =
            if self.turn.is_stopped { human::resumed(unheard, &prompt) } else { human::completed(unheard, &prompt) };
        if completed.is_some() || human::says_again(self.turn.unheard(), &prompt) {
            self.forget_prompt();
        }
        if let Some(unheard) = self.turn.left_unheard() {
            self.undone.went_unheard(unheard);
        }
        let has_answer = !self.turn.answer.is_empty();
        let about = self.topic().to_owned();
        self.close_turn(settled);
        self.work_judged(&prompt, has_answer);
        self.turns += 1;
        self.awaited = Awaited::default();
        if let Some(failed_again) = self.failures.prompted(&prompt) {
            self.memories.forget(|memory| memory.key == failed_again);
        }
        self.language_counts[text::language(&prompt) as usize] += 2;
        // An empty entry stands for a notice of the client's that waits its turn, too.
        self.queue.retain(|queued| queued.is_empty() || !prompt.contains(queued.as_str()));
        // A prompt that did not wait shows that nothing was waiting.
        if !std::mem::take(&mut self.is_dequeued) {
            self.queue.clear();
        }
        let asked = completed.as_deref().unwrap_or(&prompt);
        let mut title = human::request_summary(asked, MAX_REQUEST_CHARS, self.labels());
        let picked = if has_answer { options::picked_items(&prompt, &self.last_answer) } else { Vec::new() };
        if !picked.is_empty() {
            title = format!("{title} ({})", picked.join("; "));
        }
        let substantive = human::is_substantive(asked) || !picked.is_empty();
        self.record_prompt(&prompt, &about, is_from_program, &source, settled);
        for said in human::said_merged(&prompt) {
            for number in self.pull_requests_meant(&said) {
                self.pull_request_merged(number);
            }
        }
        if !is_from_program && (human::speaks_of_pushed_work(&prompt) || human::speaks_of_own_commit(&prompt)) {
            self.undone.pushed_by_others();
        }
        self.evidence.user_said(&prompt);
        self.recap.prompted(substantive);
        self.open_points.prompted(&prompt);
        let whole = human::whole_request(asked, human::MAX_WHOLE_CHARS).filter(|_| picked.is_empty()).unwrap_or_default();
        self.request_of_prompt(asked, (&title, &whole), substantive);
        if substantive {
            self.undone.asked_in_full(&human::whole_request(asked, human::MAX_UNANSWERED_CHARS).unwrap_or_default());
        }
        self.begin_turn(asked, title, substantive, source);
        self.turn.whole = whole;
        self.turn.denials = if is_from_program { Vec::new() } else { human::denials(asked) };
        self.turn.confirmation = if is_from_program { None } else { human::confirmation(asked) };
        // Who says that it works has looked at it.
        if self.turn.confirmation.as_ref().is_some_and(|said| said.names.is_empty()) {
            self.undone.looked();
        }
        let states_rule = || text::sentences(&prompt).iter().any(|said| human::is_rule(said));
        self.turn.is_unasked = is_from_program && (self.heard_human || states_rule());
        self.heard_human |= !is_from_program;
    }

    /// Forgets the turn of a prompt that another one takes up, before anything came of it.
    fn forget_prompt(&mut self) {
        if self.request == self.turn.title {
            self.request.clear();
            self.request_whole.clear();
        }
        self.turn = Turn::default();
    }

    /// Takes what a prompt says against the work before it.
    fn work_judged(&mut self, prompt: &str, has_answer: bool) {
        if human::disputes(prompt) {
            if has_answer {
                self.results.dispute(human::objects(prompt), human::replaces(prompt));
            }
            self.undone.objected(prompt);
        }
        if human::leaves_out(prompt) {
            self.undone.ruled_out(prompt);
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
        // Whoever interrupts the agent answers nothing that it asked before.
        let asked = if self.interrupted { None } else { options::asked(&self.last_answer) };
        self.user_changes_mind(prompt, source, settled);
        if !self.record_late_answer(prompt, source, settled) {
            let answers_last = self.weighed.is_empty()
                || !human::is_consent(prompt)
                || !options::resolve_all(prompt, &self.last_answer).is_empty();
            let answer = if answers_last { &self.last_answer } else { &self.weighed }.clone();
            self.record_choice(prompt, &answer, about, agreed_by, source, settled);
        }
        // A standing rule, or a correction, is a person's word.
        let typed = if is_from_program { "" } else { human::typed(prompt) };
        self.record_directives(typed, about, source, settled);
        if !human::is_consent(prompt) && human::plan(prompt).is_none() {
            self.asked_rulings.clear();
        }
        if !is_from_program {
            self.record_settled(prompt, about, source, settled);
            if self.turns > 1 {
                let answers = asked.as_deref().map_or(Answers::Work, Answers::Question);
                self.record_rulings(typed, about, answers, source, settled);
                self.await_concession(prompt, about, source);
            }
        }
        if let Some(plan) = human::plan(prompt).map(commits::unwrapped) {
            self.plan_taken_up(&plan, agreed_by, 35, source, settled);
        }
    }

    /// Begins the turn of a prompt, which asks for `title`.
    fn begin_turn(&mut self, prompt: &str, title: String, substantive: bool, source: LineRef) {
        let consents = human::takes_up(prompt, &self.open_question);
        self.open_question.clear();
        let plan = human::plan(prompt);
        self.turn = Turn::begin(source, title, plan.unwrap_or(prompt), substantive);
        let corrects = human::corrects(&self.turn.title) || human::refutes(prompt);
        self.turn.is_aside = human::is_paste(prompt) || human::excuses(prompt) || corrects;
        self.turn.is_chore = human::asks_record(prompt);
        self.turn.consents = consents;
        self.turn.names_item = options::names_item(prompt, &self.last_answer);
        if plan.is_some() {
            self.turn.take_plan();
        }
    }

    /// Returns the pull requests of the session that a sentence speaks of: those that it names, all, or the latest.
    fn pull_requests_meant(&self, sentence: &str) -> Vec<u32> {
        let all: Vec<u32> = self.commits.iter().filter_map(|commit| commits::pull_request_number(commit)).collect();
        let digits = |part: &str| part[..part.bytes().take_while(u8::is_ascii_digit).count()].parse().ok();
        let named: Vec<u32> = sentence.split('#').skip(1).filter_map(digits).collect();
        if !named.is_empty() {
            return all.into_iter().filter(|number| named.contains(number)).collect();
        }
        let latest = if human::speaks_of_all(sentence) { 0 } else { all.len().saturating_sub(1) };
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
}
