//! Streams that end when the process is asked to end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use icm_wait::bounds;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Time between two looks for the parent process, 2 s. Raised, orphans stay longer; lowered, an idle server wakes up
/// more often for nothing.
#[cfg(unix)]
const PARENT_LOOK: Duration = Duration::from_secs(2);

/// Reads from `inner` until the token is cancelled, then returns the end of input.
pub(super) struct Until<R> {
    inner: R,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<R> Until<R> {
    pub(super) fn new(inner: R, stop: CancellationToken) -> Until<R> {
        Until {
            inner,
            stop: Box::pin(stop.cancelled_owned()),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Until<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.stop.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

/// Writes to `inner`. Once the token is cancelled, a write that takes longer than [`bounds::PROCESS`] fails.
pub(super) struct WhileRead<W> {
    inner: W,
    stop: CancellationToken,
    /// Timer of the pending write.
    unread: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<W: AsyncWrite + Unpin> WhileRead<W> {
    pub(super) fn new(inner: W, stop: CancellationToken) -> WhileRead<W> {
        WhileRead {
            inner,
            stop,
            unread: None,
        }
    }

    fn bounded<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut W>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = write(Pin::new(&mut self.inner), cx);
        if written.is_ready() {
            self.unread = None;
            return written;
        }
        let unread = self.unread.get_or_insert_with(|| {
            let stop = self.stop.clone();
            Box::pin(async move {
                stop.cancelled().await;
                // Clients often kill a server that still runs after 10 s.
                icm_wait::pause_async(bounds::PROCESS).await;
            })
        });
        ready!(unread.as_mut().poll(cx));
        self.unread = None;
        let why = format!(
            "nothing could be written for {} s",
            bounds::PROCESS.as_secs()
        );
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for WhileRead<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.bounded(cx, |inner, cx| inner.poll_write(cx, buf))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bounded(cx, |inner, cx| inner.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bounded(cx, |inner, cx| inner.poll_shutdown(cx))
    }
}

/// Cancels the token at the first signal to end. A second signal ends the process at once.
pub(crate) async fn on_signal(stop: CancellationToken) {
    #[cfg(unix)]
    {
        use std::time::Instant;

        use tokio::signal::unix::{SignalKind, signal};

        // `nohup` ignores hang-ups. This is read before the first listener changes the handler.
        let ignored = ignores_hangups();
        let (Ok(mut term), Ok(mut int)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
        ) else {
            return;
        };
        let closed = async {
            if ignored {
                return std::future::pending().await;
            }
            match signal(SignalKind::hangup()) {
                Ok(mut hangup) => _ = hangup.recv().await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
            // The terminal was closed; several processes may announce that, so this signal never counts as the second
            // one.
            () = closed => {}
        }
        end(&stop);
        let asked = Instant::now();
        let number = loop {
            let number = tokio::select! {
                _ = term.recv() => libc::SIGTERM,
                _ = int.recv() => libc::SIGINT,
            };
            // A second signal right after the first is the same request: a wrapper passes on the signal of the
            // terminal.
            if asked.elapsed() > bounds::MOMENT {
                break number;
            }
        };
        tracing::warn!("asked to end once more: nothing is waited for");
        std::process::exit(128 + number);
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_ok() {
        end(&stop);
    }
}

/// Cancels the token once the parent process has ended. The end of input does not always show that: a sibling may hold
/// the other end of the pipe open. A server started by the first process of the machine goes on.
#[cfg(unix)]
pub(super) async fn with_parent(stop: CancellationToken) {
    use std::os::unix::process::parent_id;

    const FIRST_PROCESS: u32 = 1;
    let parent = parent_id();
    if parent == FIRST_PROCESS {
        return;
    }
    let mut looks = tokio::time::interval(PARENT_LOOK);
    while parent_id() == parent {
        looks.tick().await;
    }
    tracing::info!(parent, "the process that started the server has ended");
    end(&stop);
}

/// Does nothing on Windows, which does not report a change of parent; only the end of input ends the server.
#[cfg(not(unix))]
pub(super) async fn with_parent(_: CancellationToken) {}

/// Returns `true` if the process must outlive its terminal.
#[cfg(unix)]
#[allow(unsafe_code)]
fn ignores_hangups() -> bool {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the call changes nothing and writes into a place of the right size; zeroes are a valid `sigaction`.
    unsafe {
        libc::sigaction(libc::SIGHUP, std::ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

fn end(stop: &CancellationToken) {
    tracing::info!("asked to end: what was asked is still answered");
    stop.cancel();
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{Instant, sleep, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_is_given_up_when_it_is_asked_to_end_and_nobody_reads() {
        let (inner, mut reader) = duplex(4);
        let stop = CancellationToken::new();
        let mut writer = WhileRead::new(inner, stop.clone());
        writer.write_all(b"full").await.expect("there is room");
        let hour = Duration::from_secs(3_600);
        let waiting = timeout(hour, writer.write_all(b"-")).await;
        waiting.expect_err("nobody has asked it to end");
        stop.cancel();
        let slow = async {
            for _ in 0..8 {
                sleep(bounds::PROCESS - Duration::from_millis(10)).await;
                reader.read_u8().await.expect("a byte");
            }
        };
        let both = async { tokio::join!(slow, writer.write_all(b"by eight")) };
        let (_, written) = timeout(hour, both).await.expect("it goes on");
        written.expect("somebody reads");
        let begun = Instant::now();
        let given_up = writer.write_all(b"-").await.expect_err("nobody reads");
        assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), bounds::PROCESS.as_secs());
        // The stream can be used further.
        writer.shutdown().await.expect("nothing is left to write");
    }
}
