//! Writing a bundle.

use std::io::{self, Write};

use super::mark::{self, Mark};
use super::plan::{Part, Since};
use super::{Bundle, ChainRange, Exported};
use crate::error::{LogError, Result, at};
use crate::log::Log;
use crate::redacted::Redactions;
use crate::runs::Run;
use crate::scan::{SegmentScan, Step};
use icm_event::hash;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::record::{self, Body, Record, SALT_LEN};

/// Bytes between two reports of progress.
const PROGRESS_LEN: u64 = 1_024 * 1_024;

impl Log {
    /// Writes a bundle of every chain in the store, own and foreign, in whole batches, without the events that `since`
    /// names. Makes the own chain durable first. Calls `progress` with the number of bytes written since its last call,
    /// after each mebibyte.
    ///
    /// Ends with the batch that reaches `limit_bytes`, and then sets `more`. The next export continues from there if
    /// `since` also names the ranges of this one.
    ///
    /// # Errors
    /// `Damaged`, `NewerFormat` or `NotWritable` if the own chain is not in order; `Io` if `out` cannot be written.
    pub fn export(
        &self,
        since: &Since,
        limit_bytes: u64,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Exported> {
        let plan = self.export_plan(since)?;
        let mut writer = Writing {
            out,
            redactions: plan.redactions,
            hasher: hash::bundle_hasher(),
            done: Exported {
                redactions: plan.redacted,
                incomplete: plan.incomplete,
                ..Exported::default()
            },
            limit_bytes,
            told: 0,
            progress,
        };
        writer.put(&mark::header())?;
        for (origin, parts) in plan.chains {
            self.export_chain(origin, &parts, &mut writer)?;
        }
        let end = Mark::Done {
            ranges: writer.done.ranges.len() as u64,
            events: writer.done.events,
            digest: *writer.hasher.finalize().as_bytes(),
        };
        writer.put(&end.encode())?;
        writer.out.flush().map_err(writing)?;
        Ok(writer.done)
    }

    fn export_chain(
        &self,
        origin: OriginId,
        parts: &[Part],
        writer: &mut Writing<'_>,
    ) -> Result<()> {
        // A stretch may begin within its run, behind the beginning of a later run.
        let stretches = parts.iter().flat_map(|Part { run, stretches }| {
            let of_run = stretches.iter();
            of_run.map(move |stretch| (run, *stretch))
        });
        let mut stretches: Vec<(&Run, (Seq, Seq))> = stretches.collect();
        stretches.sort_by_key(|(run, (from, _))| (*from, base_of(run, *from), run.id_at(*from)));
        let mut any = false;
        for (run, stretch) in stretches {
            if writer.is_full() {
                writer.done.more = true;
                break;
            }
            any = true;
            self.export_part(origin, run, stretch, writer)?;
        }
        writer.done.origins += u64::from(any);
        Ok(())
    }

    /// Writes the events of a run from `from_seq` to `to_seq`, both included.
    fn export_part(
        &self,
        origin: OriginId,
        run: &Run,
        (from_seq, to_seq): (Seq, Seq),
        writer: &mut Writing<'_>,
    ) -> Result<()> {
        let start = Mark::Range {
            origin,
            base: base_of(run, from_seq),
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

fn ends_batch(record: &Record<'_>) -> bool {
    let head = record.parse_head();
    head.is_ok_and(|head| head.batch_index() + 1 == head.batch_count())
}

impl Exported {
    /// Ends the last range before the event `next`, with the event `head`.
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
    /// The redactions known here. An event that they name is written without its body, even if this store has not
    /// blanked it yet.
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

/// Returns the id of the event before `seq` in a run or before it.
fn base_of(run: &Run, seq: Seq) -> EventId {
    let before = seq.0.checked_sub(1).map(Seq);
    before.and_then(|seq| run.id_at(seq)).unwrap_or(run.base)
}
