//! JSON lines over a pair of byte streams, without ever losing a request.
//!
//! rmcp's own transport drops a line that it cannot parse, and the client waits for ever. This transport answers such a
//! line (see [`super::line`]). A line is at most [`LINE_MAX_BYTES`] long, and at most [`IN_FLIGHT_MAX`] requests are at
//! work. The end of the input is passed on when every request has its answer. The transport knows the framing of
//! JSON-RPC, and nothing of tools or memories.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use icm_service::Delivery;
use icm_wait::bounds;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, GetMeta,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::alerts_of_answer::AlertsOfAnswer;
use super::line;
use super::line::{IdFinder, Parsed};

/// Longest line read, in bytes. Raised, a client can take more memory.
pub(super) const LINE_MAX_BYTES: usize = 4 << 20;
/// Requests at work at the same time; further ones stay in the pipe. Raised, a client can take more memory.
const IN_FLIGHT_MAX: usize = 256;
/// Lines that wait to be written. Raised, a slow reader takes more memory.
const OUTGOING_MAX: usize = 256;
/// Bytes gathered for one write.
const WRITE_BATCH_BYTES: usize = 64 << 10;
const READ_BUFFER_BYTES: usize = 64 << 10;

/// The transport. A task of its own writes the answers.
pub(super) struct LineTransport<R> {
    lines: Lines<R>,
    outgoing: mpsc::Sender<Outgoing>,
    in_flight: Arc<InFlight>,
    /// Answers to lines that were no messages, not handed to the writer yet.
    refusals: std::vec::IntoIter<Vec<u8>>,
    /// `true` once the protocol layer has a lifecycle; see [`opens`].
    open: bool,
    ended: bool,
}

/// A line on its way out, and the request that it answers.
struct Outgoing {
    line: Vec<u8>,
    answers: Option<RequestId>,
    alerts: Option<AlertsOfAnswer>,
}

