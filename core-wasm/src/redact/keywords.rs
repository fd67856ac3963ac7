//! Finds the keywords of the rules in one pass over all bytes. The lookup table is built at compile time, and a team's
//! own keywords can be added to it.
//!
//! The table is indexed by a case-folded hash of three bytes. In front of it is a filter with one bit for each hash,
//! small enough for the fastest cache. A fourth byte is compared before the keyword itself. An Aho-Corasick automaton
//! over the same keywords takes longer to build than the texts of a hook take to scan.

use std::borrow::Cow;

use super::rules::RULES;

/// The number of bits of the hash, and how many of them index the table. The filter can afford more.
const BITS: u32 = 16;
const SLOT_BITS: u32 = 14;
const SLOTS: usize = 1 << SLOT_BITS;
const WORDS: usize = 1 << (BITS - u64::BITS.trailing_zeros());
/// The factor of Knuth's multiplicative hash: 2^32 divided by the golden ratio.
const FACTOR: u32 = 0x9E37_79B1;

/// The minimum length of a keyword in bytes.
pub(super) const MIN_KEYWORD_BYTES: usize = 3;

const KEYWORD_COUNT: usize = {
    let (mut count, mut rule) = (0, 0);
    while rule < RULES.len() {
        count += RULES[rule].rule.keywords.len();
        rule += 1;
    }
    count
};

/// One keyword of one rule, with a link to the next entry of the same slot: its index plus one, 0 for none.
#[derive(Clone)]
struct Entry {
    /// The first four bytes of the keyword, folded, and a mask of those that it has.
    prefix: u32,
    mask: u32,
    keyword: Cow<'static, str>,
    rule: u16,
    next: u16,
}

impl Entry {
    const fn new(keyword: Cow<'static, str>, bytes: &[u8], rule: u16, next: u16) -> Self {
        let fourth = if bytes.len() > MIN_KEYWORD_BYTES { bytes[MIN_KEYWORD_BYTES] } else { 0 };
        let mask = if bytes.len() > MIN_KEYWORD_BYTES { u32::MAX } else { 0x00FF_FFFF };
        let prefix = if bytes.is_empty() { 0 } else { folded([bytes[0], bytes[1], bytes[2], fourth]) & mask };
        Self { prefix, mask, keyword, rule, next }
    }
}

/// Folds letters by setting the case bit. The few other bytes that this changes are changed on both sides.
const fn folded(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes) | 0x2020_2020
}

/// A static table, or an owned one. A `Cow` would keep the owned table inline, and the component's stack is small.
#[derive(Clone)]
enum StaticOrOwned<T: 'static> {
    Static(&'static T),
    Owned(Box<T>),
}

impl<T: Clone> StaticOrOwned<T> {
    fn to_mut(&mut self) -> &mut T {
        if let Self::Static(table) = self {
            *self = Self::Owned(Box::new(table.clone()));
        }
        match self {
            Self::Owned(table) => table,
            Self::Static(_) => unreachable!("it was just made"),
        }
    }
}

impl<T> std::ops::Deref for StaticOrOwned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Static(table) => table,
            Self::Owned(table) => table,
        }
    }
}

/// Maps keywords to the rules that they activate.
#[derive(Clone)]
pub(super) struct Index {
    /// One bit for each hash of a keyword.
    filter: StaticOrOwned<[u64; WORDS]>,
    /// The first entry of each slot: its index plus one, 0 for none.
    heads: StaticOrOwned<[u16; SLOTS]>,
    entries: Cow<'static, [Entry]>,
}

struct Table {
    filter: [u64; WORDS],
    heads: [u16; SLOTS],
    entries: [Entry; KEYWORD_COUNT],
}

static TABLE: Table = build();

/// The keywords of the default rules, each with the index of its rule in [`RULES`].
pub(super) static INDEX: Index = Index {
    filter: StaticOrOwned::Static(&TABLE.filter),
    heads: StaticOrOwned::Static(&TABLE.heads),
    entries: Cow::Borrowed(&TABLE.entries),
};

const _: () = assert!(KEYWORD_COUNT < u16::MAX as usize);

