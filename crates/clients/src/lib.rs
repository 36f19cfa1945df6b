//! Agent clients as icm meets them.
//!
//! [`names`] has the names by which people and commands call a client. `install` puts entries of icm into the files of
//! clients and takes them out again. `hooks` reads what a client tells a hook, and writes what it takes as an answer.
//!
//! Each half has its own enum of errors, because no caller meets both. [`install::InstallError`] tells a person who waits
//! what to mend, and [`hooks::HookError`] is a line in a journal, with the client going on.
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
