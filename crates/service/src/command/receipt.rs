//! Receipts: of a write, of a memory that was there already, or of the first attempt of a request.

use std::ops::ControlFlow;

use icm_log::{Appended, Cursor, EventId, Kind, Log, Position, SubjectId};
use icm_projections::Views;
use icm_projections::fold::Version;

use super::{Command, RequestKeyOf, condition_text};
use crate::peer::{Attempt, SIGN_OF_LIFE};
use crate::snapshot::QueryResult;
use icm_api::error::ServiceError;
use icm_api::ids::id_text;
use icm_api::{Action, Receipt};

/// Returns the receipt of an event, without similar or replaced memories.
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
        expires: None,
        similar: None,
        seems_to_replace: Vec::new(),
        to_be_judged: Vec::new(),
        warnings: Vec::new(),
        crowded: None,
        confirmed: false,
    }
}

/// Returns the receipt of a change of `before`. `topic` is the memory's new topic, if it moved.
pub(crate) fn receipt(
    before: &Version,
    event: Appended,
    action: Action,
    topic: Option<String>,
) -> Receipt {
    let topic = topic.or_else(|| before.topic.clone()).unwrap_or_default();
    receipt_of(before.id, (event.event, event.position), action, topic)
}

/// Returns the receipt of a new memory.
pub(crate) fn stored_receipt(id: SubjectId, event: Appended, topic: &str) -> Receipt {
    let written = (event.event, event.position);
    receipt_of(id, written, Action::Stored, topic.to_owned())
}

/// Returns the receipt of a command that changes nothing.
pub(crate) fn unchanged(before: &Version) -> Receipt {
    let topic = before.topic.clone().unwrap_or_default();
    let written = (before.stamp.event, before.from);
    receipt_of(before.id, written, Action::Unchanged, topic)
}

/// Returns the receipt of the command that used the idempotency key first, if there was one.
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

/// Milliseconds by which the clock may be set back between the first attempt and the event that it wrote.
const CLOCK_SLACK_MS: u64 = 2_000;

/// Returns the receipt of the command if an earlier attempt wrote it. A late attempt is checked too: its asker may have
/// made another one meanwhile.
///
/// Cost: reads the events since the first attempt, unless this attempt is the first and in time.
pub(crate) fn earlier_receipt(
    log: &Log,
    views: &Views,
    attempt: Option<Attempt>,
    now_ms: u64,
) -> QueryResult<Option<Receipt>> {
    let is_late = |attempt: &Attempt| {
        let waited = now_ms.saturating_sub(attempt.asked_ms);
        attempt.is_again || u128::from(waited) >= SIGN_OF_LIFE.as_millis()
    };
    let Some(attempt) = attempt.filter(is_late) else {
        return Ok(None);
    };
    // The times of a chain never fall.
    let oldest = attempt.asked_ms.saturating_sub(CLOCK_SLACK_MS);
    let (from, position) = match log.at_time(oldest, views)? {
        Some(tip) => (log.place_before(tip.position, views)?, tip.position),
        None => (Cursor::START, Position(1)),
    };
    let mut first = None;
    log.scan_from(&from, (position, views), &mut |event| {
        // The command may also have begun the chain and named its actor.
        let is_of_memory = event.head.kind().name().starts_with("memory.");
        if event.head.command() != attempt.command || !is_of_memory {
            return ControlFlow::Continue(());
        }
        let written = (event.id, event.position);
        first = Some((event.head.subject(), event.head.kind(), written));
        ControlFlow::Break(())
    })?;
    let Some((subject, kind, written)) = first else {
        return Ok(None);
    };
    again(views, subject, kind, written).map(Some)
}

/// Returns the receipt of an event that is already in the log, with the condition that its memory had after it.
fn again(
    views: &Views,
    subject: SubjectId,
    kind: Kind,
    written: (EventId, Position),
) -> QueryResult<Receipt> {
    let entity = views.resolve(subject)?;
    let version = views.version_at(entity, written.1)?;
    let expires = version.as_ref().and_then(condition_text);
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
        expires,
        ..receipt_of(subject, written, action, topic)
    })
}
