//! The view as a whole: tiers, tail, filters, commits.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, META_LOCK, RamDirectory, WatchCallback,
    WatchHandle, WritePtr,
};

use super::analyze::{DocTerms, index_terms, is_identifier, query_terms};
use super::folder::Folder;
use super::near::COMPARED_MAX;
use super::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Everything is seen, the older one first.
const ALL: Sight<'static> = Sight {
    visible: &|_| true,
    tie: &|ordinal| ordinal as u128,
};

fn doc(ordinal: u64, content: &str) -> Doc<'_> {
    Doc {
        ordinal,
        content,
        topic: "topic",
        scope: "global",
        stored: content.as_bytes(),
        ..Doc::default()
    }
}

fn ask(text: &str) -> TextQuery<'_> {
    TextQuery {
        text,
        limit: 10,
        ..TextQuery::default()
    }
}

/// An index of these documents, committed as often as told.
fn index_of(docs: &[Doc<'_>], commits: usize) -> Result<TextIndex, TextError> {
    let mut index = TextIndex::in_memory()?;
    for chunk in docs.chunks(docs.len().div_ceil(commits).max(1)) {
        let mut writer = index.writer()?;
        for doc in chunk {
            writer.add_live(doc);
        }
        writer.commit("test")?;
        index.reload()?;
    }
    Ok(index)
}

fn ordinals(index: &TextIndex, tail: &Tail, query: &TextQuery<'_>) -> Result<Vec<u64>, TextError> {
    let answer = index.search(tail, query, &|_| true)?;
    Ok(answer.hits.iter().map(|hit| hit.ordinal).collect())
}

/// Of a long query only the rarest terms are kept: a word that lost its stem there finds as it was written.
#[test]
fn what_is_promising_has_any_word_of_a_long_query() -> Outcome {
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
    // Beside a real word they count for nothing.
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
fn filters_do_not_starve() -> Outcome {
    let rare = ["Rare".to_owned()];
    let text: Vec<String> = (0..3000).map(|n| format!("apple apple {n}")).collect();
    let docs: Vec<Doc<'_>> = (0..3000_u64)
        .map(|n| {
            let content = text[n as usize].as_str();
            let (topic, scope) = match n % 100 {
                7 => ("a/b", "project"),
                8 => ("a", "global"),
                9 => ("ab", "global"),
                _ => ("z", if n % 2 == 0 { "global" } else { "project" }),
            };
            // What the filters let through is longer, so it would rank below the rest.
            let content = if topic == "z" {
                content
            } else {
                "apple and much more besides of it"
            };
            let keywords = if n == 2107 { &rare[..] } else { &[] };
            Doc {
                topic,
                scope,
                keywords,
                ..doc(n, content)
            }
        })
        .collect();
    let index = index_of(&docs[..2500], 3)?;
    let mut tail = Tail::new();
    docs[2500..].iter().for_each(|doc| tail.add(doc));
    let check = |filter: TextFilter<'_>, wanted: &dyn Fn(u64) -> bool| {
        let query = TextQuery {
            limit: 3000,
            filter,
            ..ask("apple")
        };
        let found = ordinals(&index, &tail, &query).expect("a search");
        let found: BTreeSet<u64> = found.into_iter().collect();
        let expect: BTreeSet<u64> = (0..3000).filter(|&n| wanted(n)).collect();
        assert_eq!(found, expect, "{filter:?}");
        let query = TextQuery {
            limit: 5,
            filter,
            ..ask("apple")
        };
        let first = ordinals(&index, &tail, &query).expect("a search");
        assert_eq!(first.len(), expect.len().min(5), "{filter:?}");
    };
    let all = TextFilter::default();
    let topic = |topic| TextFilter {
        topic: Some(topic),
        ..all
    };
    check(all, &|_| true);
    check(topic("a/"), &|n| [7, 8].contains(&(n % 100)));
    check(topic("a"), &|n| n % 100 == 8);
    check(topic("a/b"), &|n| n % 100 == 7);
    check(topic("z"), &|n| ![7, 8, 9].contains(&(n % 100)));
    check(
        TextFilter {
            scopes: &[InScope::Is("project")],
            ..all
        },
        &|n| n % 2 == 1 && n % 100 != 9,
    );
    check(
        TextFilter {
            scopes: &[InScope::Is("project")],
            ..topic("a/")
        },
        &|n| n % 100 == 7,
    );
    check(
        TextFilter {
            keyword: Some("rare"),
            ..all
        },
        &|n| n == 2107,
    );
    check(topic("nowhere"), &|_| false);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_search_of_scopes_finds_all_of_theirs_and_nothing_else(
        of in prop::collection::vec(0..SCOPES.len(), 1..40),
        asked in prop::collection::vec((0..SCOPES.len(), any::<bool>()), 1..5),
        filed in 0..40_usize,
    ) {
        let docs: Vec<Doc<'_>> = (0..).zip(&of)
            .map(|(n, scope)| Doc { scope: SCOPES[*scope], ..doc(n, "apple") })
            .collect();
        let (filed, rest) = docs.split_at(filed.min(docs.len()));
        let index = index_of(filed, 2)?;
        let mut tail = Tail::new();
        rest.iter().for_each(|doc| tail.add(doc));
        let scopes: Vec<InScope<'_>> = asked.into_iter()
            .map(|(scope, under)| match under && SCOPES[scope].starts_with("session:") {
                true => InScope::Under(SCOPES[scope]),
                false => InScope::Is(SCOPES[scope]),
            })
            .collect();
        let query = TextQuery {
            filter: TextFilter { scopes: &scopes, ..TextFilter::default() },
            limit: docs.len(),
            ..ask("apple")
        };
        let found: BTreeSet<u64> = ordinals(&index, &tail, &query)?.into_iter().collect();
        let holds = |at: usize| scopes.iter().any(|scope| scope.holds(SCOPES[of[at]]));
        let expect: BTreeSet<u64> =
            (0..of.len()).filter(|at| holds(*at)).map(|at| at as u64).collect();
        prop_assert_eq!(&found, &expect);

        let (_, prepared) = index.prepare(&tail, &query, ALL)?;
        let allowed = prepared.allowed()?;
        let allowed = allowed.unwrap_or_else(|| (0..of.len() as u64).collect());
        prop_assert_eq!(allowed.into_iter().collect::<BTreeSet<_>>(), expect);
    }
}

const SCOPES: [&str; 9] = [
    "global",
    "project:a",
    "project:a/b",
    "project:ab",
    "session:a",
    "session:a/b",
    "session:a/b/c",
    "session:ab",
    "session:ab/b",
];

#[test]
fn closed_versions_are_history() -> Outcome {
    let mut index = index_of(&[doc(0, "the port is 80"), doc(1, "other")], 1)?;
    let mut writer = index.writer()?;
    writer.close(&doc(0, "the port is 80"));
    writer.add_live(&doc(2, "the port is 8080"));
    writer.commit("two")?;
    index.reload()?;
    let history = TextQuery {
        history: true,
        ..ask("port")
    };
    assert_eq!(ordinals(&index, &Tail::new(), &ask("port"))?, [2]);
    let both = ordinals(&index, &Tail::new(), &history)?;
    assert_eq!(BTreeSet::from_iter(both), BTreeSet::from([0, 2]));
    let as_of = index.search(&Tail::new(), &history, &|ordinal| ordinal < 2)?;
    assert_eq!(as_of.hits.len(), 1);
    assert_eq!(as_of.hits[0].ordinal, 0);
    assert_eq!(
        index.ordinals()?,
        (BTreeSet::from([1, 2]), BTreeSet::from([0]))
    );

    let mut writer = index.writer()?;
    writer.remove(0);
    writer.close(&doc(1, "other"));
    writer.close(&doc(2, "the port is 8080"));
    writer.commit("three")?;
    index.reload()?;
    assert_eq!((index.live_docs(), index.closed_docs()), (0, 2));
    assert_eq!(ordinals(&index, &Tail::new(), &history)?, [2]);
    Ok(())
}

#[test]
fn adding_again_changes_nothing() -> Outcome {
    let mut index = index_of(&[doc(0, "apple"), doc(1, "pear")], 1)?;
    let mut writer = index.writer()?;
    writer.add_live(&doc(0, "apple"));
    writer.close(&doc(1, "pear"));
    writer.add_live(&doc(2, "plum"));
    writer.commit("again")?;
    index.reload()?;
    let tokens = index.tokens();
    let mut writer = index.writer()?;
    writer.close(&doc(1, "pear"));
    writer.add_live(&doc(2, "plum"));
    writer.commit("and again")?;
    index.reload()?;
    assert_eq!(index.tokens(), tokens);
    assert_eq!((index.live_docs(), index.closed_docs()), (2, 1));
    let mut tail = Tail::new();
    tail.add(&doc(2, "plum"));
    assert_eq!(ordinals(&index, &tail, &ask("plum"))?, [2]);
    Ok(())
}

#[test]
fn commits_survive_reopening_and_torn_ones_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("text");
    let index = TextIndex::create(&dir)?;
    assert_eq!(index.checkpoint(), None);
    let mut writer = index.writer()?;
    writer.add_live(&doc(0, "apple"));
    writer.add_closed(&doc(1, "pear"));
    assert!(matches!(index.writer(), Err(TextError::Busy)));
    writer.commit("@2\nid")?;
    // The index has not seen it yet.
    assert!(matches!(index.writer(), Err(TextError::Busy)));
    assert_eq!(index.checkpoint(), None);

    let mut index = TextIndex::open(&dir)?;
    assert_eq!(index.checkpoint(), Some("@2\nid"));
    let files = index.validate()?;
    assert!(files >= 10, "{files}");
    let other = TextIndex::open(&dir)?;
    let mut writer = other.writer()?;
    writer.add_live(&doc(2, "apple pie"));
    drop(writer);
    let mut writer = other.writer()?;
    writer.add_live(&doc(3, "apple cake"));
    writer.commit("@3")?;
    index.reload()?;
    assert_eq!(index.checkpoint(), Some("@3"));
    assert_eq!(ordinals(&index, &Tail::new(), &ask("apple"))?, [0, 3]);
    assert!(TextIndex::create(&dir).is_err());

    // As if one tier had been committed and not the other.
    let before = std::fs::read(dir.join("closed/meta.json"))?;
    let mut writer = index.writer()?;
    writer.close(&doc(0, "apple"));
    writer.commit("@4")?;
    let after = std::fs::read(dir.join("closed/meta.json"))?;
    std::fs::write(dir.join("closed/meta.json"), before)?;
    assert!(matches!(TextIndex::open(&dir), Err(TextError::Torn)));
    std::fs::write(dir.join("closed/meta.json"), after)?;
    assert_eq!(TextIndex::open(&dir)?.checkpoint(), Some("@4"));
    assert!(TextIndex::open(&folder.path().join("absent")).is_err());
    Ok(())
}

