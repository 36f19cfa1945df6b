//! Where everything that is shown goes through: data to stdout, the rest to stderr.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anstyle::{AnsiColor, Style};
use icm_guard::sanitize::escape_json;
use jiff::Timestamp;
use serde::Serialize;

use crate::config::ColorWhen;
use crate::error::CliError;

/// Names of things.
pub(crate) const TOPIC: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
/// What is needed now and then: ids, times.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What stands out.
pub(crate) const BOLD: Style = Style::new().bold();
/// What went well.
pub(crate) const GOOD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// What wants a look.
pub(crate) const WARN: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
/// What is bad.
pub(crate) const BAD: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
/// As it is.
pub(crate) const PLAIN: Style = Style::new();

/// The terminal or the pipe on the other side.
pub(crate) struct Ui {
    /// Answers are JSON.
    pub(crate) json: bool,
    /// Now, once for the whole process.
    pub(crate) now: Timestamp,
    /// Columns of the terminal; `None` when stdout is none, so that nothing is cut in a pipe.
    pub(crate) columns: Option<usize>,
    quiet: bool,
    paints: bool,
    // Not a lock held for good: `icm serve` hands stdout to the MCP transport.
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

    /// True when stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// True when only data and errors are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// True when colours are shown.
    pub(crate) fn paints(&self) -> bool {
        self.paints
    }

    /// The text in a style, where colours are shown.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.paints && style != PLAIN && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }

    /// One line of data.
    pub(crate) fn line(&self, line: fmt::Arguments<'_>) -> Result<(), CliError> {
        writeln!(self.out.borrow_mut(), "{line}").map_err(|e| CliError::output(&e))
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        self.with_writer(|out| out.write_all(bytes).and_then(|()| out.flush()))
            .map_err(|error| CliError::output(&error))
    }

    /// An answer as JSON: on one line in a pipe, indented on a terminal.
    pub(crate) fn json<T: Serialize + ?Sized>(&self, value: &T) -> Result<(), CliError> {
        if self.is_terminal() {
            let text = serde_json::to_string_pretty(value).map_err(not_json)?;
            self.line(format_args!("{}", escape_json(&text)))
        } else {
            self.json_line(value)
        }
    }

    /// One JSON object on one line.
    pub(crate) fn json_line<T: Serialize + ?Sized>(&self, value: &T) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(not_json)?;
        match self.is_terminal() {
            true => self.line(format_args!("{}", escape_json(&text))),
            false => self.line(format_args!("{text}")),
        }
    }

    /// Hands stdout to something that writes data itself.
    pub(crate) fn with_writer<T>(&self, work: impl FnOnce(&mut dyn Write) -> T) -> T {
        work(&mut *self.out.borrow_mut())
    }

    /// Brings everything out that was written so far.
    pub(crate) fn flush(&self) -> Result<(), CliError> {
        self.out
            .borrow_mut()
            .flush()
            .map_err(|e| CliError::output(&e))
    }

    /// A remark about the answer, for people: on stderr, not with `-q` or `--json`.
    pub(crate) fn remark(&self, line: fmt::Arguments<'_>) {
        if !self.quiet && !self.json {
            self.say(line);
        }
    }

    /// What a question is about: shown whenever it will be asked, whatever else is wanted; without
    /// anybody to ask a remark.
    pub(crate) fn preview(&self, line: fmt::Arguments<'_>) {
        match can_ask() {
            true => self.say(line),
            false => self.remark(line),
        }
    }

    /// `note: …` on stderr, with `--json` as an object on a line; not with `-q`.
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

    /// A line on stderr, whatever was asked for.
    pub(crate) fn say(&self, line: fmt::Arguments<'_>) {
        // What was answered before comes first. If either stream is gone, nobody reads this.
        let _ = self.flush();
        let _ = writeln!(anstream::AutoStream::auto(io::stderr()), "{line}");
    }

    /// Asks a question that is answered with y or n; `None` without a terminal to ask on.
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

/// True when somebody can read a question and answer it.
fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn not_json(error: serde_json::Error) -> CliError {
    CliError::failed(format!(
        "internal error: the answer cannot be written as JSON: {error} — please report"
    ))
}
