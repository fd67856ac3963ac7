//! What one turn gave: its statements, and what happened in it.

use serde::{Deserialize, Serialize};

use crate::extract::human::{self, Confirmation, Denial};
use crate::extract::judge::{self, Setting};
use crate::extract::memories::LineRef;
use crate::extract::prose;
use crate::extract::signs::{self, Step};
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::extract::turn::Acts;
use crate::text;

/// The length up to which a prompt asks for nothing if nothing was done, in characters: "clear".
const MAX_CHAT_CHARS: u32 = 12;
/// The length up to which one word only calls the agent, in characters.
const MAX_CALL_CHARS: u32 = 12;
/// The length from which a line that leads to the parts of an answer says what was done, in characters: not "Fixed the till:".
const MIN_DEED_CHARS: usize = 24;

/// The minimum length of a verdict, in characters.
const MIN_VERDICT_CHARS: usize = 10;

/// The number of numbered headings from which they are a list.
const MIN_TITLES: usize = 3;

/// The number of statements that open an answer.
const MAX_OPENING: u16 = 2;

/// The number of words from which a line that leads to a list says what was done: not "Changed the following files:".
const MIN_DEED_WORDS: usize = 7;

/// The number of words from which a line says what the items of the list below it are, and up to which it is worth its room.
const MIN_LEAD_WORDS: usize = 4;
const MAX_LEAD_WORDS: usize = 24;

/// One turn that is over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each a feature of its own")]
pub(in crate::extract) struct TurnResult {
    /// The line of the prompt.
    pub source: LineRef,
    /// The number of the turn in the session.
    pub number: u32,
    /// The essence of the request.
    pub asked: String,
    /// All that the user said for it. May be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub whole: String,
    /// What the prompt says against the success of the work before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// What the prompt says for the success of the work before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// What the user added while the agent worked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The statements that may be worth telling.
    pub statements: Vec<Statement>,
    /// What was checked, in one sentence. May be empty.
    pub checked: String,
    /// The yes or no with which it answers a question. May be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub yes_or_no: String,
    /// The files that the turn changed or read.
    pub files: Vec<String>,
    /// The length of the prompt, in characters.
    pub prompt_chars: u32,
    /// Whether the turn changed files.
    pub edited: bool,
    /// Whether it changed a file that does not only describe something.
    pub built: bool,
    /// How many runs of the session came before the first and before the last change of code. None without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<(u32, u32)>,
    /// Whether the turn made a commit.
    pub committed: bool,
    /// Whether it pushed a branch, and whether it merged one or a pull request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pushed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// Whether something failed in the turn.
    pub failed: bool,
    /// Whether the request asks for something of its own.
    pub substantive: bool,
    /// Whether the request asks to commit, to push or to go on: what the agent says on the way is about that.
    pub is_chore: bool,
    /// Whether the next prompt disputes or amends what the turn gave.
    pub disputed: bool,
    /// Whether the next prompt says that what the turn gave is wrong, or wants something else in place of what it only proposed.
    pub is_objected: bool,
    /// Whether the agent gave in to the next prompt.
    pub conceded: bool,
    /// Whether it also took back what the turn did.
    pub reverted: bool,
    /// Whether later turns took back all that it changed in files.
    #[serde(skip)]
    pub is_taken_back: bool,
    /// Whether the turn proposed a plan that the user refused.
    pub is_refused: bool,
    /// Whether the prompt asks to carry out a plan.
    pub carries_plan: bool,
    /// Whether a program wrote the prompt, and states a rule in it or speaks after a human: nobody asked for that.
    #[serde(alias = "is_rule_of_program")]
    pub is_unasked: bool,
    /// Whether the prompt agrees to what the answer before it offered.
    pub consents: bool,
    /// Whether the next prompts ask to check what the turn said.
    pub doubted: bool,
    /// Whether the answer ends with a list and the question which of its items somebody wants.
    pub offers: bool,
    /// Whether the agent used tools, also such as change no files.
    pub used_tools: bool,
    /// Whether the agent may have changed something beside files: a branch, an issue, a service.
    pub acted: bool,
    /// What it ran that may have changed something.
    #[serde(skip_serializing_if = "Acts::is_empty")]
    pub acts: Acts,
    /// Whether the agent was still at work when the turn ended.
    pub is_unfinished: bool,
}

