//! Row facts: a memory-mapped file with one record for each ordinal, with the positions at which the version held. Text
//! and vectors are filtered by it, so closing a version is one small write here.
//!
//! ```text
//! header: magic (8) · zero (8)
//! record: from (8) · to (8, all ones while it holds) · memory (16) · tag of its topic (4)
//!         · time (8, milliseconds since 1970, signed) · stored (8, milliseconds since 1970) · importance (1) · trust (1)
//!         · family, and 128 for a fact, 64 for a planned one (1)
//!         · kind of scope, and 128 if pinned, 64 if it may expire earlier (1)
//!         · changed (8, milliseconds since 1970) · home (8) · expires (8, milliseconds since 1970)
//!         · signature of the text (20) · check (4)
//! ```
//! Every record has a check, so a record that is used is known to be whole.

use std::fs::OpenOptions;
use std::path::Path;

use icm_log::facts::{Importance, ScopeKind, Trust};
use icm_log::{Position, SubjectId};
use icm_text::{Map, Signature};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Result, ViewError, io};
use crate::file::{read_at, write_at};
use crate::fold::{Closed, Family, Version};

const MAGIC: [u8; 16] = *b"ICMROWS8\0\0\0\0\0\0\0\0";
const HEADER_LEN: usize = 16;
const RECORD_LEN: usize = 104;
/// Offsets of the signature, and of the check after it.
const SIGNATURE_AT: usize = 80;
const CHECK_AT: usize = RECORD_LEN - 4;
/// Bit in the byte of the kind of scope: the version is pinned.
const PINNED: u8 = 128;
/// Bit in the same byte: the version may be expired before the time in the record.
const EXPIRES_BY_MORE: u8 = 64;
/// Bits in the byte of the family: the version is a fact; its value was to become valid later.
const FACT: u8 = 128;
const PLANNED: u8 = 64;

/// The value of `to` while the version holds.
pub(crate) const OPEN: u64 = u64::MAX;

/// The record of one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// First position at which the version holds.
    pub from: Position,
    /// First position at which the version no longer holds; [`OPEN`] while it holds.
    pub to: u64,
    /// The memory of the version.
    pub entity: SubjectId,
    /// The tag of its topic. Different tags are different topics; two topics share a tag with a chance of one in four
    /// thousand million.
    pub topic: u32,
    /// Time at which the memory was stored, in milliseconds since 1970.
    pub created_ms: u64,
    /// Time of the memory's last change, in milliseconds since 1970.
    pub updated_ms: u64,
    /// The kind of its scope.
    pub scope_kind: ScopeKind,
    /// The tag of its topic and scope.
    pub home: HomeTag,
    /// The signature of its text; empty if the text is withheld.
    pub signature: Signature,
    /// The facts that filters use.
    pub facts: RowFacts,
}

/// Facts of a row that filters use beside its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowFacts {
    /// Importance.
    pub importance: Importance,
    /// Trust.
    pub trust: Trust,
    /// The kind of thing that the row describes.
    pub family: Family,
    /// `true` if the memory is pinned, for a time or until unpinned.
    pub is_pinned: bool,
    /// Time from which the memory is expired; see [`Version::expires_ms`].
    pub expires_ms: u64,
    /// `true` if the memory may be expired before that; see [`Version::expires_by_more`].
    pub expires_by_more: bool,
    /// `true` for a fact.
    pub is_fact: bool,
    /// `true` for a fact whose value is valid from `time_ms` on, and was planned; see [`Version::is_planned`].
    pub is_planned: bool,
    /// Time of the event that the memory describes, or else of its storing, in milliseconds since 1970.
    pub time_ms: i64,
}

impl RowFacts {
    /// Returns the facts of a row.
    pub fn of(version: &Version) -> RowFacts {
        let stored = i64::try_from(version.created_ms).unwrap_or(i64::MAX);
        RowFacts {
            importance: version.importance,
            trust: version.trust,
            family: version.family(),
            is_pinned: version.pinned_until_ms.is_some(),
            expires_ms: version.expires_ms(),
            expires_by_more: version.expires_by_more(),
            is_fact: version.is_fact(),
            is_planned: version.is_planned(),
            time_ms: version.occurred_at_ms.unwrap_or(stored),
        }
    }
}

