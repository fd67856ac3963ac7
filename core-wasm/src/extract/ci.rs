//! Reads what the continuous integration said, from the output of `gh` and `glab`.

use super::commands;

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
            if let (Some(name), Some(state)) = (fields.next(), fields.next()) {
                jobs.add(name, state);
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

/// Returns whether a verdict says that all jobs passed.
pub(super) fn is_passing(verdict: &str) -> bool {
    !verdict.contains("fail") && !verdict.contains("pending")
}

/// The jobs by their state.
#[derive(Default)]
struct Jobs<'a> {
    passed: usize,
    failed: Vec<&'a str>,
    pending: usize,
}

impl<'a> Jobs<'a> {
    fn add(&mut self, name: &'a str, state: &str) {
        match state.to_ascii_lowercase().as_str() {
            "pass" | "success" => self.passed += 1,
            "fail" | "failure" | "timed_out" | "startup_failure" => self.failed.push(name),
            "pending" | "queued" | "in_progress" | "waiting" => self.pending += 1,
            _ => {}
        }
    }

    fn text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.passed > 0 {
            parts.push(format!("{} pass", self.passed));
        }
        if !self.failed.is_empty() {
            let named = &self.failed[..self.failed.len().min(MAX_NAMED)];
            parts.push(format!("{} fail ({})", self.failed.len(), named.join(", ")));
        }
        if self.pending > 0 {
            parts.push(format!("{} pending", self.pending));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checks_of_a_pull_request() {
        let output = "Lint\tpass\t28s\thttps://x/1\nUnit\tfail\t51s\thttps://x/2\nDocs\tskipping\t0\t\nE2E\tpending\t0\thttps://x/3\n";
        assert_eq!(verdict("git push && gh pr checks 12 2>&1 | head", output).unwrap(), "1 pass, 1 fail (Unit), 1 pending");
        assert_eq!(verdict("gh pr view 12", output), None);
        assert!(is_passing("2 pass") && !is_passing("1 pass, 1 pending") && !is_passing("1 fail (Unit)"));
        assert_eq!(verdict("gh pr checks 12", "no checks reported on the 'cart' branch"), None);
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
