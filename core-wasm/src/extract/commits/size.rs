//! The size of a change, as git prints it.

use serde::{Deserialize, Serialize};

/// The maximum number of files to read from git's list of changed files.
const MAX_STAT_FILES: usize = 60;

/// What git prints of the size of a change: one line for each file, and the sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct Stat {
    /// The files: path, lines added and lines removed. The counts are 0 if git only prints their proportion.
    pub files: Vec<(String, u32, u32)>,
    /// The number of files, of lines added and of lines removed.
    pub sums: (u32, u32, u32),
}

/// Returns the largest change of which an output tells the size.
pub(in crate::extract) fn stat(output: &str) -> Option<Stat> {
    let mut found: Option<Stat> = None;
    let mut files = Vec::new();
    for line in output.lines().map(str::trim) {
        if let Some(sums) = stat_sums(line) {
            let stat = Stat { files: std::mem::take(&mut files), sums };
            if found.as_ref().is_none_or(|known| known.sums < stat.sums || known.files.is_empty() && known.sums == stat.sums)
            {
                found = Some(stat);
            }
        } else if let Some(file) = stat_file(line).filter(|_| files.len() < MAX_STAT_FILES) {
            files.push(file);
        }
    }
    found
}

/// Parses `2 files changed, 12 insertions(+), 3 deletions(-)`, also behind the words of a wrapper.
pub(in crate::extract) fn stat_sums(line: &str) -> Option<(u32, u32, u32)> {
    let at = line.find(" file changed").or_else(|| line.find(" files changed"))?;
    let number = |text: &str| text.rsplit([' ', ',']).next().and_then(|word| word.parse().ok());
    let before = |sign: &str| line[at..].find(sign).and_then(|end| number(&line[at..at + end])).unwrap_or(0);
    Some((number(&line[..at])?, before(" insertion"), before(" deletion")))
}

/// Parses `src/cart.ts | 12 +++---`. The counts are 0 if git only prints their proportion.
pub(in crate::extract) fn stat_file(line: &str) -> Option<(String, u32, u32)> {
    let (path, rest) = line.rsplit_once(" | ")?;
    let (count, bar) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let (count, path): (u32, &str) = (count.parse().ok()?, path.trim());
    let has_blank = path.contains(' ') && !path.starts_with('"');
    let is_shortened =
        path.trim_start_matches('"').starts_with("...") || path.contains("=>") || has_blank || path.is_empty();
    let marks = |mark: char| u32::try_from(bar.matches(mark).count()).unwrap_or(0);
    let (added, removed) = (marks('+'), marks('-'));
    let exact = if added + removed == count { (added, removed) } else { (0, 0) };
    (!is_shortened).then(|| (unquoted(path), exact.0, exact.1))
}

/// Returns a path as it is. Git puts one with other letters than those of ASCII between quotes: `"men\303\274.md"`. One with control
/// characters stays as git prints it.
pub(in crate::extract) fn unquoted(path: &str) -> String {
    let Some(inside) = path.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return path.to_owned() };
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = |digits: &[u8]| std::str::from_utf8(digits).ok().and_then(|text| u8::from_str_radix(text, 8).ok());
        let (byte, taken) = match (first, after) {
            (b'\\', [a, b, c, ..]) if a.is_ascii_digit() => (octal(&[*a, *b, *c]).unwrap_or_default(), 3),
            (b'\\', [b'"' | b'\\', ..]) => (after[0], 1),
            (b'\\', _) => (0, 0),
            _ => (first, 0),
        };
        bytes.push(byte);
        rest = &after[taken..];
    }
    let decoded = String::from_utf8(bytes).ok();
    decoded.filter(|decoded| !decoded.contains(char::is_control)).unwrap_or_else(|| inside.to_owned())
}

/// What a commit does to a file, if git says it in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) enum Listing {
    Created,
    Deleted,
    Renamed,
}

/// Returns the files that git lists below a commit, as `create mode 100644 src/till.ts`, and what the commit does to each.
pub(in crate::extract) fn listings(output: &str) -> Vec<(String, Listing)> {
    let listing = |line: &str| {
        let moded = |verb: &str| {
            let (mode, path) = line.strip_prefix(verb)?.strip_prefix(" mode ")?.split_once(' ')?;
            mode.bytes().all(|byte| byte.is_ascii_digit()).then(|| unquoted(path))
        };
        let created = || moded("create").map(|path| (path, Listing::Created));
        let deleted = || moded("delete").map(|path| (path, Listing::Deleted));
        let renamed = || Some((new_place(line.strip_prefix("rename ")?.rsplit_once(" (")?.0)?, Listing::Renamed));
        created().or_else(deleted).or_else(renamed)
    };
    output.lines().filter_map(|line| listing(line.trim())).take(MAX_STAT_FILES).collect()
}

/// Returns the new place of a file that was moved: `src/{old => new}/till.ts`, or `old.ts => new.ts`.
fn new_place(moved: &str) -> Option<String> {
    let (before, after) = moved.split_once(" => ")?;
    let Some((folder, _)) = before.rsplit_once('{') else { return Some(unquoted(after)) };
    let (inside, rest) = after.split_once('}')?;
    Some(unquoted(&format!("{folder}{inside}{rest}").replace("//", "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_a_commit() {
        let output = "[main 1a2b3c4] Open\n 3 files changed\n create mode 100755 run.sh\n delete mode 100644 a b.ts\n rename src/{till => }/x.ts (92%)\n rename a.ts => b.ts (100%)";
        let listed = listings(output);
        let paths: Vec<&str> = listed.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["run.sh", "a b.ts", "src/x.ts", "b.ts"]);
        assert_eq!((listed[0].1, listed[1].1, listed[2].1), (Listing::Created, Listing::Deleted, Listing::Renamed));
        assert!(listings("delete mode of the till").is_empty());
    }

    #[test]
    fn quoted_paths_are_read() {
        let listed = listings(r#" create mode 100644 "docs/men\303\274 \"a\".md""#);
        assert_eq!(listed, [("docs/menü \"a\".md".to_owned(), Listing::Created)]);
        assert_eq!(stat_file(r#""docs/\355\225\234.md" | 2 ++"#), Some(("docs/한.md".to_owned(), 2, 0)));
        for (path, told) in
            [("a.md", "a.md"), (r#""a\tb""#, r"a\tb"), (r#""a\377b""#, r"a\377b"), ("\"", "\""), (r#""a\""#, r"a\")]
        {
            assert_eq!(unquoted(path), told);
        }
    }

    #[test]
    fn the_size_of_a_commit() {
        let table = " src/cart.ts  | 3 ++-\n src/long.ts | 200 +++---\n .../far/x.ts | 1 +\n 3 files changed, 110 insertions(+), 94 deletions(-)";
        let stat = stat(table).unwrap();
        assert_eq!(stat.files, [("src/cart.ts".to_owned(), 2, 1), ("src/long.ts".to_owned(), 0, 0)]);
        assert_eq!(stat.sums, (3, 110, 94));
        assert_eq!(super::stat("ok ✓ 1 file changed, 40 insertions(+)").unwrap().sums, (1, 40, 0));
        assert_eq!(super::stat("2 files were moved"), None);
    }
}
