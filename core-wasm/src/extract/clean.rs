//! Cleans every text before it enters the state. Texts are scrubbed before they are cut, so that the place where a
//! transcript is split never affects which secrets are recognized.

use std::borrow::Cow;

use crate::extract::{commands, prose};
use crate::{scrubbed::Scrubbed, text};

/// Removes terminal escapes, control characters and secrets.
pub(crate) fn clean(text: &str) -> String {
    Scrubbed::of(text).into_string()
}

/// Returns the cleaned text on one line of at most `max` characters.
pub(crate) fn line(text: &str, max: usize) -> String {
    text::clip(&text::one_line(&clean(text)), max).into_owned()
}

/// Returns the cleaned text in at most `max` bytes, cut at a natural boundary.
pub(crate) fn block(text: &str, max: usize) -> String {
    text::clip_block(&clean(text), max).into_owned()
}

/// Returns the cleaned command line in at most `max` bytes, with paths relative to `root`.
pub(crate) fn command(command: &str, root: &str, max: usize) -> String {
    let whole = relative_paths(&Scrubbed::of_command(command), root);
    text::clip_block(&commands::with_short_documents(&whole, max), max).into_owned()
}

/// Returns a path with `/` between folders, relative to `root` if it is inside. A file of one of the client's work trees has the
/// path that it has in the project.
pub(crate) fn path(path: &str, root: &str) -> String {
    let path = path.replace('\\', "/");
    let root = root.replace('\\', "/");
    let root = root.trim_end_matches('/');
    let relative = path.strip_prefix(root).filter(|_| !root.is_empty()).and_then(|rest| rest.strip_prefix('/'));
    let in_work_tree = relative
        .and_then(|path| WORK_TREES.iter().find_map(|folder| path.strip_prefix(folder)))
        .and_then(|path| path.split_once('/'))
        .map(|(_, path)| path);
    line(in_work_tree.or(relative).unwrap_or(&path), 300)
}

/// Returns a folder relative to the project's root. Empty for the root itself, and for a folder outside of the project.
pub(crate) fn folder(folder: &str, root: &str) -> String {
    let inside = path(&format!("{folder}/."), root);
    inside.strip_suffix("/.").filter(|inside| !is_outside(inside)).unwrap_or_default().to_owned()
}

/// Returns whether a path that was made relative to the project's root lies outside of it.
pub(crate) fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~']) || path == ".." || path.starts_with("../") || path.as_bytes().get(1) == Some(&b':')
}

/// Returns whether a path is the client's file for a plan: in its folder of the project, or in the user's, wherever that lies.
pub(crate) fn is_client_plan(path: &str) -> bool {
    path.contains(".claude/plans/") || (is_outside(path) && path.contains("/claude/plans/"))
}

/// Where agents make work trees of a project, each in a folder of its own.
const WORK_TREES: [&str; 2] = [".claude/worktrees/", ".worktrees/"];

/// The maximum length of the line numbers in parentheses, in bytes.
const MAX_POSITIONS_BYTES: usize = 80;

