//! Near texts are found by their signatures.

use std::cell::Cell;

use super::*;
use crate::near::COMPARED_MAX;

/// The result is the same for documents of the index and of the tail.
#[test]
fn near_texts_of_the_home_are_found() -> Outcome {
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
    let signature = |ordinal: u64| Some(Signature::of(&texts[ordinal as usize]));
    for n in [7, 50, 51, 70, 100] {
        let asked = format!("{} and more", texts[n]);
        let sought = Sought::of(&asked);
        let near = |visible: &dyn Fn(u64) -> bool| {
            index.near(
                &tail,
                &sought,
                ("topic", "global"),
                850_000,
                &signature,
                visible,
            )
        };
        let found = near(&|_| true)?;
        // At 1 ppm, all texts may be a little alike.
        let most = index.near(&tail, &sought, ("topic", "global"), 1, &signature, &|_| {
            true
        })?;
        let is_there = |found: &[Vec<u8>]| found.iter().any(|it| *it == texts[n].as_bytes());
        let is_at_home = n != 50 && n != 51;
        assert_eq!(
            (is_there(&found), is_there(&most), most.len()),
            (is_at_home, is_at_home, COMPARED_MAX),
            "{n}"
        );
        assert!(!is_there(&near(&|ordinal| ordinal != n as u64)?), "{n}");
    }
    // A text without words is near no other, not even another text without words.
    tail.add(&doc(200, "?!"));
    let none = index.near(
        &tail,
        &Sought::of("?!"),
        ("topic", "global"),
        1,
        &signature,
        &|_| true,
    )?;
    assert!(none.is_empty());
    // If there are more texts than are compared, those that agree most are compared.
    let sought = Sought::of(&texts[7]);
    let found = index.near(&tail, &sought, ("topic", "global"), 1, &signature, &|_| {
        true
    })?;
    assert_eq!(
        (found.len(), &found[0][..]),
        (COMPARED_MAX, texts[7].as_bytes())
    );
    // Only the best texts are asked about, until there are enough.
    let asked = Cell::new(0);
    let visible = |ordinal: u64| {
        asked.set(asked.get() + 1);
        ordinal != 7
    };
    let found = index.near(&tail, &sought, ("topic", "global"), 1, &signature, &visible)?;
    assert_eq!((found.len(), asked.get()), (COMPARED_MAX, COMPARED_MAX + 1));
    Ok(())
}

/// However many texts are alike, and have the same words in another order.
#[test]
fn the_same_text_is_always_among_those_that_are_compared() -> Outcome {
    let slots = (1..=6).flat_map(|a| (1..=6).flat_map(move |b| (1..=6).map(move |c| (a, b, c))));
    let text = |(a, b, c)| format!("backup of host {a} took {b} minutes with {c} warnings");
    let texts: Vec<String> = slots.map(text).collect();
    let docs: Vec<_> = (0..).zip(&texts).map(|(n, text)| doc(n, text)).collect();
    let index = index_of(&docs[..150], 3)?;
    let mut tail = Tail::new();
    docs[150..].iter().for_each(|doc| tail.add(doc));
    let signature = |ordinal: u64| Some(Signature::of(&texts[ordinal as usize]));
    for text in &texts {
        let sought = Sought::of(text);
        let found = index.near(
            &tail,
            &sought,
            ("topic", "global"),
            850_000,
            &signature,
            &|_| true,
        )?;
        assert!(found.iter().any(|it| *it == text.as_bytes()), "{text}");
    }
    Ok(())
}
