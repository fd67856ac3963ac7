//! Parses the text of a search query. Every query is valid: syntax that is not recognized is searched for as words.
//!
//! | syntax | meaning |
//! | --- | --- |
//! | `cache timeout` | either word; more matches rank higher |
//! | `"cache timeout"` | these words, in this order |
//! | `-docker`, `-"dry run"`, `-type:turn` | exclude |
//! | `type:decision,error_fix` | one of these kinds |
//! | `file:runner.ts` | about a file with this in its path |
//! | `tool:Bash,Edit` | learned from the use of one of these tools |
//! | `session:61d299fc` | from a session whose identifier begins with this |
//! | `after:2026-02-23`, `before:7d` | learned since, or before, this time: a year, month, day or moment, `today`, `yesterday`, or an age in `h`, `d` or `w` |

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned, civil};

use super::glossary;
use super::tokens::{self, Class, Token};

/// The maximum length of a query, in bytes; the rest is ignored.
const MAX_QUERY_BYTES: usize = 8 * 1024;

/// The maximum number of search terms; further ones are ignored. Each term costs a scan of all rows that contain it.
pub const MAX_TERMS: usize = 64;

/// English stop words.
const STOP_WORDS: &str = " a about also am an and any are as at be been but by can could did do does don for from \
    get had has have he her him his how i if in into is it its just let me my no not of on \
    or our please she should so some than that the their them then there these they this \
    to us was we were what when where which who why will with would you your ";

/// Korean and Japanese stop words, as they appear between spaces.
const CJK_STOP_WORDS: &str = " 그 이 저 것 거 그거 이거 저거 그것 이것 그게 이게 뭐 뭐야 뭔가 무엇 무엇을 무슨 왜 어떻게 어디 언제 \
    누가 좀 및 등 수 때 더 또 해 해줘 해주세요 하는 하고 해서 했던 했지 있는 있어 있나 없는 없어 대한 대해 위한 위해 그리고 \
    그래서 하지만 에서 으로 です ます する した して これ それ あれ この その ください どう なに ";

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
    phrases: Vec<Phrase>,
    excluded: Vec<Phrase>,
    /// Kinds to include; empty means any.
    pub kinds: Vec<String>,
    /// Kinds to exclude.
    pub excluded_kinds: Vec<String>,
    /// Folded parts of paths; one of the memory's files must contain one of them.
    pub files: Vec<String>,
    /// Folded names of tools; the memory must have been learned from one of them.
    pub tools: Vec<String>,
    /// Prefixes of session identifiers; the memory's session must match one of them.
    pub sessions: Vec<String>,
    /// The earliest time at which the memory was learned, inclusive, in milliseconds since the Unix epoch.
    pub after: Option<i64>,
    /// The latest time at which the memory was learned, exclusive, in milliseconds since the Unix epoch.
    pub before: Option<i64>,
    /// The query's text without filters and exclusions, as input for an embedding model.
    pub text: String,
}

/// One word that a query looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The token.
    pub token: &'a str,
    /// Whether to match the token as a prefix.
    pub prefix: bool,
    /// Whether this is a whole identifier, path, version or flag, whose parts are also words of the query.
    pub whole: bool,
    /// A number shared by a whole and its parts, and by no other word.
    pub compound: usize,
}

impl Word<'_> {
    /// Returns the word in FTS5 syntax.
    pub fn quoted(self) -> String {
        quoted(self.token, self.prefix)
    }
}

/// One token to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    text: String,
    /// Whether to match the token as a prefix.
    prefix: bool,
    /// Whether this is a whole whose parts are also terms.
    whole: bool,
    /// See [`Word::compound`].
    compound: usize,
}

/// Words that must, or must not, appear together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Phrase {
    terms: Vec<Term>,
    folded: String,
}

/// The properties of a memory that a query can filter by.
#[derive(Clone, Copy, Debug)]
pub struct FilterableFields<'a> {
    /// The memory's kind.
    pub kind: &'a str,
    /// Its session's identifier.
    pub session: &'a str,
    /// When it was learned, in milliseconds since the Unix epoch.
    pub created: i64,
    /// Its title.
    pub title: &'a str,
    /// Its content.
    pub content: &'a str,
    /// Its keywords.
    pub keywords: &'a str,
    /// Its files.
    pub files: &'a [String],
    /// The tools that it was learned from.
    pub tools: &'a [&'a str],
}

