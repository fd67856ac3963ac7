//! The running suite: its limits, and how it calls the policy.

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::fixtures;
use super::subject::{Instance, Subject};
use throughline_sandbox::imports::MemorySource;

/// How the suite runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The longest that one call may take.
    pub call: Duration,
    /// The longest that the whole suite may take; the checks that remain then fail.
    pub whole: Duration,
    /// The lines of further sessions, in [`ROOT`](super::ROOT) or elsewhere, for a policy that looks for something that no session
    /// of the suite contains.
    pub sessions: Vec<Vec<String>>,
    /// Further texts for a redactor, with the kind of text that it looks for.
    pub texts: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        let (call, whole) = (Duration::from_secs(2), Duration::from_mins(2));
        Self { call, whole, sessions: Vec::new(), texts: Vec::new() }
    }
}

/// How long after its deadline a call may return: the clock's tick, and the host's work on the result.
const SLACK: Duration = Duration::from_secs(1);

/// What every check needs.
pub(super) struct Suite<'a> {
    pub(super) subject: &'a dyn Subject,
    pub(super) options: &'a Options,
    pub(super) until: Instant,
}

impl<'a> Suite<'a> {
    /// Starts a fresh instance without memories.
    pub(super) fn instance(&self) -> Result<Box<dyn Instance + 'a>> {
        self.instance_with(Rc::new(fixtures::FakeMemories::default()))
    }

    pub(super) fn instance_with(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + 'a>> {
        if Instant::now() >= self.until {
            bail!("not called, because the earlier calls took {} s in total", self.options.whole.as_secs());
        }
        self.subject.start(memories)
    }

    /// Makes a call and fails if it takes longer than a call may.
    pub(super) fn timed<T>(&self, call: impl FnOnce(Instant) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let result = call(self.until.min(began + self.options.call))?;
        let took = began.elapsed();
        if took > self.options.call + SLACK {
            bail!("the call took {} ms, but only {} are allowed", took.as_millis(), self.options.call.as_millis());
        }
        Ok(result)
    }
}
