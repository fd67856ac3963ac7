//! WASI 0.2 in a fixed shape, for language runtimes that expect an operating system: there are no arguments, no
//! environment, no files and no network. Standard input is empty, and standard output and error go to the log. Clocks
//! and random numbers are separate capabilities.
//!
//! Why not `wasmtime-wasi` with an empty context: it would bring an async runtime and working code for files and
//! sockets into a process whose policies must never reach either. Here that code does not exist. The few functions that
//! a runtime calls while it starts are implemented; every other function traps, and the error names it. (`wasi-common`,
//! the older crate, was retired upstream after version 46 and never supported components.)

use std::fs::File;
use std::io::Read as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component, ComponentNamedList, ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, ResourceType,
};
use wasmtime::{Result, format_err};

use super::imports::{HostState, Level};

/// The most bytes that one write to standard output may have, and the most random bytes that one call may request.
const MAX_BYTES: u64 = 64 << 10;

/// The handles of standard output and standard error.
const STDOUT: u32 = 1;
const STDERR: u32 = 2;

/// The WASI resources. Nothing is behind them, so their handles carry all their state.
struct InputStream;
struct OutputStream;
struct IoError;
struct Pollable;
struct Descriptor;
struct Terminal;
struct Other;

/// `wasi:io/streams.stream-error`.
#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

/// `wasi:clocks/wall-clock.datetime`.
#[derive(Clone, Copy, ComponentType, Lift, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

