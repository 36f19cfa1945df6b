//! Filters: topics, keywords, scopes.

use super::*;

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
            // The documents that pass the filters are longer, so they would rank below the rest.
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
            keywords: &rare,
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

const TAGS: [&str; 4] = ["api", "urgent", "later", "Café"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_search_by_keywords_finds_those_with_all_of_some_and_one_of_others(
        of in prop::collection::vec(prop::sample::subsequence((0..TAGS.len()).collect::<Vec<_>>(), 0..4), 1..40),
        all in prop::sample::subsequence((0..TAGS.len()).collect::<Vec<_>>(), 0..3),
        any in prop::sample::subsequence((0..TAGS.len()).collect::<Vec<_>>(), 0..4),
        filed in 0..40_usize,
    ) {
        let named = |tags: &[usize]| -> Vec<String> {
            tags.iter().map(|tag| TAGS[*tag].to_owned()).collect()
        };
        let keywords: Vec<Vec<String>> = of.iter().map(|tags| named(tags)).collect();
        let docs: Vec<Doc<'_>> = (0..).zip(&keywords)
            .map(|(n, keywords)| Doc { keywords, ..doc(n, "apple") })
            .collect();
        let (filed, rest) = docs.split_at(filed.min(docs.len()));
        let index = index_of(filed, 2)?;
        let mut tail = Tail::new();
        rest.iter().for_each(|doc| tail.add(doc));
        // Case and accents are forgiven.
        let asked = |tags: &[usize]| -> Vec<String> {
            named(tags).iter().map(|tag| tag.to_uppercase().replace('É', "e")).collect()
        };
        let (all_of, one_of) = (asked(&all), asked(&any));
        let query = TextQuery {
            filter: TextFilter {
                keywords: &all_of,
                any_keyword: &one_of,
                ..TextFilter::default()
            },
            limit: docs.len(),
            ..ask("apple")
        };
        let found: BTreeSet<u64> = ordinals(&index, &tail, &query)?.into_iter().collect();
        let has_one = |tags: &[usize]| any.iter().any(|tag| tags.contains(tag));
        let passes = |tags: &[usize]| {
            all.iter().all(|tag| tags.contains(tag)) && (any.is_empty() || has_one(tags))
        };
        let those = |passes: &dyn Fn(&[usize]) -> bool| -> BTreeSet<u64> {
            (0..).zip(&of).filter(|(_, tags)| passes(tags)).map(|(at, _)| at).collect()
        };
        prop_assert_eq!(&found, &those(&passes));

        let (_, prepared) = index.prepare(&tail, &query, ALL)?;
        let allowed = prepared.allowed()?;
        let allowed = allowed.unwrap_or_else(|| (0..of.len() as u64).collect());
        prop_assert_eq!(allowed.into_iter().collect::<BTreeSet<_>>(), those(&passes));
        let tagged = prepared.with_any_keyword(&one_of)?;
        prop_assert_eq!(tagged.into_iter().collect::<BTreeSet<_>>(), those(&has_one));
    }
}

#[test]
fn a_search_among_some_fills_its_places_with_them() -> Outcome {
    let tagged = ["later".to_owned()];
    let docs: Vec<Doc<'_>> = (0..200_u64)
        .map(|n| match n < 190 {
            // These are shorter, so they rank first.
            true => Doc {
                keywords: &tagged,
                ..doc(n, "apple")
            },
            false => doc(n, "apple and much more besides of it"),
        })
        .collect();
    let index = index_of(&docs[..100], 1)?;
    let mut tail = Tail::new();
    docs[100..].iter().for_each(|doc| tail.add(doc));
    let query = ask("apple");
    let (_, prepared) = index.prepare(&tail, &query, ALL)?;
    let last = prepared.with_any_keyword(&tagged)?;
    assert_eq!(last.len(), 190);
    let among = |ordinal: u64| last.binary_search(&ordinal).is_err();
    let found = prepared.promising_among(5, &among)?;
    assert!(found.len() >= 5, "{}", found.len());
    assert!(found.iter().all(|found| found.ordinal >= 190));
    Ok(())
}
