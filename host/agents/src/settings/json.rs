//! Edits JSON in place: every byte that is not part of an edit is preserved, and so are comments in files whose reader
//! accepts them.
//!
//! The syntax tree of `jsonc-parser` 0.34 cannot replace it, because that reformats the object that it inserts into. Of 15
//! small files, 10 did not come back byte for byte when a hook was added and removed.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::malformed::Malformed;

/// The syntax that the file's reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Plain JSON.
    Strict,
    /// JSON with comments and trailing commas.
    Comments,
}

/// A step from a value to a value inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathStep<'a> {
    /// The member with that name. If there are two, readers take the last.
    Name(&'a str),
    /// The item at that index.
    At(usize),
}

/// A value to write.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// Written on one line.
    Plain(Value),
    /// Written with one member per line.
    Object(Vec<(String, Piece)>),
    /// Written with one item per line.
    List(Vec<Piece>),
}

impl Piece {
    pub(super) fn plain(value: impl Into<Value>) -> Self {
        Self::Plain(value.into())
    }

    pub(super) fn object(members: impl IntoIterator<Item = (impl Into<String>, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(name, piece)| (name.into(), piece)).collect())
    }

    fn write(&self, style: &Style, depth: usize) -> String {
        let (open, items, close) = match self {
            Self::Plain(value) => return value.to_string(),
            Self::Object(members) => {
                let lines = members.iter().map(|(name, piece)| member(name, &piece.write(style, depth + 1)));
                ('{', lines.collect::<Vec<_>>(), '}')
            }
            Self::List(items) => ('[', items.iter().map(|piece| piece.write(style, depth + 1)).collect(), ']'),
        };
        if items.is_empty() {
            return format!("{open}{close}");
        }
        let (outer, inner) = (style.line(depth), style.line(depth + 1));
        format!("{open}{inner}{}{outer}{close}", items.join(&format!(",{inner}")))
    }
}

fn member(name: &str, value: &str) -> String {
    format!("{}: {value}", Value::from(name))
}

/// The layout of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Style {
    /// The indentation of one level.
    indent: String,
    /// The line ending.
    end: &'static str,
}

impl Style {
    /// Detects the layout of `bare`: the smallest indentation of its lines, or two spaces, as most agents write, if no
    /// line is indented.
    fn of(bare: &str) -> Self {
        let blank = |line: &str| line.chars().take_while(|c| *c == ' ' || *c == '\t').collect::<String>();
        let lines = bare.lines().skip(1).filter(|line| !line.trim().is_empty());
        let least = lines.map(blank).filter(|blank| !blank.is_empty()).min_by_key(String::len);
        let end = if bare.contains("\r\n") { "\r\n" } else { "\n" };
        Self { indent: least.unwrap_or_else(|| "  ".into()), end }
    }

    /// Returns a line break followed by the indentation for `depth` levels.
    fn line(&self, depth: usize) -> String {
        format!("{}{}", self.end, self.indent.repeat(depth))
    }
}

/// A text that is being edited. Its top level is an object.
#[derive(Debug, Clone)]
pub(super) struct Document {
    text: String,
    syntax: Syntax,
    style: Style,
    /// The text with the byte order mark and comments blanked out. It has the same length in bytes.
    bare: String,
    /// `bare` with trailing commas blanked out as well, so that it is valid JSON.
    json: String,
}

