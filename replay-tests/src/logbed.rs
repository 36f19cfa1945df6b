//! Drives a log directly, below the service: appends numbered events, remembers the acknowledged ones, and checks the
//! log against them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use icm_log::disk::Disk;
use icm_log::env::Env;
use icm_log::facts::{self, Importance, ScopeKind, Trust};
use icm_log::{
    Batch, CommandId, Cursor, Durability, Event, EventId, Kind, Log, LogError, Name, NewEvent,
    OriginId, Position, RequestKey, ScopeId, Seq, SessionId, SubjectId, Time, payload,
};

use crate::env::SimEnv;
use crate::simdisk::SimDisk;

/// An event of a scan, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the fields of an event")]
pub struct Seen {
    pub id: EventId,
    pub origin: OriginId,
    pub seq: Seq,
    pub prev: EventId,
    pub time: Time,
    pub position: Position,
    pub kind: Kind,
    pub subject: SubjectId,
    pub batch: (u16, u16),
    pub head: Vec<u8>,
    /// `None` if it is withheld or damaged.
    pub payload: Option<Vec<u8>>,
}

impl Seen {
    /// Copies an event.
    pub fn of(event: &Event<'_>) -> Seen {
        Seen {
            id: event.id,
            origin: event.head.origin(),
            seq: event.head.seq(),
            prev: event.head.prev(),
            time: event.head.time(),
            position: event.position,
            kind: event.head.kind(),
            subject: event.head.subject(),
            batch: (event.head.batch_index(), event.head.batch_count()),
            head: event.head.bytes().to_vec(),
            payload: event.body.payload().map(<[u8]>::to_vec),
        }
    }

    /// Returns the number given by [`numbered`]; `None` for other events.
    pub fn number(&self) -> Option<u64> {
        let (zeros, number) = self.subject.0.split_at(8);
        let number = u64::from_be_bytes(number.try_into().expect("eight bytes"));
        (self.kind == Kind::MEMORY_STORED && zeros == [0; 8]).then_some(number)
    }
}

/// Returns an event that differs from every other one of a test, with a payload of about `len` bytes.
pub fn numbered(number: u64, len: usize) -> NewEvent {
    let mut subject = [0; 16];
    subject[8..].copy_from_slice(&number.to_be_bytes());
    let content = format!("{number} ").repeat(len / 2 + 1);
    NewEvent {
        kind: Kind::MEMORY_STORED,
        subject: SubjectId(subject),
        refs: Vec::new(),
        facts: facts::MemoryStored {
            fields: facts::fields::TOPIC | facts::fields::CONTENT,
            causal_length: 1,
            scope_kind: ScopeKind::Global,
            importance: Importance::Medium,
            trust: Trust::User,
            keyword_count: 0,
            name: Name::ZERO,
            scope_id: ScopeId::ZERO,
            expiry: None,
        }
        .encode(),
        payload: payload::encode(&payload::MemoryStored {
            topic: "numbers",
            content: &content[..len.max(8).min(content.len())],
            ..payload::MemoryStored::default()
        }),
    }
}

/// Appends events as one batch of one command, and commits.
pub fn append(
    log: &Log,
    env: &dyn Env,
    events: Vec<NewEvent>,
    durability: Durability,
) -> Result<(), LogError> {
    let mut writer = log.begin(env, Duration::ZERO)?;
    let mut command = [0; 16];
    env.fill_random(&mut command);
    writer.append(&Batch {
        command: CommandId(command),
        actor: "user",
        session: SessionId::ZERO,
        request: RequestKey::ZERO,
        events,
    })?;
    writer.commit(durability)
}

/// Returns every event of the walk, oldest first, up to the first that cannot be read, and the error.
pub fn read(log: &Log) -> (Vec<Seen>, Option<LogError>) {
    let mut seen = Vec::new();
    let ended = log.scan(&Cursor::START, &mut |event| {
        seen.push(Seen::of(event));
        ControlFlow::Continue(())
    });
    (seen, ended.err())
}

