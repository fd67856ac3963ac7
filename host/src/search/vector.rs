//! Vectors as the database holds them: eight bits a number to compare by, and one bit a number to choose by which are
//! worth comparing.
//!
//! | | bytes | for |
//! | --- | --- | --- |
//! | packed | 4 + one a number | the cosine, to within about 0.005 |
//! | code | an eighth of one a number | the first pass over a large project: how many signs differ |

use std::collections::BinaryHeap;

use pulp::Arch;

/// Bytes before the numbers: what they are to be multiplied with, a little-endian `f32`.
const SCALE_BYTES: usize = 4;

/// The greatest packed number.
const MOST: f32 = 127.0;

/// A vector of length 1, packed.
pub fn pack(vector: &[f32]) -> Vec<u8> {
    let greatest = vector.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
    let scale = greatest.max(f32::MIN_POSITIVE) / MOST;
    let mut packed = Vec::with_capacity(SCALE_BYTES + vector.len());
    packed.extend_from_slice(&scale.to_le_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "it is between -127 and 127")]
    packed.extend(vector.iter().map(|x| ((x / scale).round() as i8).cast_unsigned()));
    packed
}

/// The code of a vector: a bit a number, set where it is not negative; the first in the lowest bit of the first byte.
pub fn code(vector: &[f32]) -> Vec<u8> {
    vector.chunks(8).map(|eight| eight.iter().enumerate().fold(0, |byte, (n, &x)| byte | u8::from(x >= 0.0) << n)).collect()
}

/// The bytes of a code of `dims` numbers.
pub fn code_bytes(dims: usize) -> usize {
    dims.div_ceil(8)
}

/// What is searched for, as a vector.
#[derive(Clone, Debug)]
pub struct Probe {
    vector: Vec<f32>,
    code: Vec<u8>,
    /// The share of the query that the model knows, 0 to 1.
    pub known: f32,
    arch: Arch,
}

/// The nearest codes so far.
#[derive(Debug)]
pub struct Nearest {
    most: usize,
    /// Distance and row, the farthest on top.
    rows: BinaryHeap<(u32, i64)>,
}

impl Probe {
    /// Of a vector of length 1.
    pub fn new(vector: Vec<f32>, known: f32) -> Self {
        Self { code: code(&vector), vector, known, arch: Arch::new() }
    }

    /// How many numbers it has.
    pub fn dims(&self) -> usize {
        self.vector.len()
    }

    /// The cosine with a packed vector, -1 to 1; none where it is not one of as many numbers.
    pub fn cosine(&self, packed: &[u8]) -> Option<f32> {
        let (scale, numbers) = packed.split_first_chunk::<SCALE_BYTES>()?;
        let scale = f32::from_le_bytes(*scale);
        if numbers.len() != self.vector.len() || !scale.is_finite() {
            return None;
        }
        let vector = self.vector.as_slice();
        let sum = self.arch.dispatch(
            #[inline(always)]
            || dot(vector, numbers),
        );
        Some((sum * scale).clamp(-1.0, 1.0))
    }

    /// Offers every code of a block to `nearest`; see [`entry`]. `row` makes the row of an entry's place.
    pub fn look_through(&self, block: &[u8], nearest: &mut Nearest, row: impl Fn(u16) -> i64) {
        let code = self.code.as_slice();
        self.arch.dispatch(
            #[inline(always)]
            || {
                for entry in block.chunks_exact(PLACE_BYTES + code.len()) {
                    let (place, other) = entry.split_at(PLACE_BYTES);
                    let distance = differences(code, other);
                    if nearest.wants(distance) {
                        nearest.add(distance, row(u16::from_le_bytes([place[0], place[1]])));
                    }
                }
            },
        );
    }
}

/// Bytes before a code in a block: its place, little-endian.
const PLACE_BYTES: usize = 2;

/// An entry of a block of codes: which of the block's rows it is, and its code.
pub fn entry(place: u16, vector: &[f32]) -> Vec<u8> {
    let mut entry = place.to_le_bytes().to_vec();
    entry.extend(code(vector));
    entry
}

/// Takes the entries out of a block whose places are said to be gone.
pub fn without(block: &mut Vec<u8>, code_bytes: usize, gone: impl Fn(u16) -> bool) {
    let kept: Vec<u8> = block
        .chunks_exact(PLACE_BYTES + code_bytes)
        .filter(|entry| !gone(u16::from_le_bytes([entry[0], entry[1]])))
        .flatten()
        .copied()
        .collect();
    *block = kept;
}

