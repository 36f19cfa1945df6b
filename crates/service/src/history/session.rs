//! Finding the session that a person names.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use icm_log::facts::Facts;
use icm_log::{Kind, SessionId, hash};

use crate::service::Service;
use icm_api::error::{Result, ServiceError};

/// Hexadecimal digits of a session's id in the log.
const ID_LEN: usize = 32;
/// The fewest digits that are taken for an id. Fewer are a name. Raised, short ids are no longer found.
const PREFIX_MIN: usize = 4;

impl Service {
    /// Returns the session that `text` means: its name, its id in the log, or a beginning of the id. A name without
    /// events is returned as it is. A beginning of an id costs a walk through the log; a whole id, a walk back to the newest
    /// event of the session.
    ///
    /// # Errors
    /// `Invalid` if the ids of several sessions begin with the text.
    pub fn session_meant(&self, text: &str) -> Result<SessionId> {
        let named = hash::session_id(text);
        let digits = text.to_ascii_lowercase();
        let is_id = (PREFIX_MIN..=ID_LEN).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            return Ok(named);
        }
        let (mut is_named, mut meant) = (false, BTreeSet::new());
        self.log.scan_back(None, &mut |event| {
            let session = event.head.session();
            is_named = session == named;
            if !session.is_zero() && session.to_string().starts_with(&digits) {
                meant.insert(session);
            }
            // No other session has the whole id.
            match is_named || (digits.len() == ID_LEN && !meant.is_empty()) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        match (is_named, meant.len()) {
            (true, _) | (false, 0) => Ok(named),
            (false, 1) => Ok(meant.pop_first().unwrap_or(named)),
            (false, _) => Err(ServiceError::invalid_with(
                format!("the ids of several sessions begin with `{text}`"),
                "give more digits; `icm sessions --json` has them whole",
            )),
        }
    }

    /// Returns a session and all sessions that work for it, by their `session.started`. Reads the whole log.
    ///
    /// # Errors
    /// As [`Service::session_meant`].
    pub(crate) fn sessions_below(&self, text: &str) -> Result<BTreeSet<SessionId>> {
        let meant = self.session_meant(text)?;
        let mut parents: Vec<(SessionId, SessionId)> = Vec::new();
        self.log.scan_back(None, &mut |event| {
            if event.head.kind() == Kind::SESSION_STARTED
                && let Ok(Facts::SessionStarted(started)) = Facts::of(&event.head)
                && !started.parent.is_zero()
            {
                parents.push((started.parent, event.head.session()));
            }
            ControlFlow::Continue(())
        })?;
        let mut below = BTreeSet::from([meant]);
        let mut next = vec![meant];
        while let Some(session) = next.pop() {
            for (_, child) in parents.iter().filter(|(parent, _)| *parent == session) {
                if below.insert(*child) {
                    next.push(*child);
                }
            }
        }
        Ok(below)
    }
}
