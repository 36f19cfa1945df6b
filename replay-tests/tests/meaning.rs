//! Recall by meaning: memories that no word finds, memories that must not be found, and the file of the vectors, which
//! is made again if lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use icm_api::{
    Caller, Importance, ListRequest, NoProgress, RecallHit, RecallRequest, RedactRequest,
    StoreRequest, TagFilter, Trust,
};
use icm_projections::ranking::Ranking;
use icm_service::{OpenOptions, Service};
use icm_vectors::embed::{Embedder, StaticEmbedder};
use replay_tests::script::Run;

const TEXTS: [&str; 10] = [
    "our office dog is called Biscuit",
    "payment retries use exponential backoff",
    "Invoices live in PostgreSQL",
    "the team meets on Tuesdays at ten",
    "deploys need two approvals",
    "the linker fails with E0382 when the borrow outlives the buffer",
    "compiler errors about borrowing are explained on the second page of the handbook",
    "Ada likes green tea in the morning",
    "the parking lot closes at nine",
    "logs are kept for thirty days",
];

fn step(run: &mut Run, line: &str) -> String {
    let text = run.step(&line.parse().expect("a command"));
    assert!(!text.starts_with("error"), "{line}: {text}");
    text
}

/// Stores every text in a topic of its own.
fn small() -> Run {
    let mut run = Run::new(3);
    for (n, text) in TEXTS.iter().enumerate() {
        step(&mut run, &format!("store $m{n} -t t{n} -c \"{text}\""));
    }
    run
}

fn ask(run: &Run, request: RecallRequest) -> Vec<(String, f64)> {
    let answer = run.service().recall(&Caller::default(), &request);
    let answer = answer.unwrap_or_else(|error| panic!("recall: {error}"));
    let hits = answer.results.into_iter();
    hits.map(|hit| (hit.memory.content.unwrap_or_default(), hit.score))
        .collect()
}

fn found(run: &Run, query: &str) -> Vec<String> {
    let request = RecallRequest {
        floor: Some(0.0),
        ..RecallRequest::new(query)
    };
    let found = ask(run, request).into_iter();
    found.map(|(content, _)| content).collect()
}

fn vectors(dir: &Path) -> PathBuf {
    let views = icm_projections::version_dir(&dir.join("views"));
    let name = fs::read_to_string(views.join("current")).expect("views were built");
    let model = StaticEmbedder::built_in().model().to_owned();
    views.join(name.trim()).join("vectors").join(model)
}

#[test]
fn other_words_find_the_meaning() {
    let mut run = small();
    for built in [false, true] {
        if built {
            step(&mut run, "rebuild");
            step(&mut run, "reopen");
        }
        for (query, wanted) in [
            ("name of the pet", TEXTS[0]),
            ("how are failed charges tried again", TEXTS[1]),
        ] {
            let found = found(&run, query);
            let place = found.iter().position(|content| content == wanted);
            assert!(place.is_some_and(|place| place < 2), "{query}: {found:?}");
        }
        assert_eq!(found(&run, "Zr:;! 鿿"), [""; 0]);
        // A code or a number is near only to a text that contains it.
        assert_eq!(found(&run, "E0382"), [TEXTS[5]]);
        assert_eq!(found(&run, "8081"), [""; 0]);
        assert_eq!(
            found(&run, "what does E0382 say about borrowing")[0],
            TEXTS[5]
        );
        let words = found(&run, "invoices");
        assert_eq!(words[0], TEXTS[2], "{words:?}");
    }
}

#[test]
fn the_answer_is_the_same_in_the_tail_in_the_files_and_in_both() {
    let mut run = small();
    let queries = [
        "name of the pet",
        "green tea",
        "approvals for a release",
        "E0382",
    ];
    let all = |run: &Run| {
        let of = |query: &&str| {
            let request = RecallRequest {
                floor: Some(0.0),
                ..RecallRequest::new(*query)
            };
            ask(run, request)
        };
        queries.iter().map(of).collect::<Vec<_>>()
    };
    let before = all(&run);
    assert!(before.iter().all(|found| !found.is_empty()), "{before:?}");
    step(&mut run, "rebuild");
    assert_eq!(all(&run), before);
    step(&mut run, "reopen");
    assert_eq!(all(&run), before);
    step(
        &mut run,
        "store $more -t more -c \"the cat is called Muffin\"",
    );
    let with_tail = all(&run);
    assert_ne!(with_tail, before);
    step(&mut run, "settle");
    assert_eq!(all(&run), with_tail);
    step(&mut run, "reopen");
    assert_eq!(all(&run), with_tail);
    step(&mut run, "rebuild");
    assert_eq!(all(&run), with_tail);
}

