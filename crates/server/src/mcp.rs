//! MCP: the service as tools for a model, over a pair of byte streams or HTTP.
//!
//! ```text
//! bytes ─▶ transport (lines, bad ones answered) ─▶ rmcp (protocol, both eras) ─▶ server ─▶ tool ─▶ Service
//! ```
//!
//! [`rmcp`] speaks the protocol on one connection: the revisions with an `initialize` handshake, and the stateless
//! 2026-07-28. This module adds a transport that never loses a request, the table of tools, and the frame around stored
//! text. Between two requests only the handshake is remembered; the caller is named in each request or by the
//! environment.
//!
//! The output gets JSON lines only; diagnostics go to `tracing`.

mod alerts_of_answer;
mod complete;
mod follow_up;
mod instructions;
mod line;
mod nudge;
mod offer;
mod progress;
mod prompts;
mod resources;
pub(crate) mod schema;
mod server;
mod session;
mod stdio;
mod stop;
pub(crate) mod tools;
mod transport;
mod watch;
mod words;

#[cfg(feature = "http")]
pub(crate) use alerts_of_answer::AlertsOfAnswer;
pub(crate) use follow_up::FollowUp;
pub use instructions::instructions;
#[cfg(feature = "http")]
pub(crate) use line::parse_body;
pub use offer::Offer;
pub(crate) use server::Server;
#[cfg(feature = "http")]
pub(crate) use server::short_name;
#[cfg(feature = "http")]
pub(crate) use stop::on_signal;

use std::ops::RangeInclusive;
use std::sync::Arc;

use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, tokens};
use icm_service::Service;
use transport::LineTransport;

/// Default length of the text of an answer, in bytes. Raised, clients cut or refuse answers (Claude Code at 25,000
/// tokens), and the model reads more.
pub const ANSWER_MAX_BYTES: usize = 25_000;
/// Bounds of the length of an answer, in bytes: a line of text around a memory fits, and Claude Code still takes it
/// whole.
pub const ANSWER_BYTES: RangeInclusive<usize> = 4_000..=500_000;

/// The settings of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpOptions {
    /// Shorter answers: `ok:ID` for a store, `[topic] text` for a recalled memory.
    pub compact: bool,
    /// Only tools that read are offered, and recalls are not recorded.
    pub read_only: bool,
    /// Answers also hold their data as JSON (`structuredContent`), for programs. Some clients show a model that instead
    /// of the text, and then nothing marks stored text as data.
    pub structured: bool,
    /// Longest text of an answer, in bytes of UTF-8; within [`ANSWER_BYTES`].
    pub answer_max_bytes: usize,
    /// The tools on offer.
    pub offer: Offer,
    /// Number of calls without a store after which a reply suggests one; 0 means never. Compact answers never suggest
    /// it.
    pub nudge_after: u64,
}

impl Default for McpOptions {
    fn default() -> McpOptions {
        McpOptions {
            compact: false,
            read_only: false,
            structured: false,
            answer_max_bytes: ANSWER_MAX_BYTES,
            offer: Offer::default(),
            nudge_after: NUDGE_AFTER,
        }
    }
}

impl McpOptions {
    /// Returns the bytes that the stored texts of an answer may take together; the rest is for the words around them.
    fn room_bytes(&self) -> usize {
        self.answer_max_bytes.saturating_sub(AROUND_MAX_BYTES)
    }
}

/// Default number of calls without a store after which a reply suggests one. Raised, sessions are reminded later.
const NUDGE_AFTER: u64 = 10;

/// Bytes for the words around the texts of an answer: tags, notes, the next page. Raised, the texts get less.
const AROUND_MAX_BYTES: usize = 1_500;

/// Serves one client on standard input and output until the input ends and all requests are answered.
///
/// `caller` stands for a client that does not name itself; a client with a name is the actor `agent:<its name>`. Blocks
/// the thread; must not be called inside a tokio runtime.
pub fn serve_stdio(service: Arc<Service>, caller: Caller, options: McpOptions) -> Result<()> {
    let asked = Arc::clone(&service);
    let caller = in_a_session(caller);
    on_stdio(service, options, |follow_up| {
        Server::new(asked, caller, options, follow_up)
    })
}

/// Returns a caller with a session: a new one of this process if none is known. Most clients name none.
pub fn in_a_session(mut caller: Caller) -> Caller {
    let mut bytes = [0; 8];
    if caller.session.is_none() && getrandom::fill(&mut bytes).is_ok() {
        caller.session = Some(format!("mcp-{:016x}", u64::from_le_bytes(bytes)));
        caller.session_is_made = true;
    }
    caller
}

