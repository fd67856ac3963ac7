//! What the session ran that changes something outside of the repository's files: data, services, infrastructure and published packages. Git
//! shows none of it, so only this says what became of it.

mod kind;
mod request;
mod said;
mod servers;
mod written;

use serde::{Deserialize, Serialize};

use super::commands;
use super::failures;
use super::labels::Labels;
use super::tool_uses::ToolUse;
use crate::text;
use kind::{Kind, kind};
use request::Requests;
use servers::ServerCalls;
use written::{may_change_nothing, written_by};

/// The maximum number of runs to keep, and how many of them are told.
const MAX_RUNS: usize = 12;
const MAX_TOLD: usize = 5;
/// How many different outputs of a command are kept.
const MAX_SAID: usize = 4;
/// The maximum length of a command as it is told, in characters.
const MAX_COMMAND_CHARS: usize = 90;
/// The maximum length of what a run said, and of why it failed, in characters.
const MAX_SAID_CHARS: usize = 160;
const MAX_CAUSE_CHARS: usize = 120;

/// The runs of one command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Run {
    /// The command as it is told.
    what: String,
    times: u32,
    /// What they said, each other than the one before: the first one and the latest ones.
    said: Vec<Said>,
    /// Whether it changed data, which cannot be run again as a service can be restarted.
    is_data: bool,
}

/// What one run said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Said {
    /// What it changed. May be empty.
    changes: String,
    has_failed: bool,
    /// Why it failed. May be empty.
    cause: String,
}

/// All such runs of a session, in the order of their last time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Ran {
    runs: Vec<Run>,
    #[serde(skip_serializing_if = "ServerCalls::is_empty")]
    servers: ServerCalls,
    requests: Requests,
}

impl Ran {
    /// Records a command line that ran in the foreground, and what it printed.
    pub(super) fn command_ran(&mut self, command: &str, output: &str, failed: bool) {
        self.requests.command_ran(command, output, failed);
        self.output_seen(command, output, failed, false);
    }

    /// Records that code was changed, of which an answer to a request says nothing.
    pub(super) fn code_changed(&mut self) {
        self.requests.code_changed();
    }

    /// Returns the requests that were sent by hand, as they are told.
    pub(super) fn requests(&self, labels: &Labels) -> Vec<String> {
        self.requests.items(labels)
    }

    /// Records a command line and what it printed, and returns whether that told something. What only runs beside the agent is recorded when
    /// its output is seen. `is_again`: the run is recorded, and only more of what it printed is known now.
    pub(super) fn output_seen(&mut self, command: &str, output: &str, failed: bool, is_again: bool) -> bool {
        if commands::runs_in_background(output) {
            return false;
        }
        let mut is_told = false;
        let steps = kind::steps(command);
        let calls = steps.iter().map(|step| kind::without_shell(step));
        let calls: Vec<(&str, Kind)> = calls.filter_map(|call| Some((call, kind(call)?))).collect();
        let output = text::without_codes(output);
        let has_one = calls.len() == 1;
        // What fails in a line of several commands may be any of them.
        let is_alone = has_one && steps.iter().filter(|step| !kind::prepares(step)).count() <= 1;
        for (call, kind) in calls {
            // The lines of an output that several commands wrote belong to any of them.
            let changes = if has_one { said::changes(kind, &output) } else { String::new() };
            if changes.is_empty() && kind.needs_word() {
                continue;
            }
            let error = said::error(&output).filter(|_| kind.is_script() && is_alone);
            let has_failed = (failed && is_alone) || error.is_some();
            let cause = || error.map(str::to_owned).or_else(|| commands::error_line(&output)).unwrap_or_default();
            let cause = if has_failed { text::one_line(&cause()) } else { String::new() };
            // If a line of several commands failed, nobody knows whether this one ran. What is not installed did not run.
            let is_unclear = failed && !is_alone;
            if is_unclear || text::contains_any(&cause, &["command not found", "Missing script"]) {
                continue;
            }
            let cause = text::clip(&cause, MAX_CAUSE_CHARS).into_owned();
            self.add(kind::told(call), kind, Said { changes, has_failed, cause }, is_again);
            is_told = true;
        }
        is_told
    }

