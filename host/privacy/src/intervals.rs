//! The time intervals of which nothing is remembered: while a project or session was paused, and before it was
//! forgotten. They are kept in one small file beside the database, because they must be known before the database is
//! opened and must outlive it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use throughline_platform::files;
use throughline_platform::paths;

/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// An interval of which nothing is remembered. Without a project and a session it applies to everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interval {
    /// The project's identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The session's identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The project's root, for people; only present while it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// The start, in milliseconds since the Unix epoch.
    pub from: u64,
    /// The end; none while the pause continues.
    pub to: Option<u64>,
}

impl Interval {
    fn applies_to(&self, project: &str, session: &str) -> bool {
        self.project.as_deref().is_none_or(|own| own == project) && self.session.as_deref().is_none_or(|own| own == session)
    }

    fn same_scope(&self, other: &Self) -> bool {
        (&self.project, &self.session) == (&other.project, &other.session)
    }
}

/// Why the intervals cannot be read or changed. Without them, it is unknown what was paused or forgotten.
#[derive(Debug)]
pub enum IntervalsError {
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The file is larger than any list of intervals.
    TooLarge(PathBuf),
    /// The file is no list of intervals.
    Damaged(PathBuf, serde_json::Error),
    /// The file, its folder or its lock cannot be written.
    Unwritable(PathBuf, io::Error),
}

impl fmt::Display for IntervalsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "{} cannot be read: {error}", path.display()),
            Self::TooLarge(path) => write!(f, "{} is too large", path.display()),
            Self::Damaged(path, error) => write!(f, "{} is damaged: {error}", path.display()),
            Self::Unwritable(path, error) => write!(f, "{} cannot be written: {error}", path.display()),
        }
    }
}

impl std::error::Error for IntervalsError {}

impl IntervalsError {
    /// Returns what the user can do about the error. It never is to move the file away: what was forgotten would come back.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(..) | Self::Unwritable(..) => "check the owner and the permissions of the file and its folder",
            Self::TooLarge(_) | Self::Damaged(..) => {
                "correct the file; do not delete it, because it says what was paused and forgotten"
            }
        }
    }
}

/// All intervals of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intervals {
    all: Vec<Interval>,
}

impl Intervals {
    /// Reads the file; a missing file contains no intervals. The error says what is wrong; it is then unknown what was
    /// paused.
    pub fn load(file: &Path) -> Result<Self, IntervalsError> {
        let unreadable = |error| IntervalsError::Unreadable(file.into(), error);
        match std::fs::metadata(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unreadable(error)),
            Ok(meta) if meta.len() > MAX_FILE_BYTES => return Err(IntervalsError::TooLarge(file.into())),
            Ok(_) => {}
        }
        let bytes = std::fs::read(file).map_err(unreadable)?;
        let all = serde_json::from_slice(&bytes).map_err(|error| IntervalsError::Damaged(file.into(), error))?;
        Ok(Self { all })
    }

    /// Reads the file, changes the intervals and writes it. A file lock makes other changes wait.
    pub fn update<T>(file: &Path, change: impl FnOnce(&mut Vec<Interval>) -> T) -> Result<T, IntervalsError> {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let failed = |error| IntervalsError::Unwritable(file.into(), error);
        paths::create_private(folder).map_err(failed)?;
        let _lock = files::lock(&file.with_extension("lock")).map_err(failed)?;
        let mut all = Self::load(file)?.all;
        let outcome = change(&mut all);
        let bytes = serde_json::to_vec_pretty(&all).map_err(|error| failed(error.into()))?;
        files::replace_atomically(file, &bytes, 0o600).map_err(failed)?;
        Ok(outcome)
    }

    /// Whether there are no intervals.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the intervals that are still open.
    pub fn paused(&self) -> impl Iterator<Item = &Interval> {
        self.all.iter().filter(|interval| interval.to.is_none())
    }

    /// Whether the session or its project is paused now.
    pub fn is_paused(&self, project: &str, session: &str) -> bool {
        self.pause_of(project, session).is_some()
    }

    /// Returns a pause that applies to the session or its project now.
    pub fn pause_of(&self, project: &str, session: &str) -> Option<&Interval> {
        self.paused().find(|interval| interval.applies_to(project, session))
    }

    /// Whether an interval of the project or session contains this time. `sessions` are all identifiers of the session.
    pub fn is_excluded_at(&self, project: &str, sessions: &[&str], at: u64) -> bool {
        self.all.iter().any(|it| {
            it.from <= at && it.to.is_none_or(|to| at < to) && sessions.iter().any(|session| it.applies_to(project, session))
        })
    }

    /// Whether an interval applies to the session and ended after the session began.
    pub fn overlaps_session(&self, project: &str, sessions: &[&str], began: u64) -> bool {
        self.all
            .iter()
            .any(|it| it.to.is_none_or(|to| to > began) && sessions.iter().any(|session| it.applies_to(project, session)))
    }

    /// Like [`Intervals::overlaps_session`], for any session and project. If false, no line needs to be checked.
    pub fn may_overlap(&self, began: u64) -> bool {
        self.all.iter().any(|it| it.to.is_none_or(|to| to > began))
    }
}

