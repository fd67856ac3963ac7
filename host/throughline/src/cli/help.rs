//! The top-level help, which lists the commands in groups. clap has no groups of subcommands, so the list is part of
//! the template.

use std::fmt::Write as _;

/// The groups with their commands. A test checks that each visible command is in one of them.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Set up", &["install", "uninstall", "status", "doctor", "verify", "config", "demo", "namespaces"]),
    ("Find", &["search", "timeline", "session", "files", "failures", "observations", "projects", "view"]),
    ("Change", &["memory", "note", "pause", "resume", "scrub"]),
    ("Move in and out", &["ingest", "import", "export", "backup", "restore", "projections"]),
    ("Share", &["team"]),
    ("Policies", &["policy", "model"]),
    ("For agents and scripts", &["context", "redact", "mcp", "statusline", "hook", "completions", "man"]),
];

/// Returns the command with its subcommands in groups, each with the first line of its own help.
pub(super) fn with_groups(command: clap::Command) -> clap::Command {
    let header = *command.get_styles().get_header();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{header}Options:{header:#}\n\
         {{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template)
}

fn groups(command: &clap::Command) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let gap = " ".repeat(width - name.len());
            let _ = writeln!(text, "  {literal}{name}{literal:#}{gap}  {about}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "`throughline help COMMAND` explains a command.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::GROUPS;

    #[test]
    fn every_visible_command_is_in_one_group() {
        let command = crate::cli::command();
        let mut visible: Vec<&str> =
            command.get_subcommands().filter(|below| !below.is_hide_set()).map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(visible, grouped);
    }

    #[test]
    fn the_list_of_commands_fits_80_columns() {
        for line in super::groups(&crate::cli::command()).lines() {
            let plain = anstream::adapter::strip_str(line).to_string();
            assert!(plain.chars().count() <= 80 && !plain.contains(['{', '}']), "{plain}");
        }
    }

    #[test]
    fn the_text_below_the_help_fits_80_columns() {
        fn check(command: &clap::Command) {
            for line in command.get_after_long_help().map(ToString::to_string).unwrap_or_default().lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&crate::cli::command());
    }

    #[test]
    fn the_help_has_every_heading_and_no_list_of_its_own() {
        let help = crate::cli::command().render_long_help().to_string();
        for (heading, _) in GROUPS {
            assert_eq!(help.matches(&format!("\n{heading}:\n")).count(), 1, "{help}");
        }
        assert!(
            !help.contains("\nCommands:") && help.contains("\nOptions:\n") && help.contains("\nExit codes:\n"),
            "{help}"
        );
    }
}
