//! `icm`: the command line.
//!
//! This crate turns arguments into requests to [`icm_service::Service`] and answers into text or JSON. It must never
//! know the layout of the log on disk or how an index works. Every command is one file under `commands/`: the doc
//! comment of its argument struct is the help, and its code resolves the arguments, does the work and reports.

// A test that meets `None` has failed, and the error names the line.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod app;
mod args;
mod background;
mod caller;
#[cfg(test)]
mod checked_in;
mod columns;
mod commands;
mod config;
mod config_file;
mod entry;
mod error;
mod global;
mod input;
mod limit_args;
mod logging;
mod memory_view;
mod models;
mod output;
mod panic;
mod previewed;
mod progress;
mod project;
mod question;
mod signals;
mod tag_args;
mod text;
mod ui;
mod values;
mod when;

/// A server returns the memory of a rebuild to the system; the heaps of the C library would keep it.
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    signals::ignore_file_size_limit();
    entry::run(std::env::args_os().collect()).into()
}
