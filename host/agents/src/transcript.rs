//! Reads transcript files: opens them only below allowed folders, reads complete lines from where the last read
//! stopped, and finds that position again if the agent rewrites the file.
//!
//! [`open`] opens a file through a cap-std directory handle on an allowed root, without blocking. A path outside of the
//! roots, a link that leads out, a FIFO and a device are refused.
//!
//! # Resynchronization
//!
//! Transcripts are appended to, torn by crashes, rewritten by compactions, copied by forks, and deleted after a month.
//! A [`Cursor`] has the device, inode, size, modification time, byte offset, and the identifier of the last line before
//! the offset. [`Transcript::resume_offset`] checks whether the file is still the one that was read. If inode, size and that
//! identifier agree, reading continues at the offset; otherwise after the line with that identifier, wherever it is
//! now; otherwise at the beginning. That is safe because reading a line twice teaches nothing new: the extractor knows
//! the lines that it has seen, drafts have keys, and contents have hashes.
//!
//! A line counts when its newline is there. `ingest` of a file that nobody writes to also takes a last line without
//! one. A line of more than 16 MiB is skipped and counted; the longest of 348,975 real lines had 3 MB.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use throughline_model::cursor::Cursor;
use throughline_model::lines::{Line, LineSource};
use throughline_platform::open::FileOptions as _;
use throughline_platform::{files, metadata};

/// The longest line that is passed to a policy, in bytes. The longest of 348,975 real lines had 3,047,188.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// How many bytes are read from the file at a time.
const READ_BYTES: usize = 256 << 10;

/// How many bytes before an offset are searched for an anchor.
const ANCHOR_WINDOW: u64 = 1 << 20;

/// How many bytes before an offset are searched for a tool call.
const LOOKBACK_BYTES: u64 = 64 << 20;

/// Why a transcript is not read.
#[derive(Debug)]
pub enum TranscriptError {
    /// The file does not exist (yet).
    Missing,
    /// The file is outside the allowed folders, or a symbolic link leads out of them.
    Foreign(PathBuf),
    /// The path is not a regular file.
    NotAFile(PathBuf),
    /// The operating system reported an error.
    Unreadable(PathBuf, io::Error),
}

impl fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "the transcript does not exist"),
            Self::Foreign(path) => {
                write!(f, "{} is outside the folders that transcripts may be read from", path.display())
            }
            Self::NotAFile(path) => write!(f, "{} is not a regular file", path.display()),
            Self::Unreadable(path, error) => {
                write!(f, "{} cannot be read: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for TranscriptError {}

/// Translates one line, given the offset at which it begins, to zero or more lines in the format that policies read.
pub type TranslateLine = Arc<dyn Fn(u64, &str) -> Vec<String> + Send + Sync>;

/// An open transcript.
pub struct Transcript {
    file: File,
    /// The translator for its lines; `None` if they need no translation.
    pub translator: Option<TranslateLine>,
    /// The device and the inode.
    pub identity: (u64, u64),
    /// The size in bytes when the file was opened.
    pub size: u64,
    /// The modification time in nanoseconds since the Unix epoch.
    pub modified: u64,
}

/// Opens the transcript at `path` if it is below one of `roots`.
pub fn open(path: &Path, roots: &[PathBuf]) -> Result<Transcript, TranscriptError> {
    if path.components().any(|part| matches!(part, Component::ParentDir)) || !path.is_absolute() {
        return Err(TranscriptError::Foreign(path.into()));
    }
    let Some((root, inside)) = roots.iter().find_map(|root| Some((root, path.strip_prefix(root).ok()?))) else {
        return Err(TranscriptError::Foreign(path.into()));
    };
    if inside.as_os_str().is_empty() {
        return Err(TranscriptError::NotAFile(path.into()));
    }
    let refuse = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => TranscriptError::Missing,
        // cap-std's error for a path that leads out of its folder.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => TranscriptError::Foreign(path.into()),
        _ => TranscriptError::Unreadable(path.into(), error),
    };
    let folder = Dir::open_ambient_dir(root, ambient_authority()).map_err(refuse)?;
    let mut options = OpenOptions::new();
    options.read(true).nonblocking();
    let file = folder.open_with(inside, &options).map_err(refuse)?.into_std();
    let meta = file.metadata().map_err(refuse)?;
    if !meta.is_file() {
        return Err(TranscriptError::NotAFile(path.into()));
    }
    Ok(Transcript {
        identity: metadata::file_id(&file).map_err(refuse)?,
        file,
        translator: None,
        size: meta.len(),
        modified: metadata::modified_ns(&meta),
    })
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transcript").field("identity", &self.identity).field("size", &self.size).finish_non_exhaustive()
    }
}

