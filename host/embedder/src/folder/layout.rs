//! Reads a model's folder into memory, with size limits. Unsupported settings are refused, because a vector that is
//! nearly right is wrong.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use candle_transformers::models::bert::Config;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use throughline_embedder_wire::{Fault, Purpose};

use super::invalid_model;

/// The largest settings file, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// The largest tokenizer file, in bytes. A vocabulary of 250,000 tokens takes 17 MB.
const MAX_TOKENIZER_BYTES: u64 = 128 << 20;

/// The largest weights file, in bytes. Weights are read into memory; large models of the family take 1.3 GB.
const MAX_WEIGHTS_BYTES: u64 = 4 << 30;

/// How many evenly spaced samples of the weights the fingerprint covers.
const SAMPLE_COUNT: usize = 256;

/// The size of each sample, in bytes. Sampling is enough because retraining changes nearly every weight, and hashing
/// all of them would cost more than running the model.
const SAMPLE_BYTES: usize = 1 << 10;

/// How many bytes of the hash go into the fingerprint.
const FINGERPRINT_BYTES: usize = 6;

/// How the token vectors are combined into one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Their mean.
    Mean,
    /// The vector of the first token, `[CLS]`.
    First,
}

/// The contents of a model's folder.
pub(super) struct ModelFolder {
    /// `config.json`.
    pub config: Config,
    /// `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// `model.safetensors`.
    pub weights: Vec<u8>,
    /// `1_Pooling/config.json`.
    pub pooling: Pooling,
    /// The maximum number of tokens per text; longer texts are truncated.
    pub max_tokens: usize,
    prompts: Value,
    folder: String,
    fingerprint: String,
}

impl ModelFolder {
    /// Reads a model's folder.
    pub(super) fn read(folder: &Path) -> Result<Self, Fault> {
        let config_bytes = file(folder, "config.json", MAX_SETTINGS_BYTES)?;
        let settings = json("config.json", &config_bytes)?;
        match settings["model_type"].as_str() {
            None | Some("bert") => {}
            Some(other) => {
                return Err(invalid_model(format!(
                    "config.json: models of type {other:?} are not supported, only \"bert\" is"
                )));
            }
        }
        let config: Config = serde_json::from_value(settings)
            .map_err(|error| invalid_model(format!("config.json does not describe a BERT model: {error}")))?;
        check(&config)?;
        modules(&optional(folder, "modules.json")?)?;
        let pooling = pooling(&optional(folder, "1_Pooling/config.json")?)?;
        let max_tokens = optional(folder, "sentence_bert_config.json")?["max_seq_length"].as_u64();
        let max_tokens =
            max_tokens.and_then(|max_tokens| usize::try_from(max_tokens).ok()).unwrap_or(config.max_position_embeddings);
        let prompts =
            optional(folder, "config_sentence_transformers.json")?.get_mut("prompts").map(Value::take).unwrap_or_default();
        let tokenizer = file(folder, "tokenizer.json", MAX_TOKENIZER_BYTES)?;
        let weights = file(folder, "model.safetensors", MAX_WEIGHTS_BYTES)?;
        let fingerprint = fingerprint(&[&config_bytes, &tokenizer, &[pooling as u8]], &weights);
        Ok(Self {
            max_tokens: max_tokens.clamp(3, config.max_position_embeddings),
            config,
            tokenizer,
            weights,
            pooling,
            prompts,
            folder: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            fingerprint,
        })
    }

    /// Returns the model's name, built from the folder's name and the fingerprint, such as
    /// `all-MiniLM-L6-v2-0123456789ab`.
    pub(super) fn name(&self) -> String {
        let folder: String = self.folder.chars().filter(|c| !c.is_control()).take(60).collect();
        format!("{folder}-{}", self.fingerprint)
    }

    /// Returns the prefix that the model expects before a text. It is empty for most models.
    pub(super) fn prompt(&self, purpose: Purpose) -> &str {
        let names = match purpose {
            Purpose::Query => &["query"][..],
            Purpose::Document => &["document", "passage", "corpus"],
        };
        names.iter().find_map(|name| self.prompts[name].as_str()).unwrap_or_default()
    }
}

