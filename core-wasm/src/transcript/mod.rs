//! The grammar of Claude Code transcripts: permissive, one line at a time, borrowing from the line.
