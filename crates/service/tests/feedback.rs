//! Tests of feedback: corrections come with recalls, marks move a memory within a bound, and both can be undone.

use std::time::Duration;

use icm_api::{
    Caller, ContextRequest, FeedbackRequest, FeedbackSearchRequest, LogRequest, Marks,
    RecallAnswer, RecallRequest, RedactRequest, StoreRequest, UndoRequest, Verdict,
};
use icm_log::facts::Front;
use icm_service::{OpenOptions, Service};

fn opened() -> (tempfile::TempDir, Service) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = open(folder.path());
    (folder, service)
}

fn open(folder: &std::path::Path) -> Service {
    Service::open(OpenOptions {
        dir: folder.join("store"),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    })
    .expect("a store")
}

fn session(name: &str) -> Caller {
    Caller {
        session: Some(name.to_owned()),
        ..Caller::default()
    }
}

fn store(service: &Service, content: &str) -> String {
    let request = StoreRequest::new("infra", content);
    let receipt = service.store(&Caller::default(), request);
    receipt.expect("it stores").id
}

fn correction() -> FeedbackRequest {
    FeedbackRequest {
        context: "a flaky test in the payment pipeline".to_owned(),
        predicted: "run it again".to_owned(),
        correct: "freeze the clock of the test".to_owned(),
        ..FeedbackRequest::default()
    }
}

fn record(service: &Service, request: &FeedbackRequest) -> String {
    let receipt = service.feedback_record(&Caller::default(), request);
    receipt.expect("it records").id
}

fn asked(service: &Service, query: &str) -> RecallAnswer {
    let answer = service.recall(&Caller::default(), &RecallRequest::new(query));
    answer.expect("it answers")
}

fn corrections(service: &Service, query: &str) -> Vec<String> {
    let hits = asked(service, query).corrections.into_iter();
    hits.map(|hit| hit.feedback.id).collect()
}

#[test]
fn a_correction_comes_with_a_recall_of_a_like_context() {
    let (folder, service) = opened();
    store(&service, "The payment pipeline runs every night");
    let id = record(&service, &correction());
    let like = "what to do about a flaky test in the pipeline";
    let other = "who owns the coffee machine";
    let answer = asked(&service, like);
    let hit = answer.corrections.first().expect("it fits");
    assert_eq!(hit.feedback.id, id);
    assert_eq!(
        hit.feedback.context.as_deref(),
        Some("a flaky test in the payment pipeline")
    );
    assert_eq!(hit.feedback.predicted.as_deref(), Some("run it again"));
    assert_eq!(
        hit.feedback.correct.as_deref(),
        Some("freeze the clock of the test")
    );
    // Feedback is no result, and no memory.
    assert!(answer.results.iter().all(|hit| hit.memory.id != id));
    assert!(corrections(&service, other).is_empty());
    let later = RecallRequest {
        offset: 1,
        ..RecallRequest::new(like)
    };
    let later = service
        .recall(&Caller::default(), &later)
        .expect("it answers");
    assert!(later.corrections.is_empty());
    let stats = service.stats(None).expect("it counts");
    assert_eq!((stats.memories, stats.topics), (1, 1));
    // The views are built from the log alone.
    drop(service);
    // There is no folder if nothing was committed yet.
    let _ = std::fs::remove_dir_all(folder.path().join("store/views"));
    assert_eq!(corrections(&open(folder.path()), like), [id]);
}

#[test]
fn two_corrections_at_most_come_with_an_answer() {
    let (_folder, service) = opened();
    for correct in [
        "freeze the clock",
        "seed the generator",
        "wait for the port",
    ] {
        record(
            &service,
            &FeedbackRequest {
                correct: correct.to_owned(),
                ..correction()
            },
        );
    }
    assert_eq!(
        corrections(&service, "flaky test in the payment pipeline").len(),
        2
    );
    let found = service.feedback_search(
        &Caller::default(),
        &FeedbackSearchRequest {
            query: "flaky test in the payment pipeline".to_owned(),
            ..FeedbackSearchRequest::default()
        },
    );
    assert_eq!(found.expect("it searches").results.len(), 3);
}

