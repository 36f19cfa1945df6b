//! Memoirs and concepts in an undo: the events that it chooses, and the links that it shows.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::EventId;
use icm_projections::Views;
use icm_projections::fold::{Change, EntityId, Family, Version};

use super::shown;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::ids::id_text;
use icm_api::{UndoAction, UndoLink};

impl Service {
    /// Returns a memoir and all concepts that are or were in it.
    pub(crate) fn members_of_memoir(
        &self,
        views: &Views,
        given: &str,
    ) -> QueryResult<Vec<EntityId>> {
        let newest = views.tally().position;
        let (memoir, _) = self.any_memoir_at(views, given, newest)?;
        let mut members = vec![memoir];
        let concepts = self.all_concepts_at(views, memoir, newest)?;
        members.extend(concepts.into_iter().map(|(entity, _)| entity));
        Ok(members)
    }

    /// Returns the links that go or come back with the concepts that an undo hides or restores, by concept. Each link
    /// is named once; a link whose own event is undone is left out.
    pub(crate) fn links_with(
        &self,
        views: &Views,
        changes: &[Change],
    ) -> QueryResult<BTreeMap<EntityId, Vec<UndoLink>>> {
        let newest = views.tally().position;
        let by_entity: BTreeMap<EntityId, &Change> = changes
            .iter()
            .map(|change| (change.entity, change))
            .collect();
        let links = changes.iter().flat_map(|change| &change.links);
        let mut told: BTreeSet<EventId> = links.map(|link| link.event).collect();
        let mut with: BTreeMap<EntityId, Vec<UndoLink>> = BTreeMap::new();
        for change in changes {
            let (lived, lives) = (change.before.is_alive(), change.after.is_alive());
            if change.after.family() != Family::Concept || lived == lives {
                continue;
            }
            for edge in self.edges_at(views, change.entity, newest)? {
                let out = edge.from == change.entity;
                let other = if out { edge.to } else { edge.from };
                let version = match by_entity.get(&other) {
                    Some(other) if lives => Some(other.after.clone()),
                    Some(other) => Some(other.before.clone()),
                    None => views.version_at(other, newest)?,
                };
                let Some(other) = version.filter(Version::is_alive) else {
                    continue;
                };
                if told.insert(edge.event) {
                    let other_id = id_text(other.id);
                    let own_id = id_text(change.after.id);
                    with.entry(change.entity).or_default().push(UndoLink {
                        action: match lives {
                            true => UndoAction::Back,
                            false => UndoAction::Gone,
                        },
                        relation: edge.relation,
                        from: (!out).then(|| other_id.clone()),
                        to: if out { other_id } else { own_id },
                        name: Some(shown(other.key.as_ref())),
                        event: edge.event.to_string(),
                    });
                }
            }
        }
        Ok(with)
    }
}
