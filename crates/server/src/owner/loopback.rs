//! The owner's door where there are no Unix sockets: a port of this machine alone, and a token that only those know
//! who can read the store's folder. Both ends show that they know it before anything is asked: another user may open
//! the port of an owner that is gone.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::PROTOCOL;
use super::place;
use super::place::{FOLDER, OWNER};

pub(super) use std::net::TcpStream as Stream;
pub(super) use tokio::net::TcpListener as Listener;

/// What the owner says of itself. Not in the file that it holds the lock of: nobody else reads a locked file there.
const ADDRESS: &str = "address";
/// So long a connection may take, until the other end has shown that it knows the token.
const CONNECT_MAX: Duration = Duration::from_millis(40);
/// So long the other end may take to show that it knows the token.
const SHOWN_WITHIN: Duration = Duration::from_millis(500);
/// Of a token, of what is thought up for one connection, and of what shows that the token is known.
const KEY_BYTES: usize = 32;

#[derive(Serialize, Deserialize)]
struct Said {
    protocol: u32,
    /// The program's.
    version: String,
    pid: u32,
    port: u16,
    /// In hexadecimal.
    token: String,
}

/// Where the owner is, and how it is known.
#[derive(Debug)]
pub(super) struct Notice {
    /// The program's.
    pub(super) version: String,
    pub(super) pid: u32,
    port: u16,
    pass: Pass,
}

/// Where others knock, until it is dropped.
pub(super) struct Door {
    address: PathBuf,
    pass: Pass,
}

/// What both ends know: the token, and which folder it is for. A store that was copied brings the token along.
#[derive(Clone, Copy)]
pub(super) struct Pass([u8; KEY_BYTES]);

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pass(_)")
    }
}

/// Which end shows that it knows the token.
#[derive(Clone, Copy)]
enum End {
    Asking,
    Answering,
}

impl Door {
    /// Listens, and says so in a file beside the owner's.
    pub(super) fn open(store: &Path, _owner: &File) -> io::Result<(Listener, Door)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let token = blake3::Hash::from_bytes(drawn()?);
        let said = Said {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            port: listener.local_addr()?.port(),
            token: token.to_hex().to_string(),
        };
        let listener = Listener::from_std(listener)?;
        let door = Door {
            address: place::path_of(store, ADDRESS),
            pass: Pass::of(&token, store),
        };
        // Nobody reads half of it, and that of an owner that was killed makes room.
        let new = door.address.with_extension("new");
        std::fs::write(&new, serde_json::to_vec(&said)?)?;
        std::fs::rename(&new, &door.address)?;
        Ok((listener, door))
    }

    pub(super) fn pass(&self) -> Pass {
        self.pass
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.address);
    }
}

impl Pass {
    fn of(token: &blake3::Hash, store: &Path) -> Pass {
        let store = store.as_os_str().as_encoded_bytes();
        Pass(*blake3::keyed_hash(token.as_bytes(), store).as_bytes())
    }

    /// What shows that an end knows it, for one connection: who overhears that may show it to the same owner once more, and
    /// to no other.
    fn shown(self, end: End, once: &[u8; KEY_BYTES]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(match end {
            End::Asking => b"asks",
            End::Answering => b"answers",
        });
        hasher.update(once).finalize()
    }

    /// Whether the other end may ask: it knows the token, and is shown that it is known here.
    pub(super) fn admits(self, mut stream: &Stream) -> bool {
        let mut said = [0; 2 * KEY_BYTES];
        if read_within(stream, &mut said, SHOWN_WITHIN).is_err() {
            return false;
        }
        let (once, shown) = halves(&said);
        // Compared in constant time.
        if blake3::Hash::from_bytes(shown) != self.shown(End::Asking, &once) {
            return false;
        }
        let answer = self.shown(End::Answering, &once);
        stream.write_all(answer.as_bytes()).is_ok() && stream.set_read_timeout(None).is_ok()
    }
}

/// One that came.
pub(super) fn taken(stream: tokio::net::TcpStream) -> io::Result<Option<Stream>> {
    let stream = stream.into_std()?;
    // It may be gone already.
    let _ = stream.set_nodelay(true);
    Ok(Some(stream))
}

