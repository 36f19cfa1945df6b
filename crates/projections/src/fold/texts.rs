//! The storage of the texts of a fold's rows.

use std::num::NonZeroU64;

/// The storage of the rows' texts. The rules of the fold only move texts.
pub trait Texts: Default {
    /// The form of a text within a row.
    type Text: Clone;
    /// Stores a text, and returns its form within a row.
    fn keep(&mut self, text: &str) -> Self::Text;
    /// Returns the text.
    fn get<'a>(&'a self, text: &'a Self::Text) -> &'a str;
}

/// Each row owns its texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Owned;

impl Texts for Owned {
    type Text = String;

    fn keep(&mut self, text: &str) -> String {
        text.to_owned()
    }

    fn get<'a>(&'a self, text: &'a String) -> &'a str {
        text
    }
}

/// All texts in one string, for rows that are dropped together.
#[derive(Default)]
pub(super) struct Arena {
    text: String,
}

/// The place of a text in an [`Arena`]: its start plus one, shifted, and its length. A text comes from a payload, so it
/// is shorter than 16 MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span(NonZeroU64);

const LEN_BITS: u32 = 24;

impl Span {
    /// Returns the place as a number, which is not zero.
    pub(super) fn bits(self) -> u64 {
        self.0.get()
    }

    /// Returns the place of a number; `None` for zero.
    pub(super) fn of_bits(bits: u64) -> Option<Span> {
        NonZeroU64::new(bits).map(Span)
    }
}

impl Texts for Arena {
    type Text = Span;

    fn keep(&mut self, text: &str) -> Span {
        let place = (self.text.len() as u64 + 1) << LEN_BITS;
        assert!(text.len() < 1 << LEN_BITS, "payloads are limited");
        self.text.push_str(text);
        Span(NonZeroU64::new(place | text.len() as u64).expect("the start is counted from one"))
    }

    fn get<'a>(&'a self, text: &'a Span) -> &'a str {
        let start = (text.0.get() >> LEN_BITS) as usize - 1;
        let len = (text.0.get() & ((1 << LEN_BITS) - 1)) as usize;
        &self.text[start..start + len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_gives_back_what_it_was_given() {
        let mut arena = Arena::default();
        let texts = ["", "a", "Grüße", "", "and so on"];
        let spans: Vec<_> = texts.iter().map(|text| arena.keep(text)).collect();
        for (text, span) in texts.iter().zip(&spans) {
            assert_eq!(arena.get(span), *text);
        }
        assert_eq!(std::mem::size_of::<Option<Span>>(), 8);
    }
}
