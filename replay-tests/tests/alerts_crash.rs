//! An alert is lost by no crash: the power fails, or an operation fails, at every step between the question for alerts
//! and the event that they were shown. An alert is shown twice only if the crash came between its answer and its event.

use std::path::PathBuf;
use std::sync::Arc;

use icm_api::{AlertSetRequest, AlertsRequest, Caller, NoProgress};
use icm_log::disk::Disk;
use icm_service::Service;
use replay_tests::env::SimEnv;
use replay_tests::simdisk::{CrashPlan, SimDisk};
use replay_tests::{folder, store};

const TEXT: &str = "run the tests again";

/// The store of a test: its log on a simulated disk, its views in a real folder.
struct Bed {
    dir: PathBuf,
    env: Arc<SimEnv>,
    disk: SimDisk,
    views: folder::Files,
    _folder: tempfile::TempDir,
}

/// The progress of a session that asks, as far as it got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asked {
    /// Number of answers with the alert.
    shown: usize,
    /// `true` if the event was acknowledged.
    recorded: bool,
}

/// The manner in which a step goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    PowerOff,
    FailOnce,
}

impl Bed {
    /// Makes a store with an alert; with views on disk or without.
    fn new(seed: u64, with_views: bool) -> Bed {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = folder.path().join("store");
        let disk = SimDisk::new();
        disk.create_dir_all(folder.path()).expect("created");
        for above in folder.path().ancestors() {
            disk.sync_dir(above).expect("synced");
        }
        let mut bed = Bed {
            dir,
            env: Arc::new(SimEnv::new(seed)),
            disk,
            views: folder::Files::default(),
            _folder: folder,
        };
        let service = bed.open(&bed.disk);
        let request = AlertSetRequest {
            text: TEXT.to_owned(),
            session: Some("s1".to_owned()),
            ..AlertSetRequest::default()
        };
        let set = service.set_alert(&Caller::default(), request);
        set.expect("it is set");
        if with_views {
            service.rebuild(&NoProgress).expect("it rebuilds");
        }
        drop(service);
        bed.views = folder::read(&bed.dir.join("views"));
        assert_eq!(bed.views.is_empty(), !with_views);
        bed
    }

    /// Opens the store on a disk, with the views as they were before the question.
    fn open(&self, disk: &SimDisk) -> Service {
        self.env.advance_ms(1_000);
        let opened = store::open_on(&self.dir, self.env.clone(), Arc::new(disk.clone()), false);
        opened.expect("it opens")
    }

    fn reset_views(&self) {
        folder::write(&self.dir.join("views"), &self.views);
    }

    /// Asks for alerts and records that they were shown, as far as the disk lets it.
    fn ask(&self, service: &Service) -> Asked {
        let nothing = Asked {
            shown: 0,
            recorded: false,
        };
        let Ok((answer, delivery)) = service.alerts(&Caller::default(), &session()) else {
            return nothing;
        };
        assert!(answer.alerts.iter().all(|alert| alert.text == TEXT));
        let shown = answer.alerts.len();
        let recorded = match delivery {
            Some(delivery) => service.record_delivery(delivery).is_ok(),
            None => false,
        };
        Asked { shown, recorded }
    }

    /// Asks twice after a crash, each time as a new process, and returns the number of times that the alert is shown.
    fn shown_after(&self, found: &SimDisk) -> usize {
        let mut shown = 0;
        for _ in 0..2 {
            let service = self.open(found);
            let asked = self.ask(&service);
            assert_eq!(asked.recorded, asked.shown > 0);
            shown += asked.shown;
        }
        shown
    }

    /// Checks every disk that a crash could leave now.
    fn check(&self, asked: Asked, what: &str) -> usize {
        let disks = CrashPlan::all(1)
            .into_iter()
            .map(|plan| (format!("{plan:?}"), self.disk.crash(plan)));
        let mut checked = 0;
        for (plan, found) in disks.chain([("killed".to_owned(), self.disk.kill())]) {
            self.reset_views();
            let again = self.shown_after(&found);
            let all = match asked {
                Asked { recorded: true, .. } => asked.shown == 1 && again == 0,
                Asked { shown: 0, .. } => again == 1,
                _ => asked.shown == 1 && again <= 1,
            };
            assert!(all, "{what}, {plan}: {asked:?}, then shown {again} times");
            checked += 1;
        }
        checked
    }
}

fn session() -> AlertsRequest {
    AlertsRequest {
        session: Some("s1".to_owned()),
        ..AlertsRequest::default()
    }
}

/// Returns the number of operations from the question to the event.
fn operations(with_views: bool) -> u64 {
    let bed = Bed::new(1, with_views);
    let service = bed.open(&bed.disk);
    let before = bed.disk.op_count();
    let asked = bed.ask(&service);
    assert_eq!(
        asked,
        Asked {
            shown: 1,
            recorded: true
        }
    );
    bed.check(asked, "nothing went wrong");
    bed.disk.op_count() - before
}

fn every_step(with_views: bool, fault: Fault) {
    let count = operations(with_views);
    let (mut checked, mut unanswered, mut unrecorded) = (0, 0, 0);
    for n in 1..=count {
        let bed = Bed::new(1, with_views);
        let service = bed.open(&bed.disk);
        let at = bed.disk.op_count() + n;
        match fault {
            Fault::PowerOff => bed.disk.power_off_at(at),
            Fault::FailOnce => bed.disk.fail_at(at),
        }
        let asked = bed.ask(&service);
        bed.disk.heal();
        drop(service);
        unanswered += usize::from(asked.shown == 0);
        unrecorded += usize::from(asked.shown == 1 && !asked.recorded);
        checked += bed.check(asked, &format!("{fault:?} at operation {n} of {count}"));
    }
    assert!(
        unanswered > 0 && unrecorded > 0 && checked > 100,
        "{unanswered} unanswered, {unrecorded} unrecorded, {checked} disks of {count} operations"
    );
}

#[test]
fn the_power_fails_at_every_step_of_a_delivery() {
    every_step(false, Fault::PowerOff);
}

#[test]
fn the_power_fails_at_every_step_of_a_delivery_with_views_on_disk() {
    every_step(true, Fault::PowerOff);
}

#[test]
fn every_operation_of_a_delivery_fails_once() {
    every_step(false, Fault::FailOnce);
}

#[test]
fn a_process_that_dies_before_its_answer_or_before_its_event_loses_nothing() {
    for with_views in [false, true] {
        let bed = Bed::new(1, with_views);
        let service = bed.open(&bed.disk);
        let asked = service.alerts(&Caller::default(), &session());
        let (answer, delivery) = asked.expect("an answer");
        assert!(answer.delivered && delivery.is_some());
        for found in [bed.disk.kill(), bed.disk.crash(CrashPlan::all(1)[0])] {
            bed.reset_views();
            assert_eq!(bed.shown_after(&found), 1);
        }
        // The same process shows the alert again if its answer did not get out.
        drop(delivery);
        bed.reset_views();
        assert_eq!(bed.ask(&service).shown, 1);
        assert_eq!(bed.shown_after(&bed.disk.kill()), 0);
    }
}
