//! Two stores sync over a pair of pipes, in the shortest possible bundles. Events that one of them holds back until
//! another bundle comes are taken in the end.

use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use icm_api::error::Result;
use icm_api::{Caller, ExportSince, NoProgress, StoreRequest, UndoRequest};
use icm_service::ExportFile;
use icm_service::Service;
use icm_sync::{Peer, SyncAnswer, SyncOptions, meet, serve};
use replay_tests::env::SimEnv;
use replay_tests::store;

struct Machine {
    folder: tempfile::TempDir,
    env: Arc<SimEnv>,
}

impl Machine {
    fn new(seed: u64) -> Machine {
        Machine {
            folder: tempfile::tempdir().expect("a temporary folder"),
            env: Arc::new(SimEnv::new(seed)),
        }
    }

    fn open(&self) -> Service {
        self.env.advance_ms(1_000);
        store::open(&self.folder.path().join("store"), Arc::clone(&self.env)).expect("it opens")
    }

    fn store(&self, content: &str) -> String {
        let request = StoreRequest::new("t", content);
        let stored = self.open().store(&Caller::default(), request);
        stored.expect("it stores").event
    }

    fn origin(&self) -> String {
        let report = self.open().verify(&NoProgress).expect("it reads");
        let mut origins = report.origins.into_iter();
        origins.find(|it| it.own).expect("it has one").origin
    }

    fn learn(&self, from: &Machine) {
        let path = self.folder.path().join("export");
        let mut file = std::fs::File::create(&path).expect("created");
        let exported = (from.open()).export_log(&ExportSince::Start, &mut file, &NoProgress);
        exported.expect("exported");
        let file = ExportFile::open(&path).expect("it is there");
        let learned = (self.open()).import_log(&Caller::default(), &file, false, &NoProgress);
        learned.expect("imported");
    }

    fn undo(&self, event: String) {
        let request = UndoRequest {
            events: vec![event],
            ..UndoRequest::default()
        };
        let undone = self.open().undo(&Caller::default(), &request);
        undone.expect("undone");
    }

    fn state(&self) -> Option<String> {
        let report = self.open().verify(&NoProgress).expect("it reads");
        assert!(report.ok, "{report:#?}");
        report.state_hash
    }

    /// Syncs with another machine, which answers.
    fn meet(&self, other: &Machine) -> Result<SyncAnswer> {
        let (here, there) = UnixStream::pair().expect("a pair");
        let (this, answering) = (self.open(), other.open());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut input = BufReader::new(there.try_clone().expect("a socket"));
                let mut out = &there;
                // The other side may hang up.
                let _ = serve(&answering, &Caller::default(), &mut input, &mut out);
            });
            let mut input = BufReader::new(here.try_clone().expect("a socket"));
            let mut out = &here;
            let met = Peer::new("other", &mut input, &mut out).and_then(|mut peer| {
                let options = SyncOptions {
                    bundle_len: 1,
                    ..SyncOptions::default()
                };
                meet(&this, &Caller::default(), &mut peer, options, &NoProgress)
            });
            here.shutdown(std::net::Shutdown::Both).expect("it is open");
            met
        })
    }
}

#[test]
fn events_that_wait_for_a_later_bundle_are_taken() {
    let mut orders = [0, 0];
    for seed in 0..6 {
        let (one, other) = (Machine::new(10 + seed), Machine::new(20 + seed));
        let event = other.store("of the other");
        other.store("of the other, too");
        one.store("of the one");
        one.learn(&other);
        one.undo(event);
        one.store("after the undo");
        // Chains are sent in the order of their names, so the undo may come before the events it names.
        orders[usize::from(one.origin() < other.origin())] += 1;
        let (takes, gives) = (Machine::new(30 + seed), Machine::new(40 + seed));
        takes.store("of who takes");
        let answer = takes.meet(&one).expect("it takes");
        assert!(answer.received.held_back.is_empty(), "{answer:#?}");
        assert!(answer.not_there.is_empty(), "{answer:#?}");
        gives.learn(&takes);
        let empty = Machine::new(50 + seed);
        let answer = gives.meet(&empty).expect("it gives");
        assert!(answer.sent.held_back.is_empty(), "{answer:#?}");
        assert!(answer.not_there.is_empty(), "{answer:#?}");
        assert_eq!(takes.state(), empty.state());
        assert_eq!(gives.state(), empty.state());
        // The imports that each side recorded are exchanged; then nothing is left.
        let is_quiet = |_: &u32| {
            let again = gives.meet(&empty).expect("little is new");
            (again.sent.events, again.received.events) == (0, 0)
        };
        assert!((0..3).any(|round| is_quiet(&round)));
    }
    assert!(orders.iter().all(|count| *count > 0), "{orders:?}");
}
