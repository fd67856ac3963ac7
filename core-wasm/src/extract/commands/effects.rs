//! Which files a command creates, moves, removes or rewrites.

use super::class::INSPECTION_PROGRAMS;
use super::class::main_segment;
use super::git::joined;
use super::options::short_options;
use super::shell::WRAPPERS;
use super::shell::segments;
use super::shell::tokens;
use crate::extract::files::is_generated;
use crate::text;

/// What a command line does to files of the project, as far as its words say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileEffects {
    /// Files that it writes, or that it moves something to.
    pub written: Vec<String>,
    /// Files in which a package manager notes what it adds or takes out.
    pub manifests: Vec<String>,
    /// Files that it deletes or moves away.
    pub removed: Vec<String>,
    /// Files that it writes first and deletes again.
    pub passing: Vec<String>,
    /// Files that it moves, each with its new place. They are among those that it writes and removes, too.
    pub moved: Vec<(String, String)>,
    /// Folders that it deletes with all that is in them.
    pub removed_folders: Vec<String>,
    /// Files whose changes it takes back, with git.
    pub restored: Vec<String>,
    /// Whether it takes back all changes that are not committed.
    pub restores_all: bool,
}

/// Returns what a command line does to files: `sed -i`, redirections, `mv`, `cp`, `rm`, `git mv`, and package managers. `folder` is
/// where it runs, relative to the project's root.
pub(crate) fn file_effects(command: &str, folder: &str) -> FileEffects {
    let mut effects = FileEffects::default();
    let mut folder = folder.to_owned();
    for segment in segments(command) {
        // The lines of a here-document are not words of the command.
        let tokens = tokens(segment.lines().next().unwrap_or_default());
        let Some(call) = Call::of(&tokens) else { continue };
        if call.program == "cd" {
            let into = call.names.first().copied().unwrap_or("~").trim_end_matches('/');
            folder = if matches!(into, "." | "./") { String::new() } else { below(&folder, into) };
            continue;
        }
        effects.add(&call, &folder);
        // What a check or a build prints is a log.
        let redirected = call.redirected.filter(|_| INSPECTION_PROGRAMS.contains(&call.program));
        effects.written.extend(redirected.and_then(|name| project_file(&folder, name)));
    }
    effects.written.extend(files_of_script(command));
    effects
}

/// A program that a segment of a command line runs. For git, the subcommand stands in the place of the program.
struct Call<'a> {
    program: &'a str,
    is_git: bool,
    /// The words behind the program.
    arguments: Vec<&'a str>,
    /// Those that are not options.
    names: Vec<&'a str>,
    /// The file that gets what the program prints.
    redirected: Option<&'a str>,
}

impl<'a> Call<'a> {
    fn of(tokens: &'a [String]) -> Option<Self> {
        let mut plain: Vec<&str> = Vec::new();
        let (mut redirected, mut is_redirection) = (None, false);
        for token in tokens {
            if std::mem::take(&mut is_redirection) {
                redirected = Some(token.as_str());
            } else if token == ">" || token == ">>" {
                is_redirection = true;
            } else if token.starts_with("2>") || token.starts_with("&>") {
                // What a command reports is a log.
            } else if let Some(file) = token.strip_prefix(">>").or_else(|| token.strip_prefix('>')) {
                redirected = Some(file);
            } else {
                plain.push(token);
            }
        }
        let start = plain.iter().position(|word| !word.contains('=') && !WRAPPERS.contains(word))?;
        let is_git = plain[start] == "git";
        let (&program, arguments) = plain[start + usize::from(is_git)..].split_first()?;
        let is_name = |word: &&str| !word.starts_with(['-', '<', '&']) && !word.is_empty();
        let names = arguments.iter().copied().filter(is_name).collect();
        Some(Self { program, is_git, arguments: arguments.to_vec(), names, redirected })
    }

    fn has_option(&self, short: char) -> bool {
        self.arguments.iter().any(|word| short_options(word).is_some_and(|letters| letters.contains(short)))
    }

    fn edits_in_place(&self) -> bool {
        self.has_option('i') || self.arguments.iter().any(|word| word.starts_with("--in-place"))
    }
}

