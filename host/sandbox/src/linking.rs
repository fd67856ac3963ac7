//! Defines the contract's imports for a component, under the names of the component's version. One set of Rust types serves all
//! versions, because wasmtime compares the structure of types and not their names; what differs is converted here.

use wasmtime::component::{ComponentType, Linker, LinkerInstance, Lower, Resource, ResourceType};
use wasmtime::{Result, StoreContextMut};

use super::capability::{CONTRACT, Capabilities, Capability};
use super::imports::{Fact, HostState, Level, ModelRequest, Reader};

type Caller<'a> = StoreContextMut<'a, HostState>;

/// Defines the functions of every capability in `granted` that this version of the contract has.
pub(super) fn link(linker: &mut Linker<HostState>, version: &str, granted: &Capabilities) -> Result<()> {
    let has_model = is_since_0_2(version);
    for capability in granted.list() {
        let define: fn(&mut LinkerInstance<'_, HostState>) -> Result<()> = match capability {
            Capability::Transcript => transcript,
            Capability::Memories(_) if has_model => memories,
            Capability::Memories(_) => memories_0_1,
            Capability::Settings => settings,
            Capability::Log => log,
            Capability::Model if has_model => model,
            // The module `wasi` defines the others.
            Capability::Model | Capability::WallClock | Capability::Random | Capability::Wasi => continue,
        };
        define(&mut linker.instance(&format!("{CONTRACT}/{}@{version}", capability.name()))?)?;
    }
    Ok(())
}

/// Whether a supported version is 0.2 or later.
fn is_since_0_2(version: &str) -> bool {
    !version.starts_with("0.1.")
}

fn transcript(to: &mut LinkerInstance<'_, HostState>) -> Result<()> {
    to.resource("reader", ResourceType::host::<Reader>(), |mut caller, reader| {
        caller.data_mut().table.delete(Resource::<Reader>::new_own(reader))?;
        Ok(())
    })?;
    to.func_wrap("[method]reader.read-lines", |mut caller: Caller<'_>, (reader, most): (Resource<Reader>, u32)| {
        Ok((caller.data_mut().read_lines(&reader, most)?,))
    })
}

/// Defines the functions of `memories` that are the same in all versions.
fn memories_of_all(to: &mut LinkerInstance<'_, HostState>) -> Result<()> {
    to.func_wrap("recent", |caller: Caller<'_>, (kinds, limit): (Vec<String>, u32)| {
        Ok((caller.data().recent(kinds, limit)?,))
    })?;
    to.func_wrap("important", |caller: Caller<'_>, (kinds, limit): (Vec<String>, u32)| {
        Ok((caller.data().important(kinds, limit)?,))
    })?;
    to.func_wrap("of-session", |caller: Caller<'_>, (session, kinds, limit): (String, Vec<String>, u32)| {
        Ok((caller.data().of_session(&session, kinds, limit)?,))
    })?;
    to.func_wrap("search", |caller: Caller<'_>, (query, kinds, limit): (String, Vec<String>, u32)| {
        Ok((caller.data().search(&query, kinds, limit)?,))
    })?;
    to.func_wrap("sessions", |caller: Caller<'_>, (limit,): (u32,)| Ok((caller.data().sessions(limit)?,)))?;
    to.func_wrap("last-session", |caller: Caller<'_>, (): ()| Ok((caller.data().last_session()?,)))?;
    to.func_wrap("session", |caller: Caller<'_>, (session,): (String,)| Ok((caller.data().session(&session)?,)))
}

fn memories(to: &mut LinkerInstance<'_, HostState>) -> Result<()> {
    memories_of_all(to)?;
    to.func_wrap("count", |caller: Caller<'_>, (kinds,): (Vec<String>,)| Ok((caller.data().count(kinds)?,)))?;
    to.func_wrap("knowledge", |caller: Caller<'_>, (limit,): (u32,)| Ok((caller.data().knowledge(limit)?,)))
}

/// The record `fact` of version 0.1.
#[derive(ComponentType, Lower)]
#[component(record)]
struct Fact01 {
    kind: String,
    file: Option<String>,
    content: String,
    updated: u64,
}

impl From<Fact> for Fact01 {
    fn from(Fact { kind, file, content, importance: _, updated }: Fact) -> Self {
        Self { kind, file, content, updated }
    }
}

fn memories_0_1(to: &mut LinkerInstance<'_, HostState>) -> Result<()> {
    memories_of_all(to)?;
    to.func_wrap("knowledge", |caller: Caller<'_>, (limit,): (u32,)| {
        let facts: Vec<Fact01> = caller.data().knowledge(limit)?.into_iter().map(Into::into).collect();
        Ok((facts,))
    })
}

fn settings(to: &mut LinkerInstance<'_, HostState>) -> Result<()> {
    to.func_wrap("get", |caller: Caller<'_>, (key,): (String,)| Ok((caller.data().setting(&key)?,)))
}

fn log(to: &mut LinkerInstance<'_, HostState>) -> Result<()> {
    to.func_wrap("write", |caller: Caller<'_>, (level, message): (Level, String)| {
        caller.data().count_call()?;
        caller.data().write_log(level, &message);
        Ok(())
    })
}

fn model(to: &mut LinkerInstance<'_, HostState>) -> Result<()> {
    to.func_wrap("complete", |caller: Caller<'_>, (request,): (ModelRequest,)| Ok((caller.data().complete(request)?,)))?;
    to.func_wrap("allowance", |caller: Caller<'_>, (): ()| Ok((caller.data().allowance()?,)))
}