#[test]
fn damage_and_other_formats_are_found() -> Outcome {
    let folder = tempfile::tempdir()?;
    let dir = folder.path();
    let index = TextIndex::create(dir)?;
    let mut writer = index.writer()?;
    writer.add_live(&doc(0, "apple"));
    writer.commit("@1")?;
    let index = TextIndex::open(dir)?;
    let mut seen = 0;
    for entry in std::fs::read_dir(dir.join("live"))? {
        let path = entry?.path();
        let name = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default()
            .to_owned();
        if !["idx", "term", "store", "fast", "fieldnorm"].contains(&name.as_str()) {
            continue;
        }
        let good = std::fs::read(&path)?;
        let mut bad = good.clone();
        bad[good.len() / 3] ^= 0x10;
        std::fs::write(&path, &bad)?;
        assert!(matches!(index_damage(dir), Damage::Found), "{name}");
        std::fs::write(&path, &good[..good.len() / 2])?;
        assert!(matches!(index_damage(dir), Damage::Found), "{name} cut");
        std::fs::remove_file(&path)?;
        assert!(matches!(index_damage(dir), Damage::Found), "{name} gone");
        std::fs::write(&path, &good)?;
        seen += 1;
    }
    assert_eq!(seen, 5);
    assert!(matches!(index_damage(dir), Damage::None));
    drop(index);

    let meta = dir.join("live/meta.json");
    let text = std::fs::read_to_string(&meta)?;
    let payload = format!("icm-text {} ", schema::VERSION);
    assert!(text.contains(&payload));
    std::fs::write(&meta, text.replace(&payload, "icm-text 0 "))?;
    assert!(matches!(
        TextIndex::open(dir),
        Err(TextError::Format { .. })
    ));
    std::fs::write(&meta, text.replace("\"exact\"", "\"extra\""))?;
    assert!(matches!(
        TextIndex::open(dir),
        Err(TextError::Format { .. })
    ));
    std::fs::write(&meta, "{")?;
    assert!(matches!(TextIndex::open(dir), Err(TextError::Index { .. })));
    Ok(())
}

