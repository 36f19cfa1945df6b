//! An embedder that runs ONNX models on this machine, through fastembed.

mod file_note;
mod folder;
pub(crate) mod library;
mod record;
#[cfg(test)]
pub(crate) mod tests;

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fastembed::{
    InitOptionsUserDefined, QuantizationMode, TextEmbedding, TokenizerFiles,
    UserDefinedEmbeddingModel,
};
use icm_vectors::embed::{EmbedError, Embedder};

pub use folder::Pooling;
pub(crate) use folder::{TOKENIZER, Traits};
pub use record::Record;
pub(crate) use record::{path_in, plain_name};

use crate::unit::{is_blank, unit};

/// Texts in one run of the model, sorted by length so that little is padded. Raised, a text takes longer (21 ms with
/// 16, 16 ms with 8 or one, on two busy cores).
const BATCH: usize = 8;
/// Threads within one run. Raised, texts of this size gain little.
const THREADS_MAX: usize = 4;

/// A model in a folder. The first text loads it, and it stays loaded.
///
/// The first [`max_tokens`](Record::max_tokens) tokens of a text are read (512 words or fewer); the rest does not
/// count.
pub struct FastEmbedder {
    folder: PathBuf,
    lib: PathBuf,
    record: Record,
    model: Mutex<Option<TextEmbedding>>,
}

impl FastEmbedder {
    /// Opens a model without loading it or ONNX Runtime. A folder without `model.toml` is read through for the id,
    /// about 1 ms a megabyte. `lib` is the folder of a store for ONNX Runtime.
    ///
    /// # Errors
    /// The folder holds no model, or an incomplete one.
    pub fn open(folder: &Path, lib: &Path) -> Result<FastEmbedder, EmbedError> {
        Ok(FastEmbedder::of(Record::of_folder(folder)?, folder, lib))
    }

    pub(crate) fn of(record: Record, folder: &Path, lib: &Path) -> FastEmbedder {
        FastEmbedder {
            folder: folder.to_owned(),
            lib: lib.to_owned(),
            record,
            model: Mutex::new(None),
        }
    }

    /// Returns the record of the model.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Embeds texts, each with this prefix.
    fn embed_with(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let dim = self.record.dim;
        let mut vectors = vec![vec![0.0; dim]; texts.len()];
        let mut order: Vec<usize> = (0..texts.len())
            .filter(|at| !is_blank(texts[*at]))
            .collect();
        if order.is_empty() {
            return Ok(vectors);
        }
        // Texts of similar length share a run, so that little is padded.
        order.sort_by_key(|at| texts[*at].len());
        let mut guard = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let model = match guard.as_mut() {
            Some(model) => model,
            None => guard.insert(self.load()?),
        };
        let batch = if self.record.alone { 1 } else { BATCH };
        for places in order.chunks(batch) {
            let texts: Vec<String> = places
                .iter()
                .map(|at| format!("{prefix}{}", texts[*at]))
                .collect();
            let found = panic::catch_unwind(AssertUnwindSafe(|| model.embed(&texts, None)));
            let found = found
                .map_err(|_| self.failed("it failed within ONNX Runtime"))?
                .map_err(|e| self.failed(&one_line(&e.to_string())))?;
            if found.len() != places.len() {
                return Err(self.failed(&format!(
                    "it gave {} vectors for {} texts",
                    found.len(),
                    places.len()
                )));
            }
            for (at, vector) in places.iter().zip(found) {
                if vector.len() != dim {
                    return Err(self.record.damaged(&format!(
                        "it gives vectors of {} numbers, not of {dim}",
                        vector.len()
                    )));
                }
                vectors[*at] = unit(vector)
                    .ok_or_else(|| self.failed("it gave a number that is not finite"))?;
            }
        }
        Ok(vectors)
    }

    fn failed(&self, why: &str) -> EmbedError {
        self.record.unavailable(
            why,
            "see whether it fits this ONNX Runtime, or choose another model with `icm model use`",
        )
    }

    fn load(&self) -> Result<TextEmbedding, EmbedError> {
        let record = &self.record;
        let mut files = std::collections::BTreeMap::new();
        for note in &record.files {
            let bytes = note
                .read(&self.folder)
                .map_err(|why| record.damaged(&why))?;
            files.insert(note.name.as_str(), bytes);
        }
        let mut take = |name: &str| files.remove(name).unwrap_or_default();
        let weights = take(&record.weights);
        let tokenizer = TokenizerFiles {
            tokenizer_file: take("tokenizer.json"),
            config_file: take("config.json"),
            special_tokens_map_file: take("special_tokens_map.json"),
            tokenizer_config_file: take("tokenizer_config.json"),
        };
        let mut model = UserDefinedEmbeddingModel::new(weights, tokenizer)
            .with_pooling(match record.pooling {
                Pooling::Mean => fastembed::Pooling::Mean,
                Pooling::Cls => fastembed::Pooling::Cls,
            })
            .with_quantization(match record.alone {
                true => QuantizationMode::Dynamic,
                false => QuantizationMode::None,
            });
        for (name, bytes) in files {
            let name = name.rsplit('/').next().unwrap_or(name);
            model = model.with_external_initializer(name.to_owned(), bytes);
        }
        let no_library = |why: String| {
            record.unavailable(
                why,
                "`icm model install` brings ONNX Runtime; or name its library with `ORT_DYLIB_PATH`",
            )
        };
        let path = library::find(&self.lib).map_err(|why| no_library(why.to_string()))?;
        let environment = library::load(&path).map_err(no_library)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let options = InitOptionsUserDefined::new()
            .with_environment(environment)
            .with_max_length(record.max_tokens)
            .with_intra_threads(threads.min(THREADS_MAX))
            // The threads sleep between two texts.
            .with_session_config("session.intra_op.allow_spinning", "0");
        let loaded = panic::catch_unwind(AssertUnwindSafe(|| {
            TextEmbedding::try_new_from_user_defined(model, options)
        }));
        loaded
            .map_err(|_| record.damaged("ONNX Runtime cannot load it"))?
            .map_err(|e| record.damaged(&one_line(&e.to_string())))
    }
}

impl Embedder for FastEmbedder {
    fn model(&self) -> &str {
        &self.record.id
    }

    fn dim(&self) -> usize {
        self.record.dim
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_with(&self.record.passage_prefix, texts)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.embed_with(&self.record.query_prefix, &[query])?;
        vectors
            .pop()
            .ok_or_else(|| self.failed("it gave no vector"))
    }
}

/// Returns the message of a library on one line, shortened.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(240) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
