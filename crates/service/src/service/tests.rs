//! A store for tests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use icm_log::env::Env;

use super::{Ground, OpenOptions, Service};
use crate::system::SystemEnv;
use icm_api::{Caller, Receipt, StoreRequest};

pub(crate) fn service(dir: &Path) -> Service {
    open(dir, false)
}

pub(crate) fn reading(dir: &Path) -> Service {
    open(dir, true)
}

fn open(dir: &Path, read_only: bool) -> Service {
    let options = OpenOptions {
        dir: dir.to_owned(),
        lock_wait: Duration::from_secs(5),
        read_only,
    };
    Service::open(options).expect("it opens")
}

pub(crate) fn store(service: &Service, content: &str) {
    store_in(service, "t", content);
}

pub(crate) fn store_in(service: &Service, topic: &str, content: &str) -> Receipt {
    let request = StoreRequest::new(topic, content);
    let stored = service.store(&Caller::default(), request);
    stored.expect("it stores")
}

/// The environment of this machine with another clock.
pub(crate) struct Clock(pub(crate) AtomicU64);

impl Env for Clock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        SystemEnv.fill_random(bytes);
    }

    fn machine_id(&self) -> Option<String> {
        None
    }
}

/// Returns a store in January 2027, and its clock.
pub(crate) fn service_at(folder: &Path) -> (Arc<Clock>, Service) {
    let clock = Arc::new(Clock(AtomicU64::new(1_800_000_000_000)));
    let options = OpenOptions {
        dir: folder.join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let ground = Ground {
        env: clock.clone(),
        ..Ground::system()
    };
    (clock, Service::open_on(options, ground).expect("a store"))
}
