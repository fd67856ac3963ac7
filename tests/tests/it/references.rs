//! Documents that follow from the sources are what the sources say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tests::component;
use tests::contract_doc::{self, Contract};
use tests::modules::Modules;

/// Compares a committed file with what it should be; `UPDATE=1` writes it.
#[track_caller]
fn fresh(file: &Path, wanted: &str) {
    if tests::env_flag("UPDATE") {
        std::fs::write(file, wanted).expect("write the reference");
        return;
    }
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        committed == wanted,
        "{} is stale: run `UPDATE=1 cargo test -p tests --test it references::` and commit what it writes",
        file.display()
    );
}

fn contract() -> Contract {
    Contract::read(&contract_doc::wit()).expect("the contract is valid WIT")
}

#[test]
fn the_contract_reference_is_fresh() {
    fresh(&contract_doc::committed(), &contract().reference().expect("a reference"));
}

#[test]
fn everything_in_the_contract_is_documented() {
    assert_eq!(contract().undocumented(), [""; 0]);
}

/// The commented default is what a user reads: the page about it is that very text.
#[test]
fn the_configuration_reference_is_fresh() {
    let root = component::workspace();
    let defaults =
        std::fs::read_to_string(root.join("host/engine/src/config.default.toml")).expect("the default configuration");
    let page = format!(
        "<!-- Written from host/engine/src/config.default.toml by a test. Do not edit: `UPDATE=1 cargo test -p tests --test it \
         references::`. -->\n\n\
         # Configuration\n\n\
         The file is optional, and so is each setting. Below is the complete file with all defaults; its comments explain each\n\
         setting. `throughline doctor` names the file in use and what is wrong in it.\n\n\
         ```toml\n{}\n```\n",
        defaults.trim_end()
    );
    fresh(&root.join("docs/configuration.md"), &page);
}

/// The documents outside of docs/ whose paths and links are checked.
const DOCUMENTS: [&str; 5] = ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "policies/README.md"];

/// Folders by which a path in a code span is recognized.
const FOLDERS: [&str; 8] = [".ci/", ".cargo/", "core-wasm/", "docs/", "host/", "policies/", "tests/", "wit/"];

/// Returns the names of the pages in docs/, sorted.
fn pages() -> Vec<String> {
    let folder = std::fs::read_dir(component::workspace().join("docs")).expect("docs");
    let names = folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let mut pages: Vec<String> = names.filter(|name| Path::new(name).extension().is_some_and(|it| it == "md")).collect();
    pages.sort();
    pages
}

fn code_spans(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(component::workspace().join(document)).expect(document);
    let prose: String = text.split("```").step_by(2).collect();
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn paths_named_in_documents_exist() {
    let root = component::workspace();
    let documents = DOCUMENTS.map(str::to_owned).into_iter().chain(pages().into_iter().map(|page| format!("docs/{page}")));
    for document in documents {
        for span in code_spans(&document) {
            let path = span.trim_end_matches('/');
            if FOLDERS.iter().any(|folder| span.starts_with(folder)) && !span.contains([' ', '*', '<', '…']) {
                assert!(root.join(path).exists(), "{document} names {span}, which does not exist");
            }
        }
        let file = root.join(&document);
        let text = std::fs::read_to_string(&file).expect(&document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if !link.is_empty() && !link.contains("://") {
                assert!(file.with_file_name(link).exists(), "{document} links to {link}, which does not exist");
            }
        }
    }
}

/// Returns the text of a file, or of all files below a folder.
fn text_below(path: &Path) -> String {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        return entries.map(|path| text_below(&path)).collect();
    }
    String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned()
}

