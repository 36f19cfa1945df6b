//! One file a command. The argument struct's doc comment is the help.

pub(crate) mod backup;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod rebuild;
pub(crate) mod recall;
pub(crate) mod replay;
pub(crate) mod restore;
pub(crate) mod revive;
pub(crate) mod serve;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod topics;
pub(crate) mod update;
pub(crate) mod verify;
