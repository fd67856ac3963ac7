//! Prints memories: as JSON, or as a table for people.

use std::io::Write as _;

use serde::Serialize;

use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::pager;
use throughline_engine::runtime::Runtime;
use throughline_model::contract::Memory;
use throughline_model::said_by::SaidBy;
use throughline_platform::paths;
use throughline_search::tokens;
use throughline_store::{EXTERNAL_ID, Marks, SHARED_FROM, Store, wrong_because};

/// A memory as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Entry<'a> {
    id: &'a str,
    /// The identifier that an imported memory had in its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<&'a str>,
    /// All such identifiers, if there are several: of two memories with the same content only one is stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external_ids: Vec<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    content: &'a str,
    /// 0 to 1 for the result of a search, else 0.
    score: f32,
    session_id: &'a str,
    /// The root folder of its project.
    project: &'a str,
    /// RFC 3339, UTC.
    created_at: String,
    files: &'a [String],
    keywords: &'a [String],
    /// 0 to 1.
    importance: f32,
    /// In how many places it was learned.
    seen: u32,
    /// Who said it, if that is known: `human`; `agreed`, the agent and the human agreed; `agent`; or `tool`, a tool, a file or a
    /// commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    said_by: Option<SaidBy>,
    /// When a person pinned it; RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned_at: Option<String>,
    /// When a person marked it wrong; RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_at: Option<String>,
    /// Why it is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_because: Option<&'a str>,
    /// The identifier of the memory that holds instead. In a search it is listed before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(memory: &'a Memory, project: &'a str, marks: Marks, superseded_by: Option<String>) -> Self {
        let names = memory.attributes.iter().filter(|(key, _)| key == EXTERNAL_ID).map(|(_, name)| name.as_str());
        let external_ids: Vec<&str> = names.collect();
        Self {
            id: &memory.id,
            external_id: external_ids.first().copied(),
            external_ids: if external_ids.len() > 1 { external_ids } else { Vec::new() },
            kind: &memory.kind,
            title: &memory.title,
            content: &memory.content,
            score: memory.score,
            session_id: &memory.session_id,
            project,
            created_at: output::timestamp(memory.created),
            files: &memory.files,
            keywords: &memory.keywords,
            importance: memory.importance,
            seen: memory.seen,
            said_by: memory.said_by(),
            pinned_at: marks.pinned_at.map(output::timestamp),
            wrong_at: marks.wrong_at.map(output::timestamp),
            wrong_because: marks.wrong_at.and_then(|_| wrong_because(&memory.attributes)),
            superseded_by,
        }
    }
}

/// Prints the memories as JSON.
pub(super) fn write_json(store: &Store, memories: &[Memory]) -> Result<(), CommandError> {
    let roots = store.project_roots(memories)?;
    output::json(&entries(store, memories, &roots)?)
}

/// Returns the memories as they are printed with `--json`, with the root folders of their projects.
pub(super) fn entries<'a>(
    store: &Store,
    memories: &'a [Memory],
    roots: &'a [String],
) -> Result<Vec<Entry<'a>>, CommandError> {
    let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
    let heads = store.replacements(&ids)?.into_iter().map(|it| it.map(|it| it.head.id));
    let of_one =
        |(((memory, root), marks), head): (((&'a Memory, &'a String), Marks), _)| Entry::new(memory, root, marks, head);
    Ok(memories.iter().zip(roots).zip(store.marks(&ids)?).zip(heads).map(of_one).collect())
}

/// What [`write_table`] prints.
#[derive(Clone, Copy, Default)]
pub(super) struct TableOptions<'a> {
    /// Print the project of each memory.
    pub(super) projects: bool,
    /// Print the first lines of the content.
    pub(super) excerpts: bool,
    /// For each memory, the words of the query that it matches, as tokens of the index.
    pub(super) words: &'a [Vec<String>],
}

/// The most columns of a line of an excerpt.
const MAX_EXCERPT: usize = 110;

