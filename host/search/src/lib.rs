//! Full-text search as pure functions: tokenization, query parsing, scoring and ranking. The store keeps the index and
//! runs the SQL.
//!
//! A search is found by words and by meaning, and ordered by one ranking:
//!
//! 1. [`query`] parses what a person typed into a [`query::Query`]. Every query is valid. [`glossary`] adds the English
//!    of Korean programming words, because agents write English whatever language they are asked in.
//! 2. [`tokens`] turns the words of query and memory into tokens. No other module decides what a word is.
//! 3. The store finds pieces of memories: by words with FTS5, and by meaning with the vector formats of [`vector`].
//!    [`pieces`] says how a memory is cut into pieces.
//! 4. [`score`] computes BM25 for each piece from its text, and [`rank`] combines words and meaning into a relevance
//!    from 0 to 1. [`rank::ScoreExplanation`] explains each number, and `--explain` prints it.
//!
//! [`supersession`] compares memories with each other: which later one took the place of an earlier one.
//!
//! Nothing here reads a file, a clock or a database: the current time and the candidates are parameters. The crate
//! depends on no other crate of ours. Its tests compare it with FTS5 itself.
//!
//! # Profiles
//!
//! A [`rank::Profile`] sets how much words and meaning count:
//!
//! - `default` is the weighted mean that measured best over all labelled sets at hand.
//! - `text` and `vector` use one of the two alone.
//! - `rrf` uses reciprocal ranks.
//! - `seed` has the figures of the memory system's design: 0.7 of meaning, 0.3 of words, six results of at least 0.35.
//!   That least score asks for cosines that are higher than those of the built-in model, whose unrelated texts have
//!   about 0. The profile is there for comparison, and for models like those that the design was written for.
//!
//! In long queries the vectors count less: the words say enough, and the mean of thirty words means little. Maximal
//! marginal relevance was not built: demoting further results of a session does its work, and stronger demotions
//! measured no better. `docs/performance.md` has the quality of each profile.

pub mod glossary;
pub mod pieces;
pub mod query;
pub mod rank;
pub mod score;
pub mod supersession;
pub mod tokens;
pub mod vector;
