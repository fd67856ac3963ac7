//! The client side of external embedding providers: runs `throughline-embedder`, one process per request, with a
//! minimal environment and a deadline.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use throughline_embedder_wire::{Answer, Embedded, Endpoint, Fault, FaultKind, Limits, MAX_DIMS, Request, Server, VERSION};

use super::failure::EmbeddingFailure;
use super::process::{self, PROGRAM};
use super::settings::{GEMINI_BASE_URL, OPENAI_BASE_URL, Provider, Settings};
use super::{Embedding, Model, Purpose};
use throughline_platform::program;

/// Extra time for the process beyond its requests: to start, and to read a model of some hundred megabytes.
const STARTUP_GRACE: Duration = Duration::from_secs(5);

/// The encoded size of one number, in bytes, rounded up: 32 bits in base64.
const MAX_NUMBER_BYTES: u64 = 6;

/// Allowance for the rest of an answer, in bytes.
const ANSWER_OVERHEAD_BYTES: u64 = 64 << 10;

/// The longest accepted model name, in bytes.
const MAX_MODEL_NAME_BYTES: usize = 300;

/// How to start the embedder.
pub struct Embedder<'a> {
    /// The path of the program, or `None` if it is not installed.
    pub program: Option<PathBuf>,
    /// Reads a variable of our environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The wait before the second attempt, in milliseconds.
    pub backoff_ms: u64,
    /// The deadline at which the process is killed, whatever the settings say. Set by hooks, which keep an agent
    /// waiting.
    pub until: Option<Instant>,
}