impl FileEffects {
    /// Adds what a program does in a folder.
    fn add(&mut self, call: &Call, folder: &str) {
        let inside = |name: &&str| project_file(folder, name);
        match call.program {
            // The first name is the script.
            "sed" | "perl" if call.edits_in_place() => self.written.extend(call.names.iter().skip(1).filter_map(inside)),
            "mv" | "cp" => self.add_moves(call, folder),
            // Another folder may be another repository.
            "reset" if call.is_git => self.restores_all |= folder.is_empty() && call.arguments.contains(&"--hard"),
            "restore" | "checkout" if call.is_git => self.add_restored(call, folder),
            // It stays where it is.
            "rm" if call.is_git && call.arguments.contains(&"--cached") => {}
            "rm" => self.add_removed(call, folder),
            program => self.manifests.extend(manifests(program, &call.arguments).iter().filter_map(|name| {
                // The versions of all packages stand in one file, which may lie further up.
                inside(name).filter(|_| folder.is_empty() || !is_generated(name))
            })),
        }
    }

    fn add_moves(&mut self, call: &Call, folder: &str) {
        let inside = |name: &str| project_file(folder, name);
        let Some((to, from)) = call.names.split_last() else { return };
        for from in from {
            let name = from.rsplit('/').next().unwrap_or(from);
            let is_folder = to.ends_with('/') || call.names.len() > 2;
            let place = if is_folder { inside(&format!("{}/{name}", to.trim_end_matches('/'))) } else { inside(to) };
            let source = inside(from).filter(|_| call.program == "mv");
            self.moved.extend(source.clone().zip(place.clone()));
            self.written.extend(place);
            self.removed.extend(source);
        }
    }

    fn add_restored(&mut self, call: &Call, folder: &str) {
        // With an option, git restores only what is to be committed, one side of a conflict, or what another commit holds.
        if call.arguments.iter().any(|word| word.starts_with('-') && *word != "--") {
            return;
        }
        let is_all = |name: &str| name == "." && folder.is_empty();
        let inside = |name: &&str| project_file(folder, name);
        let names = if matches!(call.names.first(), Some(&("HEAD" | "@"))) { &call.names[1..] } else { &call.names };
        // The first name may be that of a branch.
        if names.first().is_some_and(|name| is_all(name) || inside(name).is_some()) {
            self.restores_all |= names.iter().any(|name| is_all(name));
            self.restored.extend(names.iter().filter_map(inside));
        }
    }

    fn add_removed(&mut self, call: &Call, folder: &str) {
        // What is removed with all that is in it is a folder, if it has no extension behind a name: `.cache`.
        let is_folder = |name: &&&str| {
            let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            call.has_option('r') && !last.trim_start_matches('.').contains('.')
        };
        let files = call.names.iter().filter(|name| !is_folder(name));
        for file in files.filter_map(|name| project_file(folder, name)) {
            let is_written = self.written.contains(&file);
            self.written.retain(|written| *written != file);
            if is_written { self.passing.push(file) } else { self.removed.push(file) }
        }
        if call.has_option('r') {
            self.removed_folders.extend(call.names.iter().map(|name| below(folder, name.trim_end_matches('/'))));
        }
    }
}

