//! Tests of settling by what the caller saw.

use std::path::Path;

use crate::portable::exchange::ExportFile;
use crate::service::Service;
use crate::service::tests::{service, store_in};
use icm_api::{
    Caller, Conflict, ConflictsRequest, ExportSince, NoProgress, SettleRequest, UpdateRequest,
};

/// Carries the log of `from` to `to`.
fn carry(from: &Service, to: &Service) {
    let mut bytes = Vec::new();
    from.export_log(&ExportSince::Start, &mut bytes, &NoProgress)
        .expect("it exports");
    let file = ExportFile::spool(&mut bytes.as_slice(), "an export").expect("an export");
    to.import_log(&Caller::default(), &file, false, &NoProgress)
        .expect("it imports");
}

fn the_conflict(service: &Service) -> Option<Conflict> {
    let all = ConflictsRequest {
        topic: None,
        limit: None,
        at: None,
    };
    let conflicts = service.conflicts(&all).expect("they are listed");
    conflicts.conflicts.into_iter().next()
}

fn events(conflict: &Conflict) -> Vec<String> {
    let values = std::iter::once(&conflict.shown).chain(&conflict.others);
    values.map(|value| value.event.clone()).collect()
}

#[test]
fn a_choice_among_values_that_were_not_seen_settles_nothing() {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let [here, other, third] = folders.each_ref().map(|it| service(Path::new(it.path())));
    let id = store_in(&here, "ports", "Redis listens on 6380").id;
    carry(&here, &other);
    carry(&here, &third);
    for (service, text) in [(&here, "on 1"), (&other, "on 2"), (&third, "on 3")] {
        let request = UpdateRequest {
            id: id.clone(),
            content: Some(text.to_owned()),
            ..UpdateRequest::default()
        };
        let updated = service.update(&Caller::default(), request);
        updated.expect("it updates");
    }
    carry(&other, &here);
    let before = the_conflict(&here).expect("two values");
    carry(&third, &here);
    let now = the_conflict(&here).expect("three values");
    let settle = |seen: Vec<String>| {
        let request = SettleRequest {
            id: id.clone(),
            fields: vec!["content".to_owned()],
            take: Some(before.shown.event.clone()),
            seen,
        };
        here.settle_conflict(&Caller::default(), &request)
    };
    let refused = settle(events(&before)).expect_err("a third value was not seen");
    assert!(
        refused.to_string().contains("nothing was settled"),
        "{refused}"
    );
    assert_eq!(
        the_conflict(&here).map(|it| events(&it)),
        Some(events(&now))
    );
    settle(events(&now)).expect("all were seen");
    assert_eq!(the_conflict(&here), None);
}
