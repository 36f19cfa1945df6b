//! Agent clients: the programs in which agents run, and that start icm.
//!
//! [`names`] has the names of clients in commands and messages. `install` puts entries of icm into the files of clients
//! and removes them. `hooks` reads a client's input to a hook and writes the answer.
//!
//! Each half has its own error enum, because no caller meets both. An [`install::InstallError`] tells a waiting person
//! what to mend. A [`hooks::HookError`] is a line in a journal, and the client goes on.
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
