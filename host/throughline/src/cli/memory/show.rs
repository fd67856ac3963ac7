//! `throughline memory show`: shows a memory and its origin.

use std::io::Write;

use serde::Serialize;

use super::entry::Entry;
use super::line_place::{self, LinePlace};
use super::links::{self, MemoryLink};
use super::marks;
use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::hooks::{OutdatedFile, outdated_files};
use throughline_engine::memory::compression::FoldedMemory as Source;
use throughline_engine::runtime::Runtime;
use throughline_notes::markdown::without_heading;
use throughline_platform::paths;
use throughline_store::{DigestDetails, Marks, MemoryRecord, Store};

/// Show a memory in full, and where it comes from
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of the memory, or a unique beginning of it
    id: String,
    /// Print an object: the fields of `memory list`, and attributes, policy, `policy_digest`, `line_uuid`,
    /// `access_count`, shared, digest, folded, links, told, `outdated_files`, transcript
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MemoryDetails<'a> {
    #[serde(flatten)]
    entry: Entry<'a>,
    attributes: &'a [(String, String)],
    /// The policy that made it, and the SHA-256 of its component.
    policy: &'a str,
    policy_digest: &'a str,
    /// The transcript line in which it was first learned.
    line_uuid: Option<&'a str>,
    /// How often it was looked up or shown to the agent.
    access_count: u32,
    /// Whether it is shared with all projects.
    shared: bool,
    /// The digest into which it was folded; searches and lists do not show folded memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a str>,
    /// The sources of a digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    folded: Option<Composition>,
    /// Its links to earlier and later memories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<MemoryLink>,
    /// The sessions that were told of it, the latest first, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    told: Vec<Told>,
    /// The files that it is about and that are gone, missing or much changed since it was learned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outdated_files: Vec<OutdatedFile>,
    /// Where the line is, if its transcript is still on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<LinePlace>,
}

/// That a session was told of a memory.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Told {
    session_id: String,
    /// `startup`, `prompt`, … as the agent names the moment.
    moment: String,
    /// RFC 3339, UTC.
    at: String,
}

/// How many tellings are listed.
const MAX_TOLD: u32 = 20;

/// The sources of a digest.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Composition {
    /// When the digest was made; RFC 3339, UTC.
    made_at: String,
    /// When the texts of its sources were deleted; they cannot be restored then.
    purged_at: Option<String>,
    /// Its sources, oldest first.
    sources: Vec<Source>,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let found = selection::find(store, &arguments.id)?;
    let folded = store.folded(&found.memory.id)?;
    let links = links::describe(store, &found.memory.id, store.supersessions(&found.memory.id)?)?;
    let marks = store.marks(&[&found.memory.id])?.pop().unwrap_or_default();
    let told = store.told(&found.memory.id, MAX_TOLD)?.into_iter();
    let told: Vec<Told> =
        told.map(|(session_id, moment, at)| Told { session_id, moment, at: output::timestamp(at) }).collect();
    let superseded_by = store.replacements(&[&found.memory.id])?.pop().flatten().map(|it| it.head.id);
    let roots = std::slice::from_ref(&found.project);
    let outdated_files =
        outdated_files(store, std::slice::from_ref(&found.memory), roots, runtime.now).pop().unwrap_or_default();
    let transcript = match found.line_uuid.as_deref() {
        Some(uuid) => line_place::find(&store.transcripts_of(&found.memory.session_id)?, uuid),
        None => None,
    };
    if arguments.json {
        output::json(&MemoryDetails {
            entry: Entry::new(&found.memory, &found.project, marks, superseded_by),
            attributes: &found.memory.attributes,
            policy: &found.policy,
            policy_digest: &found.policy_digest,
            line_uuid: found.line_uuid.as_deref(),
            access_count: found.access_count,
            shared: store.is_shared(&found.memory.id)?,
            digest: found.digest.as_deref(),
            folded: folded.map(|folded| Composition {
                made_at: output::timestamp(folded.made_at),
                purged_at: folded.purged_at.map(output::timestamp),
                sources: folded.sources.into_iter().map(Source::from).collect(),
            }),
            links,
            told,
            outdated_files,
            transcript,
        })?;
    } else {
        let about = About { marks, folded, links, told, outdated_files, transcript };
        print(runtime, &found, &about)?;
    }
    throughline_engine::search::record_lookup(runtime, store, &[found.memory.id]);
    Ok(())
}

