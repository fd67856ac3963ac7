//! Runs a sentence model of the BERT family from a local folder in the sentence-transformers layout: `config.json`,
//! `tokenizer.json`, `model.safetensors`, and optionally `modules.json` and `1_Pooling/config.json`. Nothing is
//! downloaded.

mod layout;
#[cfg(test)]
mod tests;

use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use throughline_embedder_wire::{Embedded, Fault, FaultKind, Request, VERSION, Vector, normalized};
use tokenizers::{Tokenizer, TruncationParams};

use layout::{ModelFolder, Pooling};

/// How many texts are run through the model at once. Larger groups would only add padding.
const GROUP_SIZE: usize = 16;

/// Returns a permanent fault about the folder's contents.
fn invalid_model(what: impl std::fmt::Display) -> Fault {
    Fault::permanent(FaultKind::Model, what.to_string())
}

/// Loads the model and embeds the request's texts.
pub(crate) fn embed(folder: &Path, request: &Request) -> Result<Embedded, Fault> {
    let layout = ModelFolder::read(folder)?;
    let model = Model::load(&layout)?;
    let prompt = layout.prompt(request.purpose);
    let texts: Vec<String> = request.texts.iter().map(|text| format!("{prompt}{text}")).collect();
    let vectors = model.vectors(&texts)?;
    Ok(Embedded { version: VERSION, model: layout.name(), dims: layout.config.hidden_size, vectors })
}

struct Model {
    bert: BertModel,
    tokenizer: Tokenizer,
    pooling: Pooling,
    padding: u32,
}

impl Model {
    fn load(layout: &ModelFolder) -> Result<Self, Fault> {
        let mut tokenizer = Tokenizer::from_bytes(&layout.tokenizer)
            .map_err(|error| invalid_model(format!("tokenizer.json cannot be used: {error}")))?;
        // `embed_group` pads each group of texts.
        tokenizer.with_padding(None);
        let cut = TruncationParams { max_length: layout.max_tokens, ..TruncationParams::default() };
        tokenizer
            .with_truncation(Some(cut))
            .map_err(|error| invalid_model(format!("tokenizer.json cannot be used: {error}")))?;
        let weights = |error| invalid_model(format!("model.safetensors does not match config.json: {error}"));
        let tensors = candle_core::safetensors::load_buffer(&layout.weights, &Device::Cpu).map_err(weights)?;
        let variables = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let bert = BertModel::load(variables, &layout.config).map_err(weights)?;
        let padding = u32::try_from(layout.config.pad_token_id)
            .map_err(|_| invalid_model("config.json: pad_token_id is too large"))?;
        Ok(Self { bert, tokenizer, pooling: layout.pooling, padding })
    }

    /// Returns the vectors of the texts, in order.
    fn vectors(&self, texts: &[String]) -> Result<Vec<Vector>, Fault> {
        let encoded = self
            .tokenizer
            .encode_batch(texts.iter().map(String::as_str).collect(), true)
            .map_err(|error| invalid_model(format!("tokenizer.json cannot be used: {error}")))?;
        let tokens: Vec<&[u32]> = encoded.iter().map(tokenizers::Encoding::get_ids).collect();
        // Group texts of similar length, so that little padding is needed.
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        order.sort_by_key(|place| tokens[*place].len());
        let mut vectors = vec![Vector(Vec::new()); tokens.len()];
        for places in order.chunks(GROUP_SIZE) {
            let group: Vec<&[u32]> = places.iter().map(|place| tokens[*place]).collect();
            let pooled = self.embed_group(&group).map_err(|error| invalid_model(format!("the model failed: {error}")))?;
            for (place, vector) in places.iter().zip(pooled) {
                vectors[*place] =
                    Vector(normalized(vector).map_err(|what| invalid_model(format!("in the model's output, {what}")))?);
            }
        }
        Ok(vectors)
    }

    /// Returns one vector for each list of tokens.
    fn embed_group(&self, group: &[&[u32]]) -> candle_core::Result<Vec<Vec<f32>>> {
        let width = group.iter().map(|tokens| tokens.len()).max().unwrap_or_default().max(1);
        let padded = |tokens: &[u32]| {
            let rest = width - tokens.len();
            tokens.iter().copied().chain(std::iter::repeat_n(self.padding, rest)).collect::<Vec<_>>()
        };
        let ids: Vec<u32> = group.iter().flat_map(|tokens| padded(tokens)).collect();
        let mask: Vec<f32> =
            group.iter().flat_map(|tokens| (0..width).map(|place| f32::from(u8::from(place < tokens.len())))).collect();
        let ids = Tensor::from_vec(ids, (group.len(), width), &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, (group.len(), width), &Device::Cpu)?;
        let hidden = self.bert.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let pooled = match self.pooling {
            Pooling::First => hidden.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let mask = mask.unsqueeze(2)?;
                let count = mask.sum(1)?.clamp(1.0, f64::INFINITY)?;
                hidden.broadcast_mul(&mask)?.sum(1)?.broadcast_div(&count)?
            }
        };
        pooled.to_vec2()
    }
}
