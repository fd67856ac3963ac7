//! The hint of an error: what the user can do about it.

use crate::memory::RequestError;
use crate::runtime::RuntimeError;
use crate::team::link::SyncError;
use throughline_model::contract::Failure;
use throughline_notes::NotesError;
use throughline_privacy::intervals::IntervalsError;
use throughline_sandbox::compile::CompilerError;
use throughline_sandbox::instance::LinkError;
use throughline_sandbox::trapped::{CallStopped, CallTrapped};
use throughline_sandbox::user_config::UserConfigError;
use throughline_store::StoreError;

/// The hint of a failure that a policy itself reports.
const FAILED: &str = "the message is the policy's own: repair it in the policy's source or settings";

/// Returns the hint of the error or of the first of its causes that has one.
pub fn of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let policy = cause.downcast_ref::<LinkError>().map(|error| error.hint.clone());
        let compiler = || cause.downcast_ref::<CompilerError>().map(|error| error.hint.clone());
        let request = || cause.downcast_ref::<RequestError>().map(|error| error.hint.clone());
        let store = || cause.downcast_ref::<StoreError>().and_then(StoreError::hint);
        let trapped = || cause.downcast_ref::<CallTrapped>().and_then(CallTrapped::hint);
        let failed = || cause.downcast_ref::<Failure>().map(|_| FAILED.to_owned());
        let stopped = || cause.downcast_ref::<CallStopped>().map(|_| CallStopped::HINT.to_owned());
        let settings = || {
            let runtime = cause.downcast_ref::<RuntimeError>().map(RuntimeError::hint);
            let intervals = || cause.downcast_ref::<IntervalsError>().map(IntervalsError::hint);
            let notes = || cause.downcast_ref::<NotesError>().map(NotesError::hint);
            let decisions = || cause.downcast_ref::<UserConfigError>().map(|_| UserConfigError::HINT);
            runtime.or_else(intervals).or_else(notes).or_else(decisions).map(str::to_owned)
        };
        let team = || cause.downcast_ref::<SyncError>().map(|error| error.0.hint.clone());
        policy
            .or_else(compiler)
            .or_else(trapped)
            .or_else(stopped)
            .or_else(failed)
            .or_else(request)
            .or_else(store)
            .or_else(settings)
            .or_else(team)
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::ConfigError;

    #[test]
    fn a_typed_error_keeps_its_hint_below_what_was_added() {
        let hint = |error: anyhow::Error| of(&error.context("the notes cannot be synced")).unwrap_or_default();
        let notes =
            [NotesError::LeadsOut(PathBuf::from("/x")), NotesError::Registry("x".into()), NotesError::Schema("x".into())];
        for error in notes {
            let own = error.hint();
            assert_eq!(hint(error.into()), own);
        }
        assert!(hint(IntervalsError::TooLarge(PathBuf::from("/x")).into()).contains("do not delete it"));
        let managed = hint(RuntimeError::Managed("x".into()).into());
        assert!(managed.contains("the administrator"), "{managed}");
        assert!(hint(RuntimeError::Config(ConfigError::TooLarge(PathBuf::from("/x"))).into()).contains("config init"));
        let intervals = RuntimeError::Intervals(IntervalsError::TooLarge(PathBuf::from("/x")));
        assert!(hint(intervals.into()).contains("do not delete it"));
        assert_eq!(of(&anyhow::anyhow!("x")), None);
    }
}
