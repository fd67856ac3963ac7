//! The sample session, written by hand in the format of Claude Code 2.1. In it an export is fixed: it contains a choice
//! between options, a standing rule, a failure and its fix, a compaction, a commit, and unfinished work.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The template. `@CWD@`, `@SESSION@` and `@AT+SECONDS@` are replaced for each use.
const TEMPLATE: &str = include_str!("sample.jsonl");

/// The session's identifier.
pub const SESSION: &str = "5a3b1e00-5a5a-4000-8000-00000000da71";

/// What happens between two lines of the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleEvent {
    /// The agent finished its turn with this message.
    Answered(String),
    /// The context is about to be compacted.
    Compacting,
    /// The context was compacted to this summary.
    Compacted(String),
}

/// A line of the transcript, and what happens around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line without its newline.
    pub text: String,
    /// What happens before the line is written.
    pub before: Option<SampleEvent>,
    /// What happens after the line was written.
    pub after: Option<SampleEvent>,
}

/// Returns the lines of a session in `folder` that began at `begin`, in milliseconds since the Unix epoch.
pub fn lines(folder: &Path, begin: u64) -> Vec<Line> {
    let folder = Value::from(folder.to_string_lossy()).to_string();
    let folder = folder.strip_prefix('"').and_then(|folder| folder.strip_suffix('"')).unwrap_or(&folder);
    let mut lines = Vec::new();
    let mut last_text = String::new();
    for line in TEMPLATE.lines() {
        let text = with_times(&line.replace("@CWD@", folder).replace("@SESSION@", SESSION), begin);
        let fields: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(said) = fields.pointer("/message/content/0/text").and_then(Value::as_str) {
            said.clone_into(&mut last_text);
        }
        let is = |name: &str, value: &str| fields.get(name).and_then(Value::as_str) == Some(value);
        let after = if is("subtype", "stop_hook_summary") {
            Some(SampleEvent::Answered(last_text.clone()))
        } else if fields.get("isCompactSummary").is_some() {
            let summary = fields.pointer("/message/content").and_then(Value::as_str).unwrap_or_default();
            let summary = summary.split_once("\n\n").map_or(summary, |(_, summary)| summary);
            Some(SampleEvent::Compacted(summary.to_owned()))
        } else {
            None
        };
        let before = is("subtype", "compact_boundary").then_some(SampleEvent::Compacting);
        lines.push(Line { text, before, after });
    }
    lines
}

/// Replaces every `@AT+SECONDS@`.
fn with_times(line: &str, begin: u64) -> String {
    const MARK: &str = "@AT+";
    let begin = i64::try_from(begin).ok().and_then(|begin| Timestamp::from_millisecond(begin).ok()).unwrap_or_default();
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once(MARK) {
        let (seconds, behind) = behind.split_once('@').unwrap_or((behind, ""));
        let at = begin.saturating_add(SignedDuration::from_secs(seconds.parse().unwrap_or(0))).unwrap_or(begin);
        out.extend([before, &format!("{at:.3}")]);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Writes the session as a transcript of a project in `folder`, and returns its path. The session begins at `begin`, in
/// milliseconds since the Unix epoch.
pub fn write_to(folder: &Path, begin: u64) -> io::Result<PathBuf> {
    let project = folder.join("project");
    fs::create_dir_all(&project)?;
    let transcript = folder.join(format!("{SESSION}.jsonl"));
    let lines = lines(&project, begin);
    fs::write(&transcript, lines.iter().fold(String::new(), |text, line| text + &line.text + "\n"))?;
    Ok(transcript)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_json_and_nothing_stands_for_anything_else() {
        let lines = lines(Path::new("/home/\"me\"/tea\""), 1_700_000_000_000);
        assert!(lines.len() >= 40);
        for line in &lines {
            serde_json::from_str::<Value>(&line.text).unwrap();
            assert!(!line.text.contains("@AT+") && !line.text.contains("@CWD@") && !line.text.contains("@SESSION@"));
        }
        let first: Value = serde_json::from_str(&lines[1].text).unwrap();
        assert_eq!(first["cwd"], "/home/\"me\"/tea\"");
        assert_eq!(first["timestamp"], "2023-11-14T22:13:20.000Z");
    }

    #[test]
    fn all_moments_happen() {
        let lines = lines(Path::new("/x"), 0);
        let moments: Vec<_> = lines.into_iter().flat_map(|line| [line.before, line.after]).flatten().collect();
        assert!(matches!(
            &moments[..],
            [SampleEvent::Answered(_), SampleEvent::Answered(_), SampleEvent::Compacting, SampleEvent::Compacted(_), SampleEvent::Answered(last)]
                if last.contains("4f2c1aa")
        ));
    }
}
