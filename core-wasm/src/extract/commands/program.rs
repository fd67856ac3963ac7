//! The program that a command is about, without what runs it, and whether two commands run the same one.

use super::class::{GIT_SHOWS, main_segment};
use super::shell::{KEYWORDS, WRAPPERS, segments};

/// Words that run the program named after them, beside [`WRAPPERS`].
const RUNNERS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pdm", "run"],
    &["pipenv", "run"],
    &["hatch", "run"],
    &["rye", "run"],
    &["conda", "run"],
    &["bundle", "exec"],
    &["npm", "exec"],
    &["npm", "run"],
    &["pnpm", "exec"],
    &["pnpm", "dlx"],
    &["pnpm", "run"],
    &["yarn", "exec"],
    &["yarn", "dlx"],
    &["yarn", "run"],
    &["bun", "x"],
    &["bun", "run"],
    &["mise", "exec"],
    &["mise", "x"],
    &["mise", "run"],
    &["rtk", "proxy"],
    &["rtk", "test"],
    &["direnv", "exec", "."],
    &["dotenv", "run"],
];

/// Words that run a program in a container, which is named between them and the program.
const CONTAINERS: &[&[&str]] = &[
    &["docker", "compose", "exec"],
    &["docker-compose", "exec"],
    &["docker", "exec"],
    &["podman", "exec"],
    &["docker", "compose", "run"],
];

/// Options whose value is the next word.
const VALUE_OPTIONS: &[&str] = &[
    "--with",
    "--group",
    "--extra",
    "--package",
    "--project",
    "--directory",
    "--env-file",
    "--python",
    "--user",
    "-u",
    "--workdir",
    "-w",
    "--env",
    "-e",
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "-R",
    "--repo",
    "-C",
    "-c",
    "--owner",
    "--cwd",
    "--prefix",
    "--dir",
    "--filter",
    "--manifest-path",
    "-p",
    "-s",
    "--signal",
    "-k",
    "--profile",
    "--region",
];

/// Returns the words of a segment from its own program on, options included. The program is without its folder.
pub(crate) fn own_words(segment: &str) -> Vec<&str> {
    let all: Vec<&str> = segment.split_whitespace().take_while(|word| !word.starts_with("<<")).collect();
    let mut rest = &all[..];
    loop {
        let before = rest.len();
        rest = without_prefix(rest);
        if rest.len() == before {
            break;
        }
    }
    let mut own = rest.to_vec();
    if let Some(program) = own.first_mut() {
        *program = base(program);
    }
    own
}

fn base(word: &str) -> &str {
    let word = word.trim_start_matches(['(', '"', '\'', '$', '`']).trim_end_matches(['"', '\'', ')', ';']);
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns the words after the first thing that only runs or introduces the program.
fn without_prefix<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let Some(first) = words.first() else { return words };
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if KEYWORDS.contains(first) || first.split_once('=').is_some_and(|(name, _)| is_name(name)) {
        return &words[1..];
    }
    let opens =
        |runner: &&&[&str]| words.len() > runner.len() && runner.iter().zip(words).all(|(own, word)| *own == base(word));
    if let Some(runner) = RUNNERS.iter().find(opens) {
        return without_options(&words[runner.len()..]);
    }
    if let Some(container) = CONTAINERS.iter().find(opens) {
        let rest = without_options(&words[container.len()..]);
        return rest.get(1..).unwrap_or_default();
    }
    if base(first).starts_with("python") && words.get(1) == Some(&"-m") && words.len() > 2 {
        return &words[2..];
    }
    if WRAPPERS.contains(&base(first)) && words.len() > 1 {
        let rest = without_options(&words[1..]);
        // How long to wait.
        let is_time = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.len() < 8;
        return if rest.first().is_some_and(is_time) { &rest[1..] } else { rest };
    }
    words
}

fn without_options<'a, 'b>(mut words: &'b [&'a str]) -> &'b [&'a str] {
    while let Some(option) = words.first().filter(|word| word.starts_with('-')) {
        let taken = if VALUE_OPTIONS.contains(option) && words.len() > 1 { 2 } else { 1 };
        words = &words[taken..];
        if *option == "--" {
            break;
        }
    }
    words
}

/// Returns the program of a segment, without its version: `python3` is `python`.
pub(crate) fn own_program(segment: &str) -> &str {
    let words = own_words(segment);
    let program = words.first().copied().unwrap_or_default();
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if plain.is_empty() { program } else { plain }
}

/// Returns the program of a segment and the plain words after it that say what it does, at most three words.
pub(crate) fn verb_words(segment: &str) -> Vec<&str> {
    let own = own_words(segment);
    let mut verb: Vec<&str> = own.first().copied().into_iter().collect();
    let mut rest = own.get(1..).unwrap_or_default();
    while verb.len() < 3 {
        rest = without_options(rest);
        let Some(word) = rest.first() else { break };
        let is_plain = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if !is_plain {
            break;
        }
        verb.push(word);
        rest = &rest[1..];
    }
    verb
}

