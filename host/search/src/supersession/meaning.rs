//! How alike statements are in meaning, as far as the built-in embedding model knows their words.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::relation::Statement;

/// What a text means.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// Its vector, of length 1.
    pub vector: Vec<f32>,
    /// The share of the text that the model knows, 0 to 1.
    pub known: f32,
}

/// Returns what a text means, or `None` if the model knows none of its words.
pub type Embed<'e> = dyn Fn(&str) -> Option<Meaning> + 'e;

type Known = Option<Rc<Meaning>>;

/// What statements mean. Each is computed when it is first asked for.
pub(super) struct Meanings<'s> {
    statements: &'s [Statement<'s>],
    embed: &'s Embed<'s>,
    known: RefCell<HashMap<usize, Known, foldhash::fast::RandomState>>,
}

impl<'s> Meanings<'s> {
    pub(super) fn new(statements: &'s [Statement<'s>], embed: &'s Embed<'s>) -> Self {
        Self { statements, embed, known: RefCell::default() }
    }

    /// Returns how alike two statements are in meaning, 0 to 1: their cosine, as far as the model knows both.
    pub(super) fn likeness(&self, one: usize, other: usize) -> f32 {
        let (Some(one), Some(other)) = (self.of(one), self.of(other)) else { return 0.0 };
        let cosine: f32 = one.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
        cosine.max(0.0) * one.known.min(other.known)
    }

    fn of(&self, at: usize) -> Known {
        if let Some(known) = self.known.borrow().get(&at) {
            return known.clone();
        }
        let Statement { title, content, .. } = self.statements[at];
        let meaning =
            if content.contains(title) { (self.embed)(content) } else { (self.embed)(&format!("{title}. {content}")) };
        let meaning = meaning.map(Rc::new);
        self.known.borrow_mut().insert(at, meaning.clone());
        meaning
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::nearness::Rivals;
    use super::super::similarity::Space;
    use super::*;

    const SPRAYED: [&str; 2] = ["how often is the shelf sprayed?", "The shelf gets mist from the pump every 45 minutes."];
    const WET: [&str; 2] = ["mould on a third of the pots", "Water comes from the pump once in two hours, so the pots dry."];
    const PUMP: [&str; 2] =
        ["the pump of the yard is loud", "The pump of the yard got a new bearing, and every shelf a mat."];

    /// Texts about water mean one thing, all others another one.
    #[expect(clippy::unnecessary_wraps, reason = "the type of what computes meanings")]
    fn embed(text: &str) -> Option<Meaning> {
        let is_wet = text.contains("mist") || text.contains("Water");
        let vector = if is_wet { vec![0.6, 0.8] } else { vec![1.0, 0.0] };
        Some(Meaning { vector, known: if is_wet { 0.5 } else { 1.0 } })
    }

    fn statements() -> [Statement<'static>; 3] {
        [("a", 1, SPRAYED), ("b", 2, PUMP), ("c", 3, WET)].map(|(session, at, texts)| Statement::of(session, at, texts))
    }

    #[test]
    fn likeness_counts_as_far_as_both_are_known_and_each_text_is_read_once() {
        let read = Cell::new(0);
        let counting = |text: &str| {
            read.set(read.get() + 1);
            embed(text)
        };
        let statements = statements();
        let meanings = Meanings::new(&statements, &counting);
        for _ in 0..2 {
            assert!((meanings.likeness(0, 2) - 0.5).abs() < 1e-6);
            assert!((meanings.likeness(0, 1) - 0.3).abs() < 1e-6);
        }
        assert_eq!(read.get(), 3);
        assert!(Meanings::new(&statements, &|_| None).likeness(0, 2).abs() < 1e-6, "the model knows none of the words");
    }

    #[test]
    fn the_most_alike_in_meaning_may_not_be_the_nearest_by_its_words() {
        let rivals = |statements: &[Statement<'static>], embed: &Embed<'_>| {
            let space = Space::new(statements.iter().map(|it| [it.title, it.content]), 0.001);
            let rivals = Rivals::of(statements, &space, &Meanings::new(statements, embed), 0);
            [rivals.nearest_earlier, rivals.nearest_later, rivals.alikest_earlier, rivals.alikest_later]
        };
        let sessions = [("a", SPRAYED), ("b", PUMP), ("c", PUMP), ("d", PUMP), ("e", PUMP), ("f", WET)];
        let many: Vec<Statement<'_>> =
            (1..).zip(sessions).map(|(at, (session, texts))| Statement::of(session, at, texts)).collect();
        assert_eq!(rivals(&many, &embed), [None, Some(1), None, Some(5)]);
        assert_eq!(rivals(&many, &|_| None), [None, Some(1), None, None]);
        assert_eq!(rivals(&statements(), &embed), [None, Some(1), None, None], "among few, one is always the most alike");
    }
}
