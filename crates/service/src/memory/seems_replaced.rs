//! Says at a store which memory of the topic the new one seems to replace. Only the receipt says so; no event does.
//!
//! The rules answer under the lock of the store. For the pairs that they leave open the judge, a command of the user,
//! is asked once the lock is free.

use icm_log::Position;
use icm_projections::Views;
use icm_projections::fold::Version;
use icm_replaces::{Judgement, Verdict};
use serde_json::json;

use crate::command::ValidatedStore;
use crate::memory::dated_statement::{DatedStatement, moment, newest_and_like, newest_of};
use crate::memory::expiry::Expired;
use crate::memory::present::created_at;
use crate::service::Service;
use crate::snapshot::QueryResult;
use crate::summarizer;
use icm_api::ids::id_range;
use icm_api::{Action, NoProgress, Receipt, Replaced, Summarizer};

/// Memories that a receipt names, the newest ones.
const NAMED_MAX: usize = 3;
/// Memories that the judge is asked about at one store. Each may take the judge's whole time.
const ASKED_MAX: usize = 1;
/// The reason of a pair that the judge decided.
const JUDGED: &str = "the judge says so";
/// The reason of a pair whose newer text was said before, until the older one replaced it.
const BACK: &str = "says again what that one replaced";

impl Service {
    /// Sets the judge of doubtful pairs, which only stores ask. By default there is none.
    #[must_use]
    pub fn with_judge(mut self, judge: Option<Summarizer>) -> Service {
        self.settings.judge = judge;
        self
    }

    /// Adds the memories that a new one seems to replace to its receipt, and the pairs that the judge has to decide.
    ///
    /// If the text was said before, also old memories most like it are compared: one of them took the text's place.
    pub(crate) fn seems_to_replace(
        &self,
        views: &Views,
        checked: &ValidatedStore,
        receipt: Receipt,
        may_be_said: bool,
    ) -> QueryResult<Receipt> {
        if receipt.action != Action::Stored {
            return Ok(receipt);
        }
        let newest = views.tally().position;
        let stored_ms = self.stored_ms(views, &receipt, newest)?;
        let Some(new) = DatedStatement::of_stored(checked, &receipt.id, stored_ms) else {
            return Ok(receipt);
        };
        let home = (&*new.topic, &*new.scope);
        let mut candidates = match may_be_said {
            true => newest_and_like(views, home, &new.content)?,
            false => Vec::new(),
        };
        let said_before = |old: &DatedStatement| old.content == new.content && old.id < new.id;
        if !candidates.iter().any(|(old, _)| said_before(old)) {
            candidates = newest_of(views, home, newest)?;
        }
        // The near memory is not always among the newest.
        let near = receipt.similar.as_ref().and_then(|near| id_range(&near.id));
        if let Some((id, _)) = near
            && let Some(version) = views.version_at(views.resolve(id)?, newest)?
            && let Some(said) = DatedStatement::of_version(&version)
            && candidates.iter().all(|(known, _)| known.id != said.id)
        {
            candidates.push((said, version));
        }
        let expired = Expired::now(self, views);
        candidates.retain(|(old, version)| {
            old.id != new.id && new.may_replace(old) && !expired.hides(version)
        });
        expired.checked()?;
        candidates.sort_by(|(a, _), (b, _)| (b.valid_ms, &b.id).cmp(&(a.valid_ms, &a.id)));
        // A repeated request tells of the links that its first attempt knew.
        let then = Position(receipt.position.min(newest.0));
        let (mut replaced, mut doubtful) = (Vec::new(), Vec::new());
        let returns: Vec<bool> = candidates
            .iter()
            .map(|(old, _)| returns_from(&new, old, &candidates))
            .collect();
        for ((old, version), returns) in candidates.into_iter().zip(returns) {
            let Judgement { verdict, reason } = new.statement.judge(&old.statement);
            let (verdict, reason) = match verdict {
                Verdict::No | Verdict::Doubtful if returns => (Verdict::Yes, BACK),
                verdict => (verdict, reason.text()),
            };
            let is_told = match verdict {
                Verdict::Yes => replaced.len() < NAMED_MAX,
                Verdict::Doubtful => self.settings.judge.is_some() && doubtful.len() < ASKED_MAX,
                Verdict::No => false,
            };
            let links = || self.links_of(views, &version, then, &|_| true);
            if !is_told || links()?.is_superseded() {
                continue;
            }
            let named = |reason: &str| Replaced {
                id: old.id.clone(),
                reason: reason.to_owned(),
                content: old.content.clone(),
            };
            match verdict == Verdict::Yes {
                true => replaced.push(named(reason)),
                false => doubtful.push(named(JUDGED)),
            }
        }
        Ok(Receipt {
            seems_to_replace: replaced,
            to_be_judged: doubtful,
            ..receipt
        })
    }

    /// Returns when the memory of a receipt was stored, in milliseconds. A repeated request stored it earlier.
    fn stored_ms(&self, views: &Views, receipt: &Receipt, newest: Position) -> QueryResult<i64> {
        let position = Position(receipt.position);
        let earlier = match id_range(&receipt.id).filter(|_| position <= newest) {
            Some((id, _)) => views.version_at(views.resolve(id)?, position)?,
            None => None,
        };
        Ok(match earlier {
            Some(version) => moment(&created_at(&version)),
            None => i64::try_from(self.now_ms()).unwrap_or(i64::MAX),
        })
    }

    /// Returns the receipt after the judge has decided the open pairs. A judge that fails decides nothing; a notice
    /// says why.
    pub(crate) fn judged(&self, content: &str, mut receipt: Receipt) -> Receipt {
        let doubtful = std::mem::take(&mut receipt.to_be_judged);
        let Some(judge) = &self.settings.judge else {
            return receipt;
        };
        if !receipt.seems_to_replace.is_empty() {
            return receipt;
        }
        for old in doubtful {
            match asked(judge, &old.content, content) {
                Ok(true) => receipt.seems_to_replace.push(old),
                Ok(false) => {}
                Err(why) => self.notice(format!("{why}; the memory is stored")),
            }
        }
        receipt
    }
}

/// Returns `true` if the text of a new memory was said before, and `old` has replaced that memory. *We use npm* does not
/// replace *we use pnpm now* by its words, but does so if it was said before.
fn returns_from(
    new: &DatedStatement,
    old: &DatedStatement,
    candidates: &[(DatedStatement, Version)],
) -> bool {
    let mut said_before = candidates
        .iter()
        .filter(|(was, _)| was.content == new.content);
    said_before.any(|(was, _)| {
        old.may_replace(was) && old.statement.judge(&was.statement).verdict == Verdict::Yes
    })
}

/// Returns `true` if the judge says that a text replaces an older one.
///
/// # Errors
/// A phrase, if the command fails or answers neither yes nor no.
fn asked(judge: &Summarizer, older: &str, newer: &str) -> Result<bool, String> {
    let input = json!({ "older": older, "newer": newer }).to_string();
    let called = ("judge", "see `[judge]` in the config file");
    let answer = summarizer::run_called(called, judge, input, &NoProgress);
    let answer = answer.map_err(|error| error.to_string())?;
    let first = answer.split(|c: char| !c.is_alphanumeric()).next();
    match first.unwrap_or_default().to_lowercase().as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("the judge answered neither `yes` nor `no`".to_owned()),
    }
}
