//! The authors of a memory: of its first version, and of the text of today.

use serde::{Deserialize, Serialize};

use crate::Trust;

/// The writer of a memory's text, and the maker of the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authors {
    /// The writer of the shown text.
    pub text: Author,
    /// The writer of the first version, if the text is another actor's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first: Option<Author>,
}

/// An actor and the time of its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// Name of the actor.
    pub actor: String,
    /// Trust in what it wrote.
    pub trust: Trust,
    /// Time of its event, RFC 3339.
    pub at: String,
}

impl Author {
    /// Returns the trust in an actor's own words; `None` for an actor that is neither a person nor an agent by its name.
    pub fn trust_of(actor: &str) -> Option<Trust> {
        match actor.split_once(':').map_or(actor, |(kind, _)| kind) {
            "agent" => Some(Trust::Agent),
            "user" => Some(Trust::User),
            _ => None,
        }
    }
}
