//! The name of this machine, on Windows.

use std::env;

/// Returns the name that the system has for this machine, where that can be read.
pub fn name() -> Option<String> {
    env::var("COMPUTERNAME").ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_machine_has_a_name() {
        assert!(super::name().is_some());
    }
}
