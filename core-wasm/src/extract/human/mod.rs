//! Interprets the user's prompts: requests, consents, chores, standing rules and corrections.

mod antecedent;
mod asked_behind;
mod choice;
mod chosen_name;
mod confirmation;
mod consent;
mod copied;
mod correction;
mod demand;
mod denial;
mod directives;
mod dismissal;
mod dispute;
mod interrupted;
mod objection;
mod parts;
mod pasted;
mod plan;
mod quoted;
mod reasoned;
mod refusal;
mod request;
mod rule;
mod ruling;
mod shown;
mod terminal;
#[cfg(test)]
mod tests;
mod undecided;
mod whole_request;
mod withdrawal;
mod wrapped;

pub(super) use choice::{
    has_pointer, needs_context, points_back, rule_needs_context, settled_in_passing, stands_alone, steering,
    stops_what_was_proposed, takes_option,
};
pub(super) use chosen_name::{chosen_name, wants_none};
pub(super) use confirmation::{Confirmation, confirmation};
pub(super) use consent::{
    asks_chore, asks_record, begins_with_consent, is_consent, is_substantive, only_records, picks_of, said_merged,
    speaks_of_all, speaks_of_recording, takes_up, thanks, without_consent, without_lead, without_option_letter,
};
pub(super) use correction::{corrects, holds_back, outlasts_change};
pub(super) use demand::{is_demand, is_order};
pub(super) use denial::{Denial, denials};
pub(super) use directives::{directives, typed};
pub(super) use dismissal::{dismissed_idea, dismisses};
pub(super) use dispute::{disputes, doubts, objects, refutes, replaces, without_hesitation};
pub(super) use interrupted::{completed, resumed, says_again};
pub(super) use objection::objection;
pub(crate) use parts::Parts;
pub(super) use parts::shortened;
pub(super) use pasted::{is_output, is_own_remark, is_paste, without_asking};
pub(super) use plan::{plan, plan_goal, plan_limits, plan_reason, plan_title, title};
pub(super) use refusal::{proposed_instead, replacement, wishes};
pub(crate) use request::states_fact;
pub(super) use request::{
    asks_ability, asks_cause, is_slash_command, only_asks, request_summary, sets_value, speaks_of_own_commit,
    speaks_of_pushed_work, task,
};
pub(super) use rule::{is_rule, short_bans};
pub(super) use ruling::{Ruling, asks_to_stay, rulings};
pub(super) use undecided::{only_wants_to_see, wonders};
pub(super) use whole_request::{MAX_UNANSWERED_CHARS, MAX_WHOLE_CHARS, whole_request};
pub(super) use withdrawal::{Abandonment, abandonment, excuses, leaves_out, withdraws};
