//! The corpus for measuring redaction, and the measurement. A seeded generator fills in templates and embeds them in the
//! kinds of text that surround secrets in transcripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A text, and what in it must go.
pub struct Case {
    /// The family, as the fixture calls it.
    pub family: String,
    /// The text, without marks.
    pub text: String,
    /// What must go: none in an innocent text.
    pub secrets: Vec<String>,
    /// The text with the secrets cut out: the parts that must stay.
    pub kept: Vec<String>,
    /// Whether part of a secret may be left.
    pub lenient: bool,
}

#[derive(Deserialize)]
struct Families {
    families: Vec<Family>,
}

#[derive(Deserialize)]
struct Family {
    name: String,
    #[serde(default)]
    tokens: Vec<String>,
    #[serde(default)]
    lines: Vec<String>,
}

#[derive(Deserialize)]
struct Contexts {
    tokens: Vec<String>,
    lines: Vec<String>,
}

/// Contexts that each token, each line with a secret and each innocent line is put into.
const TOKEN_CONTEXTS: usize = 5;
const LINE_CONTEXTS: usize = 4;

/// All cases: those with secrets, and the innocent ones.
pub fn corpus() -> Result<(Vec<Case>, Vec<Case>)> {
    let contexts: Contexts = read("contexts")?;
    let (secret, innocent): (Families, Families) = (read("secrets")?, read("innocent")?);
    let mut fill = Fill(0x9E37_79B9_7F4A_7C15);
    let mut positive = Vec::new();
    let mut turn = 0;
    for family in &secret.families {
        for token in &family.tokens {
            for _ in 0..TOKEN_CONTEXTS {
                let context = &contexts.tokens[turn % contexts.tokens.len()];
                turn += 1;
                let filled = fill.template(token);
                positive.push(case(&family.name, &context.replacen("%s", &format!("«{filled}»"), 1)));
            }
        }
        positive.extend(in_lines(family, &contexts, &mut fill, &mut turn));
    }
    let mut negative = Vec::new();
    for family in &innocent.families {
        negative.extend(in_lines(family, &contexts, &mut fill, &mut turn));
    }
    Ok((positive, negative))
}

fn in_lines(family: &Family, contexts: &Contexts, fill: &mut Fill, turn: &mut usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for line in &family.lines {
        for at in 0..LINE_CONTEXTS {
            // The plain line always, the others in turn.
            let context = if at == 0 { "%s" } else { &contexts.lines[1 + *turn % (contexts.lines.len() - 1)] };
            *turn += 1;
            let filled = fill.template(line);
            let once = escaped(&filled);
            let twice = escaped(&once);
            let text = context.replace("%J", &twice).replace("%j", &once).replace("%s", &filled);
            cases.push(case(&family.name, &text));
        }
    }
    cases
}

