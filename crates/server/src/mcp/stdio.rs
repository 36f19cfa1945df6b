//! Standard input and output as streams that need no thread each.
//!
//! What a client gives a server it starts is a pair of pipes (Python, shells) or of sockets
//! (everything on Node). Both can be polled, pipes on Linux alone; anything else, such as a terminal or a file, is
//! read by a thread of its own, at two thread switches a message.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// What the thread reads at once, at most.
const READ_LEN: usize = 64 * 1_024;

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The pair. Must be called inside a tokio runtime with I/O enabled.
pub(super) fn open() -> (Input, Output) {
    #[cfg(unix)]
    if let Some((input, output)) = sockets() {
        return (Box::new(input), Box::new(output));
    }
    (input(), output())
}

fn input() -> Input {
    // Opened once more, a pipe is non-blocking for nobody else. Neither works for a pipe of another user.
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
    // Not std's own stream: a write that nobody reads would hold its lock, which the end of the process waits for.
    #[cfg(unix)]
    if let Ok(own) = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned() {
        return Box::new(tokio::fs::File::from_std(own.into()));
    }
    Box::new(tokio::io::stdout())
}

/// Standard input, read by a thread that nothing waits for: tokio waits for its own at the end, and a read of a terminal
/// cannot be broken off.
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

/// Both streams, if both are sockets and standard error is not the same one: a socket is made
/// non-blocking for everybody who holds it, and whoever logs to it does not expect that.
#[cfg(unix)]
fn sockets() -> Option<(tokio::net::UnixStream, tokio::net::UnixStream)> {
    use std::fs::File;
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