/// Serves another handler on standard input and output, for tests of the transport.
#[doc(hidden)]
pub fn serve_handler<H: ServerHandler>(handler: H, service: Arc<Service>) -> Result<()> {
    on_stdio(service, McpOptions::default(), |_| handler)
}

fn on_stdio<H: ServerHandler>(
    service: Arc<Service>,
    options: McpOptions,
    make: impl FnOnce(Arc<FollowUp>) -> H,
) -> Result<()> {
    in_a_runtime(async {
        let (reader, writer) = stdio::open().map_err(|source| ServiceError::Io {
            doing: "serving an agent".into(),
            source,
        })?;
        let stop = CancellationToken::new();
        tokio::spawn(stop::on_signal(stop.clone()));
        tokio::spawn(stop::with_parent(stop.clone()));
        let reader = stop::Until::new(reader, stop.clone());
        let writer = stop::WhileRead::new(writer, stop);
        let follow_up = Arc::new(FollowUp::default());
        let owning = own(&service, &follow_up, options);
        let server = make(Arc::clone(&follow_up));
        serve_with(service, server, (reader, writer), follow_up, || {
            owning.abort();
        })
        .await
    })
}

/// Runs a server to its end on this thread.
pub(crate) fn in_a_runtime<T>(server: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| ServiceError::Io {
            doing: "starting the server".into(),
            source,
        })?;
    let outcome = runtime.block_on(server);
    // All answers are out. Blocking work that is left may hang, so the wait for it is bounded.
    runtime.shutdown_timeout(icm_wait::bounds::PEER);
    outcome
}

/// Returns the handler of MCP requests without a transport, for tests of transports.
#[doc(hidden)]
pub fn handler(
    service: Arc<Service>,
    caller: Caller,
    options: McpOptions,
) -> impl ServerHandler + Clone {
    Server::new(service, caller, options, Arc::default())
}

/// Serves one client on any pair of streams, until `reader` ends and all requests are answered.
///
/// Calls run on tokio's blocking threads. A client that disconnects is not an error.
pub async fn serve<R, W>(
    service: Arc<Service>,
    caller: Caller,
    options: McpOptions,
    reader: R,
    writer: W,
) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let follow_up = Arc::new(FollowUp::default());
    let asked = Arc::clone(&service);
    let server = Server::new(asked, caller, options, Arc::clone(&follow_up));
    serve_with(service, server, (reader, writer), follow_up, || {}).await
}

/// Starts a task that answers other processes as the owner, unless the server is read-only.
pub(crate) fn own(
    service: &Arc<Service>,
    follow_up: &Arc<FollowUp>,
    options: McpOptions,
) -> JoinHandle<()> {
    let (service, follow_up) = (Arc::clone(service), Arc::clone(follow_up));
    tokio::spawn(async move {
        if !options.read_only {
            crate::owner::keep(service, move || follow_up.leave_and_tell()).await;
        }
    })
}

async fn serve_with<H, R, W>(
    service: Arc<Service>,
    server: H,
    (reader, writer): (R, W),
    follow_up: Arc<FollowUp>,
    answered: impl FnOnce(),
) -> Result<()>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let working = tokio::spawn(Arc::clone(&follow_up).run(Arc::clone(&service)));
    let after_write = {
        let follow_up = Arc::clone(&follow_up);
        move |shown| {
            follow_up.shown(shown);
            follow_up.answered();
        }
    };
    let (transport, writing) = LineTransport::start(reader, writer, after_write);

    let served = match server.serve(transport).await {
        Ok(running) => running
            .waiting()
            .await
            .map(|_| ())
            .map_err(|error| error.to_string()),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    let written = writing.await;
    // From here on the owner answers no other process, so `finish` is followed by the last round of work.
    answered();
    follow_up.finish();
    let worked = working.await;

    served.map_err(|why| ServiceError::Internal(format!("MCP: {why}")))?;
    match written {
        Ok(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            return Err(ServiceError::Io {
                doing: "writing answers".into(),
                source: error,
            });
        }
        Ok(_) => {}
        Err(error) => return Err(ServiceError::Internal(format!("MCP writer: {error}"))),
    }
    worked.map_err(|error| ServiceError::Internal(format!("MCP follow-up: {error}")))
}

/// Returns the tools as they stand in `tools/list`, for documentation and manifests.
pub fn tool_list(options: McpOptions) -> serde_json::Value {
    let tools: Vec<_> = tools::offered(options)
        .map(|tool| tool.definition(options))
        .collect();
    serde_json::json!(tools)
}

/// Returns the tokens that the tools take in a prompt, about.
pub fn tool_tokens(options: McpOptions) -> usize {
    tokens::estimate(&tool_list(options).to_string())
}
