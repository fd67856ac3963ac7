//! What git and `gh` made, and what they took back, as their command lines and their output tell it.

mod hashes;
mod history;
mod made;
mod message;
mod publishing;
mod pull_requests;
mod size;
mod stash;

pub(super) use hashes::{hash_of, is_hash, parse_commit_line, replaces_hashes};
pub(super) use history::{Reset, brought_back, compared_commit, leaves_branch, reset, reverted, rewrites_history};
pub(super) use made::{Commit, bypasses_hook, commits_from, is_tried, says_clean};
pub(super) use message::{has_numbered_label, message, quoted, unwrapped};
pub(super) use publishing::{
    deleted_branches, is_push, pushed_branch, pushed_branches, pushed_tags, pushes_elsewhere, quiet_push,
};
pub(super) use pull_requests::{
    OPENS, address, closed_pull_requests, described_pull_request, draft, edits_pull_request, is_merged_all_the_same,
    leading_number, listed_as_merged, merged_pull_requests, merges_own, pull_request, pull_request_title,
    renamed_pull_request, squashed_pull_requests,
};
pub(crate) use pull_requests::{is_pull_request, pull_request_number};
pub(super) use size::{Listing, Stat, listings, stat, stat_file, stat_sums, unquoted};
pub(super) use stash::{Stash, stashes};
