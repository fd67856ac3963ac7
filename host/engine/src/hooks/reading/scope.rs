//! What a chunk is about, and how large it is.

use std::time::{Duration, Instant};

use throughline_model::contract::Session;
use throughline_model::project::Project;

/// The longest that one call of a policy may take.
pub(super) const CALL: Duration = Duration::from_secs(10);

/// How many bytes of a transcript go into one transaction. This bounds memory use, and what is lost if the process is
/// killed.
pub(super) const CHUNK_BYTES: u64 = 8 << 20;

/// The project and session that a chunk belongs to.
pub(super) struct Scope {
    pub(super) project: Project,
    pub(super) session: Session,
    /// The limit for this chunk's calls of policies.
    pub(super) until: Instant,
}
