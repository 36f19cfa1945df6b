//! Makes the stores to measure, the same in every run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use icm_api::NoProgress;
use icm_log::disk::RealDisk;
use icm_log::env::Env;
use icm_log::facts::{self, Importance, Recalled, ScopeKind, Trust, fields};
use icm_log::{
    Batch, CommandId, Durability, EventId, Kind, Log, Name, NewEvent, Position, RequestKey,
    ScopeId, SessionId, SubjectId, Writer, payload,
};
use icm_service::{OpenOptions, Service, SystemEnv};
use replay_tests::env::SimEnv;
use replay_tests::rng::Rng;

/// Memories of the stores for servers and for new processes.
pub(crate) const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Memories of the stores with and without history.
pub(crate) const AGED: usize = 20_000;
/// Versions of each memory of the store with history.
pub(crate) const VERSIONS: usize = 10;

const WORDS: usize = 20_000;
const SYLLABLES: [&str; 24] = [
    "ba", "co", "du", "fe", "gi", "ha", "jo", "ku", "le", "mi", "no", "pu", "ra", "se", "ti", "vo",
    "wu", "xa", "ye", "zi", "bro", "cla", "dre", "sto",
];

/// Random text with words as unevenly frequent as those of a language (Zipf).
pub(crate) struct Text {
    words: Vec<String>,
    /// Cumulative weight of each word.
    weights: Vec<f64>,
    pub(crate) rng: Rng,
}

impl Text {
    pub(crate) fn new(seed: u64) -> Text {
        let mut rng = Rng::new(1);
        let mut seen = BTreeMap::new();
        while seen.len() < WORDS {
            let syllables = 1 + rng.below(4);
            let word: String = (0..syllables)
                .map(|_| SYLLABLES[rng.below(24) as usize])
                .collect();
            let next = seen.len();
            seen.entry(word).or_insert(next);
        }
        let mut words = vec![String::new(); WORDS];
        for (word, place) in seen {
            words[place] = word;
        }
        let mut sum = 0.0;
        let weights = (1..=WORDS)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Text {
            words,
            weights,
            rng: Rng::new(seed),
        }
    }

