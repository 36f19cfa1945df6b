//! The log of a store: opening, what it ends with, and who may write.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::acked;
use crate::cases::{Action, Case};
use crate::chain::{self, SegmentFile};
use crate::disk::{Disk, DiskFile, DiskLock, OpenMode, Stamp};
use crate::error::{LogError, Result, at};
use crate::facts::Continues;
use crate::holes::KnownHoles;
use crate::id::{OriginId, Seq};
use crate::recover::{self, Examined, Tip, TipPlace, Trouble};
use crate::repair::REPAIRING_FILE;
use crate::rewritten::Rewritten;
use crate::store_file::{STORE_FILE, StoreFile};
use crate::walk;
use crate::zero_tail;

/// Name of the lock file in the store's folder.
pub const LOCK_FILE: &str = "lock";
/// Folder for bytes that recovery sets aside.
pub const TORN_DIR: &str = "torn";

/// The log of one store. Shared by threads; other processes may write beside it.
pub struct Log {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    /// Held while a segment is synced. An operating system tells of a failed write once, to whoever
    /// syncs first: that one leaves word here, so that nobody takes the next sync for a good one.
    pub(crate) sync_gate: Mutex<Option<Arc<str>>>,
    /// What repairs have explained; read when a gap is met.
    pub(crate) holes: Mutex<KnownHoles>,
    pub(crate) own_branches: walk::OwnBranches,
    /// It is walked as another machine does, and never written.
    pub(crate) known_by: Option<KnownBy>,
}

/// Another machine, as far as can be told here what it knew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownBy {
    /// The chain that it writes.
    pub origin: OriginId,
    /// The last event that it is known to have had, where what came next is not known.
    pub until: Option<(Tip, Unknown)>,
}

/// Why what another machine did next is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// It learned what is not held here.
    NotHeld,
    /// Its chain branches: a copy of it, or it before it was put back, wrote under the same origin.
    Branches,
}

/// What this process knows of the log.
pub(crate) struct State {
    pub(crate) store: Option<StoreFile>,
    /// The bytes that `store` was read of: the same bytes need not be read again.
    pub(crate) store_bytes: Vec<u8>,
    /// The secret of a `store.toml` that can be read, and is older than the log.
    pub(crate) older_secret: Option<[u8; 32]>,
    /// The chains that are walked, oldest first; the last is this machine's own.
    pub(crate) parts: Vec<walk::Part>,
    /// Newest event of the walk.
    pub(crate) tip: Option<TipPlace>,
    /// Why writes are refused, if they are.
    pub(crate) refusal: Option<Refusal>,
    /// What a writer would have to set aside first.
    pub(crate) trouble: Option<Trouble>,
    /// The newest slot.
    pub(crate) slot: Option<acked::Slot>,
    pub(crate) hold: Hold,
    pub(crate) notices: Vec<String>,
    /// The segments of the tip's chain.
    pub(crate) segments: Option<Arc<[SegmentFile]>>,
    /// How the files looked when they were last read; `None` when they have to be read again.
    pub(crate) looks: Option<Looks>,
    /// What the mark of files that were written anew said, before they were read.
    pub(crate) rewritten: Rewritten,
}

/// How the files look that say whether anybody changed the log since it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Looks {
    store: Stamp,
    chain: Stamp,
    segment: Stamp,
    /// The segment.
    path: PathBuf,
}

/// The lock, while it is held, and the sync that its holders share.
#[derive(Default)]
pub(crate) struct Hold {
    pub(crate) lock: Option<Box<dyn DiskLock>>,
    pub(crate) holders: usize,
    /// A thread decides and appends; others wait for it, but not for its sync.
    pub(crate) turn: bool,
    pub(crate) since: Option<std::time::Instant>,
    pub(crate) file: Option<Arc<dyn DiskFile>>,
    pub(crate) acked: Option<Arc<dyn DiskFile>>,
    pub(crate) acked_generation: u64,
    /// Newest seq of the own chain known durable.
    pub(crate) durable: Seq,
    /// Something was appended since the lock was taken.
    pub(crate) appended: bool,
    /// How the files looked before that.
    pub(crate) looked: Option<Looks>,
    /// Threads that wait for `changed`.
    pub(crate) waiting: usize,
    /// An append failed since then: what it left has to be looked at.
    pub(crate) failed: bool,
    /// A sync is going on.
    pub(crate) syncing: bool,
    /// A sync failed; nothing is appended until the state was read anew.
    pub(crate) poisoned: Option<Arc<str>>,
    pub(crate) epoch: u64,
}

