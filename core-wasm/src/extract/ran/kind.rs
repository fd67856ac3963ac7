//! What sort of run a command is.

use crate::extract::commands::{self, Class};
use crate::extract::files::{is_script, is_test};
use crate::text;

/// What a run changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A script of the project's. Only what it prints says whether it changed anything.
    Script,
    /// A client of a database. The same is true of it.
    Database,
    /// A program that migrates or fills a database, or a script of the project's that does so, or deploys, by its name.
    ScriptByName,
    /// Infrastructure, a deployment, or a published package.
    Published,
    /// A service that was started, stopped or restarted.
    Service,
}

impl Kind {
    /// Returns whether a run is told only if its output names a change.
    pub(super) fn needs_word(self) -> bool {
        matches!(self, Self::Script | Self::Database)
    }

    pub(super) fn is_script(self) -> bool {
        matches!(self, Self::Script | Self::ScriptByName)
    }

    pub(super) fn is_data(self) -> bool {
        matches!(self, Self::Script | Self::Database | Self::ScriptByName)
    }
}

/// A program that changes something if it is given one of the verbs.
struct Changer {
    program: &'static str,
    kind: Kind,
    verbs: &'static [&'static str],
}

const fn changer(program: &'static str, kind: Kind, verbs: &'static [&'static str]) -> Changer {
    Changer { program, kind, verbs }
}

/// How services are moved.
const MOVES: &[&str] = &["start", "stop", "restart", "reload", "enable", "disable", "delete"];

const PROGRAMS: &[Changer] = &[
    changer("prisma", Kind::ScriptByName, &["deploy", "reset", "push", "seed", "dev", "execute"]),
    changer("alembic", Kind::ScriptByName, &["upgrade", "downgrade", "stamp"]),
    changer("manage.py", Kind::ScriptByName, &["migrate", "loaddata", "flush"]),
    changer("artisan", Kind::ScriptByName, &["migrate", "db:seed", "migrate:fresh", "migrate:rollback"]),
    changer("knex", Kind::ScriptByName, &["migrate:latest", "migrate:rollback", "seed:run"]),
    changer("sequelize", Kind::ScriptByName, &["db:migrate", "db:seed", "db:seed:all", "db:drop"]),
    changer("drizzle-kit", Kind::ScriptByName, &["push", "migrate"]),
    changer("supabase", Kind::ScriptByName, &["push", "reset", "up", "deploy"]),
    changer("flyway", Kind::ScriptByName, &["migrate", "clean", "repair"]),
    changer("dbmate", Kind::ScriptByName, &["up", "down", "drop", "rollback"]),
    changer("goose", Kind::ScriptByName, &["up", "down", "reset"]),
    changer("diesel", Kind::ScriptByName, &["run", "redo", "revert", "reset"]),
    changer("sqlx", Kind::ScriptByName, &["run", "revert", "reset", "drop"]),
    changer("rails", Kind::ScriptByName, &["db:migrate", "db:seed", "db:reset", "db:drop", "db:rollback"]),
    changer("rake", Kind::ScriptByName, &["db:migrate", "db:seed", "db:reset", "db:drop", "db:rollback"]),
    changer("kubectl", Kind::Published, &["apply", "delete", "create", "patch", "scale", "replace", "drain"]),
    changer("terraform", Kind::Published, &["apply", "destroy", "import"]),
    changer("tofu", Kind::Published, &["apply", "destroy", "import"]),
    changer("helm", Kind::Published, &["install", "upgrade", "uninstall", "rollback"]),
    changer("firebase", Kind::Published, &["deploy"]),
    changer("wrangler", Kind::Published, &["deploy", "publish"]),
    changer("fly", Kind::Published, &["deploy"]),
    changer("flyctl", Kind::Published, &["deploy"]),
    changer("vercel", Kind::Published, &["deploy", "--prod"]),
    changer("twine", Kind::Published, &["upload"]),
    changer("npm", Kind::Published, &["publish", "unpublish"]),
    changer("pnpm", Kind::Published, &["publish"]),
    changer("cargo", Kind::Published, &["publish", "yank"]),
    changer("gem", Kind::Published, &["push"]),
    changer("systemctl", Kind::Service, MOVES),
    changer("service", Kind::Service, MOVES),
    changer("pm2", Kind::Service, MOVES),
    changer("supervisorctl", Kind::Service, MOVES),
    changer("launchctl", Kind::Service, &["load", "unload", "bootstrap", "bootout", "kickstart"]),
    changer("certbot", Kind::Service, &["renew", "--nginx", "certonly"]),
    changer("docker-compose", Kind::Service, &["up", "down", "restart", "stop", "rm"]),
];

/// Words of the names of package scripts that change data: alone, beside a word for the data, and those that only look or write files.
const DATA_VERBS: [&str; 5] = ["seed", "reseed", "migrate", "backfill", "deploy"];
const DATA_MOVES: [&str; 9] = ["reset", "push", "run", "up", "down", "revert", "rollback", "drop", "apply"];
const DATA: [&str; 4] = ["db", "database", "migration", "migrations"];
const LOOKS: [&str; 12] =
    ["studio", "types", "generate", "gen", "create", "status", "check", "diff", "dry", "plan", "preview", "test"];
/// Options of package managers whose value is the next word.
const VALUE_OPTIONS: [&str; 8] = ["--filter", "-F", "--prefix", "--workspace", "-w", "-C", "--dir", "--cwd"];
/// What only begins a command line, prepares it or looks.
const PREPARATIONS: [&str; 6] = ["cd", "export", "source", ".", "set", "echo"];
/// Clients of databases.
const DATABASES: [&str; 7] = ["psql", "mysql", "mariadb", "sqlite", "mongosh", "mongo", "redis-cli"];

/// Returns a call without the words that start a shell or another user's session before it.
pub(super) fn without_shell(segment: &str) -> &str {
    let words = commands::own_words(segment);
    let own = words.first().copied().unwrap_or_default();
    // The lines of a here-document belong to it.
    let at = segment.find(own).filter(|_| !own.is_empty()).unwrap_or_default();
    if segment.trim_start().starts_with("sudo ") { &segment[at..] } else { segment }
}

/// Returns the commands that a command line runs. Those in quotes that it gives to a shell stand in the place of the call of the shell.
pub(super) fn steps(command: &str) -> Vec<&str> {
    let steps_of = |segment| if takes_script(segment) { commands::segments(quoted(segment)) } else { vec![segment] };
    commands::segments(command).into_iter().flat_map(steps_of).collect()
}

/// Returns whether a command gives a script in quotes to a shell, on this machine or on another one.
fn takes_script(segment: &str) -> bool {
    let words = commands::own_words(segment);
    let has_script = || words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
    let is_shell = words.first().is_some_and(|program| commands::is_shell(program)) && has_script();
    (is_shell || words.first() == Some(&"ssh")) && segment.contains(['\'', '"'])
}

/// Returns what stands between the first quote of a command and the last one of its kind. Empty if there is only one.
fn quoted(segment: &str) -> &str {
    let quote = segment.find(['\'', '"']).map(|at| segment.split_at(at + 1));
    quote.and_then(|(before, rest)| rest.rfind(before.chars().next_back()?).map(|end| &rest[..end])).unwrap_or_default()
}

/// Returns what a call changes, if it may change anything outside of the repository's files.
pub(super) fn kind(call: &str) -> Option<Kind> {
    let line = call.lines().next().unwrap_or_default();
    let words = commands::own_words(line);
    let program = commands::own_program(line);
    let has = |verbs: &[&str]| words.iter().skip(1).any(|word| verbs.contains(word));
    // `which npm publish` only looks.
    if words.iter().any(|word| is_trial(word)) {
        return None;
    }
    if program == "gh" {
        return publishes(&words).then_some(Kind::Published);
    }
    if commands::class(program) == Class::Inspect {
        return None;
    }
    if DATABASES.contains(&program) {
        return Some(Kind::Database);
    }
    if program == "docker" {
        let moves = words.get(1) == Some(&"compose") && has(&["up", "down", "restart", "stop", "rm"]);
        let pushes = words.get(1) == Some(&"push");
        return moves.then_some(Kind::Service).or(pushes.then_some(Kind::Published));
    }
    if program == "aws" || program == "gcloud" {
        return changes_cloud(program, &words).then_some(Kind::Published);
    }
    if program == "kubectl" && has(&["rollout"]) {
        return has(&["restart", "undo"]).then_some(Kind::Published);
    }
    // `python manage.py migrate` and `php artisan migrate` run what is named behind the interpreter.
    let named: Vec<&str> = words.iter().take(2).copied().collect();
    let known = PROGRAMS.iter().find(|it| named.contains(&it.program) && has(it.verbs));
    known.map(|it| it.kind).or_else(|| script(line, program, &words))
}

/// Returns as much of a call as is told of it. The files and notes of a release are long.
pub(super) fn told(call: &str) -> &str {
    let is_short = commands::own_program(call) == "gh";
    let end = call.match_indices(' ').nth(3).map(|(at, _)| at).filter(|_| is_short);
    end.map_or(call, |end| &call[..end])
}

/// Returns whether a call of GitHub's client changes a release, or starts or stops a workflow. Pull requests are told elsewhere.
fn publishes(words: &[&str]) -> bool {
    match words.get(1..3) {
        Some(["release", verb]) => matches!(*verb, "create" | "upload" | "edit" | "delete"),
        Some(["workflow", verb]) => matches!(*verb, "run" | "enable" | "disable"),
        Some(["run", verb]) => matches!(*verb, "rerun" | "cancel" | "delete"),
        _ => false,
    }
}

/// Returns whether a word is a verb with which a service is moved.
pub(super) fn is_verb_of_service(word: &str) -> bool {
    MOVES.contains(&word) || matches!(word, "compose" | "up" | "down" | "rm")
}

/// Returns whether a command of a line only prepares those behind it.
pub(super) fn prepares(segment: &str) -> bool {
    segment.split_whitespace().next().is_none_or(|program| PREPARATIONS.contains(&program))
}

/// Returns whether a word is an option with which a program changes nothing.
fn is_trial(word: &str) -> bool {
    word.starts_with("--dry")
        || matches!(word, "--help" | "-h" | "--version" | "--check" | "--plan" | "--sql" | "--create-only")
}

/// Returns whether a call of a cloud's client changes something: its verb stands behind the name of the service, `aws s3 rm`.
fn changes_cloud(program: &str, words: &[&str]) -> bool {
    const VERBS: [&str; 10] = ["rm", "sync", "put", "delete", "create", "update", "deploy", "invoke", "mv", "terminate"];
    let mut rest = words.get(1..).unwrap_or_default();
    while let Some(option) = rest.first().filter(|word| word.starts_with("--")) {
        let taken = if option.contains('=') || option.starts_with("--no-") { 1 } else { 2 };
        rest = rest.get(taken..).unwrap_or_default();
    }
    let plain = rest.iter().take_while(|word| !word.starts_with('-')).skip(1);
    if program == "aws" {
        // `delete-stack`
        return plain.take(1).any(|word| VERBS.contains(&word.split('-').next().unwrap_or_default()));
    }
    plain.take(3).any(|word| VERBS.contains(word))
}

/// Returns whether a package script changes data, by its name: `db:seed`, `migrate`, and not `db:studio`.
fn changes_data(name: &str) -> bool {
    let has = |words: &[&str]| name.split([':', '-', '_']).any(|part| words.contains(&part));
    !has(&LOOKS) && (has(&DATA_VERBS) || (has(&DATA) && has(&DATA_MOVES)))
}

/// Returns what a call changes that runs a script of the project's which is no test and no check.
fn script(line: &str, program: &str, words: &[&str]) -> Option<Kind> {
    if matches!(commands::class(line), Class::Test | Class::Check | Class::Build | Class::Install | Class::Inspect) {
        return None;
    }
    if words.contains(&"-n") {
        return None;
    }
    if matches!(line.split_whitespace().next(), Some("npm" | "pnpm" | "yarn" | "bun")) {
        let raw: Vec<&str> = line.split_whitespace().collect();
        let is_name = |pair: &&[&str]| pair[1] != "run" && !pair[1].starts_with('-') && !VALUE_OPTIONS.contains(&pair[0]);
        if raw.windows(2).find(is_name).is_some_and(|pair| changes_data(pair[1])) {
            return Some(Kind::ScriptByName);
        }
    }
    if !(commands::is_interpreter(program) || matches!(program, "bash" | "bun" | "deno")) {
        return None;
    }
    let file = words.iter().skip(1).find(|word| !word.starts_with('-') && **word != "run")?.trim_matches(['"', '\'']);
    let lower = file.to_lowercase();
    let is_passing = lower.contains("/tmp/") || lower.contains("/temp/");
    let is_script = is_script(&lower) && !text::contains_any(line, &[" -e ", " -c "]);
    (is_script && !is_passing && !tests_something(&lower)).then_some(Kind::Script)
}

/// Returns whether a script tests something, by its path: `test/till.js`, `till.test.ts`, `test.py`.
fn tests_something(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = folders.split('/').any(|folder| matches!(folder, "test" | "tests" | "__tests__" | "e2e" | "spec"));
    is_folder || name.starts_with("test") || is_test(name)
}
