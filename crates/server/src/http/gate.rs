//! What every request passes: who is asked, from which page, with which token, and how much of it there is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, ORIGIN, VARY,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;

use super::metrics::Metrics;
use super::{BODY_MAX_BYTES, HttpOptions, Token};
use crate::error::{Result, ServiceError};
use crate::mcp::FollowUp;
use crate::service::Service;

/// How long a client may take for the body of a request.
const BODY_WAIT: Duration = Duration::from_secs(30);
/// What answers without a token: whether the server is there, and nothing of what it holds.
const OPEN_PATH: &str = "/health";

/// What is checked of every request.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    token: Option<Token>,
    /// Names of this server, without a port, in lower case.
    hosts: Vec<String>,
    origins: Vec<Origin>,
}

/// Where a web page is from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    /// `None` stands for any.
    port: Option<u16>,
}

/// A gate with what it tells after each answer.
struct Watch {
    gate: Gate,
    metrics: Metrics,
    follow_up: Arc<FollowUp>,
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
        let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".into(), "[::1]".into()];
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
        })
    }

    /// These routes behind the gate, with `/metrics` among them.
    pub(super) fn around(
        self,
        routes: Router,
        service: Arc<Service>,
        follow_up: Arc<FollowUp>,
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
        };
        routes
            .route("/metrics", axum::routing::get(show))
            .fallback(|| async {
                refusal(StatusCode::NOT_FOUND, "no such path", "see /openapi.json")
            })
            .method_not_allowed_fallback(|| async {
                let why = "this path does not know that method";
                refusal(StatusCode::METHOD_NOT_ALLOWED, why, "see /openapi.json")
            })
            .layer(middleware::from_fn_with_state(Arc::new(watch), pass))
    }

    /// Passes the request on, or says why not.
    async fn pass(&self, request: Request, next: Next) -> Response {
        let (parts, body) = request.into_parts();
        let origin = match self.admit(&parts.uri, &parts.headers) {
            Ok(origin) => origin,
            Err(refusal) => return refusal,
        };
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
            return shared_with(page, refusal);
        }
        let response = match whole(body).await {
            Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
            Err(refusal) => refusal,
        };
        shared_with(page, response)
    }

    /// Whether this server is meant, and no web page of elsewhere asks; where the page is from, if one does.
    fn admit(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> std::result::Result<Option<Origin>, Response> {
        let mut named = headers.get_all(HOST).iter();
        let (host, second) = (named.next(), named.next());
        let is_ours = |host: &str| {
            host_name_with_port(host)
                .is_some_and(|name| self.hosts.iter().any(|known| *known == name))
        };
        let admitted = second.is_none()
            && host
                .and_then(|host| host.to_str().ok())
                .is_some_and(is_ours)
            && uri
                .authority()
                .is_none_or(|authority| is_ours(authority.as_str()));
        if !admitted {
            let why = "this server is not called by that name";
            return Err(refusal(
                StatusCode::FORBIDDEN,
                why,
                "whoever starts it can allow it: --allow-host",
            ));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let (Some(origin), second) = (origins.next(), origins.next()) else {
            return Ok(None);
        };
        let origin = origin.to_str().ok().and_then(Origin::parse);
        let admitted = origin.filter(|origin| {
            second.is_none()
                && (origin.is_of_this_machine()
                    || self.origins.iter().any(|known| known.admits(origin)))
        });
        match admitted {
            Some(origin) => Ok(Some(origin)),
            None => {
                let why = "web pages from there are not answered";
                let hint = "whoever starts the server can allow it: --allow-origin";
                Err(refusal(StatusCode::FORBIDDEN, why, hint))
            }
        }
    }

    fn check_token(&self, headers: &HeaderMap) -> std::result::Result<(), Response> {
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
        let why = match bearer {
            None => "a token is required",
            Some(_) => "that is not the token",
        };
        let hint = "send `Authorization: Bearer TOKEN`; the token is in the server's --token-file or ICM_TOKEN";
        let mut refusal = refusal(StatusCode::UNAUTHORIZED, why, hint);
        let scheme = match bearer {
            None => r#"Bearer realm="icm""#,
            Some(_) => r#"Bearer realm="icm", error="invalid_token""#,
        };
        let headers = refusal.headers_mut();
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
        Err(refusal)
    }
}

async fn pass(State(watch): State<Arc<Watch>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = watch.gate.pass(request, next).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    watch
        .metrics
        .answered(&method, &path, response.status(), started.elapsed());
    watch.follow_up.answered();
    response
}

/// The whole body, if it is not too large and does not take too long.
async fn whole(body: Body) -> std::result::Result<Bytes, Response> {
    match tokio::time::timeout(BODY_WAIT, to_bytes(body, BODY_MAX_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let why = format!("the body is cut off, or longer than {BODY_MAX_BYTES} bytes");
            Err(refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &why,
                "send less at once",
            ))
        }
        Err(_) => {
            let why = format!("the body took longer than {} s", BODY_WAIT.as_secs());
            Err(refusal(StatusCode::REQUEST_TIMEOUT, &why, "send it again"))
        }
    }
}

/// An error, in the shape that all have.
pub(super) fn refusal(status: StatusCode, message: &str, hint: &str) -> Response {
    let error = json!({"error": {"message": message, "hint": hint}});
    (status, Json(error)).into_response()
}

/// What a browser asks before a page may ask.
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

/// An answer that this page may read. Others get none that a browser would show them.
fn shared_with(page: Option<HeaderValue>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(page) = page {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    }
    response
}

/// The name in `name` or `name:port`, in lower case.
fn host_name_with_port(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    let is_plain = !authority.as_str().contains('@') && !authority.host().is_empty();
    is_plain.then(|| authority.host().to_ascii_lowercase())
}

/// A name alone.
fn host_name(text: &str) -> Option<String> {
    let text = text.trim();
    host_name_with_port(text).filter(|name| name.len() == text.len())
}

impl Origin {
    /// `scheme://host`, `scheme://host:port` or `scheme://host:*`.
    fn parse(text: &str) -> Option<Origin> {
        let (scheme, rest) = text.trim().split_once("://")?;
        let default = match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        let (host, port) = match rest.strip_suffix(":*") {
            Some(host) => (host_name(host)?, None),
            None => {
                let authority: Authority = rest.parse().ok()?;
                let port = authority.port_u16();
                // What looks like a port must be one.
                if authority.port().is_some() != port.is_some() {
                    return None;
                }
                (host_name_with_port(rest)?, Some(port.or(default)?))
            }
        };
        is_scheme.then(|| Origin {
            scheme: scheme.to_owned(),
            host,
            port,
        })
    }

    fn is_of_this_machine(&self) -> bool {
        self.scheme == "http" && ["localhost", "127.0.0.1", "[::1]"].contains(&self.host.as_str())
    }

    fn admits(&self, other: &Origin) -> bool {
        (&self.scheme, &self.host) == (&other.scheme, &other.host)
            && self.port.is_none_or(|port| Some(port) == other.port)
    }
}
