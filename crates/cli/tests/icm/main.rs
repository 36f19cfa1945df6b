//! Runs the built `icm` like a person or a script, each test in its own folder.

#![allow(clippy::unwrap_used)]

mod agents;
mod alerts;
mod answers;
mod as_known;
mod backup;
mod bad_input;
mod below;
#[cfg(feature = "bench")]
mod bench;
mod care;
#[path = "../../src/checked_in.rs"]
mod checked_in;
mod config;
mod conflicts;
mod context;
mod decay;
mod definitions;
mod demo;
mod diff;
mod doctor;
#[cfg(unix)]
mod ending;
mod exchange;
mod expiry;
mod extract;
mod fact;
mod feedback;
#[cfg(unix)]
mod files;
mod floor;
mod follow;
#[cfg(all(feature = "bench", feature = "models"))]
mod frozen;
#[cfg(unix)]
mod previewed;
// Pages show commands of every feature.
#[cfg(all(unix, feature = "bench", feature = "http", feature = "models"))]
mod guide;
// A lean build lacks commands.
#[cfg(all(feature = "bench", feature = "models"))]
mod help;
mod hook;
#[cfg(all(unix, feature = "http"))]
mod http;
mod import_export;
mod init;
#[cfg(feature = "bench")]
mod languages;
mod leftovers;
mod links;
mod look;
mod memoir;
mod memoir_export;
#[cfg(feature = "models")]
mod model;
#[cfg(unix)]
mod owner;
mod pages;
mod pipes;
mod places;
mod portable;
mod redact;
mod reference;
mod repair;
mod repeats;
mod scopes;
mod secrets;
mod serve;
#[cfg(feature = "objects")]
mod servers;
mod shown;
mod sync;
mod tags;
#[cfg(feature = "objects")]
mod targets;
#[cfg(unix)]
mod terminal;
mod time;
#[cfg(all(unix, feature = "tui"))]
mod tui;
mod undo;
mod wake_up;
mod why;
mod world;
