//! Reads the new part of a coding agent's transcript.

mod document;
mod lines;
mod shapes;

use std::io::{BufReader, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::lines::{Next, next_line};
use self::shapes::{Message, Shape, shape_of};
use crate::best::Best;
use crate::error::ExtractError;
use crate::found::{Found, Passage, Rules, Speaker};
use crate::speakers::speaker_of;
use crate::text::{Line, SpokenText};

pub use lines::LINE_LEN_MAX;

/// Bytes before the offset whose hash shows if a file was written anew.
const TAIL_LEN: u64 = 4_096;
/// Bytes at the start of a file that tell a document from lines.
const HEAD_LEN: u64 = 4_096;

/// The progress of reading a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Bytes that were read; the next line begins here. 0 for a file that is a single JSON document.
    pub offset: u64,
    /// Hash of up to 4 KiB before `offset`, 64 hex digits; for a document with conversations, of its first 4 KiB. Another
    /// hash means that the file was written anew.
    pub tail: String,
    /// Lines before `offset`.
    pub lines: u64,
    /// Messages that were read; 0 if none is of a known form.
    pub messages: u64,
    /// Lines of unknown form, or longer than [`LINE_LEN_MAX`]. Of a document without a message of a known form: its
    /// messages, at least 1.
    pub skipped: u64,
    /// The speaker of the last turn of plain text, which the next line may continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<Speaker>,
}

/// Returns `true` if a file with this start looks like a transcript in JSON, not like a text.
pub fn is_transcript(head: &[u8]) -> bool {
    let head = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    match head {
        [b'{', rest @ ..] => matches!(rest.trim_ascii_start().first(), Some(b'"')),
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start().first(), Some(b'{')),
        _ => false,
    }
}

/// Returns the sentences worth keeping in the new part of a transcript, in order, and the progress.
///
/// Known are the files of Claude Code, Codex, Gemini CLI, Qwen Code and Copilot CLI, the conversations of ChatGPT's
/// export, and lines such as `User: …`. The content of a line tells its form; lines of other forms are skipped and
/// counted. Thinking, system messages, summaries of compactions and injected text are never read; the output of tools
/// only if the rules include it.
///
/// Reading begins at `from`, or at the beginning if the file was written anew since. It ends at the end of the file, or
/// once `stop` returns `true`; `stop` is called before each line. A turn of plain text that `stop` interrupts is left
/// whole for the next reading, and so is an incomplete last line. A line above [`LINE_LEN_MAX`] is skipped. Time is
/// linear in the new part, memory is bounded. Only a file that is a single JSON document (older chats of Gemini CLI,
/// ChatGPT's export) is read whole each time, and its messages are counted.
///
/// # Errors
/// `Io` if the reader fails, `TooLong` for a document of more than 64 MiB.
pub fn from_transcript(
    reader: &mut (impl Read + Seek),
    from: Option<Progress>,
    rules: &Rules,
    stop: impl Fn() -> bool,
) -> Result<(Vec<Found>, Progress), ExtractError> {
    let sink = Sink::Best(Best::of(rules.max));
    match read(reader, from, rules, sink, &stop)? {
        (Sink::Best(best), progress) => Ok((best.finish(), progress)),
        (Sink::Passages { .. }, progress) => Ok((Vec::new(), progress)),
    }
}

/// Returns the texts in the new part of a transcript, at most `len_max_bytes`, and the progress. A message or turn
/// without room is left for the next reading; the first one of a reading is cut to the room. Otherwise as
/// [`from_transcript`].
///
/// # Errors
/// As [`from_transcript`].
pub fn passages(
    reader: &mut (impl Read + Seek),
    from: Option<Progress>,
    rules: &Rules,
    len_max_bytes: usize,
    stop: impl Fn() -> bool,
) -> Result<(Vec<Passage>, Progress), ExtractError> {
    let sink = Sink::Passages {
        list: Vec::new(),
        left: len_max_bytes,
    };
    match read(reader, from, rules, sink, &stop)? {
        (Sink::Passages { list, .. }, progress) => Ok((list, progress)),
        (Sink::Best(_), progress) => Ok((Vec::new(), progress)),
    }
}

