//! Checks whether a language model may be asked, what limits it, and whether the program that asks it is installed. No model is asked.

use super::finding::Finding;
use throughline_engine::model::caller::PROGRAM;
use throughline_engine::model::settings::{Amounts, Provider, Settings};
use throughline_platform::program::find_companion;

/// Reports the provider, its limits and what it lacks.
pub(super) fn model(settings: &Settings) -> Finding {
    if settings.provider == Provider::None {
        return Finding::ok("model", "off: no language model is asked, because `model.provider` is \"none\"");
    }
    let name = settings.provider.name();
    let limits = limits(settings.limits.all);
    let message = format!("{name} answers the policies that you granted a model; {limits}");
    let own = std::env::current_exe().ok();
    match find_companion(PROGRAM, own.as_deref(), std::env::var_os("PATH").as_deref()) {
        _ if settings.provider == Provider::Recorded => Finding::ok("model", message),
        Some(program) => Finding::ok("model", format!("{message}; asked by {}", program.display())),
        None => Finding::warn(
            "model",
            format!("{message}; {PROGRAM} is not installed, so no model is asked"),
            format!("install {PROGRAM} beside throughline, or set model.provider to \"none\""),
        ),
    }
}

/// Names the limits that are set.
fn limits(amounts: Amounts) -> String {
    let tokens = amounts.tokens().into_iter().filter_map(|(name, limit)| Some(format!("{name} {}", limit?)));
    let usd = amounts.usd().into_iter().filter_map(|(name, limit)| Some(format!("{name} {}", limit?)));
    let all: Vec<String> = tokens.chain(usd).collect();
    if all.is_empty() { "no limit is set in [model.limits]".into() } else { format!("limits: {}", all.join(", ")) }
}
