//! Checks stores and updates without looking at the store: lengths, names, times, secrets.

use crate::command::secrets::Guard;
use crate::command::{Change, Scope, ValidatedStore, digest_of, request_shape, update_shape};
use crate::service::Service;
use icm_api::error::Result;
use icm_api::limits;
use icm_api::limits::{CONTENT_LEN_MAX, KEY_LEN_MAX, RAW_EXCERPT_LEN_MAX};
use icm_api::when;
use icm_api::when::DayMeans;
use icm_api::{Caller, FACTS, StoreRequest, UpdateRequest, fact_key};

impl Service {
    pub(super) fn check_update(&self, request: &UpdateRequest) -> Result<Change> {
        Ok(Change {
            topic: match &request.topic {
                Some(topic) => Some(limits::topic(topic)?),
                None => None,
            },
            content: match &request.content {
                Some(content) => {
                    limits::text("the content", content, CONTENT_LEN_MAX)?;
                    Some(content.clone())
                }
                None => None,
            },
            importance: request.importance.map(Into::into),
            trust: request.trust.map(Into::into),
            keywords: match &request.keywords {
                Some(words) => Some(limits::keywords(words)?),
                None => None,
            },
            scope: match &request.scope {
                Some(scope) => Some(Scope::parse(Some(scope))?),
                None => None,
            },
            expires: match request.expires.as_deref() {
                Some(text) if text.trim().is_empty() => Some(None),
                Some(text) => Some(Some(self.new_expiry(text)?)),
                None => None,
            },
            if_updated_at: request.if_updated_at.clone(),
            request_digest: digest_of(&request.request_id, &update_shape(request))?,
            ..Change::default()
        })
    }

    pub(crate) fn check_store(
        &self,
        caller: &Caller,
        request: &StoreRequest,
    ) -> Result<ValidatedStore> {
        limits::text("the content", &request.content, CONTENT_LEN_MAX)?;
        let raw_excerpt = request.raw_excerpt.clone().filter(|text| !text.is_empty());
        if let Some(text) = &raw_excerpt {
            limits::optional_text("the raw excerpt", text, RAW_EXCERPT_LEN_MAX)?;
        }
        let topic = limits::topic(&request.topic)?;
        let key = match &request.key {
            Some(key) if topic.starts_with(FACTS) => Some(fact_key(key)?),
            Some(key) => Some(limits::name("the key", key, KEY_LEN_MAX)?),
            None => None,
        };
        let now = self.now_ms();
        let occurred_at_ms = match &request.occurred_at {
            Some(text) => Some(
                when::parse_moment(text, now, &self.zone(), DayMeans::Start)
                    .map_err(|error| self.without_its_secrets(error))?,
            ),
            None => None,
        };
        let metadata = match &request.metadata {
            Some(value) => Some(limits::metadata(value)?),
            None => None,
        };
        Ok(ValidatedStore {
            topic,
            content: request.content.clone(),
            importance: request.importance.map(Into::into),
            keywords: limits::keywords(&request.keywords)?,
            raw_excerpt,
            key,
            occurred_at_ms,
            source: self.check_source(caller, &request.source)?,
            metadata,
            expires: match &request.expires {
                Some(text) => Some(self.new_expiry(text)?),
                None => None,
            },
            scope: Scope::parse(request.scope.as_deref())?,
            trust: request.trust.into(),
            nth_line: None,
            carried: None,
            request_digest: digest_of(&request.request_id, &request_shape(request))?,
        })
    }

    /// Returns the content of a store as it is kept; empty if the store is refused.
    pub(super) fn guarded_content(&self, request: &StoreRequest) -> String {
        let mut guarded = request.clone();
        match self.guard_store(&mut guarded) {
            Ok(_) => guarded.content,
            Err(_) => String::new(),
        }
    }

    /// Checks a store for secrets. Returns the warnings for the receipt.
    pub(crate) fn guard_store(&self, request: &mut StoreRequest) -> Result<Vec<String>> {
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.store(request)?;
        Ok(guard.warnings())
    }
}
