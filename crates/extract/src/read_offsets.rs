//! A small file with the offsets up to which transcripts were read.
//!
//! The file is a cache: if it is lost or damaged, transcripts are read from their beginning again. Sentences that were
//! stored before are then skipped as duplicates.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::transcript::Progress;

/// The name of the file in the cache folder of a store.
pub const FILE_NAME: &str = "transcripts.json";
/// Most transcripts in the file; the one that was read longest ago is dropped first. Raised, the file gets longer.
const TRANSCRIPTS_MAX: usize = 1_000;
/// Most bytes of the file; a longer file counts as damaged.
const FILE_LEN_MAX: u64 = 4 * 1_024 * 1_024;

/// The offsets up to which transcripts were read, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOffsets {
    transcripts: BTreeMap<String, Kept>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    progress: Progress,
    /// The number of the reading; the highest is the newest.
    nth: u64,
}

impl ReadOffsets {
    /// Reads the file. A missing, damaged or too long file counts as empty.
    pub fn read(file: &Path) -> ReadOffsets {
        let mut bytes = Vec::new();
        let read =
            File::open(file).and_then(|file| file.take(FILE_LEN_MAX + 1).read_to_end(&mut bytes));
        match read {
            Ok(len) if len as u64 <= FILE_LEN_MAX => {
                serde_json::from_slice(&bytes).unwrap_or_default()
            }
            _ => ReadOffsets::default(),
        }
    }

    /// Returns the progress in a transcript, if it was read before.
    pub fn get(&self, transcript: &Path) -> Option<&Progress> {
        let kept = self.transcripts.get(transcript.to_str()?)?;
        Some(&kept.progress)
    }

    /// Records the progress in a transcript. A path that is not valid Unicode is ignored.
    pub fn set(&mut self, transcript: &Path, progress: Progress) {
        let Some(path) = transcript.to_str() else {
            return;
        };
        let newest = self.transcripts.values().map(|kept| kept.nth).max();
        let nth = newest.unwrap_or(0).saturating_add(1);
        self.transcripts
            .insert(path.to_owned(), Kept { progress, nth });
        while self.transcripts.len() > TRANSCRIPTS_MAX {
            let oldest = self.transcripts.iter().min_by_key(|(_, kept)| kept.nth);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else {
                return;
            };
            self.transcripts.remove(&oldest);
        }
    }

    /// Writes the file in one step, so that a reader sees the old or the new one. Makes a missing folder.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(&serde_json::to_vec(self)?)?;
        new.persist(file).map_err(|error| error.error)?;
        Ok(())
    }

    /// Reads the file again, records the progress in one transcript, and writes the file. Records that another process
    /// wrote about other transcripts meanwhile are kept.
    ///
    /// # Errors
    /// As [`ReadOffsets::write`].
    pub fn note(file: &Path, transcript: &Path, progress: Progress) -> io::Result<()> {
        let mut offsets = ReadOffsets::read(file);
        offsets.set(transcript, progress);
        offsets.write(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_kept_and_a_damaged_file_is_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cache").join(FILE_NAME);
        let progress = Progress {
            offset: 7,
            ..Progress::default()
        };
        ReadOffsets::note(&file, Path::new("/a"), progress.clone()).expect("written");
        ReadOffsets::note(&file, Path::new("/b"), Progress::default()).expect("written");
        let offsets = ReadOffsets::read(&file);
        assert_eq!(offsets.get(Path::new("/a")), Some(&progress));
        assert_eq!(offsets.get(Path::new("/c")), None);
        for damage in [
            "",
            "{",
            "[]",
            "{\"transcripts\":{\"/a\":{\"offset\":-1,\"nth\":1}}}",
        ] {
            std::fs::write(&file, damage).expect("written");
            assert_eq!(ReadOffsets::read(&file), ReadOffsets::default(), "{damage}");
        }
        ReadOffsets::note(&file, Path::new("/a"), progress).expect("written over");
        assert_eq!(
            std::fs::read_dir(file.parent().expect("it has one"))
                .expect("a folder")
                .count(),
            1
        );
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut offsets = ReadOffsets::default();
        for nth in 0..=TRANSCRIPTS_MAX {
            offsets.set(Path::new(&format!("/{nth}")), Progress::default());
        }
        assert_eq!(offsets.get(Path::new("/0")), None);
        assert!(offsets.get(Path::new("/1")).is_some());
    }
}
