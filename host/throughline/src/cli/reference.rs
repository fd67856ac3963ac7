//! docs/cli.md, the reference of all commands: it is their help, one after another, and a test keeps it current.

use std::fmt::Write;
use std::path::Path;

/// Columns of the help in the reference, whatever the terminal.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Command reference

The help of every command, as `throughline help COMMAND` prints it. Generated: `UPDATE=1 cargo test -p throughline reference`.
";

fn reference() -> String {
    let mut text = HEAD.to_owned();
    let mut command = crate::cli::command().term_width(WIDTH).disable_help_subcommand(true);
    command.build();
    describe(&mut command, "", &mut text);
    text
}

fn describe(command: &mut clap::Command, above: &str, into: &mut String) {
    let name = format!("{above}{}", command.get_name());
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    write!(into, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()).unwrap();
    for below in command.get_subcommands_mut() {
        // What holds for every command stands at the first.
        *below = std::mem::take(below).mut_args(|argument| {
            let is_everywhere = argument.is_global_set();
            if is_everywhere { argument.hide(true) } else { argument }
        });
        describe(below, &format!("{name} "), into);
    }
}

#[test]
fn the_reference_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let wanted = reference();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, wanted).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    if found != wanted {
        let diff = similar::TextDiff::from_lines(&found, &wanted);
        panic!(
            "docs/cli.md is out of date; run `UPDATE=1 cargo test -p throughline reference`\n{}",
            diff.unified_diff().header("docs/cli.md", "the help")
        );
    }
}
