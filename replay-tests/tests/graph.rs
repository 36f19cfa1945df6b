//! The graph beside the vectors: a process with a graph uses it, the views do not depend on its file, and a lost file
//! is made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use icm_api::{Caller, NoProgress, RecallAnswer, RecallRequest, StoreRequest};
use icm_projections::ranking::Ranking;
use icm_service::{OpenOptions, Service};

/// Enough memories that a search by the graph costs less than a scan.
const MEMORIES: usize = 9_600;
const ROWS_MIN: u64 = 600;

fn service(dir: &Path) -> Service {
    let options = OpenOptions {
        dir: dir.to_owned(),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let service = Service::open(options).expect("a store");
    let ranking = Ranking {
        candidates: 4,
        nearest: 4,
        ..Ranking::default()
    };
    service.with_ranking(ranking).with_graph_rows_min(ROWS_MIN)
}

fn line(n: usize) -> String {
    const WHO: [&str; 8] = [
        "billing",
        "the linker",
        "Ada",
        "our office dog",
        "the parser",
        "a customer",
        "the night shift",
        "the cache",
    ];
    const WHAT: [&str; 10] = [
        "restarts",
        "complains about",
        "moved to",
        "was replaced by",
        "depends on",
        "is slower than",
        "pays for",
        "forgets",
        "prefers",
        "was tested with",
    ];
    const WHOM: [&str; 30] = [
        "PostgreSQL",
        "green tea",
        "the third floor",
        "a smaller buffer",
        "invoices from March",
        "the compiler",
        "tickets",
        "a warm start",
        "the harbour",
        "two approvals",
        "paper maps",
        "the old backup",
        "heavy rain",
        "a loud printer",
        "the budget",
        "Tuesday meetings",
        "a broken lift",
        "seven servers",
        "the river",
        "yellow paint",
        "an open window",
        "the archive",
        "a long queue",
        "winter tyres",
        "the choir",
        "random seeds",
        "a spare key",
        "the museum",
        "early trains",
        "bitter chocolate",
    ];
    const WHEN: [&str; 4] = ["in winter", "by night", "at last", "for ever"];
    let when = WHEN[n / 2_400 % 4];
    format!(
        "{} {} {} {when}",
        WHO[n % 8],
        WHAT[n / 8 % 10],
        WHOM[n / 80 % 30]
    )
}

/// Makes a store of different memories, all of them in the view files.
fn filled(dir: &Path) -> Service {
    let service = service(dir);
    let lines: String = (0..MEMORIES)
        .map(|n| format!("{{\"topic\":\"t{}\",\"content\":\"{}\"}}\n", n % 7, line(n)))
        .collect();
    let files = vec![(
        "lines".to_owned(),
        Box::new(std::io::Cursor::new(lines)) as _,
    )];
    let report = service.import_jsonl(&Caller::default(), files, false, &NoProgress);
    report.expect("imported");
    service.rebuild(&NoProgress).expect("rebuilt");
    service
}

fn ask(service: &Service, request: RecallRequest) -> RecallAnswer {
    let request = RecallRequest {
        query: "who drinks hot drinks in the morning".to_owned(),
        limit: Some(4),
        floor: Some(0.0),
        explain: true,
        ..request
    };
    service
        .recall(&Caller::default(), &request)
        .expect("recalled")
}

/// Returns the method by which the vectors in the files were searched, and the number of vectors that the graph covers.
fn by(answer: &RecallAnswer) -> (String, u64) {
    let vectors = &answer.explain.as_ref().expect("asked for")["vectors"];
    let by = vectors["by"].as_str().expect("it is said");
    (
        by.to_owned(),
        vectors["covered"].as_u64().expect("it is said"),
    )
}

fn contents(answer: &RecallAnswer) -> Vec<String> {
    let hits = answer.results.iter();
    hits.map(|hit| hit.memory.content.clone().unwrap_or_default())
        .collect()
}

fn graph(dir: &Path) -> PathBuf {
    let views = icm_projections::version_dir(&dir.join("views"));
    let name = fs::read_to_string(views.join("current")).expect("views were built");
    let entries = fs::read_dir(views.join(name.trim()).join("vectors")).expect("vectors");
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths
        .find(|path| path.extension().is_some_and(|ending| ending == "graph"))
        .expect("a graph")
}

#[test]
fn a_server_that_goes_on_answers_by_a_graph() {
    let dir = tempfile::tempdir().expect("a folder");
    let service = filled(dir.path());
    let scanned = ask(&service, RecallRequest::default());
    assert_eq!(by(&scanned), ("scan".to_owned(), 0));
    // Building stops when it is told to.
    let asked = AtomicUsize::new(0);
    service.tend_graph(&|| asked.fetch_add(1, Ordering::Relaxed) < 3);
    assert_eq!(asked.into_inner(), 4);
    assert_eq!(by(&ask(&service, RecallRequest::default())).0, "scan");
    service.tend_graph(&|| true);
    let graphed = ask(&service, RecallRequest::default());
    assert_eq!(by(&graphed), ("graph".to_owned(), MEMORIES as u64));
    assert_eq!(contents(&graphed), contents(&scanned));
    assert_eq!(contents(&graphed).len(), 4);
    // With a filter, and at an earlier moment, the answers are as without a graph.
    let narrow = RecallRequest {
        topic: Some("t3".to_owned()),
        ..RecallRequest::default()
    };
    let past = RecallRequest {
        at: Some("@300".to_owned()),
        ..RecallRequest::default()
    };
    let fresh = self::service(dir.path());
    for request in [narrow, past] {
        let (with, without) = (ask(&service, request.clone()), ask(&fresh, request));
        assert_eq!(contents(&with), contents(&without));
        assert_eq!(by(&without).1, 0, "a process that just began has none");
        assert_eq!(with.results.len(), 4);
    }
    // Later memories are found, in the tail and in the files, and the graph stays.
    let more = StoreRequest::new("t9", "hot drinks are served in the morning");
    service
        .store(&Caller::default(), more.clone())
        .expect("stored");
    for n in 0..600 {
        let more = StoreRequest::new("t8", format!("entry {n} of a list of entries"));
        service.store(&Caller::default(), more).expect("stored");
    }
    assert_eq!(
        contents(&ask(&service, RecallRequest::default()))[0],
        more.content
    );
    service.settle();
    let after = ask(&service, RecallRequest::default());
    assert_eq!(by(&after), ("graph".to_owned(), MEMORIES as u64));
    let rows = after.explain.as_ref().expect("asked for")["vectors"]["rows"].as_u64();
    assert_eq!(rows, Some(MEMORIES as u64 + 601));
    assert_eq!(contents(&after)[0], more.content);
    // The views do not depend on the graph's file.
    fs::remove_file(graph(dir.path())).expect("removed");
    let after = ask(&service, RecallRequest::default());
    assert_eq!(by(&after), ("graph".to_owned(), MEMORIES as u64));
    assert!(service.take_notices().is_empty());
    let report = service.verify(&NoProgress).expect("it verifies");
    assert!(report.ok && report.findings.is_empty(), "{report:?}");
}

#[test]
fn a_graph_that_is_damaged_or_gone_comes_back_and_nothing_else_does() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = filled(dir.path());
    ask(&first, RecallRequest::default());
    first.tend_graph(&|| true);
    let expected = contents(&ask(&first, RecallRequest::default()));
    let path = graph(dir.path());
    let whole = fs::read(&path).expect("read");
    drop(first);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damage in [
        None,
        Some(&whole[..0]),
        Some(&whole[..whole.len() / 2]),
        Some(&flipped),
    ] {
        fs::remove_file(&path).expect("removed");
        if let Some(bytes) = damage {
            fs::write(&path, bytes).expect("written");
        }
        let service = service(dir.path());
        assert_eq!(contents(&ask(&service, RecallRequest::default())), expected);
        service.tend_graph(&|| true);
        let answer = ask(&service, RecallRequest::default());
        assert_eq!(by(&answer), ("graph".to_owned(), MEMORIES as u64));
        assert_eq!(contents(&answer), expected);
        assert_eq!(fs::read(&path).expect("it is there"), whole, "as it was");
        assert!(service.take_notices().is_empty());
        let report = service.verify(&NoProgress).expect("it verifies");
        assert!(report.ok && report.findings.is_empty(), "{report:?}");
    }
    // A new process reads the graph from its file.
    let service = service(dir.path());
    ask(&service, RecallRequest::default());
    service.tend_graph(&|| panic!("there is nothing to make"));
    assert_eq!(by(&ask(&service, RecallRequest::default())).0, "graph");
}
