//! Facts of `feedback.recorded` and `feedback.applied`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FactsError;
use super::memory::{ScopeKind, Trust};
use super::wire::{Fields, named_codes};
use crate::id::{ScopeId, SubjectId};

named_codes!(
    /// The judgement of a memory. A code without a name in this version is kept.
    Verdict(u8) {
        /// No judgement.
        UNSAID = 0, "";
        /// The memory was wrong, or led to a wrong prediction.
        WRONG = 1, "wrong";
        /// The memory was right, and helped.
        USEFUL = 2, "useful";
    }
);

/// Facts of `feedback.recorded`: 40 bytes. The subject is the new feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeedbackRecorded {
    /// The judgement of `memory`.
    pub verdict: Verdict,
    /// Kind of the scope.
    pub scope_kind: ScopeKind,
    /// Trust in the feedback.
    pub trust: Trust,
    /// Always 1: the feedback is there for the first time.
    pub causal_length: u32,
    /// The memory that the prediction came from; zero if none.
    pub memory: SubjectId,
    /// Scope id; zero for the global scope.
    pub scope_id: ScopeId,
}

impl FeedbackRecorded {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40);
        out.extend_from_slice(&[self.verdict.0, self.scope_kind.code(), self.trust.code(), 0]);
        out.extend_from_slice(&self.causal_length.to_le_bytes());
        out.extend_from_slice(&self.memory.0);
        out.extend_from_slice(&self.scope_id.0);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("feedback.recorded", bytes);
        let (verdict, scope_kind, trust, _) = (at.u8()?, at.u8()?, at.u8()?, at.u8()?);
        Ok(FeedbackRecorded {
            verdict: Verdict(verdict),
            scope_kind: ScopeKind::from_code(scope_kind)
                .ok_or_else(|| at.error("unknown scope kind"))?,
            trust: Trust::from_code(trust).ok_or_else(|| at.error("unknown trust"))?,
            causal_length: at.u32()?,
            memory: SubjectId(at.array()?),
            scope_id: ScopeId(at.array()?),
        })
    }
}

/// Facts of `feedback.applied`: 24 bytes. The subject is the memory that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeedbackApplied {
    /// The judgement of the memory.
    pub verdict: Verdict,
    /// The feedback that the judgement came with; zero if none.
    pub feedback: SubjectId,
}

impl FeedbackApplied {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.verdict.0, 0, 0, 0, 0, 0, 0, 0];
        out.extend_from_slice(&self.feedback.0);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("feedback.applied", bytes);
        let verdict = Verdict(at.u8()?);
        at.array::<7>()?;
        let feedback = SubjectId(at.array()?);
        Ok(FeedbackApplied { verdict, feedback })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let recorded = FeedbackRecorded {
            verdict: Verdict::WRONG,
            scope_kind: ScopeKind::Project,
            trust: Trust::Agent,
            causal_length: 1,
            memory: SubjectId([7; 16]),
            scope_id: ScopeId([8; 16]),
        };
        let mut bytes = recorded.encode();
        assert_eq!(bytes.len(), 40);
        assert_eq!(FeedbackRecorded::decode(&bytes), Ok(recorded));
        assert!(FeedbackRecorded::decode(&bytes[..39]).is_err());
        bytes.push(9);
        assert_eq!(
            FeedbackRecorded::decode(&bytes),
            Ok(recorded),
            "later fields are left alone"
        );
        bytes[1] = 9;
        assert!(FeedbackRecorded::decode(&bytes).is_err());

        let applied = FeedbackApplied {
            verdict: Verdict(200),
            feedback: SubjectId([6; 16]),
        };
        assert_eq!(applied.encode().len(), 24);
        assert_eq!(FeedbackApplied::decode(&applied.encode()), Ok(applied));
        assert!(FeedbackApplied::decode(&applied.encode()[..23]).is_err());
        assert_eq!(applied.verdict.name(), None);
    }

    #[test]
    fn codes_are_for_ever() {
        let codes: Vec<_> = Verdict::NAMES
            .iter()
            .map(|(code, it)| (code.0, *it))
            .collect();
        assert_eq!(codes, [(0, ""), (1, "wrong"), (2, "useful")]);
    }
}
