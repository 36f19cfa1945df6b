//! Texts and their terms.

use super::characters::TERM_LEN_MAX;
use super::question::query_terms;
use super::terms::{DocTerms, Terms, TextField, index_date, index_terms};
use super::token::{chunk_len, plain_word_len};
use super::{fold, has_prose, is_identifier, word_places};

fn spaced(terms: &Terms) -> String {
    terms.lines.replace('\n', " ")
}

/// Compares a document's terms with `body | exact`.
fn check(text: &str, expect: &str) {
    let mut terms = DocTerms::default();
    index_terms(text, &mut terms);
    let found = format!("{} | {}", spaced(&terms.body), spaced(&terms.exact));
    assert_eq!(found, expect, "{text}");
}

#[test]
fn words_are_placed_as_a_search_finds_them() {
    for (query, text, expect) in [
        (
            "which linkers fail",
            "The Linker failed, linker!",
            ["Linker", "failed", "linker"].as_slice(),
        ),
        (
            "main.rs",
            "see src/main.rs: main",
            &["main.rs", "main", "rs", "main"],
        ),
        ("préférence", "Ma PRÉFÉRENCE est", &["PRÉFÉRENCE"]),
        ("数据库", "我们的数据库很慢", &["数据", "据库"]),
        ("the of", "the end of the log", &["the", "of", "the"]),
        ("nothing", "here", &[]),
    ] {
        let places = word_places(query, text);
        let mut found: Vec<&str> = Vec::new();
        let mut last = None;
        for (range, _) in &places {
            if last.replace(range.clone()) != Some(range.clone()) {
                found.push(&text[range.clone()]);
            }
        }
        assert_eq!(found, expect, "{query} in {text}");
        assert!(places.is_sorted_by_key(|(range, _)| range.start), "{query}");
    }
}

/// Compares a query's terms, marking terms of the exact field with `=`.
fn check_query(text: &str, expect: &str) {
    let found = query_terms(text, 100)
        .into_iter()
        .map(|term| match term.field {
            TextField::Body => term.term,
            TextField::Exact => format!("={}", term.term),
        });
    assert_eq!(found.collect::<Vec<_>>().join(" "), expect, "{text}");
}

#[test]
fn control_sequences_of_terminals_part_words() {
    check("\u{1b}[31mred\u{1b}[0m alert", "red alert | red alert");
    check("\u{1b}[1;31merror\u{1b}[m: \u{1b}x", "error x | error x");
    check("\u{1b}[", " | ");
}

#[test]
fn a_plain_word_is_a_chunk_of_its_own() {
    let signs: Vec<char> = "aab  Z1_-.:/#+',;)é字\u{301}".chars().collect();
    let mut state = 1_u64;
    let mut plain = 0;
    for _ in 0..20_000 {
        let text: String = (0..6)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                signs[(state >> 33) as usize % signs.len()]
            })
            .collect();
        if let Some(len) = plain_word_len(&text) {
            plain += 1;
            assert_eq!(chunk_len(&text), len, "{text:?}");
            assert!(
                text[..len].bytes().all(|byte| byte.is_ascii_lowercase()),
                "{text:?}"
            );
            assert!(len > 1, "a sign may belong to a single letter: {text:?}");
        }
    }
    assert!(plain > 40, "{plain}");
    let long = "a".repeat(TERM_LEN_MAX + 9);
    check(&long, &format!("{0} | {0}", &long[..TERM_LEN_MAX]));
}

#[test]
fn words() {
    check("The linkers failed.", "linker fail | the linkers failed");
    check(
        "Caroline's kids' don't!",
        "carolin kid | caroline kids dont",
    );
    check("rock'n'roll", "rock n roll | rocknroll rock n roll");
    check("yes -- no, and...", "yes | yes no and");
    check("", " | ");
}