/// Why writes are refused; reads of what is whole go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Damage.
    Damaged {
        /// Row of the case table.
        case: Case,
        /// File, relative to the store.
        file: PathBuf,
        /// First event that cannot be trusted.
        seq: Seq,
        /// Where in the file.
        offset_bytes: u64,
        /// What is wrong.
        what: String,
    },
    /// Written by a newer version.
    Newer {
        /// What is too new.
        what: String,
    },
    /// `store.toml` is missing or unreadable while there is a log.
    NoStoreFile {
        /// What is wrong with it.
        why: String,
    },
    /// A repair was begun and is not finished.
    Repairing,
}

impl Refusal {
    /// The refusal as the error of a write.
    pub fn to_error(&self, dir: &Path) -> LogError {
        match self.clone() {
            Refusal::Damaged {
                case,
                file,
                seq,
                offset_bytes,
                what,
            } => LogError::Damaged {
                case,
                file,
                seq,
                offset_bytes,
                what,
            },
            Refusal::Newer { what } => LogError::NewerFormat { what },
            Refusal::NoStoreFile { why } => LogError::NotWritable {
                path: dir.to_owned(),
                why,
            },
            Refusal::Repairing => LogError::NotWritable {
                path: dir.to_owned(),
                why: "a repair was begun and is not finished: `icm log repair` goes on with it"
                    .to_owned(),
            },
        }
    }
}

