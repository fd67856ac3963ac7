//! The guide `policies/README.md`, followed literally: every command in it, in its order, with what it is said to print.
//!
//! A chapter with commands is a walk. The `sh` blocks of all walks run in one shell in one new home, as for a reader who goes
//! from top to bottom. A block whose info string names a path is written there, relative to where the shell then is, and a
//! `text` block is what the `sh` block above it must have printed. In it, `…` within a line stands for anything, and alone in
//! a line for any number of lines.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tests::home::Home;
use tests::process::{self, Finished};
use tests::{component, env_flag, skip, sources, turns};

/// Fetching from three registries and compiling in a debug build take their time.
const WALK: Duration = Duration::from_mins(25);

/// Chapters with commands, by their headings.
const WALKS: [&str; 3] = ["The walk, in Rust", "The same in Python", "The same in JavaScript"];

/// A fenced block.
#[derive(Debug, Clone)]
enum Block {
    /// Commands.
    Run(String),
    /// What the commands above print.
    Printed(String),
    /// A file to write: path and text.
    File(String, String),
}

/// The chapters that have commands, with their blocks.
fn walks(guide: &str) -> Vec<(String, Vec<Block>)> {
    let mut chapters: Vec<(String, Vec<Block>)> = Vec::new();
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            chapters.push((heading.into(), Vec::new()));
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
        let block = match info.split_once(' ') {
            None if info == "sh" => Block::Run(text),
            None if info == "text" => Block::Printed(text),
            // A piece to look at.
            None => continue,
            Some((_, path)) => Block::File(path.into(), text),
        };
        chapters.last_mut().expect("the guide's blocks are in chapters").1.push(block);
    }
    chapters.retain(|(_, blocks)| blocks.iter().any(|block| matches!(block, Block::Run(_))));
    chapters
}

fn guide() -> Vec<(String, Vec<Block>)> {
    let file = component::workspace().join("policies/README.md");
    walks(&std::fs::read_to_string(file).expect("the guide is there"))
}

/// A shell script of the blocks. What the block with the index N prints, on stdout and stderr, goes to `printed/N`.
fn script(blocks: &[Block], printed: &Path) -> String {
    let mut script = String::from("set -euo pipefail\n");
    for (index, block) in blocks.iter().enumerate() {
        let written = match block {
            Block::Run(commands) => writeln!(script, "exec > '{}/{index}' 2>&1\n{commands}", printed.display()),
            Block::File(path, text) => {
                writeln!(
                    script,
                    "mkdir -p \"$(dirname '{path}')\"\ncat > '{path}' <<'END OF THE FILE'\n{text}END OF THE FILE"
                )
            }
            Block::Printed(_) => Ok(()),
        };
        written.expect("a string takes everything");
    }
    script
}

/// The home of a policy's author: the binary under test is on the path, the languages' tools find their files, and
/// packages that they fetch and compile are cached for the next run.
fn walk(home: &Home, script: &str) -> Finished {
    let tools = home.path().join("bin");
    std::fs::create_dir(&tools).expect("create the folder");
    std::os::unix::fs::symlink(process::throughline(), tools.join("throughline")).expect("link");
    let mut path = vec![tools];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = home.isolated("bash");
    command
        .arg("-c")
        .arg(script)
        .current_dir(home.work())
        .env("PATH", std::env::join_paths(path).expect("a path has no colon"));
    for who in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{who}_NAME"), "Test").env(format!("{who}_EMAIL"), "test@example.org");
    }
    sources::toolchains(&mut command);
    command.env("CARGO_BUILD_BUILD_DIR", compiled()).env("CARGO_INCREMENTAL", "0");
    let _busy = turns::busy();
    process::run(command, Vec::new(), WALK)
}

/// Where cargo keeps what it compiles during the walk in Rust.
fn compiled() -> PathBuf {
    component::workspace().join("target/fetched/cargo")
}

/// The package that the walk in Rust creates.
const PACKAGE: &str = "standing-orders";

/// Removes what cargo has compiled of the walk's own package: its path is another one in every run, so nothing would use it again.
fn forget_policy(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().replace('_', "-"));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = match (name.trim_start_matches("lib").starts_with(PACKAGE), is_folder) {
            (true, true) => std::fs::remove_dir_all(&path),
            (true, false) => std::fs::remove_file(&path),
            (false, true) => {
                forget_policy(&path);
                Ok(())
            }
            (false, false) => Ok(()),
        };
        removed.expect("remove what was compiled");
    }
}

