//! Decides for each valid line of an import if it adds a memory, updates one or changes nothing, and appends the
//! events.

use std::collections::{BTreeSet, HashMap};

use icm_log::{Name, NewEvent, SubjectId};
use icm_projections::Views;
use icm_projections::fold::{Family, Version};

use crate::command::{Change, Command, NEWEST, ValidatedStore};
use crate::memory::fact::{self, LineOfFact};
use crate::snapshot::QueryResult;
use icm_api::error::ServiceError;

/// A valid line on its way into the log.
pub(super) struct Line {
    /// The number of the line in its file, from 1.
    pub(super) number: u64,
    pub(super) warnings: Vec<String>,
    pub(super) checked: ValidatedStore,
    /// The name of the memory: by its key, or by scope, topic, content and how often these came before.
    pub(super) name: Name,
    /// The memory that the line was exported from, if this store may have it.
    pub(super) id: Option<SubjectId>,
}

/// Memories without a name by topic, scope and content, counted before the import. A line that repeats one of them
/// changes nothing.
#[derive(Default)]
pub(super) struct Unnamed {
    topics: HashMap<String, HashMap<(String, String), u32>>,
}

impl Unnamed {
    fn count(&mut self, views: &Views, checked: &ValidatedStore) -> QueryResult<u32> {
        if !self.topics.contains_key(&checked.topic) {
            let mut contents: HashMap<(String, String), u32> = HashMap::new();
            for entity in views.members(&checked.topic)? {
                let mut seen = BTreeSet::new();
                for version in views.versions(entity, NEWEST)? {
                    if version.name.is_zero()
                        && version.topic.as_ref() == Some(&checked.topic)
                        && let Some(content) = &version.content
                        && seen.insert(content.clone())
                    {
                        let place = (version.scope_text(), content.clone());
                        *contents.entry(place).or_insert(0) += 1;
                    }
                }
            }
            self.topics.insert(checked.topic.clone(), contents);
        }
        let place = (checked.scope.to_text(), checked.content.clone());
        let contents = self.topics.get(&checked.topic);
        Ok(contents
            .and_then(|contents| contents.get(&place))
            .copied()
            .unwrap_or(0))
    }
}

/// The fate of a line, and the memory that it is about.
pub(super) enum Fate {
    Added(SubjectId),
    Updated(SubjectId),
    /// `None` if several memories without a name have the line's text.
    Unchanged(Option<SubjectId>),
    Refused(ServiceError),
}

/// A fact that gets its current value back after a line stated another one.
struct Restored {
    row: Version,
    change: Change,
    /// Place of the event that stated the other one, in its batch.
    stated: Option<usize>,
}

/// Returns the versions of the memory that a line is about, and `true` if its name led there; `None` for a new memory.
fn known(views: &Views, line: &Line) -> QueryResult<Option<(Vec<Version>, bool)>> {
    type Found = QueryResult<Option<(Vec<Version>, bool)>>;
    let named = || -> Found {
        Ok(match views.named(line.name)? {
            Some(entity) => Some((views.versions(entity, NEWEST)?, true)),
            None => None,
        })
    };
    let with_id = || -> Found {
        let Some(id) = line.id else {
            return Ok(None);
        };
        let versions = views.versions(views.resolve(id)?, NEWEST)?;
        // A line copied to make another memory, with another key or in another topic, does not mean this one.
        let is_same =
            |newest: &Version| newest.family() == Family::Memory && newest.key == line.checked.key;
        let was_in_topic = |version: &Version| version.topic.as_ref() == Some(&line.checked.topic);
        let is_meant = versions.last().is_some_and(is_same) && versions.iter().any(was_in_topic);
        Ok(is_meant.then_some((versions, false)))
    };
    // A key is the writer's own name for the memory. Without a key the name comes from the content, which may be new.
    let has_key = line.checked.key.is_some();
    let first = if has_key { named()? } else { with_id()? };
    match first {
        Some(found) => Ok(Some(found)),
        None if has_key => with_id(),
        None => named(),
    }
}

/// Appends one batch of lines that all have different names.
pub(super) fn import_batch(
    command: &mut Command<'_>,
    views: &Views,
    lines: &[Line],
    unnamed: &mut Unnamed,
) -> QueryResult<Vec<Fate>> {
    let mut events: Vec<NewEvent> = Vec::new();
    let mut restored: Vec<Restored> = Vec::new();
    let mut fates = Vec::with_capacity(lines.len());
    for line in lines {
        let Some((versions, by_name)) = known(views, line)? else {
            if let Some(nth) = line.checked.nth_line
                && nth <= unnamed.count(views, &line.checked)?
            {
                fates.push(Fate::Unchanged(None));
                continue;
            }
            let id = command.new_id();
            events.push(line.checked.stored(id));
            fates.push(Fate::Added(id));
            continue;
        };
        // A text that was ever stored here changes nothing, even if it was changed or forgotten since.
        if let Some(hidden) = versions.last().filter(|it| it.hidden && by_name) {
            // An import that was undone is done anew.
            events.push(line.checked.stored_over(hidden));
            fates.push(Fate::Added(hidden.id));
            continue;
        }
        let alive = versions.last().filter(|version| version.is_alive());
        if let Some(row) = alive
            && let Some(of_fact) = command.service.line_of_fact(views, row, &line.checked)?
        {
            fates.push(match of_fact {
                Ok(of_fact) => take_fact(of_fact, row, &mut events, &mut restored),
                Err(refused) => Fate::Refused(refused),
            });
            continue;
        }
        let known = versions
            .iter()
            .any(|version| version.content.as_deref() == Some(line.checked.content.as_str()));
        match (known, alive) {
            (false, Some(before)) => match Change::of_store(&line.checked).event(before) {
                Some(event) => {
                    events.push(event);
                    fates.push(Fate::Updated(before.id));
                }
                None => fates.push(Fate::Unchanged(Some(before.id))),
            },
            _ => fates.push(Fate::Unchanged(versions.last().map(|newest| newest.id))),
        }
    }
    let mut appended = Vec::new();
    if !events.is_empty() {
        appended = command.append(views, events)?;
    }
    if !restored.is_empty() {
        let event = |fact: &Restored| {
            let stated = fact.stated.map(|place| appended[place].event);
            fact::event_to_current(&fact.row, &fact.change, stated)
        };
        command.append(views, restored.iter().map(event).collect())?;
    }
    Ok(fates)
}

/// Adds what a line about a known fact writes.
fn take_fact(
    of_fact: LineOfFact,
    row: &Version,
    events: &mut Vec<NewEvent>,
    restored: &mut Vec<Restored>,
) -> Fate {
    let stated = of_fact.states.map(|event| {
        events.push(event);
        events.len() - 1
    });
    restored.extend(of_fact.restores.map(|change| Restored {
        row: row.clone(),
        change,
        stated,
    }));
    match stated {
        Some(_) => Fate::Updated(row.id),
        None => Fate::Unchanged(Some(row.id)),
    }
}
