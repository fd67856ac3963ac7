//! MCP resources, which a client can read without a tool: the project's context, and single memories by identifier.

use anyhow::Result;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use super::tools::{self, ContextKind};
use super::worker::ToolContext;
use super::{cursor, quote};
use throughline_store::MemoryFilter;

/// The URI of the project's context.
const CONTEXT: &str = "throughline://context";

/// The URI prefix of memories, before the identifier.
const MEMORY: &str = "throughline://memory/";

const MIME: &str = "text/markdown";

/// How many memories a page contains, and how many all pages contain together. The newest are listed; others can be
/// searched for.
const PAGE: usize = 50;
const MAX_LISTED: usize = 500;

/// Lists the context and the newest memories.
pub(super) fn list(ctx: &mut ToolContext, cursor: Option<&str>) -> Result<ListResourcesResult> {
    let project = ctx.project.id.clone();
    let begin: usize = cursor::decode("resources", &project, cursor)?.unwrap_or(0).min(MAX_LISTED);
    let mut resources = Vec::new();
    if begin == 0 {
        let name = "What a new session of this project sees at its start";
        resources.push(Resource::new(CONTEXT, "context").with_title(name).with_mime_type(MIME));
    }
    let (mut memories, mut types) = (Vec::new(), Vec::new());
    if let Some(store) = ctx.open_existing()? {
        let wanted = u32::try_from(begin + PAGE + 1).unwrap_or(u32::MAX);
        memories = store.recent(&MemoryFilter { project: Some(project.clone()), ..MemoryFilter::default() }, wanted)?;
        memories.drain(..memories.len().min(begin));
        types = tools::note_types(&store, memories.iter().take(PAGE))?;
    }
    let is_more = memories.len() > PAGE && begin + PAGE < MAX_LISTED;
    resources.extend(memories.iter().zip(types).map(|(memory, note_type)| {
        let title = quote::line(&memory.title, 160);
        // The word that the tools use for it.
        let kind = note_type.unwrap_or_else(|| quote::line(&memory.kind, 64));
        Resource::new(format!("{MEMORY}{}", memory.id), &memory.id)
            .with_title(title)
            .with_description(kind)
            .with_mime_type(MIME)
    }));
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = is_more.then(|| cursor::encode("resources", &project, begin + PAGE));
    Ok(result)
}

/// Returns the URI template of memories.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{MEMORY}{{id}}"), "memory").with_title("A memory of this project").with_mime_type(MIME)
}

/// Reads a resource; `None` if the project has no such resource.
pub(super) fn read(ctx: &mut ToolContext, uri: &str) -> Result<Option<ReadResourceResult>> {
    let text = match uri.strip_prefix(MEMORY) {
        Some(id) => tools::whole(ctx, id)?,
        None if uri == CONTEXT => {
            let text = tools::context(ctx, ContextKind::New)?.fenced();
            Some(text.unwrap_or_else(|| "Nothing is stored for this project yet.".into()))
        }
        None => None,
    };
    Ok(text.map(|text| ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MIME)])))
}
