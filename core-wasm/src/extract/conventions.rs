//! Learns how the project is tested, built, checked and started: the commands that passed, one for each purpose.

use serde::{Deserialize, Serialize};

use super::commands::{self, Class};
use super::memories::{LineRef, SessionMemory};
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;

/// The maximum number of conventions emitted for one session.
const MAX_SHOWN: usize = 5;
/// The maximum number of conventions tracked.
const MAX_TRACKED: usize = 12;
/// The maximum number of commands of a hook that are told.
const MAX_HOOK_COMMANDS: usize = 4;
/// The purpose of what the hook of a commit runs.
const HOOK: &str = "Commit hook";
/// In hundredths. Conventions are knowledge about the project, but any agent can find them out.
const IMPORTANCE: u8 = 50;

/// Purposes with the words that identify them, most useful first. The names are the same in every session, so that a
/// command learned again has the same text.
const PURPOSES: &[(&str, &[&str])] = &[
    ("Tests", &["test", "tests", "nextest", "pytest", "vitest", "jest", "rspec", "phpunit", "ctest", "playwright", "e2e"]),
    ("Build", &["build", "compile"]),
    ("Lint", &["lint", "eslint", "biome", "oxlint", "clippy", "golangci-lint", "ruff", "vet"]),
    ("Types", &["typecheck", "type-check", "types", "tsc", "mypy", "pyright"]),
    ("Format", &["format", "fmt", "prettier", "rustfmt"]),
    ("Start", &["dev", "start", "serve"]),
    ("Check", &["check", "verify"]),
];

/// Programs that run a project's own scripts. `dev` and `start` are purposes only for these programs.
const RUNNERS: &[&str] =
    &["npm", "pnpm", "yarn", "bun", "deno", "make", "just", "task", "mise", "moon", "hatch", "tox", "pdm"];

/// Words that may precede the word that identifies the purpose.
const PREFIX_WORDS: &[&str] = &[
    "run",
    "exec",
    "go",
    "cargo",
    "uv",
    "poetry",
    "mix",
    "dotnet",
    "gradle",
    "./gradlew",
    "gradlew",
    "mvn",
    "./mvnw",
    "python",
    "python3",
    "-m",
    "-r",
    "-s",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "turbo",
    "nx",
    "workspace",
    "--silent",
    "bundle",
    "rake",
    "swift",
    "zig",
    "composer",
    "docker",
    "compose",
];

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Convention {
    purpose: String,
    command: String,
    source: LineRef,
}

/// The commands of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Conventions {
    all: Vec<Convention>,
}

impl Conventions {
    /// Records a command line that passed in a folder, which is empty if that is the project's own.
    pub(super) fn command_passed(&mut self, command: &str, folder: &str, source: &LineRef) {
        // A work tree may lie in git's own folder.
        let is_in_root = folder.is_empty() || folder.starts_with(".git/") || command.trim_start().starts_with("cd . ");
        for (purpose, command) in parse(command) {
            // A package's own script is not the project's.
            if !is_in_root && width(&command) < Width::Everywhere {
                continue;
            }
            let full = self.all.len() >= MAX_TRACKED;
            let known = self.all.iter_mut().find(|known| known.purpose == purpose);
            match known {
                Some(known) if known.command == command || width(&known.command) > width(&command) => {}
                Some(known) => {
                    known.command = command;
                    known.source = source.clone();
                }
                None if !full => self.all.push(Convention { purpose, command, source: source.clone() }),
                None => {}
            }
        }
    }

    /// Records what the hook runs if the command is a commit, as its output shows.
    pub(super) fn hook_ran(&mut self, command: &str, output: &str, source: &LineRef) {
        if commands::class(command) != Class::Commit {
            return;
        }
        let mut ran: Vec<String> = Vec::new();
        for command in commands::echoed(output) {
            let is_check = matches!(commands::class(&command), Class::Test | Class::Check | Class::Build);
            // A script that only calls another one says nothing.
            let is_new = |known: &String| !known.contains(&command) && !command.contains(known.as_str());
            if is_check && command.chars().count() <= 60 && ran.iter().all(is_new) {
                ran.push(command);
            }
        }
        if ran.len() < 2 {
            return;
        }
        ran.truncate(MAX_HOOK_COMMANDS);
        self.all.retain(|known| known.purpose != HOOK);
        self.all.push(Convention { purpose: HOOK.to_owned(), command: ran.join("`, `"), source: source.clone() });
    }

    /// Returns the commands as memories, most useful first.
    pub(super) fn drafts(&self) -> impl Iterator<Item = Draft> {
        let mut wanted: Vec<&Convention> = self.all.iter().collect();
        wanted.sort_by_key(|known| rank(&known.purpose));
        wanted.into_iter().take(MAX_SHOWN).map(|known| {
            SessionMemory {
                key: format!("convention:{}", known.purpose),
                kind: "convention".to_owned(),
                title: format!("{}: `{}`", known.purpose, known.command),
                importance: IMPORTANCE,
                source: known.source.clone(),
                said_by: SaidBy::Tool,
                ..SessionMemory::default()
            }
            .draft()
        })
    }
}

