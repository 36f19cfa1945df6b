//! The basis: the moment that an answer is computed at.

use std::ops::ControlFlow;

use icm_log::{EventId, Position, Tip};
use icm_projections::Views;

use crate::service::Service;
use crate::snapshot::{QueryError, QueryResult};
use icm_api::Basis;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::{beginning_of_event, id_text};
use icm_api::when;
use icm_api::when::{DayMeans, When, rfc3339};

/// A resolved basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) position: Position,
    pub(crate) event: EventId,
    pub(crate) time_ms: u64,
    /// The moment at which expired memories are hidden and values of facts are valid: the clock for now, the time that was
    /// asked for, or the time of the event.
    pub(crate) moment_ms: u64,
    /// `true` if answers name the moment: a memory of the store has or had a condition under which it expires, or a planned
    /// value.
    pub(crate) names_moment: bool,
    /// `true` if this is the newest moment.
    pub(crate) is_now: bool,
    /// `true` if nobody named a moment. An answer at a named one is the same at any time, so it looks at no file.
    pub(crate) looks_at_files: bool,
}

impl At {
    pub(crate) fn to_basis(self) -> Basis {
        if self.position.0 == 0 {
            return Basis {
                position: 0,
                event: String::new(),
                at: rfc3339(self.time_ms),
                moment: None,
            };
        }
        Basis {
            position: self.position.0,
            event: self.event.to_string(),
            at: rfc3339(self.time_ms),
            moment: self.moment_to_name().map(rfc3339),
        }
    }

    /// Returns the moment in milliseconds since the epoch; `None` if no answer of the store depends on it.
    pub(crate) fn moment_to_name(self) -> Option<u64> {
        self.names_moment.then_some(self.moment_ms)
    }

    fn of(tip: Tip, views: &Views, moment_ms: Option<u64>) -> At {
        At {
            position: tip.position,
            event: tip.event,
            time_ms: tip.time.ms(),
            moment_ms: moment_ms.unwrap_or(tip.time.ms()),
            names_moment: views.tally().depends_on_moment(),
            is_now: tip.position == views.tally().position,
            looks_at_files: false,
        }
    }
}

impl Service {
    /// Returns the basis that `at` names (`None`: now).
    pub fn basis(&self, at: Option<&str>) -> Result<Basis> {
        self.with_views(|views| Ok(self.at(views, at, None)?.to_basis()))
    }

    /// Resolves `--at` and `--happened-by`.
    pub(crate) fn at(
        &self,
        views: &Views,
        at: Option<&str>,
        happened_by: Option<&str>,
    ) -> QueryResult<At> {
        let mut basis = match at {
            None => self.now(views),
            Some(text) => self.parse_at(views, text)?,
        };
        if let Some(text) = happened_by {
            let by = when::parse(text, self.now_ms(), &self.zone(), DayMeans::End)
                .map_err(|error| self.without_its_secrets(error))?;
            let When::Time(ms) = by else {
                return Err(ServiceError::invalid_with(
                    format!("`{text}` is no time"),
                    "`--happened-by` takes a time; a position belongs to `--at`",
                )
                .into());
            };
            let by = match self.log.at_time(ms, views)? {
                Some(tip) => At::of(tip, views, Some(ms)),
                None => return Err(before_the_first(views, text).into()),
            };
            if by.position < basis.position {
                basis = by;
            }
        }
        Ok(basis)
    }

    fn nothing(ms: u64) -> At {
        At {
            position: Position(0),
            event: EventId::ZERO,
            time_ms: ms,
            moment_ms: ms,
            names_moment: false,
            is_now: true,
            looks_at_files: false,
        }
    }

    pub(crate) fn now(&self, views: &Views) -> At {
        let tally = views.tally();
        match (tally.event, self.log.tip()) {
            (Some(event), Some(tip)) => At {
                position: tally.position,
                event,
                time_ms: if tip.event == event {
                    tip.time.ms()
                } else {
                    tally.last_ms.unwrap_or(0)
                },
                moment_ms: self.now_ms(),
                names_moment: tally.depends_on_moment(),
                is_now: true,
                looks_at_files: true,
            },
            _ => Self::nothing(self.now_ms()),
        }
    }

    fn parse_at(&self, views: &Views, text: &str) -> QueryResult<At> {
        let at = self.moment(views, text)?;
        at.ok_or_else(|| before_the_first(views, text).into())
    }

    /// Resolves a moment as `--at` does. A time before the first event is the empty store.
    pub(crate) fn at_or_nothing(&self, views: &Views, text: &str) -> QueryResult<At> {
        let nothing = At {
            is_now: views.tally().position == Position(0),
            ..Self::nothing(views.tally().first_ms.unwrap_or(0))
        };
        Ok(self.moment(views, text)?.unwrap_or(nothing))
    }

