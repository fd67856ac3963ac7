//! What is wrong with something that a person wrote: a manifest, a setting, a note, a line of an import.

use std::fmt;

/// Why something that a person wrote cannot be used. The message is for that person: it says what is wrong and, if known, how
/// to correct it. The caller that knows the file or the field adds it in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(String);

impl Invalid {
    /// What another error says about it.
    pub fn because(error: impl fmt::Display) -> Self {
        Self(error.to_string().trim().to_owned())
    }

    /// Puts where it stands before the message: a file or a field.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Invalid {}

impl From<String> for Invalid {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<&str> for Invalid {
    fn from(message: &str) -> Self {
        Self(message.to_owned())
    }
}

impl From<Invalid> for String {
    fn from(invalid: Invalid) -> Self {
        invalid.0
    }
}
