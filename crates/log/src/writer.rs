//! Appending. Whoever holds the lock of the store may append; threads of one process share the
//! lock and one sync (group commit).

use std::io;
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use crate::acked::{self, Slot};
use crate::chain;
use crate::disk::{DiskFile, OpenMode};
use crate::env::Env;
use crate::error::{LogError, Result, at};
use crate::facts;
use crate::hash;
use crate::head::{FACTS_LEN_MAX, FORMAT, HEAD_FIXED_LEN, HeadFields, REFS_MAX};
use crate::id::{
    ActorId, CommandId, EventId, Position, RequestKey, Seq, SessionId, SubjectId, Time,
};
use crate::kind::Kind;
use crate::log::{LOCK_FILE, Log, Refusal, State};
use crate::payload;
use crate::record::{self, FRAME_LEN, PAYLOAD_LEN_MAX, SALT_LEN, SECOND_CHECK_LEN};
use crate::recover::{Tip, TipPlace};
use crate::segment::{HEADER_LEN, SEGMENT_LEN_TARGET, SegmentHeader, SegmentName};
use crate::store_file::StoreFile;
use crate::zero_tail;

/// Most events of a batch.
pub const BATCH_EVENTS_MAX: usize = 16_384;
/// Most bytes of a batch.
pub const BATCH_LEN_MAX: usize = 32 * 1_024 * 1_024;
/// A clock that shows more than this before the newest own event makes a new origin.
pub const SKEW_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// Threads that come later than this after the lock was taken wait until it was free once, so that
/// other processes get their turn.
const HOLD_MAX: Duration = Duration::from_millis(50);
/// How long a thread waits for the sync of another before it looks for itself.
const SYNC_WAIT: Duration = Duration::from_secs(1);
/// Tails that are set aside before an append; each leaves the log shorter.
const SET_ASIDE_MAX: usize = 8;
/// Most positions that one import may take.
pub(crate) const POSITIONS_MAX: u64 = u32::MAX as u64;

/// Ranges that one import has room for.
pub(crate) const RANGES_MAX: usize = 2_730;

/// An event to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// What happened.
    pub kind: Kind,
    /// What it is about.
    pub subject: SubjectId,
    /// Events observed; at most 1,024.
    pub refs: Vec<EventId>,
    /// Encoded facts.
    pub facts: Vec<u8>,
    /// Encoded payload.
    pub payload: Vec<u8>,
}

impl NewEvent {
    /// Bytes of its record: what it takes of a batch's [`BATCH_LEN_MAX`].
    pub fn record_len(&self) -> usize {
        let head = HEAD_FIXED_LEN + self.refs.len() * 32 + self.facts.len();
        FRAME_LEN + head + SECOND_CHECK_LEN + SALT_LEN + self.payload.len()
    }
}

/// Events that stand or fall together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<'a> {
    /// Shared by all batches of one command.
    pub command: CommandId,
    /// Name of the actor; see [`Writer::actor`].
    pub actor: &'a str,
    /// Session or zero.
    pub session: SessionId,
    /// Request key or zero; goes into the first event.
    pub request: RequestKey,
    /// At least one.
    pub events: Vec<NewEvent>,
}

/// An event that was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Its id.
    pub event: EventId,
    /// Its position.
    pub position: Position,
    /// Its time.
    pub time: Time,
}

/// Most events that no sync has followed: whoever opens the log looks at all of them.
pub const LAZY_MAX: u64 = 500;

/// When an append counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Once it survives power loss.
    Synced,
    /// Once other processes see it; it survives the end of this process, and the next sync makes it
    /// durable. There is one after [`LAZY_MAX`] events at the latest.
    Lazy,
}

/// The right to append. Other writers, threads and processes, wait while it is held; readers of the
/// same [`Log`] do not.
pub struct Writer<'a> {
    pub(crate) log: &'a Log,
    pub(crate) env: &'a dyn Env,
    /// This thread's turn among those of the process; given up while a commit waits for the disk.
    has_turn: bool,
    appended: Option<Seq>,
}