impl Query {
    /// Parses `text`. Relative dates count from `now`, and days are days in its time zone.
    pub fn parse(text: &str, now: &Zoned) -> Self {
        let mut query = Self::default();
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        let mut words = String::new();
        for item in Items(text) {
            if !query.take(&item, now) {
                words.push_str(item.source);
                words.push(' ');
            }
        }
        query.terms = without_stop_words(&words);
        query.text.push_str(words.trim());
        query.translate();
        if query.is_empty() {
            // The query has only exclusions, so search for its text as plain words.
            query.excluded.clear();
            query.excluded_kinds.clear();
            query.terms = without_stop_words(text);
            text.trim().clone_into(&mut query.text);
        }
        query
    }

    /// Returns the first `after:` or `before:` in the text that is followed by something other than a date. [`Query::parse`]
    /// searches for such an item as words.
    pub fn find_invalid_date<'t>(text: &'t str, now: &Zoned) -> Option<&'t str> {
        let is_date = |item: &Item<'_>| matches!(item.field, Some(Field::After | Field::Before)) && !item.excluded;
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        Items(text).find(|item| is_date(item) && parse_time(item.value, now).is_none()).map(|item| item.source)
    }

    /// Adds English translations of the Korean and Japanese words. A translation belongs to the same compound as its word.
    fn translate(&mut self) {
        let mut runs: Vec<(String, usize)> = Vec::new();
        tokens::for_each_token(&self.text, |token| {
            if matches!(token.class, Class::Pair | Class::Last) && runs.last().is_none_or(|(_, word)| *word != token.word) {
                runs.push((token.surface.to_owned(), token.word));
            }
        });
        for (run, word) in runs {
            for english in glossary::translate(&run) {
                self.text.push(' ');
                self.text.push_str(english);
                tokens::for_each_token(english, |token| push(&mut self.terms, &Token { word, ..token }));
            }
        }
    }

    /// Returns whether the query asks for nothing at all. Such a query finds nothing.
    pub fn is_empty(&self) -> bool {
        self.term_count() == 0
            && self.kinds.is_empty()
            && self.files.is_empty()
            && self.tools.is_empty()
            && self.sessions.is_empty()
            && self.after.is_none()
            && self.before.is_none()
    }

    /// Returns whether the query has any filter. If so, matches by words or by vector must be checked against it.
    pub fn has_filters(&self) -> bool {
        let words_alone = Self { terms: self.terms.clone(), text: self.text.clone(), ..Self::default() };
        *self != words_alone
    }

    /// Returns the words to look for, each token once: first the optional words, then those of the phrases.
    pub fn words(&self) -> impl Iterator<Item = Word<'_>> {
        self.all_terms().map(|term| Word {
            token: &term.text,
            prefix: term.prefix,
            whole: term.whole,
            compound: term.compound,
        })
    }

    /// Returns the FTS5 expression for the words of the query's phrases, or `None` if it has no phrases. The expression
    /// matches too much; [`Query::accepts`] makes the final decision.
    pub fn required_expression(&self) -> Option<String> {
        let terms: Vec<String> = self.phrases.iter().flat_map(|phrase| &phrase.terms).map(Term::quoted).collect();
        (!terms.is_empty()).then(|| terms.join(" AND "))
    }

    /// Returns the number of distinct tokens. If it is 0, the query only filters, and its results are listed by age.
    pub fn term_count(&self) -> usize {
        self.terms.len() + self.phrases.iter().map(|phrase| phrase.terms.len()).sum::<usize>()
    }

    fn all_terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().chain(self.phrases.iter().flat_map(|phrase| &phrase.terms))
    }

    /// Returns the FTS5 expression for pieces with any of the first `most` words and all words of the phrases, or
    /// `None` if the query only filters. The expression is always well-formed. It matches too much if words must appear
    /// together or must be absent from the whole text; [`Query::accepts`] makes the final decision.
    pub fn fts5_expression(&self, most: usize) -> Option<String> {
        let any = self.terms.iter().take(most).map(Term::quoted).collect::<Vec<_>>().join(" OR ");
        let mut expression = match (self.required_expression(), any.is_empty()) {
            (None, true) => return None,
            (None, false) => any,
            (Some(required), _) => required,
        };
        let excluded: Vec<String> = self.excluded.iter().filter_map(Phrase::single).map(Term::quoted).collect();
        if !excluded.is_empty() {
            expression = format!("({expression}) NOT ({})", excluded.join(" OR "));
        }
        Some(expression)
    }

    /// Returns whether a memory satisfies the query's filters, phrases and exclusions. Optional words do not count.
    pub fn accepts(&self, facts: &FilterableFields<'_>) -> bool {
        self.accepts_kind(facts.kind, facts.created)
            && (self.sessions.is_empty() || self.sessions.iter().any(|start| facts.session.starts_with(start)))
            && (self.files.is_empty() || facts.files.iter().any(|file| self.matches_file(file)))
            && (self.tools.is_empty() || facts.tools.iter().any(|tool| self.tools.contains(&tokens::fold(tool))))
            && self.accepts_text(facts)
    }

    /// Returns whether the kind and time filters accept a memory of this kind, learned at this time (milliseconds since
    /// the Unix epoch).
    pub fn accepts_kind(&self, kind: &str, created: i64) -> bool {
        let is_one = |kinds: &[String]| kinds.iter().any(|one| one == kind);
        (self.kinds.is_empty() || is_one(&self.kinds))
            && !is_one(&self.excluded_kinds)
            && self.after.is_none_or(|after| created >= after)
            && self.before.is_none_or(|before| created < before)
    }

    fn matches_file(&self, file: &str) -> bool {
        let file = fold_path(file);
        self.files.iter().any(|part| file.contains(part))
    }

    fn accepts_text(&self, facts: &FilterableFields<'_>) -> bool {
        if self.phrases.is_empty() && self.excluded.is_empty() {
            return true;
        }
        let mut texts = vec![facts.title, facts.content, facts.keywords];
        texts.extend(facts.files.iter().map(String::as_str));
        if self.excluded.iter().filter_map(Phrase::single).any(|term| texts.iter().any(|text| term.occurs_in(text))) {
            return false;
        }
        let texts: Vec<String> = texts.into_iter().map(tokens::fold).collect();
        let holds = |phrase: &Phrase| texts.iter().any(|text| contains(text, &phrase.folded));
        self.phrases.iter().all(holds) && !self.excluded.iter().any(|phrase| phrase.single().is_none() && holds(phrase))
    }

    /// Takes an item with special syntax; returns false if it is plain words.
    fn take(&mut self, item: &Item<'_>, now: &Zoned) -> bool {
        match (item.field, item.excluded) {
            (None, _) if !item.quoted && !item.excluded => return false,
            (None, excluded) => {
                let Some(phrase) = Phrase::new(item.value) else {
                    return false;
                };
                let room = MAX_TERMS.saturating_sub(self.term_count());
                if phrase.terms.len() > room || self.excluded.len() >= MAX_TERMS {
                    return false;
                }
                if excluded {
                    self.excluded.push(phrase);
                } else {
                    self.phrases.push(phrase);
                    self.text.push_str(item.value);
                    self.text.push(' ');
                }
            }
            (Some(Field::Type), true) => self.excluded_kinds.extend(list(item.value)),
            (Some(_), true) => return false,
            (Some(Field::Type), false) => self.kinds.extend(list(item.value)),
            (Some(Field::File), false) => self.files.push(fold_path(item.value)),
            (Some(Field::Tool), false) => self.tools.extend(list(item.value)),
            (Some(Field::Session), false) => self.sessions.push(item.value.to_owned()),
            (Some(Field::After), false) => match parse_time(item.value, now) {
                Some(after) => self.after = Some(after),
                None => return false,
            },
            (Some(Field::Before), false) => match parse_time(item.value, now) {
                Some(before) => self.before = Some(before),
                None => return false,
            },
        }
        true
    }
}

