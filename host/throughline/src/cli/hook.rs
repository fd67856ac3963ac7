//! `throughline hook [--agent AGENT] [NAME]`: called by the agent. Always ends with success, in time.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use throughline_agents::plugin;
use throughline_agents::protocol::fields::MOST_INPUT_BYTES;
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::{self as agent, Event, Moment, claude_code, codex, doubles};
use throughline_agents::settings;
use throughline_engine::hooks;
use throughline_engine::plugin_options;
use throughline_engine::runtime::{self, Runtime};
use throughline_platform::log::{self, Level};
use throughline_platform::paths::Paths;
use throughline_sandbox::managed::Managed;

/// However long a hook may take, this is past all its budgets: whatever hangs then is left behind.
const HARD_LIMIT: Duration = Duration::from_secs(14);

/// What a hook may take beyond its budget before it is ended by force.
const GRACE: Duration = Duration::from_millis(250);

/// Runs the hook.
pub fn run(arguments: &[OsString]) -> ExitCode {
    let started = Instant::now();
    let Ok(paths) = Paths::from_env() else {
        return ExitCode::SUCCESS;
    };
    watch(HARD_LIMIT, paths.log());
    let called_for = std::env::var(plugin::EVENT).ok().filter(|event| !event.is_empty());
    if called_for.as_deref().is_some_and(|event| is_doubled(&paths, event)) {
        // The agent does not meet a closed pipe.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        return ExitCode::SUCCESS;
    }
    let mut runtime = match Runtime::new(paths.clone()) {
        Ok(runtime) => runtime,
        Err(error) => {
            let runtime = Runtime::with(paths, throughline_engine::config::Config::default(), Managed::default());
            runtime.log.note(Level::Error, "the configuration is damaged; nothing is remembered until it is mended", error);
            runtime.finish();
            return ExitCode::SUCCESS;
        }
    };
    if called_for.is_some() {
        for wrong in plugin_options::apply(&mut runtime.config, |name| std::env::var(name).ok()) {
            runtime.log.note(Level::Warn, "an option of the plugin cannot be used, and counts as not set", wrong);
        }
    }
    if !runtime.config.enabled {
        return ExitCode::SUCCESS;
    }
    let Some(call) = Call::of(arguments) else {
        // Registered by a version that knows more. To guess what it means could do harm.
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        runtime.log.note(Level::Warn, "a hook was called with words that this version does not know", words.join(" "));
        runtime.finish();
        return ExitCode::SUCCESS;
    };
    let event = match call.event(&runtime.paths) {
        Ok(Some(event)) => event,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => {
            runtime.log.note(Level::Warn, "a hook was called with input that cannot be used", error);
            runtime.finish();
            return ExitCode::SUCCESS;
        }
    };
    let budget = runtime.config.hooks.budget(hooks::budget_name(&event.moment)).min(patience(&event));
    watch(budget + GRACE, runtime.paths.log());
    let deadline = started + budget;
    if let Some(output) = hooks::run(&runtime, &event, deadline) {
        let mut stdout = io::stdout().lock();
        let _ = writeln!(stdout, "{output}").and_then(|()| stdout.flush());
    }
    runtime.finish();
    ExitCode::SUCCESS
}

/// Whether the agent's settings register the same event, for which this is called by the plugin. Then the hook from the settings
/// does the work: it was put there by hand, and its words about profile and program count.
fn is_doubled(paths: &Paths, event: &str) -> bool {
    let folder = project_folder(Agent::ClaudeCode).or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let program = std::env::current_exe().unwrap_or_default();
    settings::register(paths, &folder, event, &program)
}

