//! What a command prints, as documents show it: a picture of a terminal, an SVG without fonts, scripts or anything from
//! elsewhere that follows the reader's light or dark setting. The same text gives the same bytes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

use crate::component::workspace;
use crate::home::Home;
use crate::process;
use crate::scrub::scrub;

/// Columns after which a line goes on in the next one.
const COLUMNS: usize = 100;

/// Of a character cell and a line, and around the text; pixels.
const CELL: f64 = 7.85;
const LINE: usize = 19;
const MARGIN: usize = 18;
/// The bar with the window's three buttons.
const BAR: usize = 34;

/// README.md has the context of the session after the demonstration between these lines.
const EXAMPLE: (&str, &str) = ("<!-- demo: written by `cargo run -p tests --bin picture` -->\n", "<!-- /demo -->\n");

/// The files that show the demonstration, with what they should hold: docs/demo.svg and README.md.
pub fn of_demo() -> Result<[(PathBuf, String); 2]> {
    let demo = ["demo".to_owned()];
    let readme = workspace().join("README.md");
    let text = std::fs::read_to_string(&readme)?;
    let (before, rest) = text.split_once(EXAMPLE.0).context("README.md has no place for the example")?;
    let (_, after) = rest.split_once(EXAMPLE.1).context("README.md has no end of the example")?;
    let example = format!("{before}{}\n````markdown\n{}\n````\n\n{}{after}", EXAMPLE.0, told()?.trim(), EXAMPLE.1);
    Ok([(workspace().join("docs/demo.svg"), of_command(&demo)?), (readme, example)])
}

/// The context of the last hook that the demonstration calls.
fn told() -> Result<String> {
    let (output, home) = run(&["demo".into(), "--json".into()])?;
    let played: Value = serde_json::from_str(&output)?;
    let last = played["steps"].as_array().and_then(|steps| steps.last()).context("no steps")?;
    Ok(steady(last["context"].as_str().context("the next session is told nothing")?, home.path()))
}

/// The picture of `throughline` with these arguments, in an empty home.
pub fn of_command(arguments: &[String]) -> Result<String> {
    let (output, home) = run(arguments)?;
    Ok(picture(&format!("throughline {}", arguments.join(" ")), &steady(&output, home.path())))
}

fn run(arguments: &[String]) -> Result<(String, Home)> {
    let home = Home::cold();
    let mut command = home.command(arguments);
    command.env("CLICOLOR_FORCE", "1");
    let run = process::run(command, Vec::new(), process::WATCHDOG);
    if run.code != Some(0) {
        bail!("`throughline {}` failed:\n{}", arguments.join(" "), run.stderr);
    }
    Ok((run.stdout, home))
}

/// How a piece of a line looks: what the SGR escapes ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    bold: bool,
    dim: bool,
    /// 1 red … 6 cyan, as in SGR 31 … 36.
    colour: Option<u8>,
}

/// A stretch of a line in one look.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    look: Look,
    text: String,
}

