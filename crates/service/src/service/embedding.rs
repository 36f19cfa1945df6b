//! The embedding part of a service: the model, its cached vectors, and its failures.

use std::sync::Mutex;

use icm_api::error::plain;
use icm_vectors::embed::EmbedError;

use crate::embedding::Model;
use icm_vectors::embed::Cache;

/// The embedding part of a service.
#[derive(Default)]
pub(crate) struct Embedding {
    pub(crate) model: Model,
    pub(crate) failures: Mutex<ModelFailures>,
    /// Vectors by text, once this process has opened the cache.
    pub(crate) cache: Mutex<Option<Cache>>,
}

/// The failures of the model.
#[derive(Default)]
pub(crate) struct ModelFailures {
    /// The last failure that the user was told.
    pub(crate) told: Option<String>,
    /// `true` once the user was told how many memories are not embedded.
    pub(crate) told_lag: bool,
    /// `true` if the model embedded the last question.
    pub(crate) answers: bool,
    /// Time of the last question that the model did not embed, in milliseconds since 1970.
    pub(crate) at_ms: Option<u64>,
    /// Time of the last failed batch of memories. The model is still asked for questions afterwards.
    pub(crate) batch_at_ms: Option<u64>,
}

impl ModelFailures {
    pub(crate) fn tell(&mut self, error: &EmbedError, so: &str) -> Option<String> {
        let mut line = format!("{}; {so}", plain(error));
        if let Some(hint) = error.hint() {
            line = format!("{line} ({hint})");
        }
        if self.told.as_ref() == Some(&line) {
            return None;
        }
        self.told = Some(line.clone());
        Some(line)
    }
}
