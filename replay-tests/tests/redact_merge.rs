//! Invariant 12: redaction commutes with import. Machines store, redact and exchange logs in any order, and old copies
//! arrive late. In the end all agree, and no file of any store holds a redacted text.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use icm_api::{
    Caller, ExportSince, NoProgress, RecallRequest, RedactRequest, StoreRequest, VerifyReport,
};
use icm_service::{ExportFile, Service};
use proptest::prelude::*;
use replay_tests::env::SimEnv;
use replay_tests::{judge, store};

const MACHINES: usize = 3;
const KEYS: usize = 3;

#[derive(Debug, Clone)]
enum Op {
    /// Stores under a key, or replaces the memory there.
    Store {
        at: usize,
        key: usize,
    },
    Recall {
        at: usize,
        key: usize,
    },
    Redact {
        at: usize,
        key: usize,
    },
    Carry {
        from: usize,
        to: usize,
    },
    /// Imports an earlier export once more.
    Late {
        export: usize,
        to: usize,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let (at, key) = (0..MACHINES, 0..KEYS);
    prop_oneof![
        4 => (at.clone(), key.clone()).prop_map(|(at, key)| Op::Store { at, key }),
        1 => (at.clone(), key.clone()).prop_map(|(at, key)| Op::Recall { at, key }),
        2 => (at.clone(), key).prop_map(|(at, key)| Op::Redact { at, key }),
        4 => (at.clone(), at.clone()).prop_map(|(from, to)| Op::Carry { from, to }),
        1 => (0..64_usize, at).prop_map(|(export, to)| Op::Late { export, to }),
    ]
}

/// A text, the index of its memory, and the redactions that its writer knew.
struct Text {
    word: String,
    key: usize,
    known: BTreeSet<usize>,
}

struct Machine {
    service: Service,
    env: Arc<SimEnv>,
    folder: tempfile::TempDir,
    /// Redactions known to the machine.
    known: BTreeSet<usize>,
    /// Texts known to the machine.
    heard: BTreeSet<usize>,
}

impl Machine {
    fn new(seed: u64) -> Machine {
        let folder = tempfile::tempdir().expect("a folder");
        let env = Arc::new(SimEnv::new(seed));
        Machine {
            service: store::open(&folder.path().join("store"), env.clone()).expect("it opens"),
            env,
            folder,
            known: BTreeSet::new(),
            heard: BTreeSet::new(),
        }
    }

    fn export(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.service
            .export_log(&ExportSince::Start, &mut out, &NoProgress)
            .expect("exported");
        out
    }

    fn import(&self, bytes: &[u8]) {
        let file = ExportFile::spool(&mut &*bytes, "a test").expect("spooled");
        self.service
            .import_log(&Caller::default(), &file, false, &NoProgress)
            .expect("imported");
    }

    fn knows(&self, id: &str) -> bool {
        self.service.get(id, None).is_ok()
    }

    fn verified(&self) -> VerifyReport {
        self.service.verify(&NoProgress).expect("it reads")
    }
}

/// An export, with the redactions and texts that an importer learns from it.
struct Export {
    bytes: Vec<u8>,
    known: BTreeSet<usize>,
    heard: BTreeSet<usize>,
}

struct World {
    machines: Vec<Machine>,
    texts: Vec<Text>,
    /// The memory of each redaction.
    redactions: Vec<usize>,
    /// The ids of each key's memories, before a redaction removes the key.
    ids: Vec<Vec<String>>,
    exports: Vec<Export>,
}

impl World {
    fn step(&mut self, op: &Op) {
        for machine in &self.machines {
            machine.env.advance_ms(1_000);
        }
        match *op {
            Op::Store { at, key } => {
                let word = format!("swordfish{:04}", self.texts.len());
                let request = StoreRequest {
                    key: Some(format!("k{key}")),
                    ..StoreRequest::new("t", format!("the word is {word}"))
                };
                let machine = &mut self.machines[at];
                let stored = machine.service.store(&Caller::default(), request);
                let id = stored.expect("stored").id;
                if !self.ids[key].contains(&id) {
                    self.ids[key].push(id);
                }
                machine.heard.insert(self.texts.len());
                let known = machine.known.clone();
                self.texts.push(Text { word, key, known });
            }
            Op::Recall { at, key } => {
                let request = RecallRequest {
                    floor: Some(0.0),
                    ..RecallRequest::new(format!("word k{key}"))
                };
                let machine = &self.machines[at];
                machine
                    .service
                    .recall(&Caller::default(), &request)
                    .expect("recalled");
                machine.service.record_recalls();
            }
            Op::Redact { at, key } => {
                let machine = &mut self.machines[at];
                let mut ids = self.ids[key].iter().rev();
                let Some(id) = ids.find(|id| machine.knows(id)).cloned() else {
                    return;
                };
                let request = RedactRequest {
                    targets: vec![id],
                    ..RedactRequest::default()
                };
                let redacted = machine.service.redact(&Caller::default(), &request);
                if redacted.is_ok() {
                    machine.known.insert(self.redactions.len());
                    self.redactions.push(key);
                }
            }
            Op::Carry { from, to } => {
                let machine = &self.machines[from];
                self.exports.push(Export {
                    bytes: machine.export(),
                    known: machine.known.clone(),
                    heard: machine.heard.clone(),
                });
                self.take(self.exports.len() - 1, to);
            }
            Op::Late { export, to } => {
                if !self.exports.is_empty() {
                    self.take(export % self.exports.len(), to);
                }
            }
        }
    }

