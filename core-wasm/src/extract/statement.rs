//! Splits what was said into statements: sentences, list items, headings and table rows, each with the heading above it.

mod marks;
mod table;

use serde::{Deserialize, Serialize};

use super::code_block::{self, Block};
use super::prose;
use super::signs;
use crate::text;
use marks::{ListMark, boxes, is_indented, is_item, is_lettered, labels_value, number_of, offset};
use table::{cells, row};

/// Who made a statement, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Voice {
    /// The human, in a prompt or while the agent worked.
    #[default]
    Human,
    /// The agent, in the last text of a turn.
    Answer,
    /// The agent, in an earlier text of a turn.
    Work,
    /// The message of a commit that was made.
    Commit,
}

/// The form of a statement in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Form {
    /// A sentence of a paragraph.
    #[default]
    Sentence,
    /// An item of a list, or one of its sentences.
    Item,
    /// A heading.
    Heading,
    /// A row of a table.
    Row,
}

/// One statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of where a statement stands")]
pub(super) struct Statement {
    /// The statement on one line, without marks.
    pub text: String,
    /// The heading above it. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// Who made it.
    pub voice: Voice,
    /// Its form.
    pub form: Form,
    /// Its place in its text, from 0.
    pub place: u16,
    /// How many statements its text has.
    pub count: u16,
    /// Whether the sentence before it stands on the same line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// Whether it stands below a line that proposes or offers, or that says that nothing is certain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_proposed: bool,
    /// Whether it stands behind a list below bold words: they say what the list is, and nothing of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_behind_list: bool,
    /// How deep in a list it stands: 0 if it has no mark of an item, as bold words before a paragraph have none.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub depth: u8,
    /// The number of the heading or of the item that it opens, also of one such as "Part 2". 0 if it has none.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub number: u16,
    /// Whether it opens an item that has a number.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_step: bool,
    /// Whether it is a heading with code right below it that is not told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_code: bool,
    /// Whether files were changed after it in its turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_before_edit: bool,
    /// Whether it is an option that the user did not choose. The decision names it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_turned_down: bool,
    /// Whether a later turn worked on the code of which it speaks.
    #[serde(skip)]
    pub is_worked_on: bool,
}

impl Statement {
    /// Returns whether the agent said it, while it worked or in its answer.
    pub(super) fn is_of_agent(&self) -> bool {
        matches!(self.voice, Voice::Work | Voice::Answer)
    }

    /// Returns whether it stands behind another one on the same line.
    pub(super) fn follows(&self, before: &Statement) -> bool {
        self.goes_on && (before.voice, before.count) == (self.voice, self.count) && before.place + 1 == self.place
    }
}

/// Removes what the agent said for which `is_of` returns true, with the sentences that go on after it.
pub(super) fn retract(statements: &mut Vec<Statement>, is_of: impl Fn(&Statement) -> bool) {
    let mut last: Option<Statement> = None;
    statements.retain(|statement| {
        let is_gone = statement.voice != Voice::Human
            && (is_of(statement) || last.as_ref().is_some_and(|last| statement.follows(last)));
        last = is_gone.then(|| statement.clone());
        !is_gone
    });
}

/// Keeps the statements for which `stands` returns true. An item of a list goes with the line that led to it, and with the heading
/// above it for which `heads` returns false, unless `is_own` says that it is about something else.
pub(super) fn retain_lists(
    statements: &mut Vec<Statement>,
    stands: impl Fn(&Statement) -> bool,
    heads: impl Fn(&Statement) -> bool,
    is_own: impl Fn(&Statement) -> bool,
) {
    let mut lead: Option<Statement> = None;
    statements.retain_mut(|statement| {
        let is_item = statement.form == Form::Item;
        let is_below = |lead: &Statement| (lead.voice, lead.count) == (statement.voice, statement.count);
        let is_led = is_item && lead.as_ref().is_some_and(is_below);
        let is_headed = statement.heading.is_empty() || heads(statement);
        let is_left = is_item && (is_led || !is_headed) && !is_own(statement);
        if !is_headed && !is_item {
            statement.heading.clear();
        }
        let is_kept = stands(statement) && !is_left;
        if !is_led {
            let leads = !is_kept && !is_item && statement.text.ends_with([':', '：']);
            lead = leads.then(|| statement.clone());
        }
        is_kept
    });
}