/// Prints a memory for people.
pub(super) fn print_memory(runtime: &Runtime, store: &Store, id: &str) -> Result<(), CommandError> {
    run(runtime, store, &Arguments { id: id.to_owned(), json: false })
}

/// What is printed of a memory besides what is stored of it.
struct About {
    marks: Marks,
    folded: Option<DigestDetails>,
    links: Vec<MemoryLink>,
    told: Vec<Told>,
    outdated_files: Vec<OutdatedFile>,
    transcript: Option<LinePlace>,
}

fn print(runtime: &Runtime, found: &MemoryRecord, about: &About) -> Result<(), CommandError> {
    let About { marks, folded, links, told, outdated_files, transcript } = about;
    let memory = &found.memory;
    let style = output::kind_style(&memory.kind);
    let mut out = output::stdout();
    for line in output::wrap(&output::clean_line(&memory.title), 0) {
        writeln!(out, "{BOLD}{line}{BOLD:#}")?;
    }
    writeln!(out)?;
    let content = without_heading(memory.content.trim(), &memory.title);
    if !content.is_empty() && content != memory.title.trim() {
        for line in output::wrap(&output::clean(content), 0) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    let created = output::timestamp(memory.created);
    let project = paths::display(found.project.as_ref(), &runtime.paths.home);
    let learned = match memory.seen {
        1 => created,
        seen => format!("{created}, in {seen} places in all"),
    };
    let policy = format!("{} {}", found.policy, found.policy_digest.chars().take(12).collect::<String>());
    let rows = [
        ("id", memory.id.clone()),
        ("learned", learned),
        ("said by", memory.said_by().map(|it| it.description().to_owned()).unwrap_or_default()),
        ("project", project),
        ("session", memory.session_id.clone()),
        ("line", found.line_uuid.clone().unwrap_or_default()),
        ("transcript", transcript.as_ref().map(|it| it.display(&runtime.paths.home)).unwrap_or_default()),
        ("files", memory.files.join(", ")),
        ("keywords", memory.keywords.join(", ")),
        ("importance", format!("{:.2}", memory.importance)),
        ("used", format!("{}×", found.access_count)),
        ("policy", policy),
        ("folded into", found.digest.clone().unwrap_or_default()),
        ("made of", folded.as_ref().map(made_of).unwrap_or_default()),
    ];
    writeln!(out, "{DIM}{}{DIM:#}  {style}{}{style:#}", output::pad("type", 11), output::clean_line(&memory.kind))?;
    for (name, value) in rows {
        if !value.is_empty() {
            write_row(&mut out, name, &value)?;
        }
    }
    for mark in marks::describe(memory, *marks) {
        write_row(&mut out, "you said", &mark)?;
    }
    for outdated in outdated_files {
        write_row(&mut out, "outdated", &output::clean_line(&outdated.to_string()))?;
    }
    for line in links::lines(links) {
        write_row(&mut out, "link", &line)?;
    }
    for Told { session_id, moment, at } in told {
        write_row(&mut out, "told", &format!("{at} at {moment}, session {session_id}"))?;
    }
    if links.iter().any(MemoryLink::is_in_force) {
        writeln!(out, "\n{DIM}`throughline memory unlink {}` undoes its links{DIM:#}", memory.id)?;
    }
    Ok(out.flush()?)
}

fn write_row(out: &mut impl Write, name: &str, value: &str) -> Result<(), CommandError> {
    Ok(output::write_hanging(out, &format!("{DIM}{}{DIM:#}  ", output::pad(name, 11)), 11 + 2, value)?)
}

/// Describes the sources of a digest in one line. Its text has a line for each.
fn made_of(folded: &DigestDetails) -> String {
    let count = output::counted(folded.sources.len() as u64, "memory", "memories");
    match folded.purged_at {
        None => {
            format!("{count}, on {}; `throughline memory decompress` restores them", output::timestamp(folded.made_at))
        }
        Some(at) => format!("{count}, whose texts were deleted on {}", output::timestamp(at)),
    }
}
