//! Writing a bundle.

use std::io::{self, Write};

use super::mark::{self, Mark};
use super::{Bundle, ChainRange, Exported};
use crate::chain;
use crate::disk::OpenMode;
use crate::error::{LogError, Result, at};
use crate::facts::{Facts, Hole};
use crate::hash;
use crate::head::Head;
use crate::id::{EventId, OriginId, Position, Seq};
use crate::kind::Kind;
use crate::log::Log;
use crate::record::{self, Body, Record, SALT_LEN};
use crate::redacted::Redactions;
use crate::runs::{self, Run};
use crate::scan::{SegmentScan, Step};
use crate::walk::Walked;

/// Bytes between two reports of progress.
const PROGRESS_LEN: u64 = 1_024 * 1_024;

impl Log {
    /// Writes every chain that is held, own and foreign, as a bundle, in whole batches, less what `since` says
    /// is there already. The own one is made durable first. `progress` is told how many bytes were written, now and then.
    ///
    /// Ends with the batch that reaches `limit_bytes`, and says so: the same, with its ranges among what is there, goes
    /// on from that.
    ///
    /// # Errors
    /// `Damaged`, `NewerFormat` or `NotWritable` where the own chain is not in order; `Io` when
    /// `out` cannot be written.
    pub fn export(
        &self,
        since: &Since,
        limit_bytes: u64,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Exported> {
        self.refresh()?;
        if let Some(refusal) = self.refusal() {
            return Err(refusal.to_error(&self.dir));
        }
        let mut chains = Vec::new();
        let mut holes = Vec::new();
        let (mut redactions, mut redacted) = (Redactions::default(), 0);
        let mut wanted = Wanted::default();
        let mut known = Known::of(since);
        let parts = self.lock_state().parts.clone();
        for part in &parts {
            let until = part.until.map(|until| (part.origin, until, part.event));
            wanted.0.extend(until);
        }
        wanted
            .0
            .extend((self.tip()).map(|tip| (tip.origin, tip.seq, tip.event)));
        let walked = Walked::of(&*self.disk, &self.dir, &parts)?;
        let own = |head: &Head<'_>, id| walked.has(head.origin(), head.seq(), id);
        for origin in chain::origins(&*self.disk, &self.dir)? {
            let until = self.durable_until(origin)?;
            let runs = runs::runs_of(&*self.disk, &self.dir, origin, until, &mut |_, head, id| {
                redactions.note(head);
                redacted += u64::from(head.kind() == Kind::LOG_REDACTED);
                known.note(head, id, own(head, id));
                if ![Kind::LOG_REPAIRED, Kind::LOG_IMPORTED].contains(&head.kind()) {
                    return;
                }
                match Facts::of(head) {
                    Ok(Facts::Repaired(facts)) => holes.extend(facts.holes),
                    Ok(Facts::Imported(facts)) if own(head, id) => {
                        let heads = facts.ranges.iter();
                        wanted
                            .0
                            .extend(heads.map(|it| (it.origin, it.to_seq, it.head)));
                    }
                    _ => {}
                }
            })?;
            chains.push((origin, runs));
        }
        redactions.settle();
        let mut writer = Writing {
            out,
            redactions,
            hasher: hash::bundle_hasher(),
            done: Exported {
                redactions: redacted,
                ..Exported::default()
            },
            limit_bytes,
            told: 0,
            progress,
        };
        writer.put(&mark::header())?;
        for (origin, runs) in chains {
            let runs = runs::connected(runs, origin, &holes);
            wanted.found(origin, &runs);
            self.export_chain(origin, runs, &known, &mut writer)?;
        }
        writer.done.incomplete = wanted.missing(&holes);
        let end = Mark::Done {
            ranges: writer.done.ranges.len() as u64,
            events: writer.done.events,
            digest: *writer.hasher.finalize().as_bytes(),
        };
        writer.put(&end.encode())?;
        writer.out.flush().map_err(writing)?;
        Ok(writer.done)
    }

    /// How far the chain that is written here goes, made durable: whoever imports it must not know
    /// more than this store does after a power cut. `None` for the others.
    fn durable_until(&self, origin: OriginId) -> Result<Option<Seq>> {
        if self.origin() != Some(origin) {
            return Ok(None);
        }
        let place = self.lock_state().tip.clone();
        let Some(place) = place.filter(|place| place.tip.origin == origin) else {
            return Ok(Some(Seq(0)));
        };
        let path = &place.segment.path;
        let file = self.disk.open(path, OpenMode::Read);
        let file = file.map_err(at("opening", path))?;
        file.sync().map_err(at("syncing", path))?;
        Ok(Some(place.tip.seq))
    }

    fn export_chain(
        &self,
        origin: OriginId,
        runs: Vec<Run>,
        known: &Known,
        writer: &mut Writing<'_>,
    ) -> Result<()> {
        let last = runs.iter().map(|run| run.from_seq).max();
        let mut any = false;
        for run in runs {
            // Only before a hole a batch may lack its end.
            let run = match Some(run.to_seq()) < last {
                true => Some(run),
                false => run.trimmed(),
            };
            let Some(run) = run else {
                continue;
            };
            for (from_seq, to_seq) in known.lacking_of(origin, &run) {
                if writer.is_full() {
                    writer.done.more = true;
                    break;
                }
                any = true;
                self.export_part(origin, &run, (from_seq, to_seq), writer)?;
            }
        }
        writer.done.origins += u64::from(any);
        Ok(())
    }

    /// Some events of a run, the first and the last included.
    fn export_part(
        &self,
        origin: OriginId,
        run: &Run,
        (from_seq, to_seq): (Seq, Seq),
        writer: &mut Writing<'_>,
    ) -> Result<()> {
        let before = from_seq.0.checked_sub(1).map(Seq);
        let start = Mark::Range {
            origin,
            base: before.and_then(|seq| run.id_at(seq)).unwrap_or(run.base),
            from_seq,
        };
        writer.put(&start.encode())?;
        writer.done.ranges.push(ChainRange {
            origin,
            from_seq,
            to_seq,
            head: run.id_at(to_seq).unwrap_or_else(|| run.head()),
        });
        let moved = || LogError::Io {
            doing: "reading",
            path: self.dir.clone(),
            source: io::Error::other("the log was rewritten meanwhile; try again"),
        };
        let mut expected = run.from_seq;
        let mut bytes = Vec::new();
        for part in &run.parts {
            let mut scan = SegmentScan::open(&*self.disk, &part.path, part.start, part.end)?;
            while let Step::Record { record, id, .. } = scan.step()? {
                if record.seq() != expected || !record.is_of(origin) {
                    return Err(moved());
                }
                expected = Seq(expected.0 + 1);
                if !(from_seq..=to_seq).contains(&record.seq()) {
                    continue;
                }
                bytes.clear();
                let named =
                    (record.parse_head()).is_ok_and(|head| writer.redactions.names(&head, id));
                let body = match record.body {
                    Body::Present { salt, payload } if !named => {
                        let salt: &[u8; SALT_LEN] = salt.try_into().expect("a salt has its length");
                        Some((salt, payload))
                    }
                    _ => None,
                };
                writer.done.bodiless += u64::from(body.is_none());
                record::encode(&mut bytes, Seq(0), record.head, body);
                let ends_batch = ends_batch(&record);
                writer.put(&bytes)?;
                writer.done.events += 1;
                if writer.is_full() && ends_batch && expected <= to_seq {
                    writer.done.ends_early(expected, id);
                    return Ok(());
                }
            }
        }
        match expected.0 == run.to_seq().0 + 1 {
            true => Ok(()),
            false => Err(moved()),
        }
    }
}

/// What whoever gets an export has already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Since {
    /// Nothing.
    #[default]
    Start,
    /// These. One whose last event is not here says nothing.
    Ranges(Vec<ChainRange>),
    /// What this machine knew then.
    Position(Position),
}

