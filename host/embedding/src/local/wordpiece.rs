//! Splits a word into vocabulary tokens, longest match first, as BERT's `WordPiece` does.

use super::table::{Hash, MAX_TOKEN_BYTES, Row, TokenPosition, find};

/// The maximum length of a word, in characters; the limit is BERT's.
const MAX_CHARS: usize = 100;

/// A token of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The token.
    pub row: Row,
    /// Its length in bytes.
    pub bytes: usize,
}

/// Appends the tokens of `word`, which must be lower case and not empty. Appends nothing if the word cannot be split
/// into tokens. Makes at most [`MAX_TOKEN_BYTES`] look-ups per byte.
pub(super) fn tokenize(word: &str, pieces: &mut Vec<Piece>) {
    if word.len() > MAX_CHARS && word.chars().count() > MAX_CHARS {
        return;
    }
    let before = pieces.len();
    let mut rest = word;
    let mut place = TokenPosition::Start;
    while !rest.is_empty() {
        let Some(piece) = longest(rest, place) else {
            pieces.truncate(before);
            return;
        };
        rest = &rest[piece.bytes..];
        pieces.push(piece);
        place = TokenPosition::Further;
    }
}

/// Returns the token that covers all of `word`.
pub(super) fn find_whole_token(word: &str) -> Option<Piece> {
    longest(word, TokenPosition::Start).filter(|piece| piece.bytes == word.len())
}

fn longest(text: &str, place: TokenPosition) -> Option<Piece> {
    let bytes = text.as_bytes();
    let reach = bytes.len().min(MAX_TOKEN_BYTES);
    let mut hashes = [Hash::new(place); MAX_TOKEN_BYTES + 1];
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
        tokenize(word, &mut pieces);
        assert!(pieces.is_empty() || pieces.iter().map(|piece| piece.bytes).sum::<usize>() == word.len());
        pieces.into_iter().map(|piece| piece.row.name()).collect()
    }

    #[test]
    fn the_longest_token_wins() {
        assert_eq!(tokens("unaffable"), ["una", "##ffa", "##ble"]);
        assert_eq!(tokens("token"), ["token"]);
        assert_eq!(tokens("tokenizer"), ["token", "##izer"]);
        assert_eq!(find_whole_token("tokenizer"), None);
        assert!(find_whole_token("words").is_some());
    }

    #[test]
    fn what_is_too_long_or_unknown_has_no_tokens() {
        assert_eq!(tokens(&"a".repeat(101)), [""; 0]);
        assert_eq!(tokens(&"a".repeat(100)).concat().replace('#', ""), "a".repeat(100));
        assert_eq!(tokens("aǂ"), [""; 0]);
    }
}
