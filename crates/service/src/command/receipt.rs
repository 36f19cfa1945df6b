//! Receipts: of a write, of something that was there already, or of the first time of a request.

use std::ops::ControlFlow;

use icm_log::{Appended, EventId, Kind, Log, Position, SubjectId};
use icm_projections::Views;
use icm_projections::fold::Version;

use super::{Command, RequestKeyOf};
use crate::peer::Attempt;
use crate::snapshot::QueryResult;
use icm_api::error::ServiceError;
use icm_api::ids::id_text;
use icm_api::{Action, Receipt};
use icm_wait::bounds;

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
    let written = (first.event, first.position);
    again(views, first.subject, Kind(first.kind), written).map(Some)
}

/// Returns the receipt of the command that an earlier attempt has written, if it has.
///
/// Cost: reads the log back to the time of that attempt.
pub(crate) fn earlier_receipt(
    log: &Log,
    views: &Views,
    attempt: Option<Attempt>,
) -> QueryResult<Option<Receipt>> {
    let Some(Attempt {
        command,
        since_ms: Some(since_ms),
    }) = attempt
    else {
        return Ok(None);
    };
    // Times of a chain never fall; a clock may be set back by a little.
    let oldest = since_ms.saturating_sub(bounds::LOOK_EVERY.as_millis() as u64);
    let mut first = None;
    log.scan_back(None, &mut |event| {
        if event.own && event.head.time().ms() < oldest {
            return ControlFlow::Break(());
        }
        // The command may also have begun the chain and named its actor.
        let is_of_memory = event.head.kind().name().starts_with("memory.");
        if event.head.command() == command && is_of_memory {
            let written = (event.id, event.position);
            first = Some((event.head.subject(), event.head.kind(), written));
        }
        ControlFlow::Continue(())
    })?;
    let Some((subject, kind, written)) = first else {
        return Ok(None);
    };
    again(views, subject, kind, written).map(Some)
}

/// Returns the receipt of an event that is in the log already.
fn again(
    views: &Views,
    subject: SubjectId,
    kind: Kind,
    written: (EventId, Position),
) -> QueryResult<Receipt> {
    let entity = views.resolve(subject)?;
    let version = views.version_at(entity, written.1)?;
    let topic = version
        .and_then(|version| version.topic)
        .unwrap_or_default();
    let action = match kind {
        Kind::MEMORY_STORED | Kind::MEMORY_CONSOLIDATED => Action::Stored,
        Kind::MEMORY_REVIVED => Action::Revived,
        Kind::MEMORY_FORGOTTEN => Action::Forgotten,
        Kind::MEMORY_PINNED => Action::Pinned,
        Kind::MEMORY_UNPINNED => Action::Unpinned,
        Kind::MEMORY_LINKED => Action::Unchanged,
        _ => Action::Updated,
    };
    Ok(Receipt {
        confirmed: kind == Kind::MEMORY_LINKED,
        ..receipt_of(subject, written, action, topic)
    })
}
