//! Queries and their hits.

use super::*;

/// A long query keeps only its rarest terms: a word that lost its stem finds documents by its written form.
#[test]
fn promising_texts_have_any_word_of_a_long_query() -> Outcome {
    let others: Vec<String> = (0..40).map(|n| format!("other{n}")).collect();
    let mut texts: Vec<String> = others.clone();
    texts.extend((0..50).map(|n| format!("run number {n}")));
    texts.push("running".to_owned());
    let docs: Vec<_> = (0..).zip(&texts).map(|(n, text)| doc(n, text)).collect();
    let index = index_of(&docs, 2)?;
    let query = format!("running {}", others.join(" "));
    let tail = Tail::default();
    let (_, prepared) = index.prepare(&tail, &ask(&query), ALL)?;
    let found = prepared.promising(200)?;
    assert!(found.iter().any(|found| found.ordinal == 90));
    assert!(
        !found.iter().any(|found| found.ordinal == 60),
        "the stem is among the terms"
    );
    Ok(())
}

#[test]
fn finds_identifiers_scripts_and_dates() -> Outcome {
    let keywords = ["Łódź".to_owned()];
    let docs = [
        doc(
            0,
            "error[E0382] in src/main.rs: use of moved value `snake_case`",
        ),
        doc(
            1,
            "ECONNREFUSED from parseHttpUrl, release v1.2.3, id 3f2a9b1c7d",
        ),
        doc(2, "日本語のテキストを検索する"),
        doc(3, "Le cœur de l'été à Genève, Straße"),
        doc(4, "ёлка стоит в комнатах"),
        doc(5, "ภาษาไทยไม่มีช่องว่าง"),
        doc(6, "اللُّغَة العربية"),
        Doc {
            occurred_at_ms: Some(1_683_504_000_000),
            keywords: &keywords,
            key: Some("deploy-key"),
            topic: "infra/kubernetes",
            raw_excerpt: Some("verbatim"),
            ..doc(7, "x")
        },
    ];
    let index = index_of(&docs, 1)?;
    let check = |query: &str, expect: &[u64]| {
        let found = ordinals(&index, &Tail::new(), &ask(query)).expect("a search");
        assert_eq!(found, expect, "{query}");
    };
    check("E0382", &[0]);
    check("main.rs", &[0]);
    check("/src/main.rs", &[0]);
    check("snakeCase", &[0]);
    check("the snake?", &[0]);
    check("econnrefused", &[1]);
    check("parse url", &[1]);
    check("1.2.3", &[1]);
    check("3F2A9B1C7D", &[1]);
    check("検索", &[2]);
    check("日", &[2]);
    check("coeur geneve", &[3]);
    check("STRASSE", &[3]);
    check("елки", &[4]);
    check("комната", &[4]);
    check("ไทย", &[5]);
    check("اللغة", &[6]);
    check("lodz", &[7]);
    check("kubernetes", &[7]);
    check("deploy", &[7]);
    check("verbatim", &[7]);
    check("May 2023", &[7]);
    check("2023-05-08", &[7]);
    check("\"AND (^ +x:* OR", &[7]);
    check("", &[]);
    check("?!", &[]);
    check("nowhere", &[]);
    Ok(())
}

#[test]
fn question_of_stopwords_alone_is_taken_as_written() -> Outcome {
    let index = index_of(&[doc(0, "to be or not to be"), doc(1, "something else")], 1)?;
    assert_eq!(ordinals(&index, &Tail::new(), &ask("to be?"))?, [0]);
    // Beside a real word they count nothing.
    assert_eq!(
        ordinals(&index, &Tail::new(), &ask("to be something"))?,
        [1]
    );
    Ok(())
}

#[test]
fn matched_words_are_those_of_the_query() -> Outcome {
    let index = index_of(&[doc(0, "the linker failed")], 1)?;
    let answer = index.search(&Tail::new(), &ask("Why did Linkers break?"), &|_| true)?;
    assert_eq!(answer.hits[0].matched, ["Linkers"]);
    assert_eq!(answer.hits[0].stored, b"the linker failed");
    assert_eq!(answer.searched_docs, 1);
    assert_eq!(answer.terms[0].doc_freq, 1);
    Ok(())
}

#[test]
fn overlong_texts_and_queries_are_bounded() -> Outcome {
    let unbroken = "a1b2".repeat(16 * 1024);
    let path = "x/".repeat(32 * 1024);
    let words: String = (0..20_000).map(|n| format!("w{n} ")).collect();
    let topic = "deep/".repeat(5_000);
    let docs = [
        doc(0, &unbroken),
        doc(1, &path),
        doc(2, &words),
        Doc {
            topic: &topic,
            ..doc(3, "deep")
        },
    ];
    let index = index_of(&docs, 1)?;
    assert_eq!(ordinals(&index, &Tail::new(), &ask(&unbroken))?, [0]);
    assert_eq!(ordinals(&index, &Tail::new(), &ask(&words))?, [2]);
    let query = TextQuery {
        filter: TextFilter {
            topic: Some(&topic),
            ..TextFilter::default()
        },
        ..ask("deep")
    };
    assert_eq!(ordinals(&index, &Tail::new(), &query)?, [3]);
    Ok(())
}

/// Looked-up documents have the score that a search gives them, in files and tail alike.
#[test]
fn a_document_that_is_named_has_the_score_of_one_that_is_found() {
    let texts: Vec<String> = (0..60)
        .map(|n| match n % 3 {
            0 => format!("Ada: tea number {n}"),
            1 => format!("Bo: coffee with E0382, {n}"),
            _ => format!("nothing of interest, {n}"),
        })
        .collect();
    let doc = |n: usize| Doc {
        ordinal: n as u64,
        content: &texts[n],
        topic: ["a", "a/b", "c"][n % 3],
        ..Doc::default()
    };
    let mut index = TextIndex::in_memory().expect("made");
    for part in [0..20, 20..40] {
        let mut writer = index.writer().expect("begun");
        part.for_each(|n| writer.add_live(&doc(n)));
        writer.commit("x").expect("written");
        index.reload().expect("read");
    }
    let mut tail = Tail::new();
    (40..60).for_each(|n| tail.add(&doc(n)));
    let query = TextQuery {
        text: "Ada's tea and E0382",
        filter: TextFilter {
            topic: Some("a/"),
            ..TextFilter::default()
        },
        ..TextQuery::default()
    };
    let (_, prepared) = index.prepare(&tail, &query, ALL).expect("read");
    let mut found = prepared.best(100).expect("searched");
    assert_eq!(found.len(), 40);
    let ordinals: Vec<u64> = (0..60).rev().collect();
    let named = prepared.score(&ordinals).expect("scored");
    assert_eq!(named.len(), 60, "those without a match, too");
    let by_ordinal = |found: &Found| (found.ordinal, found.scored.score, found.scored.matched);
    let scores: Vec<_> = named.iter().map(by_ordinal).collect();
    for found in &found {
        assert!(scores.contains(&by_ordinal(found)), "{found:?}");
    }
    found.extend(&named[40..]);
    let speaks = prepared.speakers(&found).expect("read");
    for (found, speaks) in found.iter().zip(speaks) {
        assert_eq!(speaks, found.ordinal % 3 == 0, "{found:?}");
        // Half of all documents have the word: it is not rare.
        assert!(!prepared.has_identifier(found));
    }
    let allowed = prepared.allowed().expect("read").expect("a filter");
    let expected: Vec<u64> = (0..60).filter(|n| n % 3 != 2).collect();
    assert_eq!(allowed, expected);
}
