//! What the protocols have in common: one exchange with a server, and reading what it says.

use serde_json::Value;
use throughline_http::reply::parse;
use throughline_http::{Authorization, Client, Options};
use throughline_model_wire::{Failed, Fault, FaultKind, Request, Server};

/// The longest response that is read, in bytes: an answer of 64,000 tokens, written as JSON, has a tenth of that.
pub(super) const MAX_RESPONSE_BYTES: u64 = 4 << 20;

/// Posts a request and parses the response. A response that cannot be parsed may have been charged.
pub(super) fn post(
    server: &Server,
    authorization: Authorization,
    headers: &[(&'static str, &'static str)],
    path: &str,
    request: &Request,
    body: &Value,
) -> Result<Value, Failed> {
    let key = server.key.as_ref().map(crate::key::read).transpose()?;
    let options = Options {
        program: "throughline-model",
        base_url: &server.base_url,
        authorization,
        headers,
        timeout_ms: request.limits.timeout_ms,
        tries: request.limits.tries,
        backoff_ms: request.limits.backoff_ms,
        repeat_charged: false,
    };
    let client = Client::new(&options, key)?;
    let response = client
        .post(path, body.to_string().as_bytes(), MAX_RESPONSE_BYTES)
        .map_err(|error| Failed { fault: error.fault, may_be_charged: error.may_be_charged })?;
    parse(&response).map_err(charged)
}

/// A fault in a response that the provider has worked for.
pub(super) fn charged(fault: Fault) -> Failed {
    Failed { fault, may_be_charged: true }
}

/// The model refused to answer.
pub(super) fn refused(why: &str) -> Failed {
    charged(Fault::permanent(FaultKind::Refused, format!("the model refused to answer: {why}")))
}

/// The response does not have the protocol's form.
pub(super) fn odd(what: &str) -> Failed {
    charged(Fault::temporary(FaultKind::Answer, format!("the server's answer does not match the protocol: {what}")))
}

/// Returns a number of tokens. Anything but a whole number counts as not said.
pub(super) fn tokens(value: &Value) -> Option<u64> {
    value.as_u64()
}

/// Returns the sum of the numbers that are said, or `None` if the first is not.
pub(super) fn sum(first: &Value, more: &[&Value]) -> Option<u64> {
    let first = tokens(first)?;
    Some(more.iter().filter_map(|value| tokens(value)).fold(first, u64::saturating_add))
}

/// Returns the model's name as the response has it, or as it was asked for.
pub(super) fn model(said: &Value, asked: &str) -> String {
    said.as_str().filter(|name| !name.is_empty()).unwrap_or(asked).to_owned()
}

/// Checks a model's name that becomes part of a URL.
pub(super) fn check_path_name(name: &str) -> Result<(), Fault> {
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)) {
        let what = "the model's name contains characters other than letters, digits and -._";
        return Err(Fault::permanent(FaultKind::Request, what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_whole_numbers_are_tokens() {
        assert_eq!(sum(&json!(3), &[&json!(4), &Value::Null, &json!("5")]), Some(7));
        assert_eq!(sum(&json!(u64::MAX), &[&json!(1)]), Some(u64::MAX));
        for lie in [json!(-3), json!("3"), json!(1.5), Value::Null, json!([3])] {
            assert_eq!(sum(&lie, &[&json!(4)]), None, "{lie}");
        }
    }

    #[test]
    fn a_name_is_no_path() {
        assert!(check_path_name("gemini-2.5-flash").is_ok());
        for name in ["", "a/b", "a:b", "a?key=1", "../a"] {
            assert!(check_path_name(name).is_err(), "{name}");
        }
    }
}
