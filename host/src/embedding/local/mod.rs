//! The model that is part of this program: one vector a token, the text's vector is their mean.
//!
//! Its vectors are distilled from all-MiniLM-L6-v2; `host/models/minilm/README.md` says how, and what that was measured to
//! be worth.

mod table;
mod wordpiece;
mod words;

use self::words::Word;
use super::Embedding;

/// The model and its version: another version's vectors cannot be compared with these. Changes with the file and with what
/// is made of a text here.
pub const NAME: &str = "minilm-256-1";

/// How many numbers a vector has.
pub const DIMS: usize = 256;

/// A shorter token within a word of several is a splinter: it stands in words of every meaning.
const MIN_KNOWN_BYTES: usize = 3;

/// The vector of `text`; none where the model knows nothing of it. Time grows with the length of `text`, and no faster.
pub fn embed(text: &str) -> Option<Embedding> {
    let mut sum = [0.0; DIMS];
    let mut known = 0.0;
    let mut all = 0;
    let mut lower = String::new();
    let mut pieces = Vec::new();
    words::each(text, |word| match word {
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
            known += ratio(bytes * known_here, lower.len());
        }
        Word::Foreign { bytes } => all += bytes,
    });
    let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    (known > 0.0 && length > 0.0)
        .then(|| Embedding { vector: sum.iter().map(|x| x / length).collect(), known: known / ratio(all, 1) })
}

/// Puts the tokens of `word` into `pieces`, and what they were made from, its lower case, into `lower`.
fn cut(word: &str, lower: &mut String, pieces: &mut Vec<wordpiece::Piece>) {
    pieces.clear();
    lower.clear();
    lower.extend(word.chars().flat_map(char::to_lowercase));
    if let Some(whole) = wordpiece::whole(lower) {
        pieces.push(whole);
        return;
    }
    let mut start = 0;
    for part in words::parts(word) {
        // Lower case may be longer, and is made character by character: it has the same parts.
        let end = start + part.chars().flat_map(char::to_lowercase).map(char::len_utf8).sum::<usize>();
        wordpiece::cut(&lower[start..end], pieces);
        start = end;
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share of a text needs no more than 24 bits")]
fn ratio(part: usize, whole: usize) -> f32 {
    part as f32 / whole as f32
}

/// The model, by name.
pub fn model() -> super::Model {
    super::Model { provider: "local".into(), name: NAME.into(), dims: DIMS }
}