/// Removes what is stale or says nothing tomorrow: check marks, and line numbers in parentheses such as `(line 90)`.
pub(crate) fn without_positions(said: &str) -> Cow<'_, str> {
    const MARKS: [char; 3] = ['✅', '✓', '✔'];
    let starts =
        |rest: &str| ["(line ", "(lines ", "(L", "(~line", "(at line"].iter().any(|opening| rest.starts_with(opening));
    let has_lines = said.as_bytes().windows(2).any(|pair| pair[0] == b':' && pair[1].is_ascii_digit());
    let said = if has_lines { Cow::Owned(without_lines(said)) } else { Cow::Borrowed(said) };
    let said = without_numbers(said);
    if !said.contains(MARKS) && !said.match_indices('(').any(|(at, _)| starts(&said[at..])) {
        return said;
    }
    let mut kept = String::with_capacity(said.len());
    let mut rest = &*said;
    while let Some(at) = rest.find('(') {
        let is_number = |inner: &str| {
            let numbers = inner
                .trim_start_matches("at ")
                .trim_start_matches('~')
                .trim_start_matches("line")
                .trim_start_matches('s')
                .trim_start_matches('L');
            inner.len() <= MAX_POSITIONS_BYTES
                && numbers.bytes().all(|byte| byte.is_ascii_digit() || b" ~,-:".contains(&byte))
        };
        let end = rest[at..].find(')').filter(|end| starts(&rest[at..]) && is_number(&rest[at + 1..at + end]));
        kept.push_str(rest[..at].trim_end_matches(if end.is_some() { ' ' } else { '\0' }));
        if let Some(end) = end {
            rest = &rest[at + end + 1..];
        } else {
            kept.push('(');
            rest = &rest[at + 1..];
        }
    }
    kept.push_str(rest);
    // In code, a mark is a part of what is shown.
    let has_code = kept.matches('`').count().is_multiple_of(2);
    let last = kept.matches('`').count();
    let parts = kept.split('`').enumerate().map(|(at, part)| match at % 2 {
        1 if has_code => Cow::Borrowed(part),
        _ => Cow::Owned(without_ticks(&with_words_for_ticks(part, &MARKS, at == last), &MARKS)),
    });
    Cow::Owned(text::one_line(&parts.collect::<Vec<_>>().join("`")))
}

/// Removes check marks, with the brackets around one that stands alone in them: "the till is done (✅)".
fn without_ticks(said: &str, marks: &[char]) -> String {
    const BRACKETS: [(char, char); 2] = [('(', ')'), ('（', '）')];
    let mut kept = String::with_capacity(said.len());
    let mut rest = said;
    while let Some(at) = rest.find(marks) {
        let (before, tick) = rest.split_at(at);
        rest = tick.trim_start_matches(marks).trim_start_matches('\u{fe0f}');
        let alone =
            BRACKETS.iter().find_map(|(open, close)| Some((before.strip_suffix(*open)?, rest.strip_prefix(*close)?)));
        if let Some((outside, behind)) = alone {
            kept.push_str(outside.trim_end());
            rest = behind;
        } else {
            kept.push_str(before);
        }
    }
    kept.push_str(rest);
    kept
}

/// Puts a word for each check mark that is a value by itself: "Lock: ✅; Bell: ✅ rings" becomes "Lock: yes; Bell: ✅ rings". Where the text is
/// not the last, code follows it.
fn with_words_for_ticks(said: &str, marks: &[char], is_last: bool) -> String {
    const STATES: [&str; 10] = ["status", "state", "result", "verdict", "상태", "결과", "状態", "結果", "状态", "结果"];
    let mut told = String::with_capacity(said.len());
    let mut rest = said;
    while let Some(at) = rest.find(marks) {
        told.push_str(&rest[..at]);
        let mark = rest[at..].chars().next().unwrap_or_default();
        rest = rest[at + mark.len_utf8()..].trim_start_matches('\u{fe0f}');
        let before = told.trim_end();
        let is_value = before.ends_with([':', '：', '—', '=', '→']);
        let after = rest.trim_start();
        if is_value && ((after.is_empty() && is_last) || after.starts_with([';', ',', '.', ')', '|', '、', '。'])) {
            let label = before.trim_end_matches([':', '：']).to_lowercase();
            told.push_str(if STATES.iter().any(|state| label.ends_with(state)) { "ok" } else { "yes" });
        } else {
            told.push(mark);
        }
    }
    told + rest
}

