//! The queue of writes in the owner. A write that arrives while no thread decides is decided at once, by the thread of
//! its connection. Writes that arrive meanwhile wait; then the thread of the first decides all of them under one lock
//! of the store. They share a sync, during which the next writes are decided.

use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, panic, thread};

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, Receipt};
use icm_service::peer::Attempt;
use icm_service::{OwnQueue, Prepared, Service, Write};

use super::mutex::locked;

/// Time without a write after which written events are made ready for a recall, 5 ms: longer than most syncs, for which
/// all writers may be waiting. Raised, the first recall after a burst does more of that work; lowered, a burst is
/// slowed down by it.
const IDLE: Duration = Duration::from_millis(5);

/// The queue, and the thread that folds decided writes; both end on drop.
pub(super) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    service: Arc<Service>,
    waiting: Mutex<Waiting>,
    /// Notified when there is something to fold, or the queue is closed.
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    writes: Vec<Waiter>,
    /// `true` while a thread decides writes, or folds them.
    is_taken: bool,
    /// `true` if decided writes are not folded yet.
    to_fold: bool,
    /// `true` if folded writes are not ready for a recall yet.
    to_ready: bool,
    /// Time of the newest write.
    newest: Option<Instant>,
    is_closed: bool,
}

/// A write, and the thread that waits for its receipt.
struct Waiter {
    write: (Caller, Prepared),
    told: SyncSender<Told>,
}

/// A message to a waiting thread.
enum Told {
    /// The thread has the turn, and decides all writes that wait; its own is the first.
    Decide,
    /// Another thread has decided the write.
    Done(Box<Done>),
}

/// The receipt, or the error.
type Done = Result<Receipt>;

/// The right to decide. On drop, the first waiting thread gets it.
struct Turn<'a> {
    shared: &'a Shared,
}

/// The next work of the folding thread.
enum Next {
    /// Fold decided writes while they are synced.
    Fold,
    /// Do all the work that the next recall would need.
    GetReady,
}

impl Queue {
    pub(super) fn new(service: Arc<Service>) -> io::Result<Queue> {
        let shared = Arc::new(Shared {
            service,
            waiting: Mutex::default(),
            news: Condvar::new(),
        });
        // From here on, dropping the queue ends the thread.
        let queue = Queue { shared };
        let shared = Arc::clone(&queue.shared);
        thread::Builder::new()
            .name("icm-folds".into())
            .spawn(move || shared.fold_on())?;
        Ok(queue)
    }

    /// Does a write, and returns once it is durable.
    pub(super) fn write(
        &self,
        caller: Caller,
        write: Write,
        attempt: Option<Attempt>,
    ) -> Result<Receipt> {
        self.shared.write(caller, write, attempt)
    }

