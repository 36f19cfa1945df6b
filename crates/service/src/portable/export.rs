//! Exports of the living memories, as JSON lines or Markdown; `import_jsonl` and `import_markdown` read them.

use std::collections::BTreeMap;
use std::io::Write;

use icm_log::Position;
use icm_projections::fold::{EntityId, Version};
use icm_projections::{ALL_IDS, Views};
use serde_json::{Map, Value, json};

use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::memory::present::memory;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::markdown;

/// Memories that are read at once. Raised, they take more memory; lowered, the log is looked at more often.
const PAGE_MEMORIES: usize = 512;
/// Bytes of their texts at which a page ends. Raised, a page takes more memory.
const PAGE_LEN: usize = 1_024 * 1_024;

/// A function that writes one file of an export to the writer that it gets.
pub(crate) type WriteTopic<'a> = &'a mut dyn FnMut(&mut dyn Write) -> Result<()>;

fn written(error: std::io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "writing the export".to_owned(),
        source: error,
    }
}

/// A page: living memories that were read together.
#[derive(Default)]
struct Page {
    versions: Vec<(EntityId, Version)>,
    /// Bytes of their texts.
    len: usize,
    /// Memories whose text is withheld.
    withheld: u64,
    /// Expired memories.
    expired: u64,
}

impl Page {
    /// Adds a memory. Returns `true` if there is room for more.
    fn take(&mut self, entity: EntityId, version: &Version) -> bool {
        if !version.is_alive() {
            return true;
        }
        match (&version.content, &version.topic) {
            (Some(content), Some(_)) => {
                self.len += content.len() + version.raw_excerpt.as_ref().map_or(0, String::len);
                self.versions.push((entity, version.clone()));
            }
            _ => self.withheld += 1,
        }
        self.versions.len() < PAGE_MEMORIES && self.len < PAGE_LEN
    }

    fn give(self, each: &mut dyn FnMut(EntityId, &Version) -> Result<()>) -> Result<()> {
        let mut versions = self.versions.into_iter();
        versions.try_for_each(|(entity, version)| each(entity, &version))
    }
}

/// The memories of each topic, by name, oldest first: 16 bytes a memory.
struct Shelves {
    at: At,
    topics: BTreeMap<String, Vec<EntityId>>,
    memories: u64,
}

impl Service {
    /// Writes every living memory as a JSON line, oldest first. Returns their number. Memories are read and written a
    /// page at a time.
    pub fn export_jsonl(&self, out: &mut dyn Write, at: Option<&str>) -> Result<u64> {
        let at = self.with_views(|views| self.at(views, at, None))?;
        let mut memories = 0;
        self.each_living(&at, &mut |_, version| {
            memories += 1;
            writeln!(out, "{}", Value::Object(line_of(version))).map_err(written)
        })?;
        Ok(memories)
    }

    /// Writes every living memory into one Markdown document, topics by name. Returns their number.
    pub fn export_markdown(&self, out: &mut dyn Write, at: Option<&str>) -> Result<u64> {
        let Shelves {
            at,
            topics,
            memories,
        } = self.shelves(at)?;
        let mut put = |text: String| out.write_all(text.as_bytes()).map_err(written);
        let basis = at.to_basis();
        put(markdown::document_start(
            basis.position,
            &basis.at,
            memories as usize,
        ))?;
        let ids: Vec<EntityId> = topics.into_values().flatten().collect();
        let mut topic: Option<String> = None;
        self.each_of(&ids, &at, &mut |_, version| {
            let first = topic != version.topic;
            if first {
                topic.clone_from(&version.topic);
                put(markdown::topic_start(topic.as_deref().unwrap_or_default()))?;
            }
            put(markdown::memory(line_of(version), first))
        })?;
        Ok(memories)
    }

