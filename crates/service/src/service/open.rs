//! Opening a store, and what a process sets before it uses the store.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use icm_log::Log;
use icm_log::disk::{Disk, RealDisk};
use icm_log::env::Env;
use jiff::tz::TimeZone;
use tokio::sync::Notify;

use super::{Embedding, OwnWay, Service, Settings, Snapshots, locked, store_folder};
use crate::peer::{NoPeer, Peer};
use crate::system::SystemEnv;
use icm_api::error::Result;
use icm_api::ids::NewIds;
use icm_guard::secrets::Policy;

/// How to open a store.
#[derive(Clone)]
pub struct OpenOptions {
    /// The store's folder; need not exist.
    pub dir: PathBuf,
    /// How long to wait for another writer.
    pub lock_wait: Duration,
    /// Never write anything.
    pub read_only: bool,
}

/// The ground that a service stands on; tests bring their own.
#[derive(Clone)]
pub struct Ground {
    /// The disk of the log.
    pub disk: Arc<dyn Disk>,
    /// Clock and randomness.
    pub env: Arc<dyn Env>,
    /// The user's time zone; asked for when a date has to be read.
    pub zone: fn() -> TimeZone,
}

impl Ground {
    /// This machine.
    pub fn system() -> Ground {
        Ground {
            disk: Arc::new(RealDisk),
            env: Arc::new(SystemEnv),
            zone: TimeZone::system,
        }
    }
}

impl Service {
    /// Opens a store on this machine. An absent folder is an empty store until the first write.
    pub fn open(options: OpenOptions) -> Result<Service> {
        Service::open_on(options, Ground::system())
    }

    /// Opens a store on the given ground.
    pub fn open_on(options: OpenOptions, ground: Ground) -> Result<Service> {
        let service = Service::unread(options, ground)?;
        service.log.refresh()?;
        Ok(service)
    }

    /// Opens a store on this machine, for one store, update or recall: as long as its owner answers, nothing is read.
    pub fn open_to_ask(options: OpenOptions) -> Result<Service> {
        Service::unread(options, Ground::system())
    }

    pub(crate) fn unread(options: OpenOptions, ground: Ground) -> Result<Service> {
        store_folder::check(&options.dir)?;
        let log = Log::unread(ground.disk.clone(), &options.dir);
        Ok(Service {
            options,
            ground,
            log,
            snapshots: Snapshots::default(),
            notices: Mutex::new(Vec::new()),
            pending_recalls: Mutex::new(Vec::new()),
            new_ids: NewIds::default(),
            graphless: Mutex::new(None),
            told: Mutex::new(None),
            settings: Settings::default(),
            embedding: Embedding::default(),
            wrote: AtomicBool::new(false),
            written: Notify::new(),
            wrote_wide: AtomicBool::new(false),
            wrote_undo: AtomicBool::new(false),
            begun: Mutex::new(Vec::new()),
            peer: Arc::new(NoPeer),
            own_way: Mutex::default(),
            terms: OnceLock::new(),
        })
    }

    /// Reads the log, if that was not done when it was opened.
    pub(crate) fn read_log(&self) -> Result<()> {
        match self.log.tip() {
            Some(_) => Ok(()),
            None => Ok(self.log.refresh()?),
        }
    }

    /// Lets the first write go into a folder that already holds files which are not icm's; else
    /// that is refused, so that a store is not strewn over somebody's folder by mistake.
    pub fn in_any_folder(mut self) -> Service {
        self.settings.any_folder = true;
        self
    }

    /// The treatment of secrets; unless it is said here they are refused.
    pub fn with_secrets(mut self, policy: Policy) -> Service {
        self.settings.secrets = policy;
        self
    }

    /// Which other process may answer; unless it is said here none is asked. A read-only service asks none either.
    #[must_use]
    pub fn asking(mut self, peer: Arc<dyn Peer>) -> Service {
        if !self.options.read_only {
            self.peer = peer;
        }
        self
    }

    /// Whether links have a say in recalls; unless it is said here they have.
    #[must_use]
    pub fn with_links(mut self, links: bool) -> Service {
        self.settings.links = links;
        self
    }

    /// From how many versions on [`Service::tend_graph`] makes a graph of their vectors; by default as many as make
    /// it worth its while.
    pub fn with_graph_rows_min(mut self, rows: u64) -> Service {
        self.settings.graph_rows_min = rows;
        self
    }

    /// Has the writes of this process done by a queue, as long as that does them.
    pub fn queue_own_writes(&self, way: OwnWay) {
        *locked(&self.own_way) = Some(way);
    }
}
