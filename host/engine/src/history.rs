//! Git history as memory: reads the commits of a project's own repository, with subject and body.
//!
//! `throughline ingest --git` reads the history, and from then on a detached process reads the new commits at the end of
//! each session. A commit becomes a memory of type `commit` without a session. Authors and trailers are left out. A
//! commit that reverts another one takes its place. If a session made the reverted commit, what that session said about it may
//! no longer hold, and is told as the earlier word. For a merge, only the title is kept; if the title only names branches, the
//! merge is skipped.
//!
//! `git` is run on a repository that somebody else may have made. So nothing of its configuration that could start a
//! program or fetch objects is in force, and no difference is computed.

mod revert;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use crate::git::git;
use crate::import::{Importer, Line};
use crate::memory::RequestError;
use crate::runtime::Runtime;
use revert::Revert;
use throughline_model::project::Project;
use throughline_model::said_by::SaidBy;
use throughline_search::supersession::Relation;
use throughline_store::Store;

/// The type of a commit's memory.
const KIND: &str = "commit";

/// The longest record of a commit, bytes; of longer ones the rest is left out.
const MAX_RECORD: u64 = 256 << 10;

/// The longest body that is kept, bytes. What stands in longer ones is mostly generated.
const MAX_BODY: usize = 8 << 10;

/// Between the fields of a record. Records end with NUL.
const FIELD: char = '\u{1f}';

/// The importance of a commit with and without a body. Sessions say more about a project than its commits do.
const WITH_BODY: f32 = 0.35;
const WITHOUT_BODY: f32 = 0.2;

/// What reading a history did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryReport {
    /// The root folder of the project.
    pub project: String,
    /// Commits that were read.
    pub commits: u64,
    /// New memories.
    pub memories: u64,
    /// Commits whose text was known already.
    pub known: u64,
    /// Commits without a text worth keeping, such as merges of branches.
    pub passed_over: u64,
    /// Reverted commits that are no longer shown.
    pub reverted: u64,
    /// Memories of the sessions that made those commits, which may hold no longer and are told as earlier ones.
    pub doubted: u64,
}

/// A commit as `git log` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Commit {
    id: String,
    /// Milliseconds since the Unix epoch.
    at: u64,
    is_merge: bool,
    subject: String,
    body: String,
}

/// Reads the commits of a project that were not read before, at most `git.max_commits`, the newest ones. `progress` gets
/// the number of commits read so far.
pub fn ingest(
    runtime: &Runtime,
    store: &mut Store,
    project: &Project,
    mut progress: impl FnMut(u64),
) -> Result<HistoryReport> {
    let mut report = HistoryReport { project: project.root.to_string_lossy().into_owned(), ..HistoryReport::default() };
    if runtime.refusal(project, "").is_some() {
        return Ok(report);
    }
    let head = head(&project.root)?;
    let known = store.history_head(&project.id)?;
    if known.as_deref() == Some(head.as_str()) {
        return Ok(report);
    }
    // After a rebase the last commit that was read may be gone. Commits that are read again are recognized.
    let range = known.filter(|known| exists(&project.root, known)).map(|known| format!("{known}..{head}"));
    let mut reverts: Vec<(String, String)> = Vec::new();
    let mut importer = Importer::new(runtime, Some(store), true, &project.root)?;
    let mut log = Log::start(&project.root, range.as_deref().unwrap_or(&head), runtime.config.git.max_commits)?;
    while let Some(record) = log.next()? {
        report.commits += 1;
        progress(report.commits);
        let Some(commit) = parse(&record) else { continue };
        reverts.extend(reverted(&commit).map(|old| (old, commit.id.clone())));
        match line(commit) {
            Some(line) => drop(importer.add(line)?),
            None => report.passed_over += 1,
        }
    }
    log.finish()?;
    let stored = importer.finish()?;
    (report.memories, report.known) = (stored.memories, stored.known + stored.seen_again);
    let mut of_sessions = Vec::new();
    // From the oldest, so that a revert of a revert comes last.
    for (commit, by) in reverts.into_iter().rev() {
        let found = |id: &str| store.imported(&project.id, &external_id(id));
        if let (Some(old), Some(by)) = (found(&commit)?, found(&by)?) {
            report.reverted += u64::from(store.supersede(&old, &by, Relation::Reverses, runtime.now)?);
            let reverting = store.memory(&old, Some(&project.id))?;
            // What a commit reverted that is itself reverted holds again.
            if let Some(first) = reverting.first().and_then(|old| reverted_in(&old.memory.content))
                && let Some(first) = store.imported(&project.id, &external_id(&first))?
            {
                store.undo(&first, &old, runtime.now)?;
            }
            let made_at = reverting.first().map_or(0, |old| old.memory.created);
            of_sessions.push(Revert { commit, made_at, by });
        }
    }
    report.doubted = revert::doubt_sessions(store, &project.id, &of_sessions, runtime.now)?;
    store.set_history_head(&project.id, &head)?;
    Ok(report)
}

