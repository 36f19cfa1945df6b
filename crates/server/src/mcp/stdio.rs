//! Standard input and output as asynchronous streams.
//!
//! A client starts a server with a pair of pipes (Python, shells) or of sockets (everything on Node). Sockets can be
//! polled, pipes on Linux only. All other files, such as a terminal, are read and written by threads of their own,
//! which costs two thread switches a message. These threads are not tokio's: tokio waits for its threads at the end,
//! and a blocking read cannot be interrupted.

use std::fs::File;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// Bytes that a thread reads at once, at most. Raised, large inputs need fewer thread switches.
const READ_LEN: usize = 64 * 1_024;
/// Bytes that a thread writes at once, at most. Raised, a slow reader may not take them within the time of
/// [`super::stop`], and is given up.
const WRITE_LEN: usize = 4 * 1_024;

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens both streams. Must be called inside a tokio runtime with I/O enabled.
///
/// # Errors
/// A stream that cannot be used: a folder, or a file open for the other direction only.
pub(super) fn open() -> io::Result<(Input, Output)> {
    #[cfg(unix)]
    {
        check(&io::stdin(), rustix::fs::OFlags::WRONLY, "standard input")?;
        check(&io::stdout(), rustix::fs::OFlags::RDONLY, "standard output")?;
        if let Some((input, output)) = sockets() {
            return Ok((Box::new(input), Box::new(output)));
        }
    }
    Ok((input(), output()))
}

/// Refuses a folder, and a stream opened in the mode `wrong`. This must be checked, because a pipe can be reopened for
/// either direction.
#[cfg(unix)]
fn check(stream: &dyn std::os::fd::AsFd, wrong: rustix::fs::OFlags, name: &str) -> io::Result<()> {
    use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};

    let opened = fcntl_getfl(stream.as_fd())?;
    let why = if opened & OFlags::RWMODE == wrong {
        "is open for the other direction alone"
    } else if FileType::from_raw_mode(fstat(stream.as_fd())?.st_mode) == FileType::Directory {
        "is a folder"
    } else {
        return Ok(());
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("{name} {why}"),
    ))
}

fn input() -> Input {
    // A reopened pipe is non-blocking for this process only. Reopening fails for a pipe of another user.
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
        return Box::new(pipe);
    }
    Box::new(ReadApart::stdin())
}

fn output() -> Output {
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
        return Box::new(pipe);
    }
    match own_stdout() {
        Ok(output) => Box::new(WriteApart::to(output)),
        // There is no standard output, as for a Windows program without a console.
        Err(_) => Box::new(tokio::io::sink()),
    }
}

/// Returns standard output as a file apart from std's own stream. A write that nobody reads would hold the lock of
/// std's stream, and a flush elsewhere would wait for it.
fn own_stdout() -> io::Result<File> {
    #[cfg(unix)]
    let own = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let own = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    own.map(File::from)
}

/// Standard input, read by a thread.
struct ReadApart {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// Bytes received from the thread and not read yet.
    rest: io::Cursor<Vec<u8>>,
}

impl ReadApart {
    fn stdin() -> ReadApart {
        let (give, chunks) = mpsc::channel(1);
        thread::spawn(move || {
            let mut buffer = vec![0; READ_LEN];
            loop {
                let chunk = match io::stdin().read(&mut buffer) {
                    Ok(0) => return,
                    Ok(len) => Ok(buffer[..len].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    #[cfg(unix)]
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        wait(&io::stdin(), rustix::event::PollFlags::IN);
                        continue;
                    }
                    Err(error) => Err(error),
                };
                let is_last = chunk.is_err();
                if give.blocking_send(chunk).is_err() || is_last {
                    return;
                }
            }
        });
        ReadApart {
            chunks,
            rest: io::Cursor::default(),
        }
    }
}

impl AsyncRead for ReadApart {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.position() == self.rest.get_ref().len() as u64 {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.rest = io::Cursor::new(chunk?),
                None => return Poll::Ready(Ok(())),
            }
        }
        Pin::new(&mut self.rest).poll_read(cx, buf)
    }
}

/// A file that a thread writes to.
struct WriteApart {
    chunks: mpsc::Sender<Vec<u8>>,
    written: mpsc::Receiver<io::Result<()>>,
    /// `true` while the thread writes a chunk.
    is_busy: bool,
}

impl WriteApart {
    fn to(mut output: File) -> WriteApart {
        let (chunks, mut taken) = mpsc::channel::<Vec<u8>>(1);
        let (tell, written) = mpsc::channel(1);
        thread::spawn(move || {
            while let Some(chunk) = taken.blocking_recv() {
                if tell
                    .blocking_send(write_whole(&mut output, &chunk))
                    .is_err()
                {
                    return;
                }
            }
        });
        WriteApart {
            chunks,
            written,
            is_busy: false,
        }
    }
}

fn write_whole(output: &mut File, mut rest: &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        match output.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(len) => rest = &rest[len..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            #[cfg(unix)]
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                wait(output, rustix::event::PollFlags::OUT);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until a stream is ready. Another program with the same stream may have made it non-blocking.
#[cfg(unix)]
fn wait(stream: &dyn std::os::fd::AsFd, until: rustix::event::PollFlags) {
    let fd = stream.as_fd();
    // The next read or write reports any error.
    let _ = rustix::event::poll(
        &mut [rustix::event::PollFd::from_borrowed_fd(fd, until)],
        None,
    );
}

impl AsyncWrite for WriteApart {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_flush(cx))?;
        let chunk = &buf[..buf.len().min(WRITE_LEN)];
        let given = self.chunks.try_send(chunk.to_vec());
        given.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        self.is_busy = true;
        Poll::Ready(Ok(chunk.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_busy {
            let written = ready!(self.written.poll_recv(cx));
            self.is_busy = false;
            return Poll::Ready(written.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

/// Returns both streams if both are sockets and standard error is not the same socket. A socket becomes non-blocking
/// for all its holders, and programs that log to standard error do not expect that.
#[cfg(unix)]
fn sockets() -> Option<(tokio::net::UnixStream, tokio::net::UnixStream)> {
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::os::unix::net::UnixStream;

    let own = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().ok().map(File::from);
    let input = own(&std::io::stdin())?;
    let output = own(&std::io::stdout())?;
    let output_is = output.metadata().ok()?;
    let errors_are = own(&std::io::stderr()).and_then(|errors| errors.metadata().ok());
    if !input.metadata().ok()?.file_type().is_socket()
        || !output_is.file_type().is_socket()
        || errors_are.is_some_and(|errors| errors.ino() == output_is.ino())
    {
        return None;
    }
    let polled = |file: File| {
        let socket = UnixStream::from(OwnedFd::from(file));
        socket.set_nonblocking(true).ok()?;
        tokio::net::UnixStream::from_std(socket).ok()
    };
    Some((polled(input)?, polled(output)?))
}
