//! Bundles: the log as a file, written for another machine and imported from one.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use icm_log::bundle::{BUNDLE_MAGIC, Bundle, ChainRange, Exported, Since};
use icm_log::disk::{Disk, DiskFile, OpenMode, RealDisk};
use icm_log::facts::LogImported;
use icm_log::learn::{Fork, Lacking, Learned};
use icm_log::repair::Spare;
use icm_log::{Gap, Kind, NewEvent, OriginId, Seq, SubjectId, payload};

use crate::command::RequestKeyOf;
use crate::history::heads;
use crate::integrity::redact::redacted;
use crate::service::Service;
use crate::snapshot::unknown;
use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, ChainPlace, ExportSince, LogExported, LogImportAnswer, Progress};

/// The first bytes of the lines of `icm log export --format cloudevents`.
const CLOUDEVENT_START: &[u8] = b"{\"specve";

/// `log.imported` events of one batch. Raised, a batch may be too long, as each may have the longest length of an
/// event.
pub(crate) const IMPORTS_MAX: usize = 32;

/// Events of an import up to which the conflicts that they open are counted. Raised, a large import takes longer to
/// answer.
const LOOK_EVENTS_MAX: u64 = 10_000;

impl Service {
    /// Writes every chain of this store into `out`, except the events that `since` names as present at the receiver. A
    /// receiver that imports the file then has the same events.
    pub fn export_log(
        &self,
        since: &ExportSince,
        out: &mut dyn Write,
        progress: &dyn Progress,
    ) -> Result<LogExported> {
        self.finish_what_was_begun()?;
        let since = self.resolve_since(since)?;
        progress.start("exporting", Some(self.log.len_bytes()?));
        let exported =
            (self.log).export(&since, u64::MAX, out, &mut |bytes| progress.advance(bytes));
        progress.finish();
        let exported = exported.map_err(|error| self.explained(error))?;
        Ok(LogExported {
            file: None,
            origins: exported.origins,
            events: exported.events,
            withheld: exported.bodiless,
            incomplete: (exported.incomplete.iter())
                .map(OriginId::to_string)
                .collect(),
            bytes: exported.bytes,
        })
    }

    /// Exports the events that the receiver lacks, which knows its own to the event. Ends with the batch that reaches
    /// `limit_bytes`.
    ///
    /// # Errors
    /// As [`Service::export_log`].
    pub fn export_lacking(
        &self,
        there: &[ChainRange],
        limit_bytes: u64,
        out: &mut dyn Write,
        progress: &dyn Progress,
    ) -> Result<Exported> {
        self.finish_what_was_begun()?;
        progress.start("looking for what is new", Some(self.log.len_bytes()?));
        let since = Since::Ranges(there.to_vec());
        let exported = (self.log).export(&since, limit_bytes, out, &mut |bytes| {
            progress.advance(bytes)
        });
        progress.finish();
        exported.map_err(|error| self.explained(error))
    }

    /// Returns the ranges of every chain that this store holds.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn held_ranges(&self) -> Result<Vec<ChainRange>> {
        (self.log.held_ranges()).map_err(|error| self.explained(error))
    }

    /// Returns the parts of these ranges that this store lacks.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn lacking(&self, ranges: &[ChainRange]) -> Result<Lacking> {
        (self.log.lacking(ranges)).map_err(|error| self.explained(error))
    }

    pub(crate) fn resolve_since(&self, since: &ExportSince) -> Result<Since> {
        Ok(match since {
            ExportSince::Start => Since::Start,
            ExportSince::Heads(text) => {
                let heads = heads::parse(text)?.into_iter();
                let all = heads.map(|(origin, seq, head)| ChainRange::up_to(origin, seq, head));
                Since::Ranges(all.collect())
            }
            ExportSince::Moment(at) => {
                let at = self.with_views(|views| self.at_or_nothing(views, at))?;
                Since::Position(at.position)
            }
        })
    }

    /// Imports the events of an export that this store lacks, or returns the plan of that. The whole file is checked
    /// before any of it is imported.
    ///
    /// # Errors
    /// `BadExport` for an export that is not whole; `DoesNotFit` if events between it and this store are missing.
    /// Nothing is imported then.
    pub fn import_log(
        &self,
        caller: &Caller,
        file: &ExportFile,
        dry_run: bool,
        progress: &dyn Progress,
    ) -> Result<LogImportAnswer> {
        let bundle = file.read(progress)?;
        // A bundle without events makes no store.
        if dry_run || (bundle.events() == 0 && !self.is_there()) {
            let learned = self.log.would_learn(&bundle, self.now_ms())?;
            return Ok(answer(&learned, dry_run));
        }
        let (before, learned, appended) =
            self.command(caller, None, RequestKeyOf(None), |command, views| {
                let learned = command.learn(&bundle)?;
                let events: Vec<NewEvent> = learned.facts.iter().map(imported).collect();
                let mut appended = None;
                for events in events.chunks(IMPORTS_MAX) {
                    appended = command.append(views, events.to_vec())?.last().copied();
                }
                for (singles, subjects) in &learned.adopted {
                    let event = redacted(singles, subjects, None);
                    appended = command.append(views, vec![event])?.last().copied();
                }
                Ok((views.tally().position, learned, appended))
            })?;
        let mut told = answer(&learned, false);
        if learned.changes_the_past {
            let blanked = self.finish_redaction()?;
            told.redacted = blanked.events;
            told.out_of_reach = unknown(&blanked);
        }
        self.rebuild_after_import(learned.events);
        if appended.is_some() && learned.events <= LOOK_EVENTS_MAX {
            // The import counts, whether or not this look succeeds.
            let opened = self.with_views(|views| self.opened_since(views, before));
            told.conflicts = opened.ok();
        }
        Ok(LogImportAnswer {
            event: appended.map(|event| event.event.to_string()),
            position: appended.map(|event| event.position.0),
            ..told
        })
    }
}

