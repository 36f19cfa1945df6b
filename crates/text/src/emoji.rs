//! Emoji: the extent of an emoji in a text, and the form in which emoji are compared.
//!
//! After UTS #51, but wider: every sequence of that shape counts, recommended by Unicode or not.

use unicode_properties::UnicodeEmoji;

/// Joins emoji into one emoji: woman, joiner, laptop.
const JOINER: char = '\u{200D}';
/// Least code point of an emoji here: smaller ones that Unicode lists are signs of prose and mathematics (`©`, `™`,
/// `‼`).
const FIRST: char = '\u{2190}';

/// Returns `true` if an emoji may begin with a character.
pub(super) fn begins(c: char) -> bool {
    c >= FIRST && !c.is_alphanumeric() && c.is_emoji_char() && !is_skin(c)
}

/// Returns the length in bytes of the emoji at the start of a text; `None` if there is none.
///
/// A flag is two letters; a family or a profession is several emoji with joiners between them. Variation selectors,
/// skin tones and the letters of a region's flag belong to the emoji before them.
pub(super) fn len(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    let (_, first) = chars.next().filter(|(_, c)| begins(*c))?;
    if is_flag_letter(first) {
        chars.next_if(|(_, c)| is_flag_letter(*c));
    }
    while let Some((_, c)) = chars.next_if(|(_, c)| is_modifier(*c) || *c == JOINER) {
        // A joiner without an emoji after it is skipped.
        if c == JOINER && chars.next_if(|(_, c)| begins(*c)).is_none() {
            break;
        }
    }
    Some(chars.peek().map_or(text.len(), |(at, _)| *at))
}

/// Returns the emoji that a joined emoji consists of.
pub(super) fn parts(emoji: &str) -> impl Iterator<Item = &str> {
    emoji.split(JOINER).filter(|part| !part.is_empty())
}

/// Returns an emoji without the characters that change its looks alone: skin tones, variation selectors and joiners.
pub(super) fn folded(emoji: &str) -> String {
    let looks = |c: &char| *c == JOINER || is_skin(*c) || matches!(c, '\u{FE0E}' | '\u{FE0F}');
    emoji.chars().filter(|c| !looks(c)).collect()
}

fn is_skin(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}

fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1F1E6}'..='\u{1F1FF}')
}

fn is_modifier(c: char) -> bool {
    is_skin(c)
        || matches!(
            c,
            '\u{FE0E}' | '\u{FE0F}' | '\u{20E3}' | '\u{E0020}'..='\u{E007F}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_ends_where_the_next_one_begins() {
        for (text, emoji) in [
            ("🚀🔥", "🚀"),
            ("👩\u{200D}💻 at work", "👩\u{200D}💻"),
            ("👍🏽👍", "👍🏽"),
            ("🇩🇪🇫🇷", "🇩🇪"),
            ("❤\u{FE0F}x", "❤\u{FE0F}"),
            ("🚀\u{200D}x", "🚀\u{200D}"),
            (
                "🏴\u{E0067}\u{E0062}\u{E007F}!",
                "🏴\u{E0067}\u{E0062}\u{E007F}",
            ),
        ] {
            assert_eq!(len(text), Some(emoji.len()), "{text}");
        }
        for text in ["", "a🚀", "1\u{FE0F}\u{20E3}", "# x", "©", "→", "Ⓜ", "漢"] {
            assert_eq!(len(text), None, "{text}");
        }
    }

    #[test]
    fn looks_do_not_count() {
        for (emoji, same) in [("👍🏽", "👍"), ("❤\u{FE0F}", "❤"), ("👩🏽\u{200D}💻", "👩💻")]
        {
            assert_eq!(folded(emoji), same);
        }
        let parts: Vec<_> = parts("👩🏽\u{200D}💻").map(folded).collect();
        assert_eq!(parts, ["👩", "💻"]);
    }
}
