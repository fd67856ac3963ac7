//! Reads what the continuous integration said, from the output of `gh` and `glab`.

use super::commands;
use crate::text;

/// How many failed jobs are named.
const MAX_NAMED: usize = 3;

/// Returns the verdict of the jobs or of the latest run, if a command line asked for it: "5 pass, 1 fail (test), 2 pending".
pub(super) fn verdict(command: &str, output: &str) -> Option<String> {
    let segments = commands::segments(command);
    let asks = |words: &str| segments.iter().any(|segment| segment.contains(words));
    let mut jobs = Jobs::default();
    if asks("gh pr checks") {
        for line in output.lines() {
            let mut fields = line.split('\t').map(str::trim);
            // Who watches them gets each job again and again; its address tells it from another one of that name.
            if let (Some(name), Some(state)) = (fields.next(), fields.next()) {
                jobs.add_at(fields.nth(1).unwrap_or_default(), name, state);
            }
        }
    } else if asks("gh run list") {
        // The first line is the latest run: status, conclusion, title, workflow.
        let fields: Vec<&str> = output.lines().next()?.split('\t').map(str::trim).collect();
        let state = if fields.first() == Some(&"completed") { fields.get(1)? } else { fields.first()? };
        jobs.add(fields.get(3)?, state);
    } else if asks("gh run view") || asks("gh run watch") || asks("glab ci") {
        for line in output.lines().map(str::trim) {
            // Steps are listed below their jobs, which have a number in parentheses.
            if let Some(name) = line.strip_prefix("✓ ").filter(|name| name.contains("(ID ")) {
                jobs.add(name, "pass");
            } else if let Some(name) = line.strip_prefix("X ").filter(|name| name.contains("(ID ")) {
                jobs.add(name.split(" in ").next().unwrap_or(name), "fail");
            }
        }
    }
    jobs.text()
}

/// Returns whether a command line looks at the jobs of the continuous integration, whatever they say.
pub(super) fn looks(command: &str) -> bool {
    let looks = ["gh pr checks", "gh run ", "glab ci", "/actions/runs", "/actions/jobs", "/check-runs", "statusCheckRollup"];
    commands::segments(command).iter().any(|segment| looks.iter().any(|words| segment.contains(words)))
}

/// Returns whether a sentence of the user says that the continuous integration passed. Who wants that, or waits for it, does not say so:
/// "make sure that CI passes", "once the build is green".
pub(super) fn is_said_to_pass(sentence: &str) -> bool {
    const JOBS: [&str; 3] = ["ci", "build", "pipeline"];
    const PASSES: [&str; 7] = ["is green", "all green", "passed now", "passes now", "ci passes", "ci passed", "is passing"];
    const WISHES: [&str; 14] = [
        "if", "when", "whether", "until", "once", "unless", "before", "so", "that", "sure", "ensure", "check", "want", "not",
    ];
    let lower = sentence.to_lowercase();
    !sentence.ends_with(['?', '？'])
        && text::contains_any_words(&lower, &JOBS)
        && text::contains_any_words(&lower, &PASSES)
        && !text::contains_any_words(&lower, &WISHES)
}

/// Returns whether a verdict says that all jobs passed.
pub(super) fn is_passing(verdict: &str) -> bool {
    !verdict.contains("fail") && !verdict.contains("pending")
}

/// The jobs in the order in which they were first named: the address, the name and the state of each.
#[derive(Default)]
struct Jobs<'a>(Vec<(&'a str, &'a str, State)>);

#[derive(Clone, Copy, PartialEq)]
enum State {
    Passed,
    Failed,
    Pending,
}

impl<'a> Jobs<'a> {
    fn add(&mut self, name: &'a str, state: &str) {
        self.add_at("", name, state);
    }

    /// Adds a job, or takes the later state of one that is known by its address.
    fn add_at(&mut self, address: &'a str, name: &'a str, state: &str) {
        let state = match state.to_ascii_lowercase().as_str() {
            "pass" | "success" => State::Passed,
            "fail" | "failure" | "timed_out" | "startup_failure" => State::Failed,
            "pending" | "queued" | "in_progress" | "waiting" => State::Pending,
            _ => return,
        };
        let is_same = |job: &&mut (&str, &str, State)| !address.is_empty() && (job.0, job.1) == (address, name);
        match self.0.iter_mut().find(is_same) {
            Some(job) => job.2 = state,
            None => self.0.push((address, name, state)),
        }
    }

    fn text(&self) -> Option<String> {
        let of = |state: State| self.0.iter().filter(move |job| job.2 == state).map(|job| job.1);
        let (passed, failed, pending) = (of(State::Passed).count(), of(State::Failed).count(), of(State::Pending).count());
        let mut parts = Vec::new();
        if passed > 0 {
            parts.push(format!("{passed} pass"));
        }
        if failed > 0 {
            let named: Vec<&str> = of(State::Failed).take(MAX_NAMED).collect();
            parts.push(format!("{failed} fail ({})", named.join(", ")));
        }
        if pending > 0 {
            parts.push(format!("{pending} pending"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_that_it_passes_does_not_say_so() {
        for said in ["CI passed now", "the build is green, thanks", "The pipeline is passing"] {
            assert!(is_said_to_pass(said), "{said}");
        }
        for said in ["make sure CI passes", "is the build all green?", "push once the build is green", "the CI is red"] {
            assert!(!is_said_to_pass(said), "{said}");
        }
    }

    #[test]
    fn the_checks_of_a_pull_request() {
        let output = "Lint\tpass\t28s\thttps://x/1\nUnit\tfail\t51s\thttps://x/2\nDocs\tskipping\t0\t\nE2E\tpending\t0\thttps://x/3\n";
        assert_eq!(verdict("git push && gh pr checks 12 2>&1 | head", output).unwrap(), "1 pass, 1 fail (Unit), 1 pending");
        assert_eq!(verdict("gh pr view 12", output), None);
        assert!(is_passing("2 pass") && !is_passing("1 pass, 1 pending") && !is_passing("1 fail (Unit)"));
        assert_eq!(verdict("gh pr checks 12", "no checks reported on the 'cart' branch"), None);
    }

    #[test]
    fn a_job_that_is_watched_counts_once() {
        let output = "Refreshing checks status every 10 seconds.\n\nUnit\tpending\t0\thttps://x/2\nUnit\tpending\t0\thttps://x/2\n\
                      Unit\tfail\t9s\thttps://x/2\nUnit\tpass\t9s\thttps://x/3\n";
        assert_eq!(verdict("gh pr checks 12 --watch", output).unwrap(), "1 pass, 1 fail (Unit)");
    }

    #[test]
    fn the_latest_run() {
        let output =
            "completed\tfailure\tRound totals\tci\tmain\tpush\t77\t3m\nin_progress\t\tOld\tci\tmain\tpush\t76\t2m\n";
        assert_eq!(verdict("gh run list --limit 2", output).unwrap(), "1 fail (ci)");
        assert_eq!(verdict("gh run list", "in_progress\t\tRound totals\tci\tmain").unwrap(), "1 pending");
        let jobs = "JOBS\n✓ lint in 28s (ID 1)\nX test in 2m3s (ID 2)\n  ✓ Set up job\n  X Run tests\n";
        assert_eq!(verdict("gh run view 77", jobs).unwrap(), "1 pass, 1 fail (test)");
    }
}
