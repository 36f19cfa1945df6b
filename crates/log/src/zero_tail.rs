//! Zeros between the last record of a segment and the end of the file.
//!
//! Earlier versions of icm wrote zeros ahead of the last record, so that an `fdatasync` did not have to write a new file
//! length. This version writes none. It reads segments that end in zeros, and it cuts the zeros before it appends. An
//! earlier version may run beside this one and write zeros again.

use std::io;

use crate::disk::DiskFile;

/// The first 8 bytes of a record are the check of its head and the head's length. The length is never 0.
const RECORD_START_LEN: usize = 8;

/// Returns `true` if the file continues after `end` and no record starts there. An earlier version appends into its
/// zeros without changing the file's length, and two changes within one tick of the clock have the same time. Only
/// these bytes then show the append.
pub(crate) fn starts_at(file: &dyn DiskFile, end: u64) -> bool {
    let mut bytes = [0; RECORD_START_LEN];
    let read = file.read_at(&mut bytes, end);
    read.is_ok_and(|read| read > 0 && bytes[..read].iter().all(|byte| *byte == 0))
}

/// Cuts a segment to `end`, the end of its last record, if the file is longer. The next sync makes the cut durable. A
/// crash before it leaves the zeros or the cut segment, either of them perhaps with a torn append.
///
/// # Errors
/// If the length cannot be read, or the file cannot be cut.
pub(crate) fn cut(file: &dyn DiskFile, end: u64) -> io::Result<()> {
    match file.len()? > end {
        true => file.truncate(end),
        false => Ok(()),
    }
}
