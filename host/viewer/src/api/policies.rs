//! Policies: what runs, and two of them on one session side by side.

use std::path::Path;

use serde_json::Value;

use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;
use crate::program::TRIAL_TIMEOUT;

/// The longest name of a policy.
const MAX_NAME: usize = 64;

/// `throughline policy list`, in the folder of the project.
pub(super) fn list(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    app.command_in(&["policy", "list", "--json"], wanted.project.as_deref())
}

/// `throughline policy test --against`, on a session; without `against`, compared with the default policy alone.
pub(super) fn compare(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let session = wanted.session.as_deref().filter(|session| !session.is_empty());
    let session = session.ok_or_else(|| ApiError::refused("no session is chosen"))?;
    let mut words = vec!["policy".to_owned(), "test".into(), "--json".into(), format!("--session={session}")];
    if !wanted.against.is_empty() {
        words.push(format!("--against={}", name_of(&wanted.against)?));
    }
    words.extend(["--".into(), name_of(&wanted.policy)?.to_owned()]);
    app.program.json_within(TRIAL_TIMEOUT, &words, "", wanted.project.as_deref().map(Path::new))
}

/// Refuses what is not the name of a policy: the command also takes folders, which a page has no business to name.
fn name_of(typed: &str) -> Result<&str, ApiError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if typed.is_empty() || typed.len() > MAX_NAME || !typed.bytes().all(is_plain) || typed.starts_with('-') {
        return Err(ApiError::refused("that is not the name of a policy").hint("choose one that is installed"));
    }
    Ok(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_names_a_policy() {
        for wrong in ["", "-x", "--json", "../x", "/tmp/x", "./x", "a b", "A", "x\n", &"x".repeat(65)] {
            assert!(name_of(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(name_of("decision-records-2").unwrap(), "decision-records-2");
    }
}
