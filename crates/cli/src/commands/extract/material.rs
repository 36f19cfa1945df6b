//! Reads the text or transcript of an extraction.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use icm_extract::{
    Found, Passage, Progress, Rules, from_text, from_transcript, is_transcript, passages,
    passages_of_text,
};
use icm_service::STDIN;

use crate::app::App;
use crate::error::CliError;
use crate::progress::Bar;

/// Longest text or piped input, in bytes. A transcript in a file may be longer. Raised, an extraction takes more
/// memory.
const TEXT_LEN_MAX: u64 = 64 * 1_024 * 1_024;
/// Bytes at the beginning of a file that tell a transcript from a text. Raised, detection reads more.
const HEAD_LEN: u64 = 4_096;
/// Longest input of a command, in bytes: about 60,000 tokens. Raised, a command gets more text than most models take.
const COMMAND_INPUT_LEN_MAX: usize = 256 * 1_024;

/// The text or transcript of a run.
pub(super) struct Material {
    /// The name of the file without its folders, or `stdin`.
    pub(super) name: String,
    content: Content,
    bar: Arc<Bar>,
}

/// The content of the input.
enum Content {
    /// Plain text or Markdown.
    Text(String),
    /// A transcript in JSON, and its length in bytes; 0 if it was piped in.
    Transcript(RefCell<Box<dyn ReadSeek>>, u64),
}

impl Content {
    /// Returns the content of bytes that were read completely.
    fn of_bytes(bytes: Vec<u8>, name: &str) -> Result<Content, CliError> {
        let head = &bytes[..bytes.len().min(HEAD_LEN as usize)];
        Ok(match is_transcript(head) {
            true => Content::Transcript(RefCell::new(Box::new(Cursor::new(bytes))), 0),
            false => Content::Text(text_of(bytes, name)?),
        })
    }
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl Material {
    /// Opens a file, or reads stdin.
    ///
    /// # Errors
    /// The file cannot be read, is a folder, is too long, or is not UTF-8; or nothing is piped in.
    pub(super) fn open(path: Option<&Path>, app: &App) -> Result<Material, CliError> {
        let bar = Arc::new(Bar::new(&app.ui));
        let Some(path) = path else {
            if io::stdin().is_terminal() {
                return Err(CliError::invalid("no text was given")
                    .with_hint("name a FILE, or pipe a text in"));
            }
            let bytes = bounded(&mut io::stdin().lock(), STDIN)?;
            return Ok(Material {
                content: Content::of_bytes(bytes, STDIN)?,
                name: STDIN.to_owned(),
                bar,
            });
        };
        let shown = path.display().to_string();
        let failed = |e| CliError::io(format!("cannot read {shown}"), &e);
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(
                CliError::invalid(format!("{shown} is a folder")).with_hint("name a file in it")
            );
        }
        let name = path
            .file_name()
            .map_or(shown.clone(), |name| name.to_string_lossy().into_owned());
        // A pipe cannot be read twice.
        if !metadata.is_file() {
            let bytes = bounded(&mut file, &shown)?;
            let content = Content::of_bytes(bytes, &shown)?;
            return Ok(Material { name, content, bar });
        }
        let mut head = Vec::new();
        file.by_ref()
            .take(HEAD_LEN)
            .read_to_end(&mut head)
            .map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let content = match is_transcript(&head) {
            true => Content::Transcript(RefCell::new(Box::new(file)), metadata.len()),
            false => Content::Text(text_of(bounded(&mut file, &shown)?, &shown)?),
        };
        Ok(Material { name, content, bar })
    }

    /// Returns the sentences that the rules find, and the progress in a transcript.
    pub(super) fn found(
        &self,
        from: Option<Progress>,
        rules: &Rules,
    ) -> Result<(Vec<Found>, Option<Progress>), CliError> {
        let (file, len) = match &self.content {
            Content::Text(text) => return Ok((from_text(text, rules), None)),
            Content::Transcript(file, len) => (file, *len),
        };
        let read = self.counted(len, from.as_ref(), || {
            from_transcript(&mut *self.watched(file), from.clone(), rules, || false)
        });
        let (found, progress) = read?;
        Ok((found, Some(progress)))
    }

    /// Returns the input of a command, the progress in a transcript, and `true` if more of it is left.
    pub(super) fn passages(
        &self,
        from: Option<Progress>,
        rules: &Rules,
    ) -> Result<(Vec<Passage>, Option<Progress>, bool), CliError> {
        let (file, len) = match &self.content {
            Content::Text(text) => {
                let passages = passages_of_text(text, rules);
                let len: usize = passages.iter().map(|passage| passage.text.len()).sum();
                if len > COMMAND_INPUT_LEN_MAX {
                    return Err(CliError::invalid(format!(
                        "{} has {len} bytes of text, and a command gets {} KiB at most",
                        self.name,
                        COMMAND_INPUT_LEN_MAX >> 10
                    ))
                    .with_hint("split the text, or give `--rules`"));
                }
                return Ok((passages, None, false));
            }
            Content::Transcript(file, len) => (file, *len),
        };
        let read = self.counted(len, from.as_ref(), || {
            let room = COMMAND_INPUT_LEN_MAX;
            passages(&mut *self.watched(file), from.clone(), rules, room, || {
                false
            })
        });
        let (passages, progress) = read?;
        let more = len > 0 && progress.offset > 0 && progress.offset < len && !passages.is_empty();
        Ok((passages, Some(progress), more))
    }

    /// Returns `true` for a text that is a JSON list or object, and so is not written to be read.
    pub(super) fn is_json_text(&self) -> bool {
        let Content::Text(text) = &self.content else {
            return false;
        };
        text.trim_start().starts_with(['[', '{'])
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }

    fn watched<'m>(&'m self, file: &'m RefCell<Box<dyn ReadSeek>>) -> Box<Watched<'m>> {
        Box::new(Watched {
            file,
            bar: &self.bar,
        })
    }

    /// Runs `read` with a progress bar of the new bytes.
    fn counted<T>(&self, len: u64, from: Option<&Progress>, read: impl FnOnce() -> T) -> T {
        let new = len.saturating_sub(from.map_or(0, |from| from.offset));
        self.bar.start_bytes("reading", new);
        let done = read();
        icm_api::Progress::finish(&*self.bar);
        done
    }
}

/// A file whose bytes are counted as they are read.
struct Watched<'m> {
    file: &'m RefCell<Box<dyn ReadSeek>>,
    bar: &'m Bar,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.borrow_mut().read(buffer)?;
        icm_api::Progress::advance(self.bar, read as u64);
        Ok(read)
    }
}

impl Seek for Watched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.borrow_mut().seek(to)
    }
}

fn bounded(reader: &mut impl Read, name: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = reader.take(TEXT_LEN_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|e| CliError::io(format!("cannot read {name}"), &e))?;
    match bytes.len() as u64 > TEXT_LEN_MAX {
        true => Err(
            CliError::invalid(format!("{name} is longer than {} MiB", TEXT_LEN_MAX >> 20))
                .with_hint("split the text; a transcript in a file may be longer"),
        ),
        false => Ok(bytes),
    }
}

fn text_of(bytes: Vec<u8>, name: &str) -> Result<String, CliError> {
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::invalid(format!("{name} is not valid UTF-8 at byte {at}"))
            .with_hint("convert it, for instance with `iconv -t UTF-8`")
    })
}
