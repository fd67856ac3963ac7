//! How far a transcript has been read.

/// How far a transcript has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The transcript's path.
    pub path: String,
    /// The session that it belongs to.
    pub session_id: String,
    /// The file's device. Together with the inode it reveals a replaced file.
    pub device: u64,
    /// The file's inode.
    pub inode: u64,
    /// The file's size in bytes when it was last examined.
    pub size: u64,
    /// Its modification time at that moment, in nanoseconds since the Unix epoch.
    pub modified: u64,
    /// Everything before this byte has been processed.
    pub offset: u64,
    /// The identifier of the last line before `offset` that has one, to find the position again in a rewritten file.
    pub last_uuid: Option<String>,
    /// The number of lines read so far.
    pub lines: u64,
    /// The number of lines that could not be parsed.
    pub malformed: u64,
    /// The number of lines beyond the host's limit.
    pub oversized: u64,
    /// The number of consecutive extractions that failed at this offset.
    pub failures: u32,
    /// The number of writes; 0 means never written.
    pub version: u64,
}

impl Cursor {
    /// Returns whether the file is not a transcript: most of its lines could not be parsed. (Empty lines do not count
    /// as malformed, so a file of noise need not be malformed in every line.)
    pub fn is_mostly_malformed(&self) -> bool {
        self.malformed * 2 > self.lines
    }
}
