//! The built-in embedder against the reference that `tools/distil` made, and against odd texts.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::static_table::{MAX_TOKENS, StaticEmbedder};
use super::wordpiece::{Met, tokens};
use super::{EmbedError, Embedder};

const TABLE: &str = "model/static-v1.bin";

fn at(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn lines(name: &str) -> Vec<serde_json::Value> {
    let packed = fs::read(at(&format!("../../tools/distil/{name}"))).expect("it is there");
    let text = zstd::decode_all(&packed[..]).expect("it unpacks");
    let text = String::from_utf8(text).expect("it is text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect()
}

/// Returns the row of an id of the reference, whose vocabulary has unused entries that the table leaves out.
fn row_of(id: u64) -> u32 {
    let row = match id {
        0 => 0,
        100..=103 => id - 99,
        _ => id - 994,
    };
    row as u32
}

fn rows_of(embedder: &StaticEmbedder, text: &str, met: Option<&mut Met>) -> Vec<u32> {
    let mut rows = Vec::new();
    tokens(text, embedder, met, |row| {
        rows.push(row);
        true
    });
    rows
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum::<f32>().sqrt()
}

#[test]
fn the_table_in_the_binary_is_whole() {
    let opened = StaticEmbedder::open(&at(TABLE)).expect("it is whole");
    let embedder = StaticEmbedder::built_in();
    assert_eq!(opened.model(), embedder.model());
    assert_eq!(embedder.dim(), 256);
    // A changed table needs another id: otherwise vectors of both tables would be mixed.
    assert_eq!(embedder.model(), "static-v1-9d47a14b9ceb");
}

#[test]
fn token_ids_are_the_references() {
    let embedder = StaticEmbedder::built_in();
    let lines = lines("tokens.jsonl.zst");
    assert_eq!(lines.len(), 2_000);
    let mut met = Met::default();
    for line in lines {
        let text = line["text"].as_str().expect("a text");
        let ids = line["ids"].as_array().expect("ids");
        let expected: Vec<u32> = ids
            .iter()
            .map(|id| row_of(id.as_u64().expect("an id")))
            .collect();
        assert_eq!(rows_of(&embedder, text, None), expected, "{text:?}");
        // First with the words of other texts remembered, then with all words of this text.
        for _ in 0..2 {
            let rows = rows_of(&embedder, text, Some(&mut met));
            assert_eq!(rows, expected, "{text:?}");
        }
    }
}

#[test]
fn vectors_are_the_references() {
    let embedder = StaticEmbedder::built_in();
    let lines = lines("vectors.jsonl.zst");
    assert_eq!(lines.len(), 50);
    for line in lines {
        let text = line["text"].as_str().expect("a text");
        let vector = embedder.embed_one(text);
        let expected = line["vector"].as_array().expect("a vector");
        assert_eq!(vector.len(), expected.len());
        for (number, expected) in vector.iter().zip(expected) {
            let expected = expected.as_f64().expect("a number") as f32;
            // The reference has five decimals.
            assert!(
                (number - expected).abs() < 6e-6,
                "{text:?}: {number} {expected}"
            );
        }
    }
}

#[test]
fn a_text_without_meaning_is_zero() {
    let embedder = StaticEmbedder::built_in();
    let texts = ["", " \n", "\u{200b}", "\u{1f600}", &"x".repeat(101)];
    for vector in embedder.embed(&texts).expect("it embeds") {
        assert_eq!(vector, [0.0; 256]);
    }
    assert_eq!(
        embedder.embed(&[]).expect("it embeds"),
        Vec::<Vec<f32>>::new()
    );
}

#[test]
fn special_tokens_in_a_text_are_text() {
    let embedder = StaticEmbedder::built_in();
    for text in ["[CLS]", "[UNK]", "[MASK]", "[SEP]", "[PAD]"] {
        let rows = rows_of(&embedder, text, None);
        assert!(rows.len() >= 3 && rows.iter().all(|row| *row > 4), "{text}");
    }
}

#[test]
fn of_a_long_text_so_many_tokens_count() {
    let embedder = StaticEmbedder::built_in();
    let long = "!".repeat(MAX_TOKENS);
    assert_eq!(rows_of(&embedder, &long, None).len(), MAX_TOKENS);
    let longer = format!("{long} and words");
    assert_eq!(embedder.embed_one(&longer), embedder.embed_one(&long));
    assert_ne!(embedder.embed_one(&longer[2..]), embedder.embed_one(&long));
    for unit in [
        "a",
        "ab ",
        "\u{4e16}",
        "\u{301}",
        "e\u{301}",
        "\u{1f600}",
        "##",
        "\0",
        "q\u{ac00}",
    ] {
        let text = unit.repeat((64 << 10) / unit.len());
        let length = length(&embedder.embed_one(&text));
        assert!(
            length == 0.0 || (length - 1.0).abs() < 1e-5,
            "{unit:?}: {length}"
        );
    }
}

#[test]
fn a_damaged_table_is_refused() {
    let whole = fs::read(at(TABLE)).expect("it is there");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("table");
    let open = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("written");
        let error = StaticEmbedder::open(&path).expect_err("it is refused");
        (
            error.to_string().replace(&path.display().to_string(), "T"),
            error,
        )
    };
    let damaged = |bytes: &[u8], expected: &str| {
        let (text, error) = open(bytes);
        assert!(matches!(error, EmbedError::Damaged { .. }), "{error:?}");
        assert_eq!(text, format!("the model T is damaged: {expected}"));
    };
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    for len in [0, 7, 63] {
        damaged(&whole[..len], "it is no table of token vectors");
    }
    damaged(&flipped(0), "it is no table of token vectors");
    for len in [64, whole.len() / 2, whole.len() - 1] {
        damaged(&whole[..len], "its length is not what its header says");
    }
    for at in [12, 16, 20] {
        damaged(&flipped(at), "its length is not what its header says");
    }
    for at in [
        32,
        63,
        64,
        whole.len() / 2,
        whole.len() - 200_000,
        whole.len() - 1,
    ] {
        damaged(&flipped(at), "its hash does not fit");
    }
    let (text, error) = open(&flipped(8));
    assert!(
        matches!(
            error,
            EmbedError::Format {
                found: 0,
                known: 1,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(text, "the model T has format 0, this icm reads format 1");
    fs::remove_file(&path).expect("removed");
    let error = StaticEmbedder::open(&path).expect_err("it is not there");
    assert!(matches!(error, EmbedError::Io { .. }), "{error:?}");
}

/// Tables with a fitting hash and parts that do not fit are refused.
#[test]
fn a_table_that_was_made_wrongly_is_refused() {
    let whole = fs::read(at(TABLE)).expect("it is there");
    let number =
        |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().expect("four bytes")) as usize;
    let (rows, dim) = (number(12), number(16));
    let scales = 64 + rows * dim;
    let (starts, order) = (scales + 4 * rows, scales + 4 * rows + 4 * (rows + 1));
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("table");
    let refused = |at: usize, new: &[u8], expected: &str| {
        let mut bytes = whole.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        let hash = blake3::hash(&bytes[64..]);
        bytes[32..64].copy_from_slice(hash.as_bytes());
        fs::write(&path, bytes).expect("written");
        let error = StaticEmbedder::open(&path)
            .expect_err("it is refused")
            .to_string();
        assert!(error.ends_with(expected), "{error}");
    };
    refused(scales, &f32::NAN.to_le_bytes(), "a row has no finite scale");
    refused(
        starts + 8,
        &[0; 4],
        "its tokens do not lie one after the other",
    );
    refused(
        order - 4,
        &[0xff; 4],
        "its tokens do not lie one after the other",
    );
    refused(
        order,
        &[0xff; 2],
        "the order of its tokens names rows that it has not",
    );
    refused(
        order,
        &whole[order + 2..order + 4],
        "its tokens are not in order",
    );
}

static VOCABULARY: LazyLock<HashMap<Vec<u8>, u32>> = LazyLock::new(|| {
    let embedder = StaticEmbedder::built_in();
    let token = |row: usize| (embedder.token(row).to_vec(), row as u32);
    (0..29_528).map(token).collect()
});

fn strange() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-z#\\[\\]' .\\-]{0,40}",
        "[\u{300}-\u{36f}\u{1100}-\u{11ff}\u{4e00}-\u{4e20}\u{ac00}-\u{ac20}]{0,20}",
        "\\PC{0,20}",
        "[\u{0}-\u{20}\u{7f}-\u{a0}\u{200b}-\u{202f}]{0,10}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_has_length_one_or_none(text in strange()) {
        let embedder = StaticEmbedder::built_in();
        let vector = embedder.embed_one(&text);
        let length = length(&vector);
        let known = rows_of(&embedder, &text, None).iter().any(|row| *row > 4);
        prop_assert!(if known { (length - 1.0).abs() < 1e-5 } else { length == 0.0 }, "{length}");
        prop_assert_eq!(&vector, &embedder.embed(&[&text]).expect("it embeds")[0]);
    }

    #[test]
    fn tokens_are_the_longest_that_fit(word in "[a-z]{1,30}") {
        let embedder = StaticEmbedder::built_in();
        let row_of = |token: &str| VOCABULARY.get(token.as_bytes()).copied();
        let mut expected = Vec::new();
        let mut rest = &word[..];
        while !rest.is_empty() {
            let mark = if expected.is_empty() { "" } else { "##" };
            let longest = (1..=rest.len()).rev().find_map(|len| {
                row_of(&format!("{mark}{}", &rest[..len])).map(|row| (row, len))
            });
            let Some((row, len)) = longest else { break };
            expected.push(row);
            rest = &rest[len..];
        }
        let expected = if rest.is_empty() { expected } else { vec![1] };
        prop_assert_eq!(rows_of(&embedder, &word, None), expected);
    }
}

#[test]
fn words_of_other_languages_are_in_many_pieces() {
    let table = StaticEmbedder::built_in();
    let pieces = |text: &str| table.pieces_per_word(text);
    for text in [
        "Where do invoices live?",
        "the office dog, and: its name",
        "icm_memory_store fails",
    ] {
        assert!(
            pieces(text).is_some_and(|pieces| pieces <= 1.5),
            "{text}: {:?}",
            pieces(text)
        );
    }
    for text in [
        "ใบแจ้งหนี้เก็บไว้ที่ไหน",
        "Где хранятся счета?",
        "发票存在哪里？",
        "أين الفواتير؟",
        "請求書はどこにありますか",
        "🚀",
    ] {
        assert!(
            pieces(text).is_some_and(|pieces| pieces >= 2.0),
            "{text}: {:?}",
            pieces(text)
        );
    }
    assert_eq!(pieces(" ?! "), None);
    // A word that cannot be cut counts as four.
    assert_eq!(pieces("dog 🚀"), Some(2.5));
}
