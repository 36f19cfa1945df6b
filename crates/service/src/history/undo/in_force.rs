//! The undos that are in force at a moment.

use icm_log::{EventId, OriginId, Position, Seq};
use icm_projections::Views;
use icm_projections::fold::{InChain, Undos};

use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::{LogEntry, Version};

impl Service {
    /// Returns the undos in force at a position that name an event, in the order of learning: position and time, in
    /// milliseconds since the epoch.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn undos_of(&self, entry: &LogEntry, position: u64) -> Result<Vec<(u64, u64)>> {
        let origin = OriginId::parse_hex(&entry.origin);
        let event = EventId::parse_hex(&entry.event);
        let (Some(origin), Some(event)) = (origin, event) else {
            let message = format!("`{}` is no event of a log", entry.event);
            return Err(ServiceError::invalid(message));
        };
        let seq = Seq(entry.seq);
        let at = InChain { origin, seq, event };
        self.with_views(|views| {
            let mut of_event = Vec::new();
            if let Some(undos) = undos_at(views, Position(position))? {
                let positions: Vec<_> = undos.in_force(&at).map(|undo| undo.position).collect();
                views.events_at(&self.log, &positions, &mut |undo| {
                    of_event.push((undo.position.0, undo.head.time().ms()));
                })?;
            }
            Ok(of_event)
        })
    }

    /// Names for each event that was undone at `newest` the undo. An undo that changes no row leaves no version.
    pub(crate) fn mark_undone(
        &self,
        views: &Views,
        newest: Position,
        history: &mut [Version],
    ) -> QueryResult<()> {
        let Some(undos) = undos_at(views, newest)? else {
            return Ok(());
        };
        let mut positions: Vec<Position> = history
            .iter()
            .map(|version| Position(version.position))
            .collect();
        positions.dedup();
        views.events_at(&self.log, &positions, &mut |event| {
            let undo = undos.in_force(&InChain::of(event)).next();
            let Some(undo) = undo else { return };
            let id = event.id.to_string();
            let of_event = history.iter_mut().filter(|version| version.event == id);
            of_event.for_each(|version| version.undone_at = Some(undo.position.0));
        })?;
        Ok(())
    }
}

/// Returns the undos up to a position, with their force then; `None` if the store has none.
fn undos_at(views: &Views, position: Position) -> QueryResult<Option<Undos>> {
    if views.tally().undos == 0 {
        return Ok(None);
    }
    Ok(Some(views.undos()?.as_of(position)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use icm_api::{Caller, ExportSince, NoProgress, UndoRequest};
    use icm_log::env::Env;

    use super::*;
    use crate::service::tests::store_in;
    use crate::{ExportFile, Ground, OpenOptions, SystemEnv};

    /// The environment of this machine, with origins that begin with a given byte.
    struct OriginFrom(u8);

    impl Env for OriginFrom {
        fn now_ms(&self) -> u64 {
            SystemEnv.now_ms()
        }

        fn fill_random(&self, bytes: &mut [u8]) {
            SystemEnv.fill_random(bytes);
            bytes[0] = self.0;
        }

        fn machine_id(&self) -> Option<String> {
            None
        }
    }

    fn machine(folder: &Path, first: u8) -> Service {
        let options = OpenOptions {
            dir: folder.join(format!("store-{first}")),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        };
        let ground = Ground {
            env: Arc::new(OriginFrom(first)),
            ..Ground::system()
        };
        Service::open_on(options, ground).expect("a store")
    }

    fn carry(folder: &Path, from: &Service, to: &Service) {
        let mut bytes = Vec::new();
        let exported = from.export_log(&ExportSince::Start, &mut bytes, &NoProgress);
        exported.expect("an export");
        let file = folder.join("carried");
        std::fs::write(&file, bytes).expect("a file");
        let file = ExportFile::open(&file).expect("an export");
        let imported = to.import_log(&Caller::default(), &file, false, &NoProgress);
        imported.expect("an import");
    }

    fn undo(service: &Service, event: &str) -> String {
        let request = UndoRequest {
            events: vec![event.to_owned()],
            ..UndoRequest::default()
        };
        let undone = service.undo(&Caller::default(), &request).expect("an undo");
        undone.event.expect("an event")
    }

    /// One machine undoes an event, another one undoes the undo. The first machine learns both, in either order.
    #[test]
    fn an_undo_that_was_taken_back_is_not_in_force_in_any_order_of_learning() {
        for (undoer, reviver) in [(2, 3), (3, 2)] {
            let is_undo_first = undoer < reviver;
            let folder = tempfile::tempdir().expect("a folder");
            let folder = folder.path();
            let author = machine(folder, 1);
            let (undoer, reviver) = (machine(folder, undoer), machine(folder, reviver));
            let stored = store_in(&author, "t", "the gate is open").event;
            let undos = |service: &Service, event: &str| {
                let entry = service.log_show(event).expect("an event").entry;
                let newest = service.newest_position().expect("a log");
                service.undos_of(&entry, newest).expect("undos")
            };
            assert_eq!(undos(&author, &stored), []);
            carry(folder, &author, &undoer);
            let first = undo(&undoer, &stored);
            let of_first = undoer.log_show(&first).expect("an undo").entry;
            let in_force = undos(&undoer, &stored);
            assert_eq!(in_force.len(), 1);
            assert_eq!(in_force[0].0, of_first.position);
            assert_eq!(icm_api::when::rfc3339(in_force[0].1), of_first.at);
            let entry = undoer.log_show(&stored).expect("an event").entry;
            let before = undoer.undos_of(&entry, of_first.position - 1);
            assert_eq!(before.expect("undos"), []);
            carry(folder, &undoer, &reviver);
            let second = undo(&reviver, &first);
            carry(folder, &reviver, &author);
            let position = |event: &str| author.log_show(event).expect("an undo").entry.position;
            // Chains are imported in the order of their origins.
            assert_eq!(position(&first) < position(&second), is_undo_first);
            assert_eq!(undos(&author, &stored), []);
            assert_eq!(undos(&author, &first).len(), 1);
        }
    }
}
