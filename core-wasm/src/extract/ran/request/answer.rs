//! What came back on a request, in few words.

use crate::text;

/// The maximum length of an answer that is told as it is, and of the words in it that say how it went, in characters.
const MAX_WHOLE_CHARS: usize = 60;
const MAX_WORDS_CHARS: usize = 100;
/// How far from the beginning of an answer a field says how the request went, in bytes. Those of a record in it stand behind.
const MAX_FIELD_BYTES: usize = 60;

/// Returns the status and the words of an answer, or that it is JSON. Empty if the output says nothing of the kind.
pub(super) fn of(call: &str, output: &str, failed: bool) -> String {
    let is_refused = text::contains_any(output, &["Failed to connect", "Connection refused", "Exit code 7\n"]);
    if failed && (is_refused || output.trim() == "Exit code 7") {
        return "no connection".to_owned();
    }
    let json = output.lines().map(str::trim).find(|line| line.starts_with(['{', '[']));
    let status = status(call, output).or_else(|| json.and_then(|json| field(json, "statusCode")));
    let words = json.filter(|json| json.starts_with('{')).and_then(words);
    match (status, words, json) {
        (Some(status), Some(words), _) => format!("{status} {words}"),
        (Some(only), None, _) | (None, Some(only), _) => only,
        (None, None, Some(json)) if json == output.trim() && json.chars().count() <= MAX_WHOLE_CHARS => json.to_owned(),
        (None, None, Some(json)) if json.len() > 1 || output.trim_end().ends_with(['}', ']']) => "JSON".to_owned(),
        _ => String::new(),
    }
}

/// Returns the status that the program was told to print, or that stands above the answer.
fn status(call: &str, output: &str) -> Option<String> {
    let is_status = |word: &&str| word.len() == 3 && word.parse::<u16>().is_ok_and(|number| (100..600).contains(&number));
    let head = output.lines().map(|line| line.trim_start_matches(['<', ' '])).rfind(|line| line.starts_with("HTTP/"));
    let of_head = head.and_then(|line| line.split_whitespace().nth(1));
    let printed = || {
        let mut words = output.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        call.contains("http_code").then(|| words.next_back()).flatten()
    };
    of_head.or_else(printed).filter(is_status).map(str::to_owned)
}

/// Returns the words with which an object says how the request went.
fn words(json: &str) -> Option<String> {
    let said = ["error", "message"].iter().find_map(|name| field(json, name))?;
    let said = text::one_line(&said);
    (!said.is_empty()).then(|| text::clip(&said, MAX_WORDS_CHARS).into_owned())
}

/// Returns the value of a field near the beginning of an object, if it is a text or a number. `{"error":{"message":"…"}}` has one, too.
fn field(json: &str, name: &str) -> Option<String> {
    let key = format!("\"{name}\"");
    let at = json.find(&key).filter(|at| *at <= MAX_FIELD_BYTES)?;
    let value = json[at + key.len()..].trim_start().strip_prefix(':')?.trim_start();
    let Some(quoted) = value.strip_prefix('"') else {
        let number: String = value.chars().take_while(char::is_ascii_digit).collect();
        return (!number.is_empty()).then_some(number);
    };
    let mut is_escaped = false;
    let is_end = |c: char| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    let end = quoted.find(is_end).unwrap_or(quoted.len());
    Some(quoted[..end].replace("\\\"", "\"").replace("\\n", " "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_answer_is_told_in_few_words() {
        let of = |output: &str| super::of("curl -s localhost/till", output, false);
        assert_eq!(of("{\"error\":{\"message\":\"No \\\"night\\\" till\"}}"), "No \"night\" till");
        assert_eq!(of("* left intact\n{\"message\":\"Unauthorized\",\"statusCode\":401}"), "401 Unauthorized");
        assert_eq!(of("HTTP/1.1 404 Not Found\nA: b\n\n<html>"), "404");
        let record =
            "{\"till\":\"a till with a very long name\",\"drawer\":\"a drawer with a long one\",\"message\":\"hi\"}";
        assert_eq!(of(record), "JSON", "the field is one of a record");
        assert_eq!(of("<html>"), "");
        assert_eq!(of("{\"success\":true}"), "{\"success\":true}");
    }

    #[test]
    fn a_status_is_told_if_it_was_asked_for() {
        let of = |call: &str, output: &str| super::of(call, output, false);
        assert_eq!(of("curl -w '%{http_code}' localhost", "<html>\nHTTP_STATUS:404"), "404");
        assert_eq!(of("curl localhost", "404"), "");
        assert_eq!(super::of("curl localhost", "Exit code 7", true), "no connection");
    }
}
