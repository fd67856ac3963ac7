//! The database's vector formats: eight bits per number for comparing, and two bits per number for selecting which
//! vectors to compare.
//!
//! | format | bytes | purpose |
//! | --- | --- | --- |
//! | packed | 4 + one per number | the cosine, to within about 0.003 |
//! | code | 4 + a quarter per number | the first pass over a large project: an estimate of the cosine |
//!
//! A code stores two bits per number, as two bit planes: its sign, and whether it is far from zero. The query is
//! rounded to four bits per number, as four planes. The sum of products then takes a few population counts. Among half
//! a million texts, the best 2,000 by code include all of the nearest 200. With one bit per number it takes 8,000, and
//! with the query also rounded to one bit, more than that.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pulp::Arch;

/// The size of the scale before the numbers, a little-endian `f32`.
const SCALE_BYTES: usize = 4;

/// The greatest packed number.
const MAX_QUANTIZED: f32 = 127.0;

/// Packs a vector of length 1.
pub fn pack(vector: &[f32]) -> Vec<u8> {
    let greatest = vector.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
    let scale = greatest.max(f32::MIN_POSITIVE) / MAX_QUANTIZED;
    let mut packed = Vec::with_capacity(SCALE_BYTES + vector.len());
    packed.extend_from_slice(&scale.to_le_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "it is between -127 and 127")]
    packed.extend(vector.iter().map(|x| ((x / scale).round() as i8).cast_unsigned()));
    packed
}

/// Returns the size of a packed vector of `dims` numbers, in bytes.
pub fn packed_bytes(dims: usize) -> usize {
    SCALE_BYTES + dims
}

/// Unpacks a vector; returns `None` if `packed` is malformed.
pub fn unpack(packed: &[u8]) -> Option<Vec<f32>> {
    let (scale, numbers) = packed.split_first_chunk::<SCALE_BYTES>()?;
    let scale = f32::from_le_bytes(*scale);
    Some(numbers.iter().map(|number| f32::from(number.cast_signed()) * scale).collect())
}

/// Returns the places whose codes are in a block, or `None` if the block contains anything but whole entries.
pub fn read_slots(block: &[u8], code_bytes: usize) -> Option<Vec<u16>> {
    let entries = block.chunks_exact(SLOT_BYTES + code_bytes);
    let is_whole = entries.remainder().is_empty();
    is_whole.then(|| entries.map(|entry| u16::from_le_bytes([entry[0], entry[1]])).collect())
}

/// The size of the factor before a code's planes, a little-endian `f32` that scales the estimate.
const FACTOR_BYTES: usize = 4;

/// The number of standard deviations beyond which a number is far from zero. For normally distributed numbers, this
/// threshold loses least with two bits (Max, 1960). The numbers of a randomly rotated vector of length 1 are normally
/// distributed.
const FAR_THRESHOLD: f32 = 0.9816;

/// The offset of the code levels: the sign plane counts twice, the other once, and this is subtracted.
const LEVEL_OFFSET: f32 = 1.5;

/// Three standard deviations of the error of an estimate, for a vector of one number. It was measured as 0.02 for 256
/// numbers, and decreases with the square root of their count.
const ESTIMATE_ERROR: f32 = 3.0 * 0.02 * 16.0;

/// How many bits each number of the query is rounded to.
const QUERY_BITS: usize = 4;

/// How many words are counted at once: one AVX2 register, which is all of a plane of 256 numbers.
const LANES: usize = 4;

/// Returns the size of one bit plane, in bytes.
fn plane_bytes(dims: usize) -> usize {
    dims.div_ceil(8)
}

/// Returns the size of a code of `dims` numbers, in bytes.
pub fn code_bytes(dims: usize) -> usize {
    FACTOR_BYTES + 2 * plane_bytes(dims)
}

/// Returns a bit plane of `numbers` for which `is_set` is true, the first in the lowest bit of the first byte.
fn plane<T: Copy>(numbers: &[T], is_set: impl Fn(T) -> bool) -> Vec<u8> {
    numbers
        .chunks(8)
        .map(|eight| eight.iter().enumerate().fold(0, |byte, (n, &x)| byte | u8::from(is_set(x)) << n))
        .collect()
}

