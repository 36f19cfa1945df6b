//! Embedders: from a text to a unit vector, so that texts that mean the same lie near each other.
//!
//! An embedder knows texts and nothing else: no events, ordinals, files of a store or clock. The
//! built-in one, [`StaticEmbedder`], is a table inside the binary: no model is loaded, no network asked.
//!
//! ```
//! use icm_vectors::embed::{Embedder, StaticEmbedder};
//!
//! let embedder = StaticEmbedder::built_in();
//! let vectors = embedder.embed(&["the name of the pet", "our dog is called Biscuit", "a failed build"])?;
//! let cosine = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>();
//! assert!(cosine(0, 1) > cosine(0, 2));
//! # Ok::<(), icm_vectors::embed::EmbedError>(())
//! ```

mod cache;
mod error;
mod rows;
mod static_table;
#[cfg(test)]
mod tests;
mod wordpiece;

pub use cache::Cache;
pub use error::EmbedError;
pub use static_table::{MAX_TOKENS, StaticEmbedder};

/// Turns texts into vectors. May block (on a model, a disk, a server); is asked from any thread.
pub trait Embedder: Send + Sync {
    /// Names what the vectors come from: model, version and whatever else changes them. Vectors of
    /// two ids are never compared with each other.
    fn model(&self) -> &str;

    /// Numbers in each vector, at least 1; the same for the life of the embedder.
    fn dim(&self) -> usize;

    /// Whether it is on this machine and answers within milliseconds a text: then a recall has it embed
    /// the last few texts before it answers.
    fn is_near(&self) -> bool {
        true
    }

    /// One vector of [`dim`](Self::dim) finite numbers a text, in the order of the texts, each of
    /// length 1 (within 1e-5). A text in which the model finds nothing (an empty one, say) is all
    /// zeros, so its cosine with anything is 0. No text is too long: a model that reads only a
    /// beginning says how much.
    ///
    /// # Errors
    /// Where the model cannot be asked; then no vector is given, not those of the first texts either.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector to search by, of what somebody asks: as [`embed`](Self::embed) gives it, but for
    /// models that were trained to be told a question from a passage.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.embed(&[query])?;
        vectors.pop().ok_or_else(|| EmbedError::Unavailable {
            model: self.model().to_owned(),
            why: "it gave no vector".to_owned(),
            hint: None,
        })
    }
}
