//! Invariants 2 and 19 above the log: the power fails under a service whose views are on disk already. Acknowledged
//! events are there, others may be, and no view shows an event that the log has lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use icm_api::{Caller, ListRequest, NoProgress, RecallRequest, StoreRequest};
use icm_log::disk::Disk;
use icm_log::{Durability, Log};
use icm_service::Service;
use replay_tests::env::SimEnv;
use replay_tests::logbed;
use replay_tests::simdisk::{CrashPlan, Names, SimDisk, Writes};
use replay_tests::{folder, store};

fn add(service: &Service, content: &str) -> String {
    let request = StoreRequest::new("t", content);
    service
        .store(&Caller::default(), request)
        .expect("it stores")
        .id
}

fn recall(service: &Service, query: &str, record: bool) -> Vec<(String, u64)> {
    let request = RecallRequest {
        record,
        ..RecallRequest::new(query)
    };
    let answer = service
        .recall(&Caller::default(), &request)
        .expect("it answers");
    service.record_recalls();
    let mut found: Vec<_> = answer
        .results
        .into_iter()
        .map(|hit| (hit.memory.id, hit.memory.access_count))
        .collect();
    found.sort();
    found
}

/// Returns contents and access counts by id.
fn rows(service: &Service) -> BTreeMap<String, (String, u64)> {
    let all = service.list(&ListRequest {
        forgotten: true,
        ..ListRequest::default()
    });
    let rows = all.expect("it lists").into_iter();
    rows.map(|row| (row.id, (row.content.unwrap_or_default(), row.access_count)))
        .collect()
}

fn power_fails(write_views: bool, then_store: bool) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("store");
    let env = Arc::new(SimEnv::new(4));
    let disk = SimDisk::new();
    disk.create_dir_all(folder.path()).expect("created");
    for above in folder.path().ancestors() {
        disk.sync_dir(above).expect("synced");
    }
    let open = |disk: &SimDisk| {
        env.advance_ms(1_000);
        store::open_on(&dir, env.clone(), Arc::new(disk.clone()), false).expect("it opens")
    };
    let service = open(&disk);
    let mut acknowledged = vec![add(&service, "green tea"), add(&service, "black tea")];
    env.advance_ms(1_000);
    assert_eq!(recall(&service, "tea", true).len(), 2);
    if write_views {
        service.rebuild(&NoProgress).expect("it rebuilds");
    }
    if then_store {
        acknowledged.push(add(&service, "herbal tea"));
    }
    let views = folder::read(&dir.join("views"));
    assert_eq!(write_views, !views.is_empty(), "{:?}", views.keys());
    let (mut lost, mut kept) = (0, 0);
    for plan in CrashPlan::all(4) {
        let found = disk.crash(plan);
        folder::write(&dir.join("views"), &views);
        let service = open(&found);
        let now = rows(&service);
        let ids: Vec<_> = now.keys().cloned().collect();
        assert_eq!(
            ids, acknowledged,
            "{plan:?}: every acknowledged memory and no other"
        );
        let counted = now[&acknowledged[0]].1;
        if counted == 0 {
            lost += 1
        } else {
            kept += 1
        }
        assert!(
            counted <= 1 && (!then_store || counted == 1),
            "{plan:?}: {now:?}"
        );
        let of_rows: Vec<_> = now
            .iter()
            .map(|(id, (_, accesses))| (id.clone(), *accesses))
            .collect();
        assert_eq!(
            recall(&service, "tea", false),
            of_rows,
            "{plan:?}: text and table"
        );
        // A new event takes the position of a lost one, which must not be shown any more.
        let new = add(&service, "invoices");
        drop(service);
        let service = open(&found);
        assert_eq!(rows(&service).len(), acknowledged.len() + 1, "{plan:?}");
        assert_eq!(recall(&service, "invoices", false), [(new, 0)], "{plan:?}");
        let report = service.verify(&NoProgress).expect("it verifies");
        assert!(report.ok, "{plan:?}: {report:?}");
    }
    assert!(
        kept > 0 && (then_store || lost > 0),
        "{lost} lost, {kept} kept"
    );
}

#[test]
fn with_views_that_have_seen_what_is_lost() {
    power_fails(true, false);
}

#[test]
fn without_views_on_disk() {
    power_fails(false, false);
}

#[test]
fn a_durable_store_carries_what_came_before_it() {
    power_fails(true, true);
}

#[test]
fn the_disk_fails_under_the_service() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("store");
    let mut refused = 0;
    for n in 0..120 {
        folder::remove(&dir);
        let env = Arc::new(SimEnv::new(n));
        let disk = SimDisk::new();
        disk.create_dir_all(folder.path()).expect("created");
        let opened = store::open_on(&dir, env.clone(), Arc::new(disk.clone()), false);
        let service = opened.expect("nothing fails yet");
        let mut acknowledged = vec![add(&service, "first")];
        disk.fail_at(disk.op_count() + 1 + n);
        for content in ["second", "third"] {
            env.advance_ms(1_000);
            let request = StoreRequest {
                topic: "t".into(),
                content: content.into(),
                ..Default::default()
            };
            match service.store(&Caller::default(), request) {
                Ok(receipt) => acknowledged.push(receipt.id),
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.to_string().lines().count(), 1, "{error}");
                }
            }
        }
        disk.heal();
        for found in [disk.kill(), disk.crash(CrashPlan::all(1)[4])] {
            let views = dir.join("views");
            folder::remove(Path::new(&views));
            let opened = store::open_on(&dir, env.clone(), Arc::new(found), false);
            let there = rows(&opened.expect("it opens"));
            assert!(
                acknowledged.iter().all(|id| there.contains_key(id)),
                "operation {n}: {there:?}"
            );
        }
    }
    assert!(refused > 10, "{refused}");
}

/// After the crash another process appends, so that the log reaches the position of the views again, with another event
/// there.
#[test]
fn another_event_at_the_position_of_a_lost_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("store");
    let env = Arc::new(SimEnv::new(4));
    let disk = SimDisk::new();
    disk.create_dir_all(folder.path()).expect("created");
    let service = store::open_on(&dir, env.clone(), Arc::new(disk.clone()), false);
    let service = service.expect("it opens");
    let id = add(&service, "green tea");
    recall(&service, "tea", true);
    service.rebuild(&NoProgress).expect("it rebuilds");
    drop(service);
    let lost = CrashPlan {
        writes: Writes::Dropped,
        names: Names::Kept,
        seed: 0,
    };
    let found = disk.crash(lost);
    let log = Log::open(Arc::new(found.clone()), &dir).expect("it opens");
    assert_eq!(
        log.tip().map(|tip| tip.position.0),
        Some(3),
        "the recall is lost"
    );
    env.advance_ms(1_000);
    let event = logbed::numbered(1, 20);
    logbed::append(&log, &*env, vec![event], Durability::Synced).expect("it appends");
    drop(log);
    let service = store::open_on(&dir, env, Arc::new(found), false).expect("it opens");
    let now = rows(&service);
    assert_eq!(now.len(), 2, "{now:?}");
    assert_eq!(now[&id].1, 0, "the lost recall is not counted");
    assert_eq!(recall(&service, "tea", false), [(id, 0)]);
    let report = service.verify(&NoProgress).expect("it verifies");
    assert!(report.ok, "{report:?}");
}
