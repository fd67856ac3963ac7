//! The contract's types and traits, generated from `wit/`. The only module with unsafe code: that which crosses the
//! component boundary, written by wit-bindgen.
#![allow(unsafe_code, missing_docs, clippy::pedantic)]

wit_bindgen::generate!({
    path: "../wit/v0.1.0",
    world: "policy",
    pub_export_macro: false,
    additional_derives: [PartialEq],
    generate_all,
});