enum Damage {
    None,
    Found,
}

/// Opens and validates; a panic in a damaged index is what the caller's guard is for.
fn index_damage(dir: &Path) -> Damage {
    let outcome = std::panic::catch_unwind(|| TextIndex::open(dir)?.validate());
    match outcome {
        Ok(Ok(_)) => Damage::None,
        _ => Damage::Found,
    }
}

#[test]
fn reading_needs_no_lock_file() -> Outcome {
    let inner = RamDirectory::create();
    let denied = Folder::of(Denying(inner.clone()));
    assert!(denied.acquire_lock(&META_LOCK).is_ok());
    assert!(Denying(inner).acquire_lock(&META_LOCK).is_err());
    let writer_lock = &tantivy::directory::INDEX_WRITER_LOCK;
    assert!(denied.acquire_lock(writer_lock).is_err());
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

/// Words with very different frequencies, a stopword, an identifier and a pair of kanji.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => Just("apple"), 4 => Just("pears"), 3 => Just("the"), 2 => Just("main.rs"),
        1 => Just("plum"), 1 => Just("検索"), 1 => Just("walking"), 1 => Just("walk"),
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

/// Whether a document is a match, by looking at its terms one by one.
fn naive_match(content: &str, query: &str) -> bool {
    let mut terms = DocTerms::default();
    index_terms(content, &mut terms);
    query_terms(query, 100).iter().any(|term| match term.field {
        analyze::TextField::Body => terms.body.iter().any(|found| found == term.term),
        analyze::TextField::Exact => terms.exact.iter().any(|found| found == term.term),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is where: the matches are those of a scan.
    #[test]
    fn matches_are_those_of_a_scan(
        contents in prop::collection::vec((any_text(), prop::bool::weighted(0.1), any::<bool>()), 1..60),
        query in any_text(),
        commits in 1..4_usize,
        in_tail in 0..20_usize,
        history in any::<bool>(),
    ) {
        let docs: Vec<Doc<'_>> = contents.iter().enumerate()
            .map(|(n, (content, ..))| Doc { topic: "", ..doc(n as u64, content) }).collect();
        let (indexed, tailed) = docs.split_at(docs.len().saturating_sub(in_tail));
        let mut index = index_of(indexed, commits)?;
        let mut writer = index.writer()?;
        for (doc, (_, closed, _)) in indexed.iter().zip(&contents) {
            if *closed { writer.close(doc) }
        }
        writer.commit("closed")?;
        index.reload()?;
        let mut tail = Tail::new();
        tailed.iter().for_each(|doc| tail.add(doc));
        let visible = |ordinal: u64| contents[ordinal as usize].2;
        let is_closed = |ordinal: usize| ordinal < indexed.len() && contents[ordinal].1;

        let query = TextQuery { limit: 100, history, ..ask(&query) };
        let answer = index.search(&tail, &query, &visible)?;
        let found: BTreeSet<u64> = answer.hits.iter().map(|hit| hit.ordinal).collect();
        let expect: BTreeSet<u64> = contents.iter().enumerate()
            .filter(|(n, (content, _, seen))| {
                *seen && (history || !is_closed(*n)) && naive_match(content, query.text)
            })
            .map(|(n, _)| n as u64).collect();
        prop_assert_eq!(found, expect);
        for hit in &answer.hits {
            prop_assert_eq!(&hit.stored[..], contents[hit.ordinal as usize].0.as_bytes());
        }
        let few = index.search(&tail, &TextQuery { limit: 3, ..query }, &visible)?;
        prop_assert_eq!(&few.hits[..], &answer.hits[..answer.hits.len().min(3)]);
    }

    /// The tail, one segment or several: one order and one score.
    #[test]
    fn order_does_not_depend_on_where_documents_are(
        contents in prop::collection::vec(any_text(), 1..80),
        query in any_text(),
        commits in 1..5_usize,
        split in 0..80_usize,
    ) {
        let docs: Vec<Doc<'_>> = contents.iter().enumerate()
            .map(|(n, content)| doc(n as u64, content)).collect();
        let query = TextQuery { limit: 20, ..ask(&query) };
        let hits = |indexed: &[Doc<'_>], commits: usize, tailed: &[Doc<'_>]| -> Result<Vec<Hit>, TextError> {
            let mut tail = Tail::new();
            tailed.iter().for_each(|doc| tail.add(doc));
            Ok(index_of(indexed, commits)?.search(&tail, &query, &|_| true)?.hits)
        };
        let one_segment = hits(&docs, 1, &[])?;
        let (indexed, tailed) = docs.split_at(split.min(docs.len()));
        prop_assert_eq!(&hits(&docs, commits, &[])?, &one_segment);
        prop_assert_eq!(&hits(indexed, commits, tailed)?, &one_segment);
        prop_assert_eq!(&hits(&[], 1, &docs)?, &one_segment);
    }

    /// Closed in the tail, in a file, in both tiers or in a build from nothing: what no longer
    /// holds has no say in a score.
    #[test]
    fn scores_are_of_what_holds(
        versions in prop::collection::vec((any_text(), 0..5_usize), 1..60),
        query in any_text(),
    ) {
        // A version is learned in one of three steps and closed in the same or a later one.
        const STEPS: usize = 3;
        let third = versions.len().div_ceil(STEPS);
        let docs: Vec<Doc<'_>> = versions.iter().enumerate()
            .map(|(n, (content, _))| doc(n as u64, content)).collect();
        let born = |n: usize| n / third;
        let closed = |n: usize| Some(versions[n].1).filter(|step| *step < STEPS)
            .map(|step| step.max(born(n)));
        let query = TextQuery { limit: 100, history: true, ..ask(&query) };
        let hits = |commits: usize| -> Result<Vec<Hit>, TextError> {
            let mut index = TextIndex::in_memory()?;
            for step in 0..commits {
                let mut writer = index.writer()?;
                for (n, doc) in docs.iter().enumerate() {
                    match (born(n), closed(n)) {
                        (then, Some(end)) if then == step && end == step => writer.add_closed(doc),
                        (then, _) if then == step => writer.add_live(doc),
                        (then, Some(end)) if then < step && end == step => writer.close(doc),
                        _ => {}
                    }
                }
                writer.commit("step")?;
                index.reload()?;
            }
            let mut tail = Tail::new();
            for (n, doc) in docs.iter().enumerate() {
                if born(n) >= commits {
                    tail.add(doc);
                }
                if closed(n).is_some_and(|end| end >= commits) {
                    tail.close(&index, n as u64)?;
                }
            }
            Ok(index.search(&tail, &query, &|_| true)?.hits)
        };
        let mut index = TextIndex::in_memory()?;
        let mut writer = index.build_writer()?;
        for (n, doc) in docs.iter().enumerate() {
            match closed(n) {
                None => writer.add_live(doc),
                Some(_) => writer.add_closed(doc),
            }
        }
        writer.commit("all")?;
        index.reload()?;
        let built = index.search(&Tail::new(), &query, &|_| true)?.hits;
        for commits in 0..=STEPS {
            prop_assert_eq!(&hits(commits)?, &built, "{} commits", commits);
        }
    }

    /// Any text can be indexed and asked for.
    #[test]
    fn any_text_finds_itself(text in "\\PC{0,40}|[a-zA-Z0-9_.:/' ёйЖא-תกข่าが日é\u{300}\u{200d}-]{0,40}") {
        let mut terms = DocTerms::default();
        index_terms(&text, &mut terms);
        prop_assert!(terms.body.iter().chain(terms.exact.iter()).all(|term| term.len() <= 72));
        prop_assert_eq!(naive_match(&text, &text), !query_terms(&text, 100).is_empty());
    }
}

/// Compares an index with a tail of the same documents, which is scanned.
fn check_pruning(docs: &[Doc<'_>], limit: usize, queries: &[&str]) -> Outcome {
    let index = index_of(docs, 2)?;
    let mut tail = Tail::new();
    docs.iter().for_each(|doc| tail.add(doc));
    let empty = TextIndex::in_memory()?;
    let all = |_: u64| true;
    let few = |ordinal: u64| ordinal % 7 == 3;
    for query in queries {
        let query = TextQuery {
            limit,
            ..ask(query)
        };
        for visible in [&all as &dyn Fn(u64) -> bool, &few] {
            let pruned = index.search(&Tail::new(), &query, visible)?;
            let scanned = empty.search(&tail, &query, visible)?;
            assert_eq!(pruned.hits.len(), limit);
            assert_eq!(pruned.hits, scanned.hits, "{query:?}");
        }
    }
    Ok(())
}

/// Blocks only begin with a few hundred documents. Many of these score the same, and the
/// better ordinals come late.
#[test]
fn pruning_loses_nothing() -> Outcome {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let contents: Vec<String> = (0..6_000_u64)
        .map(|n| {
            let words = (0..if n < 3_000 {
                1 + random(6)
            } else {
                20 + random(60)
            })
                .map(|_| match random(40) {
                    0..=7 => "apple".to_owned(),
                    8..=10 => "pear".to_owned(),
                    11 => "plum".to_owned(),
                    _ => format!("filler{}", random(500)),
                });
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let docs: Vec<Doc<'_>> = (0_u64..)
        .zip(&contents)
        .map(|(n, content)| doc((n + 3_000) % 6_000, content))
        .collect();
    let queries = [
        "apple",
        "apple pear",
        "plum pear apple",
        "plum filler7",
        "pear filler3 filler9",
    ];
    check_pruning(&docs, 1, &queries)?;
    check_pruning(&docs, 10, &queries)?;
    check_pruning(&docs, 60, &["apple", "apple pear"])
}

#[test]
fn equal_scores_go_by_ordinal() -> Outcome {
    let halves = (250..500).chain(0..250);
    let docs: Vec<Doc<'_>> = halves.map(|n| doc(n, "apple")).collect();
    let query = TextQuery {
        limit: 3,
        ..ask("apple")
    };
    for commits in [2, 4] {
        let index = index_of(&docs, commits)?;
        assert_eq!(ordinals(&index, &Tail::new(), &query)?, [0, 1, 2]);
    }
    Ok(())
}

/// A segment of long documents beside one of short ones: the document that is best in a
/// block by the segment's average length is not the best by the collection's.
#[test]
fn pruning_allows_for_other_average_lengths() -> Outcome {
    let contents: Vec<String> = (0..1_280)
        .map(|n| match n % 128 {
            5 => format!("{}{}", "apple ".repeat(40), "filler ".repeat(360)),
            20..30 => format!(
                "{}{}",
                "apple ".repeat(1 + n / 400),
                "filler ".repeat(9 - n / 400)
            ),
            _ => format!("apple {}", "filler ".repeat(150)),
        })
        .collect();
    let mut docs: Vec<Doc<'_>> = (0..30_000)
        .map(|n| Doc {
            topic: "",
            ..doc(n, "x")
        })
        .collect();
    docs.extend(
        (30_000..)
            .zip(&contents)
            .map(|(n, content)| doc(n, content)),
    );
    let mut index = index_of(&docs[..30_000], 1)?;
    let mut writer = index.writer()?;
    docs[30_000..].iter().for_each(|doc| writer.add_live(doc));
    writer.commit("long ones")?;
    index.reload()?;
    let mut tail = Tail::new();
    docs.iter().for_each(|doc| tail.add(doc));
    let query = TextQuery {
        limit: 3,
        ..ask("apple")
    };
    let scanned = TextIndex::in_memory()?.search(&tail, &query, &|_| true)?;
    let pruned = index.search(&Tail::new(), &query, &|_| true)?;
    assert_eq!(pruned.hits, scanned.hits);
    assert_eq!(scanned.hits[0].ordinal, 30_916);
    Ok(())
}

/// A directory on which nothing can be made.
#[derive(Debug, Clone)]
struct Denying(RamDirectory);

impl Directory for Denying {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }
    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }
    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }
    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(denied(), path.to_owned()))
    }
    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }
    fn atomic_write(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(denied())
    }
    fn sync_directory(&self) -> io::Result<()> {
        Err(denied())
    }
    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Err(LockError::wrap_io_error(denied()))
    }
    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

