//! How alike two texts are, by their words.

use rustc_hash::FxHashMap;

use super::analyze::plain_words;

/// One, in parts per million.
const ONE_PPM: u64 = 1_000_000;

/// How alike two texts are, in parts per million: the Sørensen–Dice coefficient (Dice 1945,
/// Sørensen 1948) over the words of both as often as they occur, `2 |A ∩ B| / (|A| + |B|)`.
///
/// Words are taken as written, folded, stopwords too: `do not use tabs` is not `use tabs`. Since
/// each counts as often as it occurs, a text that is much longer is never alike. The order of words
/// and what stands between them say nothing. Symmetric; 0 when a text has no words; a function of
/// the two texts alone.
pub fn similarity_ppm(a: &str, b: &str) -> u32 {
    let (a, b) = (plain_words(a), plain_words(b));
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    let mut counts: FxHashMap<&String, usize> = FxHashMap::default();
    for word in &a {
        *counts.entry(word).or_default() += 1;
    }
    let mut common = 0_u64;
    for word in &b {
        if let Some(count) = counts.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    let ppm = 2 * common * ONE_PPM / (a.len() + b.len()) as u64;
    u32::try_from(ppm).expect("it is at most one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_by_their_words() {
        for (a, b, expected) in [
            (
                "Invoices live in PostgreSQL",
                "invoices, live in: postgresql!",
                1_000_000,
            ),
            (
                "Invoices live in PostgreSQL",
                "Invoices live in MySQL",
                750_000,
            ),
            ("use tabs", "do not use tabs", 666_666),
            ("tea", "tea tea tea tea", 400_000),
            ("a b c", "d e f", 0),
            ("", "", 0),
            ("...", "...", 0),
            ("我喜欢绿茶", "我喜欢绿茶", 1_000_000),
            ("我喜欢绿茶", "我喜欢红茶", 500_000),
            ("用 psql 存发票", "用 psql 存订单", 500_000),
        ] {
            assert_eq!(similarity_ppm(a, b), expected, "{a:?} {b:?}");
            assert_eq!(similarity_ppm(b, a), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn the_longest_texts_are_compared() {
        let text =
            |from: usize| -> String { (from..from + 200_000).map(|n| format!("w{n} ")).collect() };
        assert_eq!(similarity_ppm(&text(0), &text(50_000)), 750_000);
    }
}
