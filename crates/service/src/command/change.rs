//! A change of a memory, and the event that makes it.

use icm_log::facts::{self, Alive, MemoryUpdated, Removal, fields};
use icm_log::{EventId, Kind, Name, NewEvent, ScopeId, hash, payload};
use icm_projections::fold::{Keyword, Version};

use crate::command::expires::{NewExpiry, is_set};
use crate::command::validated::{Scope, ValidatedStore};
use icm_api::error::Result;
use icm_api::limits;

/// Values that an update writes. A field of `None` stays as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Change {
    pub topic: Option<String>,
    pub content: Option<String>,
    pub importance: Option<facts::Importance>,
    pub keywords: Option<Vec<String>>,
    pub scope: Option<Scope>,
    /// A redaction may have taken the key.
    pub key: Option<String>,
    pub trust: Option<facts::Trust>,
    pub raw_excerpt: Option<String>,
    pub occurred_at_ms: Option<i64>,
    pub metadata: Option<String>,
    /// A new condition to expire; `Some(None)` takes the condition away.
    pub expires: Option<Option<NewExpiry>>,
    /// When the memory last changed, as the caller saw it.
    pub if_updated_at: Option<String>,
    pub request_digest: Option<String>,
}

impl Change {
    /// Returns the change that storing over a memory makes.
    pub(crate) fn of_store(checked: &ValidatedStore) -> Change {
        Change {
            content: Some(checked.content.clone()),
            importance: checked.importance,
            keywords: (!checked.keywords.is_empty()).then(|| checked.keywords.clone()),
            raw_excerpt: checked.raw_excerpt.clone(),
            occurred_at_ms: checked.occurred_at_ms,
            metadata: checked.metadata.clone(),
            expires: checked.expires.clone().map(Some),
            request_digest: checked.request_digest.clone(),
            ..Change::default()
        }
    }

    /// Returns the change that storing the same words again makes: the importance, if one was given, and the keywords
    /// of both.
    ///
    /// # Errors
    /// `Invalid` if the memory would have too many keywords.
    pub(crate) fn of_same_words(checked: &ValidatedStore, there: &Version) -> Result<Change> {
        let known = || there.keywords.iter().filter_map(|word| word.text.as_ref());
        let new = checked
            .keywords
            .iter()
            .filter(|word| !known().any(|known| known == *word));
        let new: Vec<String> = new.cloned().collect();
        let keywords = match new.is_empty() {
            true => None,
            false => Some(limits::keywords(
                &known().cloned().chain(new).collect::<Vec<_>>(),
            )?),
        };
        Ok(Change {
            importance: checked.importance,
            keywords,
            expires: checked.expires.clone().map(Some),
            request_digest: checked.request_digest.clone(),
            ..Change::default()
        })
    }

    /// Returns the event that makes this change to `before`; `None` if nothing changes.
    pub(crate) fn event(&self, before: &Version) -> Option<NewEvent> {
        self.event_settling(before, 0)
    }

    /// Returns the event as [`Change::event`] does, but also writes unchanged values of the fields in `open`, which
    /// have concurrent values.
    pub(crate) fn event_settling(&self, before: &Version, open: u32) -> Option<NewEvent> {
        let mut written = 0;
        let mut payload = payload::MemoryUpdated::default();
        let mut note = |differs: bool, field: u32| {
            if differs {
                written |= field;
            }
            differs
        };
        fn differs<T: PartialEq>(new: &Option<T>, old: &Option<T>) -> bool {
            new.is_some() && new != old
        }
        let settles = |given: bool, field: u32| given && open & field != 0;
        if note(
            differs(&self.topic, &before.topic) || settles(self.topic.is_some(), fields::TOPIC),
            fields::TOPIC,
        ) {
            payload.topic = self.topic.as_deref();
        }
        if note(
            differs(&self.content, &before.content)
                || settles(self.content.is_some(), fields::CONTENT),
            fields::CONTENT,
        ) {
            payload.content = self.content.as_deref();
        }
        if note(
            differs(&self.raw_excerpt, &before.raw_excerpt),
            fields::RAW_EXCERPT,
        ) {
            payload.raw_excerpt = self.raw_excerpt.as_deref();
        }
        if note(
            differs(&self.occurred_at_ms, &before.occurred_at_ms)
                || settles(self.occurred_at_ms.is_some(), fields::OCCURRED_AT),
            fields::OCCURRED_AT,
        ) {
            payload.occurred_at_ms = self.occurred_at_ms;
        }
        if note(differs(&self.key, &before.key), fields::KEY) {
            payload.key = self.key.as_deref();
        }
        if note(differs(&self.metadata, &before.metadata), fields::METADATA) {
            payload.metadata = self.metadata.as_deref();
        }
        let importance = self.importance.filter(|importance| {
            *importance != before.importance || settles(true, fields::IMPORTANCE)
        });
        note(importance.is_some(), fields::IMPORTANCE);
        let scope = self.scope.as_ref().filter(|scope| {
            let moves = scope.kind != before.scope_kind || scope.text != before.scope;
            moves || settles(true, fields::SCOPE)
        });
        if note(scope.is_some(), fields::SCOPE) {
            payload.scope = scope.and_then(|scope| scope.text.as_deref());
        }
        let expires = self.expires.as_ref().map(Option::as_ref);
        let expires = expires.filter(|new| !is_set(*new, before) || settles(true, fields::EXPIRES));
        if note(expires.is_some(), fields::EXPIRES) {
            payload.expires = expires.flatten().and_then(NewExpiry::texts);
        }
        let trust = self.trust.filter(|trust| *trust != before.trust);
        note(trust.is_some(), fields::TRUST);
        let refs: Vec<EventId> = before.observed();
        let (removed, added) = self.keyword_changes(before, &refs);
        payload.keywords_added = added;
        payload.request_digest = self.request_digest.as_deref();
        if written == 0 && removed.is_empty() && payload.keywords_added.is_empty() {
            return None;
        }
        let facts = MemoryUpdated {
            fields: written,
            scope_kind: scope.map(|scope| scope.kind),
            importance,
            trust,
            keywords_added: payload.keywords_added.len() as u16,
            name: match written & (fields::TOPIC | fields::SCOPE | fields::KEY) {
                0 => Name::ZERO,
                _ => self.name_after(before),
            },
            scope_id: scope.map_or(ScopeId::ZERO, |scope| scope.id),
            removed,
            expiry: expires.flatten().map(NewExpiry::facts),
        };
        Some(NewEvent {
            kind: Kind::MEMORY_UPDATED,
            subject: before.id,
            refs,
            facts: facts.encode(),
            payload: payload::encode(&payload),
        })
    }