fn denied() -> io::Error {
    io::ErrorKind::ReadOnlyFilesystem.into()
}

/// Whether somebody searched before a document came, or was closed, or only afterwards.
#[test]
fn it_does_not_matter_when_a_tail_is_analysed() -> Outcome {
    let texts: Vec<String> = (0..40)
        .map(|n| format!("run {n} of the linker {}", "again ".repeat(n % 5)))
        .collect();
    let docs: Vec<_> = (0..).zip(&texts).map(|(n, text)| doc(n, text)).collect();
    let index = index_of(&docs[..10], 2)?;
    let answer = |at_once: bool| -> Result<TextAnswer, TextError> {
        let mut tail = Tail::new();
        for doc in &docs[10..] {
            tail.add(doc);
            if at_once {
                while tail.analyse(1) {}
            }
            for closed in [doc.ordinal - 10, doc.ordinal] {
                if closed % 3 == 0 {
                    tail.close(&index, closed)?;
                }
            }
        }
        index.search(&tail, &ask("linker again"), &|ordinal| ordinal % 3 != 0)
    };
    let (late, early) = (answer(false)?, answer(true)?);
    assert_eq!(late, early);
    assert_eq!(late.hits.len(), 10);
    Ok(())
}

/// By all that their topic has, or by their words.
#[test]
fn near_texts_are_found_either_way() -> Outcome {
    let text = |n: u64| -> String {
        let word = |at: u64| format!("word{} ", (n * 31 + at * at * 17) % 211);
        (0..25).map(word).collect()
    };
    let texts: Vec<String> = (0..120).map(text).collect();
    let mut docs: Vec<_> = (0..).zip(&texts).map(|(n, text)| doc(n, text)).collect();
    docs[50].topic = "other";
    docs[51].scope = "project:p";
    let index = index_of(&docs[..80], 3)?;
    let mut tail = Tail::new();
    docs[80..].iter().for_each(|doc| tail.add(doc));
    for n in [7, 50, 51, 70, 100] {
        let asked = format!("{} and more", texts[n]);
        let sought = Sought::of(&asked);
        let near = |visible: &dyn Fn(u64) -> bool| {
            index.near(&tail, &sought, ("topic", "global"), 850_000, visible)
        };
        let found = near(&|_| true)?;
        // There are too many that share a word to be told by their home alone.
        let by_words = index.near(&tail, &sought, ("topic", "global"), 1, &|_| true)?;
        let is_there = |found: &[Vec<u8>]| found.iter().any(|it| *it == texts[n].as_bytes());
        let is_at_home = n != 50 && n != 51;
        assert_eq!(
            (is_there(&found), is_there(&by_words), by_words.len()),
            (is_at_home, is_at_home, COMPARED_MAX),
            "{n}"
        );
        assert!(!is_there(&near(&|ordinal| ordinal != n as u64)?), "{n}");
    }
    // One without words is near to none, not even to another one.
    tail.add(&doc(200, "?!"));
    let none = index.near(&tail, &Sought::of("?!"), ("topic", "global"), 1, &|_| true)?;
    assert!(none.is_empty());
    // More of them than are compared: those that share most.
    let sought = Sought::of(&texts[7]);
    let found = index.near(&tail, &sought, ("topic", "global"), 1, &|_| true)?;
    assert_eq!(
        (found.len(), &found[0][..]),
        (COMPARED_MAX, texts[7].as_bytes())
    );
    Ok(())
}

