//! Makes a store with one big memoir, for `docs/benchmarks/memoirs.py`:
//!
//! ```text
//! cargo run --release -p replay-tests --example memoir_data -- DIR CONCEPTS LINKS
//! ```
//!
//! Links join random concepts, so each concept has `2 × LINKS / CONCEPTS` of them on average.

use std::sync::Arc;
use std::time::Duration;

use icm_log::disk::RealDisk;
use icm_log::env::random_16;
use icm_log::facts::{ConceptAdded, MemoirCreated, MemoryLinked, Relation, fields};
use icm_log::{
    Batch, CommandId, Durability, Kind, Log, NewEvent, RequestKey, SessionId, SubjectId, hash,
    payload,
};
use icm_service::SystemEnv;
use replay_tests::rng::Rng;

const MEMOIR: &str = "big";
/// Events of a batch.
const BATCH: usize = 10_000;

fn number(args: &mut impl Iterator<Item = String>, what: &str) -> usize {
    let given = args.next().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| panic!("{what} is missing"))
}

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = args.next().expect("DIR is missing");
    let (concepts, links) = (number(&mut args, "CONCEPTS"), number(&mut args, "LINKS"));
    let (env, mut rng) = (SystemEnv, Rng::new(5));
    let log = Log::open(Arc::new(RealDisk), dir.as_ref()).expect("a folder for a store");
    let memoir = SubjectId(random_16(&env));
    let id = |n: usize| {
        let mut id = [0; 16];
        id[8..].copy_from_slice(&(n as u64 + 1).to_be_bytes());
        SubjectId(id)
    };
    let created = NewEvent {
        kind: Kind::MEMOIR_CREATED,
        subject: memoir,
        refs: Vec::new(),
        facts: MemoirCreated {
            fields: fields::TOPIC | fields::CONTENT | fields::SOURCE,
            causal_length: 1,
            name: hash::memoir_name(MEMOIR),
        }
        .encode(),
        payload: payload::encode(&payload::MemoirCreated {
            name: MEMOIR,
            description: "what is measured",
            ..payload::MemoirCreated::default()
        }),
    };
    let added = (0..concepts).map(|n| {
        let name = format!("concept {n}");
        NewEvent {
            kind: Kind::CONCEPT_ADDED,
            subject: id(n),
            refs: Vec::new(),
            facts: ConceptAdded {
                fields: fields::TOPIC | fields::KEY | fields::CONTENT | fields::CONFIDENCE,
                causal_length: 1,
                confidence_ppm: 500_000,
                label_count: 1,
                memoir,
                name: hash::concept_name(MEMOIR, &name),
            }
            .encode(),
            payload: payload::encode(&payload::ConceptAdded {
                memoir: MEMOIR,
                name: &name,
                definition: &format!(
                    "part {} of assembly {}, kept in hall {}",
                    n,
                    n % 997,
                    n % 31
                ),
                labels: vec![if n % 2 == 0 { "kind:part" } else { "kind:tool" }],
                ..payload::ConceptAdded::default()
            }),
        }
    });
    let linked = (0..links).map(|_| {
        let mut one = || rng.below(concepts as u64) as usize;
        let (from, mut to) = (one(), one());
        if from == to {
            to = (to + 1) % concepts;
        }
        NewEvent {
            kind: Kind::CONCEPT_LINKED,
            subject: id(from),
            refs: Vec::new(),
            facts: MemoryLinked {
                other: id(to),
                relation: Relation::DEPENDS_ON,
            }
            .encode(),
            payload: payload::encode(&payload::MemoryLinked::default()),
        }
    });
    let mut events = std::iter::once(created)
        .chain(added)
        .chain(linked)
        .peekable();
    let wait = Duration::from_secs(5);
    let mut writer = log.begin(&env, wait).expect("nobody else writes");
    while events.peek().is_some() {
        let batch = Batch {
            command: CommandId(random_16(&env)),
            actor: "user",
            session: SessionId::ZERO,
            request: RequestKey::ZERO,
            events: events.by_ref().take(BATCH).collect(),
        };
        writer.append(&batch).expect("it is written");
    }
    writer.commit(Durability::Synced).expect("the disk syncs");
}