impl Log {
    /// Takes the lock, waiting up to `wait` for other processes, sees what they appended and sets a
    /// torn tail aside. Makes the folder a store when it is absent or empty.
    ///
    /// # Errors
    /// `Busy`; `Damaged` or `NewerFormat` when writes are refused; `NotWritable`, `NoSpace`, `Io`.
    pub fn begin<'a>(&'a self, env: &'a dyn Env, wait: Duration) -> Result<Writer<'a>> {
        let writer = self.acquire(env, wait)?;
        let mut state = self.lock_state();
        let prepared = writer.prepare(&mut state);
        // Before the writer goes: it takes the state itself.
        drop(state);
        prepared.map(|()| writer)
    }

    /// Takes the lock and the turn, whatever state the log is in.
    pub(crate) fn acquire<'a>(&'a self, env: &'a dyn Env, wait: Duration) -> Result<Writer<'a>> {
        let start = Instant::now();
        if self.known_by.is_some() {
            return Err(LogError::NotWritable {
                path: self.dir.clone(),
                why: "it was opened as another machine knew it".to_owned(),
            });
        }
        let mut state = self.lock_state();
        self.check_that_it_is_there(&state)?;
        loop {
            let shared = state.hold.lock.is_some();
            let too_long = state
                .hold
                .since
                .is_some_and(|since| since.elapsed() > HOLD_MAX);
            if shared && !too_long && !state.hold.turn && state.hold.poisoned.is_none() {
                break;
            }
            if shared {
                if start.elapsed() > wait {
                    return Err(LogError::Busy {
                        waited_ms: wait.as_millis() as u64,
                    });
                }
                let left = wait
                    .saturating_sub(start.elapsed())
                    .max(Duration::from_millis(1));
                state = self.wait(state, left);
                continue;
            }
            if let Some(lock) = self.try_lock()? {
                state.hold.lock = Some(lock);
                state.hold.since = Some(Instant::now());
                break;
            }
            if start.elapsed() > wait {
                return Err(LogError::Busy {
                    waited_ms: wait.as_millis() as u64,
                });
            }
            drop(state);
            let pause = Duration::from_millis(if start.elapsed().as_millis() < 20 {
                1
            } else {
                5
            });
            thread::sleep(pause);
            state = self.lock_state();
        }
        state.hold.holders += 1;
        state.hold.turn = true;
        Ok(Writer {
            log: self,
            env,
            has_turn: true,
            appended: None,
        })
    }

    fn try_lock(&self) -> Result<Option<Box<dyn crate::disk::DiskLock>>> {
        let path = self.dir.join(LOCK_FILE);
        match self.disk.try_lock(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.disk
                    .create_dir_all(&self.dir)
                    .map_err(at("creating", &self.dir))?;
                self.disk.try_lock(&path).map_err(at("locking", &path))
            }
            other => other.map_err(at("locking", &path)),
        }
    }
}

impl<'a> Writer<'a> {
    /// Sees what others appended and gets the store ready for an append.
    fn prepare(&self, state: &mut State) -> Result<()> {
        let (log, env) = (self.log, self.env);
        if state.hold.holders > 1 {
            return match &state.refusal {
                Some(refusal) => Err(refusal.to_error(&log.dir)),
                None => Ok(()),
            };
        }
        if state.hold.poisoned.take().is_some() {
            // What the failed sync left is found again below and written anew before the next one.
            state.hold.file = None;
            *log.gate() = None;
        }
        // Until the log was looked at nothing is known durable: no slot is written when that fails.
        state.hold.durable = Seq(0);
        let changed = log.refresh_state(state)?;
        if let Some(refusal) = &state.refusal {
            return Err(refusal.to_error(&log.dir));
        }
        self.set_aside_tail(state)?;
        log.mint_if_needed(state, env, changed)?;
        self.note_durable(state);
        Ok(())
    }