impl Embedder<'_> {
    /// The installed embedder, with the environment of this process.
    pub fn installed() -> Self {
        let own = std::env::current_exe().ok();
        Self {
            program: program::find_companion(PROGRAM, own.as_deref(), std::env::var_os("PATH").as_deref()),
            variable: &|name| std::env::var_os(name),
            backoff_ms: Limits::default().backoff_ms,
            until: None,
        }
    }

    /// Returns whether a variable is set and not empty.
    pub fn is_set(&self, name: &str) -> bool {
        (self.variable)(name).is_some_and(|value| !value.is_empty())
    }

    /// Returns the vectors of these texts, in order, from this provider and no other. At least one text is required,
    /// and none may be empty. [`Provider::Local`] is not supported here.
    pub fn embed(
        &self,
        settings: &Settings,
        provider: Provider,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<(Model, Vec<Embedding>), EmbeddingFailure> {
        let failed = |fault: Fault| EmbeddingFailure::new(settings, provider, fault);
        let Some(program) = &self.program else {
            return Err(failed(Fault::permanent(FaultKind::Unsupported, format!("{PROGRAM} is not installed"))));
        };
        let (asked, key) = self.request(settings, provider).map_err(failed)?;
        let left = self.until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Err(failed(Fault::temporary(FaultKind::Timeout, "no time is left for the request")));
        }
        let limits = Limits {
            timeout_ms: settings.timeout_ms.min(u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            batch: settings.batch,
            backoff_ms: self.backoff_ms,
            ..Limits::default()
        };
        let purpose = match purpose {
            Purpose::Query => throughline_embedder_wire::Purpose::Query,
            Purpose::Document => throughline_embedder_wire::Purpose::Document,
        };
        // A local model needs the timeout per text, a server per request.
        let shares = match provider {
            Provider::Folder => texts.len(),
            _ => throughline_embedder_wire::batches(texts.iter().map(String::len), &limits).len(),
        };
        let request = Request { version: VERSION, provider: asked, purpose, texts: texts.to_vec(), limits };
        let request = serde_json::to_vec(&request)
            .map_err(|_| failed(Fault::permanent(FaultKind::Request, "the request cannot be written as JSON")))?;
        let mut command = Command::new(program);
        command.env_clear().current_dir("/");
        if provider != Provider::Folder {
            command.envs(program::NETWORK_VARIABLES.iter().filter_map(|name| Some((name, (self.variable)(name)?))));
        }
        command.envs(key.and_then(|name| Some((name, (self.variable)(name)?))));
        let time = Duration::from_millis(settings.timeout_ms)
            .saturating_mul(u32::try_from(shares).unwrap_or(u32::MAX))
            .saturating_add(STARTUP_GRACE)
            .min(left);
        let most = texts.len() as u64 * MAX_DIMS as u64 * MAX_NUMBER_BYTES + ANSWER_OVERHEAD_BYTES;
        let answer = process::run(PROGRAM, command, request, most, time).map_err(failed)?;
        let Embedded { model, dims, vectors, .. } = parse_answer(&answer, texts.len()).map_err(failed)?;
        let name = match provider {
            Provider::Openai => qualify_model_name(&settings.openai.model, &settings.openai.base_url, OPENAI_BASE_URL),
            Provider::Gemini => qualify_model_name(&settings.gemini.model, &settings.gemini.base_url, GEMINI_BASE_URL),
            Provider::Folder | Provider::Local => model,
        };
        let model = Model { provider: provider.name().into(), name, dims };
        Ok((model, vectors.into_iter().map(|vector| Embedding { vector: vector.0, known: 1.0 }).collect()))
    }

    /// Builds the provider part of the request, and returns the name of the variable that holds the key.
    fn request<'s>(
        &self,
        settings: &'s Settings,
        provider: Provider,
    ) -> Result<(throughline_embedder_wire::Provider, Option<&'s str>), Fault> {
        if let Some(what) = provider.missing_setting(settings, |name| self.is_set(name)) {
            let kind = if provider == Provider::Folder { FaultKind::Request } else { FaultKind::Key };
            return Err(Fault::permanent(kind, what));
        }
        let key = provider.key_env(settings).iter().map(String::as_str).find(|name| self.is_set(name));
        let server = |base_url: &str, model: &str, dimensions| Server {
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            dimensions,
            key_env: key.map(str::to_owned),
        };
        let asked = match provider {
            Provider::Openai => {
                let of = &settings.openai;
                let server = server(&of.base_url, &of.model, of.dimensions);
                throughline_embedder_wire::Provider::Openai { server, encoding_format: of.encoding_format }
            }
            Provider::Gemini => {
                let of = &settings.gemini;
                throughline_embedder_wire::Provider::Gemini { server: server(&of.base_url, &of.model, of.dimensions) }
            }
            Provider::Folder => {
                let path = settings.folder.path.as_deref().and_then(Path::to_str);
                let path =
                    path.ok_or_else(|| Fault::permanent(FaultKind::Request, "embedding.folder.path is not valid UTF-8"))?;
                throughline_embedder_wire::Provider::Folder { path: path.to_owned() }
            }
            Provider::Local => {
                return Err(Fault::permanent(FaultKind::Request, "the built-in model does not use the embedder"));
            }
        };
        Ok((asked, key))
    }
}

/// Returns the model's name, with the address appended if the server is not the usual one, because two servers may use
/// one name for two models.
fn qualify_model_name(model: &str, base_url: &str, usual: &str) -> String {
    match Endpoint::parse(base_url) {
        Ok(endpoint) if endpoint.url != usual => {
            format!("{model}@{}", endpoint.url.split_once("://").map_or(endpoint.url.as_str(), |(_, rest)| rest))
        }
        _ => model.to_owned(),
    }
}

/// Parses an answer to `wanted` texts and validates everything that can be checked.
fn parse_answer(answer: &[u8], wanted: usize) -> Result<Embedded, Fault> {
    let wrong = |what: &str| Fault::permanent(FaultKind::Answer, format!("{PROGRAM} {what}"));
    if answer.is_empty() {
        return Err(wrong("exited without an answer"));
    }
    let answer = serde_json::from_slice(answer).map_err(|_| wrong("gave an invalid answer"))?;
    let embedded: Embedded = match answer {
        Answer::Embedded(embedded) => embedded,
        Answer::Failed(fault) => {
            let message = fault.message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(1_000).collect();
            return Err(Fault { message, ..fault });
        }
    };
    if embedded.version != VERSION {
        return Err(wrong(&format!("answered in version {}, but this program supports {VERSION}", embedded.version)));
    }
    if embedded.vectors.len() != wanted {
        return Err(wrong(&format!("returned {} vectors for {wanted} texts", embedded.vectors.len())));
    }
    if !(1..=MAX_DIMS).contains(&embedded.dims) || embedded.vectors.iter().any(|vector| vector.0.len() != embedded.dims) {
        return Err(wrong("returned vectors whose lengths differ from what it says"));
    }
    if !embedded.vectors.iter().all(|vector| is_unit(&vector.0)) {
        return Err(wrong("returned a vector that is not of length 1"));
    }
    let name = &embedded.model;
    if name.is_empty() || name.len() > MAX_MODEL_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(wrong("returned no valid model name"));
    }
    Ok(embedded)
}

