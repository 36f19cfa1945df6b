//! Runs `icm` itself, command by command, and prints each as on a terminal.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::app::{App, Origin};
use crate::error::CliError;
use crate::ui::{BOLD, DIM, GOOD, Ui};

/// The folders and the program of the demo.
pub(super) struct Stage<'a> {
    ui: &'a Ui,
    program: PathBuf,
    config: Option<PathBuf>,
    folder: &'a Path,
    store: &'a Path,
    /// The commands that ran, for `--json`.
    steps: Vec<Value>,
}

/// A memory that the demo refers to.
pub(super) struct Known {
    pub(super) id: String,
    content: String,
}

impl Known {
    /// Returns the same memory with another text.
    pub(super) fn with_content(&self, content: &str) -> Known {
        Known {
            id: self.id.clone(),
            content: content.to_owned(),
        }
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(app: &'a App, folder: &'a Path, store: &'a Path) -> Result<Self, CliError> {
        let program = std::env::current_exe()
            .map_err(|e| CliError::io("cannot find the program itself", &e))?;
        // The commands run in another folder, so a relative path is made absolute.
        let config = match app.config_path() {
            Some((path, origin)) if origin != Origin::Default => std::path::absolute(path).ok(),
            _ => None,
        };
        Ok(Stage {
            ui: &app.ui,
            program,
            config,
            folder,
            store,
            steps: Vec::new(),
        })
    }

    /// Prints a sentence between the commands.
    pub(super) fn say(&self, text: &str) -> Result<(), CliError> {
        if self.ui.json {
            return Ok(());
        }
        self.ui.line(format_args!(""))?;
        self.ui.line(format_args!(
            "{}",
            self.ui.paint(GOOD, &format!("# {text}"))
        ))
    }

    /// Prints a command line as typed.
    pub(super) fn show(&self, line: &str) -> Result<(), CliError> {
        if self.ui.json {
            return Ok(());
        }
        self.ui.line(format_args!(
            "{} {}",
            self.ui.paint(DIM, "$"),
            self.ui.paint(BOLD, line)
        ))
    }

    /// Runs a command that must exit with 0.
    pub(super) fn run(&mut self, arguments: &[&str]) -> Result<(), CliError> {
        self.run_expecting(&[0], arguments)
    }

    /// Runs a command that may exit with 1, for nothing found.
    pub(super) fn run_any(&mut self, arguments: &[&str]) -> Result<(), CliError> {
        self.run_expecting(&[0, 1], arguments)
    }

    fn run_expecting(&mut self, codes: &[i32], arguments: &[&str]) -> Result<(), CliError> {
        let line = command_line(arguments);
        self.show(&line)?;
        let mut command = self.command(arguments);
        let status = if self.ui.json {
            let output = command.arg("--json").stderr(Stdio::null()).output();
            let output = output.map_err(|e| not_run(&line, &e))?;
            let text = String::from_utf8_lossy(&output.stdout);
            let answer = serde_json::from_str(&text).unwrap_or(Value::Null);
            let exit = output.status.code();
            self.steps
                .push(json!({ "command": line, "exit": exit, "answer": answer }));
            output.status
        } else {
            // The command inherits our stdout, so it uses the same terminal or pipe.
            self.ui.flush()?;
            let status = command.stderr(self.stderr()).status();
            status.map_err(|e| not_run(&line, &e))?
        };
        check(&line, status, codes)
    }

    /// Runs a command and prints the first lines, like `| head`.
    pub(super) fn run_head(&mut self, lines: usize, arguments: &[&str]) -> Result<(), CliError> {
        let line = format!("{} | head -n {lines}", command_line(arguments));
        self.show(&line)?;
        let mut command = self.command(arguments);
        if self.ui.json {
            command.arg("--json");
        }
        let child = command.stdout(Stdio::piped()).stderr(self.stderr()).spawn();
        let mut child = child.map_err(|e| not_run(&line, &e))?;
        let mut shown = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            // The pipe is closed at the end of this block, even if more output follows.
            for text in BufReader::new(stdout).lines().take(lines) {
                shown.push(text.map_err(|e| not_run(&line, &e))?);
            }
        }
        let status = child.wait().map_err(|e| not_run(&line, &e))?;
        if self.ui.json {
            let answer: Vec<Value> = shown
                .iter()
                .filter_map(|text| serde_json::from_str(text).ok())
                .collect();
            self.steps
                .push(json!({ "command": line, "exit": status.code(), "answer": answer }));
        } else {
            for text in &shown {
                let text = match self.ui.columns {
                    Some(columns) => crate::text::cut(text, columns),
                    None => text.clone(),
                };
                self.ui.line(format_args!("{text}"))?;
            }
        }
        check(&line, status, &[0])
    }

