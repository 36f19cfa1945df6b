//! Calls `icm serve` over pipes, one call after the other.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::clock::{cpu_of, p50};
use crate::data::{self, SIZES, Text};
use crate::{Target, row};

const CALLS: usize = 3_000;

pub(crate) struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    pub(crate) fn start(store: &Path) -> Client {
        let mut server = Command::new(crate::icm())
            .arg("--db")
            .arg(store)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let input = server.stdin.take().expect("it is piped");
        let output = BufReader::new(server.stdout.take().expect("it is piped"));
        let mut client = Client {
            server,
            input,
            output,
            next: 1,
        };
        client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.input.write_all(line.as_bytes()).expect("it listens");
    }

    fn ask(&mut self, method: &str, params: Value) -> String {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        line
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) {
        let line = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(
            line.contains("\"result\"") && !line.contains("\"isError\":true"),
            "{line}"
        );
    }

    pub(crate) fn end(self) {
        let Client {
            mut server, input, ..
        } = self;
        drop(input);
        server.wait().expect("it ends");
    }

    /// Returns milliseconds a call: the mean of CPU, and p50 and p99 of wall time.
    fn measure(&mut self, tool: &str, mut arguments: impl FnMut() -> Value) -> [f64; 3] {
        for _ in 0..50 {
            self.call(tool, &arguments());
        }
        let mut walls = Vec::with_capacity(CALLS);
        let before = cpu_of(self.server.id());
        for _ in 0..CALLS {
            let arguments = arguments();
            let start = Instant::now();
            self.call(tool, &arguments);
            walls.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let cpu = (cpu_of(self.server.id()) - before).as_secs_f64() * 1e3 / CALLS as f64;
        let middle = p50(&mut walls);
        [cpu, middle, walls[CALLS * 99 / 100]]
    }
}

pub(crate) fn run(dir: &Path) {
    let mut first = None;
    for size in SIZES {
        let store = data::sized(dir, size);
        let mut client = Client::start(&store);
        let mut text = Text::new(6);
        let stores = client.measure(
            "icm_memory_store",
            || json!({"topic": text.topic(), "content": text.content()}),
        );
        let recalls = client.measure("icm_memory_recall", || json!({"query": text.query()}));
        client.end();
        let told = |times: [f64; 3]| {
            format!(
                "{:.3} ms CPU; wall p50 {:.2}, p99 {:.2} ms",
                times[0], times[1], times[2]
            )
        };
        let smallest = *first.get_or_insert((stores[0], recalls[0]));
        let flat =
            |now: f64, small: f64| format!("rtk icm, text only; {:.2}× that at 1 k", now / small);
        row(
            &format!("store over MCP, {} k memories", size / 1_000),
            &told(stores),
            &format!("0.26–0.29 ms {}", flat(stores[0], smallest.0)),
            stores[0] / 0.26,
            ("< 0.26 ms CPU, flat", Target::AtMost(1.0)),
        );
        row(
            &format!("recall over MCP, recorded, {} k memories", size / 1_000),
            &told(recalls),
            &format!("0.30–0.60 ms {}", flat(recalls[0], smallest.1)),
            recalls[0],
            ("told (ms)", Target::None),
        );
    }
}
