//! Takes from a target the bundles that other machines have put there.

use std::collections::BTreeSet;
use std::io::{self, Read};

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, Progress};
use icm_log::OriginId;
use icm_log::bundle::ChainRange;
use icm_log::learn::Lacking;
use icm_service::{ExportFile, Service};

use crate::answer::SyncAnswer;
use crate::export::Export;
use crate::index::{INDEX, Index, Listed, events_of, name_of};
use crate::refused::{Reason, Refused};
use crate::target::Target;

/// Longest index that is read, in bytes: a hundred thousand bundles. Raised, a hostile target can take more memory.
const INDEX_LEN_MAX: u64 = 32 << 20;

/// Returns the indexes of all machines. Damaged indexes are added to `answer.refused`.
pub(crate) fn indexes(target: &dyn Target, answer: &mut SyncAnswer) -> Result<Vec<Index>> {
    let mut indexes = Vec::new();
    for folder in target.folders()? {
        // Other files in the target do not belong to icm.
        let Some(writer) = OriginId::parse_hex(&folder) else {
            continue;
        };
        let text = match index_text(target, &folder) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                let why = error.to_string();
                (answer.refused).push(refused(writer, INDEX, Reason::Unreadable, why));
                continue;
            }
        };
        let index = match String::from_utf8(text) {
            Ok(text) => Index::parse(&text, writer),
            Err(_) => Err((Reason::Changed, "it is no text".to_owned())),
        };
        match index {
            Ok(index) => indexes.push(index),
            Err((reason, why)) => (answer.refused).push(refused(writer, INDEX, reason, why)),
        }
    }
    Ok(indexes)
}

/// Reads the index in `folder`; `None` if there is none.
pub(crate) fn index_text(target: &dyn Target, folder: &str) -> Result<Option<Vec<u8>>> {
    let Some(file) = target.open(folder, INDEX)? else {
        return Ok(None);
    };
    let mut text = Vec::new();
    let read = file.take(INDEX_LEN_MAX).read_to_end(&mut text);
    read.map_err(|source| ServiceError::Io {
        doing: format!("reading {folder}/{INDEX} of the target"),
        source,
    })?;
    Ok(Some(text))
}

fn refused(writer: OriginId, file: &str, reason: Reason, why: impl Into<String>) -> Refused {
    Refused {
        writer: writer.to_string(),
        file: file.to_owned(),
        why: why.into(),
        reason,
    }
}

/// Imports the listed bundles that hold events which this store lacks.
pub(crate) fn pull(
    service: &Service,
    caller: &Caller,
    target: &dyn Target,
    indexes: &[Index],
    answer: &mut SyncAnswer,
    progress: &dyn Progress,
) -> Result<()> {
    loop {
        let before = answer.received.events;
        answer.received.held_back.clear();
        answer.not_there.clear();
        pull_once(service, caller, target, indexes, answer, progress)?;
        // Events that were held back may have needed events that came after them.
        let is_settled = answer.dry_run || answer.received.held_back.is_empty();
        if is_settled || answer.received.events == before {
            return Ok(());
        }
    }
}