/// How much of the project a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    /// What a program does by itself.
    Program,
    /// What the project's own script does.
    Script,
    /// The whole project, wherever it runs: the script is found from any folder.
    Everywhere,
}

fn width(command: &str) -> Width {
    let mut words = command.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if matches!(first, "mise" | "just" | "task" | "moon") {
        Width::Everywhere
    } else if RUNNERS.contains(&first) && !(matches!(first, "bun" | "deno") && second == "test") {
        Width::Script
    } else {
        Width::Program
    }
}

/// Returns the rank of a purpose. Variants (`test:e2e`) come after all purposes without one.
fn rank(purpose: &str) -> (bool, usize) {
    let name = purpose.split(' ').next().unwrap_or(purpose);
    let at = PURPOSES.iter().position(|(known, _)| *known == name);
    (purpose.contains('('), at.unwrap_or(PURPOSES.len()))
}

/// Returns the project's commands in a command line that passed, with their purposes.
fn parse(command: &str) -> Vec<(String, String)> {
    let all = commands::segments(command);
    // One exit code says nothing about alternatives or about commands that merely follow each other. A command in
    // another folder is not about the whole project.
    let several = all.len() > 1;
    let loose = several && (command.contains("||") || command.contains(';') || command.contains('\n'));
    let elsewhere = all.iter().any(|segment| segment.starts_with("cd ") && segment.trim() != "cd .");
    if loose || elsewhere {
        return Vec::new();
    }
    all.into_iter().filter_map(convention).collect()
}

/// Returns whether a command tests, checks or builds the whole project.
pub(super) fn takes_project(segment: &str) -> bool {
    convention(segment).is_some()
}

/// Returns the purpose of one command, and the command without redirections and wrappers. None for one-off commands.
fn convention(segment: &str) -> Option<(String, String)> {
    let mut words: Vec<&str> = segment
        .split_whitespace()
        .filter(|word| !matches!(*word, "2>&1" | "&" | "2>/dev/null" | "&>/dev/null" | ">/dev/null"))
        .collect();
    while let Some(first) = words.first()
        && matches!(*first, "rtk" | "time" | "nice")
    {
        words.remove(0);
    }
    // A wrapper such as rtk has subcommands that run the rest: `rtk test bun run test`.
    if words.len() > 2 && words[0] == "test" && RUNNERS.contains(&words[1]) {
        words.remove(0);
    }
    if words.len() > 1 && words[0] == "timeout" {
        words.drain(..2);
    }
    let odd = |word: &&str| word.contains(['"', '\'', '$', '(', '`', '*', '{', '<', '>', '|', '=', '~']);
    if words.iter().any(odd) {
        return None;
    }
    let told = words.join(" ");
    let package = take_package(&mut words);
    let at = words.iter().position(|word| !PREFIX_WORDS.contains(word) && !RUNNERS.contains(word))?;
    let mut purpose = purpose(words[at], RUNNERS.contains(&words[0]))?;
    if let Some(package) = package {
        if purpose.contains('(') {
            return None;
        }
        purpose = format!("{purpose} ({package})");
    }
    // `clippy -- -D warnings`, `./...` and `.` mean the whole project. Any other word names a part of it.
    let rest = &words[at + 1..];
    let whole = rest.iter().enumerate().all(|(at, word)| {
        let follows_level = at > 0 && matches!(rest[at - 1], "-D" | "-W");
        follows_level || matches!(*word, "." | "./..." | "run" | "check") || (word.starts_with('-') && !is_part(word))
    });
    (whole && words.len() <= 10).then_some((purpose, told))
}

/// Takes the package out of a command that runs a script of one package from the project's folder, and returns its name without its scope:
/// `pnpm --filter @shop/till test`.
fn take_package(words: &mut Vec<&str>) -> Option<String> {
    if !words.first().is_some_and(|first| RUNNERS.contains(first)) {
        return None;
    }
    let at =
        words.iter().take(3).position(|word| matches!(*word, "--filter" | "-F" | "-w" | "--workspace" | "workspace"))?;
    let is_name = |name: &&&str| !name.starts_with(['-', '.', '!', '[']) && !name.contains("...");
    let package = words.get(at + 1).filter(is_name)?.rsplit('/').next()?.to_owned();
    words.drain(at..at + 2);
    (!package.is_empty()).then_some(package)
}

