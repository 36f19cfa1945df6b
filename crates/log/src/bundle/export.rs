//! Writing a bundle.

use std::io::{self, Write};

use super::mark::{self, Mark};
use super::{Bundle, Exported};
use crate::chain;
use crate::disk::OpenMode;
use crate::error::{LogError, Result, at};
use crate::facts::{Facts, Hole};
use crate::hash;
use crate::id::{OriginId, Seq};
use crate::kind::Kind;
use crate::log::Log;
use crate::record::{self, Body, SALT_LEN};
use crate::redacted::Redactions;
use crate::runs::{self, Run};
use crate::scan::{SegmentScan, Step};

/// Bytes between two reports of progress.
const PROGRESS_LEN: u64 = 1_024 * 1_024;

impl Log {
    /// Writes every chain that is held, own and foreign, as a bundle, in whole batches. The own one
    /// is made durable first. `progress` is told how many bytes were written, now and then.
    ///
    /// # Errors
    /// `Damaged`, `NewerFormat` or `NotWritable` where the own chain is not in order; `Io` when
    /// `out` cannot be written.
    pub fn export(&self, out: &mut dyn Write, progress: &mut dyn FnMut(u64)) -> Result<Exported> {
        self.refresh()?;
        if let Some(refusal) = self.refusal() {
            return Err(refusal.to_error(&self.dir));
        }
        let mut chains = Vec::new();
        let mut holes = Vec::new();
        let mut redactions = Redactions::default();
        for origin in chain::origins(&*self.disk, &self.dir)? {
            let until = self.durable_until(origin)?;
            let runs = runs::runs_of(&*self.disk, &self.dir, origin, until, &mut |_, head, _| {
                redactions.note(head);
                if head.kind() == Kind::LOG_REPAIRED
                    && let Ok(Facts::Repaired(facts)) = Facts::of(head)
                {
                    holes.extend(facts.holes);
                }
            })?;
            chains.push((origin, runs));
        }
        redactions.settle();
        let mut writer = Writing {
            out,
            redactions,
            hasher: hash::bundle_hasher(),
            done: Exported::default(),
            told: 0,
            progress,
        };
        writer.put(&mark::header())?;
        for (origin, runs) in chains {
            self.export_chain(origin, runs, &holes, &mut writer)?;
        }
        let end = Mark::Done {
            ranges: writer.done.ranges,
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
        holes: &[Hole],
        writer: &mut Writing<'_>,
    ) -> Result<()> {
        let count = |runs: &[Run]| runs.iter().map(|run| run.ids.len() as u64).sum::<u64>();
        let held = count(&runs);
        let runs = runs::connected(runs, origin, holes);
        writer.done.cut_off += held - count(&runs);
        let last = runs.iter().map(|run| run.from_seq).max();
        let mut any = false;
        for run in runs {
            // Only before a hole a batch may lack its end.
            let run = match Some(run.to_seq()) < last {
                true => Some(run),
                false => run.trimmed(),
            };
            if let Some(run) = run {
                any = true;
                self.export_run(origin, &run, writer)?;
            }
        }
        writer.done.origins += u64::from(any);
        Ok(())
    }

    fn export_run(&self, origin: OriginId, run: &Run, writer: &mut Writing<'_>) -> Result<()> {
        let start = Mark::Range {
            origin,
            base: run.base,
            from_seq: run.from_seq,
        };
        writer.put(&start.encode())?;
        writer.done.ranges += 1;
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
                writer.put(&bytes)?;
                writer.done.events += 1;
            }
        }
        match expected.0 == run.to_seq().0 + 1 {
            true => Ok(()),
            false => Err(moved()),
        }
    }
}

struct Writing<'a> {
    out: &'a mut dyn Write,
    /// What they name goes without its body, whether or not it is blanked here yet.
    redactions: Redactions,
    hasher: blake3::Hasher,
    done: Exported,
    told: u64,
    progress: &'a mut dyn FnMut(u64),
}

fn writing(error: io::Error) -> LogError {
    at("writing", std::path::Path::new("the export"))(error)
}

impl Writing<'_> {
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
