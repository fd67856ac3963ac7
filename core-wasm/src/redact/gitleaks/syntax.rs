//! Translates regular expressions from the syntax of Go (RE2) to that of Rust's `regex`.
//!
//! The two are closely related, and their differences are easy to overlook. `\d`, `\w`, `\s` and `\b` mean ASCII in Go
//! and Unicode here. `[`, `&&`, `--` and `~~` are literals in a Go class and operators here. A brace that does not
//! start a count is a literal in Go and an error here. `\Q…\E`, octal numbers and `\pN` with `^` are written
//! differently. So each atom is parsed by Go's rules and written anew. Whatever Go rejects is rejected here.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// The maximum count that Go allows.
const MAX_COUNT: u32 = 1000;

/// Translates a Go expression, or returns why that is impossible.
pub(super) fn translate(go: &str) -> Result<String, String> {
    let mut translation = Translation { rest: go.chars().peekable(), out: String::with_capacity(go.len() * 2) };
    translation.run()?;
    Ok(translation.out)
}

/// What a following repetition would repeat.
#[derive(PartialEq)]
enum Previous {
    Nothing,
    Atom,
    Repetition,
}

struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
}

impl Translation<'_> {
    fn run(&mut self) -> Result<(), String> {
        let mut last = Previous::Nothing;
        while let Some(character) = self.rest.next() {
            last = match character {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => self.repetition(&last, &character.to_string())?,
                '{' => match self.count()? {
                    Some(count) => self.repetition(&last, &count)?,
                    None => self.literal('{'),
                },
                '|' => {
                    self.out.push('|');
                    Previous::Nothing
                }
                ')' | '.' | '^' | '$' => {
                    self.out.push(character);
                    Previous::Atom
                }
                literal => self.literal(literal),
            };
        }
        Ok(())
    }

    fn literal(&mut self, literal: char) -> Previous {
        push_literal(&mut self.out, literal);
        Previous::Atom
    }

    fn repetition(&mut self, last: &Previous, operator: &str) -> Result<Previous, String> {
        match last {
            Previous::Nothing => return Err(format!("`{operator}` has nothing to repeat")),
            Previous::Repetition => return Err(format!("`{operator}` repeats a repetition")),
            Previous::Atom => self.out.push_str(operator),
        }
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        Ok(Previous::Repetition)
    }

    /// Parses a count after an opening brace. None if the brace is a literal.
    fn count(&mut self) -> Result<Option<String>, String> {
        let mut ahead = self.rest.clone();
        let mut inside = String::new();
        loop {
            match ahead.next() {
                Some('}') => break,
                Some(part @ ('0'..='9' | ',')) if inside.len() < 16 => inside.push(part),
                _ => return Ok(None),
            }
        }
        let (min, max) = inside.split_once(',').map_or((inside.as_str(), None), |(min, max)| (min, Some(max)));
        let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() == 1 || !text.starts_with('0'));
        let Some(min) = number(min) else {
            return Ok(None);
        };
        let max = match max {
            Some("") => None,
            Some(max) => match number(max) {
                Some(max) => Some(max),
                None => return Ok(None),
            },
            None => Some(min),
        };
        if min > MAX_COUNT || max.is_some_and(|max| max > MAX_COUNT || max < min) {
            return Err(format!("`{{{inside}}}` is beyond what a count may be"));
        }
        self.rest = ahead;
        Ok(Some(format!("{{{inside}}}")))
    }

    fn group(&mut self) -> Result<Previous, String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(Previous::Nothing);
        }
        let mut named = self.rest.clone();
        let python = named.next_if_eq(&'P').is_some();
        if named.next_if_eq(&'<').is_some() && !matches!(named.peek(), Some('=' | '!')) {
            self.rest = named;
            let name: String = self.rest.by_ref().take_while(|&character| character != '>').collect();
            let valid = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            // The name itself does not matter: a rule refers to its group by number.
            return if valid {
                Ok(Previous::Nothing)
            } else {
                Err("a group's name is not made of letters and digits".into())
            };
        }
        if python {
            return Err("`(?P=` and `(?P>` are not in Go's syntax".into());
        }
        if matches!(self.rest.peek(), Some('=' | '!' | '<' | '>')) {
            return Err("look-around and atomic groups are not in Go's syntax: they cannot be matched in linear time".into());
        }
        let mut flags = String::new();
        loop {
            match self.rest.next() {
                Some(flag @ ('i' | 'm' | 's' | 'U' | '-')) => flags.push(flag),
                Some(end @ (':' | ')')) => {
                    let only = end == ')';
                    if flags.ends_with('-') || flags.matches('-').count() > 1 || only && flags.is_empty() {
                        return Err(format!("`(?{flags}{end}` sets no flag"));
                    }
                    let _ = write!(self.out, "?{flags}{end}");
                    return Ok(Previous::Nothing);
                }
                Some(other) => return Err(format!("`(?{flags}{other}` is not in Go's syntax")),
                None => return Err("a group is not closed".into()),
            }
        }
    }

    fn escape(&mut self) -> Result<Previous, String> {
        match self.rest.peek().copied() {
            Some('Q') => {
                self.rest.next();
                return Ok(self.quotation());
            }
            Some(anchor @ ('A' | 'z' | 'b' | 'B')) => {
                self.rest.next();
                match anchor {
                    'A' | 'z' => self.out.extend(['\\', anchor]),
                    _ => self.out.extend(["(?-u:\\", &anchor.to_string(), ")"]),
                }
                return Ok(Previous::Atom);
            }
            _ => {}
        }
        match self.escaped()? {
            Escaped::Character(character) => push_literal(&mut self.out, character),
            Escaped::Set(set) => {
                let _ = write!(self.out, "[{set}]");
            }
        }
        Ok(Previous::Atom)
    }

    /// Parses `\Q…\E`: literal characters, up to the end of the pattern if `\E` is missing.
    fn quotation(&mut self) -> Previous {
        let mut last = Previous::Nothing;
        while let Some(character) = self.rest.next() {
            if character == '\\' && self.rest.next_if_eq(&'E').is_some() {
                break;
            }
            last = self.literal(character);
        }
        last
    }

    /// Parses what may follow a backslash, inside and outside of a class.
    fn escaped(&mut self) -> Result<Escaped, String> {
        let Some(character) = self.rest.next() else {
            return Err("a backslash at the end".into());
        };
        let found = match character {
            'd' => Escaped::Set("0-9".into()),
            'D' => Escaped::Set("[^0-9]".into()),
            'w' => Escaped::Set("0-9A-Za-z_".into()),
            'W' => Escaped::Set("[^0-9A-Za-z_]".into()),
            's' => Escaped::Set(r"\t\n\x0C\r\x20".into()),
            'S' => Escaped::Set(r"[^\t\n\x0C\r\x20]".into()),
            'p' | 'P' => Escaped::Set(self.property(character == 'P')?),
            'a' => Escaped::Character('\x07'),
            'f' => Escaped::Character('\x0C'),
            't' => Escaped::Character('\t'),
            'n' => Escaped::Character('\n'),
            'r' => Escaped::Character('\r'),
            'v' => Escaped::Character('\x0B'),
            'x' => Escaped::Character(self.hexadecimal()?),
            '0'..='7' => Escaped::Character(self.octal(character)?),
            'C' => return Err(r"`\C` would match half a character".into()),
            other if other.is_ascii_alphanumeric() || !other.is_ascii() => {
                return Err(format!(r"`\{other}` is not in Go's syntax"));
            }
            other => Escaped::Character(other),
        };
        Ok(found)
    }

    /// Parses `\pN`, `\p{Greek}` and `\p{^Greek}`.
    fn property(&mut self, negated: bool) -> Result<String, String> {
        let first = self.rest.next().ok_or(r"`\p` without a name")?;
        let name: String = if first == '{' {
            self.rest.by_ref().take_while(|&character| character != '}').collect()
        } else {
            first.to_string()
        };
        let (inverted, name) = name.strip_prefix('^').map_or((false, name.as_str()), |name| (true, name));
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '_') {
            return Err(format!(r"`\p{{{name}}}` names no class"));
        }
        let letter = if negated == inverted { 'p' } else { 'P' };
        Ok(format!(r"\{letter}{{{name}}}"))
    }

    /// Parses `\x7F` and `\x{10FFFF}`.
    fn hexadecimal(&mut self) -> Result<char, String> {
        let digits: String = if self.rest.next_if_eq(&'{').is_some() {
            self.rest.by_ref().take_while(|&character| character != '}').collect()
        } else {
            self.rest.by_ref().take(2).collect()
        };
        let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(&digits, 16).ok().filter(|_| valid);
        number.and_then(char::from_u32).ok_or_else(|| format!(r"`\x{{{digits}}}` is no character"))
    }

    /// Parses `\0`, `\12` and `\377`. `\1` alone would be a backreference.
    fn octal(&mut self, first: char) -> Result<char, String> {
        let mut number = first.to_digit(8).unwrap_or_default();
        let mut more = 0;
        while more < 2
            && let Some(digit) = self.rest.peek().and_then(|digit| digit.to_digit(8))
        {
            number = number * 8 + digit;
            self.rest.next();
            more += 1;
        }
        if first != '0' && more == 0 {
            return Err(format!(r"`\{first}` refers back: that cannot be matched in linear time"));
        }
        char::from_u32(number).ok_or_else(|| "no character".to_owned())
    }

    fn class(&mut self) -> Result<Previous, String> {
        let unclosed = || "a class is not closed".to_owned();
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let character = self.rest.next().ok_or_else(unclosed)?;
            if character == ']' && !first {
                break;
            }
            first = false;
            let low = match character {
                '[' if self.rest.peek() == Some(&':') => match self.posix()? {
                    Some(()) => continue,
                    None => '[',
                },
                '\\' => match self.escaped()? {
                    Escaped::Character(character) => character,
                    Escaped::Set(set) => {
                        self.out.push_str(&set);
                        continue;
                    }
                },
                literal => literal,
            };
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('-') && ahead.peek().is_some_and(|&next| next != ']') {
                self.rest = ahead;
                let high = match self.rest.next().ok_or_else(unclosed)? {
                    '\\' => match self.escaped()? {
                        Escaped::Character(character) => character,
                        Escaped::Set(_) => return Err("a range of a class ends in a class".into()),
                    },
                    literal => literal,
                };
                if high < low {
                    return Err("a range of a class ends before it begins".into());
                }
                push_literal(&mut self.out, low);
                self.out.push('-');
                push_literal(&mut self.out, high);
            } else {
                push_literal(&mut self.out, low);
            }
        }
        self.out.push(']');
        Ok(Previous::Atom)
    }

    /// Parses `[:alpha:]` within a class. None if the bracket is a literal.
    fn posix(&mut self) -> Result<Option<()>, String> {
        const NAMES: &[&str] = &[
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ];
        let mut ahead = self.rest.clone();
        ahead.next();
        let name: String = ahead.by_ref().take_while(|&character| character != ':').take(16).collect();
        if ahead.next() != Some(']') {
            return Ok(None);
        }
        if !NAMES.contains(&name.trim_start_matches('^')) {
            return Err(format!("`[:{name}:]` names no class"));
        }
        self.rest = ahead;
        let _ = write!(self.out, "[:{name}:]");
        Ok(Some(()))
    }
}