/// The maximum length of a statement, in characters. Longer ones are pasted text or tables.
const MAX_CHARS: usize = 600;

/// The length up to which bold words at the beginning of a line say what its next sentence is about, in characters.
const MAX_LEAD_CHARS: usize = 60;

/// The length up to which a line that ends with a colon belongs to what stands before it, in characters.
const MAX_LEAD_ON_CHARS: usize = 24;

/// The maximum number of statements of one text.
const MAX_STATEMENTS: usize = 200;

/// Returns the statements of a text, without code blocks.
pub(super) fn statements(said: &str, voice: Voice) -> Vec<Statement> {
    let blocks = if voice == Voice::Human { Vec::new() } else { code_block::blocks(said) };
    let mut reader = Reader { said, voice, ..Reader::default() };
    let asides = if voice == Voice::Human { Vec::new() } else { boxes(said) };
    let is_aside = |line: &str| asides.iter().any(|aside| aside.contains(&offset(line, said)));
    let mut lines = text::prose_lines(said).filter(|line| !is_aside(line)).peekable();
    while let Some(line) = lines.next().filter(|_| reader.all.len() < MAX_STATEMENTS) {
        let block = blocks.iter().find(|block| std::ptr::eq(block.lead, line));
        reader.line(line, lines.peek().copied(), block);
    }
    reader.finish(&blocks)
}

/// Reads a text line by line.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of the lines before")]
struct Reader<'a> {
    said: &'a str,
    voice: Voice,
    all: Vec<Statement>,
    heading: String,
    /// Whether the heading is a line of bold words.
    is_bold: bool,
    /// Whether a list stands below it.
    is_listed: bool,
    /// Whether a list stands below a line that leads to no result.
    is_aside: bool,
    /// Whether what follows is only proposed.
    is_proposed: bool,
    /// Whether the line before leads to headings with code below them, which shows what came of the work.
    is_showing: bool,
    /// The cells of the first row of the table that the line stands in.
    header: Option<Vec<String>>,
    /// The mark of the line before, if that is an item of a list.
    mark: Option<ListMark>,
}

