//! `throughline background …`: work that hooks start in a separate process. Not meant for people.

use std::ffi::OsString;
use std::process::ExitCode;

use throughline_engine::hooks::background::{self, Task};
use throughline_engine::hooks::spawn;
use throughline_engine::runtime::Runtime;
use throughline_platform::log::Level;
use throughline_platform::paths::Paths;
use throughline_sandbox::compile::CompilerError;

/// Runs the task.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    if let [word, call @ ..] = arguments
        && word == spawn::REPLAY
    {
        return super::hook::replay(call);
    }
    let task = match arguments {
        [word, path, cwd, session] if word == "read-on" => {
            Task::ContinueReading { path: path.into(), cwd: cwd.into(), session: session.to_string_lossy().into_owned() }
        }
        [word, path, cwd, session, id] if word == "read-sub-agent" => Task::ReadSubAgent {
            path: path.into(),
            cwd: cwd.into(),
            session: session.to_string_lossy().into_owned(),
            id: id.to_string_lossy().into_owned(),
        },
        [word, folder, except] if word == "catch-up" => {
            Task::CatchUp { folder: folder.into(), except: except.to_string_lossy().into_owned() }
        }
        [word, cwd] if word == "compile" => Task::Compile { cwd: cwd.into() },
        [word, session] if word == "take" => Task::StoreJournal { session: session.to_string_lossy().into_owned() },
        [word, cwd] if word == "compress" => Task::Compress { cwd: cwd.into() },
        [word, cwd] if word == "compare" => Task::Compare { cwd: cwd.into() },
        [word, cwd, except] if word == "consolidate" => {
            Task::Consolidate { cwd: cwd.into(), except: except.to_string_lossy().into_owned() }
        }
        [word] if word == "tidy" => Task::CleanUp,
        [word] if word == "checkpoint" => Task::CheckpointWal,
        [word] if word == "reindex" => Task::Reindex,
        [word] if word == "team" => Task::SyncTeam,
        [word] if word == "upgrade" => Task::Upgrade,
        _ => return ExitCode::FAILURE,
    };
    let Ok(Ok(runtime)) = Paths::from_env().map(Runtime::new) else {
        return ExitCode::FAILURE;
    };
    let runtime = background::prepare(runtime);
    let result = background::run(&runtime, &task);
    if let Err(error) = &result {
        // The details are withheld as long as no policy can redact them.
        let what = if error.chain().any(<dyn std::error::Error>::is::<CompilerError>) {
            "no policy is compiled: throughline-compiler cannot be used"
        } else {
            "work in the background failed"
        };
        runtime.log.record(Level::Warn, what, format!("{error:#}"));
    }
    runtime.finish();
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
