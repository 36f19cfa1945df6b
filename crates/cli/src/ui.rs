//! The output of the program: data to stdout, everything else to stderr.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anstyle::{AnsiColor, Style};
use icm_guard::sanitize::escape_json;
use jiff::Timestamp;
use serde::Serialize;

use crate::config::ColorWhen;
use crate::error::CliError;

/// Style of names.
pub(crate) const TOPIC: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
/// Style of details that are needed rarely: ids, times.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Style of emphasis.
pub(crate) const BOLD: Style = Style::new().bold();
/// Style of success.
pub(crate) const GOOD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// Style of warnings.
pub(crate) const WARN: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
/// Style of problems.
pub(crate) const BAD: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
/// No style.
pub(crate) const PLAIN: Style = Style::new();

/// The terminal or pipe that the program writes to.
pub(crate) struct Ui {
    /// `true` if answers are JSON.
    pub(crate) json: bool,
    /// The time at the start of the process.
    pub(crate) now: Timestamp,
    /// Columns of the terminal; `None` if stdout is no terminal, so that nothing is cut in a pipe.
    pub(crate) columns: Option<usize>,
    quiet: bool,
    paints: bool,
    // Stdout is not locked for good: `icm serve` hands it to the MCP transport.
    out: RefCell<BufWriter<Stdout>>,
}

impl Ui {
    pub(crate) fn new(json: bool, quiet: bool, color: ColorWhen) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let paints = match color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
            }
        };
        let columns = terminal.then(|| {
            let asked = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
            let columns = asked.or_else(|| {
                terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0))
            });
            columns.unwrap_or(80).max(20)
        });
        Ui {
            json,
            now: Timestamp::now(),
            columns,
            quiet,
            paints,
            out: RefCell::new(BufWriter::with_capacity(32 * 1024, stdout)),
        }
    }

    /// Returns `true` if stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// Returns `true` if only data and errors are printed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns `true` if colours are used.
    pub(crate) fn paints(&self) -> bool {
        self.paints
    }

    /// Returns the text in a style, if colours are used.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.paints && style != PLAIN && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }

    /// Prints one line of data.
    pub(crate) fn line(&self, line: fmt::Arguments<'_>) -> Result<(), CliError> {
        writeln!(self.out.borrow_mut(), "{line}").map_err(|e| CliError::output(&e))
    }

    /// Writes bytes unchanged.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        self.with_writer(|out| out.write_all(bytes).and_then(|()| out.flush()))
            .map_err(|error| CliError::output(&error))
    }

    /// Prints an answer as JSON: on one line in a pipe, indented on a terminal.
    pub(crate) fn json<T: Serialize + ?Sized>(&self, value: &T) -> Result<(), CliError> {
        if self.is_terminal() {
            let text = serde_json::to_string_pretty(value).map_err(not_json)?;
            self.line(format_args!("{}", escape_json(&text)))
        } else {
            self.json_line(value)
        }
    }

    /// Prints a JSON object on one line.
    pub(crate) fn json_line<T: Serialize + ?Sized>(&self, value: &T) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(not_json)?;
        match self.is_terminal() {
            true => self.line(format_args!("{}", escape_json(&text))),
            false => self.line(format_args!("{text}")),
        }
    }

    /// Hands stdout to a function that writes data itself.
    pub(crate) fn with_writer<T>(&self, work: impl FnOnce(&mut dyn Write) -> T) -> T {
        work(&mut *self.out.borrow_mut())
    }

    /// Flushes the output.
    pub(crate) fn flush(&self) -> Result<(), CliError> {
        self.out
            .borrow_mut()
            .flush()
            .map_err(|e| CliError::output(&e))
    }

    /// Prints a remark about the answer to stderr; not with `-q` or `--json`.
    pub(crate) fn remark(&self, line: fmt::Arguments<'_>) {
        if !self.quiet && !self.json {
            self.say(line);
        }
    }

    /// Prints the subject of a question to stderr, with any flags. If nobody can be asked, it is a remark.
    pub(crate) fn preview(&self, line: fmt::Arguments<'_>) {
        match can_ask() {
            true => self.say(line),
            false => self.remark(line),
        }
    }

    /// Prints `note: …` to stderr, with `--json` as an object on a line; not with `-q`.
    pub(crate) fn note(&self, text: &str) {
        if self.quiet {
            return;
        }
        let text = crate::text::one_line(text);
        if self.json {
            self.say(format_args!("{}", serde_json::json!({ "note": text })));
        } else {
            self.say(format_args!("note: {text}"));
        }
    }

    /// Prints a line to stderr, with any flags.
    pub(crate) fn say(&self, line: fmt::Arguments<'_>) {
        // Earlier data comes first. An error of either stream means that nobody reads this.
        let _ = self.flush();
        let _ = writeln!(anstream::AutoStream::auto(io::stderr()), "{line}");
    }

    /// Asks a question with the answers y and n; `None` without a terminal.
    pub(crate) fn confirm(&self, question: &str) -> Option<bool> {
        if !can_ask() {
            return None;
        }
        let _ = self.flush();
        let mut stderr = io::stderr();
        let _ = write!(stderr, "{question} [y/N] ");
        let _ = stderr.flush();
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer).is_err() {
            return Some(false);
        }
        Some(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
    }
}

/// Returns `true` if a person can read and answer a question.
fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn not_json(error: serde_json::Error) -> CliError {
    CliError::failed(format!(
        "internal error: the answer cannot be written as JSON: {error} — please report"
    ))
}
