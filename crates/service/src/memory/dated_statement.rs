//! The part of a memory that the rules of `icm-replaces` look at, and the pairs of memories that they may compare.

use icm_log::{Position, SubjectId, facts};
use icm_projections::Views;
use icm_projections::fold::Version;
use icm_replaces::Statement;
use icm_text::{Sought, similarity_ppm};
use jiff::Timestamp;

use crate::command::ValidatedStore;
use crate::memory::present::{created_at, updated_at};
use crate::snapshot::QueryResult;
use icm_api::ids::id_text;
use icm_api::{FACTS, Memory, Trust};

/// Memories of a topic up to which its newest ones are sought, as that takes the ids of all. Raised, recalls in large
/// topics take longer.
const TOPIC_MAX: u64 = 1_000;
/// Newest memories of a topic that are read. Raised, more is found in a topic that many scopes share; each costs a
/// read.
const LOOKED_AT: usize = 24;
/// Newest memories of a topic and scope that are compared. Raised, each comparison takes longer.
const NEWEST: usize = 8;
/// Similarity from which on two texts are compared that are of different topics, or not among the newest of theirs, in
/// parts per million.
const NEAR_PPM: u32 = 600_000;
/// Memories like a text that are compared with it. Raised, a store of a text that is there already reads more.
const LIKE_IT: usize = 16;

/// The part of a memory that the rules look at.
pub(crate) struct DatedStatement {
    /// The id as text.
    pub(crate) id: String,
    pub(crate) topic: String,
    pub(crate) scope: String,
    key: Option<String>,
    pub(crate) content: String,
    /// When the event in the memory happened, else when the memory was stored, in milliseconds.
    pub(crate) valid_ms: i64,
    /// When the memory last changed, if it has no time of its own: its text may be as new as that of another memory.
    changed_ms: Option<i64>,
    is_external: bool,
    pub(crate) statement: Statement,
}

impl DatedStatement {
    /// Returns the statement of a memory; `None` if the text is withheld, or too long to be compared.
    pub(crate) fn of_memory(memory: &Memory) -> Option<DatedStatement> {
        let content = memory.content.clone()?;
        let statement = Statement::of(&content);
        (!statement.is_empty()).then(|| DatedStatement {
            id: memory.id.clone(),
            topic: memory.topic.clone(),
            scope: memory.scope.clone(),
            key: memory.key.clone(),
            content,
            valid_ms: moment(memory.occurred_at.as_deref().unwrap_or(&memory.created_at)),
            changed_ms: memory
                .occurred_at
                .is_none()
                .then(|| moment(&memory.updated_at)),
            is_external: memory.trust == Trust::External,
            statement,
        })
    }

    /// Returns the statement of a row version, as [`DatedStatement::of_memory`] does.
    pub(crate) fn of_version(version: &Version) -> Option<DatedStatement> {
        let content = version.content.clone()?;
        let statement = Statement::of(&content);
        let occurred = version.occurred_at_ms;
        (!statement.is_empty()).then(|| DatedStatement {
            id: id_text(version.id),
            topic: version.topic.clone().unwrap_or_default(),
            scope: version.scope_text(),
            key: version.key.clone(),
            content,
            valid_ms: occurred.unwrap_or_else(|| moment(&created_at(version))),
            changed_ms: occurred.is_none().then(|| moment(&updated_at(version))),
            is_external: Trust::from(version.trust) == Trust::External,
            statement,
        })
    }

    /// Returns the statement of a memory that is being stored.
    pub(crate) fn of_stored(
        checked: &ValidatedStore,
        id: &str,
        now_ms: i64,
    ) -> Option<DatedStatement> {
        let statement = Statement::of(&checked.content);
        (!statement.is_empty()).then(|| DatedStatement {
            id: id.to_owned(),
            topic: checked.topic.clone(),
            scope: checked.scope.to_text(),
            key: checked.key.clone(),
            content: checked.content.clone(),
            valid_ms: checked.occurred_at_ms.unwrap_or(now_ms),
            changed_ms: None,
            is_external: checked.trust == facts::Trust::External,
            statement,
        })
    }

