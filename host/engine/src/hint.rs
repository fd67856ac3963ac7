//! The hint of an error: what the user can do about it.

use crate::memory::RequestError;
use throughline_sandbox::instance::LinkError;
use throughline_store::StoreError;

/// Returns the hint of the error or of the first of its causes that has one.
pub fn of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let policy = cause.downcast_ref::<LinkError>().map(|error| error.hint.clone());
        let request = || cause.downcast_ref::<RequestError>().map(|error| error.hint.clone());
        let store = || cause.downcast_ref::<StoreError>().and_then(StoreError::hint);
        policy.or_else(request).or_else(store)
    })
}
