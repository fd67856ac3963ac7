//! What a file is, by its name and its folders.

use crate::text;

/// Returns whether a path is the file of a name, which may be the end of the path.
pub(in crate::extract) fn is_named(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns whether a file is one that a package manager or the system writes by itself: a list of versions, or what it knows of an
/// installed package.
pub(crate) fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_list = [".lock", ".lockb", "-lock.json", "-lock.yaml", ".sum"].iter().any(|end| name.ends_with(end));
    let is_of_package = |folder: &str| folder.ends_with(".egg-info") || folder == "__pycache__";
    is_list || name == ".DS_Store" || path.split('/').any(is_of_package)
}

/// Returns whether a file is prose, a list of what a tool is to ignore, or a sample of settings, which no test covers.
pub(crate) fn is_document(path: &str) -> bool {
    const NAMES: [&str; 7] = ["LICENSE", "LICENCE", "NOTICE", "README", "CHANGELOG", "AUTHORS", "CODEOWNERS"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_beside = name.starts_with('.') && [".example", ".sample", "ignore"].iter().any(|end| name.ends_with(end));
    is_beside || NAMES.contains(&name) || [".md", ".mdx", ".txt", ".rst", ".adoc"].iter().any(|end| name.ends_with(end))
}

/// Returns whether a document describes something, a plan or a manual, by a word of its path. A skill or a prompt in Markdown is the
/// work itself.
pub(crate) fn is_description(path: &str) -> bool {
    const WORDS: [&str; 18] = [
        "doc",
        "docs",
        "documentation",
        "plan",
        "plans",
        "planning",
        "design",
        "designs",
        "architecture",
        "spec",
        "specs",
        "rfc",
        "rfcs",
        "adr",
        "proposal",
        "proposals",
        "requirement",
        "requirements",
    ];
    const OTHERS: [&str; 8] = [".mdx", "skill", "prompt", "/commands/", "/agents/", "claude.md", "agents.md", "readme.md"];
    let lower = path.to_ascii_lowercase();
    let is_work = text::contains_any(&lower, &OTHERS);
    is_document(path) && !is_work && lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| WORDS.contains(&word))
}

/// Returns whether a file only configures a service or a tool, so that nobody runs it here.
pub(crate) fn is_configuration(path: &str) -> bool {
    let has_end = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    has_end(&[".yml", ".yaml"]) || (has_end(&[".json"]) && is_in_hidden_folder(path))
}

/// Returns whether a file holds the settings of an editor, a client or a service, which no check of the code reads: `.vscode/settings.json`,
/// `.github/workflows/till.yml`.
pub(crate) fn is_tool_setting(path: &str) -> bool {
    let of_service = || path.split('/').rev().skip(2).any(|folder| folder == ".github");
    is_configuration(path) && (is_in_hidden_folder(path) || of_service())
}

/// Returns whether the folder of a file is one that a tool keeps for itself.
fn is_in_hidden_folder(path: &str) -> bool {
    path.rsplit('/').nth(1).is_some_and(|folder| folder.len() > 2 && folder.starts_with('.'))
}

/// Returns whether a file is code that is compiled, run or tested.
pub(crate) fn is_code(path: &str) -> bool {
    const ENDS: [&str; 29] = [
        "rs", "go", "ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "py", "rb", "java", "kt", "swift", "c", "cc",
        "cpp", "h", "hpp", "cs", "php", "scala", "ex", "exs", "zig", "vue", "svelte", "dart",
    ];
    path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).is_some_and(|(_, end)| ENDS.contains(&end))
}

/// Returns whether a file is a script that an interpreter can run, by its name.
pub(crate) fn is_script(path: &str) -> bool {
    const ENDS: [&str; 10] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".php", ".sh", ".R"];
    ENDS.iter().any(|end| path.ends_with(end))
}

/// Returns whether a file has tests, by its name: `till.test.ts`, `test_till.py`.
pub(crate) fn is_test(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.starts_with("test_") || text::contains_any(name, &[".test.", ".spec.", "_test."])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_describes_and_a_skill_works() {
        assert!(is_description("docs/cart.md") && is_description("/home/u/.agent/plans/till.md"));
        assert!(
            !is_description("docs/page.mdx")
                && !is_description("skills/docs/SKILL.md")
                && !is_description("docs/build.ts")
                && !is_description("README.md")
        );
    }

    #[test]
    fn the_settings_of_a_tool_are_known_by_their_folder() {
        for path in ["till/.vscode/launch.json", ".github/workflows/till.yml", ".github/labels.yml"] {
            assert!(is_tool_setting(path), "{path}");
        }
        for path in ["package.json", "deploy/till.yml", ".storybook/main.ts", ".cargo/config.toml", "src/.till/a/b.json"] {
            assert!(!is_tool_setting(path), "{path}");
        }
    }

    #[test]
    fn no_test_covers_a_list_of_what_to_ignore_or_a_sample() {
        for path in ["till/.gitignore", ".dockerignore", "till/.env.example", ".env.sample"] {
            assert!(is_document(path), "{path}");
        }
        assert!(!is_document(".env") && !is_document("src/ignore") && !is_document("till.example"));
    }

    #[test]
    fn a_test_is_known_by_the_name_of_its_file() {
        for path in ["test_till.py", "src/test_till.py", "src/till.test.ts", "till_test.go"] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/latest_version.rs", "src/test_data/till.rs"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
