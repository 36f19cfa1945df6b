//! Carries the logs of icm between machines by way of a target that all of them reach: a folder that is synchronised,
//! on a network disk or on a stick.
//!
//! Each machine has one folder at the target, named by its origin, and writes nowhere else. The folder holds bundles
//! (as `icm log export` writes them) and an `index` of them. The index is replaced in one step, after its bundles are
//! there. So machines can write at the same time without conflicts, and a reader recognises an incomplete file. The
//! bytes are described in `schemas/sync.md`.
//!
//! [`sync`] first takes the events that others have and this store lacks. Then it adds the events that this store has
//! and the target lacks: its own, and those of machines whose files are gone.
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
//! This crate knows targets, indexes and bundles as files. It must never know what is in an event, the views or the
//! terminal.

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

/// The settings of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncOptions {
    /// Only count the events that would be received and sent.
    pub dry_run: bool,
    /// Write all files of this machine anew.
    pub anew: bool,
    /// Length in bytes at which a bundle ends, after the batch that reaches it. An interrupted transfer repeats one
    /// bundle at most.
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

/// The state that a sync depends on, cheap to read. After a sync that left nothing open, an equal `Glance` means that
/// there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    heads: Vec<String>,
    machines: Vec<Machine>,
}

/// The index of a machine, as a digest, and the names and lengths of its files at the target.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Machine {
    folder: String,
    index: blake3::Hash,
    files: Vec<(String, u64)>,
}

impl Glance {
    /// Reads the newest events of a store, and the indexes and file lengths of a target.
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

/// Takes from a target the events that this store lacks, and adds the events that the target lacks.
///
/// A damaged or incomplete file is left alone and listed in the answer; the other files are taken.
///
/// # Errors
/// The target or this store cannot be read or written. Events taken before the error stay.
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
    // Before the import there may have been no store, and so no lock.
    let _lock = match lock {
        None => take_lock()?,
        held => held,
    };
    publish::publish(service, target, indexes, options, &mut answer, progress)?;
    Ok(answer)
}
