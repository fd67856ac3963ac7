//! Synthesized transcripts. Some agents keep no transcript that can be read: Cursor; Copilot CLI if its file is not
//! there; Codex if it keeps none. For their sessions the hooks write one themselves, with prompts, tool calls and
//! answers, in Claude Code's format, to `minutes/AGENT/SESSION.jsonl` in the data folder. The file is then read like
//! any other transcript. The texts are redacted before they are written; a file has at most 32 MiB and is readable by
//! this user only. Forgetting and scrubbing reach it. A file that nothing was added to for 30 days is deleted.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use serde_json::Value;

use super::exclusion;
use crate::redaction;
use crate::runtime::Runtime;
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::shorten::shorten_text;
use throughline_agents::protocol::transcripts::{LineWriter, copilot};
use throughline_agents::protocol::{Event, Moment, ToolUse};
use throughline_agents::transcript;
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;
use throughline_model::redacted::{Redacted, Texts};
use throughline_platform::files;
use throughline_platform::log::Level;
use throughline_platform::open::FileOptions as _;
use throughline_platform::paths;
use throughline_sandbox::chain::NotCompiled;
use throughline_store::journal::Journal;
use throughline_store::{Selection, folded};

/// The largest size of one session's synthesized transcript, bytes. Anything beyond is not written.
const MAX_BYTES: u64 = 32 << 20;

/// The longest text of one line after redaction, bytes.
const MAX_TEXT_BYTES: usize = 32 << 10;

/// How many bytes at the end are searched for the last answer.
const TAIL_BYTES: u64 = 256 << 10;

/// The longest wait until Copilot CLI has written what happened before a hook. It took up to 0.3 s.
const COPILOT_WRITE_TIMEOUT: Duration = Duration::from_millis(600);

/// Where the lines of a session come from, which is found once, before the event is handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionSource {
    transcript: TranscriptSource,
    /// The agent's last text at the end of a turn: the event's own, or else the transcript's.
    pub(super) last_message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TranscriptSource {
    /// The agent keeps a transcript. The file may not exist before the first answer.
    Own(PathBuf),
    /// The hooks write one.
    Synthesized(PathBuf),
    /// There is only what the event carries.
    EventOnly,
}

impl SessionSource {
    /// The transcript to read.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.transcript {
            TranscriptSource::Own(path) | TranscriptSource::Synthesized(path) => Some(path),
            TranscriptSource::EventOnly => None,
        }
    }

    /// The transcript that the agent keeps itself.
    pub(super) fn own_path(&self) -> Option<&Path> {
        match &self.transcript {
            TranscriptSource::Own(path) => Some(path),
            TranscriptSource::Synthesized(_) | TranscriptSource::EventOnly => None,
        }
    }

    fn own(path: PathBuf, last_message: Option<String>) -> Self {
        Self { transcript: TranscriptSource::Own(path), last_message }
    }
}

/// Finds the session's source. If the agent keeps no transcript, the event is appended to the synthesized one.
pub(super) fn resolve_source(runtime: &Runtime, event: &Event, deadline: Instant) -> SessionSource {
    let last_message = match &event.moment {
        Moment::TurnEnded { last_message, .. } => last_message.clone(),
        _ => None,
    };
    if event.agent == Agent::ClaudeCode {
        let transcript = event.transcript.clone().map_or(TranscriptSource::EventOnly, TranscriptSource::Own);
        return SessionSource { transcript, last_message };
    }
    let path = transcript_path(&runtime.paths.synthesized_transcripts(), event.agent, &event.session);
    // A session that started with a synthesized transcript continues with it: two sources for one session would
    // duplicate everything.
    if !path.exists()
        && let Some(own) = own_transcript(runtime, event)
    {
        let written = if event.agent == Agent::Copilot { wait_for_copilot(runtime, event, &own, deadline) } else { None };
        return SessionSource::own(own, last_message.or(written));
    }
    match append_event(runtime, event, &path, deadline) {
        Ok(()) => {}
        // The hook itself logs this too.
        Err(error) if error.is::<NotCompiled>() => super::missed::miss(runtime, event),
        Err(error) => {
            runtime.log.record(Level::Warn, "a session's synthesized transcript could not be written", format!("{error:#}"));
        }
    }
    let is_end_of_turn = matches!(event.moment, Moment::TurnEnded { .. });
    let last_message = last_message.or_else(|| is_end_of_turn.then(|| last_answer(&path).ok().flatten()).flatten());
    let transcript = if path.is_file() { TranscriptSource::Synthesized(path) } else { TranscriptSource::EventOnly };
    SessionSource { transcript, last_message }
}

