//! Tests of installing without a network.

use std::fs;
use std::path::Path;

use super::*;
use crate::onnx::tests::{fake, fill};

struct Silent;

impl Watch for Silent {
    fn phase(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
}

fn from(store: &Store, name: &str, folder: &Path) -> Result<Installed, ModelError> {
    install(store, name, &Source::Folder(folder.to_owned()), &Silent)
}

fn said(error: &ModelError) -> String {
    format!("{error}; {}", error.hint().unwrap_or_default())
}

#[test]
fn an_unknown_name_lists_those_that_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::of(dir.path());
    let error = install(&store, "no-such", &Source::Network, &Silent).unwrap_err();
    let said = said(&error);
    assert!(said.contains("there is no model `no-such`"), "{said}");
    assert!(said.contains("multilingual-e5-small"), "{said}");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        0,
        "nothing is made"
    );
}

#[test]
fn names_that_mean_something_else_are_refused() {
    let (dir, model) = (tempfile::tempdir().unwrap(), fake());
    let store = Store::of(dir.path());
    for name in [
        "static", "NONE", "endpoint", "", "a/b", "..", ".hidden", "a b",
    ] {
        let error = from(&store, name, model.path()).unwrap_err();
        assert!(said(&error).contains("cannot be called"), "{name}: {error}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_does_not_work_leaves_nothing() {
    let (dir, model) = (tempfile::tempdir().unwrap(), fake());
    let store = Store::of(dir.path());
    // A damaged library stops the installation before anything is fetched.
    fs::create_dir(store.lib_dir()).unwrap();
    fs::write(store.lib_dir().join("libonnxruntime.so"), "none").unwrap();
    // The staging folder of a killed installation is removed, too.
    fs::create_dir_all(store.models_dir().join(".new-old")).unwrap();
    let error = from(&store, "tiny", model.path()).unwrap_err();
    assert!(matches!(error, ModelError::Unusable(_)), "{error:?}");
    let left: Vec<_> = fs::read_dir(store.models_dir())
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].file_name(), ".lock");

    let error = from(&store, "tiny", &dir.path().join("absent")).unwrap_err();
    assert!(said(&error).contains("there is no such folder"), "{error}");
}

#[test]
fn an_installed_model_stays_as_it_is() {
    let (dir, model) = (tempfile::tempdir().unwrap(), fake());
    let store = Store::of(dir.path());
    fs::create_dir(store.lib_dir()).unwrap();
    fs::write(store.lib_dir().join("libonnxruntime.so"), "none").unwrap();
    let there = store.models_dir().join("tiny");
    fs::create_dir_all(&there).unwrap();
    fill(&there);
    let record = Record::compute(&there, "tiny", None).unwrap();
    fs::write(path_in(&there), record.to_text().unwrap()).unwrap();

    let same = from(&store, "tiny", model.path()).unwrap();
    assert!(!same.is_new);
    assert_eq!(same.record.id, record.id);
    fs::write(model.path().join("model.onnx"), "another model".repeat(20)).unwrap();
    let error = from(&store, "tiny", model.path()).unwrap_err();
    assert!(said(&error).contains("icm model remove tiny"), "{error}");
    // A damaged model is replaced only by a model that works.
    fs::write(there.join("model.onnx"), "damaged").unwrap();
    let error = from(&store, "tiny", model.path()).unwrap_err();
    assert!(matches!(error, ModelError::Unusable(_)), "{error:?}");
    assert!(there.is_dir(), "what is there goes only for what works");
}

#[test]
fn two_do_not_work_at_once() {
    let (dir, model) = (tempfile::tempdir().unwrap(), fake());
    let store = Store::of(dir.path());
    make_private(store.models_dir()).unwrap();
    let _held = lock(store.models_dir()).unwrap();
    let error = from(&store, "tiny", model.path()).unwrap_err();
    assert!(said(&error).contains("try again"), "{error}");
    assert!(said(&store.remove("tiny").unwrap_err()).contains("try again"));
}

#[test]
#[cfg(unix)]
fn folders_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let store = Store::of(&dir.path().join("new"));
    make_private(store.models_dir()).unwrap();
    for path in [store.models_dir(), &dir.path().join("new")] {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}
