//! The files that memories are about: where they are, and sketches by which a changed file is recognized.
//!
//! A [`FileSketch`] says how many of a file's lines another one has too. It has one byte for each of 64 groups of lines, which
//! is too little to guess a line from. Quotations in a memory are compared separately ([`quoted`]): if a file no longer
//! contains the quoted words, the memory is outdated, however little else changed.

use std::cell::OnceCell;
use std::fs::File;
use std::hash::Hasher as _;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use siphasher::sip::SipHasher13;
use throughline_platform::open::open_no_follow;
use throughline_store::FileAnchor;

/// The largest file that is compared, in bytes.
pub const MAX_FILE_BYTES: u64 = 256 << 10;

/// The share of its lines that a file keeps at least, or it has changed much.
const MIN_KEPT: f64 = 0.5;

/// How many groups the lines are divided into. The share of equal lines is then right to about 0.06.
const GROUPS: usize = 64;

/// How many quoted words are remembered of one file.
const MAX_WORDS: usize = 16;

/// The shortest and the longest quotation that is compared, in characters. A shorter one stands in many places.
const QUOTED_CHARS: std::ops::RangeInclusive<usize> = 4..=80;

/// Returns where a file of a memory is. `None` if it is outside of the project.
pub fn path_in(root: &Path, file: &str) -> Option<PathBuf> {
    let is_inside = !file.starts_with('~') && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    (is_inside && !file.is_empty()).then(|| root.join(file))
}

/// Returns when a file was changed, in milliseconds since the Unix epoch; `None` if there is none. A link counts as what it is.
pub fn changed_at(path: &Path) -> Option<u64> {
    let modified = path.symlink_metadata().ok()?.modified().ok();
    let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Some(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// What a file has.
#[derive(Debug)]
pub struct FileContent {
    text: Vec<u8>,
    /// Made when it is first needed: it takes several times as long as reading the file.
    sketch: OnceCell<FileSketch>,
}

impl FileContent {
    /// Reads a file. `None` if it has more bytes than `most` or than [`MAX_FILE_BYTES`], is not text or not a regular file, or
    /// cannot be read. Files with environment variables (`.env…`) are not read: they may have only one line, and then the sketch
    /// would say something about that line.
    pub fn read(path: &Path, most: u64) -> Option<Self> {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".env")) {
            return None;
        }
        let file = open_no_follow(path).ok()?;
        let about = file.metadata().ok()?;
        if !about.is_file() || about.len() > most.min(MAX_FILE_BYTES) {
            return None;
        }
        Self::of(read_all(file, about.len())?)
    }

    fn of(text: Vec<u8>) -> Option<Self> {
        if memchr::memchr(0, &text).is_some() {
            return None;
        }
        Some(Self { text, sketch: OnceCell::new() })
    }

    fn sketch(&self) -> &FileSketch {
        self.sketch.get_or_init(|| FileSketch::of(&self.text))
    }

    /// Returns how many bytes it has.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// Returns the anchor of the file, for memories that say this about it. Its key is left to the caller.
    pub fn anchor<'t>(&self, texts: impl Iterator<Item = &'t str>, at: u64) -> FileAnchor {
        let mut words: Vec<u32> = texts.flat_map(quoted).filter(|word| self.has(word)).map(word_hash).collect();
        words.sort_unstable();
        words.dedup();
        words.truncate(MAX_WORDS);
        let sketch = self.sketch();
        FileAnchor { at, lines: sketch.lines, sketch: sketch.groups.to_vec(), words, ..FileAnchor::default() }
    }

    /// Returns whether the file has changed since, for a memory that says this about it: something that it quotes is no longer
    /// there, or most lines are not.
    pub fn has_changed_since<'t>(&self, anchor: &FileAnchor, mut texts: impl Iterator<Item = &'t str>) -> bool {
        let is_lost = |word: &str| anchor.words.contains(&word_hash(word)) && !self.has(word);
        texts.any(|text| quoted(text).any(is_lost)) || self.kept(anchor) < MIN_KEPT
    }

    fn has(&self, word: &str) -> bool {
        memchr::memmem::find(&self.text, word.as_bytes()).is_some()
    }

    /// Returns the share of the earlier lines that the file still has.
    fn kept(&self, anchor: &FileAnchor) -> f64 {
        let sketch = self.sketch();
        let pairs = || anchor.sketch.iter().zip(&sketch.groups);
        let count =
            |is: fn(u8, u8) -> bool| f64::from(u16::try_from(pairs().filter(|(a, b)| is(**a, **b)).count()).unwrap_or(0));
        let (either, equal) = (count(|a, b| a != 0 || b != 0), count(|a, b| a != 0 && a == b));
        if either == 0.0 || anchor.lines == 0 {
            return 1.0;
        }
        // Of the lines that either has, this share is in both.
        let shared = equal / either;
        let (before, now) = (f64::from(anchor.lines), f64::from(sketch.lines));
        shared * (before + now) / ((1.0 + shared) * before)
    }
}

/// Reads a file that has so many bytes, as far as is known.
fn read_all(file: File, bytes: u64) -> Option<Vec<u8>> {
    // With room for one more, the end is found without another allocation.
    let mut text = Vec::with_capacity(usize::try_from(bytes).ok()? + 1);
    file.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}

