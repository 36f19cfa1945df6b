//! `icm serve --http`: accepted requests, their answers, and the end of the server.

mod access;
mod ending;
mod listener;
mod mcp;
mod metrics;
mod path;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::world::{Args, World};

const TOKEN: &str = "0123456789abcdef-a-token";

/// A server and its stderr.
struct Server {
    child: Child,
    address: SocketAddr,
    err: BufReader<std::process::ChildStderr>,
}

/// An answer, unparsed.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn of(world: &World, args: impl Args) -> Server {
        Server::with(world, args, &[])
    }

    fn with(world: &World, args: impl Args, variables: &[(&str, &str)]) -> Server {
        let mut command = world.command("serve --http 127.0.0.1:0");
        command.args(args.args()).envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let address = loop {
            let mut line = String::new();
            let len = err.read_line(&mut line).expect("text");
            assert!(len > 0, "it ended: {:?}", child.wait());
            if let Some((_, url)) = line.split_once("http://") {
                let address = url.split('/').next().expect("an address");
                break address.parse().expect("an address");
            }
        };
        Server {
            child,
            address,
            err,
        }
    }

    /// Sends a request, and reads until the server closes the connection.
    fn say(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a socket");
        // The server may refuse before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or_default(),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// Sends one request with these headers besides the usual ones; `Host` is set unless given.
    fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let has = |name: &str| {
            headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !has("host") {
            request += &format!("Host: {}\r\n", self.address);
        }
        if !body.is_empty() && !has("content-type") {
            request += "Content-Type: application/json\r\n";
        }
        if !body.is_empty() || line.starts_with("POST") {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.say(format!("{request}\r\n{body}").as_bytes())
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &[], "")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(&format!("POST {path}"), &[], &body.to_string())
    }

    /// Sends an MCP request in the newest revision.
    fn mcp(&self, path: &str, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "8"},
        });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut all = vec![
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            all.push(("Mcp-Name", &name));
        }
        all.extend(headers);
        self.ask(&format!("POST {path}"), &all, &body.to_string())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is there");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Checks that the answer is an error with these words and a hint.
    #[track_caller]
    fn is_refused(&self, status: u16, words: &str) {
        assert_eq!(self.status, status, "{self:?}");
        let error = &self.json()["error"];
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{self:?}");
        assert!(
            !error["hint"].as_str().unwrap_or_default().is_empty(),
            "{self:?}"
        );
    }

    #[track_caller]
    fn is(&self, status: u16) -> &Answer {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}
