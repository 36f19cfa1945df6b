//! The events of a bundle one by one, for exports in another format.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use super::Since;
use super::plan::Part;
use crate::error::Result;
use crate::log::Log;
use crate::walk::{Cursor, Event};
use icm_event::id::{EventId, OriginId};
use icm_event::record::Body;

/// Counts of an export of events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedEvents {
    /// Number of chains.
    pub origins: u64,
    /// Number of events.
    pub events: u64,
    /// Number of events without a body: redacted or damaged.
    pub bodiless: u64,
    /// As [`Exported::incomplete`](super::Exported::incomplete).
    pub incomplete: Vec<OriginId>,
    /// Number of events that a bundle would hold, but that have no position yet: the import that brought them was never
    /// finished.
    pub unlearned: u64,
}

impl Log {
    /// Hands out the events that a bundle for the same `since` holds, in the order of positions, until `each` breaks.
    /// An event that a redaction names comes without its body.
    ///
    /// # Errors
    /// The errors of [`Log::export`].
    pub fn export_events(
        &self,
        since: &Since,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<ExportedEvents> {
        let plan = self.export_plan(since)?;
        let parts = plan.chains.iter().flat_map(|(_, parts)| parts);
        let mut wanted: HashSet<EventId> = parts.flat_map(ids_of).collect();
        let mut origins = BTreeSet::new();
        let mut done = ExportedEvents {
            incomplete: plan.incomplete,
            ..ExportedEvents::default()
        };
        let mut stopped = false;
        self.scan(&Cursor::START, &mut |event| {
            if !wanted.remove(&event.id) {
                return ControlFlow::Continue(());
            }
            let named = plan.redactions.names(&event.head, event.id);
            let body = match event.body {
                Body::Present { .. } if named => Body::Withheld,
                body => body,
            };
            done.events += 1;
            done.bodiless += u64::from(!matches!(body, Body::Present { .. }));
            origins.insert(event.head.origin());
            let flow = each(&Event { body, ..*event });
            stopped = flow.is_break();
            flow
        })?;
        done.origins = origins.len() as u64;
        done.unlearned = if stopped { 0 } else { wanted.len() as u64 };
        Ok(done)
    }
}

fn ids_of(part: &Part) -> impl Iterator<Item = EventId> {
    let stretches = part.stretches.iter();
    let seqs = stretches.flat_map(|(from, to)| from.0..=to.0);
    seqs.filter_map(|seq| part.run.id_at(icm_event::id::Seq(seq)))
}