/// A memory next to a good match ranks above the same words elsewhere, before and after a commit, whatever is stored in
/// other topics in between.
#[test]
fn neighbours_in_a_topic_lend_evidence() {
    let mut run = Run::new(4);
    let lines = [
        ("b", "something about lunch"),
        ("a", "what went wrong with the release on Friday"),
        ("b", "it was the old certificate"),
        ("a", "it was the old certificate"),
        ("c", "the parking lot closes at nine"),
    ];
    for (n, (topic, text)) in lines.iter().enumerate() {
        step(&mut run, &format!("store $l{n} -t {topic} -c \"{text}\""));
    }
    // Two memories say the same; the one that follows the question it answers comes first.
    let topics = |run: &Run| -> Vec<String> {
        let request = RecallRequest {
            floor: Some(0.0),
            ..RecallRequest::new("which certificate broke the release")
        };
        let answer = run.service().recall(&Caller::default(), &request);
        let mut results = answer.expect("recalled").results;
        results.retain(|hit| hit.memory.content.as_deref() == Some(lines[2].1));
        // The first of the two results names the topic of the other.
        let topics = |hit: RecallHit| [vec![hit.memory.topic], hit.also_in].concat();
        results.into_iter().flat_map(topics).collect()
    };
    assert_eq!(topics(&run), ["a", "b"]);
    step(&mut run, "rebuild");
    step(&mut run, "reopen");
    assert_eq!(topics(&run), ["a", "b"]);
}

/// A memory next to a good match is found, though 200 others have its words in shorter texts; but a filter by another
/// keyword still leaves it out.
#[test]
fn neighbours_of_the_best_are_candidates() {
    let dir = tempfile::tempdir().expect("a folder");
    let reply = "Ben: well, as I told everybody at lunch the day before yesterday when the soup came, it must \
                 have been that old thing, the certificate, which nobody had looked at for a year or more";
    let service = |expand: usize, meaning: f64| {
        let options = OpenOptions {
            dir: dir.path().to_owned(),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        };
        let ranking = Ranking {
            expand,
            meaning,
            ..Ranking::default()
        };
        let service = Service::open(options).expect("a store");
        service.with_ranking(ranking)
    };
    let talk = service(0, 0.5);
    let store = |topic: &str, content: &str, keyword: &str| {
        let request = StoreRequest {
            keywords: vec![keyword.to_owned()],
            ..StoreRequest::new(topic, content)
        };
        talk.store(&Caller::default(), request).expect("stored");
    };
    store("a", "Ada: good morning to you", "asked");
    store("a", "Ben: and to you", "asked");
    store(
        "a",
        "Ada: what went wrong with the release on Friday?",
        "asked",
    );
    store("a", reply, "replied");
    for n in 0..200 {
        let content = format!("the certificate of release {n} went wrong");
        store(&format!("x{n}"), &content, "asked");
    }
    drop(talk);
    let finds = |expand: usize, meaning: f64, keyword: Option<&str>| {
        let request = RecallRequest {
            tags: TagFilter::all(keyword),
            floor: Some(0.0),
            ..RecallRequest::new("which certificate went wrong with the release on Friday")
        };
        let found = service(expand, meaning).recall(&Caller::default(), &request);
        let mut results = found.expect("recalled").results.into_iter();
        results.any(|hit| hit.memory.content.as_deref() == Some(reply))
    };
    // This also holds if words alone are searched.
    for meaning in [1.5, 0.0] {
        assert!(!finds(0, meaning, None), "{meaning}");
        assert!(finds(32, meaning, None), "{meaning}");
        assert!(!finds(32, meaning, Some("asked")), "{meaning}");
    }
}