/// The picture of a terminal in which `command` was typed and printed `output`, which may hold SGR escapes.
fn picture(command: &str, output: &str) -> String {
    let mut lines = vec![vec![
        Span { look: Look { dim: true, ..Look::default() }, text: "$ ".into() },
        Span { look: Look { bold: true, ..Look::default() }, text: command.into() },
    ]];
    lines.extend(spans(output.trim_end()).into_iter().flat_map(wrap));
    #[expect(clippy::cast_precision_loss, reason = "a hundred columns")]
    let width = 2.0 * MARGIN as f64 + COLUMNS as f64 * CELL;
    let height = BAR + lines.len() * LINE + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height}\" width=\"{width:.0}\" height=\"{height}\" \
         xml:space=\"preserve\" role=\"img\" aria-label=\"A terminal: {}\">\n{STYLE}",
        escape(command)
    );
    let _ = writeln!(
        svg,
        "<rect class=\"window\" x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{}\" rx=\"9\"/>",
        width - 1.0,
        height - 1
    );
    for (number, colour) in ["#ff5f57", "#febc2e", "#28c840"].into_iter().enumerate() {
        let _ = writeln!(svg, "<circle cx=\"{}\" cy=\"17\" r=\"5.5\" fill=\"{colour}\"/>", MARGIN + 2 + number * 19);
    }
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"{}\">", BAR + number * LINE + 14);
        for span in line {
            let _ = write!(svg, "<tspan{}>{}</tspan>", class(span.look), escape(&span.text));
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

const STYLE: &str = "<style>
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; fill: #1f2328; white-space: pre }
  .window { fill: #f6f8fa; stroke: #d1d9e0 }
  .b { font-weight: 600 } .d { fill: #6a737d }
  .c1 { fill: #c1272d } .c2 { fill: #1a7f37 } .c3 { fill: #8a6100 } .c4 { fill: #0969da } .c5 { fill: #8250df } .c6 { fill: #0b7285 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 } .window { fill: #151b23; stroke: #3d444d } .d { fill: #8b949e }
    .c1 { fill: #ff7b72 } .c2 { fill: #56d364 } .c3 { fill: #e3b341 } .c4 { fill: #79c0ff } .c5 { fill: #d2a8ff } .c6 { fill: #76e3ea }
  }
</style>
";

fn class(look: Look) -> String {
    let mut classes = Vec::new();
    if look.bold {
        classes.push("b".to_owned());
    }
    if let Some(colour) = look.colour {
        classes.push(format!("c{colour}"));
    } else if look.dim {
        classes.push("d".to_owned());
    }
    if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The text as lines of spans, its escapes understood (SGR) or dropped (all else).
fn spans(text: &str) -> Vec<Vec<Span>> {
    let mut look = Look::default();
    text.lines()
        .map(|line| {
            let mut parts = line.split("\u{1b}[");
            let mut spans = Vec::new();
            push(&mut spans, look, parts.next().unwrap_or_default());
            for part in parts {
                let end = part.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(part.len());
                if part[end..].starts_with('m') {
                    look = after(look, &part[..end]);
                }
                push(&mut spans, look, part.get(end + 1..).unwrap_or_default());
            }
            spans
        })
        .collect()
}

fn push(spans: &mut Vec<Span>, look: Look, text: &str) {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if !text.is_empty() {
        spans.push(Span { look, text });
    }
}

/// The look after an SGR escape with these parameters.
fn after(mut look: Look, parameters: &str) -> Look {
    for parameter in parameters.split(';') {
        match parameter.parse::<u8>().unwrap_or(0) {
            0 => look = Look::default(),
            1 => look.bold = true,
            2 => look.dim = true,
            22 => (look.bold, look.dim) = (false, false),
            39 => look.colour = None,
            colour @ (31..=36 | 91..=96) => look.colour = Some(colour % 10),
            _ => {}
        }
    }
    look
}

/// Cuts a line that is too long at its spaces; what follows is indented as the line's text was.
fn wrap(line: Vec<Span>) -> Vec<Vec<Span>> {
    let indent = " ".repeat(indent(line.first().map_or("", |span| &span.text)));
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    for span in line {
        for word in span.text.split_inclusive(' ') {
            let columns: usize = word.trim_end().chars().map(|c| c.width().unwrap_or(0)).sum();
            if used + columns > COLUMNS && used > indent.len() {
                lines.push(Vec::new());
                used = indent.len();
                push(lines.last_mut().unwrap_or(&mut Vec::new()), Look::default(), &indent);
            }
            used += word.chars().map(|c| c.width().unwrap_or(0)).sum::<usize>();
            if let Some(last) = lines.last_mut() {
                push(last, span.look, word);
            }
        }
    }
    lines.into_iter().map(joined).collect()
}

/// Columns before a line's text: its spaces, and the mark of a list's entry.
fn indent(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_entry = if digits == 0 { text.starts_with("- ") } else { text[digits..].starts_with(". ") };
    line.len() - text.len() + if is_entry { digits + 2 } else { 0 }
}

/// Neighbours of one look as one span.
fn joined(line: Vec<Span>) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::new();
    for span in line {
        match joined.last_mut() {
            Some(last) if last.look == span.look => last.text.push_str(&span.text),
            _ => joined.push(span),
        }
    }
    joined
}

/// The output of a command that ran in `home`, as it can stand in a committed picture: paths, dates and durations that
/// would differ from run to run are replaced by such as could have been.
fn steady(output: &str, home: &Path) -> String {
    let text = scrub(output, home).replace("[DATE]", "2026-01-05").replace("[TIME]", "2026-01-05 10:00");
    let mut parts = text.split(DEMO_FOLDER);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("/tmp/throughline-demo");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    }
    without_durations(&out)
}

/// The path of the demonstration's folder before its random part.
const DEMO_FOLDER: &str = "[HOME]/throughline-demo-";

/// The text with every duration, a number before `ms` or `s`, as an ellipsis. In a column it takes as much room as before.
fn without_durations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 {
            let unit = word.lines().next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_punctuation());
            let before = out.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',').len();
            let digits = out.len() - before;
            if digits > 0 && ["ms", "s", "µs"].contains(&unit) {
                out.truncate(before);
                let in_a_column = out.ends_with("  ");
                out.extend(std::iter::repeat_n(' ', if in_a_column { digits - 1 } else { 0 }));
                out.push('…');
            }
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(line: &[Span]) -> String {
        line.iter().map(|span| span.text.as_str()).collect()
    }

    #[test]
    fn escapes_become_classes_and_text_is_escaped() {
        let svg = picture("throughline demo", "\u{1b}[1;31ma<b>\u{1b}[0m & \u{1b}[2mdim\u{1b}[0m\u{1b}[2K");
        assert!(
            svg.contains("<tspan class=\"b c1\">a&lt;b&gt;</tspan><tspan> &amp; </tspan><tspan class=\"d\">dim</tspan>")
        );
        assert!(!svg.contains('\u{1b}') && !svg.contains("2K"));
    }

    #[test]
    fn long_lines_are_cut_at_spaces_and_keep_their_indent() {
        let text = format!("  {}", "word ".repeat(40));
        let lines: Vec<String> = spans(&text).into_iter().flat_map(wrap).map(|line| plain(&line)).collect();
        assert!(lines.len() == 3 && lines.iter().all(|line| line.starts_with("  word") && line.trim_end().len() <= COLUMNS));
        assert_eq!(lines.concat().split_whitespace().count(), 40);
    }

    #[test]
    fn entries_of_lists_hang() {
        assert_eq!(["a b", "  - a", "12. a", "  1 a", "-a"].map(indent), [0, 4, 4, 2, 0]);
    }

    #[test]
    fn a_word_longer_than_a_line_stays_whole() {
        let word = "x".repeat(COLUMNS + 20);
        assert_eq!(spans(&word).into_iter().flat_map(wrap).count(), 1);
    }

    #[test]
    fn what_differs_from_run_to_run_is_replaced() {
        let home = Path::new("/nowhere/at-all");
        let of = |text: &str| steady(text, home);
        assert_eq!(of("3 hooks in 12.4 ms, 9 s\n4 memories"), "3 hooks in … ms, … s\n4 memories");
        assert_eq!(of("Stop       38.9 ms  stores\nInstall  3116.6 ms"), "Stop          … ms  stores\nInstall       … ms");
        assert_eq!(of("in /nowhere/at-all/throughline-demo-x1Y, on 2025-07-08"), "in /tmp/throughline-demo, on 2026-01-05");
    }
}
