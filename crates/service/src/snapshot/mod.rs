//! The views in use: bringing them up to the log.

pub(crate) mod settle;