/// A step of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Appends this many events of about this many bytes, durably.
    Append(usize, usize),
    /// Appends as `Append` does, without a sync.
    Lazy(usize, usize),
    /// Opens the log anew, as another process would.
    Reopen,
}

/// A workload with each kind of step, in few operations.
pub const WORKLOAD: &[Step] = &[
    Step::Append(1, 40),
    Step::Append(3, 200),
    Step::Lazy(1, 30),
    Step::Append(1, 5_000),
    Step::Reopen,
    Step::Append(2, 100),
    Step::Lazy(2, 600),
    Step::Reopen,
    Step::Append(1, 900),
    Step::Append(1, 10),
];

/// A store on a simulated disk, and the acknowledgements that it must keep.
pub struct Bed {
    /// The disk.
    pub disk: SimDisk,
    /// The clock and randomness.
    pub env: Arc<SimEnv>,
    /// The folder of the store.
    pub dir: PathBuf,
    /// Numbers of every batch that was tried, in order, and `true` if it was acknowledged.
    pub tried: Vec<(Vec<u64>, bool)>,
    /// Errors so far.
    pub errors: Vec<LogError>,
    log: Option<Log>,
    next: u64,
}

impl Bed {
    /// Returns a bed without a store, on an empty disk.
    pub fn new() -> Bed {
        Bed::on(SimDisk::new())
    }

    /// Returns a bed without a store, on this disk.
    pub fn on(disk: SimDisk) -> Bed {
        Bed {
            disk,
            env: Arc::new(SimEnv::new(7)),
            dir: PathBuf::from("/home/store"),
            tried: Vec::new(),
            errors: Vec::new(),
            log: None,
            next: 1,
        }
    }

    /// Runs steps. After an error another process takes over and continues with the next step.
    pub fn run(&mut self, steps: &[Step]) {
        for step in steps {
            self.env.advance_ms(1_000);
            if let Err(error) = self.step(*step) {
                self.errors.push(error);
                self.log = None;
            }
        }
    }

    /// Continues as another process, on a disk on which these batches were tried.
    pub fn restart(&mut self, tried: Vec<(Vec<u64>, bool)>) {
        self.next = tried
            .iter()
            .flat_map(|(numbers, _)| numbers)
            .max()
            .map_or(1, |max| max + 1);
        self.tried = tried;
        self.errors.clear();
        self.log = None;
    }

    fn step(&mut self, step: Step) -> Result<(), LogError> {
        let (count, len, durability) = match step {
            Step::Append(count, len) => (count, len, Durability::Synced),
            Step::Lazy(count, len) => (count, len, Durability::Lazy),
            Step::Reopen => {
                self.log = None;
                return Ok(());
            }
        };
        let numbers: Vec<u64> = (self.next..).take(count).collect();
        self.next += count as u64;
        self.tried.push((numbers.clone(), false));
        let log = match self.log.take() {
            Some(log) => log,
            None => Log::open(Arc::new(self.disk.clone()), &self.dir)?,
        };
        let log = self.log.insert(log);
        let events = numbers
            .into_iter()
            .map(|number| numbered(number, len))
            .collect();
        append(log, &*self.env, events, durability)?;
        if durability == Durability::Synced {
            // A sync also makes the events before it in the same chain durable.
            self.tried.last_mut().expect("just pushed").1 = true;
        }
        Ok(())
    }

