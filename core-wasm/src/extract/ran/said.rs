//! What a run said that it changed.

use super::kind::Kind;

/// How a line begins that says what was changed in data.
const CHANGES: [&str; 22] = [
    "deleted",
    "created",
    "updated",
    "inserted",
    "removed",
    "imported",
    "migrated",
    "seeded",
    "dropped",
    "upserted",
    "reset",
    "cleared",
    "synced",
    "archived",
    "restored",
    "added",
    "sent",
    "copied",
    "backfilled",
    "reseeded",
    "moved",
    "replaced",
];
/// How `psql` says what a statement did.
const STATEMENTS: [&str; 7] = ["CREATE ", "DROP ", "ALTER ", "TRUNCATE ", "INSERT ", "UPDATE ", "DELETE "];
/// The maximum length of a line that says what was changed, in characters.
const MAX_LINE_CHARS: usize = 80;
/// The maximum number of different changes.
const MAX_CHANGES: usize = 4;

/// Returns what an output says that was changed: lines with a verb and a number, those that differ only in their number as one with the sum.
/// Empty if it says nothing of the kind.
pub(super) fn changes(kind: Kind, output: &str) -> String {
    if kind == Kind::Published {
        return address(output).unwrap_or_default().to_owned();
    }
    let mut all: Vec<Change> = Vec::new();
    for line in output.lines().filter_map(|line| change(kind, line)) {
        let number = line.split_whitespace().find_map(|word| word.parse::<u64>().ok());
        let pattern = number.map_or_else(|| line.to_owned(), |number| line.replacen(&number.to_string(), "{}", 1));
        let number = number.unwrap_or_default();
        if let Some(known) = all.iter_mut().find(|known| known.pattern == pattern) {
            (known.sum, known.times) = (known.sum.saturating_add(number), known.times + 1);
        } else if all.len() < MAX_CHANGES {
            all.push(Change { pattern, sum: number, times: 1 });
        }
    }
    all.iter().map(Change::text).collect::<Vec<_>>().join(", ")
}

/// What one or several lines say that was changed.
struct Change {
    /// The line with a gap in the place of its number.
    pattern: String,
    /// The sum of the numbers, and how many lines there are.
    sum: u64,
    times: usize,
}

impl Change {
    fn text(&self) -> String {
        let said = self.pattern.replacen("{}", &self.sum.to_string(), 1);
        if self.times == 1 { said } else { format!("{said} ({}×)", self.times) }
    }
}

/// Returns a line of output without its mark, if it says what was changed.
fn change(kind: Kind, line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end_matches(['.', ':', '!']);
    // "Updated 3 days ago" changes nothing.
    if line.chars().count() > MAX_LINE_CHARS || line.ends_with(" ago") {
        return None;
    }
    if kind == Kind::Database {
        let is_statement = STATEMENTS.iter().any(|statement| line.starts_with(statement));
        return (is_statement && line.split_whitespace().count() <= 4).then_some(line);
    }
    // Django names the migrations that it applies.
    if kind == Kind::ScriptByName && line.starts_with("Applying ") {
        return Some(line);
    }
    let verb = line.split_whitespace().next()?.to_lowercase();
    let has_number = line.split_whitespace().take(4).any(|word| word.parse::<u64>().is_ok());
    (has_number && CHANGES.contains(&verb.as_str())).then_some(line)
}

/// Returns the address that stands alone on a line, where what was published is.
fn address(output: &str) -> Option<&str> {
    let is_address = |line: &&str| line.starts_with("https://") && !line.contains(' ') && !line.contains("/legacy");
    output.lines().map(str::trim).rfind(is_address)
}

/// Returns the line in which a script says that it failed, whatever its status.
pub(super) fn error(output: &str) -> Option<&str> {
    let is_error = |line: &&str| {
        let name = line.split([':', ' ']).next().unwrap_or_default();
        name.ends_with("Error") && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && line.contains(": ")
    };
    output.lines().map(without_mark).find(is_error)
}

fn without_mark(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['❌', '✗', '✖', ' ']);
    line.strip_prefix("[stderr]").unwrap_or(line).trim()
}
