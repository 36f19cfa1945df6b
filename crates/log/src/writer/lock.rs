//! The right to append: the lock among processes, and the turn among the threads of one process.

use std::io;
use std::time::{Duration, Instant};

use icm_wait::Deadline;

use super::Writer;
use crate::disk::DiskLock;
use crate::env::Env;
use crate::error::{LogError, Result, at};
use crate::layout::LOCK_FILE;
use crate::log::Log;

/// Time for which the threads of a process pass the lock on among themselves, 50 ms. Raised, other processes wait
/// longer for their turn; lowered, more stores need a lock and a sync of their own.
const HOLD_MAX: Duration = Duration::from_millis(50);

impl Log {
    /// Takes the lock, waiting up to `wait` for other processes. Then reads their appends and sets a torn tail aside.
    /// If the folder is absent or empty, makes it a store.
    ///
    /// # Errors
    /// `Busy`; `Damaged` or `NewerFormat` if writes are refused; `NotWritable`, `NoSpace`, `Io`.
    pub fn begin<'a>(&'a self, env: &'a dyn Env, wait: Duration) -> Result<Writer<'a>> {
        let writer = self.acquire(env, wait)?;
        let mut state = self.lock_state();
        let prepared = writer.prepare(&mut state);
        // Released before the writer is dropped: its drop locks the state.
        drop(state);
        prepared.map(|()| writer)
    }

    /// Takes the lock and the turn, in any state of the log.
    pub(crate) fn acquire<'a>(&'a self, env: &'a dyn Env, wait: Duration) -> Result<Writer<'a>> {
        if self.known_by.is_some() {
            return Err(LogError::NotWritable {
                path: self.dir.clone(),
                why: "it was opened as another machine knew it".to_owned(),
            });
        }
        let deadline = Deadline::after(wait);
        self.check_that_it_is_there(&self.lock_state())?;
        let taken = icm_wait::until(deadline, || self.take_lock(deadline).transpose());
        match taken.transpose()? {
            Some(()) => Ok(Writer {
                log: self,
                env,
                has_turn: true,
                appended: None,
            }),
            None => Err(LogError::Busy {
                waited_ms: wait.as_millis() as u64,
            }),
        }
    }

    /// Takes the lock or, if a thread of this process holds it, a share of the lock and the turn. Waits for that
    /// thread. Returns `None` while another process holds the lock.
    fn take_lock(&self, deadline: Deadline) -> Result<Option<()>> {
        let mut state = self.lock_state();
        loop {
            let shared = state.hold.lock.is_some();
            let too_long = state
                .hold
                .since
                .is_some_and(|since| since.elapsed() > HOLD_MAX);
            if shared && !too_long && !state.hold.turn && state.hold.poisoned.is_none() {
                break;
            }
            if shared {
                if deadline.is_over() {
                    return Ok(None);
                }
                state = self.wait(state, deadline.left());
                continue;
            }
            match self.try_lock()? {
                None => return Ok(None),
                lock => state.hold.lock = lock,
            }
            state.hold.since = Some(Instant::now());
            break;
        }
        state.hold.holders += 1;
        state.hold.turn = true;
        Ok(Some(()))
    }

    fn try_lock(&self) -> Result<Option<Box<dyn DiskLock>>> {
        let path = self.dir.join(LOCK_FILE);
        match self.disk.try_lock(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.disk
                    .create_dir_all(&self.dir)
                    .map_err(at("creating", &self.dir))?;
                self.disk.try_lock(&path).map_err(at("locking", &path))
            }
            other => other.map_err(at("locking", &path)),
        }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let log = self.log;
        let mut state = log.lock_state();
        if self.has_turn {
            state.hold.turn = false;
        }
        state.hold.holders -= 1;
        if state.hold.holders == 0 {
            log.note_acked(&mut state);
            // Nobody else can have written in between.
            let whole = !state.hold.failed && state.hold.poisoned.is_none();
            if state.hold.appended && whole && state.trouble.is_none() && state.refusal.is_none() {
                let before = state.hold.stamps_before.take();
                state.stamps = log.stamps_after_writing(&state, before);
            }
            state.hold.stamps_before = None;
            (state.hold.appended, state.hold.failed) = (false, false);
            if state.hold.poisoned.is_some() {
                state.hold.epoch += 1;
            }
            state.hold.lock = None;
            state.hold.since = None;
        }
        log.tell(&state);
    }
}