/// The progress of a read. It is shared with the reader, which belongs to the guest during the read.
#[derive(Debug, Default)]
pub struct ReadProgress {
    /// Ends of the lines that were read, in order.
    ends: Vec<u64>,
    /// The offset of the next line, after any skipped lines.
    pub position: u64,
    /// How many lines were skipped because they were too long.
    pub oversized: u64,
    /// Whether the reader reached the end of the file.
    pub at_end: bool,
}

impl ReadProgress {
    /// Returns how many lines end at or before `consumed`, or `None` if no line ends at `consumed`.
    pub fn lines_until(&self, consumed: u64) -> Option<u64> {
        match self.ends.binary_search(&consumed) {
            Ok(index) => Some(index as u64 + 1),
            Err(_) => None,
        }
    }

    /// Returns whether `consumed` is the end of the last line that was read.
    pub fn is_last(&self, consumed: u64) -> bool {
        self.ends.last().is_none_or(|end| *end == consumed)
    }
}

/// The progress of a read, while the reader belongs to the guest.
#[derive(Debug, Clone, Default)]
pub struct SharedProgress(Arc<Mutex<ReadProgress>>);

impl SharedProgress {
    /// Returns the progress, and starts counting anew.
    pub fn take(&self) -> ReadProgress {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ReadProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of the file that one read covers.
#[derive(Debug, Clone, Copy)]
pub struct Chunk {
    /// The offset at which to begin.
    pub from: u64,
    /// Roughly how many bytes to read at most.
    pub bytes: u64,
    /// Whether a last line without a newline counts if it is complete JSON. It must not count while the agent is still
    /// writing.
    pub unterminated: bool,
}

/// A source of lines, and the progress of reading from it.
pub type LinesWithProgress = (Box<dyn LineSource>, SharedProgress);

impl Transcript {
    /// Starts reading a part of the file.
    pub fn lines(&self, chunk: Chunk) -> io::Result<LinesWithProgress> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(chunk.from))?;
        let progress = SharedProgress::default();
        progress.lock().position = chunk.from;
        let lines = Lines {
            file: file.take(self.size.saturating_sub(chunk.from)),
            buffer: Vec::new(),
            begin: 0,
            scanned: 0,
            offset: chunk.from,
            until: chunk.from.saturating_add(chunk.bytes),
            unterminated: chunk.unterminated,
            skipping: false,
            progress: progress.clone(),
        };
        Ok(match &self.translator {
            None => (Box::new(lines), progress),
            Some(translator) => (Box::new(TranslatedLines { lines, translator: Arc::clone(translator) }), progress),
        })
    }

