//! The effects of an undo on rows, as a plan shows them.

use icm_projections::Views;
use icm_projections::fold::{Change, Family, Link, Version, difference};

use crate::feedback::row::row;
use crate::memoir::{graph_fields, graph_row};
use crate::memory::expiry::Expired;
use crate::memory::link::relation_text;
use crate::memory::present::{field_names, memory};
use crate::service::Service;
use crate::snapshot::{QueryError, QueryResult};
use crate::upkeep::decay::decimal;
use icm_api::ids::id_text;
use icm_api::{Memory, RowKind, UndoAction, UndoChange, UndoLink, UndoRow};

impl Service {
    pub(super) fn undo_change(
        &self,
        views: &Views,
        change: &Change,
        with: Vec<UndoLink>,
        later: u64,
    ) -> QueryResult<Option<UndoChange>> {
        let newest = views.tally().position;
        let is_memory = change.after.family() == Family::Memory;
        let expired = Expired::now(self, views);
        let shown = |version: &Version| {
            match version.family() {
                Family::Memory => {}
                Family::Feedback => return Ok(UndoRow::Feedback(Box::new(row(version)))),
                Family::Memoir | Family::Concept => return Ok(graph_row(version)),
            }
            let entity = views.resolve(version.id)?;
            // Links are left out: they are shown as a field of their own.
            let weight_ppm = views.weight_at(&self.log, entity, version, newest)?;
            Ok::<_, QueryError>(UndoRow::Memory(Box::new(Memory {
                weight: decimal(weight_ppm),
                expired: version.is_alive() && expired.is_expired(version),
                ..memory(version, views.accesses_at(&self.log, entity, newest)?)
            })))
        };
        let (before, after) = (&change.before, &change.after);
        let is_there = |version: &Version| version.is_alive() && !expired.is_expired(version);
        let action = match (before.hidden, after.hidden) {
            (false, true) => UndoAction::Gone,
            (true, false) => UndoAction::Back,
            _ => match (is_there(before), is_there(after)) {
                (true, false) => UndoAction::Gone,
                (false, true) => UndoAction::Back,
                _ => UndoAction::Changed,
            },
        };
        let some = |version: &Version| (!version.hidden).then(|| shown(version)).transpose();
        let (was, is) = (some(before)?, some(after)?);
        expired.checked()?;
        if was == is && change.links.is_empty() {
            return Ok(None);
        }
        let links = change.links.iter();
        let links: QueryResult<_> = links.map(|link| self.undo_link(views, link)).collect();
        let mut links: Vec<UndoLink> = links?;
        links.extend(with);
        let mut fields = match action {
            UndoAction::Changed => {
                let mut names = match is_memory {
                    true => field_names(difference(before, after)),
                    false => graph_fields(before, after),
                };
                names.extend((!links.is_empty()).then(|| "links".to_owned()));
                names
            }
            _ => Vec::new(),
        };
        let is_created_anew = before.created_ms != after.created_ms;
        if action == UndoAction::Changed && fields.is_empty() && is_created_anew {
            fields.push("created_at".to_owned());
        }
        Ok(Some(UndoChange {
            id: id_text(after.id),
            of: match after.family() {
                Family::Memory => RowKind::Memory,
                Family::Memoir => RowKind::Memoir,
                Family::Concept => RowKind::Concept,
                Family::Feedback => RowKind::Feedback,
            },
            topic: place_of(before, after),
            action,
            fields,
            before: was,
            after: is,
            links,
            later_changes: later,
        }))
    }

    fn undo_link(&self, views: &Views, link: &Link) -> QueryResult<UndoLink> {
        let entity = views.resolve(link.to)?;
        let to = views.version_at(entity, views.tally().position)?;
        Ok(UndoLink {
            action: match link.holds() {
                true => UndoAction::Gone,
                false => UndoAction::Back,
            },
            relation: relation_text(link),
            from: None,
            name: to
                .as_ref()
                .filter(|to| to.family() == Family::Concept)
                .and_then(|to| to.key.clone()),
            to: id_text(to.map_or(link.to, |to| to.id)),
            event: link.event.to_string(),
        })
    }
}

/// Returns the topic of a memory, the memoir of a concept with the concept's name, or the topic of feedback.
fn place_of(before: &Version, after: &Version) -> String {
    let topic = after.topic.as_ref().or(before.topic.as_ref());
    let topic = topic.cloned().unwrap_or_default();
    match (after.family(), after.key.as_ref().or(before.key.as_ref())) {
        (Family::Concept, Some(name)) => format!("{topic} / {name}"),
        (Family::Feedback, Some(category)) => category.clone(),
        (Family::Feedback, None) => "feedback".to_owned(),
        _ => topic,
    }
}
