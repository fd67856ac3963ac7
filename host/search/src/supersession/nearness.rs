//! How near two statements of two sessions are to each other, compared with how near others are to them.
//!
//! Two short statements about one rule share few words. That each is the nearest to the other says more than how near they are.

use super::meaning::Meanings;
use super::relation::Statement;
use super::similarity::Space;

/// The lowest similarity of two statements that may be about the same subject, if each is the nearest to the other. In a
/// set that was not used for tuning, short statements about one rule had .07 or more, and two thirds of them were nearest
/// to each other.
pub(super) const MIN_NEAREST: f32 = 0.05;

/// The least likeness in meaning of two statements that may be about the same subject, if one is the most alike to the other. In pairs
/// that were held out of learning, with equally many pairs of two chains of one subject (20), 80 of 308 changes are linked and 273
/// possible with it, and 68 of 311 linked and 270 possible without it. With .3, 271 are possible, and with .4, 269.
pub(super) const MIN_ALIKE: f32 = 0.2;

/// How many of the statements that are nearest by their words are compared by meaning. In a large project most statements share a
/// word or two, and to compare all would take too long. In pairs that were held out of learning, 273 of 308 changes are possible with
/// this bound, 268 with 30, and 272 without a bound.
pub(super) const MAX_LIKENED: usize = 100;

/// How many statements must be compared for meaning to say something. Among fewer, one is always the most alike, whatever it is about.
const MIN_LIKENED: usize = 5;

/// The most that a pair can stand out.
const MAX_STANDS_OUT: f32 = 3.0;

/// How near a statement is to an earlier one.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "two statements can be nearest in two ways, each seen from both")]
pub(super) struct Nearness {
    /// The similarity of their words, 0 to 1.
    pub(super) similarity: f32,
    /// Whether no other earlier statement of another session is nearer to the later one.
    pub(super) is_nearest_earlier: bool,
    /// Whether no other later statement of another session is nearer to the earlier one.
    pub(super) is_nearest_later: bool,
    /// Their similarity, divided by the greatest that either has with a statement of a third session.
    pub(super) stands_out: f32,
    /// How alike they are in meaning, 0 to 1.
    pub(super) likeness: f32,
    /// Whether no other earlier statement of another session means more alike to the later one.
    pub(super) is_alikest_earlier: bool,
    /// Whether no other later statement of another session means more alike to the earlier one.
    pub(super) is_alikest_later: bool,
}

impl Nearness {
    /// Returns whether one of them is the nearest to the other.
    pub(super) fn is_nearest(&self) -> bool {
        self.is_nearest_earlier
            || self.is_nearest_later
            || (self.is_alikest_earlier || self.is_alikest_later) && self.likeness >= MIN_ALIKE
    }

    /// Returns how much the pair stands out among others, from -1 to 1.
    pub(super) fn standing(&self) -> f32 {
        self.stands_out.clamp(MAX_STANDS_OUT.recip(), MAX_STANDS_OUT).ln() / MAX_STANDS_OUT.ln()
    }

    #[cfg(test)]
    pub(super) fn alone(similarity: f32) -> Self {
        Self {
            similarity,
            is_nearest_earlier: true,
            is_nearest_later: true,
            stands_out: 2.0,
            likeness: 0.5,
            is_alikest_earlier: true,
            is_alikest_later: true,
        }
    }
}

/// The statements of other sessions that are nearest to one.
#[derive(Clone, Copy)]
pub(super) struct Rivals<'a> {
    pub(super) nearest_earlier: Option<usize>,
    pub(super) nearest_later: Option<usize>,
    pub(super) alikest_earlier: Option<usize>,
    pub(super) alikest_later: Option<usize>,
    /// Whether enough statements were compared for meaning to say something.
    pub(super) are_many: bool,
    /// The sessions of the nearest one, and how near it is.
    best: (&'a str, f32),
    /// How near the nearest one of another session than that is.
    second: f32,
}

impl<'a> Rivals<'a> {
    pub(super) fn of(statements: &[Statement<'a>], space: &Space, meanings: &Meanings<'_>, at: usize) -> Self {
        let it = &statements[at];
        let mut rivals = Self {
            nearest_earlier: None,
            nearest_later: None,
            alikest_earlier: None,
            alikest_later: None,
            are_many: false,
            best: ("", MIN_NEAREST),
            second: MIN_NEAREST,
        };
        let mut is_first = true;
        let (mut most_earlier, mut most_later) = (0.0, 0.0);
        let mut likened = 0;
        for &(other, similarity) in space.nearest(at).iter() {
            let one = &statements[other];
            if !one.is_statement || !it.is_of_another_session(one) || one.created == it.created {
                continue;
            }
            likened += 1;
            let likeness = if likened <= MAX_LIKENED { meanings.likeness(at, other) } else { 0.0 };
            if one.created < it.created {
                rivals.nearest_earlier = rivals.nearest_earlier.or(Some(other));
                if likeness > most_earlier {
                    (rivals.alikest_earlier, most_earlier) = (Some(other), likeness);
                }
            } else {
                rivals.nearest_later = rivals.nearest_later.or(Some(other));
                if likeness > most_later {
                    (rivals.alikest_later, most_later) = (Some(other), likeness);
                }
            }
            if is_first {
                (rivals.best, is_first) = ((one.session, similarity), false);
            } else if one.session.is_empty() || one.session != rivals.best.0 {
                rivals.second = rivals.second.max(similarity);
            }
        }
        rivals.are_many = likened >= MIN_LIKENED;
        if !rivals.are_many {
            (rivals.alikest_earlier, rivals.alikest_later) = (None, None);
        }
        rivals
    }

    /// Returns how near the nearest statement of another session than that of `one` is.
    pub(super) fn best_but(&self, one: &Statement<'_>) -> f32 {
        if one.session == self.best.0 { self.second } else { self.best.1 }
    }
}
