//! The sections of a page.

/// The sections, in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::context) enum SectionKind {
    /// Memories that a search found. This section has no heading.
    Found,
    LastSession,
    ThisSession,
    Progress,
    Decisions,
    WatchOut,
    Discoveries,
    Preferences,
    Topics,
    Knowledge,
    Other,
}

/// The kinds of what a session ran into.
pub(in crate::context) const LESSONS: [&str; 4] = ["error_fix", "failure", "learning", "correction"];

impl SectionKind {
    pub(super) const ALL: [Self; 11] = [
        Self::Found,
        Self::LastSession,
        Self::ThisSession,
        Self::Progress,
        Self::Decisions,
        Self::WatchOut,
        Self::Discoveries,
        Self::Preferences,
        Self::Topics,
        Self::Knowledge,
        Self::Other,
    ];

    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Found => "",
            Self::LastSession => "Last Session",
            Self::ThisSession => "This Session",
            Self::Progress => "Progress",
            Self::Decisions => "Key Decisions",
            Self::WatchOut => "Watch out",
            Self::Discoveries => "Discoveries",
            Self::Preferences => "Preferences",
            Self::Topics => "Recent Topics",
            Self::Knowledge => "Project Knowledge",
            Self::Other => "Other Memories",
        }
    }

    /// Returns the default maximum number of entries.
    pub(super) fn max_entries(self) -> usize {
        match self {
            Self::LastSession => 60,
            Self::ThisSession => 30,
            Self::Progress => 20,
            Self::Decisions => 14,
            Self::WatchOut => 10,
            Self::Topics => 11,
            Self::Found | Self::Other => 5,
            Self::Discoveries | Self::Preferences | Self::Knowledge => 8,
        }
    }

    /// Returns the section of a memory kind. None for kinds that the session's own lines cover.
    pub(in crate::context) fn of(kind: &str) -> Option<Self> {
        match kind {
            "decision" => Some(Self::Decisions),
            kind if LESSONS.contains(&kind) => Some(Self::WatchOut),
            "preference" => Some(Self::Preferences),
            "discovery" => Some(Self::Knowledge),
            // Commits are in the repository, turns and results are found by search, and summaries belong to their
            // sessions.
            "commit" | "turn" | "result" | "session_summary" | "compact_summary" => None,
            _ => Some(Self::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sections_are_listed_in_their_order() {
        assert!(SectionKind::ALL.into_iter().enumerate().all(|(at, kind)| kind as usize == at));
        assert_eq!(SectionKind::ALL.len(), SectionKind::Other as usize + 1);
    }
}
