//! The commits of the two tiers, and how each refers to the other.

use crate::error::TextError;
use crate::schema::VERSION;
use crate::tokens::Tokens;

/// The contents of both tiers' `meta.json`. The tiers belong together if the live tier names the commit that the closed
/// tier is at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Commit {
    pub(super) live_opstamp: u64,
    pub(super) closed_opstamp: u64,
    /// The tokens of the documents in the live tier, and in the closed one.
    pub(super) tokens: [Tokens; 2],
    pub(super) checkpoint: Option<String>,
}

fn prefix() -> String {
    format!("icm-text {VERSION} closed ")
}

/// Returns the payload of a live commit: the closed tier's commit, the tokens of both tiers, the checkpoint.
pub(super) fn payload(closed_opstamp: u64, tokens: [Tokens; 2], checkpoint: &str) -> String {
    let [Tokens([a, b]), Tokens([c, d])] = tokens;
    let prefix = prefix();
    format!("{prefix}{closed_opstamp} tokens {a} {b} {c} {d}\n{checkpoint}")
}

pub(super) fn parse_payload(live_opstamp: u64, payload: &str) -> Result<Commit, TextError> {
    let parse = || {
        let (first, checkpoint) = payload.strip_prefix(&prefix())?.split_once('\n')?;
        let (closed_opstamp, tokens) = first.split_once(" tokens ")?;
        let counts: Result<Vec<u64>, _> = tokens.split(' ').map(str::parse).collect();
        let counts: [u64; 4] = counts.ok()?.try_into().ok()?;
        let [a, b, c, d] = counts;
        Some(Commit {
            live_opstamp,
            closed_opstamp: closed_opstamp.parse().ok()?,
            tokens: [Tokens([a, b]), Tokens([c, d])],
            checkpoint: Some(checkpoint.to_owned()),
        })
    };
    parse().ok_or_else(|| TextError::Format {
        found: payload.lines().next().unwrap_or_default().to_owned(),
    })
}
