//! Makes errors of the protocol.

use rmcp::model::{ErrorCode, ErrorData, PaginatedRequestParams};
use serde_json::json;

use crate::mcp::words::bounded;
use icm_api::error::ServiceError;
use icm_guard::sanitize::clean_line;

/// Longest URI of a resource that an error repeats, in bytes. Raised, errors get longer.
const URI_SHOWN_MAX_BYTES: usize = 1_024;

/// Returns an error of the protocol, for requests other than tool calls.
pub(super) fn refused(error: &ServiceError) -> ErrorData {
    let message = match error.hint() {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    };
    let message = bounded(&clean_line(&message));
    match error {
        ServiceError::NotFound { .. } | ServiceError::Nothing { .. } => {
            ErrorData::resource_not_found(message, None)
        }
        ServiceError::Invalid { .. } | ServiceError::Ambiguous { .. } => {
            ErrorData::invalid_params(message, None)
        }
        _ => ErrorData::internal_error(message, None),
    }
}

/// Adds the URI of a missing resource to an error, in the field that programs read.
pub(super) fn about(uri: &str, mut error: ErrorData) -> ErrorData {
    if error.code == ErrorCode::RESOURCE_NOT_FOUND && uri.len() <= URI_SHOWN_MAX_BYTES {
        error.data = Some(json!({ "uri": uri }));
    }
    error
}

/// Refuses a cursor: no list is long enough for a second page.
pub(super) fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(_) => Err(ErrorData::invalid_params(
            "this list has one page: leave `cursor` out",
            None,
        )),
        None => Ok(()),
    }
}
