use std::cell::Cell;
use std::time::Duration;

use crate::command::RequestKeyOf;
use crate::service::tests::{service, store};
use icm_api::{Caller, ListRequest, StoreRequest};

/// A damaged table makes redb panic at any read by a command.
#[test]
fn a_panic_while_a_command_decides_costs_the_views_and_not_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(&service, "one");
    let asked = Cell::new(0);
    let answer = service.command(&Caller::default(), None, RequestKeyOf(None), |_, views| {
        asked.set(asked.get() + 1);
        assert!(asked.get() > 1, "a page of the table cannot be read");
        Ok(views.tally().memories)
    });
    assert_eq!(answer.expect("it succeeds"), 1);
    assert_eq!(asked.get(), 2);
    let notices = service.take_notices();
    assert_eq!(
        notices,
        ["the table view was rebuilt from the log: reading it failed"]
    );
    store(&service, "two");
    let list = service.list(&ListRequest::default()).expect("it lists");
    assert_eq!(list.len(), 2);
    // A command that panics each time is an error, and nobody waits for its lock.
    let answer = service.command::<()>(&Caller::default(), None, RequestKeyOf(None), |_, _| {
        panic!("again")
    });
    assert!(answer.is_err());
    store(&service, "three");
}

/// Otherwise the command would wait for the lock that it holds.
#[test]
fn a_writer_that_waited_for_a_redaction_finishes_it_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = service(folder.path());
    store(&before, "one");
    let marker = folder.path().join("redacting");
    // Several rounds: a round in which the waiting begins late shows nothing.
    for n in 0..5 {
        let waiting = service(folder.path());
        let held = before.begin(Duration::ZERO).expect("it is free");
        std::thread::scope(|scope| {
            let storing = scope.spawn(|| store(&waiting, &format!("of round {n}")));
            std::thread::sleep(Duration::from_millis(10));
            std::fs::write(&marker, "").expect("it is written");
            drop(held);
            storing.join().expect("it stores");
        });
        assert!(!marker.exists());
        let told = waiting.take_notices();
        assert!(told.iter().all(|line| !line.contains("waits")), "{told:?}");
    }
}

/// A command that was written is not decided a second time.
#[test]
fn a_panic_after_the_append_writes_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(&service, "one");
    let request = StoreRequest::new("t", "two");
    let caller = Caller::default();
    let checked = service.check_store(&caller, &request).expect("it is fine");
    let answer = service.command::<()>(&caller, None, RequestKeyOf(None), |command, views| {
        crate::memory::store_over::store_in(command, views, &checked)?;
        panic!("too late")
    });
    assert!(answer.is_err());
    let list = service.list(&ListRequest::default()).expect("it lists");
    assert!(list.len() <= 2, "{list:?}");
}
