use std::sync::atomic::Ordering;
use std::time::Duration;

use icm_api::error::ServiceError;
use icm_api::session::SessionStart;
use icm_api::{
    AlertReceipt, AlertSetRequest, AlertsAnswer, AlertsRequest, Caller, ExportSince, NoProgress,
    RedactRequest, UndoRequest,
};

use crate::ExportFile;
use crate::service::tests::{reading, service, service_at};
use crate::service::{OpenOptions, Service};

const HOUR_MS: u64 = 3_600_000;
const TEN_YEARS_MS: u64 = 10 * 365 * 24 * HOUR_MS;

fn caller(session: &str, project: &str) -> Caller {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Caller {
        session: some(session),
        project_id: some(project),
        ..Caller::default()
    }
}

fn try_set(
    service: &Service,
    caller: &Caller,
    text: &str,
    due: &str,
) -> Result<AlertReceipt, ServiceError> {
    let request = AlertSetRequest {
        text: text.to_owned(),
        due: (!due.is_empty()).then(|| due.to_owned()),
        ..AlertSetRequest::default()
    };
    service.set_alert(caller, request)
}

fn set(service: &Service, caller: &Caller, text: &str, due: &str) -> AlertReceipt {
    try_set(service, caller, text, due).expect("it is set")
}

/// Returns the texts of an answer, joined by blanks.
fn texts(answer: &AlertsAnswer) -> String {
    let texts: Vec<&str> = answer.alerts.iter().map(|alert| &*alert.text).collect();
    texts.join(" ")
}

/// Returns the alerts that a session sees, without delivering them.
fn seen(service: &Service, caller: &Caller) -> String {
    let request = AlertsRequest {
        read_only: true,
        ..AlertsRequest::default()
    };
    let (answer, delivery) = service.alerts(caller, &request).expect("an answer");
    assert!(delivery.is_none() && !answer.delivered);
    texts(&answer)
}

/// Returns every alert that waits, and those of an earlier moment.
fn all_at(service: &Service, at: Option<u64>) -> String {
    let request = AlertsRequest {
        all: true,
        at: at.map(|position| format!("@{position}")),
        ..AlertsRequest::default()
    };
    let (answer, delivery) = service
        .alerts(&caller("", ""), &request)
        .expect("an answer");
    assert!(delivery.is_none());
    texts(&answer)
}

/// Returns the alerts that a session sees, and delivers them.
fn ask(service: &Service, caller: &Caller) -> String {
    let found = service.alerts(caller, &AlertsRequest::default());
    let (answer, delivery) = found.expect("an answer");
    assert_eq!(answer.delivered, delivery.is_some());
    if let Some(delivery) = delivery {
        service.record_delivery(delivery).expect("it is recorded");
    }
    texts(&answer)
}

fn carry(from: &Service, to: &Service) {
    let mut bytes = Vec::new();
    from.export_log(&ExportSince::Start, &mut bytes, &NoProgress)
        .expect("exported");
    let file = ExportFile::spool(&mut bytes.as_slice(), "an export").expect("an export");
    to.import_log(&Caller::default(), &file, false, &NoProgress)
        .expect("imported");
}

#[test]
fn a_session_sees_its_own_alerts_and_those_of_its_parents() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(&folder.path().join("store"));
    let receipt = set(&service, &caller("a/b", "p"), "own", "");
    assert_eq!(receipt.session.as_deref(), Some("a/b"));
    set(&service, &caller("a", ""), "parent", "");
    for (session, expected) in [
        ("a/b", "own parent"),
        ("a/b/c", "own parent"),
        ("a", "parent"),
        ("a/c", "parent"),
        ("ab", ""),
        ("b", ""),
        ("", ""),
    ] {
        assert_eq!(seen(&service, &caller(session, "p")), expected, "{session}");
    }
    let own = AlertsRequest {
        own: true,
        ..AlertsRequest::default()
    };
    let (answer, _) = service
        .alerts(&caller("a/b", "p"), &own)
        .expect("an answer");
    assert_eq!(texts(&answer), "own");
}

#[test]
fn a_parent_is_known_by_the_start_of_the_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(&folder.path().join("store"));
    for (session, parent) in [
        ("boss", None),
        ("worker", Some("boss")),
        ("help", Some("worker")),
    ] {
        let start = SessionStart {
            parent: parent.map(str::to_owned),
            ..SessionStart::default()
        };
        service
            .start_session(&caller(session, ""), &start)
            .expect("it starts");
    }
    set(&service, &caller("boss", ""), "hurry", "");
    for (session, expected) in [("worker", "hurry"), ("help", "hurry"), ("stranger", "")] {
        assert_eq!(seen(&service, &caller(session, "")), expected, "{session}");
    }
}

#[test]
fn an_alert_without_a_session_is_for_the_project() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(&folder.path().join("store"));
    let made = Caller {
        session_is_made: true,
        ..caller("made", "p")
    };
    let receipt = set(&service, &made, "release", "");
    assert_eq!(
        (receipt.session, receipt.project.as_deref()),
        (None, Some("p"))
    );
    assert_eq!(seen(&service, &caller("s", "p")), "release");
    assert_eq!(seen(&service, &caller("s", "q")), "");
    assert_eq!(seen(&service, &caller("made", "")), "");
    let error = try_set(&service, &caller("", ""), "nobody", "").expect_err("for nobody");
    assert!(error.to_string().contains("no session"), "{error}");
    let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let error = try_set(&service, &caller("s", ""), &token, "").expect_err("a secret");
    assert!(matches!(error, ServiceError::Secret { .. }), "{error}");
    assert_eq!(all_at(&service, None), "release");
}