impl Reader<'_> {
    /// Reads a line, given the next one and the code block below it.
    fn line(&mut self, line: &str, next: Option<&str>, block: Option<&Block<'_>>) {
        let is_behind_list =
            self.is_bold && self.is_listed && !is_item(line) && !line.starts_with('|') && !is_indented(line, self.said);
        if self.is_aside && is_item(line) {
            return;
        }
        self.lead(line);
        let Some((form, parts)) = self.parts(line, next.filter(|_| block.is_none())) else { return };
        self.is_listed |= matches!(form, Form::Item | Form::Row);
        let is_step = self.is_of_agent() && form == Form::Item && line.starts_with(|c: char| c.is_ascii_digit());
        let may_show = self.voice == Voice::Answer && form == Form::Heading;
        // "Added the lock to `till.rs`" says what was done.
        let is_of_code = block.is_some() && form == Form::Heading && !line.contains('`');
        let shown = block.filter(|_| may_show).and_then(|it| it.shown_below(line, self.is_showing));
        if form != Form::Heading {
            self.is_showing = block.is_none() && code_block::announces_result(line);
        }
        let led = block.filter(|_| form != Form::Heading);
        let last = parts.len().saturating_sub(1);
        let depth = if form == Form::Row { 1 } else { self.mark.map_or(0, ListMark::depth) };
        let own_number = if self.is_of_agent() { number_of(line, form) } else { 0 };
        for (number, part) in parts.into_iter().enumerate() {
            let part = match led.filter(|_| number == last) {
                Some(block) => self.before_code(&part, block, is_step),
                None => Some(part),
            };
            let Some(part) = part else { continue };
            // What the agent says after it gave in is what holds.
            let is_sentence = form == Form::Sentence;
            let text = if self.is_of_agent() && is_sentence { signs::without_concession(&part) } else { part };
            if text.chars().any(char::is_alphanumeric) && text.chars().nth(MAX_CHARS).is_none() {
                let heading = if form == Form::Heading { String::new() } else { self.heading.clone() };
                self.all.push(Statement {
                    text,
                    heading,
                    voice: self.voice,
                    form,
                    goes_on: number > 0,
                    is_proposed: self.is_proposed,
                    is_behind_list: is_behind_list && is_sentence,
                    number: if number == 0 { own_number } else { 0 },
                    depth,
                    is_step: is_step && number == 0,
                    is_of_code: is_of_code && shown.is_none(),
                    ..Statement::default()
                });
            }
        }
        // Bold words with a colon before code only say what the code is, not what the text behind it is about.
        let ends_in_colon = line.trim_end_matches(['*', ' ']).ends_with([':', '：']);
        let is_label = form == Form::Heading && self.is_bold && block.is_some() && ends_in_colon;
        let heading = if is_label { std::mem::take(&mut self.heading) } else { self.heading.clone() };
        if let Some(text) = shown {
            self.push_shown(text, heading);
        }
    }

    fn is_of_agent(&self) -> bool {
        self.voice != Voice::Human
    }

    /// Takes what a line says of those below it.
    fn lead(&mut self, line: &str) {
        if !self.is_of_agent() {
            return;
        }
        self.is_aside = signs::leads_to_aside(&line.to_lowercase());
        // A numbered heading is an item of what is proposed. Another heading, or a paragraph behind the list, ends it.
        let is_numbered = is_item(line.trim_start_matches(['#', '*', ' ']));
        if (!is_numbered || signs::proposes(line)) && !goes_below(line) {
            self.is_proposed = signs::proposes(line);
        }
    }

    /// Returns the form of a line and what it says. The first row of a table says nothing alone.
    fn parts(&mut self, line: &str, next: Option<&str>) -> Option<(Form, Vec<String>)> {
        let mark = ListMark::of(line, self.said);
        let last = std::mem::replace(&mut self.mark, mark);
        if line.starts_with('|') {
            let cells = cells(line);
            let Some(header) = &self.header else {
                self.header = Some(cells);
                return None;
            };
            return Some((Form::Row, vec![row(&cells, header)]));
        }
        self.header = None;
        let is_bare = || mark.is_some_and(|mark| mark.stands_beside(last, next, self.said));
        if prose::is_heading(line) && !(is_bare() || (is_item(line) && (labels_value(line) || is_lettered(line)))) {
            self.mark = None;
            text::plain(line).trim_end_matches([':', '：']).clone_into(&mut self.heading);
            (self.is_bold, self.is_listed) = (!line.starts_with('#'), false);
            return Some((Form::Heading, vec![self.heading.clone()]));
        }
        let form = if is_item(line) { Form::Item } else { Form::Sentence };
        Some((form, with_bold_lead(line, text::sentences(line))))
    }

    /// Returns what a sentence says before a code block, with what is told of the block. None if it leads to the block with a colon and
    /// says nothing without the code.
    fn before_code(&self, part: &str, block: &Block<'_>, is_step: bool) -> Option<String> {
        let shown = || block.shown_behind(part).or_else(|| block.steps_behind(part));
        let step = || is_step.then(|| part.trim_end_matches([':', '：', '*']).to_owned());
        let step = || if block.is_led() { step() } else { Some(part.to_owned()) };
        let said = || code_block::said_before(part).filter(|_| block.is_led());
        let may_show = self.voice == Voice::Answer && !code_block::is_private(&self.heading);
        let shown = may_show.then(shown).flatten();
        shown.or_else(said).or_else(step)
    }

    fn push_shown(&mut self, text: String, heading: String) {
        self.all.push(Statement { text, heading, voice: self.voice, form: Form::Sentence, ..Statement::default() });
    }

    /// Returns the statements with their places. `blocks` are all code blocks of the text.
    fn finish(mut self, blocks: &[Block<'_>]) -> Vec<Statement> {
        // What says nothing else says what it leads to.
        let is_empty = |it: &Statement| it.form == Form::Heading || prose::is_filler(&it.text);
        if self.all.iter().all(is_empty)
            && let Some(text) = blocks.iter().find(|block| block.is_led()).and_then(Block::with_lead)
            && !code_block::is_private(&self.heading)
        {
            self.push_shown(text, String::new());
        }
        let count = u16::try_from(self.all.len()).unwrap_or(u16::MAX);
        for (place, statement) in (0_u16..).zip(&mut self.all) {
            (statement.place, statement.count) = (place, count);
        }
        self.all
    }
}