#[expect(clippy::large_stack_arrays, reason = "only the compiler runs this")]
#[expect(clippy::cast_possible_truncation, reason = "there are fewer keywords than a u16 holds, which is asserted")]
const fn build() -> Table {
    let mut filter = [0; WORDS];
    let mut heads = [0; SLOTS];
    let mut entries = [const { Entry::new(Cow::Borrowed(""), &[], 0, 0) }; KEYWORD_COUNT];
    let (mut rule, mut at) = (0, 0);
    while rule < RULES.len() {
        let mut keyword = 0;
        while keyword < RULES[rule].rule.keywords.len() {
            let text = RULES[rule].rule.keywords[keyword];
            let hash = hash_of(text.as_bytes());
            filter[hash / 64] |= 1 << (hash % 64);
            let entry = Entry::new(Cow::Borrowed(text), text.as_bytes(), rule as u16, heads[slot(hash)]);
            std::mem::forget(std::mem::replace(&mut entries[at], entry));
            at += 1;
            heads[slot(hash)] = at as u16;
            keyword += 1;
        }
        rule += 1;
    }
    Table { filter, heads, entries }
}

/// Shifts one folded byte into the window of the last three bytes.
const fn fold(window: u32, byte: u8) -> u32 {
    ((window << 8) | (byte | 0x20) as u32) & 0x00FF_FFFF
}

const fn hash(window: u32) -> usize {
    (window.wrapping_mul(FACTOR) >> (32 - BITS)) as usize
}

const fn slot(hash: usize) -> usize {
    hash >> (BITS - SLOT_BITS)
}

const fn hash_of(keyword: &[u8]) -> usize {
    assert!(keyword.len() >= MIN_KEYWORD_BYTES);
    hash(fold(fold(fold(0, keyword[0]), keyword[1]), keyword[2]))
}

impl Index {
    /// Returns the table with additional keywords. Each keyword has at least [`MIN_KEYWORD_BYTES`] bytes and comes with
    /// the number that [`Self::at`] reports for it. Also returns the numbers of the keywords that could not be added.
    pub(super) fn with(&self, keywords: impl IntoIterator<Item = (String, u16)>) -> (Self, Vec<u16>) {
        let Self { mut filter, mut heads, entries } = self.clone();
        let (mut entries, mut rejected) = (entries.into_owned(), Vec::new());
        for (keyword, rule) in keywords {
            let (Ok(at), true) = (u16::try_from(entries.len() + 1), keyword.len() >= MIN_KEYWORD_BYTES) else {
                rejected.push(rule);
                continue;
            };
            let hash = hash_of(keyword.as_bytes());
            filter.to_mut()[hash / 64] |= 1 << (hash % 64);
            let head = &mut heads.to_mut()[slot(hash)];
            let bytes = keyword.clone().into_bytes();
            entries.push(Entry::new(Cow::Owned(keyword), &bytes, rule, *head));
            *head = at;
        }
        (Self { filter, heads, entries: Cow::Owned(entries) }, rejected)
    }

    /// Returns the first position, starting at `from`, where a keyword occurs, and the slot head that [`Self::at`]
    /// needs.
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<(usize, u16)> {
        let (filter, heads) = (&*self.filter, &*self.heads);
        let rest = text.get(from..)?;
        let (&[first, second], tail) = rest.split_first_chunk::<2>()?;
        let mut window = fold(fold(0, first), second);
        for (offset, &byte) in tail.iter().enumerate() {
            window = fold(window, byte);
            let hash = hash(window);
            if filter[hash / 64] >> (hash % 64) & 1 == 0 {
                continue;
            }
            let head = heads[slot(hash)];
            if self.may_match(rest, offset, head) && self.at(text, from + offset, head).next().is_some() {
                return Some((from + offset, head));
            }
        }
        None
    }

    /// Returns whether the first four bytes match some keyword of the slot.
    fn may_match(&self, text: &[u8], position: usize, head: u16) -> bool {
        let Some(bytes) = text[position..].first_chunk() else { return true };
        let bytes = folded(*bytes);
        let mut link = head;
        while let Some(entry) = usize::from(link).checked_sub(1).and_then(|at| self.entries.get(at)) {
            if bytes & entry.mask == entry.prefix {
                return true;
            }
            link = entry.next;
        }
        false
    }

    /// Returns the rules that have a keyword at a position, each with the length of that keyword.
    pub(super) fn at(&self, text: &[u8], position: usize, head: u16) -> impl Iterator<Item = (u16, usize)> {
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
