//! Compares memories with the files that an agent loads on its own: a statement that such a file already contains is not
//! repeated.

use throughline_model::contract::{Memory, SessionNotes};

/// The shortest statement that counts, in characters. A shorter one may stand in a text by chance.
const MIN_CHARS: usize = 12;

/// The words of the files that an agent loads by itself.
#[derive(Debug, Clone, Default)]
pub struct LoadedText(String);

impl LoadedText {
    /// Takes the words of these texts.
    #[must_use]
    pub fn new(texts: &[String]) -> Self {
        Self(texts.iter().map(|text| words(text)).collect::<Vec<_>>().join("\n"))
    }

    /// Returns whether one of the texts contains the statement, ignoring punctuation and white space between words.
    pub fn says(&self, statement: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let statement = words(statement);
        statement.chars().count() >= MIN_CHARS && self.0.contains(&format!(" {} ", statement.trim()))
    }

    /// Removes memories that the texts state.
    pub(super) fn without_stated(&self, mut memories: Vec<Memory>) -> Vec<Memory> {
        memories.retain(|memory| {
            let text = if memory.content.trim().is_empty() { &memory.title } else { &memory.content };
            !self.says(text)
        });
        memories
    }

    /// Removes from a session's notes what the texts state. What was done and what is left stays: it is no rule.
    pub(super) fn leave_out(&self, notes: &mut SessionNotes) {
        notes.preferences.retain(|text| !self.says(text));
        notes.learnings.retain(|text| !self.says(text));
        // A reason that the texts do not give is worth telling.
        notes.decisions.retain(|decision| !decision.why.is_empty() || !self.says(&decision.what));
        notes.discoveries.retain(|discovery| !self.says(&discovery.insight));
    }
}

/// Returns the words in lower case, each with a blank before it, and a blank at the end.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    for c in text.chars() {
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_found_whatever_its_marks() {
        let loaded =
            LoadedText::new(&["# Rules\n\n- Always use `pnpm`,\n  never npm.\n- 커밋 메시지는 한국어로 쓴다\n".to_owned()]);
        assert!(loaded.says("always use pnpm, never npm"));
        assert!(loaded.says("커밋 메시지는 한국어로 쓴다."));
        for other in ["always use pnpm, never np", "use yarn, never npm at all", "never npm", ""] {
            assert!(!loaded.says(other), "{other}");
        }
        assert!(!LoadedText::default().says("always use pnpm, never npm"));
    }

    #[test]
    fn rules_are_left_out_and_what_was_done_stays() {
        let rule = "always use pnpm, never npm";
        let loaded = LoadedText::new(&[rule.to_owned()]);
        let mut notes = SessionNotes { preferences: vec![rule.into()], done: vec![rule.into()], ..SessionNotes::default() };
        loaded.leave_out(&mut notes);
        assert!(notes.preferences.is_empty() && notes.done.len() == 1);
        let memory = |content: &str| Memory { content: content.into(), ..Memory::default() };
        let kept = loaded.without_stated(vec![memory(rule), memory("always use pnpm, never npm\nWhy: it is faster")]);
        assert_eq!(kept.len(), 1);
    }
}
