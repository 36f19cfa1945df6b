//! HTTP: MCP for clients that connect to a running server, and a few plain paths for scripts.
//!
//! ```text
//! connection ─▶ listen (limits) ─▶ gate (Host, Origin, token, size) ─▶ /mcp ─▶ rmcp ─▶ the handler of stdio
//!                                                                 └─▶ /store /recall /log /health /metrics
//! ```
//!
//! Nothing is kept between two requests: there is no session to steal and no table of sessions to fill. A client may
//! read and write the whole store. So the server listens on this machine only, unless a token is set, and it answers
//! only web pages that were named at its start.

mod gate;
mod listen;
mod metrics;
mod names;
mod openapi;
mod operations;
mod refusal;
mod rest;
mod token;
mod visits;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use token::Token;

use crate::mcp;
use crate::mcp::{FollowUp, McpOptions, Server};
use gate::Gate;
use icm_api::Caller;
use icm_api::error::{Result, ServiceError, plain};
use icm_service::Service;
use visits::Visits;

/// Longest body of a request, in bytes. Raised, requests can take more memory.
const BODY_MAX_BYTES: usize = 1 << 20;

/// The address to serve at, and the clients to admit.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address; port 0 takes a free port.
    pub listen: SocketAddr,
    /// The token that every request must carry. Required if other machines can connect.
    pub token: Option<Token>,
    /// Origins of web pages that may ask, besides pages of this machine: `https://example.org`, with `:*` for any port.
    pub allow_origins: Vec<String>,
    /// Further names of this machine, besides those of the loopback interface and the address listened on.
    pub allow_hosts: Vec<String>,
}

/// Serves until the process is asked to end, and answers the requests received by then.
///
/// `caller` stands for clients that do not name themselves. `ready` is called with the address once connections are
/// accepted. Blocks the thread; must not be called inside a tokio runtime.
///
/// # Errors
/// `Invalid` for an address that others can reach without a token, an invalid origin or host, and a port that is taken
/// or not allowed.
pub fn serve(
    service: Arc<Service>,
    caller: Caller,
    mcp: McpOptions,
    http: HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let routes = |follow_up: &Arc<FollowUp>, ends: &Ends| {
        let handler = |options: McpOptions| {
            let (service, follow_up) = (Arc::clone(&service), Arc::clone(follow_up));
            let server = Server::new(service, caller.clone(), options, follow_up);
            server.over_http(ends.asked.clone())
        };
        let full = handler(mcp);
        let reading = handler(McpOptions {
            read_only: true,
            ..mcp
        });
        let rest = rest::RestState {
            service: Arc::clone(&service),
            caller: caller.clone(),
            options: mcp,
            follow_up: Arc::clone(follow_up),
        };
        rest::routes(rest)
            .merge(mcp_route("/mcp", move || full.clone(), ends))
            .merge(mcp_route("/mcp/readonly", move || reading.clone(), ends))
    };
    run(
        &service,
        Some(mcp),
        Gate::new(&http)?,
        http.listen,
        routes,
        ready,
    )
}

/// Serves pages to one browser of this machine until the process is asked to end, and answers the requests received by
/// then.
///
/// `make` gets a token that is cancelled when the process is asked to end. `ready` is called with the address to open
/// once connections are accepted. Blocks the thread; must not be called inside a tokio runtime.
///
/// # Errors
/// `Invalid` for a port that is taken or not allowed; `Internal` if the system has no random numbers.
pub fn serve_pages(
    service: Arc<Service>,
    port: u16,
    make: impl FnOnce(CancellationToken) -> Router,
    ready: impl FnOnce(String),
) -> Result<()> {
    let http = HttpOptions {
        listen: (Ipv4Addr::LOCALHOST, port).into(),
        token: None,
        allow_origins: Vec::new(),
        allow_hosts: Vec::new(),
    };
    let visits = Arc::new(Visits::new()?);
    let gate = Gate::new(&http)?.for_a_browser(Arc::clone(&visits));
    let routes = |_: &Arc<FollowUp>, ends: &Ends| make(ends.asked.clone());
    let ready = |listening| ready(visits.address(listening));
    run(&service, None, gate, http.listen, routes, ready)
}