/// Returns whether a vector has length 1, up to rounding, and only finite numbers.
fn is_unit(vector: &[f32]) -> bool {
    let square: f64 = vector.iter().map(|number| f64::from(*number).powi(2)).sum();
    (square - 1.0).abs() < 1e-3
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use throughline_embedder_wire::Vector;

    use super::*;

    fn answer(vectors: Vec<Vec<f32>>, dims: usize) -> Vec<u8> {
        let vectors = vectors.into_iter().map(Vector).collect();
        let embedded = Embedded { version: VERSION, model: "m".into(), dims, vectors };
        serde_json::to_vec(&Answer::Embedded(embedded)).unwrap()
    }

    #[test]
    fn only_what_fits_is_taken() {
        assert_eq!(parse_answer(&answer(vec![vec![0.6, 0.8]], 2), 1).unwrap().vectors[0].0, [0.6, 0.8]);
        for (bytes, wanted) in [
            (answer(vec![vec![0.6, 0.8]], 2), 2),
            (answer(vec![vec![0.6, 0.8]], 3), 1),
            (answer(vec![vec![1.0], vec![0.6, 0.8]], 1), 2),
            (answer(vec![vec![]], 0), 1),
            (answer(vec![vec![0.0, 0.0]], 2), 1),
            (answer(vec![vec![f32::NAN, 0.8]], 2), 1),
            (answer(vec![vec![f32::INFINITY, 0.8]], 2), 1),
            (answer(vec![vec![2.0, 0.0]], 2), 1),
            (b"".to_vec(), 1),
            (b"hello".to_vec(), 1),
            (br#"{"embedded":{"version":2,"model":"m","dims":1,"vectors":["AACAPw=="]}}"#.to_vec(), 1),
            (br#"{"embedded":{"version":1,"model":"","dims":1,"vectors":["AACAPw=="]}}"#.to_vec(), 1),
        ] {
            let fault = parse_answer(&bytes, wanted).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Answer, "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn a_model_elsewhere_has_another_name() {
        assert_eq!(qualify_model_name("m", OPENAI_BASE_URL, OPENAI_BASE_URL), "m");
        assert_eq!(qualify_model_name("m", "https://api.openai.com/v1/", OPENAI_BASE_URL), "m");
        assert_eq!(qualify_model_name("m", "http://localhost:11434/v1", OPENAI_BASE_URL), "m@localhost:11434/v1");
    }

    proptest! {
        #[test]
        fn any_bytes_are_vectors_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..300), wanted in 0_usize..4) {
            let _ = parse_answer(&bytes, wanted);
        }

        #[test]
        fn any_numbers_are_checked(numbers in prop::collection::vec(any::<f32>(), 0..5), dims in 0_usize..5) {
            if let Ok(embedded) = parse_answer(&answer(vec![numbers], dims), 1) {
                prop_assert!(embedded.vectors[0].0.iter().all(|number| number.is_finite()));
                prop_assert_eq!(embedded.vectors[0].0.len(), dims);
            }
        }

        #[test]
        fn half_an_answer_is_a_fault(cut in 0_usize..60) {
            let whole = answer(vec![vec![0.6, 0.8]], 2);
            prop_assert!(parse_answer(&whole[..cut.min(whole.len() - 1)], 1).is_err());
        }
    }
}
