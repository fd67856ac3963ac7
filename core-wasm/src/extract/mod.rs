//! Stage `extractor`: a fold over transcript lines that keeps a session's notes and emits memories.
