//! The options that an answer lists: headings, numbered items, letters and rows of tables.

use crate::text;

/// The length below which a label goes on after its mark, in bytes, and its maximum length in characters.
pub(super) const MIN_LABEL_BYTES: usize = 4;
pub(super) const MAX_LABEL_CHARS: usize = 90;

/// Returns the part of an option's title that names it.
pub(super) fn label(title: &str) -> String {
    let ends = [" — ", " – ", " - ", ": ", ". ", " (", "? ", "："];
    let is_outside_code = |at: &usize| title[..*at].matches('`').count().is_multiple_of(2);
    let end = ends.iter().flat_map(|mark| title.match_indices(mark)).map(|(at, _)| at);
    let end = end.filter(|at| *at >= MIN_LABEL_BYTES).filter(is_outside_code).min();
    let label = title[..end.unwrap_or(title.len())].trim();
    text::clip(label.trim_end_matches(['.', ':', ',', '。']), MAX_LABEL_CHARS).into_owned()
}

/// The maximum length of an option's title, in characters.
const MAX_TITLE_CHARS: usize = 160;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProposedOption {
    /// The number or letter: `1`, `b`, …
    pub(super) id: String,
    /// The name, such as `방법 1` or `Option B`. Empty for plain numbers.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) body: String,
}

impl ProposedOption {
    /// Returns whether both are the same option, whatever text is known to belong to it.
    pub(super) fn is(&self, other: &Self) -> bool {
        (&self.id, &self.name, &self.title) == (&other.id, &other.name, &other.title)
    }

    /// Returns whether a line has the option.
    pub(super) fn is_on(&self, line: &str) -> bool {
        let cell = first_cell(line.trim());
        [parse_named_option(cell), parse_numbered_option(cell)].into_iter().flatten().any(|option| option.is(self))
    }
}

/// Words that introduce an option, before its number or letter.
pub(super) const OPTION_WORDS: &[&str] = &[
    "option",
    "approach",
    "method",
    "alternative",
    "choice",
    "plan",
    "solution",
    "방법",
    "옵션",
    "방안",
    "案",
    "方法",
    "オプション",
    "プラン",
    "方案",
    "选项",
    "선택지",
];

/// The maximum length of the text of an option, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 2000;

/// Returns the options of an answer: lines such as `### Option 1: …` and `**B)** …`, or the numbered bold items of its
/// last list.
pub(super) fn parse_options(answer: &str) -> Vec<ProposedOption> {
    let mut named: Vec<ProposedOption> = Vec::new();
    let mut numbered: Vec<ProposedOption> = Vec::new();
    let mut open = None::<bool>;
    for line in answer.lines() {
        let trimmed = line.trim();
        let indented = line.starts_with([' ', '\t']);
        let row = trimmed.strip_prefix('|').and_then(|row| row.split_once('|'));
        let trimmed = first_cell(trimmed);
        if let Some(option) = parse_named_option(trimmed) {
            if !named.iter().any(|known| known.id == option.id) {
                named.push(option);
                open = Some(true);
                continue;
            }
        } else if let Some(mut option) = parse_numbered_option(trimmed).filter(|_| !indented) {
            // A list that starts again at one, or counts in another way, is another list. The last list counts.
            let is_number = |option: &ProposedOption| option.id.bytes().all(|byte| byte.is_ascii_digit());
            let is_other = numbered.last().is_some_and(|last| is_number(last) != is_number(&option));
            if option.id == "1" || option.id == "a" || is_other {
                numbered.clear();
            }
            if let Some((_, rest)) = row {
                rest.trim_matches(['|', ' ']).clone_into(&mut option.body);
            }
            numbered.push(option);
            open = Some(false);
            continue;
        }
        if trimmed.starts_with('#') || trimmed.starts_with("---") {
            open = None;
        }
        let list = match open {
            Some(true) => named.last_mut(),
            Some(false) => numbered.last_mut(),
            None => None,
        };
        if let Some(option) = list
            && option.body.len() < MAX_BODY_BYTES
            && !trimmed.starts_with('>')
        {
            option.body.push_str(line);
            option.body.push('\n');
        }
    }
    if named.len() >= 2 { named } else { numbered }
}

