//! Memoirs and concepts are a function of the set of events: machines that exchanged give equal answers, deleted views
//! come back the same, answers at a moment stay, and an undo of an undo changes nothing.

use std::path::PathBuf;
use std::sync::Arc;

use icm_api::error::ServiceError;
use icm_api::{
    Caller, ConceptLinkRequest, ConceptRequest, DefinitionStatus, ExportSince, InspectRequest,
    LabelRequest, MemoirRequest, NoProgress, StoreRequest, UndoRequest, WholeConcept,
};
use icm_service::{ExportFile, Service};
use proptest::prelude::*;
use replay_tests::env::SimEnv;
use replay_tests::{folder, judge, store};
use serde_json::{Value, json};

const MACHINES: usize = 3;
const MEMOIRS: [&str; 2] = ["system", "people"];
const CONCEPTS: [&str; 3] = ["api", "invoices", "mascot"];
const LABELS: [&str; 2] = ["kind:data", "billing"];
const RELATIONS: [&str; 3] = ["part_of", "depends_on", "contradicts"];

/// An action on one of the machines.
#[derive(Debug, Clone)]
enum Op {
    Create(usize),
    Describe(usize, u8),
    Turn(usize, bool),
    Add(usize, usize, u8, usize),
    Refine(usize, usize, u8),
    Label(usize, usize, usize, bool),
    TurnConcept(usize, usize, bool),
    Link(usize, [usize; 2], usize, bool),
    /// A memory, so that one store holds memories and memoirs.
    Store(u8),
    Undo(usize, bool),
    Take(usize),
    Rebuild,
    DropViews,
}

fn op() -> impl Strategy<Value = Op> {
    // Most actions pick the first memoir.
    let memoir = || prop_oneof![4 => Just(0_usize), 1 => Just(1)];
    let concept = || 0..CONCEPTS.len();
    let ends = || [concept(), concept()];
    prop_oneof![
        3 => memoir().prop_map(Op::Create),
        2 => (memoir(), any::<u8>()).prop_map(|(m, n)| Op::Describe(m, n)),
        2 => (memoir(), any::<bool>()).prop_map(|(m, back)| Op::Turn(m, back)),
        8 => (memoir(), concept(), any::<u8>(), 0..LABELS.len())
            .prop_map(|(m, c, n, label)| Op::Add(m, c, n, label)),
        6 => (memoir(), concept(), any::<u8>()).prop_map(|(m, c, n)| Op::Refine(m, c, n)),
        4 => (memoir(), concept(), 0..LABELS.len(), any::<bool>())
            .prop_map(|(m, c, label, away)| Op::Label(m, c, label, away)),
        3 => (memoir(), concept(), any::<bool>()).prop_map(|(m, c, b)| Op::TurnConcept(m, c, b)),
        6 => (memoir(), ends(), 0..RELATIONS.len(), prop::bool::weighted(0.3))
            .prop_map(|(m, ends, relation, away)| Op::Link(m, ends, relation, away)),
        1 => any::<u8>().prop_map(Op::Store),
        5 => (0..64_usize, any::<bool>()).prop_map(|(pick, only)| Op::Undo(pick, only)),
        7 => (0..MACHINES).prop_map(Op::Take),
        1 => Just(Op::Rebuild),
        1 => Just(Op::DropViews),
    ]
}

struct Machine {
    service: Option<Service>,
    env: Arc<SimEnv>,
    folder: tempfile::TempDir,
    /// Positions, with the answers given there.
    moments: Vec<(String, Value)>,
}

/// Accepts the errors of a command that has nothing to do, and no others.
fn may_refuse<T>(done: icm_api::error::Result<T>) {
    if let Err(error) = done {
        let refused = matches!(
            error,
            ServiceError::Invalid { .. }
                | ServiceError::NotFound { .. }
                | ServiceError::Nothing { .. }
        );
        assert!(refused, "{error}");
    }
}

