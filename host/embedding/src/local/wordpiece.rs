//! Cuts a word into tokens of the vocabulary, the longest first, as BERT's `WordPiece` does.

use super::table::{Hash, LONGEST, Place, Row, find};

/// What has more characters is no word; the limit is BERT's.
const MAX_CHARS: usize = 100;

/// A token of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which token.
    pub row: Row,
    /// How long it is, in bytes.
    pub bytes: usize,
}

/// Appends the tokens of `word`, which is in lower case and not empty; appends nothing where it cannot be made of tokens.
/// Takes at most [`LONGEST`] look-ups a byte.
pub fn cut(word: &str, pieces: &mut Vec<Piece>) {
    if word.len() > MAX_CHARS && word.chars().count() > MAX_CHARS {
        return;
    }
    let before = pieces.len();
    let mut rest = word;
    let mut place = Place::Start;
    while !rest.is_empty() {
        let Some(piece) = longest(rest, place) else {
            pieces.truncate(before);
            return;
        };
        rest = &rest[piece.bytes..];
        pieces.push(piece);
        place = Place::Further;
    }
}

/// The token that is the whole of `word`.
pub fn whole(word: &str) -> Option<Piece> {
    longest(word, Place::Start).filter(|piece| piece.bytes == word.len())
}

fn longest(text: &str, place: Place) -> Option<Piece> {
    let bytes = text.as_bytes();
    let reach = bytes.len().min(LONGEST);
    let mut hashes = [Hash::new(place); LONGEST + 1];
    for len in 1..=reach {
        hashes[len] = hashes[len - 1].with(bytes[len - 1]);
    }
    (1..=reach).rev().find_map(|len| find(&bytes[..len], place, hashes[len]).map(|row| Piece { row, bytes: len }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(word: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        cut(word, &mut pieces);
        assert!(pieces.is_empty() || pieces.iter().map(|piece| piece.bytes).sum::<usize>() == word.len());
        pieces.into_iter().map(|piece| piece.row.name()).collect()
    }

    #[test]
    fn the_longest_token_wins() {
        assert_eq!(tokens("unaffable"), ["una", "##ffa", "##ble"]);
        assert_eq!(tokens("token"), ["token"]);
        assert_eq!(tokens("tokenizer"), ["token", "##izer"]);
        assert_eq!(whole("tokenizer"), None);
        assert!(whole("words").is_some());
    }

    #[test]
    fn what_is_too_long_or_unknown_has_no_tokens() {
        assert_eq!(tokens(&"a".repeat(101)), [""; 0]);
        assert_eq!(tokens(&"a".repeat(100)).concat().replace('#', ""), "a".repeat(100));
        assert_eq!(tokens("aǂ"), [""; 0]);
    }
}