impl Term {
    /// Returns the term in FTS5 syntax: a string, which cannot be an operator. Tokens contain no quotation marks.
    fn quoted(&self) -> String {
        quoted(&self.text, self.prefix)
    }

    fn occurs_in(&self, text: &str) -> bool {
        let mut found = false;
        tokens::for_each_token(text, |token| {
            found |= token.text == self.text || self.prefix && token.text.starts_with(&self.text);
        });
        found
    }
}

fn quoted(token: &str, prefix: bool) -> String {
    format!("\"{token}\"{}", if prefix { " *" } else { "" })
}

impl Phrase {
    /// Creates a phrase, or returns `None` if `text` has no words.
    ///
    /// Only the parts of an identifier are required, because the text around the phrase decides which whole they belong
    /// to.
    fn new(text: &str) -> Option<Self> {
        let (mut terms, mut wholes) = (Vec::new(), Vec::new());
        tokens::for_each_token(text, |token| match token.class {
            Class::Whole => push(&mut wholes, &token),
            Class::Last if token.text != token.surface => {}
            Class::Word | Class::Pair | Class::Last => push(&mut terms, &token),
        });
        // A version has no parts.
        let terms = if terms.is_empty() { wholes } else { terms };
        (!terms.is_empty()).then(|| Self { terms, folded: tokens::fold(text) })
    }

