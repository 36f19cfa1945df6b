//! Asking the owner of the store instead of doing the work here.

use std::sync::atomic::Ordering;

use serde::de::DeserializeOwned;

use super::Service;
use crate::peer::{Attempt, Forwarded, PeerParams};
use icm_api::Caller;
use icm_log::CommandId;
use icm_log::env::random_16;

impl Service {
    /// Returns the owner's answer, if there is an owner that answers. A write that was asked for may be done without an
    /// answer: `attempt` says so then.
    pub(crate) fn ask_owner<R: Forwarded, A: DeserializeOwned>(
        &self,
        caller: &Caller,
        request: &R,
        attempt: &mut Option<Attempt>,
    ) -> Option<A> {
        if !self.peer.is_for(R::WRITES) {
            return None;
        }
        let answer = self.peer.ask(R::METHOD, &mut || {
            let now = R::WRITES.then(|| self.attempted(attempt));
            let params = PeerParams {
                terms: self.terms(),
                caller: caller.clone(),
                command: now.map(|now| now.command.to_string()),
                since_ms: now.and_then(|now| now.since_ms),
                request,
            };
            serde_json::value::to_raw_value(&params).ok()
        });
        let answer = answer.and_then(|answer| serde_json::from_str(answer.get()).ok());
        if answer.is_some() && R::WRITES {
            self.wrote.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Returns the attempt that is made now; from here on it is an earlier one.
    pub(crate) fn attempted(&self, attempt: &mut Option<Attempt>) -> Attempt {
        let attempt = attempt.get_or_insert_with(|| Attempt {
            command: CommandId(random_16(&*self.ground.env)),
            since_ms: None,
        });
        let now = *attempt;
        attempt.since_ms.get_or_insert_with(|| self.now_ms());
        now
    }
}