    /// As `prepare`, after a repair has put the files in order. `mint` says why a new origin has to
    /// carry on, if one has to.
    pub(crate) fn prepare_repaired(&self, mint: Option<&str>) -> Result<()> {
        let log = self.log;
        let mut state = log.lock_state();
        state.hold.file = None;
        state.hold.durable = Seq(0);
        state.looks = None;
        // What was known of places may no longer be so.
        state.tip = None;
        log.refresh_state(&mut state)?;
        match &state.refusal {
            None | Some(Refusal::Repairing) => {}
            Some(Refusal::NoStoreFile { .. }) if mint.is_some() => {}
            Some(refusal) => return Err(refusal.to_error(&log.dir)),
        }
        self.set_aside_tail(&mut state)?;
        match mint {
            Some(why) => log.mint(&mut state, self.env, Some(why))?,
            None => log.mint_if_needed(&mut state, self.env, true)?,
        }
        state.refusal = None;
        self.note_durable(&mut state);
        Ok(())
    }

    /// Sets aside what an append that was never acknowledged left.
    fn set_aside_tail(&self, state: &mut State) -> Result<()> {
        let log = self.log;
        let mut rounds = 0;
        while let Some(trouble) = state.trouble.take() {
            // A torn creation may hide a torn tail in the segment before it.
            if rounds == SET_ASIDE_MAX {
                return Err(LogError::NotWritable {
                    path: log.dir.clone(),
                    why: format!("its torn tail could not be set aside ({})", trouble.what),
                });
            }
            rounds += 1;
            log.set_aside(state, &trouble)?;
            log.refresh_state(state)?;
            match &state.refusal {
                None | Some(Refusal::Repairing | Refusal::NoStoreFile { .. }) => {}
                Some(refusal) => return Err(refusal.to_error(&log.dir)),
            }
        }
        Ok(())
    }

    /// Notes how far what is there is known to be durable.
    fn note_durable(&self, state: &mut State) {
        let slot = state.slot;
        let own = state.store.as_ref().map(|store| store.origin);
        state.hold.acked_generation = slot.map_or(0, |slot| slot.generation);
        let slot_seq = slot
            .filter(|slot| Some(slot.origin) == own)
            .map_or(Seq(0), |slot| slot.seq);
        let synced = state.tip.as_ref().map_or(Seq(0), |place| place.synced);
        let same_chain = state
            .tip
            .as_ref()
            .is_some_and(|place| Some(place.tip.origin) == own);
        state.hold.durable = if same_chain {
            slot_seq.max(synced)
        } else {
            Seq(0)
        };
    }

    /// Gives the store a new origin and says why.
    pub(crate) fn mint(&mut self, why: &str) -> Result<()> {
        let mut state = self.log.lock_state();
        self.log.mint(&mut state, self.env, Some(why))
    }

    /// The newest event, before anything this writer appends.
    pub fn tip(&self) -> Option<Tip> {
        self.log.tip()
    }

    /// The secret for keyed hashes.
    pub fn secret(&self) -> [u8; 32] {
        self.log.secret().expect("a writer has minted a store")
    }

    /// The id of an actor in this store.
    pub fn actor(&self, name: &str) -> ActorId {
        hash::actor_id(&self.secret(), name)
    }

    /// Whether the next append starts the origin's chain; it then names its actor itself.
    pub fn starts_origin(&self) -> bool {
        let state = self.log.lock_state();
        let own = state.store.as_ref().map(|store| store.origin);
        state.tip.as_ref().map(|place| place.tip.origin) != own
    }

