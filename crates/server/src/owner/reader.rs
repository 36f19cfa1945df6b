//! Reading from the other end once there is something.
//!
//! A thread that waits in a read of a Unix socket is woken for nothing whenever the other end has read what it was sent:
//! Linux tells of the new room by the same queue. One that polls is not.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::door::Stream;

/// A stream that is read.
#[derive(Debug)]
pub(super) struct Reader {
    stream: Arc<Stream>,
    patience: Option<Duration>,
}

impl Reader {
    /// Waits for ever.
    pub(super) fn new(stream: Arc<Stream>) -> Reader {
        let patience = None;
        Reader { stream, patience }
    }

    /// From here on a read fails with `WouldBlock` where nothing has come for so long.
    pub(super) fn be_patient_for(&mut self, patience: Duration) {
        self.patience = Some(patience);
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wait = self.patience.map(Timespec::try_from);
        let wait = wait.transpose().map_err(|_| Errno::INVAL)?;
        let mut polled = [PollFd::new(&*self.stream, PollFlags::IN)];
        match poll(&mut polled, wait.as_ref())? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => (&*self.stream).read(buffer),
        }
    }
}