/// Facts that a row must have; `None` accepts any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FactFilter {
    /// The kind of thing; a memory by default.
    pub family: Family,
    /// The least importance.
    pub importance: Option<Importance>,
    /// The least trust: a user ranks above an agent, an agent above an outside source.
    pub trust: Option<Trust>,
    /// The earliest time.
    pub since_ms: Option<i64>,
    /// The latest time.
    pub until_ms: Option<i64>,
}

impl FactFilter {
    /// Returns `true` if the facts pass the filter.
    pub fn fits(&self, facts: &RowFacts) -> bool {
        self.family == facts.family
            && self
                .importance
                .is_none_or(|least| facts.importance >= least)
            && self.trust.is_none_or(|least| facts.trust <= least)
            && self.since_ms.is_none_or(|since| facts.time_ms >= since)
            && self.until_ms.is_none_or(|until| facts.time_ms <= until)
    }
}

/// The tag of a topic in the row facts; see [`Row::topic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TopicTag(pub(crate) u32);

impl TopicTag {
    /// Returns the tag of a topic by its name.
    pub fn named(topic: &str) -> TopicTag {
        TopicTag(topic_tag(Some(topic)))
    }

    /// Returns the tag of a version's topic (or memoir).
    pub fn of(version: &Version) -> TopicTag {
        TopicTag(topic_tag(version.topic.as_deref()))
    }
}

/// A tag of a topic and a scope. Two different pairs share a tag with a chance of 1 in 2^64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HomeTag(u64);

impl HomeTag {
    /// Returns the tag of a version; the default if its topic is withheld.
    fn of(version: &Version) -> HomeTag {
        let Some(topic) = &version.topic else {
            return HomeTag::default();
        };
        // Topics have no line breaks.
        HomeTag(xxh3_64(
            format!("{topic}\n{}", version.scope_text()).as_bytes(),
        ))
    }

    /// Returns `true` if the topic is withheld.
    pub fn is_withheld(self) -> bool {
        self == HomeTag::default()
    }
}

/// Returns the tag of a topic.
pub(crate) fn topic_tag(topic: Option<&str>) -> u32 {
    crc32c::crc32c(topic.unwrap_or_default().as_bytes())
}

impl Row {
    /// Returns the record of a memory's version that holds. `signature` is the signature of its text, if known.
    pub(crate) fn of(entity: SubjectId, version: &Version, signature: Option<Signature>) -> Row {
        let content = || version.content.as_deref().unwrap_or_default();
        Row {
            from: version.from,
            to: OPEN,
            entity,
            topic: topic_tag(version.topic.as_deref()),
            created_ms: version.created_ms,
            updated_ms: version.updated_ms,
            scope_kind: version.scope_kind,
            home: HomeTag::of(version),
            signature: signature.unwrap_or_else(|| Signature::of(content())),
            facts: RowFacts::of(version),
        }
    }

    /// Returns the tag of the topic.
    pub fn topic_tag(&self) -> TopicTag {
        TopicTag(self.topic)
    }

    /// Returns `true` if the version held at `position`.
    pub fn holds_at(&self, position: Position) -> bool {
        self.from <= position && position.0 < self.to
    }

