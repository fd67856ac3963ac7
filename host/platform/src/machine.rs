//! The name of this machine.

use std::fs;

/// Returns the name that the system has for this machine, where that can be read.
pub fn name() -> Option<String> {
    let name = ["/proc/sys/kernel/hostname", "/etc/hostname"].iter().find_map(|file| fs::read_to_string(file).ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
