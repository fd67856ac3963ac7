//! Decides which variables hold a secret, and which part of their value is the secret. Ordinary words must not be
//! masked everywhere, so a secret-like name is not enough.

/// The shortest and the longest value that is masked, in bytes; a private key in PEM has 3 KB.
const MIN_VALUE_BYTES: usize = 8;
const MAX_VALUE_BYTES: usize = 16 << 10;

/// Up to this length, letters alone count as a word.
const MAX_WORD_CHARS: usize = 15;

/// The last words of names whose value describes a secret but is not one.
const METADATA_WORDS: &[&str] = &[
    "FILE",
    "PATH",
    "DIR",
    "FOLDER",
    "SOCK",
    "SOCKET",
    "HOST",
    "PORT",
    "NAME",
    "TYPE",
    "ALGORITHM",
    "ALG",
    "LENGTH",
    "SIZE",
    "TTL",
    "EXPIRY",
    "EXPIRES",
    "TIMEOUT",
    "REGION",
    "LIMIT",
    "COUNT",
    "HEADER",
    "PREFIX",
    "PROVIDER",
    "METHOD",
    "MODE",
];

/// Words in a name that always mean a secret.
const SECRET_WORDS: &[&str] = &[
    "PASSWORD",
    "PASSWD",
    "PASS",
    "PWD",
    "PASSPHRASE",
    "PASSCODE",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "BEARER",
];

/// Words that mean a secret together with the word KEY.
const KEY_QUALIFIERS: &[&str] =
    &["API", "SECRET", "PRIVATE", "ACCESS", "ENCRYPTION", "SIGNING", "MASTER", "AUTH", "ACCOUNT", "SERVICE"];

/// Words in a name that mean a secret only if the value looks random.
const AMBIGUOUS_WORDS: &[&str] =
    &["KEY", "KEYS", "AUTH", "DSN", "SALT", "PEPPER", "COOKIE", "JWT", "PAT", "WEBHOOK", "LICENSE", "SEED"];

/// Endings that need no separator before them, as in PGPASSWORD.
const COMPOUND_SUFFIXES: &[&str] = &["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "APIKEY"];

/// Names that contain such words but hold no secret.
const IGNORED_NAMES: &[&str] = &["PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "GPG_KEY"];

/// Keys of the secret parts of a connection string, without spaces and underscores.
const PARTS: &[&str] =
    &["password", "pwd", "pass", "accountkey", "sharedaccesskey", "sharedaccesssignature", "secret", "token", "apikey"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Password,
    Strong,
    Weak,
    None,
}

/// Returns the secrets in a variable's value.
pub(super) fn secrets(name: &str, value: &str) -> Vec<String> {
    let value = value.trim();
    if value.len() < MIN_VALUE_BYTES || value.len() > MAX_VALUE_BYTES || IGNORED_NAMES.contains(&name) {
        return Vec::new();
    }
    if let Some(fields) = value.starts_with('{').then(|| serde_json::from_str(value).ok()).flatten() {
        let mut found = vec![value.to_owned()];
        in_json(&fields, &mut found);
        found.retain(|secret| secret != value || class(name) != Class::None);
        return found;
    }
    let mut found = userinfo(name, value);
    if value.contains("://") && !value.contains(char::is_whitespace) {
        return found;
    }
    found.extend(parts(value));
    if !found.is_empty() {
        return found;
    }
    let counts = match class(name) {
        Class::Password => !is_ordinary(value, false) && !is_variable_name(value),
        Class::Strong => !is_ordinary(value, true),
        Class::Weak => !is_ordinary(value, true) && looks_random(value),
        Class::None => false,
    };
    if counts {
        found.push(value.to_owned());
        // Each line of a multi-line key that is long enough is a value of its own too.
        if value.contains('\n') {
            found.extend(
                value.lines().map(str::trim).filter(|line| line.len() >= 32 && !line.starts_with("--")).map(str::to_owned),
            );
        }
    }
    found
}

/// Returns whether a value reads as words, a command or a path: whoever writes a `.env` file could make such words disappear
/// from all texts. Keys of several lines, connection strings and JSON are no prose.
pub(super) fn is_prose(value: &str) -> bool {
    let value = value.trim();
    if value.starts_with(['{', '[']) || value.contains("-----BEGIN") || value.contains("://") || value.contains(';') {
        return false;
    }
    let mut parts = value.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '.' | '/' | ':' | ',' | '`' | '\''));
    let is_word = |part: &str| part.len() <= 2 || (part.chars().count() <= MAX_WORD_CHARS && is_cased_as_word(part));
    if value.contains(char::is_whitespace) {
        // One word in two is enough for a sentence.
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        return parts.iter().filter(|part| is_word(part)).count() * 2 >= parts.len();
    }
    parts.all(is_word)
}

/// Collects the secrets in the fields of a JSON value, such as the key file of a service account.
fn in_json(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) => found.extend(secrets(name, text)),
                    None => in_json(value, found),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| in_json(item, found)),
        _ => {}
    }
}

