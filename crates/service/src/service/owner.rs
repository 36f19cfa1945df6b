//! Asking the owner of the store instead of doing the work here.

use std::sync::atomic::Ordering;

use serde::de::DeserializeOwned;

use super::Service;
use crate::peer::{Forwarded, PeerParams, fill_in};
use icm_api::Caller;

impl Service {
    /// Returns the owner's answer, if there is an owner that answers.
    pub(crate) fn ask_owner<R: Forwarded, A: DeserializeOwned>(
        &self,
        caller: &Caller,
        request: &mut R,
    ) -> Option<A> {
        if !self.peer.is_for(R::WRITES) {
            return None;
        }
        let answer = self.peer.ask(R::METHOD, &mut || {
            fill_in(request)?;
            let params = PeerParams {
                terms: self.terms(),
                caller: caller.clone(),
                request: &*request,
            };
            serde_json::value::to_raw_value(&params).ok()
        });
        let answer = answer.and_then(|answer| serde_json::from_str(answer.get()).ok());
        if answer.is_some() && R::WRITES {
            self.wrote.store(true, Ordering::Relaxed);
        }
        answer
    }
}
