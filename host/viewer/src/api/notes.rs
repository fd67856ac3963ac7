//! The notes of a project, and the graph of their relations and supersessions.

use serde_json::{Value, json};

use super::cursor;
use super::paging::page_of;
use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;
use throughline_notes::NOTES_FOLDER;
use throughline_notes::folder_of_project;
use throughline_notes::registry::Registry;

/// How many characters of a note's description or text the list shows.
const MAX_LINE: usize = 200;

/// A page of the project's notes, newest first; with the first page, the graph.
pub(super) fn notes(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let root = wanted.project()?;
    let Some(store) = app.store()? else { return Ok(json!({"entries": [], "next": null})) };
    let project = App::find_project(&store, root)?;
    let folder = folder_of_project(&project.root, &project.root.join(NOTES_FOLDER))
        .map_err(|error| ApiError::refused(error.to_string()))?;
    let registry = Registry::load(&folder).map_err(|error| ApiError::refused(error.to_string()))?;
    let mut all = store.notes_of(&project.id, &registry)?;
    all.sort_by(|a, b| b.note.created.cmp(&a.note.created).then_with(|| a.memory.cmp(&b.memory)));
    let begin: u32 = cursor::decode(wanted.cursor.as_deref())?.unwrap_or(0);
    let entries = all.iter().map(|it| {
        let text = if it.note.description.is_empty() { &it.note.content } else { &it.note.description };
        json!({
            "id": it.memory,
            "type": it.note.note_type,
            "title": it.note.title,
            "line": text.chars().take(MAX_LINE).collect::<String>(),
            "tags": it.note.tags,
            "name": it.stem,
            "at": it.note.created,
        })
    });
    let (entries, next) = page_of(entries.collect(), begin, wanted.limit());
    let mut page = json!({"entries": entries, "next": next, "total": all.len()});
    if begin == 0 {
        let mut graph = app.command(&["note", "graph", "--format=json", &format!("--project={root}")])?;
        let mut links = Vec::new();
        for it in &all {
            let newer = store.supersessions(&it.memory)?.into_iter().filter(|link| link.older == it.memory);
            links.extend(
                newer
                    .filter(|link| link.undone_at.is_none())
                    .map(|link| json!({"from": link.newer, "relation": link.relation.name(), "to": link.older})),
            );
        }
        graph["supersessions"] = Value::Array(links);
        page["graph"] = graph;
    }
    Ok(page)
}