    /// Returns `true` if `self` is newer than `older` and the two may be about one thing.
    pub(crate) fn may_replace(&self, older: &DatedStatement) -> bool {
        let newer = (self.valid_ms, &self.id) > (older.valid_ms, &older.id);
        // If the older memory changed after the newer one was stored, nobody knows which text is newer.
        let changed = older.changed_ms.is_some_and(|at| at > self.valid_ms);
        // A key has its newest value. Memories of two topics that share one are two memories by name. Two facts are two
        // attributes, or attributes of two subjects.
        let shares_key = self.key.is_some() && self.key == older.key;
        let are_facts = self.is_fact() && older.is_fact();
        newer
            && !changed
            && !shares_key
            && !are_facts
            && older.yields_to(self.is_external)
            && self.scope == older.scope
    }

    fn is_fact(&self) -> bool {
        self.key.is_some() && self.topic.starts_with(FACTS)
    }

    /// Returns `true` if a newer memory may take the place of this one. An external memory does not push aside what a
    /// person or an agent said here.
    pub(crate) fn yields_to(&self, is_external: bool) -> bool {
        !is_external || self.is_external
    }

    /// Returns `true` if memories of two topics may be about one thing: they have nearly the same words.
    pub(crate) fn is_near(&self, older: &DatedStatement) -> bool {
        similarity_ppm(&self.content, &older.content) >= NEAR_PPM
    }
}

/// Returns an RFC 3339 time in milliseconds; 0 for any other text.
pub(crate) fn moment(text: &str) -> i64 {
    let moment = text.parse::<Timestamp>();
    moment.map_or(0, Timestamp::as_millisecond)
}

/// Returns the newest memories of a topic and scope, by the time of storing, that were alive at a position. They are
/// sought among the newest members that the topic had at that position.
pub(crate) fn newest_of(
    views: &Views,
    (topic, scope): (&str, &str),
    position: Position,
) -> QueryResult<Vec<(DatedStatement, Version)>> {
    let (memories, _) = views.listed(topic)?;
    if memories > TOPIC_MAX {
        return Ok(Vec::new());
    }
    let members = views.members(topic)?;
    let known = match position < views.tally().position {
        true => known_at(views, &members, position)?,
        false => members.len(),
    };
    let mut newest = Vec::with_capacity(NEWEST);
    for entity in members[..known].iter().rev().take(LOOKED_AT) {
        if let Some(found) = said_in(views, (topic, scope), *entity, position)? {
            newest.push(found);
            if newest.len() == NEWEST {
                break;
            }
        }
    }
    Ok(newest)
}

/// Returns the memories of a topic and scope that a text may be about as well: the newest ones, and the ones most like
/// the text, however old.
///
/// Cost: as a search for near texts in the topic, and a read of each memory that is found.
pub(crate) fn newest_and_like(
    views: &Views,
    home: (&str, &str),
    content: &str,
) -> QueryResult<Vec<(DatedStatement, Version)>> {
    let newest = views.tally().position;
    let mut found = newest_of(views, home, newest)?;
    for hit in views.near(&Sought::of(content), home, (LIKE_IT, NEAR_PPM), None)? {
        if found.iter().any(|(_, known)| known.id == hit.id) {
            continue;
        }
        // The text index only says which rows to look up: the table decides.
        found.extend(said_in(views, home, views.resolve(hit.id)?, newest)?);
    }
    Ok(found)
}

/// Returns a memory if it is alive in a topic and scope at a position, and short enough to be compared.
fn said_in(
    views: &Views,
    (topic, scope): (&str, &str),
    entity: SubjectId,
    position: Position,
) -> QueryResult<Option<(DatedStatement, Version)>> {
    let version = views.version_at(entity, position)?.filter(|version| {
        version.is_alive()
            && version.topic.as_deref() == Some(topic)
            && version.scope_text() == scope
    });
    Ok(version.and_then(|version| Some((DatedStatement::of_version(&version)?, version))))
}

/// Returns how many of these memories, sorted by id, existed at a position. Ids are in the order of time, so a binary
/// search suffices.
fn known_at(views: &Views, members: &[SubjectId], position: Position) -> QueryResult<usize> {
    let (mut known, mut unknown) = (0, members.len());
    while known < unknown {
        let middle = known + (unknown - known) / 2;
        match views.version_at(members[middle], position)? {
            Some(_) => known = middle + 1,
            None => unknown = middle,
        }
    }
    Ok(known)
}
