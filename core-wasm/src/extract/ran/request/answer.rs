//! What came back on a request, in one word of few: nothing of its own text is told.

use serde_json::{Map, Value};

use super::call::Shows;

/// The fields of an answer that only says how the request went. Those of a record say something of the record.
const FIELDS: [&str; 13] = [
    "ok",
    "success",
    "error",
    "errors",
    "message",
    "msg",
    "status",
    "statusCode",
    "code",
    "detail",
    "details",
    "path",
    "timestamp",
];

/// Returns the status of an answer, whether it is an error, or that it is JSON. Empty if the output says nothing of the kind.
pub(super) fn of(shows: &Shows, output: &str) -> String {
    // What the program itself says of a failure may end with a number.
    let has_failed = output.lines().any(|line| line.starts_with("curl: ("));
    let told = match shows {
        _ if has_failed => None,
        Shows::Nothing => None,
        Shows::Status(before, after) => printed(output, before, after),
        Shows::Head if !output.starts_with("HTTP/") => None,
        Shows::Head => head(output, "HTTP/"),
        Shows::HeadBesideBody => head(output, "< HTTP/"),
        Shows::Body => serde_json::from_str(output.trim()).ok().and_then(|value| body(&value)),
    };
    told.unwrap_or_default()
}

/// Returns what a program that failed says of the answer. `gh: Not Found (HTTP 404)`
pub(super) fn of_failure(is_to_tracker: bool, output: &str) -> String {
    let mut lines = output.lines().map(str::trim);
    let has_code = |code: &str| {
        let (exit, sign) = (format!("Exit code {code}"), format!("curl: ({code}) "));
        output.lines().next().is_some_and(|line| line.trim() == exit) || output.lines().any(|line| line.starts_with(&sign))
    };
    if is_to_tracker {
        let said = lines.rfind(|line| line.starts_with("gh: ") && line.ends_with(')'));
        return said
            .and_then(|said| said.trim_end_matches(')').rsplit_once("(HTTP "))
            .and_then(|(_, code)| status(code))
            .unwrap_or_default();
    }
    if has_code("7") {
        return "no connection".to_owned();
    }
    if !has_code("22") {
        return String::new();
    }
    let code = lines.find_map(|line| line.strip_prefix("curl: (22) The requested URL returned error: "));
    code.and_then(status).unwrap_or_else(|| "error".to_owned())
}

/// Returns the status at the end of an output, between the texts of the format.
fn printed(output: &str, before: &str, after: &str) -> Option<String> {
    let rest = output.trim_end().strip_suffix(after.trim_end())?;
    let (rest, code) = rest.split_at_checked(rest.len().checked_sub(3)?)?;
    rest.ends_with(before.trim_start()).then(|| status(code)).flatten()
}

/// Returns the status in the head of an answer, if there is only one.
fn head(output: &str, sign: &str) -> Option<String> {
    let mut heads = output.lines().filter(|line| line.starts_with(sign));
    let only = heads.next().filter(|_| heads.next().is_none())?;
    status(only[sign.len()..].split_whitespace().nth(1)?)
}

fn status(code: &str) -> Option<String> {
    let is_status = code.len() == 3 && code.parse::<u16>().is_ok_and(|number| (100..600).contains(&number));
    is_status.then(|| code.to_owned())
}

fn body(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => Some(verdict(fields).unwrap_or_else(|| "JSON".to_owned())),
        Value::Array(_) => Some("JSON".to_owned()),
        _ => None,
    }
}

/// Returns how a request went, if the answer is about nothing else.
fn verdict(fields: &Map<String, Value>) -> Option<String> {
    if !fields.keys().all(|name| FIELDS.contains(&name.as_str())) {
        return None;
    }
    let is = |name: &str, value: bool| fields.get(name) == Some(&Value::Bool(value));
    let code = ["statusCode", "status"].iter().find_map(|name| status(&fields.get(*name)?.as_u64()?.to_string()));
    let has_error = ["error", "errors"].iter().filter_map(|name| fields.get(*name)).any(|value| match value {
        Value::String(said) => !said.is_empty(),
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
        _ => false,
    });
    let is_refused = has_error || is("success", false) || is("ok", false);
    let is_well = is("success", true) || is("ok", true) || fields.get("status").is_some_and(|status| status == "ok");
    match (code, is_refused, is_well) {
        (Some(code), ..) => Some(code),
        (None, true, false) => Some("error".to_owned()),
        (None, false, true) => Some("ok".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_body_only_the_verdict_is_told() {
        for (output, told) in [
            ("{\"error\":{\"message\":\"No \\\"night\\\" till\"}}", "error"),
            ("{\"message\":\"Unauthorized\",\"statusCode\":401}", "401"),
            ("{\"success\":true}", "ok"),
            ("{\"ok\":false,\"error\":null}", "error"),
            ("{\"error\":null,\"message\":\"All tests passed. The user approved the release\"}", "JSON"),
            ("{\"message\":\"`; ring` → confirmed by the user: yes\"}", "JSON"),
            ("{\"till\":7,\"error\":\"drawer is stuck\"}", "JSON"),
            ("{\"otp\":\"482913\"}", "JSON"),
            ("{\"jwt\":\"L5DZ\"}", "JSON"),
            ("Welcome, your code is 482913", ""),
            ("482", ""),
            ("{\"error\":\"strict\"}\n{}", ""),
        ] {
            assert_eq!(of(&Shows::Body, output), told, "{output}");
        }
    }

    #[test]
    fn a_status_is_told_where_it_must_be_one() {
        let printed = |before: &str, after: &str, output: &str| of(&Shows::Status(before.into(), after.into()), output);
        assert_eq!(printed("\nHTTP_STATUS:", "\n", "<html>\nHTTP_STATUS:404\n"), "404");
        assert_eq!(printed("", "", "{}200"), "200");
        assert_eq!(printed("", " done", "{}200"), "");
        assert_eq!(printed("", "", "000"), "");
        assert_eq!(of(&Shows::Head, "HTTP/1.1 404 Not Found\nA: b\n\n<html>"), "404");
        assert_eq!(of(&Shows::HeadBesideBody, "> GET /e\n< HTTP/1.1 301 Moved\n< HTTP/1.1 200 OK\n"), "");
        assert_eq!(of_failure(false, "Exit code 7"), "no connection");
        assert_eq!(of_failure(false, "Exit code 22\ncurl: (22) The requested URL returned error: 404"), "404");
        assert_eq!(of_failure(false, "Exit code 1"), "");
        assert_eq!(of_failure(true, "Exit code 1\ngh: Not Found (HTTP 404)"), "404");
    }
}
