//! The forward index: the words of each version, by its ordinal. A search finds versions by the inverted index. The
//! versions that it finds, and their neighbours in their topics, are then compared with the question word by word.
//!
//! ```text
//! forward:       magic (16) · entries, one after the other
//! entry:         length of its words (4) · speaker (4) · characters (4) · traits (1) · zero (3) · check (4) · words, a line each
//! forward.index: magic (16) · start of each entry (8), by ordinal
//! ```
//! The check of an entry also covers its ordinal, so an entry that is used is known to be whole and in its place.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::error::{Result, ViewError, io};
use crate::file::write_at;
use icm_text::{Analysed, Traits};

/// Names of the two files within a generation.
pub(crate) const FORWARD_FILE: &str = "forward";
pub(crate) const FORWARD_INDEX: &str = "forward.index";

const MAGIC: [u8; HEADER_LEN] = *b"ICMFORWARD2\0\0\0\0\0";
const HEADER_LEN: usize = 16;
const START_LEN: usize = 8;
const HEAD_LEN: usize = 20;
/// The place of the check in an entry.
const CHECK_AT: usize = HEAD_LEN - 4;
const ASKS: u8 = 1;
const TELLS_TIME: u8 = 2;
/// Bytes that are buffered before a write: 256 KiB. A larger value writes less often and holds more memory.
const BUFFER_LEN: usize = 256 * 1_024;

/// A version's words and traits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) traits: Traits,
    /// The words, a line each, without repetition.
    lines: &'a str,
}

