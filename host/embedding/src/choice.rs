//! Chooses the embedding providers to try, from the configuration and the environment alone, without contacting any.

use super::settings::{Provider, ProviderSetting, Settings};

/// Which providers to try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderChoice {
    /// The providers to try in order, until one answers. If the user named a provider, this is that provider alone, so
    /// that no text goes to another service and no other model's vectors take its place. Empty means word search only.
    pub order: Vec<Provider>,
    /// Providers that were skipped, each with the reason.
    pub skipped: Vec<(Provider, String)>,
}

impl Provider {
    /// Chooses the providers for these settings. `is_set` says whether an environment variable is set and not empty.
    pub fn choose(settings: &Settings, is_set: impl Fn(&str) -> bool) -> ProviderChoice {
        let only = |provider| ProviderChoice { order: vec![provider], skipped: Vec::new() };
        match settings.provider {
            ProviderSetting::None => ProviderChoice::default(),
            ProviderSetting::Local => only(Self::Local),
            ProviderSetting::Openai => only(Self::Openai),
            ProviderSetting::Gemini => only(Self::Gemini),
            ProviderSetting::Folder => only(Self::Folder),
            ProviderSetting::Auto => {
                let mut choice = ProviderChoice::default();
                for provider in &settings.order {
                    match provider.missing_setting(settings, &is_set) {
                        None => choice.order.push(*provider),
                        Some(what) => choice.skipped.push((*provider, what)),
                    }
                }
                choice
            }
        }
    }

    /// Returns what this provider is missing, or `None` if it can be used.
    pub fn missing_setting(self, settings: &Settings, is_set: impl Fn(&str) -> bool) -> Option<String> {
        match self {
            Self::Local => None,
            Self::Folder => settings.folder.path.is_none().then(|| "embedding.folder.path is not set".into()),
            Self::Openai | Self::Gemini => {
                let names = self.key_env(settings);
                let is_missing = !names.is_empty() && !names.iter().any(|name| is_set(name));
                is_missing.then(|| format!("{} is not set", names.join(" or ")))
            }
        }
    }

    /// Returns the environment variables that may hold this provider's key; the first one that is set is used.
    pub fn key_env(self, settings: &Settings) -> &[String] {
        match self {
            Self::Openai => &settings.openai.key_env,
            Self::Gemini => &settings.gemini.key_env,
            Self::Local | Self::Folder => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Provider::{Folder, Gemini, Local, Openai};
    use super::*;

    fn order(text: &str, set: &[&str]) -> Vec<Provider> {
        Provider::choose(&toml::from_str(text).unwrap(), |name| set.contains(&name)).order
    }

    #[test]
    fn without_configuration_nothing_leaves_the_machine() {
        assert_eq!(order("", &["OPENAI_API_KEY", "GEMINI_API_KEY"]), [Local]);
    }

    #[test]
    fn a_named_one_is_the_only_one() {
        for set in [&["OPENAI_API_KEY"][..], &[]] {
            assert_eq!(order("provider = \"openai\"", set), [Openai]);
            assert_eq!(order("provider = \"gemini\"", set), [Gemini]);
        }
        assert_eq!(order("provider = \"folder\"\nfolder.path = \"/m\"", &[]), [Folder]);
        assert_eq!(order("provider = \"none\"", &["OPENAI_API_KEY"]), []);
    }

    #[test]
    fn auto_takes_who_can_be_asked_in_the_order_of_the_user() {
        let auto = "provider = \"auto\"";
        assert_eq!(order(auto, &["OPENAI_API_KEY", "GOOGLE_API_KEY"]), [Openai, Gemini, Local]);
        assert_eq!(order(auto, &["GEMINI_API_KEY"]), [Gemini, Local]);
        assert_eq!(order(auto, &[]), [Local]);
        let own = "provider = \"auto\"\norder = [\"folder\", \"gemini\", \"openai\"]\nopenai.key_env = [\"MINE\"]";
        assert_eq!(order(own, &["MINE", "OPENAI_API_KEY"]), [Openai]);
        // A local server that needs no key.
        assert_eq!(order("provider = \"auto\"\nopenai.key_env = []", &[]), [Openai, Local]);
        assert_eq!(order("provider = \"auto\"\norder = [\"folder\"]\nfolder.path = \"/m\"", &[]), [Folder]);
    }

    #[test]
    fn who_is_passed_over_is_named_with_the_reason() {
        let settings: Settings = toml::from_str("provider = \"auto\"").unwrap();
        let skipped = Provider::choose(&settings, |_| false).skipped;
        assert_eq!(
            skipped,
            [(Openai, "OPENAI_API_KEY is not set".into()), (Gemini, "GEMINI_API_KEY or GOOGLE_API_KEY is not set".into())]
        );
    }
}
