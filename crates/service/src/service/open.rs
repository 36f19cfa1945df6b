//! Opening a store, and the settings of a process before it uses the store.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use icm_log::Log;
use icm_log::disk::{Disk, RealDisk};
use icm_log::env::Env;
use jiff::tz::TimeZone;
use tokio::sync::Notify;

use super::{Embedding, OwnQueue, Service, Settings, Snapshots, locked, store_folder};
use crate::peer::{NoPeer, Peer};
use crate::system::SystemEnv;
use icm_api::error::Result;
use icm_api::ids::NewIds;
use icm_guard::secrets::Policy;

/// The folder of a store and the manner of opening it.
#[derive(Clone)]
pub struct OpenOptions {
    /// The store's folder. It need not exist.
    pub dir: PathBuf,
    /// The longest wait for another writer.
    pub lock_wait: Duration,
    /// `true` if nothing may be written.
    pub read_only: bool,
}

/// The disk, clock, randomness and time zone of a service. Tests bring their own.
#[derive(Clone)]
pub struct Ground {
    /// The disk of the log.
    pub disk: Arc<dyn Disk>,
    /// The clock and randomness.
    pub env: Arc<dyn Env>,
    /// Returns the user's time zone. It is called when a date has to be read.
    pub zone: fn() -> TimeZone,
}

impl Ground {
    /// Returns the ground of this machine.
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

    /// Opens a store on this machine for one store, update or recall. Nothing is read as long as its owner answers.
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
            pending_expiries: Mutex::new(Vec::new()),
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
            own_queue: Mutex::default(),
            settings_digest: OnceLock::new(),
        })
    }

    /// Reads the log if opening the store did not.
    pub(crate) fn read_log(&self) -> Result<()> {
        match self.log.tip() {
            Some(_) => Ok(()),
            None => Ok(self.log.refresh()?),
        }
    }

    /// Lets the first write go into a folder that already holds files which are not icm's. By default such a write is
    /// refused, so that a store is not strewn over another folder by mistake.
    pub fn in_any_folder(mut self) -> Service {
        self.settings.any_folder = true;
        self
    }

    /// Sets the treatment of secrets. By default they are refused.
    pub fn with_secrets(mut self, policy: Policy) -> Service {
        self.settings.secrets = policy;
        self
    }

    /// Sets the process that may be asked to answer. By default, and in a read-only service, none is asked.
    #[must_use]
    pub fn asking(mut self, peer: Arc<dyn Peer>) -> Service {
        if !self.options.read_only {
            self.peer = peer;
        }
        self
    }

    /// Sets whether links have a say in recalls. By default they have.
    #[must_use]
    pub fn with_links(mut self, links: bool) -> Service {
        self.settings.links = links;
        self
    }

    /// Sets the number of row versions from which on [`Service::tend_graph`] makes a graph of their vectors. By default
    /// a graph is made as soon as it pays.
    pub fn with_graph_rows_min(mut self, rows: u64) -> Service {
        self.settings.graph_rows_min = rows;
        self
    }

    /// Hands the writes of this process to a queue, as long as the queue does them.
    pub fn queue_own_writes(&self, queue: OwnQueue) {
        *locked(&self.own_queue) = Some(queue);
    }
}
