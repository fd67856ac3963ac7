//! Divides the room of a page among the requests of a session and their results.

/// The shortest that a request and a result are cut to, in characters. A request needs more, because a shorter one seldom says what to do.
pub(super) const MIN_ASKED_CHARS: usize = 150;
const MIN_CHARS: usize = 100;
/// The weight of a request. A result of work has the weight 1: where room is short, answers are cut before the user's words.
const ASKED_WEIGHT: f32 = 2.0;
/// The weight of the first step. The last one has the weight 1, because the latest steps are closest to the work to come.
const FIRST_WEIGHT: f32 = 0.6;

/// The lengths of a request and its result, in characters, and the weight of the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The length of what stands around the two, and is never cut.
    pub around: usize,
    pub asked: usize,
    /// The length to which the request is cut at least, so that none of its parts is lost.
    pub least_asked: usize,
    pub said: usize,
    pub weight: f32,
}

/// The maximum lengths of the requests and their results, in characters.
#[derive(Debug)]
pub(super) struct Room {
    asked: Vec<usize>,
    said: Vec<usize>,
}

impl Room {
    /// Divides a number of characters among steps, the oldest first. What is short is told whole, and leaves its room to what is long.
    pub(super) fn divide(chars: usize, shares: impl Iterator<Item = Share>) -> Self {
        let shares: Vec<Share> = shares.collect();
        let needs: usize = shares.iter().map(|share| share.around + share.asked + share.said).sum();
        // The length of what weighs 1, found by halving.
        let (mut low, mut high) = (MIN_CHARS / 2, needs.max(MIN_CHARS));
        while low < high {
            let middle = (low + high).div_ceil(2);
            if Self::with_length(middle, &shares).used(&shares) <= chars { low = middle } else { high = middle - 1 }
        }
        Self::with_length(if needs <= chars { needs } else { low }, &shares)
    }

    fn with_length(length: usize, shares: &[Share]) -> Self {
        let count = shares.len().max(2);
        let max = |at: usize, weight: f32, min: usize| max_chars(length, weight * recency(at, count)).max(min);
        let asked = shares.iter().enumerate().map(|(at, share)| max(at, ASKED_WEIGHT, share.least_asked)).collect();
        let said = shares.iter().enumerate().map(|(at, share)| max(at, share.weight, MIN_CHARS)).collect();
        Self { asked, said }
    }

    /// Returns how many characters a step takes at least.
    pub(super) fn least(share: &Share) -> usize {
        share.around + share.asked.min(share.least_asked) + share.said.min(MIN_CHARS)
    }

    fn used(&self, shares: &[Share]) -> usize {
        let of =
            |(at, share): (usize, &Share)| share.around + share.asked.min(self.asked[at]) + share.said.min(self.said[at]);
        shares.iter().enumerate().map(of).sum()
    }

    /// Returns the maximum length of the request of a step.
    pub(super) fn for_asked(&self, at: usize) -> usize {
        self.asked[at]
    }

    /// Returns the maximum length of its result.
    pub(super) fn for_result(&self, at: usize) -> usize {
        self.said[at]
    }
}

#[expect(clippy::cast_precision_loss, reason = "a session has few steps")]
fn recency(at: usize, count: usize) -> f32 {
    FIRST_WEIGHT + (1.0 - FIRST_WEIGHT) * at as f32 / (count - 1) as f32
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a page has few characters"
)]
fn max_chars(length: usize, weight: f32) -> usize {
    (length as f32 * weight) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(asked: usize, said: usize) -> Share {
        Share { around: 0, asked, least_asked: MIN_ASKED_CHARS, said, weight: 1.0 }
    }

    #[test]
    fn what_fits_is_told_whole() {
        let room = Room::divide(1_000, [share(200, 300), share(100, 400)].into_iter());
        assert!(room.for_result(0) >= 300 && room.for_result(1) >= 400 && room.for_asked(0) >= 200);
    }

    #[test]
    fn what_is_short_leaves_its_room_to_what_is_long() {
        let shares = [share(50, 2_000), share(50, 100), share(50, 2_000)];
        let room = Room::divide(1_500, shares.into_iter());
        assert!(room.used(&shares) <= 1_500 && room.used(&shares) > 1_400);
        assert!(room.for_result(0) > 400 && room.for_result(2) > room.for_result(0));
    }

    #[test]
    fn no_step_is_cut_to_nothing() {
        let room = Room::divide(100, (0..40).map(|_| share(300, 300)));
        assert!((0..40).all(|at| room.for_asked(at) == MIN_ASKED_CHARS && room.for_result(at) == MIN_CHARS));
        Room::divide(100, std::iter::empty());
    }
}
