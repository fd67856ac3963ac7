//! Signs that a statement is no knowledge by itself, or how it is meant: words and openings, by topic.

mod commits;
mod concessions;
mod headings;
mod leaning;
mod pasted;
mod problems;
mod proposals;
#[cfg(test)]
mod tests;
mod way;

pub(super) use commits::{
    Step, awaits_commit, has_only_hashes, is_about_committing, is_about_pushing, only_reports_commit, steps_to_make,
};
pub(super) use concessions::{concedes, defends, disproves, gives_in, reverts, without_concession};
pub(super) use headings::{is_clause_heading, is_fix_heading, is_praise_heading, is_proposals, qualifies};
pub(crate) use leaning::begins_with_pronoun;
pub(super) use leaning::{addresses_reader, leans_on_sentence_before, speaks_of_fact_before, speaks_of_named_before};
pub(super) use pasted::{is_code, is_output, names_only};
pub(super) use problems::{
    announces_mending, excuses, is_of_others, is_problem, lacks_something, leaves_cause_open, mends_findings, names_cause,
    reports_background,
};
pub(crate) use problems::{demands, finds_fault, is_failing, tells_limit};
pub(crate) use proposals::only_offers;
pub(super) use proposals::{
    RECOMMENDED, advises, announces_deed, asks_to_choose, is_imperative, is_intent, is_offer, leads_to_aside, lists_options,
    makes_proposal, offers_options, proposes,
};
pub(crate) use way::is_open_state;
pub(super) use way::{
    is_guess, is_hope, is_on_the_way, is_one_off, is_praise, is_state_before, says_finished, says_how_it_is_now,
};
