//! Undoes a copy in text mode.

use std::io;
use std::sync::Arc;

use super::salvage::{Source, SourceKind};
use crate::disk::{DiskFile, Stamp};
use crate::error::Result;

/// First bytes of a segment after a copy in text mode, which writes CR LF for every LF.
const TEXT_MODE_MAGIC: [u8; 10] = *b"\x89ICM\r\r\n\x1a\r\n";

/// Returns a segment as it was before a copy in text mode. The copy put a CR before every LF, so removing these gives
/// the original bytes. `None` if the file does not start like such a copy.
pub(super) fn before_text_mode(source: &Source) -> Result<Option<Source>> {
    if source.bytes(0, TEXT_MODE_MAGIC.len() as u64)? != TEXT_MODE_MAGIC {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(source.len as usize);
    for byte in source.bytes(0, source.len)? {
        if byte == b'\n' && bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        bytes.push(byte);
    }
    let len = bytes.len() as u64;
    Ok(Some(Source {
        kind: SourceKind::Stray,
        file: Arc::new(InMemory(bytes)),
        path: source.path.clone(),
        place: None,
        header: None,
        len,
        end: 0,
        bad: Vec::new(),
    }))
}

/// Bytes that can be read like a file.
struct InMemory(Vec<u8>);

impl DiskFile for InMemory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let there = self.0.get(start..).unwrap_or_default();
        let len = there.len().min(buffer.len());
        buffer[..len].copy_from_slice(&there[..len]);
        Ok(len)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn truncate(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
