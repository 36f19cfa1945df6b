//! Connections: how many, how long one may take to say what it wants, and how they end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use icm_wait::bounds;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections at once; others wait to be taken.
const CONNECTIONS_MAX: usize = 256;
/// Largest head of a request.
const HEAD_MAX_BYTES: usize = 64 << 10;

/// Takes connections until `stop`, then waits for the answers that are under way.
pub(super) async fn until(
    stop: CancellationToken,
    listener: TcpListener,
    app: Router,
    under_way: &TaskTracker,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let unread = Arc::new(AtomicUsize::new(0));
    let open = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        // Also the longest that a client may say nothing.
        .header_read_timeout(bounds::PEER)
        .max_buf_size(HEAD_MAX_BYTES);
    let next = async || {
        // Never closed.
        let permit = Arc::clone(&room).acquire_owned().await.ok()?;
        Some((permit, listener.accept().await))
    };
    while let Some(Some((permit, accepted))) = stop.run_until_cancelled(next()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, as a rule: it passes.
                tracing::debug!(%error, "a connection was not taken");
                icm_wait::pause_async(bounds::LOOK_EVERY).await;
                continue;
            }
        };
        // Small answers must not wait for an acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection is slow");
        }
        let service = TowerToHyperService::new(app.clone());
        // Who does not read an answer does not keep its place for ever.
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(bounds::PEER));
        let stream = TokioIo::new(Watched {
            stream: Box::pin(stream),
            waits: false,
            all: Arc::clone(&unread),
        });
        let connection = open.watch(http.serve_connection(stream, service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
            drop(permit);
        });
    }
    drop(listener);
    under_way.close();
    let answer = async {
        // Each connection ends with the answer that is under way, however much more its client has to ask.
        let mut closing = std::pin::pin!(open.shutdown());
        tokio::select! {
            () = &mut closing => return,
            () = under_way.wait() => {}
        }
        // What is left are bytes of answers, and connections that have asked nothing, or half of something.
        while (tokio::time::timeout(bounds::MOMENT, &mut closing).await).is_err()
            && unread.load(Ordering::Relaxed) > 0
        {}
    };
    if tokio::time::timeout(bounds::PEER, answer).await.is_err() {
        tracing::warn!("some answers took too long and were cut off");
    }
}

/// A connection that is counted in `all` while it has bytes that its client does not take.
struct Watched {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    waits: bool,
    all: Arc<AtomicUsize>,
}

impl Watched {
    fn count<T>(&mut self, written: Poll<T>) -> Poll<T> {
        match (self.waits, written.is_pending()) {
            (false, true) => _ = self.all.fetch_add(1, Ordering::Relaxed),
            (true, false) => _ = self.all.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
        self.waits = written.is_pending();
        written
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.count(Poll::Ready(()));
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(cx, buf)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.stream.as_mut().poll_write(cx, buf);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.stream.as_mut().poll_write_vectored(cx, bufs);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}
