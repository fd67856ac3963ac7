//! The output of `throughline policy run`: the answer of each stage, with the fields of the contract.

use serde::Serialize;

use throughline_model::contract::{Attribute, Draft, Origin, SessionNotes};
use throughline_sandbox::instance;

/// The answer of one stage; null if the stage has none.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Answer {
    /// The answer of the extractor.
    Extracted(Box<Extracted>),
    /// The answer of the summarizer.
    Summarized(Option<Summarized>),
    /// The answer of the redactor.
    Redacted(Option<Redacted>),
    /// The answer of the context builder.
    Built(Option<Built>),
    /// The answer of the observer.
    Observed(Option<Observed>),
    /// The answer of the query planner.
    Planned(Option<Planned>),
    /// The answer of the consolidator.
    Consolidated(Consolidated),
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Extracted {
    drafts: Vec<Drafted>,
    /// Keys of earlier drafts that are no longer valid.
    retracted: Vec<String>,
    notes: SessionNotes,
    /// The value of `--state` for the next call.
    state: String,
    /// The end of the last line that was processed, bytes.
    consumed: u64,
    /// Lines, or parts of lines, that were skipped.
    malformed: u32,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Drafted {
    /// Identifies the memory within the session; null if its type and content do.
    key: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    content: String,
    keywords: Vec<String>,
    files: Vec<String>,
    /// 0 to 1.
    importance: f32,
    origin: Origin,
    attributes: Vec<Attribute>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Summarized {
    text: String,
    topics: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Redacted {
    /// The text without its secrets.
    text: String,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finding {
    rule: String,
    count: u32,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Built {
    /// Markdown.
    text: String,
    /// Identifiers of the memories in the text.
    used: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Observed {
    summary: String,
    detail: String,
    files: Vec<String>,
    attributes: Vec<Attribute>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Planned {
    /// In the syntax of `throughline search`.
    text: String,
    /// Empty for all kinds.
    kinds: Vec<String>,
    limit: u32,
    /// 0 to 1.
    min_score: f32,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Consolidated {
    memories: Vec<NewMemory>,
    /// Pairs of identifiers: the second memory takes the place of the first.
    superseded: Vec<(String, String)>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct NewMemory {
    #[serde(rename = "type")]
    kind: String,
    title: Statement,
    statements: Vec<Statement>,
    /// Identifiers of the memories that it takes the place of.
    replaces: Vec<String>,
    keywords: Vec<String>,
    files: Vec<String>,
    /// 0 to 1.
    importance: f32,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Statement {
    text: String,
    /// Identifiers of lines.
    cites: Vec<String>,
}

impl From<instance::Statement> for Statement {
    fn from(instance::Statement { text, cites }: instance::Statement) -> Self {
        Self { text, cites }
    }
}

impl From<instance::Consolidation> for Consolidated {
    fn from(instance::Consolidation { memories, superseded }: instance::Consolidation) -> Self {
        let memories = memories.into_iter().map(|memory| NewMemory {
            kind: memory.kind,
            title: memory.title.into(),
            statements: memory.statements.into_iter().map(Into::into).collect(),
            replaces: memory.replaces,
            keywords: memory.keywords,
            files: memory.files,
            importance: memory.importance,
        });
        Self { memories: memories.collect(), superseded }
    }
}

impl From<instance::Extraction> for Extracted {
    fn from(found: instance::Extraction) -> Self {
        Self {
            drafts: found.drafts.into_iter().map(Into::into).collect(),
            retracted: found.retracted,
            notes: found.notes,
            state: found.state,
            consumed: found.consumed,
            malformed: found.malformed,
        }
    }
}

impl From<Draft> for Drafted {
    fn from(draft: Draft) -> Self {
        let Draft { key, kind, title, content, keywords, files, importance, origin, attributes } = draft;
        Self { key, kind, title, content, keywords, files, importance, origin, attributes }
    }
}

impl From<instance::Summary> for Summarized {
    fn from(instance::Summary { text, topics }: instance::Summary) -> Self {
        Self { text, topics }
    }
}

impl Redacted {
    /// `input` is the text that the stage got: it is the answer if nothing was found.
    pub(super) fn new(redacted: instance::Redacted, input: &str) -> Self {
        let findings = redacted.findings.into_iter().map(|found| Finding { rule: found.rule, count: found.count }).collect();
        Self { text: redacted.text.unwrap_or_else(|| input.to_owned()), findings }
    }
}

impl From<instance::BuiltContext> for Built {
    fn from(instance::BuiltContext { text, used }: instance::BuiltContext) -> Self {
        Self { text, used }
    }
}

impl From<instance::Observation> for Observed {
    fn from(instance::Observation { summary, detail, files, attributes }: instance::Observation) -> Self {
        Self { summary, detail, files, attributes }
    }
}

impl From<instance::Search> for Planned {
    fn from(instance::Search { text, kinds, limit, min_score }: instance::Search) -> Self {
        Self { text, kinds, limit, min_score }
    }
}