    fn encode(&self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..8].copy_from_slice(&self.from.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.to.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.entity.0);
        bytes[32..36].copy_from_slice(&self.topic.to_le_bytes());
        bytes[36..44].copy_from_slice(&self.facts.time_ms.to_le_bytes());
        bytes[44..52].copy_from_slice(&self.created_ms.to_le_bytes());
        bytes[52] = self.facts.importance.code();
        bytes[53] = self.facts.trust.code();
        bytes[54] = self.facts.family.code()
            | if self.facts.is_fact { FACT } else { 0 }
            | if self.facts.is_planned { PLANNED } else { 0 };
        bytes[55] = self.scope_kind.code()
            | if self.facts.is_pinned { PINNED } else { 0 }
            | if self.facts.expires_by_more {
                EXPIRES_BY_MORE
            } else {
                0
            };
        bytes[56..64].copy_from_slice(&self.updated_ms.to_le_bytes());
        bytes[64..72].copy_from_slice(&self.home.0.to_le_bytes());
        bytes[72..80].copy_from_slice(&self.facts.expires_ms.to_le_bytes());
        bytes[SIGNATURE_AT..CHECK_AT].copy_from_slice(&self.signature.to_bytes());
        let check = crc32c::crc32c(&bytes[..CHECK_AT]);
        bytes[CHECK_AT..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Row> {
        let bytes: &[u8; RECORD_LEN] = bytes.try_into().ok()?;
        let four = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if crc32c::crc32c(&bytes[..CHECK_AT]) != four(CHECK_AT) {
            return None;
        }
        let eight = |at: usize| {
            let eight = bytes[at..at + 8].first_chunk().expect("eight of them");
            u64::from_le_bytes(*eight)
        };
        let mut entity = [0; 16];
        entity.copy_from_slice(&bytes[16..32]);
        Some(Row {
            from: Position(eight(0)),
            to: eight(8),
            entity: SubjectId(entity),
            topic: four(32),
            created_ms: eight(44),
            updated_ms: eight(56),
            scope_kind: ScopeKind::from_code(bytes[55] & !(PINNED | EXPIRES_BY_MORE))?,
            home: HomeTag(eight(64)),
            signature: Signature::from_bytes(bytes[SIGNATURE_AT..].first_chunk()?),
            facts: RowFacts {
                importance: Importance::from_code(bytes[52])?,
                trust: Trust::from_code(bytes[53])?,
                family: Family::from_code(bytes[54] & !(FACT | PLANNED))?,
                is_pinned: bytes[55] & PINNED != 0,
                expires_ms: eight(72),
                expires_by_more: bytes[55] & EXPIRES_BY_MORE != 0,
                is_fact: bytes[54] & FACT != 0,
                is_planned: bytes[54] & PLANNED != 0,
                time_ms: eight(36).cast_signed(),
            },
        })
    }
}

enum Backing {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

/// The row facts up to a checkpoint.
pub struct Rows {
    backing: Backing,
    /// Records that belong to the checkpoint; the file may hold more.
    count: u64,
}

impl Rows {
    /// Returns row facts without records, in memory.
    pub fn empty() -> Rows {
        Rows {
            backing: Backing::Owned(MAGIC.to_vec()),
            count: 0,
        }
    }