    /// Returns the moment that a text names; `None` if it is before the first event.
    fn moment(&self, views: &Views, text: &str) -> QueryResult<Option<At>> {
        let newest = views.tally().position;
        let when = when::parse(text, self.now_ms(), &self.zone(), DayMeans::End)
            .map_err(|error| self.without_its_secrets(error))?;
        let moment_ms = match when {
            When::Time(ms) => Some(ms),
            When::Position(_) | When::Event(_) => None,
        };
        let tip = match when {
            When::Position(0) => None,
            When::Position(position) if position > newest.0 => {
                let message = format!("@{position} is in the future");
                return Err(in_the_future(message, newest).into());
            }
            When::Position(position) => self.log.at_position(Position(position), views)?,
            When::Event(prefix) => {
                let position = self.find_event(&prefix)?;
                self.log.at_position(position, views)?
            }
            When::Time(ms) if ms > self.now_ms() => {
                let message = format!("{} is in the future", rfc3339(ms));
                return Err(in_the_future(message, newest).into());
            }
            When::Time(ms) => self.log.at_time(ms, views)?,
        };
        Ok(tip.map(|tip| At::of(tip, views, moment_ms)))
    }

    /// Returns the position of the one event whose id starts with `prefix`.
    pub(crate) fn find_event(&self, prefix: &str) -> Result<Position> {
        let found = self.events_from(prefix)?;
        match found.as_slice() {
            [] => Err(match when::position_meant(prefix) {
                Some(hint) => {
                    ServiceError::invalid_with(format!("no event id starts with `{prefix}`"), hint)
                }
                None => no_event(prefix, None),
            }),
            [(position, _)] => Ok(*position),
            several => Err(ambiguous(prefix, several, None)),
        }
    }

    /// Returns the position of the event that a user names: by a position (`@12`), or by a beginning of its id that
    /// fits no other. Digits that could be meant as a position are not taken for an id.
    ///
    /// # Errors
    /// `NotFound` and `Ambiguous`; `Invalid` for another text, such as the id of a memory.
    pub(crate) fn event_named(&self, views: &Views, given: &str) -> QueryResult<Position> {
        let newest = views.tally().position;
        let held = |number: &u64| (1..=newest.0).contains(number);
        let given = given.trim();
        if let Some(number) = given.strip_prefix('@') {
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(ServiceError::invalid_with(
                    format!("`{given}` is no position"),
                    "positions are numbers: `@12`; `icm log` lists events",
                )
                .into());
            }
            // A number that is too large to parse is no position either.
            let number = number.parse().ok().filter(held);
            let nearest = (newest.0 > 0).then_some(newest.0);
            return Ok(Position(number.ok_or_else(|| no_event(given, nearest))?));
        }
        let Some(prefix) = beginning_of_event(given) else {
            return Err(self.no_event_id(views, given));
        };
        let meant = given.parse().ok().filter(held);
        let found = self.events_from(&prefix)?;
        match (found.as_slice(), meant) {
            ([(position, _)], None) => Ok(*position),
            ([], None) => Err(self.no_event_id(views, given)),
            ([], Some(_)) => Err(no_event(given, meant).into()),
            (several, _) => Err(ambiguous(given, several, meant).into()),
        }
    }

    /// Returns the error for a text that names no event, and says what it names instead.
    fn no_event_id(&self, views: &Views, given: &str) -> QueryError {
        match self.find_memory(views, given) {
            Ok(id) => {
                let id = id_text(id);
                ServiceError::invalid_with(
                    format!("`{given}` is no event id"),
                    format!("{id} is a memory: `icm history {id}` lists its events"),
                )
                .into()
            }
            Err(QueryError::Service(_)) => no_event(given, None).into(),
            Err(other) => other,
        }
    }

    /// Returns the events whose ids start with `prefix`, newest first.
    fn events_from(&self, prefix: &str) -> Result<Vec<(Position, EventId)>> {
        let mut found = Vec::new();
        self.log.scan_back(None, &mut |event| {
            if event.id.to_string().starts_with(prefix) {
                found.push((event.position, event.id));
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}

fn no_event(given: &str, nearest: Option<u64>) -> ServiceError {
    ServiceError::NotFound {
        what: "event",
        id: given.to_owned(),
        nearest: nearest.map(|near| format!("@{near}")).into_iter().collect(),
    }
}

fn ambiguous(given: &str, found: &[(Position, EventId)], meant: Option<u64>) -> ServiceError {
    let ids = found.iter().take(10).map(|(_, id)| id.to_string());
    ServiceError::Ambiguous {
        what: "event",
        prefix: given.to_owned(),
        matches: ids
            .chain(meant.map(|number| format!("@{number}")))
            .collect(),
    }
}

fn before_the_first(views: &Views, text: &str) -> ServiceError {
    let hint = match views.tally().first_ms {
        Some(ms) => {
            format!(
                "the first event is of {}; `icm log show @1` shows it",
                rfc3339(ms)
            )
        }
        None => "the store is empty: store something with `icm store`".to_owned(),
    };
    ServiceError::invalid_with(format!("`{text}` is before the first event"), hint)
}

fn in_the_future(message: String, newest: Position) -> ServiceError {
    ServiceError::invalid_with(message, format!("the newest position is @{newest}"))
}