/// The requests without an answer so far.
#[derive(Default)]
struct InFlight {
    ids: Mutex<HashMap<RequestId, AlertsOfAnswer>>,
    changed: Notify,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// Starts the writer. `after_write` is called each time answers have gone out, with the deliveries of the alerts in
    /// them; it must return at once. The handle ends when the transport is dropped and all lines are written.
    pub(super) fn start<W>(
        reader: R,
        writer: W,
        after_write: impl Fn(Vec<Delivery>) + Send + 'static,
    ) -> (Self, JoinHandle<io::Result<()>>)
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (outgoing, incoming) = mpsc::channel(OUTGOING_MAX);
        let in_flight = Arc::new(InFlight::default());
        let writing = tokio::spawn(write_out(
            writer,
            incoming,
            Arc::clone(&in_flight),
            after_write,
        ));
        let transport = LineTransport {
            lines: Lines::new(reader),
            outgoing,
            in_flight,
            refusals: Vec::new().into_iter(),
            open: false,
            ended: false,
        };
        (transport, writing)
    }

    /// Returns the message if it is to be passed on; else keeps the refusal, if it needs one.
    fn admit(&mut self, mut message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &mut message {
            JsonRpcMessage::Request(request) => {
                self.open = self.open || opens(&request.request);
                if !self.open && is_too_early(&request.request) {
                    let id = request.id.clone().into_json_value();
                    let malformed = match &request.request {
                        ClientRequest::CustomRequest(custom) if custom.method == "initialize" => {
                            Some(custom.params.as_ref().unwrap_or(&Value::Null))
                        }
                        _ => None,
                    };
                    self.refusals = vec![line::too_early(&id, malformed)].into_iter();
                    return None;
                }
                // This request is answered when the server ends, so the end of input does not wait for it.
                let listens = matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                );
                if !listens {
                    let alerts = AlertsOfAnswer::default();
                    if !self.in_flight.begin(&request.id, &alerts) {
                        let id = request.id.clone().into_json_value();
                        self.refusals = vec![line::id_in_use(&id)].into_iter();
                        return None;
                    }
                    request.request.extensions_mut().insert(alerts);
                }
            }
            // Before there is a lifecycle, rmcp ends at any message that is not a request.
            _ if !self.open => return None,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.in_flight.end([id]);
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// Waits until every request has its answer, or nobody reads the answers any more.
    async fn drained(&mut self) {
        let answered = async {
            while !self.in_flight.is_empty() {
                self.in_flight.changed.notified().await;
            }
        };
        tokio::select! {
            () = answered => {}
            () = self.outgoing.closed() => {}
            () = icm_wait::pause_async(bounds::SILENCE) => tracing::warn!("giving up on unanswered requests"),
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let alerts = answers.as_ref().and_then(|id| self.in_flight.alerts_of(id));
        let line = serde_json::to_vec(&item).map(|mut line| {
            line.push(b'\n');
            line
        });
        let outgoing = self.outgoing.clone();
        async move {
            let line = line?;
            let sent = outgoing.send(Outgoing {
                line,
                answers,
                alerts,
            });
            sent.await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    /// Returns the next message; `None` at the end of the input, once all requests are answered. Dropping the future
    /// loses nothing: bytes read so far stay in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.refusals.len() > 0 {
                let permit = self.outgoing.reserve().await.ok()?;
                if let Some(line) = self.refusals.next() {
                    permit.send(Outgoing {
                        line,
                        answers: None,
                        alerts: None,
                    });
                }
                continue;
            }
            if self.ended {
                self.drained().await;
                return None;
            }
            let raw = tokio::select! {
                raw = async {
                    self.in_flight.has_room().await;
                    self.lines.next().await
                } => raw,
                () = self.outgoing.closed() => return None,
            };
            let parsed = match raw {
                Ok(Some(RawLine::Whole(raw))) => line::parse(&raw),
                Ok(Some(RawLine::TooLong(id))) => line::too_long(id, LINE_MAX_BYTES),
                Ok(None) => {
                    self.ended = true;
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "reading requests");
                    self.ended = true;
                    continue;
                }
            };
            match parsed {
                Parsed::Message(message) => {
                    if let Some(message) = self.admit(*message) {
                        return Some(message);
                    }
                }
                Parsed::Nothing => {}
                Parsed::Refused(lines) => self.refusals = lines.into_iter(),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns `true` if rmcp starts a lifecycle at this request: at `initialize`, and at a request with all the metadata
/// of the stateless protocol. `ping` and `server/discover` start none.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28)
                .is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// Returns `true` if a request that needs a lifecycle carries no metadata of the stateless protocol.
fn is_too_early(request: &ClientRequest) -> bool {
    let wants = ProtocolVersion::V_2026_07_28;
    let needs_none = matches!(
        request,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
    );
    !needs_none && request.get_meta().missing_required_keys(&wants).len() == 2
}

impl InFlight {
    fn ids(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, AlertsOfAnswer>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an id; returns `false` if a request with this id is at work.
    fn begin(&self, id: &RequestId, alerts: &AlertsOfAnswer) -> bool {
        match self.ids().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(alerts.clone());
                true
            }
        }
    }

    /// Returns the alerts in the answer to a request; `None` if the request was cancelled.
    fn alerts_of(&self, id: &RequestId) -> Option<AlertsOfAnswer> {
        self.ids().get(id).cloned()
    }

    fn end<'a>(&self, answered: impl IntoIterator<Item = &'a RequestId>) {
        let mut ids = self.ids();
        for id in answered {
            ids.remove(id);
        }
        drop(ids);
        self.changed.notify_one();
    }

    fn is_empty(&self) -> bool {
        self.ids().is_empty()
    }

    async fn has_room(&self) {
        while self.ids().len() >= IN_FLIGHT_MAX {
            self.changed.notified().await;
        }
    }
}

/// Writes lines until the last sender is gone. Waiting lines are written together.
async fn write_out(
    mut writer: impl AsyncWrite + Unpin,
    mut incoming: mpsc::Receiver<Outgoing>,
    in_flight: Arc<InFlight>,
    after_write: impl Fn(Vec<Delivery>),
) -> io::Result<()> {
    let mut batch = Vec::new();
    let (mut answered, mut alerts) = (Vec::new(), Vec::new());
    while let Some(first) = incoming.recv().await {
        batch.clear();
        batch.extend_from_slice(&first.line);
        answered.extend(first.answers);
        alerts.extend(first.alerts);
        while batch.len() < WRITE_BATCH_BYTES
            && let Ok(next) = incoming.try_recv()
        {
            batch.extend_from_slice(&next.line);
            answered.extend(next.answers);
            alerts.extend(next.alerts);
        }
        writer.write_all(&batch).await?;
        writer.flush().await?;
        in_flight.end(&answered);
        answered.clear();
        let shown = alerts.drain(..).flat_map(|it| it.take());
        after_write(shown.collect());
    }
    writer.shutdown().await
}

/// A line as received.
enum RawLine {
    /// The line, without its newline.
    Whole(Vec<u8>),
    /// A line skipped for its length, with its id, if it has one.
    TooLong(Option<Value>),
}

/// Reads bounded lines from a byte stream. The last line need not end in a newline.
struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Looks for the id while a line is skipped for its length.
    skipping: Option<IdFinder>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(reader: R) -> Self {
        Lines {
            reader: BufReader::with_capacity(READ_BUFFER_BYTES, reader),
            line: Vec::new(),
            skipping: None,
        }
    }

    /// Returns the next line; `None` at the end. Dropping the future loses nothing.
    async fn next(&mut self) -> io::Result<Option<RawLine>> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(match (self.skipping.take(), self.line.is_empty()) {
                    (Some(finder), _) => Some(RawLine::TooLong(finder.id())),
                    (None, true) => None,
                    (None, false) => Some(RawLine::Whole(std::mem::take(&mut self.line))),
                });
            }
            let newline = memchr::memchr(b'\n', available);
            let part = &available[..newline.unwrap_or(available.len())];
            if let Some(finder) = &mut self.skipping {
                finder.feed(part);
            } else if self.line.len() + part.len() > LINE_MAX_BYTES {
                let mut finder = IdFinder::default();
                finder.feed(&self.line);
                finder.feed(part);
                self.line = Vec::new();
                self.skipping = Some(finder);
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            if newline.is_some() {
                return Ok(Some(match self.skipping.take() {
                    Some(finder) => RawLine::TooLong(finder.id()),
                    None => RawLine::Whole(std::mem::take(&mut self.line)),
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use icm_api::error::ServiceError;
    use icm_api::{AlertSetRequest, AlertsRequest, Caller};
    use icm_service::{OpenOptions, Service};
    use rmcp::model::ServerResult;
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn the_end_is_held_back_until_every_request_has_its_answer() {
        let (mut input, reader) = tokio::io::duplex(1 << 16);
        let (writer, mut output) = tokio::io::duplex(1 << 16);
        let (mut transport, writing) = LineTransport::start(reader, writer, |_| {});
        for id in [1, 2] {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            input.write_all(line.as_bytes()).await.expect("write");
        }
        drop(input);
        for id in [1, 2] {
            let message = transport.receive().await.expect("a request");
            let (_, of) = message.into_request().expect("a request");
            assert_eq!(of, RequestId::Number(id));
        }
        for id in [2, 1] {
            let early = tokio::time::timeout(Duration::from_millis(50), transport.receive()).await;
            assert!(early.is_err(), "ended without the answer to {id}");
            let answer = JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id));
            transport.send(answer).await.expect("sent");
        }
        assert!(transport.receive().await.is_none());
        drop(transport);
        writing.await.expect("no panic").expect("written");
        let mut written = String::new();
        output.read_to_string(&mut written).await.expect("read");
        assert_eq!(written.lines().count(), 2, "{written}");
    }

    /// Returns a store with an alert for the session `s1`.
    fn reminded(folder: &std::path::Path) -> Service {
        let service = Service::open(OpenOptions {
            dir: folder.join("store"),
            lock_wait: Duration::ZERO,
            read_only: false,
        });
        let service = service.expect("a store");
        let alert = AlertSetRequest {
            text: "Run the tests".to_owned(),
            session: Some("s1".to_owned()),
            ..AlertSetRequest::default()
        };
        service
            .set_alert(&Caller::default(), alert)
            .expect("it is set");
        service
    }

    /// Returns the delivery of the alert of [`reminded`]; `None` if an answer with it is under way.
    fn delivery(service: &Service) -> Option<Delivery> {
        let request = AlertsRequest {
            session: Some("s1".to_owned()),
            ..AlertsRequest::default()
        };
        match service.alerts(&Caller::default(), &request) {
            Err(ServiceError::Busy { .. }) => None,
            found => Some(found.expect("an answer").1.expect("a delivery")),
        }
    }

    #[tokio::test]
    async fn alerts_are_delivered_with_the_answer_that_shows_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = reminded(folder.path());
        let (mut input, reader) = tokio::io::duplex(1 << 16);
        let (writer, mut output) = tokio::io::duplex(1 << 16);
        let (told, mut written) = mpsc::unbounded_channel();
        let (mut transport, writing) = LineTransport::start(reader, writer, move |shown| {
            told.send(shown).expect("it is awaited");
        });
        let mut alerts = Vec::new();
        for id in [1, 2, 3] {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            input.write_all(line.as_bytes()).await.expect("write");
            let message = transport.receive().await.expect("a request");
            let (request, _) = message.into_request().expect("a request");
            alerts.push(AlertsOfAnswer::of(request.extensions()).expect("a place"));
        }
        let answer = |id| JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id));
        alerts[0].add(delivery(&service));
        // The answer to another request says nothing about the alert.
        transport.send(answer(2)).await.expect("sent");
        let shown = written.recv().await.expect("it is written");
        assert_eq!(shown.len(), 0);
        assert!(delivery(&service).is_none(), "the answer is under way");
        transport.send(answer(1)).await.expect("sent");
        let shown = written.recv().await.expect("it is written");
        assert_eq!(shown.len(), 1);
        drop(shown);

        // A request that is cancelled has no answer, and the alert is shown again.
        transport.open = true;
        let alert = delivery(&service);
        alerts[2].add(alert);
        let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}}\n";
        input.write_all(line.as_bytes()).await.expect("write");
        transport.receive().await.expect("a notification");
        alerts.clear();
        assert!(delivery(&service).is_some(), "it is shown again");

        // Nobody takes the answer.
        let line = "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\n";
        input.write_all(line.as_bytes()).await.expect("write");
        let message = transport.receive().await.expect("a request");
        let (request, _) = message.into_request().expect("a request");
        let place = AlertsOfAnswer::of(request.extensions()).expect("a place");
        place.add(delivery(&service));
        let mut read = [0; 1 << 10];
        let _ = output.read(&mut read).await.expect("read");
        drop(output);
        transport.send(answer(4)).await.expect("sent");
        writing.await.expect("no panic").expect_err("nobody reads");
        drop((transport, place, request));
        assert!(written.recv().await.is_none(), "it was not written");
        assert!(delivery(&service).is_some(), "it is shown again");
    }
}
