//! The effects of an undo on alerts.

use std::collections::BTreeMap;

use icm_log::facts::LogUndone;
use icm_log::{Kind, Position, payload};
use icm_projections::Views;
use icm_projections::fold::Undos;

use super::choice::Picked;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::{UndoAction, UndoAlert};

impl Service {
    /// Returns the alerts that wait no longer or again if these undos are written, and the picked ones that were shown
    /// already. Ascending by position.
    pub(super) fn undone_alerts(
        &self,
        views: &Views,
        picked: &[Picked],
        undos: &Undos,
        unwritten: &[LogUndone],
    ) -> QueryResult<Vec<UndoAlert>> {
        let alerts = &views.tally().alerts;
        let mut effects: BTreeMap<Position, (UndoAction, bool)> = BTreeMap::new();
        let shown = (picked.iter())
            .filter(|it| it.kind == Kind::ALERT_SET && !alerts.is_pending(it.at.event));
        effects.extend(shown.map(|it| (it.position, (UndoAction::Gone, true))));
        let after = undos.with(unwritten);
        for alert in alerts.pending() {
            let action = match (undos.is_undone(&alert.at), after.is_undone(&alert.at)) {
                (false, true) => UndoAction::Gone,
                (true, false) => UndoAction::Back,
                _ => continue,
            };
            effects.insert(alert.position, (action, false));
        }
        let positions: Vec<Position> = effects.keys().copied().collect();
        let mut found = Vec::with_capacity(positions.len());
        views.events_at(&self.log, &positions, &mut |event| {
            let Some((action, shown)) = effects.get(&event.position) else {
                return;
            };
            let bytes = event.body.payload();
            let payload =
                bytes.and_then(|bytes| payload::decode::<payload::AlertSet<'_>>(bytes).ok());
            found.push(UndoAlert {
                event: event.id.to_string(),
                position: event.position.0,
                action: *action,
                shown: *shown,
                text: payload.map(|alert| alert.text.to_owned()),
            });
        })?;
        Ok(found)
    }
}
