//! Whether what is assigned to a telling name is a secret, or a placeholder, a reference, a type, a path or a word.

use memchr::memmem;

use super::rules::STOPWORDS;

/// What the name on the left promises.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Chosen by people: short, and often a word with something added.
    Password,
    /// Made by machines and named without doubt: `client_secret`, `api_key`.
    Secret,
    /// Made by machines, but the name has other uses: `token`.
    Token,
    /// A name that merely ends in `_key`: only what can be nothing else.
    Key,
}

/// How a value is written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Between quotes.
    Quoted,
    /// `NAME=value` without spaces: environment files, connection strings, options, headers.
    Bare,
    /// `name: value` or `name = value`, unquoted: program text, YAML, prose.
    Loose,
}

/// As much of a value as is looked at, in bytes.
const MAX_INSPECTED_BYTES: usize = 128;

/// As much of a token as tells what it is made of.
const ENTROPY_SAMPLE_BYTES: usize = 64;

/// Shannon entropy in bits a byte, of the first bytes.
pub(super) fn entropy(bytes: &[u8]) -> f32 {
    let bytes = &bytes[..bytes.len().min(ENTROPY_SAMPLE_BYTES)];
    let mut counts = [0u8; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let total = f32::from(u8::try_from(bytes.len()).unwrap_or(u8::MAX)).max(1.0);
    let bits = |count: u8| f32::from(count) * (total / f32::from(count)).log2();
    let mut sum = 0.0;
    for &byte in bytes {
        let count = std::mem::take(&mut counts[usize::from(byte)]);
        if count > 0 {
            sum += bits(count);
        }
    }
    sum / total
}

/// Whether a token's body is one that documentation writes.
pub(super) fn is_placeholder_body(body: &[u8]) -> bool {
    let body = &body[..body.len().min(ENTROPY_SAMPLE_BYTES)];
    STOPWORDS.iter().any(|word| contains_folded(body, word.as_bytes()))
}

fn contains_folded(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle))
}

/// Words that stand where a secret would.
const STOP_WORDS: &str = " \
    a abc access account add admin an and any api apikey app application as asdf auth authorization bar base64 \
    basic baz bearer blank bool boolean bytes change changeit changeme char client config confirm correct \
    credential credentials current db default demo dev development disabled dummy email empty enabled encrypted \
    enter env example existing expired external fake false file flag foo for from func function generated get \
    github goes hash hashed hello here hidden hint id in incorrect input insert int internal invalid is it jwt key \
    keys label local localhost login masked me missing mock mssql must my mysql name never new nil no none not \
    null nullable number object of off old on option optional or pass passphrase passwd password passwords \
    placeholder plain plaintext please postgres postgresql private prod production prompt provided public put pwd \
    qwerty random raw read redacted redis refresh replace required reset root sample secret secrets secure select \
    server service session set some something staging str strict string strong super supersecret tbd temp test \
    testing tests text the this to todo token tokens true type undefined unknown unset update use user username \
    users utf8 valid value varchar void weak with wrong x xx xxx xxxx xxxxx xxxxxx xxxxxxxx yes you your yours ";

/// Whether a list of words, each between blanks, has the word in it, in any case.
fn contains_word(list: &str, word: &str) -> bool {
    const MAX_WORD_BYTES: usize = 16;
    let mut entry = [b' '; MAX_WORD_BYTES + 2];
    let Some(place) = entry.get_mut(1..=word.len()) else {
        return false;
    };
    place.copy_from_slice(word.as_bytes());
    place.make_ascii_lowercase();
    entry.get(..word.len() + 2).is_some_and(|entry| memmem::find(list.as_bytes(), entry).is_some())
}

/// Endings of files that configuration names beside its secrets.
const FILE_EXTENSIONS: &str = " \
    cer conf crt css csv env go gpg html ini java jks js json jsx key kt log md mjs p12 pem pfx php properties py \
    rb rs sh sql svg toml ts tsx txt vue xml yaml yml ";

/// What a value consists of.
#[derive(Default)]
struct CharCounts {
    lower: usize,
    upper: usize,
    digits: usize,
    spaces: usize,
    non_ascii: usize,
    symbols: usize,
    hex: usize,
    /// Letter case or letter/digit changes between neighbours.
    transitions: usize,
}

