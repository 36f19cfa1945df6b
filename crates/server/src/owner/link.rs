//! The client side of the owner: asks it with plain blocking reads and writes.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::mutex::locked;
use super::socket::{Stream, connected, notice};
use super::{AskOwner, LINE_MAX_BYTES};
use icm_service::holder::is_stopped;
use icm_service::peer::{Peer, PeerState, SIGN_OF_LIFE};
use icm_wait::{Deadline, bounds};

/// Connections kept for later requests. Raised, a process takes more of the owner's connections.
const KEPT_MAX: usize = 2;

/// A client of the owner of a store.
#[derive(Debug, Default)]
pub(crate) struct Link {
    store: PathBuf,
    asks: AskOwner,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    free: Vec<Connection>,
    /// Set if the owner did not answer, or is this process; until then it is not asked.
    again: Option<Deadline>,
    /// `true` if this process was the owner at the last look.
    is_own: bool,
}

#[derive(Debug)]
struct Connection {
    stream: BufReader<Stream>,
    last_id: u64,
}

/// The reply to a request.
#[derive(Deserialize)]
struct Reply {
    id: Option<u64>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
}

impl Link {
    pub(crate) fn to(store: &Path, asks: AskOwner) -> Link {
        Link {
            store: store.to_owned(),
            asks,
            held: Mutex::default(),
        }
    }

    /// Connects to the process that takes over from an owner that is gone. Running servers take over at once; a server
    /// that is just starting needs a little time.
    fn next_owner(&self, deadline: Deadline) -> Option<Connection> {
        if deadline.is_over() {
            return None;
        }
        let next = icm_wait::until(deadline, || match self.connect() {
            // This process is the owner, or the owner takes no connections: do not ask for a moment.
            None if self.held().again.is_some() => Some(None),
            None => None,
            connection => Some(connection),
        });
        next.flatten()
    }

    /// Returns the state of the owner: its notice, and whether it answers.
    pub(crate) fn look(store: &Path) -> Option<PeerState> {
        let owner = notice(store)?;
        let link = Link::to(store, AskOwner::All);
        let answer = link
            .connect()
            .and_then(|mut connection| connection.sign_of_life("hello").ok()?.result);
        Some(PeerState::Announced {
            pid: owner.pid,
            version: owner.version,
            answers: answer.is_some(),
        })
    }

    fn keep(&self, connection: Connection) {
        let mut held = self.held();
        if held.free.len() < KEPT_MAX {
            held.free.push(connection);
        }
    }

    fn failed(&self, error: &io::Error) {
        tracing::debug!(%error, "the owner of the store did not answer");
        let mut held = self.held();
        held.free.clear();
        if is_timeout(error) {
            held.again = Some(Deadline::after(bounds::MOMENT));
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        locked(&self.held)
    }

    /// Returns a free connection, or a new one.
    fn connection(&self) -> Option<Connection> {
        {
            let mut held = self.held();
            if held.again.is_some_and(|again| !again.is_over()) {
                return None;
            }
            (held.again, held.is_own) = (None, false);
            if let Some(connection) = held.free.pop() {
                return Some(connection);
            }
        }
        self.connect()
    }

    fn connect(&self) -> Option<Connection> {
        let owner = notice(&self.store)?;
        if owner.pid == std::process::id() {
            // This process stays the owner until it ends, so it need not look each time.
            let mut held = self.held();
            held.again = Some(Deadline::after(bounds::MOMENT));
            held.is_own = true;
            return None;
        }
        let stream = match connected(&owner) {
            Ok(stream) => stream,
            Err(error) => {
                // The owner takes no more connections; usually it is stopped.
                if is_timeout(&error) {
                    self.failed(&error);
                }
                return None;
            }
        };
        Connection::new(stream).ok()
    }

    /// Returns `true` if the owner answers a ping.
    fn is_alive(&self) -> bool {
        if self.is_stopped() {
            return false;
        }
        let connection = self.connect();
        connection.is_some_and(|mut connection| connection.sign_of_life("ping").is_ok())
    }

    /// Returns `true` if the owner is known to be stopped.
    fn is_stopped(&self) -> bool {
        notice(&self.store).is_some_and(|owner| is_stopped(owner.pid))
    }
}

impl Peer for Link {
    fn is_for(&self, writes: bool) -> bool {
        match self.asks {
            AskOwner::Nothing => false,
            AskOwner::Writes => writes,
            AskOwner::All => true,
        }
    }

    fn ask(
        &self,
        method: &str,
        params: &mut dyn FnMut() -> Option<Box<RawValue>>,
    ) -> Option<Box<RawValue>> {
        let mut connection = self.connection()?;
        let mut answer = connection.call(method, &params()?, || self.is_alive());
        // An owner that is gone took the request with it.
        let takeover = Deadline::after(SIGN_OF_LIFE);
        // This loops, because an owner that is being killed still takes connections until its socket is closed.
        while answer.as_ref().is_err_and(is_gone) {
            self.held().free.clear();
            let Some(next) = self.next_owner(takeover) else {
                break;
            };
            connection = next;
            answer = connection.call(method, &params()?, || self.is_alive());
        }
        match answer {
            Ok(reply) => {
                self.keep(connection);
                let answer = reply.result?;
                tracing::debug!(method, "the owner of the store answered");
                Some(answer)
            }
            Err(error) => {
                self.failed(&error);
                None
            }
        }
    }

