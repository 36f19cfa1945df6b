//! Reads input from stdin or a file.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use icm_api::error::ServiceError;
use icm_api::limits::CONTENT_LEN_MAX;
use icm_log::bundle::BUNDLE_MAGIC;
use icm_service::ExportFile;

use crate::error::CliError;

/// Longest question on stdin, in bytes; the same as a line of MCP. Raised, more is read, though only a part of a
/// question counts.
const QUESTION_MAX_BYTES: u64 = 4 << 20;
/// Longest file of heads, in bytes. Such a file has a short line for each machine; raised, more of a wrong file is
/// read.
const HEADS_MAX_BYTES: u64 = 1024 * 1024;
/// Advice for text that is not UTF-8.
const CONVERT: &str = "convert it, for instance with `iconv -t UTF-8`";

/// Returns the text of an argument. For `-`, or without an argument if something is piped in, the text is read from
/// stdin.
pub(crate) fn text_or_stdin(given: Option<&str>, flag: &str) -> Result<String, CliError> {
    match given {
        Some("-") => stdin_text(flag),
        Some(text) => Ok(text.to_string()),
        None if io::stdin().is_terminal() => Err(CliError::invalid(format!("`{flag}` is missing"))
            .with_hint(format!(
                "give `{flag} TEXT`, or `{flag} -` and the text on stdin"
            ))),
        None => stdin_text(flag),
    }
}

/// Returns the question on stdin.
pub(crate) fn question() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(QUESTION_MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| CliError::io("cannot read stdin", &e))?;
    if bytes.len() as u64 > QUESTION_MAX_BYTES {
        return Err(
            CliError::invalid("the question on stdin is longer than 4 MiB")
                .with_hint("give only the part with the question"),
        );
    }
    String::from_utf8(bytes).map_err(|_| {
        CliError::invalid("the question on stdin is not valid UTF-8").with_hint(CONVERT)
    })
}

/// Opens a file of `icm log export`, `-` for stdin. Another kind of file is an invalid argument; damage is found while
/// reading.
pub(crate) fn export_file(path: &Path) -> Result<ExportFile, CliError> {
    let opened = match path == Path::new("-") {
        true => ExportFile::spool(&mut io::stdin().lock(), "stdin"),
        false => ExportFile::open(path),
    };
    let no_export =
        |what: String| CliError::invalid(what).with_hint("name a file that `icm log export` wrote");
    let file = opened.map_err(|error| match error {
        ServiceError::BadExport { why } => no_export(why),
        error => error.into(),
    })?;
    // A piped export was checked while it was copied.
    if path.is_file() {
        let failed = |e| CliError::io(format!("cannot read {}", path.display()), &e);
        let mut start = Vec::new();
        let opened = File::open(path).map_err(failed)?;
        let most = BUNDLE_MAGIC.len() as u64;
        opened.take(most).read_to_end(&mut start).map_err(failed)?;
        if start != BUNDLE_MAGIC {
            let name = path.display().to_string();
            return Err(no_export(ExportFile::what_else(&start, &name)));
        }
    }
    Ok(file)
}

/// Returns the text of a file with the output of `icm log heads`, `-` for stdin.
pub(crate) fn heads(path: &Path) -> Result<String, CliError> {
    let failed = |e| CliError::io(format!("cannot read {}", path.display()), &e);
    let reader: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let mut text = String::new();
    let read = reader
        .take(HEADS_MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if read as u64 > HEADS_MAX_BYTES {
        return Err(
            CliError::invalid(format!("{} is too long to be heads", path.display()))
                .with_hint("name a file written with `icm log heads > FILE`"),
        );
    }
    Ok(text)
}

/// Returns `true` if the file's name ends like that of a Markdown file.
pub(crate) fn is_markdown(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ["md", "markdown"]
        .iter()
        .any(|it| ending.eq_ignore_ascii_case(it))
}

fn stdin_text(flag: &str) -> Result<String, CliError> {
    bounded_text(io::stdin().lock(), flag)
}

/// Reads at most the length limit of a content, and removes one line end.
fn bounded_text(reader: impl Read, flag: &str) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    reader
        .take(CONTENT_LEN_MAX as u64 + 3)
        .read_to_end(&mut bytes)
        .map_err(|e| CliError::io("cannot read stdin", &e))?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    if bytes.len() > CONTENT_LEN_MAX {
        return Err(CliError::invalid(format!(
            "the text on stdin for `{flag}` is longer than 64 KiB"
        ))
        .with_hint("shorten it, or split it into several memories"));
    }
    String::from_utf8(bytes).map_err(|e| {
        CliError::invalid(format!(
            "the text on stdin for `{flag}` is not valid UTF-8 at byte {}",
            e.utf8_error().valid_up_to()
        ))
        .with_hint(CONVERT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_is_cut_off() {
        for (input, text) in [
            ("a\n", "a"),
            ("a\r\n", "a"),
            ("a\n\n", "a\n"),
            ("a", "a"),
            ("", ""),
        ] {
            assert_eq!(bounded_text(input.as_bytes(), "-c").unwrap(), text);
        }
    }

    #[test]
    fn the_limit_is_exact() {
        let mut input = "x".repeat(CONTENT_LEN_MAX);
        assert!(bounded_text(input.as_bytes(), "-c").is_ok());
        input.push_str("\r\n");
        assert!(bounded_text(input.as_bytes(), "-c").is_ok());
        input.insert(0, 'x');
        assert!(bounded_text(input.as_bytes(), "-c").is_err());
        assert!(bounded_text(io::repeat(b'x'), "-c").is_err());
    }
}
