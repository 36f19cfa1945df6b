//! Plain paths for scripts: one JSON object in, one JSON object out. They check arguments and answer as the MCP tools
//! do.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::operations::{OPERATIONS, Operation};
use super::refusal::Refusal;
use super::{is_json, openapi};
use crate::mcp::schema::Args;
use crate::mcp::tools::{Call, clean_value};
use crate::mcp::{FollowUp, McpOptions, short_name};
use icm_api::error::ServiceError;
use icm_api::{Caller, LogRequest, NoProgress};
use icm_service::Service;

/// Longest texts of an answer, in bytes. A program has no context window to save. Raised, answers can take more memory.
const TEXTS_MAX_BYTES: usize = 8 << 20;

/// The state shared by all plain paths.
#[derive(Clone)]
pub(super) struct RestState {
    pub(super) service: Arc<Service>,
    pub(super) caller: Caller,
    pub(super) options: McpOptions,
    pub(super) follow_up: Arc<FollowUp>,
}

/// Returns the routes. On a read-only server `/store` refuses with the reason.
pub(super) fn routes(state: RestState) -> Router {
    let mut routes = Router::new();
    let mut document = Vec::new();
    for operation in OPERATIONS {
        if operation.writes && state.options.read_only {
            routes = routes.route(operation.path, post(async || only_reads()));
            continue;
        }
        document.push(operation);
        let by_body =
            post(async move |State(state): State<RestState>, headers, body| {
                match object(operation, &headers, &body) {
                    Ok(given) => state.answer(operation, &headers, given).await,
                    Err(refusal) => refusal.into_response(),
                }
            });
        let methods = match operation.writes {
            true => by_body,
            false => by_body.get(
                async move |State(state): State<RestState>, query, headers: HeaderMap| {
                    match arguments(query) {
                        Ok(given) => state.answer(operation, &headers, given).await,
                        Err(refusal) => refusal.into_response(),
                    }
                },
            ),
        };
        routes = routes.route(operation.path, methods);
    }
    let document = openapi::document(&document);
    routes
        .route("/health", get(health))
        .route("/openapi.json", get(async move || Json(document)))
        .with_state(state)
}

/// Returns the refusal of a write on a read-only server.
fn only_reads() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "this server only reads",
        "start one without `--read-only` to write",
    )
}

/// Answers that the server runs and whether its log is whole, without any content.
async fn health(State(state): State<RestState>) -> Response {
    let looked = tokio::task::spawn_blocking(move || {
        let service = &state.service;
        service.check_folder()?;
        // Damage is found while the log is read.
        service.check_log(&LogRequest::default())?;
        Ok::<_, ServiceError>(service.damage().is_some())
    });
    let (status, said) = match looked.await {
        Ok(Ok(false)) => (StatusCode::OK, "ok"),
        Ok(Ok(true)) => (StatusCode::SERVICE_UNAVAILABLE, "damaged"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "unreadable"),
    };
    let body = json!({"status": said, "version": env!("CARGO_PKG_VERSION")});
    (status, Json(body)).into_response()
}

/// Reads the JSON object in a body.
fn object(
    operation: &Operation,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Map<String, Value>, Refusal> {
    // A browser lets a page send other content types without a preflight.
    if !is_json(headers) {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body must be JSON",
            "send the header `Content-Type: application/json`",
        ));
    }
    let text = std::str::from_utf8(body).map_err(|_| Refusal::bad("the body is not UTF-8"))?;
    let mut given = match icm_guard::json::parse(text) {
        Ok(Value::Object(given)) => given,
        Ok(_) => return Err(Refusal::bad("the body is no JSON object")),
        Err(error) => return Err(Refusal::bad(format!("the body: {error}"))),
    };
    // Scripts know this header from other APIs.
    if let Some(key) = headers.get("idempotency-key").filter(|_| operation.writes) {
        let wrong = |_| Refusal::bad("the header Idempotency-Key is not ASCII");
        let key = key.to_str().map_err(wrong)?;
        let other = given.insert("request_id".into(), key.into());
        if other.is_some_and(|other| other.as_str() != Some(key)) {
            let why = "request_id and the header Idempotency-Key differ";
            return Err(Refusal::bad(why));
        }
    }
    Ok(given)
}

type Pairs = Result<Query<Vec<(String, String)>>, axum::extract::rejection::QueryRejection>;

/// Reads the arguments in a query string.
fn arguments(query: Pairs) -> Result<Map<String, Value>, Refusal> {
    let Query(pairs) = query.map_err(|error| Refusal::bad(error.body_text()))?;
    let mut given = Map::new();
    for (name, text) in pairs {
        if given.insert(name.clone(), text.into()).is_some() {
            return Err(Refusal::bad(format!("`{name}` is given twice")));
        }
    }
    Ok(given)
}

impl RestState {
    async fn answer(
        mut self,
        operation: &'static Operation,
        headers: &HeaderMap,
        given: Map<String, Value>,
    ) -> Response {
        let agent = headers
            .get(USER_AGENT)
            .and_then(|agent| agent.to_str().ok());
        if let Some(name) = agent.map(short_name).filter(|name| !name.is_empty()) {
            self.caller.client = Some(name);
        }
        let mut args = match Args::check(operation.params, given) {
            Ok(args) => args,
            Err(why) => return Refusal::bad(why).into_response(),
        };
        let notes = args.take_notes();
        let follow_up = Arc::clone(&self.follow_up);
        let done = tokio::task::spawn_blocking(move || {
            let call = Call {
                service: &self.service,
                caller: &self.caller,
                options: McpOptions {
                    answer_max_bytes: TEXTS_MAX_BYTES,
                    ..self.options
                },
                progress: &NoProgress,
            };
            let mut answer = (operation.run)(&call, args)?;
            if let Value::Object(answer) = &mut answer {
                if !notes.is_empty() {
                    answer.insert("notes".to_owned(), notes.into());
                }
                // The missing memory may be in the damaged part.
                if !operation.writes
                    && let Some(damage) = self.service.damage()
                {
                    answer.insert("damage".to_owned(), damage.into());
                }
            }
            Ok(answer)
        });
        let done = done.await;
        follow_up.leave();
        match done {
            Ok(Ok(mut answer)) => {
                clean_value(&mut answer);
                Json(answer).into_response()
            }
            Ok(Err(error)) => Refusal::from(&error).into_response(),
            Err(error) => {
                tracing::error!(path = operation.path, %error, "a request panicked");
                let why = "a bug in icm; details are in its log";
                Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, why, "the server goes on")
                    .into_response()
            }
        }
    }
}
