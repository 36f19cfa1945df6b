//! The likeness of two sentences, and the question whether the second one is news.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use icm_text::{Words, similarity_ppm};

use crate::words::{Kind, words};

/// The likeness above which a sentence counts as said already.
pub const ALIKE_MAX: f64 = 0.6;

/// Returns the Jaccard coefficient of the words of two texts, 0 to 1: `|A ∩ B| / |A ∪ B|`, each word as often as it occurs.
///
/// Words are compared folded and as written, function words too. 0 if a text has no words. Symmetric.
pub fn alike(a: &str, b: &str) -> f64 {
    jaccard(similarity_ppm(a, b))
}

/// Returns the Jaccard coefficient that belongs to a Sørensen–Dice coefficient D: `D / (2 − D)`.
fn jaccard(dice_ppm: u32) -> f64 {
    let dice = f64::from(dice_ppm) / 1_000_000.0;
    dice / (2.0 - dice)
}

/// Returns whether `new` says nothing that `known` does not: they are alike by more than [`ALIKE_MAX`], and every
/// number, name, identifier and negation of `new` is in `known`, too.
///
/// `We use MySQL for invoices now` is alike `We use PostgreSQL for invoices now`, and yet news.
pub fn says_same(new: &str, known: &str) -> bool {
    Compared::of(new).says_same(&Compared::of(known))
}

/// A text that is prepared for comparisons with many others.
#[derive(Debug, Clone)]
pub struct Compared {
    words: Words,
    text: String,
    /// Found out once it is asked for: most texts are not alike at all.
    telling: OnceCell<BTreeSet<String>>,
}

impl Compared {
    /// Makes a text ready. Linear in the text.
    pub fn of(text: &str) -> Compared {
        Compared {
            words: Words::of(text),
            text: text.to_owned(),
            telling: OnceCell::new(),
        }
    }

    fn telling(&self) -> &BTreeSet<String> {
        self.telling.get_or_init(|| telling(&self.text))
    }

    /// See [`alike`].
    pub fn alike(&self, other: &Compared) -> f64 {
        jaccard(self.words.similarity_ppm(&other.words))
    }

    /// See [`says_same`].
    pub fn says_same(&self, known: &Compared) -> bool {
        self.alike(known) > ALIKE_MAX && self.telling().is_subset(known.telling())
    }
}

/// Words that turn a sentence into another one.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "dont", "doesnt", "didnt", "cant", "cannot", "wont", "isnt", "arent",
    "without", "stop", "nicht", "nie", "kein", "keine", "pas", "jamais", "nunca",
];

/// Returns the words that tell a text from others: numbers, names, identifiers and negations, folded.
fn telling(text: &str) -> BTreeSet<String> {
    let words = words(text);
    let telling = words.iter().filter(|word| {
        matches!(
            word.kind,
            Kind::Number | Kind::Name | Kind::Identifier | Kind::Code
        ) || NEGATIONS.contains(&word.folded.as_str())
    });
    telling
        .map(|word| match NEGATIONS.contains(&word.folded.as_str()) {
            // Every negation counts as the same word.
            true => "not".to_owned(),
            false => word.folded.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_the_jaccard_coefficient_of_words() {
        for (a, b, expected) in [
            (
                "Invoices live in PostgreSQL",
                "invoices, live in: postgresql!",
                1.0,
            ),
            ("Invoices live in PostgreSQL", "Invoices live in MySQL", 0.6),
            ("a b c", "d e f", 0.0),
            ("", "", 0.0),
            ("use tabs", "do not use tabs", 0.5),
        ] {
            assert!(
                (alike(a, b) - expected).abs() < 1e-5,
                "{a} / {b}: {}",
                alike(a, b)
            );
            assert!((alike(b, a) - expected).abs() < 1e-5, "{b} / {a}");
        }
    }

    #[test]
    fn another_name_number_or_negation_is_news() {
        let known = "We use PostgreSQL 16 for invoices now";
        for (new, same) in [
            ("We use PostgreSQL 16 for all invoices now", true),
            ("we use PostgreSQL for invoices now", true),
            ("We use MySQL 16 for invoices now", false),
            ("We use PostgreSQL 17 for invoices now", false),
            ("We do not use PostgreSQL 16 for invoices now", false),
            ("Dogs bark at night", false),
        ] {
            assert_eq!(says_same(new, known), same, "{new}");
        }
    }
}
