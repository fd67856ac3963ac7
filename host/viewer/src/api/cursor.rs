//! Cursors: where a page of a list ended, as text that means nothing to the page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// Encodes a place.
pub(super) fn encode(place: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(place).unwrap_or_default())
}

/// Decodes a cursor, or `None` if there is none.
pub(super) fn decode<T: DeserializeOwned>(cursor: Option<&str>) -> Result<Option<T>, ApiError> {
    let Some(cursor) = cursor else { return Ok(None) };
    let place = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let wrong = || ApiError::refused("this is not a cursor of this list").hint("leave it out to begin at the start");
    place.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cursor_is_refused() {
        assert_eq!(decode::<u32>(Some(&encode(&7_u32))).unwrap(), Some(7));
        assert_eq!(decode::<u32>(None).unwrap(), None);
        for wrong in ["", "7", "e30", "../..", "\u{0}"] {
            assert!(decode::<u32>(Some(wrong)).is_err(), "{wrong:?}");
        }
    }
}
