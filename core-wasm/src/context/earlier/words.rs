//! Whether two texts have the same words, so that they are about the same.

use std::sync::LazyLock;

use crate::extract::failures;
use crate::text;

/// What runners of scripts say of every failure. It distinguishes none.
static OF_RUNNERS: LazyLock<text::Features> =
    LazyLock::new(|| text::features("error errors task tasks failed fails failure exit exited code status command"));

/// The number of words from which two errors with the same ones are the same.
const MIN_EQUAL: usize = 2;

/// The share of words in common from which two texts say the same, in tenths.
const SAME_TENTHS: usize = 8;

/// The minimum number of words in common. Fewer occur by chance.
const MIN_SAME: usize = 3;

/// Returns the words of an error that tell it from others.
pub(super) fn words_of_error(error: &str) -> text::Features {
    let mut words = text::features(failures::said_by_tool(error));
    words.retain(|word| !OF_RUNNERS.contains(word));
    words
}

/// Returns whether two texts have the same words, or nearly.
pub(super) fn are_same_words(one: &text::Features, other: &text::Features) -> bool {
    let shared = one.iter().filter(|word| other.contains(word)).count();
    let all = one.len().max(other.len());
    (shared >= MIN_SAME && shared * 10 >= all * SAME_TENTHS) || (shared >= MIN_EQUAL && shared == all)
}