/// However many are alike, and have the very same words in another order.
#[test]
fn the_same_text_is_always_among_those_that_are_compared() -> Outcome {
    let slots = (1..=6).flat_map(|a| (1..=6).flat_map(move |b| (1..=6).map(move |c| (a, b, c))));
    let text = |(a, b, c)| format!("backup of host {a} took {b} minutes with {c} warnings");
    let texts: Vec<String> = slots.map(text).collect();
    let docs: Vec<_> = (0..).zip(&texts).map(|(n, text)| doc(n, text)).collect();
    let index = index_of(&docs[..150], 3)?;
    let mut tail = Tail::new();
    docs[150..].iter().for_each(|doc| tail.add(doc));
    for text in &texts {
        let sought = Sought::of(text);
        let found = index.near(&tail, &sought, ("topic", "global"), 850_000, &|_| true)?;
        assert!(found.iter().any(|it| *it == text.as_bytes()), "{text}");
    }
    Ok(())
}

#[test]
fn a_text_of_numbers_and_identifiers_is_no_prose() {
    for text in ["8081", "E0382", "src/main.rs 42", "v2.3, (#17)", ""] {
        assert!(!super::analyze::has_prose(text), "{text}");
    }
    for text in ["pets.", "error E0382", "\"dog\"?", "собака 7", "犬"] {
        assert!(super::analyze::has_prose(text), "{text}");
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

/// Documents that are looked up have the score that a search gives them, in files and tail alike.
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
        // Half of all documents have it: it is not rare.
        assert!(!prepared.has_identifier(found));
    }
    let allowed = prepared.allowed().expect("read").expect("a filter");
    let expected: Vec<u64> = (0..60).filter(|n| n % 3 != 2).collect();
    assert_eq!(allowed, expected);
}

