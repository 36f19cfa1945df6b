//! Accepts HTTP connections, bounds their number and their times, and closes them at the end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use crate::mcp::{AlertsOfAnswer, FollowUp};
use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
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

/// Connections at the same time; others wait to be accepted. Raised, a server may run out of descriptors.
const CONNECTIONS_MAX: usize = 256;
/// Longest head of a request, in bytes. Raised, connections can take more memory.
const HEAD_MAX_BYTES: usize = 64 << 10;

/// The alerts in answers that a connection has taken from the handler, and whose last byte may not be written yet.
#[derive(Clone, Default)]
pub(super) struct InBuffer(pub(super) AlertsOfAnswer);

/// Accepts connections until `stop`, then waits for the answers that are under way, `bounds::PEER` at most. `follow_up`
/// learns of the alerts in answers that are written.
pub(super) async fn until(
    stop: CancellationToken,
    listener: TcpListener,
    app: Router,
    under_way: &TaskTracker,
    follow_up: &Arc<FollowUp>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let unread = Arc::new(AtomicUsize::new(0));
    let open = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        // This also bounds the time that a connection may stay idle.
        .header_read_timeout(bounds::PEER)
        .max_buf_size(HEAD_MAX_BYTES);
    let next = async || {
        // The semaphore is never closed.
        let permit = Arc::clone(&room).acquire_owned().await.ok()?;
        Some((permit, listener.accept().await))
    };
    while let Some(Some((permit, accepted))) = stop.run_until_cancelled(next()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Usually there are no descriptors left, which passes.
                tracing::debug!(%error, "a connection was not taken");
                icm_wait::pause_async(bounds::LOOK_EVERY).await;
                continue;
            }
        };
        // Small answers must not wait for an acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection is slow");
        }
        let in_buffer = InBuffer::default();
        let app = TowerToHyperService::new(app.clone());
        let service = service_fn({
            let in_buffer = in_buffer.clone();
            move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(in_buffer.clone());
                app.call(request)
            }
        });
        // A client that does not read its answer must not keep its place for ever.
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(bounds::PEER));
        let stream = TokioIo::new(Watched {
            stream: Box::pin(stream),
            waits: false,
            all: Arc::clone(&unread),
            in_buffer,
            follow_up: Arc::clone(follow_up),
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
        // Each connection ends after the answer that is under way, even if its client has sent more requests.
        let mut closing = std::pin::pin!(open.shutdown());
        tokio::select! {
            () = &mut closing => return,
            () = under_way.wait() => {}
        }
        // The connections left have bytes of an answer to write, or no complete request.
        while (tokio::time::timeout(bounds::MOMENT, &mut closing).await).is_err()
            && unread.load(Ordering::Relaxed) > 0
        {}
    };
    if tokio::time::timeout(bounds::PEER, answer).await.is_err() {
        tracing::warn!("some answers took too long and were cut off");
    }
}

/// A connection that counts itself in `all` while its client does not take the bytes written.
struct Watched {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    waits: bool,
    all: Arc<AtomicUsize>,
    in_buffer: InBuffer,
    follow_up: Arc<FollowUp>,
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
        let flushed = self.stream.as_mut().poll_flush(cx);
        // hyper flushes a connection once every byte of its answers is written.
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.follow_up.shown(self.in_buffer.0.take());
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}
