//! The systems to import from.

/// A system to import from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// jikime-mem, all versions to 1.5.4.
    JikimeMem,
    /// The memory of jikime-adk 0.5 to 0.9.2.
    JikimeAdk,
    /// claude-mem with schema 23 or a similar one.
    ClaudeMem,
    /// The index of `OpenClaw`'s memory.
    OpenClaw,
    /// memory-keeper and its successor Crabshell.
    MemoryKeeper,
    /// `.claude/session-context.json`.
    SessionContext,
    /// Markdown files.
    Markdown,
}

impl System {
    /// Returns the system's name on the command line and in identifiers.
    pub fn name(self) -> &'static str {
        match self {
            Self::JikimeMem => "jikime-mem",
            Self::JikimeAdk => "jikime-adk",
            Self::ClaudeMem => "claude-mem",
            Self::OpenClaw => "openclaw",
            Self::MemoryKeeper => "memory-keeper",
            Self::SessionContext => "session-context",
            Self::Markdown => "markdown",
        }
    }
}
