//! Secrets at the door: what an append-only log must not take in.
//!
//! The log keeps every byte, so a password that was stored once stays. [`Policy`] says what happens
//! to a text that holds one; `rules.rs` is the table of what a secret looks like, `find.rs` looks,
//! `shape.rs` tells secrets from placeholders and ordinary words. Nothing here knows the log, and no
//! message ever repeats what was found.

mod find;
mod rules;
mod shape;

use regex::RegexSet;
use serde::{Deserialize, Serialize, Serializer};

pub use find::{Found, find};

/// What happens to a write that holds a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The write is refused.
    #[default]
    Refuse,
    /// It is stored, and the receipt says so.
    Warn,
    /// `[secret: RULE]` is stored in its place, and the receipt says so.
    Mask,
    /// Nobody looks.
    Off,
}

/// What is done about secrets, and what is none.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Policy {
    action: Action,
    /// Made where there is something in it: even an empty one costs a short command a tenth of its time.
    #[serde(serialize_with = "patterns")]
    allow: Option<RegexSet>,
}

/// Serialises expressions as their texts.
fn patterns<S: Serializer>(allow: &Option<RegexSet>, serializer: S) -> Result<S::Ok, S::Error> {
    allow.as_ref().map(RegexSet::patterns).serialize(serializer)
}

impl Policy {
    /// What is done about a secret.
    pub fn action(&self) -> Action {
        self.action
    }

    /// A policy; what `allow` matches is no secret. The patterns are tried on what a rule found, with
    /// the name that it was assigned to, if any.
    ///
    /// # Errors
    /// Why a pattern is no regular expression, in one line.
    pub fn new(action: Action, allow: &[String]) -> Result<Policy, String> {
        let plain = |error: regex::Error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        };
        let allow = match allow {
            [] => None,
            patterns => Some(RegexSet::new(patterns).map_err(plain)?),
        };
        Ok(Policy { action, allow })
    }

    /// The text with `[secret: RULE]` for each secret; `None` where there is none.
    pub fn masked(&self, text: &str) -> Option<String> {
        match self.action {
            Action::Off => None,
            _ => mask(text, &self.found(text)),
        }
    }

    /// Returns the secrets in a text, but for those that are allowed.
    pub fn found(&self, text: &str) -> Vec<Found> {
        let mut found = find(text);
        if let Some(allow) = &self.allow {
            found.retain(|found| !allow.is_match(&text[found.whole.clone()]));
        }
        find::merged(found)
    }
}

/// Returns the text with each secret replaced by `[secret: RULE]`; `None` if `found` is empty.
pub fn mask(text: &str, found: &[Found]) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let mut masked = String::with_capacity(text.len());
    let mut end = 0;
    for found in found {
        masked.push_str(&text[end..found.secret.start]);
        masked.push_str(&format!("[secret: {}]", found.rule));
        end = found.secret.end;
    }
    masked.push_str(&text[end..]);
    Some(masked)
}

#[cfg(test)]
mod tests;