/// The path of a session's synthesized transcript.
fn transcript_path(folder: &Path, agent: Agent, session: &str) -> PathBuf {
    folder.join(agent.name()).join(format!("{}.jsonl", Journal::stem(session)))
}

/// Returns the agent that a synthesized transcript belongs to.
pub(super) fn agent_of(folder: &Path, path: &Path) -> Option<Agent> {
    Agent::of(path.parent()?.strip_prefix(folder).ok()?.to_str()?)
}

/// Returns the transcript that the agent keeps itself, if it does. The file may not exist before the first answer.
fn own_transcript(runtime: &Runtime, event: &Event) -> Option<PathBuf> {
    if event.agent == Agent::Copilot && event.transcript.is_none() {
        // Most events of Copilot CLI do not give the path.
        let session = Path::new(&event.session);
        let is_name = session.components().count() == 1 && session.file_name() == Some(session.as_os_str());
        let folder = runtime.paths.copilot.join("session-state").join(session);
        return (is_name && folder.is_dir()).then(|| folder.join("events.jsonl"));
    }
    event.transcript.clone()
}

/// Waits until Copilot CLI has written what happened before the end of a turn or of the session. At the end of a turn,
/// returns the answer, since the event does not include it.
fn wait_for_copilot(runtime: &Runtime, event: &Event, path: &Path, deadline: Instant) -> Option<String> {
    /// The polling interval.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    let (Moment::TurnEnded { .. } | Moment::End { .. }) = &event.moment else { return None };
    let until = deadline.min(Instant::now() + COPILOT_WRITE_TIMEOUT);
    let ending = loop {
        let ending = transcript::open(path, &runtime.transcript_roots()).ok().and_then(|it| it.read_end(TAIL_BYTES).ok());
        if ending.as_ref().is_some_and(|ending| copilot::is_up_to_end(ending)) || Instant::now() >= until {
            break ending;
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    let is_end_of_turn = matches!(event.moment, Moment::TurnEnded { .. });
    ending.as_ref().filter(|_| is_end_of_turn).and_then(|ending| copilot::last_answer(ending))
}

/// Appends the event to the synthesized transcript.
fn append_event(runtime: &Runtime, event: &Event, path: &Path, deadline: Instant) -> Result<()> {
    let said = entries_of(runtime, event);
    if said.is_empty() {
        return Ok(());
    }
    let project = Project::discover(&event.cwd);
    if runtime.refusal(&project, &event.session).is_some() {
        return Ok(());
    }
    let policies = runtime.policies(Some(&project.root))?;
    runtime.secrets.add_env_files(&project.root, &event.cwd);
    let mut work = policies.work(None, deadline)?;
    let said = Redacted::all(said, &mut work.redactor(deadline))?;
    let at = jiff::Timestamp::from_millisecond(i64::try_from(runtime.now)?)?.to_string();
    let written =
        LineWriter { session: &event.session, cwd: Some(&event.cwd), at: &at, is_sidechain: event.sub_agent.is_some() };
    let mut text = String::new();
    for one in said {
        for line in one.map(Entry::within_limits).lines(&written) {
            text.push('\n');
            text.push_str(&line);
            text.push('\n');
        }
    }
    Ok(append(path, text.as_bytes())?)
}

/// One entry of the synthesized transcript.
enum Entry {
    Text { role: &'static str, place: String, text: String },
    Use { id: String, tool: String, input: Value, output: String, failed: bool },
}

impl Texts for Entry {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Text { text, .. } => vec![text],
            Self::Use { input, output, .. } => {
                let mut texts = vec![output];
                collect_strings(input, &mut texts);
                texts
            }
        }
    }
}

impl Entry {
    fn within_limits(mut self) -> Self {
        self.texts_mut().into_iter().for_each(truncate_text);
        self
    }

    fn lines(&self, written: &LineWriter<'_>) -> Vec<String> {
        match self {
            Self::Text { role: "user", place, text } => vec![written.line(place, "user", text.as_str().into(), None)],
            Self::Text { role, place, text } => {
                vec![written.line(place, role, serde_json::json!([{"type": "text", "text": text}]), None)]
            }
            Self::Use { id, tool, input, output, failed } => written.use_lines(id, tool, input, output, *failed).into(),
        }
    }
}

fn collect_strings<'a>(value: &'a mut Value, into: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| collect_strings(item, into)),
        Value::Object(fields) => fields.values_mut().for_each(|item| collect_strings(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn truncate_text(text: &mut String) {
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        text.push('…');
    }
}

/// Converts the event to entries, without what the user excluded.
fn entries_of(runtime: &Runtime, event: &Event) -> Vec<Entry> {
    let clean = |text: &str| {
        let text = shorten_text(text);
        runtime.privacy.clean(&text).unwrap_or(text)
    };
    // An event that is reported twice must produce the same line.
    let place = |kind: &str, text: &str| match &event.prompt {
        Some(prompt) => format!("{kind}/{prompt}/{}", &sha256_hex(text.as_bytes())[..16]),
        None => format!("{kind}/{}", runtime.now),
    };
    let text = |role, kind: &str, text: &str| {
        let said = Entry::Text { role, place: place(kind, text), text: clean(text) };
        if text.trim().is_empty() { Vec::new() } else { vec![said] }
    };
    match &event.moment {
        Moment::PromptSubmitted { prompt } => text("user", "prompt", prompt),
        Moment::MessageWritten { text: said } | Moment::TurnEnded { last_message: Some(said), .. } => {
            text("assistant", "said", said)
        }
        Moment::ToolsUsed { uses, .. } => uses
            .iter()
            .filter_map(|it| exclusion::without_excluded(&runtime.privacy, it))
            .map(|it| tool_entry(&it))
            .collect(),
        _ => Vec::new(),
    }
}

fn tool_entry(tool_use: &ToolUse) -> Entry {
    let output: Value = serde_json::from_str(&tool_use.output).unwrap_or_default();
    let output = tool_use.error.clone().unwrap_or_else(|| match output {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    });
    Entry::Use {
        id: tool_use.id.clone(),
        tool: tool_use.tool.clone(),
        input: serde_json::from_str(&tool_use.input).unwrap_or_default(),
        output,
        failed: tool_use.error.is_some(),
    }
}

/// Appends with a single write, so that two hooks writing at once do not interleave.
fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let open = || File::options().append(true).create(true).private().open(path);
    let mut file = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path);
            paths::create_private(folder.parent().unwrap_or(folder))?;
            paths::create_private(folder)?;
            open()?
        }
        other => other?,
    };
    if file.metadata()?.len() + bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("{} would grow beyond {MAX_BYTES} bytes", path.display())));
    }
    file.write_all(bytes)
}

