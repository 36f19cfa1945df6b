mod long;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use icm_projections::ModelId;

use super::*;
use crate::service::OpenOptions;
use icm_api::{Caller, NoProgress, RecallAnswer, RecallRequest, RedactRequest, StoreRequest};

/// Words that mean the same to the model of these tests.
const MEANINGS: [&[&str]; 4] = [
    &["quorl", "vimble", "pet", "dog"],
    &["retry", "again", "backoff"],
    &["colour", "blue", "red"],
    &["house", "home", "office"],
];
const DIM: usize = 8;

/// Knows a few meanings, and counts the texts that it is asked for.
#[derive(Default)]
struct Fake {
    texts: AtomicUsize,
    longest: Mutex<String>,
    down: AtomicBool,
    /// It gives vectors of single texts only, as of questions.
    few: AtomicBool,
    short: AtomicBool,
    /// All texts are nearer to each other than 0.7, as by some models.
    crowded: AtomicBool,
}

impl Embedder for Fake {
    fn model(&self) -> &str {
        "fake/model:1"
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, EmbedError> {
        if self.down.load(Relaxed) || self.few.load(Relaxed) && texts.len() > 1 {
            return Err(EmbedError::Unavailable {
                model: self.model().to_owned(),
                why: "nobody answers".to_owned(),
                hint: Some("start it".to_owned()),
            });
        }
        self.texts.fetch_add(texts.len(), Relaxed);
        if let Some(text) = texts.iter().max_by_key(|text| text.len()) {
            let mut longest = locked(&self.longest);
            if text.len() > longest.len() {
                *longest = (*text).to_owned();
            }
        }
        let dim = DIM - usize::from(self.short.load(Relaxed));
        let crowded = self.crowded.load(Relaxed);
        let embed = |text: &&str| match crowded {
            true => crowd(vector(text, dim)),
            false => vector(text, dim),
        };
        Ok(texts.iter().map(embed).collect())
    }
}

fn vector(text: &str, dim: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dim];
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let meaning = MEANINGS.iter().position(|words| words.contains(&word));
        let other = word.len() % 3 + MEANINGS.len();
        vector[meaning.unwrap_or(other)] += if meaning.is_some() { 5.0 } else { 0.1 };
    }
    // No two texts are quite the same.
    for (at, x) in vector.iter_mut().enumerate().skip(MEANINGS.len()) {
        let bytes = text.bytes().map(usize::from).sum::<usize>();
        *x += ((bytes * 31 + at * 17) % 97) as f32 / 1_000.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

/// The same in a corner of the space.
fn crowd(mut vector: Vec<f32>) -> Vec<f32> {
    vector.iter_mut().for_each(|x| *x *= 0.5);
    vector[DIM - 1] += 1.0;
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

struct World {
    folder: tempfile::TempDir,
    fake: Arc<Fake>,
}

impl World {
    fn new() -> World {
        World {
            folder: tempfile::tempdir().expect("a folder"),
            fake: Arc::default(),
        }
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn open(&self) -> Service {
        self.open_with(Embeds::Passages)
    }

    fn open_with(&self, embeds: Embeds) -> Service {
        let options = OpenOptions {
            dir: self.dir(),
            lock_wait: std::time::Duration::from_secs(5),
            read_only: false,
        };
        let service = Service::open(options).expect("it opens");
        service.with_model(self.model(embeds))
    }

    fn model(&self, embeds: Embeds) -> Model {
        Model::Other(ChosenModel::new(self.fake.clone(), embeds))
    }

    /// Files of the model, those that end so.
    fn files(&self, end: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(&self.dir().join("views"), &mut found);
        found.retain(|path| {
            let is_model = path.parent().is_some_and(|dir| dir.ends_with("models"));
            is_model && path.to_string_lossy().ends_with(end)
        });
        found
    }

    fn asked(&self) -> usize {
        self.fake.texts.swap(0, Relaxed)
    }
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => walk(&path, found),
            false => found.push(path),
        }
    }
}

fn store(service: &Service, contents: &[String]) {
    for content in contents {
        let request = StoreRequest::new("notes", content.clone());
        let stored = service.store(&Caller::default(), request);
        stored.expect("it stores");
    }
}

/// Memories in which nothing is meant, but for one in every ten.
fn notes(count: usize, from: usize) -> Vec<String> {
    let note = |at: usize| match at % 10 {
        3 => format!("number {at} is a vimble"),
        _ => format!("number {at} says nothing of it"),
    };
    (from..from + count).map(note).collect()
}

fn recall(service: &Service, query: &str) -> RecallAnswer {
    let request = RecallRequest {
        limit: Some(40),
        explain: true,
        ..RecallRequest::new(query)
    };
    let answer = service.recall(&Caller::default(), &request);
    answer.expect("it answers")
}

fn contents(answer: &RecallAnswer) -> Vec<&str> {
    let contents = answer.results.iter();
    contents
        .filter_map(|hit| hit.memory.content.as_deref())
        .collect()
}

fn vimbles(answer: &RecallAnswer) -> usize {
    let contents = contents(answer);
    contents
        .iter()
        .filter(|text| text.ends_with("vimble"))
        .count()
}

#[test]
fn meanings_are_found_and_nothing_is_embedded_twice() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(300, 0));
    assert_eq!(world.asked(), 0, "no store waits for the model");
    assert_eq!(
        vimbles(&recall(&service, "any quorl")),
        0,
        "nor does a recall"
    );
    assert_eq!(service.embed_status().expect("a status").embedded, 0);
    world.asked();
    let report = service.embed(&NoProgress).expect("it embeds");
    assert_eq!((report.new, report.status.embedded), (300, 300));
    assert_eq!(world.asked(), 300);
    let answer = recall(&service, "any quorl");
    assert_eq!(vimbles(&answer), 30, "{:?}", contents(&answer));
    assert_eq!(world.asked(), 1, "the query alone");

    // Another process finds them, with new views the cache has them, and a commit keeps them.
    service.settle();
    drop(service);
    let service = world.open();
    assert_eq!(vimbles(&recall(&service, "any quorl")), 30);
    service.rebuild(&NoProgress).expect("it rebuilds");
    assert_eq!(service.embed(&NoProgress).expect("it embeds").new, 300);
    assert_eq!(vimbles(&recall(&service, "any quorl")), 30);
    assert_eq!(world.asked(), 2, "the queries alone");
    store(&service, &notes(20, 300));
    assert_eq!(vimbles(&recall(&service, "any quorl")), 32);
    assert_eq!(world.asked(), 21, "a few new ones go along");
    service.settle();
    drop(service);
    let service = world.open();
    assert_eq!(service.embed_status().expect("a status").embedded, 320);
    assert_eq!(world.asked(), 0);
}

