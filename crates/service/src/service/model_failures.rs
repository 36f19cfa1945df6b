//! What is remembered of a model that could not be used.

use icm_api::error::plain;
use icm_vectors::embed::EmbedError;

/// That the model could not be used.
#[derive(Default)]
pub(crate) struct ModelFailures {
    /// What the user was told.
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
