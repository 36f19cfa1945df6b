//! Foreign questions: questions that nothing in a store answers, lent by other stores.
//!
//! In a set of several pairs each store is asked the questions of the others. A set of one pair is cut in two by
//! articles, and each half is asked the questions of the other half. The questions of other sets are added to both.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::Value;

use super::Question;
use super::input::{Input, Set};
use super::pairs;
use icm_api::error::{Result, ServiceError};
use icm_service::next_line;

/// Foreign questions of the same set for a store. Raised, a run takes longer and the shares get smoother.
pub(super) const SAME_SET_MAX: usize = 200;
/// Foreign questions of other sets for a store. Raised, as for [`SAME_SET_MAX`].
pub(super) const OTHER_SETS_MAX: usize = 100;
/// Longest name of a speaker, in bytes and in words.
const NAME_LEN_MAX: usize = 64;
const NAME_WORDS_MAX: usize = 4;
/// Replaces the name of a person whom the asked store does not know.
const SOMEONE: &str = "someone";

/// The fields of a memory that foreign questions need.
pub(super) struct Line {
    /// The line of the file, unchanged.
    pub(super) text: Vec<u8>,
    pub(super) key: String,
    topic: String,
    content: String,
}

/// A pair with its questions.
pub(super) struct Pair {
    pub(super) store: String,
    /// The questions with their places, `FILE:LINE`.
    pub(super) questions: Vec<(String, Question)>,
    /// The same questions in the form in which other stores are asked them.
    foreign: Vec<Foreign>,
}

/// A question for another store than its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreign {
    /// `SET/STORE`.
    pub(super) from: String,
    pub(super) id: String,
    pub(super) query: String,
    pub(super) category: String,
}

/// The pairs of a set. Files of LongMemEval lend no questions.
pub(super) struct Pairs {
    pub(super) set: String,
    pub(super) pairs: Vec<Pair>,
}

/// Reads the questions of every pair. Names of speakers are looked for only if `foreign`.
pub(super) fn read(sets: &[Set], foreign: bool) -> Result<Vec<Pairs>> {
    let mut all = Vec::new();
    for set in sets {
        let mut pairs = Vec::new();
        for input in &set.inputs {
            if let Input::Pair { stem } = input {
                pairs.push(pair(&set.name, stem, foreign)?);
            }
        }
        all.push(Pairs {
            set: set.name.clone(),
            pairs,
        });
    }
    Ok(all)
}

fn pair(set: &str, stem: &Path, foreign: bool) -> Result<Pair> {
    let store = stem.file_name().unwrap_or_default().to_string_lossy();
    let questions = pairs::questions(&Input::questions(stem))?;
    let mut lent = Vec::new();
    if foreign {
        let names = names(&lines(&Input::memories(stem))?);
        let asked = questions.iter().filter(|(_, q)| !q.evidence.is_empty());
        lent.extend(asked.map(|(_, question)| of(set, &store, question, &names)));
    }
    Ok(Pair {
        store: store.into_owned(),
        questions,
        foreign: lent,
    })
}

fn of(set: &str, store: &str, question: &Question, names: &[String]) -> Foreign {
    Foreign {
        from: format!("{set}/{store}"),
        id: question.id.clone(),
        query: masked(&question.query, names),
        category: question.category.clone(),
    }
}

/// Returns the questions of the other pairs of the set, at most [`SAME_SET_MAX`].
pub(super) fn same_set(pairs: &Pairs, store: &str) -> Vec<Foreign> {
    let others = pairs.pairs.iter().filter(|pair| pair.store != store);
    let all = others.flat_map(|pair| &pair.foreign).collect();
    spread(all, SAME_SET_MAX)
}

/// Returns the questions of other sets, at most [`OTHER_SETS_MAX`]. Sets whose names are equal up to the last hyphen,
/// such as `xquad-de` and `xquad-en`, count as translations of each other and are left out: they answer each other's
/// questions.
pub(super) fn other_sets(all: &[Pairs], set: &str) -> Vec<Foreign> {
    let others = all
        .iter()
        .filter(|other| other.set != set && !are_translations(&other.set, set));
    let questions = others.flat_map(|other| &other.pairs);
    let questions = questions.flat_map(|pair| &pair.foreign).collect();
    spread(questions, OTHER_SETS_MAX)
}

fn are_translations(a: &str, b: &str) -> bool {
    match (a.rsplit_once('-'), b.rsplit_once('-')) {
        (Some((a, _)), Some((b, _))) => a == b,
        _ => false,
    }
}

/// Returns at most `most` questions, evenly spread.
fn spread(all: Vec<&Foreign>, most: usize) -> Vec<Foreign> {
    let len = all.len();
    let places = (0..len.min(most)).map(|n| n * len / len.min(most));
    places.map(|place| all[place].clone()).collect()
}

