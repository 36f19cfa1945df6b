//! The idempotency key of a request, and the digest that tells one request from another.

use serde::Serialize;

use icm_api::error::{Result, ServiceError};
use icm_api::limits::{self, REQUEST_ID_LEN_MAX};
use icm_api::{StoreRequest, UpdateRequest};

/// An idempotency key as the caller gave it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestKeyOf<'a>(pub(crate) Option<&'a str>);

/// Returns the digest of a command that came with an idempotency key.
pub(crate) fn digest_of<T: Serialize>(
    request_id: &Option<String>,
    shape: &T,
) -> Result<Option<String>> {
    let Some(request_id) = request_id else {
        return Ok(None);
    };
    limits::text("the request id", request_id, REQUEST_ID_LEN_MAX)?;
    let bytes =
        serde_json::to_vec(shape).map_err(|error| ServiceError::Internal(error.to_string()))?;
    Ok(Some(blake3::hash(&bytes).to_hex()[..32].to_owned()))
}

pub(crate) fn request_shape(request: &StoreRequest) -> impl Serialize + '_ {
    // A request without a condition has the shape that it had before requests had one.
    let called = request
        .expires
        .as_ref()
        .map_or("store".to_owned(), |expires| {
            format!("store, expires {expires}")
        });
    (
        (
            called,
            &request.topic,
            &request.content,
            request.importance,
            &request.keywords,
        ),
        (
            &request.raw_excerpt,
            &request.key,
            &request.occurred_at,
            &request.source,
        ),
        (&request.metadata, &request.scope, request.trust),
    )
}

pub(crate) fn update_shape(request: &UpdateRequest) -> impl Serialize + '_ {
    // A request without a trust has the shape that it had before requests had one.
    let mut called = request.trust.map_or("update".to_owned(), |trust| {
        format!("update to {}", trust.name())
    });
    if let Some(expires) = &request.expires {
        called.push_str(&format!(", expires {expires}"));
    }
    (
        (
            called,
            &request.id,
            &request.content,
            request.importance,
            &request.keywords,
        ),
        (&request.topic, &request.scope),
    )
}
