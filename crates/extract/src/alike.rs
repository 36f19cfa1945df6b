//! Compares two sentences: are they alike, and does the second one add anything?

use std::cell::OnceCell;
use std::collections::BTreeSet;

use icm_text::{Words, similarity_ppm};

use crate::words::{Kind, words};

/// The likeness above which a sentence counts as a repeat. Raised, more near repeats are returned.
pub const ALIKE_MAX: f64 = 0.6;

/// Returns the Jaccard coefficient of the words of two texts, 0 to 1: `|A ∩ B| / |A ∪ B|`, counting repeated words.
///
/// Words are compared folded and unstemmed, function words too. 0 if a text has no words. Symmetric.
pub fn alike(a: &str, b: &str) -> f64 {
    jaccard(similarity_ppm(a, b))
}

/// Returns the Jaccard coefficient for a Sørensen–Dice coefficient D: `D / (2 − D)`.
fn jaccard(dice_ppm: u32) -> f64 {
    let dice = f64::from(dice_ppm) / 1_000_000.0;
    dice / (2.0 - dice)
}

/// Returns `true` if `new` adds nothing to `known`: they are alike by more than [`ALIKE_MAX`], and `known` has every
/// number, name, identifier and negation of `new`.
///
/// `We use MySQL for invoices now` is alike `We use PostgreSQL for invoices now`, and still adds something.
pub fn says_same(new: &str, known: &str) -> bool {
    Compared::of(new).says_same(&Compared::of(known))
}

/// A text, prepared for comparisons with many others.
#[derive(Debug, Clone)]
pub struct Compared {
    words: Words,
    text: String,
    /// Computed on demand, because most texts are not alike.
    telling: OnceCell<BTreeSet<String>>,
}

impl Compared {
    /// Prepares a text. Linear in the text.
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

    /// As [`alike`].
    pub fn alike(&self, other: &Compared) -> f64 {
        jaccard(self.words.similarity_ppm(&other.words))
    }

    /// As [`says_same`].
    pub fn says_same(&self, known: &Compared) -> bool {
        self.alike(known) > ALIKE_MAX && self.telling().is_subset(known.telling())
    }
}

/// Words that reverse the meaning of a sentence.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "dont", "doesnt", "didnt", "cant", "cannot", "wont", "isnt", "arent",
    "without", "stop", "nicht", "nie", "kein", "keine", "pas", "jamais", "nunca",
];

/// Returns the words that distinguish a text: numbers, names, identifiers and negations, folded.
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
            // All negations count as one word.
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