/// Each likely change names files, which exist, and what is to be found there.
#[test]
fn the_files_of_likely_changes_have_what_they_are_named_for() {
    let root = component::workspace();
    let text = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let (_, rest) = text.split_once("## Where to change what\n").expect("the section");
    let (section, _) = rest.split_once("\n## ").expect("the next section");
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() >= 10, "{section}");
    for row in rows {
        let spans: Vec<&str> = row.split('`').skip(1).step_by(2).filter(|span| !span.contains(' ')).collect();
        let (paths, names): (Vec<&str>, Vec<&str>) =
            spans.into_iter().partition(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)));
        let files: Vec<_> = paths.iter().map(|path| root.join(path)).collect();
        assert!(files.iter().any(|file| file.is_file()), "no file is named in: {row}");
        let texts: String = files.iter().map(|file| text_below(file)).collect();
        for name in names {
            let is_there = if Path::new(name).extension().is_some_and(|extension| extension == "rs") {
                let beside = |file: &std::path::PathBuf| file.join(name).exists() || file.with_file_name(name).exists();
                files.iter().any(beside)
            } else {
                texts.contains(name.rsplit("::").next().unwrap_or(name))
            };
            assert!(is_there, "{name} is not in the files of: {row}");
        }
    }
}

#[test]
fn the_index_lists_every_page() {
    let index = std::fs::read_to_string(component::workspace().join("docs/README.md")).expect("docs/README.md");
    for page in pages().iter().filter(|page| *page != "README.md") {
        assert!(index.contains(&format!("| [{page}]({page}) |")), "docs/README.md does not list {page}");
    }
}

/// A newcomer reads the README in a minute and the map of the code in ten; everything else has a page in docs/ or is at the top of a
/// crate.
#[test]
fn the_readme_and_the_architecture_stay_short() {
    for (name, most) in [("README.md", 150), ("ARCHITECTURE.md", 270)] {
        let text = std::fs::read_to_string(component::workspace().join(name)).expect(name);
        assert!(
            text.lines().count() <= most,
            "{name} has more than {most} lines; move something to docs/ or to a crate's own top"
        );
    }
}

/// A crate below host/: its folder, and the names of our crates that it depends on, without the prefix `throughline-`.
type Crates = BTreeMap<String, (String, BTreeSet<String>)>;

/// The prefix of the names of our library crates.
const PREFIX: &str = "throughline-";

/// Parses the `Cargo.toml` in a folder of the workspace.
fn manifest(folder: &str) -> toml::Table {
    let file = component::workspace().join(folder).join("Cargo.toml");
    std::fs::read_to_string(&file).expect(folder).parse().expect(folder)
}

/// Returns the crates below host/ as the manifests describe them.
fn crates_of_manifests() -> Crates {
    let workspace = manifest("");
    let members = workspace["workspace"]["members"].as_array().expect("members");
    let folders = members.iter().filter_map(|member| member.as_str()).filter(|folder| folder.starts_with("host/"));
    folders
        .map(|folder| {
            let manifest = manifest(folder);
            let dependencies = manifest["dependencies"].as_table().expect("dependencies").keys();
            let ours = dependencies.filter_map(|name| name.strip_prefix(PREFIX)).map(str::to_owned).collect();
            let name = manifest["package"]["name"].as_str().expect("a name");
            (name.to_owned(), (folder.to_owned(), ours))
        })
        .collect()
}

/// Returns the crates in the table of ARCHITECTURE.md.
fn crates_of_the_architecture() -> Crates {
    let text = std::fs::read_to_string(component::workspace().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (_, rest) = text.split_once("<!-- crates: checked by a test -->").expect("the beginning of the table");
    let (table, _) = rest.split_once("<!-- /crates -->").expect("the end of the table");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [name, folder, dependencies, purpose] = cells[..] else { panic!("{row} does not have four cells") };
        assert!(!purpose.is_empty(), "{name} has no purpose");
        let ours = dependencies.split(", ").filter(|name| *name != "none").map(str::to_owned).collect();
        (name.to_owned(), (folder.to_owned(), ours))
    })
    .collect()
}

#[test]
fn the_table_of_crates_is_what_the_manifests_say() {
    let (table, manifests) = (crates_of_the_architecture(), crates_of_manifests());
    assert!(manifests.len() > 10, "only {} crates were found", manifests.len());
    for (name, wanted) in &manifests {
        assert_eq!(
            table.get(name),
            Some(wanted),
            "the row of {name} in ARCHITECTURE.md (left) is not what its manifest says"
        );
    }
    for name in table.keys() {
        assert!(manifests.contains_key(name), "ARCHITECTURE.md names the crate {name}, which does not exist");
    }
}

