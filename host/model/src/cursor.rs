//! How far a transcript has been read.

/// How far a transcript has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The transcript's path.
    pub path: String,
    /// The session that it belongs to.
    pub session_id: String,
    /// Device and inode, to notice a replaced file.
    pub device: u64,
    /// See `device`.
    pub inode: u64,
    /// The file's size when it was last looked at, bytes.
    pub size: u64,
    /// Its modification time then, nanoseconds since the Unix epoch.
    pub modified: u64,
    /// Everything before this byte is accounted for.
    pub offset: u64,
    /// The identifier of the last line before `offset` that has one, to find the place again in a rewritten file.
    pub last_uuid: Option<String>,
    /// Lines read so far.
    pub lines: u64,
    /// Lines that could not be parsed.
    pub malformed: u64,
    /// Lines beyond the host's limit.
    pub oversized: u64,
    /// Extractions in a row that failed at this offset.
    pub failures: u32,
    /// Counts writes; 0: never written.
    pub version: u64,
}

impl Cursor {
    /// Whether the file is something else than a transcript: most of its lines could not be parsed. (Empty lines are neither
    /// malformed nor anything else, so a file of noise need not be malformed in all its lines.)
    pub fn is_no_transcript(&self) -> bool {
        self.malformed * 2 > self.lines
    }
}
