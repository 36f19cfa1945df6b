//! The terms of a document.

use rustc_hash::FxHashSet;

use super::stem::with_stem;
use super::token::{Kind, Token, tokens};
use crate::stopwords::is_stopword;

/// The field that a term is searched in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TextField {
    /// Stemmed words.
    Body,
    /// Words as written.
    Exact,
}

/// The terms of one document, each repeated as often as it occurs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct DocTerms {
    pub(crate) body: Terms,
    pub(crate) exact: Terms,
    /// Words as written and their parts, folded, and pairs of characters of scripts without spaces: compared with the
    /// words of a [`Question`](super::Question).
    pub words: Terms,
}

/// A list of terms, one a line: terms have no line breaks and are not empty.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Terms {
    pub lines: String,
    pub(crate) count: u32,
}

impl DocTerms {
    /// Returns empty lists with room for the terms of a text of `text_len` bytes and a little more.
    pub(crate) fn with_room_for(text_len: usize) -> DocTerms {
        let room = text_len + text_len / 4 + 32;
        let terms = || Terms {
            lines: String::with_capacity(room),
            count: 0,
        };
        DocTerms {
            body: terms(),
            exact: terms(),
            words: terms(),
        }
    }
}

impl Terms {
    pub(crate) fn push(&mut self, term: &str) {
        debug_assert!(!term.contains('\n'), "{term:?}");
        if term.is_empty() {
            return; // a compound of nothing but marks
        }
        if self.count > 0 {
            self.lines.push('\n');
        }
        self.lines.push_str(term);
        self.count = self.count.saturating_add(1);
    }

    /// Removes repeated terms, keeping the first of each.
    pub(crate) fn keep_first(&mut self) {
        let mut seen = FxHashSet::default();
        let mut kept = Terms {
            lines: String::with_capacity(self.lines.len()),
            count: 0,
        };
        for term in self.iter().filter(|term| seen.insert(*term)) {
            kept.push(term);
        }
        kept.lines.shrink_to_fit();
        *self = kept;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.split('\n').filter(|term| !term.is_empty())
    }
}

/// Appends the terms of a text of a document.
pub(crate) fn index_terms(text: &str, terms: &mut DocTerms) {
    tokens(text, true, &mut |token| {
        if token.kind != Kind::Whole {
            with_body_term(&token, &mut |body| terms.body.push(body));
        }
        if matches!(token.kind, Kind::Word | Kind::Part | Kind::Gram) {
            terms.words.push(&token.text);
        }
        if matches!(token.kind, Kind::Word | Kind::Whole) {
            terms.exact.push(&token.text);
        }
    });
}

/// Gives the words of a text to `take`: as written, folded, stopwords too, each as often as it occurs; for scripts
/// without spaces, pairs of characters. Each comes with the field that holds it unchanged.
pub(crate) fn plain_words(text: &str, take: &mut dyn FnMut(TextField, &str)) {
    tokens(text, false, &mut |token| match token.kind {
        Kind::Word => take(TextField::Exact, &token.text),
        Kind::Gram => take(TextField::Body, &token.text),
        Kind::Part | Kind::Whole => {}
    });
}

/// Gives the term that `body` holds for a token to `take`. Returns `false` for a stopword, which has no such term.
pub(super) fn with_body_term(token: &Token<'_>, take: &mut dyn FnMut(&str)) -> bool {
    if token.kind == Kind::Gram {
        take(&token.text);
        return true;
    }
    let told = !is_stopword(&token.text);
    if told {
        with_stem(&token.text, take);
    }
    told
}

/// Appends the day of a moment (UTC) as indexed words: `8 may 2023`, and `20230508` as one compound. From
/// "chrono-Compatible Low-Level Date Algorithms" (H. Hinnant).
pub(crate) fn index_date(at_ms: i64, terms: &mut DocTerms) {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let days = at_ms.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let name = MONTHS[(month - 1) as usize];
    index_terms(&format!("{day} {name} {year}"), terms);
    terms.exact.push(&format!("{year:04}{month:02}{day:02}"));
}
