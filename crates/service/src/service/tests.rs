//! A store to try things on.

use std::path::Path;
use std::time::Duration;

use super::{OpenOptions, Service};
use icm_api::{Caller, StoreRequest};

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
    let request = StoreRequest {
        topic: "t".to_owned(),
        content: content.to_owned(),
        ..StoreRequest::default()
    };
    service
        .store(&Caller::default(), request)
        .expect("it stores");
}