    fn take(&mut self, export: usize, to: usize) {
        let (export, machine) = (&self.exports[export], &mut self.machines[to]);
        machine.import(&export.bytes);
        machine.known.extend(&export.known);
        machine.heard.extend(&export.heard);
    }

    /// Returns `true` if one of the `known` redactions removes the text.
    fn is_redacted(&self, text: &Text, known: &BTreeSet<usize>) -> bool {
        let mut known = known.iter();
        known.any(|at| self.redactions[*at] == text.key && !text.known.contains(at))
    }

    /// Checks that every store holds the texts it knows, except those that a known redaction removes.
    fn check(&self) -> Result<usize, TestCaseError> {
        let mut gone = 0;
        for (at, machine) in self.machines.iter().enumerate() {
            let bytes = all_bytes(machine.folder.path());
            let report = machine.verified();
            prop_assert!(report.ok, "{report:#?}");
            for (number, text) in self.texts.iter().enumerate() {
                let holds = find(&bytes, text.word.as_bytes());
                let heard = machine.heard.contains(&number);
                let redacted = self.is_redacted(text, &machine.known);
                prop_assert!(
                    holds == (heard && !redacted),
                    "machine {at}, {}: held {holds}, heard {heard}, redacted {redacted}",
                    text.word
                );
                gone += usize::from(heard && redacted);
            }
        }
        Ok(gone)
    }
}

fn all_bytes(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => bytes.extend(all_bytes(&path)),
            false => bytes.extend(std::fs::read(&path).expect("a file")),
        }
    }
    bytes
}

fn find(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

fn run(script: &[Op]) -> Result<usize, TestCaseError> {
    let mut world = World {
        machines: (0..MACHINES as u64)
            .map(|at| Machine::new(at + 1))
            .collect(),
        texts: Vec::new(),
        redactions: Vec::new(),
        ids: vec![Vec::new(); KEYS],
        exports: Vec::new(),
    };
    for op in script {
        world.step(op);
    }
    world.check()?;
    for _ in 0..2 {
        for from in 0..MACHINES {
            for to in 0..MACHINES {
                world.step(&Op::Carry { from, to });
            }
        }
    }
    let gone = world.check()?;
    let reports: Vec<_> = world.machines.iter().map(Machine::verified).collect();
    for (machine, report) in world.machines.iter().zip(&reports) {
        prop_assert_eq!(&report.state_hash, &reports[0].state_hash);
        for id in world.ids.iter().flatten() {
            prop_assert!(machine.knows(id), "{id} is known");
        }
    }
    Ok(gone)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..judge::config(24) })]

    #[test]
    fn redaction_commutes_with_import(script in prop::collection::vec(op(), 4..40)) {
        run(&script)?;
    }
}

/// A text written with knowledge of the redaction stays, on every way to other machines.
#[test]
fn events_written_after_a_redaction_stay() {
    use Op::{Carry, Late, Redact, Store};
    let script = [
        Store { at: 0, key: 0 },
        Carry { from: 0, to: 1 },
        Carry { from: 1, to: 2 },
        Store { at: 2, key: 0 },
        Redact { at: 0, key: 0 },
        Carry { from: 0, to: 1 },
        Store { at: 1, key: 0 },
        Late { export: 0, to: 2 },
        Carry { from: 1, to: 2 },
        Late { export: 1, to: 0 },
    ];
    let gone = run(&script).expect("all is well");
    assert_eq!(gone, 2 * MACHINES, "two texts are gone everywhere");
}
