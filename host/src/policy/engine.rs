//! The engine: one configuration for compiling and for running, the limits of an instance, and the clock that ends a call.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use sha2::{Digest, Sha256};
use wasmtime::{Config, Engine, OptLevel, StoreLimits, StoreLimitsBuilder};

/// The version of wasmtime that this host is built with: part of the key of a compiled component. Kept equal to
/// Cargo.lock by a test.
pub const WASMTIME_VERSION: &str = "48.0.8";

/// How often the epoch advances. A deadline is met to within one of these.
const TICK: Duration = Duration::from_millis(10);

/// The guest's stack. The default policy needs less than 64 KiB; language runtimes need more.
const STACK_BYTES: usize = 1 << 20;

/// What one policy instance may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory, bytes, over all memories of the instance.
    pub memory_bytes: usize,
    /// Elements of one table.
    pub table_elements: usize,
    /// Core instances, tables and memories, each.
    pub items: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // A transcript line is at most 16 MiB and is held twice while it is read.
        Self { memory_bytes: 96 << 20, table_elements: 20_000, items: 16 }
    }
}

impl Limits {
    /// As wasmtime enforces them. Growth beyond a limit traps, so that a policy cannot carry on with half a result.
    pub fn to_store_limits(self) -> StoreLimits {
        StoreLimitsBuilder::new()
            .memory_size(self.memory_bytes)
            .table_elements(self.table_elements)
            .instances(self.items)
            .tables(self.items)
            .memories(self.items)
            .trap_on_grow_failure(true)
            .build()
    }
}

/// The one configuration. Compiling and loading must agree on it to the letter.
fn config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES)
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_backtrace_max_frames(None);
    config
}

/// An engine whose epoch advances by itself while it lives.
#[derive(Clone)]
pub struct Clockwork {
    engine: Engine,
    _alive: Arc<()>,
}

impl Clockwork {
    /// Makes the engine and starts its clock.
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

    /// The engine itself.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Epochs from now to the end of `budget`, at least one.
    pub fn ticks(budget: Duration) -> u64 {
        u64::try_from(budget.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX).max(1)
    }
}

/// What a compiled component depends on besides its source: wasmtime's version, the machine, and the configuration.
pub fn compatibility_key(engine: &Engine) -> String {
    use std::hash::{Hash, Hasher};

    /// Feeds what wasmtime hashes into SHA-256, because the standard hasher's result is not stable across releases.
    struct Sha(Sha256);
    impl Hasher for Sha {
        fn finish(&self) -> u64 {
            0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
    }
    let mut sha = Sha(Sha256::new());
    WASMTIME_VERSION.hash(&mut sha);
    engine.precompile_compatibility_hash().hash(&mut sha);
    crate::digest::hex(&sha.0.finalize()[..8])
}
