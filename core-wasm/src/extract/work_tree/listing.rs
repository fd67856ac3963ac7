//! Reads which files git lists as changed, and which a commit that it shows contains.

use super::MAX_FILES;
use crate::extract::commands::{self, GitCall};
use crate::extract::commits;
use crate::text;

/// What git writes for the first folders of a long path.
pub(super) const CUT: &str = ".../";

/// What a list of git says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a list")]
pub(in crate::extract) struct Listed {
    /// Files that git tracks and that differ from the last commit.
    pub modified: Vec<String>,
    /// Those of them that the next commit will contain.
    pub staged: Vec<String>,
    /// Files and folders that git does not track.
    pub untracked: Vec<String>,
    /// Where moved files were before.
    pub moved_from: Vec<String>,
    /// Whether the list contains every changed file.
    pub is_whole: bool,
    /// Whether it contains every changed file that git tracks.
    pub is_whole_of_tracked: bool,
    /// Whether it names every file that the next commit will contain.
    pub is_whole_of_staged: bool,
    /// Whether it says itself that it leaves out some of them.
    pub is_cut_of_tracked: bool,
    /// Whether a commit printed it that found nothing to commit: it says nothing of what the session has changed so far.
    pub is_of_failed_commit: bool,
    /// Whether the branch has commits that its upstream lacks, if the list says so.
    pub is_ahead: Option<bool>,
    /// How many commits the branch has that its upstream lacks. Zero if there are none, or the list does not say it.
    pub ahead: u32,
}

impl Listed {
    fn push(&mut self, path: &str, list: List) {
        match list {
            List::Staged => self.staged.push(path.to_owned()),
            List::Modified => {}
            List::Untracked => return self.untracked.push(path.to_owned()),
        }
        self.modified.push(path.to_owned());
    }
}

/// What the lines of a status say.
#[derive(Default)]
struct Lines {
    listed: Listed,
    /// Whether one of them stands in no other output.
    is_status: bool,
    /// Whether rtk left out some files, and some that are tracked.
    is_cut: bool,
    is_cut_of_tracked: bool,
}

impl Lines {
    fn read(output: &str, is_short: bool) -> Self {
        let mut this = Self::default();
        let mut list = None;
        for line in output.lines() {
            let said = line.trim();
            let moved_from = said.split_once(" -> ").and_then(|(before, _)| before.split(' ').next_back());
            this.listed.moved_from.extend(moved_from.map(str::to_owned));
            this.is_status |= ["On branch ", "HEAD detached", "## "].iter().any(|head| said.starts_with(head));
            if let Some(ahead) = ahead(said) {
                (this.listed.is_ahead, this.listed.ahead) = (Some(ahead), ahead_by(said).unwrap_or_default());
            }
            if let Some(heading) = heading(said) {
                (list, this.is_status) = (Some(heading), true);
            } else if said.is_empty() || (said.starts_with('(') && said.ends_with(')')) {
                // Hints stand in parentheses.
            } else if let Some((_, path)) = said.split_once(':').filter(|(sign, _)| is_change(sign)) {
                this.listed.push(path.rsplit(" -> ").next().unwrap_or(path).trim(), list.unwrap_or(List::Modified));
            } else if is_short {
                if let Some((list, path)) = short_line(line) {
                    this.listed.push(&path, list);
                }
            } else if said.starts_with("... +") {
                this.is_cut = true;
                this.is_cut_of_tracked |= list != Some(List::Untracked);
            } else if !line.starts_with([' ', '\t']) || said.contains(' ') {
                list = None;
            } else if let Some(list) = list {
                this.listed.push(said, list);
            }
        }
        this
    }
}

