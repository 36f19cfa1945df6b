//! The conversation of the owner with one process. The thread of its connection reads a request, decides, waits and
//! writes the answer; then it reads the next request.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::Shutdown;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::thread;

use jsonrpsee::core::server::Methods;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::LINE_MAX_BYTES;
use super::mutex::locked;
use super::socket::{Stream, has_hung_up};

/// News of the log that wait for one subscriber. Raised, a slow subscriber takes more memory.
pub(super) const NEWS_MAX: usize = 256;

/// Capacity of the line buffer that a connection keeps between requests, in bytes. Raised, idle connections take more
/// memory.
const LINE_KEPT_BYTES: usize = 64 * 1_024;

/// The writing half of a connection, for answers and for news.
#[derive(Clone)]
struct Line {
    stream: Arc<Stream>,
    /// Held while a line is written, so that only whole lines go out.
    turn: Arc<Mutex<()>>,
}

/// Answers one process, one request after another, until the process disconnects or reads no answer. News are sent
/// meanwhile, if it has subscribed.
pub(super) fn converse(stream: &Arc<Stream>, methods: &Methods, runtime: &Handle) {
    let line = Line {
        stream: Arc::clone(stream),
        turn: Arc::default(),
    };
    let mut reader = BufReader::new(&**stream);
    let mut bytes = Vec::new();
    // Dropping the guard ends the threads that send news.
    let gone = CancellationToken::new();
    let _leaves = gone.clone().drop_guard();
    loop {
        bytes.clear();
        bytes.shrink_to(LINE_KEPT_BYTES);
        let read = (&mut reader)
            .take(LINE_MAX_BYTES as u64)
            .read_until(b'\n', &mut bytes);
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
        // A process that has hung up does the request itself.
        if has_hung_up(stream) {
            return;
        }
        let answer = || runtime.block_on(methods.raw_json_request(asked, NEWS_MAX));
        let (reply, news) = match panic::catch_unwind(AssertUnwindSafe(answer)) {
            Ok(Ok((reply, news))) => (text(reply), Some(news)),
            Ok(Err(error)) => (refusal(&error.to_string()), None),
            // Without an answer the client does the request itself.
            Err(_) => return line.hang_up(),
        };
        if line.tell(reply).is_err() {
            return;
        }
        // Only a subscription leaves its end of the channel open.
        if let Some(news) = news.filter(|news| !news.is_closed()) {
            let (line, runtime, gone) = (line.clone(), runtime.clone(), gone.clone());
            let thread = thread::Builder::new().name("icm-tells".into());
            if let Err(error) = thread.spawn(move || line.tell_news(news, &runtime, &gone)) {
                tracing::debug!(%error, "a subscriber is told nothing");
                return;
            }
        }
    }
}

impl Line {
    /// Writes a line, and waits until the other end has room for it. An error closes the connection, because half a
    /// line may be out.
    fn tell(&self, mut line: String) -> io::Result<()> {
        line.push('\n');
        let turn = locked(&self.turn);
        let told = (&*self.stream).write_all(line.as_bytes());
        drop(turn);
        if told.is_err() {
            self.hang_up();
        }
        told
    }

    fn hang_up(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Writes news until the subscription or the connection ends.
    fn tell_news(
        &self,
        mut news: mpsc::Receiver<Box<RawValue>>,
        runtime: &Handle,
        gone: &CancellationToken,
    ) {
        let mut next = || runtime.block_on(gone.run_until_cancelled(news.recv()));
        while let Some(Some(item)) = next() {
            if self.tell(text(item)).is_err() {
                return;
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
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use jsonrpsee::core::server::RpcModule;
    use tokio::sync::oneshot;

    use super::*;

    const WAIT: Duration = Duration::from_secs(10);

    /// Starts a conversation on a thread of its own, and returns the other end.
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
    fn a_request_waits_for_the_one_before_it_and_is_answered_by_the_thread_of_the_connection() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut methods = RpcModule::new(());
        let slow = methods.register_method("slow", |_, _, _| {
            thread::sleep(Duration::from_millis(30));
            format!("slow by {:?}", thread::current().id())
        });
        slow.expect("a name of its own");
        let now = methods.register_method("now", |_, _, _| {
            format!("now by {:?}", thread::current().id())
        });
        now.expect("a name of its own");
        let (thread, mut far) = begun(methods, runtime.handle());
        let by = format!("by {:?}", thread.thread().id());
        let both = asked(1, "slow") + &asked(2, "now");
        far.write_all(both.as_bytes()).expect("it is taken");
        let mut lines = BufReader::new(&far).lines();
        let mut next = || lines.next().expect("a line").expect("a text");
        for said in ["slow", "now"] {
            let line = next();
            assert!(line.contains(&format!("{said} {by}")), "{line}");
        }
        far.shutdown(Shutdown::Write).expect("it is open");
        thread.join().expect("it ends with the other end");
    }

    #[test]
    fn a_request_of_a_client_that_hung_up_is_not_done() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let done = Arc::new(AtomicUsize::new(0));
        let methods = || {
            let mut methods = RpcModule::new(Arc::clone(&done));
            let count =
                methods.register_method("count", |_, done, _| done.fetch_add(1, Ordering::Relaxed));
            count.expect("a name of its own");
            methods
        };
        // First: the client hangs up before its request is read.
        let (near, mut far) = Stream::pair().expect("a pair");
        far.write_all(asked(1, "count").as_bytes())
            .expect("it is taken");
        drop(far);
        converse(&Arc::new(near), &methods().into(), runtime.handle());
        assert_eq!(done.load(Ordering::Relaxed), 0);
        // Second: the client hangs up while an earlier request, sent along with this one, is done.
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
        // Third: the client hangs up while an earlier request waits for its answer.
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
        // The second request is read in this time.
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
        // The answer fills the buffer of the socket in this time.
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
}
