//! Text utilities that respect character boundaries.

mod case;
mod cut;
mod features;
mod find;
mod known;
mod language;
mod line;
mod markdown;
mod sentences;

pub(crate) use case::{capitalized, lower, strip_apostrophes};
pub(crate) use cut::{clip, clip_block, clip_middle, head, tail, utf16_len, width};
pub(crate) use features::{Features, features, hash, hash_of_lower, similarity};
pub(crate) use find::{Searched, contains, contains_any, contains_any_words, contains_words, rfind, starts_with_words};
pub(crate) use known::Known;
pub(crate) use language::{Language, language};
pub(crate) use line::{one_line, quoted, without_codes};
pub(crate) use markdown::{plain, prose_lines};
pub(crate) use sentences::{first_sentence, has_ended, sentences, typed_sentences};
