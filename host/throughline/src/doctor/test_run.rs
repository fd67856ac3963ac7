//! Checks the compiler, and the default policy: its compiled form, and a test run in a temporary folder, in which the sample session is
//! extracted, summarized, redacted, stored and shown to the next session.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::finding::Finding;
use throughline_engine::config::Config;
use throughline_engine::hint;
use throughline_engine::hooks::trial::Trial;
use throughline_platform::paths::{self, Paths};
use throughline_policy_kit::sample;
use throughline_sandbox::cache::Origin;
use throughline_sandbox::chain::Sandbox;
use throughline_sandbox::compile;
use throughline_sandbox::managed::Managed;

/// The timeout for compiling, or for waiting for another process that compiles.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(1);

/// The timeout for the test run.
const TEST_RUN_TIMEOUT: Duration = Duration::from_secs(20);

/// The smallest component.
const EMPTY_COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Compiles a component that does nothing. It takes milliseconds, and a compiler that is missing or of another version is otherwise
/// only noticed when a policy changes.
pub(super) fn compiler() -> Finding {
    let started = Instant::now();
    match compile::find().map_err(anyhow::Error::from).and_then(|file| compile::in_child(EMPTY_COMPONENT).map(|_| file)) {
        Ok(file) => {
            let took = started.elapsed().as_millis();
            Finding::ok("compiler", format!("{} compiles policies: it started and answered in {took} ms", file.display()))
        }
        Err(error) => Finding::fail("compiler", format!("{error:#}"), hint::of(&error).unwrap_or("install it again".into())),
    }
}

pub(super) fn policy(paths: &Paths, config: &Config) -> Vec<Finding> {
    let sandbox = Sandbox::new(Managed::load(&paths.managed).unwrap_or_default().cache(paths));
    let started = Instant::now();
    let loaded = sandbox.and_then(|sandbox| sandbox.default_policy(Some(Instant::now() + COMPILE_TIMEOUT)));
    let cache = paths::display(&paths.components(), &paths.home);
    let compiled = match loaded.map(|(_, origin)| origin) {
        Ok(Origin::Cached) => Finding::ok("policy", format!("its compiled form in {cache} is valid")),
        Ok(Origin::Compiled) => Finding::ok(
            "policy",
            format!("it was compiled now, in {:.1} s, and stored in {cache}", started.elapsed().as_secs_f64()),
        ),
        Ok(Origin::NotStored) => Finding::warn(
            "policy",
            format!("its compiled form cannot be stored in {cache}, so every hook compiles it"),
            "the folder must belong to you, and nobody else may have write access",
        ),
        Err(error) => {
            let hint = hint::of(&error).unwrap_or("install the program again".into());
            return vec![Finding::fail("policy", format!("{error:#}"), hint)];
        }
    };
    let started = Instant::now();
    let rehearsed = match run_sample_session(paths, config) {
        Ok((memories, units)) => Finding::ok(
            "policy",
            format!(
                "a test run produced {memories} memories and {units} UTF-16 units of context in {} ms",
                started.elapsed().as_millis()
            ),
        ),
        Err(error) => Finding::fail(
            "policy",
            format!("a test run failed: {error:#}"),
            "check [policy] in the configuration, or reinstall the program",
        ),
    };
    vec![compiled, rehearsed]
}

/// Returns how many memories the sample produced, and how many UTF-16 units of context the next session gets.
fn run_sample_session(paths: &Paths, config: &Config) -> Result<(u32, usize)> {
    let trial = Trial::new(paths, config)?;
    let outcome = trial.replay(
        &sample::write_to(&trial.folder(), throughline_engine::runtime::now())?,
        Instant::now() + TEST_RUN_TIMEOUT,
    )?;
    if outcome.report.stored == 0 {
        bail!("the sample session produced no memories");
    }
    let told = outcome.page.context("the next session would get no context")?;
    Ok((outcome.report.stored, told.text.encode_utf16().count()))
}
