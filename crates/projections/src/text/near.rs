//! Which versions of a topic may say nearly the same as a text: those that share its rare words.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};
use xxhash_rust::xxh3::xxh3_64;

use super::analyze::{TextField, plain_terms};
use super::collect::{Place, seek};
use super::error::{Doing, TextError};
use super::schema::{ORDINAL, fields, scope_is, topic_is};
use super::search::stored;
use super::stopwords::is_stopword;
use super::{Tail, TextIndex};

/// Words that are looked up: some with digits, which tell texts of one pattern apart, and the longest, which are rarely
/// the common ones.
const LOOKED_UP: usize = 32;
const WITH_DIGITS: usize = 8;
/// The fewest and the most that are searched for, the rarest of those. Texts that are alike share all but a
/// few words, so some of the rarest are among the shared ones.
const SEARCHED_MIN: usize = 3;
const SEARCHED_MAX: usize = 8;

/// A word, and where it is found.
struct Rare {
    field: TextField,
    word: String,
    /// How many documents have it.
    docs: u64,
    /// By segment.
    places: Vec<Option<TermInfo>>,
}

/// A segment, with what is asked of it for every word.
struct Part<'a> {
    reader: &'a SegmentReader,
    /// By field of a word.
    words: [Arc<InvertedIndexReader>; 2],
    filter: Arc<InvertedIndexReader>,
    /// Where the documents of each filter are; `None` where one of them has none.
    filters: Option<Vec<TermInfo>>,
}

impl TextIndex {
    /// Versions of exactly this topic and scope that share rare words with a text, those first that share more and
    /// rarer ones (each counts ln(1 + N / n) where n of N documents have it); of equal ones the newer first.
    /// `visible` is asked, by ordinal, about each. What was stored with each. Costs a step for each version of the topic that has such a word.
    pub(crate) fn near(
        &self,
        tail: &Tail,
        text: &str,
        (topic, scope): (&str, &str),
        limit: usize,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Vec<u8>>, TextError> {
        let live = self.live_searcher();
        let segments = live.segment_readers();
        let filters = [topic_is(topic), scope_is(scope)];
        let parts = segments.iter().map(|reader| Part::of(reader, &filters));
        let parts: tantivy::Result<Vec<Part<'_>>> = parts.collect();
        let parts = parts.doing("looking up the topic")?;
        let rare = rare_words(&parts, tail, text).doing("looking up words")?;
        let all = live.num_docs() + tail.len() as u64;
        let weight = |rare: &Rare| (1.0 + all as f64 / rare.docs.max(1) as f64).ln();
        let mut found: FxHashMap<u64, (f64, Place)> = FxHashMap::default();
        for rare in &rare {
            let weight = weight(rare);
            let mut add = |ordinal: u64, place: Place| {
                found.entry(ordinal).or_insert((0.0, place)).0 += weight;
            };
            for (at, ordinal) in tail.with_word(rare.field, &rare.word, &filters) {
                add(ordinal, Place::Tail(at));
            }
            for (segment, part) in parts.iter().enumerate() {
                let docs = part.docs_with(rare, segment).doing("searching")?;
                if docs.is_empty() {
                    continue;
                }
                let ordinals = part.reader.fast_fields().u64(ORDINAL);
                let ordinals = ordinals.doing("searching")?;
                for doc in docs {
                    if let Some(ordinal) = ordinals.first(doc) {
                        let tier = 0;
                        add(ordinal, Place::Tier { tier, segment, doc });
                    }
                }
            }
        }
        found.retain(|ordinal, _| visible(*ordinal));
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by(|(a, (score, _)), (b, (other, _))| {
            other.total_cmp(score).then(b.cmp(a))
        });
        found.truncate(limit);
        let tiers = [live];
        let places = found.into_iter().map(|(_, (_, place))| place);
        places.map(|place| stored(&tiers, tail, place)).collect()
    }
}

/// The rarest of the words of a text that are looked up. Which of equally long ones does not hang on where they stand: texts
/// that are alike choose the same.
fn rare_words(parts: &[Part<'_>], tail: &Tail, text: &str) -> tantivy::Result<Vec<Rare>> {
    let all = plain_terms(text);
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
    for (field, word) in words {
        let term = Term::from_field_text(fields().text(*field), word);
        let at = |part: &Part<'_>| part.words[*field as usize].get_term_info(&term);
        let places: Vec<_> = parts.iter().map(at).collect::<Result<_, _>>()?;
        let filed = places.iter().flatten();
        let filed: u64 = filed.map(|place| u64::from(place.doc_freq)).sum();
        let docs = filed + tail.doc_freq(*field, word, true);
        // A word that no document has finds nothing.
        if docs > 0 {
            let (field, word) = (*field, word.clone());
            rare.push(Rare {
                field,
                word,
                docs,
                places,
            });
        }
    }
    rare.sort_by_key(|rare| rare.docs);
    rare.truncate(searched);
    Ok(rare)
}

impl<'a> Part<'a> {
    fn of(reader: &'a SegmentReader, filters: &[String]) -> tantivy::Result<Part<'a>> {
        let words = |field| reader.inverted_index(fields().text(field));
        let filter = reader.inverted_index(fields().filter)?;
        let place = |text| filter.get_term_info(&Term::from_field_text(fields().filter, text));
        let filters = filters.iter().map(|text| place(text));
        Ok(Part {
            reader,
            words: [words(TextField::Body)?, words(TextField::Exact)?],
            filters: filters.collect::<Result<_, _>>()?,
            filter,
        })
    }

    /// The living documents that have a word and all filters. What is opened of the filters is opened for documents
    /// that have the word.
    fn docs_with(&self, rare: &Rare, segment: usize) -> tantivy::Result<Vec<u32>> {
        let (Some(filters), Some(word)) = (&self.filters, &rare.places[segment]) else {
            return Ok(Vec::new());
        };
        let of_word = (&self.words[rare.field as usize], word);
        let of_filters = filters.iter().map(|place| (&self.filter, place));
        let mut lists: Vec<_> = of_filters.chain([of_word]).collect();
        lists.sort_by_key(|(_, place)| place.doc_freq);
        let open = |at: usize| {
            let (index, place) = lists[at];
            index.read_postings_from_terminfo(place, IndexRecordOption::Basic)
        };
        let mut shortest = open(0)?;
        let mut others: Vec<Option<SegmentPostings>> = lists[1..].iter().map(|_| None).collect();
        let alive = self.reader.alive_bitset();
        let mut docs = Vec::new();
        let mut doc = shortest.doc();
        'docs: while doc != TERMINATED {
            let this = doc;
            doc = shortest.advance();
            if alive.is_some_and(|alive| !alive.is_alive(this)) {
                continue;
            }
            for (at, list) in others.iter_mut().enumerate() {
                let list = match list {
                    Some(list) => list,
                    None => list.insert(open(at + 1)?),
                };
                if seek(list, this) != this {
                    continue 'docs;
                }
            }
            docs.push(this);
        }
        Ok(docs)
    }
}
