//! Where the rules of the default's redactor come from, and in which order they apply. Policies cannot open files, so the
//! user's files of rules, and the files that these extend, are read here.
//!
//! The administrator's rules come last, and of several rules with the same name the last one counts. Under forced
//! redaction the user's rules go into a separate setting and can only add: no user file can allow, disable or redefine
//! what another rule finds.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Map, Value as Json};
use throughline_model::invalid::Invalid;
use toml::Value;

/// The largest file that is read, in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// How many files may be in a chain of extensions.
const DEEPEST: usize = 4;

/// The default's setting that holds rules: the texts of files in gitleaks' format.
pub const RULES_KEY: &str = "redaction-rules";

/// The default's setting that holds rules that can only add to the others.
const ADDED_RULES_KEY: &str = "redaction-added-rules";

/// The user's files of rules. They are read once, when somebody first asks for the texts or the faults.
#[derive(Debug, Default)]
pub struct UserRules {
    files: Vec<PathBuf>,
    loaded: OnceCell<LoadedRules>,
}

#[derive(Debug, Default)]
struct LoadedRules {
    texts: Vec<String>,
    faults: Vec<Invalid>,
}

impl UserRules {
    /// Takes the files, which must be absolute.
    pub fn new(files: Vec<PathBuf>) -> Self {
        Self { files, loaded: OnceCell::new() }
    }

    /// Returns what is wrong with the files that cannot be used, each named by its path. What is wrong with a single rule is
    /// reported by the redactor, which goes on with the others.
    pub fn faults(&self) -> &[Invalid] {
        &self.loaded().faults
    }

    fn loaded(&self) -> &LoadedRules {
        self.loaded.get_or_init(|| {
            let mut loaded = LoadedRules::default();
            for file in &self.files {
                match read(file) {
                    Ok(texts) => loaded.texts.extend(texts),
                    Err(fault) => loaded.faults.push(fault),
                }
            }
            loaded
        })
    }
}

/// The sources of rules for the default's redactor, besides the default's settings.
#[derive(Debug, Clone, Default)]
pub struct RuleSources {
    /// The user's files.
    pub users: Rc<UserRules>,
    /// The setting [`RULES_KEY`] of the administrator, which the default's settings contain too.
    pub managed: Option<Json>,
    /// Whether the user's rules may only add to the others.
    pub forced: bool,
}

impl RuleSources {
    /// Whether the default's settings can be used as they are.
    pub fn is_empty(&self) -> bool {
        self.users.files.is_empty() && !self.forced
    }

    /// Puts the rules into the default's settings, in which the administrator's settings already override the user's. A
    /// file with a fault is left out.
    pub fn complete(&self, settings: &mut Map<String, Json>) {
        let mut users: Vec<Json> = self.users.loaded().texts.iter().cloned().map(Json::String).collect();
        let set = settings.remove(RULES_KEY);
        if self.users.files.is_empty() && self.managed.is_none() {
            users.extend(set.into_iter().flat_map(elements));
        }
        if self.forced {
            settings.extend(self.managed.clone().map(|rules| (RULES_KEY.to_owned(), rules)));
            settings.insert(ADDED_RULES_KEY.into(), users.into());
        } else {
            users.extend(self.managed.clone().into_iter().flat_map(elements));
            settings.insert(RULES_KEY.into(), users.into());
        }
    }
}

/// Returns the elements of an array. Another value stays as it is, and the redactor reports it.
fn elements(value: Json) -> Vec<Json> {
    match value {
        Json::Array(texts) => texts,
        other => vec![other],
    }
}

/// Returns the texts of a file in gitleaks' format and of the files that it extends. Extended files come first, because
/// later rules win. The error names the file that cannot be read or is not TOML.
fn read(file: &Path) -> Result<Vec<String>, Invalid> {
    let mut texts = Vec::new();
    let mut next = Some(file.to_owned());
    while let Some(file) = next {
        let at = |what: Invalid| what.at(file.display());
        if texts.len() == DEEPEST {
            return Err(at(format!("more than {DEEPEST} files extend one another").into()));
        }
        let meta = fs::metadata(&file).map_err(|error| at(Invalid::because(error)))?;
        if !meta.is_file() || meta.len() > MAX_BYTES {
            return Err(at(format!("it is not a regular file of at most {MAX_BYTES} bytes").into()));
        }
        let text = fs::read_to_string(&file).map_err(|error| at(Invalid::because(error)))?;
        let table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
            at(format!("line {line} is not valid TOML: {}", error.message()).into())
        })?;
        // The path is relative to the file that contains it, so that a team can move its files together.
        next = extended(&table).map(|path| file.parent().unwrap_or(Path::new("/")).join(path));
        texts.push(text);
    }
    texts.reverse();
    Ok(texts)
}

