//! Plans: the change of each file, before anything is written.

use std::path::{Path, PathBuf};

use super::command::Icm;
use super::error::InstallError;
use super::file;
use super::jobs::{Base, Job, Made, Own};
use super::ledger::{Entry, Ledger, hash};
use super::machine::Machine;
use super::tasks::{self, Setting, Task};
use super::text::Text;
use super::{Outcome, Piece, Plan, Request, Scope, Step, What};
use crate::names::Client;

/// The change of the list of written files by a step.
#[derive(Debug)]
pub(super) enum Noted {
    /// The file gets a note, with the bytes from before icm.
    Kept {
        before: Option<Vec<u8>>,
        entry: Box<Entry>,
    },
    /// The note is removed, and so are these folders if they are empty.
    Dropped { folders: Vec<PathBuf> },
}

/// The tasks of one file.
struct Group {
    file: PathBuf,
    target: PathBuf,
    project: Option<PathBuf>,
    tasks: Vec<Task>,
}

impl Group {
    /// Returns `true` if the file is icm's own: by its piece, its name or its folder.
    fn is_own(&self) -> bool {
        let is_named = |path: &Path| path.file_stem().is_some_and(|stem| stem == "icm");
        is_named(&self.target)
            || self.target.parent().is_some_and(is_named)
            || self
                .tasks
                .iter()
                .any(|task| matches!(task.job, Job::Own(..)))
    }

    /// Groups tasks by their target file; two names of one file are one group.
    fn all(tasks: Vec<Task>, project: Option<&Path>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for task in tasks {
            let target = file::target(&task.file);
            match groups.iter_mut().find(|group| group.target == target) {
                Some(group) => group.tasks.push(task),
                None => groups.push(Group {
                    file: task.file.clone(),
                    target,
                    project: project.map(Path::to_path_buf),
                    tasks: vec![task],
                }),
            }
        }
        groups
    }
}

/// Returns the plan of `init` for a request.
///
/// # Errors
/// [`InstallError::Ledger`] and [`InstallError::Io`] if the list of written files cannot be read. Errors of a single
/// file are the [`Outcome`] of its pieces.
pub(super) fn install(
    request: &Request,
    machine: &Machine,
    folder: &Path,
) -> Result<Plan, InstallError> {
    let ledger = Ledger::read(folder)?;
    let icm = Icm {
        program: request.program(machine),
        flags: request.flags(),
        os: machine.os,
    };
    let setting = Setting {
        machine,
        scope: &request.scope,
        icm: &icm,
        env: &request.entry_env(),
        everywhere: false,
    };
    let chosen: Vec<Client> = match request.clients.is_empty() {
        true => Client::ALL
            .iter()
            .copied()
            .filter(|client| tasks::found(*client, machine).is_some())
            .collect(),
        false => request.clients.clone(),
    };
    let mut notes = Vec::new();
    let mut all = Vec::new();
    for client in &chosen {
        for what in &request.what {
            let tasks = tasks::of(*client, *what, &setting);
            let is_told = !(request.is_default && *what == What::Hooks);
            if tasks.is_empty() && is_told {
                notes.push(tasks::lacks(*client, *what, &request.scope));
            }
            all.extend(tasks);
        }
    }
    let project = match &request.scope {
        Scope::User => None,
        Scope::Project(root) => Some(root.as_path()),
    };
    let groups = Group::all(all, project);
    let steps = groups
        .into_iter()
        .map(|group| put_all(group, request.force, &ledger, &icm, &machine.home));
    Ok(Plan {
        steps: steps.collect(),
        notes,
        clients: chosen,
        folder: folder.to_path_buf(),
    })
}

/// Reads a file; an error counts for each of its pieces.
fn open(target: &Path) -> Result<(Option<Vec<u8>>, Text), InstallError> {
    let bytes = file::read(target)?;
    let text = Text::new(bytes.as_deref())?;
    Ok((bytes, text))
}