/// Prints the memories for people, one line each; below each line its details, if there are any, and an excerpt.
pub(super) fn write_table(
    runtime: &Runtime,
    store: &Store,
    memories: &[Memory],
    options: TableOptions<'_>,
    details: &[Vec<String>],
) -> Result<(), CommandError> {
    let mut projects = Vec::new();
    if options.projects {
        let roots = store.project_roots(memories)?;
        projects.extend(roots.iter().map(|root| output::clean_line(&paths::display(root.as_ref(), &runtime.paths.home))));
    }
    let heads: Vec<[String; 3]> = memories
        .iter()
        .map(|memory| {
            let (id, kind) = (output::clean_line(&memory.id), output::clean_line(&memory.kind));
            [id, kind, output::ago(memory.created, runtime.now)]
        })
        .collect();
    let widths = [0, 1, 2].map(|index| output::widest(heads.iter().map(|head| &head[index])));
    let width = output::width();
    // On a narrow terminal age and type are left out, in this order.
    let kept = output::leading_columns(width, &widths);
    let before_title = widths[..kept].iter().map(|width| width + 2).sum::<usize>();
    let mut out = Vec::new();
    for (index, memory) in memories.iter().enumerate() {
        let style = output::kind_style(&memory.kind);
        let project = output::fit_behind(projects.get(index).map_or("", String::as_str), width, before_title);
        let gap = if project.is_empty() { "" } else { "  " };
        let words = options.words.get(index).map_or(&[][..], Vec::as_slice);
        let mark = |line: &str| output::highlight(line, |word| is_match(word, words));
        let title = output::clean_line(&memory.title);
        let title = match width {
            Some(width) => {
                let behind = gap.len() + output::columns(&project);
                output::fit(&title, width.saturating_sub(before_title + behind).max(1))
            }
            None => title,
        };
        for ((head, width), style) in heads[index].iter().zip(widths).zip([DIM, style, DIM]).take(kept) {
            write!(out, "{style}{}{style:#}  ", output::pad(head, width))?;
        }
        writeln!(out, "{BOLD}{}{BOLD:#}{gap}{DIM}{project}{DIM:#}", mark(&title))?;
        for line in details.get(index).into_iter().flatten().flat_map(|line| output::wrap(line, 4)) {
            writeln!(out, "    {DIM}{}{DIM:#}", mark(&line))?;
        }
        if !options.excerpts {
            continue;
        }
        let most = width.map_or(MAX_EXCERPT, |width| width.saturating_sub(6).clamp(20, MAX_EXCERPT));
        for line in excerpt(memory) {
            writeln!(out, "    {}", mark(&output::fit(&line, most)))?;
        }
        if !memory.files.is_empty() {
            let files = memory.files[..memory.files.len().min(4)].join(", ");
            writeln!(
                out,
                "    {DIM}{}{DIM:#}",
                output::fit(&output::clean_line(&files), width.map_or(usize::MAX, |width| width - 4.min(width)))
            )?;
        }
    }
    pager::write(&out)
}

/// Whether the index has the word under one of the tokens.
pub(super) fn is_match(word: &str, tokens: &[String]) -> bool {
    !tokens.is_empty() && tokens::index_text(word).split(' ').any(|token| tokens.iter().any(|wanted| wanted == token))
}

/// Whether another project shared any of the memories with this one.
pub(super) fn has_shared(memories: &[Memory]) -> bool {
    memories.iter().any(|memory| memory.attributes.iter().any(|(name, _)| name == SHARED_FROM))
}

/// Returns the first lines of the content that say more than the title.
fn excerpt(memory: &Memory) -> Vec<String> {
    let title = output::clean_line(&memory.title);
    let whole = title.trim_end_matches('…');
    // The rest of a sentence that the title cuts is marked as such.
    let mark = if whole.len() < title.len() { "…" } else { "" };
    let without_title = |line: String| match line.strip_prefix(whole).map(str::trim_start) {
        Some("") => String::new(),
        Some(rest) => format!("{mark}{rest}"),
        None => line,
    };
    memory
        .content
        .lines()
        .map(output::clean_line)
        .map(without_title)
        // The colon before a pasted text says nothing.
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .take(3)
        .collect()
}
