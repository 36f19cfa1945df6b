//! Full text: finds the versions that hold the words of a query, best first.
//!
//! A view of *content versions*. Each version has an ordinal, is indexed once while it is live, and moves to a second
//! index when it is closed, so that a search of today never pays for history. Versions since the last commit wait in a
//! [`Tail`] and are searched with the rest. Everything here can be deleted and built again.
//!
//! This crate knows nothing of events, positions, rows or the clock. The caller's `visible`, asked by ordinal, decides
//! whether a version held at the moment of a query.
//!
//! ```
//! use icm_text::{Doc, Tail, TextFilter, TextIndex, TextQuery};
//!
//! let mut index = TextIndex::in_memory()?;
//! let doc = |ordinal, content| Doc { ordinal, content, topic: "build", stored: b"1", ..Doc::default() };
//! let mut writer = index.writer()?;
//! writer.add_live(&doc(0, "The linker fails with E0382 in `src/main.rs`."));
//! writer.commit("@1")?;
//! index.reload()?;
//! assert_eq!(index.checkpoint(), Some("@1"));
//!
//! let mut tail = Tail::new();
//! tail.add(&doc(1, "The linker works again."));
//!
//! let query = TextQuery { text: "which errors did linkers give? main.rs", limit: 10, ..TextQuery::default() };
//! let answer = index.search(&tail, &query, &|_ordinal| true)?;
//! assert_eq!(answer.hits[0].ordinal, 0);
//! assert_eq!(answer.hits[0].matched, ["linkers", "main.rs", "main", "rs"]);
//! assert_eq!(answer.hits[1].ordinal, 1);
//! # Ok::<(), icm_text::TextError>(())
//! ```

mod analyze;
mod candidate;
mod collect;
mod count;
mod coverage;
mod emoji;
mod error;
mod folder;
mod growing;
mod index;
mod language;
mod near;
mod parts;
mod passages;
mod schema;
mod search;
mod segment;
mod signature;
mod similar;
mod stats;
mod stopwords;
mod tail;
#[cfg(test)]
mod tests;
mod tokens;
mod traits;

pub use analyze::has_prose;
pub use analyze::{content_words, word_places};
pub use collect::Sight;
pub use coverage::Coverage;
pub use coverage::{Likeness, STEM_ALIKE};
pub use error::{TantivyError, TextError};
pub use growing::{Growing, Map};
pub use index::CLOSED_META;
pub use index::{TextIndex, TextWriter};
pub use near::Sought;
pub use passages::{PASSAGES_VERSION, Passage, is_short, passages};
pub use schema::Analysed;
pub use schema::{keyword_fits, keyword_has};
pub use search::{Found, Prepared};
pub use search::{Hit, InScope, TermUse, TextAnswer, TextFilter, TextQuery};
pub use signature::{BANDS, Likely, Signature};
pub use similar::{Words, similarity_ppm};
pub use tail::Tail;
pub use traits::Traits;

/// One content version to index, or a passage of one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Doc<'a> {
    /// Dense, never used twice.
    pub ordinal: u64,
    /// Searched as words, and exactly by [`TextFilter::topic`].
    pub topic: &'a str,
    /// Searched as words.
    pub content: &'a str,
    /// Searched as words.
    pub raw_excerpt: Option<&'a str>,
    /// Searched as words, and whole by [`TextFilter::keyword`].
    pub keywords: &'a [String],
    /// Searched as words.
    pub key: Option<&'a str>,
    /// Its day is searched as words: `8 may 2023`.
    pub occurred_at_ms: Option<i64>,
    /// Used only by [`TextFilter::scopes`].
    pub scope: &'a str,
    /// Opaque bytes, returned with a hit.
    pub stored: &'a [u8],
    /// The whole text, if `content` is a passage of it: near texts are found by the whole text.
    pub whole: Option<&'a str>,
    /// `true` for a passage after the first one of its text: not a version of its own.
    pub is_further: bool,
}