    fn word(&mut self) -> &str {
        let all = self.weights[WORDS - 1];
        let point = (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * all;
        &self.words[self
            .weights
            .partition_point(|sum| *sum < point)
            .min(WORDS - 1)]
    }

    /// Returns a content of about 195 bytes.
    pub(crate) fn content(&mut self) -> String {
        let mut text = String::with_capacity(210);
        while text.len() < 188 {
            let word = self.word().to_owned();
            text.push_str(&word);
            text.push(' ');
        }
        text.pop();
        text
    }

    /// Returns four words, none of the hundred most frequent.
    pub(crate) fn query(&mut self) -> String {
        let word = |rng: &mut Rng| 100 + rng.below(4_900) as usize;
        let places: Vec<_> = (0..4).map(|_| word(&mut self.rng)).collect();
        places
            .iter()
            .map(|place| &self.words[*place][..])
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(crate) fn topic(&mut self) -> String {
        format!("project-{}/notes", self.rng.below(50))
    }
}

fn stored(id: SubjectId, topic: &str, content: &str) -> NewEvent {
    let facts = facts::MemoryStored {
        fields: fields::ALL & !fields::EXPIRES,
        causal_length: 1,
        scope_kind: ScopeKind::Global,
        importance: Importance::Medium,
        trust: Trust::Agent,
        keyword_count: 0,
        name: Name::ZERO,
        scope_id: ScopeId::ZERO,
        expiry: None,
    };
    let source = payload::SourceText {
        client: Some("claude-code/2.0"),
        ..Default::default()
    };
    let payload = payload::MemoryStored {
        topic,
        content,
        source,
        ..Default::default()
    };
    NewEvent {
        kind: Kind::MEMORY_STORED,
        subject: id,
        refs: Vec::new(),
        facts: facts.encode(),
        payload: payload::encode(&payload),
    }
}

fn updated(id: SubjectId, before: EventId, content: &str) -> NewEvent {
    let facts = facts::MemoryUpdated {
        fields: fields::CONTENT,
        scope_kind: None,
        importance: None,
        trust: None,
        keywords_added: 0,
        name: Name::ZERO,
        scope_id: ScopeId::ZERO,
        expiry: None,
        removed: Vec::new(),
    };
    let payload = payload::MemoryUpdated {
        content: Some(content),
        ..Default::default()
    };
    NewEvent {
        kind: Kind::MEMORY_UPDATED,
        subject: id,
        refs: vec![before],
        facts: facts.encode(),
        payload: payload::encode(&payload),
    }
}

fn recalled(basis: (Position, EventId), shown: &[SubjectId], query: &str) -> NewEvent {
    let results = (1..)
        .zip(shown)
        .map(|(rank, id)| Recalled { id: *id, rank })
        .collect();
    let facts = facts::MemoryRecalled {
        basis_position: basis.0,
        basis_event: basis.1,
        results,
        shown: None,
        moment_ms: None,
    };
    let payload = payload::MemoryRecalled {
        query,
        limit: Some(10),
        ..Default::default()
    };
    NewEvent {
        kind: Kind::MEMORY_RECALLED,
        subject: SubjectId([0; 16]),
        refs: Vec::new(),
        facts: facts.encode(),
        payload: payload::encode(&payload),
    }
}

/// Returns an event with a record of about 300 bytes.
pub(crate) fn small(id: SubjectId) -> NewEvent {
    NewEvent {
        kind: Kind::MEMORY_FORGOTTEN,
        subject: id,
        refs: Vec::new(),
        facts: facts::Alive { causal_length: 2 }.encode(),
        payload: payload::encode(&payload::MemoryForgotten {
            reason: Some("it no longer holds"),
        }),
    }
}

/// Returns an event with a record of about 350 bytes.
pub(crate) fn middling(id: SubjectId) -> NewEvent {
    let reason = "it no longer holds, since the decision of last week replaced it";
    let payload = payload::MemoryForgotten {
        reason: Some(reason),
    };
    NewEvent {
        payload: payload::encode(&payload),
        ..small(id)
    }
}

/// A simulated clock and randomness with this machine's id, so that `icm` continues the same chain.
struct Here(SimEnv);

impl Env for Here {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.0.fill_random(bytes);
    }

    fn machine_id(&self) -> Option<String> {
        SystemEnv.machine_id()
    }
}

/// Writes events to a new log, a command each, with few syncs.
pub(crate) struct Filler {
    log: Log,
    env: Here,
    memories: Vec<(SubjectId, EventId)>,
    pub(crate) last: (Position, EventId),
}

impl Filler {
    pub(crate) fn new(dir: &Path) -> Filler {
        let log = Log::open(Arc::new(RealDisk), dir).expect("an empty folder");
        let last = (Position(0), EventId::ZERO);
        Filler {
            log,
            env: Here(SimEnv::new(7)),
            memories: Vec::new(),
            last,
        }
    }

    pub(crate) fn new_id(&self) -> SubjectId {
        let mut id = [0; 16];
        self.env.fill_random(&mut id);
        id[..6].copy_from_slice(&self.env.now_ms().to_be_bytes()[2..]);
        SubjectId(id)
    }

    /// Writes `count` events, each as a command.
    pub(crate) fn fill(
        &mut self,
        count: usize,
        make: &mut dyn FnMut(&Filler) -> (Option<usize>, NewEvent),
    ) {
        let mut done = 0;
        while done < count {
            let now = (count - done).min(10_000);
            let mut made = Vec::with_capacity(now);
            {
                let mut writer = self
                    .log
                    .begin(&self.env, Duration::from_secs(5))
                    .expect("nobody else writes");
                for _ in 0..now {
                    self.env.0.advance_ms(20);
                    let (memory, event) = make(self);
                    let subject = event.subject;
                    let is_new = event.kind == Kind::MEMORY_STORED;
                    let appended = append(&mut writer, &self.env, event);
                    self.last = appended;
                    if is_new {
                        self.memories.push((subject, appended.1));
                    } else if let Some(memory) = memory {
                        self.memories[memory].1 = appended.1;
                    }
                    made.push(appended);
                }
                writer.commit(Durability::Synced).expect("the disk syncs");
            }
            done += now;
        }
    }

    pub(crate) fn store(&mut self, count: usize, text: &mut Text) {
        self.fill(count, &mut |filler| {
            let (topic, content) = (text.topic(), text.content());
            (None, stored(filler.new_id(), &topic, &content))
        });
    }

    /// Gives every memory a new content.
    pub(crate) fn update_all(&mut self, text: &mut Text) {
        let mut next = 0;
        self.fill(self.memories.len(), &mut |filler| {
            let (id, before) = filler.memories[next];
            let event = updated(id, before, &text.content());
            next += 1;
            (Some(next - 1), event)
        });
    }

