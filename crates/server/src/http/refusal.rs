//! Refusals, in the one shape of all errors over HTTP: a message and a hint, as JSON or as a page.

use axum::Json;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde_json::json;

use icm_api::error::ServiceError;
use icm_guard::sanitize::clean_line;

/// The reason for not answering a request.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
    hint: String,
    /// The authentication scheme to name, if the token is missing or wrong.
    scheme: Option<&'static str>,
}

impl Refusal {
    pub(super) fn new(
        status: StatusCode,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Refusal {
            status,
            message: message.into(),
            hint: hint.into(),
            scheme: None,
        }
    }

    /// Returns a refusal of a malformed request.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, message, "see /openapi.json")
    }

    /// Returns a refusal for a missing or wrong token.
    pub(super) fn unknown(message: &str, scheme: &'static str) -> Self {
        let hint = "send `Authorization: Bearer TOKEN`; the token is in the server's --token-file or ICM_TOKEN";
        Refusal {
            scheme: Some(scheme),
            ..Refusal::new(StatusCode::UNAUTHORIZED, message, hint)
        }
    }

    /// Returns the refusal as a page, for a browser. A refusal of a foreign page names no option: pages have none.
    pub(super) fn into_page(self) -> Response {
        let message = escaped(&self.message);
        match self.status {
            StatusCode::FORBIDDEN => page(self.status, "Not admitted", &format!("{message}."), ""),
            status => {
                let why = format!("{message}: {}.", escaped(&self.hint));
                page(status, "This did not work", &why, "")
            }
        }
    }
}

/// Returns a page that stands alone: `body` is a paragraph and `head` a part of the head, both as HTML.
pub(super) fn page(status: StatusCode, title: &str, body: &str, head: &str) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">{head}<title>{title} · icm</title></head>\
         <body><main><h1>{title}</h1><p>{body}</p></main></body></html>"
    );
    let policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let headers = [
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, Html(page)).into_response()
}

/// Returns a text as HTML, also for an attribute in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let named = text.replace('&', "&amp;").replace('<', "&lt;");
    named.replace('>', "&gt;").replace('"', "&quot;")
}

impl From<&ServiceError> for Refusal {
    fn from(error: &ServiceError) -> Refusal {
        let status = match error {
            ServiceError::Invalid { .. } | ServiceError::Ambiguous { .. } => {
                StatusCode::BAD_REQUEST
            }
            ServiceError::Secret { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            ServiceError::Nothing { .. } | ServiceError::NotFound { .. } => StatusCode::NOT_FOUND,
            ServiceError::OtherPlan | ServiceError::Conflict { .. } => StatusCode::CONFLICT,
            ServiceError::ReadOnly { .. } => StatusCode::FORBIDDEN,
            ServiceError::NoSpace { .. } => StatusCode::INSUFFICIENT_STORAGE,
            ServiceError::Busy { .. } | ServiceError::Stopped { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let hint = error
            .hint()
            .unwrap_or_else(|| match status.is_client_error() {
                true => "see /openapi.json".into(),
                false => "see `icm doctor` on the server's machine".into(),
            });
        Refusal::new(status, clean_line(&error.to_string()), clean_line(&hint))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal {
            status,
            message,
            hint,
            scheme,
        } = self;
        let error = json!({"error": {"message": message, "hint": hint}});
        let mut response = (status, Json(error)).into_response();
        let headers = response.headers_mut();
        if let Some(scheme) = scheme {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