impl Machine {
    fn new(seed: usize) -> Machine {
        let mut machine = Machine {
            service: None,
            env: Arc::new(SimEnv::new(seed as u64)),
            folder: tempfile::tempdir().expect("a temporary folder"),
            moments: Vec::new(),
        };
        machine.open();
        // Each machine creates the same memoir by itself; the memoirs merge.
        machine.step(&Op::Create(0));
        machine
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn open(&mut self) {
        let service = store::open(&self.dir(), self.env.clone());
        self.service = Some(service.expect("it opens"));
    }

    fn service(&self) -> &Service {
        self.service.as_ref().expect("it is open")
    }

    fn step(&mut self, op: &Op) {
        self.env.advance_ms(1_000);
        let caller = Caller::default();
        let service = self.service();
        let concept = |memoir: usize, concept: usize, n: u8, label: Option<usize>| ConceptRequest {
            memoir: MEMOIRS[memoir].to_owned(),
            name: CONCEPTS[concept].to_owned(),
            definition: Some(format!("definition {}", n % 4)),
            labels: label
                .map(|label| LABELS[label].to_owned())
                .into_iter()
                .collect(),
            ..ConceptRequest::default()
        };
        match op {
            Op::Create(memoir) => may_refuse(service.memoir_create(&caller, &about(*memoir, 0))),
            Op::Describe(memoir, n) => {
                may_refuse(service.memoir_describe(&caller, &about(*memoir, *n)));
            }
            Op::Turn(memoir, true) => may_refuse(service.memoir_revive(&caller, MEMOIRS[*memoir])),
            Op::Turn(memoir, false) => may_refuse(service.memoir_forget(&caller, MEMOIRS[*memoir])),
            Op::Add(m, c, n, label) => {
                may_refuse(service.concept_add(&caller, &concept(*m, *c, *n, Some(*label))));
            }
            Op::Refine(m, c, n) => {
                let mut request = concept(*m, *c, *n, None);
                // Some requests leave the definition out.
                if n % 5 == 4 {
                    request.definition = None;
                    request.confidence = Some(0.3);
                }
                may_refuse(service.concept_refine(&caller, &request));
            }
            Op::Label(m, c, label, away) => {
                let named = vec![LABELS[*label].to_owned()];
                let (add, remove) = match away {
                    true => (Vec::new(), named),
                    false => (named, Vec::new()),
                };
                let request = LabelRequest {
                    memoir: MEMOIRS[*m].to_owned(),
                    name: CONCEPTS[*c].to_owned(),
                    add,
                    remove,
                    allow_secret: false,
                };
                may_refuse(service.concept_label(&caller, &request));
            }
            Op::TurnConcept(m, c, back) => {
                let (memoir, concept) = (MEMOIRS[*m], CONCEPTS[*c]);
                may_refuse(match back {
                    true => service.concept_revive(&caller, memoir, concept),
                    false => service.concept_forget(&caller, memoir, concept),
                });
            }
            Op::Link(m, [from, to], relation, away) => {
                let request = ConceptLinkRequest {
                    memoir: MEMOIRS[*m].to_owned(),
                    from: CONCEPTS[*from].to_owned(),
                    to: CONCEPTS[*to].to_owned(),
                    relation: RELATIONS[*relation].to_owned(),
                    reason: None,
                    allow_secret: false,
                };
                may_refuse(match away {
                    true => service.concept_unlink(&caller, &request),
                    false => service.concept_link(&caller, &request),
                });
            }
            Op::Store(n) => {
                let request = StoreRequest {
                    // The topic has the name of a memoir, which must not matter.
                    topic: MEMOIRS[0].to_owned(),
                    content: format!("definition {n}"),
                    ..StoreRequest::default()
                };
                service.store(&caller, request).expect("it stores");
            }
            Op::Undo(pick, only) => {
                let end = service.basis(None).expect("there is one").position;
                if let Some(position) = pick.checked_rem(end as usize) {
                    let request = UndoRequest {
                        events: vec![format!("@{}", position + 1)],
                        only: *only,
                        ..UndoRequest::default()
                    };
                    may_refuse(service.undo(&caller, &request));
                }
            }
            Op::Take(_) => {}
            Op::Rebuild => _ = service.rebuild(&NoProgress).expect("it rebuilds"),
            Op::DropViews => {
                drop(self.service.take());
                folder::remove(&self.dir().join("views"));
                self.open();
            }
        }
    }

    /// Notes the answers of now, to be asked again later.
    fn note(&mut self) {
        let basis = self.service().basis(None).expect("there is one");
        let answers = self.answers(None);
        self.moments.push((format!("@{}", basis.position), answers));
    }

    fn export(&self) -> PathBuf {
        let path = self.folder.path().join("export");
        let mut file = std::fs::File::create(&path).expect("created");
        let exported = self
            .service()
            .export_log(&ExportSince::Start, &mut file, &NoProgress);
        exported.expect("exported");
        path
    }

    /// Imports an export. Returns `true` if any of it was new.
    fn take(&self, export: &std::path::Path) -> bool {
        self.env.advance_ms(1_000);
        let file = ExportFile::open(export).expect("it is there");
        let caller = Caller::default();
        let taken = self
            .service()
            .import_log(&caller, &file, false, &NoProgress);
        taken.expect("imported").added > 0
    }

    /// Returns all answers that must be equal on machines with the same events.
    fn answers(&self, at: Option<&str>) -> Value {
        let service = self.service();
        let list = service.memoir_list(at).expect("it lists");
        let memoirs = list.memoirs.iter().map(|memoir| {
            let graph = service
                .memoir_graph(&memoir.name, at)
                .expect("it is listed");
            assert_eq!(graph.concepts.len() as u64, memoir.concepts, "{memoir:?}");
            let around = graph.concepts.iter().map(|whole| {
                let concept = &whole.concept;
                let request = InspectRequest {
                    memoir: memoir.name.clone(),
                    name: concept.name.clone(),
                    depth: Some(2),
                    at: at.map(str::to_owned),
                    ..InspectRequest::default()
                };
                let seen = service.inspect(&request).expect("it is listed");
                assert_eq!(&seen.concept, concept);
                assert_eq!(seen.definitions, whole.definitions);
                one_holds(whole);
                let mut around: Vec<_> = seen.around.iter().map(|it| &it.concept.name).collect();
                around.sort_unstable();
                json!(around)
            });
            json!([
                graph.memoir,
                graph.concepts,
                graph.links,
                around.collect::<Vec<_>>()
            ])
        });
        memoirs.collect()
    }

    /// Checks that rebuilt views agree, and that every noted moment does.
    fn check(&mut self) {
        let verified = self.service().verify(&NoProgress).expect("it verifies");
        assert!(verified.ok, "{:?}", verified.findings);
        let now = self.answers(None);
        for (at, then) in &self.moments {
            assert_eq!(&self.answers(Some(at)), then, "{at}");
        }
        self.step(&Op::DropViews);
        assert_eq!(self.answers(None), now, "caught up from the log");
        self.step(&Op::Rebuild);
        assert_eq!(self.answers(None), now, "rebuilt");
        for (at, then) in &self.moments {
            assert_eq!(&self.answers(Some(at)), then, "{at}, rebuilt");
        }
    }
}

/// Checks that a concept shows one of its definitions, and that as many count as it has revisions.
fn one_holds(whole: &WholeConcept) {
    let (concept, definitions) = (&whole.concept, &whole.definitions);
    let holding = definitions
        .iter()
        .filter(|it| it.status == DefinitionStatus::Holds);
    let holding: Vec<_> = holding.map(|it| &it.definition).collect();
    assert_eq!(holding, [&concept.definition], "{definitions:?}");
    let counted = definitions
        .iter()
        .filter(|it| it.status != DefinitionStatus::Undone);
    let revision = counted.map(|it| it.revision).max();
    assert_eq!(revision, Some(concept.revision), "{definitions:?}");
}

fn about(memoir: usize, n: u8) -> MemoirRequest {
    MemoirRequest {
        name: MEMOIRS[memoir].to_owned(),
        description: format!("about {}", n % 3),
        allow_secret: false,
    }
}

/// Removes the time of each memoir's last change, which depends on the order of learning: a machine that learns of an
/// undo before the undone event never saw that event. An undo is a change itself.
fn without_last_changes(mut answers: Value) -> Value {
    for memoir in answers.as_array_mut().into_iter().flatten() {
        let fields = memoir[0].as_object_mut().expect("a memoir");
        fields.remove("updated_at").expect("it has one");
    }
    answers
}

fn state_hash(machine: &Machine) -> Option<String> {
    let verified = machine.service().verify(&NoProgress).expect("it verifies");
    verified.state_hash
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..judge::config(24)
    })]

    #[test]
    fn equal_sets_of_events_give_equal_graphs(
        script in prop::collection::vec((0..MACHINES, op()), 1..60),
    ) {
        let mut machines: Vec<Machine> = (0..MACHINES).map(Machine::new).collect();
        for (step, (at, op)) in script.iter().enumerate() {
            match op {
                Op::Take(from) if from != at => {
                    let export = machines[*from].export();
                    machines[*at].take(&export);
                }
                op => machines[*at].step(op),
            }
            if step % 7 == 0 {
                machines[*at].note();
            }
        }
        machines.iter_mut().for_each(Machine::check);
        let mut new = true;
        while new {
            new = false;
            for from in 0..MACHINES {
                let export = machines[from].export();
                for to in (0..MACHINES).filter(|to| *to != from) {
                    new |= machines[to].take(&export);
                }
            }
        }
        let answers = |machine: &Machine| without_last_changes(machine.answers(None));
        let (first, hash) = (answers(&machines[0]), state_hash(&machines[0]));
        for other in &machines[1..] {
            prop_assert_eq!(&answers(other), &first);
            prop_assert_eq!(state_hash(other), hash.clone());
        }
        machines.iter_mut().for_each(Machine::check);
    }

    #[test]
    fn an_undo_of_everything_and_of_that_brings_the_graph_back(
        script in prop::collection::vec(op(), 1..40),
    ) {
        let mut machine = Machine::new(7);
        for op in &script {
            machine.step(op);
        }
        let before = without_last_changes(machine.answers(None));
        let end = machine.service().basis(None).expect("there is one").position;
        let caller = Caller::default();
        let all = UndoRequest {
            events: vec![format!("@1..@{end}")],
            ..UndoRequest::default()
        };
        let undone = machine.service().undo(&caller, &all);
        prop_assume!(undone.is_ok());
        let event = undone.expect("just looked").event.expect("it was written");
        let back = UndoRequest {
            events: vec![event],
            ..UndoRequest::default()
        };
        machine.service().undo(&caller, &back).expect("it undoes");
        prop_assert_eq!(without_last_changes(machine.answers(None)), before);
        machine.check();
    }
}
