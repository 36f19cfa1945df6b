//! Tests with a real model. `ICM_TEST_MODEL` names the folder of an all-MiniLM-L6-v2, int8 or not (`icm model install`
//! makes one below `models/`). ONNX Runtime is searched in `lib/` beside `models/`, and in the usual places. Without
//! the variable these tests say that they skip.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use icm_embedders::{Choice, FastEmbedder, Opened, Pooling, Source, Store, Watch, install, open};
use icm_vectors::embed::Embedder;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ICM_TEST_MODEL").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: ICM_TEST_MODEL names no model");
    }
    folder
}

fn model() -> Option<FastEmbedder> {
    let folder = folder()?;
    let lib = folder.parent()?.parent()?.join("lib");
    Some(FastEmbedder::open(&folder, &lib).unwrap())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn texts_of_the_same_meaning_lie_near() {
    let Some(model) = model() else { return };
    let texts = [
        "our office dog is called Biscuit",
        "payment retries use exponential backoff",
        "Invoices live in PostgreSQL",
        "the kitchen is painted green",
    ];
    let found = model.embed(&texts).unwrap();
    for (query, best) in [
        ("name of the pet", 0),
        ("how are failed charges tried again", 1),
        ("which database has the bills", 2),
        ("colour of the walls", 3),
    ] {
        let query = model.embed_query(query).unwrap();
        let near = |at: &usize| cosine(&query, &found[*at]);
        let nearest = (0..texts.len()).max_by(|a, b| near(a).total_cmp(&near(b)));
        assert_eq!(nearest, Some(best));
    }
}

#[test]
fn vectors_are_unit_whatever_the_text() {
    let Some(model) = model() else { return };
    let long = "a long text about nothing at all ".repeat(2_000);
    let texts = [
        "a",
        "日本語のテキスト",
        "Привет, мир",
        "مرحبا بالعالم",
        "🦀🦀🦀",
        "e\u{301}\u{200b}\u{fffd}",
        "[CLS] [MASK] [PAD]",
        &long[..64 * 1024],
    ];
    let found = model.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&found) {
        assert_eq!(vector.len(), model.dim());
        let length = cosine(vector, vector).sqrt();
        assert!(
            (length - 1.0).abs() < 1e-5,
            "{length}: {}",
            text.chars().take(9).collect::<String>()
        );
    }
    // Tokens beyond the limit do not count.
    let more = model.embed(&[&long]).unwrap();
    assert_eq!(more[0], found[7]);
    let blank = model.embed(&["", " \n\t"]).unwrap();
    assert!(blank.iter().flatten().all(|x| *x == 0.0));
}

#[test]
fn a_vector_does_not_hang_on_its_neighbours() {
    let Some(model) = model() else { return };
    let texts: Vec<String> = (0..70)
        .map(|n| format!("text {n} {}", "word ".repeat(n % 7)))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        let alone = model.embed_query(text).unwrap();
        let same = cosine(&alone, vector);
        assert!(same > 0.99999, "{same}: {text}");
    }
}

#[test]
fn nothing_is_loaded_to_open_one() {
    let Some(folder) = folder() else { return };
    let opened = open(&Choice::Folder(folder), Path::new("/no/such/store")).unwrap();
    let Opened::Model(model) = opened else {
        panic!("no model");
    };
    assert_eq!(model.dim(), 384);
    assert!(model.model().contains('-'));
}

#[test]
#[cfg(unix)]
fn settings_in_a_model_folder_are_kept_by_an_install() {
    let Some(folder) = folder() else { return };
    let dir = tempfile::tempdir().unwrap();
    let lib = folder.parent().unwrap().parent().unwrap().join("lib");
    std::os::unix::fs::symlink(lib, dir.path().join("lib")).unwrap();
    let (store, from) = (Store::of(dir.path()), dir.path().join("from"));
    std::fs::create_dir_all(from.join("1_Pooling")).unwrap();
    for file in std::fs::read_dir(&folder).unwrap().flatten() {
        std::fs::copy(file.path(), from.join(file.file_name())).unwrap();
    }
    std::fs::remove_file(from.join("model.toml")).unwrap();
    let cls = r#"{"pooling_mode_cls_token": true}"#;
    std::fs::write(from.join("1_Pooling/config.json"), cls).unwrap();
    std::fs::write(
        from.join("sentence_bert_config.json"),
        r#"{"max_seq_length": 77}"#,
    )
    .unwrap();
    let first = install(&store, "ours", &Source::Folder(from), &Silent).unwrap();
    assert_eq!(
        (first.record.pooling, first.record.max_tokens),
        (Pooling::Cls, 77)
    );
    // The record of a folder counts, if it has one.
    let again = Source::Folder(store.models_dir().join("ours"));
    let second = install(&store, "theirs", &again, &Silent).unwrap();
    assert_eq!(
        (second.record.pooling, second.record.max_tokens),
        (Pooling::Cls, 77)
    );
    assert_eq!(second.record.name, "theirs");
    assert!(store.embedder("theirs").is_ok());
}

struct Silent;

impl Watch for Silent {
    fn phase(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
}