#[test]
fn filters_and_moments_hold_for_what_meaning_finds() {
    let mut run = small();
    for n in 0..300 {
        step(
            &mut run,
            &format!("store $d{n} -t dogs -c \"the name of pet number {n} is Rex\""),
        );
    }
    step(&mut run, "update $m0 -c \"nobody brings animals any more\"");
    step(&mut run, "rebuild");
    step(&mut run, "reopen");
    let asked = |topic: Option<&str>, at: Option<&str>| {
        let request = RecallRequest {
            topic: topic.map(str::to_owned),
            at: at.map(str::to_owned),
            limit: Some(1_000),
            floor: Some(0.0),
            ..RecallRequest::new("name of the pet")
        };
        let found = ask(&run, request).into_iter();
        found.map(|(content, _)| content).collect::<Vec<_>>()
    };
    let wanted = |found: &[String]| found.iter().any(|content| content == TEXTS[0]);
    assert!(!wanted(&asked(None, None)), "it no longer says so");
    assert!(wanted(&asked(None, Some("@20"))), "it said so then");
    // A filter applies inside the search, although 300 other memories are nearer.
    assert_eq!(asked(Some("t0"), Some("@310")), [TEXTS[0]]);
    assert_eq!(asked(Some("dogs"), None).len(), 300);
}

/// Importance, trust and time filter inside the search: 300 memories that fit better are left out.
#[test]
fn facts_narrow_a_recall_before_the_limit() {
    let mut run = Run::new(6);
    let store = |run: &Run, content: &str, importance, trust, occurred_at: Option<&str>| {
        let request = StoreRequest {
            importance: Some(importance),
            trust,
            occurred_at: occurred_at.map(str::to_owned),
            ..StoreRequest::new("pets", content)
        };
        let stored = run.service().store(&Caller::default(), request);
        stored.unwrap_or_else(|error| panic!("store: {error}"));
    };
    let [dog, cat, bird] = [
        "our office dog is called Biscuit",
        "the cat goes by Muffin",
        "somebody heard that the parrot was Polly",
    ];
    let old = Some("2019-05-05T12:00:00Z");
    store(&run, dog, Importance::Critical, Trust::User, old);
    store(&run, cat, Importance::High, Trust::Agent, None);
    store(&run, bird, Importance::Low, Trust::External, old);
    for n in 0..300 {
        let content = format!("the name of the pet number {n} is Rex");
        let agent = Trust::Agent;
        store(
            &run,
            &content,
            Importance::Medium,
            agent,
            Some("2020-01-01T00:00:00Z"),
        );
    }
    type Narrow = fn(&mut RecallRequest);
    let asked: [(Narrow, &[&str]); 7] = [
        (|r| r.importance = Some(Importance::High), &[dog, cat]),
        (|r| r.importance = Some(Importance::Critical), &[dog]),
        (|r| r.trust = Some(Trust::User), &[dog]),
        (|r| r.until = Some("2019-05-05".to_owned()), &[dog, bird]),
        (|r| r.since = Some("2020-01-02".to_owned()), &[cat]),
        (
            |r| (r.since, r.until) = (Some("2019-05-05".into()), Some("2019-05-05".into())),
            &[dog, bird],
        ),
        (
            |r| (r.trust, r.until) = (Some(Trust::Agent), Some("2019-05-05".into())),
            &[dog],
        ),
    ];
    for built in [false, true] {
        if built {
            step(&mut run, "rebuild");
            step(&mut run, "reopen");
        }
        for (n, (narrow, wanted)) in asked.iter().enumerate() {
            let mut request = RecallRequest {
                limit: Some(3),
                floor: Some(0.0),
                ..RecallRequest::new("the name of the pet, dog, cat or parrot")
            };
            narrow(&mut request);
            let mut found: Vec<_> = (ask(&run, request).into_iter())
                .map(|(content, _)| content)
                .collect();
            found.sort();
            let mut wanted = wanted.to_vec();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "filter {n}");
        }
    }
    let backwards = RecallRequest {
        since: Some("2020-01-02".to_owned()),
        until: Some("2020-01-01".to_owned()),
        floor: Some(0.0),
        ..RecallRequest::new("pet")
    };
    let answer = run.service().recall(&Caller::default(), &backwards);
    let error = answer.expect_err("nothing can be there").to_string();
    assert!(
        error.starts_with("nothing is both since 2020-01-02 and until 2020-01-01"),
        "{error}"
    );
}

