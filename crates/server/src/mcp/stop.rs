//! Streams that end when the process is asked to.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// How long a write that nobody reads is waited for once the process is asked to end. Whoever starts servers often kills
/// what is there after 10 s.
const UNREAD_MAX: Duration = Duration::from_secs(5);

/// Reads as `inner` does, until the token is cancelled: then it is at its end.
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

/// Writes as `inner` does; once the token is cancelled it fails when nothing can be written for [`UNREAD_MAX`].
pub(super) struct WhileRead<W> {
    inner: W,
    stop: CancellationToken,
    /// Waits since the last byte that could be written.
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
                tokio::time::sleep(UNREAD_MAX).await;
            })
        });
        unread.as_mut().poll(cx).map(|()| {
            let why = format!("nobody reads them for {} s", UNREAD_MAX.as_secs());
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        })
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

/// Cancels the token when the process is asked to end. Asked once more it ends at once.
pub(crate) async fn on_signal(stop: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        // As by nohup. Asked before anybody listens for it.
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
            // The terminal is closed; several may say so.
            () = closed => {}
        }
        end(&stop);
        let number = tokio::select! {
            _ = term.recv() => libc::SIGTERM,
            _ = int.recv() => libc::SIGINT,
        };
        tracing::warn!("asked to end once more: nothing is waited for");
        std::process::exit(128 + number);
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_ok() {
        end(&stop);
    }
}

/// Whether the process is to outlive its terminal.
#[cfg(unix)]
#[allow(unsafe_code)]
fn ignores_hangups() -> bool {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: changes nothing, and writes how it is to a place of that size; zeroes are a value of it.
    unsafe {
        libc::sigaction(libc::SIGHUP, std::ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

fn end(stop: &CancellationToken) {
    tracing::info!("asked to end: what was asked is still answered");
    stop.cancel();
}
