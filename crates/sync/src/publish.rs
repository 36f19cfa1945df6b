//! Writes to a target the events that no machine has put there.

use std::collections::BTreeSet;
use std::io::Write;

use icm_api::Progress;
use icm_api::error::Result;
use icm_log::OriginId;
use icm_log::bundle::{ChainRange, Exported};
use icm_service::Service;

use crate::SyncOptions;
use crate::answer::SyncAnswer;
use crate::export::{Export, spooling, temporary};
use crate::index::{INDEX, Index, Listed, is_name, name_of};
use crate::pull::fetched;
use crate::refused::{Reason, Refused};
use crate::target::{Target, UNFINISHED};

/// A bundle is merged into the new one if it has at most this many times the events that come after it. So there are
/// few bundles, and an event is rewritten a few times only. Raised, there are fewer bundles and more rewriting.
const GROWTH: u64 = 2;

/// Adds the events that this store has and the target lacks.
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
    let is_closed = |it: &Refused| {
        it.writer == folder
            && (it.reason == Reason::Newer || it.file == INDEX && it.reason == Reason::Unreadable)
    };
    if answer.refused.iter().any(is_closed) {
        return Ok(()); // this version must not replace the index, or cannot read it
    }
    let files = target.files(&folder)?;
    let known: Vec<(OriginId, u64)> = (others.iter())
        .filter(|index| chains.contains(&index.writer))
        .map(|index| (index.writer, index.redactions))
        .collect();
    let others = there_of(&others, &chains, writer, target, options.anew, answer)?;
    let before = mine.into_iter().next().unwrap_or(Index::empty(writer));
    let mut kept = before.clone();
    // A missing bundle, or one of another length, is written again.
    kept.bundles
        .retain(|listed| files.contains(&(listed.file.clone(), listed.bytes)));
    let all: Vec<ChainRange> = others.iter().map(|(_, range)| *range).collect();
    let there = |others: &[ChainRange], kept: &Index| -> Vec<ChainRange> {
        others.iter().copied().chain(kept.ranges()).collect()
    };

    let mut news = Export::of(service, &there(&all, &kept), options.bundle_len, progress)?;
    // Redacted texts must leave the files of this machine, too.
    let redactions = news.exported.redactions;
    let outdated = known.iter().filter(|(_, known)| *known < redactions);
    answer.sent.outdated = outdated.map(|(writer, _)| writer.to_string()).collect();
    let is_redacted = redactions > kept.redactions && !kept.bundles.is_empty();
    answer.sent.anew = options.anew || is_redacted;
    answer.sent.incomplete = (news.exported.incomplete.iter())
        .map(OriginId::to_string)
        .collect();
    // A redaction that arrives from now on is left to the next sync.
    kept.redactions = redactions;
    let again = match answer.sent.anew {
        true => std::mem::take(&mut kept.bundles),
        false => to_merge(&mut kept.bundles, &news.exported, options.bundle_len),
    };
    let again_events: u64 = again.iter().map(Listed::events).sum();
    let others = still_there(&others, writer, &again);
    if answer.dry_run {
        let all = Export::all(service, &there(&others, &kept), progress)?;
        answer.sent.events = all.events.saturating_sub(again_events);
        if all.events > 0 {
            answer.sent.files = all.bytes.div_ceil(options.bundle_len);
            answer.sent.bytes = all.bytes;
        }
        return Ok(());
    }
    if !again.is_empty() {
        news = Export::of(
            service,
            &there(&others, &kept),
            options.bundle_len,
            progress,
        )?;
    }
    let mut sent = 0;
    while news.exported.events > 0 {
        sent += news.exported.events;
        answer.sent.events = sent.saturating_sub(again_events);
        answer.sent.files += 1;
        answer.sent.bytes += news.exported.bytes;
        let more = news.exported.more;
        kept.bundles.push(put(target, &folder, news)?);
        if !more {
            break;
        }
        // An interrupted sync continues after this bundle.
        put_index(target, &folder, &kept)?;
        news = Export::of(
            service,
            &there(&others, &kept),
            options.bundle_len,
            progress,
        )?;
    }
    if kept != before {
        put_index(target, &folder, &kept)?;
        // If this machine's index was damaged, it is whole again.
        (answer.refused).retain(|it| it.writer != folder || it.file != INDEX);
    }
    remove_replaced(target, former, &folder, files, &kept)
}

