//! Runs `icm` on a terminal.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::world::{Args, Run, World};

/// Opens a terminal. Returns its screen side, and the path of its program side.
pub(crate) fn terminal() -> (File, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    (File::from(master), path.into_string().unwrap())
}

/// Opens the program side of a terminal.
pub(crate) fn side(path: &str) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

impl World {
    /// Runs icm with stdin and stderr on a terminal, with `typed` as input. `err` of the result is the screen's final
    /// text.
    pub(crate) fn icm_asked(&self, args: impl Args, typed: &str) -> Run {
        let (mut master, path) = terminal();
        let mut command = self.command(args);
        command.stdin(side(&path)).stderr(side(&path));
        master.write_all(typed.as_bytes()).unwrap();
        let child = command.spawn().unwrap();
        // Our own open ends would keep the terminal open.
        drop(command);
        let mut screen = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            match master.read(&mut bytes) {
                Ok(0) => break,
                Ok(len) => screen.extend_from_slice(&bytes[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Linux returns an error after the other side was closed.
                Err(_) => break,
            }
        }
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().expect("not killed by a signal"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(screen).unwrap().replace("\r\n", "\n"),
        }
    }
}

impl World {
    /// Returns the output of a run on a terminal.
    fn icm_shown(&self, args: &str) -> String {
        let (mut master, path) = terminal();
        let mut command = self.command(args);
        command.stdout(side(&path)).env("COLUMNS", "200");
        let child = command.spawn().unwrap();
        drop(command);
        let mut screen = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            match master.read(&mut bytes) {
                Ok(0) => break,
                Ok(len) => screen.extend_from_slice(&bytes[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(screen).unwrap().replace("\r\n", "\n")
    }
}

#[test]
fn json_on_a_terminal_steers_nothing_and_stays_the_same() {
    let world = World::new();
    let content =
        "a\u{9b}31m red \u{202e}drawkcab\u{202c} \u{85}\u{7f} \u{200f}Grüße \u{2066}x\u{2069}";
    world.ok(format!("store -t t --key k -c '{content}'"));
    let id = world.id("k");
    for args in [
        format!("get {id} --json").as_str(),
        "recall red --json",
        "list --json",
        "log --json --kind memory.stored",
        "export jsonl",
        "log export - --format cloudevents",
    ] {
        let shown = world.icm_shown(args);
        let harmful = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!shown.contains(harmful), "{args:?}: {shown:?}");
        let piped = world.icm(args).ok().out;
        let values = |text: &str| -> Vec<serde_json::Value> {
            let values = serde_json::Deserializer::from_str(text).into_iter();
            values.map(|value| value.expect("it is JSON")).collect()
        };
        assert!(
            shown.contains("\\u202e") || args.starts_with("log"),
            "{args:?}: {shown:?}"
        );
        if !args.starts_with("recall") {
            assert_eq!(values(&shown), values(&piped), "{args:?}");
        }
        if ["get", "list", "export"].contains(&&args[..args.find(' ').unwrap()]) {
            assert!(
                piped.contains("\u{202e}drawkcab"),
                "a pipe gets it as it is: {piped:?}"
            );
        }
    }
}
