//! Statistics of a store.

use std::collections::HashSet;
use std::ops::ControlFlow;

use icm_log::facts::{Importance, ScopeKind, Trust};
use icm_log::{Kind, Position};
use icm_projections::{ALL_IDS, Views};

use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::when::rfc3339;
use icm_api::{ByImportance, ByScope, ByTrust, PartSizes, Stats, ViewProgress};

/// The counts of a pass over the memories.
#[derive(Debug, Default, PartialEq)]
struct Living {
    importance: ByImportance,
    scope: ByScope,
    trust: ByTrust,
    memories: u64,
    forgotten: u64,
    expired: u64,
    topics: u64,
    weight_ppm: u64,
    oldest_ms: Option<u64>,
    newest_ms: Option<u64>,
}

impl Living {
    fn add(
        &mut self,
        (importance, scope, trust): (Importance, ScopeKind, Trust),
        created_ms: u64,
        weight_ppm: u32,
    ) {
        self.memories += 1;
        *match importance {
            Importance::Low => &mut self.importance.low,
            Importance::Medium => &mut self.importance.medium,
            Importance::High => &mut self.importance.high,
            Importance::Critical => &mut self.importance.critical,
        } += 1;
        *match scope {
            ScopeKind::Global => &mut self.scope.global,
            ScopeKind::Project => &mut self.scope.project,
            ScopeKind::Session => &mut self.scope.session,
        } += 1;
        *match trust {
            Trust::User => &mut self.trust.user,
            Trust::Agent => &mut self.trust.agent,
            Trust::External => &mut self.trust.external,
        } += 1;
        let oldest = self.oldest_ms.map_or(created_ms, |ms| ms.min(created_ms));
        let newest = self.newest_ms.map_or(created_ms, |ms| ms.max(created_ms));
        (self.oldest_ms, self.newest_ms) = (Some(oldest), Some(newest));
        self.weight_ppm += u64::from(weight_ppm);
    }
}

/// The counts of the log.
struct LogCounts {
    events: u64,
    recalls: u64,
    first_ms: Option<u64>,
    last_ms: Option<u64>,
}

