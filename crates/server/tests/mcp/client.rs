//! The client of the tests: a connection to a server and a store of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::look::Look;

use icm_api::{Caller, StoreRequest, Trust};
use icm_log::env::Env;
use icm_server::mcp::{ANSWER_MAX_BYTES, McpOptions, Offer, serve};
use icm_service::{OpenOptions, Service, SystemEnv};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

pub(crate) const EVERYTHING: McpOptions = McpOptions {
    compact: false,
    read_only: false,
    structured: true,
    answer_max_bytes: ANSWER_MAX_BYTES,
    offer: Offer::ALL,
    nudge_after: 0,
};

pub(crate) const COMPACT: McpOptions = McpOptions {
    compact: true,
    ..EVERYTHING
};

pub(crate) const READ_ONLY: McpOptions = McpOptions {
    read_only: true,
    ..EVERYTHING
};

/// Returns the options of the store of a test in its folder.
pub(crate) fn store_in(folder: &Path) -> OpenOptions {
    OpenOptions {
        dir: folder.join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    }
}

/// Opens the store of a test in its folder.
pub(crate) fn opened_in(folder: &Path) -> Service {
    Service::open(store_in(folder)).expect("a store")
}

const HOUR_MS: u64 = 60 * 60 * 1_000;

/// The environment of this machine with a clock that the test sets.
pub(crate) struct Clock(pub(crate) AtomicU64);

impl Clock {
    /// Returns a clock that stands so many hours before now.
    pub(crate) fn hours_ago(hours: u64) -> Clock {
        Clock(AtomicU64::new(SystemEnv.now_ms() - hours * HOUR_MS))
    }

    pub(crate) fn forward(&self, hours: u64) {
        self.0.fetch_add(hours * HOUR_MS, Ordering::Relaxed);
    }
}

impl Env for Clock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        SystemEnv.fill_random(bytes);
    }

    fn machine_id(&self) -> Option<String> {
        SystemEnv.machine_id()
    }
}

/// A connection to a server and a store of its own.
pub(crate) struct Client {
    pub(crate) input: Option<DuplexStream>,
    pub(crate) output: Lines<BufReader<DuplexStream>>,
    pub(crate) serving: JoinHandle<icm_api::error::Result<()>>,
    pub(crate) service: Arc<Service>,
    next_id: u64,
    /// Metadata of every request, for the stateless protocol.
    pub(crate) meta: Option<Value>,
    folder: tempfile::TempDir,
}

impl Client {
    /// Connects; sends nothing yet.
    pub(crate) fn connect(options: McpOptions) -> Client {
        Client::connect_in(tempfile::tempdir().expect("a folder"), options)
    }

    /// Connects to a server over a store in `folder`, which may exist.
    pub(crate) fn connect_in(folder: tempfile::TempDir, options: McpOptions) -> Client {
        let service = opened_in(folder.path());
        Client::connect_to(service, folder, options)
    }

    /// Connects to a server over an open store.
    pub(crate) fn connect_to(
        service: Service,
        folder: tempfile::TempDir,
        options: McpOptions,
    ) -> Client {
        let caller = Caller {
            actor: "user".into(),
            session: Some("session-1".into()),
            ..Caller::default()
        };
        Client::connect_as(caller, service, folder, options)
    }

    /// Connects this caller to a server over an open store.
    pub(crate) fn connect_as(
        caller: Caller,
        service: Service,
        folder: tempfile::TempDir,
        options: McpOptions,
    ) -> Client {
        let service = Arc::new(service);
        let (input, server_input) = tokio::io::duplex(64 << 10);
        let (server_output, output) = tokio::io::duplex(64 << 10);
        let serving = tokio::spawn(serve(
            Arc::clone(&service),
            caller,
            options,
            server_input,
            server_output,
        ));
        Client {
            input: Some(input),
            output: BufReader::new(output).lines(),
            serving,
            service,
            next_id: 1000,
            meta: None,
            folder,
        }
    }

    /// Connects, with the handshake of the older revisions.
    pub(crate) async fn legacy(options: McpOptions) -> Client {
        Client::connect(options).greeted().await
    }

    pub(crate) async fn greeted(mut self) -> Client {
        let client = &mut self;
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test client", "version": "1.2"},
        });
        let reply = client.request("initialize", params).await;
        assert_eq!(reply["result"]["protocolVersion"], "2025-11-25", "{reply}");
        reply["result"].has(json!({"/serverInfo/name": "icm"}));
        let told = reply["result"]["instructions"].as_str().expect("a text");
        assert!(told.starts_with("icm is a memory "), "{told}");
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        client.send(initialized.as_bytes()).await;
        self
    }

    /// Connects with the stateless revision.
    pub(crate) fn stateless(options: McpOptions) -> Client {
        let mut client = Client::connect(options);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "3"},
        }));
        client
    }

    pub(crate) async fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(line).await.expect("write");
        input.write_all(b"\n").await.expect("write");
    }

    /// Returns the next line, which must be JSON; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(Duration::from_secs(20), self.output.next_line());
        let line = line.await.expect("an answer in time").expect("read")?;
        Some(serde_json::from_str(&line).expect("nothing but JSON"))
    }

    pub(crate) async fn start(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let request =
            json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.send(request.to_string().as_bytes()).await;
        self.next_id
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        let reply = self.next().await.expect("an answer");
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    /// Returns the result of a tool, failed or not.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let reply = self.request("tools/call", params).await;
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    /// Returns the text and the structured content of a tool that must succeed.
    pub(crate) async fn ok(&mut self, name: &str, arguments: Value) -> (String, Value) {
        let result = self.call(name, arguments).await;
        result.has(json!({"isError": false, "/content/0/type": "text"}));
        let text = result["content"][0]["text"]
            .as_str()
            .expect("a text")
            .to_owned();
        (text, result["structuredContent"].clone())
    }

    /// Returns the text of a tool that must fail.
    pub(crate) async fn fails(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        // An error must name tools and arguments, not commands and options.
        let quoted: Vec<&str> = text.split('`').collect();
        for pair in quoted[1..].chunks_exact(2) {
            let is_command = pair[0].starts_with("icm ") || pair[0].starts_with("--");
            assert!(
                !is_command || pair[1].starts_with(" (for the user "),
                "{text}"
            );
        }
        let unquoted: String = quoted.iter().copied().step_by(2).collect();
        assert!(!unquoted.contains("--"), "{text}");
        text.to_owned()
    }

    /// Stores without MCP, as an import would.
    pub(crate) fn put(&self, topic: &str, content: &str, trust: Trust) -> String {
        let request = StoreRequest {
            trust,
            ..StoreRequest::new(topic, content)
        };
        let caller = Caller {
            actor: "user".into(),
            ..Caller::default()
        };
        self.service.store(&caller, request).expect("stored").id
    }

    /// Closes the input, and returns the lines that still come, with the store.
    pub(crate) async fn end(mut self) -> (Vec<Value>, Store) {
        drop(self.input.take());
        let mut rest = Vec::new();
        while let Some(reply) = self.next().await {
            rest.push(reply);
        }
        self.serving.await.expect("no panic").expect("a clean end");
        let store = Store {
            service: self.service,
            folder: self.folder,
        };
        (rest, store)
    }
}

/// A store whose server has ended.
pub(crate) struct Store {
    pub(crate) service: Arc<Service>,
    folder: tempfile::TempDir,
}

impl Store {
    /// Returns the folder that holds the store.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}
