//! Bindings for the contract that wasmtime generates from `wit/`. The shared records are [`crate::contract`]'s own
//! types.
#![allow(missing_docs, clippy::pedantic)]

wasmtime::component::bindgen!({
    path: "../wit/v0.1.0",
    world: "policy",
    imports: { default: trappable },
    with: {
        "throughline:policy/types": crate::policy::v0_1::types,
        "throughline:policy/transcript.reader": crate::policy::imports::Reader,
    },
});
