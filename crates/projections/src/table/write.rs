//! Writes an overlay to the table.

use icm_log::Cursor;
use redb::{Database, ReadableTable, WriteTransaction};

use super::accesses;
use super::packed::pack;
use super::{
    ACCESSES, ALIASES, IDS, IMPORTED, LINK_PLACES, LINKS, MEMBERS, META, META_CHECKPOINT,
    META_TALLY, MOVED, NAMES, REQUESTS, TICKS, TOPICS, Table, UNDOS, UNLINKS, VERSIONS, WAITING,
    member_key, versioned_key,
};
use crate::error::{Result, ViewError};
use crate::fold::{Folder, Overlay};

fn bad(error: impl std::error::Error) -> ViewError {
    ViewError::Unusable {
        view: "table",
        why: error.to_string(),
    }
}

fn encode<T: serde::Serialize>(value: &T) -> Vec<u8> {
    rmp_serde::to_vec(value).expect("rows are plain values")
}

/// Writes all new rows and the new checkpoint in one transaction. The transaction is synced, although the log is the
/// truth: redb reuses pages only after a synced transaction.
pub(crate) fn flush(db: &Database, folder: &Folder, checkpoint: &Cursor) -> Result<()> {
    let transaction = db.begin_write().map_err(bad)?;
    fill(&transaction, folder, checkpoint)?;
    transaction.commit().map_err(bad)
}

/// As [`flush`], but the state before stays within reach of [`go_back`] until the next flush.
pub(crate) fn flush_keeping_last(
    db: &Database,
    folder: &Folder,
    checkpoint: &Cursor,
) -> Result<()> {
    let transaction = db.begin_write().map_err(bad)?;
    let older: Vec<u64> = transaction
        .list_persistent_savepoints()
        .map_err(bad)?
        .collect();
    transaction.persistent_savepoint().map_err(bad)?;
    for savepoint in older {
        transaction
            .delete_persistent_savepoint(savepoint)
            .map_err(bad)?;
    }
    fill(&transaction, folder, checkpoint)?;
    transaction.commit().map_err(bad)
}

/// Takes the table back to the checkpoint before its last flush, unless it is at this checkpoint already.
pub(crate) fn go_back(db: &Database, checkpoint: &Cursor) -> Result<()> {
    if Table::of(db)?.checkpoint == *checkpoint {
        return Ok(());
    }
    let mut transaction = db.begin_write().map_err(bad)?;
    let newest = transaction.list_persistent_savepoints().map_err(bad)?.max();
    if let Some(newest) = newest {
        let before = transaction.get_persistent_savepoint(newest).map_err(bad)?;
        transaction.restore_savepoint(&before).map_err(bad)?;
    }
    transaction.commit().map_err(bad)?;
    match Table::of(db)?.checkpoint == *checkpoint {
        true => Ok(()),
        false => Err(ViewError::Unusable {
            view: "table",
            why: "it was at another place than the text".to_owned(),
        }),
    }
}

fn fill(transaction: &WriteTransaction, folder: &Folder, checkpoint: &Cursor) -> Result<()> {
    let overlay = &folder.kept;
    fill_versions(transaction, overlay)?;
    fill_names(transaction, overlay)?;
    fill_topics(transaction, overlay)?;
    fill_waiting(transaction, overlay)?;
    fill_links(transaction, overlay)?;
    fill_changes(transaction, overlay)?;
    let mut table = transaction.open_table(META).map_err(bad)?;
    table
        .insert(META_TALLY, &encode(&folder.tally)[..])
        .map_err(bad)?;
    table
        .insert(META_CHECKPOINT, &encode(checkpoint)[..])
        .map_err(bad)?;
    Ok(())
}

/// Writes versions, and the recalls that showed them.
fn fill_versions(transaction: &WriteTransaction, overlay: &Overlay) -> Result<()> {
    {
        let mut table = transaction.open_table(VERSIONS).map_err(bad)?;
        let mut entities: Vec<_> = overlay.versions.iter().collect();
        entities.sort_unstable_by_key(|(entity, _)| **entity);
        let mut buffer = Vec::new();
        for (entity, versions) in entities {
            for version in versions {
                let key = versioned_key(*entity, version.from);
                let bytes = pack(version, &mut buffer);
                table.insert(&key[..], &bytes[..]).map_err(bad)?;
            }
        }
    }
    {
        let mut table = transaction.open_table(ACCESSES).map_err(bad)?;
        let mut entities: Vec<_> = overlay.accesses.iter().collect();
        entities.sort_unstable_by_key(|(entity, _)| **entity);
        for (entity, accesses) in entities {
            let last = versioned_key(*entity, icm_log::Position(u64::MAX));
            let first = versioned_key(*entity, icm_log::Position(0));
            let mut seen = match table
                .range(&first[..]..=&last[..])
                .map_err(bad)?
                .next_back()
            {
                Some(entry) => {
                    let entry = entry.map_err(bad)?;
                    accesses::Block::parse(entry.1.value())?.end()
                }
                None => accesses::Seen::default(),
            };
            for block in accesses::blocks(accesses) {
                let key = versioned_key(*entity, block[0].position);
                table
                    .insert(&key[..], &accesses::encode(seen, block)[..])
                    .map_err(bad)?;
                seen = seen.after(block);
            }
        }
    }
    Ok(())
}

