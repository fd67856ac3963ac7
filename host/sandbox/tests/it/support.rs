//! Helpers shared by the tests of components.

use throughline_sandbox::capability::Capabilities;
use throughline_sandbox::engine::Limits;
use throughline_sandbox::instance::Terms;
use throughline_sandbox::stage::Stage;

/// Returns terms that grant a component every capability of the contract.
pub(crate) fn terms(name: &str, stages: &[Stage], limits: Limits) -> Terms {
    Terms {
        name: name.into(),
        digest: "d".repeat(64),
        capabilities: Capabilities::contract(),
        stages: stages.to_vec(),
        limits,
    }
}
