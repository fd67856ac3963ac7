//! Full-text search: what the words of a text are, what a query means, and in which order the memories that it finds are
//! shown. All of it is pure; the store keeps the index and runs the SQL.

pub mod pieces;
pub mod query;
pub mod rank;
pub mod score;
pub mod tokens;
pub mod vector;

/// TEMPORARY
pub static KNOBS: std::sync::RwLock<std::collections::BTreeMap<String, f64>> = std::sync::RwLock::new(std::collections::BTreeMap::new());
/// TEMPORARY
pub fn knob(name: &str, default: f64) -> f64 {
    KNOBS.read().unwrap().get(name).copied().unwrap_or(default)
}