    /// Records a call of a server's tool and what it answered.
    pub(super) fn server_called(&mut self, tool_use: &ToolUse, output: &str, is_error: bool) {
        let is_vain = is_error || tool_use.is_dry_run;
        match written_by(&tool_use.name, &tool_use.what) {
            Some((tool, statement)) => {
                self.servers.wrote(tool, &statement, output, is_vain || may_change_nothing(output));
            }
            None => self.servers.called(&tool_use.name, &tool_use.detail, output, is_vain),
        }
    }

    fn add(&mut self, call: &str, kind: Kind, mut said: Said, is_again: bool) {
        let what = text::clip(&failures::display_command(call), MAX_COMMAND_CHARS).into_owned();
        if kind == Kind::Service {
            // What was done to a service before is over with the next move.
            self.runs.retain(|run| run.what == what || !is_same_service(&run.what, &what));
        }
        let at = self.runs.iter().position(|run| run.what == what);
        let mut run = at.map(|at| self.runs.remove(at)).unwrap_or_default();
        if let Some(before) = run.said.pop_if(|_| is_again) {
            // The last lines of an output say less than the whole of it.
            if said.changes.len() < before.changes.len() {
                said.changes = before.changes;
            }
        } else {
            run.times += 1;
        }
        if run.said.last() != Some(&said) {
            run.said.push(said);
        }
        if run.said.len() > MAX_SAID {
            run.said.remove(1);
        }
        (run.what, run.is_data) = (what, kind.is_data());
        self.runs.push(run);
        if self.runs.len() > MAX_RUNS {
            let least = self.runs.iter().position(|run| !run.is_data).unwrap_or_default();
            self.runs.remove(least);
        }
    }

    /// Returns the runs as they are told, those first that changed data, and last what servers changed.
    pub(super) fn items(&self, labels: &Labels) -> Vec<String> {
        let (data, other): (Vec<&Run>, Vec<&Run>) = self.runs.iter().partition(|run| run.is_data);
        let skipped = (data.len() + other.len()).saturating_sub(MAX_TOLD);
        let (from_other, from_data) = (skipped.min(other.len()), skipped.saturating_sub(other.len()));
        data[from_data..]
            .iter()
            .chain(&other[from_other..])
            .map(|run| run.text(labels))
            .chain(self.servers.items())
            .collect()
    }
}

impl Run {
    fn text(&self, labels: &Labels) -> String {
        let times = if self.times > 1 { format!(" ({}×)", self.times) } else { String::new() };
        let mut said: Vec<String> = self.said.iter().map(|said| said.text(labels)).collect();
        // Of a service only the last time counts, and each run over data takes back what the one before did.
        let mut last = said.pop().unwrap_or_default();
        said.retain(|it| !it.is_empty());
        if self.is_data {
            said.truncate(1);
        } else if !self.said.iter().all(|said| said.changes.starts_with("https://")) {
            said.clear();
        }
        let is_again = self.is_data && !said.is_empty();
        // A success without words is the last word, too.
        if is_again && last.is_empty() {
            "passed".clone_into(&mut last);
        }
        said.push(if is_again { format!("{} {last}", labels.last_run) } else { last });
        said.retain(|it| !it.is_empty());
        let arrow = if said.is_empty() { "" } else { " → " };
        format!("`{}`{times}{arrow}{}", self.what, said.join(", "))
    }
}

/// Returns whether two commands, as they are told, are for the same service: the same program is given the same name, or one of two calls
/// of docker compose is for all services of the other.
fn is_same_service(one: &str, other: &str) -> bool {
    let words = |command: &'_ str| commands::own_words(command).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (words(one), words(other));
    let is_file = |word: &&String| word.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "yml" | "yaml"));
    let is_name = |word: &&String| {
        word.len() > 1 && !word.starts_with('-') && !word.contains('/') && !is_file(word) && !kind::is_verb_of_service(word)
    };
    let names = |words: &[String]| words.iter().skip(1).filter(is_name).cloned().collect::<Vec<_>>();
    let files = |words: &[String]| words.iter().filter(is_file).cloned().collect::<Vec<_>>();
    let (own, others) = (names(&one), names(&other));
    let is_of_all = one.iter().take(2).any(|word| word.contains("compose")) && (own.is_empty() || others.is_empty());
    one.first() == other.first() && files(&one) == files(&other) && (is_of_all || own.iter().any(|it| others.contains(it)))
}

