//! The sandbox for policies, which are WebAssembly components: finding them, granting them capabilities, running them,
//! and choosing the one that answers a stage.
//!
//! A policy is somebody else's code that reads everything said in a session. So it can do nothing but compute.
//!
//! A stage is called in this order. [`registry`] decides, from manifests, digests and people's decisions, which policies
//! run for a project and why the others do not. [`chain`] asks them, strongest first: [`chain::Policies`] belongs to a
//! project, and [`chain::Work`] to one piece of work with a deadline. [`cache`] loads a compiled component,
//! [`instance`] links it with what it was granted and calls it, and [`imports`] answers its imports. [`engine`] has the
//! limits.
//!
//! - Running: [`engine`], [`cache`], [`v0_2`] (the contract's types), [`imports`], [`linking`], [`wasi`], [`instance`],
//!   [`chain`].
//! - Deciding: [`manifest`], [`capability`], [`folder`] (what may be opened), [`user_config`] (what the user decided),
//!   [`lock`], [`managed`] (the administrator), [`failures`], [`registry`], [`install`] (installing).
//!
//! The default policy's component is embedded from the folder `default-policy`, and the contract is read from `wit`.
//! Both are symbolic links to folders of the repository, which `cargo package` replaces by the files.
//!
//! # Limits
//!
//! - *One engine configuration* for compiling and running: the component model, epoch interruption, 1 MiB of stack,
//!   Cranelift. Memory is allocated on demand, because a process that runs one instance gains nothing from a pool.
//! - *Deadlines.* A thread advances the epoch every 10 ms. A call of the default policy gets what is left of the hook's
//!   time, and at most ten seconds. A call of any other policy gets what its manifest asks for (2 s by default), and
//!   all calls of all others together get at most half of the hook's time, so that the default can still answer. Epochs
//!   are used and not fuel, because a counter in every block would cost more than the thread. A watchdog ends a hook
//!   that hangs elsewhere.
//! - *Memory.* Linear memory (96 MiB by default) and table elements are counted over all memories and tables of an
//!   instance, which wasmtime's own limiter does not do. Growth beyond them traps, so that a policy cannot go on with
//!   half a result.
//! - *What crosses the boundary.* What one call hands over is bounded before the host copies it
//!   (`Store::set_hostcall_fuel`): a list of a thousand strings that are all the same megabyte costs the guest nothing
//!   and would cost the host a gigabyte. Stack, instances, handles, state, drafts, calls, queries and log lines are
//!   bounded too.
//! - *Compiling* happens in a process with limits of its own.
//! - A trap discards the instance. An instance may be new at every call, and globals last no longer than it.
//!
//! # Capabilities
//!
//! Capabilities are imports, answered from the [`imports::Grants`] of one instance. A policy's linker has the imports
//! that its manifest asks for and that were granted, and nothing else. A component that imports anything more does not
//! link, and the error names the import and how to grant it. `transcript` serves one file from one offset. `memories`
//! is bound to one project and to the granted kinds before the policy sees it, so no argument could name another
//! project.

pub mod cache;
pub mod capability;
pub mod chain;
pub mod compile;
mod default_component;
pub mod engine;
pub mod failures;
pub mod folder;
pub mod imports;
pub mod install;
pub mod instance;
mod linking;
pub mod lock;
pub mod managed;
pub mod manifest;
pub mod placeholders;
pub mod registry;
pub mod rules;
pub mod stage;
pub mod trapped;
pub mod user_config;
pub mod v0_2;
mod wasi;
