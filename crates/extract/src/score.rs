//! The score of a sentence.

use crate::cues;
use crate::found::{Importance, Signal, Speaker};
use crate::words::{Kind, Word, words};

/// Least words of a sentence that is kept; shorter ones mean nothing alone. Raised, short decisions are lost.
const WORDS_MIN: usize = 4;
/// Least words of a sentence that is whole by its form; see [`is_whole`]. Raised, short decisions are lost.
const WHOLE_WORDS_MIN: usize = 3;
/// Least characters of a kept sentence in a script without spaces. Raised, short decisions are lost.
const GLYPHS_MIN: usize = 6;
/// Least words of a long sentence. Raised, longer sentences keep their full score.
const LONG_WORDS: usize = 60;
/// Least score of a sentence of medium importance without a strong signal. Raised, more sentences are of low
/// importance.
const MEDIUM_SCORE: i32 = 8;

/// The score of a sentence, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scored {
    /// At least 0.
    pub(crate) score: u32,
    /// In order, each once.
    pub(crate) signals: Vec<Signal>,
}

impl Scored {
    pub(crate) fn importance(&self) -> Importance {
        let strong = [Signal::Marked, Signal::Decision];
        let medium =
            self.score >= MEDIUM_SCORE as u32 || self.signals.iter().any(|it| strong.contains(it));
        if medium {
            Importance::Medium
        } else {
            Importance::Low
        }
    }
}

/// Pronouns that make a sentence unclear if nothing before them names the thing.
const BARE: &[&str] = &[
    "it", "its", "that", "thats", "this", "these", "those", "they", "theyre", "he", "she", "them",
    "one", "both", "neither", "such", "which", "same", "there", "theres",
];
/// Words behind a bare pronoun. With a noun behind it, a pronoun is not bare (`this crate uses`).
const VERBS: &[&str] = &[
    "is", "was", "are", "were", "has", "have", "had", "does", "do", "did", "will", "would", "can",
    "could", "should", "may", "might", "must", "also", "only", "now", "then", "works", "means",
    "uses", "used", "needs", "makes", "fails", "failed", "gets", "runs", "lets", "just", "never",
    "always", "isnt", "wasnt", "doesnt", "dont", "wont", "cant", "keeps", "returns", "takes",
    "gives", "allows", "breaks", "caused", "causes", "fixed", "fixes", "happens", "happened",
    "worked", "broke", "turned", "turns", "came", "comes", "depends", "requires", "stores",
    "lives", "not", "still", "already", "both", "all", "way", "said", "why", "seems", "looks",
    "could", "seem", "look", "shows", "ensures", "avoids", "prevents", "helps", "contains",
    "handles", "creates", "writes", "reads",
];

/// Returns `true` if a sentence begins with a pronoun that only the previous sentence explains.
pub(crate) fn is_vague(sentence: &str) -> bool {
    let words = words(sentence);
    let at = cues::opening(&words);
    let Some(first) = words.get(at) else {
        return false;
    };
    if first.kind != Kind::Plain || !BARE.contains(&first.folded.as_str()) {
        return false;
    }
    match first.folded.as_str() {
        // `There is a queue` names the queue.
        "there" | "theres" | "one" | "such" | "same" => false,
        "it" | "thats" | "they" | "theyre" | "he" | "she" | "them" | "neither" | "which" => true,
        "its" => true,
        _ => words
            .get(at + 1)
            .is_none_or(|next| VERBS.contains(&next.folded.as_str()) || first.pause),
    }
}

/// Returns the score of a sentence; `None` if the sentence is too short.
pub(crate) fn score(sentence: &str, speaker: Speaker) -> Option<Scored> {
    let words = words(sentence);
    let glyphs = sentence.chars().filter(|c| is_glyph(*c)).count();
    let short = words.len() < WORDS_MIN && glyphs < GLYPHS_MIN;
    if short && words.len() < WHOLE_WORDS_MIN {
        return None;
    }
    let mut signals: Vec<Signal> = Vec::new();
    let mut places: Vec<(Signal, usize)> = Vec::new();
    let opening = cues::opening(&words);
    let habit = is_habit(&words);
    cues::matches(sentence, &words, &mut |signal, at| {
        let counts = match signal {
            // `Run the tests before each push` is a rule, `run the tests` is a task.
            Signal::Request => !habit,
            // `The build is green now` is passing news, `Now we use pnpm` is a decision.
            // `Let's use Kafka` of a person is a decision, of a model it is a step.
            Signal::Progress => {
                (at >= opening || at == 0)
                    && (speaker == Speaker::Assistant || !is_proposal(&words[at..]))
            }
            _ => true,
        };
        if counts {
            signals.push(signal);
            places.push((signal, at));
        }
    });
    if names_place(&words) {
        signals.push(Signal::Architecture);
    }
    if is_said_twice(&mut places) {
        signals.push(Signal::Several);
    }
    if asks(sentence) {
        signals.push(Signal::Question);
    }
    match specific(&words, opening) {
        0 => {}
        1 => signals.push(Signal::Specific),
        _ => signals.push(Signal::VerySpecific),
    }
    if speaker == Speaker::User {
        signals.push(Signal::ByUser);
    }
    if words.len() > LONG_WORDS {
        signals.push(Signal::Long);
    }
    signals.sort_unstable();
    signals.dedup();
    let marked = signals.contains(&Signal::Marked);
    if short && !is_whole(&words[opening..], &signals) {
        return None;
    }
    if marked {
        // With an explicit mark, a request is not chatter: `Never run the migration by hand`.
        signals.retain(|signal| !matches!(signal, Signal::Request));
    }
    let sum: i32 = signals.iter().map(|signal| signal.points()).sum();
    Some(Scored {
        score: u32::try_from(sum).unwrap_or(0),
        signals,
    })
}

