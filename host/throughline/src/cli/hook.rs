//! `throughline hook [--agent AGENT] [NAME]`: handles an event of the agent. It always exits with 0 and within its time
//! limit.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::notice;
use throughline_agents::plugin;
use throughline_agents::protocol::fields::{MAX_INPUT_BYTES, PayloadError};
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::{self as agent, Event, Moment, claude_code, codex, duplicate_hooks};
use throughline_agents::settings;
use throughline_agents::settings::agents::{end_limit, project_variable};
use throughline_engine::hooks::{self, Notice, Outcome, last_runs};
use throughline_engine::model::MARK;
use throughline_engine::plugin_options;
use throughline_engine::runtime::{self, Runtime};
use throughline_platform::log::{self, Level};
use throughline_platform::paths::Paths;
use throughline_platform::process;
use throughline_sandbox::managed::Managed;

/// A hook that is still running after this time is ended. The limit is longer than every budget.
const HARD_LIMIT: Duration = Duration::from_secs(14);

/// How long a hook may exceed its budget before it is ended.
const GRACE: Duration = Duration::from_millis(250);

/// How long the watchdog sleeps before it looks whether the hook's budget is known.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// How long a process that handles an event again waits for the default policy, and works.
const REPLAY_LIMIT: Duration = Duration::from_mins(1);

/// Runs the hook.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    let started = Instant::now();
    // The session is one that a call to a model created: it is never remembered.
    if std::env::var_os(MARK).is_some() {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        return ExitCode::SUCCESS;
    }
    let Ok(paths) = Paths::from_env() else {
        return ExitCode::SUCCESS;
    };
    let limit = watch(paths.log());
    let plugin_event = std::env::var(plugin::EVENT).ok().filter(|event| !event.is_empty());
    if plugin_event.as_deref().is_some_and(|event| is_registered_elsewhere(&paths, event)) {
        // Read the whole input, so that the agent does not write to a closed pipe.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        return ExitCode::SUCCESS;
    }
    let Some(mut runtime) = start(paths, arguments, plugin_event.is_some()) else { return ExitCode::SUCCESS };
    let Some((event, input)) = read_event(&runtime, arguments) else {
        runtime.finish();
        return ExitCode::SUCCESS;
    };
    let budget = runtime.config.hooks.budget(hooks::budget_name(&event.moment)).min(agent_timeout(&event));
    let deadline = started + budget;
    let _ = limit.set(Instant::now() + budget + GRACE);
    hooks::allow_compiling(&mut runtime, &event.moment, deadline);
    let outcome = hooks::run(&runtime, &event, deadline);
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let told = outcome.answer.as_ref().map_or(0, |answer| answer.chars().count());
    print(with_notice(&runtime, &event, outcome).as_deref());
    last_runs::record(&runtime, &event, took, told);
    if runtime.missed_event()
        && let Err(error) = hooks::spawn::replay(&runtime.paths, arguments, &input)
    {
        runtime.log.record(Level::Warn, "could not start a background process", error.to_string());
    }
    runtime.finish();
    // The process ends, and the system takes all of its memory at once: sooner than the policies' engine frees each part.
    std::mem::forget(runtime);
    ExitCode::SUCCESS
}

/// Reads the configuration. Returns nothing if nothing may be remembered, and says so if a session starts.
fn start(paths: Paths, arguments: &[OsString], is_plugin: bool) -> Option<Runtime> {
    let mut runtime = match Runtime::new(paths.clone()) {
        Ok(runtime) => hooks::prepare(runtime),
        Err(error) => {
            let runtime = Runtime::with(paths, throughline_engine::config::Config::default(), Managed::default());
            let runtime = hooks::prepare(runtime);
            runtime.log.record(
                Level::Error,
                "the configuration cannot be used; nothing is remembered until it is corrected",
                error.to_string(),
            );
            say_off(&runtime.paths, arguments, &notice::of_failed_start(&error));
            runtime.finish();
            return None;
        }
    };
    if let Some(fault) = &runtime.config_fault {
        runtime.log.record(
            Level::Error,
            "the configuration cannot be used; the last good one is in force",
            fault.to_string(),
        );
    }
    if is_plugin {
        for wrong in plugin_options::apply(&mut runtime.config, |name| std::env::var(name).ok()) {
            runtime.log.record(Level::Warn, "an option of the plugin is not valid and was ignored", wrong);
        }
    }
    if !runtime.config.enabled {
        let off = Notice::Off(runtime::OFF_BY_SETTING);
        say_off(&runtime.paths, arguments, &notice::at_start(off, runtime.now));
        return None;
    }
    Some(runtime)
}

