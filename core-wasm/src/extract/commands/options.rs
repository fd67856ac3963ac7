//! Options of commands: `--now`, `-i`, `-rf`.

/// Returns whether a command line has that option as a word of its own. The line may stand in backticks.
pub(crate) fn has_option(command: &str, option: &str) -> bool {
    command.split(|c: char| c.is_whitespace() || c == '`').any(|word| word == option)
}

/// Returns the long options that a text names.
pub(crate) fn options_named(said: &str) -> impl Iterator<Item = &str> {
    let words = said.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '(' | ')' | ',' | ':'));
    words.filter(|word| word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase())))
}

/// Returns the letters of a word that is one or several short options: `rf` of `-rf`.
pub(crate) fn short_options(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_a_whole_word() {
        assert!(has_option("tillctl close --now", "--now") && has_option("run `tillctl --now`", "--now"));
        assert!(!has_option("tillctl close --nowhere", "--now"));
        assert_eq!(options_named("Close it later (--later), not --Now or -n").collect::<Vec<_>>(), ["--later"]);
    }

    #[test]
    fn short_options_are_letters() {
        assert_eq!(["-i", "-rf", "--in-place", "-", "i"].map(short_options), [Some("i"), Some("rf"), None, None, None]);
    }
}
