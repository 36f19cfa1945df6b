//! Queries for facts.

use std::collections::BTreeMap;

use icm_log::Position;
use icm_projections::fold::{EntityId, Family, Version};
use icm_projections::{Views, topic_fits};

use super::valid::moment_of;
use super::validity::{FactRow, Spell, Statements};
use crate::command::Scope;
use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::recall::scopes::{nearest_first, scope_fits};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::when::{self, DayMeans};
use icm_api::{Caller, FACTS, Fact, FactListRequest, FactQuery, fact_key, fact_topic};

/// A fact with its memory.
pub(super) struct Kept {
    pub(super) names: FactRow,
    entity: EntityId,
    row: Version,
}

/// A checked question for facts.
pub(super) struct Asked {
    pub(super) topic: String,
    pub(super) attribute: Option<String>,
    /// The scopes to look in, the nearest first.
    pub(super) scopes: Vec<String>,
}

/// A value that is not valid yet at the time that was asked for.
pub(super) struct Later {
    pub(super) from_ms: i64,
    /// `None` if its text is withheld.
    pub(super) value: Option<String>,
    /// The time that was asked for, in milliseconds since the epoch; `None` for the moment of the basis.
    pub(super) valid_ms: Option<i64>,
}

impl Later {
    fn of(first: Spell<'_>, valid_ms: Option<i64>) -> Later {
        Later {
            from_ms: first.statement.from_ms,
            value: first.statement.value.clone(),
            valid_ms,
        }
    }
}

impl Service {
    /// Returns the values of a subject, or of one of its attributes, that are valid at a time, by attribute. Of several
    /// scopes the nearest counts that has a value at that time. Attributes of a subject that have only planned values are
    /// there with the first of them, unless a time is asked for.
    ///
    /// # Errors
    /// `Nothing` if there is none; `Invalid` for names and moments that are no good.
    pub fn facts(&self, caller: &Caller, query: &FactQuery) -> Result<Vec<Fact>> {
        let asked = Asked::of(caller, query)?;
        self.with_views(|views| {
            let at = self.at(views, query.at.as_deref(), None)?;
            let (moment_ms, valid_ms) = (moment_of(&at), self.valid_ms(query.valid_at.as_deref())?);
            let kept = self.shown_facts_in(views, &asked.topic, &at)?;
            let mut nearest: BTreeMap<String, (bool, usize, Fact)> = BTreeMap::new();
            let mut later: Option<Later> = None;
            for (rank, kept) in asked.seen(&kept) {
                let statements = self.statements_kept(views, kept, at.position)?;
                let names = &kept.names;
                let valid = statements.fact_at(valid_ms.unwrap_or(moment_ms), moment_ms, names);
                let is_planned = valid.is_none();
                if is_planned {
                    let first = statements.first().map(|first| Later::of(first, valid_ms));
                    later = later
                        .into_iter()
                        .chain(first)
                        .min_by_key(|first| first.from_ms);
                }
                let shows_planned = valid_ms.is_none() && asked.attribute.is_none();
                let planned = || statements.planned_fact(moment_ms, names);
                let Some(found) = valid.or_else(|| shows_planned.then(planned)?) else {
                    continue;
                };
                match nearest.get(&names.attribute) {
                    Some((was_planned, known, _))
                        if (*was_planned, *known) <= (is_planned, rank) => {}
                    _ => {
                        let found = (is_planned, rank, found);
                        nearest.insert(names.attribute.clone(), found);
                    }
                }
            }
            match nearest.is_empty() {
                true => Err(self.no_fact(views, &asked, &kept, &at, later)?.into()),
                false => Ok(nearest.into_values().map(|(.., fact)| fact).collect()),
            }
        })
    }

    /// Returns every value of a fact, by valid time; values that were corrected stand before their corrections.
    ///
    /// # Errors
    /// `Nothing` if there is no such fact; `Invalid` for names and moments that are no good.
    pub fn fact_history(&self, caller: &Caller, query: &FactQuery) -> Result<Vec<Fact>> {
        let asked = Asked::of(caller, query)?;
        self.with_views(|views| {
            let at = self.at(views, query.at.as_deref(), None)?;
            let kept = self.facts_in(views, &asked.topic, at.position)?;
            let Some((_, nearest)) = asked.seen(&kept).min_by_key(|(rank, _)| *rank) else {
                return Err(self.no_fact(views, &asked, &kept, &at, None)?.into());
            };
            let statements = self.statements_kept(views, nearest, at.position)?;
            let spells = statements.spells();
            let fact = |spell: &Spell<'_>| spell.fact(&nearest.names, moment_of(&at));
            Ok(spells.iter().map(fact).collect())
        })
    }