impl Nearest {
    /// Will hold the nearest `most`.
    pub fn new(most: usize) -> Self {
        Self { most, rows: BinaryHeap::with_capacity(most + 1) }
    }

    #[inline(always)]
    fn wants(&self, distance: u32) -> bool {
        self.rows.len() < self.most || self.rows.peek().is_some_and(|&(farthest, _)| distance < farthest)
    }

    fn add(&mut self, distance: u32, row: i64) {
        self.rows.push((distance, row));
        if self.rows.len() > self.most {
            self.rows.pop();
        }
    }

    /// Their rows, in ascending order: as they stand on the disk.
    pub fn rows(self) -> Vec<i64> {
        let mut rows: Vec<i64> = self.rows.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }
}

/// The sum of products; the packed numbers are `i8`.
#[inline(always)]
fn dot(vector: &[f32], numbers: &[u8]) -> f32 {
    /// As many sums as the widest registers hold, so that the compiler may add in parallel.
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let (left, right) = (vector.chunks_exact(LANES), numbers.chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * f32::from(y.cast_signed())).sum::<f32>();
    for (xs, ys) in left.zip(right) {
        for ((sum, x), y) in sums.iter_mut().zip(xs).zip(ys) {
            *sum += x * f32::from(y.cast_signed());
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// How many bits differ.
#[inline(always)]
fn differences(left: &[u8], right: &[u8]) -> u32 {
    let (a, b) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest: u32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| (x ^ y).count_ones()).sum();
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    a.zip(b).map(|(x, y)| (word(x) ^ word(y)).count_ones()).sum::<u32>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(mut vector: Vec<f32>) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        vector.iter_mut().for_each(|x| *x /= length);
        vector
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn what_is_not_a_vector_of_its_kind_has_no_cosine() {
        let probe = Probe::new(unit(vec![1.0; 16]), 1.0);
        assert!(probe.cosine(&pack(&unit(vec![1.0; 16]))).is_some_and(|c| (c - 1.0).abs() < 0.01));
        assert_eq!(probe.cosine(&pack(&unit(vec![1.0; 8]))), None);
        assert_eq!(probe.cosine(&[]), None);
        let mut broken = pack(&unit(vec![1.0; 16]));
        broken[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(probe.cosine(&broken), None);
    }

    #[test]
    fn entries_are_taken_out_of_a_block() {
        let vectors: Vec<Vec<f32>> = (0..3_u8).map(|n| unit((0..8).map(|k| f32::from(k ^ n) - 3.5).collect())).collect();
        let mut block: Vec<u8> = vectors.iter().zip(0..).flat_map(|(vector, place)| entry(place, vector)).collect();
        without(&mut block, code_bytes(8), |place| place == 1);
        let mut nearest = Nearest::new(9);
        Probe::new(vectors[2].clone(), 1.0).look_through(&block, &mut nearest, |place| i64::from(place) + 10);
        assert_eq!(nearest.rows(), [10, 12]);
    }

    proptest! {
        #[test]
        fn the_packed_cosine_is_the_cosine(
            (a, b) in (1usize..300).prop_flat_map(|n| (
                prop::collection::vec(-1.0_f32..1.0, n), prop::collection::vec(-1.0_f32..1.0, n)))
        ) {
            let (a, b) = (unit(a), unit(b));
            let packed = Probe::new(a.clone(), 1.0).cosine(&pack(&b)).unwrap();
            prop_assert!((packed - cosine(&a, &b).clamp(-1.0, 1.0)).abs() < 0.02, "{packed}");
        }

        #[test]
        fn the_nearest_are_those_with_the_fewest_differences(
            vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 70), 1..40), most in 1usize..50,
        ) {
            let block: Vec<u8> = vectors.iter().zip(0..).flat_map(|(vector, place)| entry(place, vector)).collect();
            let mut nearest = Nearest::new(most);
            Probe::new(vectors[0].clone(), 1.0).look_through(&block, &mut nearest, i64::from);
            let rows = nearest.rows();
            prop_assert_eq!(rows.len(), most.min(vectors.len()));
            let differ = |n: usize| vectors[n].iter().zip(&vectors[0]).filter(|(x, y)| (**x >= 0.0) != (**y >= 0.0)).count();
            let taken: Vec<usize> = rows.iter().map(|&row| usize::try_from(row).unwrap()).collect();
            let farthest = taken.iter().map(|&n| differ(n)).max().unwrap();
            for n in (0..vectors.len()).filter(|n| !taken.contains(n)) {
                prop_assert!(differ(n) >= farthest);
            }
        }
    }
}
