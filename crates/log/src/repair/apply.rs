//! Changes the files for a repair.
//!
//! Each step is durable before the next. Bytes are set aside, a marker is written, new segments get temporary names,
//! then their final names. Last, files whose events are in the new segments are removed.

use std::io;
use std::path::{Path, PathBuf};

use super::Plan;
use super::chain_plan::{Aside, ChainPlan, Target};
use super::salvage::Salvaged;
use crate::chain;
use crate::disk::{self, Disk, OpenMode};
use crate::error::{LogError, Result, at};
use crate::layout::{self, ACKED_FILE, STORE_FILE, TORN_DIR};
use crate::log::Log;
use crate::scan::Step;
use icm_event::id::OriginId;
use icm_event::record::{self, Body, Parsed, SALT_LEN};

/// A new segment under a temporary name, and its final name.
struct Begun {
    from: PathBuf,
    to: PathBuf,
}

impl Log {
    pub(super) fn change_files(&self, plan: &Plan) -> Result<()> {
        let disk = &*self.disk;
        let chains: Vec<&ChainPlan> = plan.chains.iter().filter(|it| !it.is_empty()).collect();
        let asides = chains.iter().flat_map(|chain| {
            let origin = chain.origin;
            chain.aside.iter().map(move |aside| (origin, aside))
        });
        let asides: Vec<(OriginId, &Aside)> = asides.collect();
        if !asides.is_empty() || plan.report.new_secret || plan.slot_aside.is_some() {
            let torn_dir = self.dir.join(TORN_DIR);
            disk.create_dir_all(&torn_dir)
                .map_err(at("creating", &torn_dir))?;
            for (origin, aside) in asides {
                let source = &plan.salvaged.sources[aside.slice.source];
                let bytes = source.bytes(aside.slice.start, aside.slice.end)?;
                let stem = format!("{origin}-{:020}-{}", aside.seq.0, aside.slice.start);
                keep(disk, &torn_dir, &stem, &bytes)?;
            }
            self.keep_store_file(plan, &torn_dir)?;
            if let Some(bytes) = &plan.slot_aside {
                keep(disk, &torn_dir, "acked", bytes)?;
            }
            disk.sync_dir(&self.dir).map_err(at("syncing", &self.dir))?;
        }
        self.write_marker(plan)?;
        if plan.slot_aside.is_some() {
            let path = self.dir.join(ACKED_FILE);
            disk.remove_file(&path).map_err(at("removing", &path))?;
            disk.sync_dir(&self.dir).map_err(at("syncing", &self.dir))?;
        }
        let mut begun = Vec::new();
        for chain in &chains {
            self.begin_segments(&plan.salvaged, chain, &mut begun)?;
        }
        for Begun { from, to } in &begun {
            disk.rename(from, to).map_err(at("renaming", from))?;
        }
        for chain in &chains {
            self.sync_chain(chain.origin)?;
        }
        for path in chains.iter().flat_map(|chain| &chain.remove) {
            disk.remove_file(path).map_err(at("removing", path))?;
        }
        self.remove_leftovers()?;
        for chain in &chains {
            self.sync_chain(chain.origin)?;
        }
        Ok(())
    }

    /// Sets `store.toml` aside: a person may still read the secret in it.
    fn keep_store_file(&self, plan: &Plan, torn_dir: &Path) -> Result<()> {
        if !plan.report.new_secret {
            return Ok(());
        }
        let path = self.dir.join(STORE_FILE);
        match disk::read_all(&*self.disk, &path, 64 * 1_024) {
            Ok(bytes) if !bytes.is_empty() => keep(&*self.disk, torn_dir, "store", &bytes),
            _ => Ok(()),
        }
    }

    /// Writes the marker with the knowledge that is lost once old bytes are removed.
    fn write_marker(&self, plan: &Plan) -> Result<()> {
        let mut marker = plan.marker.clone().unwrap_or_default();
        for chain in &plan.chains {
            marker.ends.extend(chain.end.map(|end| (chain.origin, end)));
        }
        marker.ends.sort_unstable();
        marker.ends.dedup();
        marker.payloads.extend(&plan.payloads);
        let further = plan.chains.iter().filter(|chain| chain.further);
        marker.further.extend(further.map(|chain| chain.origin));
        if plan.marker.as_ref() == Some(&marker) {
            return Ok(());
        }
        marker.write(&*self.disk, &self.dir)
    }

    /// Writes new segments beside the existing ones.
    fn begin_segments(
        &self,
        salvaged: &Salvaged,
        chain: &ChainPlan,
        begun: &mut Vec<Begun>,
    ) -> Result<()> {
        if chain.write.is_empty() {
            return Ok(());
        }
        let disk = &*self.disk;
        let dir = layout::dir_of(&self.dir, chain.origin);
        disk.create_dir_all(&dir).map_err(at("creating", &dir))?;
        for target in &chain.write {
            let to = dir.join(target.name.to_string());
            let from = unused_name(disk, &to)?;
            let bytes = contents(salvaged, chain, target)?;
            let file = disk.open(&from, OpenMode::CreateNew);
            let file = file.map_err(at("creating", &from))?;
            let written = file.write_at(&bytes, 0).and_then(|()| file.sync());
            written.map_err(at("writing", &from))?;
            begun.push(Begun { from, to });
        }
        self.sync_chain(chain.origin)
    }