/// Returns the items of the last numbered list of an answer.
pub(super) fn numbered_options(answer: &str) -> Vec<ProposedOption> {
    let mut all: Vec<ProposedOption> = Vec::new();
    for line in answer.lines() {
        if let Some(option) = parse_numbered_option(line.trim()).filter(|_| !line.starts_with([' ', '\t'])) {
            if option.id == "1" {
                all.clear();
            }
            all.push(option);
        } else if let Some(last) = all.last_mut()
            && last.body.len() < MAX_BODY_BYTES
            && !line.trim_start().starts_with('>')
        {
            last.body.push_str(line);
            last.body.push('\n');
        }
    }
    all.retain(|option| option.id.bytes().all(|byte| byte.is_ascii_digit()));
    all
}

/// Returns the items of the last list of an answer that counts them: numbered lines, rows of a table, or headings such as "Issue 2: …".
pub(super) fn numbered_items(answer: &str) -> Vec<ProposedOption> {
    let mut all: Vec<ProposedOption> = Vec::new();
    for line in answer.lines().filter(|line| !line.starts_with([' ', '\t'])) {
        let line = line.trim();
        let Some(item) = parse_numbered_option(line).or_else(|| numbered_row(line)).or_else(|| numbered_heading(line))
        else {
            continue;
        };
        if item.id == "1" {
            all.clear();
        }
        all.push(item);
    }
    all.retain(|item| item.id.bytes().all(|byte| byte.is_ascii_digit()));
    all
}

/// Parses `| 2 | Title | … |`. The longer one of the first cells is the title.
fn numbered_row(line: &str) -> Option<ProposedOption> {
    let mut cells = line.strip_prefix('|')?.split('|').map(text::plain);
    let id = cells.next()?.trim().to_owned();
    let is_number = !id.is_empty() && id.len() <= 2 && id.bytes().all(|byte| byte.is_ascii_digit());
    let title = cells.take(2).max_by_key(|cell| text::width(cell)).filter(|title| is_number && !title.trim().is_empty())?;
    Some(ProposedOption { id, name: String::new(), title: text::clip(title.trim(), 160).into_owned(), body: String::new() })
}

/// Parses `### Issue 2: Title`.
fn numbered_heading(line: &str) -> Option<ProposedOption> {
    const WORDS: [&str; 7] = ["issue", "finding", "problem", "item", "task", "point", "fix"];
    if !line.starts_with(['#', '*']) {
        return None;
    }
    let said = text::plain(line);
    let (word, rest) = said.trim_start_matches(['#', ' ']).split_once([' ', '#'])?;
    let rest = rest.trim_start_matches('#');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let title = rest[digits..].strip_prefix([':', '.', ')'])?.trim();
    let is_item = (1..=2).contains(&digits) && WORDS.contains(&word.to_lowercase().as_str()) && !title.is_empty();
    is_item.then(|| ProposedOption {
        id: rest[..digits].to_owned(),
        name: String::new(),
        title: text::clip(title, 160).into_owned(),
        body: String::new(),
    })
}

/// Returns the options of an answer that have a letter in brackets: `- **(b) Title**: …`, also below an item of another list.
pub(super) fn lettered_options(answer: &str) -> Vec<ProposedOption> {
    let mut all: Vec<ProposedOption> = Vec::new();
    for line in answer.lines() {
        let line = line.trim().trim_start_matches(['-', '*', '•', ' ']);
        let Some((id, title)) = line.strip_prefix('(').and_then(|rest| rest.split_once(") ")) else { continue };
        if !(id.len() == 1 && id.bytes().all(|byte| byte.is_ascii_lowercase())) {
            continue;
        }
        let title = text::plain(title).replace("**", "");
        // "(b) is the simpler one" speaks of an option that is known.
        let is_remark = ["is ", "was ", "would ", "needs "].iter().any(|verb| title.starts_with(verb));
        if is_remark || all.iter().any(|known| known.id == id) {
            continue;
        }
        all.push(ProposedOption {
            id: id.to_owned(),
            name: String::new(),
            title: text::clip(label(&title).trim(), 160).into_owned(),
            body: title,
        });
    }
    all
}

