//! Finds the files that a measurement reads.

use std::fs;
use std::path::{Path, PathBuf};

use icm_api::error::{Result, ServiceError};

const MEMORIES: &str = ".memories.jsonl";
const QUESTIONS: &str = ".questions.jsonl";

/// A source of memories and questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// `STEM.memories.jsonl` and `STEM.questions.jsonl`.
    Pair {
        /// The common beginning of both paths.
        stem: PathBuf,
    },
    /// A file in LongMemEval's format.
    LongMemEval {
        /// The file.
        file: PathBuf,
    },
}

impl Input {
    /// Returns the path of a pair's memories.
    pub(super) fn memories(stem: &Path) -> PathBuf {
        with_end(stem, MEMORIES)
    }

    /// Returns the path of a pair's questions.
    pub(super) fn questions(stem: &Path) -> PathBuf {
        with_end(stem, QUESTIONS)
    }
}

/// A folder of pairs, or a single input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    /// The last part of the path; for a pair without the ending.
    pub(super) name: String,
    pub(super) inputs: Vec<Input>,
}

/// Returns a set for each folder or file, in order; the pairs of a folder are sorted by name. Each input is in one set
/// only.
///
/// # Errors
/// A pair of which one file is missing, or a folder that cannot be read.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<Set>> {
    let mut sets: Vec<Set> = Vec::new();
    for path in paths {
        let mut inputs = match path.is_dir() {
            true => in_folder(path)?,
            false => vec![of_file(path)?],
        };
        inputs.retain(|input| sets.iter().all(|set| !set.inputs.contains(input)));
        for input in &inputs {
            if let Input::Pair { stem } = input {
                check_whole(stem)?;
            }
        }
        if !inputs.is_empty() {
            sets.push(Set {
                name: name_of(path),
                inputs,
            });
        }
    }
    Ok(sets)
}

fn name_of(path: &Path) -> String {
    let path = match path.is_dir() {
        // `.` has no name of its own.
        true => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        false => stem_of(path).unwrap_or_else(|| path.to_owned()),
    };
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
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

/// Returns the path without the ending of a pair; `None` if the path has no such ending.
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
