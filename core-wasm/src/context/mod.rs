//! Stage `context-builder`: turns stored memories into the text that the agent sees.
//!
//! Each source gathers candidates into a [`Page`], which merges duplicates and fits the most important entries into the
//! budget. Stored text is data, not instructions: it is sanitized when it enters a page.

mod attributes;
mod automated;
mod changed_files;
mod check_reports;
mod compacted;
mod course;
mod course_room;
mod earlier;
mod later;
mod left_undone;
mod line;
mod marks;
mod memories;
mod new_session;
mod overtaken;
mod page;
mod prompt;
mod relevance;
mod topics;

use crate::bindings::exports::throughline::policy::context_builder::{Context, Request};
use crate::bindings::throughline::policy::memories::Fact;
use later::LaterSessions;
use line::StoredText;
pub use memories::Memories;
use page::{Entry, Page, SectionKind};

/// Builds the text for the request's source within its budget. None if there is nothing worth saying.
pub fn build(request: &Request, memories: &dyn Memories) -> Option<Context> {
    let budget = request.budget as usize;
    match request.source.as_str() {
        // The client replays the conversation, which already contains everything worth saying.
        "resume" | "fork" => None,
        "clear" => page_after_clear(request, memories).render(CLEARED_INTRO, budget),
        "compact" => compacted::page(request, memories).render(compacted::INTRO, budget),
        "prompt" => {
            let page = prompt::page(request);
            let intro = prompt::intro(&page);
            page.render(&intro, budget.min(prompt::MAX_UNITS))
        }
        _ => new_session::page(request, memories).render(new_session::INTRO, budget),
    }
}

/// Returns the features of the model that judges whether the results of a prompt's search help, and its evidence: above 0
/// they are shown. For fitting the model.
pub fn prompt_features(request: &Request) -> (Vec<f32>, f32) {
    let (form, found) = prompt::judged(request);
    (relevance::features(&form, &found).to_vec(), relevance::evidence(&form, &found))
}

const CLEARED_INTRO: &str = "What holds for this project. It may be outdated: the user and the code have the last word.";

/// Builds the page after a deliberate `clear`: only what holds for every task.
fn page_after_clear(request: &Request, memories: &dyn Memories) -> Page {
    let mut page = Page::new(&request.session.root);
    add_standing(&mut page, memories, 8, 1.0, &LaterSessions::of(&[]));
    page
}

/// Adds what holds for every session: the user's rules and the knowledge about the project. Each section gets at most
/// `max_entries` entries, with their importance multiplied by `factor`. What the sessions of `later` overtook is left out.
fn add_standing(page: &mut Page, memories: &dyn Memories, max_entries: usize, factor: f32, later: &LaterSessions) {
    page.limit(SectionKind::Preferences, max_entries);
    page.limit(SectionKind::Knowledge, max_entries);
    for memory in page.checked_for_more(memories.important(&["preference"], 16), 16) {
        page.add_memory(&memory, factor);
    }
    let facts = page.checked_for_more(memories.knowledge(16), 16);
    let (conventions, facts): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(|fact| fact.kind == "convention");
    add_conventions(page, &conventions, factor);
    for fact in facts {
        let raw = match &fact.file {
            Some(file) => StoredText::from(format!("{}: {} (`{}`)", capitalized(&fact.kind), fact.content, page.path(file))),
            None => StoredText::from(format!("{}: {}", capitalized(&fact.kind), fact.content)),
        };
        page.add(SectionKind::Knowledge, Entry::new(&raw, 0.6 * factor).with_key(&fact.content));
    }
    for memory in page.checked_for_more(memories.important(&["discovery"], 12), 12) {
        if later.has_overtaken(&memory) || later.is_weak_finding(&memory) {
            page.leave_out(&memory);
        } else {
            page.add_memory(&memory, factor);
        }
    }
}

/// Adds the commands of the project as one line. Each already says what it is for: "Tests: `make test`".
fn add_conventions(page: &mut Page, conventions: &[Fact], factor: f32) {
    let mut usual = usual(conventions);
    // What is about one package or one variant comes last.
    usual.sort_by_key(|it| it.split('`').next().is_some_and(|label| label.contains('(')));
    let usual = with_shared_labels(&usual);
    let line = line::join(&usual.iter().map(|it| line::sanitize(it)).collect::<Vec<_>>(), "; ", line::MAX_LINE_CHARS);
    // It is short, certain and needed each day.
    let entry = conventions.iter().fold(Entry::new(&line, 0.93 * factor), |entry, it| entry.with_key(&it.content));
    page.add(SectionKind::Knowledge, entry);
}

/// Returns the commands without other forms of the same one. Of one program and purpose the shortest is the usual one: `make test` and
/// not `make test ARGS=-v`. Of several commands that belong together, such as those of a hook, the latest are true.
fn usual(conventions: &[Fact]) -> Vec<&str> {
    let mut usual: Vec<&str> = Vec::new();
    for convention in conventions {
        let content = convention.content.as_str();
        let Some(known) = usual.iter_mut().find(|known| purpose(known) == purpose(content)) else {
            usual.push(content);
            continue;
        };
        let is_one_command = |content: &str| content.matches('`').count() == 2;
        if is_one_command(known) && is_one_command(content) && content.len() < known.len() {
            *known = content;
        }
    }
    usual
}

/// Returns the commands with those for the same purpose together: "Tests: `make test`, `pytest`".
fn with_shared_labels(conventions: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for convention in conventions {
        let (label, command) = convention.split_once('`').unwrap_or((convention, ""));
        match all.iter_mut().find(|known| !command.is_empty() && known.split_once('`').is_some_and(|(it, _)| it == label)) {
            Some(known) => *known = format!("{known}, `{command}"),
            None => all.push((*convention).to_owned()),
        }
    }
    all
}

/// Returns what a command is for and its program, which is all up to the first space of the command.
fn purpose(convention: &str) -> &str {
    let command = convention.find('`').map_or(0, |at| at + 1);
    convention[command..].find([' ', '`']).map_or(convention, |end| &convention[..command + end])
}

fn capitalized(word: &str) -> String {
    let word = word.replace('_', " ");
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_in_its_usual_form() {
        let fact = |content: &str| Fact { kind: "convention".into(), file: None, content: content.into(), updated: 0 };
        let all = [
            "Tests: `make test ARGS=-v`",
            "Tests: `make test`",
            "Tests: `pytest`",
            "Lint: `make lint`",
            "Commit hook: `make test`, `make lint`",
            "Commit hook: `make test`",
            "Tests: `make test`",
        ];
        let told = ["Tests: `make test`", "Tests: `pytest`", "Lint: `make lint`", "Commit hook: `make test`, `make lint`"];
        assert_eq!(usual(&all.map(fact)), told);
        assert_eq!(usual(&[fact("Ask first"), fact("Ask first"), fact("`")]), ["Ask first", "`"]);
    }
}
