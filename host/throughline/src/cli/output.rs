//! Output for people and programs: colours, widths, times and numbers, without control characters.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use super::error::CommandError;
pub(super) use crate::times::{AGO_COLUMNS, ago, date, timestamp};

/// Dim, for what matters less.
pub(super) const DIM: Style = Style::new().dimmed();
/// Bold, for the subject of a line.
pub(super) const BOLD: Style = Style::new().bold();

/// Underlined, for the words of a query in what was found.
const MATCH: Style = Style::new().underline();
/// Ends [`MATCH`] alone, so that a style around it goes on.
const END_OF_MATCH: &str = "\x1b[24m";

/// Red, for failures.
pub(super) const RED: Style = AnsiColor::Red.on_default();
/// Green, for what is done.
pub(super) const GREEN: Style = AnsiColor::Green.on_default();

/// Returns standard output, which drops colours that are not wanted or cannot be shown.
pub(super) fn stdout() -> AutoStream<io::StdoutLock<'static>> {
    anstream::stdout().lock()
}

/// Returns a progress bar, or a spinner if the length is not known. It is drawn on standard error if that is a terminal.
pub(super) fn progress_bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    if !io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Returns the width of the terminal in columns; none if standard output is not a terminal.
pub(super) fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(width), _)| usize::from(width))
}

/// Returns the height of the terminal in lines; none if standard output is not a terminal.
pub(super) fn height() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(_, terminal_size::Height(height))| usize::from(height))
}

/// Whether colours are wanted and can be shown on standard output.
pub(super) fn has_colours() -> bool {
    AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Returns the mark of a failure: a red sign, or a word if there are no colours.
pub(super) fn failed() -> String {
    if has_colours() { format!("{RED}✗{RED:#}") } else { "failed".into() }
}

/// Says on stderr how many of how many were printed, if a person sees it.
pub(super) fn print_more(shown: usize, of: Option<u64>) -> Result<(), CommandError> {
    if !io::stdout().is_terminal() || of.is_some_and(|of| of <= shown as u64) {
        return Ok(());
    }
    let shown = count(shown as u64);
    let of = of.map_or_else(|| format!("the best {shown}"), |of| format!("{shown} of {}", count(of)));
    writeln!(anstream::stderr().lock(), "{DIM}showing {of}; --limit N shows more{DIM:#}")?;
    Ok(())
}

/// Says on stderr that only the first of a list were printed, if a person sees it: `what` says which, such as `latest`.
pub(super) fn print_first(what: &str, shown: usize) -> Result<(), CommandError> {
    if io::stdout().is_terminal() {
        writeln!(anstream::stderr().lock(), "{DIM}showing the {what} {}; --limit N shows more{DIM:#}", count(shown as u64))?;
    }
    Ok(())
}

/// Cuts a list that was asked for with one entry more than `limit`. Returns whether something was cut.
pub(super) fn cut<T>(list: &mut Vec<T>, limit: u32) -> bool {
    let is_more = list.len() > limit as usize;
    list.truncate(limit as usize);
    is_more
}

/// The fewest columns of a row that its text gets, before columns beside it are left out.
pub(super) const MIN_TEXT: usize = 20;

/// Returns how many of a row's first columns, each with two spaces behind it, leave room for its text. The first is always there.
pub(super) fn leading_columns(width: Option<usize>, columns: &[usize]) -> usize {
    let Some(width) = width else { return columns.len() };
    let fits = |kept: &usize| columns[..*kept].iter().map(|it| it + 2).sum::<usize>() + MIN_TEXT <= width;
    (1..=columns.len()).rev().find(fits).unwrap_or(1)
}

/// Returns the path of a project as it is shown after a row's main text: the project's name alone if the path would take more
/// than a quarter of the width, and an empty text if only a few letters would fit.
pub(super) fn fit_behind(path: &str, width: Option<usize>, taken: usize) -> String {
    const MIN: usize = 8;
    let Some(width) = width else { return path.to_owned() };
    let room = width.saturating_sub(taken + MIN_TEXT + 2);
    let name = path.rsplit('/').next().unwrap_or(path);
    let shown = if columns(path) <= room.min(width / 4) { path } else { name };
    if room < MIN { String::new() } else { fit(shown, room) }
}

/// Prints JSON. Control characters beyond ASCII are escaped: JSON allows them, and terminals may interpret them.
pub(super) fn json(value: &impl Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(value).map_err(CommandError::new)?;
    let mut safe = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if is_unsafe(c) && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                safe.extend(["\\u", &format!("{unit:04x}")]);
            }
        } else {
            safe.push(c);
        }
    }
    safe.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(safe.as_bytes())?;
    Ok(out.flush()?)
}

