//! The table: row versions in redb. It keeps every version, so a row as of a position is its last version at or before
//! that position.
//!
//! Keys are big-endian, so that their order is the order of positions.

mod accesses;
mod packed;
mod read;
mod write;

use redb::TableDefinition;

use crate::error::ViewError;

pub use read::{Table, TopicCount};
pub(crate) use write::{flush, flush_keeping_last, go_back};

type Bytes = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// (memory, position) → version.
const VERSIONS: Bytes = TableDefinition::new("versions");
/// (id, position of the first access) → a block of accesses.
const ACCESSES: Bytes = TableDefinition::new("accesses");
/// name → the memory stored under it.
const NAMES: Bytes = TableDefinition::new("names");
/// name → (earliest event that moved a memory there, memory).
const MOVED: Bytes = TableDefinition::new("moved");
/// id → memory, if they differ.
const ALIASES: Bytes = TableDefinition::new("aliases");
/// (memory, other id of it) → position since which the id is known.
const IDS: Bytes = TableDefinition::new("ids");
/// topic, 0, memory → nothing.
const MEMBERS: Bytes = TableDefinition::new("members");
/// topic → (living memories, newest change).
const TOPICS: Bytes = TableDefinition::new("topics");
/// request key → the command that used it.
const REQUESTS: Bytes = TableDefinition::new("requests");
/// (id, position of an event about it that made no version) → nothing.
const WAITING: Bytes = TableDefinition::new("waiting");
/// (id, position of the event that added it) → a link from or to the id.
const LINKS: Bytes = TableDefinition::new("links");
/// event that added a link → the first of its keys.
const LINK_PLACES: Bytes = TableDefinition::new("link places");
/// (event that adds a link, chain and seq of an event that removes it and came before) → nothing.
const UNLINKS: Bytes = TableDefinition::new("unlinks");
/// position → a tick of decay.
const TICKS: Bytes = TableDefinition::new("ticks");
/// position of the first event → an imported range.
const IMPORTED: Bytes = TableDefinition::new("imported");
/// position → an undo.
const UNDOS: Bytes = TableDefinition::new("undos");
/// `tally`, `checkpoint`.
const META: Bytes = TableDefinition::new("meta");

const META_TALLY: &[u8] = b"tally";
const META_CHECKPOINT: &[u8] = b"checkpoint";

fn versioned_key(entity: icm_log::SubjectId, position: icm_log::Position) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(&entity.0);
    key[16..].copy_from_slice(&position.0.to_be_bytes());
    key
}

fn member_key(topic: &str, entity: icm_log::SubjectId) -> Vec<u8> {
    let mut key = Vec::with_capacity(topic.len() + 17);
    key.extend_from_slice(topic.as_bytes());
    key.push(0);
    key.extend_from_slice(&entity.0);
    key
}

fn unreadable(what: &'static str) -> ViewError {
    ViewError::Unusable {
        view: "table",
        why: format!("an unreadable {what}"),
    }
}
