//! Benches of team memory on a real server: machines that are disturbed in every way, and figures as devices and rows grow.

pub mod chaos;
pub mod growth;
mod network;
