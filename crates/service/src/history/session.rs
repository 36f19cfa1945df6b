//! The session that a person means.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use icm_log::{SessionId, hash};

use crate::service::Service;
use icm_api::error::{Result, ServiceError};

/// Digits of an id in the log.
const ID_LEN: usize = 32;
/// Digits that name an id, at least. Fewer are a name.
const PREFIX_MIN: usize = 4;

impl Service {
    /// Returns the session that `text` means: its name, its id in the log, or the beginning of one. A name that no event
    /// is of is taken as it is. A text of hexadecimal digits costs a walk through the log.
    ///
    /// # Errors
    /// `Invalid` if the ids of several sessions begin so.
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
            match is_named {
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
}
