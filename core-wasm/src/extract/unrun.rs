//! Files that only another program runs, and that were changed without being run: workflows and the recipes of images.

use serde::{Deserialize, Serialize};

use super::ci;
use super::commands;
use crate::text;

/// The maximum number of files to keep. Later ones are not told.
const MAX_FILES: usize = 6;
/// The maximum length of a path, in bytes.
const MAX_PATH_BYTES: usize = 300;

/// The changed files that nobody has run since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Unrun {
    files: Vec<String>,
}

/// What runs a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    /// The continuous integration.
    Workflow,
    /// A program that builds images or starts containers.
    Image,
}

impl Unrun {
    /// Records a change of a file.
    pub(super) fn file_changed(&mut self, path: &str) {
        let is_known = self.files.iter().any(|known| known == path);
        if !is_known && runner(path).is_some() && path.len() <= MAX_PATH_BYTES && self.files.len() < MAX_FILES {
            self.files.push(path.to_owned());
        }
    }

    /// Records a command line that was run.
    pub(super) fn command_ran(&mut self, command: &str) {
        const IMAGES: [&str; 6] = ["docker ", "docker-compose", "podman", "buildah", "nerdctl", "kaniko"];
        const WORKFLOWS: [&str; 3] = ["gh workflow run", "act ", "glab "];
        if self.files.is_empty() {
            return;
        }
        let calls: Vec<String> = commands::segments(command).into_iter().map(without_prefix).collect();
        let runs = |names: &[&str]| calls.iter().any(|call| names.iter().any(|name| call.starts_with(name)));
        let is_run = |runner: Runner| match runner {
            Runner::Workflow => ci::looks(command) || runs(&WORKFLOWS),
            Runner::Image => runs(&IMAGES),
        };
        self.files.retain(|path| runner(path).is_none_or(|runner| !is_run(runner)));
    }

    /// Records what the user said. Whoever reports what came of such a file has had it run.
    pub(super) fn user_said(&mut self, prompt: &str) {
        const WORDS: [&str; 16] = [
            "ci",
            "cd",
            "workflow",
            "workflows",
            "action",
            "actions",
            "pipeline",
            "deploy",
            "deployed",
            "deployment",
            "release",
            "docker",
            "container",
            "image",
            "배포",
            "デプロイ",
        ];
        const RESULTS: [&str; 12] = [
            "error", "errors", "failed", "failing", "fails", "failure", "green", "passed", "passes", "works", "worked",
            "got",
        ];
        let lower = prompt.to_lowercase();
        if !self.files.is_empty() && text::contains_any_words(&lower, &WORDS) && text::contains_any_words(&lower, &RESULTS) {
            self.files.clear();
        }
    }

    /// Records that all of them may have been run.
    pub(super) fn may_have_run(&mut self) {
        self.files.clear();
    }

    /// Returns the names of those of the files that are still changed, given the paths of these.
    pub(super) fn names<'a>(&'a self, changed: &[&str]) -> Vec<&'a str> {
        let files = self.files.iter().filter(|path| changed.contains(&path.as_str()));
        let mut names: Vec<&str> = files.map(|path| name(path)).collect();
        names.dedup();
        names
    }
}

/// Returns a command without the variables and the `sudo` before it.
fn without_prefix(segment: &str) -> String {
    let is_prefix = |word: &&str| *word == "sudo" || word.contains('=');
    segment.split_whitespace().skip_while(is_prefix).collect::<Vec<_>>().join(" ")
}

/// Returns what runs a file. None if the session could run it, or if it is no such file.
fn runner(path: &str) -> Option<Runner> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let is_yaml = [".yml", ".yaml"].iter().any(|end| name.ends_with(end));
    let is_workflow = (is_yaml && (path.contains(".github/workflows/") || path.contains(".circleci/")))
        || name == ".gitlab-ci.yml"
        || name == "jenkinsfile";
    let is_image = name.starts_with("dockerfile")
        || name.ends_with(".dockerfile")
        || name == "containerfile"
        || (is_yaml && ["docker-compose", "compose."].iter().any(|start| name.starts_with(start)));
    match (is_workflow, is_image) {
        (true, _) => Some(Runner::Workflow),
        (false, true) => Some(Runner::Image),
        (false, false) => None,
    }
}

/// Returns the name of a file, behind its folder if each folder may have one of that name.
fn name(path: &str) -> &str {
    if runner(path) == Some(Runner::Workflow) {
        return path.rsplit('/').next().unwrap_or(path);
    }
    path.rmatch_indices('/').nth(1).map_or(path, |(at, _)| &path[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(paths: &[&str]) -> Unrun {
        let mut unrun = Unrun::default();
        for path in paths {
            unrun.file_changed(path);
        }
        unrun
    }

    #[test]
    fn a_workflow_is_run_by_the_continuous_integration() {
        let path = "/shop/.github/workflows/till.yml";
        let mut unrun = changed(&[path, "/shop/src/till.rs"]);
        unrun.command_ran("cargo test && git push");
        assert_eq!(unrun.names(&[path]), ["till.yml"]);
        assert!(unrun.names(&[]).is_empty(), "it is as it was before");
        unrun.command_ran("gh run list --limit 1");
        assert!(unrun.names(&[path]).is_empty());
    }

    #[test]
    fn an_image_is_built_by_its_program() {
        let path = "/shop/till/Dockerfile";
        let mut unrun = changed(&[path]);
        unrun.command_ran("grep docker notes.md; gh run list");
        assert_eq!(unrun.names(&[path]), ["till/Dockerfile"]);
        for build in ["cd till && docker build .", "sudo docker build .", "DOCKER_BUILDKIT=1 docker build ."] {
            let mut built = unrun.clone();
            built.command_ran(build);
            assert!(built.names(&[path]).is_empty(), "{build}");
        }
    }

    #[test]
    fn whoever_reports_what_came_of_it_has_run_it() {
        let path = "/shop/.github/workflows/till.yml";
        let mut unrun = changed(&[path]);
        unrun.user_said("will the drawer open by itself when the workflow runs?");
        assert_eq!(unrun.names(&[path]).len(), 1);
        unrun.user_said("the CI failed: the drawer is not supported");
        assert!(unrun.names(&[path]).is_empty());
    }
}