/// What is known to be there already.
struct Known {
    ranges: Vec<ChainRange>,
    /// Of the own chains.
    own: Vec<ChainRange>,
    position: Position,
}

impl Known {
    fn of(since: &Since) -> Known {
        let (ranges, position) = match since {
            Since::Start => (Vec::new(), Position(0)),
            Since::Ranges(ranges) => (ranges.clone(), Position(0)),
            Since::Position(position) => (Vec::new(), *position),
        };
        Known {
            ranges,
            own: Vec::new(),
            position,
        }
    }

    /// Takes up what this machine wrote or learned up to the position.
    fn note(&mut self, head: &Head<'_>, id: EventId, own: bool) {
        if !own || head.position() > self.position {
            return;
        }
        // Own chains come one after another, each in its order.
        let reached = ChainRange::up_to(head.origin(), head.seq(), id);
        match self.own.last_mut() {
            Some(last) if last.origin == reached.origin => *last = reached,
            _ => self.own.push(reached),
        }
        if let Ok(Facts::Imported(facts)) = Facts::of(head) {
            let ranges = facts.ranges.iter();
            let ranges = ranges.map(|it| ChainRange::up_to(it.origin, it.to_seq, it.head));
            self.ranges.extend(ranges);
        }
    }

    /// The first and the last seq of each part of a run that is not known to be there.
    fn lacking_of(&self, origin: OriginId, run: &Run) -> Vec<(Seq, Seq)> {
        let within = |range: &&ChainRange| {
            let is_held = || run.id_at(range.to_seq) == Some(range.head);
            range.origin == origin && range.from_seq <= range.to_seq && is_held()
        };
        let known = self.ranges.iter().chain(&self.own).filter(within);
        let mut known: Vec<(Seq, Seq)> = known.map(|it| (it.from_seq, it.to_seq)).collect();
        known.sort_unstable();
        let (mut next, mut lacking) = (run.from_seq, Vec::new());
        for (from_seq, to_seq) in known {
            if from_seq > next {
                lacking.push((next, Seq(from_seq.0 - 1)));
            }
            next = next.max(Seq(to_seq.0 + 1));
        }
        if next <= run.to_seq() {
            lacking.push((next, run.to_seq()));
        }
        lacking
    }
}