    /// Appends a batch; it counts only once [`Writer::commit`] returned. When it fails nothing was
    /// appended.
    ///
    /// # Errors
    /// `TooLarge` for an event or batch beyond its ceilings, `NoSpace`, `NotWritable`, `Io`.
    ///
    /// # Panics
    /// When the batch has no events.
    pub fn append(&mut self, batch: &Batch<'_>) -> Result<Vec<Appended>> {
        assert!(!batch.events.is_empty(), "a batch has at least one event");
        check_ceilings(batch)?;
        let actor = self.actor(batch.actor);
        let starts = self.starts_origin();
        let (log, env) = (self.log, self.env);
        let mut state = log.lock_state();
        let store = state.store.clone().expect("a writer has minted a store");
        let mut encoder = Encoder {
            store: &store,
            env,
            tip: state.tip.as_ref().map(|place| place.tip),
            synced: state.hold.durable,
            bytes: Vec::new(),
            last: None,
            appended: Vec::new(),
        };
        if starts {
            encoder.encode(&origin_batch(&store, batch, actor), actor)?;
        }
        let skip = encoder.appended.len();
        encoder.encode(batch, actor)?;
        let Encoder {
            bytes,
            last,
            mut appended,
            ..
        } = encoder;
        let (tip, offset_in_bytes, first) = last.expect("a batch has at least one event");
        if let Some(looks) = state.looks.take() {
            state.hold.looked = Some(looks);
        }
        state.hold.appended = true;
        let written = log.write(&mut state, &bytes, tip, offset_in_bytes, first);
        state.hold.failed |= written.is_err();
        written?;
        drop(state);
        self.appended = Some(tip.seq);
        Ok(appended.split_off(skip))
    }

    /// Ends the writing. With [`Durability::Synced`] returns once everything appended survives
    /// power loss; other threads may append meanwhile and share the sync. When nothing was appended,
    /// once what was there survives it: so a repeated request that finds its events already in the
    /// log is acknowledged as safely as the first.
    ///
    /// # Errors
    /// When the sync fails, what was appended may or may not be there after power loss; the next
    /// writer reads the log anew.
    pub fn commit(mut self, durability: Durability) -> Result<()> {
        match durability {
            Durability::Lazy if self.unsynced() < LAZY_MAX => Ok(()),
            Durability::Lazy | Durability::Synced => self.flush(),
        }
    }

    /// Events up to what this writer appended that are not known to be durable; 0 where it appended nothing.
    fn unsynced(&self) -> u64 {
        let durable = self.log.lock_state().hold.durable;
        self.appended
            .map_or(0, |seq| seq.0.saturating_sub(durable.0))
    }

    /// As [`Writer::commit`], but the lock is kept; the turn is given up.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.appended.is_none() && self.starts_origin() {
            return Ok(());
        }
        let there = self.tip().map(|tip| tip.seq);
        let Some(seq) = self.appended.or(there) else {
            return Ok(());
        };
        let log = self.log;
        let mut state = log.lock_state();
        state.hold.turn = false;
        self.has_turn = false;
        log.tell(&state);
        let epoch = state.hold.epoch;
        let result = loop {
            if let Some(why) = state
                .hold
                .poisoned
                .clone()
                .filter(|_| state.hold.epoch == epoch)
            {
                break Err(sync_failed(&log.dir, &why));
            }
            if state.hold.epoch != epoch {
                break Err(sync_failed(
                    &log.dir,
                    "the log was read anew after a failed sync",
                ));
            }
            if state.hold.durable >= seq {
                break Ok(());
            }
            if state.hold.syncing {
                state = log.wait(state, SYNC_WAIT);
                continue;
            }
            let place = state.tip.clone().expect("a seq to wait for is of a tip");
            let target = place.tip.seq;
            let file = match log.open_segment(&mut state, &place.segment.path, place.end) {
                Ok(file) => file,
                Err(error) => break Err(error),
            };
            state.hold.syncing = true;
            drop(state);
            let synced = log.sync_segment(&*file);
            state = log.lock_state();
            state.hold.syncing = false;
            match synced {
                Ok(()) => state.hold.durable = state.hold.durable.max(target),
                Err(why) => state.hold.poisoned = Some(why),
            }
            log.tell(&state);
        };
        drop(state);
        result
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let log = self.log;
        let mut state = log.lock_state();
        if self.has_turn {
            state.hold.turn = false;
        }
        state.hold.holders -= 1;
        if state.hold.holders == 0 {
            log.note_acked(&mut state);
            // Nobody else can have written meanwhile.
            let whole = !state.hold.failed && state.hold.poisoned.is_none();
            if state.hold.appended && whole && state.trouble.is_none() && state.refusal.is_none() {
                let before = state.hold.looked.take();
                state.looks = log.looks_after_writing(&state, before);
            }
            state.hold.looked = None;
            (state.hold.appended, state.hold.failed) = (false, false);
            if state.hold.poisoned.is_some() {
                state.hold.epoch += 1;
            }
            state.hold.lock = None;
            state.hold.since = None;
        }
        log.tell(&state);
    }
}

