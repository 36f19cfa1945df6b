//! Backups: a store in one file, and back.
//!
//! A backup is a tar in a zstd frame: `store.toml`, `acked`, the segments, the files of `torn/`, and at its end
//! `manifest.json`, which names every file with its length and BLAKE3. So a backup that was cut has no manifest, or no
//! end of its frame, and is refused. Its `store.toml` is bound to no folder: unpacked by icm or by hand, the copy mints
//! an origin at its next write.
//!
//! A restore reads the backup beside the target, checks it, and puts it in place with one rename.

mod archive;
mod manifest;
mod restore;
mod staging;
mod write;

pub use restore::restore;

use std::io;
use std::path::Path;

use icm_log::disk::RealDisk;
use icm_log::{Log, Refusal};

use crate::integrity::verify::verify_report;
use icm_api::error::{Result, ServiceError, plain};
use icm_api::{Progress, VerifyReport};

/// Returns the error of a file operation; a full disk is named as such.
fn failed(doing: &str, path: &Path) -> impl Fn(io::Error) -> ServiceError {
    let doing = format!("{doing} {}", path.display());
    move |source| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ServiceError::NoSpace {
                why: format!("{doing}: {}; nothing of it was kept", plain(&source)),
            }
        }
        _ => ServiceError::Io {
            doing: doing.clone(),
            source,
        },
    }
}

/// Reads an unpacked copy as `icm log verify` does. The caller decides if it may be used.
fn verified(dir: &Path, progress: &dyn Progress) -> Result<(VerifyReport, u64)> {
    let log = Log::open(std::sync::Arc::new(RealDisk), dir)?;
    let len = log.len_bytes()?;
    progress.start("verifying", Some(len));
    let report = log.verify(&mut |bytes| progress.advance(bytes))?;
    progress.finish();
    let mut report = verify_report(&report);
    if let Some(Refusal::Newer { .. }) = log.refusal() {
        report.ok = false;
    }
    Ok((report, len))
}

/// Returns the first trouble with a copy.
fn trouble(report: &VerifyReport) -> Option<String> {
    let bad = (report.findings.iter()).find(|finding| finding.severity != "notice");
    match (bad, report.ok) {
        (Some(finding), _) => Some(match &finding.file {
            Some(file) => format!("{file}: {}", finding.message),
            None => finding.message.clone(),
        }),
        (None, true) => None,
        (None, false) => Some("its log does not verify".to_owned()),
    }
}
