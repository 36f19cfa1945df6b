//! Makes stored text safe to show.
//!
//! The log keeps every byte that was written. Text that is shown to a model or on a terminal must not move the cursor,
//! hide words, or read differently from its content. [`clean`] removes characters that cannot be seen and never adds
//! any, so cleaning twice changes nothing.

use std::borrow::Cow;

/// Most characters of an operating-system command (`ESC ] … BEL`) that is removed whole. Raised, a stray `ESC ]`
/// swallows more of the text behind it.
const CONTROL_STRING_MAX: usize = 2048;

/// Returns `text` without characters that are invisible or that steer a terminal.
///
/// Removed are control characters other than newline and tab (so `\r\n` becomes `\n`), whole ANSI escape sequences,
/// bidirectional controls, tag characters, zero-width and other invisible characters, and variation selectors without a
/// base. The line and paragraph separators U+2028 and U+2029 become newlines. Joiners stay between characters that they
/// join (emoji families, Persian, Devanagari), and so does one variation selector behind a character that can take it.
///
/// Costs one pass over the bytes, and no allocation if nothing is removed.
pub fn clean(text: &str) -> Cow<'_, str> {
    let Some(first) = first_suspect(text) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut previous = out.chars().next_back();
    let mut rest = text[first..].chars();
    while let Some(c) = rest.next() {
        let keep = match c {
            '\n' | '\t' => Some(c),
            '\u{1b}' => {
                skip_escape(&mut rest);
                None
            }
            '\u{9b}' => {
                skip_control_sequence(&mut rest);
                None
            }
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                skip_control_string(&mut rest);
                None
            }
            '\u{2028}' | '\u{2029}' => Some('\n'),
            '\u{200c}' | '\u{200d}' => {
                let next = rest.clone().next();
                (previous.is_some_and(is_joinable) && next.is_some_and(is_joinable)).then_some(c)
            }
            _ if c.is_control() || is_invisible(c) => None,
            _ if is_variation_selector(c) => previous
                .is_some_and(|base| takes_selector(base, c))
                .then_some(c),
            _ => Some(c),
        };
        if let Some(kept) = keep {
            out.push(kept);
            previous = Some(kept);
        }
    }
    Cow::Owned(out)
}

/// Like [`clean`], on one line: newlines and tabs become single spaces.
pub fn clean_line(text: &str) -> Cow<'_, str> {
    let cleaned = clean(text);
    if cleaned.contains(['\n', '\t']) {
        Cow::Owned(cleaned.replace(['\n', '\t'], " "))
    } else {
        cleaned
    }
}

/// Returns equal JSON with `\uXXXX` for each character that is invisible or steers a terminal.
///
/// These are DEL, the C1 controls, bidirectional controls, and the other characters that [`clean`] removes in any
/// context. JSON itself escapes the C0 controls.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| {
        (c.is_control() && c > ' ') || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}')
    };
    if first_suspect(json).is_none() {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmful(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns the place of the first character that [`clean`] has to look at.
fn first_suspect(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = bytes
        .iter()
        .position(|b| !(0x20..0x7f).contains(b) && !matches!(b, b'\n' | b'\t'))?;
    if bytes[start] < 0x80 {
        return Some(start);
    }
    text[start..]
        .char_indices()
        .find(|&(_, c)| {
            !matches!(c, '\n' | '\t')
                && (c.is_control()
                    || is_invisible(c)
                    || is_variation_selector(c)
                    || matches!(c, '\u{200c}' | '\u{200d}' | '\u{2028}' | '\u{2029}'))
        })
        .map(|(at, _)| start + at)
}

/// Skips an escape sequence behind its `ESC`.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *rest = ahead;
            skip_control_string(rest);
        }
        // Intermediates, then one final character, as in `ESC ( B`.
        Some(' '..='/') => {
            let after = ahead.clone().find(|c| !(' '..='/').contains(c));
            if after.is_some_and(|c| ('0'..='~').contains(&c)) {
                while ahead.next().is_some_and(|c| (' '..='/').contains(&c)) {}
                *rest = ahead;
            }
        }
        Some('0'..='~') => *rest = ahead,
        _ => {}
    }
}

/// Skips a control sequence behind `ESC [`: parameters and intermediates, then one final character.
fn skip_control_sequence(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    loop {
        match ahead.next() {
            Some(' '..='?') => {}
            Some('@'..='~') => {
                *rest = ahead;
                return;
            }
            // Not a sequence: the characters behind it are text.
            _ => return,
        }
    }
}

/// Skips a control string behind `ESC ]` and the like: up to `BEL` or `ESC \`, on one line.
fn skip_control_string(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    for _ in 0..CONTROL_STRING_MAX {
        match ahead.next() {
            Some('\u{7}' | '\u{9c}') => {
                *rest = ahead;
                return;
            }
            Some('\u{1b}') => {
                if ahead.clone().next() == Some('\\') {
                    ahead.next();
                    *rest = ahead;
                }
                return;
            }
            Some('\n') | None => return,
            Some(_) => {}
        }
    }
}

