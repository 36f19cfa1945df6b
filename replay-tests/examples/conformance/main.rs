//! The server of `icm serve` with the fixtures of the MCP conformance suite in front.
//!
//! ```text
//! cargo run -p replay-tests --example conformance -- STORE http 127.0.0.1:0
//! cargo run -p replay-tests --example conformance -- STORE stdio
//! ```
//!
//! The suite drives tools, resources and prompts of fixed names, which are answered here. Everything else is icm's own:
//! the handshake, the lists, the codes of errors, the hints for caches and the transports. Over HTTP the address is
//! printed on stdout as soon as the server listens.

#![allow(
    clippy::print_stdout,
    reason = "whoever starts it reads what it prints"
)]

mod handler;
mod rounds;
mod table;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use icm_api::Caller;
use icm_server::http::{HttpOptions, serve_handler};
use icm_server::mcp;
use icm_server::mcp::McpOptions;
use icm_service::{OpenOptions, Service};

use handler::Fixtures;

const USAGE: &str = "usage: conformance STORE (http ADDRESS | stdio)";

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().expect(USAGE));
    let service = Service::open(OpenOptions {
        dir,
        lock_wait: Duration::from_secs(10),
        read_only: false,
    });
    let service = Arc::new(service.expect("a store"));
    let make = {
        let service = Arc::clone(&service);
        move || Fixtures {
            inner: mcp::handler(
                Arc::clone(&service),
                Caller::default(),
                McpOptions::default(),
            ),
        }
    };
    match (args.next().as_deref(), args.next()) {
        (Some("http"), Some(address)) => {
            let options = HttpOptions {
                listen: address.parse().expect(USAGE),
                token: None,
                allow_origins: Vec::new(),
                allow_hosts: Vec::new(),
            };
            let ready = |address| println!("http://{address}/mcp");
            serve_handler(make, service, options, ready).expect("it serves until it is ended");
        }
        (Some("stdio"), None) => mcp::serve_handler(make(), service).expect("it serves a client"),
        _ => panic!("{USAGE}"),
    }
}
