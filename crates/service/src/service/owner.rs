//! Asking the owner of the store instead of doing the work here.

use std::sync::atomic::Ordering;

use serde::de::DeserializeOwned;

use super::Service;
use crate::peer::{Attempt, Forwarded, PeerParams};
use icm_api::Caller;
use icm_log::CommandId;
use icm_log::env::random_16;

impl Service {
    /// Returns the owner's answer, if there is an owner that answers. Without an answer a write may be done all the
    /// same: `attempt` then holds the attempt that was made.
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
            let now = R::WRITES.then(|| self.begin_attempt(attempt));
            let params = PeerParams {
                settings_digest: self.settings_digest(),
                caller: caller.clone(),
                command: now.map(|now| now.command.to_string()),
                asked_ms: now.map_or(0, |now| now.asked_ms),
                is_again: now.is_some_and(|now| now.is_again),
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

    /// Returns the attempt that begins now. The first is stored in `attempt`; later ones are marked as made again.
    pub(crate) fn begin_attempt(&self, attempt: &mut Option<Attempt>) -> Attempt {
        let now = match *attempt {
            Some(first) => Attempt {
                is_again: true,
                ..first
            },
            None => Attempt {
                command: CommandId(random_16(&*self.ground.env)),
                asked_ms: self.now_ms(),
                is_again: false,
            },
        };
        *attempt = Some(now);
        now
    }
}