/// Removes the numbers of lines from running text: "the check at line 12 stays" becomes "the check stays", and "it is on line 12 of
/// `cart.ts`" becomes "it is in `cart.ts`".
fn without_numbers(said: Cow<'_, str>) -> Cow<'_, str> {
    let mut kept = said;
    for opening in [" at lines ", " at line ", " on lines ", " on line "] {
        while let Some(at) = kept.find(opening) {
            let rest = &kept[at + opening.len()..];
            let Some(rest) = after_numbers(rest) else { break };
            // "On line 40 of 80" names no file.
            let names_file = |rest: &&str| {
                let word = rest.split(' ').next().unwrap_or_default();
                word.starts_with('`') || prose::file_in(word.trim_end_matches(['.', ',', ';', ':', ')'])).is_some()
            };
            let file = rest.strip_prefix(" of ").or_else(|| rest.strip_prefix(" in "));
            if rest.starts_with(" of ") && !file.as_ref().is_some_and(names_file) {
                break;
            }
            let joined = match file {
                Some(file) => format!("{} in {file}", &kept[..at]),
                None => format!("{}{rest}", &kept[..at]),
            };
            kept = Cow::Owned(joined);
        }
    }
    kept
}

/// Returns what follows the numbers that a text begins with: "12", "12-30", "12 and 14". `None` if it begins with none.
fn after_numbers(text: &str) -> Option<&str> {
    let is_digit = |c: char| c.is_ascii_digit();
    let number = |text: &str| {
        let end = text.find(|c: char| !is_digit(c) && !matches!(c, '-' | '–' | '~')).unwrap_or(text.len());
        text[..end].contains(is_digit).then_some(end)
    };
    let mut rest = &text[number(text)?..];
    while let Some(more) = [", and ", " and ", ", "].iter().find_map(|sign| rest.strip_prefix(sign)) {
        // "at line 12, 3 tests fail" counts something else.
        let Some(after) = number(more).map(|end| &more[end..]) else { break };
        if !(after.is_empty()
            || after.starts_with([',', '.', ';', ')'])
            || after.starts_with(" of ")
            || after.starts_with(" and "))
        {
            break;
        }
        rest = after;
    }
    Some(rest)
}

/// Removes the line numbers after names of files: `src/cart.ts:12-30` becomes `src/cart.ts`.
fn without_lines(said: &str) -> String {
    let mut kept = String::with_capacity(said.len());
    let mut rest = said;
    while let Some(at) = rest.find(':') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = end_of_lines(rest);
        let is_number = rest[1..end].starts_with(|c: char| c.is_ascii_digit());
        let word = kept.rsplit(|c: char| c.is_whitespace() || matches!(c, '`' | '(' | '"')).next().unwrap_or_default();
        // "tasks.md:4.5" names a section.
        let is_section = rest[end..].strip_prefix('.').is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
        let is_over = !rest[end..].starts_with(char::is_alphanumeric) && !is_section;
        if is_number && is_over && prose::file_in(word).is_some() {
            rest = without_more_lines(&rest[end..]);
        } else {
            kept.push(':');
            rest = &rest[1..];
        }
    }
    kept.push_str(rest);
    kept
}

/// Removes the further line numbers of the same file that a text begins with: "` and :80`".
fn without_more_lines(text: &str) -> &str {
    let mut rest = text;
    while let Some(from) = [" and :", ", :", " / :", " & :", ", "].iter().find_map(|sign| rest.strip_prefix(sign)) {
        let digits = from.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '–'));
        // "a.rs:12, 40" names two lines; "a.rs:12, 3 files" does not.
        let is_bare = rest.starts_with(", ") && !rest.starts_with(", :");
        let goes_on = digits.trim_start().starts_with(char::is_alphanumeric);
        if digits.len() == from.len() || digits.starts_with(char::is_alphanumeric) || (is_bare && goes_on) {
            break;
        }
        rest = digits;
    }
    rest
}

/// Returns the position past the line numbers at the beginning of a text: `:12`, `:12-30` or `:11,17,43`.
fn end_of_lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 1;
    while is_digit(end) || (matches!(bytes.get(end), Some(b'-' | b',')) && is_digit(end + 1)) {
        end += 1;
    }
    end
}