/// Links every WASI interface that the component imports. The caller has checked that each was granted.
pub(super) fn link(linker: &mut Linker<HostState>, component: &Component) -> Result<()> {
    let engine = linker.engine().clone();
    for (name, item) in component.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(instance) = item.ty else { continue };
        if !name.starts_with("wasi:") {
            continue;
        }
        let path = name.split_once('@').map_or(name, |(path, _)| path).to_owned();
        let mut defined = linker.instance(name)?;
        for (export, item) in instance.exports(&engine) {
            match item.ty {
                ComponentItem::Resource(_) => defined.resource(export, resource(export), |_, _| Ok(()))?,
                ComponentItem::ComponentFunc(_) => function(&mut defined, &path, export)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the resource with this name, which is the same in every interface.
fn resource(name: &str) -> ResourceType {
    match name {
        "input-stream" => ResourceType::host::<InputStream>(),
        "output-stream" => ResourceType::host::<OutputStream>(),
        "error" => ResourceType::host::<IoError>(),
        "pollable" => ResourceType::host::<Pollable>(),
        "descriptor" => ResourceType::host::<Descriptor>(),
        "terminal-input" | "terminal-output" => ResourceType::host::<Terminal>(),
        _ => ResourceType::host::<Other>(),
    }
}

/// Defines one function. Every implemented function is listed here.
fn function(instance: &mut LinkerInstance<'_, HostState>, path: &str, name: &str) -> Result<()> {
    type None<T> = Option<Resource<T>>;
    match (path, name) {
        ("wasi:cli/environment", "get-environment") => answer(instance, name, |_, ()| Ok((Vec::<(String, String)>::new(),))),
        ("wasi:cli/environment", "get-arguments") => answer(instance, name, |_, ()| Ok((Vec::<String>::new(),))),
        ("wasi:cli/environment", "initial-cwd") => answer(instance, name, |_, ()| Ok((None::<String>,))),
        ("wasi:cli/stdin", "get-stdin") => answer(instance, name, |_, ()| Ok((Resource::<InputStream>::new_own(0),))),
        ("wasi:cli/stdout", "get-stdout") => {
            answer(instance, name, |_, ()| Ok((Resource::<OutputStream>::new_own(STDOUT),)))
        }
        ("wasi:cli/stderr", "get-stderr") => {
            answer(instance, name, |_, ()| Ok((Resource::<OutputStream>::new_own(STDERR),)))
        }
        ("wasi:cli/terminal-stdin" | "wasi:cli/terminal-stdout" | "wasi:cli/terminal-stderr", _) => {
            answer(instance, name, |_, ()| Ok((None::<Terminal>::None,)))
        }
        ("wasi:filesystem/preopens", "get-directories") => {
            answer(instance, name, |_, ()| Ok((Vec::<(Resource<Descriptor>, String)>::new(),)))
        }
        ("wasi:io/streams" | "wasi:io/poll" | "wasi:io/error", _) => stream(instance, path, name),
        ("wasi:clocks/wall-clock" | "wasi:clocks/monotonic-clock", _) => clock(instance, path, name),
        ("wasi:random/random" | "wasi:random/insecure" | "wasi:random/insecure-seed", _) => random(instance, path, name),
        _ => define_trap(instance, path, name),
    }
}

fn stream(instance: &mut LinkerInstance<'_, HostState>, path: &str, name: &str) -> Result<()> {
    type In = Resource<InputStream>;
    type Out = Resource<OutputStream>;
    match name {
        "[method]input-stream.read" | "[method]input-stream.blocking-read" => {
            answer(instance, name, |_, _: (In, u64)| Ok((Err::<Vec<u8>, _>(StreamError::Closed),)))
        }
        "[method]input-stream.skip" | "[method]input-stream.blocking-skip" => {
            answer(instance, name, |_, _: (In, u64)| Ok((Err::<u64, _>(StreamError::Closed),)))
        }
        "[method]output-stream.check-write" => answer(instance, name, |_, _: (Out,)| Ok((Ok::<_, StreamError>(MAX_BYTES),))),
        "[method]output-stream.write" | "[method]output-stream.blocking-write-and-flush" => {
            answer(instance, name, |state, (stream, bytes): (Out, Vec<u8>)| {
                let level = if stream.rep() == STDERR { Level::Warn } else { Level::Info };
                for line in String::from_utf8_lossy(&bytes).lines().filter(|line| !line.trim().is_empty()) {
                    state.write_log(level, line);
                }
                Ok((Ok::<(), StreamError>(()),))
            })
        }
        "[method]output-stream.flush" | "[method]output-stream.blocking-flush" => {
            answer(instance, name, |_, _: (Out,)| Ok((Ok::<(), StreamError>(()),)))
        }
        "[method]input-stream.subscribe" => answer(instance, name, |_, _: (In,)| Ok((Resource::<Pollable>::new_own(0),))),
        "[method]output-stream.subscribe" => answer(instance, name, |_, _: (Out,)| Ok((Resource::<Pollable>::new_own(0),))),
        // Nothing here ever has to be waited for, so everything is ready.
        "[method]pollable.ready" => answer(instance, name, |_, _: (Resource<Pollable>,)| Ok((true,))),
        "[method]pollable.block" => answer(instance, name, |_, _: (Resource<Pollable>,)| Ok(())),
        "poll" => answer(instance, name, |_, (all,): (Vec<Resource<Pollable>>,)| {
            Ok(((0..u32::try_from(all.len()).unwrap_or(u32::MAX)).collect::<Vec<u32>>(),))
        }),
        _ => define_trap(instance, path, name),
    }
}

fn clock(instance: &mut LinkerInstance<'_, HostState>, path: &str, name: &str) -> Result<()> {
    match (path, name) {
        ("wasi:clocks/wall-clock", "now") => answer(instance, name, |_, ()| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Ok((Datetime { seconds: now.as_secs(), nanoseconds: now.subsec_nanos() },))
        }),
        ("wasi:clocks/wall-clock", "resolution") => {
            answer(instance, name, |_, ()| Ok((Datetime { seconds: 0, nanoseconds: 1_000 },)))
        }
        ("wasi:clocks/monotonic-clock", "now") => {
            let start = Instant::now();
            answer(instance, name, move |_, ()| Ok((u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX),)))
        }
        ("wasi:clocks/monotonic-clock", "resolution") => answer(instance, name, |_, ()| Ok((1_000_u64,))),
        // A policy has no time to sleep, so timers expire at once.
        ("wasi:clocks/monotonic-clock", "subscribe-instant" | "subscribe-duration") => {
            answer(instance, name, |_, _: (u64,)| Ok((Resource::<Pollable>::new_own(0),)))
        }
        _ => define_trap(instance, path, name),
    }
}

fn random(instance: &mut LinkerInstance<'_, HostState>, path: &str, name: &str) -> Result<()> {
    match name {
        "get-random-bytes" | "get-insecure-random-bytes" => answer(instance, name, |_, (length,): (u64,)| {
            if length > MAX_BYTES {
                return Err(format_err!("it asked for {length} random bytes, but only {MAX_BYTES} are allowed"));
            }
            let mut bytes = vec![0; usize::try_from(length)?];
            fill(&mut bytes)?;
            Ok((bytes,))
        }),
        "get-random-u64" | "get-insecure-random-u64" => answer(instance, name, |_, ()| Ok((number()?,))),
        "insecure-seed" => answer(instance, name, |_, ()| Ok(((number()?, number()?),))),
        _ => define_trap(instance, path, name),
    }
}

fn fill(bytes: &mut [u8]) -> Result<()> {
    Ok(File::open("/dev/urandom")?.read_exact(bytes)?)
}

fn number() -> Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Defines a function and counts its calls as calls to the host.
fn answer<Params, Return>(
    instance: &mut LinkerInstance<'_, HostState>,
    name: &str,
    function: impl Fn(&HostState, Params) -> Result<Return> + Send + Sync + 'static,
) -> Result<()>
where
    Params: ComponentNamedList + Lift + 'static,
    Return: ComponentNamedList + Lower + 'static,
{
    instance.func_wrap(name, move |store, params: Params| {
        store.data().count_call()?;
        function(store.data(), params)
    })
}

/// Defines a function that traps with its name.
fn define_trap(instance: &mut LinkerInstance<'_, HostState>, path: &str, name: &str) -> Result<()> {
    let what = format!("it called {path}.{name}, which no policy can use");
    instance.func_new(name, move |_, _, _, _| Err(format_err!("{what}")))
}