/// Reads the new commits of a project whose history was read before, if that is not turned off.
pub fn follow(runtime: &Runtime, store: &mut Store, project: &Project) -> Result<()> {
    if runtime.config.git.follow && store.history_head(&project.id)?.is_some() {
        ingest(runtime, store, project, |_| {})?;
    }
    Ok(())
}

/// Returns the commit that is checked out.
fn head(root: &Path) -> Result<String> {
    let output =
        git(root).args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).output().context("git cannot be run")?;
    let head = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || !is_id(&head) {
        return Err(RequestError::new(
            format!("{} is no git repository with commits", root.display()),
            "run it in a repository, or name one with `--project DIR`",
        )
        .into());
    }
    Ok(head)
}

fn exists(root: &Path, commit: &str) -> bool {
    let status = git(root).args(["merge-base", "--is-ancestor", commit, "HEAD"]).stdout(Stdio::null()).status();
    is_id(commit) && status.is_ok_and(|status| status.success())
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The output of `git log`, read while it is made.
struct Log {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Log {
    fn start(root: &Path, range: &str, most: u32) -> Result<Self> {
        let format = format!("--format=%H{FIELD}%ct{FIELD}%P{FIELD}%s{FIELD}%b");
        let mut child = git(root)
            .args(["log", "-z", "--no-color", "--no-show-signature", "--no-notes", "--no-mailmap", "--encoding=UTF-8"])
            .args([format, format!("--max-count={most}"), range.to_owned(), "--".to_owned()])
            .stdout(Stdio::piped())
            .spawn()
            .context("git cannot be run")?;
        let output = child.stdout.take().context("git has no output")?;
        Ok(Self { child, output: BufReader::new(output) })
    }

    /// Returns the next record, as far as it is read.
    fn next(&mut self) -> Result<Option<String>> {
        let mut record = Vec::new();
        let read = std::io::Read::take(&mut self.output, MAX_RECORD).read_until(0, &mut record)?;
        if read == 0 {
            return Ok(None);
        }
        if record.last() != Some(&0) {
            self.output.skip_until(0)?;
        }
        Ok(Some(String::from_utf8_lossy(&record).trim_end_matches('\0').to_owned()))
    }

    fn finish(mut self) -> Result<()> {
        if !self.child.wait()?.success() {
            bail!("git could not read the history");
        }
        Ok(())
    }
}

fn parse(record: &str) -> Option<Commit> {
    let mut fields = record.splitn(5, FIELD);
    let mut next = || fields.next().map(str::trim);
    let (id, at, parents) = (next()?, next()?, next()?);
    let (subject, body) = (next()?, next().unwrap_or_default());
    is_id(id).then(|| Commit {
        id: id.to_owned(),
        at: at.parse::<u64>().unwrap_or(0).saturating_mul(1000),
        is_merge: parents.contains(' '),
        subject: subject.to_owned(),
        body: without_trailers(body),
    })
}

/// Returns a body without the lines at its end such as `Signed-off-by: …`, which name people and tools. A squashed commit has those of
/// people between its messages, too.
fn without_trailers(body: &str) -> String {
    let name = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        let is_name = name.contains('-') && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        is_name.then(|| (name.to_ascii_lowercase(), value.to_owned()))
    };
    let is_trailer =
        |line: &str| name(line).is_some() || line.starts_with("Generated with ") || line.starts_with("🤖 Generated with ");
    let names_person = |line: &str| {
        name(line).is_some_and(|(name, value)| name.ends_with("-by") || (value.contains('<') && value.contains('@')))
    };
    let mut lines: Vec<&str> = body.lines().map(str::trim_end).filter(|line| !names_person(line.trim())).collect();
    while lines.last().is_some_and(|line| line.trim().is_empty() || is_trailer(line.trim())) {
        lines.pop();
    }
    let text = lines.join("\n");
    text[..text.floor_char_boundary(MAX_BODY)].trim().to_owned()
}

/// Returns the memory of a commit, or `None` if it has no text worth keeping.
fn line(commit: Commit) -> Option<Line> {
    let Commit { id, at, is_merge, mut subject, mut body } = commit;
    if is_merge {
        // A forge puts the title of a pull request into the body.
        if subject.starts_with("Merge pull request ") && !body.is_empty() {
            body.lines().next().unwrap_or_default().clone_into(&mut subject);
        } else if subject.starts_with("Merge ") {
            return None;
        }
        body.clear();
    }
    if subject.is_empty() {
        return None;
    }
    let importance = if body.is_empty() { WITHOUT_BODY } else { WITH_BODY };
    let content = if body.is_empty() { subject.clone() } else { format!("{subject}\n\n{body}") };
    Some(Line {
        keywords: vec![id[..12].to_owned()],
        id: Some(external_id(&id)),
        kind: KIND.to_owned(),
        title: subject,
        content,
        importance,
        created: Some(at).filter(|&at| at > 0),
        said_by: Some(SaidBy::Tool),
        ..Line::default()
    })
}

fn external_id(commit: &str) -> String {
    format!("git:{commit}")
}

/// Returns the commit that a commit reverts, as `git revert` writes it.
fn reverted(commit: &Commit) -> Option<String> {
    reverted_in(&commit.body)
}

/// Returns the commit that a message says it reverts.
fn reverted_in(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("This reverts commit ")?;
    let id: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    is_id(&id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(subject: &str, parents: &str, body: &str) -> String {
        format!("{}{FIELD}1700000000{FIELD}{parents}{FIELD}{subject}{FIELD}{body}", "a".repeat(40))
    }

    #[test]
    fn a_commit_keeps_subject_and_body_and_no_people() {
        let body =
            "The pool was too small:\nit blocked at noon.\n\nSigned-off-by: A Person <a@b.c>\nCo-Authored-By: Somebody\n";
        let line = line(parse(&record("Raise the pool to 40", "b", body)).unwrap()).unwrap();
        assert_eq!(line.title, "Raise the pool to 40");
        assert_eq!(line.content, "Raise the pool to 40\n\nThe pool was too small:\nit blocked at noon.");
        assert_eq!(line.created, Some(1_700_000_000_000));
    }

    #[test]
    fn people_between_the_messages_of_a_squashed_commit_are_left_out() {
        let body = "One.\n\nCo-authored-by: Eve <eve@x.org>\n\nTwo: so-called.\n\nSigned-off-by: Eve <eve@x.org>\nThree.";
        let line = line(parse(&record("Raise the pool", "b", body)).unwrap()).unwrap();
        assert!(!line.content.contains("eve@x.org") && line.content.ends_with("Three."), "{}", line.content);
        assert!(line.content.contains("Two: so-called."));
    }

    #[test]
    fn of_merges_the_title_counts() {
        let merge = |subject: &str, body: &str| line(parse(&record(subject, "b c", body)).unwrap()).map(|line| line.content);
        assert_eq!(merge("Merge branch 'x' into y", ""), None);
        assert_eq!(
            merge("Merge pull request #4 from x/y", "Cache the tokens\n\nLong text").as_deref(),
            Some("Cache the tokens")
        );
        assert_eq!(merge("Cache the tokens (#4)", "Long text").as_deref(), Some("Cache the tokens (#4)"));
    }

    #[test]
    fn a_revert_names_what_it_reverts() {
        let old = "b".repeat(40);
        let commit = parse(&record("Revert \"x\"", "c", &format!("This reverts commit {old}.\n"))).unwrap();
        assert_eq!(reverted(&commit), Some(old));
        assert_eq!(reverted(&parse(&record("x", "c", "This reverts commit abc.")).unwrap()), None);
    }

    #[test]
    fn what_git_does_not_print_is_no_commit() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("x\u{1f}y"), None);
        assert_eq!(parse(&record("", "b", "")).and_then(line), None);
    }
}
