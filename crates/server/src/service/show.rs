//! Rows as callers see them.

use icm_log::facts::{self, fields};
use icm_log::{Position, SubjectId};
use icm_projections::fold::{Version, changed};
use icm_projections::{ALL_IDS, Views};

use super::{Ask, Service};
use crate::api::{Importance, Memory, Source, Trust};
use crate::error::ServiceError;
use crate::ids::{id_range, id_text};
use crate::when::{rfc3339, rfc3339_signed};

impl From<facts::Importance> for Importance {
    fn from(importance: facts::Importance) -> Self {
        match importance {
            facts::Importance::Low => Importance::Low,
            facts::Importance::Medium => Importance::Medium,
            facts::Importance::High => Importance::High,
            facts::Importance::Critical => Importance::Critical,
        }
    }
}

impl From<Importance> for facts::Importance {
    fn from(importance: Importance) -> Self {
        match importance {
            Importance::Low => facts::Importance::Low,
            Importance::Medium => facts::Importance::Medium,
            Importance::High => facts::Importance::High,
            Importance::Critical => facts::Importance::Critical,
        }
    }
}

impl From<facts::Trust> for Trust {
    fn from(trust: facts::Trust) -> Self {
        match trust {
            facts::Trust::User => Trust::User,
            facts::Trust::Agent => Trust::Agent,
            facts::Trust::External => Trust::External,
        }
    }
}

impl From<Trust> for facts::Trust {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::User => facts::Trust::User,
            Trust::Agent => facts::Trust::Agent,
            Trust::External => facts::Trust::External,
        }
    }
}

/// Names of the fields in a set.
pub(super) fn field_names(set: u32) -> Vec<String> {
    let fields = fields::NAMES.iter().filter(|(bit, _)| set & bit != 0);
    let mut names: Vec<String> = fields.map(|(_, name)| (*name).to_owned()).collect();
    if set & changed::KEYWORDS != 0 {
        names.push("keywords".to_owned());
    }
    if set & changed::ALIVE != 0 {
        names.push("forgotten".to_owned());
    }
    names
}

/// A row as of a basis.
pub(super) fn memory(version: &Version, accesses: (u64, Option<u64>)) -> Memory {
    let source = version.source.clone();
    Memory {
        id: id_text(version.id),
        key: version.key.clone(),
        topic: version
            .topic
            .clone()
            .unwrap_or_else(|| "(withheld)".to_owned()),
        content: version.content.clone(),
        raw_excerpt: version.raw_excerpt.clone(),
        importance: version.importance.into(),
        weight: f64::from(version.weight_ppm) / 1e6,
        keywords: version.keyword_texts(),
        scope: version.scope_text(),
        trust: version.trust.into(),
        source: Source {
            agent: source.agent,
            client: source.client,
            session: source.session,
            project: source.project,
            file: source.file,
        },
        created_at: rfc3339(version.created_ms),
        updated_at: rfc3339(version.updated_ms),
        occurred_at: version.occurred_at_ms.map(rfc3339_signed),
        last_accessed: accesses.1.map(rfc3339),
        access_count: accesses.0,
        metadata: version
            .metadata
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok()),
        forgotten: !version.is_alive(),
        withheld: field_names(version.withheld),
    }
}

impl Service {
    /// A row with what recalls made of it.
    pub(super) fn memory_at(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> std::result::Result<Memory, Ask> {
        let entity = views.resolve(version.id)?;
        Ok(memory(version, views.accesses_at(entity, position)?))
    }

    /// The memory that a full id or a unique prefix names, living or not.
    pub(super) fn find_memory(
        &self,
        views: &Views,
        given: &str,
    ) -> std::result::Result<SubjectId, Ask> {
        let newest = views.tally().position;
        let Some((low, high)) = id_range(given) else {
            return Err(not_found(given, Vec::new()));
        };
        if low == high {
            let entity = views.resolve(low)?;
            if views.version_at(entity, newest)?.is_some() {
                return Ok(entity);
            }
        }
        let mut found = Vec::new();
        views.each_at((low, high), newest, false, &mut |entity, version| {
            found.push((entity, id_text(version.id)));
            Ok(found.len() < 11)
        })?;
        match found.as_slice() {
            [] => Err(not_found(given, self.nearest(views, low, high)?)),
            [(entity, _)] => Ok(*entity),
            several => Err(ServiceError::Ambiguous {
                what: "memory",
                prefix: given.to_owned(),
                matches: several.iter().take(10).map(|(_, id)| id.clone()).collect(),
            }
            .into()),
        }
    }

    /// The ids directly before and after a range.
    fn nearest(
        &self,
        views: &Views,
        low: SubjectId,
        high: SubjectId,
    ) -> std::result::Result<Vec<String>, Ask> {
        let newest = views.tally().position;
        let mut nearest = Vec::new();
        views.each_at((ALL_IDS.0, low), newest, true, &mut |_, version| {
            nearest.push(id_text(version.id));
            Ok(nearest.len() < 2)
        })?;
        let before = nearest.len();
        views.each_at((high, ALL_IDS.1), newest, false, &mut |_, version| {
            nearest.push(id_text(version.id));
            Ok(nearest.len() < before + 2)
        })?;
        Ok(nearest)
    }
}

fn not_found(given: &str, nearest: Vec<String>) -> Ask {
    ServiceError::NotFound {
        what: "memory",
        id: given.to_owned(),
        nearest,
    }
    .into()
}
