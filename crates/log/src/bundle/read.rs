//! Reads and checks a whole bundle before an import takes any of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::mark::{self, HEADER_LEN, HeaderError, MARK_LEN, Mark};
use super::{Bundle, BundleRange};
use crate::disk::DiskFile;
use crate::error::{LogError, Result, at};
use crate::recover::newer_kind;
use icm_event::facts::Facts;
use icm_event::hash;
use icm_event::head::{Head, HeadError};
use icm_event::id::{CommandId, EventId, OriginId, Seq, Time};
use icm_event::record::{self, Body, FRAME_LEN, Parsed, Record};

/// Bytes of a read.
const CHUNK_LEN: usize = 256 * 1_024;
/// Bytes between two reports of progress.
const PROGRESS_LEN: u64 = 1_024 * 1_024;

impl Bundle {
    /// Reads a bundle to its end and checks all of it. Calls `progress` with the number of bytes read since its last
    /// call, after each mebibyte.
    ///
    /// # Errors
    /// `BadBundle` if the file is cut, changed, or not a bundle; `NewerFormat` if this version cannot judge the
    /// contents.
    pub fn read(
        file: Arc<dyn DiskFile>,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Bundle> {
        let mut reader = Reader {
            file: &*file,
            path,
            buffer: Vec::new(),
            base: 0,
            at: 0,
            hasher: hash::bundle_hasher(),
        };
        let (ranges, events) = reader.bundle(progress)?;
        Ok(Bundle {
            file,
            path: path.to_owned(),
            ranges,
            events,
        })
    }
}

struct Reader<'a> {
    file: &'a dyn DiskFile,
    path: &'a Path,
    buffer: Vec<u8>,
    /// Offset of `buffer[0]`.
    base: u64,
    /// Index in `buffer` of the next byte; the bytes before it are hashed and checked.
    at: usize,
    hasher: blake3::Hasher,
}

/// The values that the next record of a range must have.
struct Expect {
    origin: OriginId,
    seq: Seq,
    prev: EventId,
    time: Option<Time>,
    /// Events seen of the batch, events in the batch, and its command. `None` between batches and at the start of a
    /// range.
    batch: Option<(u16, u16, CommandId)>,
    first: bool,
}