#[test]
fn an_alert_is_shown_once_whatever_the_clock_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, service) = service_at(folder.path());
    let me = caller("s", "");
    let start = clock.0.load(Ordering::Relaxed);
    set(&service, &me, "now", "");
    set(&service, &me, "later", "in 2h");
    assert_eq!(ask(&service, &me), "now");
    assert_eq!(ask(&service, &me), "");
    clock.0.store(start - TEN_YEARS_MS, Ordering::Relaxed);
    assert_eq!(ask(&service, &me), "");
    assert_eq!(all_at(&service, None), "later");
    clock.0.store(start + 2 * HOUR_MS, Ordering::Relaxed);
    // Another process begins after the alert was due.
    drop(service);
    let (clock, service) = service_at(folder.path());
    assert_eq!(ask(&service, &me), "");
    clock.0.store(start + 2 * HOUR_MS, Ordering::Relaxed);
    assert_eq!(ask(&service, &me), "later");
    for moment in [
        start + TEN_YEARS_MS,
        start - TEN_YEARS_MS,
        start + 3 * HOUR_MS,
    ] {
        clock.0.store(moment, Ordering::Relaxed);
        assert_eq!(ask(&service, &me), "");
    }
}

#[test]
fn an_alert_is_lost_by_no_crash_and_shown_by_one_process_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("store");
    let first = service(&dir);
    let options = OpenOptions {
        dir: dir.clone(),
        lock_wait: Duration::ZERO,
        read_only: false,
    };
    let second = Service::open(options).expect("it opens");
    let me = caller("s", "");
    set(&first, &me, "tests", "");
    let request = AlertsRequest::default();
    let (answer, delivery) = first.alerts(&me, &request).expect("an answer");
    assert!(answer.delivered && delivery.is_some());
    let busy = second.alerts(&me, &request).err();
    assert!(matches!(busy, Some(ServiceError::Busy { .. })), "{busy:?}");
    // The process dies between the answer and its event.
    drop(delivery);
    let (answer, delivery) = second.alerts(&me, &request).expect("an answer");
    assert_eq!(texts(&answer), "tests");
    drop(delivery.expect("a delivery"));
    assert_eq!(ask(&second, &me), "tests");
    assert_eq!(
        (ask(&first, &me), ask(&second, &me)),
        (String::new(), String::new())
    );
    set(&first, &me, "again", "");
    let reading = reading(&dir);
    let (answer, delivery) = reading.alerts(&me, &request).expect("an answer");
    assert!(texts(&answer) == "again" && delivery.is_none());
}

#[test]
fn an_undone_or_redacted_alert_is_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(&folder.path().join("store"));
    let me = caller("s", "");
    let receipt = set(&service, &me, "tests", "");
    let undo = |event: u64| {
        let request = UndoRequest {
            events: vec![format!("@{event}")],
            ..UndoRequest::default()
        };
        service.undo(&Caller::default(), &request)
    };
    let undone = undo(receipt.position).expect("undone").position;
    assert_eq!(seen(&service, &me), "");
    assert_eq!(all_at(&service, Some(receipt.position)), "tests");
    undo(undone.expect("a position")).expect("undone");
    assert_eq!(ask(&service, &me), "tests");
    let delivered = service.newest_position().expect("a position");
    undo(delivered).expect_err("it was shown");
    assert_eq!(all_at(&service, None), "");
    assert_eq!(all_at(&service, Some(delivered - 1)), "tests");

    let receipt = set(&service, &me, "private", "");
    let request = RedactRequest {
        targets: vec![format!("@{}", receipt.position)],
        ..RedactRequest::default()
    };
    service
        .redact(&Caller::default(), &request)
        .expect("redacted");
    assert_eq!(
        (seen(&service, &me), ask(&service, &me)),
        (String::new(), String::new())
    );
    let receipt = set(&service, &me, "later", "tomorrow");
    service.rebuild(&NoProgress).expect("it rebuilds");
    assert_eq!(all_at(&service, None), "later");
    assert_eq!(all_at(&service, Some(receipt.position)), "later");
}

#[test]
fn an_alert_that_one_machine_showed_is_shown_by_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other] = ["one", "other"].map(|name| service(&folder.path().join(name)));
    let me = caller("s", "");
    set(&one, &me, "first", "");
    set(&other, &me, "second", "");
    carry(&one, &other);
    assert_eq!(all_at(&one, None), "first");
    let mut shown: Vec<String> = ask(&other, &me).split(' ').map(str::to_owned).collect();
    shown.sort();
    assert_eq!(shown, ["first", "second"]);
    carry(&other, &one);
    assert_eq!(
        (ask(&one, &me), ask(&other, &me)),
        (String::new(), String::new())
    );
    // Both show an alert before they learn of each other.
    set(&one, &me, "third", "");
    carry(&one, &other);
    assert_eq!(
        (ask(&one, &me), ask(&other, &me)),
        ("third".to_owned(), "third".to_owned())
    );
    carry(&one, &other);
    carry(&other, &one);
    assert_eq!(
        (all_at(&one, None), all_at(&other, None)),
        (String::new(), String::new())
    );
    for service in [&one, &other] {
        service.rebuild(&NoProgress).expect("it rebuilds");
        assert_eq!(all_at(service, None), "");
    }
}
