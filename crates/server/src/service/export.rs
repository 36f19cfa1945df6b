//! Exporting what lives: JSON lines that `import_jsonl` takes back, and Markdown for people.

use std::io::Write;

use icm_projections::fold::Version;
use icm_projections::{ALL_IDS, Views};
use serde_json::{Map, Value, json};

use super::show::memory;
use super::{Ask, Service};
use crate::error::{Result, ServiceError};

fn written(error: std::io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "writing the export".to_owned(),
        source: error,
    }
}

impl Service {
    /// Every living memory as a JSON line, oldest first. Returns how many.
    pub fn export_jsonl(&self, out: &mut dyn Write, at: Option<&str>) -> Result<u64> {
        let mut versions = self.with_views(|views| self.living_at(views, at))?;
        let all = versions.len();
        versions.retain(|version| version.content.is_some() && version.topic.is_some());
        if versions.len() < all {
            let left = all - versions.len();
            self.notice(match left {
                1 => "1 memory whose text is withheld was left out".to_owned(),
                _ => format!("{left} memories whose text is withheld were left out"),
            });
        }
        for version in &versions {
            writeln!(out, "{}", Value::Object(line_of(version))).map_err(written)?;
        }
        Ok(versions.len() as u64)
    }

    /// Every living memory, a section a topic, topics by name. Returns how many.
    pub fn export_markdown(&self, out: &mut dyn Write, at: Option<&str>) -> Result<u64> {
        let (basis, mut versions) = self.with_views(|views| {
            Ok((
                self.at(views, at, None)?.to_basis(),
                self.living_at(views, at)?,
            ))
        })?;
        versions.sort_by(|a, b| a.topic.cmp(&b.topic));
        writeln!(
            out,
            "# Memories\n\nAs of @{} ({}).",
            basis.position, basis.at
        )
        .map_err(written)?;
        let mut topic = None;
        for version in &versions {
            if topic != Some(&version.topic) {
                topic = Some(&version.topic);
                let name = version.topic.as_deref().unwrap_or("(withheld)");
                writeln!(out, "\n## {name}\n").map_err(written)?;
            }
            writeln!(out, "{}", item_of(version)).map_err(written)?;
        }
        Ok(versions.len() as u64)
    }

    fn living_at(&self, views: &Views, at: Option<&str>) -> std::result::Result<Vec<Version>, Ask> {
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
    optional("key", json!(memory.key));
    optional("importance", json!(memory.importance));
    optional("keywords", json!(memory.keywords));
    optional("raw_excerpt", json!(memory.raw_excerpt));
    optional("occurred_at", json!(memory.occurred_at));
    if memory.scope != "global" {
        optional("scope", json!(memory.scope));
    }
    optional("source", json!(memory.source));
    optional("metadata", json!(memory.metadata));
    line
}

fn item_of(version: &Version) -> String {
    let memory = memory(version, (0, None));
    let content = memory.content.unwrap_or_else(|| "(withheld)".to_owned());
    let mut item = format!("- {}", content.trim().replace('\n', "\n  "));
    let day = memory.occurred_at.as_deref().unwrap_or(&memory.created_at);
    let mut notes = vec![day[..day.len().min(10)].to_owned()];
    if memory.importance != crate::api::Importance::Medium {
        notes.push(format!("{:?}", memory.importance).to_lowercase());
    }
    if !memory.keywords.is_empty() {
        notes.push(memory.keywords.join(", "));
    }
    notes.push(format!("`{}`", memory.id));
    item.push_str(&format!("\n  <sub>{}</sub>", notes.join(" · ")));
    item
}
