//! The request that a command sends, read from its words.

use super::line::Step;
use super::place::{place, route};

/// A request of a command.
#[derive(Debug)]
pub(super) struct Call {
    /// Its method and its path, with the host if that is another machine.
    pub what: String,
    /// Whether it sends something.
    pub may_change: bool,
    /// Whether it goes to this machine.
    pub is_local: bool,
    /// Whether it goes to a tracker.
    pub is_to_tracker: bool,
    pub shows: Shows,
}

/// What a program shows of the answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Nothing for certain.
    Nothing,
    Body,
    /// The head of the answer is at the beginning.
    Head,
    /// The head of the answer, each line behind `<`.
    HeadBesideBody,
    /// At the end, its status between these texts.
    Status(String, String),
}

const FLAGS: &str = "sSfkviIGgNL46";
const VALUES: &str = "AbcdeEFHmouwXTD";
const LONG_FLAGS: [&str; 17] = [
    "silent",
    "show-error",
    "fail",
    "fail-with-body",
    "insecure",
    "verbose",
    "include",
    "head",
    "get",
    "globoff",
    "no-buffer",
    "location",
    "compressed",
    "ipv4",
    "ipv6",
    "retry-connrefused",
    "http1.1",
];
const LONG_VALUES: [&str; 24] = [
    "user-agent",
    "cookie",
    "cookie-jar",
    "data",
    "data-raw",
    "data-binary",
    "data-ascii",
    "data-urlencode",
    "json",
    "form",
    "form-string",
    "header",
    "max-time",
    "connect-timeout",
    "output",
    "user",
    "write-out",
    "request",
    "upload-file",
    "referer",
    "dump-header",
    "retry",
    "retry-delay",
    "url",
];
const FLAGS_OF_GH: [&str; 6] = ["i", "include", "paginate", "silent", "slurp", "verbose"];
const VALUES_OF_GH: [&str; 16] = [
    "X",
    "method",
    "f",
    "raw-field",
    "F",
    "field",
    "input",
    "H",
    "header",
    "q",
    "jq",
    "t",
    "template",
    "p",
    "preview",
    "cache",
];

/// Returns the request that a command sends. `None` if it sends none, or one that cannot be read for certain.
pub(super) fn call(step: &Step) -> Option<Call> {
    let is_assignment =
        |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('-'));
    let skipped = step.words.iter().take_while(is_assignment).count();
    let words: Vec<&str> = step.words[skipped..].iter().map(String::as_str).collect();
    match words.as_slice() {
        ["curl", rest @ ..] => curl(rest),
        ["gh", "api", rest @ ..] => gh(rest),
        _ => None,
    }
}

fn curl(words: &[&str]) -> Option<Call> {
    let (options, addresses) = options(
        words,
        &FLAGS.split("").chain(LONG_FLAGS).collect::<Vec<_>>(),
        &VALUES.split("").chain(LONG_VALUES).collect::<Vec<_>>(),
    )?;
    let value = |names: &[&str]| options.iter().rfind(|(name, _)| names.contains(name)).map(|(_, value)| *value);
    let has = |names: &[&str]| value(names).is_some();
    let [address] = addresses.into_iter().chain(value(&["url"])).collect::<Vec<_>>()[..] else { return None };
    let sends = options
        .iter()
        .any(|(name, _)| matches!(*name, "d" | "F" | "json") || name.starts_with("data") || name.starts_with("form"));
    let method = match value(&["X", "request"]) {
        Some(named) => named,
        None if has(&["T", "upload-file"]) => "PUT",
        None if has(&["I", "head"]) => "HEAD",
        None if sends && !has(&["G", "get"]) => "POST",
        None => "GET",
    };
    let (place, is_local) = place(address)?;
    let is_silent = has(&["s", "silent"]) && !has(&["v", "verbose"]);
    let format = value(&["w", "write-out"]);
    let shows = match format {
        // A redirection answers for another place.
        _ if has(&["L", "location"]) => Shows::Nothing,
        Some(format) if is_silent => status_in(format).unwrap_or(Shows::Nothing),
        Some(_) => Shows::Nothing,
        None if has(&["v", "verbose"]) => Shows::HeadBesideBody,
        None if has(&["o", "output", "D", "dump-header"]) => Shows::Nothing,
        None if has(&["i", "include", "I", "head"]) => Shows::Head,
        None => Shows::Body,
    };
    told(method, &place).map(|(what, may_change)| Call { what, may_change, is_local, is_to_tracker: false, shows })
}

