//! The page of a store in a temporary folder.

use std::time::Duration;

use icm_api::{Caller, RecallRequest, StoreRequest};
use icm_service::{OpenOptions, Service};

use super::*;

#[test]
fn numbers_are_of_the_moment_and_names_are_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let service = Arc::new(Service::open(options).expect("a store"));
    let hostile = "<script>alert(1)</script>\" onload=x";
    let caller = Caller {
        actor: format!("agent:{hostile}"),
        ..Caller::default()
    };
    let explorer = Explorer::new(service.clone(), caller.clone(), true).expect("an explorer");
    let page = |address: &str| {
        let uri: Uri = address.parse().expect("an address");
        let Query(params) = Query::try_from_uri(&uri).expect("parameters");
        let ask = Ask::of(&explorer, &uri, params).expect("an address");
        super::page(&explorer, &ask)
            .expect("a page")
            .main
            .into_string()
    };
    let empty = page("/numbers");
    assert!(empty.contains("Nothing to show."), "{empty}");

    let mut positions = Vec::new();
    for n in 0..3 {
        let request = StoreRequest::new(hostile, format!("invoice {n} of {}", n * 7_919));
        let stored = service.store(&caller, request);
        positions.push(stored.expect("it stores").position);
    }
    let request = RecallRequest {
        record: true,
        ..RecallRequest::new("invoice")
    };
    service.recall(&caller, &request).expect("it recalls");
    service.record_recalls();

    let now = page("/numbers");
    assert!(
        now.contains("Memories stored <span class=\"quiet\">3</span>"),
        "{now}"
    );
    assert!(
        now.contains("Recalls <span class=\"quiet\">1</span>"),
        "{now}"
    );
    assert!(
        !now.contains("<script>") && !now.contains("\" onload"),
        "{now}"
    );
    assert!(now.matches("&lt;script&gt;").count() >= 4, "{now}");
    assert!(!now.contains("style="), "{now}");

    let then = page(&format!("/numbers?at=@{}", positions[1]));
    assert!(
        then.contains("Memories stored <span class=\"quiet\">2</span>"),
        "{then}"
    );
    assert!(
        then.contains("Recalls <span class=\"quiet\">0</span>"),
        "{then}"
    );
    // Each chart has its table.
    assert_eq!(
        now.matches("<figure").count(),
        now.matches("<table").count()
    );
    assert_eq!(now.matches("<figure").count(), 7);
}

#[test]
fn bytes_have_a_unit() {
    for (size, told) in [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (999_999, "1.0 MB"),
        (12_345_678, "12.3 MB"),
    ] {
        assert_eq!(bytes(size), told);
    }
}
