//! The types and traits of the contract, generated from `wit/`. This is the only module with unsafe code: wit-bindgen
//! writes the code that crosses the component boundary.
#![allow(unsafe_code, missing_docs, clippy::pedantic)]

wit_bindgen::generate!({
    path: "../wit/v0.1.0",
    world: "policy",
    pub_export_macro: false,
    additional_derives: [PartialEq],
    generate_all,
});
