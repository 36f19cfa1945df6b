//! Finds the files of a model in a folder, and its dimension, tokens and pooling.

use std::fs;
use std::io;
use std::path::Path;

use icm_vectors::embed::EmbedError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file_note::FileNote;

/// Files that every model has besides its weights.
pub(crate) const TOKENIZER: [&str; 4] = [
    "tokenizer.json",
    "config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
];
/// Paths of the weights; the first that exists is used.
const MODELS: [&str; 7] = [
    "model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
];
/// Largest dimension accepted. No model has more.
pub(crate) const DIM_MAX: usize = icm_vectors::MAX_DIM;
/// Tokens read of a text if the folder does not give a number.
const TOKENS_MAX: usize = 512;
/// Operator of graphs that quantise by the range of their input.
const DYNAMIC: &[u8] = b"DynamicQuantizeLinear";

/// The way in which the vectors of a text's tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first vector.
    Cls,
}

/// Properties of a model that its files may leave open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Traits {
    pub(crate) pooling: Pooling,
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
}

/// The files and properties found in a folder.
pub(crate) struct Found {
    pub(crate) model: String,
    pub(crate) files: Vec<FileNote>,
    pub(crate) dim: usize,
    pub(crate) max_tokens: usize,
    pub(crate) alone: bool,
    pooling: Pooling,
}

impl Found {
    /// Returns the traits of a model of this name: the prefixes of the E5 family, the pooling that was found.
    pub(crate) fn traits(&self, name: &str) -> Traits {
        let e5 = name
            .to_ascii_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|part| part == "e5");
        Traits {
            pooling: self.pooling,
            query_prefix: if e5 { "query: " } else { "" }.to_owned(),
            passage_prefix: if e5 { "passage: " } else { "" }.to_owned(),
        }
    }
}

/// Reads the folder of a model, every file once.
pub(crate) fn look(folder: &Path, name: &str) -> Result<Found, EmbedError> {
    let refused = |why: String| EmbedError::Unavailable {
        model: name.to_owned(),
        why: format!("{}: {why}", folder.display()),
        hint: Some(format!(
            "a model is a folder with `model.onnx` and {}",
            TOKENIZER.map(|file| format!("`{file}`")).join(", ")
        )),
    };
    if !folder.is_dir() {
        return Err(refused("there is no such folder".into()));
    }
    let is_file = |name: &&str| folder.join(name).is_file();
    let model = MODELS.iter().find(|name| is_file(name));
    let model = model.ok_or_else(|| refused("it has no `model.onnx`".into()))?;
    if let Some(missing) = TOKENIZER.iter().find(|name| !is_file(name)) {
        return Err(refused(format!("it has no `{missing}`")));
    }
    let weights = fs::read(folder.join(model)).map_err(|e| refused(format!("{model}: {e}")))?;
    let external = external_data(folder, model).map_err(|e| refused(e.to_string()))?;
    if weights.len() < 64 && external.is_empty() {
        return Err(refused(format!(
            "{model} is no model: {} bytes",
            weights.len()
        )));
    }
    let mut files = vec![FileNote {
        name: (*model).to_owned(),
        len_bytes: weights.len() as u64,
        blake3: blake3::hash(&weights).to_hex().to_string(),
    }];
    let others = external.iter().map(String::as_str).chain(TOKENIZER);
    for other in others {
        let note = FileNote::of(folder, other);
        files.push(note.map_err(|e| refused(format!("{other}: {e}")))?);
    }
    let json = |name: &str| -> Result<Value, EmbedError> {
        let bytes = fs::read(folder.join(name)).map_err(|e| refused(format!("{name}: {e}")))?;
        serde_json::from_slice(&bytes).map_err(|e| refused(format!("{name} is not JSON: {e}")))
    };
    let config = json("config.json")?;
    json("tokenizer.json")?;
    json("special_tokens_map.json")?;
    let tokenizer = json("tokenizer_config.json")?;
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
    let dim = ["hidden_size", "dim", "d_model", "n_embd"]
        .iter()
        .find_map(|key| number(&config, key))
        .and_then(|dim| usize::try_from(dim).ok())
        .filter(|dim| (1..=DIM_MAX).contains(dim))
        .ok_or_else(|| refused("config.json does not say `hidden_size`".into()))?;
    let sentence = json("sentence_bert_config.json").unwrap_or_default();
    let max_tokens = match number(&sentence, "max_seq_length") {
        Some(most) => usize::try_from(most).unwrap_or(TOKENS_MAX),
        None => TOKENS_MAX,
    };
    let limits = [
        number(&config, "max_position_embeddings"),
        number(&tokenizer, "model_max_length"),
    ];
    let most = limits.into_iter().flatten().min().unwrap_or(u64::MAX);
    let max_tokens = max_tokens
        .min(usize::try_from(most).unwrap_or(usize::MAX))
        .max(1);
    let pooling = json("1_Pooling/config.json").unwrap_or_default();
    let cls = pooling
        .get("pooling_mode_cls_token")
        .and_then(Value::as_bool);
    Ok(Found {
        model: (*model).to_owned(),
        files,
        dim,
        max_tokens,
        alone: weights
            .windows(DYNAMIC.len())
            .any(|window| window == DYNAMIC),
        pooling: match cls {
            Some(true) => Pooling::Cls,
            _ => Pooling::Mean,
        },
    })
}

/// Returns the files that hold further weights: `model.onnx_data`, `model.onnx.data`.
fn external_data(folder: &Path, model: &str) -> io::Result<Vec<String>> {
    let (below, file) = model
        .rsplit_once('/')
        .map_or(("", model), |(below, file)| (below, file));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join(below))? {
        let Ok(name) = entry?.file_name().into_string() else {
            continue;
        };
        let rest = name.strip_prefix(file).unwrap_or_default();
        if rest.starts_with("_data") || rest.starts_with(".data") {
            found.push(match below {
                "" => name,
                _ => format!("{below}/{name}"),
            });
        }
    }
    found.sort();
    Ok(found)
}