    /// Returns the term of a one-word phrase. Any form of the word matches, not only the one that was written.
    fn single(&self) -> Option<&Term> {
        if let [term] = self.terms.as_slice() { Some(term) } else { None }
    }
}

fn push(terms: &mut Vec<Term>, token: &Token<'_>) {
    if let Some(known) = terms.iter_mut().find(|term| term.text == token.text) {
        // A token that is both part of a word and a word of its own counts as its own word.
        known.compound = token.word;
    } else if terms.len() < MAX_TERMS {
        terms.push(Term {
            text: token.text.to_owned(),
            prefix: token.class == Class::Last,
            whole: token.class == Class::Whole,
            compound: token.word,
        });
    }
}

/// Returns the terms of `text` without stop words, or all of them if every word is a stop word.
fn without_stop_words(text: &str) -> Vec<Term> {
    let (mut terms, mut stopped) = (Vec::new(), Vec::new());
    tokens::for_each_token(text, |token| {
        // Skip the last character of a run: every other character begins a pair, and the last one exists only for
        // one-character queries.
        if token.class == Class::Last && token.text != token.surface {
            return;
        }
        let chosen = if is_stop_word(token.surface, token.class) { &mut stopped } else { &mut terms };
        push(chosen, &token);
    });
    if terms.is_empty() { stopped } else { terms }
}

fn is_stop_word(surface: &str, class: Class) -> bool {
    let list = match class {
        Class::Word => STOP_WORDS,
        Class::Pair | Class::Last => CJK_STOP_WORDS,
        Class::Whole => return false,
    };
    list.match_indices(surface).any(|(at, _)| list[..at].ends_with(' ') && list[at + surface.len()..].starts_with(' '))
}

/// Returns whether `text` contains `phrase` at word boundaries. Both are folded.
fn contains(text: &str, phrase: &str) -> bool {
    let inner = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + phrase.len()..].chars().next());
        !(inner(before) && inner(phrase.chars().next()) || inner(after) && inner(phrase.chars().next_back()))
    })
}

fn fold_path(path: &str) -> String {
    tokens::fold(path).replace('\\', "/")
}

fn list(value: &str) -> impl Iterator<Item = String> {
    value.split(',').filter(|kind| !kind.is_empty()).map(str::to_lowercase)
}

/// Parses a moment, in milliseconds since the Unix epoch. A period is represented by its beginning.
fn parse_time(value: &str, now: &Zoned) -> Option<i64> {
    let day = |date: civil::Date| Some(date.to_zoned(now.time_zone().clone()).ok()?.timestamp());
    let found = match value {
        "today" => day(now.date()),
        "yesterday" => day(now.date().yesterday().ok()?),
        _ => parse_relative_time(value, now)
            .or_else(|| value.parse::<Timestamp>().ok())
            .or_else(|| parse_civil_time(value, now.time_zone()))
            .or_else(|| day(value.parse().ok()?))
            .or_else(|| day(format!("{value}-01").parse().ok()?))
            .or_else(|| day(format!("{value}-01-01").parse().ok()?)),
    };
    found.map(Timestamp::as_millisecond)
}

