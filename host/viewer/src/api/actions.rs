//! What may be changed with `--write`. Each action is a command of `throughline`, and nothing else.

use serde::Deserialize;
use serde_json::Value;

use crate::app::App;
use crate::error::ApiError;

/// An action. With `preview`, the command runs with `--dry-run` and changes nothing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Action {
    /// `throughline memory delete`, for good at once if `now`.
    Forget {
        id: String,
        #[serde(default)]
        now: bool,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline memory unforget`.
    Undo { id: String },
    /// `throughline memory save --supersedes`: another text takes the memory's place.
    Correct { id: String, text: String, kind: String, project: String },
    /// `throughline memory unlink`: undoes the memory's links to earlier and later ones.
    Unlink { id: String },
    /// `throughline memory share`.
    Share { id: String },
    /// `throughline memory unshare`.
    Unshare { id: String },
    /// `throughline memory pin`.
    Pin {
        id: String,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline memory unpin`.
    Unpin {
        id: String,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline memory wrong`, with the reason if there is one.
    Wrong {
        id: String,
        #[serde(default)]
        because: String,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline memory right`.
    Right {
        id: String,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline memory supersede`: the memory `by` holds instead.
    Supersede {
        id: String,
        by: String,
        relation: String,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline memory merge`; without a text of its own the new memory has the texts of all.
    Merge {
        ids: Vec<String>,
        #[serde(default)]
        text: String,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline team mute --person`.
    Mute {
        person: String,
        #[serde(default)]
        preview: bool,
    },
    /// `throughline team unmute --person`.
    Unmute { person: String },
}

impl Action {
    /// Returns the words of the command and its input.
    fn command(&self) -> (Vec<String>, &str) {
        // A value is never an option of its own: it is behind `=` or behind `--`.
        let given = |name: &str, value: &str| (!value.trim().is_empty()).then(|| format!("--{name}={value}"));
        let dry = |preview: bool| preview.then(|| "--dry-run".to_owned());
        let one = std::slice::from_ref;
        let (command, options, ids): (&str, Vec<Option<String>>, &[String]) = match self {
            Self::Forget { id, now, preview } => {
                ("memory delete", vec![dry(*preview), now.then(|| "--now".to_owned())], one(id))
            }
            Self::Undo { id } => ("memory unforget", vec![], one(id)),
            Self::Unlink { id } => ("memory unlink", vec![], one(id)),
            Self::Share { id } => ("memory share", vec![], one(id)),
            Self::Unshare { id } => ("memory unshare", vec![], one(id)),
            Self::Pin { id, preview } => ("memory pin", vec![dry(*preview)], one(id)),
            Self::Unpin { id, preview } => ("memory unpin", vec![dry(*preview)], one(id)),
            Self::Wrong { id, because, preview } => {
                ("memory wrong", vec![dry(*preview), given("because", because)], one(id))
            }
            Self::Right { id, preview } => ("memory right", vec![dry(*preview)], one(id)),
            Self::Supersede { id, by, relation, preview } => {
                let options = vec![Some(format!("--relation={relation}")), dry(*preview)];
                return (words("memory supersede", options, &[id.clone(), by.clone()]), "");
            }
            Self::Merge { ids, text, preview } => ("memory merge", vec![dry(*preview), given("into", text)], ids),
            Self::Mute { person, preview } => ("team mute", vec![dry(*preview), Some(format!("--person={person}"))], &[]),
            Self::Unmute { person } => ("team unmute", vec![Some(format!("--person={person}"))], &[]),
            Self::Correct { id, text, kind, project } => {
                let options = [("supersedes", id), ("type", kind), ("project", project)];
                let options = options.map(|(name, value)| Some(format!("--{name}={value}")));
                return (words("memory save", options.into(), &[]), text);
            }
        };
        (words(command, options, ids), "")
    }

    fn is_preview(&self) -> bool {
        self.command().0.iter().any(|word| word == "--dry-run")
    }
}

/// Puts a command together: its name, its options, `--json`, and behind `--` the identifiers.
fn words(command: &str, options: Vec<Option<String>>, ids: &[String]) -> Vec<String> {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    words.extend(options.into_iter().flatten());
    words.push("--json".into());
    if !ids.is_empty() {
        words.push("--".into());
        words.extend(ids.iter().cloned());
    }
    words
}

/// Carries out an action.
pub(super) fn run(app: &App, action: &Action) -> Result<Value, ApiError> {
    if matches!(action, Action::Correct { text, .. } if text.trim().is_empty()) {
        return Err(ApiError::refused("the text is empty").hint("forget the memory instead"));
    }
    let (words, input) = action.command();
    let mut done = app.program.json(&words, input, None)?;
    if let (Action::Forget { id, .. }, false, Some(store)) = (action, action.is_preview(), app.store()?) {
        // The proof: the store is asked again.
        done["gone"] = store.memory(id, None)?.is_empty().into();
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_an_option() {
        let words = |action: Action| action.command().0;
        let evil = || "--now".to_owned();
        assert_eq!(
            words(Action::Forget { id: evil(), now: false, preview: false }),
            ["memory", "delete", "--json", "--", "--now"]
        );
        assert_eq!(
            words(Action::Wrong { id: evil(), because: evil(), preview: true }),
            ["memory", "wrong", "--dry-run", "--because=--now", "--json", "--", "--now"]
        );
        assert_eq!(
            words(Action::Supersede { id: evil(), by: "--x".into(), relation: evil(), preview: false }),
            ["memory", "supersede", "--relation=--now", "--json", "--", "--now", "--x"]
        );
        assert_eq!(
            words(Action::Merge { ids: vec![evil(), "b".into()], text: evil(), preview: false }),
            ["memory", "merge", "--into=--now", "--json", "--", "--now", "b"]
        );
        assert_eq!(words(Action::Mute { person: evil(), preview: false }), ["team", "mute", "--person=--now", "--json"]);
        let correct =
            Action::Correct { id: "a".into(), text: "--project=/".into(), kind: "--x".into(), project: "-y".into() };
        let (words, input) = correct.command();
        assert_eq!(words, ["memory", "save", "--supersedes=a", "--type=--x", "--project=-y", "--json"]);
        assert_eq!(input, "--project=/");
    }

    #[test]
    fn a_preview_is_a_dry_run() {
        let parse = |text: &str| serde_json::from_str::<Action>(text).unwrap();
        assert!(parse(r#"{"action": "pin", "id": "a", "preview": true}"#).is_preview());
        assert!(!parse(r#"{"action": "pin", "id": "a"}"#).is_preview());
        let because = r#"{"action": "wrong", "id": "a", "because": "--dry-run"}"#;
        assert!(!parse(because).is_preview());
        assert!(serde_json::from_str::<Action>(r#"{"action": "unlink", "id": "a", "preview": true}"#).is_err());
    }
}