    fn sync_chain(&self, origin: OriginId) -> Result<()> {
        let dir = layout::dir_of(&self.dir, origin);
        match self.disk.sync_dir(&dir) {
            // A learned chain of which nothing is left.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            synced => synced.map_err(at("syncing", &dir))?,
        }
        for dir in [self.dir.join(layout::LOG_DIR), self.dir.clone()] {
            self.disk.sync_dir(&dir).map_err(at("syncing", &dir))?;
        }
        Ok(())
    }

    /// Removes new segments that a killed repair left under temporary names.
    fn remove_leftovers(&self) -> Result<()> {
        for origin in chain::origins(&*self.disk, &self.dir)? {
            let dir = layout::dir_of(&self.dir, origin);
            let entries = self.disk.read_dir(&dir).map_err(at("reading", &dir))?;
            for entry in entries.iter().filter(|entry| !entry.is_dir) {
                if is_leftover(&entry.name) {
                    let path = dir.join(&entry.name);
                    self.disk
                        .remove_file(&path)
                        .map_err(at("removing", &path))?;
                }
            }
        }
        Ok(())
    }
}

/// Writes bytes to a file in `torn/`, unless such a file holds them already.
fn keep(disk: &dyn Disk, torn_dir: &Path, stem: &str, bytes: &[u8]) -> Result<()> {
    for n in 1.. {
        let path = torn_dir.join(format!("{stem}-{n}.torn"));
        match disk::read_all(disk, &path, u64::MAX) {
            Ok(there) if there == bytes => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                disk::replace(disk, &path, bytes).map_err(at("writing", &path))?;
                break;
            }
            Err(error) => return Err(at("reading", &path)(error)),
        }
    }
    Ok(())
}

/// Returns an unused temporary name for a segment. The file of a killed repair is kept: it may hold the only copy of
/// its events.
fn unused_name(disk: &dyn Disk, to: &Path) -> Result<PathBuf> {
    for n in 1.. {
        let path = to.with_extension(format!("{n}.new"));
        if disk.stamp(&path).map_err(at("reading", &path))?.is_none() {
            return Ok(path);
        }
    }
    unreachable!("numbers do not run out")
}

/// Returns `true` if a file has the temporary name of a segment, of this repair or another.
fn is_leftover(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        [segment, n, "new"] => {
            let number = !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit());
            let segment = format!("{segment}.{}", icm_event::segment::EXTENSION);
            number && icm_event::segment::SegmentName::parse(&segment).is_some()
        }
        _ => false,
    }
}

/// Returns the bytes of a segment.
fn contents(salvaged: &Salvaged, chain: &ChainPlan, target: &Target) -> Result<Vec<u8>> {
    let mut out = target.header.encode().to_vec();
    for slice in &target.slices {
        let source = &salvaged.sources[slice.source];
        let mut scan = source.scan(slice.start, slice.end);
        let mut at_offset = slice.start;
        while let Step::Record { offset, record, id } = scan.step()? {
            at_offset = offset + record.bytes.len() as u64;
            match chain.bodies.get(&id) {
                None => out.extend_from_slice(record.bytes),
                Some((_, None)) => record::encode(&mut out, record.synced, record.head, None),
                Some((_, Some(copy))) => {
                    let bytes = salvaged.sources[copy.source].bytes(copy.start, copy.end)?;
                    let body = match record::parse(&bytes) {
                        Parsed::Record(shape) => shape.view(&bytes).body,
                        _ => Body::Withheld,
                    };
                    let body = match &body {
                        Body::Present { salt, payload } => {
                            salt.first_chunk::<SALT_LEN>().map(|salt| (salt, *payload))
                        }
                        _ => None,
                    };
                    record::encode(&mut out, record.synced, record.head, body);
                }
            }
        }
        if at_offset != slice.end {
            // Somebody wrote to a file while it was read.
            return Err(LogError::Io {
                doing: "reading",
                path: source.path.clone(),
                source: io::Error::new(io::ErrorKind::InvalidData, "it changed meanwhile"),
            });
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_segments_on_their_way_are_left_over() {
        let name = "00000000000000000009-ffffffffffffffff";
        assert!(is_leftover(&format!("{name}.1.new")));
        for other in [
            format!("{name}.new"),
            format!("{name}.icmlog"),
            format!("{name}.x.new"),
            format!("{name} (1).1.new"),
            "1.new".to_owned(),
        ] {
            assert!(!is_leftover(&other), "{other}");
        }
    }
}