/// Starts a pause; returns false if there is one already.
pub fn pause(all: &mut Vec<Interval>, interval: Interval) -> bool {
    let known = all.iter().any(|it| it.to.is_none() && it.same_scope(&interval));
    if !known {
        all.push(interval);
    }
    !known
}

/// Ends the pauses that `which` selects. Returns how many.
pub fn resume(all: &mut [Interval], now: u64, which: impl Fn(&Interval) -> bool) -> usize {
    let mut ended = 0;
    for interval in all.iter_mut().filter(|it| it.to.is_none()).filter(|it| which(it)) {
        interval.to = Some(now);
        interval.root = None;
        ended += 1;
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_begin_and_end_and_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("data/privacy.json");
        let project = |from| Interval { project: Some("p".into()), from, ..Interval::default() };
        let session = Interval { session: Some("s".into()), from: 7, ..Interval::default() };
        assert!(Intervals::load(&file).unwrap().is_empty());
        assert!(Intervals::update(&file, |all| pause(all, project(5))).unwrap());
        assert!(!Intervals::update(&file, |all| pause(all, project(6))).unwrap());
        assert!(Intervals::update(&file, |all| pause(all, session.clone())).unwrap());
        let paused = Intervals::load(&file).unwrap();
        assert!(paused.is_paused("p", "any") && paused.is_paused("other", "s") && !paused.is_paused("other", "t"));
        assert_eq!(Intervals::update(&file, |all| resume(all, 9, |it| it.project.is_some())).unwrap(), 1);
        let after = Intervals::load(&file).unwrap();
        assert!(!after.is_paused("p", "any") && after.is_paused("p", "s"));
        assert!(after.is_excluded_at("p", &["x"], 5) && after.is_excluded_at("p", &["x"], 8));
        assert!(
            !after.is_excluded_at("p", &["x"], 4)
                && !after.is_excluded_at("p", &["x"], 9)
                && !after.is_excluded_at("q", &["x"], 6)
        );
        assert!(after.is_excluded_at("q", &["x", "s"], 100));
        assert!(after.overlaps_session("p", &["x"], 8) && !after.overlaps_session("p", &["x"], 9));
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("privacy.json");
        std::fs::write(&file, "{").unwrap();
        let error = Intervals::load(&file).unwrap_err();
        assert!(matches!(error, IntervalsError::Damaged(..)), "{error}");
        assert!(error.to_string().contains("privacy.json is damaged: "), "{error}");
        assert!(matches!(Intervals::update(&file, |_| ()), Err(IntervalsError::Damaged(..))));
        assert_eq!(std::fs::read(&file).unwrap(), b"{");
    }
}