impl Service {
    /// Returns the statistics of the store as of a moment. Reads the row facts of all memories; for an earlier moment
    /// every memory, and the log up to there.
    pub fn stats(&self, at: Option<&str>) -> Result<Stats> {
        let log_bytes = self.log.len_bytes()?;
        let dir = &self.options.dir;
        let bytes = folder_len(dir);
        let [cache, torn, models] =
            ["cache", "torn", "models"].map(|part| folder_len(&dir.join(part)));
        self.with_views(|views| {
            let tally = views.tally();
            let (table_bytes, text_bytes, vectors_bytes) = views.sizes();
            let at = self.at(views, at, None)?;
            let (memoirs, concepts) = self.graph_counts(views, at.position)?;
            let told = match at.is_now {
                true => LogCounts {
                    events: tally.events,
                    recalls: tally.recalls,
                    first_ms: tally.first_ms,
                    last_ms: tally.last_ms,
                },
                false => self.told_until(at.position)?,
            };
            let progress = |view: &str, bytes| ViewProgress {
                view: view.to_owned(),
                position: views.base_position().0,
                behind: views.tail_len(),
                bytes,
            };
            let living = self.living_in_numbers(views, at)?;
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
                basis: at.to_basis(),
                by_importance: living.importance,
                by_scope: living.scope,
                by_trust: living.trust,
                mean_weight: (living.memories > 0)
                    .then(|| living.weight_ppm as f64 / living.memories as f64 / 1e6),
                oldest_at: living.oldest_ms.map(rfc3339),
                newest_at: living.newest_ms.map(rfc3339),
                recalls: told.recalls,
                sizes,
                memories: living.memories,
                forgotten: living.forgotten,
                expired: living.expired,
                topics: living.topics,
                memoirs,
                concepts,
                events: told.events,
                bytes,
                log_bytes,
                positions: at.position.0,
                store: self.options.dir.clone(),
                // Without a readable `store.toml`, the origin is that of the chain that is read.
                origin: (self.log.origin())
                    .or_else(|| self.log.tip().map(|tip| tip.origin))
                    .map(|origin| origin.to_string()),
                first_event_at: told.first_ms.map(rfc3339),
                last_event_at: told.last_ms.map(rfc3339),
                views: vec![
                    progress("table", table_bytes),
                    progress("text", text_bytes),
                    progress("vectors", vectors_bytes),
                ],
            })
        })
    }

    /// Returns the counts of the log up to a position.
    fn told_until(&self, position: Position) -> QueryResult<LogCounts> {
        let mut told = LogCounts {
            events: 0,
            recalls: 0,
            first_ms: None,
            last_ms: None,
        };
        let from = self.log.cursor_before(Position(1), &())?;
        self.log.scan(&from, &mut |event| {
            if event.position > position {
                return ControlFlow::Break(());
            }
            let ms = event.head.time().ms();
            told.events += 1;
            told.recalls += u64::from(event.head.kind() == Kind::MEMORY_RECALLED);
            told.first_ms = Some(told.first_ms.map_or(ms, |first| first.min(ms)));
            told.last_ms = told.last_ms.max(Some(ms));
            ControlFlow::Continue(())
        })?;
        Ok(told)
    }

    fn living_in_numbers(&self, views: &Views, at: At) -> QueryResult<Living> {
        let expired = Expired::at(self, views, &at);
        match at.is_now {
            true => self.living_now(views, &expired),
            false => self.living_then(views, at.position, &expired),
        }
    }

    /// Returns the counts as of now, from the row facts.
    fn living_now(&self, views: &Views, expired: &Expired<'_>) -> QueryResult<Living> {
        let mut living = Living {
            forgotten: views.tally().forgotten,
            ..Living::default()
        };
        let mut tags = HashSet::new();
        self.each_weighed(views, &mut |row, weight_ppm| {
            if expired.hides_row(row) {
                living.expired += u64::from(!expired.is_planned_row(row));
                return;
            }
            if expired.is_possible() {
                tags.insert(row.topic);
            }
            let facts = (row.facts.importance, row.scope_kind, row.facts.trust);
            living.add(facts, row.created_ms, weight_ppm);
        })?;
        expired.checked()?;
        if expired.is_possible() {
            // Two topics in some thousand millions share a tag.
            living.topics = tags.len() as u64;
            return Ok(living);
        }
        // Memories of a withheld topic count as one more topic.
        let named = views.topics()?;
        let in_named: u64 = named.iter().map(|topic| topic.memories).sum();
        living.topics = named.len() as u64 + u64::from(in_named < living.memories);
        Ok(living)
    }

    /// Returns the counts as of an earlier moment.
    fn living_then(
        &self,
        views: &Views,
        position: Position,
        expired: &Expired<'_>,
    ) -> QueryResult<Living> {
        let mut living = Living::default();
        let mut topics = HashSet::new();
        let mut failed = None;
        views.each_at(ALL_IDS, position, false, &mut |_, version| {
            if !version.is_alive() {
                living.forgotten += u64::from(version.is_forgotten() && !version.is_part());
                return Ok(true);
            }
            if expired.hides(version) {
                living.expired += u64::from(expired.is_expired(version));
                return Ok(true);
            }
            let topic = version.topic.as_deref().unwrap_or_default();
            if !topics.contains(topic) {
                topics.insert(topic.to_owned());
            }
            let facts = (version.importance, version.scope_kind, version.trust);
            match self.weight_ppm_at(views, version, position) {
                Ok(weight_ppm) => living.add(facts, version.created_ms, weight_ppm),
                Err(error) => failed = Some(error),
            }
            Ok(failed.is_none())
        })?;
        expired.checked()?;
        living.topics = topics.len() as u64;
        match failed {
            Some(error) => Err(error),
            None => Ok(living),
        }
    }
}

/// Returns the bytes of the files below a folder.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::OpenOptions;
    use icm_api::{Caller, Importance as Level, StoreRequest};

    #[test]
    fn row_facts_give_the_numbers_that_the_memories_give() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: std::time::Duration::from_secs(10),
            read_only: false,
        };
        let service = Service::open(options).expect("a store");
        let caller = Caller::default();
        let mut ids = Vec::new();
        for n in 0..40 {
            let request = StoreRequest {
                importance: [Some(Level::High), None, Some(Level::Low)][n % 3],
                scope: (n % 5 == 0).then(|| format!("project:p{n}")),
                ..StoreRequest::new(
                    format!("t{}", n % 3),
                    format!("memory {n} says {}", n * 7_919),
                )
            };
            ids.push(service.store(&caller, request).expect("it stores").id);
            if n == 20 {
                service.rebuild(&icm_api::NoProgress).expect("it builds");
            }
        }
        let gone = [ids[3].clone(), ids[30].clone()];
        service.forget(&caller, &gone).expect("it forgets");
        let both = service.with_views(|views| {
            let position = views.tally().position;
            Ok((
                service.living_now(views, &Expired::now(&service, views))?,
                service.living_then(views, position, &Expired::now(&service, views))?,
            ))
        });
        let (now, then) = both.expect("it counts");
        assert_eq!((now.memories, now.forgotten), (38, 2));
        assert_eq!(now, then);
    }
}
