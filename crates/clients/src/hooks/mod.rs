//! The shapes of hooks: the JSON that a client gives to a hook, and the answer that the client takes.
//!
//! A *hook* is a command that a client runs at a moment of its session. [`read()`] turns the client's JSON into an
//! [`Input`], [`answer`] writes a context in the client's form, and [`which()`] tells the client of a shared plugin.
//! Everything here is a function of its arguments: no files, no clock, no environment.
//!
//! ```
//! use icm_clients::hooks::{self, Moment};
//! use icm_clients::names::Client;
//!
//! let stdin = br#"{"session_id":"s1","cwd":"/src","hook_event_name":"UserPromptSubmit","prompt":"where?"}"#;
//! let input = hooks::read(Client::ClaudeCode, "UserPromptSubmit", stdin)?;
//! assert_eq!(input.moment, Moment::Prompt);
//! assert_eq!(input.prompt.as_deref(), Some("where?"));
//!
//! let answer = hooks::answer(&input, "Invoices live in PostgreSQL.");
//! assert!(answer.starts_with(br#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit""#));
//! assert!(hooks::answer(&input, "").is_empty());
//! # Ok::<(), hooks::HookError>(())
//! ```

mod answer;
mod error;
mod events;
mod fields;
mod input;
mod read;
mod which;

pub use answer::{answer, neutral};
pub use error::HookError;
pub use events::{EventRow, defaults, events, freshens, injects};
pub use input::{Cause, Input, Moment, Subagent};
pub use read::read;
pub use which::{PLUGIN, is_borrowed, which};

/// Most characters of a context (UTF-16 units). Raised, Claude Code puts contexts above 10,000 into a file and shows a
/// part.
pub const CONTEXT_CHARS_MAX: usize = 9_000;

/// Most tokens of a context. Raised, Codex takes the middle out of contexts above about 2,500.
pub const CONTEXT_TOKENS_MAX: usize = 2_400;

/// Most bytes of a hook's input, 16 MiB; tool results are the largest inputs. Raised, a hook may need more memory.
pub const INPUT_LEN_MAX: usize = 16 << 20;