/// The meaning of an escape: a character, or the content of a class.
enum Escaped {
    Character(char),
    Set(String),
}

fn push_literal(out: &mut String, literal: char) {
    if literal.is_alphanumeric() {
        out.push(literal);
    } else {
        let _ = write!(out, r"\x{{{:X}}}", u32::from(literal));
    }
}

#[cfg(test)]
mod tests {
    use regex_automata::{meta::Regex, util::syntax};

    use super::*;

    fn compiled(go: &str) -> Regex {
        let pattern = translate(go).unwrap_or_else(|why| panic!("{go}: {why}"));
        Regex::builder()
            .syntax(syntax::Config::new().utf8(false))
            .build(&pattern)
            .unwrap_or_else(|why| panic!("{go} as {pattern}: {why}"))
    }

    /// Each row: an expression, a text, and what Go's `FindString` finds in it.
    #[test]
    fn what_go_finds_is_found() {
        for (go, text, found) in [
            (r"\d+", "٣4", "4"),
            (r"\w+", "é_a1", "_a1"),
            (r"\s", "\u{B}\u{A0} ", " "),
            (r"\S+", "\u{A0}x y", "\u{A0}x"),
            (r"\bx", "éx", "x"),
            (r"a.c", "aéc", "aéc"),
            (r"a.c", "a\nc", ""),
            (r"(?s)a.c", "a\nc", "a\nc"),
            (r"x$", "x\n", ""),
            (r"(?m)x$", "x\n", "x"),
            (r"\Ax\z", "x", "x"),
            (r"(?P<n>a)(?<m>b)", "ab", "ab"),
            (r"\Qa.b*\E+", "a.b**", "a.b**"),
            (r"\Qa[", "a[", "a["),
            (r"(?U)a+", "aaa", "a"),
            (r"(?U)a+?", "aaa", "aaa"),
            (r"(?i)k", "\u{212A}", "\u{212A}"),
            (r"(?i)[k-l]s", "\u{212A}ſ", "\u{212A}ſ"),
            (r"(?i:a)b", "Ab", "Ab"),
            (r"\101\012\0", "A\n\0", "A\n\0"),
            (r"\x41\x{1F600}", "A😀", "A😀"),
            (r"\xE9", "é", "é"),
            (r"\pN+\p{Greek}\PL\p{^Greek}", "٣α1x", "٣α1x"),
            (r"a{,5}", "a{,5}", "a{,5}"),
            (r"a{x}", "a{x}", "a{x}"),
            (r"a{2}b{1,}c{0,1}", "aabbc", "aabbc"),
            (r"[]a]+", "]a", "]a"),
            (r"[^]a]+", "]ab", "b"),
            (r"[a-]+", "-a", "-a"),
            (r"[a&&b]+", "&ab", "&ab"),
            (r"[+--z]+", "-.z,", "-"),
            (r"[[a~]+", "[~a", "[~a"),
            (r"[\w.\-=]+", "a.-=é", "a.-="),
            (r"[^\s\W]+", " é_a", "_a"),
            (r"[[:alpha:][:^digit:]]+", "é", "é"),
            (r"[\x60']", "`", "`"),
            (r"\<b\>", "<b>", "<b>"),
            (r"\_\#\ \/", "_# /", "_# /"),
            ("a b#c", "a b#c", "a b#c"),
            (r"", "x", ""),
            (r"한{2}[가-힣]", "한한글", "한한글"),
        ] {
            let regex = compiled(go);
            let range = regex.find(text).map_or(0..0, |found| found.range());
            assert_eq!(&text[range], found, "{go} in {text:?}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for go in [
            r"(?=a)",
            r"(?!a)",
            r"(?<=a)",
            r"(?<!a)",
            r"(?>a)",
            r"(a)\1",
            r"\C",
            r"(?x)a",
            r"(?P=n)",
            r"(?P>n)",
            r"a**",
            r"a+*",
            r"a{2}{3}",
            r"a{1001}",
            r"a{3,2}",
            r"*a",
            r"(?)",
            r"(?i-)",
            r"\8",
            r"\y",
            r"\Z",
            r"\G",
            r"[b-a]",
            r"[a--z]",
            r"[\x60'\Q]",
            r"[a-\d]",
            r"[a",
            r"[[:nope:]]",
            r"\p{",
            r"\p{1}",
            r"\x{110000}",
            r"\xZ",
            r"(?",
            r"\",
            r"(?<1-2>a)",
            r"(|*)",
            r"\é",
        ] {
            assert!(translate(go).is_err(), "{go} as {:?}", translate(go));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_pattern_is_handled(go in r"[\\\[\](){}?*+|^$.aQEpPxUi<>=!:,0-9&~ é-]{0,24}") {
            let _ = translate(&go);
        }
    }
}
