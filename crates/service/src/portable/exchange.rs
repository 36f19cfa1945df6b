//! The log as a file: out to another machine, and in from one.

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

/// How the lines of `icm log export --format cloudevents` begin.
const CLOUDEVENT_START: &[u8] = b"{\"specve";

/// `log.imported` events of one batch: each may be as long as an event can.
pub(crate) const IMPORTS_MAX: usize = 32;

/// Events of an import that are looked at for the conflicts that they open.
const LOOK_EVENTS_MAX: u64 = 10_000;

impl Service {
    /// Writes every chain that is held into `out`, less what `since` says is there already: whoever has
    /// that and imports it has the same events.
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

    /// The same for who knows to the event what is there; ends with the batch that reaches `limit_bytes`.
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

    /// What this store holds of every chain.
    ///
    /// # Errors
    /// Where the log cannot be read.
    pub fn held_ranges(&self) -> Result<Vec<ChainRange>> {
        (self.log.held_ranges()).map_err(|error| self.explained(error))
    }

    /// What of these ranges this store lacks.
    ///
    /// # Errors
    /// Where the log cannot be read.
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

    /// Takes in what an export of a log holds and this store does not, or says what that would be.
    /// All of it is checked before any of it is taken.
    ///
    /// # Errors
    /// `BadExport` for one that is not whole, `DoesNotFit` where something between it and this store
    /// is missing: nothing was taken.
    pub fn import_log(
        &self,
        caller: &Caller,
        file: &ExportFile,
        dry_run: bool,
        progress: &dyn Progress,
    ) -> Result<LogImportAnswer> {
        let bundle = file.read(progress)?;
        // A bundle of nothing makes no store where none is.
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
            // What was taken in is there, whatever becomes of this.
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
    /// Reads and checks all of it.
    fn read(&self, progress: &dyn Progress) -> Result<Bundle> {
        progress.start("reading", self.file.len().ok());
        let file = Arc::clone(&self.file);
        let read = Bundle::read(file, Path::new(&self.name), &mut |bytes| {
            progress.advance(bytes);
        });
        progress.finish();
        Ok(read?)
    }

    /// What a repair can take from it.
    ///
    /// # Errors
    /// `BadExport` for one that is not whole.
    pub fn spares(&self, progress: &dyn Progress) -> Result<Vec<Spare>> {
        Ok(self.read(progress)?.spares())
    }

    /// A file. What is no regular file (a pipe) is read to its end first.
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

    /// What a file is that begins so, and is none.
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

    /// A stream, which is read to its end into a nameless file first: a bundle is checked before
    /// anything of it is taken.
    pub fn spool(input: &mut dyn Read, name: &str) -> Result<ExportFile> {
        let failed = |doing: String| move |source| ServiceError::Io { doing, source };
        // What is no export at all is not read to its end, which it may not have.
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
