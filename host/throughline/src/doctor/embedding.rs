//! Who turns texts into vectors, and whether what it needs is there. Nobody is asked: that would cost time, and perhaps money.

use super::Finding;
use throughline_embedding::process::PROGRAM;
use throughline_embedding::{Embedder, Provider, Settings};

/// What there is to be said of it.
pub(super) fn embedding(settings: &Settings) -> Finding {
    let embedder = Embedder::installed();
    let choice = Provider::choose(settings, |name| embedder.is_set(name));
    let names: Vec<String> = choice.order.iter().map(|provider| named(*provider, settings, &embedder)).collect();
    let passed_over: Vec<&str> = choice.passed_over.iter().map(|(_, what)| what.as_str()).collect();
    let Some(first) = choice.order.first() else {
        return if passed_over.is_empty() {
            Finding::ok("embedding", "no vectors are wanted: search is for words only")
        } else {
            let what =
                format!("nobody in embedding.order can be asked, so search is for words only: {}", passed_over.join("; "));
            Finding::warn("embedding", what, "set one of these, or add \"local\" to embedding.order")
        };
    };
    let mut message = names.join(", then ");
    if !passed_over.is_empty() {
        message = format!("{message} ({})", passed_over.join("; "));
    }
    if *first == Provider::Local {
        return Finding::ok("embedding", message);
    }
    let otherwise = if choice.order.len() > 1 { "the next one is asked" } else { "search is for words only" };
    if let Some(what) = first.lacks(settings, |name| embedder.is_set(name)) {
        let hint = "set what is missing, or another embedding.provider";
        return Finding::warn("embedding", format!("{message}: {what}, so {otherwise}"), hint);
    }
    match &embedder.program {
        Some(program) => Finding::ok("embedding", format!("{message}, by {}", program.display())),
        None => Finding::warn(
            "embedding",
            format!("{message}: {PROGRAM} is not installed, so {otherwise}"),
            format!("install {PROGRAM} beside throughline, or set embedding.provider to \"local\""),
        ),
    }
}

/// The provider with its model, and with the variable that holds its key.
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
