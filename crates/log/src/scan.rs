//! Reads the records of one segment, forward, in chunks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, DiskFile, OpenMode};
use crate::error::{Result, at};
use icm_event::hash;
use icm_event::id::EventId;
use icm_event::record::{self, FRAME_LEN, Parsed, Record, Shape};
use icm_wait::{Deadline, PAUSE_MIN};

/// Bytes of the first read, and of the longest. Raised, a scan makes fewer reads and reads more in vain.
const CHUNK_LENS: (usize, usize) = (16 * 1_024, 128 * 1_024);
/// Bytes before a record that are read together with it on the way back. Raised, a backward scan makes fewer reads.
const BACK_LEN: u64 = 64 * 1_024;

/// Number of shortest pauses in which bytes that don't parse are read again before they count as no record. Raised, a
/// writer has more time to finish a record.
const PAUSES_FOR_A_WRITER: u32 = 3;

/// The result of a step of a scan.
pub(crate) enum Step<'a> {
    /// A record whose first check is good.
    Record {
        /// Offset of the record in the file.
        offset: u64,
        record: Record<'a>,
        /// Id of the event: the `prev` of the next record, or a hash if no record follows it.
        id: EventId,
    },
    /// The end: only zeros follow, or nothing.
    End,
    /// Bytes that are not a record.
    Bad { offset: u64 },
    /// A frame that a newer version wrote.
    Newer { offset: u64 },
}

/// A scan of a segment file, with its place in the file.
pub(crate) struct SegmentScan {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    buffer: Vec<u8>,
    /// File offset of `buffer[0]`.
    base: u64,
    /// Index of the next record in `buffer`.
    at: usize,
    /// Shape of the record at `at`, if the last step looked ahead.
    ahead: Option<Shape>,
    /// Offset at which reading stops.
    limit: u64,
    /// `true` if `limit` is the length that the file had.
    to_end: bool,
    /// Least number of bytes of the next read. Grows, since a scan that got this far is likely to go on.
    chunk: usize,
    hash_all: bool,
}

impl SegmentScan {
    /// Starts a scan at `offset`. Bytes from `limit` on count as absent.
    pub(crate) fn open(
        disk: &dyn Disk,
        path: &Path,
        offset: u64,
        limit: u64,
    ) -> Result<SegmentScan> {
        let file = disk
            .open(path, OpenMode::Read)
            .map_err(at("reading", path))?;
        let to_end = limit == u64::MAX;
        let limit = match to_end {
            true => file.len().map_err(at("reading", path))?,
            false => limit,
        };
        let scan = SegmentScan::of(file, path, offset, limit);
        Ok(SegmentScan { to_end, ..scan })
    }

    /// Starts a scan of a file that is open already.
    pub(crate) fn of(file: Arc<dyn DiskFile>, path: &Path, offset: u64, limit: u64) -> SegmentScan {
        SegmentScan {
            path: path.to_owned(),
            file,
            buffer: Vec::new(),
            base: offset,
            at: 0,
            ahead: None,
            limit,
            to_end: false,
            chunk: CHUNK_LENS.0,
            hash_all: false,
        }
    }

    /// Makes the scan hash the head for every id, instead of trusting the next `prev`.
    pub(crate) fn hashing(mut self) -> SegmentScan {
        self.hash_all = true;
        self
    }

    /// Makes at least `need` bytes available at `at`, if the file has them.
    fn fill(&mut self, need: usize) -> Result<()> {
        let have = self.buffer.len() - self.at;
        if have >= need {
            return Ok(());
        }
        self.buffer.copy_within(self.at.., 0);
        self.base += self.at as u64;
        self.at = 0;
        let room = self
            .limit
            .saturating_sub(self.base)
            .min(need.max(self.chunk) as u64) as usize;
        let room = room.max(have);
        self.buffer.resize(room, 0);
        let read = self
            .file
            .read_at(&mut self.buffer[have..], self.base + have as u64)
            .map_err(at("reading", &self.path))?;
        self.buffer.truncate(have + read);
        self.chunk = (self.chunk * 4).min(CHUNK_LENS.1);
        Ok(())
    }

    /// Parses the record `skip` bytes after `at`, reading more if necessary.
    fn shape_at(&mut self, skip: usize) -> Result<Parsed> {
        self.fill(skip + FRAME_LEN)?;
        let mut parsed = record::parse(&self.buffer[self.at + skip..]);
        if let Parsed::Short { need } = parsed {
            self.fill(skip + need)?;
            parsed = record::parse(&self.buffer[self.at + skip..]);
        }
        Ok(parsed)
    }

