//! The passage of a long text that a recall found, and its excerpt for readers.

use std::borrow::Cow;
use std::ops::Range;

use icm_guard::frame::{excerpt, framed_len};
use icm_guard::sanitize::clean_line;
use icm_text::word_places;
use serde::{Deserialize, Serialize};

/// Most bytes of a long text as the first result: the passage and its surroundings. Raised, answers cost more tokens.
const SHOWN_BYTES: usize = 1_600;
/// Most bytes of a long text as a further result: about its passage. Raised, answers cost more tokens.
const FURTHER_SHOWN_BYTES: usize = 800;

/// Returns the most bytes of a long text in an answer, by the place of the result from 0.
pub fn shown_bytes(place: usize) -> usize {
    match place {
        0 => SHOWN_BYTES,
        _ => FURTHER_SHOWN_BYTES,
    }
}

/// Returns the places of matched words in a text, as a search finds them: byte ranges, ascending, without overlaps.
pub fn matched_places(matched: &[String], text: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    for (place, _) in word_places(&matched.join(" "), text) {
        if places.last().is_none_or(|last| last.end <= place.start) {
            places.push(place);
        }
    }
    places
}

/// A passage of a text of more than about 200 words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Its number, from 1.
    pub number: usize,
    /// Number of passages of the text.
    pub of: usize,
    /// Its first byte in the text.
    pub start: usize,
    /// Its end in the text, exclusive.
    pub end: usize,
    /// The headings or keys above it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
}

impl Passage {
    /// Returns passage `number` of a text, from 0; `None` if the text is a single passage or `number` is too large.
    pub fn of(text: &str, number: usize) -> Option<Passage> {
        let mut passages = icm_text::passages(text);
        let of = passages.len();
        if of < 2 || number >= of {
            return None;
        }
        let icm_text::Passage { place, path } = passages.swap_remove(number);
        Some(Passage {
            number: number + 1,
            of,
            start: place.start,
            end: place.end,
            path,
        })
    }

    /// Returns `passage 3 of 12, Deploy › Rollback`, cleaned for one line.
    pub fn told(&self) -> String {
        let path: Vec<String> = self
            .path
            .iter()
            .map(|step| clean_line(step).into_owned())
            .collect();
        let (number, of) = (self.number, self.of);
        match path.is_empty() {
            true => format!("passage {number} of {of}"),
            false => format!("passage {number} of {of}, {}", path.join(" › ")),
        }
    }

    /// Returns the text as shown in `cap_bytes` of a frame: whole, or the passage with its surroundings and marks for
    /// the parts left out. A passage beyond `cap_bytes` is cut to the parts with `matched` words.
    pub fn excerpt<'t>(&self, text: &'t str, matched: &[String], cap_bytes: usize) -> Cow<'t, str> {
        let place = self.start..self.end;
        match text.get(place.clone()) {
            None => Cow::Borrowed(text),
            Some(part) if framed_len(part) <= cap_bytes => excerpt(text, &[(place, 0)], cap_bytes),
            Some(part) => {
                let words = word_places(&matched.join(" "), part).into_iter();
                let words =
                    words.map(|(at, word)| (place.start + at.start..place.start + at.end, word));
                let mut places: Vec<_> = words.collect();
                if places.is_empty() {
                    places.push((place.start..place.start, 0));
                }
                excerpt(text, &places, cap_bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long() -> String {
        let part = |at| format!("Line {at} says nothing that anybody would look for here.\n\n");
        (0..120).map(part).collect()
    }

    #[test]
    fn a_short_text_has_no_passage() {
        assert_eq!(Passage::of("one line", 0), None);
        assert_eq!(Passage::of(&long(), 1_000), None);
    }

    #[test]
    fn a_long_text_is_shown_by_its_passage() {
        let text = long();
        let passage = Passage::of(&text, 5).expect("it is long");
        let part = text[passage.start..passage.end].trim_end();
        let shown = passage.excerpt(&text, &[], SHOWN_BYTES);
        assert!(shown.contains(part) && framed_len(&shown) < SHOWN_BYTES + 100);
        assert!(
            shown.starts_with("[cut: ") && shown.ends_with(" more bytes]"),
            "{shown}"
        );
        assert_eq!(passage.told(), format!("passage 6 of {}", passage.of));
        assert_eq!(passage.excerpt(&text, &[], usize::MAX), text);
    }

    #[test]
    fn of_a_passage_without_room_the_words_are_shown() {
        let text = long().replace("Line 63 says", "Line 63 zebra");
        let passages = (0..).map_while(|number| Passage::of(&text, number));
        let mut passages =
            passages.filter(|passage| text[passage.start..passage.end].contains("zebra"));
        let passage = passages.next().expect("one has the word");
        let shown = passage.excerpt(&text, &["zebra".to_owned()], 120);
        assert!(shown.contains("zebra") && shown.len() < 240, "{shown}");
    }

    #[test]
    fn matched_words_have_places() {
        let matched = ["invoice".to_owned(), "server".to_owned()];
        let text = "Invoices lie on that server; é, no other server.";
        let found = matched_places(&matched, text);
        let found: Vec<&str> = found.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["Invoices", "server", "server"]);
        assert!(matched_places(&[], text).is_empty());
    }

    #[test]
    fn a_place_that_is_none_shows_the_whole() {
        let passage = Passage::of(&long(), 1).expect("it is long");
        assert_eq!(passage.excerpt("é", &[], 1), "é");
    }
}
