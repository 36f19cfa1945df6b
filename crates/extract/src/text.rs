//! Finds the sentences of a text that are worth keeping.

use crate::best::Best;
use crate::found::{Found, Origin, Passage, Rules, Signal, Speaker};
use crate::frames::without_frames;
use crate::keywords::keywords;
use crate::score::{Scored, is_vague, score};
use crate::sentences::{SENTENCE_LEN_MAX, Sentence, sentences};
use crate::speakers::turns;
use crate::stamps::Stamp;

/// Most sentences with a pronoun at their start that are kept with the sentence before them. Raised, results get
/// longer.
const FOLLOWERS_MAX: usize = 2;
/// Most bytes of an introduction that is kept with an item. Raised, results get longer.
const INTRO_LEN_MAX: usize = 60;

/// Returns the sentences of a plain text or a Markdown page that are worth keeping, in order.
///
/// If a person and a model speak in it by name (`User: …`, `Assistant: …`), each sentence has its speaker, and the
/// output of tools is left out unless the rules include it. Of sentences that say the same, the best is returned. Time
/// is linear in the text for a given [`Rules::max`]; memory is a few times the text.
pub fn from_text(text: &str, rules: &Rules) -> Vec<Found> {
    let mut best = Best::of(rules.max);
    // Injected text may contain names of speakers.
    let text = without_frames(text);
    for turn in turns(&text) {
        if turn.speaker == Speaker::Tool && !rules.tool_output {
            continue;
        }
        let said = SpokenText {
            text: &turn.text,
            speaker: turn.speaker,
            line: Line::First(turn.line),
            at_ms: None,
            offset: None,
            message: None,
        };
        said.extract(rules, &mut best);
    }
    best.finish()
}

/// Returns the whole text by speaker, as in [`from_text`], without injected text. The output of tools is left out
/// unless the rules include it.
pub fn passages_of_text(text: &str, rules: &Rules) -> Vec<Passage> {
    let text = without_frames(text);
    let turns = turns(&text).into_iter();
    let turns = turns.filter(|turn| turn.speaker != Speaker::Tool || rules.tool_output);
    let passages = turns.map(|turn| {
        let said = SpokenText {
            text: &turn.text,
            speaker: turn.speaker,
            line: Line::First(turn.line),
            at_ms: None,
            offset: None,
            message: None,
        };
        said.passage(usize::MAX)
    });
    passages
        .filter(|passage| !passage.text.is_empty())
        .collect()
}

/// The lines of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Line {
    /// The text begins at this line.
    First(u64),
    /// The whole text stands in this line.
    Only(u64),
}

/// A text with its speaker and origin.
pub(crate) struct SpokenText<'a> {
    pub(crate) text: &'a str,
    pub(crate) speaker: Speaker,
    pub(crate) line: Line,
    pub(crate) at_ms: Option<i64>,
    pub(crate) offset: Option<u64>,
    pub(crate) message: Option<&'a str>,
}

impl SpokenText<'_> {
    /// Adds the sentences that reach the threshold to `best`.
    pub(crate) fn extract(&self, rules: &Rules, best: &mut Best) {
        let text = without_frames(self.text);
        let first_line = match self.line {
            Line::First(line) => line,
            Line::Only(_) => 1,
        };
        let sentences = sentences(&text, first_line);
        let mut rest = &sentences[..];
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            if is_vague(&first.text) {
                continue;
            }
            let followers = rest
                .iter()
                .take_while(|next| next.follows && is_vague(&next.text));
            let followers = &rest[..followers.take(FOLLOWERS_MAX).count()];
            rest = &rest[followers.len()..];
            if let Some((text, scored)) = self.unit(first, followers, rules)
                && scored.score >= rules.threshold.max(1)
            {
                let last = followers
                    .last()
                    .filter(|last| text.ends_with(&last.text))
                    .unwrap_or(first);
                let text = first.stamp.introduce(text);
                let lines = (first.line, last.last_line);
                best.add(self.found(text, scored, lines, &first.stamp));
            }
        }
    }

    /// Returns a sentence, joined with following sentences and its introduction if they raise the score, and the score.
    fn unit(
        &self,
        first: &Sentence,
        followers: &[Sentence],
        rules: &Rules,
    ) -> Option<(String, Scored)> {
        let mut text = first.text.clone();
        let mut best = score(&text, self.speaker).map(|scored| (text.clone(), scored));
        for follower in followers {
            text.push(' ');
            text.push_str(&follower.text);
            if text.len() > SENTENCE_LEN_MAX {
                break;
            }
            let scored = score(&text, self.speaker);
            let better = |it: &Scored| best.as_ref().is_none_or(|(_, best)| it.score > best.score);
            if let Some(scored) = scored.filter(better) {
                best = Some((text.clone(), scored));
            }
        }
        let Some(intro) = first
            .intro
            .as_deref()
            .filter(|intro| intro.len() <= INTRO_LEN_MAX)
        else {
            return best;
        };
        let own = best.as_ref().map_or(0, |(_, scored)| scored.score);
        // An item that is too short to be a sentence may be one with its introduction.
        if (own == 0 && best.is_some()) || own >= rules.threshold {
            return best;
        }
        let text = format!("{intro}: {}", first.text);
        let strong = [
            Signal::Marked,
            Signal::Decision,
            Signal::Fix,
            Signal::Architecture,
        ];
        let tells =
            |it: &Scored| it.score > own && it.signals.iter().any(|signal| strong.contains(signal));
        match score(&text, self.speaker).filter(tells) {
            Some(scored) => Some((text, scored)),
            None => best,
        }
    }

    /// Returns the text without injected text, cut to `len_max` bytes.
    pub(crate) fn passage(&self, len_max: usize) -> Passage {
        let text = without_frames(self.text);
        let text = text.trim();
        let (line, last_line) = match self.line {
            Line::First(line) => (
                line,
                line + (self.text.trim_end().lines().count() as u64).max(1) - 1,
            ),
            Line::Only(line) => (line, line),
        };
        Passage {
            text: text[..text.floor_char_boundary(len_max)].to_owned(),
            speaker: self.speaker,
            origin: self.origin((line, last_line)),
        }
    }

    fn origin(&self, (line, last_line): (u64, u64)) -> Origin {
        Origin {
            line,
            last_line,
            offset: self.offset,
            message: self.message.map(str::to_owned),
        }
    }

    fn found(&self, text: String, scored: Scored, lines: (u64, u64), stamp: &Stamp) -> Found {
        let (line, last_line) = match self.line {
            Line::First(_) => lines,
            Line::Only(line) => (line, line),
        };
        Found {
            keywords: keywords(&text),
            importance: scored.importance(),
            score: scored.score,
            signals: scored.signals,
            text,
            origin: self.origin((line, last_line)),
            speaker: self.speaker,
            at_ms: stamp.at_ms.or(self.at_ms),
        }
    }
}
