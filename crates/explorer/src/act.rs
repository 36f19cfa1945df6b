//! Actions: each is a form with a token, and one command of the service.

use std::sync::Arc;

use axum::Router;
use icm_api::error::{Result, ServiceError};

use crate::Explorer;

/// Makes and checks the tokens of forms.
pub(crate) struct FormTokens {
    _key: [u8; 32],
}

impl FormTokens {
    pub(crate) fn new() -> Result<FormTokens> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)
            .map_err(|error| ServiceError::Internal(format!("no random numbers: {error}")))?;
        Ok(FormTokens { _key: key })
    }
}

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    Router::new()
}
