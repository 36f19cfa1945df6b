//! Invariant 12: redaction commutes with import. Machines store, redact and exchange logs in any order, and old copies
//! arrive late. In the end all agree, and no file of any store holds a redacted text.

use std::collections::BTreeSet;
use std::path::PathBuf;

use icm_api::{Caller, ExportSince, RedactRequest};
use proptest::prelude::*;
use replay_tests::{folder, judge};

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
    it: replay_tests::world::Machine,
    /// Redactions known to the machine.
    known: BTreeSet<usize>,
    /// Texts known to the machine.
    heard: BTreeSet<usize>,
}

impl Machine {
    fn new(seed: usize) -> Machine {
        Machine {
            it: replay_tests::world::Machine::new(seed),
            known: BTreeSet::new(),
            heard: BTreeSet::new(),
        }
    }

    fn knows(&self, id: &str) -> bool {
        self.it.service().get(id, None).is_ok()
    }
}

/// An export, with the redactions and texts that an importer learns from it.
struct Export {
    file: PathBuf,
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
            machine.it.run.env().advance_ms(1_000);
        }
        match *op {
            Op::Store { at, key } => {
                let word = format!("swordfish{:04}", self.texts.len());
                let machine = &mut self.machines[at];
                let line = format!("store $m -t t -c \"the word is {word}\" --key k{key}");
                machine.it.act(&line);
                let id = machine.it.run.receipts()[0].id.clone();
                if !self.ids[key].contains(&id) {
                    self.ids[key].push(id);
                }
                machine.heard.insert(self.texts.len());
                let known = machine.known.clone();
                self.texts.push(Text { word, key, known });
            }
            Op::Recall { at, key } => {
                let line = format!("recall \"word k{key}\" --floor 0");
                self.machines[at].it.act(&line);
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
                let redacted = machine.it.service().redact(&Caller::default(), &request);
                if redacted.is_ok() {
                    machine.known.insert(self.redactions.len());
                    self.redactions.push(key);
                }
            }
            Op::Carry { from, to } => {
                let machine = &mut self.machines[from];
                let file = machine.it.export(&ExportSince::Start);
                self.exports.push(Export {
                    file: file.expect("exported"),
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
        machine.it.take(&export.file);
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
            let files = folder::read(&machine.it.dir());
            let report = machine.it.verified();
            prop_assert!(report.ok, "{report:#?}");
            for (number, text) in self.texts.iter().enumerate() {
                let holds = files.values().any(|it| find(it, text.word.as_bytes()));
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

fn find(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

fn run(script: &[Op]) -> Result<usize, TestCaseError> {
    let mut world = World {
        machines: (1..=MACHINES).map(Machine::new).collect(),
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
    let reports: Vec<_> = world.machines.iter().map(|it| it.it.verified()).collect();
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