/// Whether the walk that has this block may end here, because a tool or a registry is missing that nobody requires.
fn may_be_missing(chapter: &str, said: &str) -> bool {
    let needed =
        env_flag(if chapter == WALKS[0] { "THROUGHLINE_REQUIRE_WASM_TARGET" } else { "THROUGHLINE_REQUIRE_LANGUAGES" });
    !needed && sources::UNAVAILABLE.iter().any(|sign| said.contains(sign))
}

/// Follows all chapters, as far as the tools of their languages are there.
fn follow() {
    let chapters = guide();
    let chapter_of: Vec<&str> =
        chapters.iter().flat_map(|(chapter, blocks)| std::iter::repeat_n(chapter.as_str(), blocks.len())).collect();
    let mut blocks: Vec<Block> = Vec::new();
    for (_, more) in &chapters {
        blocks.extend(more.iter().cloned());
    }
    let home = Home::new();
    let printed = home.path().join("printed");
    std::fs::create_dir(&printed).expect("create the folder");
    let run = walk(&home, &script(&blocks, &printed));
    let read = |index: usize| std::fs::read(printed.join(index.to_string())).ok();
    let text = |index: usize| read(index).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut followed = blocks.len();
    if run.code != Some(0) {
        let last = (0..blocks.len()).rev().find(|index| read(*index).is_some()).unwrap_or_default();
        let said = text(last).unwrap_or_default();
        assert!(
            may_be_missing(chapter_of[last], &said),
            "a command failed: {:#?}\nIt printed:\n{said}\n{}",
            blocks[last],
            run.stderr
        );
        skip(chapter_of[last], &said);
        followed = last;
    }
    let mut last = None;
    for (index, block) in blocks[..followed].iter().enumerate() {
        match block {
            Block::Run(_) => last = Some(text(index).expect("every block has run")),
            Block::Printed(expected) => {
                let actual = last.as_deref().expect("something ran before");
                let (wanted, got): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
                assert!(fits(&wanted, &got), "the guide says\n{expected}\nand this was printed:\n{actual}");
            }
            Block::File(..) => {}
        }
    }
}

/// Whether the lines are what the guide shows.
fn fits(wanted: &[&str], got: &[&str]) -> bool {
    match wanted.split_first() {
        None => got.is_empty(),
        Some((&"…", rest)) => (0..=got.len()).any(|passed| fits(rest, &got[passed..])),
        Some((line, rest)) => got.split_first().is_some_and(|(first, more)| alike(line, first) && fits(rest, more)),
    }
}

fn alike(wanted: &str, got: &str) -> bool {
    let Some((start, rest)) = wanted.split_once('…') else { return wanted == got };
    let Some(got) = got.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('…').unwrap_or(("", rest));
    let Some(mut got) = got.strip_suffix(end) else { return false };
    middle.split('…').all(|piece| match got.split_once(piece) {
        Some((_, behind)) => {
            got = behind;
            true
        }
        None => false,
    })
}

#[test]
fn every_command_is_in_a_walk() {
    let chapters: Vec<String> = guide().into_iter().map(|(heading, _)| heading).collect();
    assert_eq!(chapters, WALKS);
}

#[test]
fn somebody_follows_the_guide_from_top_to_bottom_in_one_shell() {
    if !component::target_installed() {
        let why = format!("run `rustup target add {}`", component::TARGET);
        assert!(!env_flag("THROUGHLINE_REQUIRE_WASM_TARGET"), "the target is missing: {why}");
        skip(WALKS[0], &why);
        return;
    }
    follow();
    forget_policy(&compiled());
}

#[test]
fn a_text_block_is_compared_line_by_line() {
    let got = ["one 1 kB", "two", "three", "four a b c"];
    assert!(fits(&["one … kB", "…", "four a … c"], &got));
    assert!(fits(&["…"], &got) && fits(&["…"], &[]));
    for wrong in
        [&["one … MB", "…"][..], &["one … kB"], &["…", "four … d"], &["…", "five", "…"], &["one … kB", "two", "three"]]
    {
        assert!(!fits(wrong, &got), "{wrong:?}");
    }
    assert!(alike("a … b … c", "a 1 b 2 c") && !alike("a … b … c", "a 1 c"));
    let walks = walks("## One\n```sh\nls\n```\n```toml\nx\n```\n## Two\n```text\nx\n```\n");
    assert!(
        matches!(&walks[..], [(one, blocks)] if one == "One" && matches!(&blocks[..], [Block::Run(ls)] if ls == "ls\n"))
    );
}
