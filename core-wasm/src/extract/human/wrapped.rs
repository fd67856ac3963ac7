//! Prompts that were copied from a terminal, which breaks long lines.

use super::pasted::looks_pasted;

/// The length from which a line may have been broken by a terminal, in characters.
const MIN_WIDTH: usize = 60;
/// The number of blanks before a line up to which a broken line goes on there.
const MAX_INDENT: usize = 3;

/// Returns a prompt in which the lines that a terminal broke are whole: a long line that no mark ends, and that goes on in the next one.
pub(super) fn unwrapped(prompt: &str) -> String {
    let mut whole = String::with_capacity(prompt.len());
    let (mut before, mut is_code) = ("", false);
    for line in prompt.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if !whole.is_empty() {
            whole.push(if !is_code && !is_fence && goes_on(before, line) { ' ' } else { '\n' });
        }
        is_code ^= is_fence;
        let said = if whole.ends_with(' ') { line.trim_start() } else { line };
        whole.push_str(said.trim_end());
        before = line;
    }
    whole
}

/// Returns whether a sentence of a line goes on in the next one.
fn goes_on(before: &str, next: &str) -> bool {
    let (bare, start) = (before.trim(), next.trim_start());
    let indent = next.len() - start.len();
    let is_open = bare.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | ')' | '`' | '"'));
    let is_wide = bare.chars().count() >= MIN_WIDTH;
    // A line of a log begins with a label.
    let is_labelled = bare.starts_with('[') || start.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
    let is_prose = |line: &str| !looks_pasted(line) && line.split_whitespace().count() > 2;
    // The client puts two blanks before each line but the first.
    let continues = start.starts_with(char::is_lowercase) || (indent == 2 && start.starts_with(char::is_alphabetic));
    is_wide && is_open && continues && !is_labelled && indent <= MAX_INDENT && is_prose(bare) && !looks_pasted(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_a_terminal_broke_is_whole() {
        let long = "the till of the night prints its slips twice and nobody knows why it does";
        assert_eq!(unwrapped(&format!("{long}   \n  so please look")), format!("{long} so please look"));
        assert_eq!(unwrapped(&format!("{long}\nso please look")), format!("{long} so please look"));
        assert_eq!(unwrapped(&format!("{long}\n  Pat says so")), format!("{long} Pat says so"));
    }

    #[test]
    fn lines_that_end_stay_apart() {
        let long = "the till of the night prints its slips twice and nobody knows why it does";
        for said in [
            format!("{long}.\nso please look"),
            format!("{long}\nPlease look"),
            format!("{long}\n- look"),
            format!("{long}\nerror: no slip"),
            format!("{long}\n\nso please look"),
            format!("```\n{long}\nso please look\n```"),
            "the till\nprints".to_owned(),
        ] {
            assert_eq!(unwrapped(&said), said);
        }
    }
}
