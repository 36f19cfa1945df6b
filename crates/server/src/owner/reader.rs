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
    /// The other end was closed when it was last read.
    ended: bool,
}

impl Reader {
    /// Waits for ever.
    pub(super) fn new(stream: Arc<Stream>) -> Reader {
        let patience = None;
        Reader {
            stream,
            patience,
            ended: false,
        }
    }

    /// Whether whoever sent what was read last had hung up by then. Not known where a poll does not tell.
    pub(super) fn saw_the_end(&self) -> bool {
        self.ended
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
        if poll(&mut polled, wait.as_ref())? == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.ended = polled[0].revents().contains(PollFlags::HUP);
        (&*self.stream).read(buffer)
    }
}
