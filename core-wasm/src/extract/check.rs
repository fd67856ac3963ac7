//! One check of a session: what its runs said, what it is for, and which files it is about.

use serde::{Deserialize, Serialize};

/// Scripts that run all checks.
pub(super) const OF_ALL: [&str; 3] = ["verify", "check", "ci"];

/// What the runs of one check said since a change of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a check")]
pub(super) struct Check {
    pub name: String,
    /// The tests, files or packages that it is about. Empty if that is the whole project.
    pub of: String,
    pub passed: bool,
    pub failed: bool,
    /// Whether files were changed since the last run.
    pub is_old: bool,
    /// Whether code is among them.
    pub is_of_older_code: bool,
    /// The line of its output that says why it failed. May be empty.
    pub cause: String,
}

impl Check {
    /// Returns its name with what it is about: "build (./till)".
    pub(super) fn title(&self) -> String {
        if self.of.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.of) }
    }

    /// Returns whether another check says what this one says: the same one, or that of the whole.
    pub(super) fn is_told_by(&self, other: &Self) -> bool {
        self.name == other.name && (other.of.is_empty() || self.of == other.of)
    }

    /// Returns whether all that it is about is among what another check is about. If not all of that is named, nobody knows.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        let is_cut = |of: &str| of.contains(", +") || of.contains('…');
        let is_known = !self.of.is_empty() && !is_cut(&self.of) && !is_cut(&other.of);
        is_known && self.of.split(", ").all(|part| other.of.split(", ").any(|it| it == part))
    }

    /// Returns that it failed, and why.
    pub(super) fn failure(&self) -> String {
        format!("{}: fail{}", self.title(), self.reason())
    }

    /// Returns why it failed, in brackets. May be empty.
    pub(super) fn reason(&self) -> String {
        if self.cause.is_empty() { String::new() } else { format!(" ({})", self.cause) }
    }

    /// Returns whether a change of this file may change what the check says. A Rust compiler does not read Python. The file may be empty if
    /// nobody knows which.
    pub(super) fn reads(&self, file: &str) -> bool {
        let ends: &[&str] = match self.name.as_str() {
            "cargo check" | "clippy" => &["rs", "toml", "lock"],
            "vet" | "golangci-lint" => &["go", "mod", "sum", "yml", "yaml"],
            "mypy" | "pyright" | "ruff" => &["py", "pyi", "toml", "cfg", "ini"],
            _ => return true,
        };
        file.rsplit_once('.').is_none_or(|(_, end)| ends.contains(&end))
    }
}

/// Returns whether a check of that name runs all tests, alone or among other checks.
pub(super) fn runs_all(name: &str) -> bool {
    name.starts_with("test") || OF_ALL.contains(&name)
}

/// Returns what a check is for: linters and type checkers have many names.
pub(super) fn purpose(name: &str) -> &str {
    match name {
        "golangci-lint" | "eslint" | "biome" | "ruff" | "oxlint" | "clippy" => "lint",
        "tsc" | "type-check" | "mypy" | "pyright" => "typecheck",
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_one_part_is_told_by_that_of_several() {
        let of = |of: &str| Check { of: of.to_owned(), ..Check::default() };
        assert!(of("till").is_part_of(&of("till, slip")) && of("slip, till").is_part_of(&of("till, slip")));
        assert!(!of("till, lamp").is_part_of(&of("till, slip")) && !of("lamp").is_part_of(&of("till, slip, +1")));
        assert!(!of("").is_part_of(&of("till")));
    }

    #[test]
    fn a_compiler_reads_files_of_its_language() {
        let check = |name: &str| Check { name: name.to_owned(), ..Check::default() };
        assert!(check("clippy").reads("src/till.rs") && check("clippy").reads("Cargo.toml"));
        assert!(!check("clippy").reads("shop/till.py") && !check("vet").reads("web/till.ts"));
        assert!(check("build").reads("shop/till.py") && check("clippy").reads(""));
    }
}
