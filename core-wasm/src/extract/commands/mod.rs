//! Analyzes shell commands: their purpose, whether they failed, the line that explains the failure, and their test
//! counts.

mod class;
mod effects;
mod error;
mod shell;
#[cfg(test)]
mod tests;
mod verdict;

pub(crate) use class::{
    Class, class, is_rewording, main_segment, may_fix, mends, purpose, same_purpose, targets, whole_checks,
};
pub(crate) use effects::{editor, file_effects};
pub(crate) use error::{
    PROCEDURES, echoed, error_line, error_line_of, failed_tests_of_hook, is_damage, is_environment, is_invocation,
};
pub(crate) use shell::{branch_from, git_calls, is_same_place, segments, tokens, with_values};
pub(crate) use verdict::{
    TestCounts, exited_with_failure, failed_behind_pipe, output_reports_failure, passed, prints_failure, test_counts,
    timed_out,
};
