//! The queue of the owner's own writes: they are done together with the writes that other processes ask for.

use std::sync::Arc;

use crate::peer::Attempt;
use icm_api::error::Result;
use icm_api::{Caller, Receipt, StoreRequest, UpdateRequest};

/// A write that a caller asks for.
#[derive(Debug)]
pub enum Write {
    /// A new memory.
    Store(StoreRequest),
    /// A change of a memory.
    Update(UpdateRequest),
}

/// The entrance to the queue: does a write there. Returns `None` if it is not known whether the write was decided.
pub type OwnQueue = Arc<dyn Fn(Caller, Write, Attempt) -> Option<Result<Receipt>> + Send + Sync>;
