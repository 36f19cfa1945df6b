//! Recorded recalls, asked again.

use std::ops::ControlFlow;

use icm_log::facts::Facts;
use icm_log::record::Body;
use icm_log::{Event, Kind, payload};
use icm_projections::FactFilter;
use icm_projections::fold::Family;
use serde::de::DeserializeOwned;

use crate::memory::expiry::Expired;
use crate::recall::scopes::Scopes;
use crate::service::Service;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::{RecallAnswer, RecallRequest, Recalled, TagFilter};

/// A recall from this store's own log.
pub struct RecordedRecall {
    /// The position of the event.
    pub position: u64,
    /// The request, with its basis.
    pub request: RecallRequest,
    facts: FactFilter,
    scopes: Scopes,
    /// The moment of the basis, if it was recorded.
    moment_ms: Option<u64>,
    /// The results that were shown.
    pub results: Vec<Recalled>,
}

impl Service {
    /// Returns the newest `most` recalls that this store has recorded, newest first, and how many others have lost
    /// their text. The recalls of other machines have other bases and are left out.
    pub fn recorded_recalls(&self, most: usize) -> Result<(Vec<RecordedRecall>, u64)> {
        self.with_views(|_| Ok(()))?;
        let (mut found, mut withheld) = (Vec::new(), 0);
        self.log.scan_back(None, &mut |event| {
            if !event.own || event.head.kind() != Kind::MEMORY_RECALLED {
                return ControlFlow::Continue(());
            }
            // An injection answers no question that could be asked again.
            if Facts::of(&event.head)
                .is_ok_and(|facts| matches!(facts, Facts::Recalled(it) if !it.is_asked()))
            {
                return ControlFlow::Continue(());
            }
            if found.len() >= most {
                return ControlFlow::Break(());
            }
            match recorded(event) {
                Some(recall) => found.push(recall),
                None => withheld += 1,
            }
            ControlFlow::Continue(())
        })?;
        Ok((found, withheld))
    }

    /// Asks a recorded recall again, at its basis.
    pub fn recall_again(&self, recall: &RecordedRecall) -> Result<RecallAnswer> {
        let asked = self.ask_model(&recall.request.query);
        let limit = recall
            .request
            .limit
            .unwrap_or(crate::recall::query::LIMIT_DEFAULT);
        let answer = self.with_views(|views| {
            let request = &recall.request;
            let mut at = self.at(views, request.at.as_deref(), None)?;
            at.moment_ms = recall.moment_ms.unwrap_or(at.moment_ms);
            let views = &*self.views_at(views, &at)?;
            let expired = Expired::at(self, views, &at);
            self.recall_in(
                &expired,
                &recall.request,
                limit,
                recall.facts,
                &recall.scopes,
                &asked,
            )
        })?;
        Ok(answer.answer)
    }
}

/// Returns the recall of an event; `None` if its payload is missing or cannot be read.
fn recorded(event: &Event<'_>) -> Option<RecordedRecall> {
    let Body::Present { payload, .. } = event.body else {
        return None;
    };
    let Facts::Recalled(facts) = Facts::of(&event.head).ok()? else {
        return None;
    };
    let asked: payload::MemoryRecalled<'_> = payload::decode(payload).ok()?;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let filter = FactFilter {
        family: Family::Memory,
        importance: asked.importance.and_then(named),
        trust: asked.trust.and_then(named),
        since_ms: asked.since_ms,
        until_ms: asked.until_ms,
    };
    let results = facts.results.iter().map(|result| Recalled {
        id: id_text(result.id),
        content: None,
    });
    Some(RecordedRecall {
        position: event.position.0,
        moment_ms: facts.moment_ms,
        request: RecallRequest {
            query: asked.query.to_owned(),
            topic: owned(asked.topic),
            tags: tags(&asked),
            scope: owned(asked.scope),
            limit: asked.limit.map(|limit| limit as usize),
            at: Some(format!("@{}", facts.basis_position)),
            no_links: !asked.links,
            floor: asked.floor_ppm.map(|ppm| f64::from(ppm) / 1e6),
            ..RecallRequest::default()
        },
        facts: filter,
        scopes: Scopes::recorded(&asked.scopes, asked.scope),
        results: results.collect(),
    })
}

/// Returns the conditions on tags of a recorded recall.
fn tags(asked: &payload::MemoryRecalled<'_>) -> TagFilter {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let all: Vec<&str> = asked
        .keyword
        .iter()
        .chain(&asked.more_keywords)
        .copied()
        .collect();
    let exclude = !asked.excluded_keywords.is_empty();
    TagFilter {
        all: owned(&all),
        any: owned(&asked.any_keywords),
        not: owned(match exclude {
            true => &asked.excluded_keywords,
            false => &asked.last_keywords,
        }),
        exclude,
    }
}

/// Returns the value that a name stands for in JSON.
fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(name.into()).ok()
}
