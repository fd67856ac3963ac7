//! Events that came before the default policy was compiled. A background process handles them later.

use crate::runtime::Runtime;
use throughline_agents::protocol::{self as agent, Event, Moment};

/// Records that the event was missed, if it can be handled again later: not if the agent waits for the answer, because
/// memories would then be recorded as shown although the agent never saw them.
pub(super) fn miss(runtime: &Runtime, event: &Event) {
    let waits = match event.moment {
        Moment::Start { .. } => true,
        Moment::PromptSubmitted { .. } => agent::shows_answer(event),
        _ => false,
    };
    if !waits {
        runtime.miss_event();
    }
}