    /// Returns the first `most` bytes, or fewer if the file is shorter.
    pub fn read_start(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.size).unwrap_or(most).min(most)];
        files::read_exact_at(&self.file, &mut bytes, 0)?;
        Ok(bytes)
    }

    /// Returns the last `most` bytes, or fewer if the file is shorter.
    pub fn read_end(&self, most: u64) -> io::Result<Vec<u8>> {
        let begin = self.size.saturating_sub(most);
        let mut bytes = vec![0; usize::try_from(self.size - begin).unwrap_or(0)];
        files::read_exact_at(&self.file, &mut bytes, begin)?;
        Ok(bytes)
    }

    /// Returns a second handle to the same file.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, translator: self.translator.clone(), ..*self })
    }

    /// Returns the lines in the window before `from`, which is large enough to find the tool calls that later lines
    /// refer to.
    pub fn lines_before(&self, from: u64) -> io::Result<Vec<String>> {
        let begin = from.saturating_sub(LOOKBACK_BYTES);
        // Positioned reads, because both handles chunk one file position.
        let mut bytes = vec![0; usize::try_from(from - begin).unwrap_or(0)];
        files::read_exact_at(&self.file, &mut bytes, begin)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(match &self.translator {
            None => text.lines().map(str::to_owned).collect(),
            Some(translator) => text.lines().flat_map(|line| translator(begin, line)).collect(),
        })
    }

    /// Returns the folders that the file names before `from` in fields called `cwd`, each once.
    pub fn folders_before(&self, from: u64) -> io::Result<BTreeSet<String>> {
        /// How many bytes are read at once, and how many of them are read again so that no field is cut in two.
        const WINDOW: u64 = 1 << 20;
        const OVERLAP: u64 = 16 << 10;
        const FIELD: &[u8] = b"\"cwd\"";
        let mut folders = BTreeSet::new();
        let mut begin = 0;
        while begin < from {
            let end = from.min(begin + WINDOW);
            let mut bytes = vec![0; usize::try_from(end - begin).unwrap_or(0)];
            files::read_exact_at(&self.file, &mut bytes, begin)?;
            for at in memchr::memmem::find_iter(&bytes, FIELD) {
                let rest = bytes[at + FIELD.len()..].trim_ascii_start();
                let Some(rest) = rest.strip_prefix(b":") else { continue };
                let mut value = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
                folders.extend(value.next().and_then(Result::ok));
            }
            if end == from {
                break;
            }
            begin = end - OVERLAP;
        }
        Ok(folders)
    }

    /// Returns the first timestamp in the first lines, in milliseconds since the Unix epoch; 0 if none of them has one.
    pub fn first_timestamp(&self) -> io::Result<u64> {
        #[derive(serde::Deserialize)]
        struct Fields {
            timestamp: String,
        }
        let mut bytes = vec![0; usize::try_from(self.size.min(ANCHOR_WINDOW)).unwrap_or(0)];
        files::read_exact_at(&self.file, &mut bytes, 0)?;
        let stamp = |line: &[u8]| serde_json::from_slice::<Fields>(line).ok()?.timestamp.parse::<jiff::Timestamp>().ok();
        let first = bytes.split(|byte| *byte == b'\n').find_map(stamp);
        Ok(first.and_then(|stamp| u64::try_from(stamp.as_millisecond()).ok()).unwrap_or(0))
    }

    /// Returns where to continue reading: at the cursor's offset if this is still the same file, otherwise after the
    /// line that was read last, otherwise at the beginning.
    pub fn resume_offset(&self, cursor: &Cursor) -> io::Result<u64> {
        let same = self.identity == (cursor.device, cursor.inode) && self.size >= cursor.offset;
        if same && (cursor.offset == 0 || self.is_anchored(cursor)?) {
            return Ok(cursor.offset);
        }
        match &cursor.last_uuid {
            Some(uuid) => Ok(self.find_line_end(uuid)?.unwrap_or(0)),
            None => Ok(0),
        }
    }

    /// Returns whether the content before the cursor's offset is what was read.
    fn is_anchored(&self, cursor: &Cursor) -> io::Result<bool> {
        match &cursor.last_uuid {
            Some(uuid) => Ok(self.last_uuid_before(cursor.offset)?.as_ref() == Some(uuid)),
            None => Ok(true),
        }
    }

    /// Returns the identifier of the last line before `offset` that has one, within a window.
    pub fn last_uuid_before(&self, offset: u64) -> io::Result<Option<String>> {
        // The identifier is nearly always in the last few kilobytes.
        for window in [8 << 10, ANCHOR_WINDOW] {
            let from = offset.saturating_sub(window);
            let mut bytes = vec![0; usize::try_from(offset - from).unwrap_or(0)];
            files::read_exact_at(&self.file, &mut bytes, from)?;
            if let Some(uuid) = last_uuid(&bytes) {
                return Ok(Some(uuid));
            }
            if from == 0 {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the end of the last line that contains this identifier.
    fn find_line_end(&self, uuid: &str) -> io::Result<Option<u64>> {
        let needle = format!("\"uuid\":\"{uuid}\"");
        let (mut lines, _) = self.lines(Chunk { from: 0, bytes: u64::MAX, unterminated: false })?;
        let mut found = None;
        loop {
            let batch = lines.read_lines(1 << 20)?;
            if batch.is_empty() {
                return Ok(found);
            }
            for line in batch {
                if line.text.contains(&needle) {
                    found = Some(line.end);
                }
            }
        }
    }
}

/// Returns the last `"uuid":"…"` in the bytes. Quotes in a string inside the JSON would be escaped, so this can only be
/// a key.
fn last_uuid(bytes: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\"uuid\":\"";
    let mut end = bytes.len();
    while let Some(at) = memchr::memmem::rfind(&bytes[..end], KEY) {
        let value = &bytes[at + KEY.len()..];
        if let Some(length) = memchr::memchr(b'"', value).filter(|length| (1..=64).contains(length)) {
            return std::str::from_utf8(&value[..length]).ok().map(str::to_owned);
        }
        end = at;
    }
    None
}

struct Lines {
    file: io::Take<File>,
    buffer: Vec<u8>,
    /// The index in `buffer` of the first byte that was not returned yet.
    begin: usize,
    /// `buffer` contains no newline before this index.
    scanned: usize,
    /// The offset of `buffer[begin]` in the file.
    offset: u64,
    /// No line is started at or after this offset.
    until: u64,
    unterminated: bool,
    /// Whether the reader is in the middle of a line that is too long.
    skipping: bool,
    progress: SharedProgress,
}

impl Lines {
    /// Reads more bytes. Returns `false` at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        if self.begin > 0 {
            self.buffer.drain(..self.begin);
            self.scanned -= self.begin;
            self.begin = 0;
        }
        let have = self.buffer.len();
        self.buffer.resize(have + READ_BYTES, 0);
        let read = loop {
            match self.file.read(&mut self.buffer[have..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(have + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }

    /// Takes `length` bytes from the buffer, including the newline, as one line.
    fn take(&mut self, length: usize) -> Line {
        let bytes = &self.buffer[self.begin..self.begin + length];
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        // Lines are nearly always valid UTF-8, and the strict check is much faster than the lossy conversion.
        let text = match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(text).into_owned(),
        };
        let start = self.offset;
        self.advance(length);
        Line { start, end: self.offset, text }
    }

    fn advance(&mut self, length: usize) {
        self.begin += length;
        self.scanned = self.begin;
        self.offset += length as u64;
    }

    fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if !self.skipping && self.offset >= self.until {
                return Ok(None);
            }
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
                let length = self.scanned + at + 1 - self.begin;
                if self.skipping || length > MAX_LINE_BYTES {
                    self.skipping = false;
                    self.advance(length);
                    self.progress.lock().oversized += 1;
                    continue;
                }
                return Ok(Some(self.take(length)));
            }
            self.scanned = self.buffer.len();
            if self.skipping || self.buffer.len() - self.begin > MAX_LINE_BYTES {
                self.skipping = true;
                self.advance(self.buffer.len() - self.begin);
            }
            if !self.fill()? {
                self.progress.lock().at_end = true;
                let rest = self.buffer.len() - self.begin;
                let whole = self.unterminated
                    && rest > 0
                    && serde_json::from_slice::<serde::de::IgnoredAny>(&self.buffer[self.begin..]).is_ok();
                return Ok(whole.then(|| self.take(rest)));
            }
        }
    }
}