/// Whether a terminal may interpret the character, or whether it changes the direction of writing.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces the characters that a terminal may interpret. Line breaks and tabs stay.
pub(super) fn clean(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if is_unsafe(c) && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// [`clean`], with all white space folded to single spaces.
pub(super) fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns how many columns the text takes on a terminal.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Cuts the text to `most` columns, with an ellipsis if something was cut.
pub(super) fn fit(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut used = 1; // the ellipsis
    let kept: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= most
        })
        .collect();
    format!("{}…", kept.trim_end())
}

/// Cuts the text to its last `most` columns, with an ellipsis if something was cut: the end of a path tells more than its
/// beginning.
pub(super) fn fit_end(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut used = 1; // the ellipsis
    let is_kept = |(_, c): &(usize, char)| {
        used += c.width().unwrap_or(0);
        used <= most
    };
    let from = text.char_indices().rev().take_while(is_kept).last().map_or(text.len(), |(at, _)| at);
    format!("…{}", &text[from..])
}

/// Returns how many columns the widest of the texts takes.
pub(super) fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> usize {
    texts.into_iter().map(|text| columns(text.as_ref())).max().unwrap_or(0)
}

/// The narrowest that texts are wrapped to.
const MIN_WRAP: usize = 20;

/// Wraps each line of the text at words so that it fits the terminal behind `taken` columns. Lines of a list or of code keep
/// their indentation. Without a terminal, lines stay as they are.
pub(super) fn wrap(text: &str, taken: usize) -> Vec<String> {
    let Some(width) = width() else { return text.lines().map(str::to_owned).collect() };
    wrap_to(text, width.saturating_sub(taken).max(MIN_WRAP))
}

/// Like [`wrap`], to so many columns.
fn wrap_to(text: &str, most: usize) -> Vec<String> {
    let of_line = |line: &str| -> Vec<String> {
        let indent = line.len() - line.trim_start().len();
        let mark = line[indent..].find(|c: char| !matches!(c, '-' | '*' | ' ')).filter(|end| *end <= 2).unwrap_or(0);
        let indent = " ".repeat((indent + mark).min(most / 2));
        // Chinese and Japanese have no spaces. Korean has, and is broken there and not within a word.
        let has_spaces = !line.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'));
        let separator =
            if has_spaces { textwrap::WordSeparator::AsciiSpace } else { textwrap::WordSeparator::UnicodeBreakProperties };
        let options = textwrap::Options::new(most)
            .word_separator(separator)
            .subsequent_indent(&indent)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::wrap(line, options).into_iter().map(std::borrow::Cow::into_owned).collect()
    };
    text.lines().flat_map(of_line).collect()
}

/// Prints a text of one paragraph, wrapped at words, behind `head`, which takes `taken` columns.
pub(super) fn write_hanging(out: &mut impl Write, head: &str, taken: usize, text: &str) -> io::Result<()> {
    for (index, line) in wrap(&clean_line(text), taken).into_iter().enumerate() {
        let before = if index == 0 { head.to_owned() } else { " ".repeat(taken) };
        writeln!(out, "{before}{line}")?;
    }
    Ok(())
}

/// Underlines the words of a clean line for which `is_match` holds.
pub(super) fn highlight(line: &str, is_match: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if is_word && is_match(part) {
            let _ = write!(out, "{MATCH}{part}{END_OF_MATCH}");
        } else {
            out.push_str(part);
        }
        rest = after;
    }
    out
}