/// Writes the names and ids that lead to memories.
fn fill_names(transaction: &WriteTransaction, overlay: &Overlay) -> Result<()> {
    {
        let mut table = transaction.open_table(NAMES).map_err(bad)?;
        let mut names: Vec<_> = overlay.names.iter().collect();
        names.sort_unstable();
        for (name, entity) in names {
            table.insert(&name.0[..], &entity.0[..]).map_err(bad)?;
        }
    }
    {
        let mut table = transaction.open_table(MOVED).map_err(bad)?;
        for (name, moved) in &overlay.moved {
            let known = match table.get(&name.0[..]).map_err(bad)? {
                Some(value) => Some(super::read::moved_of(value.value())?),
                None => None,
            };
            let earliest = known.map_or(*moved, |known| known.min(*moved));
            table
                .insert(&name.0[..], &encode(&earliest)[..])
                .map_err(bad)?;
        }
    }
    {
        let mut table = transaction.open_table(ALIASES).map_err(bad)?;
        for (id, entity) in &overlay.aliases {
            table.insert(&id.0[..], &entity.0[..]).map_err(bad)?;
        }
    }
    {
        let mut table = transaction.open_table(IDS).map_err(bad)?;
        for (entity, ids) in &overlay.ids {
            for (id, since) in ids {
                let key = [entity.0, id.0].concat();
                table
                    .insert(&key[..], &since.0.to_be_bytes()[..])
                    .map_err(bad)?;
            }
        }
    }
    Ok(())
}

/// Writes topics and the memories in them.
fn fill_topics(transaction: &WriteTransaction, overlay: &Overlay) -> Result<()> {
    {
        let mut table = transaction.open_table(MEMBERS).map_err(bad)?;
        let mut members: Vec<_> = overlay
            .members
            .iter()
            .map(|(topic, entity)| member_key(topic, *entity))
            .collect();
        members.sort_unstable();
        for member in members {
            table.insert(&member[..], &[][..]).map_err(bad)?;
        }
    }
    {
        let mut table = transaction.open_table(TOPICS).map_err(bad)?;
        for (topic, change) in &overlay.topics {
            let (memories, changed_ms) = match table.get(topic.as_bytes()).map_err(bad)? {
                Some(value) => super::read::topic_of(value.value())?,
                None => (0, 0),
            };
            let mut value = [0; 16];
            let memories = memories.saturating_add_signed(change.memories);
            value[..8].copy_from_slice(&memories.to_be_bytes());
            value[8..].copy_from_slice(&changed_ms.max(change.changed_ms).to_be_bytes());
            table.insert(topic.as_bytes(), &value[..]).map_err(bad)?;
        }
    }
    Ok(())
}

/// Writes request keys, and events that wait for a memory.
fn fill_waiting(transaction: &WriteTransaction, overlay: &Overlay) -> Result<()> {
    {
        let mut table = transaction.open_table(REQUESTS).map_err(bad)?;
        for (key, request) in &overlay.requests {
            if table.get(&key.0[..]).map_err(bad)?.is_none() {
                table
                    .insert(&key.0[..], &encode(request)[..])
                    .map_err(bad)?;
            }
        }
    }
    {
        let mut table = transaction.open_table(WAITING).map_err(bad)?;
        for (entity, positions) in &overlay.waiting {
            for position in positions {
                let key = versioned_key(*entity, *position);
                table.insert(&key[..], &[][..]).map_err(bad)?;
            }
        }
    }
    Ok(())
}

/// Writes links.
fn fill_links(transaction: &WriteTransaction, overlay: &Overlay) -> Result<()> {
    {
        let mut table = transaction.open_table(LINKS).map_err(bad)?;
        let mut entities: Vec<_> = overlay.links.iter().collect();
        entities.sort_unstable_by_key(|(entity, _)| **entity);
        for (entity, links) in entities {
            for (position, link) in links {
                let key = versioned_key(*entity, *position);
                table.insert(&key[..], &encode(link)[..]).map_err(bad)?;
            }
        }
    }
    {
        let mut table = transaction.open_table(LINK_PLACES).map_err(bad)?;
        for (event, (id, position)) in &overlay.link_places {
            let key = versioned_key(*id, *position);
            table.insert(&event.0[..], &key[..]).map_err(bad)?;
        }
    }
    {
        let mut table = transaction.open_table(UNLINKS).map_err(bad)?;
        for (link, unlinks) in &overlay.unlinks {
            for by in unlinks {
                let seq = by.seq.0.to_be_bytes();
                let key = [&link.0[..], &by.origin.0, &seq, &by.event.0].concat();
                table.insert(&key[..], &[][..]).map_err(bad)?;
            }
        }
    }
    Ok(())
}

/// Writes imports, ticks and undos.
fn fill_changes(transaction: &WriteTransaction, overlay: &Overlay) -> Result<()> {
    {
        let mut table = transaction.open_table(IMPORTED).map_err(bad)?;
        for learned in &overlay.imported {
            let key = learned.first.0.to_be_bytes();
            table.insert(&key[..], &encode(learned)[..]).map_err(bad)?;
        }
    }
    if !overlay.ticks.is_empty() {
        let mut table = transaction.open_table(TICKS).map_err(bad)?;
        for (position, tick) in &overlay.ticks {
            let key = position.0.to_be_bytes();
            table.insert(&key[..], &encode(tick)[..]).map_err(bad)?;
        }
    }
    {
        let mut table = transaction.open_table(UNDOS).map_err(bad)?;
        for (position, undo) in &overlay.undos {
            let key = position.0.to_be_bytes();
            table.insert(&key[..], &encode(undo)[..]).map_err(bad)?;
        }
    }
    Ok(())
}
