//! Storing over a memory that has the name already.

use icm_guard::shell;
use icm_log::facts::fields;
use icm_log::{Kind, NewEvent};
use icm_projections::Views;
use icm_projections::fold::Version;

use crate::command::{Change, Command, ValidatedStore, receipt, stored_receipt, turned};
use crate::memory::expiry::Expired;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::{Action, FACTS, Receipt};

/// Refuses a store that would give the current value of a fact another text or another time: its history would lose that
/// value.
fn refuse_value_of_fact(before: &Version, checked: &ValidatedStore) -> Result<()> {
    let is_other_time =
        checked.occurred_at_ms.is_some() && checked.occurred_at_ms != before.occurred_at_ms;
    let is_other_text = before.content.as_ref() != Some(&checked.content);
    let subject = checked.topic.strip_prefix(FACTS).unwrap_or_default();
    match &checked.key {
        Some(attribute) if before.is_fact() && (is_other_text || is_other_time) => {
            let words = [subject, attribute].map(shell::word).join(" ");
            Err(ServiceError::invalid_with(
                format!(
                    "`{attribute}` of `{subject}` is a fact, whose value a store does not change"
                ),
                format!(
                    "set it with `icm fact set {words} VALUE`, or correct it with `icm update`"
                ),
            ))
        }
        _ => Ok(()),
    }
}

/// Stores a checked memory, over the memory that has its name if there is one.
pub(crate) fn store_in(
    command: &mut Command<'_>,
    views: &Views,
    checked: &ValidatedStore,
) -> QueryResult<Receipt> {
    let newest = views.tally().position;
    let known = match views.named(checked.name())? {
        Some(entity) => views.version_at(entity, newest)?,
        None => None,
    };
    let hidden = known.as_ref().filter(|version| version.hidden);
    let event = hidden.map(|version| checked.stored_over(version));
    let Some(before) = known.filter(|version| !version.hidden) else {
        let event = event.unwrap_or_else(|| checked.stored(command.new_id()));
        let id = event.subject;
        let appended = command.append(views, vec![event])?;
        return Ok(stored_receipt(id, appended[0], &checked.topic));
    };
    let expired = Expired::now(command.service, views);
    let is_over = expired.is_over(&before);
    expired.checked()?;
    let mut change = Change::of_store(checked);
    if before.key.is_none() {
        // A redaction took the names; these are the same ones.
        change.key = checked.key.clone();
        change.topic = match &before.topic {
            None => Some(checked.topic.clone()),
            Some(_) => None,
        };
    }
    if before.is_alive() && !is_over {
        refuse_value_of_fact(&before, checked)?;
    }
    if is_over {
        // Stored again, an expired memory is back.
        change.expires.get_or_insert(None);
    }
    let change = command.service.counted(views, change, &before)?;
    let mut events: Vec<NewEvent> = change.event(&before).into_iter().collect();
    let action = if before.is_alive() && !is_over {
        Action::Updated
    } else {
        Action::Stored
    };
    if !before.is_alive() {
        events.push(turned(&before, Kind::MEMORY_REVIVED));
    }
    // Said again, the text is newer than what seems to have replaced it.
    if events.is_empty() && command.service.seems_overtaken(views, checked, &before)? {
        events.extend(change.event_settling(&before, fields::CONTENT));
    }
    if events.is_empty() {
        let digest = checked.request_digest.as_deref();
        return command.service.confirmed(command, views, &before, digest);
    }
    let appended = command.append(views, events)?;
    Ok(receipt(&before, appended[0], action, None))
}
