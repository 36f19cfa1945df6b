//! Any bytes on the socket of an owner: it answers in lines of JSON and hangs up when all is answered.
#![no_main]

use std::sync::Arc;
use std::time::Duration;

use icm_server::{OpenOptions, Service};
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Arc::new(Service::open(OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    }).expect("it opens"));
    let kept = Arc::clone(&service);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let answers = runtime.block_on(async {
        let (stream, own) = UnixStream::pair().expect("a pair");
        let conversation = tokio::spawn(icm_server::fuzzed(service, stream));
        let (mut reader, mut writer) = own.into_split();
        let said = async {
            // It may have hung up.
            let _ = writer.write_all(bytes).await;
            let _ = writer.shutdown().await;
        };
        let mut answers = Vec::new();
        let (_, read) = tokio::join!(said, reader.read_to_end(&mut answers));
        read.expect("it reads");
        conversation.await.expect("no panic");
        answers
    });
    drop(runtime);
    // The thread that writes may still be ending, and what it holds is no leak.
    while Arc::strong_count(&kept) > 1 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let answers = String::from_utf8(answers).expect("UTF-8");
    for line in answers.lines() {
        let answer: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
    }
});