fn read<T: for<'a> Deserialize<'a>>(name: &str) -> Result<T> {
    let path = format!("{}/fixtures/redaction/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    toml::from_str(&fs::read_to_string(&path).context(path.clone())?).context(path)
}

fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Takes the marks out of a text.
pub(crate) fn case(family: &str, marked: &str) -> Case {
    let (mut text, mut secrets, mut kept) = (String::new(), Vec::new(), Vec::new());
    for (at, part) in marked.split(['«', '»']).enumerate() {
        text.push_str(part);
        if at % 2 == 1 {
            secrets.push(part.trim().to_owned());
        } else {
            kept.push(part.to_owned());
        }
    }
    Case { family: family.to_owned(), text, secrets, kept, lenient: false }
}

/// Made-up values, the same ones at every run.
pub(crate) struct Fill(pub(crate) u64);

impl Fill {
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 8).unwrap_or_default() % bound
    }

    fn run(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }

    /// Fills in the fields of a template.
    pub(crate) fn template(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            out.push_str(before);
            let value = behind.split_once('}').and_then(|(field, rest)| Some((self.field(field)?, rest)));
            if let Some((value, after)) = value {
                out.push_str(&value);
                rest = after;
            } else {
                out.push('{');
                rest = behind;
            }
        }
        out + rest
    }

    /// A word such as those that restore a wallet.
    fn word(&mut self) -> String {
        let length = 3 + self.below(6);
        self.run("abcdefghijklmnoprstuvwy", length)
    }

    /// A German account, with its check digits.
    fn iban(&mut self) -> String {
        let account = self.run("0123456789", 18);
        let number: u128 = format!("{account}131400").parse().unwrap_or_default();
        format!("DE{:02}{account}", 98 - number % 97)
    }

    /// The value of a field, or none where the braces belong to the text.
    fn field(&mut self, field: &str) -> Option<String> {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const DIGITS: &str = "0123456789";
        const WORDS: &[&str] =
            &["sunny", "harbor", "copper", "velvet", "Falcon", "orchid", "Pepper", "cobalt", "maple", "Granite"];
        let (name, argument) = field.split_once(':').unwrap_or((field, ""));
        let length = argument.parse().unwrap_or(0);
        Some(match name {
            "alnum" => self.run(&[LOWER, UPPER, DIGITS].concat(), length),
            "alnumlower" => self.run(&[LOWER, DIGITS].concat(), length),
            "lower" => self.run(LOWER, length),
            "alpha" => self.run(&[LOWER, UPPER].concat(), length),
            "upper" => self.run(&[UPPER, DIGITS].concat(), length),
            "aws" => self.run(&[UPPER, "234567"].concat(), length),
            "hex" => self.run("0123456789abcdef", length),
            "digits" => self.run("123456789", 1) + &self.run(DIGITS, length - 1),
            "b64" => self.run(&[LOWER, UPPER, DIGITS, "+/"].concat(), length),
            "url" => {
                self.run(&[LOWER, UPPER, DIGITS, "-_"].concat(), length - 1) + &self.run(&[LOWER, UPPER, DIGITS].concat(), 1)
            }
            "b64url" => {
                self.run(&[LOWER, UPPER, DIGITS, "-_"].concat(), length - 9) + "=" + &self.run("0123456789ABCDEF", 8)
            }
            "django" => self.run(&[LOWER, DIGITS, "@#%^&*(-_=+)"].concat(), 50),
            "aws40" => {
                self.run(&[LOWER, UPPER, DIGITS].concat(), 17) + "/" + &self.run(&[LOWER, UPPER, DIGITS, "+"].concat(), 22)
            }
            "word" => WORDS[self.below(WORDS.len())].to_owned(),
            "password" => self.password("!@#%^*+=?"),
            "password_url" => self.password("!*"),
            "uuid" => {
                let hex = "0123456789abcdef";
                [8, 4, 4, 4, 12].map(|length| self.run(hex, length)).join("-")
            }
            "encoded" => {
                let plain = format!("DB_PASSWORD={}", self.password("!@#%^*+=?"));
                match argument {
                    "hex" => plain.bytes().fold(String::new(), |text, byte| text + &format!("{byte:02x}")),
                    "json" => base64(&(plain.replace("DB_PASSWORD=", "{\"user\": \"shop\", \"password\": \"") + "\"}")),
                    _ => base64(&plain),
                }
            }
            "basic" => base64(&format!("app:{}", self.run(&[LOWER, DIGITS].concat(), 14))),
            "discord" => {
                let letters = [LOWER, UPPER, DIGITS].concat();
                format!("M{}.{}.{}", self.run(&letters, 25), self.run(&letters, 6), self.run(&letters, 38))
            }
            "jwt" => {
                let payload = format!("{{\"sub\":\"{}\",\"iat\":17637604}}", self.run(DIGITS, 10));
                let signature = self.run(&[LOWER, UPPER, DIGITS, "-_"].concat(), 43);
                let header = base64("{\"alg\":\"HS256\",\"typ\":\"JWT\"}");
                format!("{header}.{}.{signature}", base64(&payload)).replace('=', "")
            }
            "pem" => self.pem(argument, "\n"),
            "pemescaped" => self.pem(argument, "\\n"),
            "pemindented" => self.pem(argument, "\n  "),
            "pembase64" => base64(&self.pem(argument, "\n")),
            "base58" => self.run("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", length),
            "base32" => self.run("ABCDEFGHIJKLMNOPQRSTUVWXYZ", length - 4) + &self.run("234567", 4),
            "phrase" => (0..length).map(|_| self.word()).collect::<Vec<_>>().join(" "),
            "iban" => self.iban(),
            "card" => self.card(argument),
            "rrn" => self.resident(argument, 1),
            "arn" => self.resident(argument, 5),
            "ssn" => format!("{}-{}-{}", 100 + self.below(500), 10 + self.below(89), 1000 + self.below(8999)),
            _ => return None,
        })
    }

    /// As people choose them: a word, digits, symbols; or what a manager makes.
    fn password(&mut self, symbols: &str) -> String {
        let letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        match self.below(3) {
            0 => format!("{}{}{}", self.field("word").unwrap_or_default(), self.run("0123456789", 3), self.run(symbols, 1)),
            1 => {
                format!("{}{}{}", self.run(letters, 7), self.run("23456789", 1), self.run(symbols, 1))
                    + &self.run(letters, 6)
            }
            _ => self.run(letters, 15) + &self.run("23456789", 1),
        }
    }

    fn pem(&mut self, title: &str, newline: &str) -> String {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut lines = vec![format!("-----BEGIN {title}-----")];
        lines.extend((0..6).map(|_| self.run(alphabet, 64)));
        lines.push(self.run(alphabet, 30) + "==");
        lines.push(format!("-----END {title}-----"));
        lines.join(newline)
    }

    fn card(&mut self, argument: &str) -> String {
        let (issuer, shape) = argument.split_once(':').unwrap_or((argument, ""));
        let (prefix, length) = match issuer {
            "amex" => ("37", 15),
            "mastercard" => ("54", 16),
            _ => ("45", 16),
        };
        let mut digits = prefix.to_owned() + &self.run("0123456789", length - 1 - prefix.len());
        let sum: u32 = digits
            .bytes()
            .rev()
            .enumerate()
            .map(|(at, digit)| {
                let doubled = u32::from(digit - b'0') * if at % 2 == 0 { 2 } else { 1 };
                doubled / 10 + doubled % 10
            })
            .sum();
        digits += &((10 - sum % 10) % 10).to_string();
        let separator = match shape {
            "spaced" => " ",
            "hyphens" => "-",
            _ => return digits,
        };
        [&digits[..4], &digits[4..8], &digits[8..12], &digits[12..]].join(separator)
    }

    /// A number with its check digit; `sex` is 1 for residents, 5 for aliens.
    fn resident(&mut self, shape: &str, sex: usize) -> String {
        const WEIGHTS: [u32; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5];
        let (year, month, day) = (50 + self.below(49), 1 + self.below(12), 1 + self.below(28));
        let head = format!("{year:02}{month:02}{day:02}");
        let tail = format!("{}{}", sex + self.below(2), self.run("0123456789", 5));
        let sum: u32 =
            format!("{head}{tail}").bytes().zip(WEIGHTS).map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
        let check = (11 - sum % 11) % 10;
        let check = if sex >= 5 { (check + 2) % 10 } else { check };
        let separator = if shape == "bare" { "" } else { "-" };
        format!("{head}{separator}{tail}{check}")
    }
}