#[test]
fn a_correction_is_seen_from_its_scope() {
    let (_folder, service) = opened();
    let id = record(
        &service,
        &FeedbackRequest {
            scope: Some("project:a".to_owned()),
            ..correction()
        },
    );
    let seen = |project: &str| {
        let caller = Caller {
            project_id: Some(project.to_owned()),
            ..Caller::default()
        };
        let answer = service.recall(&caller, &RecallRequest::new("a flaky test"));
        let hits = answer.expect("it answers").corrections.into_iter();
        hits.map(|hit| hit.feedback.id).collect::<Vec<_>>()
    };
    assert_eq!(seen("a"), [id]);
    assert!(seen("b").is_empty());
}

#[test]
fn texts_with_marks_in_them_stay_apart() {
    let (_folder, service) = opened();
    let request = FeedbackRequest {
        context: "a sign ✗ in the context\n✗ and a line".to_owned(),
        predicted: "one\n✓ two".to_owned(),
        correct: "three ✓".to_owned(),
        reason: Some("because".to_owned()),
        topic: Some("signs".to_owned()),
        ..FeedbackRequest::default()
    };
    record(&service, &request);
    let found = service.feedback_search(
        &Caller::default(),
        &FeedbackSearchRequest {
            query: "a sign in the context".to_owned(),
            topic: Some("signs".to_owned()),
            ..FeedbackSearchRequest::default()
        },
    );
    let found = found.expect("it searches").results.remove(0).feedback;
    assert_eq!(found.context, Some(request.context));
    assert_eq!(found.predicted, Some(request.predicted));
    assert_eq!(found.correct, Some(request.correct));
    assert_eq!((found.reason, found.topic), (request.reason, request.topic));
}

#[test]
fn marks_move_a_memory_within_a_bound() {
    let (_folder, service) = opened();
    let id = store(&service, "The build server is reachable at 10.0.3.7");
    let score = || {
        let answer = asked(&service, "where is the build server reachable");
        answer.results[0].score
    };
    let mark = |session_name: &str, verdict| {
        let receipt = service.feedback_mark(&session(session_name), &id, verdict);
        receipt.expect("it marks")
    };
    let plain = score();
    let mut before = plain;
    for name in ["s1", "s2", "s3"] {
        assert!(mark(name, Verdict::Useful).marked);
        let after = score();
        assert!(after > before, "{name}");
        before = after;
    }
    mark("s4", Verdict::Useful);
    assert_eq!(score(), before, "three count");
    let most = before - plain;
    for name in ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"] {
        mark(name, Verdict::Wrong);
    }
    let least = score();
    assert!(
        (plain - least - most).abs() < 1e-9,
        "{plain} {least} {most}"
    );
    let memory = service.get(&id, None).expect("it is there");
    let wrong = Marks {
        useful: 0,
        wrong: 8,
    };
    assert_eq!(
        memory.marks,
        Some(wrong),
        "a later mark takes the place of the earlier one"
    );
}

#[test]
fn a_mark_counts_once_for_each_session_and_is_undone_alone() {
    let (_folder, service) = opened();
    let id = store(&service, "The build server is reachable at 10.0.3.7");
    let marks = || {
        service
            .get(&id, None)
            .expect("it is there")
            .marks
            .unwrap_or_default()
    };
    let first = service
        .feedback_mark(&session("s1"), &id, Verdict::Useful)
        .expect("it marks");
    let again = service
        .feedback_mark(&session("s1"), &id, Verdict::Useful)
        .expect("it answers");
    assert!(first.marked && !again.marked);
    assert_eq!(
        (&first.event, first.position),
        (&again.event, again.position)
    );
    let useful = Marks {
        useful: 1,
        wrong: 0,
    };
    assert_eq!((marks(), again.marks), (useful, useful));
    let turned = service
        .feedback_mark(&session("s1"), &id, Verdict::Wrong)
        .expect("it marks");
    let wrong = Marks {
        useful: 0,
        wrong: 1,
    };
    assert_eq!((marks(), turned.marks), (wrong, wrong));
    // The command took the earlier mark away, and gave another one.
    let undo = UndoRequest {
        events: vec![turned.event],
        ..UndoRequest::default()
    };
    service
        .undo(&Caller::default(), &undo)
        .expect("it is undone");
    assert_eq!(marks(), useful);
    let history = service.history(&id).expect("it has one");
    assert_eq!(history.len(), 1, "a mark makes no version");
    assert!(
        service
            .feedback_mark(&session("s1"), "01J9X4", Verdict::Wrong)
            .is_err()
    );
}

