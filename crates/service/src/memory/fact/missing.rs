//! The errors for questions that no fact answers.

use icm_guard::shell;
use icm_guard::terminal::{cut, one_line};
use icm_log::Kind;
use icm_projections::Views;
use icm_projections::fold::{Family, Version};

use super::read::{Asked, Kept, Later};
use super::validity::{FactRow, subject_of};
use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::ServiceError;
use icm_api::when::{self, rfc3339_signed};

/// Columns of a value in a hint. Raised, hints are longer.
const VALUE_COLUMNS: usize = 40;

impl Service {
    /// Returns the error for a question that no value answers. `later` is the first value that is not valid yet at the time
    /// that was asked for.
    pub(super) fn no_fact(
        &self,
        views: &Views,
        asked: &Asked,
        kept: &[Kept],
        at: &At,
        later: Option<Later>,
    ) -> QueryResult<ServiceError> {
        if let Some(later) = later {
            return Ok(self.not_valid_yet(asked, &later));
        }
        if let Some(gone) = self.gone_fact(views, asked, at)? {
            return Ok(gone);
        }
        let named = asked.named();
        let words = asked.words();
        let elsewhere = kept.iter().find(|it| asked.is_asked(&it.names));
        let hint = match (elsewhere, &asked.attribute) {
            (Some(other), _) => format!("give `--scope {}`", shell::word(&other.names.scope)),
            (None, Some(_)) => {
                format!("set it with `icm fact set {words} VALUE`, or see `icm fact list`")
            }
            (None, None) => "see `icm fact list`".to_owned(),
        };
        let message = format!("there is no fact {named} here");
        Ok(ServiceError::nothing(message, hint))
    }

    fn not_valid_yet(&self, asked: &Asked, later: &Later) -> ServiceError {
        let (named, words) = (asked.named(), asked.words());
        let see = match &asked.attribute {
            Some(_) => format!("see `icm fact history {words}`"),
            None => format!("see `icm fact get {words} --valid-at TIME`"),
        };
        // Tools for agents show the message without a frame around text of memories.
        let hint = match &later.value {
            Some(value) => {
                let value = cut(&one_line(value), VALUE_COLUMNS);
                format!("that value is `{value}`; {see}")
            }
            None => see,
        };
        let from = self.local(later.from_ms);
        let message = match later.valid_ms {
            Some(ms) => format!(
                "{named} has no value at {}: the first one is valid from {from}",
                self.local(ms)
            ),
            None => {
                format!("{named} has no value yet: the first one is planned, valid from {from}")
            }
        };
        ServiceError::nothing(message, hint)
    }

    /// Returns the error for facts that are forgotten or expired; `None` if there are none in the scopes that were asked.
    fn gone_fact(
        &self,
        views: &Views,
        asked: &Asked,
        at: &At,
    ) -> QueryResult<Option<ServiceError>> {
        let expired = Expired::at(self, views, at);
        let mut gone: Vec<Version> = Vec::new();
        for entity in views.members(&asked.topic)? {
            let Some(row) = views.version_at(entity, at.position)? else {
                continue;
            };
            let is_gone = match row.is_alive() {
                true => expired.is_expired(&row),
                false => row.is_forgotten() && !row.is_part(),
            };
            let is_in = row.topic.as_deref() == Some(&asked.topic);
            let is_meant =
                |names: &FactRow| asked.is_asked(names) && asked.scopes.contains(&names.scope);
            if is_gone
                && is_in
                && row.family() == Family::Memory
                && views.resolve(entity)? == entity
                && FactRow::of(&row).as_ref().is_some_and(is_meant)
            {
                gone.push(row);
            }
        }
        expired.checked()?;
        let named = asked.named();
        Ok(match gone.as_slice() {
            [] => None,
            [row] => {
                let id = icm_api::ids::id_text(row.id);
                let names = FactRow::of(row);
                let attribute = names.map(|names| names.attribute);
                let named = match (&asked.attribute, attribute) {
                    (None, Some(attribute)) => format!("`{attribute}` of {named}"),
                    _ => named,
                };
                let what = match (row.is_alive(), row.kind()) {
                    (true, _) => "is expired".to_owned(),
                    (false, Kind::MEMORY_CONSOLIDATED) => {
                        format!("went into a summary, {}", self.local_of(row))
                    }
                    (false, _) => format!("was forgotten, {}", self.local_of(row)),
                };
                let hint = format!("`icm revive {id}` brings it back");
                Some(ServiceError::nothing(
                    format!("{named} {what} (memory {id})"),
                    hint,
                ))
            }
            several => {
                let topic = shell::word(&asked.topic);
                let how_many = several.len();
                Some(ServiceError::nothing(
                    format!("{how_many} facts of {named} are forgotten or expired"),
                    format!("`icm revive -t {topic}` brings them back"),
                ))
            }
        })
    }

    /// Returns a moment for people, with the zone.
    pub(super) fn local(&self, ms: i64) -> String {
        let local = when::local_time(&rfc3339_signed(ms), &self.zone());
        format!("{local} {}", self.zone_name())
    }

    /// Returns the moment of the event that made a row as it is.
    fn local_of(&self, row: &Version) -> String {
        self.local(i64::try_from(row.stamp.time.ms()).unwrap_or(i64::MAX))
    }
}

impl Asked {
    /// Returns the names for people: `` `version` of `deploy` ``.
    fn named(&self) -> String {
        let subject = subject_of(&self.topic);
        match &self.attribute {
            Some(attribute) => format!("`{attribute}` of `{subject}`"),
            None => format!("`{subject}`"),
        }
    }

    /// Returns the names as arguments of a command.
    fn words(&self) -> String {
        let words = [Some(subject_of(&self.topic)), self.attribute.as_deref()];
        let words = words.into_iter().flatten().map(shell::word);
        words.collect::<Vec<_>>().join(" ")
    }
}
