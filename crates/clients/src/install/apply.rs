//! Doing what a plan says.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::error::InstallError;
use super::file;
use super::ledger::Ledger;
use super::plan::Noted;
use super::{Plan, Step};

/// Does the steps in their order, and returns what became of each. A step that fails leaves its file as it was, and
/// the others go on.
pub(super) fn apply(plan: &Plan) -> Vec<Result<(), InstallError>> {
    if plan.is_idle() {
        return plan.steps.iter().map(|_| Ok(())).collect();
    }
    let lock = lock(&plan.folder);
    let done = plan.steps.iter().map(|step| one(step, &plan.folder));
    let done = done.collect();
    // A folder was made for one file and may have held others: it goes last, the deepest first.
    let dropped = plan.steps.iter().filter_map(|step| match &step.noted {
        Some(Noted::Dropped { folders }) if step.after.is_none() => Some(folders),
        _ => None,
    });
    let mut folders: Vec<PathBuf> = dropped.flatten().cloned().collect();
    folders.sort_by_key(|folder| folder.components().count());
    file::remove_folders(&folders);
    drop(lock);
    let _ = fs::remove_file(plan.folder.join("lock"));
    let _ = fs::remove_dir(&plan.folder);
    done
}

/// Keeps a second run out. Without a lock, the check for changed bytes is what is left.
fn lock(folder: &Path) -> Option<File> {
    fs::create_dir_all(folder).ok()?;
    let file = File::create(folder.join("lock")).ok()?;
    file.lock().ok()?;
    Some(file)
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
            // The note comes first: a file that is written without it would not be given back.
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
