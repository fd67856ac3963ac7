//! Helpers shared by the tests of components.

use host::policy::capability::Capabilities;
use host::policy::engine::Limits;
use host::policy::instance::Terms;
use host::policy::stage::Stage;

/// Returns terms that grant a component every capability of the contract.
pub fn terms(name: &str, stages: &[Stage], limits: Limits) -> Terms {
    Terms {
        name: name.into(),
        digest: "d".repeat(64),
        capabilities: Capabilities::contract(),
        stages: stages.to_vec(),
        limits,
    }
}
