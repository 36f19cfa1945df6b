//! Writes that wait for their turn: whoever is free decides all that wait, one after another under one hold of
//! the store, and all of them share a sync. Meanwhile the next ones are decided.

use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use tokio::sync::oneshot;

use crate::api::{Caller, Receipt};
use crate::error::Result;
use crate::service::{Prepared, Service, Write};

/// One decides while the other waits for its sync.
const THREADS: usize = 2;

/// The queue, and the threads that see to it until this is dropped.
pub(super) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    service: Arc<Service>,
    waiting: Mutex<Waiting>,
    /// Something waits, or the queue is closed.
    news: Condvar,
    /// Held by the thread that takes what waits, until that is decided.
    turn: Mutex<()>,
}

#[derive(Default)]
struct Waiting {
    writes: Vec<Waiter>,
    is_closed: bool,
}

struct Waiter {
    caller: Caller,
    prepared: Prepared,
    answer: oneshot::Sender<std::result::Result<Receipt, String>>,
}

impl Queue {
    pub(super) fn new(service: Arc<Service>) -> io::Result<Queue> {
        let shared = Arc::new(Shared {
            service,
            waiting: Mutex::default(),
            news: Condvar::new(),
            turn: Mutex::new(()),
        });
        for _ in 0..THREADS {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("icm-writes".into())
                .spawn(move || while shared.work() {})?;
        }
        Ok(Queue { shared })
    }

    /// Does a write; says why where it is not done.
    pub(super) async fn write(
        &self,
        caller: Caller,
        write: Write,
    ) -> std::result::Result<Receipt, String> {
        let prepared = self.shared.service.prepare_write(&caller, write);
        let prepared = prepared.map_err(|error| error.to_string())?;
        let (answer, receipt) = oneshot::channel();
        self.shared.waiting().writes.push(Waiter {
            caller,
            prepared,
            answer,
        });
        self.shared.news.notify_one();
        let stopped = |_| "the queue of writes has stopped".to_owned();
        receipt.await.unwrap_or_else(|gone| Err(stopped(gone)))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.waiting().is_closed = true;
        self.shared.news.notify_all();
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for writes and does them. False once the queue is closed.
    fn work(&self) -> bool {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(waiters) = self.next() else {
            return false;
        };
        let writes = waiters.iter();
        let writes = writes.map(|waiter| (&waiter.caller, &waiter.prepared));
        let decided = self.service.decide_all(writes);
        drop(turn);
        let receipts = decided.and_then(|receipts| receipts.commit());
        answer(waiters, receipts);
        true
    }

    /// All that waits, as soon as something does.
    fn next(&self) -> Option<Vec<Waiter>> {
        let mut waiting = self.waiting();
        loop {
            if !waiting.writes.is_empty() {
                return Some(take(&mut waiting.writes));
            }
            if waiting.is_closed {
                return None;
            }
            waiting = (self.news.wait(waiting)).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn answer(waiters: Vec<Waiter>, receipts: Result<Vec<Result<Receipt>>>) {
    match receipts {
        Ok(receipts) => {
            for (waiter, receipt) in waiters.into_iter().zip(receipts) {
                // Who is gone asks again, with the key of its request.
                let _ = (waiter.answer).send(receipt.map_err(|error| error.to_string()));
            }
        }
        Err(error) => {
            let why = error.to_string();
            for waiter in waiters {
                let _ = waiter.answer.send(Err(why.clone()));
            }
        }
    }
}