impl Document {
    /// Parses a text. An empty file, which an editor or a full disk may leave behind, counts as an empty object.
    ///
    /// # Errors
    ///
    /// The text is not what its reader accepts, or not an object.
    pub(super) fn parse(text: &str, syntax: Syntax) -> Result<Self, Malformed> {
        let mut text = text.to_owned();
        if without_comments(&text, syntax).trim().is_empty() {
            let above = text.trim_start_matches('\u{feff}').trim_end();
            text = if above.is_empty() { "{}\n".into() } else { format!("{above}\n{{}}\n") };
        }
        let mut document = Self {
            style: Style::of(&without_comments(&text, syntax)),
            text,
            syntax,
            bare: String::new(),
            json: String::new(),
        };
        document.refresh();
        match serde_json::from_str::<Members<'_>>(&document.json) {
            Ok(_) => Ok(document),
            Err(error) if error.is_data() => Err(Malformed::Shape { place: String::new(), wanted: "an object" }),
            Err(error) => {
                Err(Malformed::Syntax { line: error.line(), column: error.column(), why: explain(&error, syntax) })
            }
        }
    }

    /// Returns the edited text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Returns the value at a path.
    pub(super) fn get(&self, path: &[PathStep<'_>]) -> Option<Value> {
        serde_json::from_str(&self.json[self.find(path)?]).ok()
    }

    /// Returns the names of an object's members in order, each once.
    pub(super) fn names(&self, path: &[PathStep<'_>]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.container(path).into_iter().flat_map(|it| it.entries).filter_map(|entry| entry.name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Sets the value at a path: replaces the present value, or adds a member at the end. Missing objects on the way
    /// are created.
    pub(super) fn set(&mut self, path: &[PathStep<'_>], piece: &Piece) {
        let depth = path.len();
        if let Some(old) = self.find(path) {
            let new = piece.write(&self.style, depth);
            self.replace(old, &new);
        } else if let Some((PathStep::Name(name), above)) = path.split_last() {
            if self.find(above).is_none() {
                self.set(above, &Piece::Object(Vec::new()));
            }
            let line = member(name, &piece.write(&self.style, depth));
            self.append(above, &line);
        }
    }

    /// Appends an item to the list at a path, and creates the list if it is missing.
    pub(super) fn push(&mut self, path: &[PathStep<'_>], piece: &Piece) {
        if self.find(path).is_none() {
            self.set(path, &Piece::List(Vec::new()));
        }
        let item = piece.write(&self.style, path.len() + 1);
        self.append(path, &item);
    }

    /// Removes the value at a path if there is one.
    pub(super) fn remove(&mut self, path: &[PathStep<'_>]) {
        let Some((step, above)) = path.split_last() else { return };
        while let Some(container) = self.container(above) {
            let Some(place) = container.place(*step) else { return };
            self.take(&container, place, above.len());
            if let PathStep::At(_) = step {
                return;
            }
        }
    }

    fn refresh(&mut self) {
        self.bare = without_comments(&self.text, self.syntax);
        self.json = if self.syntax == Syntax::Comments { without_last_commas(&self.bare) } else { self.bare.clone() };
    }

    fn replace(&mut self, range: Range<usize>, new: &str) {
        self.text.replace_range(range, new);
        self.refresh();
    }

    fn find(&self, path: &[PathStep<'_>]) -> Option<Range<usize>> {
        let Some((step, above)) = path.split_last() else { return self.span(&self.json) };
        let container = self.container(above)?;
        let place = container.place(*step)?;
        Some(container.entries[place].value.clone())
    }

    /// Returns the range of a part of the JSON.
    fn span(&self, part: &str) -> Option<Range<usize>> {
        let value: &RawValue = serde_json::from_str(part).ok()?;
        Some(self.place_of(value))
    }

    fn place_of(&self, value: &RawValue) -> Range<usize> {
        let start = value.get().as_ptr().addr().saturating_sub(self.json.as_ptr().addr());
        start..start + value.get().len()
    }

    fn container(&self, path: &[PathStep<'_>]) -> Option<Container> {
        let span = self.find(path)?;
        let part = &self.json[span.clone()];
        let values: Vec<(Option<String>, &RawValue)> = if part.starts_with('{') {
            let members: Members<'_> = serde_json::from_str(part).ok()?;
            members.0.into_iter().map(|(name, value)| (Some(name), value)).collect()
        } else {
            let items: Vec<&RawValue> = serde_json::from_str(part).ok()?;
            items.into_iter().map(|value| (None, value)).collect()
        };
        let mut entries: Vec<Entry> = Vec::new();
        let mut behind = span.start + 1;
        for (name, value) in values {
            let value = self.place_of(value);
            let before = self.json[behind..value.end].find(|c: char| c != ',' && !c.is_ascii_whitespace()).unwrap_or(0);
            let start = behind + before;
            behind = value.end;
            entries.push(Entry { name, start, value });
        }
        Some(Container { span, entries })
    }

    /// Returns the position of the first comma in a range.
    fn comma(&self, range: Range<usize>) -> Option<usize> {
        self.bare[range.clone()].find(',').map(|at| range.start + at)
    }

    fn append(&mut self, path: &[PathStep<'_>], line: &str) {
        let Some(container) = self.container(path) else { return };
        let depth = path.len();
        let close = container.span.end - 1;
        let last = container.entries.last().map(|last| last.value.end);
        let comma = last.and_then(|last| self.comma(last..close));
        // A comment after the last entry stays with that entry.
        let from = comma.map_or(last.unwrap_or(container.span.start + 1), |comma| comma + 1);
        let at = from + self.text[from..close].trim_end().len();
        let mut new = format!("{}{line}", self.style.line(depth + 1));
        if comma.is_some() {
            new.push(',');
        }
        if !self.text[at..close].contains('\n') {
            new.push_str(&self.style.line(depth));
        }
        self.text.insert_str(at, &new);
        if let (Some(last), None) = (last, comma) {
            self.text.insert(last, ',');
        }
        self.refresh();
    }

    /// Removes an entry together with the white space and the comma that `append` added for it.
    fn take(&mut self, container: &Container, place: usize, depth: usize) {
        let entry = &container.entries[place];
        let (open, close) = (container.span.start, container.span.end - 1);
        let next = container.entries.get(place + 1).map_or(close, |next| next.start);
        let behind = self.comma(entry.value.end..next);
        let before = (behind.is_none() && place > 0)
            .then(|| self.comma(container.entries[place - 1].value.end..entry.start))
            .flatten();
        let mut end = behind.map_or(entry.value.end, |comma| comma + 1);
        let mut start = self.text[..entry.start].trim_end().len();
        let rest = &self.text[end..close];
        let is_behind_comment = !self.bare[..start].ends_with(|c: char| !c.is_whitespace());
        if is_behind_comment && !rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
            // The comment would swallow what follows on the same line.
            start = entry.start;
        }
        let is_last = place + 1 == container.entries.len();
        let tail = self.style.line(depth);
        if is_last && !self.text[open..start].contains('\n') && rest.trim().is_empty() && rest.starts_with(&tail) {
            let shorter = [&self.text[..start], &self.text[end + tail.len()..]].concat();
            // Unless the comment would then swallow the closing bracket.
            let close = close - (end - start) - tail.len();
            if without_comments(&shorter, self.syntax)[close..].starts_with(['}', ']']) {
                end += tail.len();
            }
        }
        self.text.replace_range(start..end, "");
        if let Some(comma) = before {
            self.text.remove(comma);
        }
        self.refresh();
    }
}

/// An object or a list, and its range in the text.
struct Container {
    span: Range<usize>,
    entries: Vec<Entry>,
}

struct Entry {
    /// The name, if the entry is a member of an object.
    name: Option<String>,
    /// The start of the member's name, or of the item.
    start: usize,
    value: Range<usize>,
}

impl Container {
    fn place(&self, step: PathStep<'_>) -> Option<usize> {
        match step {
            PathStep::Name(name) => self.entries.iter().rposition(|entry| entry.name.as_deref() == Some(name)),
            PathStep::At(place) => (place < self.entries.len()).then_some(place),
        }
    }
}

/// The members of an object in order, with their raw values.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(InOrder)
    }
}

/// Returns serde's message without the position, which is reported separately.
fn explain(error: &serde_json::Error, syntax: Syntax) -> String {
    let text = error.to_string();
    let why = text.split(" at line ").next().unwrap_or(&text);
    let is_of_these = error.is_syntax() && (why.starts_with("expected value") || why.starts_with("key must be"));
    if syntax == Syntax::Strict && is_of_these {
        return format!("{why}; comments and trailing commas are not allowed");
    }
    why.to_owned()
}

/// Returns the text with a byte order mark blanked out, and comments too if the syntax has them.
fn without_comments(text: &str, syntax: Syntax) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if text.starts_with('\u{feff}') {
        bytes[..'\u{feff}'.len_utf8()].fill(b' ');
    }
    if syntax == Syntax::Comments {
        let mut at = 0;
        while at < bytes.len() {
            let end = match &bytes[at..] {
                [b'"', ..] => {
                    at = behind_string(&bytes, at);
                    continue;
                }
                [b'/', b'/', rest @ ..] => at + 2 + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', rest @ ..] => match rest.windows(2).position(|pair| pair == b"*/") {
                    Some(length) => at + 2 + length + 2,
                    // The comment has no end. The parser will report that.
                    None => break,
                },
                _ => {
                    at += 1;
                    continue;
                }
            };
            // Line breaks are kept so that errors report the right line.
            bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            at = end;
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the text with trailing commas blanked out.
fn without_last_commas(bare: &str) -> String {
    let mut bytes = bare.as_bytes().to_vec();
    let mut at = 0;
    let mut before = b'{';
    let mut comma = None;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'"' => {
                at = behind_string(&bytes, at);
                (before, comma) = (b'"', None);
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                if let (b'}' | b']', Some(place)) = (byte, comma) {
                    bytes[place] = b' ';
                }
                comma = (byte == b',' && !matches!(before, b'{' | b'[' | b',' | b':')).then_some(at);
                before = byte;
            }
        }
        at += 1;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the position after the string that begins at `at`.
fn behind_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::PathStep::{At, Name};
    use super::*;

    fn document(text: &str) -> Document {
        Document::parse(text, Syntax::Comments).unwrap()
    }

    fn set(text: &str, path: &[PathStep<'_>], value: Value) -> String {
        let mut it = document(text);
        it.set(path, &Piece::Plain(value));
        it.into_text()
    }

    fn remove(text: &str, path: &[PathStep<'_>]) -> String {
        let mut it = document(text);
        it.remove(path);
        it.into_text()
    }

    #[test]
    fn what_is_added_and_removed_leaves_no_trace() {
        for text in [
            "{}",
            "{ }\n",
            "{\"a\":1}",
            "{ \"a\" : 1 }",
            "{\n\t\"a\": 1\n}\n",
            "{\r\n    \"a\": 1\r\n}\r\n",
            "{\n  \"a\": 1 // one\n}",
            "{\n  \"a\": 1, // one\n}",
            "{\n  \"a\": 1 /* one */, // two\n  // three\n}",
            "\u{feff}{\"a\":[1,2,]}",
            "// above\n{\n  \"a\": {\"//\": \"/* no comment */\"}\n}\n// below",
        ] {
            let with = set(text, &[Name("new")], json!("x"));
            assert_eq!(document(&with).get(&[Name("new")]), Some(json!("x")), "{with}");
            assert_eq!(document(&with).get(&[Name("a")]), document(text).get(&[Name("a")]), "{with}");
            assert_eq!(remove(&with, &[Name("new")]), text, "{with}");
        }
    }

    #[test]
    fn comments_stay_where_they_are() {
        let text = "{\n  // first\n  \"a\": 1, // of a\n  /* of b */ \"b\": [\n    1, // one\n    2 // two\n  ] // end\n}\n";
        let with = set(text, &[Name("c")], json!(true));
        assert_eq!(with, text.replace("  ] // end\n", "  ], // end\n  \"c\": true\n"));
        assert_eq!(remove(&with, &[Name("c")]), text);
        assert_eq!(remove(text, &[Name("b"), At(1)]), text.replace("1, // one\n    2 //", "1 // one\n     //"));
        let without = remove(text, &[Name("a")]);
        assert_eq!(without, text.replace("\"a\": 1, // of a", " // of a"));
        assert_eq!(document(&without).get(&[]), Some(json!({"b": [1, 2]})));
        // A comment must not swallow what follows.
        assert_eq!(remove("{ // first\n\"a\": 1\n}", &[Name("a")]), "{ // first\n}");
        let tight = "{ // first\n  \"a\": 1, \"b\": 2}";
        assert_eq!(document(&remove(tight, &[Name("a")])).get(&[]), Some(json!({"b": 2})));
    }

    #[test]
    fn what_is_missing_above_is_made() {
        let with = set("{}", &[Name("a"), Name("b")], json!(1));
        assert_eq!(with, "{\n  \"a\": {\n    \"b\": 1\n  }\n}");
        let mut it = document(&with);
        it.push(&[Name("a"), Name("c")], &Piece::object([("d", Piece::plain(2))]));
        assert_eq!(it.get(&[Name("a"), Name("c"), At(0)]), Some(json!({"d": 2})));
        it.push(&[Name("a"), Name("c")], &Piece::plain(3));
        assert_eq!(it.get(&[Name("a"), Name("c")]), Some(json!([{"d": 2}, 3])));
        it.remove(&[Name("a"), Name("c"), At(0)]);
        it.remove(&[Name("a"), Name("c"), At(7)]);
        assert_eq!(it.into_text(), "{\n  \"a\": {\n    \"b\": 1,\n    \"c\": [\n      3\n    ]\n  }\n}");
    }

    #[test]
    fn a_name_that_stands_twice_means_the_last() {
        let text = "{\"a\": 1, \"b\": 2, \"a\": 3}";
        assert_eq!(set(text, &[Name("a")], json!(4)), "{\"a\": 1, \"b\": 2, \"a\": 4}");
        assert_eq!(remove(text, &[Name("a")]), "{ \"b\": 2}");
        assert_eq!(document(text).names(&[]), ["a", "b"]);
    }

    #[test]
    fn only_who_takes_comments_gets_them() {
        let why = |text: &str, syntax| Document::parse(text, syntax).unwrap_err().to_string();
        assert_eq!(
            why("{\n  // mine\n  \"a\": 1\n}", Syntax::Strict),
            "line 2, column 3: key must be a string; comments and trailing commas are not allowed"
        );
        assert!(Document::parse("{\n  // mine\n  \"a\": [1,],\n}", Syntax::Comments).is_ok());
        for text in ["{,}", "{\"a\":1,,}", "{\"a\":,}", "[1,]", "{/* open", "{\"a\": 1} x", "{\"a"] {
            assert!(!why(text, Syntax::Comments).is_empty(), "{text}");
        }
        assert!(why("{\n // é\n  \"a\" 1}", Syntax::Comments).starts_with("line 3, column 7: "));
    }

    /// White space, and comments if the syntax has them.
    fn between(syntax: Syntax) -> impl Strategy<Value = String> {
        let mut bits = vec!["", "", " ", "\n", "\n  ", "\r\n\t"];
        if syntax == Syntax::Comments {
            bits.extend([" // é, }\n", "/* ] \" */", "//\n  "]);
        }
        prop::sample::select(bits).prop_map(str::to_owned)
    }

    /// An object with members of any kind, in any layout.
    fn texts(syntax: Syntax) -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec!["1", "true", "\"x, \\\" }\"", "[]", "{}", "-1.50e3"]).prop_map(str::to_owned);
        let last = prop::sample::select(if syntax == Syntax::Comments { vec!["", ","] } else { vec![""] });
        let value = leaf.prop_recursive(2, 12, 4, move |inner| {
            let item = (between(syntax), inner.clone(), between(syntax)).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
            let member = (between(syntax), "[a-d]", between(syntax), between(syntax), inner, between(syntax))
                .prop_map(|(a, name, b, c, value, d)| format!("{a}\"{name}\"{b}:{c}{value}{d}"));
            prop_oneof![
                prop::collection::vec(item, 1..4).prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(member, 1..4).prop_map(|members| format!("{{{}}}", members.join(","))),
            ]
        });
        let member = (between(syntax), "[a-d]", between(syntax), value, between(syntax))
            .prop_map(|(a, name, b, value, c)| format!("{a}\"{name}\":{b}{value}{c}"));
        (prop::collection::vec(member, 0..4), last, between(syntax), between(syntax)).prop_map(|(members, last, a, b)| {
            let last = if members.is_empty() { "" } else { last };
            format!("{a}{{{}{last}{b}}}{a}", members.join(","))
        })
    }

    fn any_text() -> impl Strategy<Value = (String, Syntax)> {
        prop::sample::select(vec![Syntax::Strict, Syntax::Comments])
            .prop_flat_map(|syntax| texts(syntax).prop_map(move |text| (text, syntax)))
    }

    proptest! {
        #[test]
        fn an_edit_changes_what_it_says_and_nothing_else((text, syntax) in any_text()) {
            let before = Document::parse(&text, syntax).unwrap();
            let mut it = before.clone();
            it.set(&[Name("new"), Name("x")], &Piece::plain(1));
            let mut expected = before.get(&[]).unwrap();
            expected["new"] = json!({"x": 1});
            let with = it.clone().into_text();
            prop_assert_eq!(Document::parse(&with, syntax).unwrap().get(&[]).unwrap(), expected.clone());
            it.push(&[Name("list")], &Piece::plain(2));
            expected["list"] = json!([2]);
            prop_assert_eq!(it.get(&[]).unwrap(), expected);
            it.remove(&[Name("list")]);
            it.remove(&[Name("new")]);
            prop_assert_eq!(&it.get(&[]).unwrap(), &before.get(&[]).unwrap());
            for name in before.names(&[]) {
                let mut it = before.clone();
                it.remove(&[Name(&name)]);
                let mut left = before.get(&[]).unwrap();
                left.as_object_mut().unwrap().remove(&name);
                prop_assert_eq!(Document::parse(&it.into_text(), syntax).unwrap().get(&[]).unwrap(), left);
            }
        }

        #[test]
        fn no_text_makes_it_fail(bits in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "1", "true", " ", "\n", "// é\n", "/* ] */", "/*", "\\", "\"", "\u{feff}",
        ]), 0..24)) {
            for syntax in [Syntax::Strict, Syntax::Comments] {
                if let Ok(mut it) = Document::parse(&bits.concat(), syntax) {
                    it.set(&[Name("new"), Name("x")], &Piece::plain(1));
                    it.remove(&[Name("a")]);
                    prop_assert!(Document::parse(&it.into_text(), syntax).is_ok());
                }
            }
        }
    }
}
