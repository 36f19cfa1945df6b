//! Queries that look up memories: one, a list, or the history of one.

use icm_log::{ActorId, Kind, Position, SubjectId};
use icm_projections::fold::{self, EntityId};
use icm_projections::{ALL_IDS, Views, topic_fits};
use serde_json::Map;

use crate::command::Scope;
use crate::history::basis::At;
use crate::history::conflicts::not_shown;
use crate::memory::expiry::Expired;
use crate::memory::present::{field_names, memory, planned_from};
use crate::recall::scopes::scope_fits;
use crate::recall::tag_filter::{keywords_of, tag_query};
use crate::service::Service;
use crate::snapshot::{QueryError, QueryResult};
use icm_api::cursor::Cursor;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::{id_range, id_text};
use icm_api::when::rfc3339;
use icm_api::{ListRequest, Memory, Sort, Version};

/// The newest recalls of a memory from which the memories often recalled with it are counted.
const RECALLS: usize = 200;

impl Service {
    /// Returns one memory, living or forgotten, now or as of a moment.
    pub fn get(&self, id: &str, at: Option<&str>) -> Result<Memory> {
        self.with_views(|views| {
            let at = self.at(views, at, None)?;
            let views = &*self.views_at(views, &at)?;
            let entity = self.find_memory(views, id)?;
            let expired = Expired::at(self, views, &at);
            let version = views.version_at(entity, at.position)?;
            let alive = version.as_ref().filter(|version| version.is_alive());
            let is_expired = alive.is_some_and(|version| expired.is_expired_shown(version));
            let planned_from = alive.and_then(|version| planned_from(version, &at));
            expired.checked()?;
            match version {
                Some(version) => Ok(Memory {
                    expired: is_expired,
                    planned_from,
                    authors: self.authors(views, &version, at.position)?,
                    conflicts: self.conflicting(views, &version, at.position)?,
                    consolidated_into: self.consolidated_into(views, &version)?,
                    often_together: match version.is_alive() {
                        true => {
                            self.often_together(views, entity, at.position, RECALLS, &|_| true)?
                        }
                        false => Vec::new(),
                    },
                    ..self.memory_at(views, &version, at.position)?
                }),
                None => Err(ServiceError::nothing(
                    format!(
                        "memory {} was not stored yet at @{}",
                        id_text(entity),
                        at.position
                    ),
                    format!("see `icm history {}`", id_text(entity)),
                )
                .into()),
            }
        })
    }

    /// Returns memories, newest first unless the request sorts them otherwise.
    pub fn list(&self, request: &ListRequest) -> Result<Vec<Memory>> {
        self.with_views(|views| {
            let topic = self.topic_filter_if_any(views, request.topic.as_deref())?;
            let request = ListRequest {
                topic,
                tags: request.tags.checked()?,
                ..request.clone()
            };
            self.list_in(views, &request)
        })
    }

