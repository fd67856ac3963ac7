//! Where a session stands, as the client wrote it down for a user who was away.
//!
//! Newer clients write such a recap: two or three sentences with the aim, the state and the next step. It stands alone, which
//! few sentences of a conversation do.

use serde::{Deserialize, Serialize};

use super::clean;
use crate::text;

/// The maximum length of a recap, in bytes.
const MAX_BYTES: usize = 1_000;

/// The words with which the sentence about the next step begins.
const NEXT: &[&str] = &["next", "다음", "次", "下一步", "接下来", "siguiente", "nächste", "prochaine", "далее", "следующ"];

/// A recap. Empty if there is none that holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Recap {
    /// The aim and the state.
    state: String,
    /// The next step. May be empty.
    next: String,
    /// Whether somebody typed something since.
    is_prompted: bool,
}

impl Recap {
    /// Reads what the client wrote. It ends with the client's own advice in parentheses, which names a command.
    pub(super) fn of(content: &str) -> Self {
        let content = text::one_line(&clean::block(content, MAX_BYTES));
        let is_advice = |at: usize| content.ends_with(')') && content[at..].contains("/config");
        let said = content.rfind(" (").filter(|at| is_advice(*at)).map_or(content.as_str(), |at| &content[..at]);
        let is_next = |sentence: &String| NEXT.iter().any(|word| sentence.to_lowercase().starts_with(word));
        let (next, state): (Vec<String>, Vec<String>) = text::sentences(said).into_iter().partition(is_next);
        Self { state: state.join(" "), next: next.join(" "), is_prompted: false }
    }

    /// Records a prompt: one that asks for something of its own ends what the recap says.
    pub(super) fn prompted(&mut self, is_substantive: bool) {
        if is_substantive {
            *self = Self::default();
        }
        self.is_prompted = true;
    }

    /// Records that the agent uses a tool. If somebody asked for it since, the recap says how it was before.
    pub(super) fn worked(&mut self) {
        if self.is_prompted {
            *self = Self::default();
        }
    }

    /// Returns the sentences about the aim and the state.
    pub(super) fn state(&self) -> &str {
        &self.state
    }

    /// Records that the agent changed files.
    pub(super) fn file_edited(&mut self) {
        *self = Self::default();
    }

    /// Returns the recap on one line. Empty if there is none.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.state, self.next).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Totals of the cart are rounded; all 12 tests pass, nothing committed. Next: commit and push. (disable recaps \
                        in /config)";

    #[test]
    fn the_advice_of_the_client_is_left_out() {
        let line = Recap::of(SAID).line();
        assert!(line.ends_with("nothing committed. Next: commit and push."), "{line}");
        assert_eq!(Recap::of("The cart (with tax) is done.").line(), "The cart (with tax) is done.");
    }

    #[test]
    fn a_recap_holds_until_somebody_asks_for_work() {
        let mut recap = Recap::of(SAID);
        recap.worked();
        recap.prompted(false);
        assert!(recap.line().ends_with("Next: commit and push."), "thanks");
        recap.worked();
        assert_eq!(recap.line(), "", "go ahead");
        let mut recap = Recap::of(SAID);
        recap.prompted(true);
        assert_eq!(recap.line(), "");
    }
}
