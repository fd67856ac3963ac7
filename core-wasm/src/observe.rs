//! Stage `observer`: one use of a tool becomes an observation.
