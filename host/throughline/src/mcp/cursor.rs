//! Pagination cursors: opaque to the client, and valid only for the list that they were issued for.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use throughline_engine::memory::RequestError;
use throughline_model::digest::sha256_hex;

/// The longest cursor that is decoded, in bytes. Longer ones cannot be ours.
const MAX_CURSOR_BYTES: usize = 512;

#[derive(Serialize, Deserialize)]
struct Cursor<T> {
    /// The fingerprint of the list.
    list: String,
    /// The position in the list.
    at: T,
}

/// Returns the fingerprint of a list: its name and everything that determines its content.
fn list(name: &str, of: &impl Serialize) -> String {
    let of = serde_json::to_vec(of).unwrap_or_default();
    sha256_hex(&[name.as_bytes(), b"\0", &of].concat())[..12].to_owned()
}

/// Encodes a cursor for a position in a list.
pub(super) fn encode<T: Serialize>(name: &str, of: &impl Serialize, at: T) -> String {
    let cursor = Cursor { list: list(name, of), at };
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(&cursor).unwrap_or_default())
}

/// Decodes a cursor; `None` if there is none. Returns an error if the cursor belongs to another list.
pub(super) fn decode<T: DeserializeOwned>(
    name: &str,
    of: &impl Serialize,
    text: Option<&str>,
) -> Result<Option<T>, RequestError> {
    let Some(text) = text else { return Ok(None) };
    let cursor = Some(text)
        .filter(|text| text.len() <= MAX_CURSOR_BYTES)
        .and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
        .and_then(|bytes| serde_json::from_slice::<Cursor<T>>(&bytes).ok())
        .filter(|cursor| cursor.list == list(name, of));
    match cursor {
        Some(cursor) => Ok(Some(cursor.at)),
        None => Err(RequestError::new(
            "the cursor does not belong to this list",
            "omit it to start over, and keep the other arguments the same",
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cursor_is_of_its_list() {
        let cursor = encode("search", &("a", 1), 20_u32);
        assert_eq!(decode::<u32>("search", &("a", 1), Some(&cursor)).unwrap(), Some(20));
        assert_eq!(decode::<u32>("search", &("a", 1), None).unwrap(), None);
        assert!(decode::<u32>("search", &("b", 1), Some(&cursor)).is_err());
        assert!(decode::<u32>("other", &("a", 1), Some(&cursor)).is_err());
        assert!(decode::<(u64, i64)>("search", &("a", 1), Some(&cursor)).is_err());
    }

    proptest! {
        #[test]
        fn what_is_no_cursor_is_refused(text in any::<String>()) {
            prop_assert!(decode::<u32>("search", &(), Some(&text)).is_err());
        }
    }
}
