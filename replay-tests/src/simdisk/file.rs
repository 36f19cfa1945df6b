//! An open file of the simulated disk.

use std::io;
use std::path::PathBuf;

use icm_log::disk::{DiskFile, Stamp};

use super::SimDisk;
use super::fault::{OpKind, Verdict};
use super::tree::Ino;
use crate::rng::Rng;

/// The error number of a handle that does not allow the operation.
const EBADF: i32 = 9;

pub(super) struct SimFile {
    pub(super) disk: SimDisk,
    pub(super) ino: Ino,
    pub(super) path: PathBuf,
    pub(super) writable: bool,
}

impl SimFile {
    fn must_be_writable(&self) -> io::Result<()> {
        if self.writable {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(EBADF))
        }
    }
}

impl DiskFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        let mut state = self.disk.state();
        state.faults.begin(OpKind::Len, &self.path, 0, 0)?;
        Ok(state.tree.file(self.ino)?.current.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.state();
        state
            .faults
            .begin(OpKind::Read, &self.path, offset, buffer.len() as u64)?;
        let current = &state.tree.file(self.ino)?.current;
        let start = usize::try_from(offset).map_or(current.len(), |o| o.min(current.len()));
        let read = buffer.len().min(current.len() - start);
        buffer[..read].copy_from_slice(&current[start..start + read]);
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.must_be_writable()?;
        let mut state = self.disk.state();
        let verdict = state
            .faults
            .try_begin(OpKind::Write, &self.path, offset, bytes.len() as u64);
        let seed = state.faults.seed ^ state.faults.count;
        let capacity = state.faults.capacity;
        match verdict {
            Verdict::Off => Err(Verdict::eio()),
            Verdict::Fails => {
                let part = Rng::new(seed).below(bytes.len() as u64) as usize;
                state.tree.file_mut(self.ino)?.write(&bytes[..part], offset);
                Err(io::Error::from(io::ErrorKind::StorageFull))
            }
            Verdict::Goes => {
                let used = if capacity.is_some() {
                    state.tree.used()
                } else {
                    0
                };
                let file = state.tree.file_mut(self.ino)?;
                let len = file.current.len() as u64;
                let room = capacity.map_or(u64::MAX, |c| c.saturating_sub(used) + len);
                let fits = room.saturating_sub(offset).min(bytes.len() as u64) as usize;
                file.write(&bytes[..fits], offset);
                if fits == bytes.len() {
                    Ok(())
                } else {
                    Err(io::Error::from(io::ErrorKind::StorageFull))
                }
            }
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        if !self.writable {
            // The error of `ftruncate` for a handle opened for reading.
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let mut state = self.disk.state();
        state.faults.begin(OpKind::Truncate, &self.path, len, 0)?;
        state.tree.file_mut(self.ino)?.truncate(len);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        let verdict = state.faults.try_begin(OpKind::Sync, &self.path, 0, 0);
        let seed = state.faults.seed ^ state.faults.count;
        match verdict {
            Verdict::Off => Err(Verdict::eio()),
            Verdict::Fails => {
                state
                    .tree
                    .file_mut(self.ino)?
                    .sync_fails(&mut Rng::new(seed));
                Err(Verdict::eio())
            }
            Verdict::Goes => {
                state.tree.file_mut(self.ino)?.sync();
                Ok(())
            }
        }
    }

    fn stamp(&self) -> io::Result<Stamp> {
        let mut state = self.disk.state();
        state.faults.begin(OpKind::Stat, &self.path, 0, 0)?;
        state
            .tree
            .stamp_of(self.ino)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}