/// Returns the code of a vector of length 1: the factor, the plane of numbers that are not negative, and the plane of
/// numbers that are far from zero if not negative, or near zero if negative.
#[expect(clippy::cast_precision_loss, reason = "some hundred numbers")]
fn code(vector: &[f32]) -> Vec<u8> {
    let far = FAR_THRESHOLD / (vector.len().max(1) as f32).sqrt();
    let high = |x: f32| x >= 0.0;
    let low = |x: f32| if x >= 0.0 { x >= far } else { x >= -far };
    let level = |x: f32| f32::from(u8::from(high(x)) * 2 + u8::from(low(x))) - LEVEL_OFFSET;
    let product: f32 = vector.iter().map(|&x| x * level(x)).sum();
    let factor = if product > 0.0 { 1.0 / product } else { 0.0 };
    let mut code = factor.to_le_bytes().to_vec();
    code.extend(plane(vector, high));
    code.extend(plane(vector, low));
    code
}

/// A query vector.
#[derive(Clone, Debug)]
pub struct QueryVector {
    vector: Vec<f32>,
    /// The rounded query as bit planes, lowest bit first, each of [`LANES`] words.
    planes: Vec<[[u64; LANES]; QUERY_BITS]>,
    /// A rounded number is `step` times the value of its bits, plus `lowest`.
    step: f32,
    lowest: f32,
    /// The sum of the bit values of all numbers.
    sum: f32,
    /// The share of the query that the model knows, 0 to 1.
    pub known: f32,
    arch: Arch,
}

/// The nearest codes found so far.
#[derive(Debug)]
pub struct NearestCodes {
    most: usize,
    /// Estimates as comparable keys, with their rows; the worst on top.
    rows: BinaryHeap<Reverse<(i32, i64)>>,
    /// The estimate that a further code must exceed.
    bar: f32,
}

impl QueryVector {
    /// Creates a probe from a vector of length 1.
    pub fn new(vector: Vec<f32>, known: f32) -> Self {
        const STEPS: f32 = 15.0;
        const { assert!(1 << QUERY_BITS == 16) };
        let (lowest, highest) =
            vector.iter().fold((f32::MAX, f32::MIN), |(lowest, highest), &x| (lowest.min(x), highest.max(x)));
        let step = ((highest - lowest) / STEPS).max(f32::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 15")]
        let rounded: Vec<u8> = vector.iter().map(|x| ((x - lowest) / step).round().clamp(0.0, STEPS) as u8).collect();
        let planes = rounded
            .chunks(LANES * 64)
            .map(|numbers| std::array::from_fn(|bit| lanes(&plane(numbers, |x| x >> bit & 1 == 1))))
            .collect();
        let sum = rounded.iter().map(|&x| f32::from(x)).sum();
        Self { vector, planes, step, lowest, sum, known, arch: Arch::new() }
    }

    /// Returns how many numbers the vector has.
    pub fn dims(&self) -> usize {
        self.vector.len()
    }

    /// Returns the cosine with a packed vector, -1 to 1, or `None` if it has another number of dimensions or is
    /// malformed.
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

    /// Offers every code of a block to `nearest`; see [`encode_entry`]. `row` maps an entry's place to its row.
    pub fn scan_block(&self, block: &[u8], nearest: &mut NearestCodes, row: impl Fn(u16) -> i64) {
        let bytes = plane_bytes(self.vector.len());
        self.arch.dispatch(
            #[inline(always)]
            || {
                for entry in block.chunks_exact(SLOT_BYTES + FACTOR_BYTES + 2 * bytes) {
                    let (place, code) = entry.split_at(SLOT_BYTES);
                    let (factor, planes) = code.split_at(FACTOR_BYTES);
                    let (high, low) = planes.split_at(bytes);
                    let factor = f32::from_le_bytes([factor[0], factor[1], factor[2], factor[3]]);
                    let estimate = factor * self.product(high, low);
                    if estimate > nearest.bar {
                        nearest.add(estimate, row(u16::from_le_bytes([place[0], place[1]])));
                    }
                }
            },
        );
    }

    /// Returns the sum of products of the rounded query and a code.
    #[expect(clippy::inline_always, reason = "else it is compiled once, for the oldest machines")]
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "counts of some hundred bits")]
    fn product(&self, high: &[u8], low: &[u8]) -> f32 {
        let (mut set, mut products) = ([0_u64; LANES], [0_u64; LANES]);
        for ((high, low), planes) in high.chunks(LANES * 8).zip(low.chunks(LANES * 8)).zip(&self.planes) {
            let (high, low) = (lanes(high), lanes(low));
            for lane in 0..LANES {
                set[lane] += u64::from(2 * high[lane].count_ones() + low[lane].count_ones());
            }
            for (bit, plane) in planes.iter().enumerate() {
                for lane in 0..LANES {
                    let ones = 2 * (plane[lane] & high[lane]).count_ones() + (plane[lane] & low[lane]).count_ones();
                    products[lane] += u64::from(ones) << bit;
                }
            }
        }
        let (set, products) = (set.iter().sum::<u64>(), products.iter().sum::<u64>());
        self.lowest * (set as f32 - LEVEL_OFFSET * self.vector.len() as f32)
            + self.step * (products as f32 - LEVEL_OFFSET * self.sum)
    }
}