/// Returns whether an option names a part of the project, or only changes what is displayed.
fn is_part(option: &str) -> bool {
    [
        "-t",
        "-k",
        "-g",
        "-p",
        "-x",
        "-v",
        "-q",
        "-h",
        "-f",
        "-F",
        "--grep",
        "--filter",
        "--package",
        "--bin",
        "--example",
        "--test",
        "-run",
        "--watch",
        "--help",
        "--version",
        "--verbose",
        "--quiet",
        "--reporter",
        "--bail",
        "--project",
        "--cwd",
        "--prefix",
        "--list",
        "-C",
        "-u",
        "--only",
        "--testNamePattern",
        "--testPathPattern",
    ]
    .contains(&option)
}

/// Returns the purpose that the name of a script or program indicates: `test:e2e` is the variant `e2e` of the tests.
fn purpose(word: &str, by_runner: bool) -> Option<String> {
    let word = word.rsplit('/').next().unwrap_or(word);
    let named = |part: &str| {
        PURPOSES
            .iter()
            .find(|(_, words)| words.contains(&part))
            .map(|(name, _)| *name)
            .filter(|name| *name != "Start" || by_runner)
    };
    if let Some(name) = named(word) {
        return Some(name.to_owned());
    }
    let parts: Vec<&str> = word.split(':').collect();
    let (at, name) = parts.iter().enumerate().find_map(|(at, part)| named(part).map(|name| (at, name)))?;
    let rest: Vec<&str> =
        parts.iter().enumerate().filter(|(other, part)| *other != at && !part.is_empty()).map(|(_, part)| *part).collect();
    Some(format!("{name} ({})", rest.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(command: &str) -> Vec<String> {
        parse(command).into_iter().map(|(purpose, command)| format!("{purpose}: {command}")).collect()
    }

    #[test]
    fn conventions_exclude_pipes_and_redirections() {
        assert_eq!(parsed("bun run test 2>&1 | tail -30"), ["Tests: bun run test"]);
        assert_eq!(parsed("rtk test bun run test"), ["Tests: bun run test"]);
        assert_eq!(parsed("cd . && pnpm lint && pnpm run typecheck"), ["Lint: pnpm lint", "Types: pnpm run typecheck"]);
        assert_eq!(parsed("cargo clippy --all-targets -- -D warnings"), ["Lint: cargo clippy --all-targets -- -D warnings"]);
        assert_eq!(parsed("go test ./..."), ["Tests: go test ./..."]);
        assert_eq!(parsed("npx tsc --noEmit"), ["Types: npx tsc --noEmit"]);
        assert_eq!(parsed("npm run test:e2e"), ["Tests (e2e): npm run test:e2e"]);
        assert_eq!(parsed("npm run dev"), ["Start: npm run dev"]);
        assert_eq!(parsed("pnpm --filter @shop/till test"), ["Tests (till): pnpm --filter @shop/till test"]);
        assert_eq!(parsed("yarn workspace till build"), ["Build (till): yarn workspace till build"]);
    }

    #[test]
    fn partial_and_one_off_commands_are_no_conventions() {
        for command in [
            "bun test src/a.test.ts",
            "cargo test parser",
            "cd web && npm test",
            "npm test || true",
            "vitest -t login",
            "git commit -m test",
            "ls test",
            "service start",
            "echo test; npm test",
            "pnpm --filter till test drawer",
            "pnpm --filter till add vitest",
        ] {
            assert_eq!(parsed(command), Vec::<String>::new(), "{command}");
        }
    }

    #[test]
    fn the_last_one_that_passed_wins() {
        let mut all = Conventions::default();
        all.command_passed("npm run test", "", &LineRef::default());
        all.command_passed("bun run test", "", &LineRef::default());
        let titles: Vec<String> = all.drafts().map(|draft| draft.title).collect();
        assert_eq!(titles, ["Tests: `bun run test`"]);
    }

    #[test]
    fn the_widest_command_is_told() {
        let told = |ran: &[(&str, &str)]| {
            let mut all = Conventions::default();
            for (command, folder) in ran {
                all.command_passed(command, folder, &LineRef::default());
            }
            all.drafts().map(|draft| draft.title).collect::<Vec<String>>()
        };
        // The project's own script says more than the program that it runs.
        assert_eq!(told(&[("npm run typecheck", ""), ("npx tsc --noEmit", "")]), ["Types: `npm run typecheck`"]);
        assert_eq!(told(&[("npx tsc --noEmit", ""), ("npm run typecheck", "")]), ["Types: `npm run typecheck`"]);
        // In the folder of a package, a command is about that package, unless its script is found from any folder.
        assert_eq!(told(&[("npm run lint", "packages/till")]), Vec::<String>::new());
        assert_eq!(told(&[("cd . && npm run lint", "packages/till")]), ["Lint: `npm run lint`"]);
        assert_eq!(told(&[("mise run lint", "cmd/till")]), ["Lint: `mise run lint`"]);
    }

    proptest! {
        #[test]
        fn never_panics(command in any::<String>()) {
            parse(&command);
        }
    }
}
