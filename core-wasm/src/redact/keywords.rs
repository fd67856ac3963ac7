//! Where a rule's keyword stands in a text: one pass over all bytes with a table that is made at compile time.
//!
//! The table is indexed by a hash of three bytes, case folded. An Aho-Corasick automaton over the same keywords takes
//! longer to build than a hook's texts take to scan.

use super::rules::{RULES, Rule};

const BITS: u32 = 13;
/// Knuth's multiplicative hash, 2^32 divided by the golden ratio.
const FACTOR: u32 = 0x9E37_79B1;

const COUNT: usize = {
    let (mut count, mut rule) = (0, 0);
    while rule < RULES.len() {
        count += RULES[rule].keywords.len();
        rule += 1;
    }
    count
};

/// One keyword of one rule, and the next one with the same hash: index plus one, 0 for none.
#[derive(Clone, Copy)]
struct Entry {
    rule: u16,
    keyword: u8,
    next: u8,
}

struct Index {
    /// The first entry of each hash: index plus one, 0 for none.
    heads: [u8; 1 << BITS],
    entries: [Entry; COUNT],
}

static INDEX: Index = build();

const _: () = assert!(COUNT < 255);

#[expect(
    clippy::cast_possible_truncation,
    reason = "the table has fewer than 255 keywords, which is asserted at compile time"
)]
const fn build() -> Index {
    let mut index = Index { heads: [0; 1 << BITS], entries: [Entry { rule: 0, keyword: 0, next: 0 }; COUNT] };
    let (mut rule, mut at) = (0, 0);
    while rule < RULES.len() {
        let mut keyword = 0;
        while keyword < RULES[rule].keywords.len() {
            let bytes = RULES[rule].keywords[keyword].as_bytes();
            assert!(bytes.len() >= 3);
            let slot = slot(fold(fold(fold(0, bytes[0]), bytes[1]), bytes[2]));
            index.entries[at] = Entry { rule: rule as u16, keyword: keyword as u8, next: index.heads[slot] };
            at += 1;
            index.heads[slot] = at as u8;
            keyword += 1;
        }
        rule += 1;
    }
    index
}

/// The window of the last three bytes, moved on by one. Setting the case bit folds letters, and does the same to the few
/// other bytes that it changes on both sides.
const fn fold(window: u32, byte: u8) -> u32 {
    ((window << 8) | (byte | 0x20) as u32) & 0x00FF_FFFF
}

const fn slot(window: u32) -> usize {
    (window.wrapping_mul(FACTOR) >> (32 - BITS)) as usize
}

/// The first position from `from` on where a keyword may stand, and what [`at`] needs to know about it.
pub(super) fn next(text: &[u8], from: usize) -> Option<(usize, u8)> {
    let rest = text.get(from..)?;
    let (&[first, second], tail) = rest.split_first_chunk::<2>()?;
    let mut window = fold(fold(0, first), second);
    for (offset, &byte) in tail.iter().enumerate() {
        window = fold(window, byte);
        let head = INDEX.heads[slot(window)];
        if head != 0 && at(text, from + offset, head).next().is_some() {
            return Some((from + offset, head));
        }
    }
    None
}

/// The rules one of whose keywords stands at a position, each with that keyword.
pub(super) fn at(text: &[u8], position: usize, head: u8) -> impl Iterator<Item = (&'static Rule, &'static str)> + use<'_> {
    let mut link = head;
    std::iter::from_fn(move || {
        while link != 0 {
            let entry = INDEX.entries[usize::from(link) - 1];
            link = entry.next;
            let rule = &RULES[usize::from(entry.rule)];
            let keyword = rule.keywords[usize::from(entry.keyword)];
            let found = text
                .get(position..position + keyword.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(keyword.as_bytes()));
            if found {
                return Some((rule, keyword));
            }
        }
        None
    })
}