impl TurnResult {
    pub(super) fn setting(&self, is_first: bool) -> Setting {
        Setting {
            edited: self.edited,
            committed: self.committed,
            failed: self.failed,
            prompt_chars: self.prompt_chars,
            is_first,
            ..Setting::default()
        }
    }

    /// Returns whether somebody said that what the turn gave does not hold.
    pub(super) fn is_withdrawn(&self) -> bool {
        self.is_objected || self.conceded || self.reverted
    }

    /// Returns all that the user said for the turn as far as it is known.
    pub(in crate::extract) fn said(&self) -> &str {
        if self.whole.is_empty() { &self.asked } else { &self.whole }
    }

    /// Returns whether the turn changed something.
    pub(in crate::extract) fn has_work(&self) -> bool {
        self.edited || self.committed
    }

    /// Returns whether the turn made a step on the way into the main branch.
    pub(super) fn makes(&self, step: Step) -> bool {
        match step {
            Step::Commit => self.committed,
            Step::Push => self.pushed,
            Step::Merge => self.merged,
        }
    }

    /// Returns whether the turn only committed what earlier ones did.
    pub(in crate::extract) fn only_commits(&self) -> bool {
        self.committed && !self.edited
    }

    /// Returns whether nothing was done in the turn, and nothing was asked for.
    pub(in crate::extract) fn is_chat(&self) -> bool {
        !self.has_work()
            && !self.failed
            && self.files.is_empty()
            && (!self.substantive || self.prompt_chars <= MAX_CHAT_CHARS)
    }

    /// Returns whether its prompt is one word, for which nothing was done: it only calls the agent.
    pub(in crate::extract) fn only_calls(&self) -> bool {
        let is_word = !self.asked.is_empty() && !self.asked.contains(char::is_whitespace);
        is_word && self.is_chat() && (1..=MAX_CALL_CHARS).contains(&self.prompt_chars)
    }

    /// Returns the words of all that it states.
    pub(super) fn words(&self) -> text::Features {
        self.statements.iter().flat_map(|statement| text::features(&statement.text)).collect()
    }

