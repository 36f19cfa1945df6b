//! Reads every whole record of a file, and skips the bytes between them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, DiskFile, OpenMode};
use crate::error::{LogError, Result, at};
use crate::holes::Holes;
use crate::recover::newer_kind;
use crate::scan::{SegmentScan, Step};
use icm_event::facts::{Continues, Facts};
use icm_event::head::{Head, HeadError};
use icm_event::id::{EventId, OriginId, Position, Seq, SubjectId, Time};
use icm_event::kind::Kind;
use icm_event::record::{self, Body, FRAME_LEN, Parsed, RECORD_LEN_MAX, Record};
use icm_event::segment::{HEADER_LEN, HeaderError, SegmentHeader, SegmentName};

/// The kind of file that records come from. An earlier kind is preferred to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SourceKind {
    /// A segment in the folder of its chain.
    Segment,
    /// Another file below `log/`: a conflict copy, or a segment under another name.
    Stray,
    /// A file from elsewhere.
    Spare,
}

/// A file that is read.
pub(super) struct Source {
    pub(super) kind: SourceKind,
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) path: PathBuf,
    /// The chain in whose folder the file lies, and the file's name there. Only for segments.
    pub(super) place: Option<(OriginId, SegmentName)>,
    /// The file's header, if it is whole.
    pub(super) header: Option<SegmentHeader>,
    pub(super) len: u64,
    /// Offset of the end of the last record, or of the header.
    pub(super) end: u64,
    /// Ranges of bytes that are not records, without the zeros at the end.
    pub(super) bad: Vec<(u64, u64)>,
}

impl Source {
    /// Returns `true` if the header matches the file's folder and name.
    pub(super) fn header_fits(&self) -> bool {
        self.header.zip(self.place).is_some_and(|(header, place)| {
            header.origin == place.0 && header.first_seq == place.1.first_seq
        })
    }

    pub(super) fn scan(&self, start: u64, end: u64) -> SegmentScan {
        SegmentScan::of(Arc::clone(&self.file), &self.path, start, end).hashing()
    }

    /// Returns the bytes of a stretch.
    pub(super) fn bytes(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; end.saturating_sub(start) as usize];
        let read = self.file.read_at(&mut bytes, start);
        let read = read.map_err(at("reading", &self.path))?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

/// The first or last event of a run, with the fields that decide which event may be next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) id: EventId,
    pub(super) time: Time,
    pub(super) position: Position,
    /// Place in the batch, and number of events in the batch.
    pub(super) batch: (u16, u16),
}

/// An event without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoBody {
    pub(super) seq: Seq,
    pub(super) id: EventId,
    pub(super) position: Position,
    pub(super) time: Time,
    pub(super) kind: Kind,
    pub(super) subject: SubjectId,
    /// Place of the event in its batch.
    pub(super) batch_index: u16,
    /// Offsets of its record.
    pub(super) start: u64,
    pub(super) end: u64,
    /// `true` if the payload is withheld, `false` if it is damaged.
    pub(super) withheld: bool,
}

/// Consecutive records of one chain in one file, each naming the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) source: usize,
    pub(super) kind: SourceKind,
    pub(super) origin: OriginId,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) from: Seq,
    pub(super) to: Seq,
    /// Id of the event before the first one.
    pub(super) base: EventId,
    pub(super) first: Edge,
    pub(super) last: Edge,
    /// Events whose payload is damaged or withheld.
    pub(super) no_bodies: Vec<NoBody>,
}

impl Run {
    pub(super) fn count(&self) -> u64 {
        self.to.0 + 1 - self.from.0
    }

    pub(super) fn damaged_bodies(&self) -> impl Iterator<Item = &NoBody> {
        self.no_bodies.iter().filter(|body| !body.withheld)
    }
}

/// The head of a `log.origin_started`, `log.imported` or `log.repaired`, and the place of its record.
pub(super) struct Saying {
    pub(super) source: usize,
    pub(super) offset: u64,
    pub(super) head: Vec<u8>,
}

