//! How the owner's own process has its writes done: with those that others ask it for.

use std::sync::Arc;

use crate::peer::Attempt;
use icm_api::error::Result;
use icm_api::{Caller, Receipt, StoreRequest, UpdateRequest};

/// A write that somebody asks for.
#[derive(Debug)]
pub enum Write {
    /// A new memory.
    Store(StoreRequest),
    /// A change of a memory.
    Update(UpdateRequest),
}

/// Has a write done elsewhere in this process. `None` where it is not known whether it was decided.
pub type OwnWay = Arc<dyn Fn(Caller, Write, Attempt) -> Option<Result<Receipt>> + Send + Sync>;
