//! `throughline hook [NAME]`: called by the agent. Always ends with success, in time.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use crate::agent::claude_code;
use crate::hooks;
use crate::log::{self, Level};
use crate::paths::Paths;
use crate::plugin;
use crate::policy::managed::Managed;
use crate::runtime::{self, Runtime};
use crate::settings;

/// However long a hook may take, this is past all its budgets: whatever hangs then is left behind.
const HARD_LIMIT: Duration = Duration::from_secs(14);

/// What a hook may take beyond its budget before it is ended by force.
const GRACE: Duration = Duration::from_millis(250);

/// Runs the hook.
pub fn run(arguments: &[OsString]) -> ExitCode {
    let started = Instant::now();
    let name = arguments.first().and_then(|word| word.to_str());
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
            let runtime = Runtime::with(paths, crate::config::Config::default(), Managed::default());
            runtime.log.note(Level::Error, "the configuration is damaged; nothing is remembered until it is mended", error);
            runtime.finish();
            return ExitCode::SUCCESS;
        }
    };
    if called_for.is_some() {
        for wrong in plugin::options::apply(&mut runtime.config, |name| std::env::var(name).ok()) {
            runtime.log.note(Level::Warn, "an option of the plugin cannot be used, and counts as not set", wrong);
        }
    }
    if !runtime.config.enabled {
        return ExitCode::SUCCESS;
    }
    if name.is_some_and(|name| claude_code::HOOK_NAMES.iter().all(|(known, _)| *known != name)) || arguments.len() > 1 {
        // Registered by a version that knows more. To guess what it means could do harm.
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        runtime.log.note(Level::Warn, "a hook was called with words that this version does not know", words.join(" "));
        runtime.finish();
        return ExitCode::SUCCESS;
    }
    let mut event = match read_input()
        .map_err(|error| error.to_string())
        .and_then(|input| claude_code::parse(&input, name).map_err(|error| error.to_string()))
    {
        Ok(event) => event,
        Err(error) => {
            runtime.log.note(Level::Warn, "a hook was called with input that cannot be used", error);
            runtime.finish();
            return ExitCode::SUCCESS;
        }
    };
    // The folder in which the agent was started. Its working folder may have moved on, into a subfolder or out of the project.
    if let Some(folder) = project_folder() {
        event.cwd = folder;
    }
    let budget = runtime.config.hooks.budget(hooks::budget_name(&event.moment));
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
    let folder = project_folder().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let program = std::env::current_exe().unwrap_or_default();
    settings::register(paths, &folder, event, &program)
}

/// The folder in which the agent was started, as it says.
fn project_folder() -> Option<PathBuf> {
    std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute())
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
    stdin.by_ref().take(claude_code::MOST_INPUT_BYTES + 1).read_to_end(&mut input)?;
    if input.len() as u64 > claude_code::MOST_INPUT_BYTES {
        drop(input);
        io::copy(&mut stdin, &mut io::sink())?;
        return Err(io::Error::other(format!("the input has more than {} bytes", claude_code::MOST_INPUT_BYTES)));
    }
    Ok(input)
}