pub(super) fn parse_named_option(line: &str) -> Option<ProposedOption> {
    if !line.starts_with(['#', '*', '-']) && !line.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let line = text::plain(line);
    let lower = line.to_lowercase();
    let name = OPTION_WORDS.iter().find(|name| lower.starts_with(*name))?;
    let after = line.get(name.len()..)?.trim_start_matches([' ', '#']);
    let id: String = after.chars().take_while(char::is_ascii_alphanumeric).take(2).collect();
    if id.is_empty() || (id.len() > 1 && !id.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let rest = &after[id.len()..];
    if !rest.is_empty() && !rest.starts_with([':', '：', '.', ')', ' ', '—', '–', '-', '(']) {
        return None;
    }
    let marked = rest.trim_start().starts_with([':', '：', '.', ')', '—', '–', '-', '(']);
    if !marked {
        return None;
    }
    let title = rest.trim_matches([' ', ':', '：', '.', ')', '—', '–', '-']);
    let name_end = line.len() - after.len() + id.len();
    (!title.is_empty()).then(|| ProposedOption {
        id: id.to_lowercase(),
        name: line[..name_end].to_owned(),
        title: text::clip(title, 160).into_owned(),
        body: String::new(),
    })
}

/// Parses `1. **Title** — …`, `A) Title` or `**A — Title**`.
pub(super) fn parse_numbered_option(line: &str) -> Option<ProposedOption> {
    let whole = line;
    let line = line.trim_start_matches(['*', '#', '-', ' ']);
    if let Some(option) = parse_bold_letter(whole, line) {
        return Some(option);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let length = if digits > 0 { digits } else { usize::from(line.starts_with(|c: char| c.is_ascii_alphabetic())) };
    if length == 0 || length > 2 {
        return None;
    }
    let rest = line[length..].strip_prefix(['.', ')'])?;
    if !rest.starts_with([' ', '*']) {
        return None;
    }
    let title = text::plain(rest.trim_start_matches(['*', ' '])).replace("**", "");
    let title = title.trim_end_matches(", or").trim_end_matches(", and").trim_end_matches([',', ';']);
    let (title, body) = title_and_text(title);
    (!title.is_empty()).then(|| ProposedOption {
        id: line[..length].to_lowercase(),
        name: String::new(),
        title: text::clip(title, MAX_TITLE_CHARS).into_owned(),
        body: if body.is_empty() { String::new() } else { format!("{body}\n") },
    })
}

/// Splits a line that is too long for a title into what names the option and what it means. That is empty if nothing parts the two.
fn title_and_text(line: &str) -> (&str, &str) {
    const MARKS: [&str; 4] = [" — ", " – ", ": ", ". "];
    if line.chars().count() <= MAX_TITLE_CHARS {
        return (line, "");
    }
    let is_outside_code = |at: usize| line[..at].matches('`').count().is_multiple_of(2);
    let ends = MARKS.iter().flat_map(|mark| line.match_indices(mark)).map(|(at, mark)| (at, at + mark.len()));
    let end = ends.filter(|(at, _)| *at >= MIN_LABEL_BYTES && is_outside_code(*at)).min();
    let end = end.filter(|(at, _)| line[..*at].chars().count() <= MAX_LABEL_CHARS);
    end.map_or((line, ""), |(at, next)| (&line[..at], &line[next..]))
}

/// Parses `**A — Title** What it means.`. `bare` is the line without the marks before the letter.
fn parse_bold_letter(line: &str, bare: &str) -> Option<ProposedOption> {
    let is_bold = line[..line.len() - bare.len()].ends_with("**");
    let id = bare.get(..1).filter(|id| is_bold && id.bytes().all(|byte| byte.is_ascii_uppercase()))?;
    let rest = [" — ", " – ", ": "].iter().find_map(|mark| bare[1..].strip_prefix(mark))?;
    let (title, body) = rest.split_once("**")?;
    let title = text::plain(title);
    let title = title.trim_end_matches(['.', ':', ' ']);
    (!title.is_empty()).then(|| ProposedOption {
        id: id.to_lowercase(),
        name: String::new(),
        title: text::clip(title, 160).into_owned(),
        body: format!("{}\n", body.trim()),
    })
}

/// Returns a line without the cells behind the first one if it is a row of a table: that has the option, and the others what it means.
pub(super) fn first_cell(line: &str) -> &str {
    line.strip_prefix('|').and_then(|row| row.split_once('|')).map_or(line, |(first, _)| first.trim())
}
