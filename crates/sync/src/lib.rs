//! Carries the logs of icm between machines by way of a place that all of them reach: a folder that is
//! synchronised, on a network disk or on a stick.
//!
//! Below the target each machine has a folder of its own, named by its origin, and puts files nowhere else: bundles
//! (what `icm log export` writes), and an `index` of them, which is replaced in one step when they are there. So
//! nothing conflicts, whoever writes when, and whatever reads a half of it sees that it is one. The bytes are in
//! `schemas/sync.md`.
//!
//! [`sync`] first takes what others have and this store lacks, then adds what this store has and nobody there: own
//! events, and those of machines whose files went.
//!
//! ```no_run
//! use icm_api::{Caller, NoProgress};
//! use icm_sync::{Folder, SyncOptions, sync};
//! # fn example(service: &icm_service::Service) -> icm_api::error::Result<()> {
//! let target = Folder::open("/home/me/Sync/icm".as_ref(), service.dir())?;
//! let answer = sync(service, &Caller::default(), &target, SyncOptions::default(), &NoProgress)?;
//! println!("{} events came", answer.received.events);
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows targets, indexes and bundles as files. It must never know what is in an event, the views or
//! the terminal.

// A test that meets `None` has failed, and the line number says where.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answer;
mod export;
mod folder;
mod index;
mod lock;
mod peer;
mod publish;
mod pull;
mod refused;
mod ssh;
mod target;

use icm_api::error::Result;
use icm_api::{Caller, Progress};
use icm_service::Service;

use export::BUNDLE_LEN;

pub use answer::{Sent, SyncAnswer, Taken};
pub use folder::Folder;
pub use peer::{Peer, meet, serve};
pub use refused::{Reason, Refused};
pub use ssh::{Address, Connection};
pub use target::Target;

/// How to go about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncOptions {
    /// Only say what would come and go.
    pub dry_run: bool,
    /// Write the files of this machine anew, all of them.
    pub anew: bool,
    /// A bundle ends with the batch that reaches this length, in bytes: what is cut on its way is no more than one.
    pub bundle_len: u64,
}

impl Default for SyncOptions {
    fn default() -> SyncOptions {
        SyncOptions {
            dry_run: false,
            anew: false,
            bundle_len: BUNDLE_LEN,
        }
    }
}

/// What a sync hangs on, at a glance: as long as it is the same, one that left nothing open has nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    heads: Vec<String>,
    machines: Vec<Machine>,
}

/// What one machine has there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Machine {
    folder: String,
    index: blake3::Hash,
    files: Vec<(String, u64)>,
}

impl Glance {
    /// Looks at the newest events of a store, and at the indexes of a target.
    ///
    /// # Errors
    /// As [`sync`].
    pub fn at(service: &Service, target: &dyn Target) -> Result<Glance> {
        let heads = service.heads()?.into_iter();
        let mut machines = Vec::new();
        for folder in target.folders()? {
            if let Ok(Some(text)) = pull::index_text(target, &folder) {
                let files = target.files(&folder)?;
                machines.push(Machine {
                    index: blake3::hash(&text),
                    folder,
                    files,
                });
            }
        }
        Ok(Glance {
            heads: heads.map(|head| head.head).collect(),
            machines,
        })
    }
}

/// Takes from a target what this store lacks, and adds what the target lacks.
///
/// Files that are damaged or not whole yet are left alone and told of in the answer; the rest is taken.
///
/// # Errors
/// Where the target cannot be read or written, or this store; what was taken until then stays.
pub fn sync(
    service: &Service,
    caller: &Caller,
    target: &dyn Target,
    options: SyncOptions,
    progress: &dyn Progress,
) -> Result<SyncAnswer> {
    let take_lock = || match options.dry_run {
        true => Ok(None),
        false => lock::of(service),
    };
    let lock = take_lock()?;
    let mut answer = SyncAnswer {
        target: target.name(),
        dry_run: options.dry_run,
        ..SyncAnswer::default()
    };
    let indexes = pull::indexes(target, &mut answer)?;
    answer.machines = indexes.len() as u64;
    pull::pull(service, caller, target, &indexes, &mut answer, progress)?;
    // What came may have made the store.
    let _lock = match lock {
        None => take_lock()?,
        held => held,
    };
    publish::publish(service, target, indexes, options, &mut answer, progress)?;
    Ok(answer)
}
