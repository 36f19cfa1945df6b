//! Setting an alert.

use icm_log::facts::{self, ScopeKind};
use icm_log::{Kind, NewEvent, ScopeId, SessionId, SubjectId, hash, payload};
use icm_projections::Views;

use crate::command::RequestKeyOf;
use crate::command::secrets::Guard;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits::{self, ALERT_LEN_MAX, ALERTS_PENDING_MAX, SOURCE_LEN_MAX};
use icm_api::when::{self, rfc3339};
use icm_api::{AlertReceipt, AlertSetRequest, Caller};

/// The session or the project that an alert is for.
struct Recipient {
    session: SessionId,
    scope_id: ScopeId,
    /// `None` if only the id is known.
    session_name: Option<String>,
    project: Option<String>,
}

impl Service {
    /// Sets an alert for a session, or for the caller's project if there is no session.
    ///
    /// # Errors
    /// `Invalid` without a session and a project, for a time that cannot be read, and if too many alerts wait; `Secret`.
    pub fn set_alert(&self, caller: &Caller, request: AlertSetRequest) -> Result<AlertReceipt> {
        let mut text = request.text;
        limits::text("the alert", &text, ALERT_LEN_MAX)?;
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.alert(request.session.as_deref(), &mut text)?;
        let due_ms = match &request.due {
            None => 0,
            Some(due) => when::parse_due(due, self.now_ms(), &self.zone())
                .map_err(|error| self.without_its_secrets(error))?,
        };
        let recipient = self.recipient(caller, request.session.as_deref())?;
        let facts = facts::AlertSet {
            session: recipient.session,
            scope_id: recipient.scope_id,
            due_ms,
        };
        let payload = payload::AlertSet {
            text: &text,
            session: recipient.session_name.as_deref(),
            project: recipient.project.as_deref(),
        };
        let (facts, payload) = (facts.encode(), payload::encode(&payload));
        let appended = self.command(caller, None, RequestKeyOf(None), |command, views| {
            refuse_too_many(views)?;
            let event = NewEvent {
                kind: Kind::ALERT_SET,
                subject: SubjectId::ZERO,
                refs: Vec::new(),
                facts: facts.clone(),
                payload: payload.clone(),
            };
            Ok(command.append(views, vec![event])?[0])
        })?;
        let session = (!recipient.session.is_zero()).then(|| {
            recipient
                .session_name
                .unwrap_or_else(|| recipient.session.to_string())
        });
        Ok(AlertReceipt {
            event: appended.event.to_string(),
            position: appended.position.0,
            session,
            project: recipient.project,
            due_at: (due_ms > 0).then(|| rfc3339(due_ms)),
            due: due_ms <= self.now_ms(),
            warnings: guard.warnings(),
        })
    }

    fn recipient(&self, caller: &Caller, given: Option<&str>) -> Result<Recipient> {
        let own = (caller.session.as_deref()).filter(|_| !caller.session_is_made);
        if let Some(name) = given.or(own) {
            limits::text("the session", name, SOURCE_LEN_MAX)?;
            limits::visible_label("the session", name, SOURCE_LEN_MAX)?;
            let session = match given {
                Some(given) => self.session_meant(given)?,
                None => hash::session_id(name),
            };
            return Ok(Recipient {
                session,
                scope_id: ScopeId::ZERO,
                session_name: (session == hash::session_id(name)).then(|| name.to_owned()),
                project: None,
            });
        }
        let Some(project) = &caller.project_id else {
            return Err(ServiceError::invalid_with(
                "there is no session here, and no project",
                "name a session with `--session`, or set the alert in the folder of a project",
            ));
        };
        let project = limits::name("the scope's id", project, SOURCE_LEN_MAX)?;
        Ok(Recipient {
            session: SessionId::ZERO,
            scope_id: hash::scope_id(ScopeKind::Project.code(), &project),
            session_name: None,
            project: Some(project),
        })
    }
}

fn refuse_too_many(views: &Views) -> QueryResult<()> {
    let alerts = &views.tally().alerts;
    if alerts.pending().count() < ALERTS_PENDING_MAX {
        return Ok(());
    }
    let undos = views.undos()?;
    let waiting = alerts.pending().filter(|alert| !undos.is_undone(&alert.at));
    match waiting.count() < ALERTS_PENDING_MAX {
        true => Ok(()),
        false => Err(ServiceError::invalid_with(
            format!("{ALERTS_PENDING_MAX} alerts wait to be shown, which is the limit"),
            "`icm alerts --all` lists them, and `icm undo @POSITION` takes one back",
        )
        .into()),
    }
}