impl CharCounts {
    fn of(value: &str) -> Self {
        let mut counts = Self::default();
        let mut before = b' ';
        for byte in value.bytes() {
            match byte {
                b'a'..=b'z' => counts.lower += 1,
                b'A'..=b'Z' => counts.upper += 1,
                b'0'..=b'9' => counts.digits += 1,
                b' ' | b'\t' => counts.spaces += 1,
                0x80.. => counts.non_ascii += 1,
                _ => counts.symbols += 1,
            }
            counts.hex += usize::from(byte.is_ascii_hexdigit());
            let changed = before.is_ascii_lowercase() && byte.is_ascii_uppercase()
                || before.is_ascii_alphabetic() && byte.is_ascii_digit()
                || before.is_ascii_digit() && byte.is_ascii_alphabetic();
            counts.transitions += usize::from(changed);
            before = byte;
        }
        counts
    }

    fn letters(&self) -> usize {
        self.lower + self.upper
    }
}

/// Whether the value that a telling name is given is a secret.
pub(super) fn is_secret(value: &str, kind: Kind, shape: Shape) -> bool {
    let value = &value[..value.floor_char_boundary(MAX_INSPECTED_BYTES)];
    let counts = CharCounts::of(value);
    // The cheapest test first: what a machine makes has digits in it, or changes case at every turn.
    if kind != Kind::Password && counts.digits == 0 && counts.transitions * 5 < value.len() {
        return false;
    }
    if is_reference(value)
        || is_placeholder(value, kind)
        || counts.non_ascii * 2 > value.len()
        || is_location(value, &counts)
    {
        return false;
    }
    if kind == Kind::Secret && is_base32(value, &counts) {
        return true;
    }
    let code = match shape {
        Shape::Quoted => false,
        Shape::Bare => is_expression(value),
        Shape::Loose => is_code(value, &counts, kind) || is_number(value),
    };
    if code {
        return false;
    }
    match kind {
        Kind::Password => is_password(value, &counts, shape),
        Kind::Secret => {
            is_random(value, &counts, 8, 2.8)
                || is_hex(value.strip_prefix("0x").unwrap_or(value), 16)
                || is_uuid(value)
                || shape == Shape::Quoted && is_salt(value, &counts)
                || shape != Shape::Loose && (is_human_chosen(value, &counts) || is_mixed(value, &counts))
        }
        Kind::Token => (is_random(value, &counts, 10, 3.0) || is_hex(value, 20)) && !is_uuid(value),
        Kind::Key => {
            is_random(value, &counts, 16, 3.5)
                && counts.hex < value.len()
                && counts.symbols * 4 < value.len()
                && !is_uuid(value)
        }
    }
}

/// What says where the secret is, not what it is.
fn is_reference(value: &str) -> bool {
    const WITHIN: &[&str] = &[
        "[redacted",
        "REDACTED",
        "${",
        "{{",
        "$(",
        "<%",
        "#{",
        "%{",
        "://",
        "...",
        "***",
        "•••",
        "…",
        "process.env",
        "import.meta",
        "os.environ",
        "getenv",
    ];
    const BEFORE: &[&str] = &[
        "!Ref",
        "!Sub",
        "!secret",
        "vault:",
        "env:",
        "file:",
        "arn:",
        "secretref:",
        "keyvault",
        "ENC[",
        "secrets.",
        "env.",
        "config.",
        "self.",
        "this.",
        "data:",
        "sha256:",
        "%(",
    ];
    WITHIN.iter().any(|mark| value.contains(mark))
        || BEFORE.iter().any(|mark| value.starts_with(mark))
        || value
            .strip_prefix(['$', '@', '&', '*', '%', ':', '!'])
            .is_some_and(|name| is_identifier(name) && CharCounts::of(name).digits <= 2)
        || value.starts_with('<') && value.ends_with('>')
        || value.starts_with('{') && value.ends_with('}')
        || value.starts_with('[') && value.ends_with(']')
        || value.len() > 2
            && [b'%', b'@'].iter().any(|sign| value.as_bytes()[0] == *sign && value.as_bytes().ends_with(&[*sign]))
}

