//! Removes excluded content from transcript lines on their way to a policy. A line that is excluded as a whole becomes
//! empty, so that positions in the file stay the same. Lines that cannot be affected are not even parsed.
//!
//! A session can move to another folder and back. So each line is judged by its own folder: whether that is excluded,
//! and whether its project was paused when the line was written. A line that names no folder, or that summarizes the
//! session, may repeat what was said anywhere before. It is left out if any earlier line was in an excluded folder.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::ExclusionRules;
use super::intervals::Intervals;
use throughline_model::lines::{Line, LineSource};
use throughline_model::project::Project;

/// Names of fields that hold the path of the file that the object is about.
const PATH_FIELDS: &[&str] = &["file_path", "filePath", "filename", "path", "notebook_path", "displayPath", "relativePath"];

/// Fields of a line that are metadata and not text.
const METADATA_FIELDS: &[&str] = &[
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

/// Whether sessions in a folder are excluded.
pub type IsExcludedFolder = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The part of the transcript before the lines that are being read.
pub trait EarlierPart: Send {
    /// Returns its last lines, or all of them.
    fn lines(&self) -> io::Result<Vec<String>>;

    /// Returns all folders that its lines name as `cwd`.
    fn folders(&self) -> io::Result<BTreeSet<String>>;
}

/// The exclusions that apply to one session.
#[derive(Clone)]
pub struct ExclusionFilter {
    /// The exclusions of the configuration.
    pub rules: Arc<ExclusionRules>,
    /// Which folders are excluded; none if no folder is.
    pub folders: Option<IsExcludedFolder>,
    /// The times of which nothing is remembered.
    pub intervals: Arc<Intervals>,
    /// The project's identifier.
    pub project: String,
    /// The session's identifier.
    pub session: String,
    /// When the session began, in milliseconds since the Unix epoch; 0 if unknown.
    pub began: u64,
}

impl ExclusionFilter {
    /// Whether nothing is excluded, so that lines need not be checked.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty() && !self.depends_on_place_or_time()
    }

    /// Whether a line may be excluded because of its folder or its time.
    fn depends_on_place_or_time(&self) -> bool {
        self.folders.is_some() || self.intervals.may_overlap(self.began)
    }

    /// Wraps a source of lines so that it leaves out what is excluded.
    pub fn wrap(&self, lines: Box<dyn LineSource>, earlier: Box<dyn EarlierPart>) -> Box<dyn LineSource> {
        if self.is_idle() {
            return lines;
        }
        Box::new(FilteredLines {
            places: VisitedFolders::new(self),
            guard: self.clone(),
            lines,
            earlier,
            looked_back: false,
            seen: HashSet::new(),
            excluded: HashSet::new(),
        })
    }

    /// Removes what is excluded from a text of an event. Returns `None` if nothing is left. `folders` returns all folders
    /// that the transcript names.
    pub fn clean_supplement(
        &self,
        kind: &str,
        text: String,
        folders: impl FnOnce() -> io::Result<BTreeSet<String>>,
    ) -> Option<String> {
        // A summary of the whole session includes what was said in an excluded folder or while it was paused.
        if kind == "compact-summary" && self.depends_on_place_or_time() {
            let mut places = VisitedFolders::new(self);
            places.visit_all(self, &folders().ok()?);
            if places.were_excluded || VisitedFolders::overlap(self, &places.projects, &[&self.session]) {
                return None;
            }
        }
        Some(if self.rules.is_empty() { None } else { self.rules.clean(&text) }.unwrap_or(text))
    }
}

/// What is known about a folder.
#[derive(Clone)]
struct VisitedFolder {
    is_excluded: bool,
    /// The identifier of its project.
    project: String,
}

/// The folders that the session has visited.
struct VisitedFolders {
    known: HashMap<String, VisitedFolder>,
    /// The projects of the folders, and the session's own.
    projects: BTreeSet<String>,
    /// Whether one of the folders is excluded.
    were_excluded: bool,
    /// Whether the folders of the earlier part are among them.
    has_earlier: bool,
}

impl VisitedFolders {
    fn new(guard: &ExclusionFilter) -> Self {
        let projects = BTreeSet::from([guard.project.clone()]);
        Self { known: HashMap::new(), projects, were_excluded: false, has_earlier: false }
    }