    /// Writes `count` events: in ten, two stores, an update and seven recalls that show ten memories each.
    pub(crate) fn live(&mut self, count: usize, text: &mut Text) {
        let mut number = 0;
        self.fill(count, &mut |filler| {
            number += 1;
            let known = filler.memories.len() as u64;
            match number % 10 {
                _ if known < 10 => (
                    None,
                    stored(filler.new_id(), &text.topic(), &text.content()),
                ),
                0 | 5 => (
                    None,
                    stored(filler.new_id(), &text.topic(), &text.content()),
                ),
                1 => {
                    let place = text.rng.below(known) as usize;
                    let (id, before) = filler.memories[place];
                    (Some(place), updated(id, before, &text.content()))
                }
                _ => {
                    let shown: Vec<_> = (0..10)
                        .map(|_| filler.memories[text.rng.below(known) as usize].0)
                        .collect();
                    (None, recalled(filler.last, &shown, &text.query()))
                }
            }
        });
    }
}

pub(crate) fn append(
    writer: &mut Writer<'_>,
    env: &dyn Env,
    event: NewEvent,
) -> (Position, EventId) {
    let mut command = [0; 16];
    env.fill_random(&mut command);
    let batch = Batch {
        command: CommandId(command),
        actor: "agent:claude-code",
        session: SessionId::ZERO,
        request: RequestKey::ZERO,
        events: vec![event],
    };
    let appended = writer.append(&batch).expect("the log takes it");
    (appended[0].position, appended[0].event)
}

/// Returns the store of this size, with its views.
pub(crate) fn sized(dir: &Path, memories: usize) -> PathBuf {
    let done = dir.join(format!("store-{memories}.done"));
    assert!(done.exists(), "make the stores first: `prepare`");
    dir.join(format!("store-{memories}"))
}

pub(crate) fn service(dir: &Path) -> Service {
    let wait = Duration::from_secs(5);
    let options = OpenOptions {
        dir: dir.to_owned(),
        lock_wait: wait,
        read_only: false,
    };
    Service::open(options).expect("it was prepared")
}

/// Returns a store in use with a million events; made once.
pub(crate) fn million(dir: &Path) -> PathBuf {
    build(dir, "million", false, &|filler, text| {
        filler.live(1_000_000, text)
    });
    dir.join("million")
}

/// Makes a store, unless it exists.
fn build(dir: &Path, name: &str, views: bool, fill: &dyn Fn(&mut Filler, &mut Text)) {
    let done = dir.join(format!("{name}.done"));
    if done.exists() {
        return;
    }
    let store = crate::fresh(dir, name);
    fill(&mut Filler::new(&store), &mut Text::new(2));
    if views {
        service(&store)
            .rebuild(&NoProgress)
            .expect("views can be built");
    }
    std::fs::write(done, "").expect("the folder can be written");
}

/// Makes all missing stores, and makes anew the stores that a run writes to.
pub(crate) fn prepare(dir: &Path) {
    let build = |name: &str, views: bool, fill: &dyn Fn(&mut Filler, &mut Text)| {
        build(dir, name, views, fill);
    };
    for size in SIZES {
        let _ = std::fs::remove_file(dir.join(format!("store-{size}.done")));
        build(&format!("store-{size}"), true, &|filler, text| {
            filler.store(size, text)
        });
    }
    build("small", false, &|filler, _| {
        filler.fill(1_000_000, &mut |filler| (None, small(filler.new_id())));
    });
    build("stores", false, &|filler, text| filler.store(300_000, text));
    build("life", false, &|filler, text| filler.live(300_000, text));
    // Both stores end with the same contents.
    build("aged-1", true, &|filler, _| {
        filler.store(AGED, &mut Text::new(3))
    });
    build("aged-10", true, &|filler, text| {
        filler.store(AGED, &mut Text::new(4));
        for _ in 2..VERSIONS {
            filler.update_all(text);
        }
        let mut last = Text::new(3);
        // The texts are drawn in the order of a store: a topic, then a content.
        let mut contents = (0..AGED).map(|_| (last.topic(), last.content()).1);
        let mut next = 0;
        filler.fill(AGED, &mut |filler| {
            let (id, before) = filler.memories[next];
            next += 1;
            (
                Some(next - 1),
                updated(id, before, &contents.next().expect("as many")),
            )
        });
    });
}
