//! The model file, read in place from the program image: tokens and their vectors.
//!
//! `host/embedding/models/minilm/distill.py` writes the file. All numbers are little-endian and unaligned:
//!
//! | content | bytes |
//! | --- | --- |
//! | magic `TLembed1` | 8 |
//! | dimensions, tokens, tokens that begin a word, slots, bytes of text, longest token in bytes | 6 × 4 |
//! | a hash table with open addressing: a token's row, or `0xffff` | slots × 2 |
//! | where each token's text begins, and where the last one ends | (tokens + 1) × 4 |
//! | the scale of each vector, `f32` | tokens × 4 |
//! | the tokens' text: first those that begin a word, then those that continue one, without their `##` | |
//! | the vectors, `i8` | tokens × dimensions |
//!
//! The header is read and the lengths are checked at compile time. Nothing is parsed or built at run time: looking up a
//! token hashes it and touches one slot and the token's text. Both groups of tokens are sorted by frequency, so that
//! common words share memory pages.

use super::DIMS;

const MODEL_FILE: &[u8] = include_bytes!("../../models/minilm/model.bin");

const HEADER: usize = 32;
const TOKENS: usize = header(1);
const STARTERS: usize = header(2);
const SLOT_COUNT: usize = header(3);
const TEXT_LEN: usize = header(4);

/// The length of the longest token, in bytes.
pub(super) const MAX_TOKEN_BYTES: usize = header(5);

const SLOTS: &[u8] = section(HEADER, SLOT_COUNT * 2);
const TEXT_OFFSETS: &[u8] = section(HEADER + SLOT_COUNT * 2, (TOKENS + 1) * 4);
const SCALES: &[u8] = section(HEADER + SLOT_COUNT * 2 + (TOKENS + 1) * 4, TOKENS * 4);
const TEXT_START: usize = HEADER + SLOT_COUNT * 2 + (TOKENS + 1) * 4 + TOKENS * 4;
const TEXT: &[u8] = section(TEXT_START, TEXT_LEN);
const VECTORS: &[u8] = section(TEXT_START + TEXT_LEN, TOKENS * DIMS);

const EMPTY_SLOT: u16 = 0xffff;

const _: () = {
    assert!(matches!(MODEL_FILE.first_chunk(), Some(b"TLembed1")), "model.bin is not a model");
    assert!(header(0) == DIMS, "model.bin has other dimensions");
    assert!(SLOT_COUNT.is_power_of_two() && TOKENS < SLOT_COUNT / 2, "model.bin has too few slots");
    assert!(MODEL_FILE.len() == TEXT_START + TEXT_LEN + TOKENS * DIMS, "model.bin has another length than its header says");
};

/// Returns the number at `index` in the header.
const fn header(index: usize) -> usize {
    u32_at(MODEL_FILE, 2 + index) as usize
}

const fn section(start: usize, len: usize) -> &'static [u8] {
    MODEL_FILE.split_at(start).1.split_at(len).0
}

const fn u32_at(bytes: &[u8], index: usize) -> u32 {
    let at = index * 4;
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The position of a token in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenPosition {
    /// At the beginning of the word.
    Start,
    /// After the beginning; BERT's vocabulary writes such tokens with `##`.
    Further,
}

/// A token of the vocabulary, as its row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row(u16);

impl Row {
    /// Adds the token's vector to `sum`.
    pub(super) fn add_to(self, sum: &mut [f32; DIMS]) {
        let row = usize::from(self.0);
        let scale = f32::from_bits(u32_at(SCALES, row));
        let codes = &VECTORS[row * DIMS..(row + 1) * DIMS];
        for (sum, &code) in sum.iter_mut().zip(codes) {
            *sum += scale * f32::from(code.cast_signed());
        }
    }

    fn text(self) -> &'static [u8] {
        let row = usize::from(self.0);
        &TEXT[u32_at(TEXT_OFFSETS, row) as usize..u32_at(TEXT_OFFSETS, row + 1) as usize]
    }

    fn place(self) -> TokenPosition {
        if usize::from(self.0) < STARTERS { TokenPosition::Start } else { TokenPosition::Further }
    }
}

/// The FNV-1a hash of a token, computed byte by byte. A continuing token is hashed with a `#` before it.
#[derive(Clone, Copy)]
pub(super) struct Hash(u32);

impl Hash {
    /// Returns the hash of the empty token.
    pub(super) fn new(place: TokenPosition) -> Self {
        let empty = Self(0x811c_9dc5);
        match place {
            TokenPosition::Start => empty,
            TokenPosition::Further => empty.with(b'#'),
        }
    }

    /// Returns the hash of the token with one more byte.
    #[must_use]
    pub(super) fn with(self, byte: u8) -> Self {
        Self((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

/// Looks up the token `text` at `place`; `hash` must be its hash.
pub(super) fn find(text: &[u8], place: TokenPosition, hash: Hash) -> Option<Row> {
    #[cfg(test)]
    LOOKUPS.set(LOOKUPS.get() + 1);
    let mut slot = (hash.0 ^ hash.0 >> 16) as usize;
    // The loop terminates because more than half of the slots are empty.
    loop {
        slot &= SLOT_COUNT - 1;
        let row = u16::from_le_bytes([SLOTS[slot * 2], SLOTS[slot * 2 + 1]]);
        if row == EMPTY_SLOT {
            return None;
        }
        let row = Row(row);
        if row.text() == text && row.place() == place {
            return Some(row);
        }
        slot += 1;
    }
}

#[cfg(test)]
thread_local!(static LOOKUPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });

/// Returns how many tokens this thread has looked up.
#[cfg(test)]
pub(super) fn lookups() -> usize {
    LOOKUPS.get()
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn lookup(text: &[u8], place: TokenPosition) -> Option<Row> {
        find(text, place, text.iter().fold(Hash::new(place), |hash, &byte| hash.with(byte)))
    }

    #[test]
    fn every_token_finds_itself() {
        for row in 0..u16::try_from(TOKENS).unwrap() {
            let row = Row(row);
            assert!(row.text().len() <= MAX_TOKEN_BYTES);
            assert_eq!(lookup(row.text(), row.place()), Some(row));
        }
    }

    #[test]
    fn what_is_no_token_is_not_found() {
        for text in ["", "zzzzzz", "The", "\u{c778}"] {
            assert_eq!(lookup(text.as_bytes(), TokenPosition::Start), None, "{text}");
        }
        assert_ne!(lookup(b"ing", TokenPosition::Start), lookup(b"ing", TokenPosition::Further));
    }

    #[test]
    fn scales_are_finite_and_positive() {
        for row in 0..TOKENS {
            let scale = f32::from_bits(u32_at(SCALES, row));
            assert!(scale.is_finite() && scale > 0.0, "row {row}: {scale}");
        }
    }

    #[test]
    fn the_file_is_the_one_that_its_readme_describes() {
        let digest = throughline_model::digest::hex(&Sha256::digest(MODEL_FILE));
        assert!(include_str!("../../models/minilm/README.md").contains(&digest), "model.bin has the SHA-256 {digest}");
    }

    impl Row {
        /// Returns the token as BERT's vocabulary writes it.
        pub(crate) fn name(self) -> String {
            let text = str::from_utf8(self.text()).unwrap();
            if self.place() == TokenPosition::Start { text.to_owned() } else { format!("##{text}") }
        }
    }
}
