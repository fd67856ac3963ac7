//! Old names of commands, which keep working until the first release: the argument list is rewritten before clap parses
//! it.

use std::ffi::OsString;

/// The global option with a value: the value must not be taken for a command.
const OPTION_WITH_VALUE: &str = "--namespace";

/// Old and new names.
const RENAMED: [(&[&str], &[&str]); 9] = [
    (&["save"], &["session", "save"]),
    (&["gc"], &["observations", "gc"]),
    (&["memory", "store"], &["note", "add"]),
    (&["memory", "recall"], &["note", "recall"]),
    (&["memory", "check"], &["note", "check"]),
    (&["memory", "graph"], &["note", "graph"]),
    (&["memory", "sync"], &["note", "sync"]),
    (&["memory", "protocol"], &["note", "protocol"]),
    (&["memory", "import"], &["import"]),
];

/// Replaces an old name with the new one. Returns a note for the user, or `None` if the command has no old name.
pub(super) fn rewrite(arguments: &mut Vec<OsString>) -> Option<String> {
    let mut words = words(arguments);
    if words.first().is_some_and(|at| arguments[*at] == "help") {
        words.remove(0);
    }
    let is_called =
        |old: &[&str]| words.len() >= old.len() && old.iter().zip(&words).all(|(name, at)| arguments[*at] == *name);
    let (old, new) = RENAMED.into_iter().find(|(old, _)| is_called(old))?;
    for at in words[1..old.len()].iter().rev() {
        arguments.remove(*at);
    }
    arguments.splice(words[0]..=words[0], new.iter().map(OsString::from));
    Some(format!("`throughline {}` is now `throughline {}`", old.join(" "), new.join(" ")))
}

/// Returns the positions of the words that are not options, such as those of the command. Values of a command's own
/// options, which come later, are among them.
pub(super) fn words(arguments: &[OsString]) -> Vec<usize> {
    let mut words = Vec::new();
    let mut is_value = false;
    for (at, argument) in arguments.iter().enumerate().skip(1) {
        if argument == "--" {
            break;
        }
        if !is_value && !argument.as_encoded_bytes().starts_with(b"-") {
            words.push(at);
        }
        is_value = !is_value && argument == OPTION_WITH_VALUE;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(line: &str) -> (String, Option<String>) {
        let mut arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let note = rewrite(&mut arguments);
        (arguments.join(" ".as_ref()).into_string().unwrap(), note)
    }

    #[test]
    fn old_names_become_the_new_ones_and_options_stay() {
        for (old, new) in [
            ("t save", "t session save"),
            ("t save --session s --json", "t session save --session s --json"),
            ("t --namespace gc gc --dry-run", "t --namespace gc observations gc --dry-run"),
            ("t --namespace=a gc", "t --namespace=a observations gc"),
            ("t memory --namespace store store --title x y", "t note add --namespace store --title x y"),
            ("t memory import --format jsonl -", "t import --format jsonl -"),
            ("t memory recall --limit 3 -- -x", "t note recall --limit 3 -- -x"),
            ("t help memory store", "t help note add"),
            ("t help gc", "t help observations gc"),
        ] {
            let (line, note) = rewritten(old);
            assert_eq!((line.as_str(), note.is_some()), (new, true), "{old}");
        }
        assert_eq!(rewritten("t gc").1.unwrap(), "`throughline gc` is now `throughline observations gc`");
    }

    #[test]
    fn other_commands_are_left_alone() {
        for line in
            ["t", "t memory", "t memory gc", "t memory save store", "t session save", "t note sync", "t -- gc", "t help"]
        {
            assert_eq!(rewritten(line), (line.to_owned(), None));
        }
        let mut not_unicode = vec!["t".into(), std::os::unix::ffi::OsStringExt::from_vec(vec![0xff])];
        assert_eq!(rewrite(&mut not_unicode), None);
    }

    #[test]
    fn new_names_are_commands_and_old_ones_are_not() {
        let command = crate::cli::command();
        let find = |names: &[&str]| names.iter().try_fold(&command, |at, name| at.find_subcommand(name)).is_some();
        for (old, new) in RENAMED {
            assert!(find(new) && !find(old), "{old:?} {new:?}");
        }
    }
}