    pub(super) fn names(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.statements.iter().flat_map(|statement| statement::names(&statement.text)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Keeps the best statements as they look now, up to `max_bytes`. Those that open the answer, give its verdict or head its parts all stay
    /// and do not count, because the rest is not understood without them.
    pub(super) fn limit(&mut self, is_first: bool, max_bytes: usize) {
        // A letter of Korean or Japanese has three bytes, but says what one and a half of English do.
        let size = |statement: &Statement| 80 + text::width(&statement.text) + text::width(&statement.heading);
        // To judge them takes a seventh of an extraction, and most turns are short.
        if self.statements.iter().map(size).sum::<usize>() <= max_bytes {
            return;
        }
        let setting = self.setting(is_first);
        let mut order: Vec<usize> = (0..self.statements.len()).collect();
        let scores: Vec<f32> = self.statements.iter().map(|statement| judge::score(statement, &setting)).collect();
        let frame: Vec<bool> = order.iter().map(|&at| self.frames_answer(at)).collect();
        order.sort_by(|&one, &other| {
            frame[other].cmp(&frame[one]).then(scores[other].total_cmp(&scores[one])).then(one.cmp(&other))
        });
        let mut bytes = 0;
        order.retain(|&at| {
            bytes += if frame[at] { 0 } else { size(&self.statements[at]) };
            bytes <= max_bytes
        });
        let mut at = 0..;
        self.statements.retain(|_| at.next().is_some_and(|at| order.contains(&at)));
    }

    /// Returns whether a statement is one of the first of the answer and says something, its verdict, or one of its titles.
    fn frames_answer(&self, number: usize) -> bool {
        let it = &self.statements[number];
        let opens = || it.place < MAX_OPENING && it.text.chars().count() >= MIN_VERDICT_CHARS;
        let says = || !prose::is_filler(&it.text) && !prose::is_narration(&it.text) && !it.text.ends_with('!');
        (it.voice == Voice::Answer && (opens() || (it.form == Form::Heading && it.number > 0)) && says())
            || self.is_verdict(number)
    }

    /// Returns whether a statement is an item below a line that offers a choice. Once somebody chose, the choice holds.
    pub(super) fn is_option(&self, number: usize) -> bool {
        let item = &self.statements[number];
        let is_listed = || {
            let is_led = || self.lead(number).is_some_and(|lead| signs::lists_options(&lead.text.to_lowercase()));
            let is_item = matches!(item.form, Form::Item | Form::Row) && item.voice != Voice::Human;
            is_item
                && !standing::tells_work(&item.text.to_lowercase())
                && (signs::lists_options(&item.heading.to_lowercase()) || is_led())
        };
        ((!self.has_work() || self.asks_which(number)) && self.is_offered(number))
            || is_listed()
            || self.is_last_offer(number)
    }

    /// Returns whether an item stands in the list with which the answer ends, if somebody is to choose from that.
    fn is_last_offer(&self, number: usize) -> bool {
        let tells_work = || standing::tells_work(&self.statements[number].text.to_lowercase());
        self.offers && self.lists().last().is_some_and(|list| list.contains(&number)) && !tells_work()
    }

    /// Returns whether the text of an item asks behind it which one the user wants.
    fn asks_which(&self, number: usize) -> bool {
        let item = &self.statements[number];
        self.statements[number + 1..]
            .iter()
            .take_while(|it| (it.count, it.voice) == (item.count, item.voice) && it.place > item.place)
            .any(|it| statement::is_question(&it.text) && signs::asks_to_choose(&it.text.to_lowercase()))
    }

    /// Returns whether a statement is an item below a line that offers options.
    pub(super) fn is_offered(&self, number: usize) -> bool {
        let item = &self.statements[number];
        if !matches!(item.form, Form::Item | Form::Row) || item.voice == Voice::Human {
            return false;
        }
        let leads = signs::offers_options(&item.heading.to_lowercase());
        leads
            || self.is_beside_recommended(number)
            || self.lead(number).is_some_and(|lead| signs::offers_options(&lead.text.to_lowercase()))
    }

    /// Returns whether a statement stands in a list of which one item is recommended: the items are ways to choose from.
    fn is_beside_recommended(&self, number: usize) -> bool {
        let is_recommended = |at: usize| text::contains_any(&self.statements[at].text.to_lowercase(), signs::RECOMMENDED);
        self.lists().into_iter().any(|list| list.contains(&number) && list.len() > 1 && list.clone().any(is_recommended))
    }

    /// Returns whether a statement is the first of the answer that says something: what it points to is what was asked for.
    pub(super) fn opens_answer(&self, statement: &Statement) -> bool {
        let is_before = |it: &&Statement| it.voice == Voice::Answer && it.place < statement.place;
        let is_empty = |it: &Statement| prose::is_filler(&it.text);
        statement.voice == Voice::Answer && self.statements.iter().filter(is_before).all(is_empty)
    }

    /// Returns whether a statement opens the answer, says what was done, and leads to something else than a list.
    pub(super) fn opens_with_deed(&self, number: usize) -> bool {
        let statement = &self.statements[number];
        let lower = text::lower(&statement.text);
        let next = self.statements.get(number + 1);
        self.edited
            && statement.form == Form::Sentence
            && is_lead(&statement.text)
            && statement.text.chars().count() >= MIN_DEED_CHARS
            && self.opens_answer(statement)
            && opens_with_change(&lower)
            && !text::contains_words(&lower, "following")
            && !signs::addresses_reader(&lower)
            && !prose::is_narration(&statement.text)
            && next.is_none_or(|next| {
                next.form == Form::Heading || next.heading != statement.heading || next.place != statement.place + 1
            })
    }

    /// Returns whether a line that leads to a list stands behind something else than a heading, says what the items are, and offers nothing.
    pub(super) fn needs_lead(&self, lead: usize) -> bool {
        let statement = &self.statements[lead];
        let lower = text::lower(&statement.text);
        let words = statement.text.split_whitespace().count();
        lead.checked_sub(1).is_some_and(|above| self.statements[above].form != Form::Heading)
            && statement.form == Form::Sentence
            && (MIN_LEAD_WORDS..=MAX_LEAD_WORDS).contains(&words)
            && !prose::is_filler(&statement.text)
            && !prose::is_narration(&statement.text)
            && !prose::is_pointer(&lower)
            && !signs::is_offer(&lower)
            && !signs::is_intent(&lower)
            && !signs::offers_options(&lower)
            && !signs::lists_options(&lower)
            && !signs::is_proposals(&statement.text)
            && !statement.is_proposed
    }

    /// Returns whether a line of the answer that leads to a list says itself what was done: "Replaced the slow test with three fast ones:".
    pub(super) fn leads_with_deed(&self, number: usize) -> bool {
        let statement = &self.statements[number];
        self.edited
            && statement.form == Form::Sentence
            && statement.voice == Voice::Answer
            && is_lead(&statement.text)
            && statement.text.split_whitespace().count() >= MIN_DEED_WORDS
            && opens_with_change(&statement.text.to_lowercase())
    }

    /// Returns whether a statement of the answer is its verdict: it opens with that word, or stands first below it.
    pub(super) fn is_verdict(&self, number: usize) -> bool {
        let statement = &self.statements[number];
        let is_label = |said: &str| standing::is_short_answer(&said.to_lowercase());
        let is_first = || number == 0 || self.statements[number - 1].heading != statement.heading;
        let says = match statement.form {
            Form::Heading => is_label(&statement.text) && statement.text.contains([':', '：', '—']),
            _ => is_label(&statement.text) || (is_label(&statement.heading) && is_first()),
        };
        says && statement.voice == Voice::Answer
            && statement.text.chars().count() >= MIN_VERDICT_CHARS
            && !statement::is_question(&statement.text)
    }

    /// Returns the line that leads to the list in which an item stands.
    pub(super) fn lead(&self, number: usize) -> Option<&Statement> {
        let item = &self.statements[number];
        let above = self.statements[..number].iter().rev().find(|earlier| {
            (earlier.count, earlier.voice) == (item.count, item.voice) && !matches!(earlier.form, Form::Item | Form::Row)
        });
        above.filter(|above| is_lead(&above.text))
    }

    /// Returns the places of the items of each list of the agent's answer.
    pub(super) fn lists(&self) -> Vec<std::ops::Range<usize>> {
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

    /// Returns the places of the headings of the answer that have the numbers 1, 2, 3 and so on, each such series apart, if they offer no choice.
    pub(super) fn titles(&self) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = Vec::new();
        let is_title = |it: &Statement| {
            let lower = it.text.to_lowercase();
            it.voice == Voice::Answer
                && it.form == Form::Heading
                && it.number > 0
                && !standing::is_numbered_option(&lower)
                && !statement::is_question(&it.text)
        };
        for (at, title) in self.statements.iter().enumerate().filter(|(_, it)| is_title(it)) {
            let goes_on = |titles: &&mut Vec<usize>| {
                let last = &self.statements[titles[titles.len() - 1]];
                (last.count, last.number + 1) == (title.count, title.number)
            };
            match all.iter_mut().rev().find(goes_on) {
                Some(titles) => titles.push(at),
                None if title.number == 1 => all.push(vec![at]),
                None => {}
            }
        }
        all.retain(|titles| titles.len() >= MIN_TITLES);
        all
    }

    /// Returns the places of what the answer says below each heading such as "The fix": its statements, or the numbered headings
    /// below it.
    pub(super) fn fixes(&self) -> Vec<Vec<usize>> {
        let is_numbered = |heading: &str| heading.starts_with(|c: char| c.is_ascii_digit());
        let mut all: Vec<Vec<usize>> = Vec::new();
        let mut is_inside = false;
        for (at, statement) in self.statements.iter().enumerate() {
            let is_heading = statement.form == Form::Heading;
            let above = if is_heading { &statement.text } else { &statement.heading };
            if statement.voice != Voice::Answer {
                is_inside = false;
            } else if signs::is_fix_heading(above) {
                if !is_inside || is_heading {
                    all.push(Vec::new());
                }
                is_inside = true;
                if let Some(fix) = all.last_mut().filter(|_| !is_heading) {
                    fix.push(at);
                }
            } else if !(is_inside && is_numbered(above)) {
                is_inside = false;
            } else if let Some(fix) = all.last_mut().filter(|_| is_heading) {
                fix.push(at);
            }
        }
        all.retain(|fix| !fix.is_empty());
        all
    }

    /// Returns the places of the list's items below the line that leads to them.
    pub(super) fn items_below(&self, lead: usize) -> impl Iterator<Item = usize> + Clone {
        let first = &self.statements[lead];
        (lead + 1..self.statements.len()).take_while(move |at| {
            let item = &self.statements[*at];
            // The places show whether an item was dropped, or belongs to another text.
            let is_next = usize::from(item.place) == usize::from(first.place) + at - lead;
            is_next && (item.count, item.voice) == (first.count, first.voice) && matches!(item.form, Form::Item | Form::Row)
        })
    }
}

/// Returns whether a text in lower case opens with what somebody changed: "I've added a lock".
fn opens_with_change(lower: &str) -> bool {
    const DEEDS: [&str; 19] = [
        "added",
        "changed",
        "converted",
        "created",
        "deleted",
        "dropped",
        "extracted",
        "fixed",
        "implemented",
        "made",
        "moved",
        "refactored",
        "removed",
        "renamed",
        "replaced",
        "rewrote",
        "simplified",
        "switched",
        "updated",
    ];
    let said = ["i've ", "i’ve ", "i have ", "i "].iter().find_map(|lead| lower.strip_prefix(lead)).unwrap_or(lower);
    let said = said.strip_prefix("successfully ").unwrap_or(said);
    // "Made these changes" does not say which.
    let is_empty = said.starts_with("made ")
        && text::contains_any_words(said, &["changes", "edits", "fixes", "improvements", "updates"]);
    DEEDS.contains(&said.split(' ').next().unwrap_or_default()) && !is_empty
}

/// Returns whether a statement only leads to what follows it.
pub(in crate::extract) fn is_lead(said: &str) -> bool {
    said.ends_with([':', '：'])
}

/// Returns the share of words or names for which `is_there` returns true.
pub(super) fn share_of<'a, T: 'a>(own: impl IntoIterator<Item = &'a T>, is_there: impl Fn(&T) -> bool) -> f32 {
    let (mut part, mut all) = (0, 0);
    for one in own {
        part += usize::from(is_there(one));
        all += 1;
    }
    share(part, all)
}

/// Returns which share of all a part is.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(in crate::extract) fn share(part: usize, all: usize) -> f32 {
    if all == 0 { 0.0 } else { part as f32 / all as f32 }
}

/// Returns whether the prompt after a turn turns down what the turn gave.
pub(in crate::extract) fn is_dismissed(turns: &[TurnResult], at: usize) -> bool {
    let next = turns[at + 1..].iter().find(|next| next.number != turns[at].number);
    next.is_some_and(|next| human::dismisses(next.said()))
}
