//! Writes what people are shown of `throughline demo`, docs/demo.svg and the example in README.md:
//! `cargo build -p throughline && cargo run -p tests --bin picture`. With words behind it, it pictures that command of
//! `throughline` instead and writes the SVG to standard output.

use std::io::Write as _;

use anyhow::Result;
use tests::picture;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        for (file, text) in picture::of_demo()? {
            std::fs::write(&file, text)?;
            println!("{}", file.display());
        }
        return Ok(());
    }
    Ok(std::io::stdout().write_all(picture::of_command(&words)?.as_bytes())?)
}