    /// Returns the facts that have a value at a time, by subject, attribute and scope. Facts that have only planned values
    /// are there with the first of them, unless a time is asked for.
    ///
    /// # Errors
    /// `Invalid` for scopes and moments that are no good.
    pub fn list_facts(&self, request: &FactListRequest) -> Result<Vec<Fact>> {
        let scope = match &request.scope {
            Some(scope) => Some(Scope::parse(Some(scope))?.to_text()),
            None => None,
        };
        let limit = request.limit.unwrap_or(usize::MAX);
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let moment_ms = moment_of(&at);
            let valid_ms = self.valid_ms(request.valid_at.as_deref())?;
            let mut kept = self.shown_facts_in(views, FACTS, &at)?;
            kept.retain(|kept| {
                (scope.as_ref()).is_none_or(|asked| scope_fits(asked, &kept.names.scope))
            });
            let key = |kept: &Kept| {
                let names = kept.names.clone();
                (names.subject, names.attribute, names.scope)
            };
            kept.sort_by_cached_key(key);
            let mut facts = Vec::new();
            for kept in &kept {
                if facts.len() == limit {
                    break;
                }
                let statements = self.statements_kept(views, kept, at.position)?;
                let names = &kept.names;
                let valid = statements.fact_at(valid_ms.unwrap_or(moment_ms), moment_ms, names);
                let planned = || match valid_ms {
                    Some(_) => None,
                    None => statements.planned_fact(moment_ms, names),
                };
                facts.extend(valid.or_else(planned));
            }
            Ok(facts)
        })
    }

    /// Returns the living facts in a topic that are not expired at a basis, as [`Service::facts_in`] does.
    fn shown_facts_in(&self, views: &Views, topic: &str, at: &At) -> QueryResult<Vec<Kept>> {
        let expired = Expired::at(self, views, at);
        let mut kept = self.facts_in(views, topic, at.position)?;
        kept.retain(|kept| !expired.is_expired_shown(&kept.row));
        expired.checked()?;
        Ok(kept)
    }

    /// Returns the living facts in a topic, or below it if it ends with `/`.
    fn facts_in(&self, views: &Views, topic: &str, position: Position) -> QueryResult<Vec<Kept>> {
        let mut found = Vec::new();
        for entity in views.members(topic)? {
            let Some(row) = views.version_at(entity, position)? else {
                continue;
            };
            // If two memories turned out to be one, one of the two rows is left behind.
            let is_whole = views.resolve(entity)? == entity;
            let is_there = row.is_alive() && row.family() == Family::Memory && is_whole;
            let is_in = row.topic.as_deref().is_some_and(|it| topic_fits(topic, it));
            if let Some(names) = FactRow::of(&row).filter(|_| is_there && is_in) {
                found.push(Kept { names, entity, row });
            }
        }
        Ok(found)
    }

    fn statements_kept(
        &self,
        views: &Views,
        kept: &Kept,
        position: Position,
    ) -> QueryResult<Statements> {
        self.statements_of(views, kept.entity, &kept.row, position)
    }

    /// Returns the time that `--valid-at` names, in milliseconds since the epoch.
    fn valid_ms(&self, valid_at: Option<&str>) -> Result<Option<i64>> {
        let Some(text) = valid_at else {
            return Ok(None);
        };
        let moment = when::past_or_to_come(text, self.now_ms(), &self.zone(), DayMeans::End);
        let moment = moment.and_then(|ms| ms.ok_or_else(|| when::no_moment(text)));
        moment
            .map(Some)
            .map_err(|error| self.without_its_secrets(error))
    }
}

impl Asked {
    fn of(caller: &Caller, query: &FactQuery) -> Result<Asked> {
        Ok(Asked {
            topic: fact_topic(&query.subject)?,
            attribute: match &query.attribute {
                Some(attribute) => Some(fact_key(attribute)?),
                None => None,
            },
            scopes: match &query.scope {
                Some(scope) => vec![Scope::parse(Some(scope))?.to_text()],
                None => nearest_first(caller),
            },
        })
    }

    /// Returns the facts that the question is about, each with the place of its scope.
    fn seen<'k>(&self, kept: &'k [Kept]) -> impl Iterator<Item = (usize, &'k Kept)> {
        kept.iter()
            .filter(|it| self.is_asked(&it.names))
            .filter_map(|it| {
                let mut scopes = self.scopes.iter();
                Some((scopes.position(|scope| *scope == it.names.scope)?, it))
            })
    }

    pub(super) fn is_asked(&self, names: &FactRow) -> bool {
        let mut asked = self.attribute.iter();
        asked.all(|asked| *asked == names.attribute)
    }
}
