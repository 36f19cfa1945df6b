//! The terminal view: a store in a terminal, at any moment of its log.

use std::sync::Arc;

use icm_api::Caller;
use icm_api::error::Result;
use icm_service::Service;

/// Shows the store until the person ends it. With `read_only`, no change is offered.
///
/// # Errors
/// `Io` if the terminal cannot be read or written, and the errors of the store's queries.
pub fn run(_service: &Arc<Service>, _caller: &Caller, _read_only: bool) -> Result<()> {
    Ok(())
}
