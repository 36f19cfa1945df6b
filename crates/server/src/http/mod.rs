//! HTTP: MCP for clients that are not started by their agent, and a few plain paths for scripts.
//!
//! ```text
//! connection ─▶ listen (limits) ─▶ gate (Host, Origin, token, size) ─▶ /mcp ─▶ rmcp ─▶ the handler of stdio
//!                                                                 └─▶ /store /recall /log /health /metrics
//! ```
//!
//! Nothing is kept between two requests: there is no session to steal and no table of them to fill. Whoever
//! may connect may read and write the whole store, so it listens on this machine alone unless a token is set,
//! and answers no web page that was not named when it was started.

mod gate;
mod listen;
mod metrics;
mod names;
mod openapi;
mod operations;
mod refusal;
mod rest;
mod token;

use std::net::{SocketAddr, TcpListener};
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

/// Largest body of a request.
const BODY_MAX_BYTES: usize = 1 << 20;

/// Where to serve, and whom.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Port 0 takes a free one.
    pub listen: SocketAddr,
    /// What every request has to bring. Required where other machines can connect.
    pub token: Option<Token>,
    /// Origins of web pages that may ask, beside pages of this machine: `https://example.org`, with `:*` for
    /// any port.
    pub allow_origins: Vec<String>,
    /// Names that this machine may be called by, beside those of the loopback interface and the address that
    /// is listened on.
    pub allow_hosts: Vec<String>,
}

/// Serves until the process is asked to end; then what was asked is still answered.
///
/// `caller` is who asks when the client does not name itself. `ready` is called with the address once
/// connections are taken. Blocks the thread; must not be called inside a tokio runtime.
///
/// # Errors
/// `Invalid` for an address that others can reach without a token, an origin that is none, a port that is
/// taken or not allowed.
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
        let rest = rest::Front {
            service: Arc::clone(&service),
            caller: caller.clone(),
            options: mcp,
            follow_up: Arc::clone(follow_up),
        };
        rest::routes(rest)
            .merge(mcp_route("/mcp", move || full.clone(), ends))
            .merge(mcp_route("/mcp/readonly", move || reading.clone(), ends))
    };
    run(&service, mcp, http, routes, ready)
}

/// Whether a server could be started with these options, but for what the system may refuse.
///
/// # Errors
/// `Invalid` for an address that others can reach without a token, a host that has no such name, an origin that is none.
pub fn check(options: &HttpOptions) -> Result<()> {
    Gate::new(options).map(|_| ())
}

/// Serves another handler at `/mcp`, for tests of the way there.
#[doc(hidden)]
pub fn serve_handler<H: ServerHandler>(
    make: impl Fn() -> H + Clone + Send + Sync + 'static,
    service: Arc<Service>,
    http: HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let routes = move |_: &Arc<FollowUp>, ends: &Ends| mcp_route("/mcp", make, ends);
    run(&service, McpOptions::default(), http, routes, ready)
}

/// How the end comes.
#[derive(Default)]
struct Ends {
    /// Nothing more is asked; what was is still answered.
    asked: CancellationToken,
    /// Nothing more is answered.
    come: CancellationToken,
}

fn run(
    service: &Arc<Service>,
    mcp: McpOptions,
    http: HttpOptions,
    routes: impl FnOnce(&Arc<FollowUp>, &Ends) -> Router,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let gate = Gate::new(&http)?;
    let (listener, address) = bound(http.listen)?;
    mcp::in_a_runtime(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|source| {
            let doing = "listening".into();
            ServiceError::Io { doing, source }
        })?;
        let ends = Ends::default();
        tokio::spawn(mcp::on_signal(ends.asked.clone()));
        let follow_up = Arc::new(FollowUp::default());
        let working = tokio::spawn(Arc::clone(&follow_up).run(Arc::clone(service)));
        let owning = mcp::own(service, &follow_up, mcp);
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
        listen::until(ends.asked, listener, app, &under_way).await;
        ends.come.cancel();
        owning.abort();
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
    // The gate has looked at Host and Origin.
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

/// Passes on what is a message, and answers the rest as on stdin: rmcp would say of it that it is no JSON
/// at most.
async fn with_a_message(request: Request, next: Next) -> Response {
    if !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    // The gate has bounded it.
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

/// Whether a body says that it is JSON.
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