/// Returns `true` if few words are a statement: `Decision: drop GraphQL`, `We chose Kafka`, `Never force push`,
/// `Mira owns billing`. `Note: see below` and `I like it` are none.
fn is_whole(words: &[Word<'_>], signals: &[Signal]) -> bool {
    const SUBJECTS: &[&str] = &["we", "were", "i", "wir", "ich"];
    const COMMANDS: &[&str] = &[
        "always", "never", "dont", "use", "avoid", "prefer", "answer", "reply", "respond", "immer",
        "nie", "niemals",
    ];
    const EMPTY: &[&str] = &[
        "then", "already", "so", "too", "now", "again", "here", "mind", "das", "es",
    ];
    let has = |signal| signals.contains(&signal);
    let Some(first) = words.first() else {
        return false;
    };
    // `We agreed on:` introduces a list.
    if words.last().is_some_and(|last| last.colon) {
        return false;
    }
    if first.colon {
        return has(Signal::Marked) && has(Signal::Decision);
    }
    let begins =
        SUBJECTS.contains(&first.folded.as_str()) || COMMANDS.contains(&first.folded.as_str());
    let empty = |word: &Word<'_>| {
        BARE.contains(&word.folded.as_str()) || EMPTY.contains(&word.folded.as_str())
    };
    let states = begins && (has(Signal::Marked) || has(Signal::Decision));
    let asks = matches!(first.folded.as_str(), "who" | "wer");
    let owns = has(Signal::Person) && has(Signal::Architecture) && !asks;
    (states || owns) && !words.iter().any(empty)
}

/// Returns `true` if a signal in favour has two phrases that stand apart.
fn is_said_twice(places: &mut Vec<(Signal, usize)>) -> bool {
    places.retain(|(signal, _)| signal.points() > 1);
    places.sort_unstable();
    places
        .windows(2)
        .any(|two| two[0].0 == two[1].0 && two[1].1 > two[0].1 + 1)
}

/// Returns `true` if words propose a choice: `let's use …`, `let's go with …`.
fn is_proposal(words: &[Word<'_>]) -> bool {
    const CHOICES: &[&str] = &["use", "stick", "adopt"];
    let word = |at: usize| words.get(at).map_or("", |word| word.folded.as_str());
    word(0) == "lets" && (CHOICES.contains(&word(1)) || (word(1), word(2)) == ("go", "with"))
}

fn asks(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(['"', '\'', ')', '*', '_', ' ', '`']);
    // The explanation may stand behind the question.
    end.ends_with(['?', '？', '؟'])
        || sentence
            .split('`')
            .step_by(2)
            .any(|text| text.contains("? "))
}

/// Returns `true` if the words are about every time, not about now.
fn is_habit(words: &[Word<'_>]) -> bool {
    const HABIT: &[&str] = &[
        "before", "after", "every", "each", "whenever", "always", "never", "only", "instead",
        "unless", "once", "when", "until", "rather",
    ];
    words
        .iter()
        .any(|word| HABIT.contains(&word.folded.as_str()))
}

/// Returns `true` if the words say where a thing is, by an address or a path: `Logs are in /var/log/app`.
fn names_place(words: &[Word<'_>]) -> bool {
    const VERBS: &[&str] = &["is", "are", "ist", "sind", "liegt", "liegen"];
    const WHERE: &[&str] = &["in", "at", "under", "on", "unter", "auf"];
    words.windows(3).any(|three| {
        let place = match three[2].kind {
            Kind::Url => true,
            Kind::Identifier | Kind::Code => three[2].text.contains('/'),
            _ => false,
        };
        place
            && VERBS.contains(&three[0].folded.as_str())
            && WHERE.contains(&three[1].folded.as_str())
    })
}

/// Returns the number of names, identifiers, numbers and pieces of code, each counted once.
fn specific(words: &[Word<'_>], opening: usize) -> usize {
    let mut named: Vec<&str> = words
        .iter()
        .skip(opening)
        .filter(|word| !matches!(word.kind, Kind::Plain))
        .map(|word| word.folded.as_str())
        .collect();
    named.sort_unstable();
    named.dedup();
    named.len()
}

/// Returns `true` for characters of scripts without spaces.
fn is_glyph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{0e00}'..='\u{0eff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_pronouns_are_vague_and_named_things_are_not() {
        for (sentence, vague) in [
            ("It uses Redis.", true),
            ("That was the root cause.", true),
            ("So this is why the build fails.", true),
            ("This crate uses Redis.", false),
            ("That crate uses Redis.", false),
            ("There is a queue in front.", false),
            ("Its cache is stale.", true),
            ("Redis uses it.", false),
        ] {
            assert_eq!(is_vague(sentence), vague, "{sentence}");
        }
    }

    #[test]
    fn points_add_up_and_never_below_zero() {
        let of = |sentence| score(sentence, Speaker::Unknown).expect("long enough");
        let scored = of("We decided to use PostgreSQL.");
        assert_eq!(scored.signals, [Signal::Decision, Signal::Specific]);
        assert_eq!(scored.score, 5);
        assert_eq!(of("Thanks, let me look at this now?").score, 0);
        assert_eq!(score("Too short.", Speaker::User), None);
        assert!(score("记住发票存在数据库里", Speaker::User).is_some());
        assert_eq!(of("Run the tests in CI now.").score, 0);
        assert!(of("Run the tests before each push to CI.").score >= 3);
    }
}
