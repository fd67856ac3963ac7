//! The types of version 0.2 of the contract, the newest one. No other module has any.
//!
//! # How 0.1.0 lives beside 0.2.0
//!
//! A release freezes the folder of its version in `wit/`: after that only doc comments may be corrected. Breaking changes are
//! collected and made together in a new folder beside it, a copy of the whole.
//! [`capability::SUPPORTED_VERSIONS`](super::capability::SUPPORTED_VERSIONS) names the versions that this host serves. All of a
//! component's imports and exports must be of one of them (`throughline:policy/extractor@0.1.0`).
//!
//! Wasmtime compares the *structure* of types when it links, and not where they were generated from. So there is one set of
//! types, the newest: [`linking`](super::linking) defines each import under the name of the component's version, and
//! [`instance`](super::instance) looks up each export under that name. Only what differs between the versions is written twice;
//! today that is the record `fact`, which got a field. Imports that a version does not have are not linked: a component of
//! 0.1.0 can import neither `model` nor `memories.count`, and has no stage `consolidator`. The shared types,
//! [`chain`](super::chain), the engine and the store know only the newest. A policy of an older version is served as it always
//! was.
//!
//! A component of a version that the host does not serve is refused with both versions named, before linking could
//! complain about types; so is a manifest that names one. A newer *patch* version than the host knows is refused too,
//! because it may import something that does not exist here. `docs/contract.md` is written from the newest folder; the
//! older ones stay readable as WIT.
//!
//! The default policy and the templates stay at 0.1.0 as long as they need nothing newer: each session then shows that the
//! older version is served.
//!
//! # Why the contract has this form
//!
//! What was learned on the way from the first sketch:
//!
//! - *The extractor's state is text, not bytes.* It is stored, so it must be redacted, and a redactor reads text. Its
//!   format is the policy's own.
//! - *Drafts have keys, and there are retractions.* A session's end decides what was true of it; without keys a fold
//!   could only add.
//! - *Supplements.* The last message at `Stop` and the summary at `PostCompact` come with the event, not with the
//!   transcript. They are a list of named texts, so that later moments can bring others.
//! - *`line.end`.* The policy returns the end of a line that it was given. An offset that it computes could be in the
//!   middle of one; the host refuses an offset that is no line's end.
//! - *A redactor answers `none` for an unchanged text*, as nearly all are. Copying each back across the boundary cost
//!   more than looking at it.
//! - *`memories` answers the questions that a context asks*: `important`, `knowledge`, `sessions`, `last-session`,
//!   `session`. With only `recent` and `search`, every policy would have to read too much.
//! - *A summarizer may have nothing to say*, and a session knows its project's `root`, so that paths can be made
//!   relative.
//! - *Stages that are given several things get a `request` record*, which is easier to extend than a list of
//!   parameters.
//! - *A capability that has nothing to give answers as empty* (no memories yet, a kind that was not granted). Its
//!   functions cannot fail, so a policy needs no second code path. A capability that was not granted at all does not
//!   exist: the policy does not load.
//! - *`consolidator` returns statements that cite lines, and not a text.* The host can then check each one, and drop what nobody
//!   said, whatever wrote it.
//! - *`model` is a capability and no stage.* What is asked, and what is made of the answer, is judgement and belongs to a policy;
//!   what it may cost is mechanism.

pub mod bindings;
pub mod types;
