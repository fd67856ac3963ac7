//! The key of a sealed team: an age identity that every member has and the server has not. What leaves a machine that has one is
//! encrypted for it.
//!
//! The age format is used as it is, so that any tool which knows age opens a record with the key. The server is told the
//! key's fingerprint, a hash of the public half, which is secret too: whoever has it could write records that open.

use std::fmt;
use std::io;
use std::path::PathBuf;

use age::secrecy::ExposeSecret as _;
use age::x25519::{Identity, Recipient};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use super::credentials::{self, CredentialError};
use throughline_model::digest::{sha256_hex, sha256_parts};
use throughline_platform::paths::Paths;
use throughline_store::team::{MAX_BODY_BYTES, SealedText, Sealer};

/// The version of a sealed record. A program that knows no sealed records leaves it alone.
const SEALED_VERSION: u32 = 2;

/// What begins the text form of a key.
const PREFIX: &str = "AGE-SECRET-KEY-1";

/// The key of a sealed team. It is never printed by accident.
pub struct TeamKey {
    identity: Identity,
    recipient: Recipient,
    fingerprint: String,
}

impl fmt::Debug for TeamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TeamKey({})", self.fingerprint)
    }
}

/// A record that is sealed.
#[derive(Serialize, Deserialize)]
struct SealedRecord<'a> {
    v: u32,
    #[serde(borrow)]
    item: std::borrow::Cow<'a, str>,
    /// The fingerprint of the key.
    #[serde(borrow)]
    key: std::borrow::Cow<'a, str>,
    /// The file of age, as base64.
    #[serde(borrow)]
    sealed: std::borrow::Cow<'a, str>,
}

impl TeamKey {
    /// Makes a key of the system's random numbers.
    pub fn create() -> Self {
        Self::new(Identity::generate())
    }

    fn new(identity: Identity) -> Self {
        let recipient = identity.to_public();
        let digest = sha256_parts(&["throughline team key", &recipient.to_string()]);
        Self { fingerprint: throughline_model::digest::hex(&digest), recipient, identity }
    }

    /// Reads the text form of a key: one line. No error quotes it.
    pub fn parse(text: &str) -> Result<Self, CredentialError> {
        text.trim().parse().map(Self::new).map_err(|_| CredentialError::NotAKey)
    }

    /// Returns whether a line is meant to be a key.
    pub fn is_meant(line: &str) -> bool {
        line.trim_start().starts_with(PREFIX)
    }

    /// Returns the text form. Whoever has it can read what the team shares.
    pub fn reveal(&self) -> String {
        self.identity.to_string().expose_secret().to_owned()
    }

    /// Returns what the server knows the key by: 64 hexadecimal digits.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the file that holds this machine's key.
    pub fn file(paths: &Paths) -> PathBuf {
        paths.config.join("team-key")
    }

    /// Reads this machine's key, or `None` if it has none.
    pub fn load(paths: &Paths) -> Result<Option<Self>, CredentialError> {
        credentials::read_private(&Self::file(paths))?.map(|text| Self::parse(&text)).transpose()
    }

    /// Stores the key, for this user only.
    pub fn store(&self, paths: &Paths) -> io::Result<()> {
        credentials::write_private(paths, &Self::file(paths), &self.reveal())
    }

    /// Returns whether the body of a record is sealed, with whatever key.
    pub fn is_sealed(body: &str) -> bool {
        serde_json::from_str::<SealedRecord<'_>>(body).is_ok()
    }

    /// Returns the text of an item's record, or `None` if it is not sealed, or not with this key, or for another item.
    pub fn open(&self, item: &str, body: &str) -> Option<String> {
        let record: SealedRecord<'_> = serde_json::from_str(body).ok()?;
        if record.v != SEALED_VERSION || record.item != item || record.key != self.fingerprint {
            return None;
        }
        let ciphertext = BASE64_STANDARD.decode(record.sealed.as_bytes()).ok()?;
        String::from_utf8(age::decrypt(&self.identity, &ciphertext).ok()?).ok()
    }
}

