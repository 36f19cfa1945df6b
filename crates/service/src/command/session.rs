//! The events of sessions.

use icm_log::facts::{self, ClientCode};
use icm_log::{Kind, NewEvent, SessionId, SubjectId, hash, payload};

use super::RequestKeyOf;
use crate::service::Service;
use icm_api::Caller;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::limits::SOURCE_LEN_MAX;
use icm_api::session::{SessionStart, SessionStop};

impl Service {
    /// Notes that the caller's session starts, or goes on with a fresh context. Returns the event's position.
    ///
    /// # Errors
    /// `Invalid` for a caller without a session, and for names that are too long.
    pub fn start_session(&self, caller: &Caller, start: &SessionStart) -> Result<u64> {
        let session = session_name(caller)?;
        for (what, given) in [
            ("the parent session", &start.parent),
            ("the client", &start.client),
            ("the folder", &start.folder),
            ("the kind of agent", &start.agent),
        ] {
            limits::optional_text(what, given.as_deref().unwrap_or_default(), SOURCE_LEN_MAX)?;
        }
        let masked = |text: &Option<String>| {
            let text = text.as_ref()?;
            Some((self.settings.secrets.masked(text)).unwrap_or_else(|| text.clone()))
        };
        let [parent, client, folder, agent] =
            [&start.parent, &start.client, &start.folder, &start.agent].map(masked);
        let facts = facts::SessionStarted {
            parent: (parent.as_deref()).map_or(SessionId::ZERO, hash::session_id),
            client: (client.as_deref())
                .and_then(ClientCode::named)
                .unwrap_or(ClientCode::IN_WORDS),
            cause: start.cause,
        };
        let payload = payload::SessionStarted {
            session,
            parent: parent.as_deref(),
            client: client.as_deref(),
            project: caller.project.as_deref(),
            folder: folder.as_deref(),
            agent: agent.as_deref(),
        };
        self.append_of_session(
            caller,
            Kind::SESSION_STARTED,
            facts.encode(),
            payload::encode(&payload),
        )
    }

    /// Notes that the caller's session ends. Returns the event's position.
    ///
    /// # Errors
    /// `Invalid` for a caller without a session.
    pub fn end_session(&self, caller: &Caller, stop: SessionStop) -> Result<u64> {
        session_name(caller)?;
        let facts = facts::SessionEnded {
            reason: stop.reason,
        };
        let payload = payload::encode(&payload::Nothing {});
        self.append_of_session(caller, Kind::SESSION_ENDED, facts.encode(), payload)
    }

    fn append_of_session(
        &self,
        caller: &Caller,
        kind: Kind,
        facts: Vec<u8>,
        payload: Vec<u8>,
    ) -> Result<u64> {
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let event = NewEvent {
                kind,
                subject: SubjectId::ZERO,
                refs: Vec::new(),
                facts: facts.clone(),
                payload: payload.clone(),
            };
            let appended = command.append(views, vec![event])?;
            Ok(appended[0].position.0)
        })
    }
}

fn session_name(caller: &Caller) -> Result<&str> {
    caller
        .session
        .as_deref()
        .ok_or_else(|| ServiceError::invalid_with("there is no session here", "set `ICM_SESSION`"))
}