    /// Returns `true` if all bytes from `at` to the end of the file are zero.
    fn rest_is_zero(&mut self) -> Result<bool> {
        loop {
            self.fill(self.chunk)?;
            let rest = &self.buffer[self.at..];
            if rest.is_empty() {
                return Ok(true);
            }
            if rest.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            self.at = self.buffer.len();
        }
    }

    /// Returns the next record, or the reason for which there is none.
    pub(crate) fn step(&mut self) -> Result<Step<'_>> {
        let offset = self.base + self.at as u64;
        let mut met = match self.ahead.take() {
            Some(shape) => Some(Parsed::Record(shape)),
            None => self.look()?,
        };
        if met.is_none() {
            // A reader without the lock can see a record half written. Its buffer can also hold zeros that a writer of
            // an earlier version has overwritten since, or that a writer has cut off.
            let soon = Deadline::after(PAUSE_MIN * PAUSES_FOR_A_WRITER);
            let mut again = || self.read_anew(offset).and_then(|()| self.look());
            met = icm_wait::until(soon, || again().transpose()).transpose()?;
        }
        match met {
            Some(Parsed::Record(shape)) => self.emit(offset, shape),
            Some(Parsed::Newer) => Ok(Step::Newer { offset }),
            Some(_) => Ok(Step::End),
            None => Ok(Step::Bad { offset }),
        }
    }

    /// Returns the record, the newer frame or the end at the current offset; `None` for other bytes.
    fn look(&mut self) -> Result<Option<Parsed>> {
        let parsed = self.shape_at(0)?;
        let is_met = match parsed {
            Parsed::Record(_) | Parsed::Newer => true,
            Parsed::End | Parsed::Short { .. } => self.rest_is_zero()?,
            _ => false,
        };
        Ok(is_met.then_some(parsed))
    }

    /// Reads the record at `offset` and the bytes before it, for a backward scan. `None` if no record starts there.
    pub(crate) fn back_at<T>(
        &mut self,
        offset: u64,
        read: impl FnOnce(&Record<'_>) -> T,
    ) -> Result<Option<T>> {
        self.ahead = None;
        if offset < self.base || offset >= self.base + self.buffer.len() as u64 {
            self.buffer.clear();
            (self.base, self.at) = (offset.saturating_sub(BACK_LEN), 0);
            self.fill((offset - self.base) as usize + CHUNK_LENS.0)?;
        }
        self.at = ((offset - self.base) as usize).min(self.buffer.len());
        match self.shape_at(0)? {
            Parsed::Record(shape) => Ok(Some(read(&shape.view(&self.buffer[self.at..])))),
            _ => Ok(None),
        }
    }

    /// Forgets the buffer and continues at `offset`.
    fn read_anew(&mut self, offset: u64) -> Result<()> {
        self.buffer.clear();
        (self.base, self.at) = (offset, 0);
        if self.to_end {
            self.limit = self.file.len().map_err(at("reading", &self.path))?;
        }
        Ok(())
    }

    fn emit(&mut self, offset: u64, shape: Shape) -> Result<Step<'_>> {
        let len = shape.record_len();
        let next = self.shape_at(len)?;
        let here = self.at;
        let bytes = &self.buffer[here..here + len];
        let record = shape.view(bytes);
        let id = match next {
            Parsed::Record(ahead) => {
                self.ahead = Some(ahead);
                let after = ahead.view(&self.buffer[here + len..]);
                (!self.hash_all && after.follows(&record)).then(|| after.prev())
            }
            _ => None,
        };
        self.at = here + len;
        Ok(Step::Record {
            offset,
            record,
            id: id.unwrap_or_else(|| hash::event_id(record.head)),
        })
    }
}

/// Reads the record at `offset`; `None` if no record starts there.
pub(crate) fn read_one<T>(
    disk: &dyn Disk,
    path: &Path,
    offset: u64,
    read: impl FnOnce(&Record<'_>) -> T,
) -> Result<Option<T>> {
    let mut scan = SegmentScan::open(disk, path, offset, u64::MAX)?;
    scan.chunk = 4 * 1_024;
    match scan.shape_at(0)? {
        Parsed::Record(shape) => Ok(Some(read(&shape.view(&scan.buffer[scan.at..])))),
        _ => Ok(None),
    }
}
