//! Making and checking policies: what `throughline policy new`, `build`, `check` and `test` do, without a terminal.
//!
//! - [`template`] creates a new policy from a template, and [`build`] makes its source into a component and a manifest
//!   with the component's digest.
//! - [`conformance`] checks a policy against the contract: 73 checks of what the contract promises, such as a fold in
//!   one call and in many, budgets in UTF-16 units, idempotence, and hostile lines. [`conformance::run`] takes a
//!   [`conformance::Subject`] and returns a [`conformance::ConformanceReport`].
//! - [`compare`] says how two policy configurations differ in what they make of one session.
//! - [`sample`] is a recorded session. It is here because both the checks and the demo use it, and the demo's crate
//!   depends on this one.
//!
//! `policy check` reads the component's interface, links it, and runs the conformance suite. The default policy must pass
//! like every other. The tests of this crate (`tests/it`) have, for each check, a policy that fails it, and send 1,000
//! damaged components through. `policy test` plays recorded transcripts twice through the real ways in and out, in a
//! home that is deleted afterwards (the trial runs of `throughline-engine`; `doctor` rehearses in the same way), and
//! compares.
//!
//! The contract is read from `wit`, a symbolic link to the folder at the root of the repository, which `cargo package`
//! replaces by the files.

pub mod build;
pub mod compare;
pub mod conformance;
pub mod sample;
pub mod template;