/// A connection to an owner that knows the token.
pub(super) fn connected(notice: &Notice) -> io::Result<Stream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, notice.port));
    let begun = Instant::now();
    let mut stream = Stream::connect_timeout(&address, CONNECT_MAX)?;
    stream.set_nodelay(true)?;
    let once = drawn()?;
    let mut said = [0; 2 * KEY_BYTES];
    said[..KEY_BYTES].copy_from_slice(&once);
    said[KEY_BYTES..].copy_from_slice(notice.pass.shown(End::Asking, &once).as_bytes());
    stream.write_all(&said)?;
    let mut shown = [0; KEY_BYTES];
    read_within(
        &stream,
        &mut shown,
        CONNECT_MAX.saturating_sub(begun.elapsed()),
    )?;
    match blake3::Hash::from_bytes(shown) == notice.pass.shown(End::Answering, &once) {
        true => Ok(stream),
        false => Err(io::Error::other("somebody else has the owner's port")),
    }
}

/// Fills the buffer, however little comes at a time.
fn read_within(mut stream: &Stream, buffer: &mut [u8], within: Duration) -> io::Result<()> {
    let begun = Instant::now();
    let mut filled = 0;
    while filled < buffer.len() {
        let left = within.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => filled += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn halves(said: &[u8; 2 * KEY_BYTES]) -> ([u8; KEY_BYTES], [u8; KEY_BYTES]) {
    let mut halves = ([0; KEY_BYTES], [0; KEY_BYTES]);
    halves.0.copy_from_slice(&said[..KEY_BYTES]);
    halves.1.copy_from_slice(&said[KEY_BYTES..]);
    halves
}

/// Bytes that nobody can guess.
fn drawn() -> io::Result<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Whether the other end is closed.
pub(super) fn has_hung_up(stream: &Stream) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::IN)];
    let now = Timespec::default();
    let is_readable = poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0);
    // The end of what comes is there to be read, too.
    is_readable && !stream.peek(&mut [0]).is_ok_and(|len| len > 0)
}

/// Nothing is written: there is no way to write to a socket that waits without waiting, so another thread does it.
pub(super) fn send_at_once(_: &Stream, _: &[u8]) -> io::Result<usize> {
    Ok(0)
}

/// Whether an error may be over by the next time: no room, or too few handles or buffers.
pub(super) fn passes(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, OutOfMemory, QuotaExceeded, StorageFull, WouldBlock};
    // ERROR_TOO_MANY_OPEN_FILES, ERROR_NO_SYSTEM_RESOURCES, WSAEMFILE and WSAENOBUFS; and somebody has a file open:
    // ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION and ERROR_DELETE_PENDING.
    let numbers = [4, 1450, 10024, 10055, 5, 32, 33, 303];
    let kinds = [
        Interrupted,
        OutOfMemory,
        QuotaExceeded,
        StorageFull,
        WouldBlock,
    ];
    kinds.contains(&error.kind()) || error.raw_os_error().is_some_and(|it| numbers.contains(&it))
}

/// What the owner of a store says, if there is one. One that was killed leaves its word behind, and an address that
/// nobody listens at is waited for there.
pub(super) fn notice(store: &Path) -> Option<Notice> {
    if !place::is_taken(store) {
        return None;
    }
    let (_, bytes) = place::read(store, ADDRESS)?;
    let said: Said = serde_json::from_slice(&bytes).ok()?;
    let token = blake3::Hash::from_hex(&said.token).ok()?;
    let pass = Pass::of(&token, &store.canonicalize().ok()?);
    (said.protocol == PROTOCOL).then_some(Notice {
        version: said.version,
        pid: said.pid,
        port: said.port,
        pass,
    })
}

/// Why no process can be the owner, where that is seen.
pub(crate) fn what_bars(store: &Path) -> Option<&'static str> {
    let seen = |path: &Path| std::fs::symlink_metadata(path).ok();
    if seen(&store.join(FOLDER)).is_some_and(|it| !it.is_dir()) {
        return Some("sock is not a folder");
    }
    let is_odd = |name| seen(&place::path_of(store, name)).is_some_and(|it| !it.is_file());
    if is_odd(OWNER) {
        return Some("sock/owner is not a file");
    }
    is_odd(ADDRESS).then_some("sock/address is not a file")
}