/// What is known of a file's lines.
#[derive(Debug, PartialEq, Eq)]
struct FileSketch {
    /// How many different lines there are. Lines without a letter or digit do not count.
    lines: u32,
    /// Of each group, a byte of the line with the least hash; 0 for an empty group. (One permutation hashing.)
    groups: [u8; GROUPS],
}

impl FileSketch {
    fn of(text: &[u8]) -> Self {
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut hashes: Vec<u64> =
            lines.filter(|line| line.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 128)).map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let mut groups = [0; GROUPS];
        // In this order, the first hash of a group is the least.
        for hash in &hashes {
            let group = &mut groups[usize::try_from(hash % GROUPS as u64).unwrap_or(0)];
            if *group == 0 {
                *group = u8::try_from(hash / GROUPS as u64 % 255).unwrap_or(0) + 1;
            }
        }
        Self { lines: u32::try_from(hashes.len()).unwrap_or(u32::MAX), groups }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    // The hash is stored, so the keys are fixed.
    let mut hasher = SipHasher13::new_with_keys(0, 0);
    hasher.write(bytes);
    hasher.finish()
}

#[expect(clippy::cast_possible_truncation, reason = "half of the bits are enough for a few words")]
fn word_hash(word: &str) -> u32 {
    hash(word.as_bytes()) as u32
}

/// Returns what a text quotes as code.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let of_line = |line| str::split(line, '`').skip(1).step_by(2).map(str::trim);
    text.lines().flat_map(of_line).filter(|word| QUOTED_CHARS.contains(&word.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> FileContent {
        FileContent::of(text.as_bytes().to_vec()).unwrap()
    }

    fn lines(range: std::ops::Range<u32>) -> String {
        range.map(|number| format!("    let value_{number} = {number};\n")).collect::<Vec<_>>().concat()
    }

    /// Whether a file of 300 lines has changed much if it becomes this.
    fn changed(now: &str) -> bool {
        let anchor = content(&lines(0..300)).anchor(std::iter::empty(), 5);
        content(now).has_changed_since(&anchor, std::iter::empty())
    }

    #[test]
    fn a_file_has_changed_if_most_of_its_lines_are_not_there() {
        assert!(!changed(&lines(0..300)));
        assert!(
            !changed(&format!("{}\n\n{}", lines(150..300), lines(0..150)).replace("    let", "let")),
            "moved and indented"
        );
        assert!(!changed(&lines(100..300)), "a third was deleted");
        assert!(!changed(&lines(0..900)), "it grew");
        assert!(changed(&lines(200..300)), "two thirds were deleted");
        assert!(changed(&lines(240..540)), "most were replaced");
        assert!(changed(""));
        // Few lines.
        let anchor = content("a = 1\nb = 2\nc = 3\n").anchor(std::iter::empty(), 5);
        let is_changed = |now: &str| content(now).has_changed_since(&anchor, std::iter::empty());
        assert!(!is_changed("a = 1\nb = 2\nc = 4\n"));
        assert!(is_changed("a = 1\nx = 2\ny = 3\nz = 7\n"));
    }

    #[test]
    fn a_file_has_changed_for_who_quotes_what_is_no_longer_there() {
        let before = format!("{}const MAX_TRIES: u32 = 7;\n", lines(0..100));
        let says = "Payments are retried: `MAX_TRIES: u32 = 7` in `src/pay.rs`, `cargo test` passes";
        let other = "`src/pay.rs` knows `value_7`";
        let anchor = content(&before).anchor([says, other].into_iter(), 5);
        assert_eq!(anchor.words.len(), 2, "what the file does not have says nothing");
        let now = content(&before.replace("= 7;\n", "= 5;\n"));
        assert!(now.has_changed_since(&anchor, [says].into_iter()));
        assert!(!content(&before).has_changed_since(&anchor, [says, other].into_iter()));
        let elsewhere = content(&before.replace("value_9", "value_nine"));
        assert!(!elsewhere.has_changed_since(&anchor, [says, other].into_iter()));
    }

    #[test]
    fn files_that_are_no_text_or_hold_settings_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(dir.path().join(name), bytes).unwrap();
            FileContent::read(&dir.path().join(name), MAX_FILE_BYTES).is_some()
        };
        assert!(write("a.rs", b"fn main() {}\n"));
        assert!(!write(".env.local", b"A=1\n"));
        assert!(!write("a.bin", b"a\0b\n"));
        assert!(!write("large", &vec![b'a'; 300_000]));
        assert!(FileContent::read(&dir.path().join("a.rs"), 5).is_none(), "what is left of a budget is less");
        assert!(FileContent::read(dir.path(), MAX_FILE_BYTES).is_none());
    }

    #[test]
    fn only_files_of_the_project_are_looked_at() {
        let root = Path::new("/p");
        assert_eq!(path_in(root, "src/a.rs"), Some("/p/src/a.rs".into()));
        for outside in ["/etc/passwd", "../a.rs", "~/a.rs", "src/../../a", ""] {
            assert_eq!(path_in(root, outside), None, "{outside}");
        }
    }
}
