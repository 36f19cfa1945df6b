//! The file `store.toml`: the origin that writes here now, and the secret of keyed hashes.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::disk::{self, Disk};
use crate::error::{LogError, Result, at};
use crate::layout::STORE_FILE;
use icm_event::facts::Continues;
use icm_event::head::FORMAT;
use icm_event::id::{EventId, OriginId, Seq, from_hex, to_hex};

const LEN_MAX: u64 = 64 * 1_024;
const EMPTY: &str = "it is empty";

/// The contents of `store.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFile {
    /// This machine's origin.
    pub origin: OriginId,
    /// Digest of the machine and the folder that the origin was minted for.
    pub fingerprint: String,
    /// Secret of keyed hashes; never leaves the store.
    pub secret: [u8; 32],
    /// Older origins that were minted for the same machine and folder, oldest first.
    pub here: Vec<OriginId>,
    /// The place from which the origin continues an older one. Its first event says the same, once written.
    pub continues: Option<Continues>,
    /// The same of older origins of this machine, in case their first events are lost.
    pub older: Vec<(OriginId, Continues)>,
}

#[derive(Serialize, Deserialize)]
struct Text {
    format: u16,
    origin: String,
    fingerprint: String,
    secret: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    here: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continues: Option<ContinuesText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    older: Vec<OlderText>,
}

#[derive(Serialize, Deserialize)]
struct OlderText {
    by: String,
    #[serde(flatten)]
    continues: ContinuesText,
}

#[derive(Serialize, Deserialize)]
struct ContinuesText {
    origin: String,
    seq: u64,
    event: String,
}

impl StoreFile {
    /// Returns the place from which a chain of this machine continues another, if it is recorded here.
    pub(crate) fn noted(&self, origin: OriginId) -> Option<Continues> {
        let older = self.older.iter().find(|(by, _)| *by == origin);
        match self.origin == origin {
            true => self.continues,
            false => older.map(|(_, continues)| *continues),
        }
    }

