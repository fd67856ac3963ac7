//! Where a rule's keyword stands in a text: one pass over all bytes with a table that is made at compile time, and that a
//! team's own keywords are added to.
//!
//! The table is indexed by a hash of three bytes, case folded. An Aho-Corasick automaton over the same keywords takes
//! longer to build than a hook's texts take to scan.

use std::borrow::Cow;

use super::rules::RULES;

const BITS: u32 = 14;
const SLOTS: usize = 1 << BITS;
/// Knuth's multiplicative hash, 2^32 divided by the golden ratio.
const FACTOR: u32 = 0x9E37_79B1;

/// The fewest bytes of a keyword.
pub(super) const SHORTEST: usize = 3;

const COUNT: usize = {
    let (mut count, mut rule) = (0, 0);
    while rule < RULES.len() {
        count += RULES[rule].keywords.len();
        rule += 1;
    }
    count
};

/// One keyword of one rule, and the next one with the same hash: index plus one, 0 for none.
#[derive(Clone)]
struct Entry {
    keyword: Cow<'static, str>,
    rule: u16,
    next: u16,
}

/// Which rules a keyword wakes.
pub(super) struct Index {
    /// The first entry of each hash: index plus one, 0 for none.
    heads: Cow<'static, [u16; SLOTS]>,
    entries: Cow<'static, [Entry]>,
}

static TABLE: ([u16; SLOTS], [Entry; COUNT]) = build();

/// The keywords of the default rules, each with its rule's place in [`RULES`].
pub(super) static INDEX: Index = Index { heads: Cow::Borrowed(&TABLE.0), entries: Cow::Borrowed(&TABLE.1) };

const _: () = assert!(COUNT < u16::MAX as usize);

#[expect(clippy::large_stack_arrays, reason = "only the compiler runs this")]
#[expect(clippy::cast_possible_truncation, reason = "there are fewer keywords than a u16 holds, which is asserted")]
const fn build() -> ([u16; SLOTS], [Entry; COUNT]) {
    let mut heads = [0; SLOTS];
    let mut entries = [const { Entry { keyword: Cow::Borrowed(""), rule: 0, next: 0 } }; COUNT];
    let (mut rule, mut at) = (0, 0);
    while rule < RULES.len() {
        let mut keyword = 0;
        while keyword < RULES[rule].keywords.len() {
            let text = RULES[rule].keywords[keyword];
            let slot = slot_of(text.as_bytes());
            std::mem::forget(std::mem::replace(
                &mut entries[at],
                Entry { keyword: Cow::Borrowed(text), rule: rule as u16, next: heads[slot] },
            ));
            at += 1;
            heads[slot] = at as u16;
            keyword += 1;
        }
        rule += 1;
    }
    (heads, entries)
}

/// The window of the last three bytes, moved on by one. Setting the case bit folds letters, and does the same to the few
/// other bytes that it changes on both sides.
const fn fold(window: u32, byte: u8) -> u32 {
    ((window << 8) | (byte | 0x20) as u32) & 0x00FF_FFFF
}

const fn slot(window: u32) -> usize {
    (window.wrapping_mul(FACTOR) >> (32 - BITS)) as usize
}

const fn slot_of(keyword: &[u8]) -> usize {
    assert!(keyword.len() >= SHORTEST);
    slot(fold(fold(fold(0, keyword[0]), keyword[1]), keyword[2]))
}

impl Index {
    /// The table with more keywords: each of at least [`SHORTEST`] bytes, and with the number that is to be told for it.
    /// What is too much for the table is handed back.
    pub fn with(&self, keywords: impl IntoIterator<Item = (String, u16)>) -> (Self, Vec<u16>) {
        let (mut heads, mut entries, mut left) = (self.heads.clone(), self.entries.to_vec(), Vec::new());
        for (keyword, rule) in keywords {
            let (Ok(at), true) = (u16::try_from(entries.len() + 1), keyword.len() >= SHORTEST) else {
                left.push(rule);
                continue;
            };
            let head = &mut heads.to_mut()[slot_of(keyword.as_bytes())];
            entries.push(Entry { keyword: Cow::Owned(keyword), rule, next: *head });
            *head = at;
        }
        (Self { heads, entries: Cow::Owned(entries) }, left)
    }

    /// The first position from `from` on where a keyword stands, and what [`Self::at`] needs to know about it.
    pub fn next(&self, text: &[u8], from: usize) -> Option<(usize, u16)> {
        let heads = &*self.heads;
        let rest = text.get(from..)?;
        let (&[first, second], tail) = rest.split_first_chunk::<2>()?;
        let mut window = fold(fold(0, first), second);
        for (offset, &byte) in tail.iter().enumerate() {
            window = fold(window, byte);
            let head = heads[slot(window)];
            if head != 0 && self.at(text, from + offset, head).next().is_some() {
                return Some((from + offset, head));
            }
        }
        None
    }

    /// The rules one of whose keywords stands at a position, each with that keyword's length.
    pub fn at(&self, text: &[u8], position: usize, head: u16) -> impl Iterator<Item = (u16, usize)> {
        let mut link = head;
        std::iter::from_fn(move || {
            while link != 0 {
                let entry = &self.entries[usize::from(link) - 1];
                link = entry.next;
                let keyword = entry.keyword.as_bytes();
                let end = position + keyword.len();
                if text.get(position..end).is_some_and(|found| found.eq_ignore_ascii_case(keyword)) {
                    return Some((entry.rule, keyword.len()));
                }
            }
            None
        })
    }
}
