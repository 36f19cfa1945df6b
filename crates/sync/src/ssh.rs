//! Reaches a store on another machine through the user's own ssh.

use std::env;
use std::io::{BufReader, ErrorKind};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use icm_api::error::{Result, ServiceError};
use icm_wait::{Deadline, bounds, ended};

/// Prefix of the URLs.
const SCHEME: &str = "ssh://";
const SSH: &str = "ssh";
/// Environment variable with the program to run instead of `ssh`, and its first arguments, separated by blanks.
const COMMAND: &str = "ICM_SSH";

/// Address of a store on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The URL, as given.
    url: String,
    /// `HOST` or `USER@HOST`.
    host: String,
    port: Option<u16>,
    /// Folder of the store; `None` for the default of that machine.
    folder: Option<String>,
}

fn invalid(message: String, hint: &str) -> ServiceError {
    ServiceError::Invalid {
        message,
        hint: Some(hint.to_owned()),
    }
}

impl Address {
    /// Parses `ssh://[USER@]HOST[:PORT][/FOLDER]`; `None` for a URL of another scheme. `/~/FOLDER` is a folder in the
    /// home directory there.
    ///
    /// # Errors
    /// `Invalid` if there is no valid host.
    pub fn parse(url: &str) -> Option<Result<Address>> {
        let rest = url.strip_prefix(SCHEME)?;
        let (host, folder) = match rest.split_once('/') {
            None => (rest, ""),
            Some((host, folder)) => (host, folder),
        };
        let bad = |why: &str| {
            let hint = "name it as `ssh://[USER@]HOST[:PORT][/FOLDER]`";
            Some(Err(invalid(format!("{why} in `{url}`"), hint)))
        };
        // An IPv6 address stands in brackets.
        let port_at = host
            .rfind(':')
            .filter(|at| host.rfind(']').is_none_or(|end| end < *at));
        let (host, port) = match port_at.map(|at| (&host[..at], host[at + 1..].parse())) {
            None => (host, None),
            Some((host, Ok(port))) => (host, Some(port)),
            Some((_, Err(_))) => return bad("there is no port"),
        };
        let name = host.rsplit('@').next().unwrap_or_default();
        // ssh would take it for an option.
        if name.is_empty() || host.starts_with('-') || name.starts_with('-') {
            return bad("there is no host");
        }
        if host.chars().chain(folder.chars()).any(char::is_control) {
            return bad("there is a control character");
        }
        let folder = match folder {
            "" => None,
            below_home if below_home == "~" || below_home.starts_with("~/") => {
                Some(below_home.to_owned())
            }
            folder => Some(format!("/{folder}")),
        };
        Some(Ok(Address {
            url: url.to_owned(),
            host: host.replace(['[', ']'], ""),
            port,
            folder,
        }))
    }

    /// Returns the URL, as given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the command line for the remote shell. `icm` is the command that starts icm there.
    fn remote(&self, icm: &str) -> String {
        let db = self
            .folder
            .as_deref()
            .map(|folder| match folder.strip_prefix("~/") {
                // `~` must stay outside the quotes, or the shell does not expand it.
                Some(below) => format!(" --db ~/{}", quoted(below)),
                None if folder == "~" => " --db ~".to_owned(),
                None => format!(" --db {}", quoted(folder)),
            });
        format!("{icm}{} sync --answer", db.unwrap_or_default())
    }

    /// Runs icm on the other machine. `icm` is the command that starts it, in the syntax of the remote shell.
    ///
    /// # Errors
    /// `Invalid` if ssh is not installed, `Io` if it cannot be started.
    pub fn connect(&self, icm: &str) -> Result<Connection> {
        let ssh = env::var(COMMAND).ok().filter(|it| !it.trim().is_empty());
        let ssh = ssh.unwrap_or_else(|| SSH.to_owned());
        let mut words = ssh.split_whitespace();
        let program = words.next().unwrap_or(SSH);
        let mut command = Command::new(program);
        command.args(words);
        if ssh == SSH {
            // ssh gives up after a minute without a reply.
            command.args(["-o", "ConnectTimeout=60", "-o", "ServerAliveInterval=15"]);
        }
        if let Some(port) = self.port {
            command.arg("-p").arg(port.to_string());
        }
        command.arg("--").arg(&self.host).arg(self.remote(icm));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        match command.spawn() {
            Ok(child) => Ok(Connection { child }),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(invalid(
                format!("there is no `{program}` here"),
                "install OpenSSH, or name another program in ICM_SSH",
            )),
            Err(source) => Err(ServiceError::Io {
                doing: format!("starting {program}"),
                source,
            }),
        }
    }
}

/// Quotes `text` as one word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A running icm on another machine. Dropping it ends the remote icm; drop the streams of [`Connection::streams`]
/// first.
#[derive(Debug)]
pub struct Connection {
    child: Child,
}

impl Connection {
    /// Returns the output and the input of the remote icm; `None` the second time.
    pub fn streams(&mut self) -> Option<(BufReader<ChildStdout>, ChildStdin)> {
        let out = self.child.stdout.take()?;
        Some((BufReader::new(out), self.child.stdin.take()?))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The remote icm ends at the end of its input.
        drop(self.child.stdin.take());
        drop(self.child.stdout.take());
        if let Ok(None) = ended(&mut self.child, Deadline::after(bounds::PROCESS)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::parse(url).unwrap().unwrap()
    }

    #[test]
    fn the_command_of_the_other_side() {
        let remote = |url: &str| address(url).remote("icm");
        assert_eq!(remote("ssh://box"), "icm sync --answer");
        assert_eq!(remote("ssh://box/"), "icm sync --answer");
        assert_eq!(
            remote("ssh://me@box:22/srv/icm"),
            "icm --db '/srv/icm' sync --answer"
        );
        assert_eq!(
            remote("ssh://box/~/my icm"),
            "icm --db ~/'my icm' sync --answer"
        );
        let hostile = remote("ssh://box/a'; rm -rf $HOME #");
        assert_eq!(hostile, r"icm --db '/a'\''; rm -rf $HOME #' sync --answer");
    }

    #[test]
    fn the_host_of_an_address() {
        let at = |url: &str| (address(url).host, address(url).port);
        assert_eq!(at("ssh://me@box:2022/x"), ("me@box".to_owned(), Some(2022)));
        assert_eq!(
            at("ssh://[fe80::1]:2022"),
            ("fe80::1".to_owned(), Some(2022))
        );
        assert_eq!(at("ssh://[fe80::1]/x"), ("fe80::1".to_owned(), None));
        for url in [
            "ssh://",
            "ssh:///x",
            "ssh://-oProxyCommand=touch/x",
            "ssh://me@-oProxyCommand=touch/x",
            "ssh://me@/x",
            "ssh://box:x/",
            "ssh://box:99999/",
            "ssh://bo\nx/",
        ] {
            assert!(Address::parse(url).unwrap().is_err(), "{url}");
        }
        assert!(Address::parse("/home/me").is_none());
    }
}