    /// Opens the first `count` records of a file.
    #[allow(unsafe_code)]
    pub fn open(path: &Path, count: u64) -> Result<Rows> {
        let file = crate::file::open(path).map_err(io("opening", path))?;
        // SAFETY: the file is only appended to, or changed in place by whole records with a check. A file of a
        // generation in use is never truncated; its generation is replaced.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(io("mapping", path))?;
        let need = HEADER_LEN as u64 + count * RECORD_LEN as u64;
        let why = match map.get(..HEADER_LEN) {
            Some(header) if header != MAGIC => Some("another version of icm wrote it"),
            _ if (map.len() as u64) < need => Some("it is too short"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(ViewError::Unusable {
                view: "rows",
                why: why.into(),
            });
        }
        Ok(Rows {
            backing: Backing::Mapped(map),
            count,
        })
    }

    fn bytes(&self) -> &[u8] {
        match &self.backing {
            Backing::Mapped(map) => map,
            Backing::Owned(bytes) => bytes,
        }
    }

    /// Returns the number of records that a file of `len` bytes has room for.
    pub(crate) fn count_in(len: u64) -> u64 {
        len.saturating_sub(HEADER_LEN as u64) / RECORD_LEN as u64
    }

    /// Returns the number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the record of an ordinal; `None` beyond the checkpoint, and for a damaged record.
    pub fn get(&self, ordinal: u64) -> Option<Row> {
        if ordinal >= self.count {
            return None;
        }
        let start = HEADER_LEN + ordinal as usize * RECORD_LEN;
        let parsed = || Row::parse(self.bytes().get(start..start + RECORD_LEN)?);
        // A commit of another process may be closing the record, half of which was read.
        parsed().or_else(|| {
            std::thread::yield_now();
            parsed()
        })
    }

    /// Returns the tag of an ordinal's topic, unchecked; 0 beyond the checkpoint. Callers check a record that they use
    /// by [`Rows::get`].
    pub(crate) fn tag(&self, ordinal: u64) -> u32 {
        if ordinal >= self.count {
            return 0;
        }
        let at = HEADER_LEN + ordinal as usize * RECORD_LEN + 32;
        let four = self.bytes().get(at..at + 4).unwrap_or_default();
        four.try_into().map_or(0, u32::from_le_bytes)
    }

    /// Returns the memory of an ordinal, unchecked; `None` beyond the checkpoint.
    pub(crate) fn entity(&self, ordinal: u64) -> Option<SubjectId> {
        if ordinal >= self.count {
            return None;
        }
        let at = HEADER_LEN + ordinal as usize * RECORD_LEN + 16;
        let id = self.bytes().get(at..at + 16)?.first_chunk()?;
        Some(SubjectId(*id))
    }

    /// Returns the signature of an ordinal's text, unchecked; `None` beyond the checkpoint.
    pub(crate) fn signature(&self, ordinal: u64) -> Option<Signature> {
        if ordinal >= self.count {
            return None;
        }
        let at = HEADER_LEN + ordinal as usize * RECORD_LEN + SIGNATURE_AT;
        let bytes = self.bytes().get(at..at + Signature::LEN)?;
        Some(Signature::from_bytes(bytes.first_chunk()?))
    }

    /// Checks that every record is whole.
    pub fn check(&self) -> Result<()> {
        match (0..self.count).find(|ordinal| self.get(*ordinal).is_none()) {
            None => Ok(()),
            Some(ordinal) => Err(ViewError::Unusable {
                view: "rows",
                why: format!("the record of ordinal {ordinal} is damaged"),
            }),
        }
    }

    /// Adds new records to rows in memory, and closes records.
    pub fn absorb(&mut self, opened: &[(u64, Row)], closed: &Map<u64, Closed>) {
        let Backing::Owned(bytes) = &mut self.backing else {
            return;
        };
        for (ordinal, row) in opened {
            debug_assert_eq!(*ordinal, self.count, "ordinals are dense");
            bytes.extend_from_slice(&row.encode());
            self.count += 1;
        }
        for (ordinal, end) in closed {
            let start = HEADER_LEN + *ordinal as usize * RECORD_LEN;
            let Some(place) = bytes.get_mut(start..start + RECORD_LEN) else {
                continue;
            };
            if let Some(row) = Row::parse(place) {
                place.copy_from_slice(
                    &Row {
                        to: end.at.0,
                        ..row
                    }
                    .encode(),
                );
            }
        }
    }
}

/// Writes new and closed records to the file; creates the file if `next` is 0. `next` is the ordinal after the last one
/// of the checkpoint before. Later records in the file are overwritten.
pub(crate) fn write(
    path: &Path,
    next: u64,
    opened: &[(u64, Row)],
    closed: &Map<u64, Closed>,
) -> Result<()> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(next == 0)
        .truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io("opening", path))?;
    let at = |ordinal: u64| HEADER_LEN as u64 + ordinal * RECORD_LEN as u64;
    if next == 0 {
        write_at(&file, &MAGIC, 0).map_err(io("writing", path))?;
    }
    let bytes: Vec<u8> = opened.iter().flat_map(|(_, row)| row.encode()).collect();
    write_at(&file, &bytes, at(next)).map_err(io("writing", path))?;
    for (ordinal, end) in closed {
        let mut record = [0; RECORD_LEN];
        read_at(&file, &mut record, at(*ordinal)).map_err(io("reading", path))?;
        let Some(row) = Row::parse(&record) else {
            return Err(ViewError::Unusable {
                view: "rows",
                why: "a damaged record".into(),
            });
        };
        let closed = Row {
            to: end.at.0,
            ..row
        }
        .encode();
        write_at(&file, &closed, at(*ordinal)).map_err(io("writing", path))?;
    }
    Ok(())
}

/// Reopens the records, among the first `count`, that a commit which was not finished closed after `position`.
pub(crate) fn go_back(path: &Path, count: u64, position: Position) -> Result<()> {
    let rows = Rows::open(path, count)?;
    rows.check()?;
    let is_ahead = |row: &Row| row.to != OPEN && row.to > position.0;
    let file = OpenOptions::new().write(true).open(path);
    let file = file.map_err(io("opening", path))?;
    for ordinal in 0..count {
        if let Some(row) = rows.get(ordinal).filter(is_ahead) {
            let open = Row { to: OPEN, ..row }.encode();
            let at = HEADER_LEN as u64 + ordinal * RECORD_LEN as u64;
            write_at(&file, &open, at).map_err(io("writing", path))?;
        }
    }
    Ok(())
}

pub(crate) fn damaged(ordinal: u64) -> ViewError {
    ViewError::Unusable {
        view: "rows",
        why: format!("the record of ordinal {ordinal} is damaged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_there_and_back_and_every_flip_is_seen() {
        let row = Row {
            from: Position(3),
            to: OPEN,
            entity: SubjectId([7; 16]),
            topic: topic_tag(Some("a/b")),
            created_ms: 17,
            updated_ms: 18,
            home: HomeTag(19),
            signature: Signature::of("a b c"),
            scope_kind: ScopeKind::Session,
            facts: RowFacts {
                importance: Importance::High,
                trust: Trust::External,
                family: Family::Concept,
                is_pinned: true,
                expires_ms: 20,
                expires_by_more: true,
                is_fact: true,
                is_planned: true,
                time_ms: -5,
            },
        };
        let bytes = row.encode();
        assert_eq!(Row::parse(&bytes), Some(row));
        for bit in 0..RECORD_LEN * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Row::parse(&flipped), None, "bit {bit}");
        }
        assert!(row.holds_at(Position(3)) && !row.holds_at(Position(2)));
        let closed = Row { to: 5, ..row };
        assert!(closed.holds_at(Position(4)) && !closed.holds_at(Position(5)));
    }

