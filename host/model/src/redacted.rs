//! [`Redacted`]: a value whose texts have passed the redactors. The store and the journal accept nothing else, so that no
//! unredacted text can be written to disk by mistake.
//!
//! ```compile_fail
//! use throughline_model::contract::Draft;
//! use throughline_model::redacted::Redacted;
//!
//! fn store(_: &Redacted<Draft>) {}
//!
//! store(&Draft { content: "the password is hunter2".into(), ..Draft::default() }); // expected `&Redacted<Draft>`
//! ```
//!
//! There is no way to wrap a value without a redactor:
//!
//! ```compile_fail
//! use throughline_model::contract::Draft;
//! use throughline_model::redacted::Redacted;
//!
//! let draft = Draft::default();
//! let redacted = Redacted(draft); // the field is private
//! ```
//!
//! And no text from elsewhere can be slipped in later, because [`Redacted::map`] takes a function that captures nothing:
//!
//! ```compile_fail
//! use throughline_model::contract::Draft;
//! use throughline_model::redacted::Redacted;
//!
//! fn add(draft: Redacted<Draft>, secret: String) -> Redacted<Draft> {
//!     draft.map(|draft| Draft { title: secret, ..draft }) // a closure that captures is no `fn`
//! }
//! ```

use std::ops::Deref;

/// A value with texts that come from a transcript, a policy, a file or a person.
pub trait Texts {
    /// Returns every text that may contain a secret, in an order of the implementation's choice.
    fn texts_mut(&mut self) -> Vec<&mut String>;
}

/// Removes secrets from texts.
pub trait TextRedactor {
    /// Why a text could not be redacted.
    type Error;

    /// Redacts the texts in place. After an error, none of them may be used.
    ///
    /// # Errors
    ///
    /// If a redactor failed.
    fn redact_texts(&mut self, texts: Vec<&mut String>) -> Result<(), Self::Error>;
}

/// A value whose texts have passed the redactors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Redacted<T>(T);

impl<T: Texts> Redacted<T> {
    /// Redacts all texts of a value.
    ///
    /// # Errors
    ///
    /// If a redactor failed. The value is dropped then.
    pub fn new<R: TextRedactor>(mut value: T, redactor: &mut R) -> Result<Self, R::Error> {
        redactor.redact_texts(value.texts_mut())?;
        Ok(Self(value))
    }

    /// Redacts all texts of many values in one call.
    ///
    /// # Errors
    ///
    /// If a redactor failed. The values are dropped then.
    pub fn all<R: TextRedactor>(mut values: Vec<T>, redactor: &mut R) -> Result<Vec<Self>, R::Error> {
        redactor.redact_texts(values.iter_mut().flat_map(T::texts_mut).collect())?;
        Ok(values.into_iter().map(Self).collect())
    }
}

impl<T> Redacted<T> {
    /// Wraps what is read back from a file that only redacted values are written to.
    ///
    /// `clippy.toml` refuses this function, so that each use gives its reason.
    pub fn read_back(value: T) -> Self {
        Self(value)
    }

    /// Derives another value from the redacted one, for example by cutting its texts. Texts must be cut only after they
    /// were redacted, because half a secret is not recognized.
    #[must_use]
    pub fn map<U>(self, derive: fn(T) -> U) -> Redacted<U> {
        Redacted(derive(self.0))
    }

    /// Returns the value. It cannot be wrapped again without a redactor.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Texts for (String, u32) {
        fn texts_mut(&mut self) -> Vec<&mut String> {
            vec![&mut self.0]
        }
    }

    /// Removes one word, or fails.
    struct Remove(Result<&'static str, ()>);

    impl TextRedactor for Remove {
        type Error = ();

        fn redact_texts(&mut self, texts: Vec<&mut String>) -> Result<(), ()> {
            let word = self.0?;
            for text in texts {
                *text = text.replace(word, "*");
            }
            Ok(())
        }
    }

    #[test]
    fn every_text_is_redacted_before_it_is_cut() {
        let redacted = Redacted::new(("my secret".to_owned(), 7), &mut Remove(Ok("secret"))).unwrap();
        assert_eq!(*redacted, ("my *".to_owned(), 7));
        let cut = redacted.map(|(text, number)| (text[..2].to_owned(), number));
        assert_eq!(cut.into_inner(), ("my".to_owned(), 7));
        let many = vec![("secret".to_owned(), 1), ("secret".to_owned(), 2)];
        let many = Redacted::all(many, &mut Remove(Ok("secret"))).unwrap();
        assert_eq!(many.into_iter().map(Redacted::into_inner).collect::<Vec<_>>(), [("*".into(), 1), ("*".into(), 2)]);
    }

    #[test]
    fn what_could_not_be_redacted_is_not_returned() {
        assert!(Redacted::new(("secret".to_owned(), 7), &mut Remove(Err(()))).is_err());
    }
}
