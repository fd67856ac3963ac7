//! What a check is about: the whole project, or the tests, files and packages that its command names.

use super::class::{Class, check_name, checking, class_of};
use super::shell::{segments, words};
use crate::text;

/// Options whose value picks tests by their names.
const NAMES: [&str; 5] = ["-run", "-k", "-t", "--grep", "--testNamePattern"];
/// Options whose value is a package of the project.
const PACKAGES: [&str; 4] = ["--package", "--filter", "-F", "--workspace"];
/// Options whose value says how to check, and not what.
const SETTINGS: [&str; 6] = ["--project", "-c", "--config", "--config-file", "--rcfile", "--tsconfig"];

/// Options of a run of tests whose value is a file or a folder that is not tested.
const ASIDE: [&str; 14] = [
    "--ignore",
    "--deselect",
    "--cov",
    "--cov-config",
    "--rootdir",
    "--junitxml",
    "-coverprofile",
    "--manifest-path",
    "--outputFile",
    "--settings",
    "--results-directory",
    "--package-path",
    "-project",
    "-f",
];
/// Ends of the names of files that stand for a whole project.
const PROJECTS: [&str; 7] = [".sln", ".slnx", ".xcodeproj", ".xcworkspace", "pom.xml", "Cargo.toml", "package.json"];

/// The maximum number of names that are shown, and the maximum length of one, in characters.
const MAX_SHOWN: usize = 2;
const MAX_NAME_CHARS: usize = 50;

/// Returns whether a command line names the files or folders whose tests it runs, and these are not all that there are.
pub(crate) fn names_tests(command: &str) -> bool {
    let is_all = |target: &str| matches!(target.trim_start_matches("./").trim_end_matches('/'), "test" | "tests");
    let is_project = |target: &str| PROJECTS.iter().any(|end| target.ends_with(end));
    let is_target = |word: &&str| word.contains(['/', '.']) && !matches!(*word, "." | "./" | "./..." | "..");
    segments(command).into_iter().filter(|segment| class_of(segment) == Class::Test).any(|segment| {
        let aside = [values(segment, &ASIDE), values(segment, &SETTINGS)].concat();
        let mut named = words(segment).skip(1).filter(is_target).filter(|word| !aside.contains(word));
        named.any(|target| !is_all(target) && !is_project(target) && !is_interpreter(target))
    })
}

/// Returns whether a path is that of a program that runs another one: `.venv/bin/python`.
fn is_interpreter(path: &str) -> bool {
    path.contains("/bin/") || path.contains("node_modules/")
}

/// Returns whether the tests of a segment are picked by their names. To leave some out picks none.
pub(super) fn picks_names(segment: &str) -> bool {
    // What stands before the program is of a wrapper: `timeout -k 5 60 pytest`.
    let program = words(segment).next().unwrap_or_default();
    let mut own = segment.split_whitespace().skip_while(|word| *word != program).peekable();
    while let Some(word) = own.next() {
        let leaves_out = |value: &str| value.trim_start_matches(['"', '\'']) == "not";
        let (option, value) = word.split_once('=').unwrap_or((word, own.peek().copied().unwrap_or_default()));
        let is_aside = ASIDE.contains(&option) && !word.contains('=');
        if (word.contains("::") && !ASIDE.contains(&option)) || (NAMES.contains(&option) && !leaves_out(value)) {
            return true;
        }
        if is_aside {
            own.next();
        }
    }
    false
}

/// Returns the names, files and packages of the tests that a command line runs, as they are shown. Empty if it names none.
pub(crate) fn tested(command: &str) -> String {
    let tests = segments(command).into_iter().filter(|segment| class_of(segment) == Class::Test);
    let mut named: Vec<&str> = Vec::new();
    for segment in tests {
        let picked = values(segment, &NAMES);
        let ids = segment.split_whitespace().filter(|word| word.contains("::"));
        let picked: Vec<&str> = picked.into_iter().chain(ids).collect();
        named.extend(if picked.is_empty() { parts(segment) } else { picked });
    }
    named.retain(|name| !name.contains(['$', ';', '(']));
    shown(&named)
}

