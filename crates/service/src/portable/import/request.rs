//! The request that an object of a file stands for.

use serde_json::{Map, Value};

use icm_api::error::{Result, ServiceError};
use icm_api::limits::KEYWORDS_MAX;
use icm_api::{Importance, Source, StoreRequest, Trust};

/// Returns the request that the object of a line stands for.
///
/// # Errors
/// `Invalid` for a missing field, and for a field in a form that no memory has.
pub(super) fn request_of(object: &Map<String, Value>) -> Result<StoreRequest> {
    let text = |field: &str| match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ServiceError::invalid(format!(
            "`{field}` is not text: put it in quotes"
        ))),
    };
    let required = |field: &str| {
        text(field)?.ok_or_else(|| ServiceError::invalid(format!("`{field}` is missing")))
    };
    let importance = match text("importance")? {
        None => None,
        Some(word) => Some(parse_importance(&word)?),
    };
    let trust = match text("trust")? {
        None => Trust::External,
        Some(word) => parse_trust(&word)?,
    };
    let keywords = match object.get("keywords") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
        Some(Value::Array(items)) if items.len() <= KEYWORDS_MAX => items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                _ => Err(ServiceError::invalid("a keyword is not text")),
            })
            .collect::<Result<_>>()?,
        Some(Value::Array(items)) => {
            let count = items.len();
            return Err(ServiceError::invalid(format!(
                "{count} keywords were given, the limit is {KEYWORDS_MAX}"
            )));
        }
        Some(_) => return Err(ServiceError::invalid("`keywords` is not a list of texts")),
    };
    let source = match object.get("source") {
        None | Some(Value::Null) => Source::default(),
        Some(Value::String(agent)) => Source {
            agent: Some(agent.clone()),
            ..Source::default()
        },
        Some(value) => serde_json::from_value(value.clone())
            .map_err(|error| ServiceError::invalid(format!("`source`: {error}")))?,
    };
    Ok(StoreRequest {
        topic: required("topic")?,
        content: required("content")?,
        importance,
        keywords,
        raw_excerpt: text("raw_excerpt")?,
        key: text("key")?,
        occurred_at: text("occurred_at")?,
        source,
        metadata: object
            .get("metadata")
            .filter(|value| !value.is_null())
            .cloned(),
        scope: text("scope")?,
        expires: text("expires")?,
        trust,
        request_id: None,
        allow_secret: false,
    })
}

/// Returns the importance that a word names.
pub(crate) fn parse_importance(word: &str) -> Result<Importance> {
    Importance::named(&word.trim().to_ascii_lowercase()).ok_or_else(|| {
        ServiceError::invalid_with(
            format!("`{word}` is no importance"),
            "write low, medium, high or critical",
        )
    })
}

fn parse_trust(word: &str) -> Result<Trust> {
    Trust::named(&word.trim().to_ascii_lowercase()).ok_or_else(|| {
        ServiceError::invalid_with(
            format!("`{word}` is no trust"),
            "write user, agent or external",
        )
    })
}
