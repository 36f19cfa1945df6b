//! An input that ends when the process is asked to.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

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

/// Cancels the token when the process is asked to end.
pub(crate) async fn on_signal(stop: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut int)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
        ) else {
            return;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    tracing::info!("asked to end: what was asked is still answered");
    stop.cancel();
}