/// The contents of all files that were read.
#[derive(Default)]
pub(super) struct Salvaged {
    pub(super) sources: Vec<Source>,
    pub(super) runs: Vec<Run>,
    /// The newest seq of each chain that a record of it declares durable.
    pub(super) synced: Vec<(OriginId, Seq)>,
    /// Heads that speak of other chains or of earlier repairs.
    pub(super) sayings: Vec<Saying>,
    /// `true` if one of the records is a redaction.
    pub(super) redacts: bool,
    /// The holes that earlier repairs explained, in events that are kept.
    pub(super) explained: Holes,
    /// The known chains. Records of other chains count as bytes without meaning.
    pub(super) origins: BTreeSet<[u8; 16]>,
}

fn newer(path: &Path, what: impl std::fmt::Display) -> LogError {
    LogError::NewerFormat {
        what: format!("{}: {what}", path.display()),
    }
}

fn edge(head: &Head<'_>, id: EventId) -> Edge {
    Edge {
        id,
        time: head.time(),
        position: head.position(),
        batch: (head.batch_index(), head.batch_count()),
    }
}

impl Salvaged {
    /// Reads a file from `start` (after its header, if it has one) to `end`.
    ///
    /// # Errors
    /// `NewerFormat` if a newer version wrote any of it; no part of the file is then judged.
    pub(super) fn read(
        &mut self,
        mut source: Source,
        start: u64,
        end: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let index = self.sources.len();
        let mut at = start;
        source.end = start;
        let mut run: Option<Run> = None;
        let mut told = start;
        while at < end {
            let mut scan = source.scan(at, end);
            let bad_from = loop {
                match scan.step()? {
                    Step::Record { offset, record, id } => {
                        at = offset + record.bytes.len() as u64;
                        if at - told >= 1 << 20 {
                            progress(at - told);
                            told = at;
                        }
                        // If bytes of a body are missing, the record's length reaches into the next record.
                        let body = offset + (FRAME_LEN + record.head.len()) as u64;
                        let runs_over = record.body == Body::Damaged
                            && (self.resync(&source, body, end)?).is_some_and(|next| next < at);
                        if runs_over || !self.take(&source, index, offset, &record, id, &mut run)? {
                            break Some(offset);
                        }
                        source.end = at;
                    }
                    Step::End => break None,
                    Step::Newer { .. } => {
                        return Err(newer(&source.path, "a newer version of icm wrote a record"));
                    }
                    Step::Bad { offset } => break Some(offset),
                }
            };
            let Some(bad_from) = bad_from else { break };
            self.runs.extend(run.take());
            let next = self.resync(&source, bad_from + 1, end)?;
            at = next.unwrap_or(end);
            match source.bad.last_mut() {
                // A record that makes no sense directly follows bytes that are not a record.
                Some(last) if last.1 == bad_from => last.1 = at,
                _ => source.bad.push((bad_from, at)),
            }
        }
        progress(end.saturating_sub(told));
        self.runs.extend(run);
        self.sources.push(source);
        Ok(())
    }