#[test]
fn identifiers() {
    check("snake_case", "snake case | snakecase snake case");
    check("HTTPServer", "httpserver http server | httpserver");
    check("wi-fi", "wi fi | wifi wi fi");
    check(
        "src/main.rs",
        "src main rs | src/main.rs src main.rs main rs",
    );
    check(
        "std::io::Error",
        "std io error | std::io::error std io error",
    );
    check("error[E0382]", "error e0382 0382 | error e0382");
    check("ECONNREFUSED", "econnrefus | econnrefused");
    check("v1.2.3", "v1 2 3 | v1.2.3 1.2.3 v1 2 3");
    check("3f2a9b1c7d", "3f2a9b1c7d | 3f2a9b1c7d");
    check("12ab34cd56ef78", "12ab34cd56ef78 | 12ab34cd56ef78");
    check("C++ and C#", "c c | c++ c and c# c");
    check(
        "https://a.io/x",
        "https io x | https://a.io/x https a.io a io x",
    );
}

#[test]
fn folding() {
    check(
        "Éclair œuvre Straße",
        "eclair oeuvr strass | eclair oeuvre strasse",
    );
    check("Ｒｕｓｔ ﬁle", "rust file | rust file");
    check("İstanbul Łódź", "istanbul lodz | istanbul lodz");
    check("ёж йод", "еж йод | еж йод");
    check("اللُّغَة", "اللغ | اللغة");
    assert_eq!(fold(&"é".repeat(100)).len(), TERM_LEN_MAX);
    assert_eq!(fold(&"ж".repeat(100)).len(), TERM_LEN_MAX);
}

#[test]
fn scripts_without_spaces() {
    check("日本語", "日 日本 本 本語 語 | ");
    check("Rust言語", "rust 言 言語 語 | rust");
    check("ไทย", "ไท ทย | ");
    check("ガ ｶﾞ", "ガ ガ | ");
    check_query("日本語", "日本 本語");
    check_query("語", "語");
}

#[test]
fn emoji_are_words() {
    check("🚀🔥launch❤\u{FE0F}", "🚀 🔥 launch ❤ | 🚀 🔥 launch ❤");
    check("👩🏽\u{200D}💻", "👩💻 👩 💻 | 👩💻");
    check("🇩🇪🇫🇷", "🇩🇪 🇫🇷 | 🇩🇪 🇫🇷");
    check("a → b ©", "b | a b");
    check_query("the 👍🏿", "👍 =👍");
}

#[test]
fn queries() {
    check_query("When did the linkers fail?", "linker =linkers fail =fail");
    check_query("fail fails", "fail =fail =fails");
    check_query("who are you", "=who =are =you");
    check_query("main.rs", "=main.rs main =main rs =rs");
    check_query("+\"* (^~", "");
}

#[test]
fn days() {
    let check = |at_ms: i64, expect: &str| {
        let mut terms = DocTerms::default();
        index_date(at_ms, &mut terms);
        assert_eq!(spaced(&terms.exact), expect);
    };
    check(1_683_554_160_000, "8 may 2023 20230508");
    check(0, "1 january 1970 19700101");
    check(-1, "31 december 1969 19691231");
    check(951_782_400_000, "29 february 2000 20000229");
    check(i64::MAX, "17 august 292278994 2922789940817");
    check(i64::MIN, "16 may 292275055 -2922750550516");
}

#[test]
fn a_text_of_numbers_and_identifiers_is_no_prose() {
    for text in ["8081", "E0382", "src/main.rs 42", "v2.3, (#17)", ""] {
        assert!(!has_prose(text), "{text}");
    }
    for text in ["pets.", "error E0382", "\"dog\"?", "собака 7", "犬"] {
        assert!(has_prose(text), "{text}");
    }
}

#[test]
fn identifiers_are_told_from_prose() {
    for word in [
        "E0382",
        "src/main.rs",
        "snake_case",
        "camelCase",
        "PAY-1234",
        "std::fs",
        "48213",
    ] {
        assert!(is_identifier(word), "{word}");
    }
    for word in ["invoices", "Ada", "wi-fi", "2023", "HTTP", "don't", "кошка"] {
        assert!(!is_identifier(word), "{word}");
    }
}