#[test]
fn only_the_platform_crate_is_specific_to_a_system() {
    let host = component::workspace().join("host");
    for (path, text) in sources() {
        let Ok(inside) = path.strip_prefix(&host) else { continue };
        if inside.starts_with("platform") || inside.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        // Unit tests are at the end of a file.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for specific in ["std::os::unix", "std::os::windows", "rustix::", "nix::", "libc::", "winapi_util::"] {
            assert!(!code.contains(specific), "{} uses {specific}, which belongs in host/platform", path.display());
        }
    }
}

/// A redactor that does nothing would let everything through. So only these files may have one, tests aside.
#[test]
fn only_known_files_make_redacted_values() {
    const REDACTORS: [&str; 3] =
        ["engine/src/redaction.rs", "sandbox/src/chain/redaction.rs", "throughline/src/cli/scrub.rs"];
    let host = component::workspace().join("host");
    let mut found: Vec<String> = Vec::new();
    for (path, text) in sources() {
        let Ok(inside) = path.strip_prefix(&host) else { continue };
        let is_test =
            inside.to_string_lossy().ends_with("tests.rs") || inside.components().any(|part| part.as_os_str() == "tests");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        if !is_test && code.contains("TextRedactor for") {
            found.push(inside.display().to_string());
        }
    }
    found.sort();
    assert_eq!(found, REDACTORS, "another file implements `TextRedactor`");
}

/// Cargo keeps cycles out between crates. Inside a crate, code that several files share has its own file.
#[test]
fn no_crate_has_a_cycle_of_more_than_three_files() {
    const MAX_FILES: usize = 3;
    let root = component::workspace();
    let folders = crates_of_manifests().into_values().map(|(folder, _)| folder).chain(["core-wasm".to_owned()]);
    let mut files = 0;
    for folder in folders {
        let modules = Modules::read(&root.join(&folder).join("src"));
        files += modules.files();
        for cycle in modules.cycles() {
            assert!(cycle.len() <= MAX_FILES, "these files of {folder} import each other in a circle: {cycle:#?}");
        }
    }
    assert!(files > 300, "only {files} files were found");
}

/// Each promise of docs/security.md names the tests that show it.
#[test]
fn tests_named_in_the_threat_model_exist() {
    let sources = sources();
    let spans = code_spans("docs/security.md");
    let is_test = |name: &&str| {
        name.matches('_').count() > 1 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
    };
    let names: Vec<&str> = spans.iter().filter_map(|span| span.rsplit("::").next()).filter(is_test).collect();
    assert!(names.len() > 15, "only {} tests were recognized", names.len());
    for name in names {
        let is_there = sources.iter().any(|(_, text)| text.contains(&format!("fn {name}(")));
        assert!(is_there, "docs/security.md names the test {name}, which does not exist");
    }
}

#[test]
fn tests_named_in_the_architecture_exist() {
    let sources = sources();
    let mut named = 0;
    for span in code_spans("ARCHITECTURE.md") {
        let Some((file, test)) = span.split_once("::").filter(|(file, test)| {
            let is_name = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            is_name(file) && is_name(test)
        }) else {
            continue;
        };
        named += 1;
        let is_there = sources.iter().any(|(path, text)| {
            (path.file_stem().is_some_and(|stem| stem == file) || path.parent().is_some_and(|folder| folder.ends_with(file)))
                && text.contains(&format!("fn {test}("))
        });
        assert!(is_there, "ARCHITECTURE.md names {span}, which does not exist");
    }
    assert!(named > 20, "only {named} tests and functions were recognized");
}

/// Every Rust file of the workspace's crates.
fn sources() -> Vec<(std::path::PathBuf, String)> {
    let mut folders = ["core-wasm", "host", "tests"].map(|name| component::workspace().join(name)).to_vec();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                sources.push((path, text));
            }
        }
    }
    sources
}
