//! What sort of run a command is.

use std::borrow::Cow;

use crate::extract::commands::{self, Class};
use crate::text;

/// What a run changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A script of the project's. Only what it prints says whether it changed anything.
    Script,
    /// A client of a database. The same is true of it.
    Database,
    /// A program that migrates or fills a database.
    Migration,
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
        matches!(self, Self::Script | Self::Migration)
    }

    pub(super) fn is_data(self) -> bool {
        matches!(self, Self::Script | Self::Database | Self::Migration)
    }
}

/// Words with which a program of a kind changes something.
struct Verbs {
    program: &'static str,
    kind: Kind,
    verbs: &'static [&'static str],
}

const fn verbs(program: &'static str, kind: Kind, verbs: &'static [&'static str]) -> Verbs {
    Verbs { program, kind, verbs }
}

/// How services are moved.
const MOVES: &[&str] = &["start", "stop", "restart", "reload", "enable", "disable", "delete"];

const PROGRAMS: &[Verbs] = &[
    verbs("prisma", Kind::Migration, &["deploy", "reset", "push", "seed", "dev", "execute"]),
    verbs("alembic", Kind::Migration, &["upgrade", "downgrade", "stamp"]),
    verbs("manage.py", Kind::Migration, &["migrate", "loaddata", "flush"]),
    verbs("artisan", Kind::Migration, &["migrate", "db:seed", "migrate:fresh", "migrate:rollback"]),
    verbs("knex", Kind::Migration, &["migrate:latest", "migrate:rollback", "seed:run"]),
    verbs("sequelize", Kind::Migration, &["db:migrate", "db:seed", "db:seed:all", "db:drop"]),
    verbs("drizzle-kit", Kind::Migration, &["push", "migrate"]),
    verbs("supabase", Kind::Migration, &["push", "reset", "up", "deploy"]),
    verbs("flyway", Kind::Migration, &["migrate", "clean", "repair"]),
    verbs("dbmate", Kind::Migration, &["up", "down", "drop", "rollback"]),
    verbs("goose", Kind::Migration, &["up", "down", "reset"]),
    verbs("diesel", Kind::Migration, &["run", "redo", "revert", "reset"]),
    verbs("sqlx", Kind::Migration, &["run", "revert", "reset", "drop"]),
    verbs("rails", Kind::Migration, &["db:migrate", "db:seed", "db:reset", "db:drop", "db:rollback"]),
    verbs("rake", Kind::Migration, &["db:migrate", "db:seed", "db:reset", "db:drop", "db:rollback"]),
    verbs("kubectl", Kind::Published, &["apply", "delete", "create", "patch", "scale", "rollout", "replace", "drain"]),
    verbs("terraform", Kind::Published, &["apply", "destroy", "import"]),
    verbs("tofu", Kind::Published, &["apply", "destroy", "import"]),
    verbs("helm", Kind::Published, &["install", "upgrade", "uninstall", "rollback"]),
    verbs("firebase", Kind::Published, &["deploy"]),
    verbs("wrangler", Kind::Published, &["deploy", "publish"]),
    verbs("fly", Kind::Published, &["deploy"]),
    verbs("flyctl", Kind::Published, &["deploy"]),
    verbs("vercel", Kind::Published, &["deploy", "--prod"]),
    verbs("twine", Kind::Published, &["upload"]),
    verbs("npm", Kind::Published, &["publish", "unpublish"]),
    verbs("pnpm", Kind::Published, &["publish"]),
    verbs("cargo", Kind::Published, &["publish", "yank"]),
    verbs("gem", Kind::Published, &["push"]),
    verbs("systemctl", Kind::Service, MOVES),
    verbs("service", Kind::Service, MOVES),
    verbs("pm2", Kind::Service, MOVES),
    verbs("supervisorctl", Kind::Service, MOVES),
    verbs("launchctl", Kind::Service, &["load", "unload", "bootstrap", "bootout", "kickstart"]),
    verbs("certbot", Kind::Service, &["renew", "--nginx", "certonly"]),
    verbs("docker-compose", Kind::Service, &["up", "down", "restart", "stop", "rm"]),
];

/// Names of package scripts that change data.
const DATA_SCRIPTS: [&str; 7] = ["seed", "reseed", "migrate", "migration", "backfill", "db", "deploy"];
/// Programs that run a script that is named behind them.
const INTERPRETERS: [&str; 9] = ["node", "tsx", "ts-node", "python", "bun", "deno", "ruby", "php", "bash"];
const SCRIPT_ENDS: [&str; 9] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".php", ".sh"];
/// Clients of databases.
const DATABASES: [&str; 7] = ["psql", "mysql", "mariadb", "sqlite3", "mongosh", "mongo", "redis-cli"];