    fn leave_views(&self) -> bool {
        if self.asks == AskOwner::Nothing {
            return false;
        }
        let Some(mut connection) = self.connection() else {
            return false;
        };
        let told = connection.call("grown", RawValue::NULL, || self.is_alive());
        if let Err(error) = &told {
            self.failed(error);
        }
        told.is_ok_and(|reply| reply.result.is_some())
    }

    fn is_of_another(&self) -> bool {
        self.asks != AskOwner::Nothing && !self.held().is_own
    }

    fn left_unanswered(&self) -> bool {
        let held = self.held();
        held.again.is_some() && !held.is_own
    }

    fn ask_again(&self) {
        let held = self.held();
        if held.again.is_none() || held.is_own {
            return;
        }
        drop(held);
        if !self.is_stopped() {
            self.held().again = None;
        }
    }
}

impl Connection {
    fn new(stream: Stream) -> io::Result<Connection> {
        stream.set_write_timeout(Some(bounds::MOMENT))?;
        // A read that times out is repeated as long as the owner is alive.
        stream.set_read_timeout(Some(SIGN_OF_LIFE))?;
        Ok(Connection {
            stream: BufReader::new(stream),
            last_id: 0,
        })
    }

    /// Calls a method that must answer within [`SIGN_OF_LIFE`].
    fn sign_of_life(&mut self, method: &str) -> io::Result<Reply> {
        self.call_within(SIGN_OF_LIFE, method, RawValue::NULL, &|| false)
    }

    /// Calls a method, for `bounds::ANSWER` at most. Each time that a read times out, `go_on` decides whether to wait
    /// on.
    fn call(
        &mut self,
        method: &str,
        params: &RawValue,
        go_on: impl Fn() -> bool,
    ) -> io::Result<Reply> {
        self.call_within(bounds::ANSWER, method, params, &go_on)
    }

    fn call_within(
        &mut self,
        most: Duration,
        method: &str,
        params: &RawValue,
        go_on: &dyn Fn() -> bool,
    ) -> io::Result<Reply> {
        self.last_id += 1;
        let id = self.last_id;
        let params = params.get();
        let params = if params == "null" { "[]" } else { params };
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
        );
        self.stream.get_mut().write_all(line.as_bytes())?;
        let line = self.line(Deadline::after(most), go_on)?;
        let reply: Reply = serde_json::from_slice(&line)?;
        match reply.id == Some(id) {
            true => Ok(reply),
            false => Err(io::Error::other("an answer to something else")),
        }
    }

    fn line(&mut self, deadline: Deadline, go_on: &dyn Fn() -> bool) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            // The deadline also holds if bytes keep coming.
            if deadline.is_over() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.stream.fill_buf() {
                Ok([]) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(came) => {
                    let end = memchr::memchr(b'\n', came);
                    let len = end.map_or(came.len(), |end| end + 1);
                    line.extend_from_slice(&came[..len]);
                    self.stream.consume(len);
                    if end.is_some() {
                        return Ok(line);
                    }
                    if line.len() > LINE_MAX_BYTES {
                        return Err(io::Error::other("an answer without an end"));
                    }
                }
                Err(error) if is_timeout(&error) && !go_on() => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns `true` if the error says that the other end is gone.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let kinds = [
        BrokenPipe,
        ConnectionAborted,
        ConnectionReset,
        UnexpectedEof,
    ];
    kinds.contains(&error.kind())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::owner::election::Claim;

    /// Single bytes without an end of line are not an answer.
    #[test]
    fn slow_clients_are_not_waited_for() {
        let (near, mut far) = Stream::pair().expect("a pair");
        let sending = std::thread::spawn(move || {
            while far.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let mut connection = Connection::new(near).expect("a socket");
        let begun = Instant::now();
        let said = connection.sign_of_life("ping");
        assert!(said.is_err_and(|error| is_timeout(&error)));
        assert!(begun.elapsed() < Duration::from_secs(5));
        drop(connection);
        sending.join().expect("it ends with the other end");
    }

    /// An owner that is being killed takes connections until its socket is closed, and answers none of them.
    #[tokio::test]
    async fn a_client_cut_off_again_looks_for_the_next_owner_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("store");
        std::fs::create_dir(&store).expect("a folder");
        let mut claim = Claim::take(&store)
            .expect("it is free")
            .expect("it is free");
        let listener = claim.listen(&store).expect("it listens");
        let listener = listener.into_std().expect("a socket");
        listener.set_nonblocking(false).expect("it waits");
        // The notice names another process, because a process does not ask itself.
        let notice = store.join("sock/owner");
        let said = std::fs::read_to_string(&notice).expect("it is there");
        let own = format!("\"pid\":{}", std::process::id());
        std::fs::write(&notice, said.replace(&own, "\"pid\":1")).expect("it is written");
        let answering = std::thread::spawn(move || {
            for _ in 0..3 {
                drop(listener.accept().expect("somebody asks"));
            }
            let (mut stream, _) = listener.accept().expect("somebody asks");
            let mut asked = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
            reader.read_line(&mut asked).expect("a question");
            let answer = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"done\"}\n";
            stream.write_all(answer).expect("it is there");
            asked
        });
        let link = Link::to(&store, AskOwner::All);
        let mut made = 0;
        let answer = link.ask("store", &mut || {
            made += 1;
            serde_json::value::to_raw_value("key of the request").ok()
        });
        let answer = answer.expect("an answer");
        assert_eq!(answer.get(), "\"done\"");
        // The next owner gets the key of the request, because another owner was asked before.
        assert_eq!(made, 4);
        let asked = answering.join().expect("it answers");
        assert!(asked.contains("key of the request"), "{asked}");
    }
}
