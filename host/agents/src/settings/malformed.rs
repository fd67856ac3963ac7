//! Why a text cannot be edited as settings.

use std::fmt;

/// Why a text cannot be edited as settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// The text is not valid JSON.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong at that position.
        why: String,
    },
    /// Something in the text does not have the form that the agent expects.
    Shape {
        /// The path, such as `hooks.Stop`; empty for the whole text.
        place: String,
        /// `an object` or `an array`.
        wanted: &'static str,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, column, why } => {
                write!(f, "line {line}, column {column}: {why}")
            }
            Self::Shape { place, wanted } if place.is_empty() => write!(f, "it is not {wanted}"),
            Self::Shape { place, wanted } => write!(f, "{place} is not {wanted}"),
        }
    }
}