/// Returns whether a later command line runs the program that a failed one is about. What runs both, such as `uv run`, does not
/// count.
pub(crate) fn runs_program_of(failed: &str, later: &str) -> bool {
    let program = own_program(main_segment(failed));
    segments(later).into_iter().any(|segment| own_program(segment) == program)
}

/// Returns whether a later command line is another form of a failed one: the same program, told to do the same.
pub(crate) fn is_form_of(failed: &str, later: &str) -> bool {
    let verb = |segment: &str| verb_words(segment).get(1).map(|word| (*word).to_owned());
    let (main, program) = (main_segment(failed), own_program(main_segment(failed)));
    let is_same = |verb: &Option<String>, other: Option<String>| verb.is_none() || other.is_none() || *verb == other;
    let own = verb(main);
    segments(later).into_iter().any(|segment| own_program(segment) == program && is_same(&own, verb(segment)))
}

/// Returns the segment of a command line that is the cure of a failed command: one of its program that changes something, or else
/// what the command line is about.
pub(crate) fn curing_segment<'a>(failed: &str, later: &'a str) -> &'a str {
    const CHANGES: &[&str] = &["-w", "--write", "--fix", "-i", "--in-place", "--apply", "--force-with-lease"];
    let program = own_program(main_segment(failed));
    let works = |segment: &&str| !only_looks(segment) || only_looks(failed);
    let of_program = || segments(later).into_iter().filter(move |segment| own_program(segment) == program).filter(works);
    let changes = |segment: &&str| own_words(segment).iter().any(|word| CHANGES.contains(word));
    let main = main_segment(later);
    of_program().find(changes).or_else(|| of_program().next_back().filter(|_| own_program(main) != program)).unwrap_or(main)
}

/// The names of this machine in an address.
pub(crate) const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "0.0.0.0"];

/// Programs that run a script of the project's that is named behind them.
const INTERPRETERS: [&str; 6] = ["node", "tsx", "ts-node", "python", "ruby", "php"];

/// Returns whether a program runs a script that is named behind it, and is no shell and no package manager.
pub(crate) fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&program)
}

/// Returns whether a program is a shell of Unix.
pub(crate) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh")
}

/// Programs that only look: at files and processes, or at something outside of the project.
const LOOKING: &[&str] = &[
    "ls", "cat", "head", "tail", "grep", "rg", "find", "fd", "pwd", "which", "wc", "stat", "file", "tree", "ps", "lsof",
    "du", "df", "less", "readlink", "bat", "nl", "xxd", "strings", "command", "uptime", "hostname", "curl", "ping", "dig",
    "nslookup", "netstat", "ss", "tasklist",
];

/// Options with which a program that looks sends something or writes a file.
const SENDING: &[&str] = &["-X", "-d", "--data", "-o", "-O", "-F", "-T", "|"];

/// Returns whether a command line is about looking, which cures nothing.
pub(crate) fn only_looks(command: &str) -> bool {
    let words = own_words(main_segment(command));
    match words.first() {
        Some(&"git") => verb_words(main_segment(command)).get(1).is_some_and(|verb| GIT_SHOWS.contains(verb)),
        Some(program) => LOOKING.contains(program) && !words.iter().any(|word| SENDING.contains(word)),
        None => false,
    }
}

/// Returns whether a command answers by its status: a difference found or nothing found is no failure.
pub(crate) fn answers_by_status(command: &str) -> bool {
    let is_answer = |segment: &&str| {
        let words = own_words(segment);
        let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
        // A script may be called as such a program is.
        let mut raw = segment.split_whitespace().skip_while(|word| *word == "rtk");
        let is_itself = raw.next().is_some_and(|first| Some(&base(first)) == words.first());
        match words.first().copied().unwrap_or_default() {
            "gofmt" | "goimports" | "gofumpt" => has(&["-d", "-l"]) && !has(&["-w"]),
            "diff" | "cmp" | "grep" | "rg" | "egrep" | "test" | "[" | "[[" | "pgrep" | "which" => is_itself,
            "git" => match verb_words(segment).get(1) {
                Some(&"diff") => has(&["--exit-code", "--check", "--quiet", "--no-index"]),
                Some(&"commit") => has(&["--dry-run"]),
                Some(&("grep" | "check-ignore" | "merge-base" | "diff-index" | "ls-remote")) => true,
                _ => false,
            },
            "prettier" | "black" | "isort" | "dprint" | "taplo" => {
                has(&["--check", "-c", "-l", "--list-different", "check"])
            }
            "ruff" | "cargo" | "dart" | "terraform" | "biome" => {
                has(&["format", "fmt"]) && has(&["--check", "--diff", "--set-exit-if-changed", "-check"])
            }
            _ => false,
        }
    };
    is_answer(&main_segment(command))
}