/// Returns what an output of `git status` lists, also in its short form and behind rtk, which counts the files.
pub(in crate::extract) fn status(command: &str, output: &str) -> Option<Listed> {
    let (outside, inside): (Vec<GitCall>, Vec<GitCall>) = commands::git_calls_anywhere(command)
        .into_iter()
        .filter(|call| call.subcommand == "status")
        .partition(GitCall::is_outside);
    if inside.is_empty() && !outside.is_empty() {
        return None;
    }
    let calls: Vec<Vec<String>> = inside.into_iter().map(|call| call.arguments).collect();
    // A commit without anything to commit prints what is changed instead.
    let is_of_commit = commands::class(command) == commands::Class::Commit
        && text::contains_any(output, &["no changes added to commit", "nothing added to commit"]);
    // What follows a here-document is not split into commands.
    if calls.is_empty() && !command.contains("git status") && !is_of_commit {
        return None;
    }
    let rest = command.rsplit("git status").next().unwrap_or_default();
    let own = rest.split(['\n', ';', '&', '|']).next().unwrap_or_default();
    let is_flag = |word: &str| word.starts_with("--porcelain") || matches!(word, "-s" | "--short" | "-sb");
    let is_short = calls.iter().flatten().any(|word| is_flag(word)) || own.split_whitespace().any(is_flag);
    let Lines { mut listed, is_status, is_cut, is_cut_of_tracked } = Lines::read(output, is_short);
    // An empty short status says that nothing is changed.
    let is_alone = commands::segments(command).len() == 1;
    let is_empty = listed.modified.is_empty() && listed.untracked.is_empty();
    // So does one after which only words of the agent are printed, if the commands before it came to it.
    let after = rest.split_once(['\n', ';', '&', '|']).map_or("", |(_, after)| after);
    let is_last = commands::segments(after.trim_start_matches(['&', ' '])).iter().all(|it| it.starts_with("echo "));
    let is_reached = !output.trim().is_empty() && !text::contains_any(output, &["fatal:", "error:", "failed"]);
    let is_clean = is_short && (is_status || (is_last && is_reached));
    let is_piped = rest.split(['\n', ';', '&']).next().is_some_and(|segment| segment.contains('|'));
    let names_files = calls.iter().flatten().any(|word| !word.starts_with('-'));
    let is_known = if is_short { !is_empty || is_clean || (is_alone && output.trim().is_empty()) } else { is_status };
    listed.is_whole = is_known && !is_cut && !names_files && !is_piped;
    listed.is_whole_of_tracked = is_known && !is_cut_of_tracked && !names_files && !is_piped;
    listed.is_whole_of_staged = listed.is_whole_of_tracked && !is_of_commit;
    listed.is_cut_of_tracked = is_cut_of_tracked;
    listed.is_of_failed_commit = is_of_commit;
    (is_known || !is_empty).then_some(listed)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Staged,
    Modified,
    Untracked,
}

/// Returns which list a line of `git status` opens, if it opens one.
fn heading(line: &str) -> Option<List> {
    let has = |words: &str| line.contains(words);
    let is_count = line.ends_with(" files") || line.ends_with(" file");
    if line == "Untracked files:" || (is_count && has("Untracked: ")) {
        return Some(List::Untracked);
    }
    if line == "Changes to be committed:" || (is_count && has("Staged: ")) {
        return Some(List::Staged);
    }
    let opens = matches!(line, "Changes not staged for commit:" | "Unmerged paths:");
    (opens || (is_count && has("Modified: "))).then_some(List::Modified)
}

fn is_change(sign: &str) -> bool {
    matches!(
        sign,
        "modified" | "new file" | "deleted" | "renamed" | "copied" | "typechange" | "both modified" | "both added"
    )
}

/// Parses `M  path`, ` M path` or `?? path`. Cleaning may have taken a blank from the start of the first line.
fn short_line(line: &str) -> Option<(List, String)> {
    let (sign, path) = line.trim().split_once(' ')?;
    let is_sign = !sign.is_empty() && sign.len() <= 2 && sign.bytes().all(|byte| b"MADRCUT?".contains(&byte));
    let is_staged = sign.len() == 1 && !line.starts_with(' ') && path.starts_with(' ');
    let path = path.trim().rsplit(" -> ").next()?;
    // Git puts a path with a blank between quotes. Something else was printed on the same line.
    let is_path = path.starts_with('"') || !path.contains(' ');
    let path = commits::unquoted(path);
    let list = match sign {
        "??" => List::Untracked,
        _ if is_staged => List::Staged,
        _ => List::Modified,
    };
    (is_sign && is_path && !path.is_empty()).then_some((list, path))
}

/// Returns whether the branch is ahead of its upstream, if the line says it.
fn ahead(line: &str) -> Option<bool> {
    if line.starts_with("Your branch is ahead of") || line.contains("[ahead ") || line.contains("have diverged") {
        Some(true)
    } else if line.starts_with("Your branch is up to date with") {
        Some(false)
    } else {
        None
    }
}

