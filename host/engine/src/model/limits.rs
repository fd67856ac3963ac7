//! The limits of a call: those of the user, lowered by the policy's and the administrator's, and the price of tokens.

use super::settings::{Amounts, Limits, Price, Settings};
use throughline_sandbox::managed::ManagedModel;
use throughline_store::ledger::{Amount, Cap, Span};

/// Tokens that a provider may add to a request: a chat template, and the frame of a tool.
const FRAME_TOKENS: u64 = 1_000;

/// Tokens that it may add to each message.
const MESSAGE_TOKENS: u64 = 16;

/// Why no model may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// The administrator forbids all models.
    #[error("the administrator forbids models")]
    Forbidden,
    /// The administrator allows other providers.
    #[error("the administrator does not allow the provider {0}")]
    OtherProviders(&'static str),
    /// Nothing bounds what is spent over time.
    #[error("no limit is set: set day_tokens, month_tokens, day_usd or month_usd under [model.limits]")]
    NoLimit,
    /// A limit in dollars needs a price.
    #[error("a limit is in dollars, but [model.price] does not say what tokens cost")]
    NoPrice,
    /// No provider is set.
    #[error("model.provider is \"none\"")]
    NoProvider,
    /// The provider has no model.
    #[error("model.{0}.model is not set")]
    NoModel(&'static str),
    /// There are no recorded answers.
    #[error("model.recorded.folder is not set")]
    NoRecordings,
}

/// Returns all limits for a policy, or why it may not ask.
pub fn caps(settings: &Settings, managed: &ManagedModel, policy: &str) -> Result<Vec<Cap>, NotAllowed> {
    if managed.forbid {
        return Err(NotAllowed::Forbidden);
    }
    if let Some(allowed) = &managed.providers
        && !allowed.iter().any(|name| name == settings.provider.name())
    {
        return Err(NotAllowed::OtherProviders(settings.provider.name()));
    }
    if !settings.limits.all.bound_time() {
        return Err(NotAllowed::NoLimit);
    }
    let Limits { all, policy: of_policies } = &settings.limits;
    let mut caps = Vec::new();
    let mut add = |amounts: &Amounts, place: &str, policy: Option<&str>| {
        let spans = [Span::Call, Span::Session, Span::Day, Span::Month];
        let tokens = amounts.tokens().map(|(name, most)| (name, most.map(Amount::Tokens)));
        let usd = amounts.usd().map(|(name, most)| (name, most.map(|most| Amount::NanoUsd(nano(most)))));
        for ((name, most), span) in tokens.into_iter().zip(spans).chain(usd.into_iter().zip(spans)) {
            if let Some(most) = most {
                caps.push(Cap { name: format!("{place}.{name}"), span, policy: policy.map(str::to_owned), most });
            }
        }
    };
    add(all, "model.limits", None);
    if let Some(amounts) = of_policies.get(policy) {
        add(amounts, &format!("model.limits.policy.{policy}"), Some(policy));
    }
    let lowered = Amounts {
        call_tokens: managed.limits.call_tokens,
        session_tokens: managed.limits.session_tokens,
        day_tokens: managed.limits.day_tokens,
        month_tokens: managed.limits.month_tokens,
        call_usd: managed.limits.call_usd,
        session_usd: managed.limits.session_usd,
        day_usd: managed.limits.day_usd,
        month_usd: managed.limits.month_usd,
    };
    add(&lowered, "managed.toml: model.limits", None);
    let counts_usd = caps.iter().any(|cap| matches!(cap.most, Amount::NanoUsd(_)));
    if counts_usd && (settings.price.input.is_none() || settings.price.output.is_none()) {
        return Err(NotAllowed::NoPrice);
    }
    Ok(caps)
}

/// Returns billionths of a dollar, rounded down, so that a limit is never exceeded by rounding.
fn nano(usd: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be from 0 to 1,000,000 dollars")]
    let nano = (usd * 1e9).max(0.0) as u64;
    nano
}

/// Returns the most tokens that a request can have: each byte may be one, and none is more.
pub fn most_input_tokens(bytes: u64, messages: usize, overhead: u64) -> u64 {
    bytes + FRAME_TOKENS + MESSAGE_TOKENS * messages as u64 + overhead
}

/// Returns what tokens cost, in billionths of a dollar, rounded up.
pub fn cost(price: Price, input_tokens: u64, output_tokens: u64) -> u64 {
    let of = |tokens: u64, price: Option<f64>| {
        #[expect(clippy::cast_precision_loss, reason = "numbers of tokens are far below 2^53")]
        let nano = tokens as f64 * price.unwrap_or(0.0) * 1_000.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let nano = nano.ceil().max(0.0) as u64;
        nano
    };
    of(input_tokens, price.input).saturating_add(of(output_tokens, price.output))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn nothing_is_allowed_until_a_figure_is_set() {
        let managed = ManagedModel::default();
        let refused = |text: &str, managed: &ManagedModel| caps(&settings(text), managed, "p").unwrap_err().to_string();
        assert!(refused("provider = \"openai\"", &managed).contains("no limit is set"));
        assert!(refused("limits.call_tokens = 5", &managed).contains("no limit is set"));
        assert!(refused("limits.day_usd = 1.0", &managed).contains("[model.price]"));
        let forbidding = ManagedModel { forbid: true, ..ManagedModel::default() };
        assert!(refused("limits.day_tokens = 5", &forbidding).contains("forbids"));
        let only = ManagedModel { providers: Some(vec!["command".into()]), ..ManagedModel::default() };
        assert!(refused("provider = \"openai\"\nlimits.day_tokens = 5", &only).contains("does not allow"));
        assert!(caps(&settings("provider = \"command\"\nlimits.day_tokens = 5"), &only, "p").is_ok());
    }

    #[test]
    fn every_limit_counts_and_none_raises_another() {
        let mut managed = ManagedModel::default();
        managed.limits.month_tokens = Some(9);
        let settings = settings(
            "price = {input = 1.0, output = 2.0}\n\
             limits = {day_tokens = 5, call_usd = 0.25, policy = {p = {day_tokens = 50}, q = {day_tokens = 1}}}",
        );
        let caps = caps(&settings, &managed, "p").unwrap();
        let names: Vec<_> = caps.iter().map(|cap| (cap.name.as_str(), cap.policy.as_deref(), cap.most)).collect();
        assert_eq!(
            names,
            [
                ("model.limits.day_tokens", None, Amount::Tokens(5)),
                ("model.limits.call_usd", None, Amount::NanoUsd(250_000_000)),
                ("model.limits.policy.p.day_tokens", Some("p"), Amount::Tokens(50)),
                ("managed.toml: model.limits.month_tokens", None, Amount::Tokens(9)),
            ]
        );
        assert_eq!(cost(settings.price, 1_000_000, 500_000), 2_000_000_000);
        assert_eq!(cost(Price { input: Some(0.000_1), output: None }, 1, 7), 1);
    }
}