    /// Adds a record. Returns `false` if the record makes no sense although its first check is good.
    fn take(
        &mut self,
        source: &Source,
        index: usize,
        offset: u64,
        record: &Record<'_>,
        id: EventId,
        run: &mut Option<Run>,
    ) -> Result<bool> {
        let head = match record.parse_head() {
            Ok(head) => head,
            Err(error @ (HeadError::NewerFormat { .. } | HeadError::Field { .. })) => {
                return Err(newer(&source.path, error));
            }
            Err(_) => return Ok(false),
        };
        let (kind, version) = (head.kind(), head.kind_version());
        if kind.is_critical() && !kind.is_understood(version) {
            return Err(newer(&source.path, newer_kind(kind, version)));
        }
        if !self.origins.contains(&head.origin().0) {
            return Ok(false);
        }
        self.note(source, (index, offset), record, &head);
        let whole = matches!(record.body, Body::Present { .. }) && record.keeps_commitment(&head);
        let edge = edge(&head, id);
        let end = offset + record.bytes.len() as u64;
        let goes_on = run.as_ref().is_some_and(|run| {
            run.origin == head.origin()
                && head.seq().0 == run.to.0 + 1
                && head.prev() == run.last.id
                && head.time() > run.last.time
        });
        if !goes_on {
            self.runs.extend(run.take());
        }
        let run = run.get_or_insert_with(|| Run {
            source: index,
            kind: source.kind,
            origin: head.origin(),
            start: offset,
            end,
            from: head.seq(),
            to: head.seq(),
            base: head.prev(),
            first: edge,
            last: edge,
            no_bodies: Vec::new(),
        });
        (run.end, run.to, run.last) = (end, head.seq(), edge);
        if !whole {
            run.no_bodies.push(NoBody {
                seq: head.seq(),
                id,
                position: head.position(),
                time: head.time(),
                kind,
                subject: head.subject(),
                batch_index: head.batch_index(),
                start: offset,
                end,
                withheld: record.body == Body::Withheld,
            });
        }
        Ok(true)
    }

    fn note(&mut self, source: &Source, place: (usize, u64), record: &Record<'_>, head: &Head<'_>) {
        if source.kind == SourceKind::Segment && record.synced < head.seq() {
            match self.synced.iter_mut().find(|it| it.0 == head.origin()) {
                Some(found) => found.1 = found.1.max(record.synced),
                None => self.synced.push((head.origin(), record.synced)),
            }
        }
        self.redacts |= head.kind() == Kind::LOG_REDACTED;
        let kinds = [
            Kind::LOG_ORIGIN_STARTED,
            Kind::LOG_IMPORTED,
            Kind::LOG_REPAIRED,
        ];
        if kinds.contains(&head.kind()) {
            self.sayings.push(Saying {
                source: place.0,
                offset: place.1,
                head: head.bytes().to_vec(),
            });
        }
    }