fn read(
    reader: &mut (impl Read + Seek),
    from: Option<Progress>,
    rules: &Rules,
    sink: Sink,
    stop: &impl Fn() -> bool,
) -> Result<(Sink, Progress), ExtractError> {
    let len = seek(reader, SeekFrom::End(0))?;
    let mut reading = Reading {
        progress: from.unwrap_or_default(),
        sink,
        rules,
        turn: None,
    };
    let is_new = reading.progress.offset > len
        || (reading.progress.offset > 0
            && tail_hash(reader, reading.progress.offset)? != reading.progress.tail);
    if is_new {
        reading.progress = Progress::default();
    }
    let head = bytes_at(reader, 0, HEAD_LEN.min(len))?;
    if reading.progress.offset == 0 && document::is_document(&head) {
        seek(reader, SeekFrom::Start(0))?;
        return reading.document(reader, (len, head.as_slice()), stop);
    }
    if reading.progress.offset == 0 {
        // The beginning of the first line may have looked like a document.
        reading.progress = Progress::default();
    }
    reading.lines(reader, stop)?;
    let mut progress = reading.progress;
    progress.tail = tail_hash(reader, progress.offset)?;
    Ok((reading.sink, progress))
}

/// The collector of a reading.
enum Sink {
    /// The best sentences.
    Best(Best),
    /// The whole texts; `left` is the room for more, in bytes.
    Passages { list: Vec<Passage>, left: usize },
}

/// The state of a reading of a transcript.
struct Reading<'r> {
    progress: Progress,
    sink: Sink,
    rules: &'r Rules,
    /// The open turn of a conversation in plain text.
    turn: Option<OpenTurn>,
}

struct OpenTurn {
    speaker: Speaker,
    text: String,
    line: u64,
    offset: u64,
}

