//! Measures the share of near texts that signatures find, and the share of other texts that signatures let through to a
//! comparison: see `docs/benchmarks/near.md`.
//!
//! Reads texts, one a line, from standard input. Words of another text are mixed into each, and the result is searched
//! for. Each text is also compared with every other one.
#![allow(clippy::print_stdout)]

use std::io::Read;

use icm_text::{Likely, Signature, Words};

const LEAST_PPM: u32 = 850_000;
/// Lower ends of the reported ranges of similarity.
const FROM_PPM: [u32; 5] = [850_000, 875_000, 900_000, 950_000, 1_000_000];

#[derive(Default)]
struct Found {
    pairs: u64,
    may_be: u64,
    share_band: u64,
}

struct Text<'t> {
    words: Vec<&'t str>,
    compared_by: Words,
    signature: Signature,
}

fn share_band(one: Signature, other: Signature) -> bool {
    let mut bands = one.bands().into_iter().zip(other.bands());
    bands.any(|(a, b)| a == b)
}

fn main() {
    let mut input = String::new();
    let read = std::io::stdin().read_to_string(&mut input);
    read.expect("standard input is text");
    let texts: Vec<Text<'_>> = (input.lines())
        .map(|line| Text {
            words: line.split_whitespace().collect(),
            compared_by: Words::of(line),
            signature: Signature::of(line),
        })
        .filter(|text| text.compared_by.count() > 0)
        .collect();
    let likely = Likely::at_least(LEAST_PPM);
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut varied: [Found; 5] = Default::default();
    for (at, text) in texts.iter().enumerate() {
        let other = &texts[(at + 1 + next(texts.len() - 1)) % texts.len()];
        for _ in 0..8 {
            let mut words = text.words.clone();
            for _ in 0..=next(text.words.len() / 6 + 1) {
                let (from, to) = (next(other.words.len()), next(words.len()));
                match next(3) {
                    0 => words[to] = other.words[from],
                    1 => words.insert(to, other.words[from]),
                    _ => drop(words.remove(to)),
                }
                if words.is_empty() {
                    break;
                }
            }
            let varied_text = words.join(" ");
            let alike = text.compared_by.similarity_ppm(&Words::of(&varied_text));
            let Some(range) = FROM_PPM.iter().rposition(|from| alike >= *from) else {
                continue;
            };
            let signature = Signature::of(&varied_text);
            varied[range].pairs += 1;
            varied[range].may_be += u64::from(likely.may_be(text.signature, signature));
            varied[range].share_band += u64::from(share_band(text.signature, signature));
        }
    }
    for (from, found) in FROM_PPM.iter().zip(&varied) {
        println!(
            "varied, from {:.3}: {} pairs, {} may be, {} share a band",
            f64::from(*from) / 1e6,
            found.pairs,
            found.may_be,
            found.share_band
        );
    }
    let (mut real, mut others) = (Found::default(), Found::default());
    for (at, one) in texts.iter().enumerate() {
        for other in &texts[..at] {
            let is_near = one.compared_by.similarity_ppm(&other.compared_by) >= LEAST_PPM;
            let found = if is_near { &mut real } else { &mut others };
            found.pairs += 1;
            found.may_be += u64::from(likely.may_be(one.signature, other.signature));
            found.share_band += u64::from(share_band(one.signature, other.signature));
        }
    }
    for (name, found) in [("near", real), ("others", others)] {
        println!(
            "real, {name}: {} pairs, {} may be, {} share a band",
            found.pairs, found.may_be, found.share_band
        );
    }
}