/// Returns `extend.path`. Keys are not case-sensitive, as in gitleaks.
fn extended(file: &toml::Table) -> Option<String> {
    let get = |table: &toml::Table, wanted: &str| {
        table.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.clone())
    };
    let Some(Value::Table(extend)) = get(file, "extend") else { return None };
    match get(&extend, "path") {
        Some(Value::String(path)) if !path.is_empty() => Some(path),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(file: PathBuf) -> Rc<UserRules> {
        Rc::new(UserRules::new(vec![file]))
    }

    fn completed(settings: Json, sources: &RuleSources) -> Json {
        let Json::Object(mut settings) = settings else { unreachable!("it is a table") };
        sources.complete(&mut settings);
        assert_eq!(sources.users.faults(), []);
        Json::Object(settings)
    }

    #[test]
    fn attack_an_empty_user_file_in_the_place_of_the_administrators_rules() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("empty.toml");
        fs::write(&file, "").unwrap();
        let managed = json!(["managed"]);
        // The administrator's settings are already merged into those of the default.
        let settings = json!({RULES_KEY: ["managed"], "redaction-optional-rules": ["email-address"]});
        let mut sources = RuleSources { users: of(file), managed: Some(managed), forced: false };
        assert_eq!(completed(settings.clone(), &sources)[RULES_KEY], json!(["", "managed"]), "theirs come last");
        sources.forced = true;
        let forced = completed(settings, &sources);
        assert_eq!((&forced[RULES_KEY], &forced[ADDED_RULES_KEY]), (&json!(["managed"]), &json!([""])));
        assert_eq!(forced["redaction-optional-rules"], json!(["email-address"]));
    }

    #[test]
    fn files_that_no_redactor_could_use_are_reported_and_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let (file, other) = (dir.path().join("rules.toml"), dir.path().join("other.toml"));
        fs::write(&other, "title = 'other'\n").unwrap();
        let fault = || {
            let rules = UserRules::new(vec![file.clone(), other.clone()]);
            assert!(rules.loaded().texts.iter().any(|text| text.contains("other")), "one bad file leaves the others");
            rules.faults().first().map(ToString::to_string)
        };
        assert!(fault().unwrap().contains("rules.toml"), "it is missing");
        fs::write(&file, "title = 'x'\n[[rules]\n").unwrap();
        let error = fault().unwrap();
        assert!(error.contains("rules.toml: line 2 is not valid TOML: ") && !error.contains('\n'), "{error}");
        fs::write(&file, "[[rules]]\nid = 'one'\nregex = '(broken'\n").unwrap();
        assert_eq!(fault(), None, "one bad rule leaves the others");
        fs::write(&file, "[extend]\npath = 'gone.toml'\n").unwrap();
        assert!(fault().unwrap().contains("gone.toml"));
    }

    #[test]
    fn forced_redaction_lets_a_users_setting_only_add() {
        let users = json!({RULES_KEY: ["[extend]\ndisabledRules = ['generic-password']"]});
        let mut sources = RuleSources { forced: true, ..RuleSources::default() };
        let forced = completed(users.clone(), &sources);
        assert_eq!((forced.get(RULES_KEY), &forced[ADDED_RULES_KEY]), (None, &users[RULES_KEY]));
        sources.forced = false;
        assert!(sources.is_empty());
        assert_eq!(completed(users.clone(), &sources), users);
    }

    #[test]
    fn what_a_file_extends_comes_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("base")).unwrap();
        fs::write(path("base/own.toml"), "title = 'base'\n").unwrap();
        fs::write(path("base/team.toml"), "[EXTEND]\nPath = 'own.toml'\n").unwrap();
        fs::write(path("mine.toml"), "[extend]\nuseDefault = true\npath = 'base/team.toml'\n").unwrap();
        let texts = read(&path("mine.toml")).unwrap();
        assert!(texts.len() == 3 && texts[0].contains("base'") && texts[2].contains("useDefault"), "{texts:?}");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("round.toml"), "[extend]\npath = 'round.toml'\n").unwrap();
        fs::write(path("gone.toml"), "[extend]\npath = 'nowhere.toml'\n").unwrap();
        fs::write(path("damaged.toml"), "[extend").unwrap();
        assert!(read(&path("round.toml")).unwrap_err().to_string().contains("extend one another"));
        assert!(read(&path("gone.toml")).unwrap_err().to_string().contains("nowhere.toml"));
        assert!(read(dir.path()).unwrap_err().to_string().contains("not a regular file"));
        assert!(read(&path("damaged.toml")).unwrap_err().to_string().contains("line 1 is not valid TOML"));
    }
}