impl Reader<'_> {
    fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    fn bad(&self, what: impl Into<String>) -> LogError {
        LogError::BadBundle {
            path: self.path.to_owned(),
            offset_bytes: self.offset(),
            what: what.into(),
        }
    }

    fn cut(&self) -> LogError {
        self.bad("it is cut off: its end is missing")
    }

    /// Returns the bytes from the current offset, at least `need` of them unless the file ends before.
    fn fill(&mut self, need: usize) -> Result<&[u8]> {
        if self.buffer.len() - self.at < need {
            self.buffer.drain(..self.at);
            self.base += self.at as u64;
            self.at = 0;
            let have = self.buffer.len();
            self.buffer.resize(have.max(need) + CHUNK_LEN, 0);
            let read = self
                .file
                .read_at(&mut self.buffer[have..], self.base + have as u64)
                .map_err(at("reading", self.path))?;
            self.buffer.truncate(have + read);
        }
        Ok(&self.buffer[self.at..])
    }

    fn pass(&mut self, len: usize) {
        self.hasher.update(&self.buffer[self.at..self.at + len]);
        self.at += len;
    }

    fn bundle(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(Vec<BundleRange>, u64)> {
        match mark::check_header(self.fill(HEADER_LEN)?) {
            Ok(()) => self.pass(HEADER_LEN),
            Err(HeaderError::NoBundle) => {
                return Err(self.bad("it is no file of `icm log export`"));
            }
            Err(HeaderError::Newer { oldest_reader }) => {
                let what = format!("the export needs a reader of format {oldest_reader}");
                return Err(LogError::NewerFormat { what });
            }
            Err(HeaderError::Damaged) => return Err(self.bad("its header is damaged")),
        }
        let mut ranges: Vec<BundleRange> = Vec::new();
        let (mut events, mut told) = (0, 0);
        let mut before = None;
        let mut cut = Vec::new();
        loop {
            let bytes = self.fill(MARK_LEN)?;
            if bytes.len() < MARK_LEN {
                return Err(self.cut());
            }
            match Mark::parse(bytes) {
                None => return Err(self.bad("bytes that are no part of an export")),
                Some(Mark::Done {
                    ranges: ranges_all,
                    events: events_all,
                    digest,
                }) => {
                    if *self.hasher.finalize().as_bytes() != digest {
                        return Err(self.bad("its digest does not fit its events"));
                    }
                    if (ranges_all, events_all) != (ranges.len() as u64, events) {
                        return Err(self.bad("its end names another number of events"));
                    }
                    if !all_go_on(&cut, &ranges) {
                        return Err(self.bad("a chain ends within a batch"));
                    }
                    self.at += MARK_LEN;
                    return match self.fill(1)?.is_empty() {
                        true => Ok((ranges, events)),
                        false => Err(self.bad("bytes follow its end")),
                    };
                }
                Some(Mark::Range {
                    origin,
                    base,
                    from_seq,
                }) => {
                    if (from_seq == Seq(1)) != base.is_zero() || from_seq == Seq(0) {
                        return Err(self.bad("it names events that no chain can have"));
                    }
                    let goes_on =
                        |range: &BundleRange| range.origin == origin && range.head == base;
                    if ranges.last().is_some_and(goes_on) {
                        return Err(self.bad("events that follow one another are apart"));
                    }
                    self.pass(MARK_LEN);
                    let expect = Expect {
                        origin,
                        seq: from_seq,
                        prev: base,
                        time: None,
                        batch: None,
                        first: true,
                    };
                    let (range, first, open) = self.range(base, expect, &mut told, progress)?;
                    let order = (range.origin, range.from_seq, range.base, first);
                    if before.replace(order).is_some_and(|before| before >= order) {
                        return Err(self.bad("its chains are not in order"));
                    }
                    events += range.to_seq.0 + 1 - range.from_seq.0;
                    if open {
                        cut.push((range.origin, range.to_seq));
                    }
                    ranges.push(range);
                }
            }
        }
    }

    /// Reads the records of a range. Returns the range, its first event, and `true` if its last batch lacks events.
    fn range(
        &mut self,
        base: EventId,
        mut expect: Expect,
        told: &mut u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(BundleRange, EventId, bool)> {
        let (start, from_seq) = (self.offset(), expect.seq);
        let mut first = None;
        loop {
            let mut parsed = record::parse(self.fill(FRAME_LEN)?);
            if let Parsed::Short { need } = parsed {
                parsed = record::parse(self.fill(need)?);
            }
            let shape = match parsed {
                Parsed::Record(shape) => shape,
                Parsed::End if !expect.first => break,
                Parsed::End => return Err(self.bad("a part of a chain without an event")),
                Parsed::Short { .. } => return Err(self.cut()),
                Parsed::Bad => return Err(self.bad("bytes that are no record")),
                Parsed::Newer => {
                    let what = "a newer version of icm wrote the export".to_owned();
                    return Err(LogError::NewerFormat { what });
                }
            };
            let len = shape.record_len();
            let view = shape.view(&self.buffer[self.at..self.at + len]);
            let checked = check(&view, &mut expect);
            match checked {
                Ok(()) => {}
                Err(Wrong::Newer(what)) => return Err(LogError::NewerFormat { what }),
                Err(Wrong::Bad(what)) => {
                    return Err(self.bad(format!("event {}: {what}", expect.seq)));
                }
            }
            first.get_or_insert(expect.prev);
            self.pass(len);
            *told += len as u64;
            if *told >= PROGRESS_LEN {
                progress(*told);
                *told = 0;
            }
        }
        let range = BundleRange {
            origin: expect.origin,
            base,
            from_seq,
            to_seq: Seq(expect.seq.0 - 1),
            head: expect.prev,
            start,
            end: self.offset(),
        };
        let first = first.expect("a range has an event");
        Ok((range, first, expect.batch.is_some()))
    }
}

/// Returns `true` if each of these chains has a range after the place at which a batch is cut. Only a hole cuts a
/// batch.
fn all_go_on(cut: &[(OriginId, Seq)], ranges: &[BundleRange]) -> bool {
    // Ranges are in the order of their first seqs.
    let last: BTreeMap<OriginId, Seq> = (ranges.iter())
        .map(|range| (range.origin, range.from_seq))
        .collect();
    cut.iter().all(|(origin, to)| last[origin] > *to)
}

enum Wrong {
    Newer(String),
    Bad(String),
}

/// Checks that a record continues the range and is what its author wrote.
fn check(record: &Record<'_>, expect: &mut Expect) -> std::result::Result<(), Wrong> {
    let bad = |what: &str| Err(Wrong::Bad(what.to_owned()));
    let head = record.parse_head().map_err(|error| match error {
        HeadError::NewerFormat { .. } | HeadError::Field { .. } => Wrong::Newer(error.to_string()),
        error => Wrong::Bad(error.to_string()),
    })?;
    let (kind, version) = (head.kind(), head.kind_version());
    if kind.is_critical() && !kind.is_understood(version) {
        return Err(Wrong::Newer(newer_kind(kind, version)));
    }
    if head.origin() != expect.origin || head.seq() != expect.seq {
        return bad("another event stands in its place");
    }
    if head.prev() != expect.prev {
        return bad("it names another event before it than there is");
    }
    if expect.time.is_some_and(|time| head.time() <= time) {
        return bad("its time is not after the one before");
    }
    check_batch(&head, expect)?;
    if let Err(error) = Facts::of(&head) {
        return Err(Wrong::Bad(error.to_string()));
    }
    match record.body {
        Body::Withheld => {}
        Body::Present { .. } if record.keeps_commitment(&head) => {}
        Body::Present { .. } | Body::Damaged => return bad("its payload is not what was written"),
    }
    if record.synced != Seq(0) {
        return bad("it has a value that only its own machine can know");
    }
    expect.seq = Seq(head.seq().0 + 1);
    expect.prev = head.id();
    expect.time = Some(head.time());
    expect.first = false;
    Ok(())
}

fn check_batch(head: &Head<'_>, expect: &mut Expect) -> std::result::Result<(), Wrong> {
    let (index, count) = (head.batch_index(), head.batch_count());
    let follows = match expect.batch {
        // A batch after a hole may have lost its start.
        None => index == 0 || expect.first,
        Some((have, all, command)) => index == have && count == all && head.command() == command,
    };
    expect.batch = (index + 1 < count).then_some((index + 1, count, head.command()));
    match follows {
        true => Ok(()),
        false => Err(Wrong::Bad("it is out of place in its batch".to_owned())),
    }
}
