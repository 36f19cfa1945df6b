//! Links that hold at one moment and not at another.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use icm_log::{EventId, Kind, Position, SessionId};
use icm_projections::fold::{EntityId, Family, Link, Version};
use icm_projections::{ALL_IDS, Views, topic_fits};

use crate::history::basis::At;
use crate::memory::link::relation_text;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::ids::id_text;
use icm_api::{Diff, DiffRequest, MemoryLink};

/// The links that events between two moments touched.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// The events that added the links which may have been added or removed.
    pub(crate) named: BTreeSet<EventId>,
    /// `true` if an undo may have reached any other link, too.
    pub(crate) any: bool,
}

impl Service {
    /// Returns the links that the events after one moment, up to another, touched. Events of kind `linked` add links,
    /// events of kind `unlinked` remove them. Only the events of `session` count, if one is given.
    pub(crate) fn links_touched(
        &self,
        views: &Views,
        [from, to]: [At; 2],
        [linked, unlinked]: [Kind; 2],
        session: Option<SessionId>,
    ) -> QueryResult<Touched> {
        let mut touched = Touched::default();
        let after = Position(from.position.0.saturating_add(1));
        let cursor = self.log.cursor_before(after, views)?;
        self.log.scan(&cursor, &mut |event| {
            if event.position > to.position {
                return ControlFlow::Break(());
            }
            let of_session = session.is_none_or(|session| session == event.head.session());
            match event.head.kind() {
                _ if event.position < after || !of_session => {}
                kind if kind == linked => _ = touched.named.insert(event.id),
                kind if kind == unlinked => touched.named.extend(event.head.refs()),
                Kind::LOG_UNDONE => touched.any = true,
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(touched)
    }

    /// Adds the memory links that hold at only one of two moments to a diff. A link that went because one of its ends
    /// was forgotten is left out: the diff shows that memory as forgotten.
    pub(super) fn compare_memory_links(
        &self,
        views: &Views,
        request: &DiffRequest,
        diff: &mut Diff,
        [from, to]: [At; 2],
    ) -> QueryResult<()> {
        if views.tally().links == 0 {
            return Ok(());
        }
        let session = match &request.session {
            Some(session) => Some(self.session_meant(session)?),
            None => None,
        };
        let kinds = [Kind::MEMORY_LINKED, Kind::MEMORY_UNLINKED];
        let touched = self.links_touched(views, [from, to], kinds, session)?;
        let mut links = Vec::new();
        if touched.any {
            let mut seen = BTreeSet::new();
            views.each_at(ALL_IDS, to.position, false, &mut |entity, _| {
                let every = views.folder().links(views, entity)?;
                links.extend(every.into_iter().filter(|link| seen.insert(link.event)));
                Ok(true)
            })?;
        } else {
            for event in touched.named {
                links.extend(views.link_by(event)?);
            }
        }
        for link in links {
            let (then, now) = (link.held_at(from.position), link.held_at(to.position));
            let (here, other, list) = match (then, now) {
                (false, true) => (to, from, &mut diff.linked),
                (true, false) => (from, to, &mut diff.unlinked),
                _ => continue,
            };
            let ends = (views.resolve(link.from)?, views.resolve(link.to)?);
            if ends.0 == ends.1 || says_so(views, &link, ends, other.position)? {
                continue;
            }
            let end = |entity: EntityId| -> QueryResult<Option<Version>> {
                let version = views.version_at(entity, here.position)?;
                let seen =
                    |version: &Version| version.is_alive() && version.family() == Family::Memory;
                Ok(version.filter(seen))
            };
            let (Some(a), Some(b)) = (end(ends.0)?, end(ends.1)?) else {
                continue;
            };
            let fits = |version: &Version| {
                let held = version.topic.as_deref().unwrap_or_default();
                let asked = request.topic.as_deref();
                asked.is_none_or(|asked| topic_fits(asked, held))
            };
            if fits(&a) || fits(&b) {
                list.push(MemoryLink {
                    from: id_text(a.id),
                    relation: relation_text(&link),
                    to: id_text(b.id),
                    event: link.event.to_string(),
                });
            }
        }
        for list in [&mut diff.linked, &mut diff.unlinked] {
            list.sort();
            list.dedup_by(|b, a| (&a.from, &a.relation, &a.to) == (&b.from, &b.relation, &b.to));
        }
        Ok(())
    }
}

/// Returns `true` if a link of these ends and this relation holds at a position, by any event.
fn says_so(
    views: &Views,
    link: &Link,
    ends: (EntityId, EntityId),
    position: Position,
) -> QueryResult<bool> {
    let relation = relation_text(link);
    for other in views.links_at(ends.0, position)? {
        let same = (views.resolve(other.from)?, views.resolve(other.to)?) == ends;
        if same && relation_text(&other) == relation {
            return Ok(true);
        }
    }
    Ok(false)
}
