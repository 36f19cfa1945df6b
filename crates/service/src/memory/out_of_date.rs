//! Says if a memory is out of date: a link or the rules of `icm-replaces` say that a newer memory took its place.
//!
//! A text is not stored again if a memory has it, unless that memory is out of date: then the text counts again, and
//! needs a memory that is newer than the one which took its place.

use icm_log::{Position, facts};
use icm_projections::Views;
use icm_projections::fold::Version;
use icm_replaces::Verdict;

use crate::command::ValidatedStore;
use crate::memory::dated_statement::{DatedStatement, newest_and_like};
use crate::memory::expiry::Expired;
use crate::service::Service;
use crate::snapshot::QueryResult;

impl Service {
    /// Returns `true` if a memory that has the text of a store is superseded, or seems to be replaced by a memory that
    /// the stored one may replace in turn.
    pub(crate) fn is_out_of_date(
        &self,
        views: &Views,
        checked: &ValidatedStore,
        there: &Version,
    ) -> QueryResult<bool> {
        let links = self.links_of(views, there, views.tally().position, &|_| true)?;
        Ok(links.is_superseded() || self.seems_overtaken(views, checked, there)?)
    }

    /// Returns `true` if a memory that has the text of a store seems to be replaced by a memory that the stored one may
    /// replace in turn. A store that changes no answer would be repeated without end.
    pub(crate) fn seems_overtaken(
        &self,
        views: &Views,
        checked: &ValidatedStore,
        there: &Version,
    ) -> QueryResult<bool> {
        let now_ms = i64::try_from(self.now_ms()).unwrap_or(i64::MAX);
        let valid_ms = checked.occurred_at_ms.unwrap_or(now_ms);
        let is_external = checked.trust == facts::Trust::External;
        let home = (&*checked.topic, &*checked.scope.to_text());
        let mut others = newest_and_like(views, home, &checked.content)?;
        let expired = Expired::now(self, views);
        others.retain(|(said, version)| {
            let may_replace = said.valid_ms <= valid_ms && said.yields_to(is_external);
            may_replace && !expired.hides(version)
        });
        expired.checked()?;
        self.seems_replaced(views, there, &others, views.tally().position, &|_| true)
    }

    /// Returns `true` if one of `others` seems to replace a memory as of a position. A link between the two decides
    /// instead of the rules, and a memory that is superseded itself replaces nothing. `sees` admits the memories whose
    /// links count.
    pub(crate) fn seems_replaced(
        &self,
        views: &Views,
        version: &Version,
        others: &[(DatedStatement, Version)],
        position: Position,
        sees: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<bool> {
        let Some(of) = DatedStatement::of_version(version) else {
            return Ok(false);
        };
        let links = self.links_of(views, version, position, sees)?;
        for (by, newer) in others {
            let is_settled = links.others.iter().any(|linked| linked.settles(&by.id));
            if !is_settled
                && by.may_replace(&of)
                && by.statement.judge(&of.statement).verdict == Verdict::Yes
                && !self.links_of(views, newer, position, sees)?.is_superseded()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
