//! Memoirs and concepts are a function of the set of events: machines that exchanged give equal answers, deleted views
//! come back the same, answers at a moment stay, and an undo of an undo changes nothing.

use std::ops::Deref;

use icm_api::{
    Caller, ConceptLinkRequest, ConceptRequest, DefinitionStatus, ExportSince, InspectRequest,
    LabelRequest, MemoirRequest, UndoRequest, WholeConcept,
};
use proptest::prelude::*;
use proptest::sample::select;
use replay_tests::judge;
use replay_tests::world::may_refuse;
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
    /// A line of the script language.
    Do(String),
    Take(usize),
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
        // A memory, so that one store holds memories and memoirs. Its topic has the name of a memoir, which must not matter.
        1 => any::<u8>()
            .prop_map(|n| Op::Do(format!("store $m -t system -c \"definition {n}\""))),
        5 => (0..64_usize, select(&["", " --only"][..]))
            .prop_map(|(n, only)| Op::Do(format!("undo %{n}{only}"))),
        7 => (0..MACHINES).prop_map(Op::Take),
        1 => Just(Op::Do("rebuild".to_owned())),
        1 => Just(Op::Do("drop-views".to_owned())),
    ]
}

/// A machine, and positions with the answers given there.
struct Machine {
    it: replay_tests::world::Machine,
    moments: Vec<(String, Value)>,
}

impl Deref for Machine {
    type Target = replay_tests::world::Machine;

    fn deref(&self) -> &Self::Target {
        &self.it
    }
}

impl Machine {
    fn new(seed: usize) -> Machine {
        let mut machine = Machine {
            it: replay_tests::world::Machine::new(seed),
            moments: Vec::new(),
        };
        // Each machine creates the same memoir by itself; the memoirs merge.
        machine.step(&Op::Create(0));
        machine
    }

    fn step(&mut self, op: &Op) {
        if let Op::Do(line) = op {
            return self.it.act(line);
        }
        self.run.env().advance_ms(1_000);
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
            Op::Create(memoir) => {
                may_refuse(service.memoir_create(&caller, &about(*memoir, 0)));
            }
            Op::Describe(memoir, n) => {
                may_refuse(service.memoir_describe(&caller, &about(*memoir, *n)));
            }
            Op::Turn(memoir, back) => {
                may_refuse(match back {
                    true => service.memoir_revive(&caller, MEMOIRS[*memoir]),
                    false => service.memoir_forget(&caller, MEMOIRS[*memoir]),
                });
            }
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
            Op::Do(_) | Op::Take(_) => {}
        }
    }

    /// Notes the answers of now, to be asked again later.
    fn note(&mut self) {
        let answers = self.answers(None);
        self.moments.push((format!("@{}", self.end()), answers));
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
        let verified = self.verified();
        assert!(verified.ok, "{:?}", verified.findings);
        let now = self.answers(None);
        for (at, then) in &self.moments {
            assert_eq!(&self.answers(Some(at)), then, "{at}");
        }
        self.it.act("drop-views");
        assert_eq!(self.answers(None), now, "caught up from the log");
        self.it.act("rebuild");
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

/// Lets machine `to` import everything that machine `from` knows. Returns `true` if any of it was new.
fn carry(machines: &mut [Machine], from: usize, to: usize) -> bool {
    let export = machines[from].it.export(&ExportSince::Start);
    machines[to].it.take(&export.expect("it exports"))
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
                Op::Take(from) if from != at => _ = carry(&mut machines, *from, *at),
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
                for to in (0..MACHINES).filter(|to| *to != from) {
                    new |= carry(&mut machines, from, to);
                }
            }
        }
        let answers = |machine: &Machine| without_last_changes(machine.answers(None));
        let (first, hash) = (answers(&machines[0]), machines[0].verified().state_hash);
        for other in &machines[1..] {
            prop_assert_eq!(&answers(other), &first);
            prop_assert_eq!(other.verified().state_hash, hash.clone());
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
        let caller = Caller::default();
        let all = UndoRequest {
            events: vec![format!("@1..@{}", machine.end())],
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
