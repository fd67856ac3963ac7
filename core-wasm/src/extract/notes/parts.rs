//! Where the parts of a result begin: its headings, paragraphs and items, so that a long one can be told line by line.

use std::ops::RangeInclusive;

use crate::bindings::throughline::policy::types::SessionNotes;
use crate::extract::course::END;
use crate::extract::parts_of_result::{Kind, MAX_OPENING_BYTES, MIN_OPENING_BYTES, PARTS, Part, find};
use crate::extract::results::{TurnResult, heading_as_told, is_lead, told_as};
use crate::extract::state::State;
use crate::extract::statement::{Form, Statement, Voice};
use crate::text;

/// The minimum length of a result that is told line by line, in bytes. A shorter one is read at a glance.
const MIN_BYTES: usize = 280;
/// The number of parts from which that is worth it.
const MIN_PARTS: usize = 3;

/// Adds where the parts of the outcome and of the results begin, one line each, as the attribute `parts`. `asked_in` has the place of the
/// turn in which each result was asked for. Empty if there are no results.
pub(super) fn with_parts(state: &State, mut notes: SessionNotes, asked_in: &[usize]) -> SessionNotes {
    let turns = state.results.turns();
    let committed = state.labels().committed;
    let end = line(END, &parts(turns, &notes.outcome, committed));
    let left_out = asked_in.len().saturating_sub(notes.done.len());
    let results = notes.done.iter().zip(asked_in.iter().skip(left_out)).enumerate().filter_map(|(at, (said, &first))| {
        // What was said for it stands in its turn or in the next ones.
        let last = asked_in.get(left_out + at + 1).map_or(turns.len(), |next| next + 1);
        line(&at.to_string(), &parts(turns.get(first..last.max(first + 1))?, said, committed))
    });
    let lines: Vec<String> = end.into_iter().chain(results).collect();
    if !lines.is_empty() {
        notes.attributes.push((PARTS.to_owned(), lines.join("\n")));
    }
    notes
}

/// Returns the line of one result: its name, and its parts. None if there are too few to tell it line by line.
fn line(name: &str, parts: &[Part]) -> Option<String> {
    (parts.len() >= MIN_PARTS).then(|| parts.iter().fold(name.to_owned(), |line, part| format!("{line} {part}")))
}

/// Returns where the parts of a result begin, ascending. `committed` is the label of a commit.
fn parts(turns: &[TurnResult], said: &str, committed: &str) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    if said.len() < MIN_BYTES {
        return all;
    }
    let is_of_commit = |statement: &&Statement| statement.voice == Voice::Commit;
    let mut found: Vec<Vec<Part>> = Vec::new();
    for turn in turns {
        found.push(parts_of(turn.statements.iter().filter(|it| !is_of_commit(it)), said));
        found.push(parts_of(turn.statements.iter().filter(is_of_commit), said));
    }
    // The answers of other turns may have the same headings.
    found.sort_by_key(|parts| std::cmp::Reverse(parts.len()));
    let mut spans: Vec<RangeInclusive<usize>> = Vec::new();
    for parts in found {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { continue };
        let span = first.at..=last.at;
        all.extend(parts.into_iter().filter(|part| !spans.iter().any(|span| span.contains(&part.at))));
        spans.push(span);
    }
    let label = format!("— {committed} ");
    all.extend(said.match_indices(&label).map(|(at, _)| Part { at, kind: Kind::Line }));
    all.sort_unstable_by_key(|part| part.at);
    all.dedup_by_key(|part| part.at);
    all
}

/// Returns where statements begin in a result.
fn parts_of<'s>(statements: impl Iterator<Item = &'s Statement>, said: &str) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    let mut start = 0;
    let mut statements = statements.peekable();
    let mut last_heading = "";
    while let Some(statement) = statements.next() {
        // Most statements are not told, and to find that out takes less time than to write them.
        if !text::contains(said, longest_word(&statement.text)) {
            continue;
        }
        let told = told_as(statement);
        let opening = text::head(&told, MAX_OPENING_BYTES);
        let found = find(said, opening, start).filter(|_| opening.len() >= MIN_OPENING_BYTES);
        let (Some(at), Some(kind)) = (found, kind(statement, statements.peek().copied())) else { continue };
        let heading = if statement.form == Form::Heading { &statement.text } else { &statement.heading };
        // The heading alone may be kept with each of the statements below it.
        let above = heading_as_told(heading);
        let before = said[start..at].trim_end();
        let is_headed = statement.form != Form::Heading && heading != last_heading && before.ends_with(above.as_str());
        if is_headed && above.len() >= MIN_OPENING_BYTES {
            all.push(Part { at: start + before.len() - above.len(), kind: Kind::Heading });
        }
        // Below a heading that is not told, it stands apart from what stands below another one.
        let is_apart = kind == Kind::Item && !last_heading.is_empty() && heading != last_heading && !is_headed;
        last_heading = heading;
        start = at + opening.len();
        all.push(Part { at, kind: if is_apart { Kind::Line } else { kind } });
    }
    all
}

/// Returns the longest word of a text.
fn longest_word(said: &str) -> &str {
    said.split(|c: char| !c.is_alphanumeric()).max_by_key(|word| word.len()).unwrap_or_default()
}

/// Returns what a statement begins. None if it goes on with the one before it.
fn kind(statement: &Statement, next: Option<&Statement>) -> Option<Kind> {
    let is_above_items = || next.is_some_and(|next| next.depth > 0 && matches!(next.form, Form::Item | Form::Row));
    match statement.form {
        Form::Heading if statement.voice != Voice::Commit => Some(Kind::Heading),
        _ if statement.goes_on => None,
        // What a commit says stands below its subject, which is quoted behind a label.
        _ if statement.voice == Voice::Commit => (statement.place > 0).then_some(Kind::SubItem),
        Form::Item | Form::Row if statement.depth > 1 => Some(Kind::SubItem),
        Form::Item | Form::Row if statement.depth == 1 => Some(Kind::Item),
        // Bold words open a paragraph.
        Form::Item | Form::Row if is_above_items() => Some(Kind::Heading),
        Form::Item | Form::Row => Some(Kind::Line),
        Form::Sentence if is_lead(&statement.text) && is_above_items() => Some(Kind::Heading),
        Form::Sentence | Form::Heading => Some(Kind::Paragraph),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::statement::statements;

    #[test]
    fn headings_paragraphs_and_items_begin_parts() {
        let answer = "The till rounds the total of each slip half a cent up. It also rings.\n\n## Drawer\n- Opens to the left, as the user wants it\n- \
                      Shuts itself\n\n## Bell\nRings twice, because it has two clappers.";
        let turn = TurnResult { statements: statements(answer, Voice::Answer), ..TurnResult::default() };
        let said = format!(
            "The till rounds the total of each slip half a cent up. It also rings. Drawer: Opens to the left, as the user wants it; Shuts \
             itself. Bell: Rings twice, because it has two clappers. {} — committed as \"Fold the slip\".",
            "The slip is white, and its paper is thin. ".repeat(3).trim()
        );
        let told: Vec<(Kind, &str)> =
            parts(&[turn], &said, "committed as").iter().map(|part| (part.kind, text::head(&said[part.at..], 10))).collect();
        assert_eq!(
            told,
            [
                (Kind::Paragraph, "The till r"),
                (Kind::Heading, "Drawer: Op"),
                (Kind::Item, "Opens to t"),
                (Kind::Item, "Shuts itse"),
                (Kind::Heading, "Bell: Ring"),
                (Kind::Paragraph, "Rings twic"),
                (Kind::Line, "— commit")
            ]
        );
    }
}