/// Parses a local time in the user's zone, such as `2026-02-23T10:30`.
fn parse_civil_time(value: &str, zone: &TimeZone) -> Option<Timestamp> {
    let moment = value.contains('T').then(|| value.parse::<civil::DateTime>().ok())??;
    Some(moment.to_zoned(zone.clone()).ok()?.timestamp())
}

/// Parses an age: `3h`, `7d`, `2w`.
fn parse_relative_time(value: &str, now: &Zoned) -> Option<Timestamp> {
    let unit = value.chars().next_back()?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        _ => return None,
    };
    let count: i64 = value.strip_suffix(unit)?.parse().ok()?;
    now.timestamp().checked_sub(SignedDuration::try_from_hours(count.checked_mul(hours)?)?).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Type,
    File,
    Tool,
    Session,
    After,
    Before,
}

/// One item of a query, delimited by spaces.
struct Item<'a> {
    source: &'a str,
    excluded: bool,
    field: Option<Field>,
    value: &'a str,
    quoted: bool,
}

/// Splits a query at spaces outside quotation marks.
struct Items<'a>(&'a str);

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let text = self.0.trim_start();
        if text.is_empty() {
            return None;
        }
        let (excluded, rest) = split_exclusion(text);
        let (field, rest) = field(rest);
        let (value, quoted, rest) = value(rest);
        self.0 = rest;
        Some(Item { source: &text[..text.len() - rest.len()], excluded, field, value, quoted })
    }
}

/// Parses a leading hyphen. Before a word or a quotation mark it excludes, but `-m` and `--message` are flags.
fn split_exclusion(text: &str) -> (bool, &str) {
    let Some(rest) = text.strip_prefix('-') else {
        return (false, text);
    };
    let mut chars = rest.chars();
    let excludes = match chars.next() {
        Some(c) if is_quote(c) => true,
        Some(c) if c.is_ascii_alphabetic() => chars.next().is_some_and(char::is_alphanumeric),
        Some(c) => c.is_alphabetic(),
        None => false,
    };
    if excludes { (true, rest) } else { (false, text) }
}

fn field(text: &str) -> (Option<Field>, &str) {
    let known = [
        ("type:", Field::Type),
        ("file:", Field::File),
        ("tool:", Field::Tool),
        ("session:", Field::Session),
        ("after:", Field::After),
        ("before:", Field::Before),
    ];
    for (name, field) in known {
        if let Some(rest) = text.strip_prefix(name)
            && rest.starts_with(|c: char| !c.is_whitespace())
        {
            return (Some(field), rest);
        }
    }
    (None, text)
}

