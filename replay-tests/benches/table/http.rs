//! Calls `icm serve --http` on connections that stay open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::{Value, json};

/// A server on a port of its own; dropping it ends the server.
pub(crate) struct Server {
    process: Child,
    /// The rest of the server's stderr. It must stay open, or the server's next message fails.
    _said: BufReader<ChildStderr>,
    address: String,
}

impl Server {
    pub(crate) fn start(store: &Path) -> Server {
        let mut process = Command::new(crate::icm())
            .arg("--db")
            .arg(store)
            .args(["serve", "--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = BufReader::new(process.stderr.take().expect("it is piped"));
        let mut line = String::new();
        let address = loop {
            line.clear();
            let read = said.read_line(&mut line).expect("it says where it is");
            assert!(read > 0, "it ended");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split('/').next().unwrap_or_default().to_owned();
            }
        };
        Server {
            process,
            _said: said,
            address,
        }
    }

    pub(crate) fn client(&self) -> Client {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_nodelay(true).expect("it is set");
        Client {
            stream: BufReader::new(stream),
            address: self.address.clone(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().expect("it is there");
        self.process.wait().expect("it ends");
    }
}

/// A connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    address: String,
}

impl Client {
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) {
        let message = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        });
        let body = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: \
             application/json, text/event-stream\r\nmcp-protocol-version: 2025-06-18\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let stream = self.stream.get_mut();
        stream.write_all(request.as_bytes()).expect("it listens");
        let answer = self.answer();
        assert!(
            answer.contains("\"result\"") && !answer.contains("\"isError\":true"),
            "{answer}"
        );
    }

    fn answer(&mut self) -> String {
        let (mut line, mut len) = (String::new(), 0);
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("it answers");
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => {
                    len = value.parse().expect("a length");
                }
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; len];
        self.stream.read_exact(&mut body).expect("it answers");
        String::from_utf8(body).expect("it is JSON")
    }
}