/// Pads the text with spaces to `width` columns.
pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Formats a duration: `320 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`.
/// jiff's printer has no form with one unit, such as the `3 days` of tables, so durations and ages are formatted here.
pub(super) fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..10 => format!("{seconds}.{} s", millis % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Returns the day and the time of day in the local time zone: `2026-02-23`, `14:05`.
pub(super) fn local(at: u64) -> (String, String) {
    let at = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    let zoned = at.unwrap_or(jiff::Timestamp::MAX).to_zoned(jiff::tz::TimeZone::system());
    (zoned.strftime("%Y-%m-%d").to_string(), zoned.strftime("%H:%M").to_string())
}

/// Formats a number with a comma between groups of three digits.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number with its noun: `1 memory`, `2 memories`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Formats a number of bytes for people.
pub(super) fn bytes(number: u64) -> String {
    indicatif::DecimalBytes(number).to_string()
}

/// Returns the colour of a kind of memory. Kinds that policies add have none.
pub(super) fn kind_style(kind: &str) -> Style {
    match kind {
        "decision" => AnsiColor::Blue.on_default(),
        "preference" | "correction" => AnsiColor::Magenta.on_default(),
        "error_fix" | "failure" => AnsiColor::Red.on_default(),
        "learning" | "discovery" => AnsiColor::Yellow.on_default(),
        "commit" | "plan" | "task" | "result" => AnsiColor::Green.on_default(),
        "session_summary" | "compact_summary" => AnsiColor::Cyan.on_default(),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\u{1b}[31mb\r\n\tc\u{9b}2J\r"), "a\u{fffd}[31mb\n\tc\u{fffd}2J\u{fffd}");
        assert_eq!(clean_line("a\n  b\u{202e}c\u{7}"), "a b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn widths_count_columns() {
        assert_eq!(columns("한글ab"), 6);
        assert_eq!(fit("한글ab", 6), "한글ab");
        assert_eq!(fit("한글ab", 5), "한글…");
        assert_eq!(fit("한글ab", 4), "한…");
        assert_eq!(pad("한", 4), "한  ");
    }

    #[test]
    fn prose_is_wrapped_at_words_and_lists_keep_their_indentation() {
        assert_eq!(wrap_to("one two three four five six", 20), ["one two three four", "five six"]);
        assert_eq!(wrap_to("- one two three four five\n\nx", 20), ["- one two three four", "  five", "", "x"]);
        assert_eq!(wrap_to("한국어 문장은 낱말에서 나뉜다", 20), ["한국어 문장은", "낱말에서 나뉜다"]);
        assert_eq!(wrap_to("日本語の文は単語の間に空白がない", 20), ["日本語の文は単語の間", "に空白がない"]);
        assert_eq!(wrap_to("/a/path/that/is/longer/than/a/line", 20).concat(), "/a/path/that/is/longer/than/a/line");
    }

    #[test]
    fn words_of_the_query_are_underlined() {
        let marked = highlight("Retry the upload, twice", |word| word == "upload");
        assert_eq!(marked, format!("Retry the {MATCH}upload{END_OF_MATCH}, twice"));
        assert_eq!(anstream::adapter::strip_str(&marked).to_string(), "Retry the upload, twice");
    }

    #[test]
    fn a_narrow_terminal_shows_fewer_columns_and_every_row_fits() {
        let heads = [12, 14, 10];
        assert_eq!([None, Some(80), Some(50), Some(40), Some(10)].map(|it| leading_columns(it, &heads)), [3, 3, 2, 1, 1]);
        for width in 36..90 {
            let taken: usize = heads[..leading_columns(Some(width), &heads)].iter().map(|it| it + 2).sum();
            let behind = columns(&fit_behind("~/work/otters", Some(width), taken));
            let text = width - taken - if behind > 0 { behind + 2 } else { 0 };
            assert!(text >= MIN_TEXT.min(width - 14), "{width}");
        }
        assert_eq!((fit_end("~/a/shop", 8), fit_end("~/work/a/shop", 8)), ("~/a/shop".into(), "…/a/shop".into()));
        assert_eq!((fit_end("~/수달", 4), fit_end("수달", 2)), ("…달".into(), "…".into()));
        assert_eq!(fit_behind("/Users/somebody/work/otters", Some(80), 38), "otters");
        assert_eq!(fit_behind("~/work/otters", Some(80), 38), "~/work/otters");
        let mut list = vec![1, 2, 3];
        assert!(!cut(&mut list, 3) && cut(&mut list, 2) && list == [1, 2]);
    }

    #[test]
    fn times_and_numbers_read_well() {
        let now = 1_700_000_000_000;
        for (seconds, text) in [
            (59, "just now"),
            (60, "1 min ago"),
            (3 * 3600, "3 h ago"),
            (86_400, "1 day ago"),
            (6 * 86_400, "6 days ago"),
            (7 * 86_400, "2023-11-07"),
            (800 * 86_400, "2021-09-05"),
        ] {
            assert_eq!(ago(now - seconds * 1000, now), text);
            assert!(text.len() <= AGO_COLUMNS);
        }
        assert_eq!(ago(now + 1, now), "2023-11-14");
        for (millis, text) in
            [(320, "320 ms"), (4_250, "4.2 s"), (59_999, "59 s"), (185_000, "3 min 5 s"), (7_800_000, "2 h 10 min")]
        {
            assert_eq!(duration(millis), text);
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        assert_eq!(counted(1, "memory", "memories"), "1 memory");
    }

    proptest! {
        #[test]
        fn what_is_fitted_fits(text in "\\PC{0,60}", most in 1_usize..80) {
            prop_assert!(columns(&fit(&text, most)) <= most);
        }

        #[test]
        fn no_time_makes_it_fail(then in any::<u64>(), now in any::<u64>()) {
            ago(then, now);
            local(then);
            duration(then);
        }
    }
}