/// Imports the bundles once, in any order in which each joins the events before it.
fn pull_once(
    service: &Service,
    caller: &Caller,
    target: &dyn Target,
    indexes: &[Index],
    answer: &mut SyncAnswer,
    progress: &dyn Progress,
) -> Result<()> {
    let all: Vec<ChainRange> = indexes.iter().flat_map(Index::ranges).collect();
    let Lacking { ranges, waits } = service.lacking(&all)?;
    let lacking: BTreeSet<ChainRange> = ranges.into_iter().collect();
    let lacks = |listed: &&Listed| listed.ranges.iter().any(|range| lacking.contains(range));
    if waits && !answer.dry_run {
        // An interrupted import left events unlearned; any import learns them, even an empty one.
        let nothing = Export::of_nothing(service, progress)?.into_file()?;
        let import = service.import_log(caller, &nothing, false, progress)?;
        answer.received.add(import);
    }
    let listed = indexes.iter().flat_map(|index| {
        let writer = index.writer.to_string();
        let is_refused = |listed: &&Listed| {
            let mut refused = answer.refused.iter();
            refused.any(|it| it.writer == writer && it.file == listed.file)
        };
        let wanted = index.bundles.iter().filter(lacks);
        let wanted: Vec<&Listed> = wanted.filter(|listed| !is_refused(listed)).collect();
        let wanted = wanted.into_iter();
        wanted.map(|listed| (index.writer, listed))
    });
    let mut wanted: Vec<(OriginId, &Listed)> = listed.collect();
    if answer.dry_run {
        for (_, listed) in wanted {
            let new = listed.ranges.iter().filter(|range| lacking.contains(range));
            let events = events_of(new);
            answer.received.read(listed);
            answer.received.events = answer.received.events.saturating_add(events);
        }
        return Ok(());
    }
    // One bundle may bring the events that another goes on from, so bundles that do not join are tried again.
    while !wanted.is_empty() {
        let before = wanted.len();
        let mut apart = Vec::new();
        for (writer, listed) in wanted {
            let Some(file) = fetched(target, writer, listed, answer)? else {
                continue;
            };
            match service.import_log(caller, &file, false, progress) {
                Ok(import) => {
                    answer.received.read(listed);
                    answer.received.add(import);
                }
                Err(ServiceError::DoesNotFit { why, .. }) => apart.push((writer, listed, why)),
                Err(error @ ServiceError::BadExport { .. }) => {
                    let why = error.to_string();
                    (answer.refused).push(refused(writer, &listed.file, Reason::Changed, why));
                }
                Err(error @ ServiceError::NewerFormat { .. }) => {
                    let why = error.to_string();
                    (answer.refused).push(refused(writer, &listed.file, Reason::Newer, why));
                }
                Err(error) => return Err(error),
            }
        }
        if apart.len() == before {
            let told = |(writer, listed, why): (OriginId, &Listed, String)| {
                refused(writer, &listed.file, Reason::Apart, why)
            };
            answer.not_there.extend(apart.into_iter().map(told));
            break;
        }
        let again = apart.into_iter();
        wanted = again.map(|(writer, listed, _)| (writer, listed)).collect();
    }
    Ok(())
}

/// Fetches a bundle and checks it against its line in the index. If it does not match, returns `None` and adds the
/// reason to the answer.
pub(crate) fn fetched(
    target: &dyn Target,
    writer: OriginId,
    listed: &Listed,
    answer: &mut SyncAnswer,
) -> Result<Option<ExportFile>> {
    let folder = writer.to_string();
    let mut not_there = |reason: Reason, why: String| {
        (answer.not_there).push(refused(writer, &listed.file, reason, why));
        Ok(None)
    };
    let file = match target.open(&folder, &listed.file) {
        Ok(Some(file)) => file,
        Ok(None) => return not_there(Reason::NotThere, "it is not there".to_owned()),
        Err(error) => return not_there(Reason::Unreadable, error.to_string()),
    };
    let mut hashed = Hashed {
        // One more byte reveals a longer file.
        file: file.take(listed.bytes.saturating_add(1)),
        hasher: blake3::Hasher::new(),
        len: 0,
        failed: None,
    };
    let spooled = ExportFile::spool(&mut hashed, &format!("{folder}/{}", listed.file));
    if matches!(spooled, Err(ServiceError::BadExport { .. })) {
        // `spool` stopped at the first bytes; the rest is read for the length and the digest.
        let _ = io::copy(&mut hashed, &mut io::sink());
    }
    if let Some(why) = hashed.failed {
        return not_there(Reason::Unreadable, format!("it cannot be read: {why}"));
    }
    if hashed.len < listed.bytes {
        let why = format!("{} of {} bytes are there", hashed.len, listed.bytes);
        return not_there(Reason::NotThere, why);
    }
    let is_same = hashed.len == listed.bytes && name_of(&hashed.hasher.finalize()) == listed.file;
    let why = match spooled {
        Ok(file) if is_same => return Ok(Some(file)),
        Err(error @ ServiceError::BadExport { .. }) if is_same => error.to_string(),
        Ok(_) | Err(ServiceError::BadExport { .. }) => {
            "it was changed since it was written".to_owned()
        }
        // The temporary file could not be written.
        Err(error) => return Err(error),
    };
    (answer.refused).push(refused(writer, &listed.file, Reason::Changed, why));
    Ok(None)
}

/// A reader that hashes and counts the bytes read through it.
struct Hashed<R> {
    file: R,
    hasher: blake3::Hasher,
    len: u64,
    /// The error that ended the reading.
    failed: Option<String>,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer);
        if let Err(error) = &read {
            self.failed = Some(error.to_string());
        }
        let read = read?;
        self.hasher.update(&buffer[..read]);
        self.len += read as u64;
        Ok(read)
    }
}