/// Returns the memories of a file. A line that is no memory is left out; importing the same file reports it.
pub(super) fn lines(path: &Path) -> Result<Vec<Line>> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| ServiceError::Io {
        doing: format!("cannot read {name}"),
        source,
    })?;
    let mut input = BufReader::with_capacity(1 << 16, file);
    let mut lines = Vec::new();
    let mut number = 1;
    while let Some(text) = next_line(&mut input, &name, number)? {
        number += 1;
        let Ok(Value::Object(object)) = serde_json::from_slice(&text) else {
            continue;
        };
        let field = |name| {
            let value = object.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        lines.push(Line {
            key: field("key"),
            topic: field("topic"),
            content: field("content"),
            text,
        });
    }
    Ok(lines)
}

/// Half of a pair: its memories, and questions that only the other half answers.
pub(super) struct Half {
    /// JSON lines in the format of `icm import jsonl`.
    pub(super) memories: Vec<u8>,
    pub(super) questions: Vec<Foreign>,
}

/// Cuts a pair in two, article by article in turn. An article is all topics with one stem (`NAME-1`, `NAME-2`), or a
/// single topic if every topic has the same stem. Returns `None` if there is only one article.
pub(super) fn halves(set: &str, pair: &Pair, lines: &[Line]) -> Option<[Half; 2]> {
    let by_stem = sides(lines.iter().map(|line| article(&line.topic)));
    let by_topic = || sides(lines.iter().map(|line| line.topic.as_str()));
    let sides = by_stem.or_else(by_topic)?;
    let side_of: HashMap<&str, usize> = lines
        .iter()
        .zip(&sides)
        .map(|(line, side)| (line.key.as_str(), *side))
        .collect();
    let names = names(lines);
    let half = |here: usize| {
        let mut memories = Vec::new();
        for (line, _) in lines.iter().zip(&sides).filter(|(_, side)| **side == here) {
            memories.extend_from_slice(&line.text);
            memories.push(b'\n');
        }
        let is_elsewhere = |key: &String| side_of.get(key.as_str()) == Some(&(1 - here));
        let asked = pair.questions.iter().map(|(_, question)| question);
        let lent: Vec<Foreign> = asked
            .filter(|q| !q.evidence.is_empty() && q.evidence.iter().all(is_elsewhere))
            .map(|question| of(set, &pair.store, question, &names))
            .collect();
        Half {
            memories,
            questions: spread(lent.iter().collect(), SAME_SET_MAX / 2),
        }
    };
    Some([half(0), half(1)])
}

/// Returns the side of each memory, 0 or 1: articles alternate in the order of their appearance. Returns `None` if
/// there is only one article.
fn sides<'a>(articles: impl Iterator<Item = &'a str>) -> Option<Vec<usize>> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut sides = Vec::new();
    for article in articles {
        let next = seen.len();
        sides.push(*seen.entry(article).or_insert(next) % 2);
    }
    (seen.len() > 1).then_some(sides)
}

/// Returns the article of a topic: `notes-012` for `notes-012-3`.
fn article(topic: &str) -> &str {
    match topic.rsplit_once('-') {
        Some((article, number)) if number.bytes().all(|b| b.is_ascii_digit()) => article,
        _ => topic,
    }
}

/// Returns the words of the speakers' names if most memories begin with `Name: …`. A name at the beginning of only one
/// memory does not count.
fn names(lines: &[Line]) -> Vec<String> {
    let mut speakers: BTreeMap<&str, usize> = BTreeMap::new();
    for speaker in lines.iter().filter_map(|line| speaker(&line.content)) {
        *speakers.entry(speaker).or_default() += 1;
    }
    speakers.retain(|_, times| *times > 1);
    if speakers.values().sum::<usize>() * 2 < lines.len() {
        return Vec::new();
    }
    let words = speakers.keys().flat_map(|name| name.split(is_gap));
    // A single letter is an initial, or a word by itself.
    let words = words.filter(|word| word.chars().nth(1).is_some());
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words
}

fn speaker(content: &str) -> Option<&str> {
    let (name, _) = content.split_once(": ")?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '\'' | '’');
    let fits = name.len() <= NAME_LEN_MAX
        && name.split(' ').count() <= NAME_WORDS_MAX
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(is_name);
    fits.then_some(name)
}

/// Returns the query with `someone` in place of these words; several in a row become one.
fn masked(query: &str, names: &[String]) -> String {
    let is_name = |word: &str| names.iter().any(|name| name == word);
    let mut masked = String::with_capacity(query.len());
    let mut rest = query;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(is_gap).unwrap_or(rest.len()));
        masked.push_str(if is_name(word) { SOMEONE } else { word });
        let (gap, after) = after.split_at(after.find(|c| !is_gap(c)).unwrap_or(after.len()));
        masked.push_str(gap);
        rest = after;
    }
    masked.replace(&format!("{SOMEONE} {SOMEONE}"), SOMEONE)
}

