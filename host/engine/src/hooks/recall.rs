//! `UserPromptSubmit`: records the prompt as an event, and injects memories that are relevant to it.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use super::file_checks::FileChecks;
use super::journal_writer;
use super::loaded::LoadedText;
use super::memories::ProjectMemories;
use super::result::{HookResult, STORE_BUSY_TIMEOUT, is_read_only};
use super::session_project::project_of;
use crate::runtime::Runtime;
use crate::search::SearchRequest;
use throughline_agents::protocol::shorten::shorten_text;
use throughline_agents::protocol::{self as agent, Event};
use throughline_model::contract::{Memory, Session};
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_sandbox::instance::Search;
use throughline_store::journal::EventPayload;
use throughline_store::{Access, PROMPT, SEEN_PROMPT, SearchHit, Store, StoreError};

/// The most that is injected for a prompt, UTF-16 units. It is small because it comes with every prompt.
const CONTEXT_BUDGET: u32 = 2_000;

/// How many search results are considered, since some were shown already.
const CANDIDATES: u32 = 30;

/// Returns the context to show the agent together with the prompt.
pub(super) fn recall(runtime: &Runtime, event: &Event, prompt: &str, deadline: Instant) -> HookResult<Option<String>> {
    let (store, mut is_writable) = open_store(runtime)?;
    let project = match &store {
        Some(store) => project_of(store, &event.session, &event.cwd)?,
        None => Project::discover(&event.cwd),
    };
    if runtime.refusal(&project, &event.session).is_some() {
        return Ok(None);
    }
    let prompt = shorten_text(prompt);
    let prompt = runtime.privacy.clean(&prompt).unwrap_or(prompt);
    let policies = runtime.policies(Some(&project.root))?;
    runtime.secrets.add_env_files(&project.root, &event.cwd);
    let session = Session::new(&event.session, &project, &event.cwd, event.agent.name(), event.model.clone(), runtime.now);
    let Some(store) = store else {
        let mut work = policies.work(None, deadline)?;
        record_prompt(runtime, &mut work, event, &prompt, deadline)?;
        return Ok(None);
    };
    let store = Rc::new(store);
    let memories = ProjectMemories {
        store: Rc::clone(&store),
        project: project.id.clone(),
        files: FileChecks::new(&project.root, runtime.now),
        session: event.session.clone(),
        now: runtime.now,
        shared: runtime.config.sharing.context,
        // Only the page at the start repeats what a file says. Beside a prompt, a rule is worth telling twice.
        loaded: LoadedText::default(),
        pinned: Vec::new(),
    };
    let memories = Rc::new(memories);
    let mut work = policies.work(Some(Rc::<ProjectMemories>::clone(&memories)), deadline)?;
    if is_writable {
        match record_prompt(runtime, &mut work, event, &prompt, deadline) {
            // A database that cannot be written opens, and only the journal shows it.
            Err(error) if is_read_only(&error) => {
                runtime.log.record(Level::Error, "hook: the prompt cannot be recorded", format!("{error:#}"));
                is_writable = false;
            }
            recorded => recorded?,
        }
    }
    if !agent::shows_answer(event) {
        return Ok(None);
    }
    let _one_state = store.read_together()?;
    let last = store.last_answer(&event.session)?;
    let Some(search) = work.plan(&session, &prompt, last.as_deref(), deadline)? else { return Ok(None) };
    let found = find(runtime, &memories, &search)?;
    if found.is_empty() {
        return Ok(None);
    }
    let budget = CONTEXT_BUDGET.min(runtime.config.context.budget);
    let session = Session { attributes: vec![("prompt".into(), prompt)], ..session };
    let Some(built) = work.build_context(&session, "prompt", budget, &found, deadline)? else { return Ok(None) };
    let mut texts = [built.text];
    work.redact(&mut texts, deadline)?;
    let [text] = texts;
    let text = super::result::cut(&text, budget as usize);
    if text.trim().is_empty() {
        return Ok(None);
    }
    if is_writable {
        journal_writer::record_shown(runtime, event, "prompt", &built.used);
    }
    Ok(Some(text))
}

