//! Facts of `session.started` and `session.ended`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FactsError;
use super::wire::{Fields, named_codes};
use crate::id::SessionId;

named_codes!(
    /// The reason for which a session starts, or continues with a fresh context. A code without a name in this version
    /// is kept.
    SessionCause(u8) {
        /// The reason is not known.
        UNKNOWN = 0, "unknown";
        /// A new session begins.
        STARTUP = 1, "startup";
        /// An older session continues.
        RESUME = 2, "resume";
        /// The context was cleared.
        CLEAR = 3, "clear";
        /// The context was compacted.
        COMPACT = 4, "compact";
        /// A copy of another session begins.
        FORK = 5, "fork";
        /// A sub-agent begins.
        SUBAGENT = 6, "subagent";
    }
);
named_codes!(
    /// The reason for which a session ends. A code without a name in this version is kept.
    SessionEnd(u8) {
        /// The reason is not known.
        UNKNOWN = 0, "unknown";
        /// The person left.
        EXIT = 1, "exit";
        /// The context was cleared; another session may begin.
        CLEAR = 2, "clear";
        /// The person signed out.
        LOGOUT = 3, "logout";
        /// Another session is resumed.
        RESUME = 4, "resume";
        /// A sub-agent has done its work.
        SUBAGENT = 5, "subagent";
    }
);
named_codes!(
    /// The client in which a session runs; 0 if only the payload names it. A code without a name in this version is
    /// kept.
    ClientCode(u16) {
        /// The payload names the client.
        IN_WORDS = 0, "";
        /// Claude Code.
        CLAUDE_CODE = 1, "claude-code";
        /// Claude Desktop.
        CLAUDE_DESKTOP = 2, "claude-desktop";
        /// Codex CLI.
        CODEX = 3, "codex";
        /// Gemini CLI.
        GEMINI_CLI = 4, "gemini-cli";
        /// Antigravity.
        ANTIGRAVITY = 5, "antigravity";
        /// Cursor.
        CURSOR = 6, "cursor";
        /// Windsurf.
        WINDSURF = 7, "windsurf";
        /// VS Code.
        VSCODE = 8, "vscode";
        /// Copilot CLI.
        COPILOT_CLI = 9, "copilot-cli";
        /// Zed.
        ZED = 10, "zed";
        /// OpenCode.
        OPENCODE = 11, "opencode";
        /// Cline.
        CLINE = 12, "cline";
        /// Roo Code.
        ROO = 13, "roo";
        /// Kilo Code.
        KILO = 14, "kilo";
        /// Continue.
        CONTINUE = 15, "continue";
        /// Amp.
        AMP = 16, "amp";
        /// Amazon Q.
        AMAZON_Q = 17, "amazon-q";
        /// Kiro.
        KIRO = 18, "kiro";
        /// Goose.
        GOOSE = 19, "goose";
        /// Qwen Code.
        QWEN_CODE = 20, "qwen-code";
        /// Kimi Code.
        KIMI_CODE = 21, "kimi-code";
        /// Crush.
        CRUSH = 22, "crush";
        /// Junie.
        JUNIE = 23, "junie";
        /// Factory.
        FACTORY = 24, "factory";
        /// Qoder.
        QODER = 25, "qoder";
        /// Aider.
        AIDER = 26, "aider";
        /// Pi.
        PI = 27, "pi";
    }
);

/// Facts of `session.started`: 24 bytes. The head names the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionStarted {
    /// The session that this one works for; zero if it works for none.
    pub parent: SessionId,
    /// The client in which the session runs.
    pub client: ClientCode,
    /// The reason for which the session starts.
    pub cause: SessionCause,
}

impl SessionStarted {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.parent.0.to_vec();
        out.extend_from_slice(&self.client.0.to_le_bytes());
        out.push(self.cause.0);
        out.extend_from_slice(&[0; 5]);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("session.started", bytes);
        let facts = SessionStarted {
            parent: SessionId(at.array()?),
            client: ClientCode(at.u16()?),
            cause: SessionCause(at.u8()?),
        };
        at.array::<5>()?;
        Ok(facts)
    }
}

/// Facts of `session.ended`: 8 bytes. The head names the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionEnded {
    /// The reason for which the session ends.
    pub reason: SessionEnd,
}

impl SessionEnded {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        vec![self.reason.0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("session.ended", bytes);
        let reason = SessionEnd(at.u8()?);
        at.array::<7>()?;
        Ok(SessionEnded { reason })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_and_back() {
        let started = SessionStarted {
            parent: SessionId([7; 16]),
            client: ClientCode::CODEX,
            cause: SessionCause::COMPACT,
        };
        assert_eq!(started.encode().len(), 24);
        assert_eq!(SessionStarted::decode(&started.encode()), Ok(started));
        assert!(SessionStarted::decode(&started.encode()[..23]).is_err());
        let ended = SessionEnded {
            reason: SessionEnd(200),
        };
        assert_eq!(ended.encode().len(), 8);
        assert_eq!(SessionEnded::decode(&ended.encode()), Ok(ended));
        assert_eq!(ended.reason.name(), None);
        assert!(SessionEnded::decode(&[1]).is_err());
    }

    #[test]
    fn every_code_and_name_of_a_client_is_there_once() {
        let codes: BTreeSet<_> = ClientCode::NAMES.iter().map(|(code, _)| code).collect();
        let names: BTreeSet<_> = ClientCode::NAMES.iter().map(|(_, name)| name).collect();
        assert_eq!(codes.len(), ClientCode::NAMES.len());
        assert_eq!(names.len(), ClientCode::NAMES.len());
        assert_eq!(ClientCode::named("codex"), Some(ClientCode::CODEX));
        assert_eq!(ClientCode::named("emacs"), None);
        assert_eq!(SessionCause::CLEAR.name(), Some("clear"));
    }
}