#[test]
fn vectors_of_too_many_numbers_are_refused_and_cost_no_view() {
    struct Wide;
    impl Embedder for Wide {
        fn model(&self) -> &str {
            "wide"
        }
        fn dim(&self) -> usize {
            MAX_DIM + 1
        }
        fn embed(&self, _: &[&str]) -> std::result::Result<Vec<Vec<f32>>, EmbedError> {
            unreachable!("it is not asked")
        }
    }
    let world = World::new();
    let service = world.open();
    store(&service, &notes(20, 0));
    service.rebuild(&NoProgress).expect("it rebuilds");
    let service = service.with_model(Model::Other(ChosenModel::new(
        Arc::new(Wide),
        Embeds::Passages,
    )));
    let answer = recall(&service, "number 13");
    assert_eq!(
        answer.results[0].memory.content.as_deref(),
        Some("number 13 is a vimble")
    );
    assert!(
        answer
            .note
            .is_some_and(|note| note.contains("4097 numbers"))
    );
    assert_eq!(service.take_notices(), [""; 0], "no view was rebuilt");
}

/// Another process can cut a file of vectors that is open here.
#[test]
fn a_file_that_is_cut_while_it_is_open_is_read_anew() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(300, 0));
    service.embed(&NoProgress).expect("it embeds");
    assert_eq!(vimbles(&recall(&service, "any quorl")), 30);
    let rows = world.files(".rows").pop().expect("there is a file");
    let file = fs::OpenOptions::new().write(true).open(rows);
    file.and_then(|file| file.set_len(1_000))
        .expect("it is cut");
    recall(&service, "any quorl");
    service.embed(&NoProgress).expect("it embeds");
    assert_eq!(vimbles(&recall(&service, "any quorl")), 30);
}

