//! Faults of the simulated disk: the operations that fail, and the trace of all operations.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after the call")]
pub enum OpKind {
    ReadDir,
    Open,
    Stat,
    Len,
    Read,
    Lock,
    Create,
    CreateDir,
    Rename,
    Remove,
    SyncDir,
    Write,
    Truncate,
    Sync,
}

impl OpKind {
    /// Returns `true` if the operation can change the disk that a crash leaves.
    pub fn changes(self) -> bool {
        use OpKind::*;
        match self {
            ReadDir | Open | Stat | Len | Read | Lock => false,
            Create | CreateDir | Rename | Remove | SyncDir | Write | Truncate | Sync => true,
        }
    }
}

/// An operation in the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op {
    /// The kind of the operation.
    pub kind: OpKind,
    /// The file or folder.
    pub path: PathBuf,
    /// The offset in the file; for a truncation the new length.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
    /// `true` if it was made to fail.
    pub failed: bool,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.kind, self.path.display())?;
        if self.len != 0 || self.offset != 0 {
            write!(f, " {}+{}", self.offset, self.len)?;
        }
        if self.failed {
            write!(f, "  FAILS")
        } else {
            Ok(())
        }
    }
}

/// The error number of an input/output error.
const EIO: i32 = 5;

#[derive(Default)]
pub(super) struct Faults {
    pub(super) count: u64,
    pub(super) trace: Vec<Op>,
    pub(super) fail_at: Option<u64>,
    pub(super) fail_from: Option<u64>,
    pub(super) power_off_at: Option<u64>,
    pub(super) capacity: Option<u64>,
    pub(super) seed: u64,
}

impl Faults {
    /// Counts and traces an operation. Returns the error of one that fails without any effect.
    pub(super) fn begin(
        &mut self,
        kind: OpKind,
        path: &Path,
        offset: u64,
        len: u64,
    ) -> io::Result<()> {
        match self.try_begin(kind, path, offset, len) {
            Verdict::Goes => Ok(()),
            Verdict::Fails | Verdict::Off => Err(io::Error::from_raw_os_error(EIO)),
        }
    }

    /// Counts and traces an operation whose failure leaves something behind.
    pub(super) fn try_begin(
        &mut self,
        kind: OpKind,
        path: &Path,
        offset: u64,
        len: u64,
    ) -> Verdict {
        self.count += 1;
        let reached = |from: Option<u64>| from.is_some_and(|n| self.count >= n);
        let verdict = if reached(self.power_off_at) {
            Verdict::Off
        } else if self.fail_at == Some(self.count) || (kind.changes() && reached(self.fail_from)) {
            Verdict::Fails
        } else {
            Verdict::Goes
        };
        let failed = verdict != Verdict::Goes;
        self.trace.push(Op {
            kind,
            path: path.to_owned(),
            offset,
            len,
            failed,
        });
        verdict
    }
}

/// The verdict on an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Goes,
    Fails,
    Off,
}

impl Verdict {
    pub(super) fn eio() -> io::Error {
        io::Error::from_raw_os_error(EIO)
    }
}
