//! Which versions of a topic may say nearly the same as a text: those that share its rare words.

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};
use xxhash_rust::xxh3::xxh3_64;

use super::analyze::{TextField, plain_terms};
use super::collect::{Place, postings, seek};
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

/// A word, and how many documents have it.
struct Rare {
    field: TextField,
    word: String,
    docs: u64,
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
        let rare = rare_words(segments, tail, text).doing("looking up words")?;
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
            for (segment, reader) in segments.iter().enumerate() {
                let docs = docs_with(reader, rare, &filters).doing("searching")?;
                if docs.is_empty() {
                    continue;
                }
                let ordinals = reader.fast_fields().u64(ORDINAL).doing("searching")?;
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
fn rare_words(segments: &[SegmentReader], tail: &Tail, text: &str) -> tantivy::Result<Vec<Rare>> {
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
        let mut docs = tail.doc_freq(*field, word, true);
        let tantivy_field = fields().text(*field);
        let term = Term::from_field_text(tantivy_field, word);
        for segment in segments {
            docs += u64::from(segment.inverted_index(tantivy_field)?.doc_freq(&term)?);
        }
        // A word that no document has finds nothing.
        if docs > 0 {
            let (field, word) = (*field, word.clone());
            rare.push(Rare { field, word, docs });
        }
    }
    rare.sort_by_key(|rare| rare.docs);
    rare.truncate(searched);
    Ok(rare)
}

/// The living documents of a segment that have a word and all filters.
fn docs_with(reader: &SegmentReader, rare: &Rare, filters: &[String]) -> tantivy::Result<Vec<u32>> {
    let mut lists = Vec::with_capacity(filters.len() + 1);
    let of_word = (fields().text(rare.field), &rare.word);
    let of_filters = filters.iter().map(|filter| (fields().filter, filter));
    for (field, text) in [of_word].into_iter().chain(of_filters) {
        let term = Term::from_field_text(field, text);
        match postings(reader, field, &term, IndexRecordOption::Basic)? {
            Some(list) => lists.push(list),
            None => return Ok(Vec::new()),
        }
    }
    lists.sort_by_key(tantivy::postings::SegmentPostings::doc_freq);
    let Some((shortest, others)) = lists.split_first_mut() else {
        return Ok(Vec::new());
    };
    let alive = reader.alive_bitset();
    let mut docs = Vec::new();
    let mut doc = shortest.doc();
    while doc != TERMINATED {
        let has_all = others.iter_mut().all(|list| seek(list, doc) == doc);
        if has_all && alive.is_none_or(|alive| alive.is_alive(doc)) {
            docs.push(doc);
        }
        doc = shortest.advance();
    }
    Ok(docs)
}
