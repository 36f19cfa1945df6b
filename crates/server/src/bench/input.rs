//! Which files a measurement reads.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Result, ServiceError};

const MEMORIES: &str = ".memories.jsonl";
const QUESTIONS: &str = ".questions.jsonl";

/// What is measured on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// `STEM.memories.jsonl` and `STEM.questions.jsonl`.
    Pair {
        /// The path that both names begin with.
        stem: PathBuf,
    },
    /// A file in LongMemEval's format.
    LongMemEval {
        /// The file.
        file: PathBuf,
    },
}

impl Input {
    /// The file of memories of a pair.
    pub(super) fn memories(stem: &Path) -> PathBuf {
        with_end(stem, MEMORIES)
    }

    /// The file of questions of a pair.
    pub(super) fn questions(stem: &Path) -> PathBuf {
        with_end(stem, QUESTIONS)
    }
}

/// What folders and files stand for, each once, in order; pairs in a folder by name. Every pair is
/// whole.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<Input>> {
    let mut found = Vec::new();
    for path in paths {
        let inputs = match path.is_dir() {
            true => in_folder(path)?,
            false => vec![of_file(path)?],
        };
        for input in inputs {
            if !found.contains(&input) {
                found.push(input);
            }
        }
    }
    for input in &found {
        if let Input::Pair { stem } = input {
            check_whole(stem)?;
        }
    }
    Ok(found)
}

fn in_folder(folder: &Path) -> Result<Vec<Input>> {
    let failed = |source| ServiceError::Io {
        doing: format!("cannot read {}", folder.display()),
        source,
    };
    let mut stems = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        stems.extend(stem_of(&path));
    }
    stems.sort();
    stems.dedup();
    if stems.is_empty() {
        return Err(ServiceError::invalid_with(
            format!("there is no `NAME{MEMORIES}` in {}", folder.display()),
            "a pair is `NAME.memories.jsonl` and `NAME.questions.jsonl`; a LongMemEval file is \
             named itself",
        ));
    }
    Ok(stems.into_iter().map(|stem| Input::Pair { stem }).collect())
}

fn of_file(path: &Path) -> Result<Input> {
    if let Some(stem) = stem_of(path) {
        return Ok(Input::Pair { stem });
    }
    if let Err(source) = fs::metadata(path) {
        return Err(ServiceError::Io {
            doing: format!("cannot read {}", path.display()),
            source,
        });
    }
    if path.extension().is_some_and(|end| end == "json") {
        return Ok(Input::LongMemEval {
            file: path.to_owned(),
        });
    }
    Err(ServiceError::invalid_with(
        format!("{} is nothing to measure on", path.display()),
        "give a folder, one of `NAME.memories.jsonl` and `NAME.questions.jsonl`, or a LongMemEval \
         file (`NAME.json`)",
    ))
}

fn check_whole(stem: &Path) -> Result<()> {
    let (memories, questions) = (Input::memories(stem), Input::questions(stem));
    for (file, other) in [(&memories, &questions), (&questions, &memories)] {
        if !file.exists() && other.exists() {
            return Err(ServiceError::invalid_with(
                format!("{} lacks its {}", other.display(), file.display()),
                "a pair is `NAME.memories.jsonl` and `NAME.questions.jsonl` in one folder",
            ));
        }
    }
    Ok(())
}

/// The path without the end that makes it one of a pair.
fn stem_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = name
        .strip_suffix(MEMORIES)
        .or_else(|| name.strip_suffix(QUESTIONS))?;
    Some(path.with_file_name(stem))
}

fn with_end(stem: &Path, end: &str) -> PathBuf {
    let mut path = stem.to_owned().into_os_string();
    path.push(end);
    path.into()
}