#[test]
fn a_tail_shares_what_another_has_worked_out_and_nothing_else() -> Outcome {
    let index = index_of(&[doc(0, "the linker failed")], 1)?;
    let tail_of = |docs: &[Doc<'_>]| {
        let mut tail = Tail::new();
        docs.iter().for_each(|doc| tail.add(doc));
        tail
    };
    let mut before = tail_of(&[doc(1, "a linker"), doc(2, "a compiler"), doc(3, "a loader")]);
    before.close(&index, 3)?;
    before.analyse(usize::MAX);
    let mut after = tail_of(&[
        doc(2, "a compiler"),
        doc(3, "another text"),
        doc(4, "a linker"),
    ]);
    after.share(&before);
    let one = |tail: &Tail, ordinal| tail.analysed(ordinal).map(std::ptr::from_ref);
    assert_eq!(one(&after, 2), one(&before, 2));
    assert_ne!(one(&after, 3), one(&before, 3));
    assert_eq!(ordinals(&index, &after, &ask("text"))?, [3]);
    assert_eq!(ordinals(&index, &after, &ask("linker"))?, [4, 0]);

    // A copy shares the documents, not which of them hold.
    let copy = before.copied();
    before.close(&index, 1)?;
    assert_eq!((copy.open_len(), before.open_len()), (2, 1));
    assert_eq!(one(&copy, 1), one(&before, 1));
    let found = copy.doc_freq(super::analyze::TextField::Body, "linker", false);
    assert_eq!(found, 1);
    Ok(())
}
