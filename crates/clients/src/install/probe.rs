//! Starts an entry as its client would, and asks it for its name and version.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use icm_wait::{Deadline, bounds, ended};
use serde_json::{Value, json};

use super::command::is_icm;
use super::entries::Entry;
use super::file;
use super::machine::Machine;

/// The protocol revision in the request; icm answers with the same.
const PROTOCOL: &str = "2025-06-18";

/// The answer of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The server's name.
    pub name: String,
    /// The server's version.
    pub version: String,
    /// The folder of its store, if the program is an icm that tells it.
    pub store: Option<PathBuf>,
}

/// Starts an entry with its client's command, environment and folder, begins a session, asks for the tools, and ends
/// the session.
///
/// # Errors
/// One line with the reason: the program does not start, does not answer within `patience`, or does not speak MCP.
pub fn probe(entry: &Entry, machine: &Machine, patience: Duration) -> Result<Answer, String> {
    let mut server = Server::start(entry, machine)?;
    let until = Deadline::after(patience);
    let asked = json!({
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "icm-doctor", "version": env!("CARGO_PKG_VERSION")},
    });
    let hello = server.ask(1, "initialize", asked, until)?;
    server.tell("notifications/initialized")?;
    // Clients ask for the tools next; a server without them is useless to a client.
    server.ask(2, "tools/list", json!({}), until)?;
    let text = |key: &str| {
        hello["serverInfo"][key]
            .as_str()
            .unwrap_or("unknown")
            .to_owned()
    };
    Ok(Answer {
        name: text("name"),
        version: text("version"),
        store: entry
            .is_icm()
            .then(|| store(entry, machine, until))
            .flatten(),
    })
}

/// A server process that ends when this value is dropped.
struct Server {
    child: Child,
    lines: Receiver<String>,
}

impl Server {
    fn start(entry: &Entry, machine: &Machine) -> Result<Server, String> {
        let mut command = command(entry, machine).ok_or("the entry has no command to start")?;
        command.args(entry.command.iter().skip(1));
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command
            .spawn()
            .map_err(|error| format!("`{}` does not start: {error}", entry.command.join(" ")))?;
        let (send, lines) = mpsc::channel();
        let out = child.stdout.take().expect("it is piped");
        // The thread ends with the pipe, and the pipe with the process.
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Server { child, lines })
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let stdin = self.child.stdin.as_mut().expect("it is piped");
        let sent = writeln!(stdin, "{message}").and_then(|()| stdin.flush());
        sent.map_err(|_| "the server ended before it answered".to_owned())
    }

    fn tell(&mut self, method: &str) -> Result<(), String> {
        self.send(&json!({"jsonrpc": "2.0", "method": method}))
    }

    fn ask(
        &mut self,
        id: u32,
        method: &str,
        params: Value,
        until: Deadline,
    ) -> Result<Value, String> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let line = self
                .lines
                .recv_timeout(until.left())
                .map_err(|error| match error {
                    mpsc::RecvTimeoutError::Timeout => format!("no answer to {method} in time"),
                    mpsc::RecvTimeoutError::Disconnected => {
                        format!("the server ended before it answered {method}")
                    }
                })?;
            let answer: Value = serde_json::from_str(&line).map_err(|_| {
                format!("the answer to {method} is not JSON: a wrapper may write to stdout")
            })?;
            if answer["id"] != id {
                continue;
            }
            if let Some(error) = answer.get("error") {
                return Err(format!(
                    "{method} failed: {}",
                    error["message"].as_str().unwrap_or("no reason given")
                ));
            }
            return Ok(answer["result"].clone());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server ends when its input ends.
        drop(self.child.stdin.take());
        let soon = Deadline::after(bounds::MOMENT);
        if !matches!(ended(&mut self.child, soon), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Returns the program of an entry in its client's environment. A bare name is found as the client finds it.
fn command(entry: &Entry, machine: &Machine) -> Option<Command> {
    let program = entry.command.first()?;
    let is_bare = !program.contains(['/', '\\']);
    let found = is_bare.then(|| machine.program(program)).flatten();
    let mut command = Command::new(found.unwrap_or_else(|| PathBuf::from(program)));
    command
        .env_clear()
        .envs(entry.environment(machine))
        .stdout(Stdio::piped());
    if entry.folder.is_dir() {
        command.current_dir(&entry.folder);
    }
    Some(command)
}

/// Returns the store that the entry's icm would open.
fn store(entry: &Entry, machine: &Machine, until: Deadline) -> Option<PathBuf> {
    let mut command = command(entry, machine)?;
    let mut words = entry.command.iter().skip(1);
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some(("--db" | "--config", _)) => drop(command.arg(word)),
            _ if word == "--db" || word == "--config" => drop(command.arg(word).args(words.next())),
            _ => {}
        }
    }
    command.args(["config", "show", "--json"]);
    let out = output(command, until)?;
    let settings: Value = serde_json::from_str(&out).ok()?;
    let db = settings
        .as_array()?
        .iter()
        .find(|setting| setting["key"] == "db")?;
    Some(PathBuf::from(db["value"].as_str()?))
}

/// Returns the output of a program, if it succeeds in time.
fn output(mut command: Command, until: Deadline) -> Option<String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut out = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let status = ended(&mut child, until).ok().flatten();
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = reader.join().ok()?.ok()?;
    status.is_some_and(|it| it.success()).then_some(text)
}

/// A running `icm serve`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The process.
    pub pid: u32,
    /// Its version; `None` if the program does not tell it.
    pub version: Option<String>,
}

/// Returns the running servers of icm, by `proc`, the folder of processes on Linux (`/proc`). Empty on other systems,
/// which have no such folder. Processes of other users are left out.
pub fn running(proc: &Path, patience: Duration) -> Vec<Running> {
    let until = Deadline::after(patience);
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    let mut found: Vec<Running> = entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            if !file::is_mine(&entry.path()) {
                return None;
            }
            let words = std::fs::read(entry.path().join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).into_owned();
            let mut words = words.split('\0');
            let is_server = words.next().is_some_and(is_icm) && words.any(|word| word == "serve");
            if !is_server {
                return None;
            }
            // The link leads to the program even after an update replaced its file.
            let mut command = Command::new(entry.path().join("exe"));
            command.arg("--version");
            let version = output(command, until);
            let version =
                version.and_then(|text| text.split_whitespace().nth(1).map(str::to_owned));
            Some(Running { pid, version })
        })
        .collect();
    found.sort_by_key(|running| running.pid);
    found
}
