//! Rules that find the sentences of a text that are worth keeping.
//!
//! [`from_text`] reads plain text and Markdown, and [`from_transcript`] the new part of a coding agent's transcript.
//! Both split the text into sentences, score each sentence by the phrases in it, and return the sentences that reach a
//! threshold. No model is used: the same text and the same [`Rules`] give the same answer.
//!
//! A sentence is returned whole and as written. Questions, guesses, reports of progress, code and the text that a
//! memory server injected are left out. The answer is a proposal for a person to decide on.
//!
//! This crate is a function of texts and of transcripts in the formats of clients. It never knows a store, events or the clock.
//!
//! ```
//! use icm_extract::{Importance, Rules, Signal, from_text};
//!
//! let text = "Thanks! We decided to keep invoices in PostgreSQL 16. Should we cache them? Let me look at the tests.";
//! let found = from_text(text, &Rules::default());
//! assert_eq!(found.len(), 1);
//! assert_eq!(found[0].text, "We decided to keep invoices in PostgreSQL 16.");
//! assert!(found[0].signals.contains(&Signal::Decision));
//! assert_eq!(found[0].importance, Importance::Medium);
//! ```

mod alike;
mod best;
mod blocks;
mod cues;
mod dates;
mod error;
mod found;
mod frames;
mod keywords;
pub mod read_offsets;
mod score;
mod sentences;
mod speakers;
mod stamps;
mod text;
mod transcript;
mod words;

pub use alike::{ALIKE_MAX, Compared, alike, says_same};
pub use error::ExtractError;
pub use found::{Found, Importance, Origin, Passage, Rules, Signal, Speaker};
pub use text::{from_text, passages_of_text};
pub use transcript::{LINE_LEN_MAX, Progress, from_transcript, is_transcript, passages};
