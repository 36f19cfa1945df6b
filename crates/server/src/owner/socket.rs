//! The socket of the owner: a Unix socket, for this user only.

use std::fs::{File, Metadata};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::PROTOCOL;
use super::file;
use super::file::{FOLDER, OWNER, is_own, is_private, private_folder};

pub(super) use std::os::unix::net::UnixStream as Stream;
pub(super) use tokio::net::UnixListener as Listener;

/// Name of the socket in the folder of the store, if its path is short enough.
const SOCKET: &str = "icm.sock";
/// Longest path of a socket, in bytes, that every Unix accepts.
const SOCKET_MAX_BYTES: usize = 103;

/// The notice that the owner writes into the file it has locked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Notice {
    protocol: u32,
    /// Version of the program.
    pub(super) version: String,
    pub(super) pid: u32,
    socket: PathBuf,
}

/// The listening socket and its notice, both removed on drop.
pub(super) struct Door {
    socket: PathBuf,
    /// Device and inode of the socket.
    bound: (u64, u64),
    said: File,
}

impl Door {
    /// Listens, and writes the notice into the owner's file.
    pub(super) fn open(store: &Path, owner: &File) -> io::Result<(Listener, Door)> {
        let said = owner.try_clone()?;
        let socket = socket_path(store)?;
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = Listener::bind(&socket)?;
        // From here on, dropping the `Door` removes the socket.
        let found = socket.symlink_metadata()?;
        let bound = (found.dev(), found.ino());
        let mut door = Door {
            socket,
            bound,
            said,
        };
        std::fs::set_permissions(&door.socket, PermissionsExt::from_mode(0o600))?;
        let notice = Notice {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            socket: door.socket.clone(),
        };
        door.said.set_len(0)?;
        door.said.rewind()?;
        door.said.write_all(&serde_json::to_vec(&notice)?)?;
        Ok((listener, door))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // A process that still has the notice finds nobody at the socket.
        let _ = self.said.set_len(0);
        // If the folder was removed, another process may listen under the same path by now.
        let found = self.socket.symlink_metadata();
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.bound) {
            let _ = std::fs::remove_file(&self.socket);
        }
    }
}

/// Returns an accepted connection; `None` if another user's process has connected.
pub(super) fn taken(stream: tokio::net::UnixStream) -> io::Result<Option<Stream>> {
    let own = geteuid().as_raw();
    match stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
        true => stream.into_std().map(Some),
        false => Ok(None),
    }
}

/// Connects to the owner. Fails at once if the queue of connections not yet accepted is full.
pub(super) fn connected(notice: &Notice) -> io::Result<Stream> {
    let unix = rustix::net::AddressFamily::UNIX;
    let fd = rustix::net::socket(unix, rustix::net::SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)?;
    let stream = Stream::from(fd);
    stream.set_nonblocking(true)?;
    rustix::net::connect(&stream, &rustix::net::SocketAddrUnix::new(&notice.socket)?)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Returns `true` if the other end is closed.
pub(super) fn has_hung_up(stream: &Stream) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec::default();
    poll(&mut polled, Some(&now)).is_ok_and(|_| polled[0].revents().contains(PollFlags::HUP))
}

/// Returns `true` if an error may pass: no space, or too few descriptors or threads.
pub(super) fn passes(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let kinds = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::NOMEM,
        Errno::AGAIN,
        Errno::INTR,
    ];
    Errno::from_io_error(error).is_some_and(|errno| kinds.contains(&errno))
}

/// Reads the notice of a store's owner; `None` if there is none, or it is not trusted.
pub(super) fn notice(store: &Path) -> Option<Notice> {
    let (file, bytes) = file::read(store)?;
    // The socket is chosen by the notice, so only a notice of this user counts.
    is_own(&file.metadata().ok()?).then_some(())?;
    if bytes.is_empty() {
        return None;
    }
    let notice: Notice = serde_json::from_slice(&bytes).ok()?;
    let socket = std::fs::symlink_metadata(&notice.socket).ok()?;
    let lies_in = notice.socket.parent()?.metadata().ok()?;
    let trusted = socket.file_type().is_socket() && is_own(&socket) && is_private(&lies_in);
    let counts = notice.protocol == PROTOCOL && trusted;
    (counts && is_this_stores(store, &notice.socket, &lies_in)).then_some(notice)
}

/// Returns `true` if a socket belongs to this store, by the folder that it lies in. A copied or moved store brings
/// along the notice of the other store's owner.
fn is_this_stores(store: &Path, socket: &Path, lies_in: &Metadata) -> bool {
    let own = store.join(FOLDER).metadata();
    if own.is_ok_and(|own| (own.dev(), own.ino()) == (lies_in.dev(), lies_in.ino())) {
        return socket.file_name() == Some(SOCKET.as_ref());
    }
    let far = store.canonicalize().map(|store| far_name(&store));
    far.is_ok_and(|name| socket.file_name() == Some(name.as_ref()))
}

/// Returns the name of a store's socket in the folder shared by several stores.
fn far_name(store: &Path) -> String {
    let name = blake3::hash(store.as_os_str().as_encoded_bytes()).to_hex();
    format!("{}.sock", &name[..16])
}

/// Returns `true` if `path` is the usual place of the store's socket, and a socket lies there.
pub(crate) fn is_socket_of(store: &Path, path: &Path) -> bool {
    let is_socket = || {
        path.symlink_metadata()
            .is_ok_and(|it| it.file_type().is_socket())
    };
    path == store.join(FOLDER).join(SOCKET) && is_socket()
}

