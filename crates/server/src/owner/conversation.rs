//! One process that asks this one: its requests, one after another, and what it is told.
//!
//! A request is begun by the thread of the connection. What has to wait, as a write for its sync, goes on where what it
//! waits for comes from: who synced it writes the answer, and no other thread is woken for that.

use std::future::Future;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::Shutdown;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use jsonrpsee::core::server::Methods;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::LINE_MAX_BYTES;
use super::door::{Stream, has_hung_up, send_at_once};
use super::mutex::locked;
use super::reader::Reader;

/// News of the log that wait for one subscriber to read them.
pub(super) const NEWS_MAX: usize = 256;

/// The other end, and what it takes to tell it something from any thread.
#[derive(Clone)]
struct Line {
    stream: Arc<Stream>,
    /// Whole lines only: answers and news go out by the same stream.
    turn: Arc<Turn>,
    runtime: Handle,
}

/// The right to write to the other end, which may go from thread to thread with what is left to write.
type Turn = tokio::sync::Mutex<()>;

/// What a request comes to: the answer, and news where it subscribed.
type Answer = (String, Option<mpsc::Receiver<Box<RawValue>>>);

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A request that is being answered, by whoever wakes it.
struct Asked {
    answering: Mutex<Option<Answering>>,
    state: AtomicU8,
    line: Line,
    gone: CancellationToken,
    /// Whether it is answered, and who waits for that.
    answered: Mutex<bool>,
    told: Condvar,
}

/// Nobody sees to it.
const WAITS: u8 = 0;
/// Somebody does.
const RUNS: u8 = 1;
/// Somebody does, and has to look once more.
const RUNS_AGAIN: u8 = 2;

/// Answers one process until it goes, or nobody reads what it asks any more, one request after another. News are
/// told as they come.
pub(super) fn converse(stream: &Arc<Stream>, methods: &Methods, runtime: &Handle) {
    let line = Line {
        stream: Arc::clone(stream),
        turn: Arc::default(),
        runtime: runtime.clone(),
    };
    let mut reader = BufReader::new(Reader::new(Arc::clone(stream)));
    let mut bytes = Vec::new();
    // Who asks no more is told no news.
    let gone = CancellationToken::new();
    let _leaves = gone.clone().drop_guard();
    let mut before: Option<Arc<Asked>> = None;
    loop {
        bytes.clear();
        // It came with the one before it.
        let was_there = !reader.buffer().is_empty();
        let read = (&mut reader)
            .take(LINE_MAX_BYTES as u64)
            .read_until(b'\n', &mut bytes);
        let waited = before.take().is_some_and(|before| before.wait());
        match read {
            Ok(_) if bytes.ends_with(b"\n") => {}
            Ok(len) if len == LINE_MAX_BYTES => {
                let why = format!("the line is longer than {LINE_MAX_BYTES} bytes");
                let _ = line.tell(refusal(&why));
                return;
            }
            _ => return,
        }
        let asked = String::from_utf8_lossy(&bytes);
        let asked = asked.trim();
        if asked.is_empty() {
            continue;
        }
        // It has done this itself meanwhile.
        let looks = waited || was_there;
        if reader.get_ref().saw_the_end() || (looks && has_hung_up(stream)) {
            return;
        }
        let asked = Asked::new(answer(methods.clone(), asked.to_owned()), &line, &gone);
        Arc::clone(&asked).run();
        before = Some(asked);
    }
}

async fn answer(methods: Methods, asked: String) -> Answer {
    match methods.raw_json_request(&asked, NEWS_MAX).await {
        Ok((reply, news)) => (text(reply), Some(news)),
        Err(error) => (refusal(&error.to_string()), None),
    }
}

impl Asked {
    fn new(
        answering: impl Future<Output = Answer> + Send + 'static,
        line: &Line,
        gone: &CancellationToken,
    ) -> Arc<Asked> {
        Arc::new(Asked {
            answering: Mutex::new(Some(Box::pin(answering))),
            state: AtomicU8::new(WAITS),
            line: line.clone(),
            gone: gone.clone(),
            answered: Mutex::new(false),
            told: Condvar::new(),
        })
    }

