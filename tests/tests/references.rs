//! Documents that follow from the sources are what the sources say.

use std::path::Path;

use tests::component;
use tests::contract_doc::{self, Contract};

/// Compares a committed file with what it should be; `UPDATE=1` writes it.
#[track_caller]
fn fresh(file: &Path, wanted: &str) {
    if tests::env_flag("UPDATE") {
        std::fs::write(file, wanted).expect("write the reference");
        return;
    }
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        committed == wanted,
        "{} is stale: run `UPDATE=1 cargo test -p tests --test references` and commit what it writes",
        file.display()
    );
}

fn contract() -> Contract {
    Contract::read(&contract_doc::wit()).expect("the contract is valid WIT")
}

#[test]
fn the_contract_reference_is_fresh() {
    fresh(&contract_doc::committed(), &contract().reference().expect("a reference"));
}

/// The commented default is what a user reads: the page about it is that very text.
#[test]
fn the_configuration_reference_is_fresh() {
    let root = component::workspace();
    let defaults = std::fs::read_to_string(root.join("host/src/config.default.toml")).expect("the default configuration");
    let page = format!(
        "<!-- Written from host/src/config.default.toml by a test. Do not edit: `UPDATE=1 cargo test -p tests --test \
         references`. -->\n\n\
         # Configuration\n\n\
         Everything has a default, and no file need exist. This is the whole of it; the words after each `#` are its\n\
         documentation. `throughline doctor` names the file in use and what is wrong in it.\n\n\
         ```toml\n{}\n```\n",
        defaults.trim_end()
    );
    fresh(&root.join("docs/configuration.md"), &page);
}
