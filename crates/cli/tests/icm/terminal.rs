//! `icm` before somebody who can be asked.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::world::{Run, World};

/// A terminal: whoever looks at it, and the path of its other side.
pub(crate) fn terminal() -> (File, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    (File::from(master), path.into_string().unwrap())
}

/// What a program opens as its own stream.
pub(crate) fn side(path: &str) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

impl World {
    /// A run whose stdin and stderr are a terminal on which this is typed. `err` is what stands on
    /// it in the end.
    pub(crate) fn icm_asked(&self, args: &[&str], typed: &str) -> Run {
        let (mut master, path) = terminal();
        let mut command = self.command(args);
        command.stdin(side(&path)).stderr(side(&path));
        master.write_all(typed.as_bytes()).unwrap();
        let child = command.spawn().unwrap();
        // Or our own ends keep the terminal open.
        drop(command);
        let mut screen = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            match master.read(&mut bytes) {
                Ok(0) => break,
                Ok(len) => screen.extend_from_slice(&bytes[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What Linux says once the other side is closed.
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
