//! `icm`: the command line.
//!
//! It turns arguments into requests to [`icm_service::Service`] and answers into text or JSON. It
//! must never know how the log lies on disk or how an index works. Every command is one file
//! under `commands/`, whose argument struct's doc comment is its help, and reads as: resolve what
//! was meant, do it, report.

// A test that meets `None` has failed, and the line number says where.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod app;
mod args;
mod asked;
mod background;
mod caller;
mod columns;
mod commands;
mod config;
mod config_file;
mod entry;
mod error;
mod global;
mod input;
mod logging;
mod memory_view;
mod models;
mod output;
mod panic;
mod progress;
mod project;
mod question;
mod signals;
mod text;
mod ui;
mod values;
mod when;

/// A server gives back what it took while it built views; the C library's heaps keep it.
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    signals::ignore_file_size_limit();
    entry::run(std::env::args_os().collect()).into()
}