    /// Checks the store on `found`: it opens, holds every acknowledged batch and otherwise only whole batches that were
    /// tried, in order. It takes an append, which survives the next crash. Returns the number of batches found.
    ///
    /// # Errors
    /// The defect, in one line.
    pub fn check(&self, found: &SimDisk) -> Result<usize, String> {
        let count = self.check_contents(found)?;
        let log = open(found, &self.dir)?;
        self.env.advance_ms(1_000);
        append(
            &log,
            &*self.env,
            vec![numbered(u64::MAX, 20)],
            Durability::Synced,
        )
        .map_err(|error| format!("the store does not go on: {error}"))?;
        drop(log);
        let dropped = crate::simdisk::CrashPlan {
            writes: crate::simdisk::Writes::Dropped,
            names: crate::simdisk::Names::Dropped,
            seed: 0,
        };
        let again = found.crash(dropped);
        let (seen, ended) = read(&open(&again, &self.dir)?);
        if let Some(error) = ended {
            return Err(format!("after going on: {error}"));
        }
        let newest = seen.last().and_then(Seen::number);
        if newest != Some(u64::MAX) {
            return Err(format!(
                "what was appended after recovery is lost: {newest:?} is newest"
            ));
        }
        self.check_batches(&seen[..seen.len() - 1])
            .map_err(|why| format!("after going on and crashing again: {why}"))?;
        Ok(count)
    }

    /// Checks the contents as [`Bed::check`] does; changes nothing.
    ///
    /// # Errors
    /// The defect, in one line.
    pub fn check_contents(&self, found: &SimDisk) -> Result<usize, String> {
        let before: Vec<_> = found
            .files()
            .into_iter()
            .map(|p| (found.contents(&p), p))
            .collect();
        let (seen, ended) = read(&open(found, &self.dir)?);
        let after: Vec<_> = found
            .files()
            .into_iter()
            .map(|p| (found.contents(&p), p))
            .collect();
        if before != after {
            return Err("opening and reading changed bytes".to_owned());
        }
        if let Some(error) = ended {
            return Err(format!("reading ends with: {error}"));
        }
        check_chain(&seen)?;
        self.check_batches(&seen)
    }

    fn check_batches(&self, seen: &[Seen]) -> Result<usize, String> {
        let mut numbers = seen.iter().filter_map(Seen::number).peekable();
        let mut found = 0;
        for (batch, acknowledged) in &self.tried {
            if numbers.peek() == batch.first() {
                found += 1;
                for number in batch {
                    if numbers.next() != Some(*number) {
                        return Err(format!("a part of the batch {batch:?} is there"));
                    }
                }
            } else if *acknowledged {
                return Err(format!("the acknowledged batch {batch:?} is lost"));
            }
        }
        match numbers.next() {
            None => Ok(found),
            Some(number) => Err(format!(
                "event {number} is out of order or was never written"
            )),
        }
    }
}

impl Default for Bed {
    fn default() -> Self {
        Bed::new()
    }
}

fn open(disk: &SimDisk, dir: &Path) -> Result<Log, String> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let log = Log::open(disk, dir).map_err(|error| format!("the store does not open: {error}"))?;
    match log.refusal() {
        None => Ok(log),
        Some(refusal) => Err(format!("the store refuses writes: {refusal:?}")),
    }
}

/// Checks invariant 3: gapless seqs, rising positions, strictly rising times, valid links.
///
/// # Errors
/// The defect, in one line.
pub fn check_chain(seen: &[Seen]) -> Result<(), String> {
    let mut before: Option<&Seen> = None;
    for event in seen {
        let same_chain = before.filter(|before| before.origin == event.origin);
        let seq = same_chain.map_or(1, |before| before.seq.0 + 1);
        let prev = same_chain.map_or(EventId::ZERO, |before| before.id);
        let position = before.map_or(1, |before| before.position.0 + 1);
        let rises = same_chain.is_none_or(|before| before.time < event.time);
        let id = icm_log::hash::event_id(&event.head);
        let there = (event.seq.0, event.prev, event.position.0, event.id, rises);
        if there != (seq, prev, position, id, true) {
            return Err(format!("after {before:?} comes {event:?}"));
        }
        before = Some(event);
    }
    match before {
        Some(last) if last.batch.0 + 1 != last.batch.1 => Err(format!("an open batch: {last:?}")),
        _ => Ok(()),
    }
}