    fn visit(&mut self, guard: &ExclusionFilter, folder: &str) -> VisitedFolder {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let path = Path::new(folder);
        let is_excluded = guard.folders.as_ref().is_some_and(|is_excluded| is_excluded(path));
        let place = VisitedFolder { is_excluded, project: Project::discover(path).id };
        self.were_excluded |= is_excluded;
        self.projects.insert(place.project.clone());
        self.known.insert(folder.to_owned(), place.clone());
        place
    }

    fn visit_all(&mut self, guard: &ExclusionFilter, folders: &BTreeSet<String>) {
        for folder in folders.iter().filter(|folder| Project::is_absolute_path(folder)) {
            self.visit(guard, folder);
        }
    }

    /// Whether an interval of one of the projects overlaps the session.
    fn overlap(guard: &ExclusionFilter, projects: &BTreeSet<String>, sessions: &[&str]) -> bool {
        projects.iter().any(|project| guard.intervals.overlaps_session(project, sessions, guard.began))
    }
}

/// The fields of a line that say where and when it was written.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Origin {
    cwd: Value,
    timestamp: Value,
    session_id: Value,
    forked_from: Value,
    is_compact_summary: bool,
}

struct FilteredLines {
    guard: ExclusionFilter,
    lines: Box<dyn LineSource>,
    earlier: Box<dyn EarlierPart>,
    /// Whether the tool calls of the earlier part are known.
    looked_back: bool,
    places: VisitedFolders,
    /// The identifiers of the tool calls seen so far, and of those whose results are excluded.
    seen: HashSet<String>,
    excluded: HashSet<String>,
}

impl LineSource for FilteredLines {
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>> {
        let mut lines = self.lines.read_lines(max_bytes)?;
        for line in &mut lines {
            if let Some(text) = self.filter_line(&line.text)? {
                line.text = text;
            }
        }
        Ok(lines)
    }
}

