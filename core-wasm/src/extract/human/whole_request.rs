//! A short prompt as a whole, on one line.

use super::antecedent::without_log;
use super::consent::is_greeting;
use super::pasted::{is_paste, looks_pasted, strip_mentions};
use super::plan::plan;
use super::request::{is_banner, is_marked, without_marks};
use super::rule::is_rule;
use super::terminal::without_terminal;
use crate::text;

/// The length up to which a prompt is told whole, in characters.
const MAX_WHOLE_CHARS: usize = 480;

/// Returns all that a prompt says, on one line, without greetings and standing rules. None if it is long, or if text is pasted in it.
pub(in crate::extract) fn whole_request(prompt: &str) -> Option<String> {
    let prompt = without_marks(prompt);
    let is_long = prompt.chars().count() > MAX_WHOLE_CHARS;
    if is_long || prompt.starts_with('/') || prompt.contains("```") || plan(&prompt).is_some() || is_paste(&prompt) {
        return None;
    }
    if without_terminal(&prompt).is_some() || without_log(&prompt).is_some() {
        return None;
    }
    let mut said = String::new();
    let mut was_item = false;
    for line in prompt.lines().filter(|line| !line.trim().is_empty()) {
        let is_item = is_list_item(line);
        if !is_item && is_marked(line) {
            return None;
        }
        let line = line.trim_end_matches(['\\', ' ']);
        let sentences: Vec<String> = text::sentences(line).iter().map(|sentence| strip_mentions(sentence)).collect();
        for (at, sentence) in sentences.iter().enumerate() {
            if looks_pasted(sentence) || is_banner(sentence) || sentence.ends_with(['{', ';', '}']) {
                return None;
            }
            if is_greeting(sentence) || (is_rule(sentence) && !said.is_empty()) {
                continue;
            }
            // The items of a list are told apart.
            let is_apart = at == 0 && (is_item || was_item) && said.ends_with(char::is_alphanumeric);
            said.push_str(if said.is_empty() {
                ""
            } else if is_apart {
                "; "
            } else {
                " "
            });
            said.push_str(sentence);
        }
        was_item = is_item;
    }
    (!said.is_empty()).then(|| said.trim_end_matches([':', '：', ' ']).to_owned())
}

/// Returns whether a line is an item of a list: "- fold the slip", "2. fold it".
fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(['.', ')', ':']);
    is_numbered || ["- ", "* ", "• "].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(prompt: &str) -> Option<String> {
        whole_request(prompt)
    }

    #[test]
    fn what_explains_a_request_is_told_with_it() {
        let said = "Move the slips of the night till to a folder. I think they should be text files, too.";
        assert_eq!(whole(said).as_deref(), Some(said));
        assert_eq!(
            whole("Fold the slip of the till.\n\nNever print it twice.").as_deref(),
            Some("Fold the slip of the till.")
        );
    }

    #[test]
    fn the_steps_of_a_list_are_told_apart() {
        let said = "Go through the faults of the till:\n\n- pick a fault\n- mend it on a branch\n- if the bell rings, stop\n\nThen close it.";
        let told =
            "Go through the faults of the till: pick a fault; mend it on a branch; if the bell rings, stop; Then close it.";
        assert_eq!(whole(said).as_deref(), Some(told));
        assert_eq!(whole("1. fold the slip\n2. ring the bell").as_deref(), Some("fold the slip; ring the bell"));
    }

    #[test]
    fn a_long_prompt_or_one_with_the_words_of_a_program_is_not_told_whole() {
        assert_eq!(whole(&"Fold the slip of the till. ".repeat(30)), None);
        assert_eq!(whole("The till fails:\n\n```\nerror: no drawer\n```"), None);
        assert_eq!(whole("The till fails, look into it please:\n\n+ let total = 1;\n@@ -1,2 +1,2 @@"), None);
        assert_eq!(whole("/review the till"), None);
    }
}
