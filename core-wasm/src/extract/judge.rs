//! Judges how much a statement is worth to a later session: a linear model over its form, its place and what happened
//! around it.
//!
//! The features say nothing about the subject or the language, so what was learned from some repositories holds for
//! others. `examples/train.rs` trains the weights; CONTRIBUTING.md says how.

use super::prose;
use super::signs;
use super::statement::{self, Form, Statement, Voice};
use super::weights::WEIGHTS;
use crate::text;

/// The number of features of a statement, before they are combined with its voice.
pub(super) const BASE: usize = 68;

/// The number of weights: for each feature one for every voice, and one that all voices share.
pub(super) const COUNT: usize = BASE * 5;

/// What happened around a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each a feature of its own")]
pub(super) struct Setting {
    /// Whether its turn changed files.
    pub edited: bool,
    /// Whether its turn made a commit.
    pub committed: bool,
    /// Whether a command or an edit failed in its turn.
    pub failed: bool,
    /// The length of the turn's prompt, in characters.
    pub prompt_chars: u32,
    /// Whether its turn is the first one.
    pub is_first: bool,
    /// How many later turns have an answer.
    pub later_turns: usize,
    /// Whether a later turn changed files.
    pub edited_later: bool,
    /// The share of its names that later turns mention, 0 to 1.
    pub mentioned_later: f32,
}

/// The features of one statement, each from 0 to 1.
pub(super) type Features = [f32; BASE];

/// Returns the score of a statement. Above 0 it is more likely than not that a later session should be told.
pub(super) fn score(statement: &Statement, setting: &Setting) -> f32 {
    let voice = BASE * (1 + statement.voice as usize);
    features(statement, setting)
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0.0)
        .map(|(at, value)| value * (WEIGHTS[at] + WEIGHTS[voice + at]))
        .sum()
}

/// Returns the features of a statement.
pub(super) fn features(statement: &Statement, setting: &Setting) -> Features {
    let mut all = FeatureList::default();
    all.add(true);
    add_form(&mut all, statement);
    add_words(&mut all, &statement.text);
    add_setting(&mut all, statement, setting);
    debug_assert_eq!(all.count, BASE);
    all.values
}

struct FeatureList {
    values: Features,
    count: usize,
}

impl Default for FeatureList {
    fn default() -> Self {
        Self { values: [0.0; BASE], count: 0 }
    }
}

impl FeatureList {
    fn value(&mut self, value: f32) {
        self.values[self.count] = value.clamp(0.0, 1.0);
        self.count += 1;
    }

    fn add(&mut self, holds: bool) {
        self.value(f32::from(u8::from(holds)));
    }

    /// Adds one feature for each step: whether `value` lies on it. The last step has no upper bound.
    fn steps(&mut self, value: usize, steps: usize) {
        for step in 0..steps {
            self.add(value.min(steps - 1) == step);
        }
    }

    /// Adds `count` as a share of `most`.
    fn share(&mut self, count: usize, most: u8) {
        let count = u8::try_from(count).unwrap_or(u8::MAX).min(most);
        self.value(f32::from(count) / f32::from(most));
    }
}

fn add_form(all: &mut FeatureList, statement: &Statement) {
    for form in [Form::Sentence, Form::Item, Form::Heading, Form::Row] {
        all.add(statement.form == form);
    }
    let (place, count) = (usize::from(statement.place), usize::from(statement.count.max(1)));
    all.add(place == 0);
    all.add(place < 3);
    all.add(place + 1 == count);
    all.steps(4 * place / count, 4);
    all.steps(count / 8, 5);
    all.add(!statement.heading.is_empty());
}

fn add_words(all: &mut FeatureList, said: &str) {
    let lower = text::lower(said);
    let wide = !said.is_ascii() && text::language(said) != text::Language::English;
    // A sentence in a script without spaces says as much in half the characters.
    let length = said.chars().count() * if wide { 2 } else { 1 };
    all.steps(length / 40, 7);
    all.add(statement::is_question(said));
    all.add(said.ends_with([':', '：']));
    all.add(prose::is_narration(said));
    all.add(prose::is_filler(said));
    all.add(prose::is_speculation(&lower));
    all.add(prose::is_pointer(&lower));
    all.add(prose::is_change_note(&lower));
    let (cause, reason) = prose::signs(&lower);
    all.share(usize::from(cause), 4);
    all.share(usize::from(reason), 4);
    all.share(said.matches('`').count() / 2, 3);
    all.add(said.bytes().any(|byte| byte.is_ascii_digit()));
    all.add(prose::file_in(said).is_some());
    all.share(statement::names(said).len(), 4);
    all.add(said.contains(['✅', '✓']));
    all.add(said.contains(['❌', '✗', '⚠']));
    all.add(lower.contains("test") || said.contains("테스트") || said.contains("テスト"));
    all.add(wide);
    all.add(said.contains(['→', '=']));
    all.add(signs::is_guess(&lower));
    all.add(signs::is_praise(&lower));
    all.add(signs::is_code(said));
}

fn add_setting(all: &mut FeatureList, statement: &Statement, setting: &Setting) {
    let question = statement::is_question(&statement.text);
    let last = setting.later_turns == 0;
    all.add(setting.edited);
    all.add(setting.committed);
    all.add(setting.failed);
    all.steps(setting.later_turns, 4);
    all.add(setting.edited_later);
    all.add(setting.edited && setting.edited_later);
    all.add(!setting.edited && setting.edited_later);
    all.add(!setting.edited && last);
    all.add(question && last);
    let open = signs::is_open_state(&statement.text.to_lowercase());
    all.add(open && last);
    all.add(open && !last);
    all.value(setting.mentioned_later);
    all.value(if setting.edited_later { setting.mentioned_later } else { 0.0 });
    all.add(setting.is_first);
    all.steps(setting.prompt_chars as usize / 250, 5);
}

/// Returns the position of each weight that a statement of this voice uses for its features: the shared one and the
/// voice's own.
pub(super) fn positions(voice: Voice, feature: usize) -> [usize; 2] {
    [feature, BASE * (1 + voice as usize) + feature]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn statement(text: &str, voice: Voice) -> Statement {
        Statement { text: text.to_owned(), voice, count: 1, ..Statement::default() }
    }

    #[test]
    fn there_is_a_weight_for_each_feature() {
        features(&Statement::default(), &Setting::default());
        assert_eq!(WEIGHTS.len(), COUNT);
    }

    #[test]
    fn narration_is_worth_less_than_a_cause() {
        let setting = Setting { edited: true, ..Setting::default() };
        let cause = "The hook failed because `bun test` also ran the copies in `tmp/clones/`.";
        let narration = "Let me look at the next file.";
        for voice in [Voice::Answer, Voice::Work] {
            let (cause, narration) = (statement(cause, voice), statement(narration, voice));
            assert!(score(&cause, &setting) > score(&narration, &setting), "{voice:?}");
        }
    }

    proptest! {
        #[test]
        fn scores_are_finite(text in "\\PC{0,200}", later in 0_usize..9, share in 0.0_f32..1.0) {
            let setting = Setting { later_turns: later, mentioned_later: share, ..Setting::default() };
            prop_assert!(score(&statement(&text, Voice::Human), &setting).is_finite());
        }
    }
}
