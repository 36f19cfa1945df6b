//! Matches, their scores and their order, against a scan.

use super::*;
use crate::analyze::{self, DocTerms, index_terms, query_terms};

/// Words with very different frequencies, a stopword, an identifier and a pair of kanji.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => Just("apple"), 4 => Just("pears"), 3 => Just("the"), 2 => Just("main.rs"),
        1 => Just("plum"), 1 => Just("検索"), 1 => Just("walking"), 1 => Just("walk"),
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

/// Returns `true` if a document is a match, by comparing its terms one by one.
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

    /// In any distribution of documents, the matches are those of a scan.
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

    /// The tail, one segment and several segments give one order and one score.
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

    /// Closed in the tail, in a file, in both tiers or in a build from nothing: a version that no longer holds does not
    /// change a score.
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

    /// Any text can be indexed and searched for.
    #[test]
    fn any_text_finds_itself(text in "\\PC{0,40}|[a-zA-Z0-9_.:/' ёйЖא-תกข่าが日é\u{300}\u{200d}-]{0,40}") {
        let mut terms = DocTerms::default();
        index_terms(&text, &mut terms);
        prop_assert!(terms.body.iter().chain(terms.exact.iter()).all(|term| term.len() <= 72));
        prop_assert_eq!(naive_match(&text, &text), !query_terms(&text, 100).is_empty());
    }
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
