//! Creates new policies from templates: a small project for each language that builds without changes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use throughline_sandbox::manifest::{Language, is_name};

/// The placeholder for the policy's name in a template.
const NAME: &str = "{{name}}";

/// Paths in the new folder, each with the file's text.
type Files = &'static [(&'static str, &'static str)];

/// Lists the files of a template: the path in the new folder and the path in `templates/`. Some files have another name
/// there, because git and cargo would otherwise act on them.
macro_rules! template {
    ($($path:literal: $from:literal,)*) => {
        &[$(($path, include_str!(concat!("templates/", $from)))),*]
    };
}

const RUST: Files = template! {
    "policy.toml": "rust/policy.toml",
    "Cargo.toml": "rust/Cargo.toml.in",
    "Cargo.lock": "rust/Cargo.lock.in",
    "rust-toolchain.toml": "rust/rust-toolchain.toml.in",
    "src/lib.rs": "rust/src/lib.rs",
    "src/remember.rs": "rust/src/remember.rs",
    "README.md": "rust/README.md",
    ".gitignore": "rust/gitignore",
};

const PYTHON: Files = template! {
    "policy.toml": "python/policy.toml",
    "requirements.txt": "python/requirements.txt",
    "app.py": "python/app.py",
    "guard.py": "python/guard.py",
    "test_guard.py": "python/test_guard.py",
    "section.py": "python/section.py",
    "test_section.py": "python/test_section.py",
    "README.md": "python/README.md",
    ".gitignore": "python/gitignore",
};

const JAVASCRIPT: Files = template! {
    "policy.toml": "javascript/policy.toml",
    "package.json": "javascript/package.json",
    "package-lock.json": "javascript/package-lock.json",
    "build.mjs": "javascript/build.mjs",
    "policy.js": "javascript/policy.js",
    "guard.js": "javascript/guard.js",
    "guard.test.js": "javascript/guard.test.js",
    "testrun.js": "javascript/testrun.js",
    "testrun.test.js": "javascript/testrun.test.js",
    "README.md": "javascript/README.md",
    ".gitignore": "javascript/gitignore",
};

/// The contract that this program supports.
const CONTRACT: Files = &[
    ("wit/capabilities.wit", include_str!("../wit/v0.1.0/capabilities.wit")),
    ("wit/stages.wit", include_str!("../wit/v0.1.0/stages.wit")),
    ("wit/types.wit", include_str!("../wit/v0.1.0/types.wit")),
    ("wit/worlds.wit", include_str!("../wit/v0.1.0/worlds.wit")),
];

/// Writes the project of a new policy into `PARENT/NAME` and returns that path. If the name is invalid or the folder
/// exists, fails without writing anything.
pub fn create(parent: &Path, name: &str, language: Language) -> Result<PathBuf> {
    ensure!(is_name(name), "{name:?} cannot be a policy's name: 1 to 64 of a-z, 0-9 and -, and no - at the beginning");
    let folder = parent.join(name);
    // Not `create_dir_all`, because the folder must be new.
    fs::create_dir(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let template = match language {
        Language::Rust => RUST,
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
    };
    for (path, text) in template.iter().chain(CONTRACT) {
        let file = folder.join(path);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(file.parent().unwrap_or(&folder))?;
            fs::write(&file, text.replace(NAME, name))
        };
        write().with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_written_once() {
        let dir = tempfile::tempdir().unwrap();
        for language in Language::ALL {
            let folder = create(dir.path(), language.name(), language).unwrap();
            let text = fs::read_to_string(folder.join("policy.toml")).unwrap();
            let manifest = throughline_sandbox::manifest::Manifest::parse(&text).unwrap();
            assert_eq!(manifest.name, language.name());
            assert_eq!(manifest.build.unwrap().language, language);
            assert!(fs::read_to_string(folder.join("wit/worlds.wit")).unwrap().contains("package throughline:policy@"));
            assert!(create(dir.path(), language.name(), language).is_err());
        }
    }

    #[test]
    fn names_that_are_none_write_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["", "A", "a b", "../a", "a/b", ".", "a_b", "ä", &"a".repeat(65)] {
            assert!(create(dir.path(), name, Language::Rust).is_err(), "{name}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    /// A machine without a default toolchain builds the Rust template, with the toolchain of this program.
    #[test]
    fn the_rust_template_names_its_toolchain() {
        let channel = |text: &str| text.lines().find(|line| line.starts_with("channel")).map(str::to_owned);
        let own = channel(include_str!("../../../rust-toolchain.toml"));
        let named = RUST.iter().find(|(path, _)| *path == "rust-toolchain.toml").and_then(|(_, text)| channel(text));
        assert!(own.is_some() && named == own, "{named:?}");
        assert_eq!(channel(include_str!("../../../policies/decision-records/rust-toolchain.toml")), own);
    }

    /// Lock files refer to the public registries and to no other host.
    #[test]
    fn locks_name_the_public_registries() {
        let locked = |text: &str, key: &str, public: &str| {
            let lines: Vec<String> =
                text.lines().filter(|line| line.trim_start().starts_with(key)).map(str::to_owned).collect();
            assert!(!lines.is_empty());
            for line in lines {
                assert!(line.contains(public), "{line}");
            }
        };
        let text = |files: Files, path: &str| files.iter().find(|(there, _)| *there == path).unwrap().1;
        let crates = "\"registry+https://github.com/rust-lang/crates.io-index\"";
        locked(text(RUST, "Cargo.lock"), "source", crates);
        locked(include_str!("../../../policies/decision-records/Cargo.lock"), "source", crates);
        let npm = "\"https://registry.npmjs.org/";
        locked(text(JAVASCRIPT, "package-lock.json"), "\"resolved\"", npm);
        locked(include_str!("../../../policies/private-terms/package-lock.json"), "\"resolved\"", npm);
    }
}
