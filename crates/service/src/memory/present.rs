//! Rows in the form that callers see.

use icm_log::facts::fields;
use icm_log::record::Body;
use icm_log::{Kind, Position, SubjectId};
use icm_projections::fold::{FEEDBACK, Family, Version, changed};
use icm_projections::{ALL_IDS, Views};

use crate::command::condition_text;
use crate::history::basis::At;
use crate::memory::link::{Links, confirmations, marks};
use crate::service::{Service, locked};
use crate::snapshot::{QueryError, QueryResult};
use crate::upkeep::decay::decimal;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::{ID_LEN, id_range, id_text};
use icm_api::when::{rfc3339, rfc3339_signed};
use icm_api::{Memory, Source};

/// Returns the names of the fields in a set.
pub(crate) fn field_names(set: u32) -> Vec<String> {
    let fields = fields::NAMES.iter().filter(|(bit, _)| set & bit != 0);
    let mut names: Vec<String> = fields.map(|(_, name)| (*name).to_owned()).collect();
    if set & changed::KEYWORDS != 0 {
        names.push("keywords".to_owned());
    }
    if set & fields::CONFIDENCE != 0 {
        names.push("confidence".to_owned());
    }
    if set & changed::ALIVE != 0 {
        names.push("forgotten".to_owned());
    }
    names
}

/// Returns a row as of a basis, with its initial weight.
pub(crate) fn memory(version: &Version, accesses: (u64, Option<u64>)) -> Memory {
    let source = version.source.clone();
    Memory {
        id: id_text(version.id),
        key: version.key.clone(),
        topic: match version.family() {
            // The list of all feedback has no name that people can read.
            Family::Feedback => "feedback".to_owned(),
            _ => (version.topic.clone()).unwrap_or_else(|| "(withheld)".to_owned()),
        },
        content: version.content.clone(),
        raw_excerpt: version.raw_excerpt.clone(),
        importance: version.importance.into(),
        weight: decimal(version.weight_ppm),
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
        created_at: created_at(version),
        updated_at: updated_at(version),
        occurred_at: version.occurred_at_ms.map(rfc3339_signed),
        pinned_until: version.pinned_until_ms.map(|ms| match ms {
            0 => "unpinned".to_owned(),
            ms => rfc3339(ms),
        }),
        expires: condition_text(version),
        // Only an event decides without a moment.
        expired: version.expires_ms() == 0,
        recalls_left: None,
        planned_from: None,
        last_accessed: accesses.1.map(rfc3339),
        access_count: accesses.0,
        metadata: version
            .metadata
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok()),
        forgotten: version.is_forgotten(),
        undone: version.hidden,
        consolidated_into: None,
        withheld: field_names(version.withheld),
        related: Vec::new(),
        often_together: Vec::new(),
        confirmations: 0,
        marks: None,
        authors: None,
        conflicts: Vec::new(),
    }
}

/// Returns the first moment of the value of a fact that is planned at a basis; `None` for another memory.
pub(crate) fn planned_from(version: &Version, at: &At) -> Option<String> {
    let is_planned = version.is_planned_at(at.moment_ms);
    let from_ms = version.occurred_at_ms.filter(|_| is_planned);
    from_ms.map(rfc3339_signed)
}

/// Returns when a memory was first stored. For an imported memory that is its time in the store it was exported from.
pub(crate) fn created_at(version: &Version) -> String {
    match version.carried {
        Some(carried) => rfc3339_signed(carried.created_ms),
        None => rfc3339(version.created_ms),
    }
}

/// Returns when a memory last changed. If it has not changed since its import, that is its time in the other store.
pub(crate) fn updated_at(version: &Version) -> String {
    match version.carried {
        Some(carried) if version.updated_ms == version.created_ms => {
            rfc3339_signed(carried.updated_ms)
        }
        _ => rfc3339(version.updated_ms),
    }
}

