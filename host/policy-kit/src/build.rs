//! Builds a policy's source folder into an installable folder: the component, made by the tools of its language, and
//! the manifest with the component's digest.

mod javascript;
mod python;
mod rust;
mod source;
mod tool;

use std::path::Path;

use anyhow::{Result, ensure};

pub use source::BuiltPolicy;
use source::PolicySource;
use throughline_sandbox::manifest::Language;
pub use tool::ToolFailed;

/// The first bytes of every component: the magic number, version 13, and the layer "component".
const COMPONENT_HEADER: &[u8] = b"\0asm\x0d\0\x01\0";

/// Makes a component of the core module that a compiler of Rust made.
pub type Encoder = dyn Fn(&[u8]) -> Result<Vec<u8>>;

/// Builds the policy in `folder` into `FOLDER/dist/NAME/`. `say` receives one line for each step. Fails if a tool is
/// missing (the error says how to get it) or if a tool fails (the error shows the end of its output). Never prompts on
/// the terminal.
pub fn build(folder: &Path, encode: &Encoder, say: &mut dyn FnMut(&str)) -> Result<BuiltPolicy> {
    let source = PolicySource::read(folder)?;
    let component = match source.language {
        Language::Rust => rust::component(&source, encode, say)?,
        Language::Python => python::component(&source, say)?,
        Language::JavaScript => javascript::component(&source, say)?,
    };
    ensure!(component.starts_with(COMPONENT_HEADER), "the build did not produce a WebAssembly component");
    source.install(&component)
}