    /// Returns the entrance to the queue for the writes of this process. They wait together with those of others, so
    /// that neither keeps waiting for the other's lock. After the queue is dropped, the entrance returns `None`.
    pub(super) fn own_queue(&self) -> OwnQueue {
        let shared = Arc::downgrade(&self.shared);
        Arc::new(move |caller, write, attempt| {
            match shared.upgrade()?.write(caller, write, Some(attempt)) {
                // It is unknown whether the write was decided. The caller does it without the queue, and the log
                // recognises a command that was done.
                Err(ServiceError::Internal(_)) => None,
                done => Some(done),
            }
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.waiting().is_closed = true;
        self.shared.news.notify_all();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut waiting = self.shared.waiting();
        // A thread that panicked no longer waits.
        while let Some(first) = waiting.writes.first() {
            if first.told.send(Told::Decide).is_ok() {
                return;
            }
            waiting.writes.remove(0);
        }
        waiting.is_taken = false;
        let has_work = waiting.to_fold;
        drop(waiting);
        if has_work {
            self.shared.news.notify_one();
        }
    }
}

impl Shared {
    fn write(&self, caller: Caller, write: Write, attempt: Option<Attempt>) -> Done {
        let prepared = self.service.prepare_write(&caller, write)?;
        let prepared = prepared.attempted(attempt);
        let write = (caller, prepared);
        let mut waiting = self.waiting();
        waiting.newest = Some(Instant::now());
        if !waiting.is_taken {
            waiting.is_taken = true;
            drop(waiting);
            let turn = Turn { shared: self };
            return self.decide(&[write], turn)?.pop().ok_or_else(failed)?;
        }
        // There are two messages at most, the turn and the receipt, so sending never blocks.
        let (told, tells) = sync_channel(2);
        waiting.writes.push(Waiter { write, told });
        drop(waiting);
        match tells.recv() {
            Ok(Told::Done(done)) => *done,
            Ok(Told::Decide) => self.decide_waiting(),
            Err(_) => Err(failed()),
        }
    }

    /// Decides all waiting writes; returns the receipt of the first, which is this thread's.
    fn decide_waiting(&self) -> Done {
        let turn = Turn { shared: self };
        let waiters = take(&mut self.waiting().writes);
        let (writes, told): (Vec<_>, Vec<_>) = waiters
            .into_iter()
            .map(|waiter| (waiter.write, waiter.told))
            .unzip();
        let mut told = told.into_iter();
        let _own = told.next();
        match self.decide(&writes, turn) {
            Ok(receipts) => {
                let mut receipts = receipts.into_iter();
                let own = receipts.next();
                for (told, receipt) in told.zip(receipts) {
                    let _ = told.send(Told::Done(Box::new(receipt)));
                }
                own.ok_or_else(failed)?
            }
            Err(error) => {
                tell_all(told, &error);
                Err(error)
            }
        }
    }

    /// Decides these writes, passes the turn on, and waits until they are durable. A panic becomes an error, because
    /// the thread has others to answer.
    fn decide(&self, writes: &[(Caller, Prepared)], turn: Turn<'_>) -> Result<Vec<Done>> {
        let decide = || {
            let decided = self.service.decide_all(writes);
            if let Err(error) = &decided
                && unavailable(error).is_some()
            {
                // Writes that arrived meanwhile wait for the lock by themselves, each for the time it has left.
                let behind = take(&mut self.waiting().writes);
                tell_all(behind.into_iter().map(|it| it.told), &failed());
            }
            self.waiting().to_fold = true;
            drop(turn);
            decided.and_then(|receipts| receipts.commit())
        };
        panic::catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|_| Err(failed()))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        locked(&self.waiting)
    }

    /// Folds decided writes until the queue is closed.
    fn fold_on(&self) {
        while let Some((next, turn)) = self.next() {
            let go_on = || self.waiting().writes.is_empty();
            let all = matches!(next, Next::GetReady);
            let fold = || self.service.fold_ahead(all, &go_on);
            if panic::catch_unwind(AssertUnwindSafe(fold)).is_err() {
                tracing::error!("folding what was written failed");
            }
            drop(turn);
        }
    }

    /// Waits until there is something to fold and no thread decides; `None` once the queue is closed.
    fn next(&self) -> Option<(Next, Turn<'_>)> {
        let mut waiting = self.waiting();
        while !waiting.is_closed {
            let since = waiting.newest.map_or(IDLE, |newest| newest.elapsed());
            let rest = IDLE.saturating_sub(since);
            let next = match (waiting.to_fold, waiting.to_ready && rest.is_zero()) {
                _ if waiting.is_taken => None,
                (true, _) => Some(Next::Fold),
                (false, true) => Some(Next::GetReady),
                (false, false) => None,
            };
            if let Some(next) = next {
                waiting.is_taken = true;
                waiting.to_fold = false;
                waiting.to_ready = matches!(next, Next::Fold);
                return Some((next, Turn { shared: self }));
            }
            waiting = if waiting.to_ready {
                // No thread announces the end of the idle time, so this thread looks again.
                let rest = if waiting.is_taken { IDLE } else { rest };
                let woken = self.news.wait_timeout(waiting, rest);
                woken.unwrap_or_else(PoisonError::into_inner).0
            } else {
                let woken = self.news.wait(waiting);
                woken.unwrap_or_else(PoisonError::into_inner)
            };
        }
        None
    }
}

fn failed() -> ServiceError {
    ServiceError::Internal("deciding it failed".to_owned())
}

/// Returns a copy of an error about a lock that could not be had; `None` for other errors.
fn unavailable(error: &ServiceError) -> Option<ServiceError> {
    match *error {
        ServiceError::Busy { waited_ms } => Some(ServiceError::Busy { waited_ms }),
        ServiceError::Stopped { pid, asked } => Some(ServiceError::Stopped { pid, asked }),
        _ => None,
    }
}

/// Sends each thread the error that all of them met.
fn tell_all(told: impl Iterator<Item = SyncSender<Told>>, error: &ServiceError) {
    for told in told {
        let internal = || ServiceError::Internal(error.to_string());
        let error = unavailable(error).unwrap_or_else(internal);
        let _ = told.send(Told::Done(Box::new(Err(error))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icm_api::StoreRequest;
    use icm_service::OpenOptions;

    #[test]
    fn writes_are_made_ready_for_a_recall_once_nothing_comes() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = OpenOptions {
            dir: folder.path().to_owned(),
            lock_wait: Duration::from_secs(5),
            read_only: false,
        };
        let service = Arc::new(Service::open(options).expect("it opens"));
        let queue = Queue::new(Arc::clone(&service)).expect("threads");
        for n in 0..1_200_u32 {
            // The texts are not similar: a search for near duplicates would slow the writes down.
            let words = blake3::hash(&n.to_le_bytes()).to_hex();
            let request = StoreRequest::new(
                "t",
                format!("{} {} {}", &words[..6], &words[6..12], &words[12..18]),
            );
            let stored = queue.write(Caller::default(), Write::Store(request), None);
            stored.expect("it stores");
        }
        // Each look does a little of the work; the looks until the deadline need not do all.
        let begun = Instant::now();
        while service.makes_ready() {
            assert!(begun.elapsed() < Duration::from_secs(10), "nobody does it");
            thread::sleep(Duration::from_millis(50));
        }
    }
}