/// Makes paths inside the project relative to its root. Absolute paths only say where the project is on one machine.
pub(crate) fn relative_paths(command: &str, root: &str) -> String {
    other_roots(root).iter().fold(relative_to(command, root), |short, root| relative_to(&short, root))
}

/// Makes paths of a text inside the project relative to its root. Where somebody works in the home folder, paths say where the folders of the
/// machine are, and stay.
pub(crate) fn paths_as_told(text: &str, root: &str) -> String {
    if is_home(root) { text.to_owned() } else { relative_paths(text, root) }
}

/// Returns whether a folder is somebody's home: "/home/ann", "/Users/ann", "C:\Users\ann".
fn is_home(folder: &str) -> bool {
    let bare = folder.trim_end_matches(['/', '\\']).replace('\\', "/");
    let Some((parent, _)) = bare.rsplit_once('/') else { return false };
    bare == "/root" || matches!(parent, "/home" | "/Users") || parent.ends_with(":/Users")
}

/// Returns whether a command line names the project's root.
pub(crate) fn names_root(command: &str, root: &str) -> bool {
    !root.is_empty() && (command.contains(root) || other_roots(root).iter().any(|root| command.contains(root)))
}

/// Returns the other names of a root on Windows. Its shells take slashes too, and some name the drive like a folder.
fn other_roots(root: &str) -> Vec<String> {
    let Some((drive, folders)) = root.split_once(":\\").filter(|(drive, _)| drive.len() == 1) else { return Vec::new() };
    let folders = folders.replace('\\', "/");
    vec![format!("{drive}:/{folders}"), format!("/{}/{folders}", drive.to_lowercase())]
}