fn put_all(group: Group, force: bool, ledger: &Ledger, icm: &Icm, home: &Path) -> Step {
    let mut step = Step::of(&group.file, &group.target);
    let allowed = file::check_target(&group.target, home, group.project.as_deref());
    let (bytes, text) = match allowed.and_then(|()| open(&group.target)) {
        Ok(opened) => opened,
        Err(error) => return step.left_alone(&group.tasks, error),
    };
    let mut plain = bytes.is_some().then(|| text.plain.clone());
    let known = ledger.get(&group.target);
    for task in &group.tasks {
        let own = Own {
            program: &icm.program,
            in_path: None,
            known: is_written(known, task.what),
            force,
        };
        let outcome = match task.job.put(plain.as_deref(), &own) {
            Ok(Made::Same) => Outcome::Same,
            Ok(Made::New(made)) => {
                plain = Some(made);
                Outcome::Added
            }
            Ok(Made::Updated(made)) => {
                plain = Some(made);
                Outcome::Updated
            }
            Err(error) => Outcome::Refused(error),
        };
        step.executable |= matches!(task.job, Job::Own(_, true));
        step.pieces.push(Piece {
            client: task.client,
            what: task.what,
            outcome,
        });
    }
    let changes = step
        .pieces
        .iter()
        .any(|piece| matches!(piece.outcome, Outcome::Added | Outcome::Updated));
    step.before = bytes;
    step.after = match (&plain, changes) {
        (Some(plain), true) => Some(text.bytes(plain)),
        _ => step.before.clone(),
    };
    if !changes {
        return step;
    }
    if file::is_read_only(&group.target) {
        return step.left_alone(&group.tasks, InstallError::ReadOnly);
    }
    match note(&group, &step, ledger, icm) {
        Ok(noted) => step.noted = Some(noted),
        Err(error) => return step.left_alone(&group.tasks, error),
    }
    step
}

/// Returns the note for a step. The bytes from before icm are those of the list if nobody changed the file since;
/// otherwise, the file's bytes without icm's pieces.
fn note(group: &Group, step: &Step, ledger: &Ledger, icm: &Icm) -> Result<Noted, InstallError> {
    let known = ledger.get(&group.target);
    let current = step.before.as_deref().map(hash);
    let is_ours = known.is_some_and(|known| current.as_ref() == Some(&known.hash));
    let before = match known {
        Some(known) if is_ours => ledger.before(known)?,
        _ => match &step.before {
            None => None,
            Some(bytes) => {
                let old = known.map(|known| ledger.before(known)).transpose()?;
                without(group, bytes, known.zip(old), &icm.program)?
            }
        },
    };
    let mut parts: Vec<String> = known.map(|known| known.parts.clone()).unwrap_or_default();
    for (task, piece) in group.tasks.iter().zip(&step.pieces) {
        let part = part_of(task);
        if !matches!(piece.outcome, Outcome::Refused(_)) && !parts.contains(&part) {
            parts.push(part);
        }
    }
    let entry = Entry {
        hash: step.after.as_deref().map(hash).unwrap_or_default(),
        before: None,
        folders: known.map(|known| known.folders.clone()).unwrap_or_default(),
        project: group.project.clone(),
        parts,
        icm: icm.program.clone(),
    };
    Ok(Noted::Kept {
        before,
        entry: Box::new(entry),
    })
}

/// Returns the name of a piece in the list of written files.
fn part_of(task: &Task) -> String {
    format!("{} {}", task.client.name(), task.what.name())
}

/// Returns `true` if the note of a file has a piece. A piece that was refused, such as the server of another program,
/// is not in it.
fn is_noted(known: Option<&Entry>, task: &Task) -> bool {
    known.is_some_and(|known| known.parts.contains(&part_of(task)))
}

/// Returns `true` if icm wrote a piece of this kind into a file, for any client that reads it.
fn is_written(known: Option<&Entry>, what: What) -> bool {
    let kind = |part: &String| {
        part.rsplit_once(' ')
            .is_some_and(|(_, kind)| kind == what.name())
    };
    known.is_some_and(|known| known.parts.iter().any(kind))
}

/// Returns a file without icm's pieces. `noted` is the note of the file with the content from before: the outer `None`
/// means unknown, the inner `None` a file that did not exist.
fn without(
    group: &Group,
    bytes: &[u8],
    noted: Option<(&Entry, Option<Vec<u8>>)>,
    program: &str,
) -> Result<Option<Vec<u8>>, InstallError> {
    let (known, old) = noted.unzip();
    let text = Text::new(Some(bytes))?;
    let old_text = old
        .as_ref()
        .map(|old| Text::new(old.as_deref()))
        .transpose()?;
    let base = match (&old, &old_text) {
        (Some(Some(_)), Some(text)) => Base::Text(&text.plain),
        (Some(None), _) => Base::Absent,
        _ => Base::Unknown,
    };
    let mut plain = text.plain.clone();
    for task in &group.tasks {
        let own = Own {
            program,
            in_path: None,
            known: is_written(known, task.what),
            force: false,
        };
        // A text that does not parse was refused earlier.
        if let Ok(Made::New(made) | Made::Updated(made)) = task.job.take(&plain, base, &own) {
            plain = made;
        }
    }
    let is_gone = plain.is_empty() && (base == Base::Absent || group.is_own());
    Ok(match is_gone {
        _ if plain == text.plain => Some(bytes.to_vec()),
        true => None,
        false => Some(text.bytes(&plain)),
    })
}

