//! Which versions of a topic may say nearly the same as a text: those whose signatures are like its own.

use std::cmp::Reverse;

use tantivy::Term;

use super::candidate::Place;
use super::collect::filtered;
use super::error::{Doing, TextError};
use super::schema::{Home, fields, scope_is, topic_is};
use super::search::stored;
use super::signature::{Likely, Signature};
use super::similar::Words;
use super::{Tail, TextIndex};

/// So many versions are read and compared, those whose signatures agree most: where a topic has more near texts, those beyond
/// are hardly nearer. More cost some 10 µs each.
pub(crate) const COMPARED_MAX: usize = 64;

/// A text of which near ones are looked for.
#[derive(Debug, Clone)]
pub struct Sought<'t> {
    text: &'t str,
    words: Words,
    signature: Signature,
}

impl<'t> Sought<'t> {
    /// A text.
    pub fn of(text: &'t str) -> Sought<'t> {
        let words = Words::of(text);
        let signature = Signature::with_words(text, &words);
        Sought {
            text,
            words,
            signature,
        }
    }

    /// All of it.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Its words.
    pub fn words(&self) -> &Words {
        &self.words
    }
}

impl TextIndex {
    /// Versions of exactly this topic and scope that may be as alike as `least_ppm` (see [`Words::similarity_ppm`]),
    /// [`COMPARED_MAX`] at the most: those whose signatures agree most, of equal ones the newer first. The caller
    /// compares them. What was stored with each.
    ///
    /// `signature` gives that of an ordinal of the index. `visible` is asked from the best one on, until enough are. Costs a walk
    /// of the posting lists of topic and scope, and a signature of each version there.
    pub fn near(
        &self,
        tail: &Tail,
        sought: &Sought<'_>,
        (topic, scope): (&str, &str),
        least_ppm: u32,
        signature: &dyn Fn(u64) -> Option<Signature>,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Vec<u8>>, TextError> {
        let mut found = Vec::new();
        if sought.signature.is_empty() {
            return Ok(found);
        }
        let likely = Likely::at_least(least_ppm);
        let mut places = Vec::new();
        let mut look_at = |ordinal: u64, other: Signature, place: Place| {
            if likely.may_be(sought.signature, other) {
                places.push((other.agreement(sought.signature), ordinal, place));
            }
        };
        for (at, ordinal, other) in tail.in_home(Home::of(topic, Some(scope))) {
            look_at(ordinal, other, Place::Tail(at));
        }
        let home = [topic_is(topic), scope_is(scope)];
        let home = home.map(|filter| vec![Term::from_field_text(fields().filter, &filter)]);
        let live = self.live_searcher();
        let mut parts = self.parts();
        for (segment, reader) in live.segment_readers().iter().enumerate() {
            let part = parts.of(reader).doing("looking at a topic")?;
            let docs = filtered(reader, &home).doing("looking at a topic")?;
            let docs = docs.unwrap_or_else(|| (0..reader.max_doc()).collect());
            for doc in docs {
                if let Some(ordinal) = part.ordinals.first(doc)
                    && let Some(other) = signature(ordinal)
                {
                    let tier = 0;
                    look_at(ordinal, other, Place::Tier { tier, segment, doc });
                }
            }
        }
        drop(parts);
        places.sort_unstable_by_key(|(agreement, ordinal, _)| Reverse((*agreement, *ordinal)));
        // Texts that seem to be the same agree most, and come first.
        let best = places
            .into_iter()
            .filter(|(_, ordinal, _)| visible(*ordinal));
        let tiers = [live];
        for (_, _, place) in best.take(COMPARED_MAX) {
            found.push(stored(&tiers, tail, place)?);
        }
        Ok(found)
    }
}
