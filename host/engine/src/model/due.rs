//! Whether a background process has anything to do for a granted policy. Hooks ask, so it must be cheap.

use std::path::Path;

use super::settings::Provider;
use crate::runtime::Runtime;
use throughline_sandbox::stage::Stage;

/// Returns whether a policy would go over what is stored in a project. It looks at the configuration first, and then at the policies
/// that a hook has read anyway.
pub fn is_due(runtime: &Runtime, root: &Path) -> bool {
    let settings = &runtime.config.model;
    if settings.provider == Provider::None || !settings.limits.all.bound_time() || runtime.managed.model.forbid {
        return false;
    }
    runtime.policies(Some(root)).is_ok_and(|policies| !policies.registry().order(Stage::Consolidator).is_empty())
}
