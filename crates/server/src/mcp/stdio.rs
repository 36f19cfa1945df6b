//! Standard input and output as streams that need no thread each.
//!
//! What a client gives a server it starts is a pair of pipes (Python, shells) or of sockets
//! (everything on Node). Both can be polled; anything else, such as a terminal or a file, goes
//! through tokio's blocking threads, at two thread switches a message.

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The pair. Must be called inside a tokio runtime with I/O enabled.
pub(super) fn open() -> (Input, Output) {
    #[cfg(unix)]
    if let Some((input, output)) = sockets() {
        return (Box::new(input), Box::new(output));
    }
    let (input, output) = rmcp::transport::stdio_pipes();
    (Box::new(input), Box::new(output))
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
