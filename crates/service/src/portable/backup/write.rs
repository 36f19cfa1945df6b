//! Writing a backup.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_log::copy::{CopyContent, CopyFile, CopyPlan};
use icm_log::disk::{Disk, DiskFile, OpenMode, RealDisk};

use super::manifest::{MANIFEST, Manifest, VERSION};
use super::staging::Staging;
use super::{archive, failed, trouble, verified};
use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::{BackupReceipt, Progress};

/// The default of zstd: quick, and a third of the size.
const LEVEL: i32 = 3;

impl Service {
    /// Writes the whole store into one file while other processes go on writing. Everything that was acknowledged
    /// before the call is in it. The file is read back, unpacked beside itself and verified before the return; a
    /// failure leaves nothing behind. The backup holds the store's secret and is for its owner only.
    pub fn backup(
        &self,
        file: &Path,
        force: bool,
        progress: &dyn Progress,
    ) -> Result<BackupReceipt> {
        self.retry_while_rewritten(|| self.backup_once(file, force, progress), |_| false)
    }

    fn backup_once(
        &self,
        file: &Path,
        force: bool,
        progress: &dyn Progress,
    ) -> Result<BackupReceipt> {
        let target = target_of(file, self.log_handle().dir())?;
        refuse_existing(&target, force)?;
        self.finish_what_was_begun()?;
        let plan = self.log_handle().plan_copy();
        let Some(plan) = plan.map_err(|error| self.explained(error))? else {
            return Err(ServiceError::invalid_with(
                format!(
                    "there is nothing to back up: nothing was stored in {} yet",
                    self.log_handle().dir().display()
                ),
                "name the store with `--db` or `ICM_DB`",
            ));
        };
        let staging = Staging::take(&target, "backup")?;
        let partial = Partial::create(staging.place("backup"))?;
        let manifest = self.write_archive(&plan, &partial, progress)?;
        let copy = staging.place("copy");
        let read = archive::read(&partial.path, Some(&copy), progress)?;
        if read != manifest {
            return Err(ServiceError::Internal(
                "the backup does not read back as it was written".into(),
            ));
        }
        let (report, _) = verified(&copy, progress)?;
        if let Some(what) = trouble(&report) {
            return Err(ServiceError::Damaged { what });
        }
        if report.positions != plan.tip.position.0 {
            return Err(ServiceError::Internal(format!(
                "the backup ends at @{}, not at @{}",
                report.positions, plan.tip.position.0
            )));
        }
        refuse_existing(&target, force)?;
        let bytes = partial.keep_as(&target)?;
        Ok(BackupReceipt {
            file: file.to_string_lossy().into_owned(),
            bytes,
            events: report.events,
            position: report.positions,
            origins: report.origins,
        })
    }

    fn write_archive(
        &self,
        plan: &CopyPlan,
        partial: &Partial,
        progress: &dyn Progress,
    ) -> Result<Manifest> {
        let path = &partial.path;
        let wrong = failed("writing", path);
        let total = plan.files.iter().map(len_of).sum();
        progress.start("writing the backup", Some(total));
        let mut out = At::new(&partial.file);
        let frame = zstd::Encoder::new(BufWriter::with_capacity(1 << 18, &mut out), LEVEL);
        let mut frame = frame.map_err(&wrong)?;
        frame.include_checksum(true).map_err(&wrong)?;
        let mut builder = tar::Builder::new(frame);
        let mtime_s = self.now_ms() / 1_000;
        let mut files = Vec::with_capacity(plan.files.len());
        for file in &plan.files {
            let len = len_of(file);
            let input: Box<dyn Read> = match &file.content {
                CopyContent::Bytes(bytes) => Box::new(bytes.as_slice()),
                CopyContent::Start { path, .. } => {
                    let file = self.disk().open(path, OpenMode::Read);
                    Box::new(At::new(&file.map_err(failed("opening", path))?))
                }
            };
            let note = archive::append(&mut builder, &file.name, len, mtime_s, input);
            files.push(note.map_err(&wrong)?);
            progress.advance(len);
        }
        let manifest = Manifest {
            format: Manifest::FORMAT.to_owned(),
            version: VERSION,
            program: concat!("icm ", env!("CARGO_PKG_VERSION")).to_owned(),
            position: plan.tip.position.0,
            event: plan.tip.event.to_string(),
            files,
        };
        let text = serde_json::to_vec_pretty(&manifest)
            .map_err(|error| ServiceError::Internal(error.to_string()))?;
        let len = text.len() as u64;
        archive::append(&mut builder, MANIFEST, len, mtime_s, text.as_slice()).map_err(&wrong)?;
        let frame = builder.into_inner().map_err(&wrong)?;
        let buffer = frame.finish().map_err(&wrong)?;
        buffer
            .into_inner()
            .map_err(|error| wrong(error.into_error()))?;
        partial.file.sync().map_err(&wrong)?;
        progress.finish();
        Ok(manifest)
    }
}

fn len_of(file: &CopyFile) -> u64 {
    match &file.content {
        CopyContent::Bytes(bytes) => bytes.len() as u64,
        CopyContent::Start { len, .. } => *len,
    }
}

/// Returns the target by its folder's real name; never a place inside the store.
fn target_of(file: &Path, store: &Path) -> Result<PathBuf> {
    let Some(name) = file.file_name().filter(|_| file != Path::new("-")) else {
        return Err(ServiceError::invalid_with(
            format!("{} is no name for a backup", file.display()),
            "a backup is read back to check it, so it needs a file: give its name",
        ));
    };
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(failed("opening", folder))?;
    if store
        .canonicalize()
        .is_ok_and(|store| folder.starts_with(store))
    {
        return Err(ServiceError::invalid_with(
            format!("{} lies in the store itself", file.display()),
            "write the backup elsewhere, best to another disk",
        ));
    }
    Ok(folder.join(name))
}

fn refuse_existing(target: &Path, force: bool) -> Result<()> {
    match fs::symlink_metadata(target) {
        Ok(there) if !there.is_file() => Err(ServiceError::invalid_with(
            format!("{} is there already and no file", target.display()),
            "give another name",
        )),
        Ok(_) if !force => Err(ServiceError::invalid_with(
            format!("{} is there already", target.display()),
            "give another name, or replace it with `--force`",
        )),
        _ => Ok(()),
    }
}

/// The backup while it is not whole, in the staging folder. Both are removed together.
struct Partial {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
}

impl Partial {
    fn create(path: PathBuf) -> Result<Partial> {
        let file = RealDisk.open(&path, OpenMode::CreateNew);
        let file = file.map_err(failed("creating", &path))?;
        Ok(Partial { path, file })
    }

    /// Gives the backup its name, durably. Returns its length.
    fn keep_as(&self, target: &Path) -> Result<u64> {
        let bytes = self.file.len().map_err(failed("reading", &self.path))?;
        RealDisk
            .rename(&self.path, target)
            .map_err(failed("creating", target))?;
        let folder = target.parent().unwrap_or(target);
        RealDisk
            .sync_dir(folder)
            .map_err(failed("syncing", folder))?;
        Ok(bytes)
    }
}

/// A reader of a file of a [`Disk`], from its start on.
struct At {
    file: Arc<dyn DiskFile>,
    offset: u64,
}

impl At {
    fn new(file: &Arc<dyn DiskFile>) -> At {
        At {
            file: Arc::clone(file),
            offset: 0,
        }
    }
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Write for At {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
