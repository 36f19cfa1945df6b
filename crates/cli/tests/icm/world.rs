//! A temporary folder, and runs of `icm` in it.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use crate::look::{Look, Says};

/// A home, a working folder, and a store that does not exist yet.
pub(crate) struct World {
    dir: Arc<TempDir>,
    /// The folder that `--db` names.
    db: Option<String>,
}

/// Arguments of a command: one string that is divided as a shell divides it, or a list.
pub(crate) trait Args {
    fn args(self) -> Vec<OsString>;
}

impl Args for &str {
    #[track_caller]
    fn args(self) -> Vec<OsString> {
        let words = shlex::split(self).unwrap_or_else(|| panic!("a quote is open: {self}"));
        words.into_iter().map(OsString::from).collect()
    }
}

impl Args for String {
    #[track_caller]
    fn args(self) -> Vec<OsString> {
        self.as_str().args()
    }
}

impl<S: AsRef<OsStr>> Args for &[S] {
    fn args(self) -> Vec<OsString> {
        self.iter().map(|arg| arg.as_ref().to_owned()).collect()
    }
}

impl<S: AsRef<OsStr>, const N: usize> Args for [S; N] {
    fn args(self) -> Vec<OsString> {
        self[..].args()
    }
}

impl<S: AsRef<OsStr>, const N: usize> Args for &[S; N] {
    fn args(self) -> Vec<OsString> {
        self[..].args()
    }
}

impl<S: AsRef<OsStr>> Args for &Vec<S> {
    fn args(self) -> Vec<OsString> {
        self[..].args()
    }
}

impl<A: Args, B: Args> Args for (A, B) {
    fn args(self) -> Vec<OsString> {
        [self.0.args(), self.1.args()].concat()
    }
}

impl<S: AsRef<OsStr>> Args for Vec<S> {
    fn args(self) -> Vec<OsString> {
        self[..].args()
    }
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
        let dir = Arc::new(tempfile::tempdir().unwrap());
        std::fs::create_dir(dir.path().join("work")).unwrap();
        World { dir, db: None }
    }

    /// Returns a world of the same folders whose runs have `--db NAME`.
    pub(crate) fn at(&self, db: &str) -> Self {
        World {
            dir: Arc::clone(&self.dir),
            db: Some(db.to_owned()),
        }
    }

    /// Makes a store with three memories.
    pub(crate) fn with_memories() -> Self {
        let world = World::new();
        for (topic, key, content) in [
            ("decisions", "database", "Invoices live in PostgreSQL"),
            ("decisions", "money", "Prices are integer cents"),
            ("people", "owner", "Mira owns billing"),
        ] {
            world.ok(format!("store -t '{topic}' --key '{key}' -c '{content}'"));
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

    /// Returns `icm` with an empty environment, except for folders of this world and UTC for its zone.
    #[track_caller]
    pub(crate) fn command(&self, args: impl Args) -> Command {
        let home = self.dir.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_icm"));
        command
            .args(args.args())
            .args(self.db.iter().flat_map(|db| ["--db", db]))
            .env_clear()
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("TZ", "UTC")
            .env("ICM_DB", self.store())
            .current_dir(home.join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Returns `sh` with the environment of `command`, except that the store is the default one.
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

    #[track_caller]
    pub(crate) fn icm(&self, args: impl Args) -> Run {
        run(&mut self.command(args), b"")
    }

    /// Runs `icm` with this input on stdin.
    #[track_caller]
    pub(crate) fn icm_with(&self, args: impl Args, input: &[u8]) -> Run {
        run(self.command(args).stdin(Stdio::piped()), input)
    }

    /// Runs a command that must exit with 0.
    #[track_caller]
    pub(crate) fn ok(&self, args: impl Args) -> Run {
        self.icm(args).ok()
    }

    /// Returns the output of a command that must exit with 0.
    #[track_caller]
    pub(crate) fn out(&self, args: impl Args) -> String {
        self.ok(args).out
    }

    /// Runs `COMMAND => CODE: WORDS`: the command must fail with this code and these words.
    #[track_caller]
    pub(crate) fn fails(&self, line: impl AsRef<str>) -> Run {
        let (args, why) = line.as_ref().split_once(" => ").expect("`=>`");
        let (code, words) = why.split_once(": ").expect("a code");
        self.icm(args).fails(code.parse().unwrap(), words)
    }

    /// Returns the answer as JSON; the run must exit with 0.
    #[track_caller]
    pub(crate) fn json(&self, args: impl Args) -> Value {
        let mut command = self.command(args);
        command.arg("--json");
        run(&mut command, b"").ok().json()
    }

    /// Returns the answer's items.
    #[track_caller]
    pub(crate) fn list(&self, args: impl Args) -> Vec<Value> {
        match self.json(args) {
            Value::Array(items) => items,
            other => panic!("not an array: {other}"),
        }
    }

    /// Stores a memory with these arguments, and returns its id.
    #[track_caller]
    pub(crate) fn stored(&self, args: impl Args) -> String {
        let receipt = self.json(("store", args));
        receipt["id"].as_str().unwrap().to_owned()
    }

    /// Returns the events that `icm log` prints with these arguments.
    #[track_caller]
    pub(crate) fn events(&self, args: impl Args) -> Value {
        self.ok(("log --json", args)).json_lines().into()
    }

    /// Returns the number of the answer's items.
    #[track_caller]
    pub(crate) fn count(&self, args: impl Args) -> usize {
        self.list(args).len()
    }

    /// Returns the id of the memory with this key.
    pub(crate) fn id(&self, key: &str) -> String {
        let list = self.list("list --all --forgotten");
        let found = list.iter().find(|memory| memory["key"] == key);
        found.unwrap()["id"].as_str().unwrap().to_string()
    }

    /// Returns the present position as `@N`.
    pub(crate) fn now(&self) -> String {
        format!("@{}", self.json("stats")["positions"].as_u64().unwrap())
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
        self.err.lacks("panicked");
        self.err.lacks("internal error");
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
