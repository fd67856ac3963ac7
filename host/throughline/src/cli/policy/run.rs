//! `throughline policy run`: runs one stage of one policy, for debugging.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::answer::{self, Answer};
use super::compiling::COMPILE_TIMEOUT;
use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_agents::protocol::name::Agent;
use throughline_engine::hooks::{FileChecks, LoadedText, ProjectMemories, STORE_BUSY_TIMEOUT};
use throughline_engine::runtime::Runtime;
use throughline_model::contract::{Session, SessionNotes};
use throughline_model::lines::TextLines;
use throughline_model::project::Project;
use throughline_sandbox::capability::Capabilities;
use throughline_sandbox::chain::DEFAULT_NAME;
use throughline_sandbox::imports::{Grants, Level, LogSink, MemorySource};
use throughline_sandbox::instance::{ConsolidateRequest, ExtractRequest, LinkedPolicy, Source, SourceLine, ToolEvent};
use throughline_sandbox::registry::owner_of;
use throughline_sandbox::stage::Stage;
use throughline_store::Access;

/// Run one stage on standard input and print its answer as JSON
///
/// The extractor reads the lines of a transcript. The summarizer reads the notes of a session, as JSON. The redactor reads a
/// text. The observer reads a tool call: JSON with `tool`, `input` and `output`. The query planner reads a prompt. The
/// consolidator reads memories, as `throughline memory list --json` prints them. The context builder
/// reads nothing: it sees the memories of the current project. The policy has everything that it asks for, granted or
/// not, and its own limits. Its log messages go to stderr.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The stage: extractor, summarizer, redactor, context-builder, observer, query or consolidator
    stage: Stage,
    /// The name of the policy, or the path of its folder
    #[arg(long, default_value = DEFAULT_NAME)]
    policy: String,
    /// For the context builder: why the session starts
    #[arg(long, default_value = "startup", value_parser = ["startup", "resume", "clear", "compact", "fork", "prompt"])]
    source: String,
    /// For the context builder: the size limit of its text, UTF-16 units
    #[arg(long, default_value_t = 9500)]
    budget: u32,
    /// For the extractor: the state that an earlier call returned
    #[arg(long)]
    state: Option<String>,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let (loaded, grants) = load(runtime, &root, arguments)?;
    let input = input(arguments.stage)?;
    let project = Project::discover(&root);
    let session = Session::new("policy-run", &project, &root, Agent::ClaudeCode.name(), None, runtime.now);
    let started = Instant::now();
    let until = started + loaded.terms().limits.time;
    let mut running = loaded.start(grants, until)?;
    let answer = match arguments.stage {
        Stage::Extractor => {
            let request =
                ExtractRequest { session, moment: "ingest".into(), state: arguments.state.clone(), supplements: Vec::new() };
            Answer::Extracted(Box::new(running.extract(&request, Box::new(TextLines::new(&input)), until)?.into()))
        }
        Stage::Summarizer => {
            let notes: SessionNotes = parse(&input, "a session's notes")?;
            Answer::Summarized(running.summarize(&session, &notes, until)?.map(Into::into))
        }
        Stage::Redactor => {
            let redacted = running.redacted(std::slice::from_ref(&input), until)?;
            Answer::Redacted(redacted.into_iter().next().map(|it| answer::Redacted::new(it, &input)))
        }
        Stage::ContextBuilder => {
            let built = running.build_context(&session, &arguments.source, arguments.budget, Vec::new(), until)?;
            Answer::Built(built.map(Into::into))
        }
        Stage::Observer => {
            let event = tool_event(&input, runtime.now)?;
            Answer::Observed(running.observe(&session, &event, until)?.map(Into::into))
        }
        Stage::Query => Answer::Planned(running.plan(&session, &input, None, until)?.map(Into::into)),
        Stage::Consolidator => {
            let request = consolidate_request(session, &input)?;
            Answer::Consolidated(running.consolidate(&request, until)?.into())
        }
    };
    // Printing the answer is none of the policy's time.
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    output::json(&answer)?;
    let mut err = anstream::stderr().lock();
    writeln!(err, "{took:.1} ms, {} of memory", output::bytes(running.memory_bytes() as u64))?;
    Ok(ExitCode::SUCCESS)
}

