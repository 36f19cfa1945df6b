//! The commits of the two tiers, and how each names the other.

use crate::error::TextError;
use crate::schema::VERSION;
use crate::tokens::Tokens;

/// What the two `meta.json` say: the tiers belong together when the live one names the
/// commit that the closed one is at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Commit {
    pub(super) live_opstamp: u64,
    pub(super) closed_opstamp: u64,
    /// Of the documents of the live tier, and of the closed one.
    pub(super) tokens: [Tokens; 2],
    pub(super) checkpoint: Option<String>,
}

fn prefix() -> String {
    format!("icm-text {VERSION} closed ")
}

/// What a live commit carries: the closed tier's commit, the tokens of both, the checkpoint.
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