    #[test]
    fn conflicts_closed_after_a_position_are_open_again_once_taken_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("rows");
        let row = |from: u64| Row {
            from: Position(from),
            to: OPEN,
            entity: SubjectId([from as u8; 16]),
            topic: 0,
            created_ms: 0,
            updated_ms: 0,
            home: HomeTag::default(),
            signature: Signature::default(),
            scope_kind: ScopeKind::Global,
            facts: RowFacts {
                importance: Importance::Medium,
                trust: Trust::Agent,
                family: Family::Memory,
                is_pinned: false,
                expires_ms: u64::MAX,
                expires_by_more: false,
                is_fact: false,
                is_planned: false,
                time_ms: 0,
            },
        };
        let ended = |at: u64| Closed {
            entity: SubjectId([0; 16]),
            at: Position(at),
        };
        let first = [(0, row(1)), (1, row(2)), (2, row(3))];
        write(&path, 0, &first, &Map::default()).expect("written");
        let closed = Map::from_iter([(0, ended(5)), (1, ended(6))]);
        write(&path, 3, &[(3, row(6))], &closed).expect("written");
        go_back(&path, 3, Position(5)).expect("taken back");
        let rows = Rows::open(&path, 3).expect("opened");
        let ends = [0, 1, 2].map(|ordinal| rows.get(ordinal).expect("whole").to);
        assert_eq!(ends, [5, OPEN, OPEN]);
    }

    #[test]
    fn a_filter_asks_for_the_least_and_its_times_are_part_of_the_range() {
        let facts = RowFacts {
            importance: Importance::High,
            trust: Trust::Agent,
            family: Family::Memory,
            is_pinned: false,
            expires_ms: u64::MAX,
            expires_by_more: false,
            is_fact: false,
            is_planned: false,
            time_ms: 10,
        };
        let fits = |filter: FactFilter| filter.fits(&facts);
        let any = FactFilter::default();
        assert!(fits(any));
        assert!(!fits(FactFilter {
            family: Family::Concept,
            ..any
        }));
        for (importance, trust, since_ms, until_ms, expected) in [
            (Some(Importance::Medium), None, None, None, true),
            (Some(Importance::High), None, None, None, true),
            (Some(Importance::Critical), None, None, None, false),
            (None, Some(Trust::External), None, None, true),
            (None, Some(Trust::Agent), None, None, true),
            (None, Some(Trust::User), None, None, false),
            (None, None, Some(10), Some(10), true),
            (None, None, Some(11), None, false),
            (None, None, None, Some(9), false),
        ] {
            let filter = FactFilter {
                importance,
                trust,
                since_ms,
                until_ms,
                ..any
            };
            assert_eq!(fits(filter), expected, "{filter:?}");
        }
    }
}
