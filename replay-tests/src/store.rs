//! Opens stores for tests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use icm_api::error::Result;
use icm_api::{DecayPolicy, Dedup, OnSimilar};
use icm_log::disk::{Disk, RealDisk};
use icm_service::{Ground, OpenOptions, Service};
use jiff::tz::TimeZone;

use crate::env::SimEnv;

/// Opens the store in `dir` with the environment `env`.
///
/// # Errors
/// As [`Service::open_on`].
pub fn open(dir: &Path, env: Arc<SimEnv>) -> Result<Service> {
    open_on(dir, env, Arc::new(RealDisk), false)
}

/// Opens a store with its log on another disk, or read-only.
///
/// # Errors
/// As [`Service::open_on`].
pub fn open_on(
    dir: &Path,
    env: Arc<SimEnv>,
    disk: Arc<dyn Disk>,
    read_only: bool,
) -> Result<Service> {
    let options = OpenOptions {
        dir: dir.to_owned(),
        lock_wait: Duration::from_secs(5),
        read_only,
    };
    let ground = Ground {
        disk,
        env,
        zone: || TimeZone::UTC,
    };
    // Near duplicates are stored as they are, unless a test asks for something else.
    let off = Dedup {
        on_similar: OnSimilar::Off,
        ..Dedup::default()
    };
    // No ticks are written unless a test asks for them.
    let by_hand = DecayPolicy {
        auto: false,
        ..DecayPolicy::default()
    };
    let service = Service::open_on(options, ground)?;
    Ok(service.with_dedup(off).with_decay(by_hand))
}

/// Opens the store in `dir` with the clock and randomness of this machine.
///
/// # Errors
/// As [`Service::open`].
pub fn open_here(dir: &Path) -> Result<Service> {
    let options = OpenOptions {
        dir: dir.to_owned(),
        lock_wait: Duration::from_secs(60),
        read_only: false,
    };
    let off = Dedup {
        on_similar: OnSimilar::Off,
        ..Dedup::default()
    };
    Ok(Service::open(options)?.with_dedup(off))
}
