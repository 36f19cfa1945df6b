//! Threads that ask the store, so that drawing never waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

use icm_api::Caller;
use icm_api::error::{Result, ServiceError};
use icm_service::Service;
use icm_wait::bounds;

use crate::ask::{Ask, News};
use crate::fetch;
use crate::model::Order;

/// The two threads: one answers the pages, the other one reads whole logs and counts.
pub(crate) struct Workers {
    asks: Sender<(u64, Ask)>,
    counts: Sender<Option<String>>,
}

impl Workers {
    /// Starts the threads. Their news goes to `tell`; they end once this and the receiver of `tell` are gone.
    pub(crate) fn start<N: From<News> + Send + 'static>(
        service: &Arc<Service>,
        caller: &Caller,
        tell: &Sender<N>,
    ) -> std::io::Result<Workers> {
        let (asks, asked) = channel();
        let (counts, counted) = channel();
        let (store, person, news) = (Arc::clone(service), caller.clone(), tell.clone());
        thread::Builder::new()
            .name("icm-tui-pages".to_owned())
            .spawn(move || answer_pages(&store, &person, &asked, &news))?;
        let (store, news) = (Arc::clone(service), tell.clone());
        thread::Builder::new()
            .name("icm-tui-counts".to_owned())
            .spawn(move || count(&store, &counted, &news))?;
        Ok(Workers { asks, counts })
    }

    /// Passes work on.
    pub(crate) fn order(&self, order: Order) {
        // A thread that is gone has told of its error.
        match order {
            Order::Ask(number, ask) => _ = self.asks.send((number, ask)),
            Order::Counts(at) => _ = self.counts.send(at),
        }
    }
}

fn answer_pages<N: From<News>>(
    service: &Service,
    caller: &Caller,
    asked: &Receiver<(u64, Ask)>,
    tell: &Sender<N>,
) {
    let mut newest = None;
    loop {
        let first = match asked.recv_timeout(bounds::LOOK_EVERY) {
            Ok(ask) => Some(ask),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let asks: Vec<(u64, Ask)> = first.into_iter().chain(asked.try_iter()).collect();
        for (at, (number, ask)) in asks.iter().enumerate() {
            let same = |(_, later): &(u64, Ask)| {
                std::mem::discriminant(later) == std::mem::discriminant(ask)
            };
            // A person who steps fast sees where the steps end.
            if !ask.is_change() && asks[at + 1..].iter().any(same) {
                continue;
            }
            let answer = guarded(|| fetch::answer(service, caller, ask.clone()));
            if tell.send(News::Answer(*number, answer).into()).is_err() {
                return;
            }
        }
        // An error is one of the next question, too, and is told there.
        let there = guarded(|| service.newest_position());
        if let Ok(there) = there
            && newest != Some(there)
        {
            newest = Some(there);
            if tell.send(News::Newest(there).into()).is_err() {
                return;
            }
        }
        for line in service.take_notices() {
            if tell.send(News::Notice(line).into()).is_err() {
                return;
            }
        }
    }
}

fn count<N: From<News>>(service: &Service, counted: &Receiver<Option<String>>, tell: &Sender<N>) {
    let mut seen = 0;
    let mut named = 0;
    let mut wanted: Option<Option<String>> = None;
    loop {
        match counted.recv_timeout(bounds::MOMENT) {
            Ok(at) => wanted = Some(at),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        wanted = counted.try_iter().last().or(wanted);
        let began = Instant::now();
        let mut news: Vec<News> = Vec::new();
        if let Some(at) = wanted.take()
            && let Ok(counts) = guarded(|| fetch::counts(service, at.as_deref()))
        {
            news.push(News::Counts(at, Box::new(counts)));
        }
        let events = guarded(|| match seen {
            0 => fetch::all_events(service),
            _ => fetch::events_after(service, seen),
        });
        if let Ok(events) = events
            && let Some(last) = events.last()
        {
            seen = last.position;
            news.push(News::Events(events));
        }
        if named < seen
            && let Ok(names) = guarded(|| fetch::names_after(service, named))
        {
            named = seen;
            if !names.is_empty() {
                news.push(News::Names(names));
            }
        }
        for news in news {
            if tell.send(news.into()).is_err() {
                return;
            }
        }
        // Counting a large store while agents write takes a fifth of a core at most.
        icm_wait::pause((began.elapsed() * 4).min(bounds::PEER));
    }
}

/// Turns a panic into an error: the view goes on with the next question.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // The service drops what a panic left half done.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(ServiceError::Internal(
            "this page cannot be made".to_owned(),
        ))
    })
}
