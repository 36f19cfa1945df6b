//! Phrases for a result: the words that matched, its repeats, its fit.

use icm_guard::sanitize::clean_line;

use crate::recall::RecallHit;

/// Most bytes of matched words in a line. Raised, each result costs more tokens.
const WORDS_MAX_BYTES: usize = 60;

/// Most bytes that [`found_by`] returns, about.
pub const FOUND_BY_BYTES: usize = WORDS_MAX_BYTES + 20;

/// Returns `matched a, b and 3 more`, or `near in meaning` if no word matched. The words come from the query and are
/// cleaned; words beyond the room of a short line are counted.
pub fn found_by(matched: &[String]) -> String {
    if matched.is_empty() {
        return "near in meaning".to_owned();
    }
    let mut said = String::from("matched ");
    let room = said.len() + WORDS_MAX_BYTES;
    for (at, word) in matched.iter().enumerate() {
        let word = clean_line(word);
        let between = if at == 0 { "" } else { ", " };
        if said.len() + between.len() + word.len() <= room {
            said.push_str(between);
            said.push_str(&word);
            continue;
        }
        let more = matched.len() - at;
        match at {
            0 => said.push_str(&count(more)),
            _ => said.push_str(&format!(" and {more} more")),
        }
        break;
    }
    said
}

/// Returns `1 long word` or `3 words`.
fn count(words: usize) -> String {
    match words {
        1 => "1 long word".to_owned(),
        _ => format!("{words} words"),
    }
}

/// Most ids and topics of repeats in a line. Raised, each result costs more tokens; the answer's fields have all.
const REPEATS_SHOWN: usize = 3;

/// Returns `9 more say the same: ID, ID, ID, …`; `None` for a result without repeats.
pub fn repeats(hit: &RecallHit) -> Option<String> {
    let (verb, ids) = match &*hit.repeats {
        [] => return None,
        [_] => ("says", &*hit.repeats),
        _ => ("say", &*hit.repeats),
    };
    let also_in = also_in(hit).map_or_else(String::new, |also_in| format!(" ({also_in})"));
    let mut shown: Vec<&str> = ids.iter().take(REPEATS_SHOWN).map(String::as_str).collect();
    if ids.len() > REPEATS_SHOWN {
        shown.push("…");
    }
    Some(format!(
        "{} more {verb} the same{also_in}: {}",
        ids.len(),
        shown.join(", ")
    ))
}

/// Returns `also in TOPIC, TOPIC and 2 more`, the other topics of a result's repeats; `None` if there are none.
pub fn also_in(hit: &RecallHit) -> Option<String> {
    let topics = hit.also_in.iter().take(REPEATS_SHOWN);
    let topics: Vec<_> = topics.map(|topic| clean_line(topic)).collect();
    let more = match hit.also_in.len().saturating_sub(REPEATS_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!topics.is_empty()).then(|| format!("also in {}{more}", topics.join(", ")))
}

/// Returns `fit 0.83`.
pub fn fit(fit: f64) -> String {
    format!("fit {fit:.2}")
}

/// Returns the line for a model whose recall found only memories below the floor. The nearest is an id, so the line
/// holds no stored text.
pub fn nothing_fits(nearest: &str, its_fit: f64) -> String {
    format!(
        "nothing fits; nearest: {nearest} ({}); ask with other words, or floor 0 to see everything",
        fit(its_fit)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        found_by(&words)
    }

    #[test]
    fn a_line_shows_as_many_words_as_it_has_room_for() {
        assert_eq!(said(&[]), "near in meaning");
        assert_eq!(said(&["pool"]), "matched pool");
        assert_eq!(said(&["pool", "size"]), "matched pool, size");
        let (thirty, long) = ("a".repeat(30), "b".repeat(61));
        assert_eq!(
            said(&[&thirty, &thirty, "c", "d"]),
            format!("matched {thirty} and 3 more")
        );
        assert_eq!(said(&[&long]), "matched 1 long word");
        assert_eq!(said(&[&long, "c"]), "matched 2 words");
        assert_eq!(said(&["a\u{202e}b\nc"]), "matched ab c");
        for words in 1..100 {
            let many = vec!["fifteen letters".to_owned(); words];
            assert!(found_by(&many).len() <= FOUND_BY_BYTES, "{words}");
        }
    }
}
