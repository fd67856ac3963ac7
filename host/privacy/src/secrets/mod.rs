//! Masks the values that are secret on this machine, whatever they look like: those of variables with secret-like names
//! in the environment and in `.env` files. The values are only kept in memory and are not given to any policy.

mod dotenv;
mod forms;
mod names;
mod tag;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use forms::SecretMatcher;
pub use tag::{SETTING as TAG_SETTING, TagKey};

/// The rule's name in placeholders and reports.
pub const RULE: &str = "environment";

/// How many values are searched for at once, and how many bytes in all. This is far beyond any environment; it limits
/// an `ingest` over many projects. Values of the environment come first.
const MAX_VALUES: usize = 4_000;
const MAX_TOTAL_BYTES: usize = 1 << 20;

/// How much of `.env` files is read at once, in bytes, and how many values of them are used. A repository can contain any
/// number of them, and a hook has two seconds.
const MAX_FILES_BYTES: u64 = 1 << 20;
const MAX_FILES_VALUES: usize = 1_000;

/// How many folders above the agent's working folder are searched for the repository's root.
const MAX_ANCESTORS: usize = 16;

/// The secret values that one process knows. They are collected when the first text is masked.
#[derive(Default)]
pub struct Secrets {
    environment: Cell<bool>,
    /// Folders whose `.env` files have not been read yet.
    unread: RefCell<Vec<PathBuf>>,
    folders: RefCell<BTreeSet<PathBuf>>,
    values: RefCell<BTreeSet<String>>,
    masks: RefCell<Option<Rc<SecretMatcher>>>,
    tag_file: Option<PathBuf>,
    tag_key: Cell<Option<TagKey>>,
}

impl Secrets {
    /// Creates a set with the values of this process's environment.
    pub fn from_environment() -> Self {
        let it = Self::default();
        it.environment.set(true);
        it
    }

