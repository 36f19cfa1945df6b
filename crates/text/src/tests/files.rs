//! The files of an index: commits, damage, locks.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, META_LOCK, RamDirectory, WatchCallback,
    WatchHandle, WritePtr,
};

use super::*;
use crate::folder::Folder;
use crate::schema;

#[test]
fn commits_survive_reopening_and_torn_ones_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("text");
    let index = TextIndex::create(&dir)?;
    assert_eq!(index.checkpoint(), None);
    let mut writer = index.writer()?;
    writer.add_live(&doc(0, "apple"));
    writer.add_closed(&doc(1, "pear"));
    assert!(matches!(index.writer(), Err(TextError::Busy)));
    writer.commit("@2\nid")?;
    // The index has not seen the commit yet.
    assert!(matches!(index.writer(), Err(TextError::Busy)));
    assert_eq!(index.checkpoint(), None);

    let mut index = TextIndex::open(&dir)?;
    assert_eq!(index.checkpoint(), Some("@2\nid"));
    let files = index.validate()?;
    assert!(files >= 10, "{files}");
    let other = TextIndex::open(&dir)?;
    let mut writer = other.writer()?;
    writer.add_live(&doc(2, "apple pie"));
    drop(writer);
    let mut writer = other.writer()?;
    writer.add_live(&doc(3, "apple cake"));
    writer.commit("@3")?;
    index.reload()?;
    assert_eq!(index.checkpoint(), Some("@3"));
    assert_eq!(ordinals(&index, &Tail::new(), &ask("apple"))?, [0, 3]);
    assert!(TextIndex::create(&dir).is_err());

    // As if the live tier had been committed and the closed one not.
    let before = std::fs::read(dir.join("closed/meta.json"))?;
    let mut writer = index.writer()?;
    writer.close(&doc(0, "apple"));
    writer.commit("@4")?;
    let after = std::fs::read(dir.join("closed/meta.json"))?;
    std::fs::write(dir.join("closed/meta.json"), before)?;
    assert!(matches!(TextIndex::open(&dir), Err(TextError::Torn)));
    std::fs::write(dir.join("closed/meta.json"), after)?;
    assert_eq!(TextIndex::open(&dir)?.checkpoint(), Some("@4"));
    assert!(TextIndex::open(&folder.path().join("absent")).is_err());
    Ok(())
}

#[test]
fn damage_and_other_formats_are_found() -> Outcome {
    let folder = tempfile::tempdir()?;
    let dir = folder.path();
    let index = TextIndex::create(dir)?;
    let mut writer = index.writer()?;
    writer.add_live(&doc(0, "apple"));
    writer.commit("@1")?;
    let index = TextIndex::open(dir)?;
    let mut seen = 0;
    for entry in std::fs::read_dir(dir.join("live"))? {
        let path = entry?.path();
        let name = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default()
            .to_owned();
        if !["idx", "term", "store", "fast", "fieldnorm"].contains(&name.as_str()) {
            continue;
        }
        let good = std::fs::read(&path)?;
        let mut bad = good.clone();
        bad[good.len() / 3] ^= 0x10;
        std::fs::write(&path, &bad)?;
        assert!(matches!(index_damage(dir), Damage::Found), "{name}");
        std::fs::write(&path, &good[..good.len() / 2])?;
        assert!(matches!(index_damage(dir), Damage::Found), "{name} cut");
        std::fs::remove_file(&path)?;
        assert!(matches!(index_damage(dir), Damage::Found), "{name} gone");
        std::fs::write(&path, &good)?;
        seen += 1;
    }
    assert_eq!(seen, 5);
    assert!(matches!(index_damage(dir), Damage::None));
    drop(index);

    let meta = dir.join("live/meta.json");
    let text = std::fs::read_to_string(&meta)?;
    let payload = format!("icm-text {} ", schema::VERSION);
    assert!(text.contains(&payload));
    std::fs::write(&meta, text.replace(&payload, "icm-text 0 "))?;
    assert!(matches!(
        TextIndex::open(dir),
        Err(TextError::Format { .. })
    ));
    std::fs::write(&meta, text.replace("\"exact\"", "\"extra\""))?;
    assert!(matches!(
        TextIndex::open(dir),
        Err(TextError::Format { .. })
    ));
    std::fs::write(&meta, "{")?;
    assert!(matches!(TextIndex::open(dir), Err(TextError::Index { .. })));
    Ok(())
}

enum Damage {
    None,
    Found,
}

/// Opens and validates an index; the caller guards against a panic in a damaged index.
fn index_damage(dir: &Path) -> Damage {
    let outcome = std::panic::catch_unwind(|| TextIndex::open(dir)?.validate());
    match outcome {
        Ok(Ok(_)) => Damage::None,
        _ => Damage::Found,
    }
}

#[test]
fn reading_needs_no_lock_file() -> Outcome {
    let inner = RamDirectory::create();
    let denied = Folder::of(Denying(inner.clone()));
    assert!(denied.acquire_lock(&META_LOCK).is_ok());
    assert!(Denying(inner).acquire_lock(&META_LOCK).is_err());
    let writer_lock = &tantivy::directory::INDEX_WRITER_LOCK;
    assert!(denied.acquire_lock(writer_lock).is_err());
    Ok(())
}

/// A directory in which no file can be made.
#[derive(Debug, Clone)]
struct Denying(RamDirectory);

impl Directory for Denying {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }
    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }
    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }
    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(denied(), path.to_owned()))
    }
    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }
    fn atomic_write(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(denied())
    }
    fn sync_directory(&self) -> io::Result<()> {
        Err(denied())
    }
    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Err(LockError::wrap_io_error(denied()))
    }
    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

fn denied() -> io::Error {
    io::ErrorKind::ReadOnlyFilesystem.into()
}