/// The size of the place before a code in a block, a little-endian number.
const SLOT_BYTES: usize = 2;

/// Returns an entry of a block of codes: the place of its row in the block, and its code.
pub fn encode_entry(place: u16, vector: &[f32]) -> Vec<u8> {
    let mut entry = place.to_le_bytes().to_vec();
    entry.extend(code(vector));
    entry
}

/// Removes the entries of a block whose places are `gone`.
pub fn remove_entries(block: &mut Vec<u8>, code_bytes: usize, gone: impl Fn(u16) -> bool) {
    let kept: Vec<u8> = block
        .chunks_exact(SLOT_BYTES + code_bytes)
        .filter(|entry| !gone(u16::from_le_bytes([entry[0], entry[1]])))
        .flatten()
        .copied()
        .collect();
    *block = kept;
}

/// Maps an estimate to an integer that sorts as `f32::total_cmp` sorts estimates.
fn sort_key(estimate: f32) -> i32 {
    let bits = estimate.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// The inverse of [`sort_key`].
fn estimate_from_key(key: i32) -> f32 {
    f32::from_bits((key ^ ((key >> 31).cast_unsigned() >> 1).cast_signed()).cast_unsigned())
}

impl NearestCodes {
    /// Creates a collection for the nearest `most`.
    pub fn new(most: usize) -> Self {
        Self { most, rows: BinaryHeap::with_capacity(most + 1), bar: f32::NEG_INFINITY }
    }

    fn add(&mut self, estimate: f32, row: i64) {
        self.push(sort_key(estimate), row);
    }

    fn push(&mut self, key: i32, row: i64) {
        self.rows.push(Reverse((key, row)));
        if self.rows.len() > self.most {
            self.rows.pop();
            let worst = self.rows.peek().map_or(0, |worst| worst.0.0);
            self.bar = estimate_from_key(worst);
        }
    }

    /// Merges another collection.
    pub fn add_all(&mut self, other: Self) {
        for Reverse((key, row)) in other.rows {
            self.push(key, row);
        }
    }

    /// Returns the rows in ascending order, which is their order on disk.
    pub fn rows(self) -> Vec<i64> {
        let mut rows: Vec<i64> = self.rows.into_iter().map(|Reverse((_, row))| row).collect();
        rows.sort_unstable();
        rows
    }

    /// Returns the rows, in ascending order, that are likely to include the nearest `enough`: those whose estimate is
    /// below that of number `enough` by no more than the estimation error for `dims` numbers.
    #[expect(clippy::cast_precision_loss, reason = "some hundred numbers")]
    pub fn likely_nearest(mut self, enough: usize, dims: usize) -> Vec<i64> {
        let mut keys: Vec<i32> = self.rows.iter().map(|Reverse((key, _))| *key).collect();
        if enough > 0 && keys.len() > enough {
            let (_, last, _) = keys.select_nth_unstable_by(enough - 1, |a, b| b.cmp(a));
            let bar = sort_key(estimate_from_key(*last) - ESTIMATE_ERROR / (dims.max(1) as f32).sqrt());
            self.rows.retain(|Reverse((key, _))| *key >= bar);
        }
        self.rows()
    }
}

/// Returns the sum of products; the packed numbers are `i8`.
#[inline(always)]
fn dot(vector: &[f32], numbers: &[u8]) -> f32 {
    /// As many sums as the widest registers have lanes, so that the compiler can vectorize the loop.
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

/// Returns the first bytes of a plane, at most as many as the lanes take, padded with zeros.
#[expect(clippy::inline_always, reason = "else it is compiled once, for the oldest machines")]
#[inline(always)]
fn lanes(bytes: &[u8]) -> [u64; LANES] {
    let mut padded = [0; LANES * 8];
    let whole: &[u8; LANES * 8] = if let Ok(whole) = bytes.try_into() {
        whole
    } else {
        padded[..bytes.len()].copy_from_slice(bytes);
        &padded
    };
    std::array::from_fn(|lane| u64::from_le_bytes(*whole[lane * 8..].first_chunk().unwrap_or(&[0; 8])))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(mut vector: Vec<f32>) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        for x in &mut vector {
            *x /= length;
        }
        vector
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn what_is_not_a_vector_of_its_kind_has_no_cosine() {
        let probe = QueryVector::new(unit(vec![1.0; 16]), 1.0);
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
        let mut block: Vec<u8> = vectors.iter().zip(0..).flat_map(|(vector, place)| encode_entry(place, vector)).collect();
        remove_entries(&mut block, code_bytes(8), |place| place == 1);
        let mut nearest = NearestCodes::new(9);
        QueryVector::new(vectors[2].clone(), 1.0).scan_block(&block, &mut nearest, |place| i64::from(place) + 10);
        assert_eq!(nearest.rows(), [10, 12]);
    }

    proptest! {
        #[test]
        fn the_packed_cosine_is_the_cosine(
            (a, b) in (1usize..300).prop_flat_map(|n| (
                prop::collection::vec(-1.0_f32..1.0, n), prop::collection::vec(-1.0_f32..1.0, n)))
        ) {
            let (a, b) = (unit(a), unit(b));
            let packed = QueryVector::new(a.clone(), 1.0).cosine(&pack(&b)).unwrap();
            prop_assert!((packed - cosine(&a, &b).clamp(-1.0, 1.0)).abs() < 0.02, "{packed}");
        }

        #[test]
        fn the_nearest_are_those_of_the_best_estimates(
            vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 70), 1..40), most in 1usize..50,
        ) {
            let vectors: Vec<Vec<f32>> = vectors.into_iter().map(unit).collect();
            let probe = QueryVector::new(vectors[0].clone(), 1.0);
            let best = |most: usize| {
                let block: Vec<u8> = vectors.iter().zip(0..).flat_map(|(vector, place)| encode_entry(place, vector)).collect();
                let mut nearest = NearestCodes::new(most);
                probe.scan_block(&block, &mut nearest, i64::from);
                nearest.rows()
            };
            let rows = best(most);
            prop_assert_eq!(rows.len(), most.min(vectors.len()));
            prop_assert!(rows.contains(&0), "a vector is nearest to itself");
            let more = best(most + 1);
            prop_assert!(rows.iter().all(|row| more.contains(row)));
        }
    }

    /// Random texts about a hundred topics: the nearest ones are near, as with real texts.
    #[test]
    fn the_codes_choose_the_nearest() {
        const DIMS: usize = 256;
        const VECTORS: usize = 6_000;
        const NEAREST: usize = 50;
        let mut state = 1_u64;
        let mut random = || {
            // The sum of four uniform numbers is nearly normal.
            (0..4)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    f32::from(u16::try_from(state >> 48).unwrap()) / 65_536.0 - 0.5
                })
                .sum::<f32>()
        };
        let matters: Vec<Vec<f32>> = (0..100).map(|_| (0..DIMS).map(|_| random()).collect()).collect();
        let vectors: Vec<Vec<f32>> =
            (0..VECTORS).map(|n| unit(matters[n % 100].iter().map(|x| 0.6 * x + random()).collect())).collect();
        let (mut right, mut all) = (0, 0);
        for query in vectors.iter().step_by(997) {
            let probe = QueryVector::new(query.clone(), 1.0);
            let mut nearest = NearestCodes::new(8 * NEAREST);
            for (block, vectors) in vectors.chunks(100).enumerate() {
                let codes: Vec<u8> =
                    vectors.iter().zip(0..).flat_map(|(vector, place)| encode_entry(place, vector)).collect();
                probe.scan_block(&codes, &mut nearest, |place| i64::try_from(block).unwrap() * 100 + i64::from(place));
            }
            let chosen = nearest.rows();
            let mut exact: Vec<usize> = (0..VECTORS).collect();
            exact.sort_by(|&a, &b| cosine(query, &vectors[b]).total_cmp(&cosine(query, &vectors[a])));
            right += exact[..NEAREST].iter().filter(|&&n| chosen.contains(&i64::try_from(n).unwrap())).count();
            all += NEAREST;
        }
        assert!(right * 100 >= all * 99, "{right} of {all}");
    }
}