    /// Creates a set with only the values of these variables.
    pub fn from_variables<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let it = Self::default();
        it.add(variables);
        it
    }

    /// Uses the key in this file for the tags in placeholders.
    #[must_use]
    pub fn with_tag_key_file(mut self, file: PathBuf) -> Self {
        self.tag_file = Some(file);
        self
    }

    /// Returns the key for the tags in placeholders, or `None` if its file does not exist (yet).
    pub fn tag_key(&self) -> Option<TagKey> {
        if self.tag_key.get().is_none() {
            self.tag_key.set(self.tag_file.as_deref().and_then(TagKey::load));
        }
        self.tag_key.get()
    }

    /// Adds the `.env` files of a session: those in its project's root, and those from its working folder up to the
    /// repository's root.
    pub fn add_env_files(&self, root: &Path, cwd: &Path) {
        self.add_env_folder(root);
        if !cwd.is_absolute() {
            return;
        }
        let repository = cwd.ancestors().take(MAX_ANCESTORS).position(|folder| folder.join(".git").exists());
        for folder in cwd.ancestors().take(repository.unwrap_or(0) + 1) {
            self.add_env_folder(folder);
        }
    }

    fn add_env_folder(&self, folder: &Path) {
        if folder.is_absolute() && self.folders.borrow_mut().insert(folder.to_owned()) {
            self.unread.borrow_mut().push(folder.to_owned());
        }
    }

    /// Masks the values in the texts. Returns how many occurrences it masked.
    pub fn mask(&self, texts: &mut [String]) -> u32 {
        if texts.iter().all(String::is_empty) {
            return 0;
        }
        let Some(masks) = self.masks() else { return 0 };
        let placeholder = |secret: &str| match self.tag_key() {
            Some(key) => format!("[redacted:{RULE}#{}]", key.tag(secret)),
            None => format!("[redacted:{RULE}]"),
        };
        let mut found = 0;
        for text in texts {
            let places = masks.find(text);
            if !places.is_empty() {
                found += u32::try_from(places.len()).unwrap_or(u32::MAX);
                *text = masks.replace(text, &places, placeholder);
            }
        }
        found
    }

    fn masks(&self) -> Option<Rc<SecretMatcher>> {
        if self.environment.take() {
            // A value that is not Unicode cannot occur in a text.
            let variables: Vec<(String, String)> = std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect();
            self.add(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        }
        let mut budget = MAX_FILES_BYTES;
        let most = self.values.borrow().len() + MAX_FILES_VALUES;
        for folder in self.unread.take() {
            for text in dotenv::files(&folder, &mut budget) {
                let variables = dotenv::parse(&text);
                // A file of a repository must not make the user's own words disappear.
                let variables = variables.iter().filter(|(_, value)| !names::is_prose(value));
                self.add_up_to(most, variables.map(|(name, value)| (name.as_str(), value.as_str())));
            }
        }
        if self.values.borrow().is_empty() {
            return None;
        }
        let mut masks = self.masks.borrow_mut();
        if masks.is_none() {
            *masks = SecretMatcher::new(self.values.borrow().iter().map(String::as_str)).map(Rc::new);
        }
        masks.clone()
    }

    fn add<'a>(&self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.add_up_to(MAX_VALUES, variables);
    }

    fn add_up_to<'a>(&self, most: usize, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let mut values = self.values.borrow_mut();
        let mut bytes: usize = values.iter().map(String::len).sum();
        for (name, value) in variables {
            for secret in names::secrets(name, value) {
                if values.len() < most.min(MAX_VALUES)
                    && bytes + secret.len() <= MAX_TOTAL_BYTES
                    && !values.contains(&secret)
                {
                    bytes += secret.len();
                    values.insert(secret);
                    self.masks.replace(None);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACEHOLDER: &str = "[redacted:environment]";

    fn masked(secrets: &Secrets, text: &str) -> String {
        let mut texts = [text.to_owned()];
        secrets.mask(&mut texts);
        let [text] = texts;
        text
    }

    #[test]
    fn the_env_files_from_the_working_folder_to_the_repository_count() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("repo/.git")).unwrap();
        std::fs::create_dir_all(root.join("repo/app/src")).unwrap();
        std::fs::write(root.join(".env"), "OUTER_TOKEN=outer-7Qm2xK9v\n").unwrap();
        std::fs::write(root.join("repo/.env.local"), "API_TOKEN='r00t-8Wn3yL0z'\n").unwrap();
        std::fs::write(root.join("repo/app/.env"), "export DB_PASSWORD=\"app-9Xp4zM1a\"\n").unwrap();
        let secrets = Secrets::default();
        secrets.add_env_files(&root.join("repo"), &root.join("repo/app/src"));
        assert_eq!(
            masked(&secrets, "outer-7Qm2xK9v r00t-8Wn3yL0z app-9Xp4zM1a"),
            format!("outer-7Qm2xK9v {PLACEHOLDER} {PLACEHOLDER}")
        );
        // Folders that are added later count from then on.
        secrets.add_env_files(&root, &root);
        assert_eq!(masked(&secrets, "outer-7Qm2xK9v"), PLACEHOLDER);
    }

    #[test]
    fn the_same_value_has_the_same_tag_in_every_form() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tag.key");
        let secrets = Secrets::from_variables([("A_TOKEN", "o/uter-7Qm2xK9v"), ("B_TOKEN", "inner-8Rn3yL0w")])
            .with_tag_key_file(file.clone());
        assert_eq!(masked(&secrets, "inner-8Rn3yL0w"), PLACEHOLDER);
        TagKey::create(&file).unwrap();
        let text = masked(&secrets, "o/uter-7Qm2xK9v inner-8Rn3yL0w o%2Futer-7Qm2xK9v");
        let tags: Vec<&str> = text.split(' ').collect();
        assert!(tags[0] == tags[2] && tags[0] != tags[1] && tags[0].starts_with("[redacted:environment#"), "{text}");
    }

    #[test]
    fn attack_a_repositorys_env_file_that_censors_the_users_rules() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let said = "Never push to main without asking. Run `make test` first; see docs/how-to-test.md and src/export.rs:12";
        std::fs::write(
            root.join(".env"),
            "A_PASSWORD='Never push to main'\nB_PASSWORD=\"push to main without asking.\"\nC_TOKEN=`make test`\n\
             D_PASSWORD=docs/how-to-test.md\nE_SECRET=src/export.rs\nF_PASSWORD=without asking\nREAL_TOKEN=zK8vQ2mX9pL4wR7t\n",
        )
        .unwrap();
        let secrets = Secrets::default();
        secrets.add_env_files(&root, &root);
        assert_eq!(masked(&secrets, said), said);
        assert_eq!(masked(&secrets, "zK8vQ2mX9pL4wR7t"), PLACEHOLDER);
    }

    #[test]
    fn attack_many_full_env_files() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let mut folder = root.clone();
        for depth in 0..8 {
            folder.push(format!("d{depth}"));
            std::fs::create_dir(&folder).unwrap();
            for number in 0..32 {
                let line = |at: usize| format!("T{at}_TOKEN=x7Kq{depth}z{number}w{at}Pm9Rt4\n");
                let text: String = (0..9_000).map(line).collect();
                std::fs::write(folder.join(format!(".env.{number}")), &text[..text.len().min(250 << 10)]).unwrap();
            }
        }
        std::fs::create_dir(root.join(".git")).unwrap();
        let secrets = Secrets::default();
        secrets.add_env_files(&root, &folder);
        masked(&secrets, "text");
        let values = secrets.values.borrow().len();
        assert!((1..=MAX_FILES_VALUES).contains(&values), "{values}");
    }

    #[test]
    fn without_values_nothing_changes() {
        assert_eq!(masked(&Secrets::default(), "postgres://u:hunter22hunter@h/db"), "postgres://u:hunter22hunter@h/db");
    }
}
