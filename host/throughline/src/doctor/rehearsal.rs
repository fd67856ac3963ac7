//! The policy: its compiled form, and a rehearsal in which the sample session is extracted, summarized, redacted, stored and
//! told to the next one, in a folder that is thrown away.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Finding;
use throughline_engine::config::Config;
use throughline_engine::hooks::trial::Trial;
use throughline_platform::paths::{self, Paths};
use throughline_policy_kit::sample;
use throughline_sandbox::cache::{Cache, Origin};
use throughline_sandbox::chain::Sandbox;

/// The longest that compiling may take, or waiting for another process that does it.
const COMPILE: Duration = Duration::from_mins(1);

/// The longest that the rehearsal may take.
const REHEARSE: Duration = Duration::from_secs(20);

pub(super) fn policy(paths: &Paths, config: &Config) -> Vec<Finding> {
    let sandbox = Sandbox::new(Cache::new(paths.components()));
    let loaded = sandbox.and_then(|sandbox| sandbox.default_policy(Some(Instant::now() + COMPILE)));
    let cache = paths::display(&paths.components(), &paths.home);
    let compiled = match loaded.map(|(_, origin)| origin) {
        Ok(Origin::Cached) => Finding::ok("policy", format!("its compiled form in {cache} is sound")),
        Ok(Origin::Compiled) => {
            Finding::ok("policy", format!("its compiled form was missing or damaged and was made again in {cache}"))
        }
        Ok(Origin::NotStored) => Finding::warn(
            "policy",
            format!("its compiled form cannot be kept in {cache}, so that every hook compiles it"),
            "the folder must be yours, and nobody else may write to it",
        ),
        Err(error) => {
            return vec![Finding::fail("policy", format!("{error:#}"), "install the program again")];
        }
    };
    let started = Instant::now();
    let rehearsed = match rehearse(paths, config) {
        Ok((memories, units)) => Finding::ok(
            "policy",
            format!(
                "a rehearsal gave {memories} memories and {units} UTF-16 units of context in {} ms",
                started.elapsed().as_millis()
            ),
        ),
        Err(error) => Finding::fail(
            "policy",
            format!("a rehearsal failed: {error:#}"),
            "look at [policy] in the configuration; else install the program again",
        ),
    };
    vec![compiled, rehearsed]
}

/// Returns how many memories the sample gave, and how many UTF-16 units the next session is told.
fn rehearse(paths: &Paths, config: &Config) -> Result<(u32, usize)> {
    let trial = Trial::new(paths, config)?;
    let outcome =
        trial.play(&sample::write_to(&trial.folder(), throughline_engine::runtime::now())?, Instant::now() + REHEARSE)?;
    if outcome.report.stored == 0 {
        bail!("the sample session gave no memory");
    }
    let told = outcome.page.context("the next session would be told nothing")?;
    Ok((outcome.report.stored, told.text.encode_utf16().count()))
}
