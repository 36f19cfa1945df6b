//! Tests of MCP as a client sees it: lines in, lines out, over an in-memory pair of streams.

mod alerts;
mod argument;
mod attach;
mod client;
mod conflicts;
mod ending;
mod expiry;
mod facts;
mod fading;
mod feedback;
mod floor;
mod framed;
mod fronts;
mod line;
mod links;
mod list;
mod long;
#[path = "../../../cli/tests/icm/look.rs"]
mod look;
mod meant;
mod memoir;
mod names;
mod pages;
mod record;
mod revision;
mod stored_text;
mod topic;
