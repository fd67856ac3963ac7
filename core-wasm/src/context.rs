//! Stage `context-builder`: stored memories become the text that the agent is shown.
