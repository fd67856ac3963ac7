//! Removes excluded content from transcript lines on their way to a policy. A line that is excluded as a whole becomes
//! empty, so that positions in the file stay the same. Lines that cannot be affected are not even parsed.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Rules;
use super::intervals::Intervals;
use throughline_model::lines::{Line, LineSource};

/// Names of fields that hold the path of the file that the object is about.
const PATH_FIELDS: &[&str] = &["file_path", "filePath", "filename", "path", "notebook_path", "displayPath", "relativePath"];

/// Fields of a line that are metadata and not text.
const OWN_FIELDS: &[&str] = &[
    "type",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sessionId",
    "timestamp",
    "cwd",
    "version",
    "requestId",
    "id",
    "tool_use_id",
    "sourceToolAssistantUUID",
];

/// Returns the lines of the transcript before those that are being read, in part or all of them.
pub type LookBack = Box<dyn Fn() -> io::Result<Vec<String>> + Send>;

/// The exclusions that apply to one session.
#[derive(Clone)]
pub struct Guard {
    /// The exclusions of the configuration.
    pub rules: Arc<Rules>,
    /// The times of which nothing is remembered.
    pub intervals: Arc<Intervals>,
    /// The project's identifier.
    pub project: String,
    /// The session's identifier.
    pub session: String,
    /// When the session began, in milliseconds since the Unix epoch; 0 if unknown.
    pub began: u64,
}

impl Guard {
    /// Whether nothing is excluded, so that lines need not be checked.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty() && !self.intervals.may_touch(&self.project, self.began)
    }

    /// Wraps a source of lines so that it leaves out what is excluded.
    pub fn over(&self, lines: Box<dyn LineSource>, look_back: LookBack) -> Box<dyn LineSource> {
        if self.is_idle() {
            return lines;
        }
        Box::new(Guarded {
            guard: self.clone(),
            lines,
            look_back: Some(look_back),
            seen: HashSet::new(),
            excluded: HashSet::new(),
        })
    }

    /// Returns a text that came with an event, without what is excluded; none if all of it is.
    pub fn supplement(&self, kind: &str, text: String) -> Option<String> {
        // A summary of the whole session includes what was said while it was paused.
        if kind == "compact-summary" && self.intervals.touch(&self.project, &[&self.session], self.began) {
            return None;
        }
        Some(if self.rules.is_empty() { None } else { self.rules.clean(&text) }.unwrap_or(text))
    }

    /// Whether the line was written at an excluded time.
    fn is_untimely(&self, text: &str) -> bool {
        #[derive(Deserialize, Default)]
        #[serde(default, rename_all = "camelCase")]
        struct Fields {
            timestamp: Value,
            session_id: Value,
            forked_from: Value,
            is_compact_summary: bool,
        }
        let fields: Fields = serde_json::from_str(text).unwrap_or_default();
        let mut sessions = vec![self.session.as_str()];
        sessions.extend(fields.session_id.as_str());
        sessions.extend(fields.forked_from["sessionId"].as_str());
        if !self.intervals.touch(&self.project, &sessions, self.began) {
            return false;
        }
        let at = fields.timestamp.as_str().and_then(|stamp| stamp.parse::<jiff::Timestamp>().ok());
        // A line without a timestamp may repeat what was said during a pause.
        let Some(at) = at.and_then(|at| u64::try_from(at.as_millisecond()).ok()) else { return true };
        fields.is_compact_summary || self.intervals.hold(&self.project, &sessions, at)
    }
}

struct Guarded {
    guard: Guard,
    lines: Box<dyn LineSource>,
    /// Taken out when it is called, because once is enough.
    look_back: Option<LookBack>,
    /// The identifiers of the tool calls seen so far, and of those whose results are excluded.
    seen: HashSet<String>,
    excluded: HashSet<String>,
}

impl LineSource for Guarded {
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>> {
        let mut lines = self.lines.read_lines(max_bytes)?;
        for line in &mut lines {
            if let Some(text) = self.guarded(&line.text)? {
                line.text = text;
            }
        }
        Ok(lines)
    }
}

impl Guarded {
    /// Returns the line without what is excluded; none if the line is unchanged.
    fn guarded(&mut self, text: &str) -> io::Result<Option<String>> {
        if text.is_empty() {
            return Ok(None);
        }
        if self.guard.intervals.may_touch(&self.guard.project, self.guard.began) && self.guard.is_untimely(text) {
            return Ok(Some(String::new()));
        }
        if self.guard.rules.is_empty() || !self.may_matter(text)? {
            return Ok(None);
        }
        let Ok(Value::Object(mut line)) = serde_json::from_str::<Value>(text) else {
            return Ok(self.guard.rules.clean(text));
        };
        let mut changed = Changed::default();
        self.object(&mut line, &mut changed);
        if changed.results {
            line.remove("toolUseResult");
        }
        if !changed.any {
            return Ok(None);
        }
        let is_gone =
            |value: Option<&Value>| value.is_some_and(|it| it.is_null() || it.as_array().is_some_and(Vec::is_empty));
        let content = line.get("message").map(|message| message.get("content").unwrap_or(&Value::Null));
        if is_gone(content) || is_gone(line.get("attachment")) {
            return Ok(Some(String::new()));
        }
        Ok(Some(Value::Object(line).to_string()))
    }

