//! Texts that were looked at before, with what was found out about them.

/// The last texts of up to `MAX_BYTES` bytes with a value that is computed of each. There are `COUNT` places, and the hash of a text gives
/// its own, so a new text takes the place of an older one.
///
/// The statements of a session are compared with each other and searched for one list of signs after another. So most texts come again.
pub(crate) struct Known<V, const COUNT: usize, const MAX_BYTES: usize>(Vec<(String, V)>);

impl<V: Clone + Default, const COUNT: usize, const MAX_BYTES: usize> Known<V, COUNT, MAX_BYTES> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the value of a text: a copy of the known one, or what `compute` returns. The value of an empty text must be the default.
    pub(crate) fn get(&mut self, text: &str, compute: impl FnOnce(&str) -> V) -> V {
        if text.len() > MAX_BYTES {
            return compute(text);
        }
        if self.0.is_empty() {
            self.0.resize_with(COUNT, Default::default);
        }
        let (known, value) = &mut self.0[place(text, COUNT)];
        if known != text {
            *value = compute(text);
            known.clear();
            known.push_str(text);
        }
        value.clone()
    }
}

/// Returns the place of a text among so many.
fn place(text: &str, count: usize) -> usize {
    let (words, rest) = text.as_bytes().as_chunks();
    let add = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = words.iter().fold(0, |hash, word| add(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| add(hash, u64::from(*byte)));
    usize::try_from(hash >> 40).unwrap_or_default() % count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_value_is_that_of_the_text() {
        let mut known = Known::<String, 8, 32>::new();
        let texts: Vec<String> = (0..40).map(|number| format!("slip {number} of the till")).collect();
        for text in texts.iter().chain(&texts) {
            assert_eq!(known.get(text, str::to_uppercase), text.to_uppercase());
            assert_eq!(known.get(text, |_| unreachable!("it is known")), text.to_uppercase());
        }
        let long = "drawer ".repeat(5);
        assert_eq!(known.get(&long, str::to_uppercase), long.to_uppercase());
        assert_eq!(known.get(&long, |_| "computed again".into()), "computed again");
        assert_eq!(known.get("", str::to_uppercase), "");
    }
}
