//! Drives the built `icm` as a person or a script would, each test in a folder of its own.

#![allow(clippy::unwrap_used)]

mod agents;
mod answers;
mod as_known;
#[cfg(unix)]
mod asked;
mod backup;
mod bad_input;
mod below;
mod bench;
mod care;
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
#[cfg(unix)]
mod files;
mod floor;
mod follow;
mod frozen;
mod help;
#[cfg(unix)]
mod http;
mod import_export;
mod languages;
mod leftovers;
mod links;
mod memoir;
mod memoir_export;
mod model;
#[cfg(unix)]
mod owner;
mod pages;
mod pipes;
mod places;
mod portable;
mod redact;
mod repair;
mod scopes;
mod secrets;
mod serve;
mod servers;
mod shown;
mod sync;
mod targets;
#[cfg(unix)]
mod terminal;
mod time;
mod undo;
mod why;
mod world;
