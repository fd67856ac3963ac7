//! Determines which model's vectors the database should contain. The configuration alone may decide that, or the
//! provider's answer.

use sha2::{Digest as _, Sha256};

use super::settings::{Provider, Settings};
use super::{ProviderChoice, local};

/// The database's name for having no vectors.
pub const NO_MODEL: &str = "none";

/// Which model is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetModel {
    /// This model, as [`super::Model`] is formatted, or [`NO_MODEL`].
    Model(String),
    /// The model of whichever provider answers. The text is a fingerprint of every setting that can change the answer,
    /// without any key: while it is the same, no provider needs to be asked again.
    FromProvider(String),
}

impl TargetModel {
    /// Returns what these settings want, without contacting a provider. `is_set` says whether an environment variable
    /// is set and not empty.
    pub fn from_settings(settings: &Settings, is_set: impl Fn(&str) -> bool) -> Self {
        let ProviderChoice { order, skipped } = Provider::choose(settings, is_set);
        match order.first() {
            Some(Provider::Local) => Self::Model(local::model().to_string()),
            None if skipped.is_empty() => Self::Model(NO_MODEL.into()),
            _ => {
                let mut sha = Sha256::new();
                for provider in order {
                    sha.update(provider.name());
                    sha.update(match provider {
                        Provider::Local => String::new(),
                        Provider::Openai => {
                            let of = &settings.openai;
                            format!("{:?} {:?} {:?}", of.base_url, of.model, of.dimensions)
                        }
                        Provider::Gemini => {
                            let of = &settings.gemini;
                            format!("{:?} {:?} {:?}", of.base_url, of.model, of.dimensions)
                        }
                        Provider::Folder => format!("{:?}", settings.folder.path),
                    });
                }
                Self::FromProvider(throughline_model::digest::hex(&sha.finalize()[..8]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target_model(text: &str, set: &[&str]) -> TargetModel {
        TargetModel::from_settings(&toml::from_str(text).unwrap(), |name| set.contains(&name))
    }

    #[test]
    fn what_is_built_in_need_not_be_asked() {
        let built_in = TargetModel::Model("local/minilm-256-2:256".into());
        assert_eq!(target_model("", &["OPENAI_API_KEY"]), built_in);
        assert_eq!(target_model("provider = \"auto\"", &[]), built_in);
        assert_eq!(target_model("provider = \"none\"", &[]), TargetModel::Model("none".into()));
    }

    #[test]
    fn whatever_changes_the_answer_changes_whom_is_asked() {
        let of = |text: &str| target_model(text, &["OPENAI_API_KEY"]);
        let openai = of("provider = \"openai\"");
        assert!(matches!(openai, TargetModel::FromProvider(_)));
        assert_eq!(openai, of("provider = \"openai\"\ntimeout_ms = 500"));
        for other in ["openai.model = \"x\"", "openai.dimensions = 5", "openai.base_url = \"https://example.org/v1\""] {
            assert_ne!(openai, of(&format!("provider = \"openai\"\n{other}")), "{other}");
        }
        assert_ne!(openai, of("provider = \"auto\""));
        // No provider is available, which differs from wanting no vectors.
        assert!(matches!(target_model("provider = \"auto\"\norder = [\"openai\"]", &[]), TargetModel::FromProvider(_)));
    }
}