impl<'a> Entry<'a> {
    pub(crate) fn of(doc: &'a Analysed) -> Entry<'a> {
        Entry {
            traits: doc.traits,
            lines: &doc.terms.words.lines,
        }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &'a str> {
        self.lines.split('\n').filter(|word| !word.is_empty())
    }

    fn encode(&self, ordinal: u64, bytes: &mut Vec<u8>) {
        let Traits {
            speaker,
            chars,
            asks,
            tells_time,
        } = self.traits;
        let flags = if asks { ASKS } else { 0 } | if tells_time { TELLS_TIME } else { 0 };
        let start = bytes.len();
        let len = u32::try_from(self.lines.len()).expect("a text is shorter than 4 GiB");
        for number in [len, speaker, chars, u32::from(flags)] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let check = check(
            ordinal,
            &bytes[start..start + CHECK_AT],
            self.lines.as_bytes(),
        );
        bytes.extend_from_slice(&check.to_le_bytes());
        bytes.extend_from_slice(self.lines.as_bytes());
    }

    /// Returns the entry at the start of these bytes, if it is whole and belongs to the ordinal.
    fn parse(ordinal: u64, bytes: &'a [u8]) -> Option<Entry<'a>> {
        let (head, rest) = bytes.split_at_checked(HEAD_LEN)?;
        let four = |at: usize| {
            let four = head[at..at + 4].first_chunk().expect("four of them");
            u32::from_le_bytes(*four)
        };
        let lines = rest.get(..four(0) as usize)?;
        if check(ordinal, &head[..CHECK_AT], lines) != four(CHECK_AT) {
            return None;
        }
        Some(Entry {
            traits: Traits {
                speaker: four(4),
                chars: four(8),
                asks: head[12] & ASKS != 0,
                tells_time: head[12] & TELLS_TIME != 0,
            },
            lines: str::from_utf8(lines).ok()?,
        })
    }

    fn len(&self) -> u64 {
        (HEAD_LEN + self.lines.len()) as u64
    }
}

/// Returns the check of an entry's head and words.
fn check(ordinal: u64, head: &[u8], lines: &[u8]) -> u32 {
    let check = crc32c::crc32c_append(crc32c::crc32c(&ordinal.to_le_bytes()), head);
    crc32c::crc32c_append(check, lines)
}

enum Backing {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl Backing {
    #[allow(unsafe_code)]
    fn map(path: &Path) -> Result<Backing> {
        let file = crate::file::open(path).map_err(io("opening", path))?;
        // SAFETY: the file is only appended to, or overwritten beyond the entries of the checkpoint, where no reader
        // reads. A file in use is never truncated; its generation is replaced.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(io("mapping", path))?;
        match map.get(..HEADER_LEN) == Some(MAGIC.as_slice()) {
            true => Ok(Backing::Mapped(map)),
            false => Err(bad("another version of icm wrote it")),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Backing::Mapped(map) => map,
            Backing::Owned(bytes) => bytes,
        }
    }
}

/// The entries up to a checkpoint.
pub(crate) struct Forward {
    entries: Backing,
    starts: Backing,
    /// Entries that belong to the checkpoint; the files may hold more.
    count: u64,
}

impl Forward {
    /// Returns a forward index without entries, in memory.
    pub(crate) fn in_memory() -> Forward {
        Forward {
            entries: Backing::Owned(MAGIC.to_vec()),
            starts: Backing::Owned(MAGIC.to_vec()),
            count: 0,
        }
    }

    /// Opens the first `count` entries of a generation's files.
    ///
    /// # Errors
    /// `Unusable` for files that are too short or of another version; `Io` for files that cannot be read.
    pub(crate) fn open(generation: &Path, count: u64) -> Result<Forward> {
        let forward = Forward {
            entries: Backing::map(&generation.join(FORWARD_FILE))?,
            starts: Backing::map(&generation.join(FORWARD_INDEX))?,
            count,
        };
        match count.checked_sub(1) {
            Some(last) if forward.get(last).is_none() => Err(bad("its last entry is damaged")),
            _ => Ok(forward),
        }
    }

    /// Returns the entry of an ordinal; `None` beyond the checkpoint, and for a damaged entry.
    pub(crate) fn get(&self, ordinal: u64) -> Option<Entry<'_>> {
        if ordinal >= self.count {
            return None;
        }
        let start = self.start(ordinal)?;
        Entry::parse(ordinal, self.entries.bytes().get(start as usize..)?)
    }

    fn start(&self, ordinal: u64) -> Option<u64> {
        let at = HEADER_LEN + usize::try_from(ordinal).ok()? * START_LEN;
        let start = self.starts.bytes().get(at..)?.first_chunk()?;
        Some(u64::from_le_bytes(*start))
    }

    /// Adds the next entry to an index in memory.
    ///
    /// # Panics
    /// If the index is in files.
    fn push(&mut self, doc: &Analysed) {
        let (Backing::Owned(entries), Backing::Owned(starts)) =
            (&mut self.entries, &mut self.starts)
        else {
            panic!("files are written by their writer");
        };
        starts.extend_from_slice(&(entries.len() as u64).to_le_bytes());
        Entry::of(doc).encode(self.count, entries);
        self.count += 1;
    }

    /// Returns the place of the next entry.
    fn end(&self) -> Option<u64> {
        match self.count.checked_sub(1) {
            None => Some(HEADER_LEN as u64),
            Some(last) => Some(self.start(last)? + self.get(last)?.len()),
        }
    }

    /// Checks that every entry is whole. Reads all of them.
    ///
    /// # Errors
    /// `Unusable` names the first damaged entry.
    pub(crate) fn check(&self) -> Result<()> {
        match (0..self.count).find(|ordinal| self.get(*ordinal).is_none()) {
            None => Ok(()),
            Some(ordinal) => Err(damaged(ordinal)),
        }
    }
}

/// The destination of entries, which come in the order of their ordinals.
pub(crate) enum ForwardSink<'a> {
    File(&'a mut ForwardWriter),
    Memory(&'a mut Forward),
}

impl ForwardSink<'_> {
    pub(crate) fn add(&mut self, doc: &Analysed) -> Result<()> {
        match self {
            ForwardSink::File(writer) => writer.add(doc),
            ForwardSink::Memory(forward) => {
                forward.push(doc);
                Ok(())
            }
        }
    }
}

/// Appends entries to the files of a generation. Nothing is synced: lost entries are built again.
pub(crate) struct ForwardWriter {
    paths: [PathBuf; 2],
    files: [File; 2],
    /// Buffered bytes of entries and of starts, and the offsets of their first bytes in the files.
    pending: [Vec<u8>; 2],
    at: [u64; 2],
    /// The ordinal of the next entry.
    next: u64,
}

impl ForwardWriter {
    /// Creates new files.
    pub(crate) fn create(generation: &Path) -> Result<ForwardWriter> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut writer = ForwardWriter::with(generation, &options, [0, 0], 0)?;
        writer.pending = [MAGIC.to_vec(), MAGIC.to_vec()];
        Ok(writer)
    }

    /// Opens files to append after their first `count` entries; later entries are overwritten.
    pub(crate) fn open(generation: &Path, count: u64) -> Result<ForwardWriter> {
        let end = Forward::open(generation, count)?.end();
        let end = end.ok_or_else(|| bad("its last entry is damaged"))?;
        let starts = HEADER_LEN as u64 + count * START_LEN as u64;
        let mut options = OpenOptions::new();
        ForwardWriter::with(generation, options.write(true), [end, starts], count)
    }

    fn with(
        generation: &Path,
        options: &OpenOptions,
        at: [u64; 2],
        next: u64,
    ) -> Result<ForwardWriter> {
        let paths = [FORWARD_FILE, FORWARD_INDEX].map(|name| generation.join(name));
        let open = |path: &Path| options.open(path).map_err(io("opening", path));
        Ok(ForwardWriter {
            files: [open(&paths[0])?, open(&paths[1])?],
            paths,
            pending: Default::default(),
            at,
            next,
        })
    }

    /// Adds the next entry.
    pub(crate) fn add(&mut self, doc: &Analysed) -> Result<()> {
        let start = self.at[0] + self.pending[0].len() as u64;
        self.pending[1].extend_from_slice(&start.to_le_bytes());
        Entry::of(doc).encode(self.next, &mut self.pending[0]);
        self.next += 1;
        match self.pending[0].len() < BUFFER_LEN {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes the buffered entries.
    pub(crate) fn flush(&mut self) -> Result<()> {
        for which in 0..2 {
            let bytes = std::mem::take(&mut self.pending[which]);
            write_at(&self.files[which], &bytes, self.at[which])
                .map_err(io("writing", &self.paths[which]))?;
            self.at[which] += bytes.len() as u64;
        }
        Ok(())
    }
}

fn bad(why: &str) -> ViewError {
    ViewError::Unusable {
        view: "text",
        why: format!("{FORWARD_FILE}: {why}"),
    }
}

pub(crate) fn damaged(ordinal: u64) -> ViewError {
    bad(&format!("the entry of ordinal {ordinal} is damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use icm_text::Doc;

    fn doc(ordinal: u64, content: &str) -> Analysed {
        Analysed::of(&Doc {
            ordinal,
            content,
            topic: "team",
            ..Doc::default()
        })
    }

    fn words(forward: &Forward, ordinal: u64) -> Vec<&str> {
        let entry = forward.get(ordinal).expect("it is there");
        entry.words().collect()
    }

    #[test]
    fn entries_there_and_back_and_what_came_to_nothing_is_written_over() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut writer = ForwardWriter::create(dir.path()).expect("made");
        let docs = [
            doc(0, "Ada: Is it raining, raining today?"),
            doc(1, ""),
            doc(2, "数据库"),
        ];
        docs.iter().for_each(|doc| writer.add(doc).expect("added"));
        writer.flush().expect("written");
        let forward = Forward::open(dir.path(), 3).expect("opened");
        assert_eq!(
            words(&forward, 0),
            ["ada", "is", "it", "raining", "today", "team"]
        );
        let traits = forward.get(0).expect("it is there").traits;
        assert!(traits.asks && traits.tells_time && traits.speaker != 0);
        assert_eq!(words(&forward, 1), ["team"]);
        assert_eq!(
            forward.get(1).expect("it is there").traits,
            Traits::default()
        );
        assert!(words(&forward, 2).contains(&"据库"));
        assert_eq!(forward.get(3), None);

        let mut writer = ForwardWriter::open(dir.path(), 1).expect("opened");
        writer.add(&doc(1, "another")).expect("added");
        writer.flush().expect("written");
        let forward = Forward::open(dir.path(), 2).expect("opened");
        assert_eq!(words(&forward, 1), ["another", "team"]);
        forward.check().expect("whole");
    }

    #[test]
    fn every_flip_is_seen() {
        let mut bytes = Vec::new();
        let doc = doc(0, "Ada: hello");
        Entry::of(&doc).encode(7, &mut bytes);
        assert_eq!(Entry::parse(7, &bytes), Some(Entry::of(&doc)));
        assert_eq!(Entry::parse(8, &bytes), None);
        for bit in 0..bytes.len() * 8 {
            // The traits' zeros are checked, too.
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Entry::parse(7, &flipped), None, "bit {bit}");
        }
    }
}
