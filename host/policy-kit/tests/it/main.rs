//! Tests of what makes and checks policies, with the shipped ones and with broken ones.

mod conformance;
mod mutants;
mod policy_sources;
#[path = "../../../sandbox/tests/it/support.rs"]
mod support;
