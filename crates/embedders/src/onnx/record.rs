//! The record of a model, `model.toml` in its folder: its properties can be read without loading it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use icm_vectors::embed::EmbedError;
use serde::{Deserialize, Serialize};

use super::file_note::FileNote;
use super::folder::{self, Pooling, Traits};

/// File name of the record.
pub(crate) const RECORD: &str = "model.toml";
/// The format of the record that this version reads and writes.
const FORMAT: u32 = 1;
/// Longest record read, in bytes.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// The properties of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub(crate) format: u32,
    /// Common name of the model.
    pub name: String,
    /// The name, and a hash of everything that affects the vectors.
    pub id: String,
    /// Numbers in a vector.
    pub dim: usize,
    /// The pooling.
    pub pooling: Pooling,
    /// Tokens read of a text; the rest is cut off.
    pub max_tokens: usize,
    /// Prefix of a question.
    #[serde(default)]
    pub query_prefix: String,
    /// Prefix of a stored text.
    #[serde(default)]
    pub passage_prefix: String,
    /// `true` if the model quantises by the range of its input. Then texts are embedded one by one, because in a batch
    /// the vector of a text would depend on its neighbours.
    #[serde(default)]
    pub alone: bool,
    /// The ONNX file, one of `files`.
    pub(crate) weights: String,
    /// All files, sorted by name.
    pub(crate) files: Vec<FileNote>,
}

impl Record {
    /// Reads the record in a folder; without a record, computes one by reading all files. The files exist and have
    /// their lengths; their content is checked when they are loaded.
    ///
    /// # Errors
    /// A record that cannot be parsed, or a file that is missing or of another length.
    pub fn of_folder(folder: &Path) -> Result<Record, EmbedError> {
        let path = folder.join(RECORD);
        let record = match read(&path) {
            Ok(text) => parse(&text, &path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = folder
                    .file_name()
                    .map_or_else(|| "model".into(), |name| name.to_string_lossy());
                return Record::compute(folder, &name, None);
            }
            Err(source) => return Err(EmbedError::Io { path, source }),
        };
        for note in &record.files {
            note.check_len(folder).map_err(|why| record.damaged(&why))?;
        }
        Ok(record)
    }

    /// Returns the total length of all files, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.len_bytes).sum()
    }

    /// Returns the record with another name.
    pub(crate) fn called(mut self, name: &str) -> Record {
        name.clone_into(&mut self.name);
        self.id = self.computed_id();
        self
    }

    /// Computes the record of the files in a folder.
    pub(crate) fn compute(
        folder: &Path,
        name: &str,
        traits: Option<Traits>,
    ) -> Result<Record, EmbedError> {
        let found = folder::look(folder, name)?;
        let traits = traits.unwrap_or_else(|| found.traits(name));
        let mut record = Record {
            format: FORMAT,
            name: name.to_owned(),
            id: String::new(),
            dim: found.dim,
            pooling: traits.pooling,
            max_tokens: found.max_tokens,
            query_prefix: traits.query_prefix,
            passage_prefix: traits.passage_prefix,
            alone: found.alone,
            weights: found.model,
            files: found.files,
        };
        record.id = record.computed_id();
        Ok(record)
    }

    /// Returns the id: the name and a hash. It is also a file name. The path of the model is not part of it.
    fn computed_id(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("icm embedder of an onnx model, 1");
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        let mut hashes: Vec<&str> = self.files.iter().map(|file| file.blake3.as_str()).collect();
        hashes.sort_unstable();
        for hash in hashes {
            part(hash.as_bytes());
        }
        part(format!("{:?} {} {}", self.pooling, self.max_tokens, self.alone).as_bytes());
        part(self.query_prefix.as_bytes());
        part(self.passage_prefix.as_bytes());
        let hash = hasher.finalize().to_hex();
        format!("{}-{}", plain_name(&self.name), &hash[..16])
    }

    /// Returns the text of the record's file.
    pub(crate) fn to_text(&self) -> Result<String, toml::ser::Error> {
        Ok(format!(
            "# Written by `icm model install`; what does not fit the files is refused.\n{}",
            toml::to_string(self)?
        ))
    }

    pub(crate) fn unavailable(
        &self,
        why: impl Into<String>,
        hint: impl Into<String>,
    ) -> EmbedError {
        EmbedError::Unavailable {
            model: self.name.clone(),
            why: why.into(),
            hint: Some(hint.into()),
        }
    }

    pub(crate) fn damaged(&self, why: &str) -> EmbedError {
        self.unavailable(
            why,
            format!(
                "get it anew: `icm model remove {0}` and `icm model install {0}`, or put the folder's files back",
                self.name
            ),
        )
    }
}

/// Returns the name with every character replaced that does not suit a file name.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = name
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(64)
        .collect();
    match name.trim_start_matches('.') {
        "" => "model".to_owned(),
        name => name.to_owned(),
    }
}

fn read(path: &Path) -> io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    fs::File::open(path)?
        .take(RECORD_BYTES_MAX)
        .read_to_string(&mut text)?;
    Ok(text)
}

fn parse(text: &str, path: &Path) -> Result<Record, EmbedError> {
    let damaged = |why: String| EmbedError::Damaged {
        path: path.to_owned(),
        why,
    };
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| damaged(format!("it is not TOML: {}", e.message())))?;
    let found = table.get("format").and_then(toml::Value::as_integer);
    match found.map(u32::try_from) {
        Some(Ok(FORMAT)) => {}
        Some(Ok(found)) => {
            return Err(EmbedError::Format {
                path: path.to_owned(),
                found,
                known: FORMAT,
            });
        }
        _ => return Err(damaged("it has no format".into())),
    }
    let record: Record = toml::Value::Table(table)
        .try_into()
        .map_err(|e: toml::de::Error| damaged(e.message().to_owned()))?;
    let inside = |name: &str| {
        Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    if let Some(file) = record.files.iter().find(|file| !inside(&file.name)) {
        return Err(damaged(format!("{} is not below the folder", file.name)));
    }
    for needed in [record.weights.as_str()]
        .into_iter()
        .chain(folder::TOKENIZER)
    {
        if !record.files.iter().any(|file| file.name == needed) {
            return Err(damaged(format!("it does not name {needed}")));
        }
    }
    if record.dim == 0 || record.dim > folder::DIM_MAX || record.max_tokens == 0 {
        return Err(damaged("its numbers make no sense".into()));
    }
    if record.id != record.computed_id() {
        return Err(damaged("its id is not that of what it names".into()));
    }
    Ok(record)
}

/// Returns the path of the record in a folder.
pub(crate) fn path_in(folder: &Path) -> PathBuf {
    folder.join(RECORD)
}