fn is_identifier(value: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    !value.is_empty() && !value.as_bytes()[0].is_ascii_digit() && value.bytes().all(word)
}

/// What documentation, tests and forms write instead of a secret: nothing but stop words, or one byte over and over.
fn is_placeholder(value: &str, kind: Kind) -> bool {
    let mut distinct = [false; 256];
    value.bytes().for_each(|byte| distinct[usize::from(byte)] = true);
    if distinct.iter().filter(|&&seen| seen).count() <= 2 {
        return true;
    }
    let mut digits = false;
    let mut symbols = false;
    for (word, after) in words(value) {
        symbols |= after.is_some_and(|byte| !matches!(byte, b' ' | b'-' | b'_' | b'.' | b'/' | b':' | b','));
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            digits = true;
        } else if !contains_word(STOP_WORDS, word) {
            return false;
        }
    }
    // `admin` may be a label; `admin2024!` is a password that someone chose.
    kind != Kind::Password || !(digits || symbols)
}

/// The words of a value, apart at symbols, at case and at digits, each with the symbol that ends it.
fn words(value: &str) -> impl Iterator<Item = (&str, Option<u8>)> {
    let bytes = value.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            let apart = at > start
                && (bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase()
                    || bytes[at - 1].is_ascii_digit() != bytes[at].is_ascii_digit());
            if apart {
                break;
            }
            at += 1;
        }
        let word = value.get(start..at)?;
        let after = bytes.get(at).copied().filter(|byte| !byte.is_ascii_alphanumeric());
        (!word.is_empty()).then_some((word, after))
    })
}

/// Paths, files, addresses.
fn is_location(value: &str, counts: &CharCounts) -> bool {
    let rooted = ["/", "./", "../", "~/", "~"].iter().any(|root| value.starts_with(root))
        || matches!(value.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let file =
        value.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && contains_word(FILE_EXTENSIONS, ending));
    // Base64 may begin with a slash, and a file may be named by a secret.
    (rooted || file) && !(counts.digits >= 3 && counts.upper >= 3 && counts.transitions >= 6)
}

/// Unquoted program text: calls, indexes, dotted names, identifiers.
fn is_code(value: &str, counts: &CharCounts, kind: Kind) -> bool {
    // `hunter22` is no name that a program would have, `userPassword2` and `pass_2` are.
    let chosen = kind == Kind::Password
        && (counts.digits > 0 && counts.symbols == 0 && (counts.upper == 0 || counts.transitions > 2 || counts.digits > 2)
            || counts.digits > 1 && counts.transitions > 1
            || is_phrase(value, counts));
    value.contains(['(', ')', '{', '}', '[', ']', ';', '|'])
        || value.contains('?') && !(kind == Kind::Password && counts.digits > 0)
        || value.contains("::")
        || ["->", "=>", "&&"].iter().any(|operator| value.contains(operator))
        || value.trim_end_matches('=').contains("==")
        || is_identifier(value) && !chosen && (counts.digits == 0 || counts.transitions * 5 <= value.len())
}

/// What people choose where a machine should: words with a number and a symbol or a hyphen, none of them of a program.
fn is_human_chosen(value: &str, counts: &CharCounts) -> bool {
    let odd = value.bytes().filter(|byte| b"!?*#%^&@+~".contains(byte)).count();
    let numbered = value.contains(['-', '_']) && value.ends_with(|last: char| last.is_ascii_digit());
    let phrase = (odd > 0 || numbered)
        && counts.digits > 1
        && words(value).all(|(word, _)| word.len() == 1 || !contains_word(STOP_WORDS, word));
    value.len() >= 8
        && counts.letters() > 2
        && counts.spaces + counts.non_ascii == 0
        && !value.contains(['/', ':', '.', ',', '(', ')', '=', '<', '>'])
        && (phrase || odd > 1 && counts.digits > 0 && counts.upper > 0 && counts.lower > 0)
}

/// Letters of both cases in no order.
fn is_mixed(value: &str, counts: &CharCounts) -> bool {
    value.len() >= 8 && counts.transitions * 4 >= value.len() && counts.symbols + counts.spaces + counts.non_ascii == 0
}