impl FilteredLines {
    /// Returns the line without its excluded parts, or `None` if the line is unchanged.
    fn filter_line(&mut self, text: &str) -> io::Result<Option<String>> {
        if text.is_empty() {
            return Ok(None);
        }
        if self.is_left_out(text)? {
            self.leave_out_calls(text);
            return Ok(Some(String::new()));
        }
        if !self.may_be_excluded(text)? {
            return Ok(None);
        }
        let Ok(Value::Object(mut line)) = serde_json::from_str::<Value>(text) else {
            return Ok(self.guard.rules.clean(text));
        };
        let mut changed = Changes::default();
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

    /// Whether the line was written in an excluded folder or at an excluded time.
    fn is_left_out(&mut self, text: &str) -> io::Result<bool> {
        if !self.guard.depends_on_place_or_time() {
            return Ok(false);
        }
        let origin: Origin = serde_json::from_str(text).unwrap_or_default();
        let folder = origin.cwd.as_str().filter(|folder| Project::is_absolute_path(folder));
        let place = folder.map(|folder| self.places.visit(&self.guard, folder));
        let at = origin.timestamp.as_str().and_then(|stamp| stamp.parse::<jiff::Timestamp>().ok());
        let at = at.and_then(|at| u64::try_from(at.as_millisecond()).ok()).filter(|_| !origin.is_compact_summary);
        // Such a line may repeat what was said anywhere and at any time before.
        let place = place.filter(|_| !origin.is_compact_summary);
        if place.is_none() || at.is_none() {
            self.visit_earlier()?;
        }
        if place.as_ref().map_or(self.places.were_excluded, |place| place.is_excluded) {
            return Ok(true);
        }
        let mut sessions = vec![self.guard.session.as_str()];
        sessions.extend(origin.session_id.as_str());
        sessions.extend(origin.forked_from["sessionId"].as_str());
        let projects = match (place, at) {
            (Some(place), Some(_)) => BTreeSet::from([self.guard.project.clone(), place.project]),
            _ => self.places.projects.clone(),
        };
        if !VisitedFolders::overlap(&self.guard, &projects, &sessions) {
            return Ok(false);
        }
        let Some(at) = at else { return Ok(true) };
        Ok(projects.iter().any(|project| self.guard.intervals.is_excluded_at(project, &sessions, at)))
    }

    /// Learns in which folders the session was before the lines that are being read.
    fn visit_earlier(&mut self) -> io::Result<()> {
        if !self.places.has_earlier {
            self.places.has_earlier = true;
            self.places.visit_all(&self.guard, &self.earlier.folders()?);
        }
        Ok(())
    }

    /// Excludes the results of the tool calls in a line that is left out.
    fn leave_out_calls(&mut self, text: &str) {
        if memmem::find(text.as_bytes(), b"\"tool_use\"").is_some() {
            self.seen.extend(values(text, "id").map(str::to_owned));
            self.excluded.extend(values(text, "id").map(str::to_owned));
        }
    }

    /// A cheap test on the line's bytes: if it returns false, nothing in the line is excluded. Also records tool calls.
    fn may_be_excluded(&mut self, text: &str) -> io::Result<bool> {
        let rules = Arc::clone(&self.guard.rules);
        let has = |word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        let escaped = has("\\");
        let mut matters = rules.may_name_excluded_path(text)
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
        if std::mem::replace(&mut self.looked_back, true) {
            return Ok(());
        }
        for text in self.earlier.lines()? {
            if memmem::find(text.as_bytes(), b"\"tool_use\"").is_none() {
                continue;
            }
            if self.is_left_out(&text)? {
                self.leave_out_calls(&text);
            } else if self.may_be_excluded(&text)?
                && let Ok(mut line) = serde_json::from_str::<Map<String, Value>>(&text)
            {
                self.object(&mut line, &mut Changes::default());
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &mut Value, changed: &mut Changes) {
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

    fn object(&mut self, object: &mut Map<String, Value>, changed: &mut Changes) {
        for (key, value) in object.iter_mut() {
            if !(METADATA_FIELDS.contains(&key.as_str()) && value.is_string()) {
                self.value(value, changed);
            }
        }
    }

    /// Whether the whole object is excluded.
    fn is_excluded(&mut self, object: &Map<String, Value>, changed: &mut Changes) -> bool {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        match text("type") {
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let gone = text("name").is_some_and(|name| self.guard.rules.excludes_tool(name))
                    || object.get("input").is_some_and(|input| names_excluded_path(&self.guard.rules, input));
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
            _ => PATH_FIELDS.iter().any(|field| text(field).is_some_and(|path| self.guard.rules.names_excluded_path(path))),
        }
    }
}

#[derive(Default)]
struct Changes {
    any: bool,
    /// A result was removed, so the agent's own record of the result must be removed too.
    results: bool,
}

fn names_excluded_path(rules: &ExclusionRules, value: &Value) -> bool {
    match value {
        Value::String(text) => rules.names_excluded_path(text),
        Value::Array(items) => items.iter().any(|item| names_excluded_path(rules, item)),
        Value::Object(fields) => fields.values().any(|item| names_excluded_path(rules, item)),
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

    fn guard(tools: &[&str], paths: &[&str], patterns: &[&str]) -> ExclusionFilter {
        let list = |items: &[&str]| items.iter().map(ToString::to_string).collect();
        let settings = Settings {
            exclude_paths: list(paths),
            exclude_tools: list(tools),
            exclude_patterns: list(patterns),
            ..Settings::default()
        };
        ExclusionFilter {
            rules: Arc::new(ExclusionRules::new(&settings, Path::new("/home/me")).unwrap()),
            folders: None,
            intervals: Arc::default(),
            project: "p".into(),
            session: "s".into(),
            began: 0,
        }
    }

    impl EarlierPart for Vec<String> {
        fn lines(&self) -> io::Result<Vec<String>> {
            Ok(self.clone())
        }

        fn folders(&self) -> io::Result<BTreeSet<String>> {
            Ok(self.iter().flat_map(|line| values(line, "cwd").map(str::to_owned)).collect())
        }
    }

    fn through(guard: &ExclusionFilter, text: &str, earlier: &[String]) -> Vec<Line> {
        let mut lines = guard.wrap(Box::new(TextLines::new(text)), Box::new(earlier.to_vec()));
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
        Intervals::update(&file, |all| all.push(interval)).unwrap();
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
        let shown = |guard: &ExclusionFilter| {
            through(guard, &text, &[]).iter().map(|line| !line.text.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(shown(&guard), [true, false, false, true, false]);
        let nowhere = || Ok(BTreeSet::new());
        assert_eq!(guard.clean_supplement("compact-summary", "x".into(), nowhere), None);
        assert_eq!(guard.clean_supplement("last-assistant-message", "x".into(), nowhere).as_deref(), Some("x"));
        guard.began = 2_000;
        assert!(guard.is_idle());
        assert_eq!(shown(&guard), [true; 5]);
    }

    fn shown(guard: &ExclusionFilter, lines: &[String], earlier: &[String]) -> Vec<bool> {
        through(guard, &lines.join("\n"), earlier).iter().map(|line| !line.text.is_empty()).collect()
    }

    fn said_in(folder: &str) -> String {
        json!({"type": "user", "timestamp": "1970-01-01T00:00:01Z", "cwd": folder, "message": {"content": "x"}}).to_string()
    }

    #[test]
    fn attack_a_session_that_moves_into_an_excluded_folder_and_back() {
        let mut guard = guard(&[], &[], &[]);
        guard.folders = Some(Arc::new(|folder| folder.starts_with("/secret")));
        assert!(!guard.is_idle());
        let no_place = |text: &str| json!({"type": "last-prompt", "lastPrompt": text}).to_string();
        let compact = json!({"timestamp": "1970-01-01T00:00:01Z", "cwd": "/open", "isCompactSummary": true}).to_string();
        let call = json!({"type": "assistant", "cwd": "/secret/deep", "timestamp": "1970-01-01T00:00:01Z",
            "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "cat x; cd /open"}}]}});
        let back = json!({"type": "user", "cwd": "/open", "timestamp": "1970-01-01T00:00:01Z",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]}, "toolUseResult": "x"});
        let lines = [
            no_place("before"),
            said_in("/open"),
            said_in("/secret"),
            said_in("/secret/deep"),
            call.to_string(),
            back.to_string(),
            said_in("/open"),
            no_place("after"),
            said_in("src"),
            compact.clone(),
        ];
        let expected = [true, true, false, false, false, false, true, false, false, false];
        assert_eq!(shown(&guard, &lines, &[]), expected);
        // However the lines are split over several readings.
        for at in 0..lines.len() {
            assert_eq!(shown(&guard, &lines[at..], &lines[..at]), expected[at..], "from line {at}");
        }
        assert_eq!(shown(&guard, &[said_in("/open"), no_place("after"), compact], &[]), [true; 3]);
        let folders = |folder: &'static str| move || Ok(BTreeSet::from([folder.to_owned()]));
        assert_eq!(guard.clean_supplement("compact-summary", "x".into(), folders("/secret")), None);
        assert_eq!(guard.clean_supplement("compact-summary", "x".into(), folders("/open")).as_deref(), Some("x"));
        let fails = || Err(io::Error::other("it cannot be read"));
        assert_eq!(guard.clean_supplement("compact-summary", "x".into(), fails), None);
    }

    #[test]
    fn attack_a_session_that_moves_out_of_a_paused_project() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("privacy.json");
        let paused = Project::discover(Path::new("/no/paused")).id;
        let interval = Interval { project: Some(paused), from: 500, to: Some(2_000), ..Interval::default() };
        Intervals::update(&file, |all| all.push(interval)).unwrap();
        let guard = ExclusionFilter { intervals: Arc::new(Intervals::load(&file).unwrap()), ..guard(&[], &[], &[]) };
        let no_time = json!({"type": "summary", "summary": "x"}).to_string();
        let lines = [no_time.clone(), said_in("/no/open"), said_in("/no/paused"), said_in("/no/open"), no_time];
        assert_eq!(shown(&guard, &lines, &[]), [true, true, false, true, false]);
        assert_eq!(shown(&guard, &lines[3..], &lines[..3]), [true, false]);
        let folders = || Ok(BTreeSet::from(["/no/paused".to_owned()]));
        assert_eq!(guard.clean_supplement("compact-summary", "x".into(), folders), None);
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

    fn guard_of_nothing() -> ExclusionFilter {
        guard(&[], &[], &[])
    }
}
