//! Applies a plan.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use same_file::Handle;

use super::error::InstallError;
use super::file;
use super::ledger::Ledger;
use super::plan::Noted;
use super::{Plan, Step};

/// Applies the steps in order, and returns their results. A failed step leaves its file as it was, and the others go
/// on.
pub(super) fn apply(plan: &Plan) -> Vec<Result<(), InstallError>> {
    if plan.is_idle() {
        return plan.steps.iter().map(|_| Ok(())).collect();
    }
    let lock = lock(&plan.folder);
    if lock.is_some() {
        sweep(plan);
    }
    let done = plan.steps.iter().map(|step| one(step, &plan.folder));
    let done = done.collect();
    // A folder that was made for one file may have held others, so folders go last, deepest first.
    let dropped = plan.steps.iter().filter_map(|step| match &step.noted {
        Some(Noted::Dropped { folders }) if step.after.is_none() => Some(folders),
        _ => None,
    });
    let mut folders: Vec<PathBuf> = dropped.flatten().cloned().collect();
    folders.sort_by_key(|folder| folder.components().count());
    file::remove_folders(&folders);
    unlock(lock, &plan.folder);
    done
}

/// Removes the unfinished files that killed runs left beside the files of a plan, and in icm's own folder.
fn sweep(plan: &Plan) {
    let noted = plan.steps.iter().filter(|step| step.noted.is_some());
    let folders = noted.filter_map(|step| step.target.parent());
    let folders: BTreeSet<&Path> = folders.chain([plan.folder.as_path()]).collect();
    for folder in folders {
        file::sweep(folder);
    }
}

/// Most attempts to get the lock. Each failed attempt means that another run removed the lock file. Raised, a run waits
/// longer if many start at once.
const WAITS_MAX: usize = 64;

/// Keeps a second run out. Without a lock, only the check for changed bytes is left.
fn lock(folder: &Path) -> Option<Handle> {
    let path = folder.join("lock");
    for _ in 0..WAITS_MAX {
        // The previous run may remove the folder at this moment.
        let made = fs::create_dir_all(folder).and_then(|()| File::create(&path));
        let Ok(file) = made else { continue };
        let lock = Handle::from_file(file).ok()?;
        lock.as_file().lock().ok()?;
        // The previous run may have removed the file meanwhile, and a third run may have locked a new one.
        if Handle::from_path(&path).is_ok_and(|there| there == lock) {
            return Some(lock);
        }
    }
    None
}

/// Removes the lock file before the lock is released, and the folder if it is empty.
fn unlock(lock: Option<Handle>, folder: &Path) {
    if lock.is_some() {
        let _ = fs::remove_file(folder.join("lock"));
    }
    let _ = fs::remove_dir(folder);
}

fn one(step: &Step, folder: &Path) -> Result<(), InstallError> {
    let Some(noted) = &step.noted else {
        return Ok(());
    };
    if file::read(&step.target)? != step.before {
        return Err(InstallError::Changed);
    }
    let mut ledger = Ledger::read(folder)?;
    match noted {
        Noted::Kept { before, entry } => {
            let mut entry = (**entry).clone();
            entry.before = before
                .as_deref()
                .map(|before| ledger.keep(before))
                .transpose()?;
            // The note comes first: a removal would not restore a file that was written without a note.
            let old = ledger.get(&step.target).cloned();
            ledger.set(&step.target, Some(entry.clone()))?;
            let bytes = step.after.as_deref().unwrap_or_default();
            match file::write(&step.target, bytes, step.executable) {
                Ok(made) if made.is_empty() => Ok(()),
                Ok(made) => {
                    entry.folders.extend(made);
                    ledger.set(&step.target, Some(entry))
                }
                Err(error) => {
                    ledger.set(&step.target, old)?;
                    Err(error)
                }
            }
        }
        Noted::Dropped { .. } => {
            match &step.after {
                after if *after == step.before => {}
                Some(bytes) => drop(file::write(&step.target, bytes, step.executable)?),
                None => file::remove(&step.target)?,
            }
            ledger.set(&step.target, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_run_at_a_time_has_the_lock() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("icm-clients");
        let (inside, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let Some(lock) = lock(&folder) else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        runs.fetch_add(1, Ordering::SeqCst);
                        unlock(Some(lock), &folder);
                    }
                });
            }
        });
        assert!(runs.into_inner() > 700, "most runs get the lock");
        assert!(!folder.exists());
    }
}
