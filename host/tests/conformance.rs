//! x
use host::policy::cache::Cache;
use host::policy::conformance::{self, Granted, Options, Stage, Status};
use host::policy::engine::{Clockwork, Limits};
use host::policy::imports::Grants;
use host::policy::instance::Loaded;
use std::time::{Duration, Instant};

#[test]
fn the_default_policy_passes() {
    let bytes =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../policies/default/policy.wasm")).expect("it is committed");
    let clock = Clockwork::start().expect("an engine");
    let component = wasmtime::component::Component::from_binary(clock.engine(), &bytes).expect("it compiles");
    let policy = Loaded::link("default", "d", &clock, &component, Limits::default()).expect("it links");
    let began = Instant::now();
    let report = conformance::run(&Granted { policy: &policy, grants: Grants::default() }, &Stage::ALL, &Options::default());
    eprintln!("{:?}", began.elapsed());
    for check in &report.checks {
        eprintln!("{:?} {}/{}: {}", check.status, check.stage, check.id, check.seen);
    }
    assert!(report.is_fine());
}
