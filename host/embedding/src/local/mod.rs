//! The built-in embedding model: it has one vector per token, and a text's vector is their mean.
//!
//! The program contains a vector for each of 27,592 English tokens. They are fitted so that their means resemble what
//! all-MiniLM-L6-v2 says of texts by developers; `models/minilm/README.md` in this crate says how, and how well the
//! result measured. A vector is computed in microseconds where the memory is stored, so there is no queue. The model
//! also returns how much of a text it knows, and search weighs the vector by that: a Korean question rests on its
//! words.

mod table;
mod wordpiece;
mod words;

use self::words::Word;
use super::Embedding;

/// The model's name and version. Vectors of different versions cannot be compared. Change it whenever the model file or
/// the tokenization here changes.
pub const NAME: &str = "minilm-256-2";

/// How many numbers a vector has.
pub const DIMS: usize = 256;

/// A shorter token within a word of several tokens is a fragment that occurs in words of every meaning, so it does not
/// count as known.
const MIN_KNOWN_BYTES: usize = 3;

/// Returns the vector of `text`, or `None` if the model knows none of its words. Runs in time linear in the length of
/// `text`.
pub fn embed(text: &str) -> Option<Embedding> {
    let mut sum = [0.0; DIMS];
    let mut known = 0.0;
    let mut all = 0;
    let mut lower = String::new();
    let mut pieces = Vec::new();
    words::for_each_word(text, |word| match word {
        Word::Latin { text, bytes } => {
            cut(text, &mut lower, &mut pieces);
            let mut known_here = 0;
            for piece in &pieces {
                piece.row.add_to(&mut sum);
                if pieces.len() == 1 || piece.bytes >= MIN_KNOWN_BYTES {
                    known_here += piece.bytes;
                }
            }
            all += bytes;
            known += ratio(bytes, 1) * ratio(known_here, lower.len());
        }
        Word::Foreign { bytes } => all += bytes,
    });
    let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    (known > 0.0 && length > 0.0).then(|| Embedding {
        vector: sum.iter().map(|x| x / length).collect(),
        // Rounding in a long sum may push the ratio above 1.
        known: (known / ratio(all, 1)).min(1.0),
    })
}

/// Tokenizes `word` into `pieces` and stores its lower-case form in `lower`.
fn cut(word: &str, lower: &mut String, pieces: &mut Vec<wordpiece::Piece>) {
    pieces.clear();
    lower.clear();
    lower.extend(word.chars().flat_map(char::to_lowercase));
    if let Some(whole) = wordpiece::find_whole_token(lower) {
        pieces.push(whole);
        return;
    }
    let mut start = 0;
    for part in words::split_word(word) {
        // Lower-case text may be longer, but it is made character by character, so the parts still line up.
        let end = start + part.chars().flat_map(char::to_lowercase).map(char::len_utf8).sum::<usize>();
        wordpiece::tokenize(&lower[start..end], pieces);
        start = end;
    }
}

#[expect(clippy::cast_precision_loss, reason = "24 bits are enough for a share of a text")]
fn ratio(part: usize, whole: usize) -> f32 {
    part as f32 / whole as f32
}

/// Returns the name of the built-in model.
pub fn model() -> super::Model {
    super::Model { provider: "local".into(), name: NAME.into(), dims: DIMS }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    /// A line of `reference.jsonl`.
    #[derive(Deserialize)]
    struct Reference {
        text: String,
        /// The tokens that the source model's tokenizer produces.
        tokens: Vec<String>,
        /// The mean of the vectors before quantization, in ten-thousandths; empty if there is no token.
        vector: Vec<i16>,
    }

    fn references() -> Vec<Reference> {
        let lines = include_str!("../../models/minilm/reference.jsonl").lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn tokens(text: &str) -> Vec<String> {
        let (mut tokens, mut lower, mut pieces) = (Vec::new(), String::new(), Vec::new());
        words::for_each_word(text, |word| {
            if let Word::Latin { text, .. } = word {
                cut(text, &mut lower, &mut pieces);
                tokens.extend(pieces.iter().map(|piece| piece.row.name()));
            }
        });
        tokens
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    fn similarity(a: &str, b: &str) -> f32 {
        cosine(&embed(a).unwrap().vector, &embed(b).unwrap().vector)
    }

    fn known(text: &str) -> Option<f32> {
        embed(text).map(|embedding| embedding.known)
    }

    #[test]
    fn tokens_are_those_of_the_source_model() {
        for reference in references() {
            assert_eq!(tokens(&reference.text), reference.tokens, "{}", reference.text);
        }
    }

    #[test]
    fn vectors_are_those_of_the_reference() {
        for Reference { text, vector, .. } in references() {
            let Some(embedding) = embed(&text) else {
                assert!(vector.is_empty(), "{text}");
                continue;
            };
            let vector: Vec<f32> = vector.into_iter().map(f32::from).collect();
            let cosine = cosine(&embedding.vector, &vector);
            assert!(cosine > 0.999, "{text}: {cosine}");
        }
    }

    #[test]
    fn what_means_the_same_is_near() {
        let near = similarity("the database is slow", "queries against Postgres take long");
        let far = similarity("the database is slow", "the logo should be blue");
        assert!(near > far + 0.1, "{near} {far}");
        let identifier = similarity("getUserName", "get_user_name");
        assert!(identifier > 0.999, "{identifier}");
    }

    #[test]
    fn a_text_of_other_scripts_is_not_known() {
        for text in ["", " ", "인증 실패", "認証に失敗した", "Проверка подписи", "🚀🚀", "→ … !", "\u{1b}\0"]
        {
            assert_eq!(embed(text), None, "{text}");
        }
    }

    #[test]
    fn known_is_the_share_of_the_text_in_bytes() {
        assert_eq!(known("refresh the token"), Some(1.0));
        assert_eq!(known("인증 token refresh 실패"), Some(0.5));
        assert!(known("the commit e01fe3a9c2b77d").unwrap() < 0.7);
    }

    #[test]
    fn words_of_a_known_text_weigh_by_their_rarity() {
        assert!(similarity("the token of the session is in the cookie", "token session cookie") > 0.8);
    }

    proptest! {
        #[test]
        fn a_vector_is_finite_and_of_length_1(text in r"(\PC|[a-zA-Z0-9_가-힣é０-ｚ \x00-\x1f]){0,200}") {
            if let Some(Embedding { vector, known }) = embed(&text) {
                prop_assert_eq!(vector.len(), DIMS);
                let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
                prop_assert!((length - 1.0).abs() < 1e-4, "{}", length);
                prop_assert!(known > 0.0 && known <= 1.0, "{}", known);
            }
        }

        #[test]
        fn look_ups_grow_with_the_text_and_no_faster(
            unit in prop_oneof![r"[a-z]{1,4}", r"[A-Za-z0-9ß]{1,30}", r"(\PC){1,8}"],
            times in 1usize..500,
        ) {
            let text = unit.repeat(times);
            let before = table::lookups();
            embed(&text);
            // At most one look-up of every length starts at each byte, once for the whole word and once for its part.
            let most = 2 * table::MAX_TOKEN_BYTES * (text.len() * 3 + 1);
            prop_assert!(table::lookups() - before <= most);
        }
    }
}
