//! The gate of the HTTP server. It checks each request before a handler sees it: the host, the origin of the page, the
//! token, and the size of the body.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, ORIGIN, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::listen::InBuffer;
use super::metrics::Metrics;
use super::names::{LOOPBACK, Origin, host_and_port, host_name};
use super::refusal::Refusal;
use super::visits::{Visit, Visits};
use super::{BODY_MAX_BYTES, HttpOptions, Token};
use crate::mcp::{AlertsOfAnswer, FollowUp};
use icm_api::error::{Result, ServiceError};
use icm_service::Service;
use icm_wait::bounds;

/// The only path that needs no token. It tells that the server runs, and nothing about the store.
const OPEN_PATH: &str = "/health";

/// The checks that every request must pass.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    token: Option<Token>,
    /// Names of this server, without a port, in lower case.
    hosts: Vec<String>,
    origins: Vec<Origin>,
    /// The one browser that is let in, if the server has pages for a person.
    visits: Option<Arc<Visits>>,
}

/// Header in which a browser gives the relation between the page and the server.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Returns `true` if the request comes from the user of a browser, or from a page of this server.
fn is_own_site(site: &HeaderValue) -> bool {
    site == "none" || site == "same-origin"
}

fn foreign_page() -> Refusal {
    let why = "web pages from there are not answered";
    let hint = "whoever starts the server can allow it: --allow-origin";
    Refusal::new(StatusCode::FORBIDDEN, why, hint)
}

/// State of the middleware: the gate, and the parts that are told of each answer.
struct Watch {
    gate: Gate,
    metrics: Metrics,
    follow_up: Arc<FollowUp>,
    under_way: TaskTracker,
}

impl Gate {
    pub(super) fn new(options: &HttpOptions) -> Result<Gate> {
        let ip = options.listen.ip();
        if !ip.is_loopback() && options.token.is_none() {
            return Err(ServiceError::invalid_with(
                format!("{ip} can be reached from other machines, and no token is set"),
                "give --token-file FILE, or listen on 127.0.0.1",
            ));
        }
        let mut hosts = LOOPBACK.map(str::to_owned).to_vec();
        if !ip.is_unspecified() {
            hosts.push(match ip.is_ipv6() {
                true => format!("[{ip}]"),
                false => ip.to_string(),
            });
        }
        for given in &options.allow_hosts {
            hosts.push(host_name(given).ok_or_else(|| {
                ServiceError::invalid_with(
                    format!("`{given}` is not the name of a host"),
                    "for instance --allow-host memory.example.org, without a scheme or a path",
                )
            })?);
        }
        let origins = options.allow_origins.iter().map(|given| {
            Origin::parse(given).ok_or_else(|| {
                ServiceError::invalid_with(
                    format!("`{given}` is not an origin"),
                    "for instance --allow-origin https://example.org, or http://example.org:* for any port",
                )
            })
        });
        Ok(Gate {
            token: options.token.clone(),
            hosts,
            origins: origins.collect::<Result<_>>()?,
            visits: None,
        })
    }

    /// Lets in one browser alone, and pages of this very server alone.
    pub(super) fn for_a_browser(self, visits: Arc<Visits>) -> Gate {
        Gate {
            visits: Some(visits),
            ..self
        }
    }

