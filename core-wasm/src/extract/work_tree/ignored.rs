//! What git ignores, as it says so itself.

use crate::extract::commands;

/// Returns the files and folders that git says it ignores: it refused to add them, or was asked about them.
pub(in crate::extract) fn ignored(command: &str, output: &str) -> Vec<String> {
    let refused = output.lines().skip_while(|line| !line.contains(" paths are ignored by "));
    let refused = refused.skip(1).map(str::trim).take_while(|line| !line.is_empty() && !line.starts_with("hint:"));
    let mut all: Vec<String> = refused.map(str::to_owned).collect();
    let asked: Vec<String> = commands::git_calls(command)
        .into_iter()
        .filter(|(subcommand, _)| subcommand == "check-ignore")
        .flat_map(|(_, arguments)| arguments)
        .filter(|word| !word.starts_with('-'))
        .collect();
    if !asked.is_empty() {
        all.extend(output.lines().filter_map(|line| rule_of(line).or_else(|| asked.iter().find(|it| *it == line).cloned())));
    }
    all
}

/// Returns what a line such as `.gitignore:3:/dist<tab>dist/till.js` says to be ignored: the folder that its pattern names, or else the file.
fn rule_of(line: &str) -> Option<String> {
    let (rule, path) = line.split_once('\t')?;
    let (source, pattern) = rule.rsplit_once(':')?;
    let (_, number) = source.rsplit_once(':')?;
    if pattern.starts_with('!') || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let folder = pattern.trim_matches('/');
    let whole = format!("/{path}/");
    let at = if folder.contains(['*', '?', '[']) { None } else { whole.find(&format!("/{folder}/")) };
    Some(at.map_or(path, |at| &path[..at + folder.len()]).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_says_what_it_ignores() {
        let refused = "The following paths are ignored by one of your .gitignore files:\ndist\n.env\nhint: Use -f\nfatal";
        assert_eq!(ignored("git add dist .env a.rs", refused), ["dist", ".env"]);
        let told = ".gitignore:3:/docs\tdocs/till/slip.md\nweb/.gitignore:1:/made\tweb/made/till.js\n.gitignore:4:*.log\ttill.log\n\
                    .gitignore:9:!a.md\ta.md\nsecret";
        assert_eq!(
            ignored("cd . && git check-ignore -v docs/till/slip.md secret", told),
            ["docs", "web/made", "till.log", "secret"]
        );
        assert!(ignored("cat list", ".gitignore:3:/docs\tdocs/a.md").is_empty(), "git was not asked");
    }
}
