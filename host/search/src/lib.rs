//! Full-text search: what the words of a text are, what a query means, and in which order the memories that it finds are
//! shown. All of it is pure; the store keeps the index and runs the SQL.

pub mod glossary;
pub mod pieces;
pub mod query;
pub mod rank;
pub mod score;
pub mod tokens;
pub mod vector;