/// Returns the files, folders and packages that a segment is about. Empty if that is the whole project.
pub(super) fn parts(segment: &str) -> Vec<&str> {
    let settings = values(segment, &SETTINGS);
    let is_cargo = words(segment).next() == Some("cargo");
    let named = values(segment, &PACKAGES);
    // The project of a compiler is a file of settings.
    let settings = if is_cargo { settings } else { [settings, values(segment, &["-p"])].concat() };
    let packages = if is_cargo { values(segment, &["-p", "--package"]) } else { named.clone() };
    let is_whole = |word: &str| matches!(word, "." | "./" | "./..." | ".." | "...");
    let is_file = |word: &&str| word.contains(['/', '.']) && !is_whole(word);
    let files = words(segment).skip(1).filter(is_file).filter(|word| !settings.contains(word) && !named.contains(word));
    packages.into_iter().chain(files).collect()
}

/// Returns the linters, type checkers and builds that a command line runs over some files or packages only, each with these.
pub(crate) fn partial_checks(command: &str) -> Vec<(&str, String)> {
    let checks = checking(command).map(|segment| (segment, parts(segment)));
    let some = checks.filter(|(_, parts)| !parts.is_empty() && parts.iter().all(|part| is_path(part)));
    some.filter_map(|(segment, parts)| Some((check_name(&words(segment).collect::<Vec<_>>())?, shown(&parts)))).collect()
}

/// Returns whether a word is a path or the name of a package as they are written without quotes, and no piece of a script.
fn is_path(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || "/._-@*[]~:".contains(c))
}

/// Returns the values of the options, without quotes.
fn values<'a>(segment: &'a str, options: &[&str]) -> Vec<&'a str> {
    let trim = |value: &'a str| value.trim_matches(['"', '\'', '^', '$']);
    let all: Vec<&str> = segment.split_whitespace().collect();
    let of = |(at, word): (usize, &&'a str)| match word.split_once('=') {
        Some((option, value)) if options.contains(&option) => Some(value),
        None if options.contains(word) => all.get(at + 1).copied(),
        _ => None,
    };
    all.iter().enumerate().filter_map(of).map(trim).filter(|value| !matches!(*value, "" | "." | ".*")).collect()
}

/// Returns the first names, and the number of the others.
fn shown(names: &[&str]) -> String {
    let first = names.iter().take(MAX_SHOWN).map(|name| text::clip(name.trim_matches(['"', '\'']), MAX_NAME_CHARS));
    let first: Vec<String> = first.map(|name| name.replace("; ", " ").replace(": ", ":")).collect();
    match names.len().saturating_sub(MAX_SHOWN) {
        0 => first.join(", "),
        more => format!("{}, +{more}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_named_by_what_picks_them() {
        for (command, named) in [
            ("go test ./till/ -run TestNight -v 2>&1", "TestNight"),
            ("cd shop && go test ./till/... 2>&1 | tail -5", "./till/..."),
            ("pytest tests/till.py::test_night", "tests/till.py::test_night"),
            ("npx vitest run -t 'night'", "night"),
            ("bun test src/till.test.ts src/slip.test.ts src/lamp.test.ts", "src/till.test.ts, src/slip.test.ts, +1"),
            ("npm test", ""),
        ] {
            assert_eq!(tested(command), named, "{command}");
        }
    }

    #[test]
    fn what_is_left_out_is_not_what_is_tested() {
        for whole in [
            "uv run pytest -q -k 'not night' --ignore tests/night",
            "pytest tests/ --cov src/till -c setup/pytest.ini",
            "dotnet test Till.sln -c Release",
            "PYTHONPATH=. timeout -k 5 60 pytest",
            "npx jest --config web/jest.config.js",
            "pytest --deselect tests/till.py::test_night",
        ] {
            assert!(!names_tests(whole), "{whole}");
            assert!(!segments(whole).iter().any(|segment| picks_names(segment)), "{whole}");
        }
        assert!(names_tests("pytest tests/till") && names_tests("cd shop && npx vitest run src/till.test.ts"));
        assert!(picks_names("pytest -k night") && picks_names("pytest tests/till.py::test_night"));
    }

    #[test]
    fn a_check_is_about_the_packages_and_files_that_it_names() {
        let checks = |command| {
            partial_checks(command).into_iter().map(|(name, of)| format!("{name} {of}")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(checks("go build ./till/... 2>&1"), "build ./till/...");
        assert_eq!(checks("cargo check -p till | tail -3"), "cargo check till");
        assert_eq!(checks("pnpm --filter web build"), "build web");
        assert_eq!(checks("uv run ruff check src/ tests/ && uv run mypy src/"), "ruff src/, tests/; mypy src/");
        for whole in ["go build ./...", "npx tsc --noEmit -p tsconfig.app.json", "cargo build", "npm run build"] {
            assert_eq!(checks(whole), "", "{whole}");
        }
    }
}
