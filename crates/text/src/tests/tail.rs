//! The tail: the time of its analysis, and sharing between copies.

use super::*;

/// A search before a document came or was closed gives the same answer as a search afterwards.
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
                while tail.analyse_ahead(1, true) {}
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
    before.analyse_ahead(usize::MAX, true);
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

    // A copy shares the documents, but not which of them hold.
    let copy = before.clone();
    before.close(&index, 1)?;
    assert_eq!((copy.open_len(), before.open_len()), (2, 1));
    assert_eq!(one(&copy, 1), one(&before, 1));
    let found = copy.doc_freq(crate::analyze::TextField::Body, "linker", false);
    assert_eq!(found, 1);

    // A document that one copy learns afterwards is not in the other, in either order of searches.
    before.add(&doc(5, "the linker again"));
    assert_eq!(ordinals(&index, &before, &ask("linker"))?, [1, 5, 0]);
    assert_eq!(ordinals(&index, &copy, &ask("linker"))?, [1, 0]);
    Ok(())
}
