//! Embedders: from a text to a unit vector, so that texts of like meaning lie near each other.
//!
//! An embedder knows texts and nothing else: no events, ordinals, files of a store or clock. The built-in embedder,
//! [`StaticEmbedder`], is a table inside the binary: it loads no model and asks no network.
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

/// Turns texts into vectors. A call may block (on a model, a disk, a server) and may come from any thread.
pub trait Embedder: Send + Sync {
    /// Returns the name of the source of the vectors: model, version and everything else that changes them. Vectors of
    /// two names are never compared with each other.
    fn model(&self) -> &str;

    /// Returns how many numbers a vector has: at least 1, constant for the life of the embedder.
    fn dim(&self) -> usize;

    /// Returns `true` if the embedder runs on this machine and needs milliseconds for a text. A recall then has it
    /// embed the last few texts before it answers.
    fn is_near(&self) -> bool {
        true
    }

    /// Returns one vector of [`dim`](Self::dim) finite numbers for each text, in the order of the texts, each of length
    /// 1 (within 1e-5). A text in which the model finds nothing (an empty text, say) gives zeros, so its cosine with
    /// any vector is 0. No text is too long: a model that reads a beginning only says how much it reads.
    ///
    /// # Errors
    /// If the model cannot be asked; then no vector is returned, not even for the first texts.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Returns the vector of a query. It differs from [`embed`](Self::embed) for models that were trained to tell a
    /// question from a passage.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.embed(&[query])?;
        vectors.pop().ok_or_else(|| EmbedError::Unavailable {
            model: self.model().to_owned(),
            why: "it gave no vector".to_owned(),
            hint: Some("choose another one with `icm model use`".to_owned()),
        })
    }
}
