//! Queries for facts.

use std::collections::BTreeMap;

use icm_guard::shell;
use icm_log::Position;
use icm_projections::fold::{EntityId, Family, Version};
use icm_projections::{Views, topic_fits};

use super::validity::{FactRow, Statements, subject_of};
use crate::command::Scope;
use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::recall::scopes::{nearest_first, scope_fits};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::when::{self, DayMeans, When, rfc3339_signed};
use icm_api::{Caller, FACTS, Fact, FactListRequest, FactQuery, fact_key, fact_topic};

/// A fact with its memory.
struct Kept {
    names: FactRow,
    entity: EntityId,
    row: Version,
}

/// A checked question for facts.
struct Asked {
    topic: String,
    attribute: Option<String>,
    /// The scopes to look in, the nearest first.
    scopes: Vec<String>,
}

impl Service {
    /// Returns the values of a subject, or of one of its attributes, that are valid at a time, by attribute. Of several
    /// scopes the nearest counts that has a value at that time.
    ///
    /// # Errors
    /// `Nothing` if there is none; `Invalid` for names and moments that are no good.
    pub fn facts(&self, caller: &Caller, query: &FactQuery) -> Result<Vec<Fact>> {
        let asked = Asked::of(caller, query)?;
        self.with_views(|views| {
            let at = self.at(views, query.at.as_deref(), None)?;
            let valid_ms = self.valid_ms(query.at.as_deref(), query.valid_at.as_deref(), at)?;
            let kept = self.shown_facts_in(views, &asked.topic, &at)?;
            let mut nearest: BTreeMap<String, (usize, Fact)> = BTreeMap::new();
            let mut later: Option<i64> = None;
            for (rank, kept) in asked.seen(&kept) {
                let statements = self.statements_kept(views, kept, at.position)?;
                let Some(spell) = statements.valid_at(valid_ms) else {
                    let first = statements.spells().first().map(|it| it.statement.from_ms);
                    later = later.into_iter().chain(first).min();
                    continue;
                };
                let found = (rank, spell.fact(&kept.names));
                match nearest.get(&kept.names.attribute) {
                    Some((known, _)) if *known <= rank => {}
                    _ => _ = nearest.insert(kept.names.attribute.clone(), found),
                }
            }
            match nearest.is_empty() {
                true => Err(asked.nothing(&kept, later, valid_ms).into()),
                false => Ok(nearest.into_values().map(|(_, fact)| fact).collect()),
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
            let valid_ms = self.valid_ms(query.at.as_deref(), None, at)?;
            let kept = self.facts_in(views, &asked.topic, at.position)?;
            let Some((_, nearest)) = asked.seen(&kept).min_by_key(|(rank, _)| *rank) else {
                return Err(asked.nothing(&kept, None, valid_ms).into());
            };
            let statements = self.statements_kept(views, nearest, at.position)?;
            let spells = statements.spells();
            Ok(spells.iter().map(|it| it.fact(&nearest.names)).collect())
        })
    }

    /// Returns the facts that have a value at a time, by subject, attribute and scope.
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
            let valid_ms = self.valid_ms(request.at.as_deref(), request.valid_at.as_deref(), at)?;
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
                facts.extend(statements.valid_at(valid_ms).map(|it| it.fact(&kept.names)));
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

    /// Returns the time that `--valid-at` names; without it the moment of the basis: the time in `at`, the time of the
    /// event that `at` names, or now.
    fn valid_ms(&self, at: Option<&str>, valid_at: Option<&str>, basis: At) -> Result<i64> {
        let (now, zone) = (self.now_ms(), self.zone());
        if let Some(text) = valid_at {
            let moment = when::past_or_to_come(text, now, &zone, DayMeans::End);
            let moment = moment.and_then(|ms| ms.ok_or_else(|| when::no_moment(text)));
            return moment.map_err(|error| self.without_its_secrets(error));
        }
        let ms = match at {
            None => now,
            Some(text) => match when::parse(text, now, &zone, DayMeans::End) {
                Ok(When::Time(ms)) => ms,
                _ => basis.time_ms,
            },
        };
        Ok(i64::try_from(ms).unwrap_or(i64::MAX))
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
        kept.iter().filter(|it| self.is_asked(it)).filter_map(|it| {
            let mut scopes = self.scopes.iter();
            Some((scopes.position(|scope| *scope == it.names.scope)?, it))
        })
    }

    fn is_asked(&self, kept: &Kept) -> bool {
        let mut asked = self.attribute.iter();
        asked.all(|asked| *asked == kept.names.attribute)
    }

    /// Returns the error for a question that no value answers. `later` is the first moment of a value that is not valid
    /// yet.
    fn nothing(&self, kept: &[Kept], later: Option<i64>, valid_ms: i64) -> ServiceError {
        let subject = subject_of(&self.topic);
        let named = match &self.attribute {
            Some(attribute) => format!("`{attribute}` of `{subject}`"),
            None => format!("`{subject}`"),
        };
        let words = [Some(subject), self.attribute.as_deref()];
        let words = words.into_iter().flatten().map(shell::word);
        let words = words.collect::<Vec<_>>().join(" ");
        if let Some(later) = later {
            let history = match &self.attribute {
                Some(_) => format!("see `icm fact history {words}`"),
                None => format!("see `icm fact get {words} --valid-at TIME`"),
            };
            return ServiceError::nothing(
                format!(
                    "{named} has no value at {}: the first one is valid from {}",
                    rfc3339_signed(valid_ms),
                    rfc3339_signed(later)
                ),
                history,
            );
        }
        let elsewhere = kept.iter().find(|it| self.is_asked(it));
        let hint = match (elsewhere, &self.attribute) {
            (Some(other), _) => format!("give `--scope {}`", shell::word(&other.names.scope)),
            (None, Some(_)) => {
                format!("set it with `icm fact set {words} VALUE`, or see `icm fact list`")
            }
            (None, None) => "see `icm fact list`".to_owned(),
        };
        ServiceError::nothing(format!("there is no fact {named} here"), hint)
    }
}
