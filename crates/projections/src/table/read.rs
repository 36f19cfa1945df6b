//! Reads the table as of a position.

use std::sync::OnceLock;

use icm_log::{Cursor, EventId, Name, OriginId, Position, RequestKey, Seq, SubjectId};
use redb::{
    Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, ReadableTable, TableError,
};

use super::accesses::Block;
use super::packed::unpack;
use super::{
    ACCESSES, ALIASES, Bytes, IDS, IMPORTED, LINK_PLACES, LINKS, MEMBERS, META, META_CHECKPOINT,
    META_TALLY, MOVED, NAMES, REQUESTS, TICKS, TOPICS, UNDOS, UNLINKS, VERSIONS, WAITING,
    member_key, unreadable, versioned_key,
};
use crate::error::{Result, ViewError};
use crate::fold::Tally;
use crate::fold::{Base, EntityId, InChain, Learned, Link, Request, Stamp, Tick, Undo, Version};
use crate::rows::topic_tag;

/// A topic and the number of its living memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicCount {
    /// The name of the topic.
    pub topic: String,
    /// The number of living memories.
    pub memories: u64,
    /// Time of the newest change, in milliseconds since the epoch.
    pub changed_ms: u64,
}

impl TopicCount {
    /// Returns the topic's tag in the row facts: see [`Row::topic`](crate::Row).
    pub fn tag(&self) -> u32 {
        topic_tag(Some(&self.topic))
    }
}

fn bad(error: impl std::error::Error) -> ViewError {
    ViewError::Unusable {
        view: "table",
        why: error.to_string(),
    }
}

fn decode<T: serde::de::DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T> {
    rmp_serde::from_slice(bytes).map_err(|_| unreadable(what))
}

fn two_u64(what: &'static str, bytes: &[u8]) -> Result<(u64, u64)> {
    let bytes: &[u8; 16] = bytes.try_into().map_err(|_| unreadable(what))?;
    let (mut first, mut second) = ([0; 8], [0; 8]);
    first.copy_from_slice(&bytes[..8]);
    second.copy_from_slice(&bytes[8..]);
    Ok((u64::from_be_bytes(first), u64::from_be_bytes(second)))
}

pub(super) fn topic_of(bytes: &[u8]) -> Result<(u64, u64)> {
    two_u64("topic", bytes)
}

pub(super) fn moved_of(bytes: &[u8]) -> Result<(Stamp, EntityId)> {
    decode("name", bytes)
}

fn subject(what: &'static str, bytes: &[u8]) -> Result<SubjectId> {
    bytes
        .try_into()
        .map(SubjectId)
        .map_err(|_| unreadable(what))
}

/// A snapshot of the table.
pub struct Table {
    transaction: ReadTransaction,
    /// The tally at the table's checkpoint.
    pub tally: Tally,
    /// The place in the log that the table has reached.
    pub checkpoint: Cursor,
    /// The ticks of decay, read at first use.
    ticks: OnceLock<Vec<Tick>>,
}

/// Reads row versions by their first position.
pub(crate) struct Reader(Option<ReadTable>);

impl Reader {
    pub(crate) fn get(&self, entity: EntityId, from: Position) -> Result<Option<Version>> {
        let Some(table) = &self.0 else {
            return Ok(None);
        };
        match table.get(&versioned_key(entity, from)[..]).map_err(bad)? {
            Some(value) => unpack(value.value()).map(Some),
            None => Ok(None),
        }
    }
}

/// A callback for keys and values.
type Entries<'e> = &'e mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

type ReadTable = redb::ReadOnlyTable<&'static [u8], &'static [u8]>;

impl Table {
    /// Returns the newest state of a database that this process writes.
    pub fn of(db: &Database) -> Result<Table> {
        Table::snapshot(db.begin_read().map_err(bad)?)
    }

    /// Returns the newest state of a database that is open for reading.
    pub fn of_read_only(db: &ReadOnlyDatabase) -> Result<Table> {
        Table::snapshot(db.begin_read().map_err(bad)?)
    }