    /// Returns the bytes of the file; `None` if it is absent.
    pub(crate) fn load(disk: &dyn Disk, dir: &Path) -> Result<Option<Vec<u8>>> {
        let path = dir.join(STORE_FILE);
        match disk::read_all(disk, &path, LEN_MAX) {
            // An empty file is an error: no bytes would equal the bytes of a store that was never read.
            Ok(bytes) if bytes.is_empty() => Err(LogError::NotAStore {
                path,
                why: EMPTY.to_owned(),
            }),
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at("reading", &path)(error)),
        }
    }

    /// Parses the bytes of the file.
    pub(crate) fn read(bytes: &[u8], dir: &Path) -> Result<StoreFile> {
        Self::parse(bytes).map_err(|problem| match problem {
            Problem::Newer(format) => LogError::NewerFormat {
                what: format!("{STORE_FILE} has format {format}, this version knows {FORMAT}"),
            },
            Problem::Bad(why) => LogError::NotAStore {
                path: dir.join(STORE_FILE),
                why,
            },
        })
    }

    /// Writes the file in one durable step.
    pub fn write(&self, disk: &dyn Disk, dir: &Path) -> Result<()> {
        let path = dir.join(STORE_FILE);
        disk::replace(disk, &path, self.to_text().as_bytes()).map_err(at("writing", &path))
    }

    pub(crate) fn to_text(&self) -> String {
        let text = Text {
            format: FORMAT,
            origin: self.origin.to_string(),
            fingerprint: self.fingerprint.clone(),
            secret: to_hex(&self.secret),
            here: self.here.iter().map(OriginId::to_string).collect(),
            continues: self.continues.as_ref().map(ContinuesText::of),
            older: (self.older.iter())
                .map(|(by, continues)| OlderText {
                    by: by.to_string(),
                    continues: ContinuesText::of(continues),
                })
                .collect(),
        };
        let body = toml::to_string(&text).expect("plain text fields encode");
        let check = crc32c::crc32c(body.as_bytes());
        format!(
            "# Which origin writes to this store. The secret keys local hashes: keep it private\n\
             # check {check:08x}\n{body}"
        )
    }

    fn parse(bytes: &[u8]) -> std::result::Result<StoreFile, Problem> {
        let bad = |why: &str| Problem::Bad(why.to_owned());
        // A copy in text mode writes CR LF for LF.
        let text = std::str::from_utf8(bytes).map_err(|_| bad("not text"))?;
        let text = text.replace("\r\n", "\n");
        let text = text.as_str();
        if text.trim().is_empty() {
            return Err(bad(EMPTY));
        }
        let values: Text =
            toml::from_str(text).map_err(|error| Problem::Bad(error.message().to_owned()))?;
        if values.format > FORMAT {
            return Err(Problem::Newer(values.format));
        }
        let check = text.lines().find_map(|line| line.strip_prefix("# check "));
        let body = text
            .split_once("\nformat")
            .map(|(_, rest)| format!("format{rest}"));
        let same = check
            .and_then(|check| u32::from_str_radix(check.trim(), 16).ok())
            .zip(body)
            .is_some_and(|(check, body)| crc32c::crc32c(body.as_bytes()) == check);
        if !same {
            return Err(bad("its check does not fit: it was changed or damaged"));
        }
        let origin = |text: &str| OriginId::parse_hex(text).ok_or_else(|| bad("bad origin"));
        let continues_of = |text: &ContinuesText| {
            Ok(Continues {
                origin: origin(&text.origin)?,
                seq: Seq(text.seq),
                event: EventId::parse_hex(&text.event).ok_or_else(|| bad("bad event"))?,
            })
        };
        let continues = values.continues.as_ref().map(continues_of).transpose()?;
        let here = values.here.iter().map(|text| origin(text));
        let here = here.collect::<std::result::Result<Vec<_>, Problem>>()?;
        let older = values.older.iter();
        let older = older.map(|text| Ok((origin(&text.by)?, continues_of(&text.continues)?)));
        let older = older.collect::<std::result::Result<Vec<_>, Problem>>()?;
        Ok(StoreFile {
            origin: OriginId::parse_hex(&values.origin).ok_or_else(|| bad("bad origin"))?,
            fingerprint: values.fingerprint,
            secret: from_hex(&values.secret)
                .and_then(|bytes| bytes.try_into().ok())
                .ok_or_else(|| bad("bad secret"))?,
            here,
            continues,
            older,
        })
    }
}

impl ContinuesText {
    fn of(continues: &Continues) -> ContinuesText {
        ContinuesText {
            origin: continues.origin.to_string(),
            seq: continues.seq.0,
            event: continues.event.to_string(),
        }
    }
}

enum Problem {
    Newer(u16),
    Bad(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_and_a_changed_digit_is_seen() {
        let file = StoreFile {
            origin: OriginId([3; 16]),
            fingerprint: "machine".into(),
            secret: [5; 32],
            here: vec![OriginId([7; 16]), OriginId([1; 16])],
            continues: Some(Continues {
                origin: OriginId([1; 16]),
                seq: Seq(4),
                event: EventId([2; 32]),
            }),
            older: vec![(
                OriginId([1; 16]),
                Continues {
                    origin: OriginId([7; 16]),
                    seq: Seq(2),
                    event: EventId([8; 32]),
                },
            )],
        };
        let text = file.to_text();
        let parsed = StoreFile::parse(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(parsed, file);
        let copied = StoreFile::parse(text.replace('\n', "\r\n").as_bytes());
        assert!(copied.is_ok_and(|copied| copied == file), "in text mode");
        let changed = text.replace("0303", "0403");
        assert_ne!(changed, text);
        assert!(matches!(
            StoreFile::parse(changed.as_bytes()),
            Err(Problem::Bad(_))
        ));
        for empty in ["", "\n"] {
            assert!(matches!(
                StoreFile::parse(empty.as_bytes()),
                Err(Problem::Bad(why)) if why == EMPTY
            ));
        }
        let newer = text.replace("format = 1", "format = 2");
        assert!(matches!(
            StoreFile::parse(newer.as_bytes()),
            Err(Problem::Newer(2))
        ));
    }
}
