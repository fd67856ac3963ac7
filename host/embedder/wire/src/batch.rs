//! Splits texts into batches, one per request.

use std::ops::Range;

use crate::Limits;

/// Splits texts of these lengths (bytes) into consecutive batches within the limits. Each batch has at least one text.
pub fn batches(lengths: impl IntoIterator<Item = usize>, limits: &Limits) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0_usize;
    for (index, length) in lengths.into_iter().enumerate() {
        match batches.last_mut() {
            Some(last) if last.len() < limits.batch && bytes.saturating_add(length) <= limits.batch_bytes => {
                last.end = index + 1;
                bytes += length;
            }
            _ => {
                batches.push(index..index + 1);
                bytes = length;
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(batch: usize, batch_bytes: usize) -> Limits {
        Limits { batch, batch_bytes, ..Limits::default() }
    }

    #[test]
    fn by_number_and_by_bytes() {
        assert_eq!(batches([1; 5], &limits(2, 100)), [0..2, 2..4, 4..5]);
        assert_eq!(batches([40, 40, 40, 200, 1], &limits(9, 100)), [0..2, 2..3, 3..4, 4..5]);
        assert!(batches([], &limits(2, 100)).is_empty());
    }

    proptest! {
        #[test]
        fn every_text_is_in_one(
            lengths in prop::collection::vec(0_usize..300, 0..60), batch in 0_usize..9, bytes in 0_usize..500,
        ) {
            let cut = batches(lengths.iter().copied(), &limits(batch, bytes));
            prop_assert_eq!(cut.iter().cloned().flatten().collect::<Vec<_>>(), (0..lengths.len()).collect::<Vec<_>>());
            for range in cut {
                prop_assert!(range.len() <= batch.max(1));
                prop_assert!(range.len() == 1 || lengths[range].iter().sum::<usize>() <= bytes);
            }
        }
    }
}
