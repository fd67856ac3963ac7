//! `throughline memory …`: searches, shows, changes and deletes what is stored.

mod compress;
mod delete;
mod entry;
mod forget;
mod gc;
mod interactive;
mod line_place;
mod links;
mod list;
mod marks;
mod merge;
mod pin;
mod reindex;
mod save;
mod search;
mod selection;
mod share;
mod show;
mod stats;
mod supersede;
mod unforget;
mod unlink;
mod wrong;

use std::process::ExitCode;

use clap::{Args, Subcommand};

pub(in crate::cli) use search::Arguments as SearchArguments;

use super::environment;
use super::error::CommandError;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::storing;
use throughline_store::Access;

/// Search, list, show, save, correct, share and delete memories
///
/// A memory belongs to a project: a git repository, whose worktrees share one memory, or else a folder. Unless an
/// option says otherwise, the commands are about the project of the current folder.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Search(search::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Save(save::Arguments),
    Pin(pin::Arguments),
    Unpin(pin::UnpinArguments),
    Wrong(wrong::Arguments),
    Right(wrong::RightArguments),
    Supersede(supersede::Arguments),
    Merge(merge::Arguments),
    Unlink(unlink::Arguments),
    Delete(delete::Arguments),
    Forget(forget::Arguments),
    Unforget(unforget::Arguments),
    Stats(stats::Arguments),
    Gc(gc::Arguments),
    Compress(compress::Arguments),
    Decompress(compress::DecompressArguments),
    Reindex(reindex::Arguments),
    Share(share::Arguments),
    Unshare(share::UnshareArguments),
    SuggestShared(share::SuggestArguments),
}

impl Command {
    /// Whether it stores texts that were stored before, in another form or again.
    fn stores_again(&self) -> bool {
        match self {
            Self::Compress(arguments) => !arguments.is_dry_run(),
            Self::Decompress(_) => true,
            Self::Unforget(arguments) => !arguments.is_list(),
            _ => false,
        }
    }
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    if let Command::Search(arguments) = &arguments.command {
        arguments.check()?;
    }
    let runtime = match arguments.command {
        Command::Search(_) | Command::List(_) | Command::Show(_) | Command::Stats(_) | Command::SuggestShared(_) => {
            environment::runtime_for_reading()?
        }
        _ => environment::runtime()?,
    };
    // Saving is the only command here that creates the database if there is none.
    let access = if matches!(arguments.command, Command::Save(_)) { Access::Write } else { Access::Existing };
    if access == Access::Write {
        // Before the database is created.
        storing::check(&runtime)?;
    } else if arguments.command.stores_again() {
        storing::check_enabled(&runtime)?;
    }
    let store = runtime.store(access, STORE_BUSY_TIMEOUT * 4)?;
    match arguments.command {
        Command::Search(arguments) => search::run(&runtime, &store, &arguments),
        Command::List(arguments) => list::run(&runtime, &store, &arguments),
        Command::Show(arguments) => show::run(&runtime, &store, &arguments),
        Command::Save(arguments) => save::run(&runtime, store, &arguments),
        Command::Pin(arguments) => pin::pin(&runtime, store, &arguments),
        Command::Unpin(arguments) => pin::unpin(&runtime, store, &arguments),
        Command::Wrong(arguments) => wrong::wrong(&runtime, store, &arguments),
        Command::Right(arguments) => wrong::right(&runtime, store, &arguments),
        Command::Supersede(arguments) => supersede::run(&runtime, store, &arguments),
        Command::Merge(arguments) => merge::run(&runtime, store, &arguments),
        Command::Unlink(arguments) => unlink::run(&runtime, store, &arguments),
        Command::Delete(arguments) => delete::run(&runtime, store, &arguments),
        Command::Forget(arguments) => forget::run(&runtime, store, &arguments),
        Command::Unforget(arguments) => unforget::run(&runtime, store, &arguments),
        Command::Stats(arguments) => stats::run(&runtime, &store, &arguments),
        Command::Gc(arguments) => gc::run(&runtime, store, &arguments),
        Command::Compress(arguments) => compress::compress(&runtime, store, &arguments),
        Command::Decompress(arguments) => compress::decompress(&runtime, store, &arguments),
        Command::Reindex(arguments) => reindex::run(&runtime, store, &arguments),
        Command::Share(arguments) => share::share(&runtime, store, &arguments),
        Command::Unshare(arguments) => share::unshare(&runtime, store, &arguments),
        Command::SuggestShared(arguments) => share::suggest(&runtime, &store, &arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// `throughline search`, which is `throughline memory search`.
pub(super) fn search(arguments: &SearchArguments) -> Result<ExitCode, CommandError> {
    arguments.check()?;
    let runtime = environment::runtime_for_reading()?;
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    search::run(&runtime, &store, arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// The schemas of what `throughline memory …` and `throughline search` print with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("memory compress", of::<throughline_engine::memory::compression::CompressionReport>()),
        ("memory decompress", of::<compress::Decompressed>()),
        ("memory delete", of::<delete::Deleted>()),
        ("memory forget", of::<throughline_engine::memory::deletion::ForgetReport>()),
        ("memory gc", of::<gc::Collected>()),
        ("memory list", of::<Vec<entry::Entry<'_>>>()),
        ("memory merge", of::<throughline_engine::memory::marking::MergeReport>()),
        ("memory pin", of::<pin::PinResult<'_>>()),
        ("memory reindex", of::<reindex::Reindexed<'_>>()),
        ("memory right", of::<throughline_engine::memory::marking::MarkReport>()),
        ("memory save", of::<save::SavedMemory<'_>>()),
        ("memory search", of::<Vec<search::SearchResult<'_>>>()),
        ("memory share", of::<share::Shared<'_>>()),
        ("memory supersede", of::<throughline_engine::memory::marking::SupersedeReport>()),
        ("memory unforget", of::<unforget::Output>()),
        ("memory unlink", of::<unlink::Unlinked>()),
        ("memory unpin", of::<pin::PinResult<'_>>()),
        ("memory unshare", of::<share::Unshared<'_>>()),
        ("memory suggest-shared", of::<Vec<throughline_store::Suggestion>>()),
        ("memory show", of::<show::MemoryDetails<'_>>()),
        ("memory stats", of::<throughline_store::Stats>()),
        ("memory wrong", of::<throughline_engine::memory::marking::MarkReport>()),
        ("search", of::<Vec<search::SearchResult<'_>>>()),
    ]
}
