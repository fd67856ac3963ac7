//! Team memory: what one learned, all know, by decision.
//!
//! SQLite stays the truth of each machine, and everything works without a server. [`outbox`] finds what the user's rules
//! ([`rules`]) share, redacts it once more and stages the exact text that will leave. [`sync`] gives it to `throughline-sync`
//! ([`link`]), which has the network, and stores what comes back ([`incoming`]) as an import is stored: parsed, checked,
//! redacted, marked with its author. In a sealed team the text is encrypted before it leaves ([`team_key`]). Projects are recognized on other machines by [`project_key`], never by a path.

pub mod credentials;
pub mod incoming;
pub mod link;
pub mod outbox;
pub mod project_key;
pub mod rules;
pub mod search;
pub mod sync;
pub mod team_key;
