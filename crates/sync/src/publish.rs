//! Putting there what nobody has put there.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use icm_log::bundle::{ChainRange, Exported};
use icm_log::{EventId, OriginId, Seq};
use icm_server::api::Progress;
use icm_server::{ExportFile, Result, Service, ServiceError};

use crate::SyncOptions;
use crate::answer::SyncAnswer;
use crate::index::{INDEX, Index, Listed, is_name, name_of};
use crate::target::{Target, UNFINISHED};

/// A bundle is written anew together with what is new, once that is half as long: so there are few, and an event is
/// written a few times.
const GROWTH: u64 = 2;

/// Adds what this store has and nobody has there.
pub(crate) fn publish(
    service: &Service,
    target: &dyn Target,
    indexes: Vec<Index>,
    options: SyncOptions,
    answer: &mut SyncAnswer,
    progress: &dyn Progress,
) -> Result<()> {
    let mut chains = service.own_chains()?;
    let Some(writer) = chains.pop() else {
        return Ok(()); // nothing was ever written here
    };
    let folder = writer.to_string();
    let (mine, others): (Vec<Index>, Vec<Index>) = indexes
        .into_iter()
        .partition(|index| index.writer == writer);
    let (former, others): (Vec<Index>, Vec<Index>) = others
        .into_iter()
        .partition(|index| options.anew && chains.contains(&index.writer));
    let files = target.files(&folder)?;
    let known: Vec<(OriginId, u64)> = (others.iter())
        .filter(|index| chains.contains(&index.writer))
        .map(|index| (index.writer, index.redactions))
        .collect();
    let others = there_of(&others, target, answer)?;
    let before = mine.into_iter().next().unwrap_or(Index::empty(writer));
    let mut kept = before.clone();
    // What went, or is not as long as it was, is put there again.
    kept.bundles
        .retain(|listed| files.contains(&(listed.file.clone(), listed.bytes)));
    let there =
        |kept: &Index| -> Vec<ChainRange> { others.iter().copied().chain(kept.ranges()).collect() };

    let mut news = Export::of(service, &there(&kept), progress)?;
    let events = news.exported.events;
    // What was redacted is to go from the files of this machine, too.
    let redactions = news.exported.redactions;
    let outdated = known.iter().filter(|(_, known)| *known < redactions);
    let outdated = outdated.map(|(writer, _)| writer.to_string()).collect();
    let is_redacted = redactions > kept.redactions && !kept.bundles.is_empty();
    answer.sent.anew = options.anew || is_redacted;
    let count = kept.bundles.len();
    if answer.sent.anew {
        kept.bundles.clear();
    }
    let mut sum = events;
    while let Some(last) = kept.bundles.last()
        && last.events() <= sum.saturating_mul(GROWTH)
        && sum > 0
    {
        sum = sum.saturating_add(last.events());
        kept.bundles.pop();
    }
    if kept.bundles.len() < count {
        news = Export::of(service, &there(&kept), progress)?;
    }
    answer.sent.events = events;
    answer.sent.incomplete = (news.exported.incomplete.iter())
        .map(OriginId::to_string)
        .collect();
    // One that came since the first look is for the next sync.
    kept.redactions = redactions;
    answer.sent.outdated = outdated;
    if news.exported.events > 0 {
        answer.sent.files = 1;
        answer.sent.bytes = news.exported.bytes;
    }
    if answer.dry_run {
        return Ok(());
    }
    if news.exported.events > 0 {
        let listed = news.put(target, &folder)?;
        kept.bundles.push(listed);
    }
    if kept != before {
        let mut file = temporary()?;
        file.write_all(kept.encode().as_bytes()).map_err(spooling)?;
        target.put(&folder, INDEX, &mut file)?;
        // Its own index, if it was damaged, is whole again.
        (answer.refused).retain(|it| it.writer != folder || it.file != INDEX);
    }
    // What was written under an earlier name is in the new files.
    for index in former {
        let folder = index.writer.to_string();
        target.remove(&folder, INDEX)?;
        for (name, _) in target.files(&folder)? {
            if is_ours(&name) {
                target.remove(&folder, &name)?;
            }
        }
    }
    // Whoever reads by the index of before finds them gone, and takes the new one next.
    let listed = |name: &str| kept.bundles.iter().any(|listed| listed.file == name);
    for (name, _) in files {
        if is_ours(&name) && !listed(&name) {
            target.remove(&folder, &name)?;
        }
    }
    Ok(())
}

/// Whether a file in the folder of a machine is a bundle, or what a writer that was stopped left of one.
fn is_ours(name: &str) -> bool {
    is_name(name) || name.starts_with(UNFINISHED)
}

/// What of other machines is there: what they list, and is there as long as it was, and not found damaged by this sync.
fn there_of(others: &[Index], target: &dyn Target, answer: &SyncAnswer) -> Result<Vec<ChainRange>> {
    let mut there = Vec::new();
    for index in others {
        let writer = index.writer.to_string();
        let files: BTreeSet<(String, u64)> = target.files(&writer)?.into_iter().collect();
        let is_bad = |listed: &Listed| {
            let mut bad = answer.refused.iter().chain(&answer.not_there);
            bad.any(|it| it.writer == writer && it.file == listed.file)
        };
        let is_there = |listed: &&Listed| {
            files.contains(&(listed.file.clone(), listed.bytes)) && !is_bad(listed)
        };
        let bundles = index.bundles.iter().filter(is_there);
        there.extend(bundles.flat_map(|listed| listed.ranges.iter().copied()));
    }
    Ok(there)
}

/// A bundle of what is not there.
pub(crate) struct Export {
    file: File,
    exported: Exported,
}

impl Export {
    fn of(service: &Service, there: &[ChainRange], progress: &dyn Progress) -> Result<Export> {
        let mut out = BufWriter::new(temporary()?);
        let exported = service.export_lacking(there, &mut out, progress)?;
        let file = out
            .into_inner()
            .map_err(|error| spooling(error.into_error()))?;
        Ok(Export { file, exported })
    }

    /// An empty one.
    pub(crate) fn of_nothing(service: &Service, progress: &dyn Progress) -> Result<Export> {
        let heads = service.heads()?.into_iter();
        let all = heads.filter_map(|head| {
            let (origin, event) = (
                OriginId::parse_hex(&head.origin)?,
                EventId::parse_hex(&head.head)?,
            );
            Some(ChainRange::up_to(origin, Seq(head.seq), event))
        });
        Export::of(service, &all.collect::<Vec<_>>(), progress)
    }

    pub(crate) fn into_file(mut self) -> Result<ExportFile> {
        self.file.rewind().map_err(spooling)?;
        ExportFile::spool(&mut self.file, "an empty export")
    }

    fn put(mut self, target: &dyn Target, folder: &str) -> Result<Listed> {
        self.file.rewind().map_err(spooling)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&mut self.file).map_err(spooling)?;
        let file = name_of(&hasher.finalize());
        target.put(folder, &file, &mut self.file)?;
        Ok(Listed {
            file,
            bytes: self.exported.bytes,
            ranges: self.exported.ranges,
        })
    }
}

fn temporary() -> Result<File> {
    tempfile::tempfile().map_err(spooling)
}

fn spooling(source: io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "writing a temporary file".to_owned(),
        source,
    }
}