/// Reads a file of at most `most` bytes.
fn file(folder: &Path, name: &str, most: u64) -> Result<Vec<u8>, Fault> {
    let path = folder.join(name);
    let fault = |what: String| invalid_model(format!("{} {what}", path.display()));
    let meta = std::fs::metadata(&path).map_err(|error| fault(format!("cannot be read: {error}")))?;
    if !meta.is_file() || meta.len() > most {
        return Err(fault(format!("is not a file of at most {most} bytes")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
    let read = File::open(&path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| fault(format!("cannot be read: {error}")))?;
    Ok(bytes)
}

fn json(name: &str, bytes: &[u8]) -> Result<Value, Fault> {
    serde_json::from_slice(bytes).map_err(|error| invalid_model(format!("{name} is not valid JSON: {error}")))
}

/// Reads an optional settings file; returns null if it does not exist.
fn optional(folder: &Path, name: &str) -> Result<Value, Fault> {
    if folder.join(name).try_exists().unwrap_or(true) {
        json(name, &file(folder, name, MAX_SETTINGS_BYTES)?)
    } else {
        Ok(Value::Null)
    }
}

/// Checks the sizes in the configuration, so that nothing divides by zero or allocates absurd amounts of memory.
fn check(config: &Config) -> Result<(), Fault> {
    let heads = config.num_attention_heads;
    let sizes = [
        ("vocab_size", config.vocab_size, 4_000_000),
        ("hidden_size", config.hidden_size, throughline_embedder_wire::MAX_DIMS),
        ("num_hidden_layers", config.num_hidden_layers, 200),
        ("num_attention_heads", heads, config.hidden_size),
        ("intermediate_size", config.intermediate_size, 1 << 17),
        ("max_position_embeddings", config.max_position_embeddings, 1 << 15),
        ("type_vocab_size", config.type_vocab_size, 1_000),
    ];
    for (name, size, most) in sizes {
        if !(1..=most).contains(&size) {
            return Err(invalid_model(format!("config.json: {name} is {size}, but must be between 1 and {most}")));
        }
    }
    if !config.hidden_size.is_multiple_of(heads) || config.max_position_embeddings < 3 {
        return Err(invalid_model("config.json: the sizes are inconsistent"));
    }
    Ok(())
}

/// Checks that the pipeline consists of only the supported modules: transformer, pooling and normalization.
fn modules(modules: &Value) -> Result<(), Fault> {
    let kinds = modules.as_array().into_iter().flatten().filter_map(|module| module["type"].as_str());
    for kind in kinds {
        let name = kind.rsplit('.').next().unwrap_or(kind);
        if !["Transformer", "Pooling", "Normalize"].contains(&name) {
            return Err(invalid_model(format!("modules.json: {name} is not supported")));
        }
    }
    Ok(())
}

/// Returns the configured pooling; the mean if there are no settings.
fn pooling(settings: &Value) -> Result<Pooling, Fault> {
    let wanted: Vec<&str> = settings
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| name.starts_with("pooling_mode_") && value.as_bool() == Some(true))
        .map(|(name, _)| name.as_str())
        .collect();
    match wanted[..] {
        [] if settings.is_null() => Ok(Pooling::Mean),
        ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        ["pooling_mode_cls_token"] => Ok(Pooling::First),
        _ => Err(invalid_model("1_Pooling/config.json: only mean and first-token pooling are supported")),
    }
}

/// Returns twelve hexadecimal digits that identify a model.
fn fingerprint(settings: &[&[u8]], weights: &[u8]) -> String {
    let mut hash = Sha256::new();
    for part in settings {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update((weights.len() as u64).to_le_bytes());
    let step = (weights.len() / SAMPLE_COUNT).max(SAMPLE_BYTES);
    for place in weights.chunks(step) {
        hash.update(&place[..place.len().min(SAMPLE_BYTES)]);
    }
    let digest = hash.finalize();
    let nibbles = digest.iter().take(FINGERPRINT_BYTES).flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)).collect()
}