/// Translated lines. All lines that one line becomes have that line's offsets, so reading one of them counts as reading
/// the line.
struct TranslatedLines {
    lines: Lines,
    translator: TranslateLine,
}

impl LineSource for TranslatedLines {
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>> {
        let mut told = Vec::new();
        for Line { start, end, text } in self.lines.read_lines(max_bytes)? {
            let texts = (self.translator)(start, &text);
            if texts.is_empty() {
                // An empty line still shows that the original line was read.
                told.push(Line { start, end, text: String::new() });
            }
            told.extend(texts.into_iter().map(|text| Line { start, end, text }));
        }
        Ok(told)
    }
}

impl LineSource for Lines {
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>> {
        // The host limits a batch, whatever the guest asks for.
        let max_bytes = max_bytes.min(4 << 20);
        let mut lines = Vec::new();
        let mut bytes = 0;
        while bytes < max_bytes {
            let Some(line) = self.next()? else { break };
            bytes += line.text.len();
            lines.push(line);
        }
        let position = if self.skipping { self.progress.lock().position } else { self.offset };
        let mut progress = self.progress.lock();
        progress.ends.extend(lines.iter().map(|line| line.end));
        progress.position = position;
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn transcript(bytes: &[u8]) -> (tempfile::TempDir, Transcript) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::write(root.join("t.jsonl"), bytes).unwrap();
        let opened = open(&root.join("t.jsonl"), &[root]).unwrap();
        (dir, opened)
    }

