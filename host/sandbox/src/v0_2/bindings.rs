//! Types for the contract that wasmtime generates from `wit/`. The shared records are [`throughline_model::contract`]'s own types.
#![allow(missing_docs, clippy::pedantic)]

wasmtime::component::bindgen!({
    path: "wit/v0.2.0",
    world: "policy",
    imports: { default: trappable },
    with: {
        "throughline:policy/types": crate::v0_2::types,
        "throughline:policy/transcript.reader": crate::imports::Reader,
    },
});
