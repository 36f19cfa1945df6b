//! Which versions of a topic may say nearly the same as a text: those that share its rare words.

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::columnar::Column;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};
use xxhash_rust::xxh3::xxh3_64;

use super::analyze::{TextField, plain_words};
use super::candidate::Place;
use super::error::{Doing, TextError};
use super::marks::Marks;
use super::parts::{Kept, Part};
use super::schema::{Home, fields, topic_is};
use super::search::stored;
use super::segment::{postings, seek};
use super::similar::Words;
use super::stopwords::is_stopword;
use super::{Tail, TextIndex};

/// Words of a text that are looked at. More would find no others: what is alike shares words from its beginning on.
const FIRST: usize = 400;
/// Words that are looked up: some with digits, which tell texts of one pattern apart, and the longest, which are rarely
/// the common ones.
const LOOKED_UP: usize = 32;
const WITH_DIGITS: usize = 8;
/// The fewest and the most that are searched for, the rarest of those. Texts that are alike share all but a
/// few words, so some of the rarest are among the shared ones.
const SEARCHED_MIN: usize = 3;
const SEARCHED_MAX: usize = 8;
/// Documents of a segment with a word that are looked at one by one; of more those of the topic alone.
const FEW: u32 = 256;
/// A process that has not looked for near texts yet sorts so many documents by their homes, or has so many of the tail
/// analysed to look words up: one or the other takes a few milliseconds. One that looks again has sorted them.
const SORTED_AT_ONCE: u64 = 20_000;
const ANALYSED_AT_ONCE: usize = 128;
/// So many versions are read and compared: those that their marks leave over, or the most promising of them.
pub(crate) const COMPARED_MAX: usize = 64;
/// One, in parts per million.
const ONE_PPM: u64 = 1_000_000;

/// A text of which near ones are looked for.
#[derive(Debug, Clone)]
pub struct Sought<'t> {
    text: &'t str,
    words: Words,
    marks: Marks,
}

/// A word, and where it is found.
struct Rare<'t> {
    field: TextField,
    word: &'t str,
    /// How many documents have it.
    docs: u64,
    /// By segment.
    places: Vec<Option<TermInfo>>,
}

/// What a version shares with a text.
struct Shares {
    place: Place,
    /// As far as the marks tell every word, and it has no other.
    all: bool,
    /// Of the rare words.
    weight: f64,
}

/// What a version has to be to be near.
struct Near<'s> {
    sought: &'s Sought<'s>,
    home: Home,
    /// The most words of the text that it lacks, and of its own that the text lacks.
    lacks_max: u64,
    adds_max: u64,
}

