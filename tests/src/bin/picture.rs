//! Makes docs/demo.svg: `cargo build -p host && cargo run -p tests --bin picture`. With words behind it, it pictures that
//! command of `throughline` instead and writes the SVG to standard output.

use std::io::Write as _;

use anyhow::{Context, Result, bail};
use tests::home::Home;
use tests::picture::{picture, without_durations};
use tests::scrub::scrub;
use tests::{component, process};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        let file = component::workspace().join("docs/demo.svg");
        std::fs::write(&file, picture_of(&["demo".to_owned()])?).with_context(|| file.display().to_string())?;
        println!("{}", file.display());
        return Ok(());
    }
    Ok(std::io::stdout().write_all(picture_of(&words)?.as_bytes())?)
}

fn picture_of(words: &[String]) -> Result<String> {
    let home = Home::new();
    let mut command = home.command(words);
    command.env("CLICOLOR_FORCE", "1");
    let run = process::run(command, Vec::new(), process::WATCHDOG);
    if run.code != Some(0) {
        bail!("`throughline {}` failed:\n{}", words.join(" "), run.stderr);
    }
    Ok(picture(&format!("throughline {}", words.join(" ")), &without_durations(&scrub(&run.stdout, home.path()))))
}