/// Returns how many commits a line says that the branch is ahead of its upstream: "ahead of 'origin/till' by 2 commits.", "[ahead 2]".
fn ahead_by(line: &str) -> Option<u32> {
    let rest = match line.split_once("[ahead ") {
        Some((_, rest)) => rest,
        None => line.strip_prefix("Your branch is ahead of")?.rsplit_once(" by ")?.1,
    };
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the files of the commits that `git show` or `git log` printed, by their list or by the table of their sizes.
pub(in crate::extract) fn shown_files(command: &str, output: &str) -> Vec<String> {
    let shows = |(subcommand, arguments): &(String, Vec<String>)| {
        matches!(subcommand.as_str(), "show" | "log" | "diff-tree")
            && arguments.iter().any(|word| word.starts_with("--stat") || word.starts_with("--name-"))
    };
    if !commands::git_calls(command).iter().any(shows) {
        return Vec::new();
    }
    let file = |line: &str| -> Option<String> {
        let line = line.trim();
        if let Some((path, _, _)) = commits::stat_file(line) {
            return Some(path);
        }
        let path = line.split('\t').next_back()?;
        (path.contains('.') && !path.contains(' ')).then(|| path.to_owned())
    };
    // Those before it may have changed the same files.
    first_commit(output).filter_map(file).take(MAX_FILES).collect()
}

/// Returns the lines of the first commit that git printed.
fn first_commit(output: &str) -> impl Iterator<Item = &str> {
    let is_head = |line: &str| {
        let mut words = line.strip_prefix("commit ").unwrap_or(line).split(' ');
        !line.starts_with([' ', '\t']) && words.next().is_some_and(commits::is_hash)
    };
    let mut heads = 0;
    output.lines().take_while(move |line| {
        heads += usize::from(is_head(line));
        heads <= 1
    })
}

/// Returns the hash and the subject of the first commit that `git show` or `git log` printed.
pub(in crate::extract) fn shown_commit(output: &str) -> Option<(String, String)> {
    let mut lines = output.lines().map(str::trim).skip_while(|line| line.is_empty());
    let mut words = lines.next()?.splitn(2, ' ');
    let (first, rest) = (words.next()?, words.next().unwrap_or_default());
    if first != "commit" {
        return commits::is_hash(first).then(|| (first.to_owned(), rest.trim().to_owned()));
    }
    let hash = rest.split(' ').next().filter(|hash| commits::is_hash(hash))?;
    let is_header =
        |line: &&str| line.is_empty() || ["Author:", "Date:", "Merge:"].iter().any(|name| line.starts_with(name));
    let subject = lines.find(|line| !is_header(line))?;
    Some((hash[..7].to_owned(), subject.to_owned()))
}

/// Returns the tracked files that a plain `git diff` lists, if it lists all of them: none, their names, or the table of their
/// sizes. Beside other commands only the table can be told from what they print.
pub(in crate::extract) fn diff(command: &str, output: &str) -> Option<Listed> {
    let calls = commands::git_calls_anywhere(command);
    let is_alone = calls.len() == 1 && commands::segments(command).len() == 1 && !command.contains('|');
    let has_table = |call: &GitCall| call.arguments.iter().any(|word| word.starts_with("--stat"));
    let mut lists = calls.iter().filter(|call| is_alone || has_table(call));
    let list = lists.next().filter(|call| call.subcommand == "diff" && is_of_all(&call.arguments))?;
    // Those of another call may be printed before.
    let prints_table = |call: &GitCall| !matches!(call.subcommand.as_str(), "diff" | "log" | "branch" | "rev-parse" | "add");
    if lists.next().is_some() || calls.iter().any(|call| call.is_outside() || prints_table(call)) {
        return None;
    }
    let modified: Vec<String> = if is_alone && list.arguments.iter().any(|word| word == "--name-only") {
        // A wrapper of git prints the changes behind a blank line, too.
        output.trim().lines().map(|line| line.trim().to_owned()).take_while(|line| !line.is_empty()).collect()
    } else if is_alone && output.trim().is_empty() {
        Vec::new()
    } else {
        table(output)?
    };
    let is_cut_of_tracked = modified.iter().any(|path| path.starts_with(CUT));
    Some(Listed { modified, is_whole_of_tracked: true, is_cut_of_tracked, ..Listed::default() })
}

/// Returns whether `git diff` with those arguments compares all files that git tracks with the last commit, or with what is staged.
fn is_of_all(arguments: &[String]) -> bool {
    let is_other = |word: &str| matches!(word, "--cached" | "--staged" | "--check") || word.starts_with("--diff-filter");
    arguments.iter().all(|word| word == "HEAD" || (word.starts_with("--") && !is_other(word)))
}

/// Returns the files in the first table of sizes that git printed, if it names all of them.
fn table(output: &str) -> Option<Vec<String>> {
    let mut files: Vec<String> = Vec::new();
    for line in output.lines().map(str::trim) {
        if let Some(sums) = commits::stat_sums(line) {
            return (usize::try_from(sums.0) == Ok(files.len())).then_some(files);
        }
        let cut = if line.starts_with(CUT) { CUT } else { "" };
        files.extend(commits::stat_file(&line[cut.len()..]).map(|(path, _, _)| format!("{cut}{path}")));
    }
    None
}
