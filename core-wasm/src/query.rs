//! Stage `query`: a prompt becomes a search, or nothing.