/// Returns the agent's last answer since the last prompt.
fn last_answer(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    for line in bytes.split(|&byte| byte == b'\n').rev() {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
        let content = &line["message"]["content"];
        if content.is_string() {
            break;
        }
        if let Some(text) = content[0]["text"].as_str() {
            return Ok(Some(text.to_owned()));
        }
    }
    Ok(None)
}

/// Removes the selected lines.
pub fn forget(runtime: &Runtime, selection: &Selection) -> Result<()> {
    // Most lines of a session have the same folder, so its project is looked up once.
    let mut projects: HashMap<String, String> = HashMap::new();
    rewrite(&runtime.paths.synthesized_transcripts(), |lines| {
        lines.retain(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or_default();
            let cwd = text("cwd");
            let mut is_of_project = |wanted: &String| {
                let of = projects.entry(cwd.to_owned()).or_insert_with(|| Project::discover(Path::new(cwd)).id);
                of == wanted
            };
            let at = text("timestamp").parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond);
            let at = u64::try_from(at).unwrap_or(0);
            let is_meant = selection.session.as_ref().is_none_or(|session| session == text("sessionId"))
                && selection.project.as_ref().is_none_or(&mut is_of_project)
                && selection.after.is_none_or(|after| at >= after)
                && selection.before.is_none_or(|before| at < before);
            !(is_meant && contains_words(line, &selection.words))
        });
        Ok(())
    })
}

