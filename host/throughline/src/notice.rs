//! Says in one line that memory works, or that it does not and why: for the start of a session and for `status`.

use throughline_engine::config::ConfigError;
use throughline_engine::hooks::Notice;
use throughline_engine::runtime::RuntimeError;

use crate::times;

/// Says what a person should know at the start of a session.
pub(crate) fn at_start(notice: Notice, now: u64) -> String {
    match notice {
        Notice::Told { memories, last_session } => {
            let memories = if memories == 1 { "1 memory".to_owned() } else { format!("{memories} memories") };
            let last = last_session.map_or_else(String::new, |at| format!(", last session {}", times::ago(at, now)));
            format!("Throughline: {memories}{last}")
        }
        Notice::Failed(why) => format!("Throughline: memory is off: {why}; `throughline doctor` says what to do"),
        Notice::Off(why) => format!("Throughline: memory is off: {why}"),
    }
}

/// Says at the start of a session that the configuration cannot be used, and that the last good one is in force.
pub(crate) fn of_last_good_config(fault: &ConfigError) -> String {
    format!("Throughline: {}; the last good configuration is in force", config_fault(&fault.to_string()))
}

/// Says at the start of a session that redaction rules cannot be read, and that sessions are stored without them.
pub(crate) fn of_unreadable_rules(what: &str) -> String {
    format!("Throughline: {}; `throughline doctor` says what to do", rules_fault(what))
}

/// Says what it means that redaction rules cannot be read.
pub(crate) fn rules_fault(what: &str) -> String {
    format!("{what}; sessions are stored without these rules")
}

/// Says at the start of a session why nothing can be remembered.
pub(crate) fn of_failed_start(error: &RuntimeError) -> String {
    let why = match error {
        RuntimeError::Config(fault) => config_fault(&fault.to_string()),
        RuntimeError::Managed(_) => "the administrator's configuration cannot be used".into(),
        RuntimeError::Intervals(_) => "the list of pauses, privacy.json, cannot be used".into(),
    };
    format!("Throughline: memory is off: {why}; `throughline doctor` says what to do")
}

/// Says in a few words what is wrong with the user's configuration: `config.toml line 3: unknown key bugdet`. What else the
/// line says is left out, since it may be secret.
pub(crate) fn config_fault(fault: &str) -> String {
    let between = |before: &str, after: char| {
        let rest = &fault[fault.find(before)? + before.len()..];
        rest.find(after).map(|end| rest[..end].to_owned())
    };
    let is_number = |line: &String| line.bytes().all(|byte| byte.is_ascii_digit());
    let line = between("line ", ':').filter(is_number).map_or_else(String::new, |line| format!(" line {line}"));
    let is_key = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    match (between("unknown key `", '`').filter(is_key), between(" is not obeyed: ", ';')) {
        (Some(name), _) => format!("config.toml{line}: unknown key {name}"),
        (None, Some(why)) => format!("config.toml cannot be used: {why}"),
        (None, None) => format!("config.toml{line} cannot be used"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throughline_engine::config::Config;

    #[test]
    fn a_start_is_described() {
        let told = Notice::Told { memories: 12, last_session: Some(0) };
        assert_eq!(at_start(told, 3_600_000), "Throughline: 12 memories, last session 1 h ago");
        assert_eq!(at_start(Notice::Told { memories: 1, last_session: None }, 0), "Throughline: 1 memory");
        let said = "Throughline: memory is off: the disk is full; `throughline doctor` says what to do";
        assert_eq!(at_start(Notice::Failed("the disk is full".into()), 0), said);
        assert_eq!(at_start(Notice::Off("paused"), 0), "Throughline: memory is off: paused");
    }

    #[test]
    fn a_fault_names_line_and_key_and_nothing_else() {
        let fault = |text: &str| config_fault(&Config::parse(text).unwrap_err().to_string());
        assert_eq!(fault("[context]\n\nbugdet = 1\n"), "config.toml line 3: unknown key bugdet");
        assert_eq!(fault("[context]\nbudget = \"hunter2\"\n"), "config.toml line 2 cannot be used");
        let open = ConfigError::Untrusted { path: "/c/config.toml".into(), why: "other users may write to it" };
        assert_eq!(config_fault(&open.to_string()), "config.toml cannot be used: other users may write to it");
        assert!(fault("[context]\nbudget = 1\n").starts_with("config.toml cannot be used"));
    }
}
