//! Whether the reason of a plan held: the work may find that there was nothing to do for it.

use super::vanished;
use crate::text;

/// How an answer says that something was as planned before the work, or that the plan was wrong about it.
const SIGNS: [&str; 16] = [
    "already exist",
    "already resolved",
    "already fixed",
    "already in place",
    "already done",
    "already handled",
    "already implemented",
    "already present",
    "turned out not",
    "was not the cause",
    "wasn't the cause",
    "이미 존재",
    "既に存在",
    "すでに存在",
    "已经存在",
    "已存在",
];

/// Returns whether an answer says of a file or a name in code of the reason that nothing was wrong with it.
pub(super) fn is_refuted<'a>(reason: &str, mut answers: impl Iterator<Item = &'a str>) -> bool {
    let named = names(reason);
    let refutes = |clause: &str| {
        text::contains_any(&clause.to_lowercase(), &SIGNS) && names(clause).iter().any(|name| named.contains(name))
    };
    !named.is_empty()
        && answers.any(|answer| text::sentences(answer).iter().flat_map(|sentence| sentence.split("; ")).any(refutes))
}

/// Returns the names in code and those of files, without their folders.
fn names(said: &str) -> Vec<&str> {
    let in_code = said.split('`').skip(1).step_by(2).filter(|code| !code.contains(char::is_whitespace));
    in_code.chain(vanished::files_in(said)).map(|name| name.rsplit('/').next().unwrap_or(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_refutes_the_reason_that_it_names() {
        let reason = "Only `till/coins.md` is there, `slip.md` is missing.";
        let refuted = |answer: &str| is_refuted(reason, [answer].into_iter());
        assert!(refuted("The till counts. `till/slip.md` already exists, so this was resolved."));
        assert!(!refuted("`till/slip.md` is written. `drawer.md` already exists."));
        assert!(!refuted("Added `slip.md`; the drawer is already in place."));
        assert!(!is_refuted("The till is open.", ["The till already exists."].into_iter()));
    }
}