/// Loads the policy with everything that it asks for.
fn load(
    runtime: &Runtime,
    root: &std::path::Path,
    arguments: &Arguments,
) -> Result<(Arc<LinkedPolicy>, Grants), CommandError> {
    let until = Instant::now() + COMPILE_TIMEOUT;
    let sandbox = runtime.sandbox()?;
    let (loaded, capabilities, settings) = if arguments.policy == DEFAULT_NAME {
        let settings = runtime.config.policy.get(DEFAULT_NAME).cloned().unwrap_or_default();
        (sandbox.default_policy(Some(until))?.0, Capabilities::of_default(), settings)
    } else {
        let (found, source) = selection::by_name_or_path(runtime, root, &arguments.policy)?;
        let terms = selection::terms(runtime, &found, source)?;
        let bytes = found.component(owner_of(source)).map_err(CommandError::new)?;
        let component = sandbox.load_or_compile(&found.digest, &bytes, until)?;
        let manifest = &found.manifest;
        let settings = manifest.settings(runtime.config.policy.get(&manifest.name)).map_err(CommandError::new)?;
        (Arc::new(sandbox.link(terms, &component)?), manifest.capabilities.clone(), settings)
    };
    let memories = memories(runtime, root)?;
    // Only `throughline model run` asks a model, within the limits.
    let all = Grants { settings: Rc::new(settings), log: Some(to_stderr()), ..Grants::default() };
    Ok((loaded, all.limited_to(&capabilities, memories)))
}

/// Returns the memories of the current project; none if there is no database yet.
fn memories(runtime: &Runtime, root: &std::path::Path) -> Result<Option<Rc<dyn MemorySource>>, CommandError> {
    if !runtime.paths.database().exists() {
        return Ok(None);
    }
    let store = Rc::new(runtime.store(Access::Existing, STORE_BUSY_TIMEOUT)?);
    let Project { id: project, root, .. } = Project::discover(root);
    Ok(Some(Rc::new(ProjectMemories {
        files: FileChecks::new(&root, runtime.now),
        store,
        project,
        session: String::new(),
        now: runtime.now,
        shared: runtime.config.sharing.context,
        loaded: LoadedText::default(),
        pinned: Vec::new(),
    })))
}

fn to_stderr() -> LogSink {
    Rc::new(|level, message| {
        let word = match level {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        // Ignore the error of a closed stderr: nobody is reading.
        let _ = writeln!(anstream::stderr().lock(), "{word}: {}", output::clean_line(message));
    })
}

fn input(stage: Stage) -> Result<String, CommandError> {
    if stage == Stage::ContextBuilder {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| CommandError::new(format!("standard input: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse<T: serde::de::DeserializeOwned>(input: &str, what: &str) -> Result<T, CommandError> {
    serde_json::from_str(input)
        .map_err(|error| CommandError::new(format!("standard input is not {what}: {error}")).hint("see docs/contract.md"))
}

fn tool_event(input: &str, now: u64) -> Result<ToolEvent, CommandError> {
    let event: Value = parse(input, "a tool call")?;
    let text = |key: &str| match &event[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    Ok(ToolEvent {
        tool: text("tool"),
        use_id: text("use_id"),
        at: now,
        input: text("input"),
        output: text("output"),
        succeeded: event["succeeded"].as_bool().unwrap_or(true),
        error: event["error"].as_str().map(str::to_owned),
        duration_ms: event["duration_ms"].as_u64().and_then(|ms| u32::try_from(ms).ok()),
    })
}

/// A memory as `--json` prints it.
#[derive(serde::Deserialize)]
struct StoredMemory {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    content: String,
    #[serde(default)]
    importance: f32,
    #[serde(default)]
    created: Value,
}

/// Makes the request of a consolidator from memories.
fn consolidate_request(session: Session, input: &str) -> Result<ConsolidateRequest, CommandError> {
    let memories: Vec<StoredMemory> = parse(input, "a list of memories")?;
    let mut number = 0;
    let sources = memories.into_iter().map(|memory| {
        let lines = std::iter::once(memory.title.as_str()).chain(memory.content.lines());
        let lines = lines.filter(|line| !line.trim().is_empty()).map(|text| {
            number += 1;
            SourceLine { id: number.to_string(), text: text.to_owned() }
        });
        Source {
            lines: lines.collect(),
            id: memory.id,
            kind: memory.kind,
            importance: memory.importance,
            created: memory.created.as_u64().unwrap_or_default(),
            said_by: None,
            replaceable: true,
        }
    });
    Ok(ConsolidateRequest { sources: sources.collect(), session, scope: "session".into() })
}