    /// Returns the heads among the sayings whose records lie in one of these runs.
    pub(super) fn said_in<'s>(&'s self, runs: &'s [Run]) -> impl Iterator<Item = Head<'s>> + 's {
        let within = |saying: &&Saying| {
            runs.iter().any(|run| {
                run.source == saying.source && (run.start..run.end).contains(&saying.offset)
            })
        };
        let said = self.sayings.iter().filter(move |it| within(it));
        said.filter_map(|saying| Head::parse(&saying.head).ok())
    }

    /// Returns the place from which a chain continues another, as its first event says.
    pub(super) fn continued_by(&self, origin: OriginId) -> Option<Continues> {
        let first = |head: &Head<'_>| head.origin() == origin && head.seq() == Seq(1);
        let heads = self
            .sayings
            .iter()
            .filter_map(|it| Head::parse(&it.head).ok());
        heads.filter(first).find_map(|head| match Facts::of(&head) {
            Ok(Facts::OriginStarted(facts)) => facts.continues,
            _ => None,
        })
    }

    /// Returns the chain that no other continues; the one that began last if there are several.
    pub(super) fn newest_origin(&self) -> Option<OriginId> {
        let continued: Vec<OriginId> = (self.origins.iter())
            .filter_map(|origin| self.continued_by(OriginId(*origin)))
            .map(|continues| continues.origin)
            .collect();
        let runs = self.runs.iter();
        let runs = runs.filter(|run| !continued.contains(&run.origin));
        let mut began: BTreeMap<OriginId, Time> = BTreeMap::new();
        for run in runs {
            let time = began.entry(run.origin).or_insert(run.first.time);
            *time = run.first.time.min(*time);
        }
        let newest = began
            .into_iter()
            .max_by_key(|(origin, time)| (*time, *origin));
        newest.map(|(origin, _)| origin)
    }

    /// Returns the start of the next whole record, at or after `from`.
    fn resync(&self, source: &Source, from: u64, end: u64) -> Result<Option<u64>> {
        const STRIDE: usize = 4 * 1_024 * 1_024;
        let u32_at = |bytes: &[u8], at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let mut base = from;
        while base < end {
            // A record that starts within the stride is read whole.
            let room = (end - base).min((STRIDE + RECORD_LEN_MAX) as u64);
            let bytes = source.bytes(base, base + room)?;
            let starts = bytes.len().saturating_sub(FRAME_LEN + 24).min(STRIDE);
            for start in 0..starts {
                let origin = &bytes[start + FRAME_LEN + 8..start + FRAME_LEN + 24];
                // Frame and head both name the length of the head.
                if u32_at(&bytes, start + 4) != u32_at(&bytes, start + FRAME_LEN + 4)
                    || !self.origins.contains(origin)
                {
                    continue;
                }
                match record::parse(&bytes[start..]) {
                    Parsed::Record(_) => return Ok(Some(base + start as u64)),
                    Parsed::Newer => {
                        return Err(newer(&source.path, "a newer version of icm wrote a record"));
                    }
                    _ => {}
                }
            }
            base += STRIDE as u64;
        }
        Ok(None)
    }

    /// Cuts runs at the given seqs, so that two runs hold the same events or none in common.
    pub(super) fn cut(&self, runs: Vec<Run>, cuts: &BTreeSet<Seq>) -> Result<Vec<Run>> {
        let mut pieces = Vec::new();
        for run in runs {
            let inside = |seq: &Seq| run.from < *seq && *seq <= run.to;
            let within = cuts.range(run.from..).take_while(|seq| **seq <= run.to);
            let mut cuts: Vec<Seq> = within.copied().filter(inside).collect();
            if cuts.is_empty() {
                pieces.push(run);
                continue;
            }
            cuts.reverse();
            let mut piece: Option<Run> = None;
            let none = Run {
                no_bodies: Vec::new(),
                ..run.clone()
            };
            let mut scan = self.sources[run.source].scan(run.start, run.end);
            while let Step::Record { offset, record, id } = scan.step()? {
                let Ok(head) = record.parse_head() else { break };
                if cuts.last() == Some(&head.seq()) {
                    cuts.pop();
                    pieces.extend(piece.take());
                }
                let end = offset + record.bytes.len() as u64;
                let edge = edge(&head, id);
                let piece = piece.get_or_insert_with(|| Run {
                    start: offset,
                    from: head.seq(),
                    base: head.prev(),
                    first: edge,
                    ..none.clone()
                });
                (piece.end, piece.to, piece.last) = (end, head.seq(), edge);
            }
            pieces.extend(piece);
            for body in &run.no_bodies {
                let holds = |piece: &&mut Run| {
                    piece.source == run.source && piece.start <= body.start && body.end <= piece.end
                };
                if let Some(piece) = pieces.iter_mut().rev().find(holds) {
                    piece.no_bodies.push(*body);
                }
            }
        }
        Ok(pieces)
    }
}

/// Opens a file as a source. `place` is its chain and name if it is a segment.
pub(super) fn open(
    disk: &dyn Disk,
    path: &Path,
    place: Option<(OriginId, SegmentName)>,
) -> Result<Source> {
    let file = disk.open(path, OpenMode::Read);
    let file = file.map_err(at("reading", path))?;
    let len = file.len().map_err(at("reading", path))?;
    let mut bytes = [0; HEADER_LEN];
    let read = file.read_at(&mut bytes, 0).map_err(at("reading", path))?;
    let header = match SegmentHeader::parse(&bytes[..read]) {
        Ok(header) => Some(header),
        Err(error @ (HeaderError::NewerFormat { .. } | HeaderError::Field { .. })) => {
            return Err(newer(path, error));
        }
        Err(HeaderError::Bad) => None,
    };
    Ok(Source {
        kind: match place {
            Some(_) => SourceKind::Segment,
            None => SourceKind::Stray,
        },
        file,
        path: path.to_owned(),
        place,
        header,
        len,
        end: 0,
        bad: Vec::new(),
    })
}