/// Returns what stands around the status in a format that prints nothing else of the answer.
fn status_in(format: &str) -> Option<Shows> {
    let (before, after) = format.split_once("%{http_code}").or_else(|| format.split_once("%{response_code}"))?;
    let shown = |text: &str| text.replace("\\n", "\n").replace("\\t", "\t");
    let is_plain = !format.starts_with('@') && !before.contains('%') && !after.contains('%');
    let is_apart = !before.ends_with(|c: char| c.is_ascii_digit()) && !after.starts_with(|c: char| c.is_ascii_digit());
    (is_plain && is_apart).then(|| Shows::Status(shown(before), shown(after)))
}

/// Reads the call of GitHub's client. A query of `graphql` only looks, unless it is a mutation.
fn gh(words: &[&str]) -> Option<Call> {
    let (options, places) = options(words, &FLAGS_OF_GH, &VALUES_OF_GH)?;
    let [place] = places[..] else { return None };
    let place = place.trim_start_matches('/');
    let place = place.split('?').next()?;
    let is_mutation = || options.iter().any(|(_, value)| value.starts_with("query=") && value.contains("mutation"));
    let is_place = place.starts_with("repos/") || (place == "graphql" && is_mutation());
    if !is_place || place.contains(['$', '`']) {
        return None;
    }
    let named = options.iter().rfind(|(name, _)| matches!(*name, "X" | "method")).map(|(_, value)| *value);
    let sends = options.iter().any(|(name, _)| matches!(*name, "f" | "raw-field" | "F" | "field" | "input"));
    let (what, may_change) = told(named.unwrap_or(if sends { "POST" } else { "GET" }), &route(place))?;
    Some(Call { what, may_change, is_local: false, is_to_tracker: true, shows: Shows::Nothing })
}

fn told(method: &str, place: &str) -> Option<(String, bool)> {
    let is_known = matches!(method, "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE");
    is_known.then(|| (format!("{method} {place}"), !matches!(method, "GET" | "HEAD" | "OPTIONS")))
}

type Options<'a> = Vec<(&'a str, &'a str)>;

/// Splits the words of a call into its options with their values, empty for flags, and all other words. `None` if an option is not known.
fn options<'a>(words: &[&'a str], flags: &[&str], values: &[&str]) -> Option<(Options<'a>, Vec<&'a str>)> {
    let (mut all, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--").filter(|long| long.len() > 1) {
            let is_value = values.contains(&long);
            if !is_value && !flags.contains(&long) {
                return None;
            }
            all.push((long, if is_value { words.next()? } else { "" }));
        } else if let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) {
            for (at, letter) in short.char_indices() {
                let (letter, rest) = short[at..].split_at(letter.len_utf8());
                if values.contains(&letter) {
                    all.push((letter, if rest.is_empty() { words.next()? } else { rest }));
                    break;
                }
                if !flags.contains(&letter) {
                    return None;
                }
                all.push((letter, ""));
            }
        } else {
            others.push(word);
        }
    }
    Some((all, others))
}

#[cfg(test)]
mod tests {
    use super::super::line::steps;

    fn what(line: &str) -> Option<String> {
        super::call(&steps(line)?[0]).map(|call| call.what)
    }

    #[test]
    fn the_method_and_the_place_are_those_of_the_options() {
        for (line, told) in [
            (
                "curl -X POST -H 'Origin: http://localhost:3000' https://api.till.example/v1/slips",
                "POST api.till.example/v1/slips",
            ),
            ("curl -d a=1 -H \"Referer: https://till.example/a\" http://localhost:3000/api/pay", "POST /api/pay"),
            ("curl -sX DELETE http://localhost:3000/slips/7", "DELETE /slips/7"),
            ("curl -d'{\"a\":1}' http://localhost:3000/slips", "POST /slips"),
            ("curl -T dump.sql http://localhost:3000/upload", "PUT /upload"),
            ("curl -I http://localhost:3000/till", "HEAD /till"),
            ("curl -G -d till=1 http://localhost:3000/till", "GET /till"),
            ("TILL=1 gh api -X PATCH repos/shop/till/pulls/12 -f state=closed", "PATCH repos/shop/till/pulls/12"),
        ] {
            assert_eq!(what(line).as_deref(), Some(told), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_read_for_certain_is_no_call() {
        for line in [
            "curl -x http://localhost:8080 -X DELETE https://api.till.example/slips/7",
            "curl -X $M http://localhost:3000/slips",
            "curl -X post http://localhost:3000/slips",
            "curl http://localhost:3000/slips http://localhost:3000/tills",
            "curl -K slips.txt http://localhost:3000/slips",
            "ssh till 'curl -X DELETE http://localhost:3000/slips/7'",
            "docker exec till curl -X DELETE http://localhost:3000/slips/7",
        ] {
            assert_eq!(what(line), None, "{line}");
        }
    }
}
