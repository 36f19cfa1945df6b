//! Taking what others have put there.

use std::collections::BTreeSet;
use std::io::{self, Read};

use icm_log::OriginId;
use icm_log::bundle::ChainRange;
use icm_log::learn::Lacking;
use icm_server::api::{Caller, Progress};
use icm_server::{ExportFile, Result, Service, ServiceError};

use crate::answer::{Refused, SyncAnswer};
use crate::index::{INDEX, Index, Listed, name_of};
use crate::publish::Export;
use crate::target::Target;

/// Longest index that is read: a hundred thousand bundles.
const INDEX_LEN_MAX: u64 = 32 << 20;

/// What every machine has put there. Indexes that are damaged are refused.
pub(crate) fn indexes(target: &dyn Target, answer: &mut SyncAnswer) -> Result<Vec<Index>> {
    let mut indexes = Vec::new();
    for folder in target.folders()? {
        // What else lies there is none of ours.
        let Some(writer) = OriginId::parse_hex(&folder) else {
            continue;
        };
        let Some(text) = index_text(target, &folder)? else {
            continue;
        };
        let index = match String::from_utf8(text) {
            Ok(text) => Index::parse(&text, writer),
            Err(_) => Err("it is no text".to_owned()),
        };
        match index {
            Ok(index) => indexes.push(index),
            Err(why) => answer.refused.push(refused(writer, INDEX, why)),
        }
    }
    Ok(indexes)
}

/// What an index says, if there is one.
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

fn refused(writer: OriginId, file: &str, why: impl Into<String>) -> Refused {
    Refused {
        writer: writer.to_string(),
        file: file.to_owned(),
        why: why.into(),
    }
}

/// A bundle that holds what this store lacks.
struct Wanted<'a> {
    writer: OriginId,
    listed: &'a Listed,
    file: ExportFile,
}

/// Takes what the indexes list and this store lacks, in whatever order it joins.
pub(crate) fn pull(
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
        // An import that was cut left them: any other learns them.
        let nothing = Export::of_nothing(service, progress)?.into_file()?;
        let import = service.import_log(caller, &nothing, false, progress)?;
        answer.received.add(import);
    }
    let mut wanted = Vec::new();
    for index in indexes {
        for listed in index.bundles.iter().filter(lacks) {
            answer.received.files += 1;
            let received = &mut answer.received;
            received.bytes = received.bytes.saturating_add(listed.bytes);
            if answer.dry_run {
                let new = listed.ranges.iter();
                let new = new.filter(|range| lacking.contains(range));
                let events = new.map(|it| (it.to_seq.0 - it.from_seq.0).saturating_add(1));
                received.events = events.fold(received.events, u64::saturating_add);
                continue;
            }
            wanted.extend(fetched(target, index.writer, listed, answer)?);
        }
    }
    // What one brings may be what the next one goes on from.
    while !wanted.is_empty() {
        let before = wanted.len();
        let mut apart = Vec::new();
        for one in wanted {
            match service.import_log(caller, &one.file, false, progress) {
                Ok(import) => answer.received.add(import),
                Err(ServiceError::DoesNotFit { why, .. }) => apart.push((one, why)),
                Err(
                    error @ (ServiceError::BadExport { .. } | ServiceError::NewerFormat { .. }),
                ) => {
                    let file = &one.listed.file;
                    (answer.refused).push(refused(one.writer, file, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        if apart.len() == before {
            let told =
                |(one, why): (Wanted<'_>, String)| refused(one.writer, &one.listed.file, why);
            answer.not_there.extend(apart.into_iter().map(told));
            break;
        }
        wanted = apart.into_iter().map(|(one, _)| one).collect();
    }
    Ok(())
}

/// A bundle as it was listed; without it the answer says why.
fn fetched<'a>(
    target: &dyn Target,
    writer: OriginId,
    listed: &'a Listed,
    answer: &mut SyncAnswer,
) -> Result<Option<Wanted<'a>>> {
    let folder = writer.to_string();
    let name = format!("{folder}/{}", listed.file);
    let Some(file) = target.open(&folder, &listed.file)? else {
        let why = "it is not there";
        answer.not_there.push(refused(writer, &listed.file, why));
        return Ok(None);
    };
    let mut hashed = Hashed {
        // One more byte shows that it is longer.
        file: file.take(listed.bytes.saturating_add(1)),
        hasher: blake3::Hasher::new(),
        len: 0,
    };
    let file = ExportFile::spool(&mut hashed, &name);
    // Of what does not even begin like a bundle no more was read.
    let is_read = match &file {
        Ok(_) => true,
        Err(ServiceError::BadExport { .. }) => io::copy(&mut hashed, &mut io::sink()).is_ok(),
        Err(_) => false,
    };
    if is_read && hashed.len < listed.bytes {
        let why = format!("{} of {} bytes are there", hashed.len, listed.bytes);
        answer.not_there.push(refused(writer, &listed.file, why));
        return Ok(None);
    }
    if is_read && (hashed.len > listed.bytes || name_of(&hashed.hasher.finalize()) != listed.file) {
        let why = "it was changed since it was written";
        answer.refused.push(refused(writer, &listed.file, why));
        return Ok(None);
    }
    Ok(Some(Wanted {
        writer,
        listed,
        file: file?,
    }))
}

/// Hashes what is read.
struct Hashed<R> {
    file: R,
    hasher: blake3::Hasher,
    len: u64,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.len += read as u64;
        Ok(read)
    }
}
