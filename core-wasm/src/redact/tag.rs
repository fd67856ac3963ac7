//! The short tag of a placeholder. It is the same for the same secret, so that a memory stays readable after redaction.

use std::cell::Cell;
use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// The number of hexadecimal digits of a tag. Twelve bits distinguish the few secrets of a project, but are too few to
/// find a secret by, even for somebody who has the key.
pub const TAG_DIGITS: usize = 3;

/// The setting that contains the key: 32 hexadecimal digits, chosen at random for each database.
pub const SETTING: &str = "redaction-tag-key";

/// What is known about the key.
#[derive(Clone, Copy)]
enum Key {
    Unread,
    None,
    Some([u8; 16]),
}

thread_local! {
    /// Read only after something was found: most texts contain no secret.
    static KEY: Cell<Key> = const { Cell::new(Key::Unread) };
}

/// Returns the tag under the configured key, or none if there is no key.
pub(super) fn for_secret(secret: &str) -> Option<String> {
    if matches!(KEY.get(), Key::Unread) {
        KEY.set(setting().as_deref().and_then(parse).map_or(Key::None, Key::Some));
    }
    match KEY.get() {
        Key::Some(key) => Some(compute(&key, secret)),
        Key::Unread | Key::None => None,
    }
}

/// Computes the tag under a key.
pub fn compute(key: &[u8; 16], secret: &str) -> String {
    let mut hasher = SipHasher24::new_with_key(key);
    hasher.write(secret.as_bytes());
    let mut tag = format!("{:016x}", hasher.finish());
    tag.truncate(TAG_DIGITS);
    tag
}

fn parse(digits: &str) -> Option<[u8; 16]> {
    let number = u128::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 32)?;
    Some(number.to_be_bytes())
}

/// Reads the setting. Settings are JSON: here a string in quotes.
#[cfg(target_arch = "wasm32")]
fn setting() -> Option<String> {
    serde_json::from_str(&crate::bindings::throughline::policy::settings::get(SETTING)?).ok()
}

#[cfg(not(target_arch = "wasm32"))]
fn setting() -> Option<String> {
    None
}

/// Calls `act` with tags under this key, on this thread.
#[cfg(test)]
pub(super) fn with_key<T>(key: [u8; 16], act: impl FnOnce() -> T) -> T {
    KEY.set(Key::Some(key));
    let outcome = act();
    KEY.set(Key::Unread);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::scrub;

    #[test]
    fn keys_are_read_as_they_are_written() {
        assert_eq!(parse("00000000000000000000000000000102").map(|key| key[14..].to_vec()), Some(vec![1, 2]));
        for wrong in ["", "00", "000102030405060708090a0b0c0d0e0g"] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_same_secret_has_the_same_tag() {
        let (one, other) = ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_26D8f53A303d7023F8821d949458Bf289C5b");
        let text = format!("{one} then {other}, and {one}");
        let tagged = with_key([7; 16], || scrub(&text).into_owned());
        let tags: Vec<&str> = tagged.split('#').skip(1).map(|rest| &rest[..TAG_DIGITS]).collect();
        assert!(tags.len() == 3 && tags[0] == tags[2] && tags[0] != tags[1], "{tagged}");
        assert_eq!(with_key([7; 16], || scrub(&tagged).into_owned()), tagged, "a tagged placeholder stays");
        assert_ne!(with_key([8; 16], || scrub(&text).into_owned()), tagged, "another database, other tags");
    }
}
