//! The wasmtime engine: its configuration, the limits of an instance, and the clock that ends calls at their deadline.

use std::num::NonZeroUsize;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use sha2::{Digest, Sha256};
use wasmtime::{Config, Engine, ResourceLimiter};

/// The version of wasmtime that this host is built with; part of a compiled component's cache key. A test keeps it
/// equal to Cargo.lock.
pub const WASMTIME_VERSION: &str = "48.0.8";

/// How often the epoch advances, which is the precision of a deadline.
const TICK: Duration = Duration::from_millis(10);

/// The guest's stack. The default policy needs less than 64 KiB; language runtimes need more.
const STACK_BYTES: usize = 1 << 20;

/// How many frames of the guest's stack are looked at after a trap. A panic in Rust has about ten of its own on top.
const MAX_FRAMES: usize = 40;

/// What one instance of a policy, and one call of it, may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory, in bytes, over all memories of the instance.
    pub memory_bytes: usize,
    /// Table elements, over all tables of the instance.
    pub table_elements: usize,
    /// Core instances, tables and memories, each.
    pub items: usize,
    /// The longest time that one call may take.
    pub time: Duration,
    /// How much one call may pass to the host: the bytes of the texts and of the host's own records around them.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A transcript line is at most 16 MiB, and there are two copies of it while it is read.
            memory_bytes: 96 << 20,
            // CPython needs about 10,000.
            table_elements: 50_000,
            // CPython and its extension modules consist of 40 core modules.
            items: 100,
            time: Duration::from_secs(2),
            output_bytes: 8 << 20,
        }
    }
}

impl Limits {
    /// Returns the limits of the default policy: the usual ones, but with the time of a whole hook and more output.
    pub fn of_default() -> Self {
        // The extraction of one chunk may return three times the chunk's size: texts and the records around them.
        Self { time: Duration::from_secs(10), output_bytes: 24 << 20, ..Self::default() }
    }

    /// Returns the lower of each limit.
    #[must_use]
    pub fn within(self, most: Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.min(most.memory_bytes),
            table_elements: self.table_elements.min(most.table_elements),
            items: self.items.min(most.items),
            time: self.time.min(most.time),
            output_bytes: self.output_bytes.min(most.output_bytes),
        }
    }
}

/// Counts what an instance uses over all its memories and tables; wasmtime's own limits apply to each one separately.
/// Growth beyond a limit traps, so that a policy cannot carry on with half a result.
#[derive(Debug)]
pub struct Meter {
    limits: Limits,
    memory_bytes: usize,
    table_elements: usize,
}

impl Meter {
    /// Creates a meter with nothing used yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, memory_bytes: 0, table_elements: 0 }
    }

    /// Returns the linear memory in use, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }
}

/// Adds the growth to what is used, or fails if the limit is exceeded.
fn grow(used: &mut usize, current: usize, desired: usize, most: usize, what: &str) -> wasmtime::Result<bool> {
    let sum = used.saturating_add(desired.saturating_sub(current));
    if sum > most {
        return Err(wasmtime::format_err!("it requested {sum} {what}, but only {most} are allowed"));
    }
    *used = sum;
    Ok(true)
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        grow(&mut self.memory_bytes, current, desired, self.limits.memory_bytes, "bytes of memory")
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        grow(&mut self.table_elements, current, desired, self.limits.table_elements, "table elements")
    }

    fn instances(&self) -> usize {
        self.limits.items
    }

    fn tables(&self) -> usize {
        self.limits.items
    }

    fn memories(&self) -> usize {
        self.limits.items
    }
}

/// What [`config`], and the compiler on top of it, set that compiled code depends on: a part of a compiled component's cache key.
/// A test compares it with the configuration.
pub const SETTINGS: &str = "epoch_interruption: true, opt_level: speed, unwind_info: windows";

/// Returns the engine's configuration. Compiling and loading must use exactly the same one, and only `throughline-compiler` adds to
/// it what only a compiler has.
pub fn config() -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true).epoch_interruption(true).max_wasm_stack(STACK_BYTES);
    // Only a trap costs the time to collect them.
    config.wasm_backtrace_max_frames(NonZeroUsize::new(MAX_FRAMES));
    // Wasmtime unwinds by itself. Tables for other unwinders have to be registered by each hook, and musl takes them back one by one.
    // Windows demands them.
    config.native_unwind_info(cfg!(windows));
    config
}

/// An engine and the thread that advances its epoch while it exists.
#[derive(Clone)]
pub struct EpochTicker {
    engine: Engine,
    _alive: Arc<()>,
}

impl EpochTicker {
    /// Creates the engine and starts the thread. The engine loads components and compiles none: in the installed program there is
    /// no compiler.
    pub fn start() -> Result<Self> {
        let engine = Engine::new(&config())?;
        let alive = Arc::new(());
        let (weak_alive, weak_engine): (Weak<()>, _) = (Arc::downgrade(&alive), engine.weak());
        thread::Builder::new().name("epoch".into()).spawn(move || {
            loop {
                thread::sleep(TICK);
                if weak_alive.strong_count() == 0 {
                    return;
                }
                match weak_engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        })?;
        Ok(Self { engine, _alive: alive })
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the number of epochs in `budget`, at least one.
    pub fn ticks(budget: Duration) -> u64 {
        u64::try_from(budget.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX).max(1)
    }
}

/// Returns whether the bytes are code that wasmtime compiled, and not a component.
pub fn is_precompiled(bytes: &[u8]) -> bool {
    Engine::detect_precompiled(bytes).is_some()
}

/// Returns a key of everything except the source that a compiled component depends on: wasmtime's version, the configuration
/// and the kind of machine. Wasmtime checks all of it again when it loads the code, and whether this very machine has the
/// instructions.
pub fn compatibility_key() -> String {
    let mut sha = Sha256::new();
    for part in [WASMTIME_VERSION, SETTINGS, std::env::consts::ARCH, std::env::consts::OS] {
        sha.update(part);
        sha.update([0]);
    }
    throughline_model::digest::hex(&sha.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_name_what_is_not_wasmtimes_default() {
        let lines = |config: &Config| format!("{config:#?}").lines().map(str::to_owned).collect::<Vec<_>>();
        let usual = lines(&Config::new());
        let mut own: Vec<_> = lines(&config()).into_iter().filter(|line| !usual.contains(line)).collect();
        // Wasmtime does not show these two.
        own.push("opt_level: speed".into());
        own.push("unwind_info: windows".into());
        let own: Vec<_> = own.iter().map(|line| line.trim().trim_end_matches(',')).collect();
        assert_eq!(own.join(", "), SETTINGS);
    }

    #[test]
    fn many_small_memories_are_one_large_one() {
        let mut meter = Meter::new(Limits { memory_bytes: 10, table_elements: 5, ..Limits::default() });
        assert!(meter.memory_growing(0, 6, None).is_ok());
        assert!(meter.memory_growing(0, 4, None).is_ok());
        assert!(meter.memory_growing(4, 5, None).unwrap_err().to_string().contains("11 bytes of memory"));
        assert!(meter.table_growing(0, 5, None).is_ok());
        assert!(meter.table_growing(0, 1, None).is_err());
        assert_eq!(meter.memory_bytes(), 10);
    }
}
