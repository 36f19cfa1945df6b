//! Pruning loses nothing.

use super::*;

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

/// Blocks need a few hundred documents. Many documents here score the same, and the better ordinals come late.
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

/// A segment of long documents beside one of short ones: a block's best document by the segment's average length is not
/// the best one by the collection's.
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
