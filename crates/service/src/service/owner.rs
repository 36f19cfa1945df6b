//! Asking the owner of the store instead of doing the work here.

use std::sync::atomic::Ordering;

use icm_projections::ranking::Ranking;
use serde::de::DeserializeOwned;

use super::Service;
use crate::peer::{Forwarded, PeerParams, fill_in};
use icm_api::Caller;

impl Service {
    /// What the answers of two processes depend on beside the store: the program and what its user has set. Only
    /// on the same terms does one answer for the other.
    pub fn terms(&self) -> String {
        let terms = || {
            // Thirty numbers in words take a command longer than all else here: most have the usual ones.
            let ranking = (self.ranking != Ranking::default()).then_some(&self.ranking);
            let settings = (
                (
                    env!("CARGO_PKG_VERSION"),
                    &self.secrets,
                    &self.dedup,
                    &self.decay,
                ),
                (self.hint_over, ranking, self.links, &self.model),
                std::env::var_os("TZ"),
            );
            blake3::hash(format!("{settings:?}").as_bytes()).to_hex()[..32].to_owned()
        };
        self.terms.get_or_init(terms).clone()
    }

    /// What the owner answers, where there is one that does.
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
