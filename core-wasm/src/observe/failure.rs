//! Identifies equal failures: by what was tried, and by the error without the details that vary.

use crate::{extract::commands, scrubbed::Scrubbed, text};

/// The maximum length of an error line that is compared, in characters.
const MAX_LINE_CHARS: usize = 160;

/// Returns the purpose of a command, which a failure shares with a later success: `cargo test`.
pub(super) fn subject_of_command(command: &Scrubbed) -> String {
    let purpose = commands::purpose(command);
    if purpose.is_empty() { text::clip(&text::one_line(command), 60).into_owned() } else { purpose }
}

/// Returns the line of an error that says what is wrong.
pub(super) fn error_line(command: Option<&Scrubbed>, error: &Scrubbed) -> String {
    let body = error.strip_prefix("Exit code ").and_then(|rest| rest.split_once('\n')).map_or(&**error, |(_, body)| body);
    let body = body.trim().trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    let line = match command {
        Some(command) => commands::error_line_of(commands::class(command), body),
        None => commands::error_line(body),
    };
    let line = line.or_else(|| body.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned));
    text::clip(&text::one_line(&line.unwrap_or_else(|| error.trim().to_owned())), MAX_LINE_CHARS).into_owned()
}

/// Returns whether an error only says how the client works: the call was cancelled with another, or a file must be read first.
pub(super) fn is_procedure(error: &str) -> bool {
    text::contains_any(error, commands::PROCEDURES)
}

/// Replaces paths, numbers and hashes in the line: `<path>`, `<n>`, `<hash>`.
pub(super) fn normalize(line: &str) -> String {
    const HASH: usize = 7;
    let mut out = String::new();
    for word in line.split_whitespace() {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '_' | '<' | '-'));
        let is_path = inner.contains('/') && inner.len() > 1 || inner.contains('\\');
        let hex = inner.len() >= HASH
            && inner.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
            && inner.bytes().any(|byte| byte.is_ascii_digit());
        if !out.is_empty() {
            out.push(' ');
        }
        if is_path {
            out.push_str("<path>");
        } else if hex {
            out.push_str("<hash>");
        } else {
            push_without_numbers(&mut out, word);
        }
    }
    out
}

/// Appends a word with each run of digits replaced by `<n>`. Names such as `E0308` and `TS2345` keep their digits.
fn push_without_numbers(out: &mut String, word: &str) {
    let mut digits = false;
    let mut name = false;
    for c in word.chars() {
        if c.is_ascii_digit() && !name {
            if !digits {
                out.push_str("<n>");
            }
            digits = true;
        } else {
            digits = false;
            name = c.is_ascii_uppercase() || name && c.is_ascii_digit();
            out.extend(c.to_lowercase());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varying_details_are_normalized() {
        for (one, other) in [
            ("thread 'main' panicked at src/a.rs:12:5", "thread 'main' panicked at src/b/c.rs:9:1"),
            ("commit 3f9a2b1c not found after 31 ms", "commit 77aa00ff not found after 4 ms"),
            ("cannot open '/tmp/x1/a.db': locked", "cannot open '/var/b.db': locked"),
            ("[12:01:33] failed 3 of 18", "[09:15:00] failed 1 of 7"),
        ] {
            assert_eq!(normalize(one), normalize(other));
        }
        assert_ne!(normalize("error[E0308]: mismatched types"), normalize("error[E0425]: mismatched types"));
    }

    #[test]
    fn the_line_that_explains_the_error() {
        let error = "Exit code 101\n   Compiling x\nerror[E0308]: mismatched types\n  --> src/a.rs:3:5\n";
        let line = |command: Option<&str>, error| error_line(command.map(Scrubbed::of).as_ref(), &Scrubbed::of(error));
        assert_eq!(line(Some("cargo build"), error), "error[E0308]: mismatched types");
        assert_eq!(
            line(None, "<tool_use_error>File has not been read yet.</tool_use_error>"),
            "File has not been read yet."
        );
        assert_eq!(line(None, ""), "");
    }

    #[test]
    fn subjects_of_commands() {
        for (command, subject) in [
            ("cd api && cargo test -p x", "cargo test x"),
            ("for crate in a b; do cargo check -p $crate; done", "cargo check"),
            ("for f in *.sh\ndo\n  shellcheck \"$f\" || exit 1\ndone", "shellcheck"),
            ("if [ -f go.mod ]; then go vet ./...; else echo no module; fi", "go vet"),
            ("if grep -q TODO notes.md; then echo found; else echo none; fi", "grep TODO"),
            ("while read -r f; do rustfmt --check \"$f\"; done < files.txt", "rustfmt"),
            ("(cd web && npm run build)", "npm run build"),
            ("until ! pgrep server; do sleep 1; done", "pgrep server"),
            ("cd api && echo done", "echo done"),
            ("exit 3", "exit 3"),
        ] {
            assert_eq!(subject_of_command(&Scrubbed::of(command)), subject, "{command}");
        }
    }
}
