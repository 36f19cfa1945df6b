//! The service of icm.
pub mod api;
pub mod error;
pub mod mcp;
pub mod sanitize;
pub mod service;

pub use error::{Result, ServiceError};
pub use service::{OpenOptions, Service};