impl Log {
    /// Opens the log of the store in `dir`, which may be absent or empty: then there is nothing to
    /// read, and the first write makes it a store. Changes no byte.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Log> {
        let log = Log::unread(disk, dir);
        log.refresh()?;
        Ok(log)
    }

    /// The same, but nothing is read before the first [`Log::refresh`]: until then it is as if there were nothing.
    pub fn unread(disk: Arc<dyn Disk>, dir: &Path) -> Log {
        Log {
            disk,
            dir: dir.to_owned(),
            state: Mutex::new(State {
                store: None,
                store_bytes: Vec::new(),
                older_secret: None,
                parts: Vec::new(),
                tip: None,
                refusal: None,
                trouble: None,
                slot: None,
                hold: Hold::default(),
                notices: Vec::new(),
                segments: None,
                looks: None,
                rewritten: Rewritten::default(),
            }),
            changed: Condvar::new(),
            sync_gate: Mutex::new(None),
            holes: Mutex::new(KnownHoles::default()),
            own_branches: walk::OwnBranches::default(),
            known_by: None,
        }
    }

    /// The same log as the machine that writes another chain knows it: in its order of learning, as far as that chain is
    /// held here, and what it learned. It cannot be written.
    ///
    /// # Errors
    /// What [`Log::open`] fails with.
    pub fn as_known_by(&self, origin: OriginId) -> Result<Log> {
        let as_far_as = |until| {
            let log = Log {
                known_by: Some(KnownBy { origin, until }),
                ..Log::unread(Arc::clone(&self.disk), &self.dir)
            };
            log.refresh()?;
            Ok(log)
        };
        let branches = walk::before_branches(&*self.disk, &self.dir, origin)?;
        let log = as_far_as(branches.map(|tip| (tip, Unknown::Branches)))?;
        match log.before_what_is_not_held()? {
            None => Ok(log),
            Some(tip) => as_far_as(Some((tip, Unknown::NotHeld))),
        }
    }

    /// The machine that it is walked as, where that is another one.
    pub fn known_by(&self) -> Option<KnownBy> {
        self.known_by
    }

    /// Waits for a change that another thread tells of, up to `most`.
    pub(crate) fn wait<'s>(
        &self,
        mut state: MutexGuard<'s, State>,
        most: Duration,
    ) -> MutexGuard<'s, State> {
        state.hold.waiting += 1;
        let (mut state, _) = self
            .changed
            .wait_timeout(state, most)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        state.hold.waiting -= 1;
        state
    }

    /// Tells the threads that wait, if any do.
    pub(crate) fn tell(&self, state: &State) {
        if state.hold.waiting > 0 {
            self.changed.notify_all();
        }
    }

    pub(crate) fn lock_state(&self) -> MutexGuard<'_, State> {
        // A panic while the state is held is a bug of ours; the state is read anew by each use.
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The store's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Sees what other processes appended. Cheap when there is nothing new.
    pub fn refresh(&self) -> Result<()> {
        let mut state = self.lock_state();
        if state.hold.lock.is_some() && state.hold.poisoned.is_none() {
            return Ok(()); // nobody else can have appended
        }
        self.refresh_state(&mut state).map(|_| ())
    }

    /// Newest event of a whole batch, as of the last refresh; `None` while there is none.
    pub fn tip(&self) -> Option<Tip> {
        self.lock_state().tip.as_ref().map(|place| place.tip)
    }

    /// Why writes are refused, if they are, as of the last refresh.
    pub fn refusal(&self) -> Option<Refusal> {
        self.lock_state().refusal.clone()
    }

    /// This machine's origin, once it has one.
    pub fn origin(&self) -> Option<OriginId> {
        self.lock_state().store.as_ref().map(|store| store.origin)
    }

    /// The chains that were written here, each carrying on from the one before; the last one is written now.
    pub fn own_chains(&self) -> Vec<OriginId> {
        let state = self.lock_state();
        state.parts.iter().map(|part| part.origin).collect()
    }

    /// The secret for keyed hashes, once there is one.
    pub fn secret(&self) -> Option<[u8; 32]> {
        self.lock_state().store.as_ref().map(|store| store.secret)
    }

    /// What recovery did since the last call, for the user, a line each.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.lock_state().notices)
    }

    /// Reads what has changed; false when nothing has.
    pub(crate) fn refresh_state(&self, state: &mut State) -> Result<bool> {
        // Taken before the files are read, so that a change meanwhile shows the next time.
        self.look_whether_rewritten(state)?;
        let looks = self.looks(state);
        if looks.is_some() && looks == state.looks {
            return Ok(false);
        }
        self.check_that_it_is_there(state)?;
        let before = state.looks.take();
        let tip = state.tip.clone();
        state.hold.acked = None;
        self.read_state(state)?;
        let place = |tip: &Option<TipPlace>| {
            let place = tip.as_ref()?;
            Some((place.segment.clone(), place.tip.event, place.end))
        };
        let segment = |tip: &Option<TipPlace>| tip.as_ref().map(|place| place.segment.clone());
        let unmoved = place(&state.tip) == place(&tip);
        let same_file = before.is_some_and(|before| {
            let of = |looks: &Looks| (looks.segment.identity, looks.chain);
            looks.as_ref().map(of) == Some(of(&before))
        });
        if !(unmoved && same_file) {
            // This process does not vouch for what others appended: whoever syncs the segment next
            // opens it anew and writes again what is not known durable.
            state.hold.file = None;
        }
        if segment(&state.tip) == segment(&tip)
            && state.trouble.is_none()
            && state.refusal.is_none()
        {
            state.looks = looks;
        }
        Ok(true)
    }

    /// A store that was read and is gone was moved or removed: nothing is to be written in its place.
    pub(crate) fn check_that_it_is_there(&self, state: &State) -> Result<()> {
        if state.store.is_none() || state.tip.is_none() {
            return Ok(());
        }
        let is_there = |name: &str| matches!(self.disk.stamp(&self.dir.join(name)), Ok(Some(_)));
        match is_there(STORE_FILE) || is_there(chain::LOG_DIR) {
            true => Ok(()),
            false => Err(LogError::Io {
                doing: "reading",
                path: self.dir.clone(),
                source: std::io::Error::new(
                    std::io::ErrorKind::NotFound,
                    "the store was moved or removed while it was open; start again with its new place",
                ),
            }),
        }
    }

    /// How the files look now; `None` where that tells nothing: there is no own event yet, or a
    /// change is so young that another one may look the same.
    pub(crate) fn looks(&self, state: &State) -> Option<Looks> {
        let own = state.store.as_ref()?.origin;
        let place = state.tip.as_ref().filter(|place| place.tip.origin == own)?;
        let stamp = |path: &Path| self.disk.stamp(path).ok().flatten();
        let (chain, settled) = stamp(&chain::dir_of(&self.dir, own))?;
        // A new segment changes the folder's time, an append the segment's length. Slots are only hints.
        Some(Looks {
            store: stamp(&self.dir.join(STORE_FILE))?.0,
            chain,
            segment: self.look_at_segment(state, place)?,
            path: place.segment.path.clone(),
        })
        .filter(|_| settled)
    }

    /// Returns the stamp of the tip's segment; `None` if something follows the tip.
    fn look_at_segment(&self, state: &State, place: &TipPlace) -> Option<Stamp> {
        let path = &place.segment.path;
        let open = state.hold.file.as_ref();
        let stamp = match open {
            Some(file) => file.stamp().ok()?,
            None => self.disk.stamp(path).ok()??.0,
        };
        if stamp.len > place.end {
            let file = match open {
                Some(file) => Arc::clone(file),
                None => self.disk.open(path, OpenMode::Read).ok()?,
            };
            zero_tail::starts_at(&*file, place.end).then_some(())?;
        }
        Some(stamp)
    }

    /// How the files look after this process wrote to the log: nobody else can have.
    pub(crate) fn looks_after_writing(
        &self,
        state: &State,
        before: Option<Looks>,
    ) -> Option<Looks> {
        let place = state.tip.as_ref()?;
        let same = |looks: &Looks| state.segments.is_some() && looks.path == place.segment.path;
        let Some(before) = before.filter(same) else {
            return self.looks(state);
        };
        Some(Looks {
            segment: self.look_at_segment(state, place)?,
            ..before
        })
    }

    fn read_state(&self, state: &mut State) -> Result<()> {
        if let Some(known_by) = self.known_by {
            return self.read_as_known_by(known_by, state);
        }
        let loaded = StoreFile::load(&*self.disk, &self.dir).and_then(|bytes| match bytes {
            None => Ok(None),
            Some(bytes) if bytes == state.store_bytes => Ok(state.store.clone()),
            Some(bytes) => {
                let store = StoreFile::read(&bytes, &self.dir)?;
                state.store_bytes = bytes;
                Ok(Some(store))
            }
        });
        let store = match loaded {
            Ok(store) => store,
            Err(LogError::NewerFormat { what }) => {
                state.refusal = Some(Refusal::Newer { what });
                return self.read_without_store(state);
            }
            Err(LogError::NotAStore { why, .. }) => {
                let why = format!("its store.toml cannot be read ({why})");
                state.refusal = Some(Refusal::NoStoreFile { why });
                return self.read_without_store(state);
            }
            Err(LogError::Io { source, .. }) if source.kind() == io::ErrorKind::NotADirectory => {
                return Err(LogError::NotAStore {
                    path: self.dir.clone(),
                    why: "not a folder".into(),
                });
            }
            Err(error) => return Err(error),
        };
        let Some(store) = store else {
            if chain::origins(&*self.disk, &self.dir)?.is_empty() {
                state.store = None;
                state.store_bytes.clear();
                state.parts.clear();
                state.tip = None;
                state.slot = None;
                state.trouble = None;
                state.refusal = None;
                return Ok(());
            }
            state.refusal = Some(Refusal::NoStoreFile {
                why: "its store.toml is missing".into(),
            });
            return self.read_without_store(state);
        };
        if state.store.as_ref() != Some(&store) || state.parts.is_empty() {
            state.parts = walk::parts(&*self.disk, &self.dir, store.origin, Some(&store))?;
            state.tip = None;
        }
        if self.is_older_than_the_log(&state.parts)? {
            let why = "its store.toml is older than the log".into();
            state.refusal = Some(Refusal::NoStoreFile { why });
            state.older_secret = Some(store.secret);
            return self.read_without_store(state);
        }
        state.refusal = None;
        state.store = Some(store);
        self.examine_own(state)?;
        if state.refusal.is_none() && self.repair_pending() {
            state.refusal = Some(Refusal::Repairing);
        }
        Ok(())
    }

    fn read_as_known_by(
        &self,
        KnownBy { origin, until }: KnownBy,
        state: &mut State,
    ) -> Result<()> {
        let (disk, dir) = (&*self.disk, &self.dir);
        state.refusal = None;
        state.parts = walk::parts(disk, dir, origin, None)?;
        if let Some((until, _)) = until {
            let place = (state.parts.iter()).position(|part| part.origin == until.origin);
            state
                .parts
                .truncate(place.map_or(usize::MAX, |place| place + 1));
            if let Some(last) = state.parts.last_mut() {
                (last.until, last.event) = (Some(until.seq), until.event);
            }
        }
        self.examine_own(state)
    }

    /// Whether what was acknowledged is of a chain that carries on from the end of this one: somebody
    /// put back a `store.toml` from before.
    fn is_older_than_the_log(&self, parts: &[walk::Part]) -> Result<bool> {
        let (disk, dir) = (&*self.disk, &self.dir);
        let Some(own) = parts.last() else {
            return Ok(false);
        };
        let Some(slot) = acked::read(disk, dir)? else {
            return Ok(false);
        };
        if parts.iter().any(|part| part.origin == slot.origin) {
            return Ok(false);
        }
        let newer = walk::parts(disk, dir, slot.origin, None)?;
        let mut newer = newer.iter().filter(|part| part.origin == own.origin);
        let Some(until) = newer.find_map(|part| part.until) else {
            return Ok(false);
        };
        let beyond = Seq(until.0.saturating_add(1));
        Ok(walk::find_seq(disk, dir, own.origin, beyond, None)?.is_none())
    }

    /// Whether a repair was begun and is not known to be finished.
    pub fn repair_pending(&self) -> bool {
        let path = self.dir.join(REPAIRING_FILE);
        matches!(self.disk.stamp(&path), Ok(Some(_)))
    }

    /// Without a readable `store.toml` the chain that was last acknowledged is read, else the one
    /// that no other one continues.
    fn read_without_store(&self, state: &mut State) -> Result<()> {
        state.store = None;
        state.store_bytes.clear();
        let slot = acked::read(&*self.disk, &self.dir)?;
        let origin = match slot {
            Some(slot) => Some(slot.origin),
            None => walk::newest_origin(&*self.disk, &self.dir)?,
        };
        let Some(origin) = origin else {
            (state.tip, state.slot, state.trouble) = (None, None, None);
            state.parts.clear();
            return Ok(());
        };
        if state.parts.last().is_none_or(|part| part.origin != origin) {
            state.tip = None;
        }
        state.parts = walk::parts(&*self.disk, &self.dir, origin, None)?;
        let refusal = state.refusal.take();
        self.examine_own(state)?;
        state.refusal = refusal;
        Ok(())
    }

    fn examine_own(&self, state: &mut State) -> Result<()> {
        let slot = acked::read(&*self.disk, &self.dir)?;
        state.trouble = None;
        state.slot = slot;
        state.segments = None;
        for index in (0..state.parts.len()).rev() {
            let part = state.parts[index];
            let known = state
                .tip
                .as_ref()
                .filter(|place| place.tip.origin == part.origin);
            let holes = self.explainer(origins_of(&state.parts), None);
            let mut examined = recover::examine(&holes, part.origin, slot.as_ref(), known)?;
            if let (Some(slot), Some(place)) = (&mut state.slot, examined.slot_place) {
                (slot.segment, slot.offset) = place;
            }
            if let Some(until) = part.until {
                // An older chain of ours is read up to where the next one carries on, or as far as
                // it is there when a repair has said that the rest is gone.
                let last = examined.tip.take();
                let (disk, dir) = (&*self.disk, &self.dir);
                let event = Some(part.event);
                examined.tip = walk::find_seq(disk, dir, part.origin, until, event)?
                    .filter(|place| place.tip.event == part.event);
                examined.segments = self.own_segments(part, examined.segments)?;
                if examined.tip.is_none() && holes.holes()?.covering(part.origin, until).is_some() {
                    examined.tip = last.filter(|place| place.tip.seq < until);
                    if examined.tip.is_none() {
                        continue;
                    }
                }
                examined.trouble = examined.tip.is_none().then(|| Trouble {
                    case: Case::M,
                    file: chain::relative(&self.dir, &chain::dir_of(&self.dir, part.origin)),
                    cut: 0,
                    seq: until,
                    what: format!("event {until}, which this origin continues, is not there"),
                });
            }
            self.judge(state, &examined);
            if examined.tip.is_some() || state.refusal.is_some() {
                state.segments = Some(examined.segments.into());
                state.tip = examined.tip;
                return Ok(());
            }
        }
        state.tip = None;
        Ok(())
    }

    fn judge(&self, state: &mut State, examined: &Examined) {
        let Some(trouble) = &examined.trouble else {
            return;
        };
        match trouble.case.action() {
            Action::SetAside => state.trouble = Some(trouble.clone()),
            Action::RefuseNewer => {
                state.refusal = Some(Refusal::Newer {
                    what: trouble.what.clone(),
                });
            }
            Action::Refuse => {
                state.refusal = Some(Refusal::Damaged {
                    case: trouble.case,
                    file: trouble.file.clone(),
                    seq: trouble.seq,
                    offset_bytes: trouble.cut,
                    what: trouble.what.clone(),
                });
            }
            Action::Open | Action::Withhold | Action::Notice | Action::Keep | Action::Refill => {}
        }
    }

    /// The newest event of every chain under the store, own and foreign, as far as whole batches
    /// reach and, for the chain that is written here, as far as it is known to be durable; sorted by
    /// origin.
    pub fn heads(&self) -> Result<Vec<Tip>> {
        let mut heads = Vec::new();
        for origin in chain::origins(&*self.disk, &self.dir)? {
            let slot = acked::read(&*self.disk, &self.dir)?.filter(|slot| slot.origin == origin);
            let examined = self.examined(origin, slot.as_ref())?;
            let Some(mut place) = examined.tip else {
                continue;
            };
            if self.origin() == Some(origin) {
                let held = self.lock_state().hold.durable;
                let slot = slot.map_or(Seq(0), |slot| slot.seq);
                let durable = slot.max(place.synced).max(held);
                if place.tip.seq > durable {
                    match walk::find_seq(&*self.disk, &self.dir, origin, durable, None)? {
                        Some(earlier) => place = earlier,
                        None if durable == Seq(0) => continue,
                        None => {
                            return Err(LogError::Damaged {
                                case: Case::M,
                                file: chain::relative(&self.dir, &chain::dir_of(&self.dir, origin)),
                                seq: durable,
                                offset_bytes: 0,
                                what: format!("the acknowledged event {durable} cannot be reached"),
                            });
                        }
                    }
                }
            }
            heads.push(place.tip);
        }
        Ok(heads)
    }

    /// The end of a chain, own or foreign.
    pub(crate) fn examined(
        &self,
        origin: OriginId,
        slot: Option<&acked::Slot>,
    ) -> Result<Examined> {
        let (own, tip) = {
            let state = self.lock_state();
            let tip = state.tip.as_ref().map(|place| place.tip.event);
            (origins_of(&state.parts), tip)
        };
        recover::examine(&self.explainer(own, tip), origin, slot, None)
    }

    /// How a chain is walked, if it is.
    pub(crate) fn part(&self, origin: OriginId) -> Option<walk::Part> {
        let state = self.lock_state();
        state
            .parts
            .iter()
            .find(|part| part.origin == origin)
            .copied()
    }

    /// Of all segments of a walked chain those of this machine's branch.
    pub(crate) fn own_segments(
        &self,
        part: walk::Part,
        all: Vec<SegmentFile>,
    ) -> Result<Vec<SegmentFile>> {
        (self.own_branches).among(&*self.disk, &self.dir, part, all)
    }

    /// Whether an event is at a place of a chain.
    pub fn has_event(&self, origin: OriginId, seq: Seq, event: crate::EventId) -> Result<bool> {
        let place = walk::find_seq(&*self.disk, &self.dir, origin, seq, Some(event))?;
        Ok(place.is_some_and(|place| place.tip.event == event))
    }

    /// Bytes of all segments.
    pub fn len_bytes(&self) -> Result<u64> {
        let mut sum = 0;
        for origin in chain::origins(&*self.disk, &self.dir)? {
            for segment in chain::segments(&*self.disk, &self.dir, origin)? {
                let file = self
                    .disk
                    .open(&segment.path, crate::disk::OpenMode::Read)
                    .map_err(at("reading", &segment.path))?;
                sum += file.len().map_err(at("reading", &segment.path))?;
            }
        }
        Ok(sum)
    }

    pub(crate) fn continues(state: &State) -> Option<Continues> {
        state.tip.as_ref().map(|place| Continues {
            origin: place.tip.origin,
            seq: place.tip.seq,
            event: place.tip.event,
        })
    }
}

pub(crate) fn origins_of(parts: &[walk::Part]) -> Vec<OriginId> {
    parts.iter().map(|part| part.origin).collect()
}
