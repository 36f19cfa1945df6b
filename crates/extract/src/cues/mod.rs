//! Finds cues: phrases that speak for or against a sentence.

mod phrases;

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use self::phrases::{CUES, FILLERS, PIECES};
use crate::found::Signal;
use crate::words::{Word, words};

/// One word of a phrase.
enum Part {
    /// A stem, which matches words with any ending.
    Stem(String),
    /// A word with this spelling, folded.
    Exact(String),
    /// Any word.
    Any,
}

struct Cue {
    signal: Signal,
    first_only: bool,
    colon: bool,
    parts: Vec<Part>,
}

/// All phrases by their first word: a stem or a folded word.
struct Table {
    by_stem: HashMap<String, Vec<Cue>>,
    by_word: HashMap<String, Vec<Cue>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut table = Table {
        by_stem: HashMap::new(),
        by_word: HashMap::new(),
    };
    for (signal, phrases) in CUES {
        for phrase in phrases.split("; ") {
            let cue = parsed(phrase, *signal, &stemmer);
            let (map, first) = match cue.parts.first() {
                Some(Part::Stem(stem)) => (&mut table.by_stem, stem),
                Some(Part::Exact(word)) => (&mut table.by_word, word),
                Some(Part::Any) | None => continue,
            };
            map.entry(first.clone()).or_default().push(cue);
        }
    }
    table
});

fn parsed(phrase: &str, signal: Signal, stemmer: &Stemmer) -> Cue {
    let words = phrase.strip_prefix('^');
    let first_only = words.is_some();
    let words = words.unwrap_or(phrase);
    let colon = words.ends_with(':');
    let parts = words
        .trim_end_matches(':')
        .split([' ', '-'])
        .map(|word| match word {
            "_" => Part::Any,
            word => match word.strip_prefix('=') {
                Some(exact) => Part::Exact(exact.replace('\'', "")),
                None => Part::Stem(stemmer.stem(word).into_owned()),
            },
        });
    Cue {
        signal,
        first_only,
        colon,
        parts: parts.collect(),
    }
}

/// Returns the number of filler words, such as `so` and `please`, before the sentence proper.
pub(crate) fn opening(words: &[Word<'_>]) -> usize {
    let fillers = words
        .iter()
        .take(3)
        .take_while(|word| FILLERS.contains(&word.folded.as_str()));
    let count = fillers.count();
    // A sentence of fillers only begins with its first word.
    if count == words.len() { 0 } else { count }
}

/// Calls `take` with the signal of each phrase in a sentence, and the number of the phrase's first word.
pub(crate) fn matches(sentence: &str, words: &[Word<'_>], take: &mut dyn FnMut(Signal, usize)) {
    let opening = opening(words);
    for (at, word) in words.iter().enumerate() {
        let by_stem = TABLE.by_stem.get(&word.stem);
        let by_word = TABLE.by_word.get(&word.folded);
        for cue in by_stem.into_iter().chain(by_word).flatten() {
            // The phrase may itself be a filler: `remember to …`.
            if cue.first_only && at > opening {
                continue;
            }
            if is_at(cue, &words[at..]) {
                take(cue.signal, at);
            }
        }
    }
    for (signal, pieces) in PIECES {
        if pieces.iter().any(|piece| sentence.contains(piece)) {
            take(*signal, 0);
        }
    }
}

/// Returns `true` if a word marks the text behind its colon: `Note`, `Decision`.
pub(crate) fn is_label(word: &str) -> bool {
    let labelled = format!("{word}: it");
    let mut marks = false;
    matches(&labelled, &words(&labelled), &mut |signal, _| {
        marks |= signal == Signal::Marked;
    });
    marks
}

fn is_at(cue: &Cue, words: &[Word<'_>]) -> bool {
    if words.len() < cue.parts.len() {
        return false;
    }
    let fits = cue.parts.iter().zip(words).all(|(part, word)| match part {
        Part::Stem(stem) => *stem == word.stem,
        Part::Exact(exact) => *exact == word.folded,
        Part::Any => true,
    });
    fits && (!cue.colon || words[cue.parts.len() - 1].colon)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sentence: &str) -> Vec<Signal> {
        let mut found = Vec::new();
        matches(sentence, &words(sentence), &mut |signal, _| {
            found.push(signal)
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn phrases_match_whole_words_whatever_their_endings() {
        for (sentence, signals) in [
            ("They decide quickly.", &[][..]),
            ("They decided quickly.", &[Signal::Decision]),
            ("The debugger stopped.", &[]),
            ("The bug stopped.", &[Signal::Fix]),
            ("They are deploying it.", &[Signal::Development]),
            ("He noted it.", &[]),
            ("Note: it rains.", &[Signal::Marked]),
            ("So please always knock.", &[Signal::Marked]),
            ("It is always dark.", &[]),
            ("Should we go?", &[Signal::Question, Signal::Hypothetical]),
            ("Replaced Foo with Bar", &[Signal::Decision]),
            ("请记住这一点", &[Signal::Marked]),
        ] {
            assert_eq!(found(sentence), signals, "{sentence}");
        }
    }

    #[test]
    fn every_phrase_can_match_itself() {
        for (signal, phrases) in CUES {
            for phrase in phrases.split("; ") {
                let plain = phrase
                    .trim_start_matches('^')
                    .replace('=', "")
                    .replace('_', "word");
                assert!(found(&plain).contains(signal), "{phrase}: {plain}");
            }
        }
    }
}
