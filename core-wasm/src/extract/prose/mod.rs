//! Extracts from the agent's prose what goes beyond narration: results, causes, reasons and blockers.

mod acknowledgement;
mod answers;
mod document;
mod ending;
mod expected;
mod gist;
mod heading;
mod insight;
mod lesson;
mod narration;
mod needs;
mod open_points;
mod proposal;
mod retraction;
#[cfg(test)]
mod tests;
mod waits;
mod yes_or_no;

pub(super) use acknowledgement::{acknowledged, recommended};
pub(crate) use answers::{asks_to_go_on, chooses_nothing, is_of_its_day, says_yes_or_no};
pub(super) use answers::{can_be_rejected, leaves_to_agent, takes_all};
pub(super) use document::{decisions, declared_decisions, findings};
pub(crate) use ending::checked;
pub(super) use ending::{admissions, blockers, closing_question, ends_with_choice, is_open_heading};
pub(super) use expected::{claims_deployment, expected_deployment};
pub(super) use gist::gist;
pub(super) use heading::{file_in, is_generic_heading, is_heading, is_pointer};
pub(super) use insight::{cause_weight, causes, insights, is_change_note, remarks_on_blanks, signs};
pub(super) use lesson::{is_of_lessons, lessons};
pub(crate) use narration::is_narration;
pub(super) use narration::{is_filler, strip_interjection};
pub(super) use needs::needs_user;
pub(super) use open_points::{listed_points, open_points, open_questions, status};
pub(super) use proposal::{
    credits_user, declares_decision, is_code_detail, is_piece, is_procedure, is_speculation, offers_choice,
};
pub(super) use retraction::{changes_mind, retracted_subjects, retractions};
pub(super) use yes_or_no::yes_or_no;
