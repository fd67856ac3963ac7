//! The component's exports: each stage hands the contract's values to its module. Wasm only.