impl Sealer for TeamKey {
    fn seal(&self, item: &str, text: &str) -> Option<SealedText> {
        // Writing to memory cannot fail, and serializing strings cannot either.
        let ciphertext = age::encrypt(&self.recipient, text.as_bytes()).ok()?;
        let sealed = BASE64_STANDARD.encode(ciphertext);
        let record = SealedRecord {
            v: SEALED_VERSION,
            item: item.into(),
            key: self.fingerprint.as_str().into(),
            sealed: sealed.into(),
        };
        let body = serde_json::to_string(&record).ok()?;
        (body.len() <= MAX_BODY_BYTES).then(|| SealedText { hash: sha256_hex(body.as_bytes()), body })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ITEM: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn what_is_sealed_is_opened_with_the_key_alone() {
        let (key, other) = (TeamKey::create(), TeamKey::create());
        let text = format!(r#"{{"v":1,"item":"{ITEM}","memory":{{"content":"The otter sleeps"}}}}"#);
        let sealed = key.seal(ITEM, &text).unwrap();
        assert!(!sealed.body.contains("otter") && TeamKey::is_sealed(&sealed.body));
        assert_eq!(sealed.hash, sha256_hex(sealed.body.as_bytes()));
        assert_eq!(key.open(ITEM, &sealed.body).as_deref(), Some(text.as_str()));
        assert_eq!(TeamKey::parse(&key.reveal()).unwrap().open(ITEM, &sealed.body).as_deref(), Some(text.as_str()));
        assert!(other.open(ITEM, &sealed.body).is_none());
        // Nobody puts one item's text in the place of another one's, nor a text in the clear in that of a sealed one.
        assert!(key.open(&"f".repeat(32), &sealed.body).is_none());
        assert!(
            key.open(&"f".repeat(32), &sealed.body.replace(ITEM, &"f".repeat(32))).is_some(),
            "the inner item is checked later"
        );
        assert!(key.open(ITEM, &text).is_none());
        let forged = sealed.body.replace(key.fingerprint(), other.fingerprint());
        assert!(other.open(ITEM, &forged).is_none());
    }

    #[test]
    fn neither_hash_nor_fingerprint_tells_the_text_or_the_key() {
        let key = TeamKey::create();
        let (one, two) = (key.seal(ITEM, "the same").unwrap(), key.seal(ITEM, "the same").unwrap());
        assert_ne!(one.hash, two.hash, "the same text has another hash each time");
        assert!(!key.reveal().contains(key.fingerprint()) && !format!("{key:?}").contains(PREFIX));
        assert_ne!(key.fingerprint(), TeamKey::create().fingerprint());
        // What the server sees has neither half of the key.
        assert!(!one.body.contains(&key.recipient.to_string()));
    }

    #[test]
    fn what_is_too_long_is_not_sealed() {
        let key = TeamKey::create();
        assert!(key.seal(ITEM, &"x".repeat(MAX_BODY_BYTES)).is_none());
        assert!(key.seal(ITEM, &"x".repeat(MAX_BODY_BYTES / 4 * 3 - 1_000)).is_some());
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_quoted() {
        for text in ["", "hello", "AGE-SECRET-KEY-1QQQQ", "age1qqqq"] {
            let error = TeamKey::parse(text).unwrap_err().to_string();
            assert!(error.contains("not a team key") && (text.is_empty() || !error.contains(text)), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_text_survives_and_no_damaged_one_opens(text in "\\PC{0,300}", at in 0_usize..1_000, to in any::<u8>()) {
            let key = TeamKey::create();
            let sealed = key.seal(ITEM, &text).unwrap();
            let opened = key.open(ITEM, &sealed.body);
            prop_assert_eq!(opened.as_deref(), Some(text.as_str()));
            // Of every byte of the ciphertext.
            let mut record: serde_json::Value = serde_json::from_str(&sealed.body).unwrap();
            let mut ciphertext = BASE64_STANDARD.decode(record["sealed"].as_str().unwrap()).unwrap();
            let at = at % ciphertext.len();
            prop_assume!(ciphertext[at] != to);
            ciphertext[at] = to;
            record["sealed"] = BASE64_STANDARD.encode(ciphertext).into();
            prop_assert!(key.open(ITEM, &record.to_string()).is_none());
        }
    }
}