/// Reads the event and its payload. Logs what is wrong with them; an event that no hook handles is not wrong.
fn read_event(runtime: &Runtime, arguments: &[OsString]) -> Option<(Event, Vec<u8>)> {
    let Some(call) = Call::parse(arguments) else {
        // The hook was registered by a newer version. Guessing what the arguments mean could do harm.
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        runtime.log.record(Level::Warn, "a hook was called with arguments that this version does not know", words.join(" "));
        return None;
    };
    let read = || {
        let input = call.read_input().map_err(|error| error.to_string())?;
        let event = call.event(&runtime.paths, &input).map_err(|error| error.to_string())?;
        Ok(event.map(|event| (event, input)))
    };
    read().unwrap_or_else(|error: String| {
        runtime.log.record(Level::Warn, "a hook was called with invalid input", error);
        None
    })
}

/// Prints an answer, if there is one.
fn print(answer: Option<&str>) {
    let Some(answer) = answer else { return };
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
}

/// Adds to the answer what a person should know at the start of a session.
fn with_notice(runtime: &Runtime, event: &Event, outcome: Outcome) -> Option<String> {
    let Outcome { answer, notice } = outcome;
    let is_off = matches!(notice, Some(Notice::Failed(_) | Notice::Off(_)));
    let fault = if matches!(event.moment, Moment::Start { .. }) { fault_at_start(runtime, is_off) } else { None };
    if !agent::shows_notice(event.agent, fault.is_some() || is_off) {
        return answer;
    }
    match (fault, notice) {
        (Some(fault), _) => agent::with_notice(answer.as_deref(), &fault),
        (None, Some(notice)) => agent::with_notice(answer.as_deref(), &notice::at_start(notice, runtime.now)),
        (None, None) => answer,
    }
}

/// Returns the line about settings that cannot be used. Redaction rules do not matter while memory is off.
fn fault_at_start(runtime: &Runtime, is_off: bool) -> Option<String> {
    match &runtime.config_fault {
        Some(fault) => Some(notice::of_last_good_config(fault)),
        None if is_off => None,
        None => runtime.rules_fault().map(|what| notice::of_unreadable_rules(&what)),
    }
}

/// Says at the start of a session, in this line, that nothing is remembered because of the settings.
fn say_off(paths: &Paths, arguments: &[OsString], line: &str) {
    let Some(call) = Call::parse(arguments) else { return };
    let Ok(input) = call.read_input() else { return };
    if let Ok(Some(event)) = call.event(paths, &input)
        && matches!(event.moment, Moment::Start { .. })
        && agent::shows_notice(event.agent, true)
    {
        print(agent::with_notice(None, line).as_deref());
    }
}

/// Handles an event again that came before the default policy was compiled, in a process that nobody waits for.
pub(super) fn replay(arguments: &[OsString]) -> ExitCode {
    let Ok(input) = read_input() else { return ExitCode::FAILURE };
    let _ = process::start_session();
    let Ok(Ok(mut runtime)) = Paths::from_env().map(Runtime::new) else { return ExitCode::FAILURE };
    if std::env::var_os(plugin::EVENT).is_some_and(|event| !event.is_empty()) {
        // The hook has reported options that are not valid.
        let _ = plugin_options::apply(&mut runtime.config, |name| std::env::var(name).ok());
    }
    let Some(Ok(Some(event))) = Call::parse(arguments).map(|call| call.event(&runtime.paths, &input)) else {
        return ExitCode::FAILURE;
    };
    let deadline = Instant::now() + REPLAY_LIMIT;
    let runtime = hooks::prepare_replay(runtime, deadline);
    // Nobody waits for the answer.
    drop(hooks::run(&runtime, &event, deadline));
    runtime.finish();
    ExitCode::SUCCESS
}

/// Whether the agent's settings register the event that the plugin called this process for. The hook in the settings
/// then does the work: a person put it there, and its profile and program are the ones to use.
fn is_registered_elsewhere(paths: &Paths, event: &str) -> bool {
    let folder = project_folder(Agent::ClaudeCode).or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let program = std::env::current_exe().unwrap_or_default();
    settings::register(paths, &folder, event, &program)
}

