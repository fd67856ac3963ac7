//! Which model's vectors the configuration wants in the database: known at once, or only from an answer of whom it names.

use sha2::{Digest as _, Sha256};

use super::settings::{Provider, Settings};
use super::{Choice, local};

/// The vectors of no model, as the database names them.
pub const NOBODY: &str = "none";

/// Which model is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// This one, as [`super::Model`] is written, or [`NOBODY`].
    Model(String),
    /// Whichever answers. The text stands for whom is asked, with all that can change the answer and without any key: while
    /// it is the same, nobody need be asked again.
    Ask(String),
}

impl Wish {
    /// What these settings want, where the environment has the variables for which `is_set` says yes. Nobody is asked.
    pub fn of(settings: &Settings, is_set: impl Fn(&str) -> bool) -> Self {
        let Choice { order, passed_over } = Provider::choose(settings, is_set);
        match order.first() {
            Some(Provider::Local) => Self::Model(local::model().to_string()),
            None if passed_over.is_empty() => Self::Model(NOBODY.into()),
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
                Self::Ask(throughline_model::digest::hex(&sha.finalize()[..8]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(text: &str, set: &[&str]) -> Wish {
        Wish::of(&toml::from_str(text).unwrap(), |name| set.contains(&name))
    }

    #[test]
    fn what_is_built_in_need_not_be_asked() {
        let built_in = Wish::Model("local/minilm-256-2:256".into());
        assert_eq!(wish("", &["OPENAI_API_KEY"]), built_in);
        assert_eq!(wish("provider = \"auto\"", &[]), built_in);
        assert_eq!(wish("provider = \"none\"", &[]), Wish::Model("none".into()));
    }

    #[test]
    fn whatever_changes_the_answer_changes_whom_is_asked() {
        let of = |text: &str| wish(text, &["OPENAI_API_KEY"]);
        let openai = of("provider = \"openai\"");
        assert!(matches!(openai, Wish::Ask(_)));
        assert_eq!(openai, of("provider = \"openai\"\ntimeout_ms = 500"));
        for other in ["openai.model = \"x\"", "openai.dimensions = 5", "openai.base_url = \"https://example.org/v1\""] {
            assert_ne!(openai, of(&format!("provider = \"openai\"\n{other}")), "{other}");
        }
        assert_ne!(openai, of("provider = \"auto\""));
        // Nobody can be asked: that is not the wish to have no vectors.
        assert!(matches!(wish("provider = \"auto\"\norder = [\"openai\"]", &[]), Wish::Ask(_)));
    }
}