/// What may stand between a bold question and what answers it.
const DASHES: [&str; 3] = ["- ", "– ", "— "];

/// Joins the bold words with which a line opens to its next sentence: "**Cache.** It is cleared at night".
fn with_bold_lead(line: &str, mut parts: Vec<String>) -> Vec<String> {
    let bold = line.trim_start_matches(['-', '*', '•', '+', ' ']).split("**").next().unwrap_or_default();
    let is_bold = line.trim_start_matches(['-', '•', '+', ' ']).starts_with("**");
    let is_lead = |lead: &String| {
        lead.ends_with(['.', '。']) && lead.chars().count() <= MAX_LEAD_CHARS && text::plain(bold).trim() == lead.trim()
    };
    if parts.len() > 1 && is_bold && parts.first().is_some_and(is_lead) {
        let lead = parts.remove(0);
        parts[0] = format!("{} — {}", lead.trim_end_matches(['.', '。']), parts[0]);
    }
    // "**Why a till?** - It counts": the question is a label.
    let is_asked = |lead: &String| is_question(lead) && text::plain(bold).trim() == lead.trim();
    if parts.len() > 1
        && is_bold
        && parts.first().is_some_and(is_asked)
        && let Some(said) = DASHES.iter().find_map(|dash| parts[1].strip_prefix(dash))
    {
        parts[1] = format!("{} — {said}", parts[0]);
        parts.remove(0);
    }
    parts
}

/// Returns whether a line only leads on to a list of what was said before it: "Concretely:".
fn goes_below(line: &str) -> bool {
    let said = text::plain(line);
    said.ends_with([':', '：']) && said.chars().count() <= MAX_LEAD_ON_CHARS
}

/// Returns whether a statement asks something.
pub(super) fn is_question(text: &str) -> bool {
    let end = text.trim_end_matches(['.', '。', ' ', ')', '"', '*']);
    end.ends_with(['?', '？'])
        || ["까요", "나요", "ますか", "ですか", "しょうか", "吗"].iter().any(|last| end.ends_with(last))
}