    /// Returns the change with a condition that does not count the `recalls` that showed the memory before.
    pub(crate) fn counted_from(mut self, recalls: u64) -> Change {
        self.expires = self
            .expires
            .map(|new| new.map(|new| new.counted_from(recalls)));
        self
    }

    /// Returns `true` if the change sets a condition that counts recalls.
    pub(crate) fn counts_recalls(&self) -> bool {
        let new = self.expires.as_ref().and_then(Option::as_ref);
        new.is_some_and(NewExpiry::counts_recalls)
    }

    fn keyword_changes<'c>(
        &'c self,
        before: &Version,
        refs: &[EventId],
    ) -> (Vec<Removal>, Vec<&'c str>) {
        let Some(wanted) = &self.keywords else {
            return (Vec::new(), Vec::new());
        };
        let mut removed = Vec::new();
        let mut kept = Vec::new();
        for word in &before.keywords {
            let keep = word.text.as_ref().is_some_and(|text| wanted.contains(text));
            if keep && !kept.contains(&word.text) {
                kept.push(word.text.clone());
            } else if let Ok(reference) = refs.binary_search(&word.event) {
                removed.push(Removal {
                    reference: reference as u16,
                    index: word.index,
                });
            }
        }
        let added = wanted
            .iter()
            .filter(|word| !kept.iter().flatten().any(|kept| kept == *word))
            .map(String::as_str)
            .collect();
        (removed, added)
    }

    /// Returns the name of the memory after the change; zero if it has no key.
    pub(crate) fn name_after(&self, before: &Version) -> Name {
        let key = self.key.as_ref().or(before.key.as_ref());
        let topic = self.topic.as_ref().or(before.topic.as_ref());
        let (Some(key), Some(topic)) = (key, topic) else {
            return Name::ZERO;
        };
        let (kind, id) = match &self.scope {
            Some(scope) => (scope.kind, scope.id),
            None => (before.scope_kind, scope_id_of(before)),
        };
        hash::memory_name(kind.code(), id, topic, key)
    }
}

/// Returns the event that puts the keyword `to` in the place of `from`. Keywords whose text is withheld stay.
pub(crate) fn retagged(before: &Version, from: &str, to: &str) -> NewEvent {
    let refs: Vec<EventId> = before.observed();
    let is = |keyword: &Keyword, text: &str| keyword.text.as_deref() == Some(text);
    let removed = before.keywords.iter().filter(|keyword| is(keyword, from));
    let removed = removed.filter_map(|keyword| {
        let reference = refs.binary_search(&keyword.event).ok()?;
        Some(Removal {
            reference: reference as u16,
            index: keyword.index,
        })
    });
    let is_new = !before.keywords.iter().any(|keyword| is(keyword, to));
    let payload = payload::MemoryUpdated {
        keywords_added: if is_new { vec![to] } else { Vec::new() },
        ..payload::MemoryUpdated::default()
    };
    let facts = MemoryUpdated {
        fields: 0,
        scope_kind: None,
        importance: None,
        trust: None,
        keywords_added: payload.keywords_added.len() as u16,
        name: Name::ZERO,
        scope_id: ScopeId::ZERO,
        removed: removed.collect(),
        expiry: None,
    };
    NewEvent {
        kind: Kind::MEMORY_UPDATED,
        subject: before.id,
        facts: facts.encode(),
        payload: payload::encode(&payload),
        refs,
    }
}

pub(super) fn scope_id_of(version: &Version) -> ScopeId {
    match (&version.scope, version.scope_kind) {
        (Some(text), kind) => hash::scope_id(kind.code(), text),
        (None, _) => ScopeId::ZERO,
    }
}

/// Returns the event after which a memory lives or is forgotten, by its `kind`.
pub(crate) fn turned(before: &Version, kind: Kind) -> NewEvent {
    NewEvent {
        kind,
        subject: before.id,
        refs: before.observed(),
        facts: Alive {
            causal_length: next_length(before),
        }
        .encode(),
        payload: payload::encode(&payload::MemoryForgotten::default()),
    }
}

/// Returns the least causal length that turns a row and lies above every earlier one, undone ones too. Odd means alive.
pub(crate) fn next_length(before: &Version) -> u32 {
    let next = before.length_seen.max(before.causal_length) + 1;
    next + u32::from(next % 2 == before.causal_length % 2)
}