/// Returns a call without the words that start a shell or another user's session before it.
pub(super) fn without_shell(segment: &str) -> Cow<'_, str> {
    let words = commands::own_words(segment);
    let own = words.first().copied().unwrap_or_default();
    // The lines of a here-document belong to it.
    let at = segment.find(own).filter(|_| !own.is_empty()).unwrap_or_default();
    if segment.trim_start().starts_with("sudo ") { segment[at..].into() } else { segment.into() }
}

/// Returns the command lines that a command line runs: itself, or those in quotes that it gives to a shell.
pub(super) fn scripts(command: &str) -> Vec<Cow<'_, str>> {
    let inner = |segment: &str| {
        let words = commands::own_words(segment);
        matches!(words.first(), Some(&("bash" | "sh" | "zsh" | "ssh"))) && segment.contains(['\'', '"'])
    };
    let all = commands::segments(command);
    if !all.iter().any(|segment| inner(segment)) {
        return vec![command.into()];
    }
    let quoted = |segment: &str| {
        let at = segment.find(['\'', '"'])?;
        let quote = segment[at..].chars().next()?;
        let rest = &segment[at + 1..];
        rest.rfind(quote).map(|end| Cow::Owned(rest[..end].to_owned()))
    };
    let script = |segment: &&str| if inner(segment) { quoted(segment) } else { Some(Cow::Owned((*segment).to_owned())) };
    all.iter().filter_map(script).collect()
}

/// Returns what a call changes, if it may change anything outside of the repository's files.
pub(super) fn kind(call: &str) -> Option<Kind> {
    let line = call.lines().next().unwrap_or_default();
    let words = commands::own_words(line);
    let program = commands::own_program(line);
    let has = |verbs: &[&str]| words.iter().skip(1).any(|word| verbs.contains(word));
    if words.iter().any(|word| matches!(*word, "--dry-run" | "--help" | "-h" | "--version" | "--check")) {
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
        let verb = |word: &&&str| {
            let first = word.split('-').next().unwrap_or_default();
            matches!(
                first,
                "rm" | "sync" | "put" | "delete" | "create" | "update" | "deploy" | "invoke" | "mv" | "terminate"
            )
        };
        return words.iter().skip(1).find(verb).map(|_| Kind::Published);
    }
    // `python manage.py migrate` and `php artisan migrate` run what is named behind the interpreter.
    let named: Vec<&str> = words.iter().take(2).copied().collect();
    let known = PROGRAMS.iter().find(|it| named.contains(&it.program) && has(it.verbs));
    known.map(|it| it.kind).or_else(|| script(line, program, &words))
}

/// Returns whether a call runs a script of the project's that is no test and no check.
fn script(line: &str, program: &str, words: &[&str]) -> Option<Kind> {
    if matches!(commands::class(line), Class::Test | Class::Check | Class::Build | Class::Install | Class::Inspect) {
        return None;
    }
    let mut raw = line.split_whitespace();
    if matches!(raw.next(), Some("npm" | "pnpm" | "yarn" | "bun")) {
        let name = raw.find(|word| *word != "run" && !word.starts_with('-')).unwrap_or_default();
        if name.split([':', '-', '_']).any(|part| DATA_SCRIPTS.contains(&part)) {
            return Some(Kind::Migration);
        }
    }
    if !INTERPRETERS.contains(&program) {
        return None;
    }
    let file = words.iter().skip(1).find(|word| !word.starts_with('-') && **word != "run")?.trim_matches(['"', '\'']);
    let lower = file.to_lowercase();
    let is_passing = lower.contains("/tmp/") || lower.contains("/temp/");
    let is_script = SCRIPT_ENDS.iter().any(|end| lower.ends_with(end)) && !text::contains_any(line, &[" -e ", " -c "]);
    (is_script && !is_passing && !is_test(&lower)).then_some(Kind::Script)
}

/// Returns whether a script tests something, by its path: `test/till.js`, `till.test.ts`, `test_till.py`.
fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = folders.split('/').any(|folder| matches!(folder, "test" | "tests" | "__tests__" | "e2e" | "spec"));
    is_folder || name.starts_with("test") || text::contains_any(name, &[".test.", ".spec.", "_test."])
}