impl Said {
    fn text(&self, labels: &Labels) -> String {
        let changes = text::clip(&self.changes, MAX_SAID_CHARS);
        let failure = match self.cause.as_str() {
            _ if !self.has_failed => String::new(),
            "" => labels.failed.to_owned(),
            cause => format!("{}: {cause}", labels.failed),
        };
        let comma = if changes.is_empty() || failure.is_empty() { "" } else { ", " };
        format!("{changes}{comma}{failure}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;
    use crate::text::Language;

    fn items(runs: &[(&str, &str, bool)]) -> Vec<String> {
        let mut ran = Ran::default();
        for (command, output, failed) in runs {
            ran.output_seen(command, output, *failed, false);
        }
        ran.items(labels(Language::English))
    }

    #[test]
    fn a_script_is_told_with_what_it_says_that_it_changed() {
        let output = "Connected!\n▶ Night till\n  ✓ Deleted 21 existing slips\n  ✓ Created 40 slips\n▶ Day till\n  ✓ Deleted 9 existing slips\nDone!";
        let told = ["`node scripts/fill-drawers.js` → Deleted 30 existing slips (2×), Created 40 slips"];
        assert_eq!(items(&[("cd /shop && node scripts/fill-drawers.js", output, false)]), told);
        assert!(items(&[("node scripts/fill-drawers.js", "Listening on 3000", false)]).is_empty());
        assert!(items(&[("python3 /tmp/count.py", "Updated 3 slips", false)]).is_empty(), "a throwaway");
        assert!(
            items(&[("node test/till.js", "Created 3 slips", false), ("npm test", "Deleted 3 slips", false)]).is_empty()
        );
    }

    #[test]
    fn a_script_that_failed_half_way_is_told_with_what_it_did_before() {
        let output = "Deleted 35 existing slips\n❌ Error: Path `label` is required.\n    at Till.save";
        let again = "Deleted 0 existing slips\nCreated 13 new slips";
        let run = "node scripts/fill-drawers.js";
        let told = "`node scripts/fill-drawers.js` → Deleted 35 existing slips, failed: Error: Path `label` is required.";
        assert_eq!(items(&[(run, output, true)]), [told]);
        let told = "`node scripts/fill-drawers.js` (2×) → Deleted 35 existing slips, failed: Error: Path `label` is required., last time Deleted 0 existing slips, Created 13 new slips";
        assert_eq!(items(&[(run, output, true), (run, again, false)]), [told]);
    }

    #[test]
    fn databases_services_and_packages() {
        for (command, output, told) in [
            (
                "sudo -u till psql <<SQL\nDROP TABLE slips;\nSQL",
                "DROP TABLE\nDELETE 4",
                "`psql <<SQL …` → DROP TABLE, DELETE 4",
            ),
            ("npx prisma migrate reset", "", "`npx prisma migrate reset`"),
            (
                "python manage.py migrate",
                "  Applying till.0002_slips... OK",
                "`python manage.py migrate` → Applying till.0002_slips... OK",
            ),
            ("sudo -u till bash -lc 'export A=1; pm2 restart till'", "", "`pm2 restart till`"),
            ("systemctl restart nginx && systemctl status nginx", "active", "`systemctl restart nginx`"),
            (
                "uvx twine upload dist/*",
                "View at:\nhttps://pypi.org/project/till/0.2.0/",
                "`uvx twine upload dist/*` → https://pypi.org/project/till/0.2.0/",
            ),
            (
                "gh release create v0.2.0 dist/till.zip \\\n  --title \"v0.2.0\" --notes \"$(cat <<'EOF'\nOne drawer.\nEOF\n)\"",
                "https://github.com/shop/till/releases/tag/v0.2.0",
                "`gh release create v0.2.0` → https://github.com/shop/till/releases/tag/v0.2.0",
            ),
            (
                "docker compose up -d",
                "Cannot connect to the Docker daemon",
                "`docker compose up -d` → failed: Cannot connect to the Docker daemon",
            ),
        ] {
            assert_eq!(items(&[(command, output, output.contains("Cannot"))]), [told], "{command}");
        }
        for command in [
            "psql -c 'SELECT 1'",
            "kubectl get pods",
            "systemctl status nginx",
            "terraform plan",
            "pm2 logs till",
            "aws s3 ls",
        ] {
            assert!(items(&[(command, "DELETE 4", false)]).len() <= usize::from(command.starts_with("psql")), "{command}");
        }
    }

    #[test]
    fn a_success_without_words_is_the_last_word() {
        let (deploy, apply) = ("npx prisma migrate deploy", "terraform apply -auto-approve");
        let told = "`npx prisma migrate deploy` (2×) → failed: Error: the drawer is locked, last time passed";
        assert_eq!(items(&[(deploy, "Error: the drawer is locked", true), (deploy, "", false)]), [told]);
        let told = "`terraform apply -auto-approve` (2×)";
        assert_eq!(items(&[(apply, "Error: no till", true), (apply, "Apply complete!", false)]), [told]);
    }

    #[test]
    fn what_failed_among_others_is_blamed_on_nobody() {
        for command in
            ["npm test && npm publish", "npx prisma migrate deploy && npm test", "pm2 restart till && curl -f till"]
        {
            assert!(items(&[(command, "Tests: 3 failed, 9 passed", true)]).is_empty(), "{command}");
        }
        let told = ["`npm publish` → failed: npm ERR! no till"];
        assert_eq!(items(&[("cd till && npm publish", "npm ERR! no till", true)]), told);
    }

    #[test]
    fn another_look_at_an_output_is_no_other_run() {
        let mut ran = Ran::default();
        assert!(ran.output_seen("node scripts/fill.js", "Deleted 3 slips", false, false));
        assert!(ran.output_seen("node scripts/fill.js", "Deleted 3 slips\nCreated 4 slips", false, true));
        assert!(ran.output_seen("node scripts/fill.js", "Created 4 slips", false, true));
        let told = ["`node scripts/fill.js` → Deleted 3 slips, Created 4 slips"];
        assert_eq!(ran.items(labels(Language::English)), told);
    }

    #[test]
    fn what_changes_nothing_is_not_told() {
        for command in [
            "kubectl rollout status deploy/till",
            "kubectl apply -f till.yaml --dry-run=client",
            "python manage.py migrate --plan",
            "npx prisma migrate dev --create-only",
            "alembic upgrade head --sql",
            "npm run db:studio",
            "npm run check-db",
            "npm run migration:generate",
            "pnpm --filter db dev",
            "aws cloudformation describe-stacks --stack-name deploy-till",
            "aws logs tail --filter update",
            "gcloud config set project create-till",
            "which npm publish",
            "gh run view 12",
            "gh pr create --title till",
            "node scripts/sync.js --dry",
            "node scripts/sync.js -n",
        ] {
            assert!(items(&[(command, "Deleted 12 rows", false)]).is_empty(), "{command}");
        }
        assert!(items(&[("npm run deploy", "npm error Missing script: \"deploy\"", true)]).is_empty());
        assert!(items(&[("node scripts/report.js", "Updated 3 days ago", false)]).is_empty());
        for command in [
            "kubectl rollout restart deploy/till",
            "npm run db:push",
            "pnpm --filter till db:seed",
            "aws --region shop s3 rm s3://till/slip",
            "gcloud run deploy till",
            "sqlite3 till.db < slips.sql",
            "bash scripts/seed.sh \"prod\"",
        ] {
            assert_eq!(items(&[(command, "Deleted 12 slips\nDELETE 12", false)]).len(), 1, "{command}");
        }
    }

    #[test]
    fn only_the_last_move_of_a_service_counts() {
        let moved = |one, other| items(&[(one, "", false), (other, "", false)]).len();
        assert_eq!(moved("docker compose up -d", "docker compose down"), 1);
        assert_eq!(moved("docker compose up -d api", "docker compose restart api"), 1);
        assert_eq!(moved("docker compose up -d api", "docker compose up -d web"), 2);
        assert_eq!(moved("pm2 start till", "pm2 restart lamp"), 2);
    }
}
