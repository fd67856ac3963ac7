//! A short version of `team chaos`: machines, network and server are disturbed, and afterwards all agree.

use std::time::Duration;

use tests::postgres;
use tests::team::chaos::{self, Plan};

#[test]
fn after_seconds_of_disturbance_all_machines_agree() {
    if postgres::shared("after_seconds_of_disturbance_all_machines_agree").is_none() {
        return;
    }
    let plan = Plan { devices: 10, time: Duration::from_secs(15), seed: 7, workers: 4 };
    let outcome = chaos::run(&plan).expect("a server");
    assert!(outcome.problems.is_empty(), "{outcome}");
    // It was a disturbance, and something was done in it.
    assert!(
        outcome.saved > 10 && outcome.synced > 0 && outcome.killed > 0 && outcome.crashes + outcome.cuts > 0,
        "{outcome}"
    );
}
