//! Requests to store, checked and in the terms of the log.

use icm_log::facts::{self, ScopeKind, fields};
use icm_log::{Kind, Name, NewEvent, ScopeId, SubjectId, hash, payload};
use icm_projections::fold::{Carried, Source, Version};

use super::expires::NewExpiry;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::limits::SOURCE_LEN_MAX;

/// A scope in the form that events have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) kind: ScopeKind,
    pub(crate) id: ScopeId,
    pub(crate) text: Option<String>,
}

impl Scope {
    pub(crate) fn parse(text: Option<&str>) -> Result<Scope> {
        let text = text.unwrap_or("global").trim();
        let (kind, id) = match text.split_once(':') {
            None if text == "global" => {
                return Ok(Scope {
                    kind: ScopeKind::Global,
                    id: ScopeId::ZERO,
                    text: None,
                });
            }
            Some(("project", id)) => (ScopeKind::Project, id),
            Some(("session", id)) => (ScopeKind::Session, id),
            _ => {
                return Err(ServiceError::invalid_with(
                    format!("`{text}` is no scope"),
                    "write `global`, `project`, `session`, `project:ID` or `session:PARENT/CHILD`",
                ));
            }
        };
        let id = limits::name("the scope's id", id, SOURCE_LEN_MAX)?;
        if kind == ScopeKind::Session && id.split('/').any(|part| part.trim().is_empty()) {
            return Err(ServiceError::invalid_with(
                format!("a part of the session `{id}` is empty"),
                "write a name before and after each `/`",
            ));
        }
        Ok(Scope {
            kind,
            id: hash::scope_id(kind.code(), &id),
            text: Some(id),
        })
    }

    /// Returns the scope as users write it.
    pub(crate) fn to_text(&self) -> String {
        let text = self.text.as_deref().unwrap_or_default();
        match self.kind {
            ScopeKind::Global => "global".to_owned(),
            ScopeKind::Project => format!("project:{text}"),
            ScopeKind::Session => format!("session:{text}"),
        }
    }
}

/// A store whose values are checked and normalised.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValidatedStore {
    pub(crate) topic: String,
    pub(crate) content: String,
    pub(crate) importance: Option<facts::Importance>,
    pub(crate) keywords: Vec<String>,
    pub(crate) raw_excerpt: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) occurred_at_ms: Option<i64>,
    pub(crate) source: Source,
    pub(crate) metadata: Option<String>,
    pub(crate) expires: Option<NewExpiry>,
    pub(crate) scope: Scope,
    pub(crate) trust: facts::Trust,
    /// The number of an imported line without a key.
    pub(crate) nth_line: Option<u32>,
    /// The origin data of an imported line that another store exported.
    pub(crate) carried: Option<Carried>,
    pub(crate) request_digest: Option<String>,
}

impl ValidatedStore {
    pub(crate) fn name(&self) -> Name {
        match &self.key {
            Some(key) => hash::memory_name(self.scope.kind.code(), self.scope.id, &self.topic, key),
            None => Name::ZERO,
        }
    }

    pub(crate) fn stored_facts(&self) -> facts::MemoryStored {
        facts::MemoryStored {
            fields: match self.expires {
                Some(_) => fields::ALL,
                None => fields::ALL & !fields::EXPIRES,
            },
            causal_length: 1,
            scope_kind: self.scope.kind,
            importance: self.importance.unwrap_or(facts::Importance::Medium),
            trust: self.trust,
            keyword_count: self.keywords.len() as u16,
            name: self.name(),
            scope_id: self.scope.id,
            expiry: self.expires.as_ref().map(NewExpiry::facts),
        }
    }

    pub(crate) fn stored_payload(&self) -> Vec<u8> {
        payload::encode(&payload::MemoryStored {
            topic: &self.topic,
            content: &self.content,
            raw_excerpt: self.raw_excerpt.as_deref(),
            keywords: self.keywords.iter().map(String::as_str).collect(),
            key: self.key.as_deref(),
            scope: self.scope.text.as_deref(),
            source: source_text(&self.source),
            occurred_at_ms: self.occurred_at_ms,
            metadata: self.metadata.as_deref(),
            nth_line: self.nth_line,
            carried_created_at_ms: self.carried.map(|carried| carried.created_ms),
            carried_updated_at_ms: self.carried.map(|carried| carried.updated_ms),
            expires: self.expires.as_ref().and_then(NewExpiry::texts),
            request_digest: self.request_digest.as_deref(),
        })
    }

    pub(crate) fn stored(&self, id: SubjectId) -> NewEvent {
        NewEvent {
            kind: Kind::MEMORY_STORED,
            subject: id,
            refs: Vec::new(),
            facts: self.stored_facts().encode(),
            payload: self.stored_payload(),
        }
    }

    /// Returns the event that stores an undone memory again as the same memory.
    pub(crate) fn stored_over(&self, hidden: &Version) -> NewEvent {
        NewEvent {
            refs: hidden.observed(),
            ..self.stored(hidden.id)
        }
    }
}

pub(crate) fn source_text(source: &Source) -> payload::SourceText<'_> {
    payload::SourceText {
        agent: source.agent.as_deref(),
        client: source.client.as_deref(),
        session: source.session.as_deref(),
        project: source.project.as_deref(),
        file: source.file.as_deref(),
    }
}