/// Returns the folder in which the agent was started, from the agent's own variable. Variables of other agents do not
/// count, because one agent can be started by another.
fn project_folder(agent: Agent) -> Option<PathBuf> {
    std::env::var_os(project_variable(agent)?).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// Returns how long the agent waits, if it has a limit that no setting changes.
fn agent_timeout(event: &Event) -> Duration {
    let limit = if matches!(event.moment, Moment::End { .. }) { end_limit(event.agent) } else { None };
    limit.unwrap_or(HARD_LIMIT)
}

/// The arguments of the hook.
struct Call<'a> {
    /// None if the payload decides.
    agent: Option<Agent>,
    /// The name of the hook or of the event.
    name: Option<&'a str>,
    /// The payload, if it was passed as an argument.
    payload: Option<&'a OsString>,
}

impl<'a> Call<'a> {
    /// Parses the arguments; none if they are unknown.
    fn parse(arguments: &'a [OsString]) -> Option<Self> {
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
        // Other agents have their own names of events, which their adapters know.
        let is_known = |name: &str| claude_code::HOOK_NAMES.iter().any(|(known, _)| *known == name);
        let is_free = !matches!(agent, None | Some(Agent::ClaudeCode));
        (words.next().is_none() && (is_free || name.is_none_or(is_known))).then_some(Self { agent, name, payload })
    }

    /// Reads the payload from standard input, unless it was passed as an argument.
    fn read_input(&self) -> io::Result<Vec<u8>> {
        if self.payload.is_some() { Ok(Vec::new()) } else { read_input() }
    }

    /// Parses the event; none if another hook call reports the same event.
    fn event(&self, paths: &Paths, input: &[u8]) -> Result<Option<Event>, PayloadError> {
        let mut event = if let Some(payload) = self.payload {
            codex::parse_notification(payload.as_encoded_bytes())?
        } else {
            let agent = self.agent.unwrap_or_else(|| agent::detect_agent(input));
            agent::parse(agent, input, self.name)?
        };
        // Use the folder in which the agent was started: its working folder can change, to a subfolder or out of the
        // project.
        if let Some(folder) = project_folder(event.agent) {
            let here = std::mem::replace(&mut event.cwd, folder);
            event.moved_to = Some(here).filter(|here| here.is_absolute() && *here != event.cwd);
        }
        let may_be_duplicate = self.agent.is_none() || self.payload.is_some();
        if may_be_duplicate && duplicate_hooks::has_own_hooks(paths, event.agent, &event.cwd) {
            return Ok(None);
        }
        if self.payload.is_some() {
            event.transcript = hooks::transcript_lookup::find_rollout(&paths.codex.join("sessions"), &event.session);
        }
        Ok(Some(event))
    }
}

/// Starts a watchdog that ends the process when the time is up, whatever it is doing: at the hard limit, or at the moment that is set
/// once the hook's budget is known. The database survives that: transactions that were not committed are rolled back.
///
/// The watchdog looks for that moment from time to time, because waking it would cost every hook the switch to its thread and back.
fn watch(log: PathBuf) -> Arc<OnceLock<Instant>> {
    let limit = Arc::new(OnceLock::new());
    let hard = Instant::now() + HARD_LIMIT;
    let set = Arc::clone(&limit);
    let _ = thread::Builder::new().name("watchdog".into()).spawn(move || {
        loop {
            let left = set.get().map_or(hard, |limit| hard.min(*limit)).saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(WATCH_INTERVAL));
        }
        log::append_final_entry(
            &log,
            &runtime::format_timestamp(runtime::now()),
            "a hook took too long and was ended; what it did not store will be read again",
        );
        std::process::exit(0);
    });
    limit
}

/// Reads all of standard input. Input that is too large for a payload is read to its end and refused, so that the agent
/// does not write to a closed pipe.
fn read_input() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut input = Vec::new();
    stdin.by_ref().take(MAX_INPUT_BYTES + 1).read_to_end(&mut input)?;
    if input.len() as u64 > MAX_INPUT_BYTES {
        drop(input);
        io::copy(&mut stdin, &mut io::sink())?;
        return Err(io::Error::other(format!("the input has more than {MAX_INPUT_BYTES} bytes")));
    }
    Ok(input)
}
