//! The store in numbers.

use icm_log::facts::{Importance, ScopeKind, Trust};
use icm_projections::{ALL_IDS, Views};

use super::{Ask, Service};
use crate::api::{ByImportance, ByScope, ByTrust, PartSizes, Stats, ViewProgress};
use crate::error::Result;
use crate::when::rfc3339;

/// What a pass over the living memories counts.
#[derive(Default)]
struct Living {
    importance: ByImportance,
    scope: ByScope,
    trust: ByTrust,
    memories: u64,
    weight_ppm: u64,
    oldest_ms: Option<u64>,
    newest_ms: Option<u64>,
}

impl Service {
    /// The whole store in numbers. Reads every living memory.
    pub fn stats(&self) -> Result<Stats> {
        let log_bytes = self.log.len_bytes()?;
        let dir = &self.options.dir;
        let bytes = folder_len(dir);
        let [cache, torn, models] =
            ["cache", "torn", "models"].map(|part| folder_len(&dir.join(part)));
        self.with_views(|views| {
            let tally = views.tally();
            let (table_bytes, text_bytes, vectors_bytes) = views.sizes();
            let (memoirs, concepts) = self.graph_counts(views)?;
            let progress = |view: &str, bytes| ViewProgress {
                view: view.to_owned(),
                position: views.base_position().0,
                behind: views.tail_len(),
                bytes,
            };
            let living = self.living_in_numbers(views)?;
            let mut sizes = PartSizes {
                log: log_bytes,
                table: table_bytes,
                text: text_bytes,
                vectors: vectors_bytes,
                cache,
                torn,
                models,
                other: 0,
            };
            sizes.other = bytes.saturating_sub(sizes.sum());
            Ok(Stats {
                by_importance: living.importance,
                by_scope: living.scope,
                by_trust: living.trust,
                mean_weight: (living.memories > 0)
                    .then(|| living.weight_ppm as f64 / living.memories as f64 / 1e6),
                oldest_at: living.oldest_ms.map(rfc3339),
                newest_at: living.newest_ms.map(rfc3339),
                recalls: tally.recalls,
                sizes,
                memories: tally.memories,
                forgotten: tally.forgotten,
                topics: views.topics()?.len() as u64,
                memoirs,
                concepts,
                events: tally.events,
                bytes,
                log_bytes,
                positions: tally.position.0,
                store: self.options.dir.clone(),
                // Without a readable `store.toml` it is that of the chain that is read.
                origin: (self.log.origin())
                    .or_else(|| self.log.tip().map(|tip| tip.origin))
                    .map(|origin| origin.to_string()),
                first_event_at: tally.first_ms.map(rfc3339),
                last_event_at: tally.last_ms.map(rfc3339),
                views: vec![
                    progress("table", table_bytes),
                    progress("text", text_bytes),
                    progress("vectors", vectors_bytes),
                ],
            })
        })
    }

    fn living_in_numbers(&self, views: &Views) -> std::result::Result<Living, Ask> {
        let newest = views.tally().position;
        let mut living = Living::default();
        let mut failed = None;
        views.each_at(ALL_IDS, newest, false, &mut |_, version| {
            if !version.is_alive() {
                return Ok(true);
            }
            living.memories += 1;
            *match version.importance {
                Importance::Low => &mut living.importance.low,
                Importance::Medium => &mut living.importance.medium,
                Importance::High => &mut living.importance.high,
                Importance::Critical => &mut living.importance.critical,
            } += 1;
            *match version.scope_kind {
                ScopeKind::Global => &mut living.scope.global,
                ScopeKind::Project => &mut living.scope.project,
                ScopeKind::Session => &mut living.scope.session,
            } += 1;
            *match version.trust {
                Trust::User => &mut living.trust.user,
                Trust::Agent => &mut living.trust.agent,
                Trust::External => &mut living.trust.external,
            } += 1;
            let ms = version.created_ms;
            living.oldest_ms = Some(living.oldest_ms.map_or(ms, |oldest| oldest.min(ms)));
            living.newest_ms = Some(living.newest_ms.map_or(ms, |newest| newest.max(ms)));
            match self.weight_ppm_at(views, version, newest) {
                Ok(weight) => living.weight_ppm += u64::from(weight),
                Err(error) => failed = Some(error),
            }
            Ok(failed.is_none())
        })?;
        match failed {
            Some(error) => Err(error),
            None => Ok(living),
        }
    }
}

/// Bytes of the files below a folder.
fn folder_len(dir: &std::path::Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok()?;
            Some(if metadata.is_dir() {
                folder_len(&entry.path())
            } else {
                metadata.len()
            })
        })
        .sum()
}