#[test]
fn two_processes_embed_beside_each_other() {
    let world = World::new();
    let (one, two) = (world.open(), world.open());
    store(&one, &notes(200, 0));
    one.bring_views_to_disk().expect("there is room");
    assert!(one.embed_behind() && two.embed_behind() && one.embed_behind());
    assert!(!two.embed_behind(), "64 each, and the rest");
    assert_eq!(two.embed_status().expect("a status").embedded, 200);
    assert_eq!(one.embed_status().expect("a status").embedded, 200);
    for service in [&one, &two] {
        assert_eq!(vimbles(&recall(service, "any quorl")), 20);
    }
    assert_eq!(world.asked(), 202);
}

#[test]
fn memories_not_embedded_yet_are_found_by_the_built_in_model() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(100, 0));
    service.embed(&NoProgress).expect("it embeds");
    store(&service, &["our office dog is called Biscuit".to_owned()]);
    store(&service, &notes(60, 100));
    let request = RecallRequest {
        query: "the name of the pet".to_owned(),
        limit: Some(40),
        // By the built-in model alone nothing is sure.
        floor: Some(0.0),
        explain: true,
        ..RecallRequest::default()
    };
    let answer = service.recall(&Caller::default(), &request);
    let answer = answer.expect("it answers");
    let explained = answer.explain.as_ref().expect("it was asked for");
    assert_eq!(explained["model"]["embedded"], 100);
    assert_eq!(explained["model"]["versions"], 161);
    assert!(contents(&answer).contains(&"our office dog is called Biscuit"));
    assert!(vimbles(&answer) >= 10, "{:?}", contents(&answer));
}

/// The nearness that counts depends on how near any two texts of the store are by the model.
#[test]
fn far_texts_are_not_found_by_a_model_that_brings_all_texts_near() {
    for crowded in [false, true] {
        let world = World::new();
        world.fake.crowded.store(crowded, Relaxed);
        let service = world.open();
        store(&service, &notes(300, 0));
        service.embed(&NoProgress).expect("it embeds");
        let answer = recall(&service, "any quorl");
        let contents = contents(&answer);
        assert_eq!((vimbles(&answer), contents.len()), (30, 30), "{contents:?}");
    }
}

#[test]
fn a_model_that_is_down_costs_the_meaning_and_is_told_once() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(20, 0));
    world.fake.down.store(true, Relaxed);
    let mut notes = Vec::new();
    for _ in 0..3 {
        let answer = recall(&service, "number 13");
        let first = answer.results[0].memory.content.as_deref();
        assert_eq!(first, Some("number 13 is a vimble"));
        notes.extend(answer.note);
    }
    assert_eq!(
        notes,
        [
            "the model fake/model:1 cannot be used: nobody answers; memories are found by their words alone \
             (start it)"
        ]
    );
    assert_eq!(service.take_notices(), [""; 0]);
    let error = service.embed(&NoProgress).expect_err("it cannot");
    assert!(error.to_string().contains("nobody answers"), "{error}");
    assert!(!service.embed_behind());
}

#[test]
fn memories_that_cannot_be_embedded_are_no_reason_not_to_ask_the_model() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(20, 0));
    service.embed(&NoProgress).expect("embedded");
    world.fake.few.store(true, Relaxed);
    store(&service, &notes(20, 20));
    for _ in 0..3 {
        let answer = recall(&service, "what is the quorl");
        assert_eq!(answer.note, None);
        assert!(vimbles(&answer) > 0, "{answer:?}");
    }
    let told = service.take_notices();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("found by words and by the built-in model"),
        "{told:?}"
    );
}