/// Opens the store, if there is one, and returns whether it can be written.
fn open_store(runtime: &Runtime) -> HookResult<(Option<Store>, bool)> {
    match runtime.store(Access::Existing, STORE_BUSY_TIMEOUT) {
        Ok(store) => Ok((Some(store), true)),
        Err(StoreError::Missing(_) | StoreError::Older(_)) => Ok((None, true)),
        // Nothing can be recorded, but the agent still gets the stored memories.
        Err(error @ StoreError::ReadOnly(..)) => match runtime.read_only_store() {
            Ok(store) => Ok((Some(store), false)),
            Err(_) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Returns the memories that a search finds, without those that the session has already.
fn find(runtime: &Runtime, memories: &ProjectMemories, search: &Search) -> HookResult<Vec<Memory>> {
    let store = &memories.store;
    let request = SearchRequest::of_prompt(&search.text, &search.kinds, &memories.project, CANDIDATES, runtime.now)
        .with_shared(runtime.config.sharing.context);
    let mut found: Vec<SearchHit> = request.run(store)?.hits;
    let (mut shown, is_all) = runtime.journal().shown(&memories.session);
    if !is_all {
        shown.extend(store.shown(&memories.session)?);
    }
    let shown: BTreeSet<String> = shown.into_iter().collect();
    // What this session said since the last compaction is still in the agent's context.
    let compacted = store.compacted_at(&memories.session)?.unwrap_or(0);
    let is_before_it = |it: &Memory| it.session_id == memories.session && it.created >= compacted;
    found.retain(|hit| hit.memory.score >= search.min_score && !is_before_it(&hit.memory));
    let mut found = without_shown(found, &shown);
    found.truncate(search.limit as usize);
    let mut found: Vec<Memory> = found.into_iter().map(with_match).collect();
    memories.files.mark_files(Some(store), &mut found);
    found.iter_mut().for_each(Memory::name_colleague);
    Ok(found)
}

/// Leaves out what the session was shown. If the best that another session has for this prompt was shown, the rest of that
/// session has been answered too.
fn without_shown(found: Vec<SearchHit>, shown: &BTreeSet<String>) -> Vec<SearchHit> {
    let mut answered: BTreeSet<String> = BTreeSet::new();
    let mut is_new = |hit: &SearchHit| {
        let SearchHit { memory, .. } = hit;
        if shown.contains(&memory.id) && !memory.session_id.is_empty() {
            answered.insert(memory.session_id.clone());
        }
        !shown.contains(&memory.id) && !answered.contains(&memory.session_id)
    };
    found.into_iter().filter(|hit| is_new(hit)).collect()
}

/// Returns the memory with how it matched, for the policy to judge whether it helps.
fn with_match(hit: SearchHit) -> Memory {
    let SearchHit { mut memory, why, words, followed_by, revisited_by, .. } = hit;
    memory.attributes.extend(followed_by.map(|later| ("followed-by".into(), later)));
    memory.attributes.extend(revisited_by.map(|later| ("revisited-by".into(), later)));
    memory.attributes.extend([
        ("match.words".into(), words.join(" ")),
        ("match.cosine".into(), format!("{:.3}", why.cosine.unwrap_or(0.0))),
    ]);
    memory
}

/// Records the prompt as an event.
fn record_prompt(
    runtime: &Runtime,
    work: &mut throughline_sandbox::chain::Work<'_>,
    event: &Event,
    prompt: &str,
    deadline: Instant,
) -> HookResult<()> {
    // Reports from the agent's own background tasks come as prompts too.
    if prompt.trim().is_empty() || prompt.trim_start().starts_with("<task-notification>") {
        return Ok(());
    }
    let key = match &event.prompt {
        Some(id) => format!("{SEEN_PROMPT}{id}"),
        None => format!("{SEEN_PROMPT}{}:{}", runtime.now, &sha256_hex(prompt.as_bytes())[..8]),
    };
    let first = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let seen = EventPayload { summary: first.into(), detail: prompt.into(), ..EventPayload::default() };
    journal_writer::append_redacted(
        runtime,
        work,
        vec![journal_writer::new_record(runtime, event, PROMPT, key, seen)],
        deadline,
    )?;
    Ok(())
}
