//! Forgetting for good: what was said with all that was derived from it, and single memories.

use anyhow::Result;
use serde::Serialize;

use super::Refused;
use crate::hooks;
use crate::projection;
use crate::runtime::Runtime;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_platform::log;
use throughline_privacy::intervals::{Interval, Intervals};
use throughline_store::{Forgotten, Selection, Store, folded};

/// What was forgotten, or would be.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// In the database.
    #[serde(flatten)]
    pub forgotten: Forgotten,
    /// Lines of the log.
    pub log_lines: u64,
    /// Whether it only would be.
    pub dry_run: bool,
}

/// Forgets what the selection says, with `really`; else says what would go, and deletes nothing.
pub fn forget(runtime: &Runtime, store: &mut Store, selection: &Selection, really: bool) -> Result<Report> {
    if really && selection.words.is_empty() {
        // First, so that a kill on the way cannot leave what a next reading would bring back.
        let interval = Interval {
            project: selection.project.clone(),
            session: selection.session.clone(),
            root: None,
            from: 0,
            to: Some(selection.before.unwrap_or(runtime.now)),
        };
        Intervals::change(&runtime.paths.intervals(), |all| {
            if !all.contains(&interval) {
                all.push(interval);
            }
        })
        .map_err(anyhow::Error::msg)?;
    }
    // What is still in a journal would come into the store afterwards.
    hooks::take_journals(runtime, store)?;
    let projects = store.all_projects()?;
    let forgotten = store.forget(selection, runtime.now, really)?;
    let mut log_lines = 0;
    if really {
        let is_gone = |line: &str| {
            let line = folded(line);
            let of_words = !selection.words.is_empty() && selection.words.iter().all(|word| line.contains(word.as_str()));
            of_words || selection.session.as_ref().is_some_and(|id| selection.words.is_empty() && line.contains(&folded(id)))
        };
        hooks::minutes::forget(runtime, selection)?;
        log_lines = log::forget(&runtime.paths.log(), is_gone)
            .map_err(|error| Refused::new(format!("the log cannot be rewritten: {error}"), "mend that, and say it again"))?;
        erase(store, "deleted")?;
        make_anew(runtime, store, &projects)?;
    }
    Ok(Report { forgotten, log_lines, dry_run: !really })
}

/// Deletes memories for good. Returns those that there were; one that is named twice is gone by the second time.
pub fn delete(runtime: &Runtime, store: &mut Store, memories: Vec<Memory>) -> Result<Vec<Memory>> {
    let projects = store.all_projects()?;
    let mut deleted = Vec::new();
    for memory in memories {
        if store.delete_memory(&memory.id, runtime.now)? {
            deleted.push(memory);
        }
    }
    if !deleted.is_empty() {
        erase(store, "deleted")?;
        make_anew(runtime, store, &projects)?;
    }
    Ok(deleted)
}

/// Leaves nothing of what was taken out in the database's free pages and its write-ahead log; `done` says what was done to it.
pub fn erase(store: &Store, done: &str) -> Result<()> {
    if store.erase()? {
        return Ok(());
    }
    Err(Refused::new(
        format!("it is {done}, but another process still holds the database's log, in which it may stand"),
        "say it again when no session is at work",
    )
    .into())
}

/// Makes the files of projects anew after something was forgotten; `before` are the projects that there were.
pub fn make_anew(runtime: &Runtime, store: &Store, before: &[Project]) -> Result<()> {
    projection::make_anew(store, &runtime.config.projections, before).map_err(|error| {
        Refused::new(
            format!("files that were made of it could not be made anew: {error:#}"),
            "mend that and run `throughline projections --all-projects`, or delete them",
        )
        .into()
    })
}

/// The words of a query as [`Selection`] wants them; what stands in quotes is one. At least one must have three characters.
pub fn words(query: &str) -> Result<Vec<String>, Refused> {
    let words: Vec<String> = query
        .split('"')
        .enumerate()
        .flat_map(|(at, part)| match at % 2 {
            1 => vec![part.trim()],
            _ => part.split_whitespace().collect(),
        })
        .filter(|word| !word.is_empty())
        .map(folded)
        .collect();
    if words.iter().all(|word| word.chars().count() < 3) {
        return Err(Refused::new("a word of at least three characters is needed", "say more of what is to be forgotten"));
    }
    Ok(words)
}

/// A day or moment as milliseconds since the Unix epoch.
pub fn moment(text: &str) -> Result<u64, Refused> {
    let zoned = |day: jiff::civil::Date| day.to_zoned(jiff::tz::TimeZone::system()).ok().map(|day| day.timestamp());
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| text.parse::<jiff::civil::Date>().ok().and_then(zoned));
    at.and_then(|at| u64::try_from(at.as_millisecond()).ok())
        .ok_or_else(|| Refused::new(format!("{text:?} is no date"), "such as 2026-01-31, or 2026-01-31T12:00:00Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_query() {
        assert_eq!(words("Alpha \"two Words\" b").unwrap(), ["alpha", "two words", "b"]);
        assert!(words("a b").is_err() && words("").is_err());
        assert!(moment("2026-01-31").is_ok() && moment("2026-01-31T00:00:00Z").is_ok());
        assert!(moment("soon").is_err());
    }
}
