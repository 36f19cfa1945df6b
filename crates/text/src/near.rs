//! Finds versions of a topic that may be near duplicates of a text, by comparing signatures.

use std::cmp::Reverse;

use tantivy::Term;

use super::candidate::Place;
use super::collect::filtered;
use super::error::{Doing, TextError};
use super::schema::{AnyOf, Home, fields, scope_is, topic_is};
use super::search::stored;
use super::signature::{Likely, Signature};
use super::similar::Words;
use super::{Tail, TextIndex};

/// Largest number of versions that are read and compared, those whose signatures agree most: 64. If a topic has more
/// near texts, the others are hardly nearer. A larger value costs some 10 µs for each version.
pub(crate) const COMPARED_MAX: usize = 64;

/// A text whose near texts are searched for.
#[derive(Debug, Clone)]
pub struct Sought<'t> {
    text: &'t str,
    words: Words,
    signature: Signature,
}

impl<'t> Sought<'t> {
    /// Analyses a text.
    pub fn of(text: &'t str) -> Sought<'t> {
        let words = Words::of(text);
        let signature = Signature::with_words(text, &words);
        Sought {
            text,
            words,
            signature,
        }
    }

    /// Returns the whole text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the words of the text.
    pub fn words(&self) -> &Words {
        &self.words
    }
}

impl TextIndex {
    /// Returns the bytes stored with versions of exactly this topic and scope that may be at least `least_ppm` alike
    /// (see [`Words::similarity_ppm`]): at most [`COMPARED_MAX`], those whose signatures agree most, of equal ones the
    /// newer first. The caller compares their texts.
    ///
    /// `signature` returns the signature of an ordinal in the index. `visible` is asked from the best version on, until
    /// enough are found. Costs a walk of the posting lists of topic and scope, and a signature of each version there.
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
        let home = home.map(|filter| AnyOf::one(Term::from_field_text(fields().filter, &filter)));
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
        // Texts that seem to be identical agree most, and come first.
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
