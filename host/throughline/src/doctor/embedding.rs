//! Checks which embedding provider is used, and whether its requirements are met. No provider is contacted, because
//! that would take time and might cost money.

use super::finding::Finding;
use throughline_embedding::process::PROGRAM;
use throughline_embedding::{Embedder, Provider, Settings};

/// Reports the provider and what it lacks.
pub(super) fn embedding(settings: &Settings) -> Finding {
    let embedder = Embedder::installed();
    let choice = Provider::choose(settings, |name| embedder.is_set(name));
    let names: Vec<String> = choice.order.iter().map(|provider| named(*provider, settings, &embedder)).collect();
    let skipped: Vec<&str> = choice.skipped.iter().map(|(_, what)| what.as_str()).collect();
    let Some(first) = choice.order.first() else {
        return if skipped.is_empty() {
            Finding::ok("embedding", "embedding is turned off: search uses keywords only")
        } else {
            let what =
                format!("no provider in embedding.order can be used, so search uses keywords only: {}", skipped.join("; "));
            Finding::warn("embedding", what, "set one of these, or add \"local\" to embedding.order")
        };
    };
    let mut message = names.join(", then ");
    if !skipped.is_empty() {
        message = format!("{message} ({})", skipped.join("; "));
    }
    if *first == Provider::Local {
        return Finding::ok("embedding", message);
    }
    let otherwise = if choice.order.len() > 1 { "the next one is used" } else { "search uses keywords only" };
    if let Some(what) = first.missing_setting(settings, |name| embedder.is_set(name)) {
        let hint = "set the missing value, or choose another embedding.provider";
        return Finding::warn("embedding", format!("{message}: {what}, so {otherwise}"), hint);
    }
    match &embedder.program {
        Some(program) => Finding::ok("embedding", format!("{message}, by {}", program.display())),
        None => Finding::warn(
            "embedding",
            format!("{message}: {PROGRAM} is not installed, so {otherwise}"),
            format!("install {PROGRAM} next to throughline, or set embedding.provider to \"local\""),
        ),
    }
}

/// Returns the provider with its model, and with the variable that contains its key.
fn named(provider: Provider, settings: &Settings, embedder: &Embedder<'_>) -> String {
    let (model, place) = match provider {
        Provider::Local => return "the built-in model".into(),
        Provider::Folder => {
            let path = settings.folder.path.as_deref().map(|path| path.display().to_string());
            return format!("the model in {}", path.unwrap_or_default());
        }
        Provider::Openai => (&settings.openai.model, &settings.openai.base_url),
        Provider::Gemini => (&settings.gemini.model, &settings.gemini.base_url),
    };
    let key = provider.key_env(settings).iter().find(|name| embedder.is_set(name));
    let key = key.map(|name| format!(", with the key in {name}")).unwrap_or_default();
    format!("{model} at {place}{key}")
}
