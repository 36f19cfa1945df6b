//! Showing alerts, and the event that follows the answer.

use icm_log::{Kind, NewEvent, SubjectId, payload};
use icm_wait::bounds;

use crate::command::RequestKeyOf;
use crate::command::transaction::CommandIdentity;
use crate::service::{Delivery, Service};
use icm_api::error::{ALERTS_UNWRITTEN, Result};
use icm_api::{AlertsAnswer, AlertsRequest, Caller};

/// Name of the lock file. It is not in the folder of deletable files: a redaction deletes that folder.
const LOCK: &str = "alerts.lock";

impl Service {
    /// Returns the alerts that the caller's session sees: its own, those of its parents, and those of the project. The
    /// delivery, if any, stays with the answer: [`Service::record_delivery`] writes it once this answer is out. If the
    /// answer does not get out, the delivery is dropped, and the alerts are shown again.
    ///
    /// # Errors
    /// `Busy` if another process is about to show the alerts, and does not get done.
    pub fn alerts(
        &self,
        caller: &Caller,
        request: &AlertsRequest,
    ) -> Result<(AlertsAnswer, Option<Delivery>)> {
        let asker = self.asker(caller, request)?;
        let find = || self.with_views(|views| self.find_alerts(views, &asker, request));
        let (answer, _) = find()?;
        let only_looks =
            request.read_only || request.all || request.at.is_some() || self.options.read_only;
        if only_looks || answer.alerts.is_empty() {
            return Ok((answer, None));
        }
        let claim = self.claim(LOCK, ALERTS_UNWRITTEN)?;
        // Another process may have shown them meanwhile.
        let (mut answer, alerts) = find()?;
        if answer.alerts.is_empty() {
            return Ok((answer, None));
        }
        answer.delivered = true;
        let delivery = Delivery {
            caller: caller.clone(),
            alerts,
            _claim: claim,
        };
        Ok((answer, Some(delivery)))
    }

    /// Appends `alert.delivered` for an answer that is out.
    ///
    /// # Errors
    /// Any error of a write. The alerts are then shown again.
    pub fn record_delivery(&self, delivery: Delivery) -> Result<()> {
        let asked = CommandIdentity {
            caller: &delivery.caller,
            id: None,
            request: RequestKeyOf(None),
        };
        // A hook waits only a moment for the lock, but the alerts are shown already.
        let wait = self.options.lock_wait.max(bounds::PROCESS);
        self.command_within(wait, asked, |command, views| {
            let alerts = &views.tally().alerts;
            let shown = delivery.alerts.iter().copied();
            let refs: Vec<_> = shown.filter(|alert| alerts.is_pending(*alert)).collect();
            if refs.is_empty() {
                return Ok(());
            }
            let event = NewEvent {
                kind: Kind::ALERT_DELIVERED,
                subject: SubjectId::ZERO,
                refs,
                facts: Vec::new(),
                payload: payload::encode(&payload::Nothing {}),
            };
            command.append(views, vec![event])?;
            Ok(())
        })
    }
}
