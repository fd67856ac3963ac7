//! Stage `summarizer`: a session's notes become its summary.
