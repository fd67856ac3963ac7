//! The committed default policy is what core-wasm/ builds, and asks for nothing but the contract.

use tests::{component, turns};

#[test]
fn the_committed_component_is_fresh() {
    if !component::target_installed() {
        let why = format!("run `rustup target add {}`", component::TARGET);
        assert!(!tests::env_flag("THROUGHLINE_REQUIRE_WASM_TARGET"), "the target is missing: {why}");
        tests::skip("the committed component is compared with a fresh build", &why);
        return;
    }
    let _busy = turns::busy();
    let fresh = component::build().expect("the default policy builds");
    let committed = std::fs::read(component::committed()).expect("the component is committed");
    assert_eq!(
        component::digest(&fresh),
        component::digest(&committed),
        "policies/default/policy.wasm is stale: run `cargo default-policy` and commit what it writes"
    );
}
