//! Agent clients as icm meets them.
//!
//! [`names`] has the names by which people and commands call a client. `install` puts entries of icm into the files of
//! clients and takes them out again. `hooks` reads what a client tells a hook, and writes what it takes as an answer.
//!
//! This crate never knows a store, events or memories.
//!
//! ```
//! use icm_clients::names::Client;
//!
//! assert_eq!(Client::named("droid"), Some(Client::Factory));
//! assert_eq!(Client::Factory.name(), "factory");
//! ```

pub mod hooks;
pub mod install;
pub mod names;
