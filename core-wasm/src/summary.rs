//! Stage `summarizer`: turns a session's notes into its summary.

use crate::bindings::exports::throughline::policy::summarizer::Summary;
use crate::bindings::throughline::policy::types::SessionNotes;
use crate::extract::labels;
use crate::text;

/// The maximum number of topics in a summary.
const MAX_TOPICS: usize = 8;

/// Returns the summary of a session, or none if nothing was asked and nothing changed.
pub fn summarize(notes: &SessionNotes) -> Option<Summary> {
    if notes.original_request.is_empty() && notes.outcome.is_empty() && notes.changes.is_empty() {
        return None;
    }
    Some(Summary { text: sentences(notes), topics: topics(notes) })
}

fn sentences(notes: &SessionNotes) -> String {
    let mut all = notes.original_request.clone();
    if !notes.outcome.is_empty() {
        all = if all.is_empty() {
            notes.outcome.clone()
        } else {
            format!("{} → {}", all.trim_end_matches(['.', '。']), notes.outcome)
        };
    }
    if let Some(commits) = quoted(&notes.commits, 3) {
        let language = notes.attributes.iter().find(|(name, _)| name == "language").map_or("en", |(_, language)| language);
        all = format!("{} ({}: {commits})", all.trim_end(), labels::of(language).committed);
    }
    all
}

fn quoted(list: &[String], max: usize) -> Option<String> {
    if list.is_empty() {
        return None;
    }
    let shown: Vec<String> =
        list.iter().rev().take(max).rev().map(|item| format!("\"{}\"", text::clip(item, 100))).collect();
    let more = list.len().saturating_sub(max);
    Some(if more > 0 { format!("{} (+{more})", shown.join(", ")) } else { shown.join(", ") })
}

/// Returns what the session was about, most informative first: its title, then what was committed, done and asked.
fn topics(notes: &SessionNotes) -> Vec<String> {
    let title = notes.attributes.iter().find(|(name, _)| name == "title").map(|(_, title)| title.as_str());
    let candidates = title
        .into_iter()
        .chain(notes.commits.iter().rev().map(String::as_str))
        .chain(notes.done.iter().map(String::as_str))
        .chain([notes.original_request.as_str(), notes.current_objective.as_str()]);
    let mut topics: Vec<String> = Vec::new();
    for candidate in candidates {
        let topic = text::clip(&text::plain(candidate), 80).into_owned();
        let features = text::features(&topic);
        if topic.is_empty() || topics.iter().any(|known| text::similarity(&text::features(known), &features) >= 0.6) {
            continue;
        }
        topics.push(topic);
        if topics.len() == MAX_TOPICS {
            break;
        }
    }
    topics
}
