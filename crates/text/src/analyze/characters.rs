//! Characters: their role in words, and their folding.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Bytes of the longest term: 64; longer terms are cut at a character. A larger value takes more room in the index.
pub(crate) const TERM_LEN_MAX: usize = 64;

/// Returns the form in which keywords and words are compared: folded, and cut to [`TERM_LEN_MAX`] bytes.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let text = &text[..text.len().min(TERM_LEN_MAX)];
        return match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
    }
    let mut folded = fold_unicode(text);
    folded.truncate(floor_char_boundary(&folded, TERM_LEN_MAX));
    Cow::Owned(folded)
}

/// Returns the largest character boundary that is at most `len`.
pub(crate) fn floor_char_boundary(text: &str, len: usize) -> usize {
    if len >= text.len() {
        return text.len();
    }
    (0..=len)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

pub(super) fn fold_unicode(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut base = ' ';
    let kept = text.nfkd().filter(move |&c| {
        if !is_combining_mark(c) {
            base = c;
        }
        !is_dropped(c, base)
    });
    for c in kept.nfc().flat_map(char::to_lowercase) {
        match c {
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            'ß' => folded.push_str("ss"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ħ' => folded.push('h'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            _ => folded.push(c),
        }
    }
    folded
}

/// Returns `true` for a mark that a reader leaves out when typing. Vowel signs of Indic and South-East Asian scripts
/// and the Japanese voicing mark stay, because they are letters in all but name. After Cyrillic letters only the dots
/// of `ё` are dropped, because `й` is a letter of its own.
fn is_dropped(c: char, base: char) -> bool {
    match c {
        '\u{0300}'..='\u{036F}' if is_cyrillic(base) => c == '\u{0308}' && "еЕ".contains(base),
        '\u{0300}'..='\u{036F}'
        | '\u{0591}'..='\u{05C7}'
        | '\u{0640}'
        | '\u{064B}'..='\u{065F}'
        | '\u{0670}'
        | '\u{00AD}'
        | '\u{200B}'..='\u{200F}'
        | '\u{FEFF}' => true,
        _ => false,
    }
}

pub(super) fn is_arabic(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{06FF}')
}

pub(super) fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{0400}'..='\u{052F}')
}

/// Returns `true` for scripts without spaces between words, and for Korean, whose endings no stemmer here knows.
pub(crate) fn is_dense(c: char) -> bool {
    is_ideographic(c)
        || matches!(c,
            '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
            | '\u{1000}'..='\u{109F}'   // Myanmar
            | '\u{1780}'..='\u{17FF}') // Khmer
}

pub(super) fn is_ideographic(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30FF}'
        | '\u{3130}'..='\u{318F}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}'
        | '\u{20000}'..='\u{3FFFF}')
}

pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric()
        || (!c.is_ascii()
            && (is_combining_mark(c) || matches!(c, '\u{00AD}' | '\u{200C}' | '\u{200D}')))
}

pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʼ')
}

/// Returns `true` for a character that joins words within one name.
pub(super) fn is_inner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '\u{2010}' | '\u{2011}') || is_apostrophe(c)
}

/// Returns `true` for a character that joins names into a path, an address or a reference.
pub(super) fn is_outer(c: char) -> bool {
    matches!(c, '/' | '\\' | ':' | '@' | '#' | '&')
}
