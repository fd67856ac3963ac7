//! Components for tests, made of modules written by hand.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

/// A component of one of the contract's worlds around a core module in text form.
pub fn component(world: &str, module: &str) -> Vec<u8> {
    let mut module = wat::parse_str(module).expect("the module parses");
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/v0.1.0")).expect("the contract parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).expect("the world fits the module");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

/// A redactor that keeps the contract: `ghp_` and 20 or more letters and digits become `[redacted:github-token]`.
/// `patch` names what is replaced in its text form, to break it.
pub fn redactor(patch: Option<(&str, &str)>) -> Vec<u8> {
    const MODULE: &str = include_str!("redactor.wat");
    let module = match patch {
        None => MODULE.to_owned(),
        Some((what, with)) => {
            assert_eq!(MODULE.matches(what).count(), 1, "{what} stands there once");
            MODULE.replace(what, with)
        }
    };
    component("redactor-policy", &module)
}