/// Checks whether a server could start with these options, as far as this does not depend on the system.
///
/// # Errors
/// `Invalid` for an address that others can reach without a token, an invalid host, and an invalid origin.
pub fn check(options: &HttpOptions) -> Result<()> {
    Gate::new(options).map(|_| ())
}

/// Serves another handler at `/mcp`, for tests of the transport.
#[doc(hidden)]
pub fn serve_handler<H: ServerHandler>(
    make: impl Fn() -> H + Clone + Send + Sync + 'static,
    service: Arc<Service>,
    http: HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let routes = move |_: &Arc<FollowUp>, ends: &Ends| mcp_route("/mcp", make, ends);
    let owns = Some(McpOptions::default());
    run(
        &service,
        owns,
        Gate::new(&http)?,
        http.listen,
        routes,
        ready,
    )
}

/// The two steps of the end.
#[derive(Default)]
struct Ends {
    /// Cancelled when the process is asked to end: requests received so far are still answered.
    asked: CancellationToken,
    /// Cancelled when no more answers are written.
    come: CancellationToken,
}

/// Serves behind this gate. With `owns`, the process answers other processes of the store, too, with these options.
fn run(
    service: &Arc<Service>,
    owns: Option<McpOptions>,
    gate: Gate,
    listen: SocketAddr,
    routes: impl FnOnce(&Arc<FollowUp>, &Ends) -> Router,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let (listener, address) = bound(listen)?;
    mcp::in_a_runtime(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|source| {
            let doing = "listening".into();
            ServiceError::Io { doing, source }
        })?;
        let ends = Ends::default();
        tokio::spawn(mcp::on_signal(ends.asked.clone()));
        let follow_up = Arc::new(FollowUp::default());
        let working = tokio::spawn(Arc::clone(&follow_up).run(Arc::clone(service)));
        let owning = owns.map(|mcp| mcp::own(service, &follow_up, mcp));
        let under_way = TaskTracker::new();
        let app = gate.around(
            routes(&follow_up, &ends),
            Arc::clone(service),
            Arc::clone(&follow_up),
            under_way.clone(),
        );
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            "serving at http://{address}"
        );
        ready(address);
        listen::until(ends.asked, listener, app, &under_way, &follow_up).await;
        ends.come.cancel();
        if let Some(owning) = owning {
            owning.abort();
        }
        follow_up.finish();
        let worked = working.await;
        worked.map_err(|error| ServiceError::Internal(format!("HTTP follow-up: {error}")))
    })
}

fn mcp_route<H: ServerHandler>(
    path: &str,
    make: impl Fn() -> H + Send + Sync + 'static,
    ends: &Ends,
) -> Router {
    // The gate has checked `Host` and `Origin`.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_MAX_BYTES)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_cancellation_token(ends.come.child_token());
    let sessions = Arc::<NeverSessionManager>::default();
    let service = StreamableHttpService::new(move || Ok(make()), sessions, config);
    Router::new()
        .route_service(path, service)
        .layer(middleware::from_fn(with_a_message))
}

/// Passes a message on, and answers any other body as on stdin: rmcp would at most say that it is not JSON.
async fn with_a_message(request: Request, next: Next) -> Response {
    if !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    // The gate has bounded the body.
    let Ok(body) = to_bytes(body, BODY_MAX_BYTES).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match mcp::parse_body(&body) {
        Ok(body) => {
            parts.headers.remove(CONTENT_LENGTH);
            next.run(Request::from_parts(parts, Body::from(body))).await
        }
        Err(answer) => {
            let kind = [(CONTENT_TYPE, "application/json")];
            (StatusCode::BAD_REQUEST, kind, answer).into_response()
        }
    }
}

/// Returns `true` if the content type is JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

fn bound(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let listen = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    listen().map_err(|error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => "give another port, or port 0 for one that is free",
            std::io::ErrorKind::PermissionDenied => {
                "ports below 1024 are the system's: give a higher one"
            }
            _ => "give an address of this machine, for instance 127.0.0.1:7437",
        };
        ServiceError::invalid_with(
            format!("cannot listen on {address}: {}", plain(error)),
            hint,
        )
    })
}