    /// Exports one Markdown file for each topic: `each` gets its name and the function that writes it. Returns the
    /// number of memories.
    ///
    /// # Errors
    /// If memories cannot be read, and every error of `each`.
    pub fn export_markdown_files<E: From<ServiceError>>(
        &self,
        at: Option<&str>,
        each: &mut dyn FnMut(&str, WriteTopic<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let shelves = self.shelves(at)?;
        let mut names = markdown::Names::default();
        for (topic, ids) in &shelves.topics {
            each(&names.of(topic), &mut |out| {
                let mut put = |text: String| out.write_all(text.as_bytes()).map_err(written);
                put(markdown::front_matter(topic, ids.len()))?;
                let mut first = true;
                self.each_of(ids, &shelves.at, &mut |_, version| {
                    put(markdown::memory(
                        line_of(version),
                        std::mem::take(&mut first),
                    ))
                })
            })?;
        }
        Ok(shelves.memories)
    }

    /// Returns the living memories that can be exported, by topic. A notice counts the others.
    fn shelves(&self, at: Option<&str>) -> Result<Shelves> {
        let at = self.with_views(|views| self.at(views, at, None))?;
        let mut topics: BTreeMap<String, Vec<EntityId>> = BTreeMap::new();
        let mut memories = 0;
        self.each_living(&at, &mut |entity, version| {
            let topic = version.topic.as_deref().unwrap_or_default();
            match topics.get_mut(topic) {
                Some(ids) => ids.push(entity),
                None => _ = topics.insert(topic.to_owned(), vec![entity]),
            }
            memories += 1;
            Ok(())
        })?;
        Ok(Shelves {
            at,
            topics,
            memories,
        })
    }

    /// Calls `each` for the memories that were alive at a position and can be exported, oldest first. A notice counts
    /// the others.
    fn each_living(
        &self,
        at: &At,
        each: &mut dyn FnMut(EntityId, &Version) -> Result<()>,
    ) -> Result<()> {
        let (mut withheld, mut expired) = (0, 0);
        let mut next = Some(ALL_IDS.0);
        while let Some(first) = next {
            let (page, after) = self.with_views(|views| {
                let views = &*self.views_at(views, at)?;
                let hidden = Expired::at(self, views, at);
                let read = page_from(views, first, at.position, &hidden)?;
                hidden.checked()?;
                Ok(read)
            })?;
            withheld += page.withheld;
            expired += page.expired;
            page.give(each)?;
            next = after;
        }
        match expired {
            0 => {}
            1 => self.notice("1 expired memory was left out".to_owned()),
            _ => self.notice(format!("{expired} expired memories were left out")),
        }
        match self.with_views(|views| self.planned_values(views, at))? {
            0 => {}
            1 => self.notice("1 planned value of a fact was left out".to_owned()),
            planned => self.notice(format!("{planned} planned values of facts were left out")),
        }
        match withheld {
            0 => {}
            1 => self.notice("1 memory whose text is withheld was left out".to_owned()),
            _ => self.notice(format!(
                "{withheld} memories whose text is withheld were left out"
            )),
        }
        Ok(())
    }

    /// Calls `each` for those of these memories that were alive at a basis, in their order.
    fn each_of(
        &self,
        mut ids: &[EntityId],
        at: &At,
        each: &mut dyn FnMut(EntityId, &Version) -> Result<()>,
    ) -> Result<()> {
        while !ids.is_empty() {
            let (page, read) = self.with_views(|views| {
                let views = &*self.views_at(views, at)?;
                let mut page = Page::default();
                for (index, id) in ids.iter().enumerate() {
                    if let Some(version) = views.version_at(*id, at.position)?
                        && !page.take(*id, &version)
                    {
                        return Ok((page, index + 1));
                    }
                }
                Ok((page, ids.len()))
            })?;
            page.give(each)?;
            ids = &ids[read..];
        }
        Ok(())
    }
}

/// Returns the living memories from an id on, and the id at which the next page starts.
fn page_from(
    views: &Views,
    first: EntityId,
    position: Position,
    hidden: &Expired<'_>,
) -> QueryResult<(Page, Option<EntityId>)> {
    let mut page = Page::default();
    let mut next = None;
    let mut is_full = false;
    views.each_at((first, ALL_IDS.1), position, false, &mut |id, version| {
        if is_full {
            next = Some(id);
            return Ok(false);
        }
        if version.is_alive() && hidden.hides(version) {
            page.expired += u64::from(hidden.is_expired(version));
            return Ok(true);
        }
        is_full = !page.take(id, version);
        Ok(true)
    })?;
    Ok((page, next))
}

fn line_of(version: &Version) -> Map<String, Value> {
    let memory = memory(version, (0, None));
    let mut line = Map::new();
    line.insert("topic".to_owned(), json!(memory.topic));
    line.insert("content".to_owned(), json!(memory.content));
    let mut optional = |field: &str, value: Value| {
        let empty = match &value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(object) => object.is_empty(),
            _ => false,
        };
        if !empty {
            line.insert(field.to_owned(), value);
        }
    };
    optional("id", json!(memory.id));
    optional("key", json!(memory.key));
    optional("importance", json!(memory.importance));
    optional("keywords", json!(memory.keywords));
    optional("raw_excerpt", json!(memory.raw_excerpt));
    optional("occurred_at", json!(memory.occurred_at));
    if memory.scope != "global" {
        optional("scope", json!(memory.scope));
    }
    optional("trust", json!(memory.trust));
    optional("metadata", json!(memory.metadata));
    // The files of this machine say nothing on another one.
    let expiry = version.expiry.as_ref();
    if expiry.is_some_and(|expiry| !expiry.facts.condition.is_of_file()) {
        optional("expires", json!(memory.expires));
    }
    // For show after an import: a store computes with the times of its own log.
    optional("created_at", json!(memory.created_at));
    optional("updated_at", json!(memory.updated_at));
    // An empty source is written, too: without one the import would fill in its own.
    line.insert("source".to_owned(), json!(memory.source));
    line
}
