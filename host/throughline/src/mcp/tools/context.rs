//! The `session_context` tool; the same context is also a resource and part of a prompt.

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::ToolOutput;
use crate::mcp::quote;
use crate::mcp::worker::ToolContext;
use throughline_engine::hooks;
use throughline_model::contract::Session;

/// How long a policy may take.
const POLICY_TIMEOUT: Duration = Duration::from_secs(20);

/// The name of the caller as policies see it.
const CALLER: &str = "mcp";

/// Which context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(in crate::mcp) enum ContextKind {
    /// What a new session sees
    #[default]
    New,
    /// What was saved from the last session
    Last,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    #[serde(default)]
    of: ContextKind,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Context {
    about: &'static str,
    /// Null if there is nothing to show
    text: Option<String>,
    /// The last session's id, if requested
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Ids of the memories in it
    memories: Vec<String>,
}

/// Returns the context, defused. Its text is `None` if there is nothing to show.
pub(in crate::mcp) fn context(ctx: &mut ToolContext, wanted: ContextKind) -> Result<Context> {
    let mut context = Context { about: quote::NOTICE, text: None, session: None, memories: Vec::new() };
    let Some(store) = ctx.open_existing()? else { return Ok(context) };
    let runtime = &ctx.runtime;
    let source = match wanted {
        ContextKind::New => "startup",
        ContextKind::Last => "compact",
    };
    if wanted == ContextKind::Last {
        let last = store.sessions(&ctx.project.id, "", 1)?.into_iter().next();
        let Some(last) = last.filter(|last| !runtime.intervals.is_paused(&ctx.project.id, &last.id)) else {
            return Ok(context);
        };
        context.session = Some(last.id);
    }
    ctx.report_progress(1, 3, "asking the policy")?;
    let id = context.session.as_deref().unwrap_or("mcp");
    let session = Session::new(id, &ctx.project, &ctx.folder, CALLER, None, runtime.now);
    let budget = runtime.config.context.budget;
    let (text, memories) =
        hooks::context(runtime, &Rc::new(store), &session, source, budget, Instant::now() + POLICY_TIMEOUT)?;
    context.text = text.map(|text| quote::neutralize(&text));
    context.memories = memories;
    Ok(context)
}

impl Context {
    /// Returns the text in its fence; `None` if there is nothing to show.
    pub(in crate::mcp) fn fenced(&self) -> Option<String> {
        self.text.as_deref().map(quote::fence)
    }
}

pub(super) fn session_context(ctx: &mut ToolContext, arguments: &Arguments) -> Result<ToolOutput> {
    let context = context(ctx, arguments.of)?;
    let text = context.fenced().unwrap_or_else(|| "Nothing is stored for this project yet.".into());
    ToolOutput::new(text, &context)
}
