//! The handling of texts that a store has already.

use serde::{Deserialize, Serialize};

/// The reaction to a text that the topic nearly has already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnSimilar {
    /// Store the new memory and link it to the similar one.
    #[default]
    Link,
    /// Update the similar memory with the new text.
    Update,
    /// Do not compare texts: the same text is stored again.
    Off,
}

impl OnSimilar {
    /// All reactions.
    pub const ALL: [OnSimilar; 3] = [OnSimilar::Link, OnSimilar::Update, OnSimilar::Off];

    /// Returns the name in the config file.
    pub fn name(self) -> &'static str {
        match self {
            OnSimilar::Link => "link",
            OnSimilar::Update => "update",
            OnSimilar::Off => "off",
        }
    }
}

/// The handling of texts that a store has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dedup {
    /// Least similarity of similar texts, in parts per million; 0 finds only equal texts.
    pub similar_ppm: u32,
    /// The reaction to a similar text.
    pub on_similar: OnSimilar,
}

impl Default for Dedup {
    fn default() -> Self {
        Dedup {
            similar_ppm: 850_000,
            on_similar: OnSimilar::default(),
        }
    }
}
