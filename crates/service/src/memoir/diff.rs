//! Differences of memoirs, concepts and their links between two moments.

use std::collections::BTreeSet;

use icm_log::{Kind, Position};
use icm_projections::Views;
use icm_projections::fold::{EntityId, Link, Version};
use serde_json::Map;

use super::link::{Edge, named};
use super::row::{FIELDS, fields_of};
use super::{Memoirs, concept, shown};
use crate::history::basis::At;
use crate::history::diff::word_difference;
use crate::memory::link::relation_text;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::ids::id_text;
use icm_api::{GraphChange, GraphDiff};

/// Rows of one kind that differ, as they were before and after.
type Moved = Vec<(Option<Version>, Version)>;

impl Service {
    /// Returns the differences of memoirs, concepts and links, of one memoir or of all. Walks their concepts once, and
    /// the events between.
    pub(crate) fn graph_diff(
        &self,
        views: &Views,
        from: At,
        to: At,
        only: Option<&str>,
    ) -> QueryResult<GraphDiff> {
        let mut diff = GraphDiff::default();
        let mut now = self.all_memoirs_at(views, to.position)?;
        if let Some(given) = only {
            let (entity, _) = self.any_memoir_at(views, given, to.position)?;
            now.retain(|known, _| *known == entity);
        }
        if now.is_empty() {
            return Ok(diff);
        }
        let mut before = self.memoirs_at(views, from.position)?;
        before.retain(|known, _| now.contains_key(known));
        let mut concepts: Vec<(EntityId, Moved)> = Vec::new();
        for (entity, memoir) in &now {
            self.compare_memoir(
                views,
                &mut diff,
                (*entity, memoir),
                before.get(entity),
                from,
                to,
            )?;
            let mut moved = Moved::new();
            for (concept, after) in self.all_concepts_at(views, *entity, to.position)? {
                let lived = before.contains_key(entity);
                let was = views.version_at(concept, from.position)?;
                if after.from > from.position || lived != memoir.is_alive() {
                    moved.push((was.filter(|was| was.is_alive() && lived), after));
                }
            }
            concepts.push((*entity, moved));
        }
        for (entity, moved) in &concepts {
            let memoir = &now[entity];
            for (was, after) in moved {
                let lives = after.is_alive() && memoir.is_alive();
                match (was, lives) {
                    (None, true) => diff.added.push(concept(memoir, after)),
                    (Some(was), false) => diff.forgotten.push(concept(memoir, was)),
                    (Some(was), true) => diff.changed.extend(change(was, after)),
                    (None, false) => {}
                }
            }
        }
        let by_name = |a: &icm_api::Concept, b: &icm_api::Concept| {
            (&a.memoir, &a.name).cmp(&(&b.memoir, &b.name))
        };
        diff.added.sort_by(by_name);
        diff.forgotten.sort_by(by_name);
        (diff.changed).sort_by(|a, b| (&a.memoir, &a.id).cmp(&(&b.memoir, &b.id)));
        self.compare_links(views, &mut diff, (&before, &now), from, to)?;
        Ok(diff)
    }

    fn compare_memoir(
        &self,
        views: &Views,
        diff: &mut GraphDiff,
        (entity, after): (EntityId, &Version),
        before: Option<&Version>,
        from: At,
        to: At,
    ) -> QueryResult<()> {
        match (before, after.is_alive()) {
            (None, true) => {
                let memoir = self.memoir(views, (entity, after), to.position)?;
                diff.memoirs_added.push(memoir);
            }
            (Some(before), false) => {
                let memoir = self.memoir(views, (entity, before), from.position)?;
                diff.memoirs_forgotten.push(memoir);
            }
            (Some(before), true) => diff.memoirs_changed.extend(change(before, after)),
            (None, false) => {}
        }
        Ok(())
    }

    /// Adds the links that hold at only one of the moments, by the events between them.
    fn compare_links(
        &self,
        views: &Views,
        diff: &mut GraphDiff,
        (before, now): (&Memoirs, &Memoirs),
        from: At,
        to: At,
    ) -> QueryResult<()> {
        for link in self.concept_links_touched(views, from, to)? {
            let (held, holds) = (link.held_at(from.position), link.held_at(to.position));
            let (position, memoirs) = match (held, holds) {
                (false, true) => (to.position, now),
                (true, false) => (from.position, before),
                _ => continue,
            };
            let ends = (views.resolve(link.from)?, views.resolve(link.to)?);
            let ends_at = |entity: EntityId| self.shown_at(views, memoirs, entity, position);
            let (Some(a), Some(b)) = (ends_at(ends.0)?, ends_at(ends.1)?) else {
                continue;
            };
            let edge = Edge {
                from: ends.0,
                to: ends.1,
                relation: relation_text(&link),
                event: link.event,
                position: link.position,
            };
            match holds {
                true => diff.linked.push(named(&edge, &a, &b)),
                false => diff.unlinked.push(named(&edge, &a, &b)),
            }
        }
        diff.linked.sort();
        diff.unlinked.sort();
        Ok(())
    }

    /// Returns the concept at a position, if it is alive and in one of these memoirs.
    fn shown_at(
        &self,
        views: &Views,
        memoirs: &Memoirs,
        entity: EntityId,
        position: Position,
    ) -> QueryResult<Option<Version>> {
        let version = views.version_at(entity, position)?;
        let Some(version) = version.filter(Version::is_alive) else {
            return Ok(None);
        };
        let Some(memoir) = version.graph.and_then(|row| row.memoir) else {
            return Ok(None);
        };
        let memoir = memoirs.get(&views.resolve(memoir)?);
        Ok(memoir.is_some_and(Version::is_alive).then_some(version))
    }

    /// Returns the links of concepts that an event between two moments may have added or removed.
    fn concept_links_touched(&self, views: &Views, from: At, to: At) -> QueryResult<Vec<Link>> {
        let kinds = [Kind::CONCEPT_LINKED, Kind::CONCEPT_UNLINKED];
        let touched = self.links_touched(views, [from, to], kinds, None)?;
        let mut links = Vec::new();
        if touched.any {
            let mut seen = BTreeSet::new();
            for entity in self.all_memoirs_at(views, to.position)?.keys() {
                for (concept, _) in self.all_concepts_at(views, *entity, to.position)? {
                    let every = views.folder().links(views, concept)?;
                    links.extend(every.into_iter().filter(|link| seen.insert(link.event)));
                }
            }
            return Ok(links);
        }
        for event in touched.named {
            links.extend(views.link_by(event)?);
        }
        Ok(links)
    }
}

/// Returns the differences between two versions of a memoir or a concept, if there are any.
fn change(before: &Version, after: &Version) -> Option<GraphChange> {
    let [mut old, mut new] = [before, after].map(fields_of);
    let name = after.graph.and_then(|row| row.memoir);
    let mut change = GraphChange {
        id: id_text(after.id),
        memoir: shown(after.topic.as_ref()),
        name: name.map(|_| shown(after.key.as_ref())),
        fields: Vec::new(),
        before: Map::new(),
        after: Map::new(),
        text_diff: match (&before.content, &after.content) {
            (Some(old), Some(new)) if old != new => word_difference(old, new),
            _ => Vec::new(),
        },
    };
    for name in FIELDS {
        let [old, new] = [&mut old, &mut new].map(|it| it.remove(name).unwrap_or_default());
        if old != new {
            change.fields.push(name.to_owned());
            change.before.insert(name.to_owned(), old);
            change.after.insert(name.to_owned(), new);
        }
    }
    (!change.fields.is_empty()).then_some(change)
}