impl Reading<'_> {
    fn lines(
        &mut self,
        reader: &mut (impl Read + Seek),
        stop: &impl Fn() -> bool,
    ) -> Result<(), ExtractError> {
        let begin = self.progress.offset;
        seek(reader, SeekFrom::Start(begin))?;
        let mut reader = BufReader::with_capacity(64 * 1_024, reader);
        let mut line = Vec::new();
        loop {
            if stop() {
                let is_open = self.turn.as_ref().map(|turn| turn.offset);
                // A turn that fills a whole reading is read to its end, so that each reading makes progress.
                if is_open != Some(begin) {
                    self.put_back();
                    return Ok(());
                }
            }
            let offset = self.progress.offset;
            match next_line(&mut reader, &mut line, stop)
                .map_err(|source| ExtractError::Io { offset, source })?
            {
                Next::End => break,
                Next::Torn(len) => {
                    // A complete object counts as a line even if its line end is missing.
                    if let Some(object) = parsed(&line).filter(Value::is_object)
                        && self.close_turn()
                        && self.object(&object)
                    {
                        self.progress.offset += len;
                    }
                    break;
                }
                // The next reading skips the rest of the line.
                Next::Endless(len) => {
                    if self.close_turn() {
                        self.progress.offset += len;
                    }
                    return Ok(());
                }
                Next::TooLong(len) => {
                    if !self.close_turn() {
                        break;
                    }
                    self.progress.skipped += 1;
                    self.advance(len);
                }
                Next::Whole(len) => {
                    if !self.line(&line) {
                        break;
                    }
                    self.advance(len);
                }
            }
        }
        self.close_turn();
        Ok(())
    }

    fn advance(&mut self, len: u64) {
        self.progress.offset += len;
        self.progress.lines += 1;
    }

    /// Reads a line; `false` if there is no room for its text.
    fn line(&mut self, line: &[u8]) -> bool {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            if let Some(turn) = &mut self.turn {
                turn.text.push('\n');
            }
            return true;
        }
        if line.trim_ascii_start().starts_with(b"{") {
            match parsed(line) {
                Some(object) => return self.close_turn() && self.object(&object),
                None if self.turn.is_none() && self.progress.speaker.is_none() => {
                    self.progress.skipped += 1;
                    return true;
                }
                None => {}
            }
        }
        self.plain(&String::from_utf8_lossy(line))
    }

    /// Reads the object of a line; `false` if there is no room for its text.
    fn object(&mut self, object: &Value) -> bool {
        self.progress.speaker = None;
        match shape_of(object) {
            Shape::Message(message) => {
                let line = Line::Only(self.progress.lines + 1);
                return self.message(&message, line, Some(self.progress.offset));
            }
            Shape::Known => {}
            Shape::Unknown => self.progress.skipped += 1,
        }
        true
    }

    /// Reads a message; `false` if there is no room for its text.
    fn message(&mut self, message: &Message<'_>, line: Line, offset: Option<u64>) -> bool {
        if let Sink::Passages { list, left } = &self.sink {
            let len: usize = message.texts.iter().map(|(_, text)| text.len()).sum();
            if len > *left && !list.is_empty() {
                return false;
            }
        }
        self.progress.messages += 1;
        for (speaker, text) in &message.texts {
            if *speaker == Speaker::Tool && !self.rules.tool_output {
                continue;
            }
            let said = SpokenText {
                text,
                speaker: *speaker,
                line,
                at_ms: message.at_ms,
                offset,
                message: message.id,
            };
            match &mut self.sink {
                Sink::Best(best) => said.extract(self.rules, best),
                Sink::Passages { list, left } => {
                    let passage = said.passage(*left);
                    *left -= passage.text.len();
                    list.extend((!passage.text.is_empty()).then_some(passage));
                }
            }
        }
        true
    }

    /// Reads a line of plain text; `false` if there is no room for the turn before it.
    fn plain(&mut self, line: &str) -> bool {
        let (speaker, said) = match speaker_of(line) {
            Some((speaker, said)) => {
                if !self.close_turn() {
                    return false;
                }
                (speaker, said)
            }
            None => {
                let line = line.trim_end_matches(['\n', '\r']);
                if let Some(turn) = &mut self.turn {
                    turn.text.push_str(line);
                    turn.text.push('\n');
                    if turn.text.len() <= LINE_LEN_MAX {
                        return true;
                    }
                    // The next line continues the turn.
                    return self.close_turn();
                }
                let Some(speaker) = self.progress.speaker else {
                    self.progress.skipped += 1;
                    return true;
                };
                (speaker, line)
            }
        };
        self.progress.speaker = Some(speaker);
        self.turn = Some(OpenTurn {
            speaker,
            text: format!("{said}\n"),
            line: self.progress.lines + 1,
            offset: self.progress.offset,
        });
        true
    }

    /// Collects the open turn. `false` if there is no room for it; the next reading then begins with this turn.
    fn close_turn(&mut self) -> bool {
        let Some(turn) = self.turn.take() else {
            return true;
        };
        let message = Message {
            texts: vec![(turn.speaker, turn.text.as_str())],
            at_ms: None,
            id: None,
        };
        let taken = self.message(&message, Line::First(turn.line), Some(turn.offset));
        if !taken {
            self.turn = Some(turn);
            self.put_back();
        }
        taken
    }

    /// Leaves the open turn for the next reading.
    fn put_back(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.progress.offset = turn.offset;
            self.progress.lines = turn.line - 1;
            self.progress.speaker = Some(turn.speaker);
        }
    }

    fn document(
        mut self,
        reader: &mut impl Read,
        (len, head): (u64, &[u8]),
        stop: &impl Fn() -> bool,
    ) -> Result<(Sink, Progress), ExtractError> {
        if len > document::LEN_MAX {
            return Err(ExtractError::TooLong {
                len_max_bytes: document::LEN_MAX,
            });
        }
        let mut before = std::mem::take(&mut self.progress);
        // A later export has its new conversations in front.
        let tail = document::has_conversations(head).then(|| hash_of(head));
        if tail.as_ref().is_some_and(|tail| *tail != before.tail) {
            before = Progress::default();
        }
        let (mut nth, mut known) = (0_u64, before.messages > 0);
        let has_list = document::each(reader.take(document::LEN_MAX), &mut |object| {
            nth += 1;
            // Messages of the last reading are not read again. A file with fewer messages is another file.
            if nth > before.messages
                && let Shape::Message(message) = shape_of(object)
            {
                known = true;
                if !self.message(&message, Line::Only(nth), None) {
                    // The next reading begins with this message.
                    nth -= 1;
                    return false;
                }
            }
            !stop()
        });
        let strange = !known && (nth > 0 || !has_list);
        self.progress = Progress {
            // A shorter document is another file, so the next reading begins at its start.
            messages: if strange || nth < before.messages {
                0
            } else {
                nth
            },
            skipped: if strange { nth.max(1) } else { 0 },
            tail: tail.unwrap_or_default(),
            ..Progress::default()
        };
        Ok((self.sink, self.progress))
    }
}

/// Returns the value of a line; `None` for invalid or deeply nested JSON.
fn parsed(line: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(line);
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

fn seek(reader: &mut impl Seek, to: SeekFrom) -> Result<u64, ExtractError> {
    let offset = match to {
        SeekFrom::Start(offset) => offset,
        _ => 0,
    };
    reader
        .seek(to)
        .map_err(|source| ExtractError::Io { offset, source })
}

fn bytes_at(
    reader: &mut (impl Read + Seek),
    offset: u64,
    len: u64,
) -> Result<Vec<u8>, ExtractError> {
    seek(reader, SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    let read = reader.by_ref().take(len).read_to_end(&mut bytes);
    read.map_err(|source| ExtractError::Io { offset, source })?;
    Ok(bytes)
}

/// Returns the hash of the bytes before an offset.
fn tail_hash(reader: &mut (impl Read + Seek), offset: u64) -> Result<String, ExtractError> {
    let len = offset.min(TAIL_LEN);
    let bytes = bytes_at(reader, offset - len, len)?;
    Ok(hash_of(&bytes))
}

fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
