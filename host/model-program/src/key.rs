//! Reads keys: from the environment, from a file that nobody else may read, or from a command such as a keyring's.

use std::process::{Command, Stdio};

use throughline_http::Key;
use throughline_model_wire::{Fault, FaultKind, KeySource};
use throughline_platform::permissions::{Owner, distrust_reason};

/// The longest key file, in bytes.
const MAX_KEY_BYTES: u64 = 16 << 10;

/// Reads a key. Errors name the source and never include the key.
pub(crate) fn read(source: &KeySource) -> Result<Key, Fault> {
    let fault = |what: String| Fault::permanent(FaultKind::Key, what);
    match source {
        KeySource::Env(name) => Key::from_env(name),
        KeySource::File(path) => {
            let metadata =
                std::fs::metadata(path).map_err(|error| fault(format!("the key file {path} cannot be read: {error}")))?;
            if let Some(why) = distrust_reason(&metadata, Owner::User) {
                return Err(fault(format!("the key file {path} is not trusted: {why}")));
            }
            if throughline_platform::permissions::others_have_access(&metadata) {
                return Err(fault(format!("other users may read the key file {path}: run chmod 600 on it")));
            }
            if !metadata.is_file() || metadata.len() > MAX_KEY_BYTES {
                return Err(fault(format!("the key file {path} is no file with a key in it")));
            }
            let text = std::fs::read_to_string(path)
                .map_err(|error| fault(format!("the key file {path} cannot be read: {error}")))?;
            Key::new(path, &text)
        }
        KeySource::Command(words) => {
            let [program, arguments @ ..] = words.as_slice() else { return Err(fault("key_command is empty".into())) };
            let run = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
            let output = run.map_err(|error| fault(format!("key_command {program} cannot be started: {error}")))?;
            if !output.status.success() {
                return Err(fault(format!("key_command {program} failed: {}", output.status)));
            }
            let text =
                String::from_utf8(output.stdout).map_err(|_| fault(format!("key_command {program} printed no text")))?;
            Key::new(program, &text)
        }
    }
}