    fn list_in(&self, views: &Views, request: &ListRequest) -> QueryResult<Vec<Memory>> {
        let at = self.at(views, request.at.as_deref(), None)?;
        let position = at.position;
        let views = &*self.views_at(views, &at)?;
        let expired = Expired::at(self, views, &at);
        let limit = request.limit.unwrap_or(usize::MAX);
        let scope = match &request.scope {
            Some(scope) => Some(Scope::parse(Some(scope))?.to_text()),
            None => None,
        };
        // A row may be keyed by another id than it is shown under; that id differs from machine to machine.
        let keyed = views.tally().aliases == 0;
        let sorted = request.sort == Sort::Created && keyed;
        let after = request.after.as_deref().map(id_before).transpose()?;
        // Memories that stand last leave the order of ids.
        let in_order = sorted && (request.tags.not.is_empty() || request.tags.exclude);
        let below = after.filter(|_| in_order);
        let chosen = self.chosen(views, request, &at, below)?;
        let by_weight = request.sort == Sort::Weight && request.topic.is_none() && chosen.is_some();
        let stops = (sorted && below == after) || by_weight;
        let mut is_on_page = below == after;
        let mut versions: Vec<fold::Version> = Vec::new();
        let tags = tag_query(&request.tags);
        let is_last = |version: &fold::Version| tags.is_last(keywords_of(version));
        let fits = |version: &fold::Version| {
            let topic = version.topic.as_deref().unwrap_or_default();
            (request.topic.as_deref()).is_none_or(|asked| topic_fits(asked, topic))
                && (scope.as_ref()).is_none_or(|asked| scope_fits(asked, &version.scope_text()))
                && tags.fits(keywords_of(version))
        };
        // Versions that stand last fill no place of another one.
        let mut first = 0;
        let mut take = |version: fold::Version| {
            let counts = !is_last(&version);
            first += usize::from(is_on_page && counts);
            is_on_page |= counts && after == Some(version.id);
            versions.push(version);
            !stops || first < limit
        };
        let wanted = |version: &fold::Version| {
            below.is_none_or(|below| version.id < below)
                && fits(version)
                && match version.is_alive() {
                    true if request.expired => expired.is_expired_shown(version),
                    true => !expired.hides_shown(version),
                    false => request.forgotten && version.is_forgotten() && !version.is_part(),
                }
        };
        match chosen {
            Some(entities) => {
                for entity in entities {
                    let version = views.version_at(entity, position)?;
                    if let Some(version) = version.filter(wanted)
                        && !take(version)
                    {
                        break;
                    }
                }
            }
            None => {
                let ids = (ALL_IDS.0, below.unwrap_or(ALL_IDS.1));
                views.each_at(ids, position, true, &mut |_, version| {
                    Ok(!wanted(version) || take(version.clone()))
                })?;
            }
        }
        expired.checked()?;
        if !keyed {
            versions.sort_by_key(|version| std::cmp::Reverse(version.id));
        }
        if !by_weight {
            versions = self.sorted(views, versions, request.sort, position)?;
        }
        versions.sort_by_key(is_last);
        if let Some(after) = after.filter(|_| below.is_none()) {
            let place = versions.iter().position(|version| version.id == after);
            let place = place.ok_or_else(|| no_page(request.after.as_deref()))?;
            versions.drain(..=place);
        }
        versions.truncate(limit);
        // Only the memories that are shown are completed.
        let memories = versions.iter();
        let shown = memories.map(|version| {
            Ok(Memory {
                expired: request.expired && version.is_alive(),
                ..self.memory_at(views, version, position)?
            })
        });
        shown.collect()
    }

    /// Returns the memories that a list looks through, if not all versions must be read for it: those of a topic, the
    /// newest first; without a topic, those that row facts tell, in the order of the list.
    fn chosen(
        &self,
        views: &Views,
        request: &ListRequest,
        at: &At,
        below: Option<SubjectId>,
    ) -> QueryResult<Option<Vec<EntityId>>> {
        let is_before = |id: &EntityId| below.is_none_or(|below| *id < below);
        if let Some(topic) = &request.topic {
            let members = views.members(topic)?.into_iter().rev();
            return Ok(Some(members.skip_while(|id| !is_before(id)).collect()));
        }
        // Only living memories have row facts, by the ids that rows are keyed by. Planned values are no rows of now.
        let tally = views.tally();
        if request.forgotten || request.expired || tally.aliases > 0 || tally.planned > 0 {
            return Ok(None);
        }
        match request.sort {
            Sort::Weight if at.is_now => {
                let mut weighed = Vec::new();
                self.each_weighed(views, &mut |row, ppm| {
                    weighed.push((ppm, row.facts.importance, row.entity));
                })?;
                weighed.sort_unstable_by(|a, b| b.cmp(a));
                let entities = weighed.into_iter().map(|(.., entity)| entity);
                Ok(Some(entities.collect()))
            }
            // A walk from the newest memory on would pass all that came after an early moment.
            Sort::Created if at.position.0 < tally.position.0 / 2 => {
                let mut entities = Vec::new();
                views.each_living_at(at.position, &mut |_, row| {
                    entities.extend(Some(row.entity).filter(is_before));
                    Ok::<_, QueryError>(())
                })?;
                entities.sort_unstable_by(|a, b| b.cmp(a));
                Ok(Some(entities))
            }
            _ => Ok(None),
        }
    }

    /// Returns versions, which come newest first, in an order.
    fn sorted(
        &self,
        views: &Views,
        versions: Vec<fold::Version>,
        sort: Sort,
        position: Position,
    ) -> QueryResult<Vec<fold::Version>> {
        let entity = |version: &fold::Version| views.resolve(version.id);
        Ok(match sort {
            Sort::Created => versions,
            Sort::Weight => {
                let mut weighed = Vec::with_capacity(versions.len());
                for version in versions {
                    let at = entity(&version)?;
                    let ppm = views.weight_at(&self.log, at, &version, position)?;
                    weighed.push(((ppm, version.importance), version));
                }
                largest_first(weighed)
            }
            Sort::Accessed => {
                let mut recalled = Vec::with_capacity(versions.len());
                for version in versions {
                    let (_, last_ms) = views.accesses_at(&self.log, entity(&version)?, position)?;
                    recalled.push((last_ms, version));
                }
                largest_first(recalled)
            }
        })
    }