    /// Returns the memory with this key. The command is not shown.
    pub(super) fn id_of(&self, key: &str) -> Result<Known, CliError> {
        let list = self.ask(&["list", "--all"])?;
        let found = list
            .as_array()
            .and_then(|memories| memories.iter().find(|memory| memory["key"] == key))
            .ok_or_else(|| CliError::failed(format!("the demo has lost the memory `{key}`")))?;
        let text = |name: &str| found[name].as_str().unwrap_or_default().to_string();
        Ok(Known {
            id: text("id"),
            content: text("content"),
        })
    }

    /// Returns the newest position of the log.
    pub(super) fn position(&self) -> Result<u64, CliError> {
        let stats = self.ask(&["stats"])?;
        stats["positions"]
            .as_u64()
            .ok_or_else(|| CliError::failed("`icm stats --json` names no position"))
    }

    /// Runs a recall again without showing it, and compares its first result. The demo fails if the result differs from
    /// its text.
    pub(super) fn check_first(&self, arguments: &[&str], known: &Known) -> Result<(), CliError> {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--no-record"]).collect();
        let answer = self.ask(&arguments)?;
        let first = &answer["results"][0];
        if first["id"] == known.id.as_str() && first["content"] == known.content.as_str() {
            Ok(())
        } else {
            Err(CliError::failed(format!(
                "the demo did not find memory {} first by `{}`, with the text: {}",
                known.id,
                command_line(&arguments),
                known.content
            )))
        }
    }

    /// Prints the paths of the folder and the store.
    pub(super) fn end(&self, folder: &Path, store: &Path) -> Result<(), CliError> {
        if self.ui.json {
            return self
                .ui
                .json(&json!({ "store": store.to_string_lossy(), "steps": self.steps }));
        }
        self.ui.flush()?;
        self.ui.remark(format_args!(
            "\nThe store stays in {}; when done, remove {}",
            store.display(),
            folder.display()
        ));
        Ok(())
    }

    fn ask(&self, arguments: &[&str]) -> Result<Value, CliError> {
        let line = command_line(arguments);
        let output = self.command(arguments).arg("--json").output();
        let output = output.map_err(|e| not_run(&line, &e))?;
        check(&line, output.status, &[0])?;
        serde_json::from_slice(&output.stdout)
            .map_err(|e| CliError::failed(format!("`{line}` did not answer in JSON: {e}")))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(self.folder)
            .env("ICM_DB", self.store)
            .stdin(Stdio::null());
        if let Some(config) = &self.config {
            command.env("ICM_CONFIG", config);
        }
        command
    }

    fn stderr(&self) -> Stdio {
        if self.ui.is_quiet() || self.ui.json {
            Stdio::null()
        } else {
            Stdio::inherit()
        }
    }
}

fn check(line: &str, status: ExitStatus, codes: &[i32]) -> Result<(), CliError> {
    if status.code().is_some_and(|code| codes.contains(&code)) {
        return Ok(());
    }
    Err(CliError::failed(format!("`{line}` ended with {status}")))
}

fn not_run(line: &str, error: &std::io::Error) -> CliError {
    CliError::io(format!("cannot run `{line}`"), error)
}

fn command_line(arguments: &[&str]) -> String {
    let mut line = String::from("icm");
    for argument in arguments {
        line.push(' ');
        line.push_str(&quote(argument));
    }
    line
}

/// Returns the argument, quoted for a shell if necessary.
pub(super) fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_string()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}
