//! Judges whether what a search found for a prompt is worth the agent's attention.
//!
//! A linear model over the form of the prompt and how well the best results match it. The weights come from a logistic
//! regression over the prompts of `tests/rules` and of sessions that readers judged; CONTRIBUTING.md says how.

use crate::bindings::throughline::policy::types::Memory;
use crate::query::form::PromptForm;

/// How many of the best results the closest meaning is taken from.
const EXAMINED: usize = 3;
/// How many of the best results are compared by their sessions.
const COMPARED: usize = 6;
/// The length above which a prompt has so many words that some of them match anything, in characters.
const LONG: usize = 160;
/// The length from which more characters say no more.
const MAX_LENGTH: f32 = 150.0;

/// The number of features.
const COUNT: usize = 11;

/// The weights, in the order of [`features`].
const WEIGHTS: [f32; COUNT] = [4.38, 3.46, 2.17, 1.02, 0.84, -2.96, -2.17, -5.13, 0.64, 1.70, 1.54];
/// What is added to their sum. It is 0.9 below what the regression gives: to say nothing costs less than to say something
/// that does not help.
const OFFSET: f32 = -12.7;

/// Returns the evidence that the results answer the prompt: above 0 they are worth showing.
pub(super) fn evidence(form: &PromptForm, found: &[Memory]) -> f32 {
    features(form, found).iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum::<f32>() + OFFSET
}

/// Returns the features.
pub(super) fn features(form: &PromptForm, found: &[Memory]) -> [f32; COUNT] {
    let best = found.iter().map(|memory| memory.score).fold(0.0, f32::max);
    let closest = found.iter().take(EXAMINED).map(cosine).fold(0.0, f32::max);
    let is = |holds: bool| f32::from(u8::from(holds));
    #[expect(clippy::cast_precision_loss, reason = "a length in characters")]
    let length = (form.length as f32).clamp(1.0, MAX_LENGTH).ln();
    [
        best,
        closest,
        length,
        is(form.asks),
        is(form.reports_trouble),
        is(form.orders),
        is(form.chats),
        is(form.length > LONG),
        is(form.is_wide),
        // The built-in model knows no other language, so the words have to do more. Those of an order name what it is to change.
        best * is(form.is_wide && !form.orders),
        concentration(found),
    ]
}

/// Returns the share of the best results that come from one session. Several pieces of one session that match are
/// better evidence than pieces of many. A later session that may have changed a result counts as its session.
fn concentration(found: &[Memory]) -> f32 {
    let compared = &found[..found.len().min(COMPARED)];
    let subjects: Vec<&str> = compared.iter().map(|memory| subject(memory, found)).collect();
    let of_subject = |subject: &&str| subjects.iter().filter(|other| *other == subject).count();
    let most = subjects.iter().map(of_subject).max().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let share = most as f32 / compared.len().max(1) as f32;
    share
}

/// Returns the session that spoke last about what a result is about.
fn subject<'a>(memory: &'a Memory, found: &'a [Memory]) -> &'a str {
    let later = revisited_by(memory).and_then(|id| found.iter().find(|other| other.id == id));
    &later.unwrap_or(memory).session_id
}

/// Returns the identifier of the later memory that may have changed a memory.
pub(super) fn revisited_by(memory: &Memory) -> Option<&str> {
    memory.attributes.iter().find(|(name, _)| name == "revisited-by").map(|(_, id)| id.as_str())
}

/// Returns how close a result is to the prompt in meaning, as the host measured it.
fn cosine(memory: &Memory) -> f32 {
    memory.attributes.iter().find(|(key, _)| key == "match.cosine").and_then(|(_, value)| value.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(score: f32, cosine: &str) -> Vec<Memory> {
        let memory = Memory {
            id: "m".into(),
            session_id: "s".into(),
            kind: "learning".into(),
            title: String::new(),
            content: String::new(),
            keywords: Vec::new(),
            files: Vec::new(),
            importance: 0.5,
            created: 0,
            seen: 1,
            score,
            attributes: vec![("match.cosine".into(), cosine.into())],
        };
        vec![memory]
    }

    fn helps(prompt: &str, score: f32, cosine: &str) -> bool {
        evidence(&PromptForm::of(prompt), &found(score, cosine)) > 0.0
    }

    #[test]
    fn a_question_needs_less_than_an_order_and_thanks_need_most() {
        assert!(helps("why does the upload fail with an internal server error?", 0.35, "0.4"));
        assert!(!helps("write a Helm chart for the upload server and its workers", 0.35, "0.4"));
        assert!(!helps("thanks, that was the upload", 0.5, "0.4"));
    }

    #[test]
    fn nothing_found_helps_nobody() {
        assert!(evidence(&PromptForm::of("why does the upload fail?"), &[]) < 0.0);
    }

    #[test]
    fn unreadable_numbers_count_as_none() {
        assert!(evidence(&PromptForm::of("why?"), &found(f32::MIN, "NaN")).is_finite());
    }
}