    /// A cheap test on the line's bytes: if it returns false, nothing in the line is excluded. Also records tool calls.
    fn may_matter(&mut self, text: &str) -> io::Result<bool> {
        let rules = Arc::clone(&self.guard.rules);
        let has = |word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        let escaped = has("\\");
        let mut matters = rules.may_name_path(text)
            || (escaped && has("\\u") && !rules.paths.is_empty())
            || (!rules.patterns.is_empty() && (escaped || rules.patterns.iter().any(|pattern| pattern.is_match(text))));
        if has("\"tool_use\"") {
            matters |= values(text, "name").any(|name| rules.excludes_tool(name));
            self.seen.extend(values(text, "id").map(str::to_owned));
        }
        if has("\"tool_result\"") {
            for id in values(text, "tool_use_id") {
                if !self.seen.contains(id) {
                    self.look_back()?;
                    // A result of an unknown call may contain anything.
                    if !self.seen.contains(id) {
                        self.excluded.insert(id.to_owned());
                    }
                }
                matters |= self.excluded.contains(id);
            }
        }
        Ok(matters)
    }

    /// Learns which tools were called before the lines that are being read.
    fn look_back(&mut self) -> io::Result<()> {
        let Some(look_back) = self.look_back.take() else { return Ok(()) };
        for text in look_back()? {
            if memmem::find(text.as_bytes(), b"\"tool_use\"").is_some()
                && self.may_matter(&text)?
                && let Ok(mut line) = serde_json::from_str::<Map<String, Value>>(&text)
            {
                self.object(&mut line, &mut Changed::default());
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &mut Value, changed: &mut Changed) {
        match value {
            Value::String(text) => {
                if let Some(cleaned) = self.guard.rules.clean(text) {
                    *text = cleaned;
                    changed.any = true;
                }
            }
            Value::Array(items) => {
                items.retain_mut(|item| {
                    let was_null = item.is_null();
                    self.value(item, changed);
                    was_null || !item.is_null()
                });
            }
            Value::Object(object) => {
                if self.is_excluded(object, changed) {
                    *value = Value::Null;
                    changed.any = true;
                } else {
                    self.object(object, changed);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, object: &mut Map<String, Value>, changed: &mut Changed) {
        for (key, value) in object.iter_mut() {
            if !(OWN_FIELDS.contains(&key.as_str()) && value.is_string()) {
                self.value(value, changed);
            }
        }
    }

    /// Whether the whole object is excluded.
    fn is_excluded(&mut self, object: &Map<String, Value>, changed: &mut Changed) -> bool {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        match text("type") {
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let gone = text("name").is_some_and(|name| self.guard.rules.excludes_tool(name))
                    || object.get("input").is_some_and(|input| names_path(&self.guard.rules, input));
                if let (true, Some(id)) = (gone, text("id")) {
                    self.excluded.insert(id.to_owned());
                }
                gone
            }
            Some("tool_result") => {
                let gone = text("tool_use_id").is_some_and(|id| self.excluded.contains(id));
                changed.results |= gone;
                gone
            }
            _ => PATH_FIELDS.iter().any(|field| text(field).is_some_and(|path| self.guard.rules.names_path(path))),
        }
    }
}

#[derive(Default)]
struct Changed {
    any: bool,
    /// A result was removed, so the agent's own record of the result must be removed too.
    results: bool,
}

fn names_path(rules: &Rules, value: &Value) -> bool {
    match value {
        Value::String(text) => rules.names_path(text),
        Value::Array(items) => items.iter().any(|item| names_path(rules, item)),
        Value::Object(fields) => fields.values().any(|item| names_path(rules, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the plain string values of all fields with this name in a line of JSON.
fn values<'a>(text: &'a str, field: &str) -> impl Iterator<Item = &'a str> {
    let quoted = format!("\"{field}\"");
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + memmem::find(text.get(from..)?.as_bytes(), quoted.as_bytes())? + quoted.len();
            from = at;
            let rest = text.get(at..)?.trim_start();
            if let Some(rest) = rest.strip_prefix(':').and_then(|rest| rest.trim_start().strip_prefix('"'))
                && let Some((value, _)) = rest.split_once('"')
            {
                return Some(value);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use serde_json::json;

    use super::super::Settings;
    use super::super::intervals::{Interval, Intervals};
    use super::*;
    use throughline_model::lines::TextLines;

    fn guard(tools: &[&str], paths: &[&str], patterns: &[&str]) -> Guard {
        let list = |items: &[&str]| items.iter().map(ToString::to_string).collect();
        let settings = Settings {
            exclude_paths: list(paths),
            exclude_tools: list(tools),
            exclude_patterns: list(patterns),
            ..Settings::default()
        };
        Guard {
            rules: Arc::new(Rules::new(&settings, Path::new("/home/me")).unwrap()),
            intervals: Arc::default(),
            project: "p".into(),
            session: "s".into(),
            began: 0,
        }
    }

    fn through(guard: &Guard, text: &str, earlier: &[String]) -> Vec<Line> {
        let earlier = earlier.to_vec();
        let mut lines = guard.over(Box::new(TextLines::new(text)), Box::new(move || Ok(earlier.clone())));
        lines.read_lines(usize::MAX).unwrap()
    }

    fn uses(id: &str, name: &str, input: &Value) -> String {
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
            .to_string()
    }

    fn result(id: &str) -> String {
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]}, "toolUseResult": "x"})
            .to_string()
    }

    #[test]
    fn uses_and_their_results_go_together() {
        let guard = guard(&["Web*"], &["*.key"], &[]);
        let text = [
            uses("1", "WebFetch", &json!({})),
            uses("2", "Bash", &json!({"command": "cat my.key"})),
            uses("3", "Bash", &json!({"command": "ls"})),
            result("1"),
            result("2"),
            result("3"),
        ]
        .join("\n");
        let lines = through(&guard, &text, &[]);
        let shown: Vec<bool> = lines.iter().map(|line| !line.text.is_empty()).collect();
        assert_eq!(shown, [false, false, true, false, false, true]);
        // Unaffected lines stay exactly the same, and so do all positions.
        assert_eq!(lines[2].text, text.lines().nth(2).unwrap());
        assert!(lines.iter().zip(&lines[1..]).all(|(a, b)| a.end == b.start));
    }

    #[test]
    fn a_result_whose_use_was_read_before_is_looked_up() {
        let guard = guard(&["WebFetch"], &[], &[]);
        let earlier = [uses("1", "WebFetch", &json!({})), uses("2", "Read", &json!({}))];
        let text = [result("1"), result("2"), result("nobody knows")].join("\n");
        let shown: Vec<bool> = through(&guard, &text, &earlier).iter().map(|line| !line.text.is_empty()).collect();
        assert_eq!(shown, [false, true, false]);
    }

    #[test]
    fn of_several_results_the_others_stay() {
        let guard = guard(&["WebFetch"], &[], &[]);
        let both = json!({"message": {"content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "gone"},
            {"type": "tool_result", "tool_use_id": "2", "content": "kept"}]}, "toolUseResult": "gone"});
        let earlier = [uses("1", "WebFetch", &json!({})), uses("2", "Read", &json!({}))];
        let lines = through(&guard, &both.to_string(), &earlier);
        assert!(lines[0].text.contains("kept") && !lines[0].text.contains("gone"), "{}", lines[0].text);
    }

    #[test]
    fn patterns_see_what_the_json_means() {
        let guard = guard(&[], &[], &["say \"xyzzy\""]);
        let line = json!({"type": "user", "message": {"content": "please say \"xyzzy\" now"}}).to_string();
        assert!(through(&guard, &line, &[])[0].text.contains("please [redacted:excluded] now"));
        assert!(through(&guard, "no JSON: say \"xyzzy\"", &[])[0].text.starts_with("no JSON: [redacted"));
    }

    #[test]
    fn what_was_said_in_a_pause_is_empty() {
        let mut guard = guard(&[], &[], &[]);
        let interval = Interval { project: Some("p".into()), from: 1_000, to: Some(2_000), ..Interval::default() };
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("privacy.json");
        Intervals::change(&file, |all| all.push(interval)).unwrap();
        guard.intervals = Arc::new(Intervals::load(&file).unwrap());
        let at = |stamp: &str| json!({"timestamp": stamp, "type": "user"}).to_string();
        let text = [
            at("1970-01-01T00:00:00.999Z"),
            at("1970-01-01T00:00:01Z"),
            json!({"type": "last-prompt", "lastPrompt": "said in the pause"}).to_string(),
            at("1970-01-01T00:00:02Z"),
            json!({"timestamp": "1970-01-01T00:00:03Z", "isCompactSummary": true}).to_string(),
        ]
        .join("\n");
        let shown = |guard: &Guard| through(guard, &text, &[]).iter().map(|line| !line.text.is_empty()).collect::<Vec<_>>();
        assert_eq!(shown(&guard), [true, false, false, true, false]);
        assert_eq!(guard.supplement("compact-summary", "x".into()), None);
        assert_eq!(guard.supplement("last-assistant-message", "x".into()).as_deref(), Some("x"));
        guard.began = 2_000;
        assert!(guard.is_idle());
        assert_eq!(shown(&guard), [true; 5]);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fail_and_lines_stay_where_they_are(text in "[a-z{}\":,\\[\\]\\\\\n.k/ey_tool useid]{0,300}") {
            let guard = guard(&["tool"], &["*.key"], &["se+d"]);
            let plain: Vec<(u64, u64)> = through(&guard_of_nothing(), &text, &[]).iter().map(|line| (line.start, line.end)).collect();
            let guarded: Vec<(u64, u64)> = through(&guard, &text, &[]).iter().map(|line| (line.start, line.end)).collect();
            prop_assert_eq!(plain, guarded);
        }
    }

    fn guard_of_nothing() -> Guard {
        guard(&[], &[], &[])
    }
}
