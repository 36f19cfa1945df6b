//! The share of a question's words that a text has, word by word.
//!
//! Two words are compared by their sets of four letters in a row: with a mark at either end, `_invoice_` and
//! `_invoices_` share five of six and seven (Dice's coefficient 0.77). That covers endings and compounds of any
//! language written with letters. Words of one stem match, too: for short words (`bug`, `bugs`) the letters say too
//! little. Pairs of ideographs are equal or they do not match.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::analyze::{QuestionWord, TextField, with_stem};

/// Dice's coefficient below which words do not match: 0.35. A larger value loses words with endings.
const ALIKE_LEAST: f32 = 0.35;
/// Fewest common grams of words that match: 2, because one is chance (`tea`, `team`). A larger value loses short words.
const SHARED_LEAST: u8 = 2;
/// The least likeness of words of one stem: 0.7. A larger value counts inflected words more.
pub const STEM_ALIKE: f32 = 0.7;
/// Largest number of a question's words that are compared, the rarest ones: 64. A larger value costs time.
pub(crate) const WORDS_MAX: usize = 64;

/// Four characters, 32 bits each.
type Gram = u128;

/// The words of a question, to compare texts with.
#[derive(Debug)]
pub struct Coverage<'a> {
    /// The rarity of each word, their sum, and the sum that counts as all words.
    rarities: Vec<f64>,
    all: f64,
    enough: f64,
    /// Words that are compared whole. The others are in `grams` by their grams, with the number of grams of each word.
    whole: FxHashMap<String, u8>,
    grams: FxHashMap<Gram, Vec<u8>>,
    gram_counts: Vec<f32>,
    stems: FxHashMap<String, Vec<u8>>,
    /// The first two bytes of the words that have stems.
    beginnings: FxHashSet<[u8; 2]>,
    /// The words of texts so far, with the question's words that they match.
    met: RefCell<Met<'a>>,
}

/// The words of texts, with the question's words that they match.
#[derive(Debug, Default)]
struct Met<'a> {
    words: FxHashMap<&'a str, (u32, u8)>,
    alike: Vec<(u8, f32)>,
    /// The grams of one word.
    grams: Vec<Gram>,
}

/// The best likeness of a text's words to each word of the question; 0 to 1 each.
pub type Likeness = Box<[f32]>;

impl<'a> Coverage<'a> {
    /// Returns the coverage for words with their rarities, at most [`WORDS_MAX`] of them. A text whose matching words'
    /// rarities add up to `enough` counts as having all words.
    pub fn new(words: &[(&QuestionWord, f64)], enough: f64) -> Coverage<'a> {
        let mut coverage = Coverage {
            rarities: words.iter().map(|(_, rarity)| *rarity).collect(),
            all: words.iter().map(|(_, rarity)| *rarity).sum(),
            enough,
            whole: FxHashMap::default(),
            grams: FxHashMap::default(),
            gram_counts: vec![0.0; words.len()],
            stems: FxHashMap::default(),
            beginnings: FxHashSet::default(),
            met: RefCell::default(),
        };
        for (at, (word, _)) in (0_u8..).zip(words) {
            coverage.whole.insert(word.text.clone(), at);
            if word.whole {
                continue;
            }
            if word.field == TextField::Body {
                let stems = coverage.stems.entry(word.stem.clone()).or_default();
                stems.push(at);
                coverage
                    .beginnings
                    .extend(word.text.as_bytes().first_chunk());
            }
            let mut grams = Vec::new();
            grams_of(&word.text, &mut grams);
            coverage.gram_counts[usize::from(at)] = grams.len() as f32;
            for gram in grams {
                coverage.grams.entry(gram).or_default().push(at);
            }
        }
        coverage
    }

    /// Returns the likeness of a text to these words.
    pub fn likeness(&self, words: impl Iterator<Item = &'a str>) -> Likeness {
        let mut best = vec![0.0_f32; self.rarities.len()].into_boxed_slice();
        let met = &mut *self.met.borrow_mut();
        for word in words {
            let (from, count) = match met.words.get(word) {
                Some(known) => *known,
                None => {
                    let from = met.alike.len() as u32;
                    self.compare(word, &mut met.grams, &mut met.alike);
                    let new = (from, (met.alike.len() as u32 - from) as u8);
                    met.words.insert(word, new);
                    new
                }
            };
            for (at, alike) in &met.alike[from as usize..][..usize::from(count)] {
                let best = &mut best[usize::from(*at)];
                *best = best.max(*alike);
            }
        }
        best
    }

    /// Appends to `alike` the question's words that a word matches, each with its likeness.
    fn compare(&self, word: &str, grams: &mut Vec<Gram>, alike: &mut Vec<(u8, f32)>) {
        alike.extend(self.whole.get(word).map(|at| (*at, 1.0)));
        // English stems keep the beginning of a word; comparing beginnings costs less than looking up a stem.
        let may_have_stem = (word.as_bytes().first_chunk())
            .is_some_and(|first| !first[0].is_ascii() || self.beginnings.contains(first));
        if may_have_stem {
            with_stem(word, &mut |stem| {
                let same = self.stems.get(stem).into_iter().flatten();
                alike.extend(same.map(|at| (*at, STEM_ALIKE)));
            });
        }
        grams_of(word, grams);
        let mut shared = [0_u8; WORDS_MAX];
        let mut touched = false;
        for at in grams
            .iter()
            .filter_map(|gram| self.grams.get(gram))
            .flatten()
        {
            shared[usize::from(*at)] = shared[usize::from(*at)].saturating_add(1);
            touched = true;
        }
        if !touched {
            return;
        }
        for (at, count) in (0_u8..)
            .zip(shared)
            .filter(|(_, count)| *count >= SHARED_LEAST)
        {
            let all = self.gram_counts[usize::from(at)] + grams.len() as f32;
            let dice = 2.0 * f32::from(count) / all;
            if dice >= ALIKE_LEAST {
                alike.push((at, dice));
            }
        }
    }

    /// Returns the share of the question's words that a text has, weighted by rarity; 0 to 1.
    pub fn share(&self, likeness: &[f32]) -> f64 {
        match self.all.min(self.enough) {
            enough if enough > 0.0 => (self.told(likeness) / enough).min(1.0),
            _ => 0.0,
        }
    }

    /// Returns the sum of the rarities of the question's words that a text has, each times its likeness.
    fn told(&self, likeness: &[f32]) -> f64 {
        let told = self.rarities.iter().zip(likeness);
        told.map(|(rarity, alike)| rarity * f64::from(*alike)).sum()
    }

    /// Returns the share of the question's meaning that its vector carries: 1, and for a long question the square of
    /// `enough` / `all`.
    pub fn meaning_share(&self) -> f64 {
        match self.all > self.enough {
            true => (self.enough / self.all).powi(2),
            false => 1.0,
        }
    }
}

