//! A temporary folder, and runs of `icm` in it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home, a working folder, and a store that does not exist yet.
pub(crate) struct World {
    dir: TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        World { dir }
    }

    /// Makes a store with three memories.
    pub(crate) fn with_memories() -> Self {
        let world = World::new();
        for (topic, key, content) in [
            ("decisions", "database", "Invoices live in PostgreSQL"),
            ("decisions", "money", "Prices are integer cents"),
            ("people", "owner", "Mira owns billing"),
        ] {
            world
                .icm(["store", "-t", topic, "--key", key, "-c", content])
                .ok();
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Returns `icm` with an empty environment, except for folders of this world.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let home = self.dir.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_icm"));
        command
            .args(args)
            .env_clear()
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("ICM_DB", self.store())
            .current_dir(home.join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Returns `sh` with the environment of `command`, except that the store is the default one and days are those of UTC.
    #[cfg(all(unix, feature = "bench", feature = "http", feature = "models"))]
    pub(crate) fn shell(&self) -> Command {
        let home = self.dir.path();
        let mut command = Command::new("/bin/sh");
        command
            .env_clear()
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("TZ", "UTC")
            .current_dir(home.join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command
    }

    pub(crate) fn icm<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        run(&mut self.command(args), b"")
    }

    /// Runs `icm` with this input on stdin.
    pub(crate) fn icm_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Run {
        run(self.command(args).stdin(Stdio::piped()), input)
    }

    /// Returns the answer as JSON; the run must exit with 0.
    pub(crate) fn json<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Value {
        let args: Vec<_> = args.into_iter().collect();
        let mut command = self.command(&args);
        command.arg("--json");
        run(&mut command, b"").ok().json()
    }

    /// Returns the id of the memory with this key.
    pub(crate) fn id(&self, key: &str) -> String {
        let list = self.json(["list", "--all", "--forgotten"]);
        let list = list.as_array().unwrap();
        let found = list.iter().find(|memory| memory["key"] == key);
        found.unwrap()["id"].as_str().unwrap().to_string()
    }

    /// Returns the present position as `@N`.
    pub(crate) fn now(&self) -> String {
        format!("@{}", self.json(["stats"])["positions"].as_u64().unwrap())
    }
}

pub(crate) fn run(command: &mut Command, input: &[u8]) -> Run {
    let mut child = command.spawn().unwrap();
    if let Some(mut stdin) = child.stdin.take() {
        // The command may fail before it has read everything.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().expect("not killed by a signal"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// Checks that the exit code is 0.
    #[track_caller]
    pub(crate) fn ok(self) -> Run {
        self.ends(0)
    }

    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Run {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Checks that the run fails with this code and one `error:` line that contains these words, without a backtrace, a
    /// full stop, or output on stdout.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &str) -> Run {
        assert_eq!(self.code, code, "{self:#?}");
        assert_eq!(self.out, "", "{self:#?}");
        let errors: Vec<&str> = self
            .err
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        assert_eq!(errors.len(), 1, "{self:#?}");
        assert!(errors[0].contains(words), "{self:#?}");
        assert!(!errors[0].ends_with('.'), "{self:#?}");
        assert!(!self.err.contains("panicked"), "{self:#?}");
        assert!(!self.err.contains("internal error"), "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }

    /// Returns the output as JSON values, one a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }
}

/// Returns all files below a folder, with their bytes.
pub(crate) fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap_or_default();
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    files
}
