//! What tests of components share.

use host::policy::capability::Capabilities;
use host::policy::engine::Limits;
use host::policy::instance::Terms;
use host::policy::stage::Stage;

/// On which a component is taken: all that the contract has.
pub fn terms(name: &str, stages: &[Stage], limits: Limits) -> Terms {
    Terms {
        name: name.into(),
        digest: "d".repeat(64),
        capabilities: Capabilities::contract(),
        stages: stages.to_vec(),
        limits,
    }
}
