//! Analyzes shell commands: their purpose, whether they failed, the line that explains the failure, and their test
//! counts.

mod class;
mod complaint;
mod effects;
mod error;
mod git;
mod options;
mod program;
mod scope;
mod shell;
#[cfg(test)]
mod tests;
mod trial;
mod verdict;

pub(crate) use class::{
    Class, all_checks, changes_given, class, does_one_thing, is_rewording, main_segment, may_change, may_check, may_fix,
    may_format, may_write_files, mends, picks_tests, pipes_into_program, purpose, runs_tests, same_purpose, switches_files,
    targets, test_script, test_suites, whole_checks,
};
pub(crate) use complaint::{Complaint, Reason, build_tags, complaint, imports, names_program};
pub(crate) use effects::{editor, file_effects};
pub(crate) use error::{
    PROCEDURES, echoed, error_line, error_line_of, failed_assertion, failed_tests_of_hook, has_advice, is_advised,
    is_damage, is_environment, is_invocation, is_located, is_of_typed_script, is_unknown_option, is_unknown_subcommand,
    is_unset_variable, names_rule, sets_variables,
};
pub(crate) use git::{
    GitCall, commits_only_in, git_calls, git_calls_anywhere, git_calls_in_root, is_temporary_folder, made_repositories,
};
pub(crate) use options::{has_option, options_named, short_options};
pub(crate) use program::{
    LOCAL_HOSTS, answers_by_status, curing_segment, is_form_of, is_interpreter, is_shell, only_looks, own_program,
    own_words, runs_program_of, verb_words,
};
pub(crate) use scope::{names_tests, partial_checks, tested};
pub(crate) use shell::{
    before_last, branch_from, chained, is_same_place, scripted, segments, through_document, tokens, with_short_documents,
    with_values,
};
pub(crate) use trial::only_tries;
pub(crate) use verdict::{
    TestCounts, counts_tests, exited_with_failure, exits_with_tests, failed_behind_pipe, filters_tests, found_no_tests,
    hook_reports, lists_packages, lists_passed_packages, output_reports_failure, passed, prints_failure, reports_errors,
    runs_in_background, test_counts, timed_out,
};