fn class(name: &str) -> Class {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if words.last().is_some_and(|word| METADATA_WORDS.contains(&word.as_str())) {
        return Class::None;
    }
    let upper = name.to_ascii_uppercase();
    if has(&["PASSWORD", "PASSWD", "PASS", "PWD", "PASSPHRASE", "PASSCODE"])
        || upper.ends_with("PASSWORD")
        || upper.ends_with("PASSWD")
    {
        Class::Password
    } else if has(SECRET_WORDS)
        || COMPOUND_SUFFIXES.iter().any(|end| upper.ends_with(end))
        || (has(&["KEY", "KEYS"]) && has(KEY_QUALIFIERS))
    {
        Class::Strong
    } else if has(AMBIGUOUS_WORDS) || upper.ends_with("KEY") {
        Class::Weak
    } else {
        Class::None
    }
}

/// Returns the words of a name in upper case: `dbPassword`, `DB_PASSWORD` and `db.password` give the same two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in name.chars() {
        let border = !c.is_alphanumeric();
        if (border || (c.is_uppercase() && before_is_lower)) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        before_is_lower = c.is_lowercase();
        if let (false, Some(word)) = (border, words.last_mut()) {
            word.push(c.to_ascii_uppercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the passwords in the value's URLs, as written and decoded. For a DSN without a password, returns the user.
fn userinfo(name: &str, value: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in value.match_indices("://").take(16) {
        let rest = &value[at + 3..];
        let authority =
            &rest[..rest.find(|c: char| matches!(c, '/' | '?' | '#') || c.is_whitespace()).unwrap_or(rest.len())];
        // A password that was not encoded may contain a slash; then the last @ of the word ends it.
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        let Some((info, _)) = authority.rsplit_once('@').or_else(|| word.rsplit_once('@')) else { continue };
        let secret = match info.split_once(':') {
            Some((_, password)) => password,
            None if class(name) == Class::Weak || class(name) == Class::Strong => info,
            None => continue,
        };
        let plain = decoded(secret);
        // Somebody who writes it into a URL means it as a password, so only very common values are left out.
        found.extend(
            [secret, &plain]
                .into_iter()
                .filter(|text| text.len() >= MIN_VALUE_BYTES && !is_ordinary(text, false))
                .map(str::to_owned),
        );
    }
    found.dedup();
    found
}

/// Returns the secret parts of a connection string: `Server=…;Password=…;`.
fn parts(value: &str) -> Vec<String> {
    if !value.contains(['=']) || !value.contains([';', ' ']) {
        return Vec::new();
    }
    let part = |part: &str| {
        let (key, value) = part.split_once('=')?;
        let key: String = key.chars().filter(|c| !matches!(c, ' ' | '_')).map(|c| c.to_ascii_lowercase()).collect();
        let value = value.trim().trim_matches(['"', '\'']);
        (PARTS.contains(&key.as_str()) && value.len() >= MIN_VALUE_BYTES && !is_ordinary(value, false))
            .then(|| value.to_owned())
    };
    let separator = if value.contains(';') { ';' } else { ' ' };
    value.split(separator).filter_map(part).collect()
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = (bytes[at] == b'%').then(|| u8::from_str_radix(text.get(at + 1..at + 3)?, 16).ok()).flatten();
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Whether the value may occur anywhere with another meaning: words, paths, numbers, references, and values that are
/// meant to be replaced. `of_words`: several words with separators also count as words.
fn is_ordinary(value: &str, of_words: bool) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_path = value.starts_with(['/', '~'])
        || value.starts_with("./")
        || value.starts_with("../")
        || value.get(1..3) == Some(":\\");
    let is_reference =
        value.starts_with('$') || value.starts_with("op://") || value.starts_with('<') || value.starts_with("{{");
    // Base64 can begin with a slash; a path has more slashes, or does not look random.
    let is_path = is_path && (value.len() < 24 || value.matches('/').count() > 2 || !looks_random(value));
    if is_path
        || is_reference
        || ["your", "change", "example", "placeholder", "dummy", "replace"].iter().any(|mark| lower.starts_with(mark))
    {
        return true;
    }
    let mut distinct: Vec<char> = lower.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 4 {
        return true;
    }
    if value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ':' | '_' | ' ' | ',')) {
        // Dates, versions and counts. No count has twelve digits or more.
        return value.chars().filter(char::is_ascii_digit).count() < 12;
    }
    let is_word = |word: &str| word.chars().count() <= MAX_WORD_CHARS && is_cased_as_word(word);
    if is_word(value) {
        return true;
    }
    let between = |c: char| c.is_whitespace() || matches!(c, '-' | '_' | '.' | '/' | ':' | ',' | '@' | '+');
    of_words && value.split(between).all(|word| word.len() <= 2 || is_word(word))
}

