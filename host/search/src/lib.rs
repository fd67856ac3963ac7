//! Full-text search as pure functions: tokenization, query parsing, scoring and ranking. The store keeps the index and
//! runs the SQL.

pub mod glossary;
pub mod pieces;
pub mod query;
pub mod rank;
pub mod score;
pub mod tokens;
pub mod vector;