/// Returns the plan of `uninstall`, for the files of the list and for all that may hold an entry of icm.
///
/// # Errors
/// As [`install`].
pub(super) fn removal(
    program: &Path,
    project: Option<&Path>,
    machine: &Machine,
    folder: &Path,
) -> Result<Plan, InstallError> {
    let ledger = Ledger::read(folder)?;
    let icm = Icm {
        program: "icm".to_owned(),
        flags: Vec::new(),
        os: machine.os,
    };
    let mut scopes = vec![Scope::User];
    scopes.extend(project.map(|root| Scope::Project(root.to_path_buf())));
    for (_, entry) in ledger.files() {
        let scope = entry.project.clone().map_or(Scope::User, Scope::Project);
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for scope in &scopes {
        let setting = Setting {
            machine,
            scope,
            icm: &icm,
            env: &[],
            everywhere: true,
        };
        let tasks = Client::ALL.iter().flat_map(|client| {
            let setting = &setting;
            What::ALL
                .iter()
                .flat_map(move |what| tasks::of(*client, *what, setting))
        });
        let root = match scope {
            Scope::User => None,
            Scope::Project(root) => Some(root.as_path()),
        };
        for group in Group::all(tasks.collect(), root) {
            match groups.iter_mut().find(|known| known.target == group.target) {
                Some(known) => known.tasks.extend(group.tasks),
                None => groups.push(group),
            }
        }
    }
    add_moved(&mut groups, &ledger);
    let in_path = machine.program("icm");
    let this = Own {
        program: &program.to_string_lossy(),
        in_path: in_path.as_deref(),
        known: false,
        force: false,
    };
    let notes = groups
        .iter()
        .flat_map(|group| others(group, &ledger, &this));
    let notes = notes.collect();
    let steps: Vec<Step> = groups
        .into_iter()
        .filter_map(|group| take_all(&group, &ledger, &this))
        .collect();
    let mut clients: Vec<Client> = steps
        .iter()
        .flat_map(|step| &step.pieces)
        .map(|piece| piece.client)
        .collect();
    clients.sort_unstable();
    clients.dedup();
    Ok(Plan {
        steps,
        notes,
        clients,
        folder: folder.to_path_buf(),
    })
}

/// Adds files of the list that are in no place of the table today, for instance because a variable changed.
fn add_moved(groups: &mut Vec<Group>, ledger: &Ledger) {
    let mut moved = Vec::new();
    for (target, entry) in ledger.files() {
        if groups.iter().any(|group| group.target == *target) {
            continue;
        }
        let tasks = groups.iter().flat_map(|group| &group.tasks);
        let tasks = tasks.filter(|task| is_noted(Some(entry), task));
        moved.push(Group {
            file: target.clone(),
            target: target.clone(),
            project: entry.project.clone(),
            tasks: tasks.cloned().collect(),
        });
    }
    groups.extend(moved);
}

/// Returns lines about servers in a file that are called `icm`, do not run this icm, and stay.
fn others(group: &Group, ledger: &Ledger, this: &Own<'_>) -> Vec<String> {
    let Ok((Some(_), text)) = open(&group.target) else {
        return Vec::new();
    };
    let known = ledger.get(&group.target);
    let others = |task: &Task| {
        let own = Own {
            known: is_written(known, task.what),
            ..*this
        };
        task.job.others(&text.plain, &own, known.is_some())
    };
    let mut lines: Vec<String> = Vec::new();
    for command in group.tasks.iter().flat_map(others) {
        let line = format!(
            "{}: its server called icm runs another program (`{command}`) and was left alone; if nobody needs it, take \
             the entry out by hand",
            group.file.display()
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Returns the step that removes icm from a file; `None` if nothing of icm is there. Without a note for the file, an
/// entry must run `this` icm, and other pieces must have icm's shape.
fn take_all(group: &Group, ledger: &Ledger, this: &Own<'_>) -> Option<Step> {
    let mut step = Step::of(&group.file, &group.target);
    let known = ledger.get(&group.target);
    let parts = |task: &&Task| is_noted(known, task);
    let (bytes, text) = match open(&group.target) {
        Ok(opened) => opened,
        // An unreadable file without a note is not icm's concern.
        Err(_) if known.is_none() => return None,
        Err(error) => {
            let tasks: Vec<Task> = group.tasks.iter().filter(parts).cloned().collect();
            return Some(step.left_alone(&tasks, error));
        }
    };
    let folders = known.map(|known| known.folders.clone()).unwrap_or_default();
    step.noted = Some(Noted::Dropped { folders });
    let Some(bytes) = bytes else {
        // Only the note exists.
        known?;
        step.add_removed(group.tasks.iter().filter(parts));
        return Some(step);
    };
    step.before = Some(bytes.clone());
    // Without the bytes from before, the structure tells what to remove.
    let old = known
        .map(|known| ledger.before(known))
        .transpose()
        .unwrap_or_default();
    if let (Some(known), Some(old)) = (known, &old)
        && known.hash == hash(&bytes)
    {
        step.after = old.clone().map(|old| without_local(group, old, this));
        step.add_removed(group.tasks.iter().filter(parts));
    } else {
        let old_text = old.as_ref().and_then(|old| Text::new(old.as_deref()).ok());
        let base = match (&old, &old_text) {
            (Some(Some(_)), Some(text)) => Base::Text(&text.plain),
            (Some(None), _) => Base::Absent,
            _ if group.is_own() => Base::Absent,
            _ => Base::Unknown,
        };
        let mut plain = text.plain.clone();
        for task in &group.tasks {
            let own = Own {
                known: is_written(known, task.what),
                ..*this
            };
            let outcome = match task.job.take(&plain, base, &own) {
                Ok(Made::Same) => continue,
                Ok(Made::New(made) | Made::Updated(made)) => {
                    plain = made;
                    Outcome::Removed
                }
                Err(_) if known.is_none() => continue,
                Err(error) => Outcome::Refused(error),
            };
            let is_known = step
                .pieces
                .iter()
                .any(|piece| (piece.client, piece.what) == (task.client, task.what));
            if !is_known {
                step.pieces.push(Piece {
                    client: task.client,
                    what: task.what,
                    outcome,
                });
            }
        }
        if step.pieces.is_empty() && known.is_none() {
            return None;
        }
        let is_gone = plain.is_empty() && (base == Base::Absent || group.is_own());
        step.after = match plain == text.plain {
            true => Some(bytes),
            false => (!is_gone).then(|| text.bytes(&plain)),
        };
    }
    if step.after != step.before && file::is_read_only(&group.target) {
        let tasks: Vec<Task> = group.tasks.iter().filter(parts).cloned().collect();
        return Some(step.left_alone(&tasks, InstallError::ReadOnly));
    }
    Some(step)
}

/// Returns the bytes from before icm without the entries for one folder, which `init` did not write.
fn without_local(group: &Group, bytes: Vec<u8>, own: &Own<'_>) -> Vec<u8> {
    let Ok(text) = Text::new(Some(&bytes)) else {
        return bytes;
    };
    let mut tasks = group.tasks.iter();
    let local = tasks.find(|task| matches!(task.job, Job::Local(_)));
    match local.map(|task| task.job.take(&text.plain, Base::Unknown, own)) {
        Some(Ok(Made::New(plain))) => text.bytes(&plain),
        _ => bytes,
    }
}

impl Step {
    fn of(file: &Path, target: &Path) -> Step {
        Step {
            file: file.to_path_buf(),
            target: target.to_path_buf(),
            pieces: Vec::new(),
            before: None,
            after: None,
            executable: false,
            noted: None,
        }
    }

    fn add_removed<'a>(&mut self, tasks: impl Iterator<Item = &'a Task>) {
        for task in tasks {
            let is_known = self
                .pieces
                .iter()
                .any(|piece| (piece.client, piece.what) == (task.client, task.what));
            if !is_known {
                self.pieces.push(Piece {
                    client: task.client,
                    what: task.what,
                    outcome: Outcome::Removed,
                });
            }
        }
    }

    /// Returns the step without changes, for one reason.
    fn left_alone(mut self, tasks: &[Task], error: InstallError) -> Step {
        self.pieces.clear();
        self.after.clone_from(&self.before);
        self.noted = None;
        let mut error = Some(error);
        for task in tasks {
            let outcome = match error.take() {
                Some(error) => Outcome::Refused(error),
                // Only the first piece of a file gets the reason.
                None => Outcome::Same,
            };
            self.pieces.push(Piece {
                client: task.client,
                what: task.what,
                outcome,
            });
        }
        self
    }
}