/// Returns the value at the start of `text`, whether it was quoted, and the rest. An unterminated quotation is plain
/// words.
fn value(text: &str) -> (&str, bool, &str) {
    if let Some(open) = text.chars().next().filter(|&c| is_quote(c)) {
        let inner = &text[open.len_utf8()..];
        if let Some((end, close)) = inner.char_indices().find(|&(_, c)| is_quote(c))
            && !inner[..end].trim().is_empty()
        {
            return (&inner[..end], true, &inner[end + close.len_utf8()..]);
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], false, &text[end..])
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Query {
        // Use a fixed zone, since the system's time zone database may lack named zones.
        let seoul = TimeZone::fixed(jiff::tz::offset(9));
        Query::parse(text, &"2026-03-10T03:00:00Z".parse::<Timestamp>().unwrap().to_zoned(seoul))
    }

    fn terms(query: &Query) -> Vec<&str> {
        query.terms.iter().map(|term| term.text.as_str()).collect()
    }

    fn facts() -> FilterableFields<'static> {
        FilterableFields {
            kind: "decision",
            session: "61d299fc",
            created: 0,
            title: "",
            content: "",
            keywords: "",
            files: &[],
            tools: &["Bash"],
        }
    }

    #[test]
    fn stop_words_are_searched_for_where_there_is_nothing_else() {
        assert_eq!(terms(&parse("what is the timeout")), ["timeout"]);
        assert_eq!(terms(&parse("who are you")), ["who", "are", "you"]);
        assert_eq!(terms(&parse("did she tell him of his timeout")), ["tell", "timeout"]);
        assert_eq!(terms(&parse("인증 좀 해줘")), ["인증", "authent"]);
    }

    #[test]
    fn what_only_excludes_is_searched_for_its_words() {
        assert_eq!(terms(&parse("-docker")), ["docker"]);
    }

    #[test]
    fn flags_and_dashes_do_not_exclude() {
        let query = parse("git commit -m --no-verify - x");
        assert!(query.excluded.is_empty());
        assert!(terms(&query).contains(&"__noverify"));
    }

    #[test]
    fn fields_filter() {
        let query =
            parse("type:decision,error_fix -type:turn file:Src\\Runner.ts session:61d2 after:2026-02-23 before:2d lint");
        assert_eq!(query.kinds, ["decision", "error_fix"]);
        assert_eq!(query.excluded_kinds, ["turn"]);
        assert_eq!(terms(&query), ["lint"]);
        let day = |text: &str| Some(text.parse::<Timestamp>().unwrap().as_millisecond());
        assert_eq!(query.after, day("2026-02-23T00:00:00+09:00"));
        assert_eq!(query.before, day("2026-03-08T03:00:00Z"));

        let files = ["a/src/runner.ts".to_owned()];
        let right = FilterableFields { created: query.after.unwrap(), files: &files, ..facts() };
        assert!(query.accepts(&right));
        assert!(!query.accepts(&FilterableFields { kind: "turn", ..right }));
        assert!(!query.accepts(&FilterableFields { session: "x61d2", ..right }));
        assert!(!query.accepts(&FilterableFields { files: &[], ..right }));
        assert!(!query.accepts(&FilterableFields { created: query.after.unwrap() - 1, ..right }));
        assert!(!query.accepts(&FilterableFields { created: query.before.unwrap(), ..right }));
    }

    #[test]
    fn a_tool_is_named_in_any_case() {
        assert!(parse("tool:bash,Edit lint").accepts(&facts()));
        assert!(!parse("tool:Edit lint").accepts(&facts()));
        assert_eq!(parse("tool:Bash \"dry run\" of -docker the migration").text, "dry run of the migration");
    }

    #[test]
    fn dates_in_every_form() {
        let moments =
            ["2026", "2026-02", "2026-02-23", "2026-02-23T10:30", "2026-02-23T10:30:00Z", "today", "yesterday", "3h", "2w"];
        for moment in moments {
            assert!(parse(&format!("after:{moment} x")).after.is_some(), "{moment}");
        }
    }

    #[test]
    fn what_is_malformed_is_words() {
        let query = parse("before:soon after: type: \"unclosed phrase");
        assert_eq!(terms(&query), ["befor", "soon", "after", "type", "unclos", "phrase"]);
        assert_eq!(query.before, None);
    }

    #[test]
    fn a_date_that_cannot_be_read_is_found() {
        let now = "2026-03-10T03:00:00Z".parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC);
        let unreadable = |text| Query::find_invalid_date(text, &now);
        assert_eq!(unreadable("lint after:yesterday before:2026-03 after:yesterdayy before:soon"), Some("after:yesterdayy"));
        assert_eq!(unreadable("before:\"next week\""), Some("before:\"next week\""));
        for fine in ["", "after: x", "\"after:soon\"", "-before:soon", "before:2w", "x after:2026-02-23T10:30"] {
            assert_eq!(unreadable(fine), None, "{fine}");
        }
    }

    #[test]
    fn nothing_finds_nothing() {
        for text in ["", "  ", "\"\"", "🙂🙂", "()*^:", "-"] {
            let query = parse(text);
            assert!(query.is_empty(), "{text:?}");
            assert_eq!(query.fts5_expression(MAX_TERMS), None, "{text:?}");
        }
    }

    #[test]
    fn a_query_of_a_megabyte_is_cut() {
        let query = parse(&"word1 x\"y -z type:a ".repeat(50_000));
        assert!(query.term_count() <= 2 * MAX_TERMS);
        assert!(query.fts5_expression(MAX_TERMS).is_some());
    }
}
