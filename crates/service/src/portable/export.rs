//! Exporting what lives, as JSON lines or as Markdown: `import_jsonl` and `import_markdown` take it back.

use std::io::Write;

use icm_projections::fold::Version;
use icm_projections::{ALL_IDS, Views};
use serde_json::{Map, Value, json};

use crate::memory::present::memory;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::Basis;
use icm_api::error::{Result, ServiceError};
use icm_api::markdown;

fn written(error: std::io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "writing the export".to_owned(),
        source: error,
    }
}

impl Service {
    /// Every living memory as a JSON line, oldest first. Returns how many.
    pub fn export_jsonl(&self, out: &mut dyn Write, at: Option<&str>) -> Result<u64> {
        let (_, versions) = self.to_export(at)?;
        for version in &versions {
            writeln!(out, "{}", Value::Object(line_of(version))).map_err(written)?;
        }
        Ok(versions.len() as u64)
    }

    /// Every living memory in one Markdown document, topics by name. Returns how many.
    pub fn export_markdown(&self, out: &mut dyn Write, at: Option<&str>) -> Result<u64> {
        let (basis, mut versions) = self.to_export(at)?;
        versions.sort_by(|a, b| a.topic.cmp(&b.topic));
        let mut put = |text: String| out.write_all(text.as_bytes()).map_err(written);
        put(markdown::document_start(
            basis.position,
            &basis.at,
            versions.len(),
        ))?;
        for of_topic in versions.chunk_by(|a, b| a.topic == b.topic) {
            put(markdown::topic_start(topic_of(of_topic)))?;
            for (nth, version) in of_topic.iter().enumerate() {
                put(markdown::memory(line_of(version), nth == 0))?;
            }
        }
        Ok(versions.len() as u64)
    }

    /// The same, a file a topic: `each` gets its name and its text. Returns how many memories there are.
    ///
    /// # Errors
    /// Where memories cannot be read, and those of `each`.
    pub fn export_markdown_files<E: From<ServiceError>>(
        &self,
        at: Option<&str>,
        each: &mut dyn FnMut(&str, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let (_, mut versions) = self.to_export(at)?;
        versions.sort_by(|a, b| a.topic.cmp(&b.topic));
        let mut names = markdown::Names::default();
        for of_topic in versions.chunk_by(|a, b| a.topic == b.topic) {
            let topic = topic_of(of_topic);
            let mut text = markdown::front_matter(topic, of_topic.len());
            for (nth, version) in of_topic.iter().enumerate() {
                text.push_str(&markdown::memory(line_of(version), nth == 0));
            }
            each(&names.of(topic), &text)?;
        }
        Ok(versions.len() as u64)
    }

    /// The living memories that can be written down, oldest first; the others are told of.
    fn to_export(&self, at: Option<&str>) -> Result<(Basis, Vec<Version>)> {
        let (basis, mut versions) = self.with_views(|views| {
            Ok((
                self.at(views, at, None)?.to_basis(),
                self.living_at(views, at)?,
            ))
        })?;
        let all = versions.len();
        versions.retain(|version| version.content.is_some() && version.topic.is_some());
        if versions.len() < all {
            let left = all - versions.len();
            self.notice(match left {
                1 => "1 memory whose text is withheld was left out".to_owned(),
                _ => format!("{left} memories whose text is withheld were left out"),
            });
        }
        Ok((basis, versions))
    }

    fn living_at(&self, views: &Views, at: Option<&str>) -> QueryResult<Vec<Version>> {
        let position = self.at(views, at, None)?.position;
        let mut versions = Vec::new();
        views.each_at(ALL_IDS, position, false, &mut |_, version| {
            if version.is_alive() {
                versions.push(version.clone());
            }
            Ok(true)
        })?;
        Ok(versions)
    }
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
    // For show where it is imported: what a store does with time goes by its own log.
    optional("created_at", json!(memory.created_at));
    optional("updated_at", json!(memory.updated_at));
    // Also where nothing is known of it: what has none gets that of the import.
    line.insert("source".to_owned(), json!(memory.source));
    line
}

/// That of memories that have one.
fn topic_of(versions: &[Version]) -> &str {
    let topic = versions
        .first()
        .and_then(|version| version.topic.as_deref());
    topic.unwrap_or_default()
}