fn relative_to(command: &str, root: &str) -> String {
    if root.len() < 2 {
        return command.to_owned();
    }
    let mut short = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find(root) {
        short.push_str(&rest[..at]);
        rest = &rest[at + root.len()..];
        // After something else the root is only a part of a longer path, such as `\\?\C:\repo` or `file:///repo`.
        if short.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | '~' | '.' | '_' | '-' | '}')) {
            short.push_str(root);
            continue;
        }
        if let Some(after) = rest.strip_prefix('/') {
            rest = after;
            // The root with a slash and nothing after it.
            if !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '*' | '@' | '{')) {
                short.push_str("./");
            }
        } else if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            short.push_str(root);
        } else {
            short.push('.');
        }
    }
    short.push_str(rest);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_the_client_lies_in_its_folder() {
        assert!(is_client_plan("/home/u/.claude/plans/a.md") && is_client_plan("/home/u/.config/claude/plans/a.md"));
        assert!(is_client_plan(".claude/plans/a.md") && !is_client_plan("docs/claude/plans/a.md"));
    }

    #[test]
    fn files_of_work_trees_have_their_own_path() {
        for (of, short) in [
            ("/src/shop/.claude/worktrees/tax/lib/a.ts", "lib/a.ts"),
            ("/src/shop/.worktrees/tax/lib/a.ts", "lib/a.ts"),
            ("/src/shop/lib/a.ts", "lib/a.ts"),
            ("/src/other/.worktrees/tax/a.ts", "/src/other/.worktrees/tax/a.ts"),
        ] {
            assert_eq!(path(of, "/src/shop"), short);
        }
    }

    #[test]
    fn positions_and_check_marks_are_left_out() {
        for (said, kept) in [
            ("the check at line 12 stays", "the check stays"),
            ("the fix is on line 519 of `cart.ts`", "the fix is in `cart.ts`"),
            ("calls at lines 12, 14 and 20 of cart.ts stay", "calls in cart.ts stay"),
            ("the slip is cut on line 40 of 80", "the slip is cut on line 40 of 80"),
            ("at the till on line 12, 3 tests fail", "at the till, 3 tests fail"),
            ("the write (~line 383) is wrapped", "the write is wrapped"),
            ("it stands in line with the rest, at lines of its own", "it stands in line with the rest, at lines of its own"),
            ("✅ Rounds totals (line 90) in `src/cart.ts`", "Rounds totals in `src/cart.ts`"),
            ("The drawer opens — Status: ✅; Notes: seen", "The drawer opens — Status: ok; Notes: seen"),
            ("Bell — Day: ✔️; Night: ✅ rings; Lamp: ✓", "Bell — Day: yes; Night: rings; Lamp: yes"),
            ("The slip — ✅", "The slip — yes"),
            ("The slip — ✅ `print` names it", "The slip — `print` names it"),
            ("Part 1: the till ✅", "Part 1: the till"),
            ("10 of 12 slips are done (✅), two are not", "10 of 12 slips are done, two are not"),
            ("서랍 완료(✔️), 벨（✅）은 남음", "서랍 완료, 벨은 남음"),
            ("✅ It prints: `Day: ✅ 12 ⏎ Night: ❌`", "It prints: `Day: ✅ 12 ⏎ Night: ❌`"),
            ("`bell`: ✅; `lamp`: ✅ lit", "`bell`: yes; `lamp`: lit"),
            ("the guard (lines ~189-215) stays", "the guard stays"),
            ("`src/cart.ts:12-30` rounds, see docs/a.md:7.", "`src/cart.ts` rounds, see docs/a.md."),
            ("tasks.md:4.5 says so", "tasks.md:4.5 says so"),
            ("cart_test.go:72 and :80 pass, a.md:7, :9-11.", "cart_test.go pass, a.md."),
            ("`a.rs:12, 40` and b.rs:7, 3 files", "`a.rs` and b.rs, 3 files"),
            ("at 12:30 on localhost:8080 (a line of text)", "at 12:30 on localhost:8080 (a line of text)"),
        ] {
            assert_eq!(without_positions(said), kept);
        }
    }

    #[test]
    fn commands_are_relative_inside_the_root() {
        assert_eq!(relative_paths("cd /p/a && ls /p/a/src /p/ab", "/p/a"), "cd . && ls src /p/ab");
        assert_eq!(relative_paths("git -C /p/a status", "/p/a"), "git -C . status");
        for home in ["/home/ann", "/Users/ann", "/root", r"C:\Users\ann"] {
            let text = format!("serve {home}/slips {home}");
            assert_eq!(paths_as_told(&text, home), text);
        }
        assert_eq!(paths_as_told("ls /p/a/slips", "/p/a"), "ls slips");
        for command in [r"cd D:\p\a && ls", "cd D:/p/a && ls", "cd /d/p/a && ls"] {
            assert_eq!(relative_paths(command, r"D:\p\a"), "cd . && ls", "{command}");
            assert!(names_root(command, r"D:\p\a") && !names_root(command, r"D:\p\b"));
        }
        assert_eq!(
            ["/p/a", "/p/a/src", "/p/ab", "/p/a/.claude/worktrees/x/src"].map(|it| folder(it, "/p/a")),
            ["", "src", "", "src"]
        );
    }

    #[test]
    fn a_path_is_whole_if_something_precedes_it() {
        for text in [r"del `\\?\C:\shop\nul`", r"\\.\C:\shop\a"] {
            assert_eq!(relative_paths(text, r"C:\shop"), text);
        }
        assert_eq!(relative_paths("open file:///p/a/x.html", "/p/a"), "open file:///p/a/x.html");
        assert_eq!(relative_paths("--out=/p/a/x (`/p/a/y`)", "/p/a"), "--out=x (`y`)");
    }

    #[test]
    fn paths_are_relative_inside_the_root() {
        assert_eq!(path("/home/u/p/src/a.rs", "/home/u/p"), "src/a.rs");
        assert_eq!(path("/home/u/p2/a.rs", "/home/u/p"), "/home/u/p2/a.rs");
        assert_eq!(path("D:\\p\\a.go", "D:\\p"), "a.go");
    }
}