pub(crate) fn sync_failed(dir: &std::path::Path, why: &str) -> LogError {
    LogError::Io {
        doing: "syncing",
        path: dir.to_owned(),
        source: io::Error::other(why.to_owned()),
    }
}

fn check_ceilings(batch: &Batch<'_>) -> Result<()> {
    let over = |what, len, max| Err(LogError::TooLarge { what, len, max });
    if batch.events.len() > BATCH_EVENTS_MAX {
        return over(
            "number of events in a batch",
            batch.events.len(),
            BATCH_EVENTS_MAX,
        );
    }
    let mut len: usize = 0;
    for event in &batch.events {
        len = len.saturating_add(event.payload.len() + event.facts.len());
        if event.refs.len() > REFS_MAX {
            return over("number of refs", event.refs.len(), REFS_MAX);
        }
        if event.facts.len() > FACTS_LEN_MAX {
            return over("length of facts", event.facts.len(), FACTS_LEN_MAX);
        }
        if event.payload.len() > PAYLOAD_LEN_MAX {
            return over("length of a payload", event.payload.len(), PAYLOAD_LEN_MAX);
        }
    }
    if len > BATCH_LEN_MAX {
        return over("length of a batch", len, BATCH_LEN_MAX);
    }
    Ok(())
}

/// The first batch of an origin.
fn origin_batch<'b>(store: &StoreFile, batch: &Batch<'b>, actor: ActorId) -> Batch<'b> {
    let program = concat!("icm ", env!("CARGO_PKG_VERSION"));
    let started = NewEvent {
        kind: Kind::LOG_ORIGIN_STARTED,
        subject: SubjectId::ZERO,
        refs: store
            .continues
            .map(|continues| continues.event)
            .into_iter()
            .collect(),
        facts: facts::LogOriginStarted {
            continues: store.continues,
        }
        .encode(),
        payload: payload::encode(&payload::LogOriginStarted { program }),
    };
    Batch {
        command: batch.command,
        actor: batch.actor,
        session: batch.session,
        request: RequestKey::ZERO,
        events: vec![started, actor_named(actor, batch.actor)],
    }
}

/// The event that names an actor.
pub fn actor_named(actor: ActorId, name: &str) -> NewEvent {
    NewEvent {
        kind: Kind::LOG_ACTOR_NAMED,
        subject: SubjectId(actor.0),
        refs: Vec::new(),
        facts: Vec::new(),
        payload: payload::encode(&payload::LogActorNamed { name }),
    }
}

/// Positions that an event's imported ranges take before its own.
fn imported_count(event: &NewEvent) -> Result<u64> {
    if event.kind != Kind::LOG_IMPORTED {
        return Ok(0);
    }
    // The writer's own facts; a reader would refuse what does not decode.
    let facts = facts::LogImported::decode(&event.facts);
    let count = facts.map_or(u64::MAX, |facts| facts.count());
    if count > POSITIONS_MAX {
        return Err(LogError::TooLarge {
            what: "number of imported events",
            len: usize::try_from(count).unwrap_or(usize::MAX),
            max: usize::try_from(POSITIONS_MAX).unwrap_or(usize::MAX),
        });
    }
    Ok(count)
}

