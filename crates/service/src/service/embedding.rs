//! The model that embeds, the vectors at hand, and the failures of the model.

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
    /// Vectors that need not be made again, if this process has opened them.
    pub(crate) cache: Mutex<Option<Cache>>,
}

/// That the model could not be used.
#[derive(Default)]
pub(crate) struct ModelFailures {
    /// The last line that the user was told.
    pub(crate) told: Option<String>,
    /// That the user was told how much is not embedded.
    pub(crate) told_lag: bool,
    /// It gave the vector of a query, last time.
    pub(crate) answers: bool,
    /// When a question had no vector, in milliseconds since 1970.
    pub(crate) at_ms: Option<u64>,
    /// And when memories had none, which is no reason not to ask.
    pub(crate) batch_at_ms: Option<u64>,
}

impl ModelFailures {
    pub(crate) fn tell(&mut self, error: &EmbedError, so: &str) -> Option<String> {
        let mut line = format!("{}; {so}", plain(error));
        if let EmbedError::Unavailable {
            hint: Some(hint), ..
        } = error
        {
            line = format!("{line} ({hint})");
        }
        if self.told.as_ref() == Some(&line) {
            return None;
        }
        self.told = Some(line.clone());
        Some(line)
    }
}