fn base64(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0usize, |bits, &byte| bits << 8 | usize::from(byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let value = if at <= chunk.len() { char::from(ALPHABET[bits >> (18 - 6 * at) & 63]) } else { '=' };
            out.push(value);
        }
    }
    out
}

/// How a case went.
#[derive(PartialEq, Debug)]
pub enum Outcome {
    /// All that must go went, and all else stayed.
    Right,
    /// Something that must go is still there.
    Missed,
    /// Something went that must stay, and nothing was missed.
    Spoiled,
}

/// Compares what became of a case.
pub fn judge(case: &Case, redacted: &str) -> Outcome {
    /// So many bytes of a secret may be left: `Bearer`, a prefix.
    const LEFT: usize = 6;
    // The name of a rule may hold the prefix of what it found.
    let shown: String = redacted
        .split("[redacted:")
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once(']').map_or(part, |(_, part)| part) })
        .collect();
    let remains = |secret: &String| {
        if case.lenient {
            return shown.contains(secret.as_str());
        }
        let body: Vec<char> = secret.chars().collect();
        let length = (LEFT + 1).min(body.len());
        body.windows(length).any(|window| {
            let piece: String = window.iter().collect();
            shown.contains(&piece) && !case.kept.iter().any(|kept| kept.contains(&piece))
        })
    };
    if case.secrets.iter().any(remains) {
        return Outcome::Missed;
    }
    // The parts between the secrets are still there, in order.
    let mut rest = redacted;
    for part in &case.kept {
        match rest.find(part.trim()) {
            Some(at) => rest = &rest[at + part.trim().len()..],
            None => return Outcome::Spoiled,
        }
    }
    if case.secrets.is_empty() && redacted != case.text { Outcome::Spoiled } else { Outcome::Right }
}