/// `harbor_winter954`: words and a number, such as people choose; `user_password_2` is a name.
fn is_phrase(value: &str, counts: &CharCounts) -> bool {
    (counts.upper == 0 || value.contains('_'))
        && counts.digits > 1
        && value.ends_with(|last: char| last.is_ascii_digit())
        && !value.contains('.')
        && words(value).all(|(word, _)| word.len() > 1 && !contains_word(STOP_WORDS, word))
}

/// What an argument without spaces around its sign may be in program text: `name=None)`, `name=other.name`, `name=list[1]`.
fn is_expression(value: &str) -> bool {
    let head = value.split(['(', ')', '[', ']']).next().unwrap_or_default();
    let spoken = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let bracketed = head.len() < value.len();
    // Minified program text.
    let minified = value.contains("function(") || value.contains("()}") || value.contains("){");
    minified
        || is_identifier(head)
            && head.split('.').all(spoken)
            && (head.contains('.') || bracketed && !value.ends_with(|last: char| last.is_alphanumeric()))
}

/// A number as programs write it: `0x8055_0008`, `-1540i32`, `131072u32`.
fn is_number(value: &str) -> bool {
    let value = value.trim_start_matches('-');
    let digits = value.strip_prefix("0x").unwrap_or(value);
    let number = digits.trim_end_matches(|last: char| last.is_ascii_hexdigit() || last == '_');
    let suffixed = ["u", "i", "f", "_u", "_i"].iter().any(|sign| {
        digits.split_once(sign).is_some_and(|(number, width)| {
            number.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_')
                && matches!(width, "8" | "16" | "32" | "64" | "128" | "size")
        })
    });
    suffixed || digits.len() < value.len() && digits.len() <= 16 && number.is_empty()
}

fn is_password(value: &str, counts: &CharCounts, shape: Shape) -> bool {
    if value.len() < 4 {
        return false;
    }
    if counts.spaces > 0 {
        // A label or an error message, unless a word in it is no word.
        return shape == Shape::Quoted
            && counts.spaces <= 4
            && value.split_whitespace().any(|word| {
                let counts = CharCounts::of(word);
                word.len() >= 5 && counts.digits > 0 && counts.lower > 0
            });
    }
    if counts.letters() == 0 {
        return shape != Shape::Loose && value.len() >= 6;
    }
    if counts.digits > 0 {
        return !(shape == Shape::Loose && value.len() < 6);
    }
    // No digit in it. A lone word counts where only a value can stand.
    let spoken = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.' | b' ' | b':' | b'/' | b','));
    match shape {
        Shape::Bare => value.len() >= 5 && !(counts.lower == 0 && spoken),
        Shape::Quoted | Shape::Loose => {
            let odd = entropy(value.as_bytes()) >= 3.5 && counts.transitions * 4 >= value.len();
            value.len() >= 6 && (!spoken && !value.ends_with([':', '?', '!', '*']) || odd)
        }
    }
}

/// What a machine made: letters and digits that form no words.
fn is_random(value: &str, counts: &CharCounts, min_length: usize, bits: f32) -> bool {
    value.len() >= min_length
        && counts.spaces == 0
        && counts.non_ascii == 0
        && counts.digits > 0
        && counts.letters() > 0
        && counts.symbols * 3 <= value.len()
        && entropy(value.as_bytes()) >= bits
        && !is_wordy(value)
        || value.len() >= 20
            && counts.spaces == 0
            && counts.non_ascii == 0
            && counts.transitions * 5 >= value.len()
            && counts.symbols * 6 <= value.len()
            && entropy(value.as_bytes()) >= 3.8
}

/// Words, numbers and versions with separators between them: `design-token-v2`, `2024-01-02`, `user_1`.
fn is_wordy(value: &str) -> bool {
    value.split(|letter: char| !letter.is_ascii_alphanumeric()).all(|part| {
        let counts = CharCounts::of(part);
        let digits = counts.digits;
        let spoken = counts.transitions <= 1 + part.len() / 5;
        digits == 0 && spoken || counts.letters() == 0 && digits <= 12 || counts.letters() <= 2 && digits <= 2 ||
                // `Route53Resolver`, `sha256`, `token1`: letters with one short number.
                digits <= 3 && counts.transitions <= 2 && counts.letters() >= 3 && part.len() <= 12 && counts.upper <= 1
    })
}

