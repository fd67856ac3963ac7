//! The place that a request is sent to, as far as it names no secret.

use crate::extract::commands::LOCAL_HOSTS;

/// The maximum length of a word of a path, in characters, and of letters that need no vowel.
const MAX_WORD_CHARS: usize = 15;
const MAX_ABBREVIATION_CHARS: usize = 4;
/// The maximum number of consonants in a row.
const MAX_CONSONANTS: usize = 4;
/// The maximum number of words in a part of a path.
const MAX_WORDS: usize = 4;
/// What a part of a path begins with behind which a secret may stand, whatever it looks like.
const BEFORE_SECRETS: [&str; 13] =
    ["invit", "reset", "token", "verif", "confirm", "hook", "webhook", "share", "secret", "key", "code", "otp", "password"];

/// Returns the path of an address, with the host if that is another machine, and whether it is this one. `None` if it is no plain address.
pub(super) fn place(address: &str) -> Option<(String, bool)> {
    let address = match address.split_once("://") {
        Some(("http" | "https", rest)) => rest,
        Some(_) => return None,
        None => address,
    };
    if address.contains(['$', '`', '{', '[', '<']) {
        return None;
    }
    let place = address.split(['?', '#']).next()?.trim_end_matches('/');
    let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let (name, port) = host.split_once(':').unwrap_or((host, "1"));
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    if name.is_empty() || !is_port || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)) {
        return None;
    }
    let is_local = LOCAL_HOSTS.contains(&name);
    let path = route(path);
    if is_local {
        return Some((if path.is_empty() { host.to_owned() } else { path }, true));
    }
    let labels: Vec<&str> = name.split('.').map(|label| if is_label(label) { label } else { "…" }).collect();
    let port = &host[name.len()..];
    Some((format!("{}{port}{path}", labels.join(".")), false))
}

/// Returns a path with a gap in the place of each part that is no word of a route and no short number.
pub(super) fn route(path: &str) -> String {
    let mut is_secret = false;
    let told = |part| {
        let is_told = !is_secret && is_part(part);
        is_secret |= is_told && part.split(['-', '_']).any(|word| BEFORE_SECRETS.iter().any(|it| word.starts_with(it)));
        if is_told { part } else { "…" }
    };
    path.split('/').map(told).collect::<Vec<_>>().join("/")
}

fn is_part(part: &str) -> bool {
    let is_number = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = || part.strip_prefix('v').is_some_and(is_short_number);
    let words = || part.split(['-', '_', '.']);
    is_number || is_version() || (words().count() <= MAX_WORDS && words().all(is_word))
}

/// Returns whether a part of a host's name is made of words and short numbers: `us-east-1`, `s3`.
fn is_label(label: &str) -> bool {
    let is_piece = |piece: &str| {
        let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        piece.len() <= letters.len() + 3 && !piece.is_empty() && (letters.is_empty() || is_word(letters))
    };
    label.split('-').count() <= MAX_WORDS && label.split('-').all(is_piece)
}

fn is_short_number(text: &str) -> bool {
    (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether letters look like a word, or like words written together with capitals: `sendMessage`.
fn is_word(text: &str) -> bool {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let mut starts: Vec<usize> = text.match_indices(|c: char| c.is_ascii_uppercase()).map(|(at, _)| at).collect();
    let has_capitals = !starts.is_empty();
    starts.retain(|at| *at > 0);
    let ends = starts.iter().copied().chain([text.len()]);
    let pieces = [0].into_iter().chain(starts.iter().copied()).zip(ends).map(|(start, end)| &text[start..end]);
    pieces.clone().count() <= MAX_WORDS
        && pieces.into_iter().all(|piece| is_spoken(piece) && (!has_capitals || piece.len() > 2))
}

fn is_spoken(word: &str) -> bool {
    let is_vowel = |c: char| "aeiouyAEIOUY".contains(c);
    let consonants = word.split(is_vowel).map(str::len).max().unwrap_or_default();
    word.len() <= MAX_ABBREVIATION_CHARS
        || (word.len() <= MAX_WORD_CHARS && consonants <= MAX_CONSONANTS && word.contains(is_vowel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_route_are_told() {
        for path in
            ["/api/v2/tills/7/open-drawer", "/bot/sendMessage", "/mcp", "/subscriptions.json", "repos/shop/till/pulls/12"]
        {
            assert_eq!(route(path), path);
        }
        assert_eq!(
            place("https://s3.us-east-1.shop.example:8443/slips?x=1"),
            Some(("s3.us-east-1.shop.example:8443/slips".into(), false))
        );
        assert_eq!(place("localhost:3000/"), Some(("localhost:3000".into(), true)));
    }

    #[test]
    fn what_may_be_secret_is_left_out() {
        for (path, told) in [
            ("/bot123456789:AAFabcdefghijklmnopqrstuvwxyz/sendMessage", "/…/sendMessage"),
            ("/reset/Ehh2FDEEkq", "/reset/…"),
            ("/invite/gakjirex", "/invite/…"),
            ("/v1/WHtP3fS2/slips", "/v1/…/slips"),
            ("/webhook/UbbYrEqm", "/webhook/…"),
            ("/api/UbbYrEqm", "/api/…"),
            ("/private-bb2737f6/basic.ics", "/…/basic.ics"),
            ("/x;session=abc", "/…"),
            ("/pin/4829", "/pin/…"),
            ("/qzjxkvbnwp", "/…"),
        ] {
            assert_eq!(route(path), told);
        }
        assert_eq!(place("https://kx9qm2lpr7.shop.example/slips").unwrap().0, "….shop.example/slips");
        assert!(place("https://ana:letmein@shop.example/slips").is_none());
        assert!(place("$TILL/slips").is_none() && place("ftp://till.example").is_none());
    }
}