pub(crate) fn imported(facts: &LogImported) -> NewEvent {
    NewEvent {
        kind: Kind::LOG_IMPORTED,
        subject: SubjectId::ZERO,
        refs: Vec::new(),
        facts: facts.encode(),
        payload: payload::encode(&serde_json::Map::new()),
    }
}

fn place((origin, seq): (OriginId, Seq)) -> ChainPlace {
    ChainPlace {
        origin: origin.to_string(),
        seq: seq.0,
    }
}

fn answer(learned: &Learned, dry_run: bool) -> LogImportAnswer {
    let gaps = |gaps: &[Gap]| {
        gaps.iter()
            .map(|gap| place((gap.origin, gap.from_seq)))
            .collect()
    };
    let forks = |forks: &[Fork]| {
        forks
            .iter()
            .map(|fork| place((fork.origin, fork.seq)))
            .collect()
    };
    LogImportAnswer {
        dry_run,
        added: learned.events,
        unchanged: learned.unchanged,
        refilled_events: learned.refilled_events,
        refilled_payloads: learned.refilled_bodies,
        left_out: learned.left_out,
        redacted: learned.redactions,
        out_of_reach: Vec::new(),
        forks: forks(&learned.forks),
        later: gaps(&learned.later),
        unproven: gaps(&learned.unproven),
        waiting: gaps(&learned.waiting),
        own_forks: forks(&learned.own_forks),
        event: None,
        position: None,
        conflicts: None,
    }
}

/// An export of a log that is to be read.
pub struct ExportFile {
    file: Arc<dyn DiskFile>,
    name: String,
}

impl ExportFile {
    /// Reads and checks the whole export.
    fn read(&self, progress: &dyn Progress) -> Result<Bundle> {
        progress.start("reading", self.file.len().ok());
        let file = Arc::clone(&self.file);
        let read = Bundle::read(file, Path::new(&self.name), &mut |bytes| {
            progress.advance(bytes);
        });
        progress.finish();
        Ok(read?)
    }

    /// Returns the records that a repair can take from the export.
    ///
    /// # Errors
    /// `BadExport` for an export that is not whole.
    pub fn spares(&self, progress: &dyn Progress) -> Result<Vec<Spare>> {
        Ok(self.read(progress)?.spares())
    }

    /// Opens a file. Anything but a regular file (a pipe) is read to its end first.
    pub fn open(path: &Path) -> Result<ExportFile> {
        let failed = |source: io::Error| ServiceError::Io {
            doing: format!("reading {}", path.display()),
            source,
        };
        let there = std::fs::metadata(path).map_err(failed)?;
        if there.is_dir() {
            return Err(ServiceError::invalid_with(
                format!("{} is a folder", path.display()),
                "name a file that `icm log export` wrote",
            ));
        }
        let name = path.to_string_lossy().into_owned();
        if !there.is_file() {
            let mut pipe = std::fs::File::open(path).map_err(failed)?;
            return ExportFile::spool(&mut pipe, &name);
        }
        let file = RealDisk.open(path, OpenMode::Read).map_err(failed)?;
        Ok(ExportFile { file, name })
    }

    /// Returns the error text for a file with this start, which is no export.
    pub fn what_else(start: &[u8], name: &str) -> String {
        match start.starts_with(CLOUDEVENT_START) {
            true => format!(
                "{name} holds CloudEvents, which can be read but not imported: export without `--format`"
            ),
            false if start.is_empty() => {
                format!("{name} is empty: it is no file of `icm log export`")
            }
            false => format!("{name} is no file of `icm log export`"),
        }
    }

    /// Reads a stream to its end into a nameless file, as a bundle is checked before any of it is imported.
    pub fn spool(input: &mut dyn Read, name: &str) -> Result<ExportFile> {
        let failed = |doing: String| move |source| ServiceError::Io { doing, source };
        // Only an export is read to its end: another stream may have none.
        let mut start = Vec::new();
        let begun = input
            .take(BUNDLE_MAGIC.len() as u64)
            .read_to_end(&mut start);
        begun.map_err(failed(format!("reading {name}")))?;
        if start != BUNDLE_MAGIC {
            return Err(ServiceError::BadExport {
                why: ExportFile::what_else(&start, name),
            });
        }
        let mut file =
            tempfile::tempfile().map_err(failed("making a temporary file".to_owned()))?;
        file.write_all(&start)
            .map_err(failed("writing a temporary file".to_owned()))?;
        io::copy(input, &mut file).map_err(failed(format!("reading {name}")))?;
        Ok(ExportFile {
            file: icm_log::disk::file_of(file),
            name: name.to_owned(),
        })
    }
}