    fn snapshot(transaction: ReadTransaction) -> Result<Table> {
        let mut table = Table {
            transaction,
            tally: Tally::default(),
            checkpoint: Cursor::START,
            ticks: OnceLock::new(),
        };
        if let Some(meta) = table.open(META)? {
            if let Some(value) = meta.get(META_TALLY).map_err(bad)? {
                table.tally = decode("tally", value.value())?;
            }
            if let Some(value) = meta.get(META_CHECKPOINT).map_err(bad)? {
                table.checkpoint = decode("checkpoint", value.value())?;
            }
        }
        if table.checkpoint.position != table.tally.position {
            return Err(unreadable("checkpoint"));
        }
        Ok(table)
    }

    fn open(&self, definition: Bytes) -> Result<Option<ReadTable>> {
        match self.transaction.open_table(definition) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(bad(error)),
        }
    }

    fn get<T>(
        &self,
        definition: Bytes,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(table) = self.open(definition)? else {
            return Ok(None);
        };
        match table.get(key).map_err(bad)? {
            Some(value) => read(value.value()).map(Some),
            None => Ok(None),
        }
    }

    /// Returns a reader for many versions.
    pub(crate) fn reader(&self) -> Result<Reader> {
        Ok(Reader(self.open(VERSIONS)?))
    }

    /// Returns the version of a memory that held at `position`.
    pub fn version_at(&self, entity: EntityId, position: Position) -> Result<Option<Version>> {
        let Some(table) = self.open(VERSIONS)? else {
            return Ok(None);
        };
        let (first, last) = (
            versioned_key(entity, Position(0)),
            versioned_key(entity, position),
        );
        match table
            .range(&first[..]..=&last[..])
            .map_err(bad)?
            .next_back()
        {
            Some(entry) => unpack(entry.map_err(bad)?.1.value()).map(Some),
            None => Ok(None),
        }
    }

    /// Returns every version of a memory up to `position`, oldest first.
    pub fn versions(&self, entity: EntityId, position: Position) -> Result<Vec<Version>> {
        let Some(table) = self.open(VERSIONS)? else {
            return Ok(Vec::new());
        };
        let (first, last) = (
            versioned_key(entity, Position(0)),
            versioned_key(entity, position),
        );
        let mut versions = Vec::new();
        for entry in table.range(&first[..]..=&last[..]).map_err(bad)? {
            versions.push(unpack(entry.map_err(bad)?.1.value())?);
        }
        Ok(versions)
    }

    /// Returns the number of recalls up to `position` that showed an id, and the time of the last one (milliseconds
    /// since the epoch).
    pub fn accesses_at(&self, id: SubjectId, position: Position) -> Result<(u64, Option<u64>)> {
        let Some(table) = self.open(ACCESSES)? else {
            return Ok((0, None));
        };
        let (first, last) = (versioned_key(id, Position(0)), versioned_key(id, position));
        match table
            .range(&first[..]..=&last[..])
            .map_err(bad)?
            .next_back()
        {
            Some(entry) => {
                let entry = entry.map_err(bad)?;
                let seen = Block::parse(entry.1.value())?.at(position);
                Ok((seen.count, Some(seen.last_ms).filter(|ms| *ms != 0)))
            }
            None => Ok((0, None)),
        }
    }

    /// Returns the positions of the newest `most` recalls up to `position` that showed an id, newest first.
    pub fn access_positions(
        &self,
        id: SubjectId,
        position: Position,
        most: usize,
    ) -> Result<Vec<Position>> {
        let mut positions = Vec::new();
        let Some(table) = self.open(ACCESSES)? else {
            return Ok(positions);
        };
        let (first, last) = (versioned_key(id, Position(0)), versioned_key(id, position));
        for entry in table.range(&first[..]..=&last[..]).map_err(bad)?.rev() {
            let missing = most - positions.len();
            if missing == 0 {
                break;
            }
            let entry = entry.map_err(bad)?;
            let block = Block::parse(entry.1.value())?;
            positions.extend(block.positions(position).take(missing));
        }
        Ok(positions)
    }

    /// Gives positions and times (milliseconds since the epoch) of the recalls up to `position` that showed an id to
    /// `take`. Returns `false` if an undo affects which of them count.
    pub fn access_times(
        &self,
        id: SubjectId,
        position: Position,
        take: &mut impl FnMut(Position, u64),
    ) -> Result<bool> {
        let Some(table) = self.open(ACCESSES)? else {
            return Ok(true);
        };
        let (first, last) = (versioned_key(id, Position(0)), versioned_key(id, position));
        for entry in table.range(&first[..]..=&last[..]).map_err(bad)? {
            let entry = entry.map_err(bad)?;
            if !Block::parse(entry.1.value())?.times(position, take) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the ids that recalls showed.
    pub(crate) fn shown_by_recalls(&self) -> Result<Vec<SubjectId>> {
        let Some(table) = self.open(ACCESSES)? else {
            return Ok(Vec::new());
        };
        let mut ids: Vec<SubjectId> = Vec::new();
        for entry in table.iter().map_err(bad)? {
            let entry = entry.map_err(bad)?;
            let id = subject("key", entry.0.value().get(..16).unwrap_or_default())?;
            if ids.last() != Some(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Gives every link that there ever was to `each`, once.
    pub(crate) fn each_link(&self, each: &mut dyn FnMut(Link)) -> Result<()> {
        let Some(table) = self.open(LINKS)? else {
            return Ok(());
        };
        for entry in table.iter().map_err(bad)? {
            let entry = entry.map_err(bad)?;
            let link: Link = decode("link", entry.1.value())?;
            // Each link stands under both of its ends.
            if entry.0.value().starts_with(&link.from.0) {
                each(link);
            }
        }
        Ok(())
    }

    /// Calls `each` with every memory whose id lies in the inclusive range and its version at `position`, in the order
    /// of ids, ascending or descending, until `each` returns `false`.
    pub fn each_at(
        &self,
        ids: (EntityId, EntityId),
        position: Position,
        descending: bool,
        each: &mut dyn FnMut(EntityId, Version) -> Result<bool>,
    ) -> Result<()> {
        let Some(table) = self.open(VERSIONS)? else {
            return Ok(());
        };
        let (first, last) = (
            versioned_key(ids.0, Position(0)),
            versioned_key(ids.1, Position(u64::MAX)),
        );
        let mut range = table.range(&first[..]..=&last[..]).map_err(bad)?;
        // Entries of one memory are adjacent, the oldest version first.
        let mut held: Option<(EntityId, Vec<u8>)> = None;
        loop {
            let entry = if descending {
                range.next_back()
            } else {
                range.next()
            };
            let Some(entry) = entry else { break };
            let (key, value) = entry.map_err(bad)?;
            let key: &[u8; 24] = key.value().try_into().map_err(|_| unreadable("key"))?;
            let entity = subject("key", &key[..16])?;
            let mut from = [0; 8];
            from.copy_from_slice(&key[16..]);
            if held.as_ref().is_some_and(|(held, _)| *held != entity)
                && let Some((entity, bytes)) = held.take()
                && !each(entity, unpack(&bytes)?)?
            {
                return Ok(());
            }
            if u64::from_be_bytes(from) > position.0 || (descending && held.is_some()) {
                continue;
            }
            held = Some((entity, value.value().to_vec()));
        }
        if let Some((entity, bytes)) = held {
            each(entity, unpack(&bytes)?)?;
        }
        Ok(())
    }

    /// Returns the memories that are or were in `topic`, or below it if `topic` ends with `/`; in the order of topics,
    /// then of ids.
    pub fn members(&self, topic: &str) -> Result<Vec<EntityId>> {
        let Some(table) = self.open(MEMBERS)? else {
            return Ok(Vec::new());
        };
        let mut entities = Vec::new();
        let mut collect = |first: &[u8], last: &[u8]| -> Result<()> {
            for entry in table.range(first..=last).map_err(bad)? {
                let entry = entry.map_err(bad)?;
                let key = entry.0.value();
                let id = key.len().checked_sub(16).and_then(|at| key.get(at..));
                entities.push(subject("member", id.unwrap_or_default())?);
            }
            Ok(())
        };
        let (zero, full) = (SubjectId([0; 16]), SubjectId([0xff; 16]));
        match topic.strip_suffix('/') {
            None => collect(&member_key(topic, zero), &member_key(topic, full))?,
            Some(above) => {
                collect(&member_key(above, zero), &member_key(above, full))?;
                let mut last = topic.as_bytes().to_vec();
                last.extend_from_slice(&[0xff; 17]);
                collect(topic.as_bytes(), &last)?;
            }
        }
        Ok(entities)
    }

    /// Returns the number of living memories of a topic, and its newest change (milliseconds since the epoch).
    pub fn topic(&self, topic: &str) -> Result<(u64, u64)> {
        let found = self.get(TOPICS, topic.as_bytes(), topic_of)?;
        Ok(found.unwrap_or_default())
    }

    /// Returns every topic that ever had a memory, by name.
    pub fn topics(&self) -> Result<Vec<TopicCount>> {
        let Some(table) = self.open(TOPICS)? else {
            return Ok(Vec::new());
        };
        let mut topics = Vec::new();
        for entry in table.iter().map_err(bad)? {
            let (key, value) = entry.map_err(bad)?;
            let (memories, changed_ms) = topic_of(value.value())?;
            let topic = std::str::from_utf8(key.value()).map_err(|_| unreadable("topic"))?;
            topics.push(TopicCount {
                topic: topic.to_owned(),
                memories,
                changed_ms,
            });
        }
        Ok(topics)
    }

    /// Returns the positions in a memory's keys.
    fn positions(&self, definition: Bytes, entity: EntityId) -> Result<Vec<Position>> {
        let Some(table) = self.open(definition)? else {
            return Ok(Vec::new());
        };
        let (first, last) = all_of(entity);
        let mut positions = Vec::new();
        for entry in table.range(&first[..]..=&last[..]).map_err(bad)? {
            let entry = entry.map_err(bad)?;
            let position = entry.0.value().get(16..).and_then(|at| at.try_into().ok());
            let position = position.ok_or_else(|| unreadable("key"))?;
            positions.push(Position(u64::from_be_bytes(position)));
        }
        Ok(positions)
    }

    /// Returns the ids in an inclusive range that stand for another one, with the memories.
    pub fn aliases_in(&self, ids: (SubjectId, SubjectId)) -> Result<Vec<(SubjectId, EntityId)>> {
        let Some(table) = self.open(ALIASES)? else {
            return Ok(Vec::new());
        };
        let mut aliases = Vec::new();
        for entry in table.range(&ids.0.0[..]..=&ids.1.0[..]).map_err(bad)? {
            let entry = entry.map_err(bad)?;
            let id = subject("alias", entry.0.value())?;
            aliases.push((id, subject("alias", entry.1.value())?));
        }
        Ok(aliases)
    }

    /// Gives each entry whose key has this start and `len` more bytes to `each`: the rest of the key, and the value.
    fn each_below(
        &self,
        definition: Bytes,
        start: &[u8],
        len: usize,
        each: Entries<'_>,
    ) -> Result<()> {
        let Some(table) = self.open(definition)? else {
            return Ok(());
        };
        let mut last = start.to_vec();
        last.resize(start.len() + len, 0xff);
        for entry in table.range(start..=&last[..]).map_err(bad)? {
            let entry = entry.map_err(bad)?;
            let key = entry.0.value();
            let rest = key.get(start.len()..).filter(|rest| rest.len() == len);
            each(rest.ok_or_else(|| unreadable("key"))?, entry.1.value())?;
        }
        Ok(())
    }

    /// Returns every tick of decay that there ever was, in the order of positions. The table is read once.
    pub fn ticks(&self) -> Result<&[Tick]> {
        if self.ticks.get().is_none() && self.tally.ticks > 0 {
            let mut ticks = Vec::new();
            self.each_below(TICKS, &[], 8, &mut |_, value| {
                ticks.push(decode("tick", value)?);
                Ok(())
            })?;
            return Ok(self.ticks.get_or_init(|| ticks));
        }
        Ok(self.ticks.get().map_or(&[], Vec::as_slice))
    }

    /// Returns the command that used an idempotency key.
    pub fn request(&self, key: RequestKey) -> Result<Option<Request>> {
        self.get(REQUESTS, &key.0, |bytes| decode("request", bytes))
    }
}

impl Base for Table {
    fn newest(&self, entity: EntityId) -> Result<Option<Version>> {
        self.version_at(entity, Position(u64::MAX))
    }

    fn named(&self, name: Name) -> Result<Option<EntityId>> {
        self.get(NAMES, &name.0, |bytes| subject("name", bytes))
    }

    fn alias(&self, id: SubjectId) -> Result<Option<EntityId>> {
        self.get(ALIASES, &id.0, |bytes| subject("alias", bytes))
    }

    fn moved(&self, name: Name) -> Result<Option<(Stamp, EntityId)>> {
        self.get(MOVED, &name.0, moved_of)
    }

    fn aliases(&self, entity: EntityId) -> Result<Vec<(SubjectId, Position)>> {
        let mut aliases = Vec::new();
        self.each_below(IDS, &entity.0, 16, &mut |key, value| {
            let since = value.try_into().map_err(|_| unreadable("alias"))?;
            aliases.push((subject("alias", key)?, Position(u64::from_be_bytes(since))));
            Ok(())
        })?;
        Ok(aliases)
    }

    fn imported(&self) -> Result<Vec<Learned>> {
        let mut imported = Vec::new();
        self.each_below(IMPORTED, &[], 8, &mut |_, value| {
            imported.push(decode("import", value)?);
            Ok(())
        })?;
        Ok(imported)
    }

    fn link_of(&self, event: EventId) -> Result<Option<Link>> {
        let place = self.get(LINK_PLACES, &event.0, |key| Ok(key.to_vec()))?;
        match place {
            Some(key) => self.get(LINKS, &key, |bytes| decode("link", bytes)),
            None => Ok(None),
        }
    }

    fn unlinks(&self, link: EventId) -> Result<Vec<InChain>> {
        let mut unlinks = Vec::new();
        self.each_below(UNLINKS, &link.0, 56, &mut |key, _| {
            let ((origin, rest), bad) = (key.split_at(16), || unreadable("unlink"));
            let (seq, event) = rest.split_at(8);
            unlinks.push(InChain {
                origin: OriginId(origin.try_into().map_err(|_| bad())?),
                seq: Seq(u64::from_be_bytes(seq.try_into().map_err(|_| bad())?)),
                event: EventId(event.try_into().map_err(|_| bad())?),
            });
            Ok(())
        })?;
        Ok(unlinks)
    }

    fn tick(&self, position: Position) -> Result<Option<Tick>> {
        self.get(TICKS, &position.0.to_be_bytes(), |bytes| {
            decode("tick", bytes)
        })
    }

    fn undos(&self) -> Result<Vec<Undo>> {
        let Some(table) = self.open(UNDOS)? else {
            return Ok(Vec::new());
        };
        let mut undos = Vec::new();
        for entry in table.iter().map_err(bad)? {
            undos.push(decode("undo", entry.map_err(bad)?.1.value())?);
        }
        Ok(undos)
    }

    fn touched(&self, id: SubjectId) -> Result<Vec<Position>> {
        let mut positions = self.positions(VERSIONS, id)?;
        positions.extend(self.positions(WAITING, id)?);
        Ok(positions)
    }

    fn accessed(&self, id: SubjectId) -> Result<Vec<Position>> {
        let mut positions = self.access_positions(id, Position(u64::MAX), usize::MAX)?;
        positions.reverse();
        Ok(positions)
    }

    fn links(&self, id: SubjectId) -> Result<Vec<Link>> {
        let Some(table) = self.open(LINKS)? else {
            return Ok(Vec::new());
        };
        let (first, last) = all_of(id);
        let mut links = Vec::new();
        for entry in table.range(&first[..]..=&last[..]).map_err(bad)? {
            links.push(decode("link", entry.map_err(bad)?.1.value())?);
        }
        Ok(links)
    }
}

/// Returns the first and the last possible key of a memory's versions.
fn all_of(entity: EntityId) -> ([u8; 24], [u8; 24]) {
    (
        versioned_key(entity, Position(0)),
        versioned_key(entity, Position(u64::MAX)),
    )
}
