//! Facts of `alert.set`.

use schemars::JsonSchema;
use serde::Serialize;

use super::FactsError;
use super::wire::Fields;
use crate::id::{ScopeId, SessionId};

/// Facts of `alert.set`: 40 bytes. The alert is for a session, or for a project; the other id is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AlertSet {
    /// The session that the alert is for; zero if it is for a project.
    pub session: SessionId,
    /// The scope of the project that the alert is for; zero if it is for a session.
    pub scope_id: ScopeId,
    /// The time from which the alert is shown, in milliseconds since the epoch; 0 if it is shown at once.
    pub due_ms: u64,
}

impl AlertSet {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.session.0.to_vec();
        out.extend_from_slice(&self.scope_id.0);
        out.extend_from_slice(&self.due_ms.to_le_bytes());
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("alert.set", bytes);
        Ok(AlertSet {
            session: SessionId(at.array()?),
            scope_id: ScopeId(at.array()?),
            due_ms: at.u64()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let facts = AlertSet {
            session: SessionId([7; 16]),
            scope_id: ScopeId::ZERO,
            due_ms: 1_796_000_000_123,
        };
        assert_eq!(facts.encode().len(), 40);
        assert_eq!(AlertSet::decode(&facts.encode()), Ok(facts));
        assert!(AlertSet::decode(&facts.encode()[..39]).is_err());
    }
}