fn contains_words(line: &Value, words: &[String]) -> bool {
    let line = folded(&line.to_string());
    words.iter().all(|word| line.contains(word.as_str()))
}

/// Redacts all lines again.
pub fn scrub(runtime: &Runtime) -> Result<()> {
    rewrite(&runtime.paths.synthesized_transcripts(), |lines| {
        let root = lines.iter().find_map(|line| Some(Project::discover(Path::new(line["cwd"].as_str()?)).root));
        let mut texts = Vec::new();
        for line in lines.iter_mut() {
            collect_strings(&mut line["message"]["content"], &mut texts);
        }
        redaction::in_place(runtime, root.as_deref(), texts)
    })
}

/// Rewrites each file in which `change` alters lines.
fn rewrite(folder: &Path, mut change: impl FnMut(&mut Vec<Value>) -> Result<()>) -> Result<()> {
    for agent in fs::read_dir(folder).into_iter().flatten().flatten() {
        for file in fs::read_dir(agent.path())?.flatten() {
            let bytes = fs::read(file.path())?;
            // A torn line is never read, so it need not be kept.
            let before: Vec<Value> =
                bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
            let mut lines = before.clone();
            change(&mut lines)?;
            if lines.is_empty() {
                fs::remove_file(file.path())?;
            } else if lines != before {
                let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
                files::replace_atomically(&file.path(), text.as_bytes(), 0o600)?;
            }
        }
    }
    Ok(())
}

/// Deletes synthesized transcripts that were not appended to since `before`.
pub(super) fn delete_stale(folder: &Path, before: SystemTime) {
    for agent in fs::read_dir(folder).into_iter().flatten().flatten() {
        for file in fs::read_dir(agent.path()).into_iter().flatten().flatten() {
            let is_old = file.metadata().and_then(|meta| meta.modified()).is_ok_and(|at| at < before);
            if is_old {
                // If it cannot be deleted now, the next run tries again.
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_private_and_bounded() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = transcript_path(&dir.path().join("minutes"), Agent::Cursor, "../x");
        assert!(path.starts_with(dir.path().join("minutes/cursor")));
        append(&path, b"a\n").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        fs::File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES).unwrap();
        assert!(append(&path, b"b").is_err());
        assert_eq!(agent_of(&dir.path().join("minutes"), &path), Some(Agent::Cursor));
        delete_stale(&dir.path().join("minutes"), SystemTime::now() + std::time::Duration::from_mins(1));
        assert!(!path.exists());
    }

    #[test]
    fn the_last_answer_is_that_of_the_turn() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.jsonl");
        let written = LineWriter { session: "s", cwd: None, at: "", is_sidechain: false };
        let said = |role: &'static str, text: &str| {
            Entry::Text { role, place: text.into(), text: text.into() }.lines(&written)[0].clone()
        };
        fs::write(&path, [said("user", "q"), said("assistant", "a")].join("\n")).unwrap();
        assert_eq!(last_answer(&path).unwrap().as_deref(), Some("a"));
        fs::write(&path, [said("assistant", "a"), said("user", "q")].join("\n")).unwrap();
        assert_eq!(last_answer(&path).unwrap(), None);
    }
}