    /// Takes it further, unless somebody does already: then that one looks once more.
    fn run(self: Arc<Self>) {
        // Both sides swap, so that whoever comes second sees what the first one did.
        if self.state.swap(RUNS_AGAIN, Ordering::AcqRel) != WAITS {
            return;
        }
        // What it begins on other threads belongs to the runtime.
        let _entered = self.line.runtime.enter();
        let waker = Waker::from(Arc::clone(&self));
        loop {
            self.state.swap(RUNS, Ordering::AcqRel);
            let Some(mut answering) = locked(&self.answering).take() else {
                return;
            };
            let poll = || {
                let polled = answering.as_mut().poll(&mut Context::from_waker(&waker));
                if polled.is_pending() {
                    *locked(&self.answering) = Some(answering);
                }
                polled
            };
            match panic::catch_unwind(AssertUnwindSafe(poll)) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(answer)) => return self.answer(answer),
                Err(_) => {
                    // Who asked finds out that there is no answer, and does it itself.
                    self.line.hang_up();
                    drop(Answered(self));
                    return;
                }
            }
            let (set, fetch) = (Ordering::AcqRel, Ordering::Acquire);
            let rests = self.state.compare_exchange(RUNS, WAITS, set, fetch);
            if rests.is_ok() {
                return;
            }
        }
    }

    fn answer(self: Arc<Self>, (reply, news): Answer) {
        // Only a subscription leaves the other end open.
        let news = news.filter(|news| !news.is_closed());
        let (line, gone) = (self.line.clone(), self.gone.clone());
        let answered = Answered(self);
        let told = move |is_told: io::Result<()>| {
            let line = answered.0.line.clone();
            drop(answered);
            if let (Ok(()), Some(news)) = (is_told, news) {
                line.runtime.clone().spawn(line.tell_news(news, gone));
            }
        };
        line.tell_soon(reply, told);
    }

    /// Returns once it is answered: whether it was not yet.
    fn wait(&self) -> bool {
        let mut answered = locked(&self.answered);
        let waits = !*answered;
        while !*answered {
            answered = (self.told.wait(answered)).unwrap_or_else(PoisonError::into_inner);
        }
        waits
    }
}

/// A request whose connection goes on once this is dropped, whatever becomes of the answer.
struct Answered(Arc<Asked>);

impl Drop for Answered {
    fn drop(&mut self) {
        *locked(&self.0.answered) = true;
        self.0.told.notify_all();
    }
}

impl Wake for Asked {
    fn wake(self: Arc<Self>) {
        self.run();
    }
}

impl Line {
    /// Writes a line, and waits until the other end has room for it.
    fn tell(&self, mut line: String) -> io::Result<()> {
        line.push('\n');
        self.write(&line.into_bytes(), self.turn.blocking_lock())
    }

    /// The same without waiting: where there is no room for all of it another thread waits for that. `then` is told what became
    /// of it.
    fn tell_soon(self, mut line: String, then: impl FnOnce(io::Result<()>) + Send + 'static) {
        let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() else {
            let runtime = self.runtime.clone();
            runtime.spawn_blocking(move || then(self.tell(line)));
            return;
        };
        line.push('\n');
        let mut line = line.into_bytes();
        match send_at_once(&self.stream, &line) {
            Ok(sent) if sent < line.len() => {
                line.drain(..sent);
                let runtime = self.runtime.clone();
                // The turn goes along: nothing else comes in between.
                runtime.spawn_blocking(move || then(self.write(&line, turn)));
            }
            sent => {
                drop(turn);
                if sent.is_err() {
                    self.hang_up();
                }
                then(sent.map(|_| ()));
            }
        }
    }

    /// Writes what is left of a line, and leaves the turn to others.
    fn write<T>(&self, bytes: &[u8], turn: T) -> io::Result<()> {
        let told = (&*self.stream).write_all(bytes);
        drop(turn);
        if told.is_err() {
            self.hang_up();
        }
        told
    }

