//! What the client's own permissions do not allow.

use serde::{Deserialize, Serialize};

use super::display::display_command;
use crate::extract::commands;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of refusals to keep.
const MAX_REFUSALS: usize = 6;
/// The maximum number of hashes of commands that passed.
const MAX_PASSED: usize = 96;
/// The maximum length of a command on a line, in characters.
const MAX_SHOWN_CHARS: usize = 100;

/// How the client begins when it does not allow a call.
const REFUSALS: &[&str] = &[
    "Permission for this action was denied",
    "Permission for this action has been denied",
    "Permission to use ",
    "This command requires approval",
    "Claude requested permissions to ",
];

/// A call that was not allowed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Refusal {
    /// The call, as it is told.
    what: String,
    /// The words that say what it does.
    verb: String,
    reason: String,
    source: LineRef,
}

/// The calls that were not allowed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Refusals {
    all: Vec<Refusal>,
    /// Hashes of what passed, by the words that say what a command does. Such a refusal was not one of the kind.
    passed: Vec<u32>,
}

/// Returns whether a result is the client's refusal of a call.
pub(in crate::extract) fn is_refusal(said: &str) -> bool {
    REFUSALS.iter().any(|opening| said.starts_with(opening))
}

/// Returns whether a command is about a file that is gone tomorrow, or about a variable.
fn is_passing(command: &str) -> bool {
    let has_variable = command.replace("\"$(", "").contains("\"$");
    has_variable || text::contains_any(command, &["/tmp/", "scratchpad"])
}

impl Refusals {
    /// Records a command that the client did not allow.
    pub(super) fn refused(&mut self, command: &str, said: &str, source: &LineRef) {
        let main = commands::main_segment(command);
        let reason =
            said.split_once("Reason: ").map(|(_, rest)| rest.split(". ").next().unwrap_or(rest)).unwrap_or_default();
        let reason = if reason.starts_with("Blocked by classifier") { "" } else { reason };
        let verb = commands::verb_words(main);
        // A rule of the settings names the whole command, the classifier judges what it does.
        let is_of_rule = said.starts_with("Permission to use ");
        let whole = display_command(command);
        let is_whole = whole.chars().count() <= MAX_SHOWN_CHARS;
        let shown = if is_whole || is_of_rule { whole } else { verb.join(" ") };
        let is_script = (is_of_rule && command.contains("<<")) || is_passing(&shown);
        let says_what = if is_of_rule { is_whole && commands::segments(command).len() == 1 } else { verb.len() > 1 };
        let (own, verb) = (commands::own_words(&shown), verb.join(" "));
        let is_known =
            self.all.iter().any(|known| commands::own_words(&known.what) == own || (!is_of_rule && known.verb == verb));
        if is_script || !says_what || is_known || self.passed.contains(&text::hash(&verb)) {
            return;
        }
        let reason = text::clip(&text::one_line(reason), 120).trim_end_matches('.').to_owned();
        self.all.push(Refusal { what: shown, verb, reason, source: source.clone() });
        if self.all.len() > MAX_REFUSALS {
            self.all.remove(0);
        }
    }

    /// Records a command that ran. What was refused before and runs now is allowed.
    pub(super) fn passed(&mut self, command: &str) {
        let display = display_command(command);
        for segment in commands::segments(command) {
            let verb = commands::verb_words(segment).join(" ");
            self.all.retain(|refusal| (refusal.verb != verb || !verb.contains(' ')) && refusal.what != display);
            let hash = text::hash(&verb);
            if verb.contains(' ') && !self.passed.contains(&hash) {
                self.passed.push(hash);
            }
        }
        let extra = self.passed.len().saturating_sub(MAX_PASSED);
        self.passed.drain(..extra);
    }

    /// Returns what is not allowed.
    pub(super) fn memories(&self, labels: &Labels) -> impl Iterator<Item = SessionMemory> {
        self.all.iter().map(move |refusal| {
            let mut content = format!("{}: `{}`", labels.not_allowed, refusal.what);
            if !refusal.reason.is_empty() {
                content = format!("{content} ({})", refusal.reason);
            }
            SessionMemory {
                key: format!("refused:{}", refusal.what),
                kind: "error_fix".to_owned(),
                title: text::clip(&content, 200).into_owned(),
                content,
                importance: 60,
                source: refusal.source.clone(),
                said_by: SaidBy::Tool,
                ..SessionMemory::default()
            }
        })
    }
}
