//! The nudge: one line for a session that calls tools and stores nothing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use icm_api::{Caller, LogRequest};
use icm_service::Service;

/// Number of sessions counted at the same time. Beyond it, counting starts again, which costs a nudge at most. Raised,
/// the table takes more memory.
const SESSIONS_MAX: usize = 1_024;
/// The calls of each session since its last store.
#[derive(Debug, Default)]
pub(super) struct Nudges {
    calls: Mutex<HashMap<String, u64>>,
}

impl Nudges {
    fn locked(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call that succeeded; `writes` says that it may have stored something. Returns the line for its reply if
    /// the calls since the last store of the session are a multiple of the setting; 0 switches the line off. The line
    /// names the tool `store`.
    pub(super) fn count(
        &self,
        service: &Service,
        caller: &Caller,
        writes: bool,
        (after, store): (u64, &str),
    ) -> Option<String> {
        if after == 0 {
            return None;
        }
        let session = caller.session.as_ref().unwrap_or(&caller.actor).clone();
        let known = self.locked().get(&session).copied();
        // Another process may have served the session before.
        let before = known.unwrap_or_else(|| recalls_since_store(service, caller, after));
        let calls = match writes {
            true => 0,
            false => before + 1,
        };
        let mut all = self.locked();
        if all.len() >= SESSIONS_MAX && !all.contains_key(&session) {
            all.clear();
        }
        all.insert(session, calls);
        (calls > 0 && calls.is_multiple_of(after)).then(|| {
            format!(
                "hint: {calls} tool calls since this session last stored something; {store} keeps what is worth \
                 knowing next time"
            )
        })
    }
}

/// Returns the number of recalls of a session since its last store, as recorded in the log, `most` at most.
fn recalls_since_store(service: &Service, caller: &Caller, most: u64) -> u64 {
    let Some(session) = &caller.session else {
        return 0;
    };
    let request = LogRequest {
        session: Some(session.clone()),
        limit: usize::try_from(most).ok(),
        ..LogRequest::default()
    };
    let mut recalls = 0;
    let counted = service.log(&request, &mut |entry| {
        let is_recall = entry.kind == "memory.recalled";
        let front = &entry.facts["shown"]["front"];
        recalls += u64::from(is_recall && (front == "recall" || front == "context"));
        !matches!(
            &*entry.kind,
            "memory.stored" | "memory.updated" | "session.started"
        )
    });
    match counted {
        Ok(_) => recalls.min(most.saturating_sub(1)),
        Err(error) => {
            tracing::debug!(%error, "the calls of a session were not counted");
            0
        }
    }
}
