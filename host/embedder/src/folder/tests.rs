//! Tests with a tiny model whose weights are generated here, and with broken model folders.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use throughline_embedder_wire::{Limits, Provider, Purpose};

use super::*;

const HIDDEN: usize = 8;
const WORDS: [&str; 9] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "token", "refresh", "the", "cache", "##s"];

/// Generates weights that are the same on every machine. Their values do not matter as long as they differ.
fn weights(shape: &[usize], seed: &mut u64) -> Tensor {
    let numbers: Vec<f32> = (0..shape.iter().product())
        .map(|_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f32::from(i8::from_le_bytes([seed.to_le_bytes()[5]])) / 128.0
        })
        .collect();
    Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()
}

/// Writes a two-layer model.
fn write(folder: &Path) {
    let config = json!({"model_type": "bert", "vocab_size": WORDS.len(), "hidden_size": HIDDEN, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 16, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "max_position_embeddings": 12, "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
        "pad_token_id": 0});
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let vocabulary: Value = WORDS.iter().enumerate().map(|(id, word)| ((*word).to_owned(), json!(id))).collect();
    let special = |id: usize| {
        json!({"id": id, "content": WORDS[id], "special": true, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false})
    };
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": {"strategy": {"Fixed": 12}, "direction": "Right",
            "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary}});
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let mut tensors: HashMap<String, Tensor> = HashMap::new();
    let mut seed = 7;
    let mut add = |name: &str, shape: &[usize]| {
        tensors.insert(name.to_owned(), weights(shape, &mut seed));
    };
    for (name, rows) in [("word", WORDS.len()), ("position", 12), ("token_type", 2)] {
        add(&format!("embeddings.{name}_embeddings.weight"), &[rows, HIDDEN]);
    }
    let mut norms = vec!["embeddings".to_owned()];
    for layer in 0..2 {
        let at = format!("encoder.layer.{layer}");
        let square = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"];
        let linear = square.map(|name| (name, HIDDEN, HIDDEN)).into_iter();
        for (name, to, from) in linear.chain([("intermediate.dense", 16, HIDDEN), ("output.dense", HIDDEN, 16)]) {
            add(&format!("{at}.{name}.weight"), &[to, from]);
            add(&format!("{at}.{name}.bias"), &[to]);
        }
        norms.extend([format!("{at}.attention.output"), format!("{at}.output")]);
    }
    for at in norms {
        add(&format!("{at}.LayerNorm.weight"), &[HIDDEN]);
        add(&format!("{at}.LayerNorm.bias"), &[HIDDEN]);
    }
    candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).unwrap();
}

fn ask(folder: &Path, texts: &[&str]) -> Result<Embedded, Fault> {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    let provider = Provider::Folder { path: folder.display().to_string() };
    let request = Request { version: VERSION, provider, purpose: Purpose::Query, texts, limits: Limits::default() };
    embed(folder, &request)
}

fn close(a: &Vector, b: &Vector) -> bool {
    a.0.len() == b.0.len() && a.0.iter().zip(&b.0).all(|(a, b)| (a - b).abs() < 1e-5)
}

#[test]
fn a_text_means_the_same_alone_and_among_others() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let texts =
        ["the caches", "Token refresh the cache token refresh the cache", "token", "the cache", "token refresh"].repeat(5);
    let together = ask(folder.path(), &texts).unwrap();
    assert_eq!((together.dims, together.vectors.len()), (HIDDEN, texts.len()));
    for (text, vector) in texts.iter().zip(&together.vectors) {
        let alone = ask(folder.path(), &[text]).unwrap();
        assert!(close(&alone.vectors[0], vector), "{text}: {:?} is not {vector:?}", alone.vectors[0]);
        assert_eq!(alone.model, together.model);
        let length: f32 = vector.0.iter().map(|number| number * number).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
    assert!(!close(&together.vectors[2], &together.vectors[3]));
    // A text longer than the model's limit is truncated.
    assert!(ask(folder.path(), &[&"token ".repeat(1_000)]).is_ok());
}

#[test]
fn pooling_is_as_the_folder_says() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let mean = ask(folder.path(), &["token refresh"]).unwrap();
    fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    let say = |settings: Value| fs::write(folder.path().join("1_Pooling/config.json"), settings.to_string()).unwrap();
    say(json!({"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}));
    assert_eq!(ask(folder.path(), &["token refresh"]).unwrap(), mean);
    say(json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}));
    let first = ask(folder.path(), &["token refresh"]).unwrap();
    assert!(!close(&first.vectors[0], &mean.vectors[0]));
    assert_ne!(first.model, mean.model, "vectors that cannot be compared have one name");
    say(json!({"pooling_mode_max_tokens": true}));
    assert_eq!(ask(folder.path(), &["token"]).unwrap_err().kind, FaultKind::Model);
}

#[test]
fn prompts_are_put_before_the_text() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let plain = ask(folder.path(), &["the cache"]).unwrap();
    let prompts = json!({"prompts": {"query": "the ", "passage": "token "}});
    fs::write(folder.path().join("config_sentence_transformers.json"), prompts.to_string()).unwrap();
    assert!(close(&ask(folder.path(), &["cache"]).unwrap().vectors[0], &plain.vectors[0]));
}

#[test]
fn other_weights_are_another_model() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let before = ask(folder.path(), &["token"]).unwrap();
    let file = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.len() - 20;
    bytes[place] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_ne!(ask(folder.path(), &["token"]).unwrap().model, before.model);
}

#[test]
fn what_is_no_model_is_refused() {
    let change = |name: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path());
        let file = folder.path().join(name);
        fs::write(&file, change(fs::read(&file).unwrap_or_default())).unwrap();
        ask(folder.path(), &["token"])
    };
    let with = |setting: &'static str, value: Value| {
        change("config.json", &move |bytes| {
            let mut config: Value = serde_json::from_slice(&bytes).unwrap();
            config[setting] = value.clone();
            config.to_string().into()
        })
    };
    let dense = br#"[{"type": "sentence_transformers.models.Dense"}]"#;
    let refused = [
        ask(Path::new("/nowhere"), &["token"]),
        with("model_type", json!("gpt2")),
        with("num_attention_heads", json!(0)),
        with("num_attention_heads", json!(3)),
        with("hidden_size", json!(1_000_000_000_u64)),
        with("hidden_size", json!(16)),
        with("num_hidden_layers", json!(3)),
        with("vocab_size", json!(-1)),
        with("pad_token_id", json!(5_000_000_000_u64)),
        change("config.json", &|_| b"{}".to_vec()),
        change("modules.json", &|_| dense.to_vec()),
        change("tokenizer.json", &|_| b"{}".to_vec()),
        change("tokenizer.json", &|bytes| bytes[..bytes.len() / 2].to_vec()),
        change("tokenizer.json", &|bytes| String::from_utf8(bytes).unwrap().replace("\"token\":4", "\"token\":400").into()),
        change("model.safetensors", &|_| Vec::new()),
        change("model.safetensors", &|_| vec![0xff; 4_096]),
        change("model.safetensors", &|bytes| bytes[..bytes.len() / 2].to_vec()),
        change("model.safetensors", &|mut bytes| {
            let end = bytes.len();
            bytes[end / 2..].fill(0xff);
            bytes
        }),
    ];
    for (number, refused) in refused.into_iter().enumerate() {
        let fault = refused.map(|embedded| embedded.model).expect_err(&format!("number {number} is taken"));
        assert_eq!((fault.kind, fault.retryable), (FaultKind::Model, false), "{number}: {fault:?}");
    }
}