/// Removes the files that the index of this machine no longer names, and the folders of its `former` origins.
fn remove_replaced(
    target: &dyn Target,
    former: Vec<Index>,
    folder: &str,
    files: Vec<(String, u64)>,
    kept: &Index,
) -> Result<()> {
    // The new files hold all events from these folders.
    for index in former {
        let folder = index.writer.to_string();
        target.remove(&folder, INDEX)?;
        for (name, _) in target.files(&folder)? {
            if is_ours(&name) {
                target.remove(&folder, &name)?;
            }
        }
    }
    // A machine that still reads by the old index finds these files missing, and then reads the new index.
    let listed = |name: &str| kept.bundles.iter().any(|listed| listed.file == name);
    for (name, _) in files {
        if is_ours(&name) && !listed(&name) {
            target.remove(folder, &name)?;
        }
    }
    Ok(())
}

/// Returns `true` if a file in the folder of a machine is a bundle, or the unfinished file of an interrupted writer.
fn is_ours(name: &str) -> bool {
    is_name(name) || name.starts_with(UNFINISHED)
}

/// Returns the ranges of events that other machines have at the target. A bundle counts if it has the listed length and
/// this sync did not find it damaged; with `are_read`, all bundles are read to check them. `own` is this machine's
/// origin, `chains` are its former ones.
fn there_of(
    others: &[Index],
    chains: &[OriginId],
    own: OriginId,
    target: &dyn Target,
    are_read: bool,
    answer: &mut SyncAnswer,
) -> Result<Vec<(OriginId, ChainRange)>> {
    let mut there = Vec::new();
    for index in others {
        let writer = index.writer.to_string();
        if are_read {
            // A changed bundle is reported in the answer, and does not count as there.
            for listed in &index.bundles {
                fetched(target, index.writer, listed, answer)?;
            }
        }
        let files: BTreeSet<(String, u64)> = target.files(&writer)?.into_iter().collect();
        let is_bad = |listed: &Listed| {
            let mut bad = answer.refused.iter().chain(&answer.not_there);
            bad.any(|it| it.writer == writer && it.file == listed.file)
        };
        let is_there = |listed: &&Listed| {
            files.contains(&(listed.file.clone(), listed.bytes)) && !is_bad(listed)
        };
        let bundles = index.bundles.iter().filter(is_there);
        // Events of this machine count only from its own folders, so it writes them even if others list them.
        let is_former = chains.contains(&index.writer);
        let is_own = |range: &&ChainRange| range.origin == own || chains.contains(&range.origin);
        let ranges = bundles.flat_map(|listed| &listed.ranges);
        let counts = ranges.filter(|range| is_former || !is_own(range));
        there.extend(counts.map(|range| (index.writer, *range)));
    }
    Ok(there)
}

/// Returns the ranges of others that still count while `again` is written anew. If two machines rewrite the same events
/// at the same time, each could rely on the other; so a machine relies on smaller origins only.
fn still_there(
    others: &[(OriginId, ChainRange)],
    writer: OriginId,
    again: &[Listed],
) -> Vec<ChainRange> {
    let again: Vec<&ChainRange> = again.iter().flat_map(|listed| &listed.ranges).collect();
    let meets = |range: &ChainRange| {
        let mut again = again.iter().filter(|it| it.origin == range.origin);
        again.any(|it| it.from_seq <= range.to_seq && range.from_seq <= it.to_seq)
    };
    let stays = others
        .iter()
        .filter(|(of, range)| *of < writer || !meets(range));
    stays.map(|(_, range)| *range).collect()
}

/// Takes from the end of `kept` the bundles to be written anew together with the new events.
fn to_merge(kept: &mut Vec<Listed>, news: &Exported, bundle_len: u64) -> Vec<Listed> {
    let (mut events, mut bytes) = (news.events, news.bytes);
    let mut again = Vec::new();
    while let Some(last) = kept.last()
        && events > 0
        && last.events() <= events.saturating_mul(GROWTH)
        && last.bytes.saturating_add(bytes) <= bundle_len
    {
        events = events.saturating_add(last.events());
        bytes += last.bytes;
        again.extend(kept.pop());
    }
    again
}

fn put(target: &dyn Target, folder: &str, mut bundle: Export) -> Result<Listed> {
    let mut hasher = blake3::Hasher::new();
    (hasher.update_reader(&mut bundle.file)).map_err(spooling)?;
    let file = name_of(&hasher.finalize());
    target.put(folder, &file, &mut bundle.file)?;
    Ok(Listed {
        file,
        bytes: bundle.exported.bytes,
        ranges: bundle.exported.ranges,
    })
}

fn put_index(target: &dyn Target, folder: &str, index: &Index) -> Result<()> {
    let mut file = temporary()?;
    (file.write_all(index.encode().as_bytes())).map_err(spooling)?;
    target.put(folder, INDEX, &mut file)
}