    fn all(transcript: &Transcript, chunk: Chunk) -> (Vec<Line>, u64) {
        let (mut lines, progress) = transcript.lines(chunk).unwrap();
        let mut out = Vec::new();
        loop {
            let batch = lines.read_lines(10).unwrap();
            if batch.is_empty() {
                let oversized = progress.lock().oversized;
                return (out, oversized);
            }
            out.extend(batch);
        }
    }

    fn texts(transcript: &Transcript, from: u64, unterminated: bool) -> Vec<String> {
        all(transcript, Chunk { from, bytes: u64::MAX, unterminated }).0.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_torn_last_line_waits() {
        let (_dir, transcript) = transcript(b"{\"a\":1}\n{\"b\":");
        assert_eq!(texts(&transcript, 0, false), ["{\"a\":1}"]);
        assert_eq!(texts(&transcript, 0, true), ["{\"a\":1}"]);
    }

    #[test]
    fn a_whole_last_line_without_newline_counts_where_asked() {
        let (_dir, transcript) = transcript(b"{\"a\":1}\r\n{\"b\":2}");
        assert_eq!(texts(&transcript, 0, false), ["{\"a\":1}"]);
        assert_eq!(texts(&transcript, 0, true), ["{\"a\":1}", "{\"b\":2}"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut bytes = b"first\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', MAX_LINE_BYTES + 3 * READ_BYTES));
        bytes.extend(b"\nlast\n");
        let (_dir, transcript) = transcript(&bytes);
        let (lines, oversized) = all(&transcript, Chunk { from: 0, bytes: u64::MAX, unterminated: false });
        assert_eq!(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["first", "last"]);
        assert_eq!(lines[1].end, bytes.len() as u64);
        assert_eq!(oversized, 1);
    }

    #[test]
    fn what_lies_outside_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("root");
        fs::create_dir(&root).unwrap();
        fs::write(base.join("outside"), "x\n").unwrap();
        std::os::unix::fs::symlink(base.join("outside"), root.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("absolute")).unwrap();
        let roots = [root.clone()];
        for path in [base.join("outside"), root.join("link"), root.join("absolute"), root.join("../outside")] {
            assert!(matches!(open(&path, &roots), Err(TranscriptError::Foreign(_))), "{}", path.display());
        }
        assert!(matches!(open(&root.join("none"), &roots), Err(TranscriptError::Missing)));
        assert!(matches!(open(&root, &roots), Err(TranscriptError::NotAFile(_) | TranscriptError::Unreadable(..))));
    }

    #[test]
    fn a_fifo_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let status = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        assert!(status.success());
        assert!(matches!(open(&root.join("pipe"), std::slice::from_ref(&root)), Err(TranscriptError::NotAFile(_))));
    }

    #[test]
    fn a_rewritten_file_is_found_again_by_its_last_line() {
        let line = |uuid: &str, text: &str| format!("{{\"text\":\"{text}\",\"uuid\":\"{uuid}\"}}\n");
        let old = line("u1", "first") + &line("u2", "second");
        let (_dir, before) = transcript(old.as_bytes());
        let cursor = Cursor {
            device: before.identity.0,
            inode: before.identity.1,
            offset: before.size,
            last_uuid: before.last_uuid_before(before.size).unwrap(),
            ..Cursor::default()
        };
        assert_eq!(cursor.last_uuid.as_deref(), Some("u2"));
        assert_eq!(before.resume_offset(&cursor).unwrap(), before.size);

        let shorter = line("u2", "second") + &line("u3", "third");
        let (_dir, after) = transcript(shorter.as_bytes());
        let from = after.resume_offset(&cursor).unwrap();
        assert_eq!(texts(&after, from, false), [line("u3", "third").trim_end()]);

        let (_dir, other) = transcript(line("u9", "another").as_bytes());
        assert_eq!(other.resume_offset(&cursor).unwrap(), 0);
    }

    proptest! {
        #[test]
        fn shares_add_up_to_the_whole(
            lines in prop::collection::vec("[a-z\u{ac00}-\u{ac10}]{0,40}", 0..40),
            chunk in 1_u64..200,
        ) {
            let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            let (_dir, transcript) = transcript(text.as_bytes());
            let mut from = 0;
            let mut read = Vec::new();
            loop {
                let (batch, _) = all(&transcript, Chunk { from, bytes: chunk, unterminated: false });
                let Some(last) = batch.last() else { break };
                prop_assert_eq!(batch[0].start, from);
                from = last.end;
                read.extend(batch.into_iter().map(|line| line.text));
            }
            prop_assert_eq!(read, lines);
        }

        #[test]
        fn what_is_told_in_shares_is_what_is_told_at_once(
            lines in prop::collection::vec("[a-z]{0,12}", 0..40),
            chunk in 1_u64..100,
        ) {
            let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            let (_dir, mut transcript) = transcript(text.as_bytes());
            // Each line becomes zero to three lines that contain its offset.
            transcript.translator =
                Some(Arc::new(|place, line| (0..line.len() % 4).map(|number| format!("{place}:{number}:{line}")).collect()));
            let told = |bytes: u64| {
                let (mut from, mut told) = (0, Vec::new());
                loop {
                    let (mut lines, progress) = transcript.lines(Chunk { from, bytes, unterminated: false }).unwrap();
                    let batch = lines.read_lines(usize::MAX).unwrap();
                    let Some(last) = batch.last() else { break };
                    from = last.end;
                    // Every position that the reader reports is the end of a line in the file.
                    assert!(batch.iter().all(|line| progress.lock().lines_until(line.end).is_some()));
                    told.extend(batch.into_iter().map(|line| line.text).filter(|text| !text.is_empty()));
                }
                (told, from)
            };
            let whole = told(u64::MAX);
            prop_assert_eq!(&whole.0.len(), &lines.iter().map(|line| line.len() % 4).sum::<usize>());
            prop_assert_eq!(told(chunk), whole);
        }

        #[test]
        fn no_bytes_make_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
            let (_dir, transcript) = transcript(&bytes);
            texts(&transcript, 0, true);
            transcript.last_uuid_before(transcript.size).unwrap();
        }
    }
}