/// Letters, digits and symbols of every kind, as generators of salts make them.
fn is_salt(value: &str, counts: &CharCounts) -> bool {
    let odd = value.bytes().filter(|byte| b"!@#$%^&*()+=<>?{}[]|~,;".contains(byte)).count();
    value.len() >= 16
        && counts.digits > 0
        && (counts.upper > 0 || counts.lower > 0 && value.len() >= 24)
        && counts.spaces == 0
        && odd >= 3
        && entropy(value.as_bytes()) >= 3.5
}

/// Seeds of one-time passwords.
fn is_base32(value: &str, counts: &CharCounts) -> bool {
    (16..=64).contains(&value.len())
        && value.len().is_multiple_of(8)
        && counts.digits > 0
        && value.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'))
        && entropy(value.as_bytes()) >= 3.0
}

fn is_hex(value: &str, min_length: usize) -> bool {
    let counts = CharCounts::of(value);
    value.len() >= min_length && counts.hex == value.len() && counts.digits > 0 && counts.letters() > 0
}

/// The six bits that a character of base64 stands for, of either alphabet.
pub(super) fn base64_value(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value
            .bytes()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_up_whole_and_in_any_case() {
        assert!(
            contains_word(STOP_WORDS, "Password") && contains_word(STOP_WORDS, "a") && contains_word(STOP_WORDS, "yours")
        );
        assert!(!contains_word(STOP_WORDS, "passwor") && !contains_word(STOP_WORDS, "unheard-of-and-far-too-long"));
        assert!(contains_word(FILE_EXTENSIONS, "pem") && !contains_word(FILE_EXTENSIONS, "pe"));
    }

    #[test]
    fn entropy_is_shannons() {
        assert!(entropy(b"") < 0.001);
        assert!(entropy(b"aaaa") < 0.001);
        assert!((entropy(b"abcd") - 2.0).abs() < 0.001);
        assert!((entropy(b"aabb") - 1.0).abs() < 0.001);
    }

    #[test]
    fn values_by_kind_and_shape() {
        use Kind::{Key, Password, Secret, Token};
        use Shape::{Bare, Loose, Quoted};
        for (secret, value, kind, shape) in [
            (true, "hunter2", Password, Quoted),
            (true, "sunshine", Password, Bare),
            (false, "sunshine", Password, Loose),
            (true, "p@ss,w(or)d&1", Password, Bare),
            (true, "tr0ub4dor&3", Password, Loose),
            (true, "hunter22", Password, Loose),
            (false, "userPassword2", Password, Loose),
            (false, "0x80550008_u32", Password, Loose),
            (false, "user.password", Password, Bare),
            (false, "None)", Password, Bare),
            (false, "string", Password, Loose),
            (false, "userPassword", Password, Quoted),
            (false, "${DB_PASSWORD}", Password, Quoted),
            (false, "$DB_PASSWORD", Password, Bare),
            (false, "<your password>", Password, Quoted),
            (false, "********", Password, Quoted),
            (false, "비밀번호를 입력하세요", Password, Quoted),
            (false, "Password must be 8 characters", Password, Quoted),
            (true, "my p4ssw0rd is long", Password, Quoted),
            (false, "your-api-key-here", Secret, Quoted),
            (true, "5f4dcc3b5aa765d61d8327deb882cf99", Secret, Bare),
            (true, "0b0c2a9e-8d4f-4b1e-9f5e-3c2b1a0d9e8f", Secret, Quoted),
            (false, "0b0c2a9e-8d4f-4b1e-9f5e-3c2b1a0d9e8f", Token, Loose),
            (true, "q7Vd-92kfLs0Xa", Token, Quoted),
            (false, "design-token-v2", Token, Quoted),
            (false, "getToken()", Token, Loose),
            (false, "accessToken1", Token, Loose),
            (false, "/var/run/secrets/token", Token, Quoted),
            (false, "id_ed25519.pem", Key, Quoted),
            (false, "5f4dcc3b5aa765d61d8327deb882cf99", Key, Bare),
            (true, "kT9xQ2vLm4Rz8WbN1cYp", Key, Bare),
        ] {
            assert_eq!(is_secret(value, kind, shape), secret, "{value}");
        }
    }
}
