//! Secrets: finds them in texts before an append-only log takes them in.
//!
//! The log keeps every byte, so a stored password stays. [`Policy`] decides about a text with a secret. `rules.rs` has
//! the patterns, `find.rs` searches, `shape.rs` tells secrets from placeholders and ordinary words. The module does not
//! know the log, and no message repeats a secret.

mod find;
mod rules;
mod shape;

use regex::RegexSet;
use serde::{Deserialize, Serialize, Serializer};

pub use find::{Found, find};

/// The reaction to a write with a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The write is refused.
    #[default]
    Refuse,
    /// The text is stored, and the receipt has a warning.
    Warn,
    /// `[secret: RULE]` is stored in place of the secret, and the receipt has a warning.
    Mask,
    /// Texts are not searched.
    Off,
}

/// The reaction to secrets, and the exceptions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Policy {
    action: Action,
    /// `None` without exceptions: making even an empty set costs a short command a tenth of its time.
    #[serde(serialize_with = "patterns")]
    allow: Option<RegexSet>,
}

/// Serialises a set of expressions as their texts.
fn patterns<S: Serializer>(allow: &Option<RegexSet>, serializer: S) -> Result<S::Ok, S::Error> {
    allow.as_ref().map(RegexSet::patterns).serialize(serializer)
}

impl Policy {
    /// Returns the reaction to a secret.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Makes a policy. Matches of `allow` are not secrets; the patterns are tried on a found secret together with the
    /// name that it is assigned to.
    ///
    /// # Errors
    /// The reason why a pattern is not a regular expression, in one line.
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

    /// Returns the text with `[secret: RULE]` for each secret; `None` if it has none.
    pub fn masked(&self, text: &str) -> Option<String> {
        match self.action {
            Action::Off => None,
            _ => mask(text, &self.found(text)),
        }
    }

    /// Returns the secrets in a text, without those that are allowed.
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