pub(super) fn opened() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// Makes a folder; who may look into it is what the store's folder says.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn pass_of(token: u8, store: &str) -> Pass {
        Pass::of(
            &blake3::Hash::from_bytes([token; KEY_BYTES]),
            Path::new(store),
        )
    }

    /// What becomes of somebody who knocks with one token at a door with another: on this side, and on that.
    fn knocked(asks: Pass, answers: Pass) -> (io::Result<Stream>, bool) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("it listens");
        let notice = Notice {
            version: String::new(),
            pid: 1,
            port: listener.local_addr().expect("an address").port(),
            pass: asks,
        };
        let answering = thread::spawn(move || {
            let (stream, _) = listener.accept().expect("somebody knocks");
            answers.admits(&stream)
        });
        let connected = connected(&notice);
        (connected, answering.join().expect("it is decided"))
    }

    #[test]
    fn only_who_knows_the_token_of_this_store_is_let_in() {
        let (stream, admitted) = knocked(pass_of(1, "/a"), pass_of(1, "/a"));
        assert!(admitted);
        assert!(has_hung_up(&stream.expect("a connection")));
        for other in [pass_of(2, "/a"), pass_of(1, "/b")] {
            let (stream, admitted) = knocked(pass_of(1, "/a"), other);
            assert!(!admitted && stream.is_err());
        }
    }

    /// The port of an owner that is gone may be another user's by now.
    #[test]
    fn nothing_is_asked_of_one_that_only_repeats_what_it_was_told() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("it listens");
        let notice = Notice {
            version: String::new(),
            pid: 1,
            port: listener.local_addr().expect("an address").port(),
            pass: pass_of(1, "/a"),
        };
        let answering = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody knocks");
            let mut said = [0; 2 * KEY_BYTES];
            stream
                .read_exact(&mut said)
                .expect("it shows what it knows");
            stream.write_all(&said[KEY_BYTES..]).expect("it is told");
        });
        let refused = connected(&notice).expect_err("it is somebody else");
        assert!(refused.to_string().contains("port"), "{refused}");
        answering.join().expect("it answers");
    }

    /// Bytes that come one by one are waited for no longer than none.
    #[test]
    fn who_shows_nothing_is_not_waited_for() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("it listens");
        let mut far = Stream::connect(listener.local_addr().expect("an address")).expect("it is");
        let (near, _) = listener.accept().expect("somebody knocks");
        let sending = thread::spawn(move || {
            while far.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(100));
            }
        });
        let begun = Instant::now();
        assert!(!pass_of(1, "/a").admits(&near));
        assert!(begun.elapsed() < Duration::from_secs(3));
        drop(near);
        sending.join().expect("it ends with the other end");
    }

    /// What an owner says counts while it has the role, in its own folder, and in this language.
    #[tokio::test]
    async fn who_reads_what_the_owner_says_finds_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let [store, copy] = ["store", "copy"].map(|name| folder.path().join(name));
        let sock = |store: &Path| store.join(FOLDER);
        std::fs::create_dir_all(sock(&store)).expect("a folder");
        std::fs::create_dir_all(sock(&copy)).expect("a folder");
        let owner = File::create(sock(&store).join(OWNER)).expect("a file");
        let whole = store.canonicalize().expect("a path");
        let (listener, door) = Door::open(&whole, &owner).expect("it listens");
        assert!(notice(&store).is_none(), "nobody has the role");
        owner.lock().expect("it is free");
        let said = notice(&store).expect("an owner");
        assert_eq!(said.pid, std::process::id());
        assert_eq!(said.version, env!("CARGO_PKG_VERSION"));
        assert!(!format!("{said:?}").contains(&format!("{:?}", door.pass.0)));

        let pass = door.pass();
        let admitted = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("somebody knocks");
            let stream = taken(stream).expect("a socket").expect("one that counts");
            stream.set_nonblocking(false).expect("it waits");
            tokio::task::spawn_blocking(move || pass.admits(&stream)).await
        });
        let asked = tokio::task::spawn_blocking(move || connected(&said)).await;
        asked.expect("no panic").expect("it is let in");
        assert!(admitted.await.expect("no panic").expect("no panic"));

        // A copy brings the word along, and is another store: so its token is no use.
        let there = sock(&copy).join(OWNER);
        std::fs::copy(sock(&store).join(ADDRESS), sock(&copy).join(ADDRESS)).expect("copied");
        let other = File::create(there).expect("a file");
        other.lock().expect("it is free");
        let copied = notice(&copy).expect("a word");
        assert_ne!(copied.pass.0, door.pass.0);

        let address = sock(&store).join(ADDRESS);
        let said = std::fs::read_to_string(&address).expect("it is there");
        let later = said.replace("\"protocol\":1", "\"protocol\":2");
        assert_ne!(later, said);
        std::fs::write(&address, later).expect("written");
        assert!(notice(&store).is_none());
        drop(door);
        assert!(!address.exists());
    }

    #[test]
    fn an_open_end_has_not_hung_up() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("it listens");
        let mut far = Stream::connect(listener.local_addr().expect("an address")).expect("it is");
        let (near, _) = listener.accept().expect("somebody knocks");
        assert!(!has_hung_up(&near));
        far.write_all(b"asked").expect("it is sent");
        near.peek(&mut [0]).expect("it comes");
        assert!(!has_hung_up(&near));
    }
}