/// Frequent recalls do not raise a memory, or each recall would raise it further.
#[test]
fn a_thousand_recalls_of_one_memory_change_no_order() {
    let mut run = small();
    step(&mut run, "rebuild");
    let asked = [
        "the team and the office dog",
        "what closes, and when",
        "morning tea",
    ];
    let all = |run: &Run| asked.map(|query| found(run, query));
    let before = all(&run);
    for n in 0..1_000 {
        let request = RecallRequest {
            record: true,
            floor: Some(0.0),
            ..RecallRequest::new("parking lot")
        };
        assert_eq!(ask(&run, request)[0].0, TEXTS[8]);
        run.service().record_recalls();
        if n % 300 == 0 {
            step(&mut run, "settle");
        }
    }
    let memories = run.service().list(&ListRequest::default()).expect("a list");
    let counted = memories.iter().map(|memory| memory.access_count).max();
    assert!(counted >= Some(1_000), "{counted:?}");
    assert_eq!(all(&run), before);
}

#[test]
fn the_file_of_vectors_comes_back_alone() {
    let mut run = small();
    step(&mut run, "rebuild");
    step(&mut run, "reopen");
    let expected = found(&run, "name of the pet");
    let path = vectors(&run.dir());
    let whole = fs::read(&path).expect("there is one");
    let stamps = |dir: &Path| -> BTreeMap<PathBuf, std::time::SystemTime> {
        let generation = path.parent().and_then(Path::parent).expect("a generation");
        assert!(generation.starts_with(dir));
        let entries = fs::read_dir(generation).expect("read").flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        let others = files.filter(|entry| entry.file_name() != "manifest");
        others
            .map(|entry| {
                let metadata = entry.metadata().expect("a file");
                (entry.path(), metadata.modified().expect("a time"))
            })
            .collect()
    };
    let before = stamps(&run.dir());
    assert!(before.len() >= 3, "table, rows and waypoints: {before:?}");
    let mut flipped = whole.clone();
    flipped[100] ^= 1;
    let mut other = whole.clone();
    other[70] ^= 0x10;
    for damage in [
        None,
        Some(&whole[..0]),
        Some(&whole[..200]),
        Some(&flipped),
        Some(&other),
    ] {
        // The file is damaged while a running process uses it, and while no process runs.
        for closed in [false, true] {
            let strike = |path: &Path| {
                fs::remove_file(path).expect("removed");
                if let Some(bytes) = damage {
                    fs::write(path, bytes).expect("written");
                }
            };
            match closed {
                false => strike(&path),
                true => run.while_closed(|dir| strike(&vectors(dir))),
            }
            assert_eq!(found(&run, "name of the pet"), expected);
            assert_eq!(fs::read(&path).expect("it is there"), whole, "as it was");
            assert_eq!(stamps(&run.dir()), before, "the others were left alone");
        }
    }
    assert_eq!(run.take_notices(), [""; 0]);
    let report = run.service().verify(&NoProgress).expect("it verifies");
    assert!(report.ok && report.findings.is_empty(), "{report:?}");
}

#[test]
fn verify_sees_a_damaged_row_and_a_redaction_takes_the_vectors() {
    let mut run = small();
    step(&mut run, "rebuild");
    run.while_closed(|dir| {
        let path = vectors(dir);
        let mut bytes = fs::read(&path).expect("there is one");
        bytes[100] ^= 1;
        fs::write(&path, bytes).expect("written");
    });
    let report = run.service().verify(&NoProgress).expect("it verifies");
    assert_eq!(report.findings.len(), 1, "{report:?}");
    assert!(
        report.findings[0].message.contains("vectors/static-"),
        "{report:?}"
    );
    let report = run.service().verify(&NoProgress).expect("it verifies");
    assert!(report.findings.is_empty(), "{report:?}");

    let path = vectors(&run.dir());
    let row = fs::read(&path).expect("there is one")[64..64 + 272].to_vec();
    let biscuit = RecallRequest {
        floor: Some(0.0),
        ..RecallRequest::new("Biscuit")
    };
    let answer = run.service().recall(&Caller::default(), &biscuit);
    let request = RedactRequest {
        targets: vec![answer.expect("recalled").results[0].memory.id.clone()],
        ..RedactRequest::default()
    };
    let redacted = run.service().redact(&Caller::default(), &request);
    redacted.expect("redacted");
    step(&mut run, "rebuild");
    found(&run, "name of the pet");
    let gone = |bytes: Vec<u8>| !bytes.windows(256).any(|window| window == &row[16..]);
    let mut looked_at = 0;
    for (path, bytes) in replay_tests::folder::read(&run.dir()) {
        assert!(gone(bytes), "{} has the vector", path.display());
        looked_at += 1;
    }
    assert!(looked_at > 2, "{looked_at}");
}