/// Returns `true` for characters that show nothing: those that Unicode lets a font ignore
/// (`Default_Ignorable_Code_Point`), except joiners and variation selectors, and the marks of annotations.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180e}' | '\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns `true` if `selector` may follow `base`. A base takes one selector, so a run of them, which can spell a
/// hidden message, shrinks to the first.
fn takes_selector(base: char, selector: char) -> bool {
    match selector {
        // Text and emoji style: symbols, and the keycap characters.
        '\u{fe0e}' | '\u{fe0f}' => {
            matches!(base, '0'..='9' | '#' | '*' | '\u{a9}' | '\u{ae}')
                || ('\u{203c}'..='\u{3299}').contains(&base) && !base.is_whitespace()
                || ('\u{1f000}'..='\u{1faff}').contains(&base)
        }
        '\u{e0100}'..='\u{e01ef}' => {
            matches!(base, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        }
        '\u{180b}'..='\u{180d}' => ('\u{1820}'..='\u{18aa}').contains(&base),
        _ => base as u32 >= 0x1000 && !base.is_whitespace() && !is_variation_selector(base),
    }
}

/// Returns `true` if a joiner next to `c` changes the shape of text: letters of joining scripts, emoji.
fn is_joinable(c: char) -> bool {
    matches!(c,
        '\u{620}'..='\u{8ff}'      // Arabic, Syriac, Thaana, N'Ko
        | '\u{900}'..='\u{dff}'    // Indic scripts
        | '\u{1000}'..='\u{109f}'  // Myanmar
        | '\u{1780}'..='\u{18af}'  // Khmer, Mongolian
        | '\u{2190}'..='\u{2bff}'  // symbols that emoji are made with
        | '\u{fe0f}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_escaped_and_stays_the_same() {
        for (text, escaped) in [
            ("\u{9b}31mred", r#""\u009b31mred""#),
            ("user\u{202e}nimda\u{202c}", r#""user\u202enimda\u202c""#),
            (
                "\u{80}\u{9f} \u{7f}\u{85}",
                r#""\u0080\u009f \u007f\u0085""#,
            ),
            (
                "\u{2066}a\u{2069}\u{200f}\u{61c}",
                r#""\u2066a\u2069\u200f\u061c""#,
            ),
            ("\u{e0041}\u{feff}\u{2028}", r#""\udb40\udc41\ufeff\u2028""#),
            (
                "Grüße, 東京, 👨\u{200d}👩 ❤\u{fe0f}",
                "\"Grüße, 東京, 👨\u{200d}👩 ❤\u{fe0f}\"",
            ),
            ("plain \"text\"\n\u{1b}[m", r#""plain \"text\"\n\u001b[m""#),
        ] {
            let json = serde_json::to_string(text).expect("it is text");
            assert_eq!(escape_json(&json), escaped);
            let back: String = serde_json::from_str(escaped).expect("it is JSON");
            assert_eq!(back, text);
        }
    }

    /// Pairs of an input and its cleaned text.
    const CORPUS: &[(&str, &str)] = &[
        ("", ""),
        ("plain text\n\twith a tab", "plain text\n\twith a tab"),
        ("Grüße, 東京, привет, עברית", "Grüße, 東京, привет, עברית"),
        ("a\r\nb\rc", "a\nbc"),
        ("nul\0 bell\u{7} del\u{7f} nel\u{85}", "nul bell del nel"),
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("\u{1b}[2J\u{1b}[1;1Hgone", "gone"),
        ("\u{9b}31mred", "red"),
        ("\u{1b}]0;title\u{7}text", "text"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}]8;;never ended", "8;;never ended"),
        ("\u{1b}]0;line\nnext", "0;line\nnext"),
        ("\u{1b}(Bx\u{1b}cy", "xy"),
        ("ends in esc\u{1b}", "ends in esc"),
        ("\u{1b}[31é", "31é"),
        ("user\u{202e}nimda\u{202c}", "usernimda"),
        ("\u{2066}isolated\u{2069}", "isolated"),
        ("\u{e0001}\u{e0069}\u{e0067}\u{e007f}tags", "tags"),
        ("zero\u{200b}width\u{2060}\u{feff}", "zerowidth"),
        ("joi\u{200d}ner in \u{200c}ASCII", "joiner in ASCII"),
        (
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥",
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥",
        ),
        ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
        ("a\u{fe0f}b \u{fe0f}", "ab "),
        ("😀\u{e0100}\u{e0101}\u{e0102}", "😀"),
        ("😀\u{fe0f}\u{fe00}\u{fe01}", "😀\u{fe0f}"),
        ("葛\u{e0100}", "葛\u{e0100}"),
        ("soft\u{ad}hyphen", "softhyphen"),
        ("<\u{115f}/memories>\u{1160}", "</memories>"),
        ("\u{e00e9}\u{e0080}\u{e01f0}\u{e0fff}hidden", "hidden"),
        (
            "a\u{17b4}\u{17b5}\u{180f}\u{fff0}\u{fff8}\u{1bca0}\u{1bca3}b",
            "ab",
        ),
        ("line\u{2028}separator", "line\nseparator"),
    ];

    #[test]
    fn the_corpus_comes_out_as_written_down() {
        for (raw, expected) in CORPUS {
            assert_eq!(clean(raw), *expected, "{raw:?}");
        }
    }

    #[test]
    fn cleaning_twice_changes_nothing() {
        for (raw, _) in CORPUS {
            let once = clean(raw).into_owned();
            assert_eq!(clean(&once), once, "{raw:?}");
        }
    }

    #[test]
    fn clean_text_is_borrowed() {
        for text in ["ascii only", "Grüße, 東京"] {
            assert!(matches!(clean(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(clean_line("a\r\nb\tc\u{1b}[0m"), "a b c");
    }

    proptest::proptest! {
        #[test]
        fn no_steering_character_survives(raw in "(\\PC|[\\x00-\\x1f\\x7f-\\u{9f}\\u{200b}-\\u{206f}\\u{fe00}-\\u{fe0f}\\u{e0000}-\\u{e01ef}]){0,64}") {
            let cleaned = clean(&raw).into_owned();
            for c in cleaned.chars() {
                proptest::prop_assert!(matches!(c, '\n' | '\t') || !c.is_control(), "{c:?}");
                proptest::prop_assert!(!is_invisible(c), "{c:?}");
            }
            proptest::prop_assert_eq!(clean(&cleaned), cleaned.as_str());
        }
    }
}
