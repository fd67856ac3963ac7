//! Whether a text tells a fault with the change of the code that mended it: neither comes back.

use super::named::names_of_code;
use crate::extract::signs;
use crate::text;

/// Returns whether a text tells a fault and how the code was changed for it.
pub(super) fn tells_mended_code(said: &str) -> bool {
    const ENDED: [&str; 8] = [
        "(fixed in ",
        "fixed in commit",
        "already fixed",
        "has been fixed",
        "수정되었",
        "수정됐",
        "修正済み",
        "修正されました",
    ];
    const LABELS: [&str; 9] =
        ["fixed by ", "fixed to ", "fix: ", "solution: ", "해결: ", "수정: ", "修正: ", "対処: ", "解決: "];
    const CHANGES: [&str; 22] = [
        "add",
        "chang",
        "replac",
        "updat",
        "swap",
        "split",
        "stor",
        "filter",
        "mov",
        "renam",
        "implement",
        "refactor",
        "rewrit",
        "extract",
        "track",
        "return",
        "pass",
        "wrap",
        "validat",
        "accurate",
        "추가",
        "追加",
    ];
    const PRACTICES: [&str; 6] = ["before running", "path", "environment", "restart", "env", "flag"];
    // The places in it are those in the text.
    let lower = said.to_ascii_lowercase();
    if signs::tells_limit(&lower) || text::contains_any_words(&lower, &["must", "never", "always", "requires", "require"]) {
        return false;
    }
    let labelled = LABELS.iter().filter_map(|label| lower.rfind(label).map(|at| at + label.len())).max();
    let Some(at) = labelled.or_else(|| lower.rfind(": replaced ").map(|at| at + ": ".len())) else {
        return text::contains_any(&lower, &ENDED);
    };
    let cure = &lower[at..];
    let first = cure.split_whitespace().next().unwrap_or_default();
    let uses_name = || matches!(first, "use" | "using") && names_of_code(&said[at..]).next().is_some();
    let is_change = CHANGES.iter().any(|verb| first.starts_with(verb)) || uses_name();
    // What is run, or set outside the code, is needed again.
    let is_needed_again = said[at..].split('`').skip(1).step_by(2).any(is_run) || text::contains_any_words(cure, &PRACTICES);
    is_change && !is_needed_again
}

/// Returns whether something in backticks is a command, a flag of one, or a variable of the environment.
fn is_run(code: &str) -> bool {
    let (program, rest) = code.split_once(' ').unwrap_or((code, ""));
    let is_word =
        |word: &str, others: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c)) && !word.is_empty();
    let sets_variable = |(name, _): (&str, &str)| is_word(name, "_") && name == name.to_ascii_uppercase();
    code.starts_with('-')
        || code.contains('$')
        || (!rest.is_empty() && is_word(program, "-_"))
        || program.split_once('=').is_some_and(sets_variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_code_that_was_mended_is_no_trap() {
        for mended in [
            "Slips came out twice: Fixed by filtering those that were printed",
            "Drawer and bell swapped - fixed by swapping `DRAWER` and `BELL` in the list",
            "The bell rang for all carts: Replaced the loop with a set in `ringBell`",
            "Wrong total: Fixed by using `till.total()` instead of `cart.total()`",
            "The till drops slips silently (fixed in commit `4e5a111`)",
        ] {
            assert!(tells_mended_code(mended), "{mended}");
        }
        for trap in [
            "The till did not start: Fixed by restarting with `TILL_HOST=10.0.0.3`",
            "Wrong till was called. Fix: Add the new one to PATH: `export PATH=\"$TILL:$PATH\"`",
            "Slips were not found: Fixed by omitting labels",
            "The tests need a drawer, which requires a key: Fixed by adding one",
            "The printer doesn't support color: Fixed by replacing red with black",
            "The till could not count: Fixed by using `make count`",
        ] {
            assert!(!tells_mended_code(trap), "{trap}");
        }
    }
}
