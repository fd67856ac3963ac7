//! `throughline policy inspect`: shows what a policy consists of.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::runtime::Runtime;
use throughline_sandbox::capability::{self, Import};
use throughline_sandbox::compile::{self, ComponentInterface};
use throughline_sandbox::folder::PolicyPackage;
use throughline_sandbox::registry::owner_of;

/// Show the manifest, imports, exports, size and digest of a policy
///
/// The policy is not run.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The name of the policy, or the path of its folder
    policy: String,
    /// Print an object: name, version, description, folder, component, sha256, `as_in_manifest`, bytes, contract,
    /// `asks_for`, imports, exports
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Inspected<'a> {
    name: &'a str,
    version: &'a str,
    description: &'a str,
    folder: String,
    component: &'a str,
    sha256: &'a str,
    /// Whether this is the digest in the manifest.
    as_in_manifest: bool,
    bytes: usize,
    contract: &'a str,
    asks_for: Vec<String>,
    #[serde(flatten)]
    component_interface: ComponentInterface,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let (found, source) = selection::by_name_or_path(runtime, &root, &arguments.policy)?;
    let bytes = found.component(owner_of(source)).map_err(CommandError::new)?;
    let component_interface = compile::interface(&bytes).map_err(|error| {
        CommandError::new(format!("{}: {error:#}", found.folder.join(&found.manifest.component).display()))
            .hint("a policy is a WebAssembly component; `throughline policy build` makes one")
    })?;
    let PolicyPackage { folder, manifest, digest, .. } = &found;
    let inspected = Inspected {
        name: &manifest.name,
        version: &manifest.version,
        description: &manifest.description,
        folder: folder.to_string_lossy().into_owned(),
        component: &manifest.component,
        sha256: digest,
        as_in_manifest: manifest.sha256.as_ref() == Some(digest),
        bytes: bytes.len(),
        contract: &manifest.contract,
        asks_for: manifest.capabilities.list().iter().map(ToString::to_string).collect(),
        component_interface,
    };
    if arguments.json {
        output::json(&inspected)?;
    } else {
        write(&inspected)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(it: &Inspected<'_>) -> Result<(), CommandError> {
    let mut out = output::stdout();
    writeln!(out, "{BOLD}{}{BOLD:#} {}  {}", it.name, output::clean_line(it.version), output::clean_line(it.description))?;
    writeln!(out, "folder     {}", output::clean_line(&it.folder))?;
    writeln!(out, "component  {}, {}", it.component, output::bytes(it.bytes as u64))?;
    let verdict = if it.as_in_manifest { "as in the manifest" } else { "NOT the one in the manifest" };
    writeln!(out, "sha256     {} {DIM}({verdict}){DIM:#}", it.sha256)?;
    writeln!(out, "contract   {}", it.contract)?;
    writeln!(out, "asks for   {}", if it.asks_for.is_empty() { "nothing".into() } else { it.asks_for.join(", ") })?;
    for (title, names) in [("imports", &it.component_interface.imports), ("exports", &it.component_interface.exports)] {
        writeln!(out, "{title}")?;
        if names.is_empty() {
            writeln!(out, "  {DIM}none{DIM:#}")?;
        }
        for name in names {
            let note = match (title, capability::classify_import(name)) {
                ("imports", Import::Needs(needed)) => format!("needs {}", needed.name()),
                ("imports", Import::Unsupported) => "not available to policies".into(),
                ("imports", Import::OtherVersion(_)) => "another version of the contract".into(),
                _ => String::new(),
            };
            writeln!(out, "  {} {DIM}{note}{DIM:#}", output::clean_line(name))?;
        }
    }
    out.flush()?;
    Ok(())
}