/// Turns batches into the bytes of records.
struct Encoder<'s> {
    store: &'s StoreFile,
    env: &'s dyn Env,
    tip: Option<Tip>,
    synced: Seq,
    bytes: Vec<u8>,
    /// The newest event, where its record starts in `bytes`, and the first event in `bytes`.
    last: Option<(Tip, usize, (Seq, EventId))>,
    appended: Vec<Appended>,
}

impl Encoder<'_> {
    fn encode(&mut self, batch: &Batch<'_>, actor: ActorId) -> Result<()> {
        let count = u16::try_from(batch.events.len()).expect("batches are checked before encoding");
        let start = self.bytes.len();
        let mut body = Vec::new();
        let mut head = Vec::new();
        for (index, event) in (0u16..).zip(&batch.events) {
            let own = self.tip.filter(|tip| tip.origin == self.store.origin);
            let now = self.env.now_ms();
            let time = match own {
                Some(tip) => tip.time.next(now).ok_or(LogError::TooLarge {
                    what: "time of the newest event",
                    len: usize::MAX,
                    max: usize::MAX,
                })?,
                None => Time::from_ms(now),
            };
            let imported = imported_count(event)?;
            let mut salt = [0; SALT_LEN];
            self.env.fill_random(&mut salt);
            body.clear();
            body.extend_from_slice(&salt);
            body.extend_from_slice(&event.payload);
            let fields = HeadFields {
                origin: self.store.origin,
                seq: Seq(own.map_or(1, |tip| tip.seq.0 + 1)),
                prev: own.map_or(EventId::ZERO, |tip| tip.event),
                time,
                position: Position(self.tip.map_or(1, |tip| tip.position.0 + 1) + imported),
                kind: event.kind,
                kind_version: event.kind.info().map_or(1, |row| row.version),
                batch_index: index,
                batch_count: count,
                subject: event.subject,
                command: batch.command,
                actor,
                commitment: hash::commitment(&body),
                session: batch.session,
                request: if index == 0 {
                    batch.request
                } else {
                    RequestKey::ZERO
                },
                refs: &event.refs,
                facts: &event.facts,
            };
            head.clear();
            fields.encode(&mut head);
            let tip = Tip {
                origin: fields.origin,
                seq: fields.seq,
                event: hash::event_id(&head),
                position: fields.position,
                time: fields.time,
            };
            let first = self
                .last
                .map_or((tip.seq, tip.event), |(_, _, first)| first);
            self.last = Some((tip, self.bytes.len(), first));
            self.tip = Some(tip);
            record::encode(
                &mut self.bytes,
                self.synced,
                &head,
                Some((&salt, &event.payload)),
            );
            self.appended.push(Appended {
                event: tip.event,
                position: tip.position,
                time: tip.time,
            });
        }
        let len = self.bytes.len() - start;
        if len > BATCH_LEN_MAX {
            return Err(LogError::TooLarge {
                what: "length of a batch",
                len,
                max: BATCH_LEN_MAX,
            });
        }
        Ok(())
    }
}

