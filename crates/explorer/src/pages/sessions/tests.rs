//! Reminders on the page, on a store in a temporary folder.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Query;
use axum::http::Uri;
use icm_api::limits::ALERTS_SHOWN_MAX;
use icm_api::{AlertSetRequest, AlertsRequest, Caller, StoreRequest, UndoRequest};
use icm_service::{OpenOptions, Service};

use super::{alerts, page, session_page};
use crate::Explorer;
use crate::ask::Ask;

/// Returns the content of the page.
fn shown(explorer: &Explorer, address: &str) -> String {
    let uri: Uri = address.parse().expect("an address");
    let Query(params) = Query::try_from_uri(&uri).expect("a query");
    let ask = Ask::of(explorer, &uri, params).expect("a moment");
    page(explorer, &ask).expect("a page").main.into_string()
}

/// Returns the row of a reminder.
fn row<'p>(page: &'p str, text: &str) -> &'p str {
    let rows = page.split("<tr class=\"item\"");
    let mut rows = rows.filter(|row| row.contains(text));
    rows.next()
        .unwrap_or_else(|| panic!("no row of `{text}`: {page}"))
}

#[test]
fn reminders_are_set_due_shown_and_taken_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let service = Arc::new(Service::open(options).expect("a store"));
    let explorer = Explorer::new(Arc::clone(&service), Caller::default(), false);
    let explorer = explorer.expect("an explorer");
    assert!(shown(&explorer, "/sessions").contains("None was set"));

    let night = Caller {
        session: Some("night".to_owned()),
        ..Caller::default()
    };
    let set = |text: &str, due: Option<&str>| {
        let request = AlertSetRequest {
            text: text.to_owned(),
            due: due.map(str::to_owned),
            ..AlertSetRequest::default()
        };
        let receipt = service.set_alert(&night, request).expect("it is set");
        receipt.position
    };
    let first = set("look at <b>the lamp</b>", None);
    set("water the plant", Some("in 2h"));
    let undone = set("never mind", None);
    let undo = UndoRequest {
        events: vec![format!("@{undone}")],
        ..UndoRequest::default()
    };
    service.undo(&night, &undo).expect("it is undone");
    let (_, delivery) = service
        .alerts(&night, &AlertsRequest::default())
        .expect("alerts");
    let delivery = delivery.expect("a delivery");
    service.record_delivery(delivery).expect("it is recorded");
    let newest = service.newest_position().expect("a position");

    let now = shown(&explorer, "/sessions");
    assert!(!now.contains("<b>the lamp"), "{now}");
    let lamp = row(&now, "the lamp");
    assert!(lamp.contains(">shown<") && lamp.contains("night"), "{lamp}");
    assert!(lamp.contains(&format!("/log/{newest}\"")), "{lamp}");
    assert!(row(&now, "water the plant").contains(">waits<"), "{now}");
    assert!(row(&now, "never mind").contains(">taken back<"), "{now}");

    let then = shown(&explorer, &format!("/sessions?at=@{first}"));
    assert!(row(&then, "the lamp").contains(">due<"), "{then}");
    assert!(!then.contains("water the plant"), "{then}");
    let before = shown(&explorer, &format!("/sessions?at=@{undone}"));
    assert!(row(&before, "never mind").contains(">due<"), "{before}");

    let one = shown(&explorer, "/sessions?alerts=1");
    assert!(one.contains("2 older reminders"), "{one}");
}

#[test]
fn a_session_without_events_has_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let service = Arc::new(Service::open(options).expect("a store"));
    let explorer = Explorer::new(Arc::clone(&service), Caller::default(), false);
    let explorer = explorer.expect("an explorer");
    let request = AlertSetRequest {
        text: "look at the lamp".to_owned(),
        session: Some("night shift".to_owned()),
        ..AlertSetRequest::default()
    };
    let alert = service
        .set_alert(&Caller::default(), request)
        .expect("it is set");
    let of = |address: &str| {
        let uri: Uri = address.parse().expect("an address");
        let Query(params) = Query::try_from_uri(&uri).expect("a query");
        let ask = Ask::of(&explorer, &uri, params).expect("a moment");
        session_page(&explorer, &ask).expect("a page")
    };
    let list = shown(&explorer, "/sessions");
    let row = row(&list, "look at the lamp");
    assert!(row.contains("href=\"/sessions/night%20shift\""), "{row}");
    let unknown = of("/sessions/night%20shift");
    assert_eq!(unknown.title, "Session night shift");
    let unknown = unknown.main.into_string();
    assert!(unknown.contains("No event of this session"), "{unknown}");
    assert!(unknown.contains("look at the lamp"), "{unknown}");

    let night = Caller {
        session: Some("night shift".to_owned()),
        ..Caller::default()
    };
    let stored = service.store(&night, StoreRequest::new("lamps", "one lamp"));
    stored.expect("it stores");
    let known = of("/sessions/night%20shift").main.into_string();
    assert!(!known.contains("No event of this session"), "{known}");
    let then = of(&format!("/sessions/night%20shift?at=@{}", alert.position));
    let then = then.main.into_string();
    assert!(then.contains("up to this moment"), "{then}");
}

#[test]
fn reminders_beyond_the_limit_are_due() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let service = Arc::new(Service::open(options).expect("a store"));
    let explorer = Explorer::new(Arc::clone(&service), Caller::default(), false);
    let explorer = explorer.expect("an explorer");
    let night = Caller {
        session: Some("night".to_owned()),
        ..Caller::default()
    };
    for number in 0..ALERTS_SHOWN_MAX + 3 {
        let request = AlertSetRequest {
            text: format!("reminder {number}"),
            due: (number < 2).then(|| "in 2h".to_owned()),
            ..AlertSetRequest::default()
        };
        service.set_alert(&night, request).expect("it is set");
    }
    let uri: Uri = "/sessions/night".parse().expect("an address");
    let ask = Ask::of(&explorer, &uri, Vec::new()).expect("a moment");
    let page = alerts::of_session(&explorer, &ask, "night").expect("reminders");
    let page = page.into_string();
    assert!(
        page.contains("1 more reminder is due, but not listed here."),
        "{page}"
    );
    assert!(page.contains("2 reminders are for later."), "{page}");
}
