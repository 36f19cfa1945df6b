//! Reading the records of one segment, forward, in chunks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, DiskFile, OpenMode};
use crate::error::{Result, at};
use icm_event::hash;
use icm_event::id::EventId;
use icm_event::record::{self, FRAME_LEN, Parsed, Record, Shape};
use icm_wait::{Deadline, PAUSE_MIN};

/// Bytes read at first, and at most.
const CHUNK_LENS: (usize, usize) = (16 * 1_024, 128 * 1_024);
/// Bytes before a record that are read with it on the way back.
const BACK_LEN: u64 = 64 * 1_024;

/// Shortest pauses for which bytes that don't parse are read again before they count as no record. More of them give a
/// writer more time to finish a record.
const PAUSES_FOR_A_WRITER: u32 = 3;

/// What a step of a scan met.
pub(crate) enum Step<'a> {
    /// A record whose first check is good.
    Record {
        /// Where it starts in the file.
        offset: u64,
        record: Record<'a>,
        /// Its event id: what the next record names as its `prev`, or a hash where there is none.
        id: EventId,
    },
    /// The end: nothing but zeros (or nothing at all) follows.
    End,
    /// Bytes that are no record.
    Bad { offset: u64 },
    /// A frame that a newer version wrote.
    Newer { offset: u64 },
}

/// A place in a segment file.
pub(crate) struct SegmentScan {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    buffer: Vec<u8>,
    /// File offset of `buffer[0]`.
    base: u64,
    /// Place of the next record in `buffer`.
    at: usize,
    /// Shape of the record at `at`, when the step before looked ahead.
    ahead: Option<Shape>,
    /// Read nothing at or beyond this offset.
    limit: u64,
    /// `limit` is the length that the file had.
    to_end: bool,
    /// Bytes read next, at least; grows, as whoever read on so far will read on.
    chunk: usize,
    hash_all: bool,
}

impl SegmentScan {
    /// Starts at `offset`. What lies at `limit` and beyond is taken for absent.
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

    /// The same of a file that is open.
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

    /// Takes every id from a hash of the head, trusting no `prev`.
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

    /// The shape of the record `skip` bytes after `at`, reading more where needed.
    fn shape_at(&mut self, skip: usize) -> Result<Parsed> {
        self.fill(skip + FRAME_LEN)?;
        let mut parsed = record::parse(&self.buffer[self.at + skip..]);
        if let Parsed::Short { need } = parsed {
            self.fill(skip + need)?;
            parsed = record::parse(&self.buffer[self.at + skip..]);
        }
        Ok(parsed)
    }

    /// Whether everything from `at` to the end of the file is zero.
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

    /// The next record.
    pub(crate) fn step(&mut self) -> Result<Step<'_>> {
        let offset = self.base + self.at as u64;
        let mut met = match self.ahead.take() {
            Some(shape) => Some(Parsed::Record(shape)),
            None => self.look()?,
        };
        if met.is_none() {
            // A reader without the lock can see a record half written. It can also hold zeros in its buffer over which a
            // writer of an earlier version has written since, or which a writer has cut.
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

    /// Returns the record, the newer frame or the end that lies here; `None` for bytes that are none of them.
    fn look(&mut self) -> Result<Option<Parsed>> {
        let parsed = self.shape_at(0)?;
        let is_met = match parsed {
            Parsed::Record(_) | Parsed::Newer => true,
            Parsed::End | Parsed::Short { .. } => self.rest_is_zero()?,
            _ => false,
        };
        Ok(is_met.then_some(parsed))
    }

    /// Reads the record at `offset`, for who goes backward: what lies before it is read with it. `None` where none starts.
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

    /// Forgets what was read, and goes on at `offset`.
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

/// Reads the one record at `offset`; `None` when none starts there.
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