impl Log {
    /// Writes encoded records after the tip, or into a new segment.
    fn write(
        &self,
        state: &mut State,
        bytes: &[u8],
        tip: Tip,
        last_offset: usize,
        first: (Seq, EventId),
    ) -> Result<()> {
        let place = state
            .tip
            .as_ref()
            .filter(|place| place.tip.origin == tip.origin);
        let goes_on = match place {
            Some(place) if place.end + bytes.len() as u64 <= SEGMENT_LEN_TARGET => {
                state.hold.file.is_some() || self.is_of_this_format(&place.segment.path)?
            }
            _ => false,
        };
        let (segment, offset) = match place {
            Some(place) if goes_on => {
                let (segment, offset) = (place.segment.clone(), place.end);
                self.write_after(state, &segment.path, bytes, offset)?;
                (segment, offset)
            }
            _ => {
                if let Some(place) = place {
                    let path = place.segment.path.clone();
                    let end = place.end;
                    let file = self.open_segment(state, &path, end)?;
                    zero_tail::cut(&*file, end).map_err(at("truncating", &path))?;
                    if let Err(why) = self.sync_segment(&*file) {
                        state.hold.poisoned = Some(Arc::clone(&why));
                        return Err(sync_failed(&path, &why));
                    }
                    state.hold.durable = state.tip.as_ref().map_or(Seq(0), |place| place.tip.seq);
                }
                let segment = self.create_segment(state, bytes, tip, first)?;
                (segment, HEADER_LEN as u64)
            }
        };
        let synced = state.hold.durable;
        state.tip = Some(TipPlace {
            tip,
            segment,
            offset: offset + last_offset as u64,
            end: offset + bytes.len() as u64,
            synced,
        });
        Ok(())
    }

    /// Whether this version may append to a segment: a newer one may let it read what it may not
    /// add to.
    fn is_of_this_format(&self, path: &std::path::Path) -> Result<bool> {
        let file = self
            .disk
            .open(path, OpenMode::Read)
            .map_err(at("reading", path))?;
        let mut bytes = [0; HEADER_LEN];
        let read = file.read_at(&mut bytes, 0).map_err(at("reading", path))?;
        Ok(SegmentHeader::parse(&bytes[..read]).is_ok_and(|header| header.format <= FORMAT))
    }

    /// Opens the segment that holds the tip. What was found there and is not known durable is
    /// written again, so that a sync that failed elsewhere cannot have lost it unseen.
    pub(crate) fn open_segment(
        &self,
        state: &mut State,
        path: &std::path::Path,
        end: u64,
    ) -> Result<Arc<dyn DiskFile>> {
        if let Some(file) = &state.hold.file {
            return Ok(Arc::clone(file));
        }
        let file = self
            .disk
            .open(path, OpenMode::Write)
            .map_err(at("opening", path))?;
        let unsure = state
            .tip
            .as_ref()
            .filter(|place| place.tip.seq > state.hold.durable);
        if let Some(place) = unsure {
            let from = match &state.slot {
                Some(slot)
                    if slot.origin == place.tip.origin
                        && slot.segment == place.segment.name.first_seq
                        && (HEADER_LEN as u64..end).contains(&slot.offset) =>
                {
                    slot.offset
                }
                _ => 0,
            };
            let mut bytes = vec![0; (end - from) as usize];
            let read = file
                .read_at(&mut bytes, from)
                .map_err(at("reading", path))?;
            file.write_at(&bytes[..read], from)
                .map_err(at("writing", path))?;
            let first_seq = place.segment.name.first_seq;
            if state.hold.durable < first_seq {
                // Whoever made the segment may not have come as far as its name.
                let dir = chain::dir_of(&self.dir, place.tip.origin);
                self.sync_names(&dir, first_seq)
                    .map_err(at("syncing", &dir))?;
            }
        }
        state.hold.file = Some(Arc::clone(&file));
        Ok(file)
    }

    fn gate(&self) -> MutexGuard<'_, Option<Arc<str>>> {
        self.sync_gate
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Syncs a segment, unless a sync has failed since the log was last read anew.
    pub(crate) fn sync_segment(&self, file: &dyn DiskFile) -> std::result::Result<(), Arc<str>> {
        let mut gate = self.gate();
        if let Some(why) = &*gate {
            return Err(Arc::clone(why));
        }
        file.sync().map_err(|error| {
            let why: Arc<str> = error.to_string().into();
            *gate = Some(Arc::clone(&why));
            why
        })
    }

