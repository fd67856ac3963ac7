//! What may be changed with `--write`. Each action is a command of `throughline`, and nothing else.

use serde::Deserialize;
use serde_json::Value;

use crate::app::App;
use crate::error::ApiError;

/// An action.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Action {
    /// `throughline memory delete --dry-run`: what forgetting would delete.
    PreviewForget { id: String },
    /// `throughline memory delete`, for good at once if `now`.
    Forget {
        id: String,
        #[serde(default)]
        now: bool,
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
}

impl Action {
    /// Returns the words of the command and its input.
    fn command(&self) -> (Vec<String>, &str) {
        let of = |words: &[&str], id: &str| {
            let words = [words, &["--json", "--", id]].concat();
            (words.into_iter().map(str::to_owned).collect::<Vec<String>>(), "")
        };
        match self {
            Self::PreviewForget { id } => of(&["memory", "delete", "--dry-run"], id),
            Self::Forget { id, now: false } => of(&["memory", "delete"], id),
            Self::Forget { id, now: true } => of(&["memory", "delete", "--now"], id),
            Self::Undo { id } => of(&["memory", "unforget"], id),
            Self::Unlink { id } => of(&["memory", "unlink"], id),
            Self::Share { id } => of(&["memory", "share"], id),
            Self::Unshare { id } => of(&["memory", "unshare"], id),
            Self::Correct { id, text, kind, project } => {
                let options = [
                    format!("--supersedes={id}"),
                    format!("--type={kind}"),
                    format!("--project={project}"),
                    "--json".into(),
                ];
                (["memory".into(), "save".into()].into_iter().chain(options).collect(), text)
            }
        }
    }
}

/// Carries out an action.
pub(super) fn run(app: &App, action: &Action) -> Result<Value, ApiError> {
    if matches!(action, Action::Correct { text, .. } if text.trim().is_empty()) {
        return Err(ApiError::refused("the text is empty").hint("forget the memory instead"));
    }
    let (words, input) = action.command();
    let mut done = app.program.json(&words, input, None)?;
    if let (Action::Forget { id, .. }, Some(store)) = (action, app.store()?) {
        // The proof: the store is asked again.
        done["gone"] = store.memory(id, None)?.is_empty().into();
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_never_an_option() {
        let (words, _) = Action::Forget { id: "--now".into(), now: false }.command();
        assert_eq!(words, ["memory", "delete", "--json", "--", "--now"]);
        let correct =
            Action::Correct { id: "a".into(), text: "--project=/".into(), kind: "--x".into(), project: "-y".into() };
        let (words, input) = correct.command();
        assert_eq!(words, ["memory", "save", "--supersedes=a", "--type=--x", "--project=-y", "--json"]);
        assert_eq!(input, "--project=/");
    }
}
