//! Formats for leaving and entering a store: JSON lines, Markdown, bundles of events, CloudEvents, backups.

pub(crate) mod backup;
pub(crate) mod cloudevents;
pub(crate) mod exchange;
pub(crate) mod export;
pub(crate) mod import;