/// Replaces `grams` by the distinct grams of a word between its marks; a shorter word is one gram.
fn grams_of(word: &str, grams: &mut Vec<Gram>) {
    grams.clear();
    let mut last: Gram = 0;
    let mut seen = 0;
    for c in "_".chars().chain(word.chars()).chain("_".chars()) {
        last = last << 32 | Gram::from(u32::from(c));
        seen += 1;
        if seen >= 4 && !grams.contains(&last) {
            grams.push(last);
        }
    }
    if seen < 4 {
        grams.push(last);
    }
}

#[cfg(test)]
mod tests {
    use super::super::analyze::{Question, TextField, plain_words};
    use super::*;

    /// Checks the share of a question that a text has, with all words equally rare.
    fn check(question: &str, text: &str, expect: f64) {
        let question = Question::of(question, 100);
        let words: Vec<_> = question.words.iter().map(|word| (word, 1.0)).collect();
        let mut plain = Vec::new();
        plain_words(text, &mut |_: TextField, word| plain.push(word.to_owned()));
        let coverage = Coverage::new(&words, 100.0);
        let found = coverage.share(&coverage.likeness(plain.iter().map(String::as_str)));
        assert!((found - expect).abs() < 0.005, "{text}: {found}");
    }

    #[test]
    fn words_are_alike_by_their_letters() {
        check("invoices", "the invoices", 1.0);
        check("invoice", "the invoices", 0.77);
        check("bugs", "the bug", 0.7);
        check("keys logs", "a key is in the log", 0.7);
        check("taxes", "every tax", 0.7);
        check("ما اسم الكلب", "كلب المكتب", 0.35);
        check("Rechnung", "die Rechnungen", 0.75);
        check("préférence", "elle préfère le thé", 0.7);
        check("dog", "the dot", 0.0);
        check("tea", "the team", 0.0);
        check("a zebra", "the zebra", 1.0);
        check("zebra giraffe", "the zebra", 0.5);
        check("数据库", "我们的数据很慢", 0.5);
        check("zebra", "", 0.0);
    }

    #[test]
    fn a_word_counts_by_its_rarity_and_once() {
        let question = Question::of("zebra giraffe", 100);
        let words = [(&question.words[0], 3.0), (&question.words[1], 1.0)];
        let coverage = Coverage::new(&words, 100.0);
        let likeness = coverage.likeness(["zebra", "zebra", "zebras"].into_iter());
        assert_eq!(coverage.share(&likeness), 0.75);
        let less = Coverage::new(&words, 3.0);
        assert_eq!(
            (coverage.meaning_share(), less.meaning_share()),
            (1.0, 0.5625)
        );
        assert_eq!(
            less.share(&less.likeness(["zebra", "giraffe"].into_iter())),
            1.0
        );
    }
}