/// Returns the reason why no process of this user can be the owner, as far as the files show it.
pub(crate) fn what_bars(store: &Path) -> Option<&'static str> {
    let seen = |path: &Path| std::fs::symlink_metadata(path).ok();
    let folder = store.join(FOLDER);
    if seen(&folder).is_some_and(|it| !(it.is_dir() && is_own(&it))) {
        return Some("sock is not a folder of this user");
    }
    let is_odd = seen(&folder.join(OWNER)).is_some_and(|it| !(it.is_file() && is_own(&it)));
    is_odd.then_some("sock/owner is not a file of this user")
}

/// Returns the path for the socket of a store: in its folder, or, if that is too long, in a folder for sockets of this
/// user.
fn socket_path(store: &Path) -> io::Result<PathBuf> {
    let near = store.join(FOLDER).join(SOCKET);
    let fits = |path: &Path| path.as_os_str().len() <= SOCKET_MAX_BYTES;
    if fits(&near) {
        return Ok(near);
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|dir| dir.is_absolute());
    let own = format!("icm-{}", geteuid().as_raw());
    let folder = match &runtime {
        Some(dir) => dir.join("icm"),
        None => std::env::temp_dir().join(own),
    };
    let far = folder.join(far_name(store));
    if !fits(&far) {
        let why = format!(
            "{} is too long for a socket, which takes {SOCKET_MAX_BYTES} bytes: give the store a shorter \
             path, or set XDG_RUNTIME_DIR",
            near.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    private_folder(&folder)?;
    Ok(far)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::owner::election::Claim;

    #[tokio::test]
    async fn one_has_the_role_and_who_comes_after_finds_a_clean_place() {
        let store = tempfile::tempdir().expect("a folder");
        let store = store.path();
        assert!(notice(store).is_none());
        let mut first = Claim::take(store).expect("it can be").expect("it is free");
        assert!(Claim::take(store).expect("it can be").is_none());
        assert!(notice(store).is_none(), "nobody listens yet");
        let _listening = first.listen(store).expect("it listens");
        let path = store
            .canonicalize()
            .expect("a path")
            .join(FOLDER)
            .join(SOCKET);
        let told = notice(store).expect("a notice");
        assert_eq!((told.pid, &told.socket), (std::process::id(), &path));
        let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&store.join(FOLDER)), 0o700);

        // An owner with another protocol is not asked.
        let notice_file = store.join(FOLDER).join(OWNER);
        let said = std::fs::read_to_string(&notice_file).expect("it is there");
        let other = said.replace("\"protocol\":1", "\"protocol\":2");
        assert_ne!(other, said);
        std::fs::write(&notice_file, other).expect("written");
        assert!(notice(store).is_none());
        std::fs::write(&notice_file, said).expect("written");
        assert!(notice(store).is_some());

        // A socket in a folder that others can read is not trusted.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(store.join(FOLDER), open).expect("it is opened");
        assert!(notice(store).is_none());
        drop(first);
        assert!(!path.exists());
        let again = Claim::take(store).expect("it can be").expect("it is free");
        assert_eq!(mode(&store.join(FOLDER)), 0o700);
        assert!(notice(store).is_none());
        drop(again);
    }

    #[tokio::test]
    async fn an_owner_that_lost_the_folder_leaves_the_next_owner_its_socket() {
        let store = tempfile::tempdir().expect("a folder");
        let store = store.path();
        let mut first = Claim::take(store).expect("it can be").expect("it is free");
        let _listening = first.listen(store).expect("it listens");
        std::fs::remove_dir_all(store.join(FOLDER)).expect("it is removed");
        let mut second = Claim::take(store).expect("it can be").expect("it is free");
        let _listening_too = second.listen(store).expect("it listens");
        drop(first);
        assert!(notice(store).is_some());
        drop(second);
        assert!(notice(store).is_none());
    }

    /// A stopped owner accepts no connections, so its queue fills in the end.
    #[test]
    fn nobody_waits_for_room_at_an_owner_that_takes_no_connections() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).expect("it listens");
        rustix::net::listen(&listener, 1).expect("it listens for few");
        let notice = Notice {
            protocol: PROTOCOL,
            version: String::new(),
            pid: 1,
            socket: path,
        };
        let mut held = Vec::new();
        let refused = loop {
            match connected(&notice) {
                Ok(stream) => held.push(stream),
                Err(error) => break error,
            }
            assert!(held.len() < 100, "the room has an end");
        };
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock, "{refused}");
    }

    #[test]
    fn a_long_path_has_its_socket_elsewhere() {
        let store = tempfile::tempdir().expect("a folder");
        let long = store.path().join("a".repeat(120));
        std::fs::create_dir(&long).expect("a folder");
        let path = socket_path(&long.canonicalize().expect("a path"));
        // If the folder for sockets is too deep as well, the error says what to do.
        match path {
            Ok(path) => {
                assert!(path.as_os_str().len() <= SOCKET_MAX_BYTES);
                assert!(!path.starts_with(&long));
            }
            Err(error) => assert!(error.to_string().contains("XDG_RUNTIME_DIR"), "{error}"),
        }
    }

    #[test]
    fn files_that_are_no_notice_are_none() {
        let store = tempfile::tempdir().expect("a folder");
        let store = store.path();
        drop(Claim::take(store).expect("it can be"));
        for bytes in [
            &b"{"[..],
            b"\xff\xfe",
            br#"{"protocol":1,"version":"9","pid":1,"socket":"/etc/passwd"}"#,
            br#"{"protocol":1,"version":"9","pid":1,"socket":"relative"}"#,
        ] {
            std::fs::write(store.join(FOLDER).join(OWNER), bytes).expect("written");
            assert!(notice(store).is_none());
        }
    }
}
