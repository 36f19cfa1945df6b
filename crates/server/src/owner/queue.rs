//! Writes that wait for their turn: whoever is free decides all that wait, one after another under one hold of
//! the store, and all of them share a sync. Meanwhile the next ones are decided.

use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, panic, thread};

use tokio::sync::oneshot;

use crate::api::{Caller, Receipt};
use crate::error::{Result, ServiceError};
use crate::service::{OwnWay, Service, Write};

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
    write: Write,
    answer: Answer,
}

/// The receipt, or why there is none.
type Done = Result<Receipt>;
type Answer = oneshot::Sender<Done>;

impl Queue {
    pub(super) fn new(service: Arc<Service>) -> io::Result<Queue> {
        let shared = Arc::new(Shared {
            service,
            waiting: Mutex::default(),
            news: Condvar::new(),
            turn: Mutex::new(()),
        });
        // From here on its end is told to the threads.
        let queue = Queue { shared };
        for _ in 0..THREADS {
            let shared = Arc::clone(&queue.shared);
            thread::Builder::new()
                .name("icm-writes".into())
                .spawn(move || shared.work_on())?;
        }
        Ok(queue)
    }

    /// Does a write; says why where it is not done.
    pub(super) async fn write(&self, caller: Caller, write: Write) -> Done {
        let failed = |_| Err(ServiceError::Internal("deciding it failed".to_owned()));
        let receipt = self.shared.take(caller, write);
        receipt.await.unwrap_or_else(failed)
    }

    /// The way in for the writes of this process, as long as the queue is there: they wait with those of others, so
    /// that neither wait for the other's locks again and again.
    pub(super) fn own_way(&self) -> OwnWay {
        let shared = Arc::downgrade(&self.shared);
        Arc::new(move |caller, write| {
            let receipt = shared.upgrade()?.take(caller, write);
            match receipt.blocking_recv().ok()? {
                // It was not decided: the caller does it without the queue.
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

impl Shared {
    /// Takes a write into the queue. What comes of it follows.
    fn take(&self, caller: Caller, write: Write) -> oneshot::Receiver<Done> {
        let (answer, receipt) = oneshot::channel();
        self.waiting().writes.push(Waiter {
            caller,
            write,
            answer,
        });
        self.news.notify_one();
        receipt
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for writes and does them, until the queue is closed.
    fn work_on(&self) {
        // Whoever waits for one that fails hears of it, and does it without the owner.
        let round = || panic::catch_unwind(AssertUnwindSafe(|| self.work()));
        while round().unwrap_or_else(|_| {
            tracing::error!("a round of writes failed");
            true
        }) {}
    }

    /// Waits for writes and does them. False once the queue is closed.
    fn work(&self) -> bool {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // While what the other thread decided is synced, and who waited for that thinks of the next.
        if self.waiting().writes.is_empty() {
            self.service.fold_ahead();
        }
        let Some(waiting) = self.next() else {
            return false;
        };
        let (mut asked, mut answers) = (Vec::new(), Vec::new());
        for waiter in waiting {
            match self.service.prepare_write(&waiter.caller, waiter.write) {
                Ok(prepared) => {
                    asked.push((waiter.caller, prepared));
                    answers.push(waiter.answer);
                }
                // Who is gone asks again, with the key of its request.
                Err(error) => _ = waiter.answer.send(Err(error)),
            }
        }
        if asked.is_empty() {
            return true;
        }
        let decided = self.service.decide_all(&asked);
        drop(turn);
        let receipts = decided.and_then(|receipts| receipts.commit());
        tell(answers, receipts);
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

fn tell(answers: Vec<Answer>, receipts: Result<Vec<Result<Receipt>>>) {
    match receipts {
        Ok(receipts) => {
            for (answer, receipt) in answers.into_iter().zip(receipts) {
                let _ = answer.send(receipt);
            }
        }
        Err(error) => {
            for answer in answers {
                let _ = answer.send(Err(match error {
                    ServiceError::Busy { waited_ms } => ServiceError::Busy { waited_ms },
                    _ => ServiceError::Internal(error.to_string()),
                }));
            }
        }
    }
}
