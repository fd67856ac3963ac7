//! Interprets the user's prompts: requests, consents, chores, standing rules and corrections.

mod antecedent;
mod choice;
mod consent;
mod correction;
mod directives;
mod pasted;
mod plan;
mod request;
mod rule;
#[cfg(test)]
mod tests;

pub(super) use choice::{declares_choice, needs_context, settled_in_passing, stands_alone, takes_option};
pub(super) use consent::{asks_chore, asks_record, is_consent, is_substantive, speaks_of_recording};
pub(super) use correction::{disputes, is_correction};
pub(super) use directives::directives;
pub(super) use plan::{plan, plan_reason, title};
pub(super) use request::{is_demand, request_summary};
pub(super) use rule::is_rule;
