//! Rows of tables as text.

use crate::text;

/// The maximum length of the header of a column that is told with each cell, in characters.
const MAX_LABEL_CHARS: usize = 24;

/// What stands for an escaped bar while a row is split.
const ESCAPED_BAR: char = '\u{1}';

/// Returns the cells of a table's row. Some may be empty. An escaped bar divides nothing.
pub(super) fn cells(line: &str) -> Vec<String> {
    let inside = line.strip_prefix('|').unwrap_or(line);
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    if !inside.contains("\\|") {
        return inside.split('|').map(text::plain).collect();
    }
    let hidden = inside.replace("\\|", &ESCAPED_BAR.to_string());
    hidden.split('|').map(|cell| text::plain(cell).replace(ESCAPED_BAR, "|")).collect()
}

/// Returns a row as text. With more than two columns, nobody knows without the header what a cell says: "Notes — Slider: whole
/// steps; Field: a name".
pub(super) fn row(cells: &[String], header: &[String]) -> String {
    // A number says only which row it is.
    let is_number = |cell: &String| !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
    let is_numbered = header.len() > 2 && header.len() == cells.len() && is_number(&cells[0]);
    let (cells, header) = if is_numbered { (&cells[1..], &header[1..]) } else { (cells, header) };
    let is_labelled = header.len() > 2
        && header.len() == cells.len()
        && header[1..].iter().all(|label| !label.is_empty() && label.chars().count() <= MAX_LABEL_CHARS)
        && !cells[0].is_empty();
    if !is_labelled {
        let cells: Vec<&str> = cells.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        let Some((first, others)) = cells.split_first().filter(|(_, others)| !others.is_empty()) else {
            return cells.concat();
        };
        return format!("{first} — {}", others.join("; "));
    }
    let labelled = cells.iter().zip(header).skip(1).filter(|(cell, _)| !cell.is_empty());
    let labelled: Vec<String> = labelled
        .map(|(cell, label)| if says_nothing(label, cell) { cell.clone() } else { format!("{label}: {cell}") })
        .collect();
    format!("{} — {}", cells[0], labelled.join("; "))
}

/// Returns whether the header of a column says nothing of a cell with several words: "Description".
fn says_nothing(label: &str, cell: &str) -> bool {
    const WORDS: [&str; 7] = ["description", "detail", "details", "explanation", "information", "설명", "説明"];
    cell.contains(' ') && WORDS.contains(&label.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(header: &str, line: &str) -> String {
        row(&cells(line), &cells(header))
    }

    #[test]
    fn a_header_that_says_nothing_is_left_out() {
        let header = "| Till | Place | Description |";
        assert_eq!(told(header, "| One | hall | It rings twice |"), "One — Place: hall; It rings twice");
        assert_eq!(told(header, "| One | hall | red |"), "One — Place: hall; Description: red");
    }

    #[test]
    fn an_escaped_bar_is_part_of_its_cell() {
        assert_eq!(told("| Till | Use |", r"| `sum <one\|two>` | adds |"), "`sum <one|two>` — adds");
    }

    #[test]
    fn cells_without_a_header_stand_behind_the_first_one() {
        let header = format!("| Till | {} | Lamp |", "wide ".repeat(10));
        assert_eq!(told(&header, "| One | hall | red |"), "One — hall; red");
        assert_eq!(told("| Till |", "| One |"), "One");
    }
}