    /// Half of a line may be out.
    fn hang_up(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Tells what comes until there is nobody to be told.
    async fn tell_news(self, mut news: mpsc::Receiver<Box<RawValue>>, gone: CancellationToken) {
        while let Some(Some(item)) = gone.run_until_cancelled(news.recv()).await {
            let line = self.clone();
            let told = tokio::task::spawn_blocking(move || line.tell(text(item)));
            if !matches!(told.await, Ok(Ok(()))) {
                break;
            }
        }
    }
}

fn text(json: Box<RawValue>) -> String {
    String::from(Box::<str>::from(json))
}

fn refusal(why: &str) -> String {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": why}}).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};

    use jsonrpsee::core::server::RpcModule;
    use tokio::sync::oneshot;

    use super::*;

    const WAIT: Duration = Duration::from_secs(10);

    /// A conversation with methods, on a thread of its own; the other end.
    fn begun<T>(methods: RpcModule<T>, runtime: &Handle) -> (thread::JoinHandle<()>, Stream) {
        let (near, far) = Stream::pair().expect("a pair");
        far.set_read_timeout(Some(WAIT)).expect("a timeout");
        let (near, runtime) = (Arc::new(near), runtime.clone());
        let methods = Methods::from(methods);
        let thread = thread::spawn(move || converse(&near, &methods, &runtime));
        (thread, far)
    }

    fn asked(id: u32, method: &str) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}\n")
    }

    #[test]
    fn who_makes_a_request_go_on_answers_it_and_the_next_one_waits() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut methods = RpcModule::new(());
        let later = methods.register_async_method("later", |_, _, _| async {
            let (done, answered) = oneshot::channel();
            thread::Builder::new()
                .name("who-did-it".into())
                .spawn(move || {
                    thread::sleep(Duration::from_millis(30));
                    let _ = done.send("done");
                })
                .expect("a thread");
            let said = answered.await.unwrap_or_default();
            let by = thread::current().name().map(str::to_owned);
            format!("{said} by {}", by.unwrap_or_default())
        });
        later.expect("a name of its own");
        let now = methods.register_method("now", |_, _, _| "at once");
        now.expect("a name of its own");
        let (thread, mut far) = begun(methods, runtime.handle());
        let both = asked(1, "later") + &asked(2, "now");
        far.write_all(both.as_bytes()).expect("it is taken");
        let mut lines = BufReader::new(&far).lines();
        let mut next = || lines.next().expect("a line").expect("a text");
        assert!(next().contains("done by who-did-it"));
        assert!(next().contains("at once"));
        far.shutdown(Shutdown::Write).expect("it is open");
        thread.join().expect("it ends with the other end");
    }

    #[test]
    fn what_is_asked_by_who_has_hung_up_is_not_done() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let done = Arc::new(AtomicUsize::new(0));
        let methods = || {
            let mut methods = RpcModule::new(Arc::clone(&done));
            let count =
                methods.register_method("count", |_, done, _| done.fetch_add(1, Ordering::Relaxed));
            count.expect("a name of its own");
            methods
        };
        // Before it is read.
        let (near, mut far) = Stream::pair().expect("a pair");
        far.write_all(asked(1, "count").as_bytes())
            .expect("it is taken");
        drop(far);
        converse(&Arc::new(near), &methods().into(), runtime.handle());
        assert_eq!(done.load(Ordering::Relaxed), 0);
        // While the one that it came with is done.
        let (near, mut far) = Stream::pair().expect("a pair");
        let both = asked(1, "leave") + &asked(2, "count");
        far.write_all(both.as_bytes()).expect("it is taken");
        let far = Arc::new(Mutex::new(Some(far)));
        let mut leaving = methods();
        let leave = leaving.register_method("leave", move |_, _, _| {
            drop(locked(&far).take());
        });
        leave.expect("a name of its own");
        converse(&Arc::new(near), &leaving.into(), runtime.handle());
        assert_eq!(done.load(Ordering::Relaxed), 0);
        // While the one before it waits for its answer.
        let mut methods = methods();
        let (waits, waiting) = channel();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let may_go_on = Arc::new(Mutex::new(Some(may_go_on)));
        let later = methods.register_async_method("later", move |_, _, _| {
            waits.send(()).expect("somebody waits");
            let may_go_on = locked(&may_go_on).take().expect("asked once");
            async move { may_go_on.await.is_ok() }
        });
        later.expect("a name of its own");
        let (thread, mut far) = begun(methods, runtime.handle());
        far.write_all(asked(1, "later").as_bytes())
            .expect("it is taken");
        waiting.recv().expect("it is asked");
        far.write_all(asked(2, "count").as_bytes())
            .expect("it is taken");
        // It is read meanwhile.
        thread::sleep(Duration::from_millis(50));
        drop(far);
        go_on.send(()).expect("it is waited for");
        thread.join().expect("it ends with the other end");
        assert_eq!(done.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_request_that_panics_ends_the_conversation() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut methods = RpcModule::new(());
        fn fail() {
            panic::resume_unwind(Box::new("on purpose"));
        }
        let fails = methods.register_async_method("fails", |_, _, _| async { fail() });
        fails.expect("a name of its own");
        let (thread, mut far) = begun(methods, runtime.handle());
        far.write_all(asked(1, "fails").as_bytes())
            .expect("it is taken");
        let mut said = Vec::new();
        let ended = far.read_to_end(&mut said);
        assert!(ended.is_ok() && said.is_empty(), "{ended:?} {said:?}");
        thread.join().expect("it ends");
    }

    #[test]
    fn an_answer_that_there_is_no_room_for_comes_whole_and_the_next_one_after_it() {
        const LEN: usize = 1 << 20;
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut methods = RpcModule::new(());
        let large = methods.register_method("large", |_, _, _| "x".repeat(LEN));
        large.expect("a name of its own");
        let now = methods.register_method("now", |_, _, _| "at once");
        now.expect("a name of its own");
        let (thread, mut far) = begun(methods, runtime.handle());
        let both = asked(1, "large") + &asked(2, "now");
        far.write_all(both.as_bytes()).expect("it is taken");
        // It has filled what room there is.
        thread::sleep(Duration::from_millis(50));
        let mut lines = BufReader::new(&far).lines();
        let mut next = || lines.next().expect("a line").expect("a text");
        let large = next();
        assert!(
            large.len() > LEN && large.contains("\"id\":1"),
            "{}",
            large.len()
        );
        assert!(next().contains("at once"));
        far.shutdown(Shutdown::Write).expect("it is open");
        thread.join().expect("it ends with the other end");
    }

    #[test]
    fn who_answers_does_not_wait_for_who_does_not_read() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (near, far) = Stream::pair().expect("a pair");
        near.set_nonblocking(true).expect("a socket");
        let mut full = 0;
        while let Ok(sent) = (&near).write(&[b' '; 1_024]) {
            full += sent;
        }
        near.set_nonblocking(false).expect("a socket");
        let line = Line {
            stream: Arc::new(near),
            turn: Arc::default(),
            runtime: runtime.handle().clone(),
        };
        let (told, is_told) = channel();
        let begun = Instant::now();
        line.tell_soon("the answer".to_owned(), move |sent| {
            told.send(sent.is_ok()).expect("somebody waits");
        });
        assert!(begun.elapsed() < WAIT / 2);
        assert!(is_told.try_recv().is_err(), "there is no room for it yet");
        far.set_read_timeout(Some(WAIT)).expect("a timeout");
        let mut said = vec![0; full + "the answer\n".len()];
        (&far).read_exact(&mut said).expect("all of it comes");
        assert!(said.ends_with(b"the answer\n"));
        assert_eq!(is_told.recv_timeout(WAIT), Ok(true));
    }
}
