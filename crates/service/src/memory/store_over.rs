//! Storing over a memory that has the name already.

use icm_log::facts::fields;
use icm_log::{Kind, NewEvent};
use icm_projections::Views;

use crate::command::{Change, Command, ValidatedStore, receipt, stored_receipt, turned};
use crate::memory::expiry::Expired;
use crate::snapshot::QueryResult;
use icm_api::{Action, Receipt};

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