impl<'t> Sought<'t> {
    /// A text.
    pub fn of(text: &'t str) -> Sought<'t> {
        let (mut hashes, mut marks) = (Vec::new(), Marks::default());
        plain_words(text, &mut |field, word| {
            let hash = xxh3_64(word.as_bytes());
            hashes.push(hash);
            if field == TextField::Exact {
                marks.add_hash(hash);
            }
        });
        Sought {
            text,
            words: Words::from_hashes(hashes),
            marks,
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

    /// The first of its words, and the fields that have them as they are.
    fn terms(&self) -> Vec<(TextField, String)> {
        let mut terms = Vec::new();
        plain_words(self.text, &mut |field, word| {
            if terms.len() < FIRST {
                terms.push((field, word.to_owned()));
            }
        });
        terms
    }
}

impl<'s> Near<'s> {
    /// Versions of a home at least as alike as `least_ppm`, by [`Words::similarity_ppm`].
    ///
    /// Of `2 c >= s (a + b)`, where `c` words are common to a text of `a` and one of `b`, follows `b >= a s / (2 - s)`, as
    /// `c <= b`, and so `a - c <= a (2 - 2 s) / (2 - s)`; from the same with `a` and `b` exchanged `b - c <= a (2 - 2 s) / s`.
    fn to(sought: &'s Sought<'s>, home: Home, least_ppm: u32) -> Near<'s> {
        let all = sought.words.count() as u64;
        let s = u64::from(least_ppm).clamp(1, ONE_PPM);
        Near {
            sought,
            home,
            lacks_max: all * (2 * ONE_PPM - 2 * s) / (2 * ONE_PPM - s),
            adds_max: all * (2 * ONE_PPM - 2 * s) / s,
        }
    }

    /// Whether a version may be, as far as its marks tell.
    fn may_be(&self, home: Home, marks: Marks) -> bool {
        home == self.home
            && self.sought.marks.missing_in(marks) <= self.lacks_max
            && marks.missing_in(self.sought.marks) <= self.adds_max
    }
}

impl TextIndex {
    /// Versions of exactly this topic and scope that share rare words with a text and may be as alike as `least_ppm` (see
    /// [`Words::similarity_ppm`]), [`COMPARED_MAX`] at the most: those first that have its marks and no others, as the same
    /// text has; then those that share more and rarer words (each counts ln(1 + N / n) where n of N documents have it); of
    /// equal ones the newer first. But where no more than [`COMPARED_MAX`] may be as alike it is all of those, in no order,
    /// whatever they share. Who asked compares them. `visible` is asked, by ordinal, about each. What was stored with each.
    /// Costs a step of a few nanoseconds for each version of the topic and scope, or one for each of the topic that has
    /// such a word.
    pub fn near(
        &self,
        tail: &Tail,
        sought: &Sought<'_>,
        (topic, scope): (&str, &str),
        least_ppm: u32,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Vec<u8>>, TextError> {
        // A text without words is like none.
        if sought.words.count() == 0 {
            return Ok(Vec::new());
        }
        let near = Near::to(sought, Home::of(topic, Some(scope)), least_ppm);
        let live = self.live_searcher();
        let segments = live.segment_readers();
        let mut parts = self.parts();
        if let Some(places) =
            few_of_home(&mut parts, segments, tail, &near, visible).doing("looking at a topic")?
        {
            let tiers = [live];
            let places = places.into_iter();
            return places.map(|place| stored(&tiers, tail, place)).collect();
        }
        let terms = sought.terms();
        let Some(rare) =
            rare_words(&mut parts, segments, tail, &near, &terms).doing("looking up words")?
        else {
            return Ok(Vec::new());
        };
        let all = live.num_docs() + tail.len() as u64;
        let weight = |rare: &Rare<'_>| (1.0 + all as f64 / rare.docs.max(1) as f64).ln();
        let mut found: FxHashMap<u64, Shares> = FxHashMap::default();
        for rare in &rare {
            let weight = weight(rare);
            let mut add = |ordinal: u64, marks: Marks, place: Place| {
                let new = || Shares {
                    place,
                    all: marks == sought.marks,
                    weight: 0.0,
                };
                found.entry(ordinal).or_insert_with(new).weight += weight;
            };
            for at in tail.with_word(rare.field, rare.word) {
                let (ordinal, home, marks) = tail.told_apart_by(at);
                if near.may_be(home, marks) {
                    add(ordinal, marks, Place::Tail(at));
                }
            }
            for (segment, reader) in segments.iter().enumerate() {
                let Some(place) = &rare.places[segment] else {
                    continue;
                };
                let part = parts.of(reader).doing("searching")?;
                let docs = part.docs_with((rare.field, place), reader, topic);
                for doc in docs.doing("searching")? {
                    let of = |column: &Column<u64>| column.first(doc);
                    if let (Some(home), Some(marks)) = (of(&part.homes), part.marks_of(doc))
                        && near.may_be(Home(home), marks)
                        && let Some(ordinal) = of(&part.ordinals)
                    {
                        let tier = 0;
                        add(ordinal, marks, Place::Tier { tier, segment, doc });
                    }
                }
            }
        }
        drop(parts);
        found.retain(|ordinal, _| visible(*ordinal));
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by(|(a, one), (b, other)| {
            let by_weight = other.weight.total_cmp(&one.weight);
            other.all.cmp(&one.all).then(by_weight).then(b.cmp(a))
        });
        found.truncate(COMPARED_MAX);
        let tiers = [live];
        let places = found.into_iter().map(|(_, shares)| shares.place);
        places.map(|place| stored(&tiers, tail, place)).collect()
    }
}

/// The versions of the home that may be near, if they are no more than [`COMPARED_MAX`]; `None` where they are more, or where
/// it would not pay to look at all of its versions.
fn few_of_home(
    parts: &mut Kept,
    segments: &[SegmentReader],
    tail: &Tail,
    near: &Near<'_>,
    visible: &dyn Fn(u64) -> bool,
) -> tantivy::Result<Option<Vec<Place>>> {
    let documents: u64 = segments
        .iter()
        .map(|reader| u64::from(reader.num_docs()))
        .sum();
    let is_dear = documents > SORTED_AT_ONCE && tail.waiting() <= ANALYSED_AT_ONCE;
    if !parts.is_asked_again() && is_dear {
        return Ok(None);
    }
    let mut places = Vec::new();
    for (at, ordinal) in tail.in_home(near.home, |marks| near.may_be(near.home, marks)) {
        if visible(ordinal) {
            places.push(Place::Tail(at));
        }
    }
    for (segment, reader) in segments.iter().enumerate() {
        let homes = parts.homes(reader)?;
        let part = parts.of(reader)?;
        let documents = homes.documents(near.home);
        for (doc, _) in documents.filter(|(_, marks)| near.may_be(near.home, *marks)) {
            let is_alive = (reader.alive_bitset()).is_none_or(|alive| alive.is_alive(doc));
            if is_alive && part.ordinals.first(doc).is_some_and(visible) {
                let tier = 0;
                places.push(Place::Tier { tier, segment, doc });
            }
        }
    }
    Ok((places.len() <= COMPARED_MAX).then_some(places))
}

/// The rarest of the words of a text that are looked up; `None` where so many of them are new that nothing is near. Which of
/// equally long ones does not hang on where they stand: texts that are alike choose the same.
fn rare_words<'t>(
    parts: &mut Kept,
    segments: &[SegmentReader],
    tail: &Tail,
    near: &Near<'_>,
    all: &'t [(TextField, String)],
) -> tantivy::Result<Option<Vec<Rare<'t>>>> {
    let telling = all.iter().filter(|(_, word)| !is_stopword(word));
    let mut words: FxHashSet<&(TextField, String)> = telling.collect();
    if words.is_empty() {
        words = all.iter().collect();
    }
    let searched = (SEARCHED_MIN + all.len() / 4).min(SEARCHED_MAX);
    let has_digit = |word: &str| word.chars().any(char::is_numeric);
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort_by_cached_key(|(_, word)| {
        (
            std::cmp::Reverse(word.chars().count()),
            xxh3_64(word.as_bytes()),
        )
    });
    let (numbers, others): (Vec<_>, Vec<_>) =
        words.into_iter().partition(|(_, word)| has_digit(word));
    let mut words = numbers;
    words.truncate(WITH_DIGITS);
    words.extend(others);
    words.truncate(LOOKED_UP);
    let mut rare = Vec::with_capacity(words.len());
    let mut new = 0;
    for (field, word) in words {
        let mut places = Vec::with_capacity(segments.len());
        for segment in segments {
            places.push(parts.of(segment)?.place(*field, word)?);
        }
        let filed = places.iter().flatten();
        let filed: u64 = filed.map(|place| u64::from(place.doc_freq)).sum();
        let docs = filed + tail.doc_freq(*field, word, true);
        if docs > 0 {
            rare.push(Rare {
                field: *field,
                word,
                docs,
                places,
            });
            continue;
        }
        // A word that no document has finds nothing, and whatever is near lacks it.
        new += 1;
        if new > near.lacks_max {
            return Ok(None);
        }
    }
    rare.sort_by_key(|rare| rare.docs);
    rare.truncate(searched);
    Ok(Some(rare))
}

impl Part {
    /// The living documents that have a word; where those are many of this topic alone.
    fn docs_with(
        &self,
        (field, place): (TextField, &TermInfo),
        reader: &SegmentReader,
        topic: &str,
    ) -> tantivy::Result<Vec<u32>> {
        let lists = self.lists(field);
        let mut list = lists.read_postings_from_terminfo(place, IndexRecordOption::Basic)?;
        let alive = reader.alive_bitset();
        let is_alive = |doc: u32| alive.is_none_or(|alive| alive.is_alive(doc));
        let mut docs = Vec::new();
        if place.doc_freq <= FEW {
            while list.doc() != TERMINATED {
                docs.push(list.doc());
                list.advance();
            }
        } else {
            let topic = Term::from_field_text(fields().filter, &topic_is(topic));
            let filter = fields().filter;
            let Some(mut others) = postings(reader, filter, &topic, IndexRecordOption::Basic)?
            else {
                return Ok(docs);
            };
            let (shorter, longer) = match others.doc_freq() < place.doc_freq {
                true => (&mut others, &mut list),
                false => (&mut list, &mut others),
            };
            while shorter.doc() != TERMINATED {
                let doc = shorter.doc();
                if seek(longer, doc) == doc {
                    docs.push(doc);
                }
                shorter.advance();
            }
        }
        docs.retain(|doc| is_alive(*doc));
        Ok(docs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of some of forty words.
    fn text(state: &mut u64) -> String {
        let mut next = |below: u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (*state >> 33) % below
        };
        let len = 1 + next(30);
        (0..len).map(|_| format!("word{} ", next(40))).collect()
    }

    #[test]
    fn marks_never_hide_what_is_near() {
        let home = Home::of("t", Some("global"));
        let mut state = 1;
        let (mut near, mut hidden) = ([0; 4], [0; 4]);
        for _ in 0..2_000 {
            let one = text(&mut state);
            // Alike, as a rule: a part of the one, and a little of another.
            let other = text(&mut state);
            let words = one.split_whitespace();
            let mut others = other.split_whitespace();
            let mixed = words.map(|word| match word.ends_with('7') {
                true => others.next().unwrap_or(word),
                false => word,
            });
            let mixed: Vec<&str> = mixed.collect();
            for other in [&other, &mixed.join(" "), &format!("{one} {}", mixed[0])] {
                let (a, b) = (Sought::of(&one), Sought::of(other));
                let alike = a.words().similarity_ppm(b.words());
                for (at, least_ppm) in [1, 500_000, 850_000, 1_000_000].into_iter().enumerate() {
                    let may_be = Near::to(&a, home, least_ppm).may_be(home, b.marks);
                    near[at] += usize::from(alike >= least_ppm);
                    hidden[at] += usize::from(!may_be);
                    assert!(may_be || alike < least_ppm, "{one:?} {other:?} {least_ppm}");
                }
            }
        }
        // Both were met, and the more the closer the texts have to be.
        assert!(near.iter().all(|near| *near > 100), "{near:?}");
        assert!(hidden[2] > 1_000 && hidden[3] > hidden[2], "{hidden:?}");
        assert!(!Near::to(&Sought::of("a"), home, 1).may_be(Home::of("u", None), Marks::default()));
    }

    #[test]
    fn the_marks_of_a_document_are_those_of_its_content() {
        for content in [
            "Ada: do not use 'TabsInMakefiles' v1.2, см. файл 我喜欢绿茶",
            "",
            "...",
        ] {
            let doc = super::super::Doc {
                topic: "other words",
                content,
                keywords: &["more".to_owned()],
                ..Default::default()
            };
            let analysed = super::super::Analysed::of(&doc);
            assert_eq!(analysed.marks, Sought::of(content).marks, "{content}");
        }
    }
}
