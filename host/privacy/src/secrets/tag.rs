//! The key of the short tags in placeholders, `[redacted:RULE#TAG]`. Throughout one database the same secret has the
//! same tag; another database has other tags.
//!
//! The key has its own file beside the database, so somebody who has only the database cannot even test a guess. With
//! the key, a tag still reveals only twelve bits.

use std::fmt::Write as _;
use std::hash::Hasher;
use std::io::{self, Write as _};
use std::path::Path;

use siphasher::sip::SipHasher24;

/// The number of hexadecimal digits in a tag, as in core-wasm/src/redact/tag.rs.
const DIGITS: usize = 3;

/// The setting with which the default policy receives the key, in hexadecimal digits.
pub const SETTING: &str = "redaction-tag-key";

/// A key for `SipHash`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TagKey([u8; 16]);

impl TagKey {
    /// Reads the file, or `None` if it is missing or damaged, and then placeholders have no tags.
    pub fn load(file: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(file).ok()?;
        let digits = text.trim_end();
        let well_formed = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self(u128::from_str_radix(digits, 16).ok().filter(|_| well_formed)?.to_be_bytes()))
    }

    /// Creates the file with a random key, unless it exists. If two processes do this at once, one of them succeeds.
    pub fn create(file: &Path) -> io::Result<()> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
        // Readable for its owner alone, and never incomplete.
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(new, "{}", Self(key).digits())?;
        match new.persist_noclobber(file) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
            _ => Ok(()),
        }
    }

    /// Returns the key in hexadecimal digits.
    pub fn digits(self) -> String {
        self.0.iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }

    /// Returns a secret's tag.
    pub fn tag(self, secret: &str) -> String {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(secret.as_bytes());
        let mut tag = format!("{:016x}", hasher.finish());
        tag.truncate(DIGITS);
        tag
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tag.key");
        assert!(TagKey::load(&file).is_none());
        TagKey::create(&file).unwrap();
        let key = TagKey::load(&file).unwrap();
        TagKey::create(&file).unwrap();
        assert!(TagKey::load(&file) == Some(key));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        std::fs::write(&file, "+0102030405060708090a0b0c0d0e0f1").unwrap();
        assert!(TagKey::load(&file).is_none());
    }

    #[test]
    fn tags_are_those_of_the_default_policy() {
        let key = TagKey(std::array::from_fn(|at| u8::try_from(at).unwrap()));
        for secret in ["", "hunter2", "비밀번호", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"] {
            assert_eq!(key.tag(secret), throughline_default_policy::redact::tag::compute(&key.0, secret), "{secret}");
        }
    }
}