/// Returns the names in a text by which it can be recognized elsewhere: code, paths, and words with capitals, digits or
/// underscores inside.
pub(crate) fn names(text: &str) -> Vec<u32> {
    let mut all = Vec::new();
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '*' | '[' | ']'))
    {
        // Most words are too short or plain, which their bytes tell.
        let inner = |b: u8| matches!(b, b'_' | b'/' | b'.' | b'-' | b':') || b.is_ascii_uppercase() || b.is_ascii_digit();
        if word.len() < 4 || !word.bytes().skip(1).any(inner) {
            continue;
        }
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if word.len() >= 4
            && word.is_ascii()
            && word.bytes().skip(1).any(inner)
            && word.bytes().any(|b| b.is_ascii_alphabetic())
        {
            let hash = text::hash_of_lower(word);
            if !all.contains(&hash) {
                all.push(hash);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_split_with_its_headings() {
        let all = statements(
            "Done. All pass.\n\n## What changed\n\n- **One**: the cache is cleared. It was stale.\n1. Two\n\n```\ncode\n```\n| a | b |\n|---|---|\n| c | d |",
            Voice::Answer,
        );
        let texts: Vec<(&str, &str, Form)> = all.iter().map(|it| (it.text.as_str(), it.heading.as_str(), it.form)).collect();
        assert_eq!(
            texts,
            [
                ("Done.", "", Form::Sentence),
                ("All pass.", "", Form::Sentence),
                ("What changed", "", Form::Heading),
                ("One: the cache is cleared.", "What changed", Form::Item),
                ("It was stale.", "What changed", Form::Item),
                ("Two", "What changed", Form::Item),
                ("c — d", "What changed", Form::Row),
            ]
        );
        assert_eq!((all[3].place, all[3].count), (3, 7));
    }

    #[test]
    fn the_cells_of_a_row_are_told_with_their_header() {
        let said = "Modes:\n\n| | Slider | Field |\n|---|---|---|\n| **Tone** | whole steps | a name |\n| Raw | | a number |\n\nFiles:\n\n| # | File | What |\n|---|---|---|\n| 1 | `a.rs` | rounds |\n\nTools:\n\n| Tool | Use |\n|---|---|\n| `sum` | adds |";
        let texts: Vec<String> = statements(said, Voice::Answer).into_iter().map(|it| it.text).collect();
        assert_eq!(
            texts,
            [
                "Modes:",
                "Tone — Slider: whole steps; Field: a name",
                "Raw — Field: a number",
                "Files:",
                "`a.rs` — rounds",
                "Tools:",
                "`sum` — adds"
            ]
        );
    }

    #[test]
    fn a_lecture_in_a_box_is_no_statement() {
        let said = format!(
            "The till rounds.\n\n`★ Insight {0}`\nCents are whole numbers.\n- Floats are not\n`{0}`\n\nIt rings.",
            "─".repeat(30)
        );
        let texts: Vec<String> = statements(&said, Voice::Answer).into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["The till rounds.", "It rings."]);
    }

    #[test]
    fn a_label_with_its_value_is_no_heading() {
        let all = statements("- **Tests**: 12 pass\n- **Lint:** clean\n**Where** (cart)\n- one", Voice::Answer);
        let texts: Vec<(&str, &str, Form)> = all.iter().map(|it| (it.text.as_str(), it.heading.as_str(), it.form)).collect();
        assert_eq!(
            texts,
            [
                ("Tests: 12 pass", "", Form::Item),
                ("Lint: clean", "", Form::Item),
                ("Where (cart)", "", Form::Heading),
                ("one", "Where (cart)", Form::Item),
            ]
        );
    }

    #[test]
    fn bold_words_of_an_item_are_no_heading_beside_other_items() {
        let all = |said: &str| -> Vec<(String, String, Form)> {
            statements(said, Voice::Answer).into_iter().map(|it| (it.text, it.heading, it.form)).collect()
        };
        let item = |text: &str, heading: &str| (text.to_owned(), heading.to_owned(), Form::Item);
        let heading = |text: &str| (text.to_owned(), String::new(), Form::Heading);
        let beside = "- **Red lamp** at night\n- **Blue lamp**\n\nIt rings.";
        let sentence = ("It rings.".to_owned(), String::new(), Form::Sentence);
        assert_eq!(all(beside), [item("Red lamp at night", ""), item("Blue lamp", ""), sentence]);
        let above = "1. **Red lamp**\n   - It is on\n2. **Blue lamp**\n   - It is off";
        assert_eq!(
            all(above),
            [heading("Red lamp"), item("It is on", "Red lamp"), heading("Blue lamp"), item("It is off", "Blue lamp")]
        );
        let flat = "1. **Red lamp**\n- It is on";
        assert_eq!(all(flat), [heading("Red lamp"), item("It is on", "Red lamp")]);
    }

    #[test]
    fn lists_of_examples_and_intentions_are_no_statements() {
        let said = "It is done. The total is round.\n\nFor example, with:\n- `a.ts`\n- `b.ts`\n\nI need to:\n1. Round it\n\nTwo parts:\n- **B.** Long phrases\n\nThe end.";
        let all = statements(said, Voice::Answer);
        let texts: Vec<&str> = all.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "It is done.",
                "The total is round.",
                "For example, with:",
                "I need to:",
                "Two parts:",
                "B. Long phrases",
                "The end."
            ]
        );
        assert!(all[1].goes_on && !all[0].goes_on && all.iter().all(|it| it.heading.is_empty()));
    }

    #[test]
    fn bold_words_at_the_beginning_belong_to_their_sentence() {
        let asked = statements("- **Why a till?** - It counts the coins. It rings.", Voice::Answer);
        assert_eq!((asked.len(), asked[0].text.as_str()), (2, "Why a till? — It counts the coins."));
        let said = "**Cache.** It is cleared at night. Nobody waits.\n\n**The tax is a rate.**\n\n- **Menu:** no border";
        let texts: Vec<String> = statements(said, Voice::Answer).into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["Cache — It is cleared at night.", "Nobody waits.", "The tax is a rate.", "Menu: no border"]);
    }

    #[test]
    fn a_line_that_leads_to_code_is_no_statement() {
        let said = "It is logged. This shows what is sent:\n\n```ts\nlog()\n```\n\nTwo parts:\n- one";
        let texts: Vec<String> = statements(said, Voice::Answer).into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["It is logged.", "Two parts:", "one"]);
    }

    #[test]
    fn bold_words_before_code_are_not_the_heading_of_what_follows() {
        let heading = |bold: &str| {
            let said = format!("{bold}\n\n```\ntill: wrong\n```\n\nThis stops a wrong till before it opens.");
            statements(&said, Voice::Answer).pop().map(|it| it.heading)
        };
        assert_eq!(heading("**The error of a till:**").as_deref(), Some(""));
        assert_eq!(heading("**The drawer**").as_deref(), Some("The drawer"));
    }

    #[test]
    fn what_leads_to_code_says_something_or_shows_it() {
        let texts = |said: &str| -> Vec<String> { statements(said, Voice::Answer).into_iter().map(|it| it.text).collect() };
        let said = "There's a `taxOf()` function in `tax.ts` that returns the rate of the country:\n\n```ts\ntaxOf()\n```";
        assert_eq!(texts(said), ["There's a `taxOf()` function in `tax.ts` that returns the rate of the country."]);
        let shown = "Done. Now when you run `till open`, you'll see:\n\n```\nHint: name a till\n\nUsage: till\n```";
        assert_eq!(texts(shown), ["Done.", "When you run `till open`, you'll see: `Hint: name a till ⏎ Usage: till`"]);
        assert_eq!(texts("Two tills are open.\n\nThe output is:\n\n```\n2\n3\n```"), ["Two tills are open."]);
        assert_eq!(texts("Two are open.\n\nThe sum is:\n\n```\n2\n```"), ["Two are open."]);
    }

    #[test]
    fn questions_in_three_languages() {
        for text in ["Shall I?", "진행할까요?", "진행할까요.", "削除しますか。", "要不要删除吗？"] {
            assert!(is_question(text), "{text}");
        }
        assert!(!is_question("It asks which."));
    }

    #[test]
    fn names_are_code_and_paths() {
        assert_eq!(names("the `parse_line` of src/a.rs fails in fooBar"), names("parse_line src/a.rs FOOBAR fooBar"));
        assert!(names("the plain words of a text").is_empty());
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            for statement in statements(&text, Voice::Human) {
                names(&statement.text);
                is_question(&statement.text);
            }
        }
    }
}