    /// Puts `routes` behind the gate, and `/metrics` unless they are pages for a person. `under_way` counts a request
    /// until its answer is written.
    pub(super) fn around(
        self,
        routes: Router,
        service: Arc<Service>,
        follow_up: Arc<FollowUp>,
        under_way: TaskTracker,
    ) -> Router {
        let metrics = Metrics::new();
        let shown = metrics.clone();
        let show = move || {
            let (metrics, service) = (shown.clone(), Arc::clone(&service));
            async move { metrics.show(service).await }
        };
        let watch = Watch {
            gate: self,
            metrics,
            follow_up,
            under_way,
        };
        // Pages for a person have pages of their own for unknown paths.
        let routes = match watch.gate.visits {
            Some(_) => routes,
            None => routes
                .route("/metrics", axum::routing::get(show))
                .fallback(|| async {
                    Refusal::new(StatusCode::NOT_FOUND, "no such path", "see /openapi.json")
                })
                .method_not_allowed_fallback(|| async {
                    let why = "this path does not know that method";
                    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, why, "see /openapi.json")
                }),
        };
        routes.layer(middleware::from_fn_with_state(Arc::new(watch), pass))
    }

    /// Passes a request on, or returns a refusal.
    async fn pass(&self, request: Request, next: Next) -> Response {
        let (parts, body) = request.into_parts();
        let origin = match self.admit(&parts.uri, &parts.headers) {
            Ok(origin) => origin,
            Err(refusal) => return self.told(refusal),
        };
        if let Some(visits) = &self.visits {
            match visits.look(&parts) {
                Visit::Known => {}
                Visit::Answered(answer) => return *answer,
            }
        }
        let may_read =
            origin.is_some_and(|origin| self.origins.iter().any(|known| known.admits(&origin)));
        let page = parts.headers.get(ORIGIN).filter(|_| may_read).cloned();
        let is_preflight = parts.method == Method::OPTIONS
            && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if let (true, Some(page)) = (is_preflight, &page) {
            return preflight(page);
        }
        if parts.uri.path() != OPEN_PATH
            && let Err(refusal) = self.check_token(&parts.headers)
        {
            return shared_with(page, refusal.into_response());
        }
        let response = match whole(body).await {
            Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
            Err(refusal) => self.told(refusal),
        };
        shared_with(page, response)
    }

    /// Answers with a refusal: as a page if a browser is served, else as JSON.
    fn told(&self, refusal: Refusal) -> Response {
        match self.visits {
            Some(_) => refusal.into_page(),
            None => refusal.into_response(),
        }
    }

    /// Returns `true` if a request spends the key of the pages. The browser can come from a page of any server, or from
    /// a file.
    fn is_opening(&self, uri: &Uri) -> bool {
        let visits = self.visits.as_ref();
        visits.is_some_and(|visits| visits.is_opening(uri))
    }

    /// Checks that `Host` names this server and that the request comes from no foreign web page. Returns the origin of
    /// the page, if there is one.
    ///
    /// For a browser all ports of this machine are one site, so the cookie comes with requests of any of them. Pages for
    /// a person are therefore sent only to pages of this very host and port.
    fn admit(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> std::result::Result<Option<Origin>, Refusal> {
        let mut named = headers.get_all(HOST).iter();
        let (host, second) = (named.next(), named.next());
        let is_ours =
            |host: &str| host_and_port(host).is_some_and(|(name, _)| self.hosts.contains(&name));
        let host = host.and_then(|host| host.to_str().ok());
        let admitted = second.is_none()
            && host.is_some_and(is_ours)
            && uri
                .authority()
                .is_none_or(|authority| is_ours(authority.as_str()));
        if !admitted {
            let why = "this server is not called by that name";
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                why,
                "whoever starts it can allow it: --allow-host NAME, for instance the name or address in the URL",
            ));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let (Some(origin), second) = (origins.next(), origins.next()) else {
            // A request for an image has no `Origin`, but the browser names the relation of its page.
            let is_own = headers.get(SEC_FETCH_SITE).is_none_or(is_own_site);
            return match is_own || self.is_opening(uri) {
                true => Ok(None),
                false => Err(foreign_page()),
            };
        };
        let origin = origin.to_str().ok().and_then(Origin::parse);
        let admitted = origin.filter(|origin| {
            second.is_none()
                && match self.visits {
                    Some(_) => Origin::of_host(host).as_ref() == Some(origin),
                    None => {
                        origin.is_of_this_machine()
                            || self.origins.iter().any(|known| known.admits(origin))
                    }
                }
        });
        match admitted {
            Some(origin) => Ok(Some(origin)),
            None => Err(foreign_page()),
        }
    }

    fn check_token(&self, headers: &HeaderMap) -> std::result::Result<(), Refusal> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let bearer = given.next().and_then(|value| {
            let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
            scheme
                .eq_ignore_ascii_case(b"Bearer ")
                .then(|| token.trim_ascii())
        });
        if given.next().is_none() && bearer.is_some_and(|bearer| token.is(bearer)) {
            return Ok(());
        }
        Err(match bearer {
            None => Refusal::unknown("a token is required", r#"Bearer realm="icm""#),
            Some(_) => {
                let scheme = r#"Bearer realm="icm", error="invalid_token""#;
                Refusal::unknown("that is not the token", scheme)
            }
        })
    }
}

async fn pass(State(watch): State<Arc<Watch>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let under_way = watch.under_way.token();
    let alerts = AlertsOfAnswer::default();
    let in_buffer: InBuffer = request.extensions_mut().remove().unwrap_or_default();
    request.extensions_mut().insert(alerts.clone());
    let mut response = watch.gate.pass(request, next).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    watch
        .metrics
        .answered(&method, &path, response.status(), started.elapsed());
    watch.follow_up.answered();
    response.map(|body| {
        Body::new(Tracked {
            body,
            is_taken: false,
            alerts,
            in_buffer,
            _under_way: under_way,
        })
    })
}

/// The body of an answer. It counts as under way until it is written or dropped.
struct Tracked {
    body: Body,
    /// `true` once the connection has taken the last frame.
    is_taken: bool,
    alerts: AlertsOfAnswer,
    in_buffer: InBuffer,
    _under_way: TaskTrackerToken,
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        self.is_taken |= matches!(frame, Poll::Ready(None));
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        // Alerts of an answer that the connection has not taken whole are shown again.
        let shown = self.alerts.take();
        if self.is_taken || self.body.is_end_stream() {
            self.in_buffer.0.add(shown);
        }
    }
}

/// Reads the whole body.
///
/// # Errors
/// A refusal if the body is longer than [`BODY_MAX_BYTES`], or takes longer than `bounds::ANSWER`.
async fn whole(body: Body) -> std::result::Result<Bytes, Refusal> {
    // The length in the header is enough to refuse it; nothing is read.
    if body.size_hint().lower() > BODY_MAX_BYTES as u64 {
        let why = format!("the body is longer than {BODY_MAX_BYTES} bytes");
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        return Err(Refusal::new(status, why, "send less at once"));
    }
    match tokio::time::timeout(bounds::ANSWER, to_bytes(body, BODY_MAX_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let why = format!("the body is cut off, or longer than {BODY_MAX_BYTES} bytes");
            Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                why,
                "send less at once",
            ))
        }
        Err(_) => {
            let why = format!("the body took longer than {} s", bounds::ANSWER.as_secs());
            Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                why,
                "send it again",
            ))
        }
    }
}

/// Answers the question that a browser asks before a request of a page.
fn preflight(page: &HeaderValue) -> Response {
    let allowed = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, last-event-id, mcp-method, mcp-name, \
             mcp-protocol-version, mcp-session-id",
        ),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    shared_with(
        Some(page.clone()),
        (StatusCode::NO_CONTENT, allowed).into_response(),
    )
}

/// Marks the answer as readable for this page only. A browser shows it to no other page.
fn shared_with(page: Option<HeaderValue>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(page) = page {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    }
    response
}

#[cfg(test)]
mod tests;