/// Returns the files in which a package manager notes the packages that it was told to add or to take out: those that say which are
/// needed, and which versions are installed.
fn manifests(program: &str, arguments: &[&str]) -> &'static [&'static str] {
    // Another folder, or none.
    const ELSEWHERE: [&str; 17] = [
        "-g",
        "--global",
        "--no-save",
        "--cwd",
        "--prefix",
        "--filter",
        "-F",
        "-w",
        "--workspace",
        "-C",
        "--dir",
        "-p",
        "--package",
        "--manifest-path",
        "--script",
        "--dry-run",
        "--directory",
    ];
    let is_elsewhere = |word: &&str| ELSEWHERE.contains(&word.split('=').next().unwrap_or_default());
    let Some((&verb, rest)) = arguments.split_first() else { return &[] };
    let names_package = rest.iter().any(|word| !word.starts_with('-'));
    if arguments.iter().any(is_elsewhere) || !names_package {
        return &[];
    }
    let is_verb = |verbs: &[&str]| verbs.contains(&verb);
    let adds = is_verb(&["add", "remove"]);
    match program {
        "npm" if adds || is_verb(&["install", "i", "uninstall"]) => &["package.json", "package-lock.json"],
        // The name of its list depends on its version.
        "bun" if adds || is_verb(&["install", "i", "update"]) => &["package.json"],
        "pnpm" if adds || is_verb(&["install", "i"]) => &["package.json", "pnpm-lock.yaml"],
        "yarn" if adds => &["package.json", "yarn.lock"],
        "cargo" if adds => &["Cargo.toml", "Cargo.lock"],
        "go" if verb == "get" => &["go.mod", "go.sum"],
        "uv" if adds => &["pyproject.toml", "uv.lock"],
        "poetry" if adds => &["pyproject.toml", "poetry.lock"],
        _ => &[],
    }
}

/// Returns what a command line writes into files with, if it edits them in place or runs a script that may.
pub(crate) fn editor(command: &str) -> Option<&'static str> {
    let main = main_segment(command);
    let program = main.split_whitespace().find(|word| !word.contains('=') && !WRAPPERS.contains(word))?;
    let writes = text::contains_any(command, &["write", ".sub(", "replace(", "-i ", "-i.", "-pi", "open("]);
    match program.rsplit('/').next()? {
        "python" | "python3" if writes => Some("python3"),
        "node" | "bun" | "deno" if writes && command.contains("write") => Some("node"),
        "perl" if main.contains("-pi") || main.contains(" -i") => Some("perl -pi"),
        "sed" if main.contains(" -i") || main.contains("--in-place") => Some("sed -i"),
        _ => None,
    }
}

/// Returns the files that a script on the command line writes, where the script names them.
fn files_of_script(command: &str) -> Vec<String> {
    // A long script is cut before it writes.
    const WRITES: [&str; 8] = [".write(", "write_text", "writeFile", "Bun.write", "'w'", "\"w\"", "replace(", ".sub("];
    let writes = text::contains_any(command, &WRITES);
    if !writes || !matches!(editor(command), Some("python3" | "node")) {
        return Vec::new();
    }
    let quoted = |text: &str| {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let inner = text[1..].split(quote).next().unwrap_or_default();
        project_file("", inner).filter(|_| inner.len() < 200 && !inner.contains(|c: char| c.is_whitespace()))
    };
    let mut named: Vec<String> = Vec::new();
    for call in ["open(", "Path(", "writeFileSync(", "writeFile(", "Bun.write(", "= "] {
        for (at, found) in command.match_indices(call) {
            let path = quoted(&command[at + found.len()..]).filter(|path| path.contains('/'));
            named.extend(path.filter(|path| !named.contains(path)));
        }
    }
    // Of several files, some may only be read.
    if named.len() == 1 { named } else { Vec::new() }
}

/// The ends of the names of files that nobody keeps: logs, copies, and what a compiler makes.
const NOT_KEPT: [&str; 12] = ["log", "out", "tmp", "bak", "orig", "exe", "dll", "so", "dylib", "o", "obj", "pyc"];

/// Returns the path of a file below a folder, if it looks like a file that somebody keeps.
fn project_file(folder: &str, name: &str) -> Option<String> {
    let path = below(folder, name);
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_temporary = path.starts_with("/tmp") || path.starts_with("/dev") || path.contains("/tmp/");
    let is_of_git = path.starts_with(".git/") || path.contains("/.git/");
    let extension = last.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_kept = !extension.is_empty() && !NOT_KEPT.contains(&extension);
    (is_kept && !is_temporary && !is_of_git && !path.contains(['*', '$', '?', '{', '|', '(', '`'])).then_some(path)
}

/// Returns the path that a name has in a folder.
fn below(folder: &str, name: &str) -> String {
    let name = name.trim_start_matches("./");
    if folder.is_empty() || name.is_empty() { name.to_owned() } else { joined(folder, name) }
}