/// Returns `true` if a character stands between words.
fn is_gap(c: char) -> bool {
    !c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(key: &str, topic: &str, content: &str) -> Line {
        Line {
            text: key.as_bytes().to_vec(),
            key: key.to_owned(),
            topic: topic.to_owned(),
            content: content.to_owned(),
        }
    }

    fn question(query: &str, evidence: &[&str]) -> (String, Question) {
        let question = Question {
            id: query.to_owned(),
            query: query.to_owned(),
            category: "1".to_owned(),
            evidence: evidence.iter().map(|key| (*key).to_owned()).collect(),
        };
        (String::new(), question)
    }

    #[test]
    fn names_are_those_of_speakers_in_a_transcript() {
        let talk = [
            line("1", "s", "Ada Lovelace: hello"),
            line("2", "s", "Jean-Luc: hello"),
            line("3", "s", "Ada Lovelace: bye"),
            line("4", "s", "Jean-Luc: bye"),
            line("5", "s", "Weather: it rains"),
        ];
        let names = names(&talk);
        assert_eq!(names, ["Ada", "Jean", "Lovelace", "Luc"]);
        for (query, expected) in [
            (
                "When did Ada's brother visit?",
                "When did someone's brother visit?",
            ),
            ("Ada Lovelace and Jean-Luc", "someone and someone-someone"),
            ("adamant, Adam", "adamant, Adam"),
            ("", ""),
            ("¿Ada", "¿someone"),
        ] {
            assert_eq!(masked(query, &names), expected);
        }
    }

    #[test]
    fn labels_among_notes_are_no_names() {
        let notes = [
            line("1", "s", "TODO: water the plants"),
            line("2", "s", "TODO: feed the cat"),
            line("3", "s", "the cat is grey"),
            line("4", "s", "the plants are green"),
            line("5", "s", "the house is red"),
        ];
        assert_eq!(names(&notes), Vec::<String>::new());
    }

    #[test]
    fn halves_keep_articles_whole() {
        let lines = [
            line("a", "notes-000-0", ""),
            line("b", "notes-000-1", ""),
            line("c", "notes-002-0", ""),
            line("d", "notes-004-0", ""),
        ];
        let pair = Pair {
            store: "s".to_owned(),
            questions: vec![
                question("of a and d", &["a", "d"]),
                question("of c", &["c"]),
                question("of both", &["a", "c"]),
                question("of nothing", &[]),
                question("of what is gone", &["x"]),
            ],
            foreign: Vec::new(),
        };
        let [first, second] = halves("set", &pair, &lines).expect("two articles");
        assert_eq!(first.memories, b"a\nb\nd\n");
        assert_eq!(second.memories, b"c\n");
        let asked = |half: &Half| {
            let queries = half.questions.iter().map(|question| question.query.clone());
            queries.collect::<Vec<_>>()
        };
        assert_eq!(asked(&first), ["of c"]);
        assert_eq!(asked(&second), ["of a and d"]);

        // If all topics have one stem, each topic is an article.
        let sessions = [line("a", "day-1", ""), line("c", "day-2", "")];
        let [first, _] = halves("set", &pair, &sessions).expect("two topics");
        assert_eq!(first.memories, b"a\n");
        let one = [line("a", "day", ""), line("b", "day", "")];
        assert!(halves("set", &pair, &one).is_none());
    }

    #[test]
    fn a_store_is_asked_what_others_are_asked() {
        let foreign = |query: &str| Foreign {
            from: String::new(),
            id: String::new(),
            query: query.to_owned(),
            category: String::new(),
        };
        let pairs = |set: &str, stores: &[&str]| Pairs {
            set: set.to_owned(),
            pairs: stores
                .iter()
                .map(|store| Pair {
                    store: (*store).to_owned(),
                    questions: Vec::new(),
                    foreign: vec![foreign(store)],
                })
                .collect(),
        };
        let all = [
            pairs("talk", &["one", "two"]),
            pairs("wiki-de", &["de"]),
            pairs("wiki-en", &["en"]),
        ];
        assert_eq!(same_set(&all[0], "one"), [foreign("two")]);
        assert_eq!(
            other_sets(&all, "wiki-en"),
            [foreign("one"), foreign("two")]
        );
        assert_eq!(other_sets(&all, "talk"), [foreign("de"), foreign("en")]);

        let many: Vec<Foreign> = (0..10).map(|n| foreign(&n.to_string())).collect();
        let spread = spread(many.iter().collect(), 4);
        let queries: Vec<&str> = spread.iter().map(|question| &question.query[..]).collect();
        assert_eq!(queries, ["0", "2", "5", "7"]);
    }
}