    fn write_after(
        &self,
        state: &mut State,
        path: &std::path::Path,
        bytes: &[u8],
        offset: u64,
    ) -> Result<()> {
        let file = self.open_segment(state, path, offset)?;
        zero_tail::cut(&*file, offset).map_err(at("truncating", path))?;
        let Err(error) = file.write_at(bytes, offset) else {
            return Ok(());
        };
        // Nothing of a failed append stays. If the cut fails, too, the next writer sets the tail aside.
        if file.truncate(offset).is_err() {
            state.hold.file = None;
        }
        Err(at("writing", path)(error))
    }

    fn create_segment(
        &self,
        state: &mut State,
        bytes: &[u8],
        tip: Tip,
        first: (Seq, EventId),
    ) -> Result<chain::SegmentFile> {
        let dir = chain::dir_of(&self.dir, tip.origin);
        self.disk
            .create_dir_all(&dir)
            .map_err(at("creating", &dir))?;
        let name = SegmentName::new(first.0, first.1);
        let path = dir.join(name.to_string());
        let file = self
            .disk
            .open(&path, OpenMode::CreateNew)
            .map_err(at("creating", &path))?;
        let mut contents = SegmentHeader::new(tip.origin, first.0).encode().to_vec();
        contents.extend_from_slice(bytes);
        let made = (|| {
            file.write_at(&contents, 0)?;
            file.sync()?;
            self.sync_names(&dir, first.0)
        })();
        if let Err(error) = made {
            // Not acknowledged; what cannot be removed is a torn creation for the next writer.
            let _ = self.disk.remove_file(&path);
            return Err(at("creating", &path)(error));
        }
        state.hold.file = Some(file);
        state.hold.durable = tip.seq;
        state.segments = None;
        Ok(chain::SegmentFile { name, path })
    }

    /// Makes the name of a segment durable, and those of the folders that it lies in.
    pub(crate) fn sync_names(&self, chain_dir: &std::path::Path, first_seq: Seq) -> io::Result<()> {
        self.disk.sync_dir(chain_dir)?;
        self.disk.sync_dir(&self.dir.join(chain::LOG_DIR))?;
        self.disk.sync_dir(&self.dir)?;
        match first_seq {
            Seq(1) => self.sync_above(),
            _ => Ok(()),
        }
    }

    /// Makes the folders above the store durable: somebody who made them may not have come that far.
    fn sync_above(&self) -> io::Result<()> {
        for above in self.dir.ancestors().skip(1) {
            let above = match above.as_os_str().is_empty() {
                true => std::path::Path::new("."),
                false => above,
            };
            match self.disk.sync_dir(above) {
                // A folder that cannot be opened or synced is not ours to make durable.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::PermissionDenied
                            | io::ErrorKind::NotFound
                            | io::ErrorKind::InvalidInput
                            | io::ErrorKind::Unsupported
                            | io::ErrorKind::ReadOnlyFilesystem
                    ) => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Writes a slot when something became durable since the last one.
    fn note_acked(&self, state: &mut State) {
        let Some(place) = state.tip.as_ref() else {
            return;
        };
        if state.hold.poisoned.is_some() || state.hold.durable < place.tip.seq {
            return;
        }
        if state.slot.is_some_and(|slot| slot.event == place.tip.event) {
            return;
        }
        let slot = Slot {
            generation: state.hold.acked_generation.wrapping_add(1),
            origin: place.tip.origin,
            seq: place.tip.seq,
            event: place.tip.event,
            segment: place.segment.name.first_seq,
            offset: place.offset,
        };
        let file = match &state.hold.acked {
            Some(file) => Ok(file.clone()),
            None => acked::open(&*self.disk, &self.dir),
        };
        // A slot that cannot be written costs nothing but a longer look at the next opening.
        if let Ok(file) = file
            && acked::write(&*file, &slot).is_ok()
        {
            state.hold.acked_generation = slot.generation;
            state.slot = Some(slot);
            state.hold.acked = Some(Arc::clone(&file));
        }
    }
}