/// Whether the letters are cased as in `word`, `WORD`, `Word` or `camelCase`, and not at random.
fn is_cased_as_word(word: &str) -> bool {
    if !word.chars().all(char::is_alphabetic) {
        return false;
    }
    if word.chars().all(char::is_uppercase) {
        return true;
    }
    // Each part has at most one capital, followed by more letters.
    let mut hump = 0;
    for c in word.chars() {
        if c.is_uppercase() && hump > 0 {
            if hump < 2 {
                return false;
            }
            hump = 0;
        }
        hump += 1;
    }
    hump >= 2
}

/// Whether the value is the name of another variable, as a placeholder for that variable's value.
fn is_variable_name(value: &str) -> bool {
    value.contains('_') && value.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Whether the value has a digit and letters, and few repeated characters.
fn looks_random(value: &str) -> bool {
    let has = |test: fn(&char) -> bool| u32::from(value.chars().any(|c| test(&c)));
    let classes = has(char::is_ascii_lowercase) + has(char::is_ascii_uppercase) + has(char::is_ascii_digit);
    classes >= 2 && has(char::is_ascii_digit) == 1 && entropy(value) >= if value.len() < 16 { 2.75 } else { 3.0 }
}

/// Returns Shannon's entropy in bits per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 16 KiB")]
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / length;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret() {
        for (name, value, wanted) in [
            ("DB_PASSWORD", "hunter2hunter2", vec!["hunter2hunter2"]),
            ("PGPASSWORD", "correct horse battery", vec!["correct horse battery"]),
            ("dbPassword", "tr0ub4dor&3", vec!["tr0ub4dor&3"]),
            ("GITHUB_TOKEN", "abc-123-def-456-x", vec!["abc-123-def-456-x"]),
            ("MY_API_KEY", "9f8e7d6c5b4a3210", vec!["9f8e7d6c5b4a3210"]),
            ("STRIPE_KEY", "pk8Zt2Lm4Qr6Sv0w", vec!["pk8Zt2Lm4Qr6Sv0w"]),
            ("DATABASE_URL", "postgres://app:s3cr3t%40pass@db/x", vec!["s3cr3t%40pass", "s3cr3t@pass"]),
            ("SENTRY_DSN", "https://0a1b2c3d4e5f60718293@o1.ingest.io/5", vec!["0a1b2c3d4e5f60718293"]),
            ("CONNECTION_STRING", "Server=db;User Id=sa;Password=Yt6!plkQ2z;", vec!["Yt6!plkQ2z"]),
            (
                "DOCKER_AUTH_CONFIG",
                r#"{"auths":{"h":{"auth":"dXNlcjpwYTU1dzByZA"}}}"#,
                vec![r#"{"auths":{"h":{"auth":"dXNlcjpwYTU1dzByZA"}}}"#, "dXNlcjpwYTU1dzByZA"],
            ),
            ("SETTINGS", r#"{"name":"x7y8z9a1b2","apiKey":"x7y8z9a1b2c3"}"#, vec!["x7y8z9a1b2c3"]),
            ("ODD_SECRET", "sywSYRC&\"TQTqNM\\%wCGof", vec!["sywSYRC&\"TQTqNM\\%wCGof"]),
            ("CASE_TOKEN", "sywSYRCTQTqNMwC", vec!["sywSYRCTQTqNMwC"]),
            ("PIN_PASSWORD", "492837465019", vec!["492837465019"]),
        ] {
            assert_eq!(secrets(name, value), wanted, "{name}={value}");
        }
    }

    #[test]
    fn what_is_not() {
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin"),
            ("HOME", "/home/somebody"),
            ("PWD", "/home/somebody/work1"),
            ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"),
            ("EDITOR", "a8f7e6d5c4b3a291"),
            ("DB_PASSWORD", "postgres"),
            ("DB_PASSWORD", "development"),
            ("DB_PASSWORD", "DB_SECRET_VALUE"),
            ("DB_PASSWORD", "changeme123"),
            ("DB_PASSWORD", "short1"),
            ("DB_PASSWORD", "12345678"),
            ("DB_PASSWORD_FILE", "/run/secrets/db-8a7f6e"),
            ("TOKEN_TTL", "86400seconds1"),
            ("SECRET_NAME", "prod/database1/main2"),
            ("AUTH_TOKEN", "${OTHER_TOKEN1}"),
            ("API_TOKEN", "your-token-here-1234"),
            ("SESSION_SECRET", "my-dev-secret"),
            ("APP_SECRET", "myDevSecret"),
            ("SORT_KEY", "created_at"),
            ("PRIMARY_KEY", "identifier"),
            ("CACHE_KEY", "throughline-v2"),
            ("MONKEY", "business"),
            ("TOKEN_ENDPOINT_SECRET", "https://login.example.org/oauth2/token"),
            ("BUILD_DATE_KEY", "2026-01-02 03:04"),
        ] {
            assert_eq!(secrets(name, value), Vec::<String>::new(), "{name}={value}");
        }
    }
}