fn ends_batch(record: &Record<'_>) -> bool {
    let head = record.parse_head();
    head.is_ok_and(|head| head.batch_index() + 1 == head.batch_count())
}

impl Exported {
    /// The last range ends before event `next`, with `head`.
    fn ends_early(&mut self, next: Seq, head: EventId) {
        self.more = true;
        if let Some(range) = self.ranges.last_mut() {
            range.to_seq = Seq(next.0 - 1);
            range.head = head;
        }
    }
}

struct Writing<'a> {
    out: &'a mut dyn Write,
    /// What they name goes without its body, whether or not it is blanked here yet.
    redactions: Redactions,
    hasher: blake3::Hasher,
    done: Exported,
    limit_bytes: u64,
    told: u64,
    progress: &'a mut dyn FnMut(u64),
}

fn writing(error: io::Error) -> LogError {
    at("writing", std::path::Path::new("the export"))(error)
}

impl Writing<'_> {
    fn is_full(&self) -> bool {
        self.done.events > 0 && self.done.bytes >= self.limit_bytes
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(writing)?;
        self.hasher.update(bytes);
        self.done.bytes += bytes.len() as u64;
        self.told += bytes.len() as u64;
        if self.told >= PROGRESS_LEN {
            (self.progress)(self.told);
            self.told = 0;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Bundle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bundle")
            .field("path", &self.path)
            .field("ranges", &self.ranges)
            .field("events", &self.events)
            .finish()
    }
}

/// Events that are known to have been here: the newest of each range that was learned or written.
#[derive(Default)]
struct Wanted(Vec<(OriginId, Seq, EventId)>);

impl Wanted {
    fn found(&mut self, origin: OriginId, runs: &[Run]) {
        self.0.retain(|(of, seq, event)| {
            *of != origin || !runs.iter().any(|run| run.id_at(*seq) == Some(*event))
        });
    }

    /// The chains of those that are not there and that no repair has given up.
    fn missing(self, holes: &[Hole]) -> Vec<OriginId> {
        let gone = |origin: OriginId, seq: Seq| {
            let mut holes = holes.iter().filter(|hole| hole.origin == origin);
            holes.any(|hole| hole.from_seq <= seq && seq <= hole.to_seq)
        };
        let missing = self
            .0
            .into_iter()
            .filter(|(origin, seq, _)| !gone(*origin, *seq));
        let mut origins: Vec<OriginId> = missing.map(|(origin, ..)| origin).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }
}
