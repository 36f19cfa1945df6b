//! Searches for a text in every form in which it may have been written: plain, escaped in JSON, base64, UTF-16.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{GeneralPurpose, general_purpose::NO_PAD};
use memchr::memmem::Finder;

/// Least base64 characters of a searched form. Lowered, forms of short texts match by chance.
const BASE64_LEN_MIN: usize = 8;

/// A search for one text in all of its forms.
pub struct Needle {
    texts: Vec<Finder<'static>>,
    utf16: Vec<Finder<'static>>,
}

impl Needle {
    /// Returns a search for `text`.
    pub fn new(text: &str) -> Needle {
        let mut forms = vec![text.as_bytes().to_vec()];
        forms.extend(escaped(text));
        let utf16 = [u16::to_le_bytes, u16::to_be_bytes];
        let utf16 = utf16.map(|bytes| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>());
        let plain = [text.as_bytes(), &utf16[0], &utf16[1]];
        forms.extend(plain.into_iter().flat_map(in_base64));
        let finders = |forms: &[Vec<u8>]| {
            let finders = forms.iter().map(|form| Finder::new(form).into_owned());
            finders.collect()
        };
        Needle {
            texts: finders(&forms),
            utf16: finders(&utf16),
        }
    }

    /// Returns `true` if a text holds it.
    pub fn is_in(&self, text: &str) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|form| form.find(text.as_bytes()).is_some())
    }

    /// Returns `true` if bytes hold it; they need not be text.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        let mut forms = self.texts.iter().chain(&self.utf16);
        forms.any(|form| form.find(bytes).is_some())
    }
}

/// Returns the forms in a JSON string that differ from the text: necessary escapes only, or all non-ASCII characters as
/// `\uXXXX` in either case; each also with `/` escaped, as some writers do.
fn escaped(text: &str) -> Vec<Vec<u8>> {
    let quoted = serde_json::Value::from(text).to_string();
    let needed = quoted[1..quoted.len() - 1].to_owned();
    let ascii = |upper: bool| -> String {
        let escape = |unit: u16| match upper {
            true => format!("\\u{unit:04X}"),
            false => format!("\\u{unit:04x}"),
        };
        let escape_char = |c: char| -> String {
            let mut units = [0; 2];
            match c.is_ascii() {
                true => c.to_string(),
                false => c
                    .encode_utf16(&mut units)
                    .iter()
                    .map(|unit| escape(*unit))
                    .collect(),
            }
        };
        needed.chars().map(escape_char).collect()
    };
    let plain = [needed.clone(), ascii(false), ascii(true)];
    let slashed = plain.clone().map(|form| form.replace('/', "\\/"));
    let mut forms: Vec<Vec<u8>> = plain
        .into_iter()
        .chain(slashed)
        .map(String::into_bytes)
        .collect();
    forms.sort();
    forms.dedup();
    forms.retain(|form| form != text.as_bytes());
    forms
}

/// Returns the base64 characters that do not depend on the bytes around these: at each of the three offsets within a
/// group, in both alphabets.
fn in_base64(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for alphabet in [&STANDARD, &URL_SAFE] {
        let engine = GeneralPurpose::new(alphabet, NO_PAD);
        for (before, skip) in [(0, 0), (1, 2), (2, 3)] {
            let mut padded = vec![0; before];
            padded.extend_from_slice(bytes);
            let mut text = engine.encode(&padded).into_bytes();
            if padded.len() % 3 != 0 {
                text.pop(); // some of its bits are of what follows
            }
            text.drain(..skip.min(text.len()));
            if text.len() >= BASE64_LEN_MIN && !forms.contains(&text) {
                forms.push(text);
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "pa\"ss\\wörd/?>~~ and more";

    #[test]
    fn every_form_is_found() {
        let needle = Needle::new(SECRET);
        let json = serde_json::json!({ "a": format!("x {SECRET} y") }).to_string();
        assert!(!json.contains(SECRET));
        assert!(needle.is_in(&json));
        assert!(needle.is_in(r#"pa\"ss\\w\u00f6rd/?>~~ and more"#));
        assert!(needle.is_in(r#"pa\"ss\\w\u00F6rd\/?>~~ and more"#));
        assert!(!needle.is_in("pa ss"));
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = SECRET.encode_utf16().flat_map(unit).collect();
            assert!(needle.is_in_bytes(&bytes));
        }
    }

    #[test]
    fn a_short_text_is_looked_for_as_it_stands() {
        let needle = Needle::new("e");
        assert!(needle.is_in("tea"));
        assert!(!needle.is_in("ZQ"));
    }

    proptest! {
        #[test]
        fn base64_is_found_wherever_the_text_stands(
            before in "[a-z]{0,5}",
            text in "[ -~]{8,40}",
            after in "[a-z]{0,5}",
        ) {
            let needle = Needle::new(&text);
            let whole = format!("{before}{text}{after}");
            prop_assert!(needle.is_in(&BASE64_STANDARD.encode(&whole)));
            prop_assert!(needle.is_in(&BASE64_URL_SAFE_NO_PAD.encode(&whole)));
        }
    }
}
