//! Bindings for version 0.1 of the contract. No other module has any.
//!
//! # How 0.2.0 will live beside 0.1.0
//!
//! The first release freezes `wit/v0.1.0`: after that only doc comments may be corrected. Breaking changes are
//! collected and made together in a new folder `v0.2.0` beside it, a copy of the whole. Its bindings get a module
//! `v0_2` beside this one. [`capability::SUPPORTED_VERSIONS`](super::capability::SUPPORTED_VERSIONS) names the versions that a host serves.
//! [`instance`](super::instance) chooses which bindings to link, by the version in the component's imports and exports
//! (`throughline:policy/extractor@0.1.0`), and converts between an old record and today's at that edge. The shared
//! types, [`chain`](super::chain), the engine and the store know only the newest. A policy of an older version is
//! served as it always was.
//!
//! A component of a version that the host does not serve is refused with both versions named, before linking could
//! complain about types; so is a manifest that names one. A newer *patch* version than the host knows is refused too,
//! because it may import something that does not exist here. `docs/contract.md` is written from the newest folder; the
//! older ones stay readable as WIT.
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

pub mod bindings;
pub mod types;