/// Counts of a family: cases, missed, spoiled.
#[derive(Default, Clone, Copy)]
pub struct Counts {
    /// Cases.
    pub cases: u32,
    /// Cases in which a secret is left.
    pub missed: u32,
    /// Cases in which innocent text was removed.
    pub spoiled: u32,
}

/// What a measuring came to.
#[derive(Default)]
pub struct Report {
    /// By family, those with secrets first.
    pub families: BTreeMap<(bool, String), Counts>,
    /// Each case that went wrong: the outcome, the text before and after. Values are made up, so nothing is masked.
    pub wrong: Vec<String>,
}

impl Report {
    /// The share of cases with secrets in which all secrets were removed.
    pub fn recall(&self) -> f64 {
        let (cases, missed) = self.sum(false, |counts| (counts.cases, counts.missed));
        f64::from(cases - missed) / f64::from(cases.max(1))
    }

    /// The share of cases with removed text in which no innocent text was removed.
    pub fn precision(&self) -> f64 {
        let (cases, missed) = self.sum(false, |counts| (counts.cases, counts.missed));
        let (spoiled, _) = self.sum(false, |counts| (counts.spoiled, 0));
        let (innocent, _) = self.sum(true, |counts| (counts.spoiled, 0));
        let right = cases - missed - spoiled;
        f64::from(right) / f64::from((right + spoiled + innocent).max(1))
    }

    fn sum(&self, innocent: bool, of: impl Fn(&Counts) -> (u32, u32)) -> (u32, u32) {
        let families = self.families.iter().filter(|((family, _), _)| *family == innocent);
        families.map(|(_, counts)| of(counts)).fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    }
}

/// Foreign cases, one object a line: `family`, `text`, and `secrets`, the parts that must be removed, which is empty for an
/// innocent text. A part of a secret may be left, such as a webhook's host, and more may go: where it begins and ends is a
/// matter of opinion.
pub fn cases(file: &Path) -> Result<(Vec<Case>, Vec<Case>)> {
    #[derive(Deserialize)]
    struct Line {
        family: String,
        text: String,
        secrets: Vec<String>,
    }
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Line { family, text, secrets } =
            serde_json::from_str(line).with_context(|| format!("{}, line {}", file.display(), number + 1))?;
        all.push(Case { family, text, secrets, kept: Vec::new(), lenient: true });
    }
    Ok(all.into_iter().partition(|case| !case.secrets.is_empty()))
}

/// Runs a redactor over the corpus.
pub fn measure(redact: impl Fn(&str) -> String) -> Result<Report> {
    Ok(measure_on(corpus()?, redact))
}

/// Runs a redactor over cases with secrets and cases without.
pub fn measure_on((positive, negative): (Vec<Case>, Vec<Case>), redact: impl Fn(&str) -> String) -> Report {
    let mut report = Report::default();
    for (innocent, cases) in [(false, positive), (true, negative)] {
        for case in cases {
            let redacted = redact(&case.text);
            let outcome = judge(&case, &redacted);
            let counts = report.families.entry((innocent, case.family.clone())).or_default();
            counts.cases += 1;
            counts.missed += u32::from(outcome == Outcome::Missed);
            counts.spoiled += u32::from(outcome == Outcome::Spoiled);
            if outcome != Outcome::Right {
                report.wrong.push(format!("{outcome:?} ({}):\n  {:?}\n  {redacted:?}", case.family, case.text));
            }
        }
    }
    report
}
