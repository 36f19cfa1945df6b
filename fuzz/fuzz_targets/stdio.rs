//! Any bytes on the input of `icm serve`: it answers in lines of JSON and ends well.
#![no_main]

use std::sync::Arc;
use std::time::Duration;

use icm_server::api::Caller;
use icm_server::mcp::{McpOptions, Offer, serve};
use icm_server::{OpenOptions, Service};
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Arc::new(Service::open(OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    }).expect("it opens"));
    let options = McpOptions {
        compact: false,
        read_only: false,
        offer: Offer::ALL,
    };
    let caller = Caller {
        actor: "fuzz".into(),
        ..Caller::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let answers = runtime.block_on(async {
        let (mut input, reader) = tokio::io::duplex(1 << 16);
        let (writer, mut output) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(serve(service, caller, options, reader, writer));
        let said = async {
            // It may have hung up.
            let _ = input.write_all(HELLO).await;
            let _ = input.write_all(bytes).await;
            drop(input);
        };
        let mut answers = Vec::new();
        let (_, read) = tokio::join!(said, output.read_to_end(&mut answers));
        read.expect("it reads");
        serving.await.expect("no panic").expect("it ends well");
        answers
    });
    let answers = String::from_utf8(answers).expect("UTF-8");
    for line in answers.lines() {
        let answer: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
    }
});
