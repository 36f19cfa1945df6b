//! Plain paths for scripts: one JSON object in, one out. They check what they are given, and answer, as the
//! tools of MCP do.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::refusal::Refusal;
use super::{is_json, openapi};
use crate::mcp::schema::{Args, Kind, Param};
use crate::mcp::tools;
use crate::mcp::tools::{Call, clean_value};
use crate::mcp::{FollowUp, McpOptions, short_name};
use icm_api::error::ServiceError;
use icm_api::limits::RECALL_LIMIT_MAX;
use icm_api::{Caller, LogRequest, NoProgress, RecallRequest, StoreRequest, Trust};
use icm_service::Service;

/// Longest texts of an answer: a program has no context to save.
const TEXTS_MAX_BYTES: usize = 8 << 20;

/// What the paths work on.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) service: Arc<Service>,
    pub(super) caller: Caller,
    pub(super) options: McpOptions,
    pub(super) follow_up: Arc<FollowUp>,
}

/// One path.
pub(super) struct Operation {
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) params: &'static [Param],
    /// Whether it changes the store: then it is asked for by POST alone.
    pub(super) writes: bool,
    run: fn(&Call<'_>, Args) -> Result<Value, ServiceError>,
}

/// Those that work on memories.
pub(super) static OPERATIONS: [&Operation; 3] = [&STORE, &RECALL, &LOG];

static STORE: Operation = Operation {
    path: "/store",
    summary: "Store one memory, or update the one with the same topic and key",
    params: &[
        text("topic", true, "short group name, e.g. decisions-api"),
        text("content", true, "the fact, understandable on its own"),
        Param {
            name: "importance",
            kind: tools::IMPORTANCE,
            required: false,
            about: "how slowly it fades; default medium, critical never fades",
        },
        Param {
            name: "keywords",
            kind: Kind::Words,
            required: false,
            about: "words to find it by that the content lacks",
        },
        text("raw_excerpt", false, "verbatim code or message behind it"),
        text(
            "key",
            false,
            "your own id within the topic: the same topic and key again updates",
        ),
        text(
            "occurred_at",
            false,
            "when it happened: RFC 3339, date, or 2h ago",
        ),
        text("scope", false, "global (default), project:ID or session:ID"),
        text(
            "request_id",
            false,
            "asked again with it, the first receipt comes again; also header Idempotency-Key",
        ),
        Param {
            name: "allow_secret",
            kind: Kind::Flag,
            required: false,
            about: "store a secret too",
        },
    ],
    writes: true,
    run: |call, mut args| {
        let request = StoreRequest {
            topic: args.required_text("topic"),
            content: args.required_text("content"),
            importance: args.one_of("importance"),
            keywords: args.texts("keywords").unwrap_or_default(),
            raw_excerpt: args.text("raw_excerpt"),
            key: args.text("key"),
            occurred_at: args.text("occurred_at"),
            scope: call.caller.scope(args.text("scope"))?,
            trust: Trust::Agent,
            request_id: args.text("request_id"),
            allow_secret: args.flag("allow_secret"),
            ..StoreRequest::default()
        };
        Ok(json!(call.service.store(call.caller, request)?))
    },
};

static RECALL: Operation = Operation {
    path: "/recall",
    summary: "Search the memories, now or as they were at a moment",
    params: &[
        text("query", true, "a few plain words; no query syntax"),
        text("topic", false, "only this topic; a/ for all below a"),
        text("keyword", false, "only memories with this keyword"),
        Param {
            name: "importance",
            kind: tools::IMPORTANCE,
            required: false,
            about: "only memories at least so important",
        },
        text("since", false, "only what happened then or later"),
        text("until", false, "only what happened then or earlier"),
        text("scope", false, "as seen from it, or all"),
        text(
            "as_of",
            false,
            "as known at: RFC 3339, date, 2h ago, or @position",
        ),
        Param {
            name: "limit",
            kind: Kind::Limit {
                min: 1,
                max: RECALL_LIMIT_MAX as u64,
            },
            required: false,
            about: "default 10",
        },
        Param {
            name: "offset",
            kind: Kind::Whole {
                min: 0,
                max: RECALL_LIMIT_MAX as u64,
            },
            required: false,
            about: "results to skip: next of the answer before",
        },
        tools::FLOOR,
    ],
    writes: false,
    run: |call, mut args| {
        let request = RecallRequest {
            query: args.required_text("query"),
            topic: args.text("topic"),
            keyword: args.text("keyword"),
            importance: args.one_of("importance"),
            since: args.text("since"),
            until: args.text("until"),
            scope: call.caller.scope(args.text("scope"))?,
            at: args.text("as_of"),
            limit: args.whole("limit").map(|limit| limit as usize),
            offset: args.whole("offset").unwrap_or(0) as usize,
            floor: args.share("floor"),
            record: !call.options.read_only,
            ..RecallRequest::default()
        };
        Ok(json!(call.service.recall(call.caller, &request)?))
    },
};

static LOG: Operation = Operation {
    path: "/log",
    summary: "What happened, newest first; with id the history of one memory",
    params: tools::log::TOOL.params,
    writes: false,
    run: |call, args| Ok((tools::log::TOOL.run)(call, args)?.structured),
};

const fn text(name: &'static str, required: bool, about: &'static str) -> Param {
    Param {
        name,
        kind: Kind::Text,
        required,
        about,
    }
}

/// The paths of this face. Where a server only reads `/store` says so.
pub(super) fn routes(front: Front) -> Router {
    let mut routes = Router::new();
    let mut document = Vec::new();
    for operation in OPERATIONS {
        if operation.writes && front.options.read_only {
            routes = routes.route(operation.path, post(async || only_reads()));
            continue;
        }
        document.push(operation);
        let by_body = post(async move |State(front): State<Front>, headers, body| {
            match object(operation, &headers, &body) {
                Ok(given) => front.answer(operation, &headers, given).await,
                Err(refusal) => refusal.into_response(),
            }
        });
        let methods = match operation.writes {
            true => by_body,
            false => by_body.get(
                async move |State(front): State<Front>, query, headers: HeaderMap| match arguments(
                    query,
                ) {
                    Ok(given) => front.answer(operation, &headers, given).await,
                    Err(refusal) => refusal.into_response(),
                },
            ),
        };
        routes = routes.route(operation.path, methods);
    }
    let document = openapi::document(&document);
    routes
        .route("/health", get(health))
        .route("/openapi.json", get(async move || Json(document)))
        .with_state(front)
}

/// Why nothing is stored.
fn only_reads() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "this server only reads",
        "start one without `--read-only` to write",
    )
}

/// Whether the server is there and its log is whole; nothing of what is in it.
async fn health(State(front): State<Front>) -> Response {
    let looked = tokio::task::spawn_blocking(move || {
        let service = &front.service;
        service.check_folder()?;
        // Damage is met where it is read.
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

/// The object in a body.
fn object(
    operation: &Operation,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Map<String, Value>, Refusal> {
    // A web page may send other kinds without asking first.
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
    // As scripts know it from elsewhere.
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

/// The object that a query string stands for.
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

impl Front {
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
                // The damaged part may hold what was not found.
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