impl Service {
    /// Returns a row with its recalls, its weight and its links.
    pub(crate) fn memory_at(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> QueryResult<Memory> {
        let links = self.links_of(views, version, position, &|_| true)?;
        self.memory_with(views, version, &links, position)
    }

    /// Returns the same for links that were already read.
    pub(crate) fn memory_with(
        &self,
        views: &Views,
        version: &Version,
        links: &Links,
        position: Position,
    ) -> QueryResult<Memory> {
        let entity = views.resolve(version.id)?;
        if version.withheld != 0 {
            self.tell_of_damage(views, entity)?;
        }
        let weight_ppm = views.weight_at(&self.log, entity, version, position)?;
        Ok(Memory {
            weight: decimal(weight_ppm),
            related: links.others.iter().map(|it| it.related.clone()).collect(),
            confirmations: confirmations(version, links),
            marks: Some(marks(links)).filter(|marks| !marks.is_empty()),
            recalls_left: self.recalls_left(views, version, position)?,
            ..memory(version, views.accesses_at(&self.log, entity, position)?)
        })
    }

    /// Returns the weight of a memory as of a position, in parts per million.
    pub(crate) fn weight_ppm_at(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> QueryResult<u32> {
        let entity = views.resolve(version.id)?;
        Ok(views.weight_at(&self.log, entity, version, position)?)
    }

    /// Tells the user if a text of the memory is damaged. A row does not know whether its text was redacted or is
    /// damaged; the log does. One notice stands for several damaged texts.
    fn tell_of_damage(&self, views: &Views, entity: SubjectId) -> QueryResult<()> {
        let told = |line: &String| line.starts_with(DAMAGED_TEXT);
        if locked(&self.notices).iter().any(told) {
            return Ok(());
        }
        let mut damaged = None;
        views.events_at(&self.log, &views.touched(entity)?, &mut |event| {
            if matches!(event.body, Body::Damaged) {
                damaged = Some(event.position);
            }
        })?;
        if let Some(position) = damaged {
            self.notice(format!(
                "{DAMAGED_TEXT}, not taken out (@{position}): keep a copy of the folder, then run \
                 `icm log repair`"
            ));
        }
        Ok(())
    }

    /// Returns the id of the summary that stands for a version, if a consolidation made it a tombstone.
    pub(crate) fn consolidated_into(
        &self,
        views: &Views,
        version: &Version,
    ) -> QueryResult<Option<String>> {
        if !version.is_forgotten() || version.kind() != Kind::MEMORY_CONSOLIDATED {
            return Ok(None);
        }
        let mut summary = None;
        views.events_at(&self.log, &[version.from], &mut |event| {
            if event.id == version.stamp.event {
                summary = Some((event.head.subject(), event.head.command()));
            }
        })?;
        Ok(match summary {
            Some((summary, command)) => Some(id_text(self.summary_of(views, summary, command)?)),
            None => None,
        })
    }

    /// Returns the memory or correction of a full id or a unique prefix, or the memoir or concept of a full id, living or
    /// not.
    pub(crate) fn find_any(&self, views: &Views, given: &str) -> QueryResult<SubjectId> {
        if let Some((low, high)) = id_range(given)
            && low == high
        {
            let entity = views.resolve(low)?;
            if views.version_at(entity, views.tally().position)?.is_some() {
                return Ok(entity);
            }
        }
        match self.memory_named(views, given)? {
            Some(entity) => Ok(entity),
            None => match correction_named(views, given)? {
                Some(correction) => Ok(views.resolve(correction.id)?),
                None => Err(not_found(given, self.nearest(views, given)?)),
            },
        }
    }

    /// Returns the memory of a full id or a unique prefix, living or not.
    pub(crate) fn find_memory(&self, views: &Views, given: &str) -> QueryResult<SubjectId> {
        if let Some((low, high)) = id_range(given)
            && low == high
        {
            let entity = views.resolve(low)?;
            match views.version_at(entity, views.tally().position)? {
                Some(version) if version.family() == Family::Memory => return Ok(entity),
                Some(version) => return Err(no_memory(&version).into()),
                None => {}
            }
        }
        match self.memory_named(views, given)? {
            Some(entity) => Ok(entity),
            None => Err(match correction_named(views, given)? {
                Some(correction) => no_memory(&correction).into(),
                None => not_found(given, self.nearest(views, given)?),
            }),
        }
    }

    /// Returns the memory whose id begins so; `None` if there is none.
    ///
    /// # Errors
    /// `Ambiguous` if there are several.
    fn memory_named(&self, views: &Views, given: &str) -> QueryResult<Option<SubjectId>> {
        let newest = views.tally().position;
        let Some((low, high)) = id_range(given) else {
            return Ok(None);
        };
        let mut found = Vec::new();
        views.each_at((low, high), newest, false, &mut |entity, version| {
            // If two memories turned out to be one, one of the two rows is left behind.
            if views.resolve(entity)? == entity {
                found.push((entity, id_text(version.id)));
            }
            Ok(found.len() < 11)
        })?;
        // A memory may be shown under another id than its row is keyed by.
        for (_, entity) in views.aliases_in((low, high))? {
            let known = found.iter().any(|(found, _)| *found == entity);
            if let Some(version) = views.version_at(entity, newest)?.filter(|_| !known) {
                found.push((entity, id_text(version.id)));
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [(entity, _)] => Ok(Some(*entity)),
            several => Err(ServiceError::Ambiguous {
                what: "memory",
                prefix: given.to_owned(),
                matches: several.iter().take(10).map(|(_, id)| id.clone()).collect(),
            }
            .into()),
        }
    }

    /// Returns up to three ids like `given`, sought among the ids that begin alike, and the id of a memory with that
    /// key.
    fn nearest(&self, views: &Views, given: &str) -> QueryResult<Vec<String>> {
        let newest = views.tally().position;
        let key = given.trim();
        let given: String = key.to_ascii_uppercase();
        let given: Vec<char> = given.chars().take(ID_LEN).collect();
        for len in (0..=given.len()).rev() {
            let prefix: String = given[..len].iter().collect();
            let range = match len {
                0 => ALL_IDS,
                _ => match id_range(&prefix) {
                    Some(range) => range,
                    None => continue,
                },
            };
            let mut near = Vec::new();
            let mut looked_at = 0;
            views.each_at(range, newest, true, &mut |_, version| {
                looked_at += 1;
                let id = id_text(version.id);
                let start: Vec<char> = id.chars().take(given.len()).collect();
                let off = edits(&given, &start);
                if version.key.as_deref() == Some(key) {
                    near.push((0, id));
                } else if off <= (given.len() / 8).max(2) && off < given.len().div_ceil(2) {
                    near.push((off, id));
                }
                Ok(looked_at < NEAREST_LOOK)
            })?;
            // A longer common beginning leaves fewer ids to look at.
            if !near.is_empty() {
                near.sort();
                near.truncate(3);
                return Ok(near.into_iter().map(|(_, id)| id).collect());
            }
        }
        Ok(Vec::new())
    }

    /// Returns how many characters of these ids tell each of them from every other memory of the store, at least `min`.
    pub fn unambiguous_len(&self, ids: &[&str], min: usize) -> Result<usize> {
        self.with_views(|views| {
            let newest = views.tally().position;
            let mut len = min;
            for id in ids {
                let Some((low, high)) = id_range(id) else {
                    continue;
                };
                for (range, descending) in [((ALL_IDS.0, low), true), ((high, ALL_IDS.1), false)] {
                    let mut neighbour = None;
                    views.each_at(range, newest, descending, &mut |_, version| {
                        let other = id_text(version.id);
                        if other != **id {
                            neighbour = Some(other);
                        }
                        Ok(neighbour.is_none())
                    })?;
                    let common = neighbour.map_or(0, |other| {
                        let pairs = other.bytes().zip(id.bytes());
                        pairs.take_while(|(a, b)| a == b).count()
                    });
                    len = len.max((common + 1).min(ID_LEN));
                }
            }
            Ok(len)
        })
    }
}

/// Returns the correction whose id begins so; `None` if there is none or there are several. Reads every correction in the
/// range of the ids.
fn correction_named(views: &Views, given: &str) -> QueryResult<Option<Version>> {
    let Some((low, high)) = id_range(given).filter(|_| views.tally().feedback > 0) else {
        return Ok(None);
    };
    let mut found = None;
    for entity in views.members(FEEDBACK)? {
        let version = match (low..=high).contains(&entity) {
            true => views.version_at(entity, views.tally().position)?,
            false => None,
        };
        if let Some(version) = version
            && found.replace(version).is_some()
        {
            return Ok(None);
        }
    }
    Ok(found)
}

/// Returns the error of a command about memories that was given a memoir, a concept or feedback.
fn no_memory(version: &Version) -> ServiceError {
    let withheld = || "(withheld)".to_owned();
    let id = id_text(version.id);
    let memoir = version.topic.clone().unwrap_or_else(withheld);
    match version.family() {
        Family::Feedback => {
            let event = version.stamp.event.to_string();
            ServiceError::invalid_with(
                format!("{id} is a correction, not a memory"),
                format!(
                    "see it with `icm feedback list`; `icm undo {}` takes it back",
                    &event[..12]
                ),
            )
        }
        Family::Concept => {
            let name = version.key.clone().unwrap_or_else(withheld);
            ServiceError::invalid_with(
                format!("{id} is the concept `{name}` of memoir `{memoir}`, not a memory"),
                format!("see `icm memoir inspect -m '{memoir}' '{name}'` and `icm memoir --help`"),
            )
        }
        _ => ServiceError::invalid_with(
            format!("{id} is the memoir `{memoir}`, not a memory"),
            format!("see `icm memoir show '{memoir}'` and `icm memoir --help`"),
        ),
    }
}

const DAMAGED_TEXT: &str = "a text that shows as withheld is damaged";
/// Ids that are compared to find a mistyped one. Raised, an unknown id costs more reads.
const NEAREST_LOOK: usize = 500;

/// Returns how many characters have to be inserted, deleted or changed to make one text of the other. Two neighbours
/// that changed places count once.
pub(crate) fn edits(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = i * width + j;
            table[at] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = usize::from(a[i - 1] != b[j - 1]);
                let mut least = (table[at - width - 1] + changed)
                    .min(table[at - width] + 1)
                    .min(table[at - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(table[at - 2 * width - 2] + 1);
                }
                least
            };
        }
    }
    table[a.len() * width + b.len()]
}

pub(crate) fn not_found(given: &str, nearest: Vec<String>) -> QueryError {
    ServiceError::NotFound {
        what: "memory",
        id: given.to_owned(),
        nearest,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_are_counted() {
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "axc", 1),
            ("abc", "acb", 1),
            ("abc", "abcd", 1),
            ("abcd", "abd", 1),
            ("abc", "", 3),
            ("abcdef", "badcfe", 3),
        ] {
            let [left, right] = [a, b].map(|text| text.chars().collect::<Vec<_>>());
            assert_eq!(edits(&left, &right), expected, "{a} {b}");
        }
    }
}
