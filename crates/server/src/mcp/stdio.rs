//! Standard input and output as streams that need no thread each.
//!
//! What a client gives a server it starts is a pair of pipes (Python, shells) or of sockets
//! (everything on Node). Both can be polled, pipes on Linux alone; anything else, such as a terminal or a file, is
//! read and written by threads of their own, at two thread switches a message. Nothing waits for those: tokio waits
//! for its own at the end, and what they do cannot be broken off.

use std::fs::File;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// What a thread reads at once, at most.
const READ_LEN: usize = 64 * 1_024;
/// What a thread writes at once, at most: a reader who takes it within [`super::stop`]'s time is not given up.
const WRITE_LEN: usize = 4 * 1_024;

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The pair. Must be called inside a tokio runtime with I/O enabled.
///
/// # Errors
/// Where one of them cannot be used at all: it is a folder, or open for the other direction alone.
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

/// `wrong` is how it may not be open: a pipe can be opened once more for either direction.
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
    // Opened once more, a pipe is non-blocking for nobody else. That fails for a pipe of another user.
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
        // There is none, as for a Windows program without a console.
        Err(_) => Box::new(tokio::io::sink()),
    }
}

/// Standard output apart from std's own stream, whose lock a write that nobody reads would hold: who flushes that waits for it.
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
    /// What was read and not taken yet.
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
    /// Whether a chunk is not written yet.
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

/// Another program that has the stream may have made it non-blocking, for all who have it.
#[cfg(unix)]
fn wait(stream: &dyn std::os::fd::AsFd, until: rustix::event::PollFlags) {
    let fd = stream.as_fd();
    // Whatever is wrong the next read or write says.
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

/// Both streams, if both are sockets and standard error is not the same one: a socket is made
/// non-blocking for everybody who holds it, and whoever logs to it does not expect that.
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