/// The folder in which the agent was started, as it says. One agent may have been started by another, so only its own word counts.
fn project_folder(agent: Agent) -> Option<PathBuf> {
    let variable = match agent {
        Agent::ClaudeCode => "CLAUDE_PROJECT_DIR",
        Agent::Gemini => "GEMINI_PROJECT_DIR",
        Agent::Droid => "FACTORY_PROJECT_DIR",
        // These say it in the payload, or nowhere.
        Agent::Codex | Agent::Cursor | Agent::Copilot => return None,
    };
    std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// How long the agent itself waits, where it has a limit that no setting lifts.
fn patience(event: &Event) -> Duration {
    match (event.agent, &event.moment) {
        // 3 s; the rest is read in the background, or at the next start.
        (Agent::Codex, Moment::End { .. }) => Duration::from_millis(2_500),
        _ => HARD_LIMIT,
    }
}

/// What the hook was called as.
struct Call<'a> {
    /// None: as the payload says.
    agent: Option<Agent>,
    /// The name of the hook or of the event.
    name: Option<&'a str>,
    /// The payload, where it is an argument.
    payload: Option<&'a OsString>,
}

impl<'a> Call<'a> {
    /// None where it is said in words that are not known.
    fn of(arguments: &'a [OsString]) -> Option<Self> {
        let mut words = arguments.iter();
        let mut agent = None;
        let mut first = words.next();
        if let Some(word) = first.and_then(|word| word.to_str())
            && (word == "--agent" || word.starts_with("--agent="))
        {
            let name = match word.strip_prefix("--agent=") {
                Some(name) => name,
                None => words.next()?.to_str()?,
            };
            agent = Some(Agent::of(name)?);
            first = words.next();
        }
        let name = match first {
            Some(word) => Some(word.to_str()?),
            None => None,
        };
        let is_notification = agent == Some(Agent::Codex) && name == Some(codex::NOTIFY);
        let payload = if is_notification { Some(words.next()?) } else { None };
        // Other agents' own names of events are for their adapters.
        let is_known = |name: &str| claude_code::HOOK_NAMES.iter().any(|(known, _)| *known == name);
        let is_free = !matches!(agent, None | Some(Agent::ClaudeCode));
        (words.next().is_none() && (is_free || name.is_none_or(is_known))).then_some(Self { agent, name, payload })
    }

    /// The event; none where another call of ours tells of it.
    fn event(&self, paths: &Paths) -> Result<Option<Event>, String> {
        let mut event = if let Some(payload) = self.payload {
            codex::parse_notification(payload.as_encoded_bytes()).map_err(|error| error.to_string())?
        } else {
            let input = read_input().map_err(|error| error.to_string())?;
            let agent = self.agent.unwrap_or_else(|| agent::recognize(&input));
            agent::parse(agent, &input, self.name).map_err(|error| error.to_string())?
        };
        // The folder in which the agent was started. Its working folder may have moved on, into a subfolder or out of the project.
        if let Some(folder) = project_folder(event.agent) {
            event.cwd = folder;
        }
        let is_by_the_way = self.agent.is_none() || self.payload.is_some();
        if is_by_the_way && doubles::has_own(paths, event.agent, &event.cwd) {
            return Ok(None);
        }
        if self.payload.is_some() {
            event.transcript = hooks::finding::rollout(&paths.codex.join("sessions"), &event.session);
        }
        Ok(Some(event))
    }
}

/// Ends the process when the time is up, whatever it is doing. The database does not mind: it is made for that.
fn watch(limit: Duration, log: PathBuf) {
    let _ = thread::Builder::new().name("watchdog".into()).spawn(move || {
        thread::sleep(limit);
        log::last_words(
            &log,
            &runtime::stamp(runtime::now()),
            "a hook took too long and was ended; what it did not store is read again",
        );
        std::process::exit(0);
    });
}

/// Standard input, whole. What is larger than any payload is read to its end and refused, so that the agent does not
/// meet a closed pipe.
fn read_input() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut input = Vec::new();
    stdin.by_ref().take(MOST_INPUT_BYTES + 1).read_to_end(&mut input)?;
    if input.len() as u64 > MOST_INPUT_BYTES {
        drop(input);
        io::copy(&mut stdin, &mut io::sink())?;
        return Err(io::Error::other(format!("the input has more than {MOST_INPUT_BYTES} bytes")));
    }
    Ok(input)
}
