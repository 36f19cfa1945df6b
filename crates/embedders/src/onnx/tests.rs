//! Tests of folders without a model, with half a model, and with a changed model. `tests/real.rs` has a real model.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::store::Store;

/// Makes a folder that passes for a model until ONNX Runtime loads it.
pub(crate) fn fake() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    dir
}

pub(crate) fn fill(folder: &Path) {
    for (name, text) in [
        (
            "model.onnx",
            "no model at all, but of some length".repeat(10),
        ),
        ("tokenizer.json", TINY_TOKENIZER.to_owned()),
        (
            "config.json",
            r#"{"hidden_size": 4, "max_position_embeddings": 512}"#.to_owned(),
        ),
        ("special_tokens_map.json", "{}".to_owned()),
        (
            "tokenizer_config.json",
            r#"{"model_max_length": 512, "pad_token": "[PAD]"}"#.to_owned(),
        ),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}

const TINY_TOKENIZER: &str = r#"{"version": "1.0", "truncation": null, "padding": null,
"added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "Whitespace"},
"post_processor": null, "decoder": null,
"model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "[PAD]": 1}}}"#;

fn said(error: &EmbedError) -> String {
    let said = match error {
        EmbedError::Unavailable { hint, .. } => {
            format!("{error}; {}", hint.as_deref().expect("a hint"))
        }
        other => other.to_string(),
    };
    assert!(!said.contains('\n'), "{said}");
    said
}

fn open(folder: &Path) -> Result<FastEmbedder, EmbedError> {
    FastEmbedder::open(folder, &folder.join("lib"))
}

fn record_in(folder: &Path) -> Record {
    let record = Record::compute(folder, "tiny", None).unwrap();
    fs::write(path_in(folder), record.to_text().unwrap()).unwrap();
    record
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let dir = fake();
    let record = record_in(dir.path());
    assert_eq!(Record::of_folder(dir.path()).unwrap(), record);
    assert_eq!((record.dim, record.max_tokens), (4, 512));
    assert_eq!(record.pooling, Pooling::Mean);
    assert!(
        record.id.starts_with("tiny-") && record.id.len() == 21,
        "{}",
        record.id
    );
}

#[test]
fn an_id_is_of_bytes_and_of_what_is_done_with_them() {
    let dir = fake();
    let ids = |name: &str| Record::compute(dir.path(), name, None).unwrap().id;
    let first = ids("tiny");
    assert_eq!(ids("tiny"), first);
    assert_ne!(ids("tiny-e5"), first, "another name, with prefixes");
    fs::write(
        dir.path().join("tokenizer.json"),
        format!("{TINY_TOKENIZER} "),
    )
    .unwrap();
    assert_ne!(ids("tiny"), first);
    fs::write(dir.path().join("tokenizer.json"), TINY_TOKENIZER).unwrap();
    assert_eq!(ids("tiny"), first);
    fs::create_dir(dir.path().join("1_Pooling")).unwrap();
    let cls = r#"{"pooling_mode_cls_token": true}"#;
    fs::write(dir.path().join("1_Pooling/config.json"), cls).unwrap();
    assert_ne!(ids("tiny"), first);
}

#[test]
fn settings_in_a_model_folder_are_heeded() {
    let dir = fake();
    fs::write(
        dir.path().join("sentence_bert_config.json"),
        r#"{"max_seq_length": 77}"#,
    )
    .unwrap();
    let weights = format!("{}DynamicQuantizeLinear", "x".repeat(100));
    fs::write(dir.path().join("model.onnx"), weights).unwrap();
    fs::write(dir.path().join("model.onnx_data"), "more").unwrap();
    let record = Record::compute(dir.path(), "multilingual-E5-small", None).unwrap();
    assert_eq!(record.max_tokens, 77);
    assert!(record.alone);
    assert_eq!(
        (record.query_prefix.as_str(), record.passage_prefix.as_str()),
        ("query: ", "passage: ")
    );
    assert!(
        record
            .files
            .iter()
            .any(|file| file.name == "model.onnx_data")
    );
}

#[test]
fn a_folder_below_onnx_is_found() {
    let dir = fake();
    fs::create_dir(dir.path().join("onnx")).unwrap();
    fs::rename(
        dir.path().join("model.onnx"),
        dir.path().join("onnx/model_quantized.onnx"),
    )
    .unwrap();
    let record = record_in(dir.path());
    assert_eq!(record.weights, "onnx/model_quantized.onnx");
    assert_eq!(Record::of_folder(dir.path()).unwrap(), record);
}

#[test]
fn a_folder_that_is_no_model_is_told_in_a_line() {
    let absent = Path::new("/no/such/folder");
    assert!(said(&open(absent).err().unwrap()).contains("there is no such folder"));
    let empty = tempfile::tempdir().unwrap();
    assert!(said(&open(empty.path()).err().unwrap()).contains("it has no `model.onnx`"));
    type Spoil = fn(&Path);
    let cases: [(Spoil, &str); 6] = [
        (
            |dir| fs::remove_file(dir.join("tokenizer.json")).unwrap(),
            "no `tokenizer.json`",
        ),
        (
            |dir| fs::remove_file(dir.join("config.json")).unwrap(),
            "no `config.json`",
        ),
        (
            |dir| fs::write(dir.join("model.onnx"), "").unwrap(),
            "model.onnx is no model: 0 bytes",
        ),
        (
            |dir| fs::write(dir.join("config.json"), "{}").unwrap(),
            "does not say `hidden_size`",
        ),
        (
            |dir| fs::write(dir.join("config.json"), "{").unwrap(),
            "config.json is not JSON",
        ),
        (
            |dir| fs::write(dir.join("config.json"), r#"{"hidden_size": 0}"#).unwrap(),
            "does not say `hidden_size`",
        ),
    ];
    for (spoil, words) in cases {
        let dir = fake();
        open(dir.path()).expect("whole");
        spoil(dir.path());
        let said = said(&open(dir.path()).err().expect(words));
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_file_that_is_missing_cut_or_changed_is_not_used() {
    type Spoil = fn(&Path);
    let at_once: [(Spoil, &str); 3] = [
        (
            |dir| fs::write(dir.join("model.onnx"), "cut").unwrap(),
            "model.onnx has 3 bytes, not 350",
        ),
        (
            |dir| fs::remove_file(dir.join("model.onnx")).unwrap(),
            "model.onnx is missing",
        ),
        (
            |dir| fs::remove_file(dir.join("tokenizer.json")).unwrap(),
            "tokenizer.json is missing",
        ),
    ];
    for (spoil, words) in at_once {
        let dir = fake();
        record_in(dir.path());
        open(dir.path()).expect("whole");
        spoil(dir.path());
        let said = said(&open(dir.path()).err().expect(words));
        assert!(
            said.contains(words) && said.contains("icm model install tiny"),
            "{said}"
        );
    }
    // A change that keeps the length is noticed when the file is read.
    let dir = fake();
    record_in(dir.path());
    let embedder = open(dir.path()).unwrap();
    fs::write(dir.path().join("model.onnx"), "y".repeat(350)).unwrap();
    let said = said(&embedder.embed(&["a text"]).unwrap_err());
    assert!(said.contains("model.onnx was changed"), "{said}");
    assert_eq!(embedder.embed(&["", " "]).unwrap(), [[0.0; 4], [0.0; 4]]);
}

#[test]
fn a_record_that_is_wrong_is_refused() {
    let dir = fake();
    record_in(dir.path());
    let path = path_in(dir.path());
    let whole = fs::read_to_string(&path).unwrap();
    let change = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        whole.replace(from, to)
    };
    for (text, words) in [
        ("= = =".to_owned(), "it is not TOML"),
        (String::new(), "it has no format"),
        (
            change("format = 1", "format = 2"),
            "has format 2, this icm reads format 1",
        ),
        (change("dim = 4", "dim = 0"), "its numbers make no sense"),
        (change("dim = 4", "dim = 'x'"), "damaged"),
        (
            change("max_tokens = 512", "max_tokens = 500"),
            "its id is not that of what it names",
        ),
        (
            change("name = \"tokenizer.json\"", "name = \"../tokenizer.json\""),
            "is not below the folder",
        ),
        (
            change("name = \"tokenizer.json\"", "name = \"other.json\""),
            "does not name tokenizer.json",
        ),
        (format!("surprise = 1\n{whole}"), "unknown field"),
    ] {
        fs::write(&path, text).unwrap();
        let said = said(&open(dir.path()).err().expect(words));
        assert!(said.contains(words), "{words}: {said}");
    }
    fs::write(&path, whole).unwrap();
    open(dir.path()).unwrap();
}

#[test]
#[allow(clippy::print_stderr)]
fn without_a_library_there_is_one_line_and_a_way_out() {
    if std::env::var_os("ORT_DYLIB_PATH").is_some() {
        eprintln!("skipped: ORT_DYLIB_PATH names a library");
        return;
    }
    let dir = fake();
    let lib = dir.path().join("lib");
    fs::create_dir(&lib).unwrap();
    fs::write(lib.join("libonnxruntime.so"), "no library").unwrap();
    let embedder = open(dir.path()).unwrap();
    let said = said(&embedder.embed(&["a text"]).unwrap_err());
    assert!(said.contains("is no ONNX Runtime that fits"), "{said}");
    assert!(said.contains("icm model install"), "{said}");
    assert!(said.contains("ORT_DYLIB_PATH"), "{said}");
}

#[test]
fn a_store_lists_finds_and_removes_its_models() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::of(dir.path());
    assert!(store.installed().is_empty());
    let error = store.embedder("tiny").err().expect("none");
    assert!(
        said(&error).contains("it is not installed (none is)"),
        "{error}"
    );
    for name in ["tiny", "half", ".new-abc"] {
        fs::create_dir_all(store.models_dir().join(name)).unwrap();
        fill(&store.models_dir().join(name));
    }
    record_in(&store.models_dir().join("tiny"));
    let names: Vec<(String, bool)> = store
        .installed()
        .into_iter()
        .map(|entry| (entry.name, entry.record.is_ok()))
        .collect();
    assert_eq!(
        names,
        [("half".to_owned(), false), ("tiny".to_owned(), true)]
    );
    assert_eq!(store.embedder("TINY").unwrap().dim(), 4);
    let error = store.embedder("half").err().expect("half a model");
    assert!(said(&error).contains("has no model.toml"), "{error}");
    assert!(store.remove("tiny").unwrap() > 350);
    assert_eq!(store.name_of("tiny"), None);
    let error = store.remove("tiny").unwrap_err();
    assert!(
        error
            .hint()
            .unwrap()
            .contains("installed: half; known are all-MiniLM"),
        "{error:?}"
    );
}