#[test]
fn recording_a_correction_calls_its_memory_wrong() {
    let (_folder, service) = opened();
    let id = store(&service, "Flaky tests are run again");
    let request = FeedbackRequest {
        memory: Some(id.clone()),
        ..correction()
    };
    let receipt = service
        .feedback_record(&session("s1"), &request)
        .expect("it records");
    assert_eq!(receipt.memory.as_ref(), Some(&id));
    let marks = service.get(&id, None).expect("it is there").marks;
    let wrong = Marks {
        useful: 0,
        wrong: 1,
    };
    assert_eq!((marks, receipt.marks), (Some(wrong), Some(wrong)));
    let stats = service.feedback_stats(None).expect("it counts");
    assert_eq!((stats.feedback, stats.marked, stats.marks), (1, 1, wrong));
    assert_eq!(stats.most_wrong[0].id, id);
    assert!(stats.most_useful.is_empty());
    // One undo takes back both.
    let undo = UndoRequest {
        events: vec![receipt.event],
        ..UndoRequest::default()
    };
    service
        .undo(&Caller::default(), &undo)
        .expect("it is undone");
    let stats = service.feedback_stats(None).expect("it counts");
    assert_eq!((stats.feedback, stats.marked), (0, 0));
    assert!(corrections(&service, "a flaky test in the payment pipeline").is_empty());
    let at = format!("@{}", receipt.position + 1);
    let then = service.feedback_stats(Some(&at)).expect("it counts");
    assert_eq!((then.feedback, then.marked), (1, 1), "then it was there");
}

#[test]
fn a_redacted_memory_takes_its_corrections_with_it() {
    let (folder, service) = opened();
    let id = store(&service, "The door code is 4711");
    record(
        &service,
        &FeedbackRequest {
            context: "the code of the door".to_owned(),
            predicted: "4711".to_owned(),
            correct: "0815".to_owned(),
            memory: Some(id.clone()),
            ..FeedbackRequest::default()
        },
    );
    let other = record(&service, &correction());
    let redact = RedactRequest {
        targets: vec![id],
        ..RedactRequest::default()
    };
    service
        .redact(&Caller::default(), &redact)
        .expect("it is redacted");
    let mut files = vec![folder.path().join("store/log")];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let inside = std::fs::read_dir(path).expect("a folder");
            files.extend(inside.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        for text in [b"4711", b"0815"] {
            assert!(!bytes.windows(4).any(|four| four == text), "{path:?}");
        }
    }
    assert_eq!(
        corrections(&service, "a flaky test in the payment pipeline"),
        [other]
    );
}

#[test]
fn a_hook_names_the_correction_that_it_showed() {
    let (_folder, service) = opened();
    store(&service, "The payment pipeline runs every night");
    let id = record(&service, &correction());
    let ask = |without: Vec<String>| {
        let request = ContextRequest {
            recall: RecallRequest {
                front: Front::HOOK,
                record: true,
                without,
                ..RecallRequest::new("a flaky test in the payment pipeline")
            },
            budget: 1_000,
            markdown: false,
        };
        let context = service.recall_context(&Caller::default(), &request);
        service.record_recalls();
        context.expect("it answers")
    };
    assert_eq!(ask(Vec::new()).corrections.len(), 1);
    let mut shown = Vec::new();
    let request = LogRequest {
        kind: Some("memory.recalled".to_owned()),
        ..LogRequest::default()
    };
    let each = &mut |entry: icm_api::LogEntry| {
        shown.push(entry.facts.to_string());
        true
    };
    service.log(&request, each).expect("it reads");
    assert!(shown.len() == 1 && shown[0].contains(&id), "{shown:?}");
    assert!(ask(vec![id]).corrections.is_empty());
}

#[test]
fn corrections_take_a_part_of_the_budget() {
    let (_folder, service) = opened();
    store(&service, "The payment pipeline runs every night");
    record(&service, &correction());
    let within = |budget| {
        let request = ContextRequest {
            recall: RecallRequest::new("a flaky test in the payment pipeline"),
            budget,
            markdown: false,
        };
        let context = service.recall_context(&Caller::default(), &request);
        context.expect("it answers")
    };
    let context = within(1_000);
    assert_eq!(context.corrections.len(), 1);
    let line = "correction: \"run it again\" was predicted, \"freeze the clock of the test\" is right \
                (context \"a flaky test in the payment pipeline\")";
    assert!(context.text.contains(line), "{}", context.text);
    assert!(context.tokens <= 1_000);
    let short = within(60);
    assert!(short.corrections.is_empty() && !short.text.contains("correction"));
}