    /// Returns every version of a memory, oldest first.
    pub fn history(&self, id: &str) -> Result<Vec<Version>> {
        self.history_at(id, None)
    }

    /// Returns the versions of a memory that were known at a moment, oldest first, with the undos in force then.
    pub fn history_at(&self, id: &str, at: Option<&str>) -> Result<Vec<Version>> {
        self.with_views(|views| {
            let newest = self.at(views, at, None)?.position;
            let entity = self.find_any(views, id)?;
            let versions = views.versions(entity, newest)?;
            let mut history = Vec::with_capacity(versions.len());
            for (index, version) in versions.iter().enumerate() {
                let until = versions.get(index + 1).map(|next| next.from);
                let end = until.map_or(newest, |until| Position(until.0 - 1));
                history.push(Version {
                    position: version.from.0,
                    until: until.map(|until| until.0),
                    event: version.stamp.event.to_string(),
                    kind: version.kind().name(),
                    at: rfc3339(version.stamp.time.ms()),
                    actor: self.actor_name(views, version.actor),
                    changed: field_names(version.changed),
                    memory: Memory {
                        consolidated_into: self.consolidated_into(views, version)?,
                        ..self.memory_at(views, version, end)?
                    },
                    not_shown: None,
                    not_shown_fields: Map::new(),
                    undone_at: None,
                });
            }
            let open = match versions.last() {
                Some(version) => self.conflicting(views, version, newest)?,
                None => Vec::new(),
            };
            self.add_not_shown(views, (entity, newest), &versions, &mut history)?;
            self.mark_undone(views, newest, &mut history)?;
            if let Some(last) = history.last_mut() {
                last.memory.conflicts = open;
            }
            Ok(history)
        })
    }

    /// Adds an entry for each event up to `newest` whose values no version shows.
    fn add_not_shown(
        &self,
        views: &Views,
        (entity, newest): (SubjectId, Position),
        versions: &[fold::Version],
        history: &mut Vec<Version>,
    ) -> QueryResult<()> {
        let shown = |position: &Position| versions.iter().any(|version| version.from == *position);
        let mut positions = views.touched(entity)?;
        positions.retain(|position| *position <= newest && !shown(position));
        let mut lost = Vec::new();
        views.events_at(&self.log, &positions, &mut |event| {
            if versions.iter().any(|it| it.stamp.event == event.id) {
                return;
            }
            // The row as it was once the event was known: for an import, at the end of it.
            let after = (versions.iter().rev()).find(|held| held.from <= event.position);
            let Some(held) = after.or(versions.first()) else {
                return;
            };
            // Imported values that won show from the end of the import on.
            let next = versions.iter().find(|next| next.from > event.position);
            let next = next.filter(|next| next.kind() == Kind::LOG_IMPORTED);
            let shown: Vec<_> = [Some(held), next].into_iter().flatten().collect();
            let (text, fields) = not_shown(event, held, &shown);
            if text.is_none() && fields.is_empty() {
                return;
            }
            lost.push((
                held,
                Version {
                    position: event.position.0,
                    until: None,
                    event: event.id.to_string(),
                    kind: event.head.kind().name(),
                    at: rfc3339(event.head.time().ms()),
                    actor: self.actor_name(views, event.head.actor()),
                    changed: Vec::new(),
                    memory: memory(held, (0, None)),
                    not_shown: text,
                    not_shown_fields: fields,
                    undone_at: None,
                },
            ));
        })?;
        for (held, version) in lost {
            let at = Position(version.position).max(held.from);
            history.push(Version {
                memory: self.memory_at(views, held, at)?,
                ..version
            });
        }
        history.sort_by_key(|version| version.position);
        Ok(())
    }

    /// Returns the name of an actor, or its id.
    pub(crate) fn actor_name(&self, views: &Views, actor: ActorId) -> String {
        views
            .actor(actor)
            .map_or_else(|| actor.to_string(), str::to_owned)
    }
}

/// Returns the id that a page begins behind.
fn id_before(given: &str) -> Result<SubjectId> {
    match id_range(given) {
        Some((id, same)) if id == same => Ok(id),
        _ => Err(no_page(Some(given))),
    }
}

/// Returns the error for a page that begins behind no memory of the list.
fn no_page(given: Option<&str>) -> ServiceError {
    Cursor::refused(given.unwrap_or_default(), "after", "a list")
}

/// Sorts versions by falling key. Versions of one key keep their order.
fn largest_first<K: Ord>(mut keyed: Vec<(K, fold::Version)>) -> Vec<fold::Version> {
    keyed.sort_by(|a, b| b.0.cmp(&a.0));
    keyed.into_iter().map(|(_, version)| version).collect()
}
