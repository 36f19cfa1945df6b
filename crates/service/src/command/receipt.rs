//! Receipts: of a write, of something that was there already, or of the first time of a request.

use icm_log::{Appended, EventId, Kind, Position, SubjectId};
use icm_projections::Views;
use icm_projections::fold::Version;

use super::{Command, RequestKeyOf};
use crate::snapshot::QueryResult;
use icm_api::error::ServiceError;
use icm_api::ids::id_text;
use icm_api::{Action, Receipt};

/// Returns the receipt of an event, with nothing more to say.
fn receipt_of(
    id: SubjectId,
    (event, position): (EventId, Position),
    action: Action,
    topic: String,
) -> Receipt {
    Receipt {
        id: id_text(id),
        event: event.to_string(),
        position: position.0,
        action,
        topic,
        similar: None,
        warnings: Vec::new(),
        crowded: None,
        confirmed: false,
    }
}

/// Returns the receipt of a change of `before`; `topic`: where the memory is now, if it moved.
pub(crate) fn receipt(
    before: &Version,
    event: Appended,
    action: Action,
    topic: Option<String>,
) -> Receipt {
    let topic = topic.or_else(|| before.topic.clone()).unwrap_or_default();
    receipt_of(before.id, (event.event, event.position), action, topic)
}

/// Returns the receipt of a memory that is new.
pub(crate) fn stored_receipt(id: SubjectId, event: Appended, topic: &str) -> Receipt {
    let written = (event.event, event.position);
    receipt_of(id, written, Action::Stored, topic.to_owned())
}

/// Returns the receipt where nothing was to be done.
pub(crate) fn unchanged(before: &Version) -> Receipt {
    let topic = before.topic.clone().unwrap_or_default();
    let written = (before.stamp.event, before.from);
    receipt_of(before.id, written, Action::Unchanged, topic)
}

/// The receipt of the command that an idempotency key was used for before, if it was.
pub(crate) fn first_receipt(
    command: &Command<'_>,
    views: &Views,
    digest: &Option<String>,
    request_id: RequestKeyOf<'_>,
) -> QueryResult<Option<Receipt>> {
    let RequestKeyOf(Some(request_id)) = request_id else {
        return Ok(None);
    };
    let Some(first) = views.request(command.request)? else {
        return Ok(None);
    };
    if first.digest.is_some() && first.digest != *digest {
        return Err(ServiceError::Conflict {
            request_id: (command.service.settings.secrets.masked(request_id))
                .unwrap_or_else(|| request_id.to_owned()),
        }
        .into());
    }
    let entity = views.resolve(first.subject)?;
    let version = views.version_at(entity, first.position)?;
    let topic = version
        .and_then(|version| version.topic)
        .unwrap_or_default();
    let action = match Kind(first.kind) {
        Kind::MEMORY_STORED | Kind::MEMORY_CONSOLIDATED => Action::Stored,
        Kind::MEMORY_REVIVED => Action::Revived,
        Kind::MEMORY_FORGOTTEN => Action::Forgotten,
        Kind::MEMORY_PINNED => Action::Pinned,
        Kind::MEMORY_UNPINNED => Action::Unpinned,
        Kind::MEMORY_LINKED => Action::Unchanged,
        _ => Action::Updated,
    };
    let written = (first.event, first.position);
    Ok(Some(Receipt {
        confirmed: Kind(first.kind) == Kind::MEMORY_LINKED,
        ..receipt_of(first.subject, written, action, topic)
    }))
}