#[test]
fn a_model_that_gives_other_vectors_than_it_says_is_told() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(20, 0));
    world.fake.short.store(true, Relaxed);
    let error = service.embed(&NoProgress).expect_err("it cannot");
    assert!(
        error.to_string().contains("7 numbers instead of 8"),
        "{error}"
    );
    assert_eq!(
        recall(&service, "number 13").results[0]
            .memory
            .content
            .as_deref(),
        Some("number 13 is a vimble")
    );
}

#[test]
fn files_of_vectors_that_are_damaged_come_back() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(300, 0));
    service.embed(&NoProgress).expect("it embeds");
    drop(service);
    let row = 16 + DIM;
    for damage in 0..11 {
        let rows = world.files(".rows").pop().expect("there is a file");
        let note = world.files(".note").pop().expect("there is a note");
        let mut bytes = fs::read(&rows).expect("it reads");
        let kept = match damage {
            0 => 0,
            1 | 8 => 64 + 100 * row,
            2 => 64 + 100 * row + 5,
            3 => 30,
            _ => bytes.len(),
        };
        bytes.truncate(kept);
        match damage {
            4 => bytes[64 + 200 * row + 20] ^= 1,
            5 => bytes[3] ^= 1,
            6 => bytes.extend([7; 100]),
            _ => {}
        }
        match damage {
            7 => fs::remove_file(&rows).expect("removed"),
            9 => {
                fs::remove_file(&rows).expect("removed");
                fs::create_dir(&rows).expect("a folder in its place");
            }
            10 => {
                let dir = rows.parent().expect("it lies in a folder");
                fs::remove_dir_all(dir).expect("removed");
                fs::write(dir, "a file in its place").expect("written");
            }
            _ => fs::write(&rows, &bytes).expect("it writes"),
        }
        if damage == 8 {
            fs::write(&note, "no note").expect("it writes");
        }
        let service = world.open();
        let before = service.embed_status().expect("a status").embedded;
        let left = match damage {
            0 | 3 | 5 | 7 | 9 | 10 => 0,
            1 | 2 | 8 => 100,
            4 => 200,
            _ => 300,
        };
        assert_eq!(before, left, "damage {damage}");
        assert_eq!(
            vimbles(&recall(&service, "any quorl")).min(1),
            usize::from(left > 0)
        );
        service.embed(&NoProgress).expect("it embeds");
        assert_eq!(
            vimbles(&recall(&service, "any quorl")),
            30,
            "damage {damage}"
        );
        assert_eq!(
            world.asked(),
            if damage == 0 { 302 } else { 2 },
            "the cache has them"
        );
        drop(service);
    }
}

#[test]
fn a_redaction_takes_rows_and_cache_away() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(100, 0));
    store(&service, &["the vimble is called Biscuit".to_owned()]);
    service.bring_views_to_disk().expect("there is room");
    let id = ModelId {
        name: "fake/model:1",
        dim: DIM,
        embeds: Embeds::Passages,
    };
    let late = service.with_views(|views| Ok(views.unembedded(id, 2)?));
    service.embed(&NoProgress).expect("it embeds");
    world.asked();
    let request = RedactRequest {
        pattern: Some("Biscuit".to_owned()),
        ..RedactRequest::default()
    };
    service
        .redact(&Caller::default(), &request)
        .expect("it redacts");
    assert!(world.files(".rows").is_empty());
    service.bring_views_to_disk().expect("there is room");
    let late = late.expect("two texts");
    let embedded = service.with_views(|views| {
        views.add_vectors(id, &late, &vec![vec![0.5; DIM]; late.texts.len()]);
        Ok(views.embedded(id).done)
    });
    assert_eq!(embedded.expect("a number"), 0, "late vectors are left out");
    assert_eq!(service.embed(&NoProgress).expect("it embeds").new, 101);
    assert!(world.asked() >= 100, "the cache is gone, too");
    assert_eq!(vimbles(&recall(&service, "any quorl")), 10);
}
